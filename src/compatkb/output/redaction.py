"""What goes to a public tracker without names of people and machines, and without secrets."""

import re
from collections.abc import Mapping, Sequence

from compatkb.output.screen import Line

_SHORTEST = 3  # letters of a name that is replaced wherever it stands: shorter ones are parts of words
_RULES = (
    (re.compile(r"(?i)(/home/|/users/|[a-z]:[\\/]users[\\/])[^/\\\s'\":,)]+"), r"\1USER"),
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}://)[^/@\s'\"]{1,200}@"), r"\1"),
    (re.compile(r"\b(?:hf|ghp|gho|ghs|glpat|github_pat|sk)[_-][A-Za-z0-9_-]{16,255}\b"), "TOKEN"),
    (re.compile(r"(?i)\b([\w-]{0,40}(?:token|password|secret|api_?key)[\w-]{0,20})\s?[=:]\s?[^\s'\",;]{4,200}"), r"\1=SECRET"),
    (re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}\b"), "MAIL"),
)


def redacted(output: str | Sequence[Line], names: Mapping[str, str]) -> str | Sequence[Line]:
    """Return an output without the given names (what stands for each beside it), home folders, addresses and secrets."""
    if isinstance(output, str):
        return _redacted(output, names)
    return [line._replace(text=_redacted(line.text, names)) for line in output]


def _redacted(text: str, names: Mapping[str, str]) -> str:
    for pattern, stands in _RULES:
        text = pattern.sub(stands, text)
    for name in sorted((name for name in names if len(name) >= _SHORTEST), key=len, reverse=True):
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", names[name], text)
    return text
