"""Generated regions: which ones there are, what they hold, and that nothing else of a file is touched."""

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, Run, examples
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from compatkb.docgen.kinds import KINDS
from compatkb.docgen.regions import find_regions
from compatkb.docgen.render import Documents
from compatkb.store.reader import Snapshot

Runner = Callable[..., Run]
EMPTY = "# Title\n\n<!-- compatkb:begin ends kind=eol product=python -->\n<!-- compatkb:end ends -->\n\nBy hand.\n"
AS_OF = "2026-11-21"


def content(facts: Snapshot, arguments: str) -> str:
    """Return what a region with these arguments holds, without its blank lines around."""
    text, filled, problems = Documents(facts).fill(f"<!-- compatkb:begin x {arguments} -->\n<!-- compatkb:end x -->\n")
    assert problems == []
    assert filled[0].after in text
    return filled[0].after.strip("\n")


def rows(markdown: str) -> list[list[str]]:
    """Return the cells of a table, without its head."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [line[2:-2].split(" | ") for line in lines[2:]]


# -- this project -------------------------------------------------------------------------------------------------


def test_own_regions_are_up_to_date(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """README.md and docs/ hold what the data make of them; `make docs` mends it."""
    monkeypatch.chdir(ROOT)
    done = run("docs", "check")
    assert (done.code, done.out == "") == (0, True), done.err  # the diff is long, and comparing it takes a minute
    assert done.err == ""


def test_every_kind_and_argument_is_documented() -> None:
    """docs/regions.md names each kind and each of its arguments."""
    page = (ROOT / "docs" / "regions.md").read_text(encoding="utf-8")
    for name, kind in KINDS.items():
        assert f"| {name} | {kind.shows} |" in page
        for argument in kind.arguments:
            assert f" | {argument.name} | {argument.means}" in page


# -- markers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("<!-- compatkb:begin x -->\n", [(1, "has no end")], id="unclosed"),
        pytest.param("a\n\n<!-- compatkb:end x -->\n", [(3, "none has begun")], id="never-begun"),
        pytest.param(
            "<!-- compatkb:begin x -->\n<!-- compatkb:begin y -->\n<!-- compatkb:end y -->\n<!-- compatkb:end x -->\n",
            [(2, "region y begins inside region x of line 1")],
            id="nested",
        ),
        pytest.param(
            "<!-- compatkb:begin x -->\n<!-- compatkb:end x -->\n" * 2,
            [(3, "x is there twice, first on line 1")],
            id="doubled",
        ),
        pytest.param(
            "<!-- compatkb:begin x -->\n<!-- compatkb:end y -->\n<!-- compatkb:end x -->\n",
            [(2, "the one that has begun is x of line 1")],
            id="other-name",
        ),
        pytest.param(
            "<!-- compatkb:begin x -->\n<!-- compatkb:end x -->\n<!-- compatkb:end x -->\n",
            [(3, "none has begun")],
            id="two-ends",
        ),
        pytest.param("<!-- compatkb:begin -->\n", [(1, "needs a name")], id="no-name"),
        pytest.param("<!-- compatkb:end -->\n", [(1, "the end of a region is")], id="end-without-name"),
        pytest.param("<!-- compatkb:begin a/b -->\n", [(1, "'a/b' is no name")], id="bad-name"),
        pytest.param("<!-- compatkb:start x -->\n", [(1, "compatkb:start is no marker")], id="unknown-marker"),
        pytest.param("a\n\n<!-- compatkb:begin x\n\nb\n", [(3, "--> is missing")], id="comment-not-closed"),
        pytest.param("a <!-- compatkb:begin x -->\n", [(1, "alone on its line")], id="text-before"),
        pytest.param("b\nc <!-- compatkb:begin x --> d\n", [(2, "alone on its line")], id="inside-a-paragraph"),
        pytest.param("<!-- compatkb:begin x --> b\n", [(1, "alone on its line")], id="text-after"),
        pytest.param("- <!-- compatkb:begin x -->\n", [(1, "alone on its line")], id="after-a-bullet"),
        pytest.param("| a | <!-- compatkb:begin x --> |\n|---|---|\n", [(1, "alone on its line")], id="in-a-table"),
        pytest.param("<!-- compatkb:begin x a -->\n<!-- compatkb:end x -->\n", [(1, "'a' is not KEY=VALUE")], id="no-value"),
        pytest.param("<!-- compatkb:begin x a=1 a=2 -->\n<!-- compatkb:end x -->\n", [(1, "a is there twice")], id="twice"),
        pytest.param("<!-- compatkb:begin x a='1 -->\n<!-- compatkb:end x -->\n", [(1, "cannot be read")], id="quote"),
        pytest.param(
            "<!-- compatkb:begin x -->\r\n\r\n<!-- compatkb:end x -->\r\n<!-- compatkb:begin y -->\r\n",
            [(4, "has no end")],
            id="crlf-lines-are-counted",
        ),
    ],
)
def test_wrong_markers_are_named_by_line(text: str, expected: list[tuple[int, str]]) -> None:
    """Each mistake is said once, with its line, and brings no other ones with it."""
    _, problems = find_regions(text)
    assert [line for line, _ in problems] == [line for line, _ in expected]
    for problem, (_, words) in zip(problems, expected, strict=True):
        assert words in problem.message


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("```\n<!-- compatkb:begin x -->\n```\n", id="fence"),
        pytest.param("~~~~markdown\n```\n<!-- compatkb:begin x -->\n~~~~\n", id="fence-in-a-fence"),
        pytest.param("- a\n\n  ```\n  <!-- compatkb:begin x -->\n  ```\n", id="fence-in-a-list"),
        pytest.param("```\n<!-- compatkb:begin x -->\n", id="fence-that-never-ends"),
        pytest.param("a\n\n    <!-- compatkb:begin x -->\n", id="indented-code"),
        pytest.param("a `<!-- compatkb:begin x -->` b\n", id="code-span"),
        pytest.param("a ``<!-- compatkb:begin ` x -->`` b\n", id="longer-code-span"),
        pytest.param("a &lt;!-- compatkb:begin x --> \\<!-- compatkb:begin x -->\n", id="escaped"),
        pytest.param("<!-- other:begin x -->\n<!-- about compatkb -->\n", id="other-comments"),
    ],
)
def test_markers_in_code_are_text(text: str) -> None:
    """What a page shows as text is no marker."""
    assert find_regions(text) == ([], [])


def test_arguments_are_quoted_as_for_a_shell() -> None:
    """Quotes group, equals signs belong to values, and a marker may have several lines."""
    head = "<!-- compatkb:begin x kind=install\n  torch='>=2.5,<2.7' hardware=\"Arc B580\"\n  words=a==1 -->\n"
    text = head + "<!-- compatkb:end x -->\n"
    regions, problems = find_regions(text)
    assert problems == []
    assert (regions[0].name, regions[0].kind, regions[0].line) == ("x", "install", 1)
    assert regions[0].arguments == {"torch": ">=2.5,<2.7", "hardware": "Arc B580", "words": "a==1"}
    assert text[: regions[0].start] == text[: regions[0].end] == head


def test_name_is_the_kind_unless_one_is_named() -> None:
    """A region that is named as a kind needs to say no kind."""
    regions, _ = find_regions("<!-- compatkb:begin replacements -->\n<!-- compatkb:end replacements -->\n")
    assert (regions[0].name, regions[0].kind) == ("replacements", "replacements")


def test_regions_in_html_blocks_are_found(facts: Snapshot) -> None:
    """A region may follow an HTML tag without a blank line; what it holds is set off by one."""
    text = "<details>\n<!-- compatkb:begin replacements -->\n<!-- compatkb:end replacements -->\n</details>\n"
    filled, regions, problems = Documents(facts).fill(text)
    assert problems == []
    assert len(regions) == 1
    assert filled.startswith("<details>\n<!-- compatkb:begin replacements -->\n\n| before |")
    assert Documents(facts).fill(filled)[0] == filled


# -- arguments ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param("kind=wheel", "'wheel' is no kind of region; did you mean wheels?", id="kind"),
        pytest.param("kind=eol produkt=python", "'produkt' is no argument of eol; did you mean product?", id="argument"),
        pytest.param("kind=eol torch=2.4", "'torch' is no argument of eol", id="pin-where-none-is-taken"),
        pytest.param("kind=answer torsh=2.4", "no argument of answer and no product; did you mean torch?", id="no-product"),
        pytest.param("kind=wheels", "wheels needs product=", id="missing"),
        pytest.param("kind=eol product=", "product= has no value", id="empty"),
        pytest.param("kind=eol product=pyton", "'pyton' is not a product", id="unknown-product"),
        pytest.param("kind=eol ended=maybe", "ended=maybe: it is one of yes, no", id="choice"),
        pytest.param("kind=eol within=soon", "'soon' is not a span", id="span"),
        pytest.param("kind=eol as-of=today", "'today' is not a date", id="day"),
        pytest.param("kind=wheels product=torch limit=0", "limit=0 is not a number", id="zero"),
        pytest.param("kind=wheels product=torch limit=9999999999", "is not a number", id="too-many"),
        pytest.param("kind=answer torch=2.13.9 device=xpu", "torch has no version '2.13.9'", id="unknown-version"),
        pytest.param("kind=answer device=gpux", "unknown device", id="unknown-device"),
        pytest.param(
            "kind=install torch=2.4 device=xpu", "nothing to install: torch 2.4 on Intel GPU: does not work", id="no-stack"
        ),
        pytest.param(
            "kind=install ipex=2.6.10 device=xpu os=linux with=requirements", "one requirements file cannot", id="steps"
        ),
    ],
)
def test_wrong_arguments_name_file_line_and_region(arguments: str, expected: str, tmp_path: Path, run: Runner) -> None:
    """A wrong kind, argument or value exits 2, says where and what would be right, and nothing is written."""
    page = tmp_path / "page.md"
    text = f"# Page\n\n<!-- compatkb:begin x {arguments} -->\n<!-- compatkb:end x -->\n"
    page.write_text(text, encoding="utf-8")
    for action in ("render", "check"):
        done = run("docs", action, str(page))
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"error: {page}:3: region x: ")
        assert expected in done.err
    assert page.read_text(encoding="utf-8") == text


def test_all_mistakes_are_reported_and_nothing_is_written(tmp_path: Path, run: Runner) -> None:
    """One wrong file keeps every other one from being written, and every mistake is named."""
    (tmp_path / "a.md").write_text(EMPTY, encoding="utf-8")
    (tmp_path / "b.md").write_text("<!-- compatkb:begin nope -->\n<!-- compatkb:end nope -->\n<!-- compatkb:end x -->\n")
    (tmp_path / "c.md").write_bytes(b"a\n\xff\n")
    done = run("docs", "render", str(tmp_path))
    assert done.code == 2
    assert [line.partition(": ")[2].rpartition("/")[2].split(" ")[0] for line in done.err.splitlines()] == [
        "b.md:1:",
        "b.md:3:",
        "c.md:2:",
    ]
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == EMPTY


# -- kinds --------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_day_is_that_of_the_data_and_never_the_clock(facts: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without as-of= a region is for the date of the data, whatever day it is."""
    first = content(facts, "kind=eol")
    monkeypatch.setenv("COMPATKB_TODAY", "2031-01-01")
    assert content(facts, "kind=eol") == first == content(facts, f"kind=eol as-of={facts.meta['data_date']}")
    assert content(facts, "kind=eol product=python as-of=2031-01-01") != content(facts, "kind=eol product=python")


