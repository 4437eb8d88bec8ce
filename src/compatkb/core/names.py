"""Normalises names and listed values for look-up, the same at compile time and at run time."""

import re
from collections.abc import Iterable, Mapping

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
    words = []
    for word in SEARCH_WORD.findall(text.casefold()):
        words.append(word)
        if "." in word:
            words += [part for part in word.split(".") if len(part) > 1 and part.isalpha()]
    return words


def close(text: str, known: Iterable[str], shown: Mapping[str, str] | None = None) -> list[str]:
    """Return the close words, or those that `text` begins; `shown` tells how they are written for people."""
    from difflib import get_close_matches

    from compatkb.core.spelling import slips

    words = sorted(set(known), reverse=True)
    begun = [word for word in words if len(text) > _BEGUN and word.startswith(text)]
    near = get_close_matches(text, words, n=_NEAR, cutoff=0.61)
    near.sort(key=lambda word: min(slips(text, word[: len(text) + more], len(text)) for more in (0, 1)))  # what begins alike
    right = [shown[word] if shown else word for word in begun or near]
    once: dict[str, str] = {}
    for word in right:  # one of several spellings: ubuntu24.04, not ubuntu2404 or ubuntu:24.04
        plain = re.sub(r"\W", "", word.lower())
        once[plain] = max(once.get(plain, word), word, key=lambda each: (each.count("."), -len(each)))
    return list(once.values())[: _MOST if begun else 3]
