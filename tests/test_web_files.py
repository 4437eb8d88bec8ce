"""The site's files: written whole or not at all, escaped, complete in the wheel's sources."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, Run

from compatkb.errors import UsageError
from compatkb.snapshot.read import Snapshot
from compatkb.web.answering import pack
from compatkb.web.page import fill, markup, tag
from compatkb.web.questions import Form
from compatkb.web.sheets import Sheet
from compatkb.web.site import ASSETS
from compatkb.writing import write_tree


def test_folder_of_others_is_left_alone(tmp_path: Path, run: Callable[..., Run]) -> None:
    """A site is written over nothing but a site."""
    (tmp_path / "letter.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="holds other files"):
        write_tree(tmp_path, {"index.html": b""}, ours="data/form.js")
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
    assert run("web", "serve", "--dir", str(tmp_path)).code == 2


def test_site_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    """Of an older site nothing is left."""
    write_tree(tmp_path / "site", {"data/form.js": b"1", "old.html": b""}, ours="data/form.js")
    write_tree(tmp_path / "site", {"data/form.js": b"2", "new/page.html": b""}, ours="data/form.js")
    assert sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.*")) == [
        "site/data/form.js",
        "site/new/page.html",
    ]


def test_text_is_escaped() -> None:
    """Text that is put into a page is text there, in elements and in attributes."""
    evil = '"><img onerror=x>'
    assert str(tag("p", evil, title=evil)).count("<") == 2
    assert fill("<b>{{what}}</b>", what="{{<i>}}") == "<b>{{&lt;i&gt;}}</b>"
    assert markup(["a", None, tag("br")]) == "a<br>"


def test_stand_ins_can_be_undone() -> None:
    """What stands for a name of the question comes back as that name, also where it stands for a part of another word."""
    named = ("ubuntu22.04", "3.11", "max")
    text = {"a": ["ubuntu22.04", "3.11", "2.3.110", "wsl2-ubuntu22.04", "max, flex"], "b": "on ubuntu22.04 and Python 3.11."}
    packed = pack(text, named)
    assert '"3.11"' not in packed
    for mark, name in (("\\u0001", named[0]), ("\\u0002", named[1]), ("\\u0004", named[2])):
        packed = packed.replace(mark, name)
    assert json.loads(packed) == text


def test_sheet_keeps_equal_parts_once() -> None:
    """Equal rows and answers have one number."""
    sheet = Sheet()
    sheet.set_table("", [[0, 1], [0, 1]])
    assert json.loads(sheet.text())["tables"] == {"": [0, 0]}


def test_sources_of_the_site_are_there() -> None:
    """The checkout has every asset, and the build hook puts the folder into the wheel."""
    assert all((ROOT / "web" / name).is_file() for name in (*ASSETS, "page.html", "lookup.html"))
    assert 'root / "web"' in (ROOT / "hatch_build.py").read_text(encoding="utf-8")


def test_every_value_can_be_asked(facts: Snapshot) -> None:
    """Each value of each field is a word of the command line."""
    from datetime import date

    form = Form(facts, date.fromisoformat(facts.meta["data_date"]))
    for field in form.fields:
        assert field.values
        for value in field.values:
            form.request({"device": form.values("device")[0], field.id: value.id})
