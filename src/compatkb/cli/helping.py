"""The commands for those whose machine fails: diagnose."""

import argparse
import sys
from pathlib import Path

from compatkb.cli.commands import open_facts
from compatkb.errors import UsageError


def diagnose(arguments: argparse.Namespace) -> int:
    """Say what may be behind an error that a program printed; 0 where a cause is named, else 1."""
    from compatkb.diagnosing import diagnose as look
    from compatkb.pasted import decode, shorten
    from compatkb.rendering.diagnosis import diagnosis_json, diagnosis_text

    content, left = shorten(read_input(arguments.file))
    if left:
        print(f"remark: {left} bytes in the middle of the text are left out", file=sys.stderr)
    text = decode(content)
    if not text.strip():
        raise UsageError("there is no text; paste what the program printed, or name a file")
    facts, day = open_facts(arguments)
    made = look(facts, text, day)
    show = diagnosis_json if arguments.format == "json" else diagnosis_text
    print(show(facts, made, day), end="")
    return 0 if made.candidates else 1


def read_input(name: str) -> bytes:
    """Return the content of a file, or of standard input for `-`; raises UsageError."""
    if name == "-":
        if sys.stdin.isatty():
            print("remark: paste the text, then end it with Ctrl-D (Ctrl-Z and Enter on Windows)", file=sys.stderr)
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{name}: cannot be read: {reason}") from None
