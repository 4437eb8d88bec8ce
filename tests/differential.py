"""compatkb against real pip: random requests within reach of the default index, both asked, every difference explained.

Run as a program it asks many (`make soak`), resumes what was begun, and prints the differences; `--keep N` picks a sample of
what was asked and keeps it with the part of the record that answers it, for the tests.
"""

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email.parser import BytesHeaderParser
from itertools import zip_longest
from pathlib import Path
from typing import Any

from builders import wheel_file
from conftest import ROOT
from loopback import Index, serve
from packaging.utils import canonicalize_name

from compatkb.api import KnowledgeBase
from compatkb.core.clock import Clock, current_day
from compatkb.engine.answer import resolve
from compatkb.output.presenter import present, present_stack
from compatkb.request.parser import make_request
from compatkb.schema import Level, Outcome
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Request
from compatkb.validate import installers as pip
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.indexes import listed, network
from compatkb.validate.session import run_context
from compatkb.validate.targets import fits

PLATFORM = "linux-x86_64"
DEVICE, CHANNEL = "cpu", "default"
SAMPLE = Path(__file__).parent / "cases" / "differential"
GOOD = ("works", "works-with-warnings")
WRONG = "promised, and refused by pip"
DENIED = "accepted by pip, denied by compatkb"
UNKNOWN = "accepted by pip, unknown to compatkb"
UNDECIDED = "refused by pip, unknown to compatkb"
LIKELY = "thought likely, and refused by pip"
BEYOND = "refused by pip for what the data do not hold"
FAULTS = (WRONG, UNDECIDED, LIKELY)
"""What must not be where pip goes by metadata that the data hold."""


@dataclass(frozen=True)
class Question:
    """Exact versions on a Python, for both to judge: `pins` by product, sorted."""

    pins: tuple[tuple[str, str], ...]
    python: str

    def cell(self, facts: Snapshot) -> ValidationCell:
        """Return the question as pip is asked it."""
        return cell_of(((facts.products[name].distribution or name, version) for name, version in self.pins), self.python)

    def request(self, facts: Snapshot) -> Request:
        """Return the question as compatkb is asked it: builds that the default index carries, none of other indexes."""
        words = [f"{name}=={version}" for name, version in self.pins]
        system, _, arch = PLATFORM.rpartition("-")
        options = (("python", self.python), ("os", system), ("arch", arch))
        request = make_request(facts, options, words, clock=Clock(current_day()))
        pins = []
        for pin in request.pins:
            builds = [e for e in facts.elements(pin.product) if pin.mask >> e.idx & 1 and CHANNEL in e.channels]
            exact = [e for e in builds if (pin.product, e.version) in self.pins]
            pins.append(pin._replace(mask=1 << exact[0].idx) if exact else pin)
        return request._replace(pins=tuple(pins))


def cell_of(pins: Iterable[tuple[str, str]], python: str) -> ValidationCell:
    """Return the cell that asks pip about pins of distributions."""
    return ValidationCell(Level.RESOLVE, "pip", tuple(sorted(pins)), python, PLATFORM, DEVICE, CHANNEL)


