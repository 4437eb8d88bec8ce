"""Wrong usage as one sentence of ours, with the right word on a line of its own where one is close."""

import re
from typing import Any

from typer import TyperException

_NOT_ONE_OF = re.compile(r"'?(.*?)'? is not (?:one of|any of) .*", re.DOTALL)


def describe(error: TyperException) -> str:
    """Return what is wrong with a command line, and on the next line what would be right or where it is described."""
    usage_error: Any = error  # the kinds of usage errors are known by what they carry: their classes are not public
    context = getattr(usage_error, "ctx", None)
    message, near = _sentence(usage_error, context)
    if near:
        return f"{message}\n  did you mean: {', '.join(near)}?"
    if getattr(usage_error, "option_name", None) and hasattr(usage_error.ctx.command, "commands"):
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
    name = param.opts[0] if param.param_type_name == "option" else param.human_readable_name
    if hasattr(error, "param_type"):  # what is missing
        return f"missing {param.param_type_name} {name}", []
    choices = [str(choice) for choice in getattr(param.type, "choices", ())]
    if choices and (value := _NOT_ONE_OF.fullmatch(error.message)):
        expected = " or ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))
        return f"invalid value {value[1]!r} for {name}: expected {expected}", _near(value[1], choices)
    return f"invalid value for {name}: {error.message.rstrip('.')}", []


def _options_like(option: str, context: Any) -> list[str]:
    if any(param.name == "words" for param in context.command.params) and _is_product(option.lstrip("-")):
        return [f"{option.lstrip('-')}==VERSION"]
    known = [name for param in context.command.get_params(context) for name in param.opts if param.param_type_name == "option"]
    return _near(option, known)


def _is_product(name: str) -> bool:
    from compatkb.cli.opening import open_data

    return open_data(None).product(name) is not None


def _near(word: str, known: list[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(word.partition("=")[0], known, n=3, cutoff=0.7)
