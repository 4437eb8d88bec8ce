"""Normalises names and listed values for look-up, the same at compile and at run time; tells which word was meant."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeVar

Name = TypeVar("Name")


def numbers(text: str) -> tuple[int, ...]:
    """Return the numbers in a version or a label, to compare by: of cu118 (118,), of 32.0.101 (32, 0, 101)."""
    return tuple(map(int, re.findall(r"\d+", text)))


def newest_by_name(said: Iterable[tuple[Name, str]]) -> dict[Name, str]:
    """Return for each name the newest version that is said of it, whatever the order."""
    newest: dict[Name, str] = {}
    for name, version in said:
        newest[name] = max(newest.get(name, version), version, key=numbers)
    return newest


def meant_words(counts: Counter[str]) -> dict[str, str]:
    """Return for each rare word that is close to a common one that common one."""
    return {word: right for word in counts if (right := meant(word, counts))}


def meant(word: str, counts: Counter[str]) -> str | None:
    """Return the common word that a rare one is close to: one slip apart, or two in words of five letters or more."""
    allowed = 1 if len(word) < 5 else 2
    near = [
        (slips(word, other, allowed), -count, other)
        for other, count in counts.items()
        if count >= 2 * counts[word] and abs(len(other) - len(word)) <= allowed
    ]
    best = min((item for item in near if 0 < item[0] <= allowed), default=None)
    return best[2] if best else None


def slips(left: str, right: str, most: int) -> int:
    """Return how many letters are added, dropped, changed or swapped with their neighbour; more than `most` ends early."""
    if abs(len(left) - len(right)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for n, letter in enumerate(left, 1):
        fresh = [n]
        for m, other in enumerate(right, 1):
            cost = min(row[m] + 1, fresh[m - 1] + 1, row[m - 1] + (letter != other))
            if n > 1 and m > 1 and letter == right[m - 2] and left[n - 2] == other:
                cost = min(cost, before[m - 2] + 1)
            fresh.append(cost)
        if min(fresh) > most:
            return most + 1
        before, row = row, fresh
    return row[-1]


_MARKS = dict.fromkeys(map(ord, "_-®™*()/"))
_TRADE = r"\((?:r|tm|c)\)|[®™©]"
_CLOCK = r"@\s?\d{1,2}\.\d{1,2}\s?ghz\b"  # as /proc/cpuinfo has it behind the name
_MEMORY = r"\b\d{1,3}\s?gb\b"  # a card of several sizes is one name
_FILLING = {
    "hardware": frozenset(["intel", "graphics", "gpu", "cpu", "processor", "processors"]),
    "os": frozenset(["microsoft", "lts", "gnu/linux", "pro", "home", "education", "enterprise"]),
}
"""Words that tools print around a name of hardware or of a system, and that change nothing."""

_BEGUN, _NEAR, _MOST = 3, 20, 6
"""Letters above which a word may stand for those that begin with it; words that are compared; those that are named then."""

_MODEL = re.compile(r"([a-z]{1,6})(\d{2,5})")
"""A name of a model: letters and a number."""
_FEW = 2
"""Letters that a name of a model has, of which a slip makes another one."""

SEARCH_WORD = re.compile(r"[^\W_]+(?:\.[^\W_]+)*")
"""A word of search: letters and digits, with dots between them."""


def word_key(text: str) -> str:
    """Return `text` in small letters without separators and marks: "Arc™ A770" and "arc-a770" are one word."""
    return "".join(text.lower().split()).translate(_MARKS)


def normal(name: str) -> str:
    """Return the name of a package or an extra as PEP 503 and PEP 685 normalise it; without an import of packaging."""
    return re.sub(r"[-_.]+", "-", name).lower()


def is_free_threaded(python: str) -> bool:
    """Return whether a Python minor, such as 3.13t, names the build without the global lock (PEP 703)."""
    return python.endswith("t")


def spellings(product: str, text: str) -> list[str]:
    """Return a name as it is typed, then plainer, as far as that is the same thing.

    Without marks of trade, brackets (or what is in them) and filling words; a system without its patch release.
    """
    plain = re.sub(_TRADE, " ", text, flags=re.IGNORECASE)
    forms = [text, plain, re.sub(r"[(\[][^)\]\n]{0,80}[)\]]", " ", plain), *re.findall(r"[(\[]([^)\]\n]{0,80})[)\]]", plain)]
    if filling := _FILLING.get(product):
        forms += [" ".join(word for word in each.split() if word.lower() not in filling) for each in forms]
    if product == "hardware":
        forms += [re.sub(f"{_MEMORY}|{_CLOCK}", " ", each, flags=re.IGNORECASE) for each in forms]
    if product == "os":
        forms += [re.sub(r"(?<!\d)(\d++\.\d++)(\.\d++)+", r"\1", each) for each in forms]
        forms += [re.sub(r"(?<!\d)(\d++)(\.\d++)+", r"\1", each) for each in forms]
    return [each for each in dict.fromkeys(forms) if each.strip()]


def search_words(text: str) -> list[str]:
    """Return the words of a text for search, in small letters; 2.8.10 is one word, of torch.compile also its parts."""
    found = SEARCH_WORD.findall(text.casefold())
    if "." not in text:
        return found
    words: list[str] = []
    for word in found:
        words.append(word)
        if "." in word:
            words += [part for part in word.split(".") if len(part) > 1 and part.isalpha()]
    return words


def _is_other_model(text: str, word: str) -> bool:
    """Return whether a name of letters and a number has neither in common with another one: n100 is no slip for win10."""
    named, other = _MODEL.fullmatch(text), _MODEL.fullmatch(word.replace(".", ""))
    return bool(named and other and len(named[1]) <= _FEW and named[1] != other[1] and named[2] != other[2])


def close(text: str, known: Iterable[str], shown: Mapping[str, str] | None = None) -> list[str]:
    """Return the close words, or those that `text` begins; `shown` tells how they are written for people."""
    from difflib import get_close_matches

    words = sorted(set(known), reverse=True)
    begun = [word for word in words if len(text) > _BEGUN and word.startswith(text)]
    near = [word for word in get_close_matches(text, words, n=_NEAR, cutoff=0.61) if not _is_other_model(text, word)]
    near.sort(key=lambda word: min(slips(text, word[: len(text) + more], len(text)) for more in (0, 1)))  # what begins alike
    right = [shown[word] if shown else word for word in begun or near]
    once: dict[str, str] = {}
    for word in right:  # one of several spellings: ubuntu24.04, not ubuntu2404 or ubuntu:24.04
        plain = re.sub(r"\W", "", word.lower())
        once[plain] = max(once.get(plain, word), word, key=lambda each: (each.count("."), -len(each)))
    return list(once.values())[: _MOST if begun else 3]
