"""Reads the packages of an interpreter in a process of its own, without importing any of them."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compatkb.core.names import normal
from compatkb.core.record import NamedTuple
from compatkb.doctor.machine import Installed, Machine
from compatkb.doctor.machine.system import architecture
from compatkb.errors import UnavailableError

_SECONDS = 60
_OF_TOOLS = ("pipx_metadata.json", "uv-receipt.toml")  # what pipx and uv leave in the environment of a tool
_MOST = 32_000_000

_PROBE = r"""
import sys
sys.path[:] = [place for place in sys.path if place]
import importlib.machinery, json, os, platform, sysconfig
from importlib import metadata
modules = json.loads(sys.argv[1])
found = []
for held in metadata.distributions():
    try:
        name = held.metadata["Name"]
    except Exception:
        name = None
    try:
        version = held.metadata["Version"]
    except Exception:
        version = None
    try:
        installer = (held.read_text("INSTALLER") or "").strip()
    except Exception:
        installer = ""
    found.append([name, version, str(getattr(held, "_path", "")), installer])
packages = {}
for module in modules:
    try:
        spec = importlib.machinery.PathFinder.find_spec(module)
    except Exception:
        spec = None
    places = list(spec.submodule_search_locations or []) if spec else []
    text = ""
    for place in places[:1]:
        for name in ("version.py", "_version.py"):
            try:
                with open(os.path.join(place, name), encoding="utf-8", errors="replace") as file:
                    text = text or file.read(8000)
            except OSError:
                pass
    packages[module] = [bool(spec and spec.origin), text]
