"""The table of wheels by Python: published tables come out cell for cell, and words mean what they say."""

import json
import tomllib
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from builders import TODAY, build, index, listing, product, release, universe, wheel
from conftest import ROOT, Run

from compatkb.errors import UsageError
from compatkb.output.python_matrix import Cell, PythonMatrix, markdown, matrix_lines, python_matrix
from compatkb.output.screen import text_of
from compatkb.store.reader import Snapshot

FILES = sorted((ROOT / "tests" / "cases" / "matrix").glob("*.toml"))


def tables() -> Iterator[Any]:
    """Yield the product and each published table."""
    for path in FILES:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        for table in content["table"]:
            yield pytest.param(content["product"], table, id=table["source"])


def cells(table: PythonMatrix) -> dict[tuple[str, str], Cell]:
    """Return the cells of a table by release and Python."""
    return {(row.release, python): cell for row in table.rows for python, cell in zip(table.pythons, row.cells, strict=True)}


@pytest.mark.parametrize(("name", "published"), list(tables()))
def test_published_table_comes_out(name: str, published: dict[str, Any], facts: Snapshot) -> None:
    """The data give every cell of a published table, save the deviations that it lists, each with a reason."""
    product_ = facts.product(name)
    assert product_
    made = cells(python_matrix(facts, product_, date(2026, 11, 21)))
    deviations = {(d["release"], d["python"]): d for d in published.get("deviation", ())}
    names, devices = published.get("names", {}), published.get("devices", {})
    found = {}
    for label, ticked in published["rows"].items():
        release_ = names.get(label, label)
        assert set(ticked) <= set(published["pythons"])
        for python in published["pythons"]:
            says = "yes" if python in ticked else "no"
            cell = made[release_, python]
            level = dict(cell.devices)[devices[release_]] if release_ in devices else cell.level
            if level != says:
                found[release_, python] = (says, level)
    assert found == {place: (d["table"], d["data"]) for place, d in deviations.items()}
    known = facts.dispute_records()
    assert all(d["reason"] and d["dispute"] in known for d in deviations.values())


def test_every_edition_is_there() -> None:
    """The guide's editions and every tag of the bindings with a table are among the cases."""
    sources = [param.id or "" for param in tables()]
    assert sum("huggingface/transformers" in source for source in sources) == 3
    assert sum("intel/torch-ccl" in source for source in sources) >= 24


@pytest.fixture
def small(tmp_path: Path) -> Snapshot:
    """A product whose wheels are known in every way."""
    loose = {"wheels_complete": False}
    return universe(
        tmp_path,
        [
            product(
                "tool",
                distribution="tool",
                releases=[
                    release("3.0", on=None, released={"after": date(2026, 1, 1), "by": date(2026, 3, 1), "sources": ["page"]}),
                    release(
                        "2.0",
                        builds=[
                            build("2.0+cpu", devices=["cpu"], wheels=[wheel(["3.11"])]),
                            build("2.0+xpu", devices=["xpu"], wheels=[wheel(["3.12"], basis="inferred")], **loose),
                        ],
                    ),
                    release("1.0", builds=[build("1.0", stage="source-only", wheels=[])]),
                    release("0.9", on=None, builds=[build("0.9", channels=["default"], wheels=[])]),
                ],
            ),
            product("pinned", role="leaf", releases=["1.0"]),
        ],
        indexes=[index("tool", [listing("0.9", yanked=date(2026, 2, 1), wheels={"cp312": ["manylinux2014_x86_64"]})])],
    )


def of_tool(facts: Snapshot, day: date = TODAY, device: str | None = None) -> dict[tuple[str, str], str]:
    """Return the words of the cells of the made-up product."""
    return {place: cell.words for place, cell in cells(python_matrix(facts, facts.products["tool"], day, device)).items()}


def test_levels_are_words(small: Snapshot) -> None:
    """A wheel that is listed is yes, a concluded one inferred, a missing one no where the list is whole, else unknown."""
    words = of_tool(small)
    assert words["3.0", "3.11"] == "yes"
    assert words["2.0", "3.11"] == "cpu yes, xpu unknown"
    assert words["2.0", "3.12"] == "cpu no, xpu inferred"
    assert words["1.0", "3.12"] == "no"
    assert (words["0.9", "3.11"], words["0.9", "3.12"]) == ("no", "yes")


def test_a_device_selects_its_builds(small: Snapshot) -> None:
    """With a device, only its builds count; a device of no build is refused."""
    assert of_tool(small, device="xpu")["2.0", "3.12"] == "inferred"
    assert of_tool(small, device="cpu")["2.0", "3.11"] == "yes"
    with pytest.raises(UsageError, match="known: cpu, xpu"):
        of_tool(small, device="tpu")


def test_the_day_counts(small: Snapshot) -> None:
    """Before its first possible day a release is not there; between its bounds its wheels are unknown."""
    assert ("3.0", "3.11") not in of_tool(small, date(2025, 12, 31))
    assert of_tool(small, date(2026, 2, 1))["3.0", "3.11"] == "unknown"
    assert of_tool(small, date(2026, 3, 1))["3.0", "3.11"] == "yes"


def test_yanked_releases_say_so(small: Snapshot) -> None:
    """A withdrawn release is marked from the day on which the withdrawal was seen."""
    row = python_matrix(small, small.products["tool"], TODAY).rows[-1]
    earlier = python_matrix(small, small.products["tool"], date(2026, 1, 31)).rows[-1]
    assert (row.release, row.yanked, earlier.yanked) == ("0.9", True, False)
    assert "0.9 (yanked)" in text_of(matrix_lines(python_matrix(small, small.products["tool"], TODAY)))


def test_products_without_wheels_are_refused(small: Snapshot) -> None:
    """A product known only through pins, or a property of the machine, has no such table."""
    for name in ("pinned", "python"):
        with pytest.raises(UsageError, match="no wheels of it"):
            python_matrix(small, small.products[name], TODAY)


def test_markdown_holds_the_same_cells(small: Snapshot) -> None:
    """Markdown has the rows and columns of the table."""
    table = python_matrix(small, small.products["tool"], TODAY)
    lines = markdown(table).splitlines()
    assert {line.count("|") for line in lines[: len(table.rows) + 2]} == {len(table.pythons) + 2}


def test_command_prints_json(run: Callable[..., Run]) -> None:
    """The JSON of the command has each cell with its level and devices."""
    done = run("matrix", "oneccl-bind-pt", "--as-of", "2026-11-21", "--format", "json")
    content = json.loads(done.out)
    row = next(row for row in content["rows"] if row["release"] == "2.7.0")
    assert done.code == 0
    assert row["cells"]["3.13t"] == {"level": "yes", "devices": {"cpu": "no", "xpu": "yes"}}


def test_wrong_product_is_named(run: Callable[..., Run]) -> None:
    """A product that is none, or has no wheels, is one line and exit code 2."""
    for name, expected in (("tourch", "did you mean"), ("numpy", "no wheels of it")):
        done = run("matrix", name)
        assert done.code == 2
        assert expected in done.err
