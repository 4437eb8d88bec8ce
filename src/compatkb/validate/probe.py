"""Runs inside the environment on trial, with its interpreter and nothing of ours: imports, or a workload.

It keeps to what old interpreters can read.

python probe.py RESULT import MODULE...      one line of JSON per module begun, done or failed
python probe.py RESULT run FEATURES SCRIPT... each script sees `check`, `skip`, `note` and `features` (joined by commas)
"""

import json
import runpy
import sys
from typing import Any

LONG = 2000


def main(result: str, what: str, *words: str) -> int:
    """Do it, and write what happened to the file RESULT as it happens."""
    with open(result, "a", encoding="utf-8") as file:

        def say(**fact: Any) -> None:
            file.write(json.dumps(fact, default=str) + "\n")
            file.flush()

        say(installed=installed())
        try:
            if what == "import":
                for name in words:
                    say(begun=name)
                    module = __import__(name)
                    say(done=name, version=str(getattr(module, "__version__", ""))[:LONG])
            else:
                for script in words[1:]:
                    say(begun=script)
                    run(script, words[0].split(","), say)
                    say(done=script)
        except BaseException as error:
            code = error.code if isinstance(error, SystemExit) else None
            say(failed=type(error).__name__, message=str(error)[:LONG], code=code)
            if isinstance(error, SystemExit):
                raise
            import traceback

            traceback.print_exc()
            return 1
    return 0


def installed() -> Any:
    """Return the version of each distribution that is there, as its metadata say."""
    try:
        from importlib.metadata import distributions
    except ImportError:
        return {}
    return {str(d.metadata["Name"]): d.version for d in distributions()}


def run(script: str, features: Any, say: Any) -> None:
    """Run a workload; it calls `check` for each number that it compares, and `skip` for what cannot be tried here."""

    def check(name: str, got: Any, wanted: Any, tolerance: float = 0.0) -> None:
        difference = abs(got - wanted)
        error = float(difference.max()) if hasattr(difference, "max") else float(difference)
        scale = abs(wanted)
        scale = float(scale.max()) if hasattr(scale, "max") else float(scale)
        say(check=name, ok=error <= tolerance * max(scale, 1.0), error=error, tolerance=tolerance)

    def skip(name: str, reason: Any) -> None:
        say(skipped=name, reason=str(reason)[:LONG])

    def note(name: str, value: Any) -> None:
        say(note=name, value=str(value)[:LONG])

    given = {"check": check, "skip": skip, "note": note, "features": frozenset(features)}
    runpy.run_path(script, init_globals=given, run_name="__workload__")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
