"""The site's files: written whole or not at all, escaped, complete in the wheel's sources; questions as addresses."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from conftest import ROOT, Run
from hypothesis import given
from hypothesis import strategies as some

from compatkb.core.atomic_write import write_tree
from compatkb.core.clock import Clock
from compatkb.errors import CompatkbError, UsageError
from compatkb.store.reader import Snapshot
from compatkb.web.asker import Asker
from compatkb.web.pages import ASSETS, ENGINE_ASSETS, Site, environment
from compatkb.web.questions import PageQuestion, question_of, read_question
from compatkb.web.static import MARK

CLOCK = Clock(date(2026, 11, 22))


def test_folder_of_others_is_left_alone(tmp_path: Path, run: Callable[..., Run]) -> None:
    """A site is written over nothing but a site."""
    (tmp_path / "letter.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="holds other files"):
        write_tree(tmp_path, {"index.html": b""}, ours=MARK)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
    assert run("web", "serve", "--dir", str(tmp_path)).code == 2


def test_site_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    """Of an older site nothing is left."""
    write_tree(tmp_path / "site", {MARK: b"1", "old.html": b""}, ours=MARK)
    write_tree(tmp_path / "site", {MARK: b"2", "new/page.html": b""}, ours=MARK)
    assert sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()) == [
        f"site/{MARK}",
        "site/new/page.html",
    ]


def test_text_is_escaped() -> None:
    """Text that is put into a page is text there, in elements and in attributes."""
    evil = '"><img onerror=x>'
    made = environment().from_string('<b title="{{ what }}">{{ what }}</b>').render(what=evil)
    assert made.count("<") == 2


def test_sources_of_the_site_are_there() -> None:
    """The checkout has every asset, and the build hook puts the folder into the wheel."""
    names = (*ASSETS, *ENGINE_ASSETS, "engine.json", "templates/base.html")
    assert all((ROOT / "web" / name).is_file() for name in names)
    assert 'root / "web"' in (ROOT / "hatch_build.py").read_text(encoding="utf-8")


@given(
    some.lists(
        some.tuples(some.sampled_from(["torch", "python", "os", "hw", "inc"]), some.text(min_size=1, max_size=9)), max_size=4
    ),
    some.lists(some.text(some.characters(exclude_categories=["Cs"]), min_size=1, max_size=9), max_size=3),
)
def test_addresses_keep_questions(options: list[tuple[str, str]], words: list[str]) -> None:
    """A question read from the address that it makes is the same question."""
    import shlex

    asked = [*options, ("q", shlex.join(words))] if words else options
    try:
        question = read_question(asked)
    except CompatkbError:
        return
    assert read_question(parse_qsl(question.query(), keep_blank_values=True)) == question


def test_nothing_of_an_address_is_dropped() -> None:
    """What an address has that is no part of a question is named."""
    with pytest.raises(UsageError, match="colour"):
        read_question([("torch", "2.8"), ("colour", "red")])
    with pytest.raises(UsageError, match="more than once"):
        read_question([("route", "ipex"), ("route", "native")])
    assert read_question([("torch", " "), ("device", "xpu")]) == PageQuestion(devices=("xpu",))


def test_every_pin_can_be_changed(facts: Snapshot) -> None:
    """However a product was pinned, the form shows its pin and can replace it, and asks the same until then."""
    asked = read_question([("q", "python==3.12 'torch>=2.7' ipex 'numpy<2'"), ("os", "ubuntu22.04"), ("device", "xpu")])
    request = asked.request(facts, CLOCK)
    normal = question_of(request, asked)
    again = normal.request(facts, CLOCK)
    assert {(pin.product, pin.mask) for pin in again.pins} == {(pin.product, pin.mask) for pin in request.pins}
    assert again.bare == request.bare
    assert normal.fix("os", "windows").version_of("os") == "windows"


def test_every_written_question_can_be_asked(facts: Snapshot) -> None:
    """Each question with a page of its own is read as a request, and no two have one page."""
    site = Site(Asker(facts, CLOCK), live=False)
    for question in site.written:
        question.request(facts, CLOCK)
    assert len(set(site.written.values())) == len(site.written)
