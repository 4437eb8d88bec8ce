"""compatkb against real pip: random requests within reach of the default index, both asked, every difference explained.

Run as a program it asks many (`make soak`), resumes what was begun, and writes docs/soak.md; `--keep N` picks a sample of
what was asked and keeps it with the part of the record that answers it, for the tests.
"""

import argparse
import json
import random
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date
from itertools import zip_longest
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name, parse_wheel_filename

from compatkb.api import KnowledgeBase
from compatkb.asking import make_request
from compatkb.engine.answer import resolve, routes_of
from compatkb.engine.problem import Problem
from compatkb.models import Level, Outcome
from compatkb.records import Element, Request
from compatkb.rendering.commands import waived
from compatkb.rendering.sentences import cause as cause_text
from compatkb.rendering.sentences import cause_sources
from compatkb.snapshot.read import Snapshot
from compatkb.validate import asking, pip
from compatkb.validate.cell import Cell, Workshop
from compatkb.validate.record import Record, Wheel, line_of
from compatkb.validate.session import workshop_of
from compatkb.validate.targets import fits

PLATFORM = "linux-x86_64"
DEVICE, CHANNEL = "cpu", "default"
SAMPLE = Path(__file__).parent / "cases" / "differential"
GOOD = ("works", "works-with-warnings")
WRONG = "promised, and refused by pip"
DENIED = "accepted by pip, denied by compatkb"
UNKNOWN = "accepted by pip, unknown to compatkb"


@dataclass(frozen=True)
class Question:
    """Exact versions on a Python, for both to judge: `pins` by product, sorted."""

    pins: tuple[tuple[str, str], ...]
    python: str

    def cell(self, facts: Snapshot) -> Cell:
        """Return the question as pip is asked it."""
        return cell_of(((facts.products[name].distribution or name, version) for name, version in self.pins), self.python)

    def request(self, facts: Snapshot, day: date) -> Request:
        """Return the question as compatkb is asked it: builds that the default index carries, none of other indexes."""
        words = [f"{name}=={version}" for name, version in self.pins]
        system, _, arch = PLATFORM.rpartition("-")
        request = make_request(facts, (("python", self.python), ("os", system), ("arch", arch)), words, (DEVICE,), day)
        pins = []
        for pin in request.pins:
            builds = [e for e in facts.elements(pin.product) if pin.mask >> e.idx & 1 and CHANNEL in e.channels]
            exact = [e for e in builds if (pin.product, e.version) in self.pins]
            pins.append(pin._replace(mask=1 << exact[0].idx) if exact else pin)
        return request._replace(pins=tuple(pins))


def cell_of(pins: Iterable[tuple[str, str]], python: str) -> Cell:
    """Return the cell that asks pip about pins of distributions."""
    return Cell(Level.RESOLVE, "pip", tuple(sorted(pins)), python, PLATFORM, DEVICE, CHANNEL)