def test_eol_region_is_what_the_command_lists(facts: Snapshot, run: Runner) -> None:
    """The table has the days that `compatkb eol` has, and says of each whether it is past."""
    done = run("eol", "python", "--within", "90d", "--as-of", AS_OF, "--format", "json")
    ends = {(e["last_day"], "ended" if e["ended"] else "supported") for e in json.loads(done.out)["ends"]}
    assert {
        (row[0][:10], row[-1]) for row in rows(content(facts, f"kind=eol product=python within=90d as-of={AS_OF}"))
    } == ends
    assert all(row[-1] == "supported" for row in rows(content(facts, "kind=eol product=python ended=no")))
    everything = rows(content(facts, "kind=eol"))
    assert len({row[1] for row in everything}) > 3
    assert [row[0][:10] for row in everything] == sorted((row[0][:10] for row in everything), reverse=True)
    assert (
        content(facts, "kind=eol product=device") == f"The data know of no end of life here, as of {facts.meta['data_date']}."
    )


def test_last_supported_day_is_supported(facts: Snapshot) -> None:
    """A version ends after its last day, not on it."""
    last = next(row[0] for row in rows(content(facts, "kind=eol product=python")) if "3.10" in row[1])
    assert [last, "3.10", "supported"] in rows(content(facts, f"kind=eol product=python as-of={last[:10]}"))


