"""Tables of image tags: those of a README of 2024-08-26 are made again from the data, and every difference is explained."""

import json
import shlex
import tomllib
from collections.abc import Callable
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Run, parted
from markdown_it import MarkdownIt

from compatkb.docgen.kinds import RegionContents
from compatkb.docgen.render import Documents
from compatkb.docgen.table_diff import Comparison, read_tables
from compatkb.errors import UsageError
from compatkb.output.images import run_command
from compatkb.output.writers import Links, Table, plain, render
from compatkb.store.queries.images import ImageRecord
from compatkb.store.reader import Snapshot

Runner = Callable[..., Run]
CASES = ROOT / "tests" / "cases" / "docs"
TEMPLATE = (CASES / "image-tables.md").read_text(encoding="utf-8")
README: dict[str, Any] = json.loads((CASES / "readme-2024-08-26.json").read_text(encoding="utf-8"))
EXPECTED: list[list[str]] = json.loads((CASES / "deviations-2024-08-26.json").read_text(encoding="utf-8"))
DAY = date(2024, 8, 26)


@cache
def filled(facts: Snapshot, day: date) -> dict[str, str]:
    """Return what each region of the template holds on a day."""
    _, regions, problems = Documents(facts, day).fill(TEMPLATE)
    assert problems == []
    everything = "".join(region.after for region in regions)  # definitions may stand in an earlier region
    definitions = "\n".join(line for line in everything.splitlines() if line.startswith("["))
    return {region.region.name: f"{region.after}\n\n{definitions}\n" for region in regions}


def markdown(table: dict[str, Any]) -> str:
    """Return a table of the README in Markdown."""
    lines = [f"| {' | '.join(table['head'])} |", "|---" * len(table["head"]) + "|"]
    for row in table["rows"]:
        cells = []
        for cell in row["cells"]:
            text = cell["text"].replace("*", "\\*")
            for part in cell.get("code", ()):
                text = text.replace(part, f"`{part}`", 1) if f"`{part}`" not in text else text
            if set(cell.get("code", ())) == set(cell["text"].replace(" ", "").split(",")):
                text = ", ".join(f"`{part}`" for part in cell["code"])
            for part, url in cell.get("links", ()):
                shown = part.replace("*", "\\*")
                text = text.replace(shown, f"[{shown}](<{url}>)", 1)
            cells.append(text)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


# -- the tables of 2024-08-26 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", README["tables"], ids=lambda table: table["region"])
def test_table_of_the_readme_is_made_again(table: dict[str, Any], facts: Snapshot) -> None:
    """Each table is equal cell for cell, links included, but for the deviations that are listed."""
    (made,) = read_tables(filled(facts, DAY)[table["region"]])
    assert [cell.text for cell in made.head] == table["head"]
    assert len(made.rows) == len(table["rows"])
    different = []
    for ours, theirs in zip(made.rows, table["rows"], strict=True):
        assert len(ours.cells) == len(theirs["cells"])
        for name, mine, other in zip(table["head"], ours.cells, theirs["cells"], strict=True):
            links = [list(link) for link in mine.links]
            same = mine.text.replace(", ", ",") == other["text"].replace(", ", ",")
            if not (same and links == other.get("links", []) and list(mine.codes) == other.get("code", [])):
                different.append([table["region"], theirs["cells"][0]["text"], name, mine.text, *(url for _, url in links)])
    assert different == [entry for entry in EXPECTED if entry[0] == table["region"]]


def test_every_deviation_has_a_reason_and_a_source(facts: Snapshot) -> None:
    """What is not as the README has it is listed with why, and with documents; nothing else is listed."""
    text = "\n".join(f"Text.\n\n{markdown(table)}" for table in README["tables"])
    compared, found = Comparison(facts, DAY).compare(text)
    assert len(compared) == 14
    assert sum(table.cells for table in compared) == sum(len(t["head"]) * len(t["rows"]) for t in README["tables"])
    assert len(found) == len(EXPECTED)
    for deviation in found:
        assert deviation.reason
        assert deviation.sources
        assert all(url and url.startswith("https://") for _, url in deviation.sources)


