"""Works out the sheets of a form: one device after the other, each in a process of its own, kept by what decides them."""

import hashlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from datetime import date
from multiprocessing import get_context
from pathlib import Path

from compatkb.errors import CompatkbError
from compatkb.snapshot.read import Snapshot
from compatkb.snapshot.store import cache_directory
from compatkb.web.answering import Answering
from compatkb.web.questions import Form
from compatkb.web.sheets import Sheet
from compatkb.web.tables import share
from compatkb.writing import write_file

ANY = "any"
"""The main choice of the sheet for questions that make none."""


class Remembering(Snapshot):
    """A snapshot that keeps what it read, for those who read the same thousands of times."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._rows: dict[object, list[dict[str, object]]] = {}

    def rows(self, query: str, *values: object) -> list[dict[str, object]]:
        """Return rows; they must not be changed."""
        key = (query, values)
        if key not in self._rows:
            self._rows[key] = super().rows(query, *values)
        return self._rows[key]


def sheet_name(device: str, main: str) -> str:
    """Return the name of the sheet that has the answers to a device and a main choice."""
    return f"{device}-{main or ANY}"


def work_out(path: str, today: date, *, jobs: int = 2) -> dict[str, str]:
    """Return all sheets of a snapshot file by name, as JSON, from the cache where they are there."""
    form = Form(Snapshot(path), today)
    names = [(device, main) for device in form.values("device") for main in ("", *form.values("main"))]
    kept = Path(cache_directory()) / f"web-{_digest(form, today)}"
    found = {sheet_name(*name): text for name in names if (text := _read(kept / f"{sheet_name(*name)}.json"))}
    missing = [name for name in names if sheet_name(*name) not in found]
    if missing:
        parts = [[name for name in missing if name[0] == device] for device in form.values("device")]
        tasks = [(path, today, part) for part in parts if part]
        if jobs > 1 and len(tasks) > 1:
            with ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=get_context("spawn")) as pool:
                for made in pool.map(_work, tasks):
                    found |= made
        else:
            for task in tasks:
                found |= _work(task)
        _keep(kept, {name: found[name] for name in (sheet_name(*name) for name in missing)})
    return found


def _work(task: tuple[str, date, list[tuple[str, str]]]) -> dict[str, str]:
    path, today, names = task
    facts = Remembering(path)
    form = Form(facts, today)
    with share(facts):
        answering = Answering(facts)
        return {sheet_name(device, main): make_sheet(form, answering, device, main).text() for device, main in names}


def make_sheet(form: Form, answering: Answering, device: str, main: str) -> Sheet:
    """Return the sheet of a device and a main choice."""
    sheet = Sheet()
    fixed = {"device": device, **({"main": main} if main else {})}
    alike = form.systems_alike()
    for further in choices(form):
        chosen = {**fixed, **further}
        rows = []
        for places in form.places():
            known = {system: sheet.add(answering.answer(form.request({**chosen, **places[system]}))) for system in set(alike)}
            rows.append([known[system] for system in alike])
        sheet.set_table(table_name(further), rows)
    return sheet


def choices(form: Form) -> Iterator[dict[str, str]]:
    """Yield the further choices for which there is a table."""
    yield {}
    for route in form.values("route"):
        yield {"route": route}


def table_name(further: Mapping[str, str]) -> str:
    """Return the name of the table for further choices."""
    return "&".join(f"{name}={value}" for name, value in sorted(further.items()))


def _digest(form: Form, today: date) -> str:
    found = hashlib.sha256(f"{form.facts.meta['digest']} {today} {form.facts.meta['format']}".encode())
    package = Path(__file__).resolve().parent.parent
    for folder in ("web", "engine", "rendering"):
        for file in sorted((package / folder).glob("*.py")):
            found.update(file.read_bytes())
    return found.hexdigest()[:16]


def _read(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except OSError:
        return None


def _keep(folder: Path, sheets: Mapping[str, str]) -> None:
    with suppress(OSError, CompatkbError):  # a cache that cannot be written costs time, not the site
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in sheets.items():
            write_file(folder / f"{name}.json", text.encode())
