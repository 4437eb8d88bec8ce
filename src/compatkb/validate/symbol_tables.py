"""`symbols/` of a data directory: for each product that others link, and each platform, which releases export what."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from packaging.version import Version

from compatkb.core.atomic_write import write_file
from compatkb.core.symbol_table import pack, unpack
from compatkb.errors import NotListedError, UnavailableError
from compatkb.schema import Level
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.linking import symbols_of
from compatkb.validate.proofs import exports_of, subjects_of


def write_tables(cells: Iterable[ValidationCell], context: RunContext) -> list[Path]:
    """Add to the tables of the data directory what the wheels of these cells export; returns the files that changed.

    The wheels were read when the cells were answered, so they come from the cache; one that could not be read is left out.
    """
    found: dict[tuple[str, str], dict[str, frozenset[str]]] = defaultdict(dict)
    for cell in cells:
        if cell.level is not Level.SYMBOLS or cell.index != "default" or cell.answered:
            continue
        for build in subjects_of(context.data, cell.packages):
            _, version, subject = build
            exports, releases = exports_of(context.data, subject.product), found[subject.product, cell.platform]
            if exports and version not in releases:
                try:
                    releases[version] = symbols_of(cell, context, build, exports).exported
                except (NotListedError, UnavailableError):
                    continue
    return [path for key, releases in sorted(found.items()) if releases and (path := _written(context.data, *key, releases))]


def _written(directory: Path, product: str, platform: str, releases: dict[str, frozenset[str]]) -> Path | None:
    path = directory / "symbols" / f"{product}-{platform}.xz"
    old = path.read_bytes() if path.is_file() else b""
    known = unpack(str(path), old).symbols() if old else {}
    merged = dict(sorted({**known, **releases}.items(), key=lambda item: Version(item[0])))
    new = pack(product, platform, merged)
    if new == old:
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, new)
    return path
