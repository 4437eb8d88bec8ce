"""Commands about the knowledge base as a whole and about documents: figures, generated regions, tables."""

import argparse
import sys
from datetime import date

from compatkb.cli.commands import open_data, open_facts


def stats(arguments: argparse.Namespace) -> int:
    """Print how large, how well supported and how fresh the data are."""
    from compatkb.rendering.statistics import FORMS
    from compatkb.stats import statistics

    facts, day = open_facts(arguments)
    print(FORMS[arguments.format](statistics(facts, day)), end="")
    return 0


def docs_render(arguments: argparse.Namespace) -> int:
    """Fill the regions of the files; says which ones held something else."""
    from compatkb.docs.files import find_files, read_documents, write_document
    from compatkb.docs.report import report_json, report_text

    facts, day = open_data(arguments), _day(arguments)
    documents = read_documents(facts, find_files(arguments.files), day)
    for document in documents:
        if document.stale:
            write_document(document)
    print((report_json if arguments.format == "json" else report_text)(facts, documents), end="")
    return 0


def docs_check(arguments: argparse.Namespace) -> int:
    """Compare the regions of the files with what they should hold; raises StaleError where one differs."""
    from compatkb.docs.files import diff_of, find_files, read_documents
    from compatkb.docs.report import mend, report_json
    from compatkb.errors import StaleError

    facts, day = open_data(arguments), _day(arguments)
    documents = read_documents(facts, find_files(arguments.files), day)
    if arguments.format == "json":
        print(report_json(facts, documents), end="")
    else:
        print("".join(diff_of(document) for document in documents), end="")
    if any(document.stale for document in documents):
        raise StaleError(mend(documents, arguments.data, arguments.as_of))
    return 0


def docs_table(arguments: argparse.Namespace) -> int:
    """Print what a region of a kind would hold, in any form."""
    from compatkb.docs.kinds import content_of, parse_arguments
    from compatkb.docs.report import FORMS

    facts, day = open_data(arguments), _day(arguments)
    blocks = content_of(facts, arguments.kind, parse_arguments(arguments.words), day)
    print(FORMS[arguments.format](facts, blocks), end="")
    return 0


def docs_diff(arguments: argparse.Namespace) -> int:
    """Print where the image tables of a document are not what the data make of them; 1 where they differ anywhere."""
    from compatkb.docs.deviations import compare, diff_json, diff_text
    from compatkb.docs.files import read_text
    from compatkb.docs.report import dates

    facts = open_data(arguments)
    day = _day(arguments) or date.fromisoformat(facts.meta["data_date"])
    compared, found = compare(facts, read_text(arguments.file), day)
    if arguments.format == "json":
        print(diff_json(arguments.file, dates(facts, day), compared, found), end="")
    else:
        print(diff_text(arguments.file, compared, found), end="")
    if not compared:
        print(f"remark: {arguments.file} has no table of image tags that the data know", file=sys.stderr)
    return 1 if found else 0


def _day(arguments: argparse.Namespace) -> date | None:
    """Return the day of --as-of, None unless given: documents are for the date of the data, whatever day it is."""
    from compatkb.asking import parse_day

    return parse_day(arguments.as_of) if arguments.as_of else None
