"""The command line: one application, a module for each group of commands, errors printed in one place."""

import atexit
import gc
import io
import os
import re
import shlex
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from compatkb.errors import UNKNOWN, CompatkbError, DataError, ProblemsError, StaleError, UnavailableError, UsageError

MOST = 100  # problems that are printed: nobody reads more before mending some
_NOT_ONE_OF = r"(?s)'?(.*?)'? is not (?:one|any) of (.*)"
_LONGEST_COMMAND = 4
"""Words of which one may be a misspelt command; more are a sentence."""
_SUGGESTED = r"^[^'\n]*'(?P<wrong>[^'\n]+)'(?P<between>[^\n]*)\n  did you mean: (?P<meant>[^\n]+)\?(?=\n|$)"
_POSIX = ("fcntl", "resource")  # modules of the standard library that Windows lacks
TRACEBACK = "COMPATKB_TRACEBACK"
"""Has the place of an unexpected error printed, for those who mend it."""
_YOUNG = 100_000  # objects between two looks for garbage: what a command makes mostly lives until it ends


def main(argv: list[str] | None = None) -> None:
    """Run one command; the only place where an error becomes an exit code."""
    gc.set_threshold(_YOUNG)
    atexit.register(gc.freeze)  # all of it goes then: looking through it takes a tenth of what an answer takes
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal of another encoding shows less, and gets an answer
    raise SystemExit(_run(sys.argv[1:] if argv is None else argv))


def _run(argv: list[str]) -> int:
    from compatkb.cli.terminal import print_errors

    def refuse(problems: Sequence[str], code: int) -> int:
        problems = [_runnable(problems[0], argv)] if len(problems) == 1 else problems  # of several words each is still wrong
        print_errors(problems)
        if code != StaleError.exit_code and _wants(argv, "--format", "json"):  # what is stale was printed
            from compatkb.output.documents import refusal
            from compatkb.output.terminal import show

            show(refusal(problems, code))
            sys.stdout.flush()
        return 0 if code == UNKNOWN and _wants(argv, "--unknown", "ok") else code

    try:
        code = _answered(argv)
        sys.stdout.flush()
        return code
    except ProblemsError as error:
        more = len(error.problems) - MOST
        return refuse([*error.problems[:MOST], *([f"and {more} more"] if more > 0 else [])], error.exit_code)
    except CompatkbError as error:
        return refuse([str(error)], error.exit_code)
    except BrokenPipeError:  # the reader went away, as `| head` does
        drop_output()
        return 0
    except OSError as error:  # what is ours to explain was explained before: this is a full disk, or a device that fails
        if error.filename:
            return refuse([f"{error.strerror}: {error.filename}"], UnavailableError.exit_code)
        drop_output()
        print_errors([error.strerror or str(error)])
    except ModuleNotFoundError as error:
        if error.name not in _POSIX:
            return _unexpected(error)
        print_errors([f"this needs Linux or macOS: Python has no {error.name} on this system; on Windows, run it in WSL"])
    except MemoryError:
        print_errors(["not enough memory"])
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # the last resort: damaged data, else a fault of ours
        return _unexpected(error)
    return UnavailableError.exit_code


def _answered(argv: list[str]) -> int:
    """Run the command, by Typer but for the plainest; raises UsageError for what is wrong with its words."""
    from compatkb.cli.plain import plain_help, read_plain

    if plain := read_plain(argv):
        from compatkb.cli.answering import answer

        return answer(*plain)
    if text := plain_help(argv):
        from compatkb.output.terminal import show

        show(text)
        return 0
    if argv in (["--version"], ["-V"], ["version"]):
        from compatkb.cli.opening import version_text
        from compatkb.output.terminal import show

        show(version_text())
        return 0
    from typer import Abort, TyperException

    from compatkb.cli.app import application

    try:
        app, words = application(), _as_option(argv)
        app.shows_all = {"--all"} < set(words) and bool({"--help", "-h"} & set(words))
        words = [word for word in words if word != "--all"] if app.shows_all else words
        return app.main(words, prog_name="compatkb", standalone_mode=False) or 0
    except TyperException as error:
        problem = describe(error)
        is_misspelt = "did you mean" in problem and len(" ".join(argv).split()) <= _LONGEST_COMMAND
        if problem.startswith("unknown command") and not is_misspelt:
            meant, is_whole = _meant(argv)
            if is_whole:
                from compatkb.cli.terminal import tell

                tell(f"remark: read as {shlex.join(['compatkb', *meant])}")
                return _answered(meant)
            if meant:
                problem = f"{problem.splitlines()[0]}\n  did you mean: {shlex.join(['compatkb', *meant])}"
        raise UsageError(problem) from None
    except Abort:
        raise KeyboardInterrupt from None