json.dump({
    "version": list(sys.version_info[:3]), "implementation": sys.implementation.name,
    "threads": bool(sysconfig.get_config_var("Py_GIL_DISABLED")), "platform": sys.platform,
    "machine": platform.machine(), "kernel": platform.release(), "libc": list(platform.libc_ver()),
    "prefix": sys.prefix, "found": found, "packages": packages,
}, sys.stdout)
"""


def read_interpreter(python: str, modules: Mapping[str, str]) -> Machine:
    """Return what an interpreter has; `modules` are import names by distribution. Raises UnavailableError if it cannot run."""
    info = _ask(python, sorted(set(modules.values())))
    numbers = info["version"]
    free_threaded = "t" if info["threads"] else ""
    packages = info["packages"]
    installed = []
    for name, version, path, installer in info["found"]:
        metadata = Path(path)
        shown = name or re.split(r"-\d|\.dist-info|\.egg-info", metadata.name)[0] or "?"
        module = modules.get(normal(shown))
        there, text = packages.get(module, (None, ""))
        installed.append(Installed(shown, version, str(metadata), module, there, _written(text), installer or None))
    known = {item.module for item in installed if item.module}
    for name, module in modules.items():
        there, text = packages.get(module, (False, ""))
        if there and module not in known:
            known.add(module)
            installed.append(Installed(name, None, None, module, True, _written(text)))
    family = {"linux": "linux", "win32": "windows", "darwin": "macos"}.get(info["platform"], info["platform"])
    libc, version = (*info["libc"], "", "")[:2]
    other = f"this is {info['implementation']}, and the data speak of CPython"
    return Machine(
        origin=python,
        python=f"{numbers[0]}.{numbers[1]}{free_threaded}",
        system=family,
        kernel=info["kernel"],
        arch=architecture(info["machine"]),
        glibc=version if libc == "glibc" else None,
        packages=tuple(sorted(installed, key=lambda item: (normal(item.name), item.place or ""))),
        prefix=info["prefix"],
        command=python if python != sys.executable else "python",
        remarks=() if info["implementation"] == "cpython" else (other,),
        patch=f"{numbers[0]}.{numbers[1]}.{numbers[2]}{free_threaded}",
    )


def active(variables: Mapping[str, str], folder: Path) -> str:
    """Return the interpreter of the environment that is active, by the order of uv; else the one that the shell finds.

    `VIRTUAL_ENV`, then a conda environment that is not its base, then `.venv` in `folder` or nearest above it. A program that
    pipx or uvx installed runs in an environment of its own, which is not the one asked about.
    """
    places = [Path(named)] if (named := variables.get("VIRTUAL_ENV")) else []
    if (conda := variables.get("CONDA_PREFIX")) and variables.get("CONDA_DEFAULT_ENV") != "base":
        places.append(Path(conda))
    places += [above / ".venv" for above in (folder, *folder.parents) if (above / ".venv" / "pyvenv.cfg").is_file()][:1]
    interpreters = [place / name for place in places for name in ("bin/python", "Scripts/python.exe", "python.exe")]
    return next((str(interpreter) for interpreter in interpreters if interpreter.is_file()), None) or _of_path(variables)


def _of_path(variables: Mapping[str, str]) -> str:
    """Return the interpreter that runs this program; where that is the environment of an installed tool, the one on PATH."""
    prefix = Path(sys.prefix)
    if not (any((prefix / name).is_file() for name in _OF_TOOLS) or "archive-v0" in prefix.parts):
        return sys.executable
    own = {prefix / "bin", prefix / "Scripts"}
    places = [place for place in variables.get("PATH", "").split(os.pathsep) if place and Path(place) not in own]
    found = (shutil.which(name, path=os.pathsep.join(places)) for name in ("python3", "python"))
    return next(filter(None, found), sys.executable)


def run_program(python: str, program: str, *words: str, seconds: int = _SECONDS) -> subprocess.CompletedProcess[bytes]:
    """Return what a program printed in an interpreter; raises UnavailableError where that cannot run or hangs."""
    try:
        line = [python, "-c", program, *words]
        return subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UnavailableError(f"{python}: cannot be run: {reason}") from None
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"{python}: gave no answer within {seconds} s") from None


def _ask(python: str, modules: list[str]) -> dict[str, Any]:
    done = run_program(python, _PROBE, json.dumps(modules))
    content = done.stdout[:_MOST].decode("utf-8", errors="replace")
    try:
        info = json.loads(content[content.index('{"version"') :])  # a .pth file may print before
    except ValueError:
        last = done.stderr.decode("utf-8", errors="replace").strip().splitlines()[-1:]
        detail = f": {last[0]}" if last else ""
        raise UnavailableError(f"{python}: is no Python that can tell its packages (3.8 or newer){detail}") from None
    assert isinstance(info, dict)
    return info


def _written(text: str) -> str | None:
    match = re.search(r"^(?:__version__|version)\s*(?::\s*\w+\s*)?=\s*['\"]([^'\"\n]{1,60})['\"]", text or "", re.MULTILINE)
    return match[1] if match else None


_SECONDS = 300
_MOST = 1_000_000  # bytes of what it printed
_MARK = "compatkb-check"


class CheckRun(NamedTuple):
    """What the check of an installation printed: the version, whether the device can be used, and the text of a failure."""

    version: str | None = None  # none where the package cannot be imported
    usable: bool = False
    text: str = ""


def run_check(python: str, module: str, proof: str | None) -> CheckRun:
    """Return what `module` says of itself in an interpreter; `proof` is an expression that is true where its device is usable.

    Raises UnavailableError where the interpreter cannot be run or gives no answer in time.
    """
    program = f"import {module}; print('{_MARK}', {module}.__version__, bool({proof or True}))"
    done = run_program(python, program, seconds=_SECONDS)
    printed, failed = (part[-_MOST:].decode("utf-8", errors="replace") for part in (done.stdout, done.stderr))
    said = next((line.split() for line in reversed(printed.splitlines()) if line.startswith(_MARK)), [])
    if len(said) != 3 or done.returncode:
        ended = f"\nthe interpreter ended with exit code {done.returncode}" if done.returncode else ""
        return CheckRun(text=f"{failed}{ended}")
    return CheckRun(said[1], said[2] == "True", failed)
