"""Extracts the decisive lines of what commands printed, without local paths; explains installers' messages."""

import re
from collections.abc import Iterable

from packaging.utils import canonicalize_name

from compatkb.schema import Outcome

LONGEST = 700
ERROR = re.compile(
    r"^(?:[\w.]*(?:Error|Exception|Warning|Interrupt|Exit)\b.*|.*\b(?:ERROR|error:|FATAL|Fatal).*|.*\bundefined symbol\b.*)$"
)
REMARK = re.compile(r"\b(?:\w*Warning|WARNING|ERROR|compiled using)\b")
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def tidy(text: str, hidden: Iterable[tuple[str, str]] = ()) -> str:
    """Return text without colours, paths and addresses in memory; `hidden` are further texts and what replaces them."""
    text = ANSI.sub("", text)
    for what, instead in hidden:
        text = text.replace(what, instead)
    text = re.sub(r"(?<![\w.+~/-])[\w.+~/-]*/site-packages/", "site-packages/", text)
    text = re.sub(r"\[([WEIF])\d{4} \d\d:\d\d:\d\d\.\d+(?: +\d+)?", r"[\1", text)
    text = re.sub(r"(?<![\w.:/+~-])(?:/[\w.+~-]++){2,}/(?=[\w.+~-])", ".../", text)
    text = re.sub(r"https?://[^/\s]+(?:/[\w.+~-]+)*/", "", text)
    return re.sub(r"0x[0-9a-f]{6,}", "0x...", text)


def decisive(text: str) -> str:
    """Return the lines of a failure that people would quote, as one: what was shouted first, then the last error."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    errors = [number for number, line in enumerate(lines) if ERROR.match(line)]
    start = errors[-1] if errors else max(0, len(lines) - 3)
    loud = [line for line in lines[:start] if line.startswith("ERROR")]
    return shortened(" | ".join(dict.fromkeys([*loud[-1:], *lines[start : start + 6]])))


def remarks(text: str) -> str:
    """Return the warnings in what a command printed that succeeded, each once."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return shortened(" | ".join(dict.fromkeys(line for line in lines if REMARK.search(line))))


def shortened(text: str) -> str:
    """Return a text of at most LONGEST characters, the middle left out."""
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} [...] {text[-half:]}"


_CONFLICT = re.compile(r"ResolutionImpossible|conflicting dependencies|No solution found|requirements are unsatisfiable")
_ABSENT = re.compile(
    r"No matching distribution found|Could not find a version|there (?:is|are) no versions? of|not found in the package reg"
    r"|has no wheels|no usable wheels|has no `?[\w.]++`? (?:wheel|compatible)|only [^\n]{0,200} is available"
)
_NOISE = re.compile(
    r"^(?:\[notice\]|hint:|WARNING: (?:Location|Skipping page|Retrying|Ignoring)|Looking in|Collecting|Using cached)"
)
_NAME = r"(?P<name>[A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?"
_ABSENT_NAMES = (
    re.compile(rf"(?:No matching distribution found for|satisfies the requirement) {_NAME}"),
    re.compile(rf"{_NAME} was not found in the package reg"),
)


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


def missing_names(text: str) -> list[str]:
    """Return the distributions of which a refusal says that nothing was found, each once."""
    names = [match["name"] for pattern in _ABSENT_NAMES for match in pattern.finditer(text)]
    return list(dict.fromkeys(str(canonicalize_name(name)) for name in names))
