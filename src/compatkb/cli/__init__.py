"""The command line: one application, a module for each group of commands, errors printed in one place."""

import atexit
import gc
import io
import os
import sys

from compatkb.errors import CompatkbError, ProblemsError, UnavailableError

MOST = 100  # problems that are printed: nobody reads more before mending some
_YOUNG = 100_000  # objects between two looks for garbage: what a command makes mostly lives until it ends


def main(argv: list[str] | None = None) -> None:
    """Run one command; the only place where an error becomes an exit code."""
    gc.set_threshold(_YOUNG)
    atexit.register(gc.freeze)  # all of it goes then: looking through it takes a tenth of what an answer takes
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal of another encoding shows less, and gets an answer
    raise SystemExit(_run(sys.argv[1:] if argv is None else argv))


def _run(argv: list[str]) -> int:
    from typer import Abort, TyperException

    from compatkb.cli.app import application
    from compatkb.cli.terminal import print_errors

    try:
        code: int | None = application().main(argv, prog_name="compatkb", standalone_mode=False)
        sys.stdout.flush()
        return code or 0
    except TyperException as error:
        from compatkb.cli.usage import describe

        print_errors([describe(error)])
        return 2
    except ProblemsError as error:
        more = len(error.problems) - MOST
        print_errors([*error.problems[:MOST], *([f"and {more} more"] if more > 0 else [])])
        return error.exit_code
    except CompatkbError as error:
        print_errors([str(error)])
        return error.exit_code
    except BrokenPipeError:  # the reader went away, as `| head` does
        drop_output()
        return 0
    except OSError as error:  # what is ours to explain was explained before: this is a full disk, or a device that fails
        drop_output()
        print_errors([f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"])
    except MemoryError:
        print_errors(["not enough memory"])
    except (KeyboardInterrupt, Abort):
        return 130
    return UnavailableError.exit_code


def drop_output() -> None:
    """Keep the interpreter from writing what is left at its end, which would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
