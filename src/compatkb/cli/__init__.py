"""The command line: parses, calls one function, prints one rendering.

argparse, because a command that people wait for should not spend five interpreter starts on its own parser
(docs/architecture.md has the figures). The work is imported inside the commands.
"""

import os
import sys

from compatkb.errors import CompatkbError, ProblemsError


def main(argv: list[str] | None = None) -> None:
    """Run one command; the only place where an error becomes an exit code."""
    from compatkb.cli.parser import parse

    arguments = parse(sys.argv[1:] if argv is None else argv)
    try:
        code = arguments.run(arguments)
        sys.stdout.flush()
    except ProblemsError as error:
        for problem in error.problems:
            print(f"error: {problem}", file=sys.stderr)
        code = error.exit_code
    except CompatkbError as error:
        print(f"error: {error}", file=sys.stderr)
        code = error.exit_code
    except BrokenPipeError:  # the reader went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except KeyboardInterrupt:
        code = 130
    raise SystemExit(code)
