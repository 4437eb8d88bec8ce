"""The frame of `compatkb check`: places, comments that accept, settings, the baseline, edits."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from builders import LONG_AGO, build, index, listing, needs, product, release, universe
from conftest import clock

import compatkb.check as checking
from compatkb.check.config import Settings, matches, parse_settings
from compatkb.check.document import CheckContext, TextDocument, diff, mended
from compatkb.check.files import document_of, find
from compatkb.check.report_text import Shown, excerpt, report_lines, report_payload
from compatkb.check.rules import CheckRule, explanation
from compatkb.check.suppressions import BaselineEntry, baseline_entry, baseline_text, parse_baseline
from compatkb.core.clock import current_day
from compatkb.core.findings import Edit, Finding, Severity
from compatkb.errors import UsageError
from compatkb.output.registry import Wanted
from compatkb.output.screen import text_of
from compatkb.store.reader import Snapshot

DAY = date(2026, 11, 21)
BAD = CheckRule("bad-word", Severity.ERROR, "a word is bad")
KNOWN = frozenset({"bad-word", "other"})


class Words:
    """A checker whose only rule is that no file says `bad`; `good` is what mends it."""

    RULES = (BAD,)

    @staticmethod
    def reads(path: str) -> bool:
        """Return whether a file is a text."""
        return path.endswith((".md", ".txt"))

    @staticmethod
    def check(document: TextDocument, asked: CheckContext) -> Iterator[Finding]:
        """Yield every bad word."""
        assert asked.day == current_day()
        for match in re.finditer(r"bad(?!-)", document.text):
            edits = (Edit(*match.span(), "good"),)
            yield document.finding(BAD, *match.span(), "this is bad", fix="write good", edits=edits)


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "CHECKERS", (checking.CheckerFamily(Words.reads, lambda: Words),))
    known = {"bad-word": BAD, "ignore": checking.rules_by_id()["ignore"]}
    monkeypatch.setattr(checking, "rules_by_id", lambda: known)


def report(
    facts: Snapshot,
    text: str,
    path: str = "a.md",
    settings: Settings | None = None,
    recorded: Counter[BaselineEntry] | None = None,
) -> checking.CheckReport:
    return checking.check([TextDocument(path, text)], CheckContext(facts, clock()), settings, recorded)


def places(found: checking.CheckReport) -> list[tuple[str, int, int | None]]:
    return [(finding.rule, finding.line, finding.column) for finding in found.findings]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_places_count_every_line_end(facts: Snapshot, words: None, newline: str) -> None:
    """Lines and columns are right with every line end, behind tabs, beside wide characters and after a byte order mark."""
    text = newline.join(["one", "\tbad", "漢字 bad", "", "bad"])
    document = document_of("a.txt", "\ufeff".encode() + text.encode())
    assert isinstance(document, TextDocument)
    found = checking.check([document], CheckContext(facts, clock()))
    assert places(found) == [("bad-word", 2, 2), ("bad-word", 3, 4), ("bad-word", 5, 1)]
    assert [finding.end_column for finding in found.findings] == [5, 7, 4]


def screen(facts: Snapshot, text: str, *, why: bool = False) -> list[str]:
    return text_of(report_lines(Shown(report(facts, text), CheckContext(facts, clock())), Wanted(why))).splitlines()


def test_text_form_shows_what_changes(facts: Snapshot, words: None) -> None:
    """A finding is one line, with --why its line before and after; then the count, and the command that fixes."""
    lines = screen(facts, "a\tbad b\n")
    assert lines[0] == "a.md:1:3: error: this is bad [bad-word]"
    assert lines[3:6] == ["Found 1 error in 1 file.", "1 fixable:", "    compatkb check --fix"]
    assert lines[-1].startswith("  data of ")
    assert screen(facts, "a\tbad b\n", why=True)[:3] == [lines[0], "    - a\tbad b", "    + a\tgood b"]


def test_text_form_points_at_the_place() -> None:
    """A line that nothing mends is shown with carets below what is meant, tabs as one space."""
    quoted, carets = excerpt(Finding("r", Severity.ERROR, "a", 1, "", 3, end_column=6), "a\tbad b")
    assert (quoted.text, carets.text) == ("     1 | a bad b", "       |   ^^^")
    assert quoted.text[slice(*quoted.underlined)] == "bad"


def test_long_lines_are_cut_around_the_place(facts: Snapshot, words: None) -> None:
    """A line of a megabyte is not printed whole, and the caret still points at its word."""
    lines = screen(facts, "x" * 1_000_000 + " bad " + "y" * 1_000_000, why=True)
    carets = next(line for line in lines if "^" in line)
    shown = lines[lines.index(carets) - 1]
    assert max(map(len, lines)) <= 80
    assert shown[carets.index("^") : carets.index("^") + 3] == "bad"


def test_every_finding_is_printed(facts: Snapshot) -> None:
    """No finding is left out, however many there are; --why adds the sources."""
    found = [Finding("r", Severity.INFO, "a.md", n, f"info {n}") for n in range(1, 60)]
    found.append(Finding("r", Severity.ERROR, "z.md", 1, "an error", sources=("a source",)))
    shown = Shown(checking.CheckReport(tuple(found), {"a.md": TextDocument("a.md", "")}), CheckContext(facts, clock()))
    lines = text_of(report_lines(shown)).splitlines()
    assert sum(line.startswith("a.md") for line in lines) == 59
    assert "z.md:1: error: an error [r]" in lines
    assert "Found 1 error, 59 info in 1 file." in lines
    assert "    source: a source" in text_of(report_lines(shown, Wanted(why=True)))


def test_what_mends_together_is_printed_once(facts: Snapshot) -> None:
    """Findings of one environment share one set of pins, which stands after them, once."""
    fix = "a==1\nb==2"
    found = [Finding("r", Severity.ERROR, "a.txt", n, "no", fix=fix, environment="torch 2.8.0 stays") for n in (2, 3)]
    shown = Shown(checking.CheckReport(tuple(found), {"a.txt": TextDocument("a.txt", "")}), CheckContext(facts, clock()))
    lines = text_of(report_lines(shown)).splitlines()
    assert lines[2:5] == ["a.txt:2,3: fixed together, torch 2.8.0 stays:", "    a==1", "    b==2"]
    assert sum("a==1" in line for line in lines) == 1


def test_no_file_is_no_clean_bill(facts: Snapshot) -> None:
    """Where nothing could be read, that is said, with how many files were passed over."""
    shown = Shown(checking.CheckReport((), {}), CheckContext(facts, clock()), passed=3)
    first = text_of(report_lines(shown)).splitlines()[0]
    assert first == "Nothing to check: no file of a kind that is read (3 files not read: --verbose)."


def end(path: str, line: int, product: str) -> Finding:
    message = f"{product} is out of support since 2026-03-31"
    return Finding("end-of-life", Severity.WARNING, path, line, message, subject=product, about="discontinued", brief=product)


def test_what_is_accepted_is_not_folded_into() -> None:
    """A discontinued product is told in a second file though a baseline, a comment or settings accept it in the first."""
    first, second = end("a/r.txt", 1, "IPEX 2.7.0"), end("b/r.txt", 1, "IPEX 2.8.0")
    documents = {path: TextDocument(path, f"x{text}\n") for path, text in (("a/r.txt", ""), ("b/r.txt", ""))}
    known = Counter([baseline_entry(first, "x")])
    nothing: frozenset[str] = frozenset()
    (told,) = checking.make_report([first, second], documents, Settings(), None, nothing).findings
    assert told.message.endswith("since 2026-03-31; also IPEX 2.8.0 (b/r.txt:1)")
    assert checking.make_report([first, second], documents, Settings(), known, nothing).findings == (second,)
    per_file = Settings(per_file={"a/*": ("end-of-life",)})
    assert checking.make_report([first, second], documents, per_file, None, nothing).findings == (second,)
    accepted = documents | {"a/r.txt": TextDocument("a/r.txt", "x  # compatkb: ignore[end-of-life] frozen\n")}
    assert checking.make_report([first, second], accepted, Settings(), None, nothing).findings == (second,)


def test_json_has_the_documented_fields(facts: Snapshot, words: None) -> None:
    """Each finding has rule, level, path, line, column, message, fix and sources."""
    payload = report_payload(Shown(report(facts, "bad"), CheckContext(facts, clock())))
    findings = payload["findings"]
    assert isinstance(findings, list)
    (finding,) = findings
    page = (Path(__file__).parent.parent / "docs" / "check.md").read_text(encoding="utf-8")
    assert {"rule", "level", "path", "line", "column", "message", "fix", "sources"} <= set(finding)
    assert all(f"`{name}`" in page for name in (*finding, *payload))


@pytest.mark.parametrize("rule", checking.rules_by_id().values(), ids=lambda rule: rule.id)
def test_rule_is_documented(rule: CheckRule) -> None:
    """Every rule has a heading in docs/check.md with what, why, an example and how to mend; its id and summary are plain."""
    page = (Path(__file__).parent.parent / "docs" / "check.md").read_text(encoding="utf-8")
    section = page.partition(f"\n### `{rule.id}`\n")[2].partition("\n##")[0]
    assert [word for word in ("**What.**", "**Why.**", "**Example.**", "**Mend.**") if word not in section] == []
    assert rule.summary[0].islower() or rule.summary[0] == "`"
    assert re.sub(r"\*\*", "", section).strip() in explanation(rule)


def test_documented_rules_exist() -> None:
    """docs/check.md describes no rule that is gone, and ids are unique."""
    page = (Path(__file__).parent.parent / "docs" / "check.md").read_text(encoding="utf-8")
    described = re.findall(r"^### `([\w-]+)`$", page.partition("\n## The rules\n")[2], re.MULTILINE)
    assert sorted(described) == sorted(checking.rules_by_id())


@pytest.mark.long
def test_optional_rules_run_where_they_are_asked_for(facts: Snapshot) -> None:
    """A rule that is off reports once the settings give it a level, at that level."""
    documents = [TextDocument("pylock.toml", "x" * 11_000_000)]
    context = CheckContext(facts, clock())
    assert checking.check(documents, context).findings == ()
    settings = Settings(levels={"unread": Severity.WARNING})
    (finding,) = checking.check(documents, context, settings).findings
    assert (finding.rule, finding.level) == ("unread", Severity.WARNING)


def test_levels_tell_the_harm() -> None:
    """What installers refuse by what they read is an error; what only documents say wrongly is information."""
    levels = {rule.id: rule.level for rule in checking.rules()}
    assert levels["pins-together"] == levels["pin-unpublished"] == levels["pins-contradict"] == Severity.ERROR
    assert levels["install-together"] == levels["pin-index"] == levels["pin-platform"] == Severity.WARNING
    assert levels["end-of-life"] == levels["pin-yanked"] == levels["pin-drifts"] == levels["build-plain"] == Severity.WARNING
    assert {level for rule, level in levels.items() if rule.startswith(("link-", "table-", "row-", "text-"))} == {
        Severity.INFO
    }


# -- comments ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.txt", "bad  # compatkb: ignore[bad-word] it is quoted\n"),
        ("a.txt", "# compatkb: ignore[other, bad-word] it is quoted\nbad\n".replace("other, ", "")),
        ("a.txt", "one\nbad\n# compatkb: ignore-file[bad-word] a list of words\n"),
        ("a.md", "bad <!-- compatkb: ignore[bad-word] it is quoted -->\n"),
        ("a.md", "<!-- compatkb: ignore[bad-word] it is quoted -->\n\n| bad |\n|---|\n| bad |\n"),
        ("a.md", "```sh\nbad  # compatkb: ignore[bad-word] it is quoted\n```\n"),
        ("a.md", "> <!-- compatkb: ignore[bad-word] it is quoted -->\n> bad\n> bad\n"),
        ("a.txt", "# compatkb: ignore[bad-word] it is quoted\r\nbad\r\n"),
    ],
)
def test_comment_accepts(facts: Snapshot, words: None, path: str, text: str) -> None:
    """A comment with rule and reason accepts: on its line, alone for the next line or block, with -file for the file."""
    found = report(facts, text, path)
    assert places(found) == []
    assert found.accepted >= 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bad # compatkb: ignore[bad-word]\n", "gives no reason"),
        ("bad # compatkb: ignore it is quoted\n", "names no rule"),
        ("bad # compatkb: ignore[worse-word] it is quoted\n", "'worse-word', which is no rule"),
        ("bad\n\n# compatkb: ignore[bad-word] it is quoted\ngood\n", "accepts nothing any more"),
    ],
)
def test_comment_without_effect_is_a_finding(facts: Snapshot, words: None, text: str, said: str) -> None:
    """A comment that names no rule, gives no reason or accepts nothing is told, and the finding stays."""
    found = report(facts, text, "a.txt")
    assert {finding.rule for finding in found.findings} == {"bad-word", "ignore"}
    assert any(said in finding.message for finding in found.findings)


def test_comment_speaks_of_one_block(facts: Snapshot, words: None) -> None:
    """A comment above a block does not accept what stands in the next one."""
    found = report(facts, "<!-- compatkb: ignore[bad-word] quoted -->\nbad\n\nbad\n")
    assert places(found) == [("bad-word", 4, 1)]


def test_comment_shown_in_code_is_no_comment(facts: Snapshot, words: None) -> None:
    """A comment of Markdown that stands in a code span or a fenced block is shown, so it accepts nothing."""
    text = "`<!-- compatkb: ignore[bad-word] r -->` bad\n\n```html\n<!-- compatkb: ignore[bad-word] r -->\nbad\n```\n"
    assert places(report(facts, text)) == [("bad-word", 1, 41), ("bad-word", 5, 1)]


# -- settings ----------------------------------------------------------------------------------------------------------


def test_settings_are_read() -> None:
    """Every setting of [tool.compatkb] is read into its type."""
    text = """
