"""Quotes text as a string of the formats that are written."""

import json


def quoted(text: str) -> str:
    """Return a text as a string of JSON, of YAML if it is one line, and of TOML, which takes no bare U+007F."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
