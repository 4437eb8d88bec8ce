"""The first screens of answers: golden output of requests at 80 columns, and the limits that hold for all of them."""

import io
import os
import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import build, product, release, request, universe, verified
from conftest import ROOT, Run

from compatkb.engine.answer import resolve
from compatkb.output.commands import quote
from compatkb.output.payload import answer_payload
from compatkb.output.presenter import present
from compatkb.output.screen import HEIGHT, WIDTH, Line, command, labelled, laid_out, text_of
from compatkb.output.terminal import print_lines, printable
from compatkb.output.text import answer_text
from compatkb.store.reader import Snapshot

SCREENS = ROOT / "tests" / "cases" / "screens"
CASES = sorted(SCREENS.glob("*.txt"))
TODAY = "2026-11-23"
COMMAND = re.compile(r"^ +(?:python -m |python -c |pip |uv |poetry |compatkb |docker |git clone |\(cd )")
CATALOG = ("show", "eol", "features", "matrix", "changes", "timeline", "search", "list")
"""Commands whose screens have no command to paste."""
SOURCE = re.compile(r"^  \[\d+\] |^      \S")
QUOTED = re.compile(r"^ +\d* [│|] |^    [-+] ")
FIRST_COMMAND = 6
"""By this line the first command stands where there is an answer."""
LABEL = re.compile(r"^  (?=.{14} \S)(\w[\w -]*?) {2,}(?=\S)")
TEXT = 17
"""The column in which the texts of rows begin."""
LABELS = (
    "detected", "cause", "confirm", "fix", "evidence", "untested", "warning", "known issues", "requires", "platforms",
    "why not newer", "also works", "avoid", "missing", "next", "reported in", "support", "released", "security", "builds",
    "works with", "features", "contents", "images",
)  # fmt: skip
"""The labels of rows, for every command: no other one stands in their column."""
UNCLEAR = (
    "sure", "observed", "artefact", "mend", "mends", "repair", "maker", "interpreter", "withdrawn", "settle", "left open",
    "not stated", "way out", "of which this device uses the CPU part alone", "belong together", "go together", "goes with",
    "nothing says", "that which", "is no", "none but", "to the last document read", "holds:", "what became true",
    "arc-a", "arc-b", "meteor-lake-h", "arrow-lake-h", "lunar-lake",
)  # fmt: skip
"""Words that the glossary replaces, and ids in the place of names."""
MARGIN = 24
"""A line that is longer for an address has no more than this beside it, and shorter ones are ends of paragraphs."""
SOLVER_WORDS = (
    "above over", "below over", "brings along", "bring along", "candidate", "cell", "claim", "companion", "constraint",
    "dimension", "does-not-work", "edge", "element", "giving up", "given up", "hangs on", "is no requirement", "leaf",
    "nearest above", "nearest below", "nobody looked", "over the route", "pin on", "relaxed", "route", "scope",
    "serves torch", "solver", "tells", "the data know", "the nearest stack",
)  # fmt: skip
"""Words of the solver, and phrases of earlier versions, that no user reads."""


def shown(path: Path) -> tuple[list[str], list[str]]:
    """Return the words of a golden screen's command and the lines that it prints."""
    command, *lines = path.read_text(encoding="utf-8").splitlines()
    return shlex.split(command.removeprefix("$ compatkb ").partition(" < ")[0]), lines


def given(path: Path) -> bytes:
    """Return what a golden screen's command reads on standard input: the text of a case."""
    name = path.read_text(encoding="utf-8").splitlines()[0].partition(" < ")[2]
    text: str = tomllib.loads((SCREENS.parent / name).read_text(encoding="utf-8"))["text"] if name else ""
    return text.encode()


