"""The timeline: what its data may say, which events are shown, and that every form shows them as they are."""

import html
import json
import re
import tomllib
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from builders import SOURCE, TODAY, data_directory, index, listing, product, release, universe
from conftest import ROOT, Run

from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.authoring.canonical import text_of
from compatkb.authoring.loader import DataProblem, load
from compatkb.authoring.timeline import date_events
from compatkb.errors import DataError, UsageError
from compatkb.output import timeline
from compatkb.schema import TimelineFile
from compatkb.store.reader import Snapshot

PAGE = "[source]\npage = { url = 'https://example.org/', seen = 2026-11-21 }\n"
HEAD = f"{PAGE}[[vendor]]\nid = 'acme'\nname = 'Acme'\n"
DAY = "who = 'acme'\nkind = 'milestone'\ntitle = 'It starts'\nsources = ['page']\n"
PLAIN = f"[[event]]\nid = 'start'\non = 2024-05-01\n{DAY}"
RELEASE = "[[event]]\nid = 'out'\nwho = 'acme'\nkind = 'release'\ntitle = 'Out'\n"
SIDES = "positions = ['May', 'June']\nsources = ['page', 'page']\n"
DISPUTE = (
    "[[dispute]]\nid = 'day'\nabout = 'the day'\nof = ['start']\n"
    "decision = 'open'\nreason = 'nobody knows'\ndecided = 2026-11-21\n"
)
HOSTILE = "<img src=x onerror=alert(1)> a: b; #c | `d` [e](javascript:f) {g} %% & </text>"


def directory(where: Path, text: str) -> Path:
    """Write a made-up data directory with this timeline."""
    products = [
        product("torch", distribution="torch", releases=[release("2.9.0", on=None, builds=["2.9.0"]), "2.8.0", "2.7.0"]),
        product("ended", releases=["1.0"], eol={"last-day": date(2026, 3, 31), "precision": "month", "sources": [SOURCE]}),
    ]
    made = data_directory(where, products, indexes=[index("torch", [listing("2.9.0", on=date(2025, 10, 15))])])
    (made / "timeline.toml").write_text(text, encoding="utf-8")
    return made


def event(**more: Any) -> dict[str, Any]:
    """Return an event of Acme on 2024-05-01."""
    dated = {} if {"after", "by", "of"} & set(more) else {"on": date(2024, 5, 1)}
    plain = {"id": "start", "who": "acme", "kind": "milestone", "title": "It starts", "sources": [SOURCE]}
    return {**plain, **dated, **more}


