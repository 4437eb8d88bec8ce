"""Tables of image tags: those of a README of 2024-08-26 are made again from the data, and every difference is explained."""

import json
import shlex
import tomllib
from collections.abc import Callable
from datetime import date
from functools import cache
from typing import Any, NamedTuple

import pytest
from conftest import ROOT, Run, parted
from markdown_it import MarkdownIt

from compatkb.docgen.kinds import RegionContents
from compatkb.docgen.render import Documents
from compatkb.errors import UsageError
from compatkb.output.images import run_command
from compatkb.output.writers import Links, Table, plain, render
from compatkb.store.queries.images import ImageRecord
from compatkb.store.reader import Snapshot

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


class Cell(NamedTuple):
    """A cell: what it shows, its code spans, and the links in it as text and target."""

    text: str
    codes: list[str]
    links: list[tuple[str, str]]


def read_tables(text: str) -> list[list[list[Cell]]]:
    """Return the rows of each table of a Markdown text, the head first; link definitions are resolved wherever they stand."""
    tables: list[list[list[Cell]]] = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type == "inline" and token.level and tables:
            parts = token.children or []
            codes = [part.content for part in parts if part.type == "code_inline"]
            links: list[tuple[str, str]] = []
            inside = False
            for part in parts:
                if part.type == "link_open":
                    links.append(("", str(part.attrs["href"])))
                if part.type in ("link_open", "link_close"):
                    inside = part.type == "link_open"
                elif inside:
                    links[-1] = (links[-1][0] + part.content, links[-1][1])
            tables[-1][-1].append(Cell("".join(part.content for part in parts), codes, links))
    return tables


# -- the tables of 2024-08-26 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", README["tables"], ids=lambda table: table["region"])
def test_table_of_the_readme_is_made_again(table: dict[str, Any], facts: Snapshot) -> None:
    """Each table is equal cell for cell, links included, but for the deviations that are listed."""
    (made,) = read_tables(filled(facts, DAY)[table["region"]])
    assert [cell.text for cell in made[0]] == table["head"]
    assert len(made) == len(table["rows"]) + 1
    different = []
    for ours, theirs in zip(made[1:], table["rows"], strict=True):
        for name, mine, other in zip(table["head"], ours, theirs["cells"], strict=True):
            links = [list(link) for link in mine.links]
            same = mine.text.replace(", ", ",") == other["text"].replace(", ", ",")
            if not (same and links == other.get("links", []) and mine.codes == other.get("code", [])):
                different.append([table["region"], theirs["cells"][0]["text"], name, mine.text, *(url for _, url in links)])
    assert different == [entry for entry in EXPECTED if entry[0] == table["region"]]


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
    shown = [code for text in filled(facts, day).values() for t in read_tables(text) for row in t[1:] for code in row[0].codes]
    assert set(shown) == listed
    assert len(shown) == len(set(shown)) + sum(shown.count(name) - 1 for name in {"xpu-jupyter"} & set(shown))


def test_tag_on_several_rows_stands_on_the_newest(facts: Snapshot) -> None:
    """In the revisions in which `latest` stood on three rows, the table has it once: a tag is one image."""
    (table,) = read_tables(filled(facts, date(2025, 8, 9))["cpu-base"])
    assert [row[0].codes for row in table if "latest" in row[0].codes] == [["2.7.0-pip-base", "latest"]]


def test_nothing_is_listed_before_there_were_tables(facts: Snapshot) -> None:
    """Tag tables exist from 2024-05-14 on; a state of the build files is named from its own day on."""
    assert read_tables(filled(facts, date(2024, 5, 13))["cpu-base"]) == []
    assert read_tables(filled(facts, date(2024, 5, 14))["cpu-base"]) != []
    (before,) = read_tables(filled(facts, date(2024, 8, 19))["xpu-base"])
    assert before[1][-1].text == "v0.4.0-Beta"  # v0.4.0 is of the next day
    (after,) = read_tables(filled(facts, date(2024, 8, 20))["xpu-base"])
    assert after[1][-1].text == "v0.4.0"


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
    targets = {url for table in read_tables(text) for row in table for cell in row for _, url in cell.links}
    assert targets == {reference["href"] for reference in known["references"].values()}
    assert not [cell.text for t in read_tables(text) for row in t for cell in row if cell.text.startswith("[")]


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


@pytest.mark.parametrize(
    ("image", "told"),
    [
        ("intel/llm-scaler-omni:0.1.0-b8", "torch 2.11.0+xpu, Python 3.12 and Ubuntu 24.04 ComfyUI, SGLang Diffusion"),
        ("intel/pytorch:xpu-2.11.0-ubuntu24.04", "the kernel driver is that of the host"),
        ("intel/llm-scaler-vllm:0.11.1-b7", "Tagged 1.3, too"),
        ("intel/llm-scaler-vllm:0.21.0-b2", "leads owners of an Arc A770 to an image of the archived ipex-llm"),
    ],
)
def test_what_an_image_is_for_stands_with_its_contents(image: str, told: str, run: Callable[..., Run]) -> None:
    """What the build files and documents say of an image beside versions is no known issue of it."""
    assert told in " ".join(run("show", image).out.split())