[tool.compatkb]
fail-on = "warning"
eol-within = "90d"
exclude = ["vendor", "*.ipynb"]
ignore = ["other"]
baseline = "known.json"
levels = { bad-word = "info" }
per-file-ignores = { "docs/*" = ["bad-word"] }
"""
    settings = parse_settings(text, "pyproject.toml", "/x", lambda: KNOWN)
    assert settings == Settings(
        "/x", "warning", ("other",), {"bad-word": Severity.INFO}, ("vendor", "*.ipynb"), {"docs/*": ("bad-word",)},
        "known.json", 90,
    )  # fmt: skip
    assert parse_settings("[tool.other]\n", "pyproject.toml", "/x", lambda: KNOWN) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.compatkb]\nfailon = 1", "tool.compatkb.failon is not a valid setting"),
        ("[tool.compatkb]\nfail-on = 'loud'", "fail-on is one of info"),
        ("[tool.compatkb]\nignore = ['bad']", "names 'bad', which is no rule"),
        ("[tool.compatkb]\nignore = 'other'", "is no list"),
        ("[tool.compatkb]\nlevels = { bad-word = 3 }", "levels.bad-word is one of"),
        ("[tool.compatkb]\neol-within = -3", "is a number of days"),
        ("[tool]\ncompatkb = 1", "[tool.compatkb] must be a table"),
        ("[tool.compatkb", "is no TOML"),
    ],
)
def test_wrong_settings_are_named(text: str, said: str) -> None:
    """A wrong setting is refused with the file and its name."""
    with pytest.raises(UsageError, match=r"pyproject\.toml: ") as error:
        parse_settings(text, "pyproject.toml", "/x", lambda: KNOWN)
    assert said in str(error.value)


def test_settings_are_read_where_they_can_be() -> None:
    """A file that does not name us is not ours to judge; a key that is written with escapes names us too."""
    assert parse_settings("[tool.other", "pyproject.toml", "/x", lambda: KNOWN) is None
    escaped = parse_settings('[tool."comp\\u0061tkb"]\nignore = ["other"]', "pyproject.toml", "/x", lambda: KNOWN)
    assert escaped == Settings("/x", ignore=("other",))


def test_settings_apply(facts: Snapshot, words: None) -> None:
    """Levels change, and rules are left out altogether or in some files."""
    assert report(facts, "bad", settings=Settings(levels={"bad-word": Severity.INFO})).findings[0].level is Severity.INFO
    assert report(facts, "bad", settings=Settings(ignore=("bad-word",))).findings == ()
    per_file = Settings(per_file={"docs/*": ("bad-word",)})
    assert report(facts, "bad", "docs/a.md", per_file).findings == ()
    assert len(report(facts, "bad", "a.md", per_file).findings) == 1


def test_patterns_mean_files_and_folders() -> None:
    """A pattern means files by their path or name, and all below a folder that it names."""
    assert matches("vendor/x/a.md", "vendor")
    assert matches("vendor/x/a.md", "vendor/")
    assert matches("docs/a.md", "docs/*.md")
    assert matches("x/y/a.ipynb", "*.ipynb")
    assert not matches("x/vendored/a.md", "vendor")


# -- baseline ----------------------------------------------------------------------------------------------------------


def test_baseline_leaves_out_what_it_has(facts: Snapshot, words: None) -> None:
    """What a baseline has does not count, wherever the line has moved; a second one like it does; what is gone is told."""
    before = report(facts, "a bad thing\nbad\n")
    kept = [baseline_entry(finding, before.line(finding)) for finding in before.findings]
    known = parse_baseline(baseline_text(kept), "b.json")
    assert known == Counter(kept)
    after = report(facts, "new\n\n  a bad thing\na bad thing\n", recorded=known)
    assert places(after) == [("bad-word", 4, 3)]
    assert (after.recorded, after.outdated) == (1, 1)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"compatkb-baseline": 2}', '{"compatkb-baseline": 1, "findings": [{}]}'])
def test_no_baseline_is_refused(text: str) -> None:
    """A file that is no baseline is wrong usage, not an empty baseline."""
    with pytest.raises(UsageError, match=r"b\.json: is"):
        parse_baseline(text, "b.json")


def test_baseline_is_the_same_for_the_same_findings() -> None:
    """A baseline is sorted, and keeps a long line by its digest."""
    one, two = BaselineEntry("a", "x", "1"), BaselineEntry("b", "w", "2")
    assert baseline_text([one, two, one]) == baseline_text([two, one, one])
    long = baseline_entry(Finding("a", Severity.ERROR, "x", 1, "m"), "y" * 10_000)
    assert len(long.subject) < 100


# -- edits -------------------------------------------------------------------------------------------------------------


def edit(*edits: Edit, line: int = 1) -> Finding:
    return Finding("r", Severity.ERROR, "a", line, "m", edits=edits)


def test_edits_are_put_in(facts: Snapshot, words: None) -> None:
    """Every finding's edits are put in at their places, and the diff shows them."""
    document = TextDocument("a.md", "bad\r\nfine\r\nbad")
    found = checking.check([document], CheckContext(facts, clock()))
    after, done = mended(document, found.findings)
    assert after == "good\r\nfine\r\ngood"
    assert len(done) == 2
    assert "-bad\r\n+good\r\n" in diff(document, after)
    assert diff(document, document.text) == ""


