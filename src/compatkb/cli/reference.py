"""The page docs/commands.md, made from the application: `python -m compatkb.cli.reference > docs/commands.md`."""

from collections.abc import Iterator
from typing import Any

from compatkb.cli.app import COMMANDS, CURATING, application, examples, load

PAGES = {
    "diagnose": "diagnose.md",
    "doctor": "doctor.md",
    "timeline": "regions.md",
    "check": "check.md",
    "migrate": "migration.md",
    "refresh": "refresh.md",
    "docs render": "regions.md",
    "docs check": "regions.md",
    "build": "json.md#exports",
    "export": "json.md#exports",
    "web build": "web.md",
    "web serve": "web.md",
    "lint": "lint.md",
    "validate": "validation.md",
}
"""The pages that say more of a command."""
HEAD = """# Commands and options

This page is made from the program (`python -m compatkb.cli.reference`); `compatkb COMMAND --help` prints the same.

A word of `resolve` or `explain` is a product (`torch`), a product at a version (`torch==2.8.0`, `'torch>=2.5,<2.7'`), a
feature (`torch.compile`), or where it runs: a GPU or CPU (`B580`), an operating system (`ubuntu24.04`), a Python (`py3.12`),
a device (`xpu`). Any product can be fixed by PRODUCT==V, those without an option too: `compatkb resolve torch numpy==1.26.4`.

With `--as-of 2025-03-31` an answer is that of the end of this day (UTC): later releases do not exist, later ends of life have
not come. Every command takes `--help` (`-h`), and `--color never` or the environment variable `NO_COLOR` for output without
colours. Results go to standard output, remarks and errors to standard error.

`compatkb --install-completion` teaches the shell (bash, zsh, fish or PowerShell) to complete commands, options, and the words
that an option takes.

| exit code | means |
|---|---|
| 0 | an answer, or no findings |
| 1 | does not work; or findings from `--fail-on` on |
| 2 | wrong usage |
| 3 | the data are invalid |
| 4 | a generated file is stale |
| 5 | something needed is unavailable: network, interpreter, disk |
| 6 | gave up within its budget |
| 7 | unknown: the data cannot tell; `--unknown ok` makes it 0 |
"""


def reference() -> str:
    """Return the page as Markdown."""
    root = application()
    parts = [HEAD, "## All commands\n", _table(root)]
    panel = None
    for name, entry in COMMANDS.items():
        if entry.panel != panel:
            panel = entry.panel
            parts.append(f"## {panel}\n")
        command = load(name)
        inner = getattr(command, "commands", {})
        prefix = "data " if name in CURATING else ""
        inner = {key: below for key, below in inner.items() if key not in CURATING}
        for words, each in [(f"{name} {key}", below) for key, below in inner.items()] or [(f"{prefix}{name}", command)]:
            parts.append(_section(words, each))
    return "\n".join(parts)


def _section(words: str, command: Any) -> str:
    arguments = [param.metavar for param in command.params if param.param_type_name == "argument"]
    page = f" [More]({PAGES[words.removeprefix('data ')]})." if words.removeprefix("data ") in PAGES else ""
    usage = " ".join(["compatkb", words, "[OPTIONS]", *arguments])
    about = command.help.partition("\n\n\b")[0]
    summary = about[:1].upper() + about[1:]
    known = examples(words.removeprefix("data ")) if words.removeprefix("data ") in COMMANDS else []
    shown = "\n".join([usage, *(["", *known] if known else [])])
    return f"### `compatkb {words}`\n\n{summary}.{page}\n\n```text\n{shown}\n```\n\n{_table(command)}"


def _table(command: Any) -> str:
    rows = ["| word or option | meaning |", "|---|---|", *_rows(command)]
    return "\n".join(rows) + "\n"


def _rows(command: Any) -> Iterator[str]:
    for param in command.params:
        text = (param.help or "").replace("|", "\\|")
        if param.param_type_name == "argument":
            word = param.metavar.replace("|", "\\|")
            yield f"| `{word}` | {text} |"
            continue
        names = ", ".join(f"`{name}`" for name in param.opts)
        words = param.metavar or ""
        taken = (
            " or ".join(f"`{word}`" for word in words.strip("[]").split("|")) if words.startswith("[") and "|" in words else ""
        )
        default = getattr(param.default, "value", param.default)
        is_shown = default not in (None, False, True, "", [], ())
        after = [f"one of {taken}" if taken else "", f"default: `{default}`" if is_shown else ""]
        more = "; ".join(filter(None, after))
        yield f"| {names} | {text}{f' ({more})' if more else ''} |"


if __name__ == "__main__":
    print(reference(), end="")