class Asker:
    """Makes questions: a build of the provider with one to three products that speak of it, and now and then a runtime."""

    def __init__(self, facts: Snapshot, seed: int, pythons: Iterable[str], versions: Callable[[str, str], list[str]]) -> None:
        self.facts, self.chance, self.versions = facts, random.Random(seed), versions
        self.pythons = [name for name in facts.grid["python"] if name in set(pythons)]
        self.provider = facts.routes[0].provider
        products = facts.products.values()
        self.builds = {
            p.id: [e for e in facts.elements(p.id) if CHANNEL in e.channels and DEVICE in e.devices and e.installable]
            for p in products
            if p.role in ("package", "companion")
        }
        spoken = [name for name in self.builds if facts.edges(name, self.provider) or facts.edges(self.provider, name)]
        self.others = [name for name in spoken if self.builds[name] and name != self.provider]
        self.leaves = [p.id for p in products if p.role == "leaf" and p.distribution]
        request = Request((), (), (DEVICE,), date.max.toordinal())
        device, route = next(iter(routes_of(facts, request)))
        self.problem = Problem(facts, request, device, route)

    def question(self) -> Question:
        """Return a question; some two thirds of its choices are such that they can go together."""
        bases = self.builds[self.provider]
        base = self.chance.choice(bases)
        python = self.chance.choice(self._pythons(base) if self.chance.random() < 0.85 else self.pythons)
        members = [base]
        for name in self.chance.sample(self.others, self.chance.choice((0, 1, 1, 2, 2, 3))):
            fitting = [e for e in self.builds[name] if self.problem.allowed(name, e.idx, self.provider) >> base.idx & 1]
            here = [e for e in fitting if python in self._pythons(e)]
            if (here or fitting) and self.chance.random() < 0.75:
                members.append(self.chance.choice(here or fitting))
            else:
                place = bases.index(base) / len(bases) * len(self.builds[name])  # of about the same age
                near = round(place + self.chance.gauss(0, 3))
                members.append(self.builds[name][min(max(near, 0), len(self.builds[name]) - 1)])
        pins = {e.product: e.version for e in members}
        leaves = [name for name in self.leaves if any(self._speaks(e, name) for e in members)]
        if leaves and self.chance.random() < 0.3:
            leaf = self.chance.choice(leaves)
            if there := self.versions(self.facts.products[leaf].distribution or leaf, python):
                pins[leaf] = self.chance.choice(there)
        return Question(tuple(sorted(pins.items())), python)

    def _speaks(self, element: Element, leaf: str) -> bool:
        return any(edge.of_mask >> element.idx & 1 for edge in self.facts.edges(element.product, leaf))

    def _pythons(self, element: Element) -> list[str]:
        """Return the Pythons for which a build has wheels; all where it has none."""
        cells, grid = element.strong | element.weak, self.facts.grid["python"]
        for dimension, value in zip(("os", "arch"), PLATFORM.rsplit("-", 1), strict=True):
            cells &= self.facts.dimension_cells(dimension, self.facts.word(dimension, value) or 0)
        there = [name for name in self.pythons if cells & self.facts.dimension_cells("python", 1 << grid.index(name))]
        return there or self.pythons


def questions(asker: Asker, count: int) -> list[Question]:
    """Return so many distinct questions."""
    found: dict[Question, None] = {}
    while len(found) < count:
        found[asker.question()] = None
    return list(found)


def recorded_versions(workshop: Workshop) -> Callable[[str, str], list[str]]:
    """Return what looks up the final versions of a distribution that the index has for a Python."""

    def versions(distribution: str, python: str) -> list[str]:
        page = asking.records_for(workshop, CHANNEL)[0].page(distribution) or []
        there = {parse_wheel_filename(wheel.file)[1] for wheel in page if fits(wheel.file, python, PLATFORM)}
        return [str(version) for version in sorted(there) if not version.is_prerelease]

    return versions


def judge(facts: Snapshot, question: Question, workshop: Workshop) -> dict[str, Any]:
    """Return what both say, and how they differ.

    Where compatkb names a stack, pip is asked about all its pins, the companions that nobody asked for included; where it
    refuses those, about what was asked for alone, too.
    """
    answer = resolve(facts, question.request(facts, workshop.today))
    cell = question.cell(facts)
    told: dict[str, Any] = {"pins": dict(question.pins), "python": question.python, "verdict": answer.verdict}
    if answer.verdict in (*GOOD, "likely"):
        stack = answer.stacks[0]
        carried = [e for e in stack.packages if not e.channels or CHANNEL in e.channels]  # others are beyond this index
        pins = {e.distribution or e.product: e.version for e in carried} | dict(cell.packages)
        if len(pins) > len(cell.packages):
            told["stack"] = dict(sorted(pins.items()))
        if waived(facts, stack):
            told["waived"] = waived(facts, stack)
    seen = pip.check(cell_of(told["stack"].items(), question.python) if "stack" in told else cell, workshop)
    if "stack" in told and seen.outcome is not Outcome.OK:
        told["alone"] = str(pip.check(cell, workshop).outcome)
    told |= {"pip": str(seen.outcome), "detail": seen.detail}
    told["difference"] = difference(answer.verdict, seen.outcome, waived="waived" in told)
    if not answer.stacks:
        told["rules"] = [
            [cause_text(facts, cause, answer.request), *(name for name, _ in cause_sources(facts, cause, answer.request))]
            for cause in answer.causes
        ]
    return told


