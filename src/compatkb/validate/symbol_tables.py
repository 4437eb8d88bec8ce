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
from compatkb.validate.linking import kept_releases, symbols_of
from compatkb.validate.proofs import exports_of, subjects_of, table_path


def write_tables(cells: Iterable[ValidationCell], context: RunContext) -> list[Path]:
    """Add to the tables of the data directory what the wheels of these cells export; returns the files that changed.

    The wheels were read when the cells were answered, so they come from the cache; one that could not be read is left out.
    """
    tables: dict[tuple[str, str], dict[str, frozenset[str]]] = defaultdict(dict)
    for cell in cells:
        if cell.level is not Level.SYMBOLS or cell.index != "default" or cell.answered:
            continue
        for build in subjects_of(context.data, cell.packages):
            _, version, subject = build
            exports, releases = exports_of(context.data, subject.product), tables[subject.product, cell.platform]
            if exports and version not in releases and not _is_kept(cell, context, subject.product, version):
                try:
                    wheel = symbols_of(cell, context, build, exports)
                except (NotListedError, UnavailableError):
                    continue
                if wheel.exported:
                    releases[version] = wheel.offered(exports)
    return [
        changed for key, releases in sorted(tables.items()) if releases and (changed := _written(context.data, *key, releases))
    ]


def _is_kept(cell: ValidationCell, context: RunContext, product: str, version: str) -> bool:
    """Return whether a pair was answered from the table, so that the wheel was not read."""
    return len(cell.packages) > 1 and version in kept_releases(table_path(context.data, product, cell.platform))


def _written(directory: Path, product: str, platform: str, releases: dict[str, frozenset[str]]) -> Path | None:
    path = table_path(directory, product, platform)
    old = path.read_bytes() if path.is_file() else b""
    known = unpack(str(path), old).symbols() if old else {}
    merged = dict(sorted({**known, **releases}.items(), key=lambda item: Version(item[0])))
    new = pack(product, platform, merged)
    if new == old:
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, new)
    return path