@pytest.mark.long
def test_matrix_cells_are_answers(facts: Snapshot, run: Runner) -> None:
    """Each cell is what `resolve` answers for that series and that product."""
    table = rows(content(facts, f"kind=matrix product=torch beside=ipex,torchvision device=xpu as-of={AS_OF}"))
    assert len(table) == 12
    for series, *cells in table:
        for other, shown in zip(("ipex", "torchvision"), cells, strict=True):
            words = ("resolve", "--torch", series, other, "--device", "xpu", "--as-of", AS_OF, "--format", "json")
            answer = json.loads(run(*words).out)
            if answer["verdict"] in ("does-not-work", "unknown"):
                assert shown == {"does-not-work": "none", "unknown": "unknown"}[answer["verdict"]]
            else:
                best = answer["stacks"][0]
                first = shown.split("; ")[0].removeprefix("Linux: ").removeprefix("Windows: ")
                assert first.startswith(f"{best['packages'][other]} with ")
                assert first.endswith("probably") is (best["verdict"] == "likely")
                assert first.endswith("warnings") is (best["verdict"] == "works-with-warnings")


def test_matrix_cell_tells_systems_apart(facts: Snapshot) -> None:
    """Where the best of one system is none of another, the cell has both, each with its verdict."""
    table = dict(rows(content(facts, f"kind=matrix product=torch beside=torchvision device=xpu as-of={AS_OF}")))
    assert table["2.6"] == "Windows: 0.21.0+xpu with 2.6.0, with warnings; Linux: 0.21.0+xpu with 2.6.0, probably"
    assert "Linux" not in table["2.8"]


