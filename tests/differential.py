"""compatkb against real pip: random requests within reach of the default index, both asked, every difference explained.

Run as a program it asks many (`make soak`), resumes what was begun, and writes docs/soak.md; the tests ask a sample.
"""

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from compatkb.api import KnowledgeBase
from compatkb.engine.answer import Answer, resolve, routes_of
from compatkb.engine.problem import Problem
from compatkb.models import Level, Outcome
from compatkb.records import Element, Pin, Request
from compatkb.rendering.sentences import cause as cause_text
from compatkb.snapshot.read import Snapshot
from compatkb.validate import asking, pip
from compatkb.validate.cell import Cell, Workshop
from compatkb.validate.session import workshop_of

PLATFORM = "linux-x86_64"
DEVICE, CHANNEL = "cpu", "default"


@dataclass(frozen=True)
class Question:
    """Builds on a Python, for both to judge."""

    members: tuple[Element, ...]
    python: str

    @property
    def cell(self) -> Cell:
        """The question as pip is asked it."""
        pins = tuple(sorted((e.distribution or e.product, e.version) for e in self.members))
        return Cell(Level.RESOLVE, "pip", pins, self.python, PLATFORM, DEVICE, CHANNEL)

    def request(self, facts: Snapshot, day: date) -> Request:
        """Return the question as compatkb is asked it."""
        pins = [Pin(e.product, f"=={e.version}", 1 << e.idx) for e in self.members]
        for dimension, value in (("python", self.python), ("os", "linux"), ("arch", "x86_64")):
            pins.append(Pin(dimension, value, facts.word(dimension, value) or 0))
        return Request(tuple(pins), (), (DEVICE,), day.toordinal())


def questions(facts: Snapshot, count: int, seed: int, pythons: Iterable[str]) -> list[Question]:
    """Return distinct questions: the provider of the routes with one to three products that speak of it."""
    chance = random.Random(seed)
    provider = facts.routes[0].provider
    others = [
        p.id
        for p in facts.products.values()
        if p.role in ("package", "companion")
        and p.id != provider
        and (facts.edges(p.id, provider) or facts.edges(provider, p.id))
    ]
    carried = {name: _carried(facts, name) for name in (provider, *others)}
    others = [name for name in others if carried[name]]
    device, route = next(iter(routes_of(facts, Request((), (), (DEVICE,), date.max.toordinal()))))
    problem = Problem(facts, Request((), (), (DEVICE,), date.max.toordinal()), device, route)
    places = sorted(set(pythons) & set(facts.grid["python"]))
    found: dict[tuple[object, ...], Question] = {}
    while len(found) < count:
        base = chance.randrange(len(carried[provider]))
        members = [carried[provider][base]]
        for name in chance.sample(others, chance.choice((1, 1, 2, 3))):
            fitting = [e for e in carried[name] if problem.allowed(provider, members[0].idx, name) >> e.idx & 1]
            if fitting and chance.random() < 0.7:
                members.append(chance.choice(fitting))
                continue
            near = round(base / len(carried[provider]) * len(carried[name]) + chance.gauss(0, 3))  # of about the same age
            members.append(carried[name][min(max(near, 0), len(carried[name]) - 1)])
        question = Question(tuple(members), chance.choice(places))
        found[(*((e.product, e.idx) for e in members), question.python)] = question
    return list(found.values())


def _carried(facts: Snapshot, product: str) -> list[Element]:
    fitting = (e for e in facts.elements(product) if CHANNEL in e.channels and DEVICE in e.devices and e.installable)
    return list(fitting)


def judge(facts: Snapshot, question: Question, workshop: Workshop) -> dict[str, Any]:
    """Return what both say, and the difference: `wrong` where compatkb promises what pip refuses."""
    answer = resolve(facts, question.request(facts, workshop.today))
    seen = pip.check(question.cell, workshop)
    return {
        "id": question.cell.id,
        "verdict": answer.verdict,
        "pip": str(seen.outcome),
        "detail": seen.detail,
        "difference": difference(answer, seen.outcome),
        "rules": [] if answer.stacks else [cause_text(facts, cause, answer.request) for cause in answer.causes],
    }


def difference(answer: Answer, outcome: Outcome) -> str:
    """Return how two judgements differ: nothing, `wrong`, `refused by pip alone` or `refused by compatkb alone`."""
    if outcome is Outcome.NOT_CHECKED:
        return "not checked"
    good = outcome is Outcome.OK
    if answer.verdict in ("works", "works-with-warnings"):
        return "" if good else "wrong"
    if answer.verdict == "likely":
        return "" if good else "likely, and refused by pip"
    if answer.verdict == "does-not-work":
        return "refused by compatkb alone" if good else ""
    return "unknown to compatkb"


def main() -> None:
    """Ask the questions, and write what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", type=Path, required=True, help="folder for the record and the journal")
    parser.add_argument("--out", type=Path, default=Path("docs/soak.md"))
    arguments = parser.parse_args()
    knowledge = KnowledgeBase()
    day = knowledge.data_date
    shop = workshop_of(knowledge.facts, Path("data"), arguments.work / "cells", arguments.work, day)
    asked = questions(knowledge.facts, arguments.count, arguments.seed, shop.interpreters)
    journal = arguments.work / f"soak-{arguments.seed}.jsonl"
    done = {line["id"]: line for line in map(json.loads, journal.read_text().splitlines())} if journal.exists() else {}
    left = [question for question in asked if question.cell.id not in done]
    path = KnowledgeBase  # one snapshot a thread: they share nothing
    with ThreadPoolExecutor(arguments.jobs) as pool, journal.open("a", encoding="utf-8") as file:
        for number, line in enumerate(pool.map(lambda q: judge(path().facts, q, shop), left), 1):
            done[line["id"]] = line
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            file.flush()
            print(f"\r{len(asked) - len(left) + number} of {len(asked)}", end="", file=sys.stderr)
    asking.save()
    found = [done[question.cell.id] for question in asked if question.cell.id in done]
    arguments.out.write_text(report(found, arguments.seed, day), encoding="utf-8")
    sys.exit(1 if any(line["difference"] == "wrong" for line in found) else 0)


def report(found: list[dict[str, Any]], seed: int, day: date, most: int = 12) -> str:
    """Return the page that says what came of a run."""
    pairs = Counter((line["verdict"], line["pip"]) for line in found)
    kinds = Counter(line["difference"] or "agree" for line in found)
    lines = [
        "# compatkb against pip",
        "",
        f"{len(found)} random requests within reach of the default index (seed {seed}, data of {day}), each asked of compatkb",
        "and of real pip, which resolved the same exact pins for the same Python on Linux x86-64. `make soak` repeats it.",
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
    told: Callable[[str], list[dict[str, Any]]] = lambda kind: [line for line in found if line["difference"] == kind]  # noqa: E731
    for kind in ("wrong", "likely, and refused by pip"):
        if told(kind):
            lines += [f"## {kind.capitalize()}", "", *(f"- {line['id']}: {line['detail'][:200]}" for line in told(kind)), ""]
    lines += ["## What pip accepts and compatkb denies, by rule", ""]
    rules = Counter(
        " ".join(rule.split("\n")[0].split())[:160] for line in told("refused by compatkb alone") for rule in line["rules"]
    )
    lines += [f"- {count}: {rule}" for rule, count in rules.most_common(most)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
