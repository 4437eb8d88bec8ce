"""Completion in real shells, typed through a pseudo-terminal: commands, options and values from the snapshot."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run

from compatkb.store.cache import cache_directory

SHELLS = {
    "bash": ["bash", "--noprofile", "-i"],
    "zsh": ["zsh", "-i"],
    "fish": ["fish", "-i", "--private"],
}
PATIENCE = 60.0
"""Seconds after which a shell that has not run the line has failed."""
WRAPPER = """#!/bin/sh
[ -n "$_COMPATKB_COMPLETE" ] || printf '%s\\n' "$@" > "$HOME/typed.part"
[ -n "$_COMPATKB_COMPLETE" ] || mv "$HOME/typed.part" "$HOME/typed"
[ -n "$_COMPATKB_COMPLETE" ] || [ "$1" = --install-completion ] || exit 0
exec {python} -m compatkb "$@"
"""


@pytest.fixture(scope="module")
def shell(request: pytest.FixtureRequest) -> str:
    """Return a shell, where it is installed."""
    name: str = request.param
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    return name


@pytest.fixture(scope="module")
def home(shell: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment of a user who ran `compatkb --install-completion` in a shell."""
    tmp_path = tmp_path_factory.mktemp(shell)
    commands = tmp_path / "bin"
    commands.mkdir()
    wrapper = commands / "compatkb"
    wrapper.write_text(WRAPPER.format(python=sys.executable), encoding="utf-8")
    wrapper.chmod(0o755)
    (tmp_path / ".bashrc").write_text("", encoding="utf-8")
    (tmp_path / ".local/share/fish/generated_completions").mkdir(parents=True)  # else fish reads every manual page at once
    variables = {name: value for name, value in os.environ.items() if name not in ("PROMPT_COMMAND", "PS1")}
    variables |= {"HOME": str(tmp_path), "ZDOTDIR": str(tmp_path), "TERM": "xterm", "INPUTRC": "/dev/null"}
    variables |= {"PATH": f"{commands}{os.pathsep}{os.environ['PATH']}", "XDG_CONFIG_HOME": str(tmp_path / ".config")}
    variables["COMPATKB_CACHE"] = cache_directory()
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [shell, "-c", f"compatkb --install-completion; exit {'$status' if shell == 'fish' else '$?'}"],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (tmp_path / "typed").unlink()
    return variables


def typed(shell: str, home: dict[str, str], line: str) -> list[str]:
    """Return the words that the command got, after a line with tabulators was typed into a shell, and Enter."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(SHELLS[shell][0], SHELLS[shell], home)
    file = Path(home["HOME"]) / "typed"
    file.unlink(missing_ok=True)
    seen = b""
    end = time.monotonic() + PATIENCE
    loading = "compatkb \t\x15" if shell == "zsh" else ""  # it reads the script first, and completes then
    rest = loading + line + "\r"
    quiet = 0.0
    try:
        while not file.exists():
            assert time.monotonic() < end, seen.decode(errors="replace")
            ready, _, _ = select.select([terminal], [], [], 0.2)
            if ready:
                seen += os.read(terminal, 65536)
                quiet = 0.0
            elif (quiet := quiet + 0.2) > 0.5 and seen and rest:  # the shell waits for keys
                part = rest[: rest.find("\t") + 1] or rest
                os.write(terminal, part.encode())
                rest = rest[len(part) :]
        return file.read_text(encoding="utf-8").splitlines()
    finally:
        os.close(terminal)
        os.kill(child, 9)
        os.waitpid(child, 0)


LINES = {
    "command-option-device": ("compatkb reso\t--dev\tx\t", ["resolve", "--device", "xpu"]),
    "system": ("compatkb resolve --os ubuntu24.0\t", ["resolve", "--os", "ubuntu24.04"]),
    "hardware": ("compatkb resolve --hardware lunar\t", ["resolve", "--hardware", "lunar-lake"]),
    "hardware-by-its-product": ("compatkb resolve b58\t", ["resolve", "b580"]),
    "feature": ("compatkb resolve --needs torch.comp\t", ["resolve", "--needs", "torch.compile"]),
    "product-and-version": ("compatkb show neural\t3.3\t", ["show", "neural-compressor", "3.3"]),
    "pin": ("compatkb explain torchserve==0.9\t", ["explain", "torchserve==0.9.0"]),
    "pin-from-its-start": ("compatkb resolve mlperf==\t", ["resolve", "mlperf==inference-4.1"]),
    "pin-and-system": ("compatkb resolve torch==2.15\tubuntu24.0\t", ["resolve", "torch==2.15.0", "ubuntu24.04"]),
    "form": ("compatkb check --format sa\t", ["check", "--format", "sarif"]),
}
QUICK = {
    "bash": ("command-option-device", "pin-from-its-start"),  # which parts words at `=` and `:` by itself
    "zsh": ("command-option-device",),
    "fish": ("product-and-version",),
}
"""What every run types into each shell; the values themselves are asked for in `test_commands.py`."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("shell", "line", "words"),
    [
        pytest.param(shell, *typed, id=f"{shell}-{name}", marks=() if name in QUICK[shell] else pytest.mark.soak)
        for shell in SHELLS
        for name, typed in LINES.items()
    ],
    indirect=["shell"],
    scope="module",
)
def test_shell_completes(shell: str, home: dict[str, str], line: str, words: list[str]) -> None:
    """After `compatkb --install-completion` a shell completes commands, options, and values of the data."""
    assert typed(shell, home, line) == words


@pytest.mark.parametrize("name", SHELLS)
def test_script_is_printed(name: str, run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """The script of each shell can be had without installing it."""
    monkeypatch.setenv("_COMPATKB_COMPLETE", f"source_{name}")
    done = run()
    assert done.code == 0
    assert "_COMPATKB_COMPLETE" in done.out
