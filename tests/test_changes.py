"""What became true in a span of days: complete, dated, in order, and with both ends counted."""

import json
import re
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest
from conftest import Run
from hostile import LINE, TEXT, hostile_facts

from compatkb.catalog.changelog import KINDS, Change, find_changes
from compatkb.errors import UsageError
from compatkb.output.documents import Edition
from compatkb.output.registry import form as form_of
from compatkb.output.terminal import as_text
from compatkb.store.reader import Snapshot

ALWAYS = (date(1990, 1, 1), date(2026, 11, 21))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """Facts whose every text is hostile."""
    return hostile_facts(tmp_path_factory.mktemp("hostile"))


def brief(changes: tuple[Change, ...]) -> list[tuple[str, str, str | None, str]]:
    """Return day, kind, product and subject of changes."""
    return [(str(change.day), change.kind, change.product, change.subject) for change in changes]


def test_each_kind_on_its_day(hostile: Snapshot) -> None:
    """Releases, withdrawals, ends, advisories, listings and decisions stand on their days, oldest first."""
    whole = find_changes(hostile, date(2026, 1, 1), date(2027, 12, 31))
    found = [line for line in brief(whole) if line[3] != TEXT]
    assert found == [
        ("2026-01-05", "listed", None, "maker/box:old"),
        ("2026-02-01", "released", "torch", "2.8.0"),
        ("2026-03-05", "listed", None, "maker/box:new"),
        ("2026-03-05", "unlisted", None, "maker/box:old"),
        ("2026-05-01", "ended", "torch", "2.7.0"),
        ("2026-05-01", "advised", "torch", "security advisory"),
        ("2026-06-30", "happened", None, LINE),  # a month is over on its last day
        ("2026-07-01", "ended", "ipex", "2.8.0"),
        ("2026-07-01", "ended", "ipex", "2.7.0"),
        ("2026-07-02", "decided", "ipex", "a date"),
        ("2026-07-03", "decided", None, f"an image {TEXT}"),
        ("2026-07-04", "decided", "trick", f"a feature {TEXT}"),
        ("2026-07-05", "decided", None, f"an event {TEXT}"),
        ("2026-07-06", "announced", None, LINE),  # and not 2027, which the data only foresee
        ("2026-08-01", "yanked", "ipex", "2.7.0"),
    ]
    which = [change for change in find_changes(hostile, date(2026, 7, 1), date(2026, 7, 1)) if change.kind == "decided"]
    assert [change.subject for change in which] == [TEXT]
    details = {c.subject.partition(" =")[0]: c.detail for c in whole if c.kind == "decided"}
    assert details["a date"] == f"left open: {TEXT}"
    assert details["a feature"].startswith("trick==supported verified torch==2.8.0: ")
    sources = {c.subject.partition(" =")[0]: c.sources for c in whole if c.kind == "decided"}
    assert all(sources.values())


def test_events_are_told_once(facts: Snapshot) -> None:
    """A release that is an event too is told as a release; a milestone of a release is an event of its own."""
    found = find_changes(facts, *ALWAYS)
    told = {change.subject for change in found if change.kind == "happened"}
    past = [event for event in facts.events if event.last <= ALWAYS[1].toordinal()]
    assert {e.title for e in past if e.kind == "milestone" or not e.product} == told
    assert "PyTorch 2.10" not in told
    assert ("2026-01-21", "released", "torch", "2.10.0") in brief(found)
    assert {c.subject for c in found if c.kind == "announced"} >= {e.title for e in facts.events if e.id == "mi500"}


def test_decisions_reach_whom_they_concern(hostile: Snapshot) -> None:
    """A dispute of a feature, an image tag or an event is told with the product that has, holds or is it."""

    def decided(product: str) -> set[str]:
        return {c.subject.partition(" =")[0] for c in find_changes(hostile, *ALWAYS, product) if c.kind == "decided"}

    assert decided("torch") == {"a feature", "an image"}
    assert decided("trick") == {"a feature"}
    assert decided("hardware") == set()