class Asker:
    """Makes questions: two to five exact versions of packages, mostly of such as speak of each other."""

    def __init__(self, facts: Snapshot, seed: int, pythons: Iterable[str], versions: Callable[[str, str], list[str]]) -> None:
        self.facts, self.chance, self.versions = facts, random.Random(seed), versions
        self.pythons = [name for name in facts.grid["python"] if name in set(pythons)]
        self.provider = facts.routes[0].provider
        products = facts.products.values()
        packages = [p.id for p in products if p.role in ("package", "companion")]
        self.builds = {name: [e for e in facts.elements(name) if CHANNEL in e.channels and e.installable] for name in packages}
        self.others = [name for name in packages if self.builds[name] and name != self.provider]
        self.leaves = [p.id for p in products if p.role == "leaf" and p.distribution]

    def question(self) -> Question:
        """Return a question; more than half of its choices are such that they can go together."""
        bases = self.builds[self.provider]
        base = self.chance.choice(bases)
        python = self.chance.choice(self._pythons(base) if self.chance.random() < 0.85 else self.pythons)
        near = [name for name in self.others if self._speak(name, self.provider)]
        members = [base]
        for _ in range(self.chance.choice((1, 1, 2, 2, 3, 4))):
            pool = near if self.chance.random() < 0.8 else self.others
            members.append(self._member(self.chance.choice(pool), base, python))
        if self.chance.random() < 0.15:
            del members[0]
        pins = {e.product: e.version for e in members}
        leaves = [name for name in self.leaves if any(self._speaks(e, name) for e in members)]
        while leaves and len(pins) < 5 and (len(pins) < 2 or self.chance.random() < 0.45):
            leaf = leaves.pop(self.chance.randrange(len(leaves)))
            if there := self.versions(self.facts.products[leaf].distribution or leaf, python):
                pins[leaf] = self.chance.choice(there)
        return Question(tuple(sorted(pins.items())), python) if len(pins) > 1 else self.question()

    def _member(self, name: str, base: Element, python: str) -> Element:
        fitting = [e for e in self.builds[name] if self._admit(e, base)]
        here = [e for e in fitting if python in self._pythons(e)]
        if (here or fitting) and self.chance.random() < 0.6:
            return self.chance.choice(here or fitting)
        bases = self.builds[base.product]
        place = bases.index(base) / len(bases) * len(self.builds[name])  # of about the same age
        near = round(place + self.chance.gauss(0, 3))
        return self.builds[name][min(max(near, 0), len(self.builds[name]) - 1)]

    def _speak(self, name: str, other: str) -> bool:
        return bool(self.facts.edges(name, other) or self.facts.edges(other, name))

    def _admit(self, one: Element, other: Element) -> bool:
        """Return whether neither of two builds says that it needs another version of the other one."""
        said = [(e, one, other) for e in self.facts.edges(one.product, other.product)]
        said += [(e, other, one) for e in self.facts.edges(other.product, one.product)]
        spoken = [(e, to) for e, of, to in said if e.of_mask >> of.idx & 1 and e.kind in ("needs", "constrains")]
        return all(edge.to_mask >> to.idx & 1 for edge, to in spoken)

    def _speaks(self, element: Element, leaf: str) -> bool:
        return any(edge.of_mask >> element.idx & 1 for edge in self.facts.edges(element.product, leaf))

    def _pythons(self, element: Element) -> list[str]:
        """Return the Pythons for which a build has wheels; all where it has none."""
        cells, grid = element.certain | element.inferred, self.facts.grid["python"]
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


def recorded_versions(context: RunContext) -> Callable[[str, str], list[str]]:
    """Return what looks up the final versions of a distribution that the index has for a Python."""

    def versions(distribution: str, python: str) -> list[str]:
        files = listed(cell_of((), python), context, distribution)
        there = {file.version for file in files if fits(file.entry.name, python, PLATFORM)}
        return [str(version) for version in sorted(there) if not version.is_prerelease]

    return versions


Pip = Callable[[ValidationCell], tuple[Outcome, str]]
"""Asks pip about a cell: what came of it, and pip's words."""


class Kept:
    """Asks pip, and keeps what it says in a file: it says the same however compatkb changes."""

    def __init__(self, path: Path, context: RunContext) -> None:
        self.path, self.context = path, context
        lines = read_lines(path) if path.exists() else []
        self.said = {(tuple(sorted(x["pins"].items())), x["python"]): (Outcome(x["pip"]), x["detail"]) for x in lines}

    def __call__(self, cell: ValidationCell) -> tuple[Outcome, str]:
        """Return what pip says."""
        key = (cell.packages, cell.python)
        if key not in self.said:
            seen = pip.check(cell, self.context)
            self.said[key] = seen.outcome, seen.detail
            if seen.outcome is not Outcome.NOT_CHECKED:
                line = {"pins": dict(cell.packages), "python": cell.python, "pip": str(seen.outcome), "detail": seen.detail}
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")
        return self.said[key]


def asking(context: RunContext) -> Pip:
    """Return what asks pip anew each time."""

    def ask(cell: ValidationCell) -> tuple[Outcome, str]:
        seen = pip.check(cell, context)
        return seen.outcome, seen.detail

    return ask