def _unexpected(error: Exception) -> int:
    """Tell in one line what nobody foresaw, and how to report it; a damaged store is removed, so that the next run heals."""
    from compatkb.cli.terminal import print_errors
    from compatkb.store.cache import remove_damaged
    from compatkb.store.connection import DatabaseError

    if os.environ.get(TRACEBACK):
        import traceback

        traceback.print_exc()
    if removed := remove_damaged():
        print_errors([f"{', '.join(removed)}: was damaged, so it was removed\n  run the command again"])
        return DataError.exit_code
    last = error.__traceback__
    while last and last.tb_next:
        last = last.tb_next
    place = f" in {last.tb_frame.f_globals.get('__name__')}:{last.tb_lineno}" if last else ""
    said = str(error).partition("\n")[0][:200]
    print_errors(
        [
            f"compatkb failed, which it should not: {type(error).__name__}{place}{said and f': {said}'}"
            "\n  report this line with the command and the output of `compatkb --version`; "
            f"{TRACEBACK}=1 prints where it happened"
        ]
    )
    return DataError.exit_code if isinstance(error, DatabaseError) else UnavailableError.exit_code


def _as_option(argv: list[str]) -> list[str]:
    """Return the words as the program reads them.

    `version`, `help [COMMAND]`, `update` and nothing at all are what people mean by them; `data lint` is `lint`. A kind of
    records is searched: `images vllm`, `list images`, `show vllm images`.
    """
    from compatkb.catalog.search import kind_of
    from compatkb.cli.app import COMMANDS, CURATING

    lead = int(argv[:1] in (["list"], ["show"]))
    if argv and (kind := next((word for word in argv[lead : 3 * lead or 1] if kind_of(word)), None)):
        said = [word for word in argv[lead:] if word != kind]
        command = {"product": "list"}.get(str(kind_of(kind)), f"{kind_of(kind)}s")
        return [command, *said] if command in COMMANDS else ["search", *said, kind]
    if argv[:1] == ["data"] and argv[1:2] and argv[1] in CURATING:
        return argv[1:]
    known = {"version": ["--version"], "help": [*argv[1:], "--help"], "update": ["data", "update"]}
    return known.get(argv[0], argv) if argv else ["--help"]


def _wants(argv: Sequence[str], option: str, value: str) -> bool:
    """Return whether the words of a command give an option a value; what is wrong with them need not be read for that."""
    return f"{option}={value}" in argv or any(pair == (option, value) for pair in pairwise(argv))


def _runnable(problem: str, argv: Sequence[str]) -> str:
    """Return a problem with the command that its first suggestion makes of the words of this one; the others below it."""
    told = re.search(_SUGGESTED, problem)
    wrong = told and min((n for n, w in enumerate(argv) if told["wrong"] in w), key=lambda n: len(argv[n]), default=None)
    if told is None or wrong is None:
        return problem
    first, *others = told["meant"].split(", ")
    before, word, after = argv[:wrong], argv[wrong], list(argv[wrong + 1 :])
    if first.endswith("==VERSION") and after and not after[0].startswith("-"):  # an option that there is no more than a pin of
        first = first.replace("VERSION", after.pop(0))
    command = shlex.join(["compatkb", *before, word.replace(told["wrong"], first, 1), *after])
    more = f"\n  or: {', '.join(others)}" if others else ""
    return f"{problem[: told.end('wrong') + 1]}{told['between']}\n  did you mean: {command}{more}{problem[told.end() :]}"


