"""How names and listed values are spelt for look-up, at build time and at run time alike, and as tools print them."""

import re

_MARKS = dict.fromkeys(map(ord, "_-®™*()/"))
_TRADE = r"\((?:r|tm|c)\)|[®™©]"
_FILLING = {
    "hardware": frozenset(["intel", "graphics", "gpu", "cpu", "processor", "processors"]),
    "os": frozenset(["microsoft", "lts", "gnu/linux", "pro", "home", "education", "enterprise"]),
}
"""Words that tools print around a name of hardware or of a system, and that change nothing."""


def word_key(text: str) -> str:
    """Return `text` in small letters without separators and marks: "Arc™ A770" and "arc-a770" are one word."""
    return "".join(text.lower().split()).translate(_MARKS)


def spellings(product: str, text: str) -> list[str]:
    """Return a name as it is typed, then plainer, as far as that is the same thing.

    Without marks of trade, brackets (or what is in them) and filling words; a system without its patch release.
    """
    plain = re.sub(_TRADE, " ", text, flags=re.IGNORECASE)
    found = [text, plain, re.sub(r"[(\[].*?[)\]]", " ", plain), *re.findall(r"[(\[](.*?)[)\]]", plain)]
    if filling := _FILLING.get(product):
        found += [" ".join(word for word in each.split() if word.lower() not in filling) for each in found]
    if product == "os":
        found += [re.sub(r"(\d+\.\d+)(\.\d+)+", r"\1", each) for each in found]
        found += [re.sub(r"(\d+)(\.\d+)+", r"\1", each) for each in found]
    return [each for each in dict.fromkeys(found) if each.strip()]