def test_install_region_has_the_commands_of_each_system(facts: Snapshot, run: Runner) -> None:
    """Where one command does not serve all systems, each has its own under its name."""
    shown = content(facts, f"kind=install device=cpu as-of={AS_OF}")
    titles = [line for line in shown.splitlines() if line.startswith("on ")]
    assert [title.split(",")[0] for title in titles] == ["on Windows", "on Linux"]
    screen = run("resolve", "cpu", "--as-of", AS_OF).out
    assert all(line.strip() in screen for line in shown.splitlines() if line.startswith("python -m pip"))


@pytest.mark.long
def test_matrix_cell_names_the_release_that_fits(facts: Snapshot) -> None:
    """IPEX 2.5.10 goes with torch 2.5.1, not with every 2.5; nothing of IPEX goes with torch 2.4 on xpu."""
    table = dict(rows(content(facts, "kind=matrix product=torch beside=ipex device=xpu limit=20")))
    assert table["2.5"].startswith("2.5.10+xpu with 2.5.1")
    assert table["2.4"] == "none"
    before = dict(rows(content(facts, "kind=matrix product=torch beside=ipex device=cpu as-of=2024-08-01")))
    assert next(iter(before)) == "2.4"


@pytest.mark.parametrize(("installer", "field"), [("pip", "install"), ("uv", "install_uv")])
def test_install_region_has_the_commands_of_resolve(installer: str, field: str, facts: Snapshot, run: Runner) -> None:
    """The commands are those of `resolve`, for the request that the arguments make."""
    words = ("resolve", "--torch", "2.8", "--device", "xpu", "--os", "linux", "--as-of", AS_OF, "--format", "json")
    stack = json.loads(run(*words).out)["stacks"][0]
    shown = content(facts, f"kind=install torch=2.8 device=xpu os=linux with={installer} as-of={AS_OF}")
    assert shown.startswith("```sh\n" + "\n".join(stack[field]) + "\n```\n\nWorks, with warnings, as of ")
    proved = content(facts, f"kind=install torch=2.8 device=xpu os=linux with={installer} proof=yes as-of={AS_OF}")
    assert f"\n{stack['proof']}\n```" in proved


def test_install_region_hides_no_warning(facts: Snapshot, run: Runner) -> None:
    """Whatever `resolve` warns of or leaves open stands below the commands."""
    for words, arguments in (
        (("--ipex", "2.8.10", "--device", "xpu"), "ipex=2.8.10 device=xpu"),
        (("--ipex", "2.3.110", "--device", "xpu", "--os", "windows"), "ipex=2.3.110 device=xpu os=windows"),
    ):
        stack = json.loads(run("resolve", *words, "--as-of", AS_OF, "--format", "json").out)["stacks"][0]
        shown = content(facts, f"kind=install {arguments} as-of={AS_OF}")
        assert stack["warnings"]
        assert shown.count("\n- warning (") == len(stack["warnings"])
        assert shown.count("\n- open: ") == len(stack["unsettled"])


