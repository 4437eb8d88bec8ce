"""Writes records as TOML in the canonical form of data files; `fmt`."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from functools import cmp_to_key
from typing import Any

from compatkb.authoring.families import first_version
from compatkb.authoring.loader import DataDocument, LoadProblem
from compatkb.authoring.loader import parse as parse_files
from compatkb.core.text_position import Places, quoted
from compatkb.core.versions import Scheme, parse
from compatkb.errors import DataError
from compatkb.schema import Kind, Record, WrittenProduct
from compatkb.schema.families import FamilyRow

_WIDTH = 118
_FAMILIES = ("builds", "variants", "pairs")
_KINDS = frozenset(map(str, Kind))


def canonical(document: DataDocument) -> str:
    """Return the canonical text of a data file of any kind."""
    written = document.written
    return product_text(written, document.inline) if isinstance(written, WrittenProduct) else text_of(written, document.inline)


def product_text(file: WrittenProduct, inline: Iterable[str] = ()) -> str:
    """Return the canonical text of a product file: newest first where versions can be read, sources by id.

    `inline` are the ids of the sources that stand where they are cited.
    """
    scheme = file.product.scheme
    families = {
        key: tuple(f.model_copy(update={"rows": _newest_first(scheme, f.rows, name)}) for f in getattr(file, key))
        for key, name in zip(_FAMILIES, ("version", "version", "of"), strict=True)
    }
    releases = _newest_first(scheme, file.release, "version")
    return text_of(file.model_copy(update={"release": releases, **families}), inline)


def _newest_first(scheme: Scheme, records: tuple[Record, ...], name: str) -> tuple[Record, ...]:
    """Return records by the version, or the first of the specifier, in a field; as they stand where one cannot be read."""
    if scheme is Scheme.LISTED:
        return records
    try:
        keyed = [(parse(scheme, first_version(getattr(record, name))), record) for record in records]
    except ValueError:
        return records

    def compare(left: tuple[Any, Record], right: tuple[Any, Record]) -> int:
        return -1 if left[0] > right[0] else int(left[0] < right[0])

    return tuple(record for _, record in sorted(keyed, key=cmp_to_key(compare)))


def text_of(file: Record, inline: Iterable[str] = ()) -> str:
    """Return the canonical text of a data file in the order of its records: scalars first, then a block per record.

    `inline` are the ids of the sources that stand where they are cited.
    """
    content = file.model_dump(by_alias=True, exclude_defaults=True)
    here = {name: content["source"].pop(name) for name in inline}
    lines: list[str] = []
    for key, value in content.items():
        if not isinstance(value, (dict, list, tuple)):
            lines.append(f"{key} = {_inline(value)}")
    if lines:
        lines.append("")
    for key, value in content.items():
        if isinstance(value, dict) and (value or key != "source"):
            lines.append(f"[{key}]")
            items = sorted(value.items()) if key == "source" else value.items()
            lines += [entry(name, cited(item, here)) for name, item in items]
            lines.append("")
        elif isinstance(value, (list, tuple)):
            rows = [_rows(record) for record in getattr(file, key.replace("-", "_"))]
            for record, row in zip(value, rows, strict=True):
                lines += _block(key, record, row, here)
    return "\n".join(lines).rstrip("\n") + "\n"


def cited(value: object, sources: Mapping[str, object], *, citing: bool = False) -> object:
    """Return a value with the sources that stand where they are cited in place of their ids."""
    if isinstance(value, dict):
        return {name: cited(item, sources, citing=name == "sources") for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [sources.get(item, item) if citing and isinstance(item, str) else cited(item, sources) for item in value]
    return value


def _rows(family: Record) -> list[list[object]]:
    """Return the rows of a family as lists, the cells and then what is beside them; none for other records."""
    rows = []
    for row in getattr(family, "rows", ()):
        if not isinstance(row, FamilyRow):
            return []
        fields = row.model_dump(by_alias=True, exclude_unset=True)
        cells = [fields.pop(name) for name in row.cells if name in fields]
        rows.append([*cells, *([fields] if fields else [])])
    return rows


def _block(key: str, record: dict[str, object], rows: list[list[object]], here: Mapping[str, object]) -> list[str]:
    lines = [f"[[{key}]]"]
    for name, item in record.items():
        if name != "rows" or not rows:
            if name in _KINDS and isinstance(item, (list, tuple)) and len(item) == 1:
                lines.append(entry(name, item[0]))
            else:
                lines.append(entry(name, cited(item, here, citing=name == "sources")))
    if rows:
        lines += ["rows = [", *(row([cited(cell, here, citing=True) for cell in cells]) for cells in rows), "]"]
    return [*lines, ""]


def row(cells: list[object]) -> str:
    """Return the line of a row: one alone, so that two branches that each add a row rarely touch the same lines."""
    return f"    {_inline(cells)},"


def entry(name: str, value: object) -> str:
    """Return the line or lines of one key with its value."""
    line = f"{_key(name)} = {_inline(value)}"
    if len(line) > _WIDTH and isinstance(value, (list, tuple)) and value and isinstance(value[0], (dict, list, tuple)):
        return "\n".join([f"{_key(name)} = [", *(f"    {_inline(item)}," for item in value), "]"])
    return line


def _key(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() and name.isascii() else quoted(name)


def _inline(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, (int, date)):
        return str(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_inline(v)}" for k, v in value.items()) + " }"
    assert isinstance(value, (list, tuple))
    return "[" + ", ".join(_inline(item) for item in value) + "]"


def misshapen(contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the canonical content of the files, by path, that are not in that form; lines of evidence have none.

    Raises DataError for files that cannot be read, and for comments, which would be lost.
    """
    loaded = parse_files({path: content for path, content in contents.items() if path.endswith(".toml")})
    problems = list(loaded.problems)
    changed: dict[str, bytes] = {}
    for document in loaded.documents:
        wanted = canonical(document)
        if wanted == document.text:
            continue
        message = "a comment would be lost: make it a `note`, or delete it"
        problems += [LoadProblem(document.path, place.line, message) for place in Places(document.text).comments]
        changed[document.path] = wanted.encode()
    if problems:
        raise DataError(tuple(str(problem) for problem in problems))
    return changed
