"""Commands about the knowledge base as a whole and about documents: figures, and generated regions of Markdown files."""

import argparse

from compatkb.cli.commands import open_facts


def stats(arguments: argparse.Namespace) -> int:
    """Print how large, how well supported and how fresh the data are."""
    from compatkb.rendering.statistics import FORMS
    from compatkb.stats import statistics

    facts, day = open_facts(arguments)
    print(FORMS[arguments.format](statistics(facts, day)), end="")
    return 0
