"""Regions in reStructuredText and HTML, tables as CSV and JSON: read back by real parsers, they say what the data say."""

import csv
import io
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import ROOT, Run
from docutils import nodes
from docutils.core import publish_doctree
from hypothesis import given
from hypothesis import strategies as st

from compatkb.docgen.kinds import KINDS, content_of
from compatkb.docgen.regions import HYPERTEXT, RESTRUCTURED, find_regions
from compatkb.docgen.render import fill
from compatkb.output.document_model import Bullets, Code, Paragraph, Span, Table, plain
from compatkb.output.writers import comma_separated, hypertext, restructured
from compatkb.store.reader import Snapshot

Runner = Callable[..., Run]
TEXT = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zs", "Zl", "Zp", "Cf", "Co", "Cn")), min_size=1, max_size=12)
WORDS = st.lists(TEXT, min_size=1, max_size=4).map(" ".join)
RST = ".. compatkb:begin x\n\n.. compatkb:end x\n"
ARGUMENTS = {
    "file": "form=uv torch=2.8 device=xpu os=linux",
    "eol": "product=python",
    "versions": "product=ipex limit=3",
    "matrix": "product=torch beside=ipex device=xpu limit=2",
    "install": "torch=2.8 device=xpu os=linux",
    "answer": "torch=2.4 device=xpu",
    "run": "device=xpu flavour=base",
    "wheels": "product=oneccl-bind-pt limit=3",
    "timeline": "from=2025",
}


def doctree(text: str) -> nodes.document:
    """Return a reStructuredText as docutils reads it; a warning is an error."""
    return publish_doctree(text, settings_overrides={"report_level": 2, "halt_level": 2, "warning_stream": io.StringIO()})


def rst_tables(text: str) -> list[list[list[str]]]:
    """Return the cells of all tables, heads first."""
    return [
        [[" ".join(entry.astext().split()) for entry in row.findall(nodes.entry)] for row in table.findall(nodes.row)]
        for table in doctree(text).findall(nodes.table)
    ]


class _Reader(HTMLParser):
    """Collects the cells of tables, and checks that tags are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.links: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "a":
            self.links.append(str(dict(attrs)["href"]))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


# -- regions --------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_readable_in_every_form(kind: str, facts: Snapshot) -> None:
    """Filled by docutils' and HTML's rules without a warning, with the same cells; filled again, nothing changes."""
    arguments = f"kind={kind} {ARGUMENTS.get(kind, '')}"
    rst = f"Title\n=====\n\n.. compatkb:begin x {arguments}\n\n.. compatkb:end x\n\nText.\n"
    filled, _, problems = fill(facts, rst, RESTRUCTURED)
    assert problems == []
    html = f"<h1>Title</h1>\n<!-- compatkb:begin x {arguments} -->\n<!-- compatkb:end x -->\n<p>Text.</p>\n"
    shown, _, problems = fill(facts, html, HYPERTEXT)
    assert problems == []
    given_arguments = dict(word.split("=", 1) for word in ARGUMENTS.get(kind, "").split())
    tables = [block for block in content_of(facts, kind, given_arguments) if isinstance(block, Table)]
    cells = [[" ".join(plain(cell).split()) for cell in row] for table in tables for row in (table.head, *table.rows)]
    assert [row for table in rst_tables(filled) for row in table] == cells
    assert [[" ".join(cell.split()) for cell in row] for row in _Reader(shown).rows] == cells
    assert fill(facts, filled, RESTRUCTURED)[0] == filled
    assert fill(facts, shown, HYPERTEXT)[0] == shown


def test_files_are_read_by_their_names(run: Runner, tmp_path: Path) -> None:
    """A folder's Markdown, reStructuredText and HTML files are filled in their own form, and `check` agrees."""
    (tmp_path / "a.md").write_text("<!-- compatkb:begin stats -->\n<!-- compatkb:end stats -->\n")
    (tmp_path / "b.rst").write_text(".. compatkb:begin stats\n\n.. compatkb:end stats\n")
    (tmp_path / "c.html").write_text("<!-- compatkb:begin stats -->\n<!-- compatkb:end stats -->\n")
    (tmp_path / "d.txt").write_text("<!-- compatkb:begin stats -->\n")
    assert run("docs", "render", str(tmp_path)).out.endswith("3 files, 3 regions, 3 rewritten\n")
    assert "| what | figures |" in (tmp_path / "a.md").read_text()
    assert ".. list-table::" in (tmp_path / "b.rst").read_text()
    assert '<th scope="col">what</th>' in (tmp_path / "c.html").read_text()
    assert run("docs", "check", str(tmp_path)) == (0, "", "")
    (tmp_path / "b.rst").write_text((tmp_path / "b.rst").read_text().replace("products", "produce", 1))
    done = run("docs", "check", str(tmp_path))
    assert done.code == 4
    assert "-   * - produce" in done.out
    assert f"run `compatkb docs render {tmp_path / 'b.rst'}`" in done.err


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        pytest.param(".. compatkb:begin x\n", RESTRUCTURED, [(1, "has no end")], id="rst-unclosed"),
        pytest.param(f"Text.\n{RST}", RESTRUCTURED, [(2, "a blank line"), (4, "none")], id="rst-glued"),
        pytest.param(f"A\n\n{RST.replace('x', 'x a', 1)}", RESTRUCTURED, [(3, "is not KEY=VALUE")], id="rst-argument"),
        pytest.param(".. compatkb:begin\n", RESTRUCTURED, [(1, "needs a name")], id="rst-no-name"),
        pytest.param("<p>\n<!-- compatkb:begin x -->\n", HYPERTEXT, [(2, "has no end")], id="html-unclosed"),
        pytest.param("<p><!-- compatkb:begin x --></p>\n", HYPERTEXT, [(1, "alone on its line")], id="html-inside"),
        pytest.param("<p>\n\n<!-- compatkb:begin x\n</p>\n", HYPERTEXT, [(3, "--> is missing")], id="html-comment"),
    ],
)
def test_wrong_markers_are_named_by_line(text: str, form: str, expected: list[tuple[int, str]]) -> None:
    """Mistakes in other forms are said with their line, too."""
    _, problems = find_regions(text, form)
    assert [problem.line for problem in problems] == [line for line, _ in expected]
    assert all(words in problem.message for problem, (_, words) in zip(problems, expected, strict=True))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        pytest.param("::\n\n    .. compatkb:begin x\n", RESTRUCTURED, id="rst-literal"),
        pytest.param("Text of ``.. compatkb:begin x``.\n", RESTRUCTURED, id="rst-inline"),
        pytest.param(".. other\n", RESTRUCTURED, id="rst-comment"),
        pytest.param("<script>\n<!-- compatkb:begin x -->\n</script>\n", HYPERTEXT, id="html-script"),
        pytest.param("<pre>&lt;!-- compatkb:begin x --&gt;</pre>\n", HYPERTEXT, id="html-text"),
    ],
)
def test_markers_in_code_are_text(text: str, form: str) -> None:
    """What a page shows as text is no marker."""
    assert find_regions(text, form) == ([], [])


