"""How names and listed values are spelt for look-up, at build time and at run time alike."""

_MARKS = dict.fromkeys(map(ord, "_-®™*()/"))


def word_key(text: str) -> str:
    """Return `text` in small letters without separators and marks: "Arc™ A770" and "arc-a770" are one word."""
    return "".join(text.lower().split()).translate(_MARKS)
