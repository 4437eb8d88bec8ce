"""Names of files: of releases, of questions."""

import re

from compatkb.web.questions import PageQuestion

_PREFIXES = {"python": "py"}
_PLAIN = ("os", "hardware")


def file_name(text: str) -> str:
    """Return a version as the name of a file."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text)


def release_path(product: str, version: str) -> str:
    """Return the path of a release's page."""
    return f"products/{file_name(product)}/{file_name(version)}.html"


def answer_path(question: PageQuestion, main: str) -> str:
    """Return the path of a written answer: the device as folder, then what is fixed."""
    parts = []
    for product, text in question.options:
        plain = product in _PLAIN or product == main
        parts.append(file_name(text) if plain else f"{_PREFIXES.get(product, product)}{file_name(text)}")
    return f"{question.devices[0]}/{'_'.join(parts) or 'any'}.html"
