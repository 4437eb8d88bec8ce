"""A fresh environment with exact builds: wheels only, isolated from the user's configuration, removed afterwards."""

import contextlib
import fcntl
import glob
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from packaging.utils import canonicalize_name

from compatkb.schema import Outcome
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.indexes import addresses_of, index_error
from compatkb.validate.limits import Ended, find_uv, isolated, printed_version, run_limited, size_of
from compatkb.validate.messages import shortened, tidy
from compatkb.validate.proofs import listed_systems, pins_of, proofs, subjects


class RefusedError(Exception):
    """The environment could not be made; carries the outcome of the cell and why."""

    def __init__(self, outcome: Outcome, detail: str) -> None:
        super().__init__(detail)
        self.outcome, self.detail = outcome, detail


@dataclass
class VirtualEnvironment:
    """Where builds are installed, and how commands run there."""

    folder: Path  # removed afterwards
    base: str  # the interpreter that it was made from
    context: RunContext
    deadline: float
    tools: dict[str, str] = field(default_factory=dict)
    digest: str = ""
    cached: int = 0  # bytes of the shared cache when it began
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        """The virtual environment."""
        return self.folder / "env"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.root / "bin" / "python"

    def taken(self) -> int:
        """Return the bytes of the folder, and those that the shared cache has gained since the environment was begun."""
        return size_of(self.folder, self.context.cache) - self.cached

    def run(self, words: Sequence[str], **more: str) -> Ended:
        """Run a command in the folder, within what is left of the cell's time and within its disk."""
        left = max(0.1, self.deadline - time.monotonic())
        variables = isolated(self.folder, **self.variables, **more)
        return run_limited(words, self.folder, variables, left, self.context.megabytes, self.taken)

    def tidy(self, text: str) -> str:
        """Return a text of a command without this machine's paths."""
        hidden = ((str(self.folder) + "/", ""), (str(self.context.cache) + "/", ""), (str(self.context.data) + "/", ""))
        return tidy(text, (*hidden, (str(Path(self.base).parent.parent) + "/", "")))


def here(data: Path) -> str:
    """Return the platform of this machine as evidence names it: a system of data/products/os.toml and the architecture."""
    return f"{next(iter(_systems(data)))}-{platform.machine().lower()}"


