"""Runs the check of an installation: imports a package in its own interpreter and asks whether it can use the device.

This is the one place that imports a package of the user's, and only for the command that is there to do so.
"""

from compatkb.core.record import NamedTuple
from compatkb.doctor.machine.interpreter import run_program

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