def test_diff_command_lists_deviations(run: Runner, tmp_path: Path) -> None:
    """`docs diff` prints line, both sides, reason and source, in text and JSON; the exit code is 1."""
    page = tmp_path / "README.md"
    page.write_text("# Images\n\n" + markdown(README["tables"][0]), encoding="utf-8")
    done = run("docs", "diff", str(page), "--as-of", DAY.isoformat())
    assert done.code == 1
    assert f"{page}:8: xpu-base: 2.1.10-xpu: dockerfile\n  document:  v0.2.3 <https" in done.out
    assert "\n  reason:    which state the 2.1.10 xpu images were built from: v0.3.4." in done.out
    assert done.out.endswith("1 tables, 25 cells compared, 5 deviations\n")
    content = json.loads(run("docs", "diff", str(page), "--as-of", DAY.isoformat(), "--format", "json").out)
    assert [d["line"] for d in content["deviations"]] == [5, 6, 7, 8, 9]
    assert content["as_of"] == DAY.isoformat()


@pytest.mark.long
def test_generated_tables_deviate_nowhere(facts: Snapshot, run: Runner, tmp_path: Path) -> None:
    """What was rendered for a day is what the comparison expects, on that day; the exit code is 0."""
    for day in (DAY, date(2025, 5, 1), date(2026, 11, 21)):
        page = tmp_path / "page.md"
        page.write_text(Documents(facts, day).fill(TEMPLATE)[0], encoding="utf-8")
        done = run("docs", "diff", str(page), "--as-of", day.isoformat())
        assert (done.code, done.out.rpartition(", ")[2]) == (0, "0 deviations\n")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param("2.1.20-xpu", "2.1.21-xpu", "no row of", id="unknown-tag"),
        pytest.param("[914]", "[950]", "914", id="wrong-driver"),
        pytest.param("v2.1.30%2Bxpu", "v2.1.20%2Bxpu", "v2.1.30+xpu <https", id="wrong-target"),
        pytest.param("| [v2.1.0](<https", "| v2.1.0 [x](<https", "v2.1.0 <https", id="more-text"),
    ],
)
def test_planted_differences_are_found(before: str, after: str, expected: str, facts: Snapshot) -> None:
    """A change of a tag, a version, a target or a text in a table is listed."""
    table = render(
        RegionContents(facts, DAY).content("images", {"device": "xpu", "flavour": "base", "option": "pip"}), Links()
    )
    inline = markdown(README["tables"][0])
    assert before in inline
    _, known = Comparison(facts, DAY).compare(inline)
    _, found = Comparison(facts, DAY).compare(inline.replace(before, after, 1))
    more = [deviation for deviation in found if deviation not in known]
    assert more
    assert any(expected in f"{d.reason} {d.ours}" for d in more)
    assert Comparison(facts, DAY).compare(table)[1] == []


def test_tag_on_too_many_rows_has_its_reason(facts: Snapshot) -> None:
    """Where a document has `latest` on an older row too, the dispute is the reason; the row is still that of its own tag."""
    day = date(2025, 8, 9)
    lines = render(RegionContents(facts, day).content("images", {"table": "cpu-base", "device": "cpu"}), Links()).splitlines()
    assert lines[3].startswith("| `2.6.0-pip-base` |")
    lines[3] = lines[3].replace("`2.6.0-pip-base`", "`2.6.0-pip-base`, `latest`")
    _, found = Comparison(facts, day).compare("\n".join(lines))
    assert [(d.row, d.column) for d in found] == [("2.6.0-pip-base", "tags")]
    assert "what latest stood for" in str(found[0].reason)


def test_services_are_no_tags(facts: Snapshot) -> None:
    """A tag that shares its name with a service is compared with tags where the heads are those of tags."""
    text = "| Tag(s) | Pytorch |\n|---|---|\n| `xpu-jupyter` | v2.1.0 |\n"
    assert [table.table for table in Comparison(facts, DAY).compare(text)[0]] == []
    services = "| Service Name | Description |\n|---|---|\n| `xpu-jupyter` | x |\n"
    assert [table.table for table in Comparison(facts, DAY).compare(services)[0]] == ["services"]


def test_missing_and_moved_rows_are_found(facts: Snapshot) -> None:
    """A row too few, one too many and rows in another order are deviations."""
    lines = render(RegionContents(facts, DAY).content("images", {"table": "cpu-base"}), Links()).splitlines()
    _, found = Comparison(facts, DAY).compare("\n".join(lines[:3] + lines[4:]))
    assert [(d.column, d.ours) for d in found] == [("row", "2.3.0-pip-base")]
    _, found = Comparison(facts, DAY).compare("\n".join([*lines[:4], lines[2], *lines[4:]]))
    assert [(d.column, d.reason) for d in found] == [("row", "the row is there twice")]
    _, found = Comparison(facts, DAY).compare("\n".join([*lines[:2], lines[3], lines[2], *lines[4:]]))
    assert [d.column for d in found] == ["order"]