def judge(facts: Snapshot, question: Question, ask: Pip) -> dict[str, Any]:
    """Return what both say, and how they differ.

    Where compatkb names a stack, pip is asked about all its pins, the companions that nobody asked for included; where it
    refuses those, about what was asked for alone, too.
    """
    answer = resolve(facts, question.request(facts))
    cell = question.cell(facts)
    told: dict[str, Any] = {"pins": dict(question.pins), "python": question.python, "verdict": answer.verdict}
    if answer.verdict in (*GOOD, "likely"):
        stack = answer.stacks[0]
        carried = [e for e in stack.packages if not e.channels or CHANNEL in e.channels]  # others are beyond this index
        pins = {e.distribution or e.product: e.version for e in carried} | dict(cell.packages)
        if len(pins) > len(cell.packages):
            told["stack"] = dict(sorted(pins.items()))
        if waived := present_stack(facts, stack, answer.request).waives:
            told["waived"] = list(waived)
    outcome, detail = ask(cell_of(told["stack"].items(), question.python) if "stack" in told else cell)
    if "stack" in told and outcome is not Outcome.OK:
        told["alone"] = str(ask(cell)[0])
    told |= {"pip": str(outcome), "detail": detail}
    told["difference"] = difference(answer.verdict, outcome, waived="waived" in told)
    if told["difference"] in (UNDECIDED, LIKELY) and is_beyond(detail):
        told["difference"] = BEYOND
    if not answer.stacks:
        told["rules"] = [[cause.message, *(name for name, _ in cause.sources)] for cause in present(facts, answer).causes]
    return told


def is_beyond(detail: str) -> bool:
    """Return whether pip refuses a pin since no wheel fits the Python, of a distribution of which no wheels are recorded."""
    named = re.search(r"find a version that satisfies the requirement ([\w.-]+?)==", detail)
    path = ROOT / "data" / "index" / f"{canonicalize_name(named[1])}.toml" if named else None
    return path is not None and not (path.exists() and "[[release]]" in path.read_text("utf-8"))


def difference(verdict: str, outcome: Outcome, *, waived: bool = False) -> str:
    """Return how two judgements differ, in words; nothing where they agree."""
    if outcome is Outcome.NOT_CHECKED:
        return "not checked"
    accepted = outcome is Outcome.OK
    if verdict in GOOD:
        return "" if accepted else "refused by pip, and waived by the maker" if waived else WRONG
    if verdict == "likely":
        return "" if accepted else LIKELY
    if verdict == "does-not-work":
        return DENIED if accepted else ""
    return UNKNOWN if accepted else UNDECIDED