def difference(verdict: str, outcome: Outcome, *, waived: bool = False) -> str:
    """Return how two judgements differ, in words; nothing where they agree."""
    if outcome is Outcome.NOT_CHECKED:
        return "not checked"
    accepted = outcome is Outcome.OK
    if verdict in GOOD:
        return "" if accepted else "refused by pip, and waived by the maker" if waived else WRONG
    if verdict == "likely":
        return "" if accepted else "thought likely, and refused by pip"
    if verdict == "does-not-work":
        return DENIED if accepted else ""
    return UNKNOWN if accepted else "refused by pip, unknown to compatkb"


def main() -> None:
    """Ask the questions, and write what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", type=Path, required=True, help="folder for the record and the journal")
    parser.add_argument("--out", type=Path, default=Path("docs/soak.md"))
    parser.add_argument("--keep", type=int, metavar="N", help="keep so many questions a Python as the sample of the tests")
    parser.add_argument("--python", action="append", metavar="V", help="keep: for this Python; may be repeated")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    day = KnowledgeBase().data_date
    shop = workshop_of(KnowledgeBase().facts, Path("data"), arguments.work / "cells", arguments.work, day)
    journal = arguments.work / f"soak-{arguments.seed}.jsonl"
    if arguments.keep:
        keep(read_lines(journal), arguments.keep, arguments.python, shop)
        return
    own = threading.local()  # one snapshot a thread: they share nothing

    def ask(question: Question) -> dict[str, Any]:
        if not hasattr(own, "facts"):
            own.facts = KnowledgeBase().facts
        return judge(own.facts, question, shop)

    asked = questions(
        Asker(KnowledgeBase().facts, arguments.seed, shop.interpreters, recorded_versions(shop)), arguments.count
    )
    done = {key_of(line): line for line in read_lines(journal)} if journal.exists() else {}
    left = [question for question in asked if question not in done]
    with ThreadPoolExecutor(arguments.jobs) as pool, journal.open("a", encoding="utf-8") as file:
        for number, line in enumerate(pool.map(ask, left), 1):
            done[key_of(line)] = line
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            file.flush()
            print(f"\r{len(asked) - len(left) + number} of {len(asked)}", end="", file=sys.stderr)
    asking.save()
    found = [done[question] for question in asked]
    arguments.out.write_text(report(found, arguments.seed, day), encoding="utf-8")
    sys.exit(1 if any(line["difference"] == WRONG for line in found) else 0)


def keep(found: list[dict[str, Any]], most: int, pythons: Iterable[str], workshop: Workshop) -> None:
    """Keep a sample of what pip settled, and of the record what pip asks for to answer it again."""
    asked: dict[str, set[str]] = {}

    class Noting(Record):
        """A record that notes which pages and which metadata are asked for."""

        def page(self, distribution: str) -> list[Wheel] | None:
            asked.setdefault(str(canonicalize_name(distribution)), set())
            return super().page(distribution)

        def metadata(self, distribution: str, file: str) -> str | None:
            asked.setdefault(str(canonicalize_name(distribution)), set()).add(file)
            return super().metadata(distribution, file)

    asking.Record = Noting  # type: ignore[misc]
    chosen = [line for python in pythons for line in _mixed([line for line in found if line["python"] == python], most)]
    facts = KnowledgeBase().facts
    told = []
    for number, line in enumerate(chosen, 1):
        again = judge(facts, key_of(line), workshop)
        told.append({name: again[name] for name in ("python", "pins", "pip")})
        print(f"\r{number} of {len(chosen)}", end="", file=sys.stderr)
    SAMPLE.mkdir(parents=True, exist_ok=True)
    lines = sorted(json.dumps(line, sort_keys=True) for line in told)
    (SAMPLE / "questions.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    whole = {p.distribution for p in facts.products.values() if p.role != "leaf"}  # the others are there by what is asked
    folder = SAMPLE / "record" / CHANNEL
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.jsonl"):
        path.unlink()
    for name, files in sorted(asked.items()):
        fitting = [w for w in asking.records_for(workshop, CHANNEL)[0].page(name) or () if _fits(w, pythons)]
        kept = [
            replace(wheel, uploaded=None) if wheel.file in files else Wheel(wheel.file, wheel.requires_python, wheel.yanked)
            for wheel in fitting
            if wheel.file in files or name in whole
        ]
        text = "".join(f"{line_of(wheel)}\n" for wheel in sorted(kept, key=lambda wheel: wheel.file))
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def _fits(wheel: Wheel, pythons: Iterable[str]) -> bool:
    return any(fits(wheel.file, python, PLATFORM) for python in pythons)


def _mixed(found: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Return so many lines, of each kind in turn."""
    kinds: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in found:
        if line["pip"] != "not-checked":
            kinds.setdefault((line["verdict"], line["pip"]), []).append(line)
    turns = zip_longest(*(kinds[kind] for kind in sorted(kinds)))
    return [line for turn in turns for line in turn if line is not None][:most]


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file of questions, with or without answers."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def key_of(line: Mapping[str, Any]) -> Question:
    """Return the question of a line."""
    return Question(tuple(sorted(line["pins"].items())), line["python"])


