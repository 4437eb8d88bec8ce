"""The options that several commands share, as types of their parameters."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args

import typer

from compatkb.errors import UsageError
from compatkb.headline_options import HEADLINES
from compatkb.output.registry import FORMS

Words = list[str] | None
"""What an option that is repeatable yields."""


def option(name: str, about: str, **more: Any) -> Any:
    """Return an option whose type tells its values: a switch, or one of several words."""
    return typer.Option(name, help=about, **more)


def value(name: str, metavar: str, about: str, **more: Any) -> Any:
    """Return an option that takes a value: what stands for the value in help, and what it is for."""
    return typer.Option(name, metavar=metavar, help=about, **more)


def word(metavar: str, about: str) -> Any:
    """Return an argument, likewise."""
    return typer.Argument(metavar=metavar, help=about)


def one_of(name: str, about: str, words: Sequence[str], **more: Any) -> Any:
    """Return an option whose value is one of some words."""

    def read(word: str) -> str:
        if word in words:
            return word
        raise typer.BadParameter(f"{word!r} is not one of {', '.join(words)}")

    return typer.Option(
        name, help=about, parser=read, autocompletion=lambda: words, **{"metavar": f"[{'|'.join(words)}]", **more}
    )


TextJson = Literal["text", "json"]
ShellName = Literal["posix", "powershell", "cmd"]
FailOk = Literal["fail", "ok"]
Format = Annotated[TextJson, one_of("--format", "form of the output", get_args(TextJson))]
AsOf = Annotated[str | None, value("--as-of", "DATE", "answer as of the end of this day, YYYY-MM-DD (default: today)")]
Data = Annotated[
    str | None,
    value("--data", "DIR", "use this data directory, or `builtin` for what came with the program (default: the newest here)"),
]
Product = Annotated[str, typer.Argument(metavar="PRODUCT")]
OptionalProduct = Annotated[str | None, word("PRODUCT", "a product (default: all)")]
Devices = Annotated[Words, value("--device", "NAME", "device to run on, such as xpu or cpu (default: any; repeatable)")]
Route = Annotated[
    str | None,
    value("--route", "ID", "only this kind of support for the device, such as native (default: any)"),
]
Needs = Annotated[
    Words,
    value("--needs", "FEATURE", "a feature that the stack must support, such as torch.compile (repeatable)"),
]
Why = Annotated[bool, option("--why", "also print sources, disputes, images and the full proof")]
All = Annotated[bool, option("--all", "also print every stack")]
Here = Annotated[bool, option("--here", "for this machine: its system, the Python of its active environment, its GPU")]
Redact = Annotated[bool, option("--redact", "leave out names of people and machines, home folders and secrets")]
Shell = Annotated[
    ShellName | None,
    one_of("--shell", "quote commands for this shell (default: that of this kind of machine)", get_args(ShellName)),
]
Unknown = Annotated[FailOk, one_of("--unknown", "whether the exit code of `unknown` is 7 (fail) or 0 (ok)", get_args(FailOk))]
Fix = Annotated[bool, option("--fix", "write the safe fixes, then report what is left")]
Diff = Annotated[bool, option("--diff", "print what --fix would write; exit 1 if there is anything")]


_MOST_NAMED = 7
"""Of more forms the names do not fit beside an option."""


def form(command: str, about: str = "form of the output") -> Any:
    """Return --format, which takes the forms that a command has."""
    names = tuple(FORMS[command])
    if len(names) <= _MOST_NAMED:
        return one_of("--format", about, names)
    return one_of("--format", f"{about}: {', '.join(names)}", names, metavar="FORM")


def days(text: str) -> int:
    """Return a span of one day or more in days, such as 30d or 2w; raises BadParameter."""
    from compatkb.request.parser import parse_days

    try:
        if span := parse_days(str(text)):
            return span
    except UsageError as error:
        raise typer.BadParameter(str(error)) from None
    raise typer.BadParameter(f"{text!r} is no day at all; name one or more, such as 90d")


def _pin(option: str) -> Any:
    """Return the headline option of that name."""
    _, others, _, text = next(row for row in HEADLINES if row[0] == option)
    is_machine = option in MACHINE
    return typer.Option(
        option,
        *others,
        metavar="V",
        help=text,
        rich_help_panel="Machine" if is_machine else "Versions",
    )


MACHINE = ("--python", "--os", "--arch", "--hardware", "--driver", "--oneapi")
"""The headline options that describe where the stack runs."""
Torch = Annotated[Words, _pin("--torch")]
Ipex = Annotated[Words, _pin("--ipex")]
Torchvision = Annotated[Words, _pin("--torchvision")]
Torchaudio = Annotated[Words, _pin("--torchaudio")]
TritonXpu = Annotated[Words, _pin("--triton-xpu")]
OneCcl = Annotated[Words, _pin("--oneccl-bind-pt")]
NeuralCompressor = Annotated[Words, _pin("--neural-compressor")]
Python = Annotated[Words, _pin("--python")]
System = Annotated[Words, _pin("--os")]
Arch = Annotated[Words, _pin("--arch")]
Hardware = Annotated[Words, _pin("--hardware")]
Driver = Annotated[Words, _pin("--driver")]
OneApi = Annotated[Words, _pin("--oneapi")]
MinAge = Annotated[
    int | None,
    value(
        "--min-age",
        "DAYS",
        "only what was uploaded at least so many days ago, such as 14d, as installers with a minimum release age see it",
        parser=days,
    ),
]
StackNumber = Annotated[int, value("--stack", "N", "which stack a file is for, as --all counts them")]
Indexes = Annotated[
    Words,
    value(
        "--index", "[CHANNEL=]URL", "where a pylock finds its files: asks this index, or the `default` one of pip (repeatable)"
    ),
]