def test_bounds_are_told(hostile: Snapshot) -> None:
    """A withdrawal that was only seen counts on the day it was seen, with the first day on which it may have happened."""
    (yank,) = (change for change in find_changes(hostile, *ALWAYS) if change.kind == "yanked")
    assert (yank.day, yank.after, yank.detail) == (date(2026, 8, 1), date(2026, 1, 10), "broken")


def test_both_ends_count(facts: Snapshot) -> None:
    """The first and the last day belong to the span; the days before and after do not."""
    day = date(2026, 10, 28)
    torch = ("2026-10-28", "released", "torch", "2.15.0")
    assert torch in brief(find_changes(facts, day, day))
    assert torch not in brief(find_changes(facts, day - timedelta(days=9), day - timedelta(days=1)))
    assert torch not in brief(find_changes(facts, day + timedelta(days=1), day + timedelta(days=9)))


def test_spans_add_up(facts: Snapshot) -> None:
    """What two spans that touch tell is what the whole one tells: nothing is lost or doubled."""
    middle = date(2025, 6, 30)
    whole = find_changes(facts, *ALWAYS)
    parts = find_changes(facts, ALWAYS[0], middle) + find_changes(facts, middle + timedelta(days=1), ALWAYS[1])
    assert whole == parts
    assert len(whole) > 1000


def test_it_agrees_with_the_other_commands(facts: Snapshot) -> None:
    """Every end of life that `eol` calls over has a change, on the day after its last one."""
    ended = {(c.product, c.subject, c.day - timedelta(days=1)) for c in find_changes(facts, *ALWAYS) if c.kind == "ended"}
    dated = {
        (release.product, release.version, date.fromisoformat(release.eol)) for release in facts.releases() if release.eol
    }
    assert {end for end in dated if end[2] < date(2026, 11, 21)} == ended


def test_product_and_the_images_that_hold_it(facts: Snapshot) -> None:
    """With a product, only its changes and those of image tags that contain it."""
    found = find_changes(facts, *ALWAYS, "oneccl-bind-pt")
    features = {feature.id for feature in facts.feature_records() if feature.product == "oneccl-bind-pt"}
    assert {change.product for change in found} - features == {"oneccl-bind-pt", None}
    assert any(change.kind == "listed" for change in found)
    assert {change.product for change in find_changes(facts, *ALWAYS, "gpu-driver")} == {"gpu-driver", None}
    found = find_changes(facts, *ALWAYS, "numpy")
    tags = {change.subject.partition(":")[2] for change in found if change.kind in ("listed", "unlisted")}
    images_held = {facts.image(content.image) for content in facts.images_with("numpy")}
    assert tags == {tag.name for tag in images_held if tag.runs}


def test_observations_are_changes(tmp_path: Path) -> None:
    """What a command saw stands on its day, with its outcome."""
    from builders import data_directory, product

    from compatkb.store.cache import compile_directory

    data = data_directory(tmp_path / "data", [product("torch", releases=["2.8.0"])])
    (data / "evidence").mkdir()
    seen = {"level": "import", "outcome": "failed-import", "packages": {"torch": "2.8.0"}, "python": "3.12"}
    more = {"platform": "linux-x86_64", "tool": "python", "device": "cpu", "index": "default", "checked": "2026-11-20"}
    rest = {"stubbed": True, "culprit": "gate"}
    (data / "evidence" / "a.jsonl").write_text(json.dumps(seen | more | rest) + "\n", encoding="utf-8")
    compile_directory(data, tmp_path / "snapshot.sqlite")
    found = find_changes(Snapshot(str(tmp_path / "snapshot.sqlite")), date(2026, 11, 20), date(2026, 11, 20))
    assert [(c.kind, c.product, c.subject) for c in found] == [
        ("validated", "torch", "torch 2.8.0 (Python 3.12, linux x86_64, cpu)")
    ]
    assert found[0].detail == (
        "import: failed-import, with libraries of another device replaced by empty ones; it proves gate"
    )


