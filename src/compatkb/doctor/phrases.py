"""A few words about an error: which symptoms they mean, though they are not what a program printed."""

import re
from typing import Any

from compatkb.doctor.error_text import plain

_WORD = re.compile(r"[a-z0-9_+][a-z0-9_.+]*[a-z0-9_+]|[a-z0-9]")
_MOST, _LONG = 120, 6
_SMALL = frozenset(["a", "an", "and", "at", "by", "for", "from", "in", "is", "it", "of", "on", "or", "the", "to", "with"])
_NUMBER = re.compile(r"\.[0-9]+$")


def is_phrase(text: str) -> bool:
    """Return whether a text is short enough to be words that somebody typed."""
    return len(text) <= _MOST and "\n" not in text.strip()


def meant_by(text: str, symptoms: list[dict[str, Any]], causes: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the symptoms of which one pattern, with its first cause, has every word of a phrase; none for too few words."""
    words = [_NUMBER.sub("", word) for word in _WORD.findall(plain(text)) if word not in _SMALL]
    if not words or (len(words) == 1 and len(words[0]) < _LONG):
        return []
    return [symptom for symptom in symptoms if any(_has(saying, words) for saying in _sayings(symptom, causes))]


def _sayings(symptom: dict[str, Any], causes: dict[str, dict[str, Any]]) -> list[str]:
    cause = causes[symptom["causes"][0]["cause"]]
    return [f"{pattern} {cause['id']} {cause['title']}" for pattern in symptom["patterns"]]


def _has(saying: str, words: list[str]) -> bool:
    text = plain(saying)
    return all(word in text for word in words)