def test_requirements_region_is_the_file(facts: Snapshot, run: Runner) -> None:
    """with=requirements shows what `resolve --format requirements` prints."""
    words = ("resolve", "--torch", "2.8", "--device", "xpu", "--os", "linux", "--as-of", AS_OF, "--format", "requirements")
    shown = content(facts, f"kind=install torch=2.8 device=xpu os=linux with=requirements as-of={AS_OF}")
    assert f"```text\n{run(*words).out}```" in shown


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        pytest.param(["--torch", "2.4", "--device", "xpu"], "torch=2.4 device=xpu", id="none"),
        pytest.param(["--hardware", "Arc B580", "--os", "ubuntu24.04"], 'hardware="Arc B580" os=ubuntu24.04', id="quoted"),
        pytest.param(["--torch", ">=2.5,<2.7", "--device", "cpu"], "torch='>=2.5,<2.7' device=cpu", id="set"),
        pytest.param(["torch==2.8.0", "numpy", "--device", "cpu"], 'words="torch==2.8.0 numpy" device=cpu', id="words"),
        pytest.param(["--torch", "2.8", "--device", "cpu", "--why"], "torch=2.8 device=cpu why=yes", id="why"),
        pytest.param(["--torch", "2.8", "--all"], "torch=2.8 all=yes", id="all"),
        pytest.param(["--inc", "3.7", "--device", "cpu"], "inc=3.7 device=cpu", id="alias"),
    ],
)
def test_answer_region_is_what_resolve_prints(words: list[str], arguments: str, facts: Snapshot, run: Runner) -> None:
    """The fenced text is the output of `resolve` for the same request and day."""
    shown = content(facts, f"kind=answer {arguments} as-of={AS_OF}")
    assert shown == f"```text\n{run('resolve', *words, '--as-of', AS_OF).out}```"


def test_other_data_fill_regions_too(tmp_path: Path, run: Runner) -> None:
    """--data takes a data directory, and the command that mends names it."""
    from builders import data_directory, product

    data = data_directory(tmp_path / "some data", [product("torch", releases=["1.5.0"])])
    page = tmp_path / "page.md"
    page.write_text("<!-- compatkb:begin v kind=eol product=torch -->\n<!-- compatkb:end v -->\n", encoding="utf-8")
    done = run("docs", "check", str(page), "--data", str(data))
    assert done.code == 4
    assert f"run `compatkb docs render --data '{data}' {page}`" in done.err
    assert run("docs", "render", str(page), "--data", str(data)).code == 0
    assert "The data know of no end of life here" in page.read_text(encoding="utf-8")


