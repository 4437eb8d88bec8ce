"""What each command does: open the facts, ask, print."""

import argparse
import sys

from compatkb.asking import find_product, make_request
from compatkb.cli.opening import open_data, open_facts, patience
from compatkb.cli.options import HEADLINES
from compatkb.engine.answer import Answer
from compatkb.engine.answer import resolve as answer_of
from compatkb.errors import UsageError
from compatkb.snapshot.read import Snapshot

__all__ = ["eol", "explain", "list_products", "open_data", "open_facts", "resolve", "show"]


def resolve(arguments: argparse.Namespace) -> int:
    """Answer a request; 0 for an answer, 1 for `does-not-work` and `unknown`."""
    facts, day = open_facts(arguments)
    options = [(product, text) for _, _, product, _ in HEADLINES for text in getattr(arguments, f"pin_{product}") or ()]
    devices = arguments.device or ()
    request = make_request(facts, options, arguments.words, devices, day, arguments.needs, arguments.route)
    answer = answer_of(facts, request, patience())
    return _print(facts, answer, arguments)


def explain(arguments: argparse.Namespace) -> int:
    """Say whether pinned versions work together, with every source."""
    facts, day = open_facts(arguments)
    request = make_request(facts, (), arguments.words, arguments.device or (), day, arguments.needs)
    answer = answer_of(facts, request, patience())
    arguments.why, arguments.all = not answer.causes, False
    return _print(facts, answer, arguments)


def show(arguments: argparse.Namespace) -> int:
    """Show what the data hold of a product, a version, an image repository or a tag."""
    from compatkb.rendering.catalogue import product_text, release_text

    facts, day = open_facts(arguments)
    as_json = arguments.format == "json"
    if "/" in arguments.product:
        from compatkb.rendering.tags import repository_text

        name = ":".join(filter(None, (arguments.product, arguments.version)))
        print(repository_text(facts, name, day, as_json=as_json), end="")
        return 0
    name, _, version = arguments.product.partition("==")
    arguments.version = arguments.version or version
    product = find_product(facts, name)
    if product.role == "feature":
        from compatkb.rendering.features import features_text

        print(features_text(facts, day, feature=product.id, form=arguments.format), end="")
        return 0
    if arguments.version:
        print(release_text(facts, product, arguments.version, day, as_json=as_json), end="")
    else:
        print(product_text(facts, product, day, as_json=as_json), end="")
    return 0


def list_products(arguments: argparse.Namespace) -> int:
    """List products, or the versions of one."""
    from compatkb.rendering.catalogue import list_text

    facts, day = open_facts(arguments)
    product = find_product(facts, arguments.product) if arguments.product else None
    if product and product.role == "feature":
        raise UsageError(f"{product.id} is a feature; see `compatkb features {product.id}`")
    print(list_text(facts, product, day, as_json=arguments.format == "json"), end="")
    return 0


def eol(arguments: argparse.Namespace) -> int:
    """List ends of life."""
    from compatkb.rendering.catalogue import eol_text, parse_days

    facts, day = open_facts(arguments)
    product = find_product(facts, arguments.product) if arguments.product else None
    days = parse_days(arguments.within)
    print(eol_text(facts, product, day, days, as_json=arguments.format == "json"), end="")
    return 0


def _print(facts: Snapshot, answer: Answer, arguments: argparse.Namespace) -> int:
    if arguments.format == "json":
        import json

        from compatkb.rendering.payload import answer_payload

        print(json.dumps(answer_payload(facts, answer, why=arguments.why), indent=2, ensure_ascii=False))
    elif arguments.format == "requirements":
        return _requirements(facts, answer)
    else:
        from compatkb.rendering.text import answer_text

        print(answer_text(facts, answer, why=arguments.why, everything=arguments.all), end="")
    return 1 if answer.verdict in ("does-not-work", "unknown") else 0


def _requirements(facts: Snapshot, answer: Answer) -> int:
    from compatkb.rendering.commands import requirements, waived
    from compatkb.rendering.sentences import asked, cause

    if not answer.stacks:
        print(f"error: {asked(answer.request)}: no stack", file=sys.stderr)
        for found in answer.causes:
            print(f"- {cause(facts, found, answer.request)}", file=sys.stderr)
        return 1
    if pins := waived(facts, answer.stacks[0]):
        reason = f"its maker installs it in steps and against {', '.join(pins)}"
        print(f"error: one requirements file cannot install this stack: {reason}; see `compatkb resolve`", file=sys.stderr)
        return 1
    print(requirements(facts, answer.stacks[0]), end="")
    return 1 if answer.verdict == "unknown" else 0
