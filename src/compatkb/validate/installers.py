"""Asks real pip and uv whether pins resolve together: wheels only; reports are read and no wheel kept unless asked for.

uv is a second opinion, independent of pip: it resolves for other platforms and Pythons than this machine's too.
"""

import json
import os
import re
import threading
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from packaging.utils import canonicalize_name

from compatkb.core.platforms import uv_platform
from compatkb.schema import Observation, Outcome
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.indexes import addresses_of, index_error, metadata_error, refusal
from compatkb.validate.limits import Ended, find_uv, isolated, run_limited, size_of, version_of
from compatkb.validate.messages import tidy
from compatkb.validate.targets import NEWEST_MACOS, installer_platforms, this_platform

_tools: dict[str, tuple[str, str] | str] = {}
_locks: dict[str, threading.Lock] = {}
_lock = threading.Lock()


def check(cell: ValidationCell, context: RunContext) -> Observation:
    """Let pip resolve the pins of a cell, and return what it said."""
    if cell.platform != this_platform():
        reason = f"pip judges markers with the machine that runs it, and this one is {this_platform()}"
        return cell.observed(Outcome.NOT_CHECKED, context.today, reason)
    interpreter = context.interpreters.get(cell.python)
    if interpreter is None:
        return cell.observed(Outcome.NOT_CHECKED, context.today, f"no interpreter {cell.python} on this machine")
    tool = _tool(interpreter, cell.python, context)
    if isinstance(tool, str):
        return cell.observed(Outcome.NOT_CHECKED, context.today, tool)
    python, version = tool
    if reason := index_error(cell, context):
        return cell.observed(Outcome.NOT_CHECKED, context.today, reason)
    context.folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=context.folder, prefix="cell-") as name:
        folder = Path(name)
        ended = _run([python, "-m", "pip", *_words(cell, context, folder)], folder, context)
        return _observed(cell, context, ended, folder, {"pip": version, "python": version_of(python)})


def _words(cell: ValidationCell, context: RunContext, folder: Path) -> list[str]:
    general = ["--disable-pip-version-check", "--no-input", "--no-color", "--retries", "2"]
    general += [] if context.use_pip_config else ["--isolated"]
    how = ["install", "--dry-run", "--ignore-installed", "--target", str(folder / "target"), "--no-cache-dir"]
    how += ["--report", str(folder / "report.json"), "--quiet", "--use-feature=fast-deps"]
    target = ["--only-binary=:all:", "--implementation", "cp", "--python-version", cell.python]
    for tag in installer_platforms(cell.platform):
        target += ["--platform", tag]
    pins = [f"{name}=={version}" for name, version in cell.packages]
    return [*general, *how, *target, *addresses_of(cell, context).pip, *pins]


def _observed(cell: ValidationCell, context: RunContext, ended: Ended, folder: Path, tools: dict[str, str]) -> Observation:
    more: dict[str, Any] = {"tools": tools}
    if ended.stopped:
        return cell.observed(Outcome.NOT_CHECKED, context.today, f"pip: {ended.how}", **more)
    if ended.ok:
        report = _reported(folder / "report.json")
        if report is None:
            return cell.observed(Outcome.NOT_CHECKED, context.today, "pip wrote no report", **more)
        pins, yanked = report
        return cell.observed(Outcome.OK, context.today, yanked, digest=_digest(pins), **more)
    if "no such option" in ended.output:
        reason = f"pip {tools['pip']}, the newest for Python {cell.python}, cannot resolve without installing"
        return cell.observed(Outcome.NOT_CHECKED, context.today, reason, **more)
    outcome, message = refusal(cell, context, tidy(ended.output, ((str(folder) + "/", ""),)))
    return cell.observed(outcome, context.today, message, **more)


def _reported(path: Path) -> tuple[list[str], str] | None:
    """Return the pins of a report (PyPA installation report) and a remark on what is yanked."""
    try:
        items = json.loads(path.read_text(encoding="utf-8"))["install"]
        names = [(str(canonicalize_name(item["metadata"]["name"])), item["metadata"]["version"]) for item in items]
        yanked = sorted(f"{n} {v}" for (n, v), item in zip(names, items, strict=True) if item.get("is_yanked"))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return [f"{name}=={version}" for name, version in names], f"yanked: {', '.join(yanked)}" if yanked else ""


def _digest(lines: list[str]) -> str:
    return sha256("".join(f"{line}\n" for line in sorted(lines)).encode()).hexdigest()