def test_many_observations_are_summed_up(facts: Snapshot) -> None:
    """A day of thousands of observations is a line with how many had which outcome; JSON has each."""
    day = date(2026, 11, 23)
    found = find_changes(facts, day, day)
    assert sum(change.kind == "validated" for change in found) > 1000
    edition = Edition(facts.meta["data_date"], day)
    lines = form_of("changes", "text")(found, day, edition, str, everything=True)
    told = [line.text for line in lines if line.text.startswith("tested")]
    assert len(told) == 1
    assert len(told[0]) < 600
    assert not any(line.text.startswith("tested") for line in form_of("changes", "text")(found, day, edition, str))


def test_order_within_a_day(facts: Snapshot) -> None:
    """Changes of a day are ordered by kind, then by the rank of their product."""
    order = list(facts.products)
    places = [
        (c.day, KINDS.index(c.kind), order.index(c.product) if c.product else len(order)) for c in find_changes(facts, *ALWAYS)
    ]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "words",
    [
        ("--since", "2026-13-01"),
        ("--since", "yesterday"),
        ("--since", "2026-11-01", "--until", "2026-10-01"),
        ("--since", "2026-11-01", "--until", "soon"),
        ("--since", ""),
        ("torsh", "--since", "2026-01-01"),
    ],
    ids=" ".join,
)
def test_wrong_days(words: tuple[str, ...], run: Callable[..., Run]) -> None:
    """A day that is none, a span that ends before it starts and an unknown product are wrong usage."""
    done = run("changes", *words)
    assert (done.code, done.out, done.err.count("error: ")) == (2, "", 1)


def test_without_a_day_the_last_ninety_are_told(run: Callable[..., Run]) -> None:
    """Where no first day is named a span of the data is taken, and the remark on stderr says which."""
    done = run("changes", "torch", "--as-of", "2026-11-01")
    assert done.code == 0
    assert done.err == "remark: since 2026-08-03, 90 days before 2026-11-01; from another day: --since DATE\n"
    assert done.out == run("changes", "torch", "--since", "2026-08-03", "--as-of", "2026-11-01").out


def test_empty_span(facts: Snapshot, run: Callable[..., Run]) -> None:
    """Nothing became true: that is an answer too."""
    with pytest.raises(UsageError, match="lies after"):
        find_changes(facts, date(2026, 1, 2), date(2026, 1, 1))
    done = run("changes", "mlperf", "--since", "2026-11-20", "--until", "2026-11-20")
    assert (done.code, "No changes from 2026-11-20 to 2026-11-20." in done.out) == (0, True)


def test_until_is_as_of(run: Callable[..., Run]) -> None:
    """--until and --as-of are one option; JSON names the span."""
    by_until = run("changes", "torch", "--since", "2026-09-01", "--until", "2026-10-31", "--format", "json").out
    assert by_until == run("changes", "torch", "--since", "2026-09-01", "--as-of", "2026-10-31", "--format", "json").out
    content = json.loads(by_until)
    assert (content["since"], content["until"], content["as_of"]) == ("2026-09-01", "2026-10-31", "2026-10-31")
    assert [c["subject"] for c in content["changes"] if c["kind"] == "released"] == ["2.14.0", "2.14.1", "2.15.0"]
    assert all(c["sources"] for c in content["changes"])


def test_hostile_text_adds_no_line_and_no_mark_up(hostile: Snapshot) -> None:
    """In text and Markdown a change stays on its line, and what looks like mark-up is escaped."""
    found = find_changes(hostile, *ALWAYS)
    for form in ("text", "markdown"):
        text = as_text(form_of("changes", form)(found, ALWAYS[0], Edition(hostile.meta["data_date"], ALWAYS[1]), str))
        assert all(letter.isprintable() or letter == "\n" for letter in text)
        assert not re.search(r"(?<!\\)<img", text) or form == "text"
    content = form_of("changes", "json")(found, ALWAYS[0], Edition(hostile.meta["data_date"], ALWAYS[1]), str)
    assert len(json.loads(content)["changes"]) == len(found)
