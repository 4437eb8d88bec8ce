"""The level `gate`: a release's own version check, run alone beside a stand-in that has only a version.

It is evidence of the check that was shipped, and of nothing else: neither that the builds fit, nor that they do not.
"""

import json
import math
import sys
import tempfile
import time
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from packaging.tags import compatible_tags, cpython_tags, platform_tags
from packaging.utils import parse_wheel_filename
from packaging.version import Version

from compatkb.errors import NotListedError, UnavailableError
from compatkb.refresh.index_client import Limits, Network
from compatkb.refresh.listing import DistributionFile
from compatkb.schema import Observation, Outcome
from compatkb.schema.proofs import Gate
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.environment import VirtualEnvironment, reachable
from compatkb.validate.importing import Trial
from compatkb.validate.index_urls import LINKS, channel_of
from compatkb.validate.messages import decisive, shortened, tidy
from compatkb.validate.proofs import gate_of, subjects_of

STAND_IN = Path(__file__).with_name("import_stub.py")


def check(cell: ValidationCell, context: RunContext) -> Observation:
    """Take the version check of a release out of its wheel, run it beside a stand-in, and return what it said."""
    builds = subjects_of(context.data, cell.packages)
    pair = next(
        (
            (name, version, subject, gate, other)
            for name, version, subject in builds
            if (gate := gate_of(context.data, subject.product))
            for other in builds
            if other[2].product == gate.against
        ),
        None,
    )
    if pair is None:
        return cell.observed(
            Outcome.NOT_CHECKED, context.today, "no package of this cell is known to check the version of another"
        )
    name, version, subject, gate, (_, against, other) = pair
    if reason := reachable(cell, context):
        return cell.observed(Outcome.NOT_CHECKED, context.today, reason)
    style, index = channel_of(context, cell.index)
    arch = cell.platform.rpartition("-")[2]
    try:
        file, members = _taken(index, style == LINKS, name, version, cell.python, arch, str(subject.module), gate)
    except NotListedError as error:
        return cell.observed(Outcome.NOT_FOUND, context.today, str(error))
    except UnavailableError as error:
        text = f"the wheel of {name} {version} could not be read: {error}"
        return cell.observed(Outcome.NOT_CHECKED, context.today, shortened(" ".join(tidy(text).split())))
    return _judged(cell, context, gate, dict(members), file, str(subject.module), (str(other.module), against))


@lru_cache(maxsize=64)
def _taken(
    index: str | None, flat: bool, name: str, version: str, python: str, arch: str, module: str, gate: Gate
) -> tuple[str, tuple[tuple[str, bytes], ...]]:
    network = Network(index, Limits(run=math.inf), flat=flat)
    wheel = _fitting(network.page(name, strict=False).files, f"{name} {version}", _tags(python, arch))
    members = network.members(wheel, [f"{module}/{file}" for file in gate.files])
    return wheel.entry.name, tuple(sorted(members.items()))


def _fitting(files: Iterable[DistributionFile], pinned: str, tags: list[str]) -> DistributionFile:
    """Return the wheel of a version that fits one of the tags best, the first being best; raises NotListedError."""
    order = {tag: number for number, tag in enumerate(tags)}
    fitting = []
    for file in files:
        if file.is_wheel and file.version == Version(pinned.partition(" ")[2]):
            ranks = [order[str(tag)] for tag in parse_wheel_filename(file.entry.name)[3] if str(tag) in order]
            fitting += [(min(ranks), file.entry.name, file)] if ranks else []
    if not fitting:
        raise NotListedError(f"no wheel of {pinned} for this interpreter")
    return min(fitting, key=lambda candidate: candidate[:2])[2]


def _tags(python: str, arch: str) -> list[str]:
    """Return the wheel tags that a CPython of that minor takes on this machine, best first."""
    minor = tuple(int(part) for part in python.rstrip("t").split("."))
    platforms = [tag for tag in platform_tags() if sys.platform in tag and tag.endswith(arch)]
    return [str(tag) for tag in (*cpython_tags(minor, platforms=platforms), *compatible_tags(minor, platforms=platforms))]


def _judged(
    cell: ValidationCell,
    context: RunContext,
    gate: Gate,
    members: dict[str, bytes],
    file: str,
    module: str,
    stand_in: tuple[str, str],
) -> Observation:
    """Run the members and return what they said of the version."""
    head = members.get(f"{module}/__init__.py", b"").decode(errors="replace")
    lines = [number for number, line in enumerate(head.splitlines(), 1) if gate.rejects in line]
    digest = sha256(b"".join(name.encode() + b"\0" + body for name, body in sorted(members.items()))).hexdigest()
    if not lines:
        return cell.observed(
            Outcome.NOT_CHECKED, context.today, f"{file}: no version check is in {module}/__init__.py", digest=digest
        )
    context.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=context.folder, prefix="gate-") as name:
        folder = Path(name)
        for path, body in members.items():
            target = folder / "taken" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(body)
        venv = VirtualEnvironment(
            folder, context.interpreters[cell.python], context, time.monotonic() + min(context.seconds, 60)
        )
        venv.tools["python"] = venv.run([venv.base, "-c", "import platform; print(platform.python_version())"]).output.strip()
        result = folder / "result.jsonl"
        words = [venv.base, "-I", "-u", "-B", str(STAND_IN), str(result), str(folder / "taken"), module, *stand_in]
        ended = venv.run(words)
        text = result.read_text(encoding="utf-8", errors="replace") if result.is_file() else ""
        trial = Trial(tuple(json.loads(line) for line in text.splitlines()), ended)
        message = decisive(venv.tidy(ended.output))
    more = {"tools": venv.tools, "digest": digest}
    if gate.rejects in " ".join(ended.output.split()):
        return cell.observed(Outcome.FAILED_IMPORT, context.today, f"{_how(trial)}: {message}", **more)
    reached = max((fact["line"] for fact in trial.all("line")), default=0)
    if trial.all("done") or reached > max(lines):
        return cell.observed(Outcome.OK, context.today, f"the check in {file} lets {stand_in[0]} {stand_in[1]} pass", **more)
    return cell.observed(
        Outcome.NOT_CHECKED, context.today, f"{file}: the check was not reached: {_how(trial)}: {message}", **more
    )


def _how(trial: Trial) -> str:
    failed = trial.all("failed")
    code = failed[-1].get("code") if failed else None
    return f"exit status {code}" if code is not None else f"{failed[-1]['failed']}" if failed else trial.ended.how