def main() -> None:
    """Ask the questions, and print how the two differ; exit 1 where pip refuses what the data should exclude."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--work", type=Path, required=True, help="folder for what pip says")
    parser.add_argument("--pip-only", action="store_true", help="ask pip alone, and keep what it says for later")
    parser.add_argument("--keep", type=int, metavar="N", help="keep so many questions a Python as the sample of the tests")
    parser.add_argument("--python", action="append", metavar="V", help="keep: for this Python; may be repeated")
    arguments = parser.parse_args()
    arguments.work = arguments.work.resolve()
    arguments.work.mkdir(parents=True, exist_ok=True)
    base = KnowledgeBase()
    facts, day = base.facts, base.data_date
    context = run_context(facts, Path("data"), arguments.work / "cells", arguments.work, day)
    ask = Kept(arguments.work / f"pip-{day}.jsonl", context)
    asker = Asker(facts, arguments.seed, context.interpreters, recorded_versions(context))
    found = []
    for number, question in enumerate(questions(asker, arguments.count), 1):
        found.append({"pip": ask(question.cell(facts))[0]} if arguments.pip_only else judge(facts, question, ask))
        print(f"\r{number} of {arguments.count}", end="", file=sys.stderr)
    if arguments.pip_only:
        print(f"\npip: {Counter(str(line['pip']) for line in found)}", file=sys.stderr)
    elif arguments.keep:
        keep(found, arguments.keep, arguments.python, context)
    else:
        for kind, count in Counter(line["difference"] or "agree" for line in found).most_common():
            print(f"{count:5}  {kind}")
        wrong = [line for line in found if line["difference"] in FAULTS]
        for line in wrong:
            print(json.dumps(line, ensure_ascii=False))
        sys.exit(1 if wrong else 0)


def keep(found: list[dict[str, Any]], most: int, pythons: Iterable[str], context: RunContext) -> None:
    """Keep a sample of what pip settled, and of the index what pip asks for to answer it again."""
    chosen = [line for python in pythons for line in _mixed([line for line in found if line["python"] == python], most)]
    facts = KnowledgeBase().facts
    told = []
    with serve(Mirror(context=context, pythons=tuple(pythons))) as mirror:
        ask = asking(replace(context, indexes={CHANNEL: f"{mirror.url}/simple/"}, pages={}))
        for number, line in enumerate(chosen, 1):
            again = judge(facts, key_of(line), ask)
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
    for name, lines_by_file in mirror.kept.items():
        kept = [line for file, line in sorted(lines_by_file.items()) if "headers" in line or name in whole]
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in kept)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


@dataclass
class Mirror(Index):
    """What the real index has for some Pythons, read as it is asked for, and kept as lines of a record."""

    hashes: bool = False
    context: RunContext = field(kw_only=True)
    pythons: tuple[str, ...] = ()
    kept: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)

    def page(self, name: str = "") -> str:
        """Return the page of a distribution: no hash, since what stands behind it is hollow."""
        if name not in self.kept:
            files = listed(cell_of((), self.pythons[0]), self.context, name)
            entries = [f.entry for f in files if any(fits(f.entry.name, python, PLATFORM) for python in self.pythons)]
            lines = [{"file": e.name, "requires_python": e.requires_python, "yanked": e.yanked} for e in entries]
            stated = ({key: value for key, value in line.items() if value is not None} for line in lines)
            self.kept[name] = {line["file"]: line for line in stated}
            fill(self, self.kept[name].values())
        return super().page(name)

    def content(self, file: str) -> bytes | None:
        """Return a wheel with the real one's metadata and nothing else."""
        name = str(canonicalize_name(file.split("-", maxsplit=1)[0]))
        line = self.kept.get(name, {}).get(file)
        if line is None:
            return None
        if "headers" not in line:
            real = next(f for f in listed(cell_of((), self.pythons[0]), self.context, name) if f.entry.name == file)
            content = network(self.context.indexes.get(CHANNEL), False, self.context.seconds).metadata(name, real) or b""
            message = BytesHeaderParser().parsebytes(content)
            line["headers"] = [[key, " ".join(str(value).split())] for key, value in message.items() if key in FIELDS]
            fill(self, [line])
        return self.files[file]


FIELDS = ("Metadata-Version", "Name", "Version", "Requires-Python", "Requires-Dist", "Provides-Extra", "Dynamic")
"""The fields that resolution reads; without Provides-Extra an extra is dropped in silence, and answers flip."""


def fill(index: Index, lines: Iterable[Mapping[str, Any]]) -> None:
    """Add wheels to an index; one whose metadata nobody read is there by its name alone."""
    for line in lines:
        file = line["file"]
        _, version, *_ = file.split("-")
        index.files[file] = b""
        if headers := line.get("headers"):
            more = [f"{key}: {value}" for key, value in headers if key not in ("Metadata-Version", "Name", "Version")]
            tag = "-".join(file.removesuffix(".whl").split("-")[-3:])
            index.files[file] = wheel_file(dict(headers)["Name"], version, {}, tag=tag, headers=more)[1]
        for said, key in ((index.requires_python, "requires_python"), (index.yanked, "yanked")):
            if key in line:
                said[file] = line[key]


@contextmanager
def recorded() -> Iterator[str]:
    """Serve the part of the index that answers the sample; yields its address."""
    with serve() as index:
        index.hashes = False
        for path in sorted((SAMPLE / "record" / CHANNEL).glob("*.jsonl")):
            fill(index, read_lines(path))
        yield f"{index.url}/simple/"


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


if __name__ == "__main__":
    main()
