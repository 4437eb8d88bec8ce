"""The commands that write the knowledge base for other programs."""

import argparse
import sys
from pathlib import Path

from compatkb.asking import find_product
from compatkb.cli.commands import open_facts
from compatkb.errors import UsageError
from compatkb.snapshot.read import Snapshot

TABLES, DRAWN = ("json", "csv", "schema"), ("mermaid", "dot")


def build(arguments: argparse.Namespace) -> int:
    """Write the SQLite database."""
    if arguments.describe:
        from compatkb.export.documentation import database_page

        print(database_page(), end="")
        return 0
    from compatkb.export.database import write_database

    facts, _ = open_facts(arguments)
    write_database(facts, Path(arguments.out), force=arguments.force)
    return _wrote(arguments.out)


def export(arguments: argparse.Namespace) -> int:
    """Write one of the other forms, to a file or to standard output."""
    _check(arguments)
    if arguments.format == "schema":
        from compatkb.export.bundle import schema_text

        return _emit(schema_text(), arguments.out)
    facts, _ = open_facts(arguments)
    if arguments.format == "csv" and not arguments.table:
        return _csv(facts, arguments.out)
    return _emit(_text(facts, arguments), arguments.out)


def schema(arguments: argparse.Namespace) -> int:
    """Write the JSON Schemas of the data files, or say that they are stale."""
    from compatkb.export.schemas import ENDING, schema_files, stale
    from compatkb.writing import write_folder

    folder = Path(arguments.out)
    if arguments.check:
        difference = stale(folder)
        print(f"{difference}run `compatkb schema --out {folder}`" if difference else f"{folder}: fresh")
        return 4 if difference else 0
    files = {name: text.encode() for name, text in schema_files().items()}
    write_folder(folder, files, ours=lambda name: name.endswith(ENDING))
    return _wrote(arguments.out)


def _check(arguments: argparse.Namespace) -> None:
    if arguments.table and arguments.format != "csv":
        raise UsageError("--table goes with --format csv")
    if arguments.product and arguments.format in TABLES:
        raise UsageError(f"--product goes with graphml, mermaid, dot and ical; {arguments.format} is of everything")
    if arguments.level and arguments.format not in DRAWN:
        raise UsageError("--level goes with mermaid and dot")
    if arguments.format == "csv" and not (arguments.table or arguments.out):
        raise UsageError("csv is many tables: give --out FOLDER, --out FILE.zip, or --table NAME")


def _text(facts: Snapshot, arguments: argparse.Namespace) -> str:
    products = tuple(dict.fromkeys(find_product(facts, name).id for name in arguments.product or ()))
    if arguments.format in DRAWN:
        from compatkb.export import diagram

        drawn = diagram.draw(facts, products, arguments.level or "series")
        if text := diagram.remark(drawn):
            print(f"remark: {text}", file=sys.stderr)
        return (diagram.mermaid_text if arguments.format == "mermaid" else diagram.dot_text)(facts, drawn)
    if arguments.format == "graphml":
        from compatkb.export.graph import build_graph, graphml_text

        return graphml_text(build_graph(facts, products))
    if arguments.format == "ical":
        from compatkb.export.calendar import calendar_text

        return calendar_text(facts, products)
    from compatkb.export.bundle import csv_text, json_text
    from compatkb.export.tables import read_tables

    tables = read_tables(facts)
    return csv_text(tables, arguments.table) if arguments.table else json_text(tables)


def _csv(facts: Snapshot, out: str) -> int:
    from datetime import date

    from compatkb.export.bundle import csv_files, zip_bytes
    from compatkb.export.tables import read_tables
    from compatkb.writing import write_file, write_folder

    files = csv_files(read_tables(facts))
    if out.endswith(".zip"):
        write_file(Path(out), zip_bytes(files, date.fromisoformat(facts.meta["data_date"])))
    else:
        write_folder(Path(out), files, ours=lambda name: name in files)
    return _wrote(out)


def _emit(text: str, out: str | None) -> int:
    from compatkb.writing import write_file

    if out:
        write_file(Path(out), text.encode())
        return _wrote(out)
    if hasattr(sys.stdout, "reconfigure"):  # the bytes are the same on every system
        sys.stdout.reconfigure(encoding="utf-8", newline="")
    sys.stdout.write(text)
    return 0


def _wrote(out: str) -> int:
    print(f"wrote {out}", file=sys.stderr)
    return 0
