"""Plain questions without Typer, which takes longer to import than an answer: their words, read by a table of options.

Whatever is not plain (completion, what is misspelt, missing or given twice) is left to Typer, which knows more; a test
holds that both read the same from what both read. The help of the program is kept as Typer writes it, for the usual width.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from compatkb.core.record import NamedTuple
from compatkb.headline_options import HEADLINES
from compatkb.output.registry import FORMS

COMMANDS = ("resolve", "explain")
"""The commands whose words are read here; `answering.answer` takes what they mean."""


class PlainOption(NamedTuple):
    """An option: the parameter that it sets, whether it is repeatable, its value where it takes none, its words."""

    name: str
    many: bool = False
    const: object = None
    words: tuple[str, ...] = ()


OPTIONS = {
    **{
        spelling: PlainOption(option[2:].replace("-", "_"), many=True)
        for option, others, _, _ in HEADLINES
        for spelling in (option, *others)
    },
    "--device": PlainOption("device", many=True),
    "--route": PlainOption("route"),
    "--needs": PlainOption("needs", many=True),
    "--here": PlainOption("here", const=True),
    "--why": PlainOption("why", const=True),
    "--all": PlainOption("everything", const=True),
    "--shell": PlainOption("shell", words=("posix", "powershell", "cmd")),
    "--format": PlainOption("form", words=tuple(FORMS["resolve"])),
    "--index": PlainOption("index", many=True),
    "--unknown": PlainOption("unknown", words=("fail", "ok")),
    "--as-of": PlainOption("as_of"),
    "--data": PlainOption("data"),
}
DEFAULTS: Mapping[str, Any] = {
    "words": (),
    **{option.name: () if option.many else False if option.const else None for option in OPTIONS.values()},
    "form": "text",
    "stack": 1,
    "min_age": None,
    "unknown": "fail",
}
"""What the parameters are that no option sets."""
HELP, USUAL = "help.txt", 80
"""The file beside this that has the help of the program as Typer writes it, plain and so many columns wide."""


def plain_help(argv: Sequence[str]) -> str | None:
    """Return the help of the program where its words ask for that alone; None where Typer has to write it."""
    if list(argv) not in ([], ["help"], ["--help"], ["-h"]) or "_COMPATKB_COMPLETE" in os.environ:
        return None
    from pathlib import Path
    from shutil import get_terminal_size

    from compatkb.cli.terminal import help_markup

    if get_terminal_size().columns != USUAL or help_markup():
        return None
    return Path(__file__).with_name(HELP).read_text(encoding="utf-8")


def read_plain(argv: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
    """Return the command and its parameters, by name, that plain words mean; None where Typer has to read them."""
    if not argv or argv[0] not in COMMANDS or "_COMPATKB_COMPLETE" in os.environ:
        return None
    given: dict[str, Any] = {}
    rest = iter(argv[1:])
    for word in rest:
        if not word.startswith("-"):
            given["words"] = (*given.get("words", ()), word)
            continue
        spelling, equals, value = word.partition("=")
        option = OPTIONS.get(spelling)
        if option is None or (option.name in given and not option.many) or (option.const and equals):
            return None
        if option.const:
            given[option.name] = option.const
            continue
        value = value if equals else next(rest, "-")
        if (value.startswith("-") and not equals) or (option.words and value not in option.words):
            return None
        if option.many:
            given[option.name] = (*given.get(option.name, ()), value)
        else:
            given[option.name] = value
    return argv[0], {**DEFAULTS, **given}