def drop_output() -> None:
    """Keep the interpreter from writing what is left at its end, which would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def describe(error: Any) -> str:
    """Return what is wrong with a command line, and on the next line what would be right or where it is described."""
    usage_error: Any = error  # the kinds of usage errors are known by what they carry: their classes are not public
    context = getattr(usage_error, "ctx", None)
    message, near = _sentence(usage_error, context)
    if near:
        return f"{message}\n  did you mean: {', '.join(near)}?"
    if getattr(usage_error, "option_name", None) and context and hasattr(context.command, "commands"):
        return f"{message}\n  options stand after the command: `compatkb COMMAND {usage_error.option_name}`"
    path = context.command_path if context else "compatkb"
    return f"{message}\n  see `{path} --help`"


def _sentence(error: Any, context: Any) -> tuple[str, list[str]]:
    """Return the sentence, and the right words that are close to the wrong one."""
    option = getattr(error, "option_name", None)
    if option and hasattr(error, "possibilities"):
        return f"unknown option {option!r}", _options_like(option, context)
    if option:
        return error.message[:1].lower() + error.message[1:].rstrip("."), []
    if (param := getattr(error, "param", None)) is not None:
        return _wrong_value(error, param)
    if command := re.fullmatch(r"No such command '(.*?)'\..*", error.message, re.DOTALL):
        return f"unknown command {command[1]!r}", _near(command[1], list(context.command.commands))
    if extra := re.fullmatch(r"Got unexpected extra argument\(?s?\)? \((.*)\)", error.message, re.DOTALL):
        return f"unexpected argument {extra[1]!r}", []
    text = error.format_message().rstrip(".")
    return text[:1].lower() + text[1:], []


def _wrong_value(error: Any, param: Any) -> tuple[str, list[str]]:
    name = param.opts[0] if param.param_type_name == "option" else param.metavar or param.name
    if hasattr(error, "param_type"):  # what is missing
        return f"missing {param.param_type_name} {name}", []
    if wrong := re.fullmatch(_NOT_ONE_OF, error.message.rstrip(".")):
        choices = wrong[2].replace("'", "").split(", ")
        expected = " or ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))
        return f"invalid value {wrong[1]!r} for {name}: expected {expected}", _near(wrong[1], choices)
    return f"invalid value for {name}: {error.message.rstrip('.')}", []


def _options_like(option: str, context: Any) -> list[str]:
    if any(param.name == "words" for param in context.command.params) and _is_product(option.lstrip("-")):
        return [f"{option.lstrip('-')}==VERSION"]
    known = [name for param in context.command.get_params(context) for name in param.opts if param.param_type_name == "option"]
    return [name for name in known if name.startswith(option)] or _near(option, known)


def _meant(argv: Sequence[str]) -> tuple[list[str], bool]:
    """Return the command that words without one may mean, and whether all of them are a question; empty for none.

    What is understood of `which pytorch for a750` is a question to `resolve`, the line of an error one to `diagnose`, and a
    sentence about a product that has ended one to `migrate`.
    """
    from compatkb.cli.opening import open_facts
    from compatkb.doctor.diagnose import diagnose
    from compatkb.request.typed import read_typed

    facts, clock = open_facts(None, None)
    typed = " ".join(argv)
    read = read_typed(facts, typed, clock)
    meant: list[str] = []
    pins = [aside.meant[0] for aside in read.aside if "==" in "".join(aside.meant[:1])]  # a version without its product
    if len(read.words) + len(pins) > len(read.aside) - len(pins):
        meant = ["resolve", *pins, *read.words]
    elif any((product := facts.product(word)) and product.id in facts.successors for word in typed.split()):
        meant = ["migrate", "."]
    elif diagnose(facts, typed, clock).candidates:
        meant = ["diagnose", typed]
    return meant, bool(read.words) and not read.aside and not any(word.startswith("-") for word in argv)


def _is_product(name: str) -> bool:
    from compatkb.cli.opening import open_data

    return open_data(None).product(name) is not None


def _near(word: str, known: list[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(word.partition("=")[0], known, n=3, cutoff=0.7)