def _tool(interpreter: str, minor: str, context: RunContext) -> tuple[str, str] | str:
    """Return the Python whose pip resolves for a minor, and that pip's version; or why there is none.

    The pip that comes with an interpreter may be too old to resolve from metadata alone, so a context that does not say
    otherwise gets the newest one, in an environment of its own.
    """
    root = context.cache / "tools" / f"{'pip' if context.newest_pip else 'own-pip'}-{minor}"
    with _lock:
        own = _locks.setdefault(str(root), threading.Lock())
    with own:
        if str(root) not in _tools:
            _tools[str(root)] = _made(interpreter, minor, root, context)
        return _tools[str(root)]


def _made(interpreter: str, minor: str, root: Path, context: RunContext) -> tuple[str, str] | str:
    root.parent.mkdir(parents=True, exist_ok=True)
    python = str(root / "bin" / "python") if context.newest_pip else interpreter
    with TemporaryDirectory(dir=root.parent) as name:
        folder = Path(name)
        if context.newest_pip and not (root / "ready").is_file():
            steps = [[interpreter, "-m", "venv", "--clear", str(root)]]
            steps.append([python, "-m", "pip", "--isolated", "--quiet", "install", "--only-binary=:all:", "--upgrade", "pip"])
            for step in steps:
                ended = _run(step, folder, context)
                if not ended.ok:
                    return f"no newer pip for Python {minor}: {ended.how}"
            (root / "ready").touch()
        ended = _run([python, "-m", "pip", "--isolated", "--version"], folder, context)
    match = re.search(r"pip (\d\S*)", ended.output)
    return (python, match[1]) if match else f"pip of Python {minor} does not start: {ended.how}"


def _run(words: list[str], folder: Path, context: RunContext) -> Ended:
    more = {"PIP_CONFIG_FILE": "/dev/null"}
    if context.use_pip_config:
        more = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "HOME"))}
    cache = context.cache / "pip"  # what a download leaves there counts too
    before = size_of(cache)
    environment = isolated(folder, **more)
    return run_limited(words, folder, environment, context.seconds, context.megabytes, lambda: size_of(folder, cache) - before)


def check_uv(cell: ValidationCell, context: RunContext) -> Observation:
    """Let uv resolve the pins of a cell, and return what it said."""
    platform, uv = uv_platform(*cell.platform.rsplit("-", 1)), find_uv()
    reason = ""
    if uv is None:
        reason = "uv is not installed; run: python -m pip install uv"
    elif platform is None:
        reason = f"uv has no word for {cell.platform}"
    elif not cell.python.replace(".", "").isdigit():
        reason = f"uv resolves for free-threaded Pythons with such an interpreter alone; {cell.python} was not asked"
    reason = reason or index_error(cell, context)
    if reason or uv is None:
        return cell.observed(Outcome.NOT_CHECKED, context.today, reason)
    context.folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=context.folder, prefix="cell-") as name:
        folder = Path(name)
        pins, out = folder / "pins.in", folder / "pins.out"
        pins.write_text("".join(f"{name}=={version}\n" for name, version in cell.packages), encoding="utf-8")
        words = [uv, "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--color", "never", "--only-binary", ":all:"]
        words += ["--python-version", _patch(cell.python, context), "--python-platform", str(platform)]
        words += ["--output-file", str(out)]
        words += addresses_of(cell, context).uv
        words += [] if context.use_pip_config else ["--no-config"]
        # the address of every question is new, so a cache would only grow
        more = {
            "MACOSX_DEPLOYMENT_TARGET": NEWEST_MACOS,
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_NO_PROGRESS": "1",
            "UV_HTTP_RETRIES": "1",
            "UV_CACHE_DIR": str(folder / "cache"),
        }
        ended = run_limited([*words, str(pins)], folder, {**isolated(folder), **more}, context.seconds, context.megabytes)
        seen: dict[str, Any] = {"tools": {"uv": version_of(uv)}}
        if reason := metadata_error(cell, context) if ended.ok else ended.stopped and f"uv: {ended.how}":
            return cell.observed(Outcome.NOT_CHECKED, context.today, reason, **seen)
        if ended.ok:
            digest = sha256(out.read_bytes()).hexdigest()
            return cell.observed(Outcome.OK, context.today, "", digest=digest, **seen)
        outcome, message = refusal(cell, context, tidy(ended.output, ((str(folder) + "/", ""),)))
        return cell.observed(outcome, context.today, message, **seen)


def _patch(minor: str, context: RunContext) -> str:
    """Return the version of the interpreter at hand for a minor: a bare minor means its first release to uv."""
    interpreter = context.interpreters.get(minor)
    return version_of(interpreter) if interpreter else minor
