"""Every form of output of every command: a new one is a function, and one line here.

A form is a function of what its command made; it returns a string, or the lines of a screen. Its module is imported when
the form is asked for.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from compatkb.output.screen import Line

FILES = {
    "requirements": "output.installer_files:requirements_text",
    "constraints": "output.installer_files:constraints_text",
    "uv": "output.installer_files:uv_text",
    "pylock": "validate.lock:pylock_text",
    "conda": "output.installer_files:environment_text",
    "pixi": "output.installer_files:pixi_text",
    "dockerfile": "output.container_files:dockerfile_text",
    "compose": "output.container_files:compose_text",
    "devcontainer": "output.container_files:devcontainer_text",
}
"""The forms of an answer that are a file for an installer."""
_ANSWERS = {
    "text": "output.text:answer_screen",
    "json": "output.payload:answer_json",
    **FILES,
    "renovate": "output.bots:renovate_text",
    "dependabot": "output.bots:dependabot_text",
}
_REPORTS = {
    "text": "check.report_text:report_lines",
    "json": "check.report_text:report_json",
    "github": "check.report_formats:github_text",
    "gitlab": "check.report_formats:gitlab_text",
    "junit": "check.report_formats:junit_text",
    "markdown": "check.report_formats:summary_text",
    "sarif": "check.report_formats:sarif_text",
}
FORMS = {
    "resolve": _ANSWERS,
    "explain": _ANSWERS,
    "list": {"text": "output.catalog:list_lines", "json": "output.catalog:list_json"},
    "features": {
        "text": "output.features:features_screen",
        "json": "output.features:features_json",
        "markdown": "output.features:features_table",
    },
    "eol": {"text": "output.catalog:eol_screen", "json": "output.catalog:eol_json"},
    "changes": {
        "text": "output.changelog:changes_text",
        "json": "output.changelog:changes_json",
        "markdown": "output.changelog:changes_markdown",
    },
    "timeline": {
        "text": "output.timeline:text",
        "json": "output.timeline:payload",
        "markdown": "output.timeline:markdown",
        "mermaid": "output.timeline:mermaid",
        "svg": "output.timeline_svg:svg",
    },
    "matrix": {
        "text": "output.python_matrix:matrix_lines",
        "json": "output.python_matrix:payload",
        "markdown": "output.python_matrix:markdown",
        "csv": "output.python_matrix:comma_separated",
        "svg": "output.matrix_picture:svg",
        "html": "output.matrix_picture:html",
    },
    "stats": {
        "text": "output.statistics:stats_lines",
        "json": "output.statistics:stats_json",
        "markdown": "output.statistics:stats_markdown",
        "badge": "output.statistics:badge_line",
        "badge-json": "output.statistics:badge_json",
    },
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
    formatter: Callable[..., str | list[Line]] = getattr(import_module(f"compatkb.{module}"), function)
    return formatter