# -- forms ----------------------------------------------------------------------------------------------------------


SIGNS = [";", ";;", "----", "======", "____", "....", "~~~~", "- a", "+", "#. b", "::", "''''", "1. a", "iv) a", "(b) a", "1."]
SIGNS += [".. a", "-f", "--force", "+xpu", "/V", ":a: b", ">>> a", "a::", "::a", "[1] a", ".. [1] a", "a) b", "=", "• a"]


@pytest.mark.parametrize("text", SIGNS)
def test_signs_are_text(text: str) -> None:
    """What reStructuredText has a meaning for at the beginning of a line is text in a cell."""
    table = Table(("h", "i"), ((text, "0"),))
    assert rst_tables(restructured([table]))[0][1] == [text, "0"]


@given(st.lists(WORDS, min_size=1, max_size=4), WORDS, WORDS)
def test_any_text_survives(cells: list[str], linked: str, item: str) -> None:
    """Whatever stands in the data is shown literally: no text becomes markup in any form."""
    row = (*cells, (Span(linked, "https://example.org/a?b=1&c=<d>"), " and ", Span("c", code=True)))
    blocks = [Table(tuple(f"h{n}" for n in range(len(row))), (row,)), Paragraph(f"x {item}"), Bullets((f"x {item}",))]
    expected = [plain(cell) for cell in row]
    assert rst_tables(restructured(blocks))[0][1] == expected
    page = _Reader(hypertext(blocks))
    assert page.rows[1] == expected
    assert page.links == ["https://example.org/a?b=1&c=<d>"]
    assert list(csv.reader(io.StringIO(comma_separated(blocks))))[1] == expected
    assert doctree(restructured(blocks)).astext().count(f"x {item}") == 2


@given(st.text(max_size=80))
def test_any_code_survives(text: str) -> None:
    """A block of code is closed where it ends, whatever it holds."""
    _Reader(hypertext([Code(text, "text")]))
    found = list(doctree(restructured([Paragraph("a"), Code(f"x{text}", "text"), Paragraph("b")])).findall(nodes.paragraph))
    assert [node.astext() for node in found] == ["a", "b"]


def test_table_command_prints_every_form(run: Runner, facts: Snapshot) -> None:
    """One table in five forms has the same cells, and JSON has the links beside."""
    words = ("docs", "table", "images", "device=xpu", "flavour=base", "option=pip", "--as-of", "2024-08-26")
    (table,) = content_of(facts, "images", {"device": "xpu", "flavour": "base", "option": "pip", "as-of": "2024-08-26"})
    assert isinstance(table, Table)
    cells = [[plain(cell) for cell in row] for row in (table.head, *table.rows)]
    assert list(csv.reader(io.StringIO(run(*words, "--format", "csv").out))) == cells
    assert rst_tables(run(*words, "--format", "rst").out) == [cells]
    assert _Reader(run(*words, "--format", "html").out).rows == cells
    (shown,) = json.loads(run(*words, "--format", "json").out)["tables"]
    assert [shown["columns"], *([cell["text"] for cell in row] for row in shown["rows"])] == cells
    assert shown["rows"][0][1]["links"] == ["https://github.com/pytorch/pytorch/releases/tag/v2.1.0"]
    assert run(*words).out.startswith("| Tag(s) | Pytorch |")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("imags",), "no kind of region; did you mean images?"),
        (("images", "device"), "'device' is not KEY=VALUE"),
        (("images", "device=cpu", "device=xpu"), "argument device is there twice"),
        (("images", "device=gpu"), "no image is listed so"),
        (("timeline", "what=party"), "it is one of release, milestone, end-of-life"),
        (("run", "tag=nothing"), "no image is listed so"),
        (("install", "with=container", "torch=2.13", "device=xpu"), "no image that was listed"),
    ],
)
def test_wrong_tables_are_wrong_usage(words: tuple[str, ...], expected: str, run: Runner) -> None:
    """A wrong kind, argument or value exits 2 and says what would be right."""
    done = run("docs", "table", *words)
    assert (done.code, done.out) == (2, "")
    assert expected in done.err


