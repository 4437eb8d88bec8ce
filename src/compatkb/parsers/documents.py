"""Parser of TOML and INI documents that keeps the position of every value."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from compatkb.core.text_position import Place, Places, Where
from compatkb.parsers.source import SourceFile
from compatkb.parsers.statement import IndexUse, ParsedFile

_AT = re.compile(r"(?<!\s)\s*+\(at (?:line (\d+), column (\d+)|end of document)\)")
_DEEP = re.compile(r"^[ \t\[]*+(?:[\w-]++[ \t]*+\.[ \t]*+){64}", re.MULTILINE)  # slow to parse in number
_SECTION = re.compile(r"\[([^\]]+)\]\s*(?:[#;].*)?")
_KEY = re.compile(r"([^\s=:][^=:]*+)[=:]\s*+(.*)")


class Toml:
    """A TOML document: its values, and where they stand."""

    def __init__(self, source: SourceFile, data: dict[str, Any]) -> None:
        self.source, self.data = source, data

    @cached_property
    def _places(self) -> Places:
        return Places(self.source.text)

    def get(self, *names: str) -> Any:
        """Return the value at a path of keys, None where there is none."""
        value: Any = self.data
        for name in names:
            if not isinstance(value, dict):
                return None
            value = value.get(name)
        return value

    def table(self, *names: str) -> dict[str, Any]:
        """Return the table at a path of keys, an empty one for anything else."""
        value = self.get(*names)
        return value if isinstance(value, dict) else {}

    def list(self, *names: str) -> "list[Any]":
        """Return the list at a path of keys, an empty one for anything else."""
        value = self.get(*names)
        return value if isinstance(value, list) else []

    def place(self, *where: int | str) -> Place:
        """Return where a value stands; text within its quotes, for items of a list and values of a key."""
        path: Where = where
        place = self._places.nearest(path)
        at = self.source.offset(*place)
        is_quoted = isinstance(path[-1], int) and self.source.text[at : at + 1] in ("'", '"')
        return Place(place.line, place.column + 1) if is_quoted else place

    def value_place(self, *where: int | str) -> Place:
        """Return where the text value of a key starts, the key's own place where the value is elsewhere."""
        place = self.place(*where)
        start = self.source.offset(*place)
        end = self.source.text.find("\n", start)
        line = self.source.text[start : len(self.source.text) if end < 0 else end]
        match = re.match(r"(?:\"[^\"]*\"|'[^']*'|[\w.-])+\s*=\s*[\"']", line)
        return Place(place.line, place.column + match.end()) if match else place

    def tables(self, name: str) -> Iterator[tuple[int, dict[str, Any], Place]]:
        """Yield the tables of an array that a tool wrote: number, table, and the place of its version or of its head."""
        entries = [entry for entry in self.list(name) if isinstance(entry, dict)]
        heads = list(re.finditer(rf"^\[\[{re.escape(name)}\]\]", self.source.text, re.MULTILINE))
        if len(heads) != len(self.list(name)):
            for number, entry in enumerate(entries):
                yield number, entry, self.place(name, number, "version") if "version" in entry else self.place(name, number)
            return
        for number, (entry, head) in enumerate(zip(entries, heads, strict=False)):
            end = heads[number + 1].start() if number + 1 < len(heads) else len(self.source.text)
            version = re.compile(r"^version\s*=\s*[\"']", re.MULTILINE).search(self.source.text, head.end(), end)
            yield number, entry, self.source.place(version.end() if version else head.start())


def add_indexes(document: Toml, where: tuple[str, ...], styles: Mapping[str, str], group: str, reading: ParsedFile) -> None:
    """Add the indexes that a table names, one or a list of them for each of some keys."""
    for key, style in styles.items():
        value = document.get(*where, key)
        for url in value if isinstance(value, list) else [value]:
            if isinstance(url, str):
                of_pip = where[-1:] == ("pip",)
                reading.add(IndexUse(document.value_place(*where, key), url, url, style, group, of_pip=of_pip))


def read_toml(source: SourceFile, reading: ParsedFile) -> Toml | None:
    """Return a TOML document, None and a problem in the reading where it is none."""
    if deep := _DEEP.search(source.text):
        reading.problem(source.place(deep.start()), "is not read: a key of more than 64 parts")
        return None
    try:
        return Toml(source, tomllib.loads(source.text))
    except ValueError as error:
        match = _AT.search(str(error))
        line, column = (int(match[1]), int(match[2])) if match and match[1] else (len(source.starts), 1)
        reading.problem(Place(line, column), f"is no TOML: {_AT.sub('', str(error))}")
    except RecursionError:
        reading.problem(Place(1, 1), "is no TOML that can be read: nested too deeply")
    return None


def ini_values(source: SourceFile) -> Iterator[tuple[str, str, str, Place]]:
    """Yield section, key, line of its value and the place of that line, in the order of the file.

    The standard parser has no places; what it accepts as a continuation is continued here too: an indented line.
    """
    section = key = ""
    for number, start in enumerate(source.starts):
        end = source.starts[number + 1] - 1 if number + 1 < len(source.starts) else len(source.text)
        line = source.text[start:end]
        text = line.strip()
        if not text or text[0] in "#;":
            continue
        indented = line[0] in " \t"
        if not indented and (match := _SECTION.fullmatch(text)):
            section, key = match[1].strip(), ""
        elif indented and key:
            text = re.split(r"\s#", text, maxsplit=1)[0].strip()
            yield section, key, text, source.place(start + len(line) - len(line.lstrip()))
        elif match := _KEY.fullmatch(text):
            key = match[1].strip().lower()
            value = match[2].strip()
            if value:
                yield section, key, value, source.place(start + line.find(value, line.find(match[1]) + len(match[1])))