# -- other days -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", parted((17, 30, 34, 40, 43, 46), (17, 34, 46)))
def test_same_template_has_the_tags_of_the_revision_of_a_day(number: int, facts: Snapshot) -> None:
    """The tables of a day have the tags that the last revision of that day listed, each once in its table."""
    listed: set[str] = set()
    for path in sorted((ROOT / "data" / "images").glob("*.toml")):
        file = tomllib.loads(path.read_text(encoding="utf-8"))
        if "revision" not in file:  # its tags stand in no table
            continue
        day = next(revision["at"].date() for revision in file["revision"] if revision["n"] == number)
        for row in file["listing"]:
            if any(first <= number <= last for first, last in row["runs"]):
                listed |= set(row["tags"])
    shown = [
        code for text in filled(facts, day).values() for t in read_tables(text) for r in t.rows for code in r.cells[0].codes
    ]
    assert set(shown) == listed
    assert len(shown) == len(set(shown)) + sum(shown.count(name) - 1 for name in {"xpu-jupyter"} & set(shown))


def test_tag_on_several_rows_stands_on_the_newest(facts: Snapshot) -> None:
    """In the revisions in which `latest` stood on three rows, the table has it once: a tag is one image."""
    (table,) = read_tables(filled(facts, date(2025, 8, 9))["cpu-base"])
    assert [row.cells[0].codes for row in table.rows if "latest" in row.cells[0].codes] == [("2.7.0-pip-base", "latest")]


def test_nothing_is_listed_before_there_were_tables(facts: Snapshot) -> None:
    """Tag tables exist from 2024-05-14 on; a state of the build files is named from its own day on."""
    assert read_tables(filled(facts, date(2024, 5, 13))["cpu-base"]) == []
    assert read_tables(filled(facts, date(2024, 5, 14))["cpu-base"]) != []
    (before,) = read_tables(filled(facts, date(2024, 8, 19))["xpu-base"])
    assert before.rows[0].cells[-1].text == "v0.4.0-Beta"  # v0.4.0 is of the next day
    (after,) = read_tables(filled(facts, date(2024, 8, 20))["xpu-base"])
    assert after.rows[0].cells[-1].text == "v0.4.0"


# -- filters, columns, order ----------------------------------------------------------------------------------------


def tags(facts: Snapshot, arguments: dict[str, str]) -> list[str]:
    """Return the first tag of each row."""
    blocks = RegionContents(facts, DAY).content("images", arguments)
    return [plain(row[0]).split(",")[0] for block in blocks if isinstance(block, Table) for row in block.rows]


def test_filters_narrow(facts: Snapshot) -> None:
    """Device, flavour, option, table and versions of products each leave out what does not fit."""
    everything = tags(facts, {})
    assert tags(facts, {"device": "xpu"}) == [tag for tag in everything if "xpu" in tag]
    assert tags(facts, {"option": "idp", "flavour": "base", "device": "cpu"}) == tags(facts, {"table": "cpu-idp-base"})
    assert tags(facts, {"ipex": "2.1.40"}) == [tag for tag in everything if tag.startswith("2.1.40")]
    assert tags(facts, {"torch": ">=2.4", "flavour": "base"}) == ["2.4.0-pip-base", "2.4.0-idp-base"]
    assert tags(facts, {"repository": "intel/intel-optimized-pytorch"}) == tags(facts, {"flavour": "mlperf"})


def test_order(facts: Snapshot) -> None:
    """Rows stand as listed, newest first, or by name."""
    listed = tags(facts, {"flavour": "mlperf"})
    assert listed[0] == "mlperf-inference-4.1-resnet50"
    assert tags(facts, {"flavour": "mlperf", "sort": "name"}) == sorted(listed)
    newest = tags(facts, {"sort": "newest", "flavour": "base", "option": "pip"})
    assert newest.index("2.4.0-pip-base") < newest.index("2.3.0-pip-base") < newest.index("2.1.40-xpu-pip-base")


