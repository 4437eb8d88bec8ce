"""The commands that look through the knowledge base: search, changes."""

import argparse

from compatkb.asking import find_product, parse_day
from compatkb.cli.commands import open_facts


def search(arguments: argparse.Namespace) -> int:
    """Search for words; 1 where nothing has them all."""
    from compatkb.rendering.hits import search_text
    from compatkb.searching import search as find

    facts, day = open_facts(arguments)
    found = find(facts, arguments.words, day)
    print(search_text(facts, found, day, arguments.limit, as_json=arguments.format == "json"), end="")
    return 0 if found.hits else 1


def changes(arguments: argparse.Namespace) -> int:
    """List what became true in a span of days."""
    from compatkb.changes import find_changes
    from compatkb.rendering.history import FORMS

    facts, day = open_facts(arguments)
    since = parse_day(arguments.since)
    product = find_product(facts, arguments.product).id if arguments.product else None
    found = find_changes(facts, since, day, product)
    print(FORMS[arguments.format](facts, found, since, day), end="")
    return 0
