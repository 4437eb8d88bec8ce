"""Help and errors: drawn on a terminal as wide as it is, plain through a pipe, without colours where those are not wanted."""

import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from conftest import Run, parted

from compatkb.cli.app import COMMANDS, CURATE, CURATING, LOOK_UP, PUBLISH, USER, examples, load
from compatkb.cli.terminal import Progress

COLOUR = re.compile(r"\x1b\[[\d;]*(?:3[0-7]|9[0-7]|38;)[\d;]*m")
CONTROL = re.compile(r"\x1b\[[\d;?]*[A-Za-z]")
CHOSEN = ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TERM")


def environment(**more: str) -> dict[str, str]:
    """Return our environment with nothing chosen about terminals but what is given."""
    return {name: value for name, value in os.environ.items() if name not in CHOSEN} | more


def piped(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command through a pipe."""
    command = [sys.executable, "-m", "compatkb", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment(**variables))


def drawn(*words: str, columns: int = 80, program: tuple[str, ...] = ("-m", "compatkb"), **variables: str) -> str:
    """Return what a command writes on a terminal of a width."""
    terminal, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    command = [sys.executable, *program, *words]
    child = subprocess.Popen(
        command, stdin=side, stdout=side, stderr=side, env=environment(**{"TERM": "xterm-256color", **variables})
    )
    os.close(side)
    seen = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        seen += part
    child.wait()
    os.close(terminal)
    return seen.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [60, pytest.param(80, marks=pytest.mark.long), pytest.param(120, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "words",
    parted([(), ("resolve",), ("docs",), ("web", "build")], [("resolve",)]),
    ids=lambda words: " ".join(words) or "all",
)
def test_help_fits(words: tuple[str, ...], columns: int) -> None:
    """Help is no wider than the terminal, and uses its width; through a pipe COLUMNS says how wide."""
    plain = piped(*words, "--help", COLUMNS=str(columns))
    assert plain.returncode == 0
    rich = CONTROL.sub("", drawn(*words, "--help", columns=columns))
    for text in (plain.stdout, rich):
        assert max(map(len, text.splitlines())) <= columns
        assert "--color" in text
    assert max(map(len, rich.splitlines())) == columns


def test_commands_stand_in_panels() -> None:
    """Every command is listed below its panel, on a terminal and through a pipe; the panels are drawn on a terminal alone."""
    plain, rich = piped("--help").stdout, CONTROL.sub("", drawn("--help"))
    for text in (plain, rich):
        places = [text.index(panel) for panel in (USER, LOOK_UP, PUBLISH, CURATE)]
        assert places == sorted(places)
        for name, entry in COMMANDS.items():
            found = re.search(rf"^[│ ]+{name} +{entry.summary.split()[0]}", text, re.MULTILINE)
            assert found, name
            assert max(place for place in places if place < found.start()) == text.index(entry.panel)
    assert "╭" in rich
    assert not re.search("[╭│]", plain)


SOAK = pytest.mark.soak


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        pytest.param(("resolve", "--help"), marks=SOAK),
        pytest.param(("resolv",), marks=SOAK),
        ("resolve", "tourch"),
    ],
    ids=" ".join,
)
def test_colours_are_for_terminals(words: tuple[str, ...]) -> None:
    """A terminal gets colours, unless NO_COLOR or --color says not; a pipe gets no control sequence."""
    assert COLOUR.search(drawn(*words))
    assert not COLOUR.search(drawn(*words, NO_COLOR="1"))
    assert not COLOUR.search(drawn("--color", "never", *words))
    done = piped(*words)
    assert "\x1b" not in done.stdout + done.stderr


def test_colours_may_be_asked_for_through_a_pipe() -> None:
    """`--color always` or FORCE_COLOR give a pipe what a terminal gets; NO_COLOR counts more than FORCE_COLOR."""
    asked = ("resolve", "torch==2.8.0")
    assert COLOUR.search(piped(*asked, "--color", "always", NO_COLOR="1").stdout)
    assert COLOUR.search(piped(*asked, FORCE_COLOR="1").stdout)
    assert not COLOUR.search(piped(*asked, FORCE_COLOR="1", NO_COLOR="1").stdout)
    assert COLOUR.search(piped("--color=always", "resolve", "tourch").stderr)


@pytest.mark.long
def test_no_color_may_stand_after_the_command() -> None:
    """--no-color, as other programs have it, is --color never, an option of every command."""
    for words in (("list", "python"), ("docs", "check", "docs/README.md"), ("resolve", "torch==2.8.0")):
        assert not COLOUR.search(drawn(*words, "--no-color"))


def test_a_dumb_terminal_gets_plain_text() -> None:
    """Where a terminal cannot draw, help is as through a pipe."""
    assert not re.search("[╭│\x1b]", drawn("--help", TERM="dumb"))


@cache
def loaded(*words: str) -> frozenset[str]:
    """Return the modules that a command loads through a pipe."""
    code = (
        f"import sys\nfrom compatkb.cli import main\ntry: main({list(words)!r})\nexcept SystemExit: pass\n"
        "print(' '.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())
    return frozenset(done.stdout.splitlines()[-1].split())


@pytest.mark.long
def test_rich_is_loaded_for_terminals_alone() -> None:
    """Neither help nor an error nor an answer loads rich through a pipe."""
    for words in (("--help",), ("resolve", "--help"), ("resolv",), ("resolve", "torch==2.8.0")):
        assert "rich" not in loaded(*words)


@pytest.mark.long
def test_a_command_imports_its_own_module_alone() -> None:
    """Of the modules of commands only that of the command is loaded, and none for the list of them."""
    modules = {f"compatkb.cli.{entry.module}" for entry in COMMANDS.values()}
    asked: tuple[tuple[tuple[str, ...], set[str]], ...] = (
        (("--help",), set()),
        (("list", "python"), {"catalog"}),
        (("resolve", "torch==2.8.0"), set()),
        (("resolve", "torch==2.8.0", "--stack", "1"), {"ask"}),
    )
    for words, own in asked:
        assert loaded(*words) & modules == {f"compatkb.cli.{name}" for name in own}


def test_progress_through_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is said of short work; of long work how much is done, and the time left, every few seconds."""
    seconds = iter([0.0, 0.0, 0.5, 1.0, 4.0, 6.0, 7.0])
    with Progress(lambda: next(seconds)) as count:
        for done in range(1, 6):
            count("pages", done, 10)
    assert capsys.readouterr().err == "pages: 4 of 10, about 8 s left\n"


def test_progress_on_a_terminal() -> None:
    """Long work draws a bar, and takes it away at its end."""
    code = (
        "from compatkb.cli import terminal\nterminal.QUIET = 0.0\n"
        "with terminal.Progress() as count:\n    [count('pages', done, 3) for done in (1, 2)]\nprint('end')"
    )
    seen = drawn(program=("-c", code))
    assert re.search(r"pages.*2/3", CONTROL.sub("", seen))
    assert seen.rstrip().endswith("end")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_examples(name: str) -> None:
    """The help of each command begins with lines to paste, and the program takes each of them."""
    help_text = str(load(name).help)
    assert examples(name)
    for line in examples(name):
        assert line.partition("  ")[0] in help_text
        words = shlex.split(re.split(r" {2,}", line)[0].rpartition("compatkb ")[2])
        words = words[1:] if words[0] == "data" and words[1:2] and words[1] in CURATING else words
        command = load(words[0])
        command.make_context(words[0], words[1:], resilient_parsing=False)


def test_rare_options_are_behind_all() -> None:
    """`--help` of resolve shows what most need and how the rest is seen; `--help --all` shows every option."""
    short, whole = piped("resolve", "--help").stdout, piped("resolve", "--help", "--all").stdout
    assert "compatkb resolve --help --all" in short
    assert "--min-age" not in short
    assert "--min-age" in whole
    assert len(short) < len(whole)


def test_curators_commands_are_of_data(run: Callable[..., Run]) -> None:
    """What a curator runs stands after `data`, and alone."""
    listed = run("data", "--help").out
    assert all(re.search(rf"^  {name} ", listed, re.MULTILINE) for name in CURATING)
    assert run("data", "fmt", "--help").out == run("fmt", "--help").out


def test_quiet_and_verbose() -> None:
    """-q prints headline and commands; -v says on stderr which data were read; both stand on either side of the command."""
    for words in (("-q", "resolve", "torch==2.8", "cpu"), ("resolve", "torch==2.8", "cpu", "-q")):
        first, *rest = piped(*words).stdout.splitlines()
        assert first.startswith("✓ works")
        assert rest
        assert all(line.startswith("    ") for line in rest)
    assert "remark: data of " in piped("resolve", "torch==2.8", "cpu", "-v").stderr
    assert "remark: data of " not in piped("resolve", "torch==2.8", "cpu").stderr


PROFILE = '[tool.compatkb]\nmachine = "B580, ubuntu24.04, py3.12"\n'


def test_machine_profile(tmp_path: Path, run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """What the project's file names fills what a question leaves open, is said, and gives way to what is said."""
    (tmp_path / "pyproject.toml").write_text(PROFILE, encoding="utf-8")
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    done = run("resolve")
    assert " on B580, Ubuntu 24.04, Python 3.12" in done.out.splitlines()[0]
    assert "for the machine of" in done.err
    assert " on A770, Ubuntu 24.04, Python 3.11" in run("resolve", "A770", "py3.11").out.splitlines()[0]
    assert " on CPU" in run("resolve", "--device", "cpu").out.splitlines()[0]
    assert run("check").code == 0
    (tmp_path / "pyproject.toml").write_text(PROFILE.replace("B580", "B9580"), encoding="utf-8")
    wrong = run("resolve")
    assert (wrong.code, wrong.out) == (2, "")
    assert "'B9580' is no GPU, system or Python" in wrong.err


def test_machine_of_the_user(tmp_path: Path, run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one in the project the user's configuration counts; a file that is no TOML is refused."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "config.toml"
    monkeypatch.setenv("COMPATKB_CONFIG", str(config))
    config.write_text('machine = "windows11 py3.12"\n', encoding="utf-8")
    assert "Windows 11, Python 3.12" in run("resolve", "B580").out.splitlines()[0]
    config.write_text("machine = B580\n", encoding="utf-8")
    assert run("resolve").code == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_has_a_script_for_each_shell(shell: str, run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell can be taught to complete commands, options and the words that an option takes."""
    monkeypatch.setenv("_COMPATKB_COMPLETE", f"source_{shell}")
    done = run()
    assert done.code == 0
    assert "_COMPATKB_COMPLETE" in done.out
