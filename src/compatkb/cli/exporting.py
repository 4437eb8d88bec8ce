"""The commands that write the knowledge base for other programs, and those that take and publish newer data."""

import sys
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from compatkb.cli import options as o
from compatkb.cli.opening import open_data, patience
from compatkb.cli.terminal import tell
from compatkb.core.clock import current_day, current_time
from compatkb.errors import DataError, UsageError
from compatkb.output.terminal import show
from compatkb.request.lookup import find_product
from compatkb.store.reader import Snapshot

TABLES = ("json", "schema")
Exported = Literal["json", "graphml", "ical", "schema"]


def build(
    out: Annotated[str, o.value("--out", "FILE", "the file to write")] = "compatkb.sqlite",
    force: Annotated[bool, o.option("--force", "overwrite a file that is not a compatkb database")] = False,
    data: o.Data = None,
) -> int:
    """Write the SQLite database."""
    from compatkb.export.tables import write_database

    write_database(open_data(data), Path(out), force=force)
    return _wrote(out)


def export(
    form: Annotated[
        Exported,
        o.one_of("--format", "form of the output; schema is that of json", get_args(Exported)),
    ],
    out: Annotated[str | None, o.value("--out", "FILE", "write there instead of standard output")] = None,
    product: Annotated[o.Words, o.value("--product", "PRODUCT", "graph and calendar: this product (repeatable)")] = None,
    data: o.Data = None,
) -> int:
    """Write one of the other forms, to a file or to standard output."""
    if product and form in TABLES:
        raise UsageError(f"--product works with graphml and ical; {form} is of everything")
    if form == "schema":
        from compatkb.export.tables import schema_text

        return _emit(schema_text(), out)
    facts = open_data(data)
    products = tuple(dict.fromkeys(find_product(facts, name).id for name in product or ()))
    if form == "graphml":
        from compatkb.export.graph import build_graph, graphml_text

        text = graphml_text(build_graph(facts, products))
    elif form == "ical":
        from compatkb.export.calendar import calendar_text

        text = calendar_text(facts, products)
    else:
        from compatkb.export.tables import json_text, read_tables

        text = json_text(read_tables(facts))
    return _emit(text, out)


def schema(
    out: Annotated[str, o.value("--out", "DIR", "the folder to write")] = "data/schema",
) -> int:
    """Write the JSON Schemas of the data files; older ones that no file has any more go."""
    from compatkb.core.atomic_write import write_file
    from compatkb.export.schemas import ENDING, schema_files

    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is no folder, so nothing was written")
    folder.mkdir(parents=True, exist_ok=True)
    files = schema_files()
    for name, text in files.items():
        write_file(folder / name, text.encode())
    for path in folder.glob(f"*{ENDING}"):
        if path.name not in files:
            path.unlink()
    return _wrote(out)


def _emit(text: str, out: str | None) -> int:
    from compatkb.core.atomic_write import write_file

    if out:
        write_file(Path(out), text.encode())
        return _wrote(out)
    if hasattr(sys.stdout, "reconfigure"):  # the bytes are the same on every system
        sys.stdout.reconfigure(encoding="utf-8", newline="")
    show(text)
    return 0


def _wrote(out: str) -> int:
    tell(f"wrote {out}")
    return 0


data = typer.Typer(add_completion=False)


@data.command("update", help="download newer data, whose signature is verified before they are read")
def update(
    source: Annotated[
        str | None, o.value("--from", "URL|FILE", "where it is, with its .signed (default: as the package names it)")
    ] = None,
) -> int:
    """Take newer data."""
    from compatkb.store.downloaded_data import update as take

    done = take(source or _published(), current_day(), _prove)
    now = f"data of {done.data_date}"
    tell(f"taken: {now}; --data builtin uses those of the program" if done.taken else f"nothing newer: {now}")
    return 0


@data.command("pack", help="write the data and their statement as files for `data update`")
def pack(
    out: Annotated[str | None, o.value("--out", "FILE", "the file to write (default: by its format)")] = None,
    key: Annotated[
        str | None,
        o.value("--key", "FILE", "sign with this Ed25519 key (default: the statement is signed elsewhere)"),
    ] = None,
    directory: o.Data = None,
) -> int:
    """Write a store for others."""
    from compatkb.store.downloaded_data import FILE
    from compatkb.store.downloaded_data import pack as write

    day = write(directory, Path(out or FILE), current_time(), Path(key) if key else None)
    tell(f"wrote {out or FILE} and its .signed{'' if key else ', which is not signed yet'}: data of {day}")
    return 0


def _prove(path: str) -> None:
    """Ask a store for the newest release of its first packages, from the words to the screen, as people do."""
    from compatkb.core.vocabulary import Role
    from compatkb.engine.answer import resolve
    from compatkb.output.presenter import present
    from compatkb.output.registry import Wanted
    from compatkb.output.registry import form as form_of
    from compatkb.request.parser import make_request

    facts = Snapshot(path)
    try:
        names = [product.id for product in facts.products.values() if product.role == Role.PACKAGE][:3]
        words = [f"{name}=={facts.elements(name)[-1].version}" for name in names]
        answers = [resolve(facts, make_request(facts, words=(word,)), patience()) for word in words]
        for answer in answers:
            form_of("resolve", "text")(present(facts, answer), Wanted())
        if not any(answer.stacks for answer in answers):
            raise DataError(("no package of it can be installed",))
    finally:
        facts.close()


def _published() -> str:
    """Return the address that the metadata of the installed package name for its data; raises UsageError without one."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        known = metadata("compatkb").get_all("Project-URL") or []
    except PackageNotFoundError:
        known = []
    for entry in known:
        label, _, address = entry.partition(",")
        if label.strip().lower() == "data":
            return f"{address.strip().rstrip('/')}/"
    raise UsageError(
        "this installation has no address for newer data; give one with --from URL or --from FILE"
        "\n  a newer compatkb has newer data: pull its checkout and install it again"
    )