def facts_with(tmp_path: Path, *events: dict[str, Any], vendors: tuple[str, ...] = ("acme", "other")) -> Snapshot:
    """Return a made-up knowledge base with these events."""
    file = {
        "vendor": [{"id": name, "name": name.title()} for name in vendors],
        "source": {SOURCE: {"url": "https://example.org/", "seen": TODAY}},
        "event": [{**made, "id": f"event-{number}"} for number, made in enumerate(events)],
    }
    return universe(tmp_path, [product("torch", releases=["2.8.0"])], timeline=file)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(PLAIN.replace("2024-05-01", "2024-02-30"), "timeline.toml:", id="no-such-day"),
        pytest.param(PLAIN.replace("2024-05-01", "'soon'"), "event.0.on", id="no-date"),
        pytest.param(PLAIN.replace("on = 2024-05-01\n", ""), "give a date", id="date-missing"),
        pytest.param(PLAIN.replace("05-01\n", "05-02\nprecision = 'month'\n"), "first day of its month", id="mid-month"),
        pytest.param(PLAIN.replace("05-01\n", "05-01\nprecision = 'quarter'\n"), "first day of its quarter", id="no-quarter"),
        pytest.param(PLAIN.replace("05-01\n", "05-01\nprecision = 'week'\n"), "precision", id="no-precision"),
        pytest.param(PLAIN.replace("on = 2024-05-01", "by = 2024-05-01"), "bounds need both", id="one-bound"),
        pytest.param(PLAIN.replace("on = 2024-05-01", "after = 2024-05-02\nby = 2024-05-01"), "in this order", id="backwards"),
        pytest.param(PLAIN.replace("05-01\n", "05-01\nafter = 2024-05-01\n"), "either `on`, or bounds", id="day-and-bounds"),
        pytest.param(PLAIN.replace("milestone", "party"), "event.0.kind", id="no-kind"),
        pytest.param(PLAIN.replace("'It starts'", '"It\\nstarts"'), "event.0.title", id="two-lines"),
        pytest.param(PLAIN.replace("'It starts'", '"\\u001b[2J"'), "event.0.title", id="control"),
        pytest.param(PLAIN.replace("'acme'", "'nobody'"), "event start: nobody is no vendor; known: acme", id="no-vendor"),
        pytest.param(PLAIN.replace("['page']", "['book']"), "event start: book is no source", id="no-source"),
        pytest.param(PLAIN.replace("sources = ['page']\n", ""), "give `sources`", id="source-missing"),
        pytest.param(PLAIN + PLAIN, "event start: the id is used twice", id="twice"),
        pytest.param(
            PLAIN + DISPUTE.replace("'start'", "'end'") + SIDES,
            "dispute day: end is no event of this file",
            id="no-such-event",
        ),
        pytest.param(
            PLAIN + DISPUTE + "positions = ['May', 'June']\nsources = ['page']\n",
            "give one of `sources` for each of `positions`",
            id="position-without-source",
        ),
        pytest.param(PLAIN + RELEASE + "of = 'tourch==2.8.0'\n", "event out: tourch is no product", id="no-product"),
        pytest.param(PLAIN + RELEASE + "of = 'torch==2.6.0'\n", "event out: torch==2.6.0 names no known", id="no-release"),
        pytest.param(PLAIN + RELEASE + "of = 'torch>=2.7'\n", "event out: torch>=2.7 names more than one", id="a-range"),
        pytest.param(PLAIN + RELEASE + "of = 'torch==banana'\n", "event out: ", id="no-version"),
        pytest.param(PLAIN + RELEASE + "of = 'torch'\n", "event out: torch names no release", id="a-whole-product"),
        pytest.param(
            PLAIN + RELEASE + "of = 'torch==2.8.0'\non = 2020-01-02\n", "its date is that of torch==2.8.0", id="second-date"
        ),
        pytest.param(
            f"[[event]]\nid = 'again'\nof = 'torch==2.8.0'\non = 2020-01-01\n{DAY}",
            "event again: its date is that of torch==2.8.0",
            id="milestone-of-the-same-day",
        ),
        pytest.param(
            PLAIN + RELEASE.replace("release", "end-of-life") + "of = 'torch'\nsources = ['page']\n",
            "event out: torch has no date that can be taken over",
            id="no-end",
        ),
    ],
)
def test_wrong_timeline_is_refused(text: str, expected: str, tmp_path: Path) -> None:
    """What a curator may not write is named with its file and event, and no command answers."""
    with pytest.raises(DataError) as refused:
        build_knowledge(load(directory(tmp_path, HEAD + text)))
    assert any("timeline.toml" in problem and expected in problem for problem in refused.value.problems)


def test_all_problems_are_named_at_once(tmp_path: Path) -> None:
    """A curator sees every problem in one go."""
    wrong = PLAIN.replace("'acme'", "'nobody'").replace("['page']", "['book']") + RELEASE + "of = 'tourch==1'\n"
    with pytest.raises(DataError) as refused:
        build_knowledge(load(directory(tmp_path, HEAD + wrong)))
    assert len(refused.value.problems) == 3


def test_dates_are_derived(tmp_path: Path) -> None:
    """An event takes over the date and the sources of its release, from the record or the index, or of an end of life."""
    text = PLAIN + "".join(
        f"[[event]]\nid = '{name}'\nwho = 'acme'\nkind = '{kind}'\ntitle = 'Out'\nof = '{of}'\nsources = ['page']\n"
        for name, kind, of in (
            ("recorded", "milestone", "torch==2.8.0"),
            ("uploaded", "release", "torch==2.9.0"),
            ("over", "end-of-life", "ended"),
        )
    )
    problems: list[DataProblem] = []
    knowledge = build_knowledge(load(directory(tmp_path, HEAD + text)))
    found = {dated.event.id: dated for dated in date_events(knowledge, problems)}
    assert problems == []
    assert found["recorded"].first == date(2020, 1, 1)
    assert (found["uploaded"].first, found["uploaded"].basis) == (date(2025, 10, 15), "first-upload")
    assert found["uploaded"].sources[-1].channel == "default"
    assert (found["over"].last, found["over"].precision) == (date(2026, 3, 31), "end-of-month")