def test_overlapping_edits_are_not_mixed() -> None:
    """Of findings whose edits overlap one is mended, whole; the same edit in two findings is made once."""
    document = TextDocument("a", "abcdef")
    after, done = mended(document, [edit(Edit(0, 3, "X")), edit(Edit(2, 4, "Y"), Edit(5, 6, "Z"), line=2)])
    assert (after, len(done)) == ("Xdef", 1)
    after, done = mended(document, [edit(Edit(0, 1, "X")), edit(Edit(0, 1, "X"), line=2)])
    assert (after, len(done)) == ("Xbcdef", 2)


def test_insertions_stand_beside_what_is_replaced() -> None:
    """What is put in right before or behind a replacement is no overlap; within it, or at one place with another, it is."""
    document = TextDocument("a", "abcdef")
    after, done = mended(document, [edit(Edit(0, 3, "")), edit(Edit(3, 3, "+"), Edit(3, 4, "D"), line=2)])
    assert (after, len(done)) == ("+Def", 2)
    after, done = mended(document, [edit(Edit(3, 6, "D")), edit(Edit(3, 3, "+"), line=2)])
    assert (after, len(done)) == ("abc+D", 2)
    for at in (Edit(2, 2, "+"), Edit(1, 1, "+")):
        after, done = mended(document, [edit(Edit(1, 1, "*"), Edit(1, 3, "B")), edit(at, line=2)])
        assert (after, len(done)) == ("a*Bdef", 1)


