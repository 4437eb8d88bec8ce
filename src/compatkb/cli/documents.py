"""Commands about the knowledge base as a whole and about documents: figures, and generated regions of Markdown files."""

import argparse

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

    facts = open_data(arguments)
    documents = read_documents(facts, find_files(arguments.files))
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

    facts = open_data(arguments)
    documents = read_documents(facts, find_files(arguments.files))
    if arguments.format == "json":
        print(report_json(facts, documents), end="")
    else:
        print("".join(diff_of(document) for document in documents), end="")
    if any(document.stale for document in documents):
        raise StaleError(mend(documents, arguments.data))
    return 0
