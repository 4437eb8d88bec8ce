"""A stack as rules for bots that update dependencies: its packages in one pull request, each within its series."""

import json
from collections.abc import Iterator
from typing import Any

from compatkb.core.vocabulary import Role
from compatkb.engine.answer import Answer
from compatkb.engine.stacks import Stack
from compatkb.output.json_document import json_text
from compatkb.output.labels import asked, label, listed, series_of, value
from compatkb.output.registry import Wanted
from compatkb.output.stack_files import stack_of
from compatkb.store.queries.products import channels, every_product_details
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element

_SCHEMA = "https://docs.renovatebot.com/renovate-schema.json"
_NAMED = (Role.PACKAGE, Role.COMPANION)


def renovate_text(facts: Snapshot, answer: Answer, wanted: Wanted) -> str:
    """Return a preset of Renovate, by its schema; raises NoRequirementsError where there is no stack to keep."""
    stack = stack_of(facts, answer, wanted)
    packages = _packages(facts, stack)
    rules: list[dict[str, Any]] = [
        {
            "description": f"Keep {listed([name for name, _ in packages])} together.",
            "matchDatasources": ["pypi"],
            "matchPackageNames": [name for name, _ in packages],
            "groupName": _group(facts, stack),
            "separateMajorMinor": False,
        }
    ]
    for name, element in packages:
        rule: dict[str, Any] = {"matchDatasources": ["pypi"], "matchPackageNames": [name]}
        rule["allowedVersions"] = f"=={_series(facts, element)}.*"
        urls = [c.url for c in channels(facts) if c.url and c.id in element.channels and c.style == "index-url"]
        rules.append({**rule, **({"registryUrls": [f"{urls[0]}/"]} if urls else {})})
    for name, why in _ended(facts, stack):
        rules.append({"description": why, "matchDatasources": ["pypi"], "matchPackageNames": [name], "enabled": False})
    content = {"$schema": _SCHEMA, "description": [_about(facts, answer)], "packageRules": rules}
    return json_text(content)


def dependabot_text(facts: Snapshot, answer: Answer, wanted: Wanted) -> str:
    """Return a configuration of Dependabot, by its schema; raises NoRequirementsError where there is no stack to keep."""
    stack = stack_of(facts, answer, wanted)
    packages = _packages(facts, stack)
    lines = [f"# {_about(facts, answer)}", "version: 2", "updates:", "  - package-ecosystem: pip", "    directory: /"]
    lines += ["    schedule:", "      interval: weekly", "    groups:", f"      {_group(facts, stack)}:", "        patterns:"]
    lines += [f"          - {json.dumps(name)}" for name, _ in packages]
    lines += ["    ignore:"]
    for name, element in packages:
        lines += [f"      - dependency-name: {json.dumps(name)}", f'        versions: [">={_next(facts, element)}"]']
    for name, why in _ended(facts, stack):
        lines += [f"      - dependency-name: {json.dumps(name)} # {why}"]
    return "\n".join(lines) + "\n"


def _packages(facts: Snapshot, stack: Stack) -> list[tuple[str, Element]]:
    return [(e.distribution, e) for e in stack.packages if e.distribution and facts.products[e.product].role in _NAMED]


def _group(facts: Snapshot, stack: Stack) -> str:
    main = next(route.provider for route in facts.routes if route.id == stack.route)
    return f"{main}-{stack.device}"


def _about(facts: Snapshot, answer: Answer) -> str:
    return f"What goes with {asked(facts, answer.request)}, by compatkb: data of {facts.meta['data_date']}."


def _series(facts: Snapshot, element: Element) -> str:
    return series_of(facts, element.product, element.release)


def _next(facts: Snapshot, element: Element) -> str:
    """Return the series after that of a build."""
    *head, last = _series(facts, element).split(".")
    return ".".join([*head, str(int(last) + 1)])


def _ended(facts: Snapshot, stack: Stack) -> Iterator[tuple[str, str]]:
    """Yield the packages that will have no releases any more, by their distributions, and why."""
    held = {e.product for e in stack.packages}
    for product, details in every_product_details(facts).items():
        known = facts.products[product]
        if details.eol and known.distribution and details.replaced_by and product not in held:
            other = details.replaced_by
            where = f" on {value(facts, 'device', other.device)}" if other.device else ""
            yield known.distribution, f"ended {details.eol}; instead {label(facts, other.product)} {other.specifier}{where}"
