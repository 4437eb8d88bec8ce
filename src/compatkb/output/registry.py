"""Every form of output of every command: a new one is a function and one line here.

A form is a function of what its command made, which returns a string; its module is imported when the form is asked for.
"""

from collections.abc import Callable
from importlib import import_module

_REPORTS = {
    "text": "check.report_text:report_text",
    "json": "check.report_text:report_json",
    "github": "check.report_formats:github_text",
    "gitlab": "check.report_formats:gitlab_text",
    "junit": "check.report_formats:junit_text",
    "markdown": "check.report_formats:summary_text",
    "sarif": "check.report_formats:sarif_text",
}
FORMS = {
    "check": _REPORTS,
    "migrate": _REPORTS,
}
"""By command, its forms and where each is made; the first is the default."""


def form(command: str, name: str) -> Callable[..., str]:
    """Return what makes a form of a command's output."""
    module, _, function = FORMS[command][name].partition(":")
    made: Callable[..., str] = getattr(import_module(f"compatkb.{module}"), function)
    return made
