"""`verify` runs the user's own torch: a stand-in that can use its device, one that cannot, one that cannot be imported."""

import io
import json
import os
import sysconfig
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import wheel_file
from conftest import Run

WORKS = "class xpu:\n    is_available = staticmethod(lambda: {answer})\n"
BROKEN = "import os\nraise ImportError('libsycl.so.8: cannot open shared object file: No such file or directory')\n"


def environment(folder: Path, version: str, body: str) -> str:
    """Make an environment with a stand-in of torch as installers lay it down, and return its interpreter."""
    venv.create(folder / "venv", with_pip=False, symlinks=os.name != "nt")
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    _, content = wheel_file("torch", version, {"torch/__init__.py": f"__version__ = '{version}'\n{body}"})
    with zipfile.ZipFile(io.BytesIO(content)) as wheel:
        wheel.extractall(sysconfig.get_path("purelib", "venv", {"base": str(folder / "venv")}))
    return str(python)


@pytest.mark.parametrize(
    ("version", "body", "code", "says"),
    [
        ("2.14.0+xpu", WORKS.format(answer=True), 0, "verified torch 2.14.0+xpu runs on Intel GPU"),
        ("2.14.0+xpu", WORKS.format(answer=False), 1, "it can use no Intel GPU here"),
        ("2.14.0+xpu", BROKEN, 1, "cannot be imported"),
        ("2.14.0+cpu", "", 0, "verified torch 2.14.0+cpu runs on"),
        ("2.14.0+xpu", "import os; os._exit(3)", 1, "exit code 3"),
    ],
    ids=["works", "no GPU", "no library", "CPU", "it dies"],
)
def test_what_a_run_shows(run: Callable[..., Run], tmp_path: Path, version: str, body: str, code: int, says: str) -> None:
    """The run decides, and what it printed is told."""
    done = run("verify", "--python", environment(tmp_path, version, body))
    assert done.code == code
    assert says in " ".join(done.out.split())


def test_a_failed_import_is_diagnosed(run: Callable[..., Run], tmp_path: Path) -> None:
    """Where torch cannot be imported the text of the failure is diagnosed, as `diagnose` would."""
    done = run("verify", "--python", environment(tmp_path, "2.14.0+xpu", BROKEN))
    assert "libsycl" in done.out
    assert "fix" in done.out or "cause" in done.out


def test_the_environment_is_the_active_one(run: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an interpreter it is that of the active environment."""
    python = environment(tmp_path, "2.14.0+xpu", WORKS.format(answer=True))
    monkeypatch.setenv("VIRTUAL_ENV", str(Path(python).parents[1]))
    answer = json.loads(run("verify", "--format", "json").out)
    assert (answer["python"], answer["version"], answer["usable"]) == (python, "2.14.0+xpu", True)


def test_without_torch(run: Callable[..., Run], tmp_path: Path) -> None:
    """An environment without torch has nothing to run."""
    venv.create(tmp_path / "venv", with_pip=False, symlinks=os.name != "nt")
    python = tmp_path / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = run("verify", "--python", str(python))
    assert (done.code, done.out) == (2, "")
