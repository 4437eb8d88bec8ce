"""uv as a second opinion, independent of pip: it resolves for other platforms and Pythons than this machine's too."""

from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from compatkb.core.platforms import uv_platform
from compatkb.schema import Observation, Outcome
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.indexes import addresses_of, index_error, metadata_error, refusal
from compatkb.validate.limits import find_uv, isolated, run_limited, version_of
from compatkb.validate.messages import tidy
from compatkb.validate.targets import NEWEST_MACOS


def check(cell: ValidationCell, context: RunContext) -> Observation:
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