# -- the shipped data -----------------------------------------------------------------------------------------------


def test_shipped_timeline_is_canonical_and_checked() -> None:
    """The file has the one form; each event has two sources, or a note, or a date derived from a release."""
    text = (ROOT / "data" / "timeline.toml").read_text(encoding="utf-8")
    file = TimelineFile.model_validate(tomllib.loads(text))
    assert text_of(file) == text
    for made in file.event:
        assert len(made.sources) >= 2 or made.note or made.of, made.id


def test_vendors_and_years_are_there(facts: Snapshot) -> None:
    """The lanes of AMD and Intel reach from the beginnings to the end of IPEX, and no event has an empty source list."""
    ids = {found.id for found in facts.events}
    assert {"intel", "amd"} <= set(facts.vendors)
    assert {"rocm-1.0", "ipex-1.0", "xpu-prototype", "xpu-solid", "xccl", "ipex-end", "torch-2.10"} <= ids
    assert all(found.sources for found in facts.events)


def test_timeline_and_releases_agree(facts: Snapshot) -> None:
    """The date of a release is the same in the timeline and in the list of releases."""
    for found in facts.events:
        if found.kind == "release" and found.product and found.version:
            dated = facts.release(found.product, found.version)
            assert dated
            assert dated.released
            days = [date.fromisoformat(day).toordinal() for day in dated.released.split("/")]
            assert (found.first, found.last) == (days[0], days[-1]), found.id


# -- which events ---------------------------------------------------------------------------------------------------


def test_later_events_are_planned_or_not_there(tmp_path: Path) -> None:
    """As of a day, what lies ahead is there only if it was announced, and is called planned."""
    facts = facts_with(
        tmp_path,
        event(title="done"),
        event(title="secret", on=date(2030, 1, 1)),
        event(title="promised", on=date(2030, 1, 1), announced=date(2024, 6, 1)),
        event(title="this month", on=date(2024, 6, 1), precision="month"),
    )
    early = timeline.select(facts, date(2024, 5, 31)).events
    later = {e.title: timeline.state(e, date(2024, 6, 15)) for e in timeline.select(facts, date(2024, 6, 15)).events}
    assert [e.title for e in early] == ["done"]
    assert later == {"done": "past", "this month": "uncertain", "promised": "planned"}


def test_bounds_vendors_and_kinds_select(tmp_path: Path) -> None:
    """An event is in when any of its days is between the bounds, inclusive, and vendor and kind fit."""
    facts = facts_with(
        tmp_path,
        event(title="first", on=date(2020, 1, 1)),
        event(title="spread", after=date(2020, 2, 1), by=date(2022, 2, 1), who="other"),
        event(title="last", on=date(2022, 3, 1), kind="end-of-life"),
    )

    def titles(**more: Any) -> list[str]:
        return [e.title for e in timeline.select(facts, TODAY, **more).events]

    assert titles(since=date(2022, 2, 1)) == ["spread", "last"]
    assert titles(until=date(2020, 2, 1)) == ["first", "spread"]
    assert titles(vendors=["other"]) == ["spread"]
    assert titles(kinds=["end-of-life"], vendors=["acme"]) == ["last"]
    with pytest.raises(UsageError, match=r"known: acme, other"):
        titles(vendors=["nobody"])
    with pytest.raises(UsageError, match="cannot start"):
        titles(since=date(2022, 1, 1), until=date(2021, 1, 1))