# -- kinds ----------------------------------------------------------------------------------------------------------


def shown(facts: Snapshot, kind: str, **arguments: str) -> list[list[str]]:
    """Return the cells of a kind's tables, without heads."""
    names = {name.replace("_", "-").rstrip("-"): value for name, value in arguments.items()}
    blocks = content_of(facts, kind, names)
    return [[plain(cell) for cell in row] for block in blocks if isinstance(block, Table) for row in block.rows]


def test_timeline_region_is_what_the_command_lists(facts: Snapshot, run: Runner) -> None:
    """The region has the events of the command, in its order."""
    events = json.loads(
        run("timeline", "--vendor", "intel", "--from", "2024", "--as-of", "2026-11-21", "--format", "json").out
    )
    rows = shown(facts, "timeline", vendor="intel", as_of="2026-11-21", **{"from": "2024"})
    assert [row[0] for row in rows] == [event["date"] for event in events["events"]]
    assert all(row[2].startswith(event["title"]) for row, event in zip(rows, events["events"], strict=True))


def test_wheels_region_is_the_matrix(facts: Snapshot, run: Runner) -> None:
    """The table has the words of `compatkb matrix`; what is known to be missing is left empty."""
    text = run("matrix", "oneccl-bind-pt", "--as-of", "2026-11-21", "--format", "csv").out
    expected = [
        [row[0], *("" if cell == "no" else cell for cell in row[2:])] for row in list(csv.reader(io.StringIO(text)))[1:]
    ]
    assert [[row[0].split(" ")[0], *row[1:]] for row in shown(facts, "wheels", product="oneccl-bind-pt")] == expected


def test_replacements_name_releases_that_have_the_feature(facts: Snapshot) -> None:
    """The bindings give way to XCCL from 2.8 on, on Linux; what is only inferred says so."""
    rows = {row[0]: row for row in shown(facts, "replacements")}
    assert rows["the ccl backend of the oneCCL bindings"][1:4] == [
        "the XCCL backend of torch.distributed",
        "PyTorch 2.8.0 (xpu on linux)",
        "stated",
    ]
    assert rows["the ipex backend of torch.compile"][3].startswith("inferred: ")
    assert len(rows) >= 5


def test_matrix_says_what_a_series_offers_alone(facts: Snapshot, run: Runner) -> None:
    """alone=yes shows the native build where there is one, and none where a device needs the extension."""
    rows = {
        row[0]: row for row in shown(facts, "matrix", product="torch", beside="ipex", device="xpu", alone="yes", limit="16")
    }
    assert rows["2.8"][1] == "2.8.0+xpu"
    assert (rows["2.3"][2].split(" ")[0], rows["2.3"][1]) == ("2.3.110+xpu", "none")
    assert (
        json.loads(run("resolve", "--torch", "2.3", "--device", "xpu", "--format", "json").out)["stacks"][0]["route"] == "ipex"
    )


def test_install_region_in_other_managers(facts: Snapshot) -> None:
    """Conda brings Python alone, a container is one that declares the stack, PowerShell is for Windows alone."""
    conda = content_of(facts, "install", {"torch": "2.8", "device": "xpu", "os": "linux", "with": "conda"})
    assert isinstance(conda[0], Code)
    assert re.match(r"conda create --name \w+ python=3\.\d+\nconda activate \w+\npython -m pip install torch==", conda[0].text)
    image = content_of(facts, "install", {"ipex": "2.8.10", "device": "xpu", "os": "linux", "with": "container"})
    assert isinstance(image[0], Code)
    assert image[0].text.endswith("intel/intel-extension-for-pytorch:2.8.10-xpu-pip-base")
    windows = content_of(facts, "install", {"torch": "2.8", "device": "xpu", "os": "windows"})
    assert isinstance(windows[0], Code)
    assert (conda[0].language, windows[0].language) == ("sh", "powershell")


def test_project_page_shows_every_form() -> None:
    """docs/regions.md says how markers look in each form, and what the table command prints."""
    page = (ROOT / "docs" / "regions.md").read_text(encoding="utf-8")
    for words in ("```rst\n.. compatkb:begin", "--format csv", "`rst`, `html`, `csv`"):
        assert words in page