# -- files -------------------------------------------------------------------------------------------------------------


def test_files_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders are searched, save hidden ones, environments and what is excluded; each file is found once."""
    for name in ("a.md", "x/b.md", ".github/c.md", ".cache/d.md", "env2/e.md", "vendor/f.md", "g.bin", "node_modules/h.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "env2" / "pyvenv.cfg").touch()
    monkeypatch.chdir(tmp_path)
    found = find([".", "a.md"], Words.reads, Settings(str(tmp_path), exclude=("vendor",)))
    assert [path.as_posix() for path in found] == [".github/c.md", "a.md", "x/b.md"]
    for wrong in ("missing.md", "g.bin"):
        with pytest.raises(UsageError, match=wrong):
            find([wrong], Words.reads, Settings())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_are_kept(encoding: str) -> None:
    """Text is read by its byte order mark, and what is written back begins with the same one."""
    document = document_of("a.txt", "größe bad".encode(encoding))
    assert isinstance(document, TextDocument)
    assert document.text == "größe bad"
    assert (document.head + document.text.encode(document.encoding)).decode(encoding) == "größe bad"


def test_a_file_that_is_too_long_is_told(facts: Snapshot) -> None:
    """A file beyond what is read is one finding with its length where it is asked for, and its pins are not judged."""
    text = "pip install torch==2.8.0 torchvision==0.19.0\n" * 30_000
    settings = Settings(levels={"unread": Severity.INFO})
    (found,) = report(facts, text, "a.sh", settings).findings
    assert (found.rule, found.level) == ("unread", Severity.INFO)
    assert found.message == f"is too long to be read: {len(text):,} characters"
    assert report(facts, text, "a.sh").findings == ()
    assert report(facts, text[:90], "a.sh").findings


def test_no_text_is_told() -> None:
    """A file that is no text is a finding with its line, not a failure."""
    found = document_of("a.txt", b"one\ntw\xff")
    assert isinstance(found, Finding)
    assert (found.rule, found.line) == ("unreadable", 2)


PAIR = "torch==2.5.0\nintel-extension-for-pytorch==2.4.0\n"
LOCK = "version = 1\n" + "".join(
    f'[[package]]\nname = "{name}"\nversion = "{version}"\nsource = {{ registry = "https://index.example/simple" }}\n'
    for name, version in (line.split("==") for line in PAIR.split())
)
COMMAND = "pip install torch==2.5.0 intel-extension-for-pytorch==2.4.0\n"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("requirements.txt", PAIR, ["pins-together error"]),
        ("Dockerfile", f"FROM python:3.11\nRUN {COMMAND}", ["pins-together error"]),
        (
            "Dockerfile",
            "FROM python:3.11\n" + "".join(f"RUN pip install {p}\n" for p in PAIR.split()),
            ["pins-together error"],
        ),
        (
            "Dockerfile",
            "FROM python:3.11\nRUN pip install torch==2.7.0\nRUN pip install torchvision==0.23.0\n",
            ["pins-together warning"],
        ),
        ("install.sh", COMMAND, ["pins-together error"]),
        ("n.ipynb", json.dumps({"cells": [{"cell_type": "code", "source": [f"!{COMMAND}"]}]}), ["pins-together error"]),
        ("README.md", f"```sh\n{COMMAND}```\n", ["install-together error"]),
        ("CHANGELOG.md", f"```sh\n{COMMAND}```\n", []),
        ("docs/release_notes/new.md", f"```sh\n{COMMAND}```\n", []),
        ("third_party/x/requirements.txt", PAIR, []),
        ("tests/fixtures/requirements.txt", PAIR, []),
        ("docker/2.4.0/requirements.txt", PAIR, []),
        ("/srv/releases/a/requirements.txt", PAIR, ["pins-together error"]),
        ("docker/Dockerfile.j2", f"FROM python:3.11\nRUN {COMMAND}", []),
        ("tests/requirements.txt", PAIR, ["pins-together error"]),
        ("README.md", "This needs PyTorch 2.4.9.\n", []),
        ("uv.lock", LOCK, ["pins-together error"]),
    ],
)
def test_places_decide_what_speaks_and_how_loud(facts: Snapshot, path: str, text: str, expected: list[str]) -> None:
    """An error is what an installer reads in exact pins of one step; records, copies, fixtures and weak places are silent."""
    of_one_pin = ("pin-yanked", "pin-vulnerable", "pin-outlived", "end-of-life")
    found = checking.check([TextDocument(path, text)], CheckContext(facts, clock())).findings
    assert [f"{f.rule} {f.level}" for f in found if f.rule not in of_one_pin] == expected


def project(facts: Snapshot, text: str) -> list[str]:
    """Return the rules of what is found in a list of requirements."""
    found = checking.check([TextDocument("requirements.txt", text)], CheckContext(facts, clock()))
    return [finding.rule for finding in found.findings]


def test_a_range_admits_no_yanked_release_beside_another_package(tmp_path: Path) -> None:
    """Installers take no yanked release for a range: a package that goes with such a one alone does not go with the range."""
    listed = index("ext", [listing("2.0"), listing("1.0", yanked=LONG_AGO)])
    on_default = [release(f"{n}.0", builds=[build(f"{n}.0", channels=["default"])]) for n in (2, 1)]
    claims = [needs(f"ext=={n}.0", f"torch=={n}.0") for n in (1, 2)]
    torch = product("torch", distribution="torch", releases=["2.0", "1.0"])
    ext = product("ext", distribution="ext", releases=on_default, claims=claims)
    facts = universe(tmp_path, [torch, ext], indexes=[listed])
    assert project(facts, "torch==1.0\next>=1.0\n") == ["pins-together"]
    assert project(facts, "torch==1.0\next==1.0\n") == ["pin-yanked"]


def test_a_file_with_too_many_environments_is_told_at_its_start(facts: Snapshot) -> None:
    """Of more than 400 environments the rest is not judged, which concerns the file and no place in it."""
    text = "".join(f"FROM a.example/b AS s{number}\nRUN pip install --pre torch\n" for number in range(403))
    found = report(facts, text, "Dockerfile", Settings(levels={"unread": Severity.INFO}))
    assert [(f.line, f.column, f.message) for f in found.findings if f.rule == "unread"] == [
        (1, 1, "has more environments than are judged; 3 are left out")
    ]


@pytest.mark.parametrize(("newest", "rules"), [("2.0", ["pin-drifts"]), ("2.0rc1", [])])
def test_installers_take_no_prerelease_of_themselves(newest: str, rules: list[str], tmp_path: Path) -> None:
    """What is not pinned drifts to the newest release, and to no release candidate."""
    made = [release(version, builds=[build(version, channels=["default"])]) for version in (newest, "1.0")]
    claims = [needs(f"ext=={newest}", "torch==2.0"), needs("ext==1.0", "torch==1.0")]
    at_home = [release(version, builds=[build(version, channels=["default"])]) for version in ("2.0", "1.0")]
    torch = product("torch", distribution="torch", releases=at_home)
    ext = product("ext", distribution="ext", releases=made, claims=claims)
    listed = [
        index(name, [listing(v) for v in versions]) for name, versions in (("torch", ("2.0", "1.0")), ("ext", (newest, "1.0")))
    ]
    assert project(universe(tmp_path, [torch, ext], indexes=listed), "torch==1.0\next\n") == rules