@pytest.mark.parametrize(
    ("dated", "text", "last"),
    [
        pytest.param({"on": date(2024, 5, 3)}, "2024-05-03", date(2024, 5, 3), id="day"),
        pytest.param({"on": date(2024, 2, 1), "precision": "month"}, "2024-02", date(2024, 2, 29), id="month"),
        pytest.param({"on": date(2024, 10, 1), "precision": "quarter"}, "2024-Q4", date(2024, 12, 31), id="quarter"),
        pytest.param({"on": date(2024, 7, 1), "precision": "half"}, "2024-H2", date(2024, 12, 31), id="half"),
        pytest.param({"on": date(2024, 1, 1), "precision": "year"}, "2024", date(2024, 12, 31), id="year"),
        pytest.param(
            {"after": date(2024, 1, 2), "by": date(2024, 3, 4)}, "2024-01-02 to 2024-03-04", date(2024, 3, 4), id="bounds"
        ),
    ],
)
def test_a_date_is_shown_as_precisely_as_it_is_known(dated: dict[str, Any], text: str, last: date, tmp_path: Path) -> None:
    """No form shows a day where only a month is known, and each precision ends on its own last day."""
    (found,) = facts_with(tmp_path, event(**dated)).events
    assert timeline.date_text(found) == text
    assert date.fromordinal(found.last) == last


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2024", date(2024, 1, 1), date(2024, 12, 31)),
        ("2024-02", date(2024, 2, 1), date(2024, 2, 29)),
        ("2024-12", date(2024, 12, 1), date(2024, 12, 31)),
        ("2024-05-06", date(2024, 5, 6), date(2024, 5, 6)),
    ],
)
def test_bounds_may_be_months_and_years(text: str, first: date, last: date) -> None:
    """A bound reaches to the end of the time that it names."""
    assert timeline.parse_bound(text, end=False) == first
    assert timeline.parse_bound(text, end=True) == last


# -- the forms ------------------------------------------------------------------------------------------------------


def test_markdown_shows_titles_as_text(tmp_path: Path) -> None:
    """A title adds no cell, no link and no markup to the table."""
    facts = facts_with(tmp_path, event(title=HOSTILE))
    row = timeline.markdown(timeline.select(facts, TODAY)).splitlines()[2]
    assert len(re.findall(r"(?<!\\)\|", row)) == 6
    assert not re.search(r"(?<!\\)[`*]|<(?!https://)|(?<!\\)\]\(javascript", row)
    assert re.sub(r"\\(.)", r"\1", html.unescape(row)).count(HOSTILE) == 1


def test_text_and_json_carry_disputes_and_sources(facts: Snapshot, run: Callable[..., Run]) -> None:
    """What is disputed says so, with each position and the decision; every event has its sources."""
    done = run("timeline", "--as-of", "2026-11-21", "--format", "json")
    events = {found["id"]: found for found in json.loads(done.out)["events"]}
    assert events["torch-2.10"]["date"] == "2026-01-21"
    assert events["torch-2.10"]["disputes"][0]["decision"] == "2026-01-21"
    assert events["mi450"]["state"] == "uncertain"
    assert all(found["sources"] for found in events.values())
    assert "[disputed]" in run("timeline", "--from", "2026", "--as-of", "2026-11-21").out


def test_forms_are_the_same_bytes_each_time(facts: Snapshot, run: Callable[..., Run]) -> None:
    """The same data and day give the same bytes in every form."""
    for form in ("text", "json", "markdown"):
        words = ("timeline", "--as-of", "2026-11-21", "--format", form)
        assert run(*words).out == run(*words).out


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        pytest.param(("--vendor", "nvidia"), 2, "known: amd, pytorch, intel", id="vendor"),
        pytest.param(("--from", "2024-13"), 2, "YYYY-MM", id="month"),
        pytest.param(("--from", "0000"), 2, "YYYY-MM", id="year-nought"),
        pytest.param(("--to", "9999-12"), 2, "YYYY-MM", id="past-the-last-year"),
        pytest.param(("--from", "2025", "--to", "2024"), 2, "cannot start", id="backwards"),
        pytest.param(("--to", "1999"), 1, "no event fits", id="nothing"),
    ],
)
def test_wrong_words_end_in_one_line(words: tuple[str, ...], code: int, expected: str, run: Callable[..., Run]) -> None:
    """Wrong words exit 2 and say what would be right; no event is exit 1."""
    done = run("timeline", *words)
    assert done.code == code
    assert expected in done.err
    assert len(done.err.strip().splitlines()) == 1


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_data_without_a_timeline_answer(form: str, tmp_path: Path, run: Callable[..., Run]) -> None:
    """A data directory needs no timeline; every form then says that there is nothing."""
    made = data_directory(tmp_path / "data", [product("torch", releases=["2.8.0"])])
    done = run("timeline", "--data", str(made), "--format", form)
    assert done.code == 1
    assert done.out