def test_columns_and_titles(facts: Snapshot) -> None:
    """Columns are chosen and named; a wrong number of names, a column or a filter that nobody knows is an error."""
    chosen = {"table": "xpu-base", "columns": "tags,driver", "titles": "Image, GPU driver"}
    (block,) = RegionContents(facts, DAY).content("images", chosen)
    assert isinstance(block, Table)
    assert block.head == ("Image", "GPU driver")
    for wrong, words in (
        ({"titles": "one"}, "titles= has 1 heads for 5 columns"),
        ({"columns": "tags,cuda"}, "columns=cuda: there is no such column"),
    ):
        with pytest.raises(UsageError, match=words):
            RegionContents(facts, DAY).content("images", {"table": "xpu-base", **wrong})
    with pytest.raises(UsageError, match="device=gpu: no image is listed so; there are cpu, xpu"):
        RegionContents(facts, DAY).content("images", {"device": "gpu"})


def test_run_command_has_what_the_image_needs(facts: Snapshot) -> None:
    """An xpu image gets its devices, a Jupyter image its port, a plain one nothing."""
    for arguments, words in (
        (
            {"tag": "2.1.40-xpu-pip-jupyter"},
            ("--device /dev/dri", "-p 8888:8888", ":2.1.40-xpu-pip-jupyter"),
        ),
        ({"tag": "latest"}, ("docker run -it --rm intel/intel-extension-for-pytorch:latest\n",)),
        ({"flavour": "multinode", "option": "pip"}, ("--net=host", ":2.4.0-pip-multinode")),
    ):
        shown = render(RegionContents(facts, DAY).content("run", arguments), Links())
        assert all(word in shown for word in words)
    with pytest.raises(UsageError, match="no image is listed so on 2024-08-26"):
        RegionContents(facts, DAY).content("run", {"tag": "2.8.0-pip-base"})


def test_run_command_is_safe_to_paste(facts: Snapshot) -> None:
    """The folder and the groups of the host are put in by its shell, what an image is to run is one word of it."""
    serving, multinode = (image_named(facts, tag) for tag in ("2.8.10-serving-xpu", "2.4.0-pip-multinode"))
    server = run_command(serving, "it's", facts.runs_for(serving))
    words = shlex.split(server.replace("\\\n", " "))
    assert '"$PWD"/wf-store:' in server
    assert "--volume=$PWD/wf-store:/home/model-server/wf-store" in words
    assert "--group-add=$(getent group render | cut -d: -f3)" in words
    assert words[-1] == "intel/intel-extension-for-pytorch:it's"
    worker = run_command(multinode, "2.4.0-pip-multinode", facts.runs_for(multinode))
    assert shlex.split(worker)[-3:] == ["bash", "-c", "/usr/sbin/sshd -D"]


def image_named(facts: Snapshot, tag: str) -> ImageRecord:
    """Return the image of a tag of IPEX."""
    return next(image for image in facts.images() if image.reference == f"intel/intel-extension-for-pytorch:{tag}")


# -- links ----------------------------------------------------------------------------------------------------------


def test_definitions_are_there_once_and_all_resolve(facts: Snapshot) -> None:
    """No label is defined twice in a file of fifteen tables, none is missing, and none is unused."""
    text, _, _ = Documents(facts, date(2026, 11, 21)).fill(TEMPLATE)
    known: dict[str, Any] = {}
    MarkdownIt("commonmark").enable("table").parse(text, known)
    lines = [line.partition("]: ")[0].casefold() for line in text.splitlines() if line.startswith("[") and "]: <" in line]
    assert len(lines) == len(set(lines)) == len(known["references"])
    assert "duplicate_refs" not in known
    targets = {url for table in read_tables(text) for row in table.rows for cell in row.cells for _, url in cell.links}
    assert targets == {reference["href"] for reference in known["references"].values()}
    assert not [cell.text for t in read_tables(text) for r in t.rows for cell in r.cells if cell.text.startswith("[")]


def test_definitions_by_hand_are_respected(facts: Snapshot) -> None:
    """A label that the text defines is used where the target is the same, and told apart where it is another."""
    region = "<!-- compatkb:begin x kind=images table=cpu-base -->\n<!-- compatkb:end x -->\n"
    page = "https://github.com/pytorch/pytorch/releases/tag/v2.4.0"
    same, _, _ = Documents(facts, DAY).fill(f"{region}\n[v2.4.0]: {page}\n")
    assert same.count(page) == 1
    other, _, _ = Documents(facts, DAY).fill(f"{region}\n[V2.4.0]: https://example.org\n")
    assert "[v2.4.0][torch-v2.4.0]" in other
    assert f"[torch-v2.4.0]: <{page}>" in other
    assert Documents(facts, DAY).fill(other)[0] == other
