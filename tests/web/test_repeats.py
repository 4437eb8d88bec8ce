"""Answers that were found again are those that the engine gives."""

import json
import random
from typing import Any

import pytest
from site_of_tests import DAY, ROOT, SERIES, SHEETS

from compatkb.snapshot.read import Snapshot
from compatkb.snapshot.store import locate
from compatkb.web.answering import NAMED, Answering
from compatkb.web.questions import Form
from compatkb.web.sheets import Sheet
from compatkb.web.working import sheet_name, work_out

POOLED = ("sources", "disputes", "images", "warnings")
EACH = 90


OFTEN = SHEETS or (("xpu", "1.10"), ("xpu", "2.12"), ("cpu", ""))
NAMES = [*OFTEN, *(pytest.param(name, marks=pytest.mark.long) for name in (("cpu", "2.4"), ("xpu", "")))]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: sheet_name(*name))
def test_repeats_are_what_the_engine_says(name: tuple[str, str]) -> None:
    """Each question has to the letter the answer that it gets alone, without shared searches and without the one before it."""
    form = Form(Snapshot(locate(ROOT / "data")), DAY)
    sheets = work_out(locate(ROOT / "data"), DAY, series=SERIES, names=[name])  # kept since the site was built
    sheet, alone = json.loads(sheets[sheet_name(*name)]), Answering(form.facts)
    cells = [
        (table, python, system, number)
        for table, rows in sheet["tables"].items()
        for python, row in enumerate(rows)
        for system, number in enumerate(sheet["rows"][row])
        if number >= 0
    ]
    kinds: dict[Any, list[Any]] = {}
    for cell in cells:  # of tables by what they fix, and by verdict, so that the few are drawn as well as the many
        fixed = tuple(part.partition("=")[0] for part in cell[0].split("&"))
        kinds.setdefault((fixed, sheet["answers"][cell[3]][0]), []).append(cell)
    draw = random.Random(7)
    drawn = [draw.choice(kinds[draw.choice(list(kinds))]) for _ in range(EACH)]
    device, main = name
    for table, python, system, number in drawn:
        chosen = {"device": device, **({"main": main} if main else {})}
        chosen |= dict(part.split("=") for part in table.split("&") if part)
        for field, n in (("python", python), ("os", system)):
            chosen |= {field: form.values(field)[n - 1]} if n else {}
        fresh = Sheet()
        found = fresh.add(alone.answer(form.request(chosen)))
        assert told(sheet, number, chosen) == told(json.loads(fresh.text()), found, chosen), chosen


def told(sheet: dict[str, Any], number: int, chosen: dict[str, str]) -> str:
    """Return an answer as text, with the names that its question has."""
    text = json.dumps(unfolded(sheet, number))
    for field, mark in NAMED:
        text = text.replace(json.dumps(mark)[1:-1], chosen.get(field, ""))
    return text


def unfolded(sheet: dict[str, Any], number: int) -> list[Any]:
    """Return an answer with all of its parts in their places."""
    verdict, stacks, causes, nearest = sheet["answers"][number]
    return [
        verdict,
        [_stack(sheet, n) for n in stacks],
        [_whole(sheet, sheet["causes"][n]) for n in causes],
        [[relaxed, where, _stack(sheet, n)] for relaxed, where, n in nearest],
    ]


def _stack(sheet: dict[str, Any], number: int) -> list[Any]:
    body, *head = sheet["stacks"][number]
    return [_whole(sheet, sheet["bodies"][body]), head]


def _whole(sheet: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    made = dict(record)
    for pool in POOLED:
        if pool in record:
            parts = [sheet[pool][n] for n in record[pool]]
            made[pool] = [_whole(sheet, part) if pool in ("images", "warnings") else part for part in parts]
    return made
