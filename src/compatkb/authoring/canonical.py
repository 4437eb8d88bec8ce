"""Writes records as TOML in the canonical form of data files; `fmt`."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime
from functools import cmp_to_key

from compatkb.authoring.loader import LoadProblem
from compatkb.authoring.loader import parse as parse_files
from compatkb.core.quoting import quoted
from compatkb.core.toml_positions import Places
from compatkb.core.versions import Scheme, parse
from compatkb.errors import DataError
from compatkb.schema import ProductFile, Record, Release

_WIDTH = 118


def canonical(file: Record) -> str:
    """Return the canonical text of a data file of any kind."""
    return product_text(file) if isinstance(file, ProductFile) else text_of(file)


def product_text(file: ProductFile) -> str:
    """Return the canonical text of a product file: newest release first where versions can be read, sources by id."""
    scheme = file.product.scheme
    releases = file.release
    if scheme is not Scheme.LISTED:

        def compare(left: Release, right: Release) -> int:
            a, b = parse(scheme, left.version), parse(scheme, right.version)
            return -1 if a > b else int(a < b)  # type: ignore[operator]  # one scheme, so one type

        with suppress(ValueError):
            releases = tuple(sorted(releases, key=cmp_to_key(compare)))
    return text_of(file.model_copy(update={"release": releases}))


def text_of(file: Record) -> str:
    """Return the canonical text of any other data file: scalars first, then a block per record."""
    content = file.model_dump(by_alias=True, exclude_defaults=True)
    lines: list[str] = []
    for key, value in content.items():
        if not isinstance(value, (dict, list, tuple)):
            lines.append(f"{key} = {_inline(value)}")
    if lines:
        lines.append("")
    for key, value in content.items():
        if isinstance(value, dict):
            lines.append(f"[{key}]")
            items = sorted(value.items()) if key == "source" else value.items()
            lines += [entry(name, item) for name, item in items]
            lines.append("")
        elif isinstance(value, (list, tuple)):
            for record in value:
                lines += _block(key, record)
    return "\n".join(lines).rstrip("\n") + "\n"


def _block(key: str, record: dict[str, object]) -> list[str]:
    lines = [f"[[{key}]]"]
    builds = record.get("build", ())
    lines += [entry(name, item) for name, item in record.items() if name != "build"]
    lines.append("")
    assert isinstance(builds, (list, tuple))
    for build in builds:
        lines += _block(f"{key}.build", build)
    return lines


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
        wanted = canonical(document.record)
        if wanted == document.text:
            continue
        message = "a comment would be lost: make it a `note`, or delete it"
        problems += [LoadProblem(document.path, place.line, message) for place in Places(document.text).comments]
        changed[document.path] = wanted.encode()
    if problems:
        raise DataError(tuple(str(problem) for problem in problems))
    return changed