# -- files --------------------------------------------------------------------------------------------------------


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A page with an empty region."""
    path = tmp_path / "page.md"
    path.write_text(EMPTY, encoding="utf-8")
    return path


def test_render_fills_and_check_is_clean(page: Path, run: Runner) -> None:
    """After render check finds nothing, and a second render changes nothing, not even the time of the file."""
    first = run("docs", "render", str(page))
    assert first.code == 0
    assert f"{page}:3: ends: filled with " in first.out
    filled = page.read_bytes()
    os.utime(page, ns=(1, 1))
    again = run("docs", "render", str(page))
    assert again.out == "1 file, 1 region, 0 rewritten\n"
    assert (page.read_bytes(), page.stat().st_mtime_ns) == (filled, 1)
    assert run("docs", "check", str(page)) == (0, "", "")


def test_check_notices_a_hand_edit_and_writes_nothing(page: Path, run: Runner) -> None:
    """A change by hand is shown as a diff, with the command that mends it; the exit code is 4."""
    run("docs", "render", str(page))
    edited = page.read_text(encoding="utf-8").replace("| 3.12 |", "| 3.12 and more |")
    page.write_text(edited, encoding="utf-8")
    done = run("docs", "check", str(page))
    assert done.code == 4
    lines = done.out.splitlines()
    assert lines[:2] == [f"--- {page}", f"+++ {page} (generated)"]
    assert "-| 2028-10-31 (known to the month) | 3.12 and more | supported |" in lines
    assert "+| 2028-10-31 (known to the month) | 3.12 | supported |" in lines
    assert done.err == f"error: not up to date: {page} (ends); run `compatkb docs render {page}`\n"
    assert page.read_text(encoding="utf-8") == edited


def test_render_says_what_it_overwrites(page: Path, run: Runner) -> None:
    """What stood in a region and differed is overwritten, and that is said."""
    page.write_text(EMPTY.replace("-->\n<!-- compatkb:end", "-->\nBy hand, inside.\n<!-- compatkb:end"), encoding="utf-8")
    done = run("docs", "render", str(page))
    assert f"{page}:3: ends: overwritten: 1 line that stood there differed" in done.out
    text = page.read_text(encoding="utf-8")
    assert "By hand, inside." not in text
    assert text.startswith("# Title\n\n")
    assert text.endswith("<!-- compatkb:end ends -->\n\nBy hand.\n")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
def test_line_ends_and_byte_order_mark_stay(newline: str, bom: bytes, page: Path, run: Runner) -> None:
    """A file keeps its line ends, inside regions too, its byte order mark, and a last line without an end."""
    page.write_bytes(bom + EMPTY.rstrip("\n").replace("\n", newline).encode())
    assert run("docs", "render", str(page)).code == 0
    written = page.read_bytes()
    assert written.startswith(bom + b"# Title")
    assert written.endswith(b"By hand.")
    body = written.decode("utf-8-sig")
    assert body.replace(newline, "").count("\n") == body.replace(newline, "").count("\r") == 0
    assert "| 3.12 |" in body
    assert run("docs", "check", str(page)).code == 0


def test_changed_line_ends_are_stale(page: Path, run: Runner) -> None:
    """A region whose lines end otherwise than its marker's is not up to date."""
    run("docs", "render", str(page))
    page.write_bytes(page.read_bytes().replace(b"| 3.12 | supported |\n", b"| 3.12 | supported |\r\n"))
    assert run("docs", "check", str(page)).code == 4


def test_region_in_a_list_is_indented(facts: Snapshot) -> None:
    """The lines of a region stand as its marker does, so that a list goes on; blank lines stay blank."""
    text = "1. one\n\n   <!-- compatkb:begin x kind=eol product=python -->\n   <!-- compatkb:end x -->\n\n2. two\n"
    filled, regions, problems = Documents(facts).fill(text)
    assert problems == []
    assert all(line.startswith("   ") for line in regions[0].after.splitlines() if line)
    assert "   | 2028-10-31 (known to the month) | 3.12 | supported |\n" in filled
    assert "\n   \n" not in filled
    assert Documents(facts).fill(filled)[0] == filled


def test_mode_and_link_stay(tmp_path: Path, page: Path, run: Runner) -> None:
    """A link still leads to the file, which keeps its mode; nothing else is left in the folder."""
    page.chmod(0o640)
    link = tmp_path / "link.md"
    link.symlink_to(page.name)
    assert run("docs", "render", str(link)).code == 0
    assert link.is_symlink()
    assert page.stat().st_mode & 0o777 == 0o640
    assert "| 3.12 |" in page.read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.md", "page.md"]