def is_positive(lines: list[str]) -> bool:
    """Return whether a screen answers with something to install."""
    return lines[0].startswith(("✓", "~"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_screen(path: Path, run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each request prints its golden screen; with COMPATKB_UPDATE_GOLDEN=1 the screens are written anew."""
    monkeypatch.setenv("COMPATKB_TODAY", TODAY)
    monkeypatch.chdir(SCREENS / "projects")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given(path))))
    words, lines = shown(path)
    done = run(*words, *(() if words[0] in CATALOG else ("--shell", "posix")))
    if os.environ.get("COMPATKB_UPDATE_GOLDEN"):
        head = path.read_text(encoding="utf-8").splitlines()[0]
        path.write_text(f"{head}\n{done.out or done.err}", encoding="utf-8")
        return
    assert (done.out or done.err).splitlines() == lines
    for demand in (limits, vocabulary, labels_of_one_set, glossary):
        demand(words, lines)


def test_there_are_enough_screens() -> None:
    """At least 130 requests have a golden screen, 30 of them with a "no" or an "unknown"; every kind of command has some."""
    negative = [path for path in CASES if shown(path)[1][0].startswith(("✗", "?"))]
    assert len(CASES) >= 130
    commands = {shown(path)[0][0] for path in CASES}
    assert commands == {"resolve", "explain", "check", "migrate", "doctor", "diagnose", *CATALOG}
    assert len(negative) >= 30


def limits(words: list[str], lines: list[str]) -> None:
    """Demand 24 lines (but of files), text within 80 columns, commands whole, the first one early, nothing twice."""
    commands = [line for line in lines if COMMAND.match(line)]
    assert len(lines) <= HEIGHT or words[0] in ("check", "migrate")  # which hide no finding
    for line in lines:
        unbroken = max(line.split(), key=len, default="")
        assert len(line) <= WIDTH or line in commands or len(line) - len(unbroken) <= MARGIN, line
    for line in commands:
        assert line.count("'") % 2 == 0
        assert line.count('"') % 2 == 0
    if words[0] in ("resolve", "explain") and is_positive(lines) and "no install command" not in "\n".join(lines):
        assert any(COMMAND.match(line) for line in lines[:FIRST_COMMAND])
    own = [line for line in lines if line not in commands and not QUOTED.match(line) and not line.startswith("    fix: ")]
    said = [line.strip() for line in own if len(line.strip()) > MARGIN]
    assert len(said) == len(set(said)) or words[0] == "search", "a line stands twice"


def vocabulary(words: list[str], lines: list[str]) -> None:
    """Demand that a screen has no word of the solver; sign and word of the verdict stand first."""
    told = [line for line in lines if not COMMAND.match(line) and not SOURCE.match(line) and not QUOTED.match(line)]
    text = " ".join(told).casefold()
    assert [word for word in SOLVER_WORDS if re.search(rf"\b{re.escape(word)}\b", text)] == []
    if words[0] in ("resolve", "explain"):
        assert re.match(r"✓ works|~ probably works|✗ does not work|\? unknown", lines[0])
    assert re.search(r"\bdata of \d{4}-", " ".join(lines[-2:]))


def own_words(lines: list[str]) -> list[str]:
    """Return the lines in which the program speaks: no commands, sources, quoted text, or foot."""
    skipped = ("  data of ", "  as of ", "  reported in ")
    return [s for s in lines if not (COMMAND.match(s) or SOURCE.match(s) or QUOTED.match(s) or s.startswith(skipped))]


def labels_of_one_set(words: list[str], lines: list[str]) -> None:
    """Demand that rows have the labels of one set, whatever the command."""
    if words[0] in ("resolve", "explain", "doctor", "diagnose", "show"):
        rows = [found for line in own_words(lines) if (found := LABEL.match(line)) and found.end() == TEXT]
        assert {found[1] for found in rows} <= set(LABELS)


def glossary(words: list[str], lines: list[str]) -> None:
    """Demand that a screen has no word that the glossary replaces, and no id where there is a name."""
    if words[0] in ("check", "migrate", "diagnose", "doctor", "search"):
        return
    text = " ".join(own_words(lines)[0 if words[0] in CATALOG else 1 :]).casefold()
    assert [each for each in UNCLEAR if re.search(rf"(?<![\w-]){re.escape(each.casefold())}(?![\w-])", text)] == []


def faults_of(lines: list[str]) -> list[str]:
    """Return what is wrong with the layout of a screen: too many lines, text beyond 80 columns, words of the solver."""
    named = ("  seen in ", "  reported in ", "  data of ")
    text = " ".join(s for s in lines if not (COMMAND.match(s) or QUOTED.match(s) or s.startswith(named))).casefold()
    found = [
        line for line in lines if len(line) > WIDTH and not COMMAND.match(line) and len(line.split()[-1]) < WIDTH - MARGIN
    ]
    found += [f"{len(lines)} lines"] if len(lines) > HEIGHT else []
    return found + [word for word in SOLVER_WORDS if re.search(rf"\b{re.escape(word)}\b", text)]


@pytest.mark.parametrize(
    "words",
    [
        ("show", "torch"), ("show", "ipex"), ("show", "gpu-driver"), ("show", "os"), ("show", "torch", "2.8.0"),
        ("show", "ipex", "2.8.10"), ("show", "hardware", "arc-b"), ("show", "python", "3.12"), ("eol",),
        ("eol", "--within", "1y"), ("eol", "python"), ("doctor",),
    ],
    ids=" ".join,
)  # fmt: skip
def test_catalog_fits_one_screen(words: tuple[str, ...], run: Callable[..., Run]) -> None:
    """What the data hold is shown within the limits, and ends with the day of the data."""
    lines = run(*words).out.splitlines()
    assert faults_of(lines) == []
    assert "data of " in lines[-1]


def test_a_pipe_is_plain(run: Callable[..., Run]) -> None:
    """Through a pipe there is no colour."""
    assert "\x1b" not in run("resolve", "--torch", "2.8", "--device", "cpu").out


class Terminal(io.StringIO):
    """A stream that people read."""

    def isatty(self) -> bool:
        """Return that it is one."""
        return True


def test_colour_is_for_terminals(facts: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the same text has weight and colour, unless NO_COLOR asks for none."""
    lines = [Line("✓ works   torch 2.8.0 on CPU", "works"), command("python -m pip install torch==2.8.0")]
    shown = Terminal()
    monkeypatch.delenv("NO_COLOR", raising=False)
    print_lines(lines, shown)
    assert "\x1b[" in shown.getvalue()
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown.getvalue()) == text_of(lines)
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal()
    print_lines(lines, plain)
    assert plain.getvalue() == text_of(lines)


def test_a_text_is_wrapped_where_it_is_shown() -> None:
    """A screen of any width breaks the whole text once, hanging below its label; commands stay whole."""
    text = "the vendor documents each package on each system, with torch 2.8.0+cpu and IPEX 2.8.0 on Linux and Windows"
    (line,) = labelled("evidence", text)
    for width in (50, 80, 120):
        told = laid_out(line, width)
        assert all(len(part) <= width for part in told)
        assert " ".join(" ".join(told).split()) == f"evidence {text}"
        assert [part[:17].isspace() for part in told] == [False] + [True] * (len(told) - 1)
    whole = command("python -m pip install " + "torch " * 20)
    assert laid_out(whole, 50) == [whole.text]


def test_signs_of_old_terminals() -> None:
    """Where an encoding lacks the signs, others stand for them and the words stay."""
    assert printable("✗ does not work · 3.9–3.13", "ascii") == "x does not work - 3.9-3.13"


@pytest.mark.parametrize(
    ("shell", "expected"),
    [
        ("posix", "a==1 'b<2' 'it'\"'\"'s'"),
        ("powershell", "a==1 'b<2' 'it''s'"),
        ("cmd", 'a==1 "b<2" "it\'s"'),
    ],
)
def test_words_are_quoted_for_a_shell(shell: str, expected: str) -> None:
    """Each shell gets its own quotes, and words that need none have none."""
    assert quote(["a==1", "b<2", "it's"], shell) == expected


def test_wide_text_is_folded_and_commands_are_not() -> None:
    """Text folds between words, a name stays beside its version, and what stands in backticks stays whole."""
    lines = text_of(labelled("avoid", "see torch 2.8.0 and `compatkb doctor` " * 6)).splitlines()
    assert all(len(line) <= WIDTH for line in lines)
    assert not any(line.endswith(("torch", "`compatkb")) for line in lines)


def test_what_is_shown_of_a_stack_is_data(tmp_path: Path) -> None:
    """A driver that nobody here knows is shown under its label, on the screen and in JSON, where its file says so."""
    made = [release("2.0.0", builds=[build("2.0.0", channels=["default"])])]
    claims = [verified("torch==2.0.0", "npu-driver==1.2.0")]
    torch = product("torch", distribution="torch", import_name="torch", releases=made, claims=claims)
    driver = {"role": "dimension", "scheme": "dotted", "releases": ["1.2.0"], "rank": 550}
    for name in ("hidden", "shown"):
        (tmp_path / name).mkdir()
    hidden = universe(tmp_path / "hidden", [torch, product("npu-driver", **driver)])
    assert "1.2.0" not in answer_text(present(hidden, resolve(hidden, request(hidden, {"torch": "2.0.0"}))))
    shown = universe(tmp_path / "shown", [torch, product("npu-driver", shown=True, label="NPU driver", **driver)])
    answer = resolve(shown, request(shown, {"torch": "2.0.0"}))
    assert "requires       NPU driver 1.2.0\n" in answer_text(present(shown, answer))
    assert answer_payload(present(shown, answer))["stacks"][0]["software"]["npu driver"] == ["1.2.0"]
