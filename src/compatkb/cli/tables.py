"""Commands that print whole tables and pictures: the timeline, and which Pythons have wheels."""

import argparse
import sys

from compatkb.asking import find_product
from compatkb.cli.commands import open_facts


def timeline(arguments: argparse.Namespace) -> int:
    """Print the events that were asked for; 1 where there is none."""
    from compatkb.rendering import timeline as made

    facts, day = open_facts(arguments)
    since = made.parse_bound(arguments.since, end=False) if arguments.since else None
    until = made.parse_bound(arguments.until, end=True) if arguments.until else None
    events = made.select(facts, day, since, until, arguments.vendor or (), arguments.kind or ())
    if arguments.format == "svg":
        from compatkb.rendering.timeline_svg import parse_width, svg

        print(svg(facts, events, day, parse_width(arguments.width)), end="")
    else:
        forms = {"text": made.text, "json": made.payload, "markdown": made.markdown, "mermaid": made.mermaid}
        print(forms[arguments.format](facts, events, day), end="")
    if not events:
        print("remark: no event fits", file=sys.stderr)
    return 0 if events else 1


def matrix(arguments: argparse.Namespace) -> int:
    """Print which releases of a product have wheels for which Pythons."""
    from compatkb.rendering import python_matrix as made

    facts, day = open_facts(arguments)
    table = made.python_matrix(facts, find_product(facts, arguments.product), day, arguments.device)
    forms = {"text": made.text, "json": made.payload, "markdown": made.markdown, "csv": made.comma_separated}
    print(forms[arguments.format](facts, table, day), end="")
    return 0
