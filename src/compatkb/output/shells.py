"""Words as command lines, quoted for the shell that they are for."""

import re
import shlex
import sys
from collections.abc import Iterable

POSIX, POWERSHELL, CMD = SHELLS = ("posix", "powershell", "cmd")
"""The shells that commands are quoted for."""
_PLAIN = {POSIX: r"[\w@%+=:,./-]+", POWERSHELL: r"[\w%+=:./~-]+", CMD: r"[\w+=:./~@-]+"}
"""What needs no quotes; everything in it means the same in quotes and without."""


def quote(words: Iterable[str], shell: str = POSIX) -> str:
    """Return words as one command line for a shell; in cmd a percent sign and a variable's name stay a variable."""
    return " ".join(_quoted(word, shell) for word in words)


def _quoted(word: str, shell: str) -> str:
    if re.fullmatch(_PLAIN[shell], word, re.ASCII):
        return word
    if shell == POSIX:
        return shlex.quote(word)
    if shell == POWERSHELL:
        return "'" + word.replace("'", "''") + "'"
    return '"' + word.replace('"', '\\"') + '"'


def shell_here() -> str:
    """Return the shell that people on this kind of machine most likely use."""
    return POWERSHELL if sys.platform == "win32" else POSIX
