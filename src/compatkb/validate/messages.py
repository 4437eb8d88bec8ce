"""The decisive lines of what a command printed: short, the same on every machine, no paths of this one."""

import re
from collections.abc import Iterable

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