def _systems(data: Path) -> list[str]:
    """Return this machine's system and the families that it belongs to, the narrowest first."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        release = {}
    families = listed_systems(data)
    systems, left = [], [release.get("ID", "") + release.get("VERSION_ID", ""), platform.system().lower()]
    while left:
        name = left.pop(0)
        if name in families and name not in systems:
            systems.append(name)
            left += families[name]
    return systems or [platform.system().lower()]


def reachable(cell: ValidationCell, context: RunContext) -> str:
    """Return why a cell cannot be tried on this machine, or nothing."""
    system, _, arch = cell.platform.rpartition("-")
    if system not in _systems(context.data) or arch != platform.machine().lower():
        return f"this machine is {here(context.data)}"
    device = next((d for d in proofs(context.data).device if d.id == cell.device), None)
    if device is None or (device.path and not glob.glob(device.path)):
        return f"this machine has no device {cell.device}"
    if cell.python not in context.interpreters:
        return f"no interpreter {cell.python} on this machine"
    return ""


@contextmanager
def environment(cell: ValidationCell, context: RunContext) -> Iterator[VirtualEnvironment]:
    """Make the environment of a cell, and remove it afterwards; raises RefusedError where there can be none."""
    if reason := reachable(cell, context) or index_error(cell, context):
        raise RefusedError(Outcome.NOT_CHECKED, reason)
    for path in (context.folder, context.cache):
        path.mkdir(parents=True, exist_ok=True)
    _sweep(context.folder)
    folder = Path(tempfile.mkdtemp(dir=context.folder, prefix="cell-"))
    lock = (folder / "locked").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    (folder / "locked").rename(folder / "lock")
    try:
        venv = VirtualEnvironment(folder, context.interpreters[cell.python], context, time.monotonic() + context.seconds)
        venv.cached = size_of(context.cache)
        venv.tools["glibc"] = platform.libc_ver()[1] or "none"
        if cell.platform != here(context.data):
            venv.tools["os"] = here(context.data)
        tool = None if context.use_pip_config else find_uv()
        (_install_uv if tool else _install_pip)(cell, venv, tool or sys.executable)
        yield venv
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def _sweep(folder: Path) -> None:
    """Remove what cells left behind whose process was killed; the folder of a living one is locked."""
    for path in folder.glob("cell-*/lock"):
        with contextlib.suppress(OSError), path.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path.parent, ignore_errors=True)


def _install_uv(cell: ValidationCell, venv: VirtualEnvironment, uv: str) -> None:
    """Resolve with the pins put in place of what metadata ask of them, then install exactly that."""
    venv.variables = {"UV_CACHE_DIR": str(venv.context.cache / "uv"), "UV_NO_CONFIG": "1", "UV_PYTHON_DOWNLOADS": "never"}
    venv.variables |= {"NO_COLOR": "1", "UV_NO_PROGRESS": "1", "UV_HTTP_RETRIES": "1"}
    venv.tools["uv"] = _version_of(venv, [uv, "--version"])
    _must(venv.run([uv, "venv", "--python", venv.base, str(venv.root)]), venv, cell)
    venv.tools["python"] = _version_of(venv, [str(venv.python), "--version"])
    pins, listed = venv.folder / "pins.txt", venv.folder / "listed.txt"
    pins.write_text("".join(f"{pin}\n" for pin in pins_of(venv.context.data, cell.packages)), encoding="utf-8")
    index = addresses_of(cell, venv.context).uv
    target = ["--python", str(venv.python), "--only-binary", ":all:"]
    shape = ["--no-header", "--no-annotate", "--generate-hashes", "-q", "-o", str(listed)]
    words = [uv, "pip", "compile", *target, *index, "--override", str(pins), *shape, str(pins)]
    _must(venv.run(words), venv, cell)
    text = listed.read_text(encoding="utf-8")
    venv.digest = sha256(text.encode()).hexdigest()
    _must(venv.run([uv, "pip", "install", *target, *index, "--no-deps", "--require-hashes", "-r", str(listed)]), venv, cell)


def _install_pip(cell: ValidationCell, venv: VirtualEnvironment, python: str) -> None:
    """Let pip install the pins; it refuses where metadata object."""
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    own: dict[str, str] = {}
    if venv.context.use_pip_config:  # for pip alone: what is imported afterwards finds an empty home
        own = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name == "HOME"}
    else:
        venv.variables = {"PIP_CONFIG_FILE": "/dev/null", "PIP_CACHE_DIR": str(venv.context.cache / "pip")}
    venv.tools["pip"] = _version_of(venv, [*pip, "--version"])
    _must(venv.run([venv.base, "-m", "venv", "--without-pip", str(venv.root)]), venv, cell)
    venv.tools["python"] = _version_of(venv, [str(venv.python), "--version"])
    report = venv.folder / "report.json"
    words = [*pip, "--python", str(venv.python), "install", "--only-binary=:all:", "--report", str(report)]
    words += [*addresses_of(cell, venv.context).pip, *pins_of(venv.context.data, cell.packages)]
    _must(venv.run(words, **own), venv, cell)
    venv.digest = sha256(report.read_bytes()).hexdigest()


def _version_of(venv: VirtualEnvironment, words: list[str]) -> str:
    return printed_version(venv.run(words).output)


UNREACHABLE = re.compile(
    r"error sending request|[Cc]ould not connect|timed out|[Tt]imeout|dns error|Connection|HTTP status|redirect|50[0-9] "
)
ABSENT = re.compile(
    r"no version of|not found in the (?:package registry|provided)|no wheels|No matching distribution|no usable wheels"
    r"|is available|Could not find a version"
)
CONFLICT = re.compile(r"No solution found|ResolutionImpossible|[Cc]onflict")


def _must(ended: Ended, venv: VirtualEnvironment, cell: ValidationCell) -> None:
    """Raise RefusedError unless a step of the installation succeeded."""
    if ended.ok:
        return
    text = venv.tidy(ended.output)
    lines = " ".join(" ".join(text.split()).split("hint:")[0].split())
    detail = shortened(f"installation: {ended.how}: {lines}")
    if ended.stopped or UNREACHABLE.search(text):
        raise RefusedError(Outcome.NOT_CHECKED, detail)
    pinned = "|".join(re.escape(name) for name, _ in cell.packages)
    if ABSENT.search(text) and re.search(rf"(?:{pinned})", text) and "depends on" not in text:
        raise RefusedError(Outcome.NOT_FOUND, detail)
    if CONFLICT.search(text):
        raise RefusedError(Outcome.CONFLICT, detail)
    raise RefusedError(Outcome.NOT_CHECKED, detail)


def modules_of(cell: ValidationCell, context: RunContext) -> list[tuple[str, str]]:
    """Return distribution and module of the packages of a cell that can be imported, in the order of their rank."""
    known = subjects(context.data)
    pairs = [(known[key], name) for name, _ in cell.packages if (key := str(canonicalize_name(name))) in known]
    return [(name, subject.module) for subject, name in sorted(pairs, key=lambda f: (f[0].rank, f[1])) if subject.module]
