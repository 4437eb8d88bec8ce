"""The command line: parses, calls one function, prints one rendering.

argparse, because a command that people wait for should not spend five interpreter starts on its own parser
(docs/architecture.md has the figures). The work is imported inside the commands.
"""

import gc
import io
import os
import sys

from compatkb.errors import CompatkbError, ProblemsError, UnavailableError

MOST = 100  # problems that are printed: nobody reads more before mending some
_YOUNG = 10_000  # objects between two looks for garbage: what a command makes mostly lives until it ends


def main(argv: list[str] | None = None) -> None:
    """Run one command; the only place where an error becomes an exit code."""
    gc.set_threshold(_YOUNG)
    from compatkb.cli.parser import parse

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal of another encoding shows less, and gets an answer
    arguments = parse(sys.argv[1:] if argv is None else argv)
    try:
        code = arguments.run(arguments)
        sys.stdout.flush()
    except ProblemsError as error:
        for problem in error.problems[:MOST]:
            print(f"error: {problem}", file=sys.stderr)
        if len(error.problems) > MOST:
            print(f"error: and {len(error.problems) - MOST} more", file=sys.stderr)
        code = error.exit_code
    except CompatkbError as error:
        print(f"error: {error}", file=sys.stderr)
        code = error.exit_code
    except BrokenPipeError:  # the reader went away, as `| head` does
        _drop_output()
        code = 0
    except OSError as error:  # what is ours to explain was explained before: this is a full disk, or a device that fails
        _drop_output()
        print(f"error: {error.strerror or error}{f': {error.filename}' if error.filename else ''}", file=sys.stderr)
        code = UnavailableError.exit_code
    except MemoryError:
        print("error: not enough memory", file=sys.stderr)
        code = UnavailableError.exit_code
    except KeyboardInterrupt:
        code = 130
    raise SystemExit(code)


def _drop_output() -> None:
    """Keep the interpreter from writing what is left at its end, which would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
