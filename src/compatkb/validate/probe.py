"""Runs inside the environment on trial, with its interpreter (3.6 or newer) and nothing of ours: imports, or a workload.

python probe.py RESULT import MODULE...      one line of JSON per module begun, done or failed
python probe.py RESULT run SCRIPT FEATURE... the script sees `check`, `skip` and `features`
"""

import json
import runpy
import sys

LONG = 2000


def main(result, what, *words):  # type: ignore[no-untyped-def]  # annotations of today would not parse there
    """Do it, and write what happened to the file RESULT as it happens."""
    with open(result, "a", encoding="utf-8") as file:

        def say(**fact):  # type: ignore[no-untyped-def]
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
                say(begun=words[0])
                run(words[0], words[1:], say)
                say(done=words[0])
        except BaseException as error:
            code = error.code if isinstance(error, SystemExit) else None
            say(failed=type(error).__name__, message=str(error)[:LONG], code=code)
            if isinstance(error, SystemExit):
                raise
            import traceback

            traceback.print_exc()
            return 1
    return 0


def installed():  # type: ignore[no-untyped-def]
    """Return the version of each distribution that is there, as its metadata say."""
    try:
        from importlib.metadata import distributions
    except ImportError:
        return {}
    return {str(d.metadata["Name"]): d.version for d in distributions()}


def run(script, features, say):  # type: ignore[no-untyped-def]
    """Run a workload; it calls `check` for each number that it compares, and `skip` for what cannot be tried here."""

    def check(name, got, wanted, tolerance=0.0):  # type: ignore[no-untyped-def]
        difference = abs(got - wanted)
        error = float(difference.max()) if hasattr(difference, "max") else float(difference)
        scale = abs(wanted)
        scale = float(scale.max()) if hasattr(scale, "max") else float(scale)
        say(check=name, ok=error <= tolerance * max(scale, 1.0), error=error, tolerance=tolerance)

    def skip(name, reason):  # type: ignore[no-untyped-def]
        say(skipped=name, reason=str(reason)[:LONG])

    def note(name, value):  # type: ignore[no-untyped-def]
        say(note=name, value=str(value)[:LONG])

    given = {"check": check, "skip": skip, "note": note, "features": frozenset(features)}
    runpy.run_path(script, init_globals=given, run_name="__workload__")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