def test_failed_write_leaves_the_file(page: Path, run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the new file cannot take the old one's place, the old one stays whole, and no other one is left."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    done = run("docs", "render", str(page))
    assert (done.code, done.err) == (5, f"error: {page}: cannot be written: No space left on device\n")
    assert page.read_text(encoding="utf-8") == EMPTY
    assert [path.name for path in page.parent.iterdir()] == ["page.md"]


def test_files_and_folders_are_taken_once(tmp_path: Path, run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders are searched for Markdown, hidden ones left out; each file is there once; README.md and docs go unnamed."""
    for name in ("docs/b.md", "docs/deep/a.md", "docs/.hidden/c.md", "docs/d.txt", "README.md", "other.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(EMPTY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    done = run("docs", "check", "docs", "docs/b.md", "./other.md", "--format", "json")
    assert done.code == 4
    assert [file["file"] for file in json.loads(done.out)["files"]] == ["docs/b.md", "docs/deep/a.md", "other.md"]
    usual = json.loads(run("docs", "check", "--format", "json").out)["files"]
    assert [file["file"] for file in usual] == ["README.md", "docs/b.md", "docs/deep/a.md"]


def test_missing_files_are_named(tmp_path: Path, run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that does not exist is wrong usage, and so is nothing to look at."""
    monkeypatch.chdir(tmp_path)
    assert run("docs", "check", "nowhere.md") == (2, "", "error: nowhere.md: no such file\n")
    done = run("docs", "render")
    assert (done.code, done.err) == (2, "error: there is neither README.md nor docs here; name the files\n")


def test_json_names_regions_and_diff(page: Path, run: Runner) -> None:
    """Programs get the regions, whether they are stale, and the diff; after render there is none."""
    done = run("docs", "check", str(page), "--format", "json")
    assert done.code == 4
    file = json.loads(done.out)["files"][0]
    assert file["regions"] == [{"name": "ends", "kind": "eol", "line": 3, "stale": True}]
    assert file["diff"] == run("docs", "check", str(page)).out
    assert json.loads(run("docs", "render", str(page), "--format", "json").out)["files"][0]["regions"][0]["stale"] is True
    file = json.loads(run("docs", "check", str(page), "--format", "json").out)["files"][0]
    assert (file["regions"][0]["stale"], file["diff"]) == (False, "")


def test_diff_shows_a_last_line_without_end(page: Path, run: Runner) -> None:
    """The diff can be applied as it is: a missing line end is marked as diff does."""
    page.write_bytes(EMPTY.partition("\n\nBy hand")[0].encode())
    assert run("docs", "check", str(page)).out.endswith(" <!-- compatkb:end ends -->\n\\ No newline at end of file\n")


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        ">" * 50_000 + "<!-- compatkb:begin x -->",
        "[" * 20_000 + "<!-- compatkb:begin x -->",
        "<!-- compatkb:begin x\n" * 5_000,
        "<div>\n" + "<!-- compatkb:begin x -->\n" * 2_000,
        "- " * 10_000 + "<!-- compatkb:begin x -->",
        "`" * 20_000 + "<!-- compatkb:begin x -->",
        "\x00<!-- compatkb:begin \x00 -->",
        "<!-- compatkb:begin " + "a=" * 20_000 + " -->",
        "<!-- compatkb:begin x " + "'" * 20_001 + " -->",
    ],
    ids=["quotes", "brackets", "openings", "markers", "bullets", "ticks", "nul", "equals", "shell-quotes"],
)
def test_hostile_pages_end_in_an_error_soon(text: str, page: Path, run: Runner) -> None:
    """A page that is made to break readers yields errors with lines, or nothing, within seconds."""
    page.write_text(text, encoding="utf-8")
    start = time.monotonic()
    done = run("docs", "check", str(page))
    assert time.monotonic() - start < 10
    assert done.code in (0, 2)
    assert all(re.match(rf"error: ({re.escape(str(page))}:|and \d+ more$)", line) for line in done.err.splitlines())


PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "<!-- compatkb:begin a kind=eol product=python -->\nby hand\n<!-- compatkb:end a -->",
                "  <!-- compatkb:begin b kind=versions product=python limit=2 -->\r\n\n\n<!-- compatkb:end b -->",
                "<!-- compatkb:begin d kind=eol -->",
                "<!-- compatkb:end d -->",
                "<!-- compatkb:begin c kind=answer torch=2.8 device=cpu -->\n<!-- compatkb:end c -->",
                "```",
                "- item",
                "<div>",
                "",
            ]
        ),
        st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=12),
    ),
    max_size=12,
)
NEWLINES = st.sampled_from(["\n", "\r\n", "\r", "\n\n", " \n"])


def outside(text: str) -> list[str]:
    """Return the text around the regions."""
    places = [0, *(place for region in find_regions(text)[0] for place in (region.start, region.end)), len(text)]
    return [text[start:end] for start, end in zip(places[::2], places[1::2], strict=True)]


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=PIECES, ends=st.lists(NEWLINES, min_size=12, max_size=12))
@example(
    pieces=["a", "<!-- compatkb:begin a kind=eol product=python -->", "x", "<!-- compatkb:end a -->", "b"], ends=["\r\n"] * 12
)
def test_render_is_idempotent_and_leaves_the_rest(pieces: list[str], ends: list[str], facts: Snapshot) -> None:
    """For any text: what stands outside regions stays to the character, and a filled text is filled as it is."""
    text = "".join(piece + end for piece, end in zip(pieces, ends, strict=False))
    filled, _, problems = Documents(facts).fill(text)
    if problems:
        return
    assert outside(filled) == outside(text)
    again, regions, later = Documents(facts).fill(filled)
    assert (again, later) == (filled, [])
    assert not any(region.is_stale for region in regions)
