"""A small data directory that every rule of lint accepts, in tests/cases/lint/good; tests change a copy of it."""

import tomllib
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from families import written_text

from compatkb.authoring.canonical import text_of
from compatkb.authoring.loader import model_of

Content = dict[str, Any]

FOLDER = Path(__file__).parent / "cases" / "lint"


def read(folder: str) -> dict[str, Content]:
    """Return the content of every file below a folder of the cases of lint, by path; each call a new one."""
    return deepcopy(_read(folder))


@cache
def _read(folder: str) -> dict[str, Content]:
    files = sorted((FOLDER / folder).rglob("*.toml"))
    return {path.relative_to(FOLDER / folder).as_posix(): tomllib.loads(path.read_text(encoding="utf-8")) for path in files}


def good() -> dict[str, Content]:
    """Return the content of every file, by path; each call a new one."""
    return read("good")


def written(data: dict[str, Content]) -> dict[str, bytes]:
    """Return the files as they stand on disk, in canonical form but in the given order."""
    return {path: _written(path, repr(content), content) for path, content in data.items()}


_texts: dict[tuple[str, str], bytes] = {}


def _written(path: str, key: str, content: Content) -> bytes:
    """Return the bytes of a file; what many tests leave as it is they write once."""
    if (path, key) not in _texts:
        _texts[path, key] = text_in(path, content).encode()
    return _texts[path, key]


def text_in(path: str, content: Content) -> str:
    """Return the text of a file in the order of its records."""
    return written_text(content) if path.startswith("products/") else text_of(model_of(path).model_validate(content))