def report(found: list[dict[str, Any]], seed: int, day: date) -> str:
    """Return the page that says what came of a run."""
    checked = [line for line in found if line["pip"] != "not-checked"]
    pairs = Counter((line["verdict"], line["pip"]) for line in found)
    kinds = Counter(line["difference"] or "agree" for line in found)
    whole = sum(1 for line in found if "stack" in line)
    lines = [
        "# compatkb against pip",
        "",
        f"{len(found)} random requests within reach of the default index (seed {seed}, data of {day}), each asked of",
        "compatkb and of real pip, which resolved the same exact pins for the same Python on Linux x86-64; pip settled",
        f"{len(checked)} of them. Where compatkb names a stack, pip was asked about all its pins, companions included",
        f"({whole} times). `make soak` repeats it.",
        "",
        "| compatkb | pip | requests |",
        "|---|---|---|",
        *(f"| {verdict} | {outcome} | {count} |" for (verdict, outcome), count in sorted(pairs.items())),
        "",
        "| difference | requests |",
        "|---|---|",
        *(f"| {kind} | {count} |" for kind, count in sorted(kinds.items())),
        "",
    ]

    def told(kind: str) -> list[dict[str, Any]]:
        return [line for line in found if line["difference"] == kind]

    for kind in (WRONG, "refused by pip, and waived by the maker", "thought likely, and refused by pip"):
        if told(kind):
            shown = (f"- {named(line)}: {line['detail'][:300]}" for line in told(kind))
            lines += [f"## {kind.capitalize()}", "", *shown, ""]
    reasons = Counter(line["detail"] for line in told("not checked"))
    if reasons:
        lines += ["## Not checked", "", *(f"- {count}: {reason}" for reason, count in sorted(reasons.items())), ""]
    lines += [
        "## Accepted by pip, denied by compatkb",
        "",
        "Each with the rule that denies it, and the source of that rule.",
        "",
    ]
    lines += ["| asked | rule | source |", "|---|---|---|"]
    for line in told(DENIED):
        rules = [(re.sub("; [^;]* asked for$", "", text), sources) for text, *sources in line["rules"]]
        lines.append(
            f"| {named(line)} | {'<br>'.join(cell_text(text) for text, _ in rules)} "
            f"| {'<br>'.join(cell_text(source) for _, sources in rules for source in sources[:2])} |"
        )
    return "\n".join(lines) + "\n"


def named(line: Mapping[str, Any]) -> str:
    """Return what was asked, in a line."""
    return f"{', '.join(f'{name} {version}' for name, version in line['pins'].items())}, Python {line['python']}"


def cell_text(text: str) -> str:
    """Return a text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    main()
