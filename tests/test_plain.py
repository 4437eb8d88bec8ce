"""Plain questions are read as Typer reads them, or left to it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from conftest import parse
from hypothesis import given
from hypothesis import strategies as st

from compatkb.cli import plain
from compatkb.cli.app import application, load
from compatkb.cli.plain import COMMANDS, DEFAULTS, HELP, OPTIONS, USUAL, plain_help, read_plain

LEFT = {"--stack", "--min-age", "--help"}
"""Options that Typer alone reads: their values are no plain words."""


@pytest.mark.parametrize("command", COMMANDS)
def test_the_table_is_that_of_typer(command: str) -> None:
    """Each option of the command stands in it with all spellings, as it takes values, and nothing else does."""
    read: dict[str, tuple[Any, ...]] = {}
    params = [param for param in load(command).params if param.param_type_name == "option"]
    for param in params:
        metavar = (param.metavar or "").strip("[]")
        choices = tuple(metavar.split("|")) if "|" in metavar else OPTIONS["--format"].words if metavar == "FORM" else ()
        read |= dict.fromkeys(param.opts, (param.name, param.multiple, param.is_flag or None, choices))
    table = {name: (option.name, option.many, option.const, option.words) for name, option in OPTIONS.items()}
    assert {name: row for name, row in read.items() if name not in LEFT} == table
    asked = parse([command, "torch"])
    assert {name: value for name, value in asked.items() if name in DEFAULTS} == {**DEFAULTS, "words": ("torch",)}
    assert asked.keys() - DEFAULTS.keys() <= {"command"}


WORDS = st.sampled_from(
    [*OPTIONS, *(f"{name}=2.8" for name in OPTIONS), "torch", "torch==2.8.0", "2.8", "text", "json", "ok", "fail", "posix", "",
     "xpu", "a b", "--", "-", "-h", "--help", "--stack", "2", "--min-age", "14d", "--no-color", "--nonsense", "==2.8", "-V"]
)  # fmt: skip


@given(st.sampled_from([*COMMANDS, "list", "--version"]), st.lists(WORDS, max_size=6))
def test_what_is_read_here_is_what_typer_reads(command: str, words: list[str]) -> None:
    """Whatever the words: either they are left to Typer, or both read the same."""
    read = read_plain([command, *words])
    if read is None:
        return
    asked = parse([command, *words])
    assert read[0] == asked.pop("command") == command
    assert read[1] == {name: value for name, value in asked.items() if name in DEFAULTS}


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("list", "torch"),
        ("resolve", "--help"),
        ("resolve", "-h"),
        ("resolve", "--tarch", "2.8"),
        ("resolve", "--torch"),
        ("resolve", "--torch", "--why"),
        ("resolve", "--format", "xml"),
        ("resolve", "--why=yes"),
        ("resolve", "--as-of", "a", "--as-of", "b"),
        ("resolve", "--stack", "2"),
        ("resolve", "--", "torch"),
        ("--no-color", "resolve", "torch"),
    ],
)
def test_what_is_not_plain_is_left(words: tuple[str, ...]) -> None:
    """Help, what is misspelt, without its value, given twice or of another kind."""
    assert read_plain(words) is None


def test_completion_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell that asks for words is answered by Typer."""
    assert read_plain(("resolve", "torch"))
    monkeypatch.setenv("_COMPATKB_COMPLETE", "complete_bash")
    assert read_plain(("resolve", "torch")) is None


def test_the_help_kept_is_that_of_typer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """For the usual width, without colour; COMPATKB_UPDATE_GOLDEN=1 writes it anew. The rest is left to Typer."""
    monkeypatch.setenv("COLUMNS", str(USUAL))
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    kept = Path(plain.__file__).with_name(HELP)
    application().main(["--help"], prog_name="compatkb", standalone_mode=False)
    if os.environ.get("COMPATKB_UPDATE_GOLDEN"):
        kept.write_text(capsys.readouterr().out, encoding="utf-8")
    else:
        assert capsys.readouterr().out == kept.read_text(encoding="utf-8")
    for asked in ([], ["--help"], ["-h"], ["help"]):
        assert plain_help(asked) == kept.read_text(encoding="utf-8")
    for left in (["--help", "--all"], ["-h", "-q"], ["help", "resolve"], ["--help", ""]):
        assert plain_help(left) is None
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert plain_help(["--help"]) is None
    monkeypatch.delenv("FORCE_COLOR")
    monkeypatch.setenv("COLUMNS", "79")
    assert plain_help(["--help"]) is None


@pytest.mark.parametrize(
    "words", [("resolve", "--torch", "2.4", "--device", "xpu"), ("explain", "torch==2.8.0"), ("--version",), ("--help",)]
)
def test_plain_questions_import_no_typer(words: tuple[str, ...]) -> None:
    """Nor what it brings along."""
    code = (
        "import sys\nfrom compatkb.cli import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "print({'typer', 'inspect', 'dataclasses', 'rich', 'pydantic'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "set()"
    assert typer.__name__ not in done.stdout
