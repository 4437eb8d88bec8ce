"""What an installer's words mean: its message to an outcome and the lines that decide."""

import re

from packaging.utils import canonicalize_name

from compatkb.schema import Outcome
from compatkb.validate.messages import shortened

_CONFLICT = re.compile(r"ResolutionImpossible|conflicting dependencies|No solution found|requirements are unsatisfiable")
_ABSENT = re.compile(
    r"No matching distribution found|Could not find a version|there (?:is|are) no versions? of|not found in the package reg"
    r"|has no wheels|no usable wheels|has no `?[\w.]++`? (?:wheel|compatible)|only [^\n]{0,200} is available"
)
_NOISE = re.compile(
    r"^(?:\[notice\]|hint:|WARNING: (?:Location|Skipping page|Retrying|Ignoring)|Looking in|Collecting|Using cached)"
)
_NAME, _VERSION = r"(?P<name>[A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?", r"(?P<version>\d(?:[\w.+!]*\w)?)"
_MISSING = (
    re.compile(rf"(?:No matching distribution found for|satisfies the requirement) {_NAME}==(?:=)?{_VERSION}"),
    re.compile(rf"there (?:is|are) no versions? of {_NAME}==(?:=)?{_VERSION}"),
    re.compile(rf"{_NAME}==(?:=)?{_VERSION} has no"),
    re.compile(rf"(?:platform: |, ){_NAME} {_VERSION}"),
)
"""How pip, uv and the level `published` name what they did not find."""


def read(text: str) -> tuple[Outcome, str]:
    """Return the outcome that an installer's refusal means, `not-checked` where it is not about versions."""
    lines = [line for raw in text.splitlines() if (line := " ".join(raw.split())) and not _NOISE.match(line)]
    whole = " ".join(lines)
    decisive = [n for n, line in enumerate(lines) if line.startswith(("ERROR:", "error:", "×", "x No solution"))]
    message = shortened(" ".join(lines[decisive[0] :] if decisive else lines[-4:]))
    if _ABSENT.search(whole):
        return Outcome.NOT_FOUND, message
    if _CONFLICT.search(whole):
        return Outcome.CONFLICT, message
    return Outcome.NOT_CHECKED, message or "the installer ended without a word"


def missing_pins(text: str) -> list[tuple[str, str]]:
    """Return the packages and versions that a refusal says were not found, each once."""
    pins = [(str(canonicalize_name(m["name"])), m["version"]) for pattern in _MISSING for m in pattern.finditer(text)]
    return list(dict.fromkeys(pins))
