"""Every form of output of every command: a new one is a function, and one line here.

A form is a function of what its command made; it returns a string, or the lines of a screen. Its module is imported when
the form is asked for.
"""

from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING

from compatkb.core.record import NamedTuple

if TYPE_CHECKING:
    from compatkb.output.screen import Line


def _from(module: str, **functions: str) -> dict[str, str]:
    """Return where forms are made, by their names: all in one module."""
    return {form.replace("_", "-"): f"{module}:{function}" for form, function in functions.items()}


FILES = {
    **_from("output.installer_files", requirements="requirements_text", constraints="constraints_text", uv="uv_text"),
    **_from("validate.lock", pylock="pylock_text"),
    **_from("output.installer_files", conda="environment_text"),
    **_from("output.container_files", dockerfile="dockerfile_text", compose="compose_text"),
}
"""The forms of an answer that are a file for an installer."""
_ANSWERS = {
    **_from("output.text", text="answer_screen"),
    **_from("output.payload", json="answer_json"),
    **FILES,
    **_from("output.installer_files", renovate="renovate_text"),
}
_REPORTS = {
    **_from("check.report_text", text="report_lines", json="report_json"),
    **_from("check.report_text", github="github_text", gitlab="gitlab_text", sarif="sarif_text"),
}
FORMS = {
    "resolve": _ANSWERS,
    "explain": _ANSWERS,
    "list": _from("output.catalog_screen", text="CatalogScreen.list_lines", json="CatalogScreen.list_json"),
    "features": _from("output.features", text="features_screen", json="features_json", markdown="features_table"),
    "search": _from("output.search_results", text="search_lines", json="search_json"),
    "eol": _from("output.catalog_screen", text="CatalogScreen.eol_lines", json="CatalogScreen.eol_json"),
    "changes": _from("output.changelog", text="changes_text", json="changes_json", markdown="changes_markdown"),
    "timeline": _from("output.timeline", text="text", json="payload", markdown="markdown"),
    "matrix": _from("output.python_matrix", text="matrix_lines", json="payload", markdown="markdown"),
    "check": _REPORTS,
    "migrate": _REPORTS,
}
"""By command, its forms and where each is made."""


class Wanted(NamedTuple):
    """How much of an answer a form has, and the shell that its commands are for."""

    why: bool = False
    everything: bool = False
    shell: str | None = None
    stack: int = 1  # which of the stacks a file is for, as --all counts them
    each_device: bool = False  # a file that can hold them has a stack for each device
    indexes: tuple[str, ...] = ()  # where files lie that a lock names: URL, or CHANNEL=URL


def form(command: str, name: str) -> "Callable[..., str | list[Line]]":
    """Return what makes a form of a command's output."""
    module, _, function = FORMS[command][name].partition(":")
    formatter: Callable[..., str | list[Line]] = attrgetter(function)(import_module(f"compatkb.{module}"))
    return formatter
