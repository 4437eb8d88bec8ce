"""Works out the sheets of a form in several processes; each is kept in the cache by what decides it."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from datetime import date
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path

from compatkb.engine.answer import routes_of
from compatkb.engine.budget import Budget
from compatkb.engine.problem import Problem
from compatkb.engine.shared import search
from compatkb.engine.view import kept_of
from compatkb.errors import CompatkbError
from compatkb.records import Pin
from compatkb.snapshot.read import Snapshot
from compatkb.snapshot.store import cache_directory
from compatkb.web.alike import Alike
from compatkb.web.answering import Answering
from compatkb.web.questions import Form
from compatkb.web.repeats import Repeats, Told
from compatkb.web.sheets import Sheet
from compatkb.web.tables import Tables
from compatkb.writing import write_file

_MOST_NEAREST = 500_000
ANY = "any"
"""The main choice of the sheet for questions that make none."""


_DECIDING = ("alike", "answering", "forms", "questions", "repeats", "sheets", "tables", "working")
"""The modules of this package that decide what a sheet holds."""


def sheet_name(device: str, main: str) -> str:
    """Return the name of the sheet that has the answers to a device and a main choice."""
    return f"{device}-{main or ANY}"


def unsaid(made: int, wanted: int, /) -> None:
    """Say nothing of how far the work has come."""


def work_out(
    path: str,
    today: date,
    *,
    jobs: int = 2,
    series: tuple[str, ...] = (),
    names: Sequence[tuple[str, str]] = (),
    done: Callable[[int, int], None] = unsaid,
) -> dict[str, str]:
    """Return the sheets of a snapshot file by name, as JSON, from the cache where they are there.

    `names` are devices with main choices, all of the form with these `series` unless given; `done` is told how many
    sheets are made, of how many that were not in the cache, which each is put into at once.
    """
    form = Form(Snapshot(path), today, series)
    wanted = names or [(device, main) for main in ("", *form.values("main")) for device in form.values("device")]
    kept = Path(cache_directory()) / f"web-{_digest(form, today)}"
    found = {sheet_name(*name): text for name in wanted if (text := _read(kept / f"{sheet_name(*name)}.json"))}
    missing = [name for name in wanted if sheet_name(*name) not in found]
    for made, (name, text) in enumerate(_made(path, today, missing, jobs), 1):
        found[name] = text
        _keep(kept, {name: text})
        done(made, len(missing))
    return {name: found[name] for name in sorted(found)}


def _made(path: str, today: date, names: Sequence[tuple[str, str]], jobs: int) -> Iterator[tuple[str, str]]:
    """Yield sheets by name as they get ready, the largest ones begun first."""
    tasks = {(path, today, *name): sheet_name(*name) for name in names}
    if jobs < 2 or len(tasks) < 2:
        yield from ((name, _work(task)) for task, name in tasks.items())
        return
    with ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=get_context("spawn")) as pool:
        begun = {pool.submit(_work, task): name for task, name in tasks.items()}
        try:
            yield from ((begun[ready], ready.result()) for ready in as_completed(begun))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


_begun: dict[tuple[str, date], tuple[Answering, Tables]] = {}
"""What a process has worked out of a snapshot so far."""


def _work(task: tuple[str, date, str, str]) -> str:
    path, today, device, main = task
    if (path, today) not in _begun:
        facts = Snapshot(path)
        facts.finder = tables = Tables(facts)
        kept_of(facts).most_nearest = _MOST_NEAREST
        _begun[path, today] = Answering(facts), tables
    answering, tables = _begun[path, today]
    return make_sheet(Form(answering.facts, today), answering, tables, device, main).text()


class _Work:
    """The work on one sheet."""

    def __init__(self, form: Form, answering: Answering, tables: Tables, device: str, main: str) -> None:
        self.form, self.answering, self.tables = form, answering, tables
        self.fixed = {"device": device, **({"main": main} if main else {})}
        self.sheet = Sheet()
        alike = Alike(form, device)
        self.systems, self.hardware = alike.systems(), alike.hardware()
        self.denied: set[frozenset[tuple[str, str]]] = set()
        self.idle: set[frozenset[tuple[str, str]]] = set()

    def run(self) -> Sheet:
        """Return the sheet."""
        for further in self._choices():
            chosen = frozenset(further.items())
            less = [chosen - {item} for item in chosen]
            like = self.hardware.get(further.get("hardware", ""))
            base = set(further) <= {"route"}
            if not base and any(part in self.idle for part in less):
                self.idle.add(chosen)
                continue
            if like and like != further["hardware"]:
                self.sheet.repeat(table_name(further), table_name({**further, "hardware": like}))
                continue
            none = not self._has_stack(further, everywhere=True)
            self._tabulate(further, once=none and not base)
            if none and chosen in self.denied:
                self.idle.add(chosen)
        return self.sheet

    def _tabulate(self, further: dict[str, str], *, once: bool) -> None:
        """Make the table of a choice; `once` where there is no stack in any place, so that one denial is enough."""
        rows = []
        self.alike = Repeats(self.form, {**self.fixed, **further}, self.tables)
        for places in self.form.places():
            known = dict.fromkeys(self.systems, -1)
            for system in known:
                if not (once and places[system] and frozenset(further.items()) in self.denied):
                    known[system] = self._answer(further, places[system])
            rows.append([known[system] for system in self.systems])
        self.sheet.set_table(table_name(further), rows)

    def _choices(self) -> Iterator[dict[str, str]]:
        """Yield the further choices that tables are made for, those of fewer fields first."""
        form = self.form
        yield {}
        yield from ({"route": route} for route in form.values("route"))
        yield from ({"hardware": name} for name in self.hardware)
        yield from ({product: value} for product in form.packages for value in form.values(product))
        for one, other in combinations(form.packages[:2], 2):
            yield from ({one: first, other: second} for first in form.values(one) for second in form.values(other))

    def _answer(self, further: dict[str, str], place: dict[str, str]) -> int:
        """Return the answer to a choice, or -1 where fewer choices leave no stack already and say why."""
        free = {**further, **place}
        if not set(further) <= {"route"}:
            if self._is_too_much(further, place):
                return -1
            less = [frozenset(item for item in free.items() if item[0] != field) for field in free]
            if any(part in self.denied for part in less) and not self._has_stack(free):
                self.denied.add(frozenset(free.items()))
                return -1
        found = self.alike.find(place)
        if found is None:
            self.tables.trail.clear()
            answer = self.answering.answer(self.form.request({**self.fixed, **free}))
            found = Told(self.sheet.add(answer), answer.verdict)
            self.alike.keep(place, answer, found)
        if found.verdict == "does-not-work":
            self.denied.add(frozenset(free.items()))
        return found.number

    def _is_too_much(self, further: dict[str, str], place: dict[str, str]) -> bool:
        """Return whether a choice is left to the command line: one system beside the package that goes with nearly all."""
        return self.form.packages[-1] in further and "os" in place

    def _has_stack(self, free: dict[str, str], *, everywhere: bool = False) -> bool:
        facts, request = self.form.facts, self.form.request({**self.fixed, **free})
        kept_of(facts).budget = Budget()
        if everywhere:  # of the systems that are no families, too
            request = request._replace(pins=(*request.pins, Pin("os", "", (1 << len(facts.grid["os"])) - 1)))
        return any(search(Problem(facts, request, device, route)) for device, route in routes_of(facts, request))


def make_sheet(form: Form, answering: Answering, tables: Tables, device: str, main: str) -> Sheet:
    """Return the sheet of a device and a main choice."""
    return _Work(form, answering, tables, device, main).run()


def table_name(further: Mapping[str, str]) -> str:
    """Return the name of the table for further choices."""
    return "&".join(f"{name}={value}" for name, value in sorted(further.items()))


def _digest(form: Form, today: date) -> str:
    found = hashlib.sha256(f"{form.facts.meta['digest']} {today} {form.facts.meta['format']}".encode())
    package = Path(__file__).resolve().parent.parent
    mine = [package / "web" / f"{name}.py" for name in _DECIDING]
    for file in (*mine, *sorted((package / "engine").glob("*.py")), *sorted((package / "rendering").glob("*.py"))):
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
