"""Which releases of a product have wheels for which Pythons, as a table of words."""

from datetime import date

from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.errors import UsageError
from compatkb.output.documents import Edition
from compatkb.output.screen import BLANK, Line, columns
from compatkb.output.writers import Block, Links, Paragraph, Table, render
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Product

YES, INFERRED, UNKNOWN, NO = "yes", "inferred", "unknown", "no"
LEVELS = (YES, INFERRED, UNKNOWN, NO)
"""Best first."""
MEANINGS = {
    YES: "a source lists the wheel, or it was seen",
    INFERRED: "concluded, not stated for this release and Python",
    UNKNOWN: "the data cannot tell",
    NO: "there is none",
}
_SIGNS = {YES: "✓", INFERRED: "~", UNKNOWN: ".", NO: "-"}
_LEGEND = "✓ wheel  ~ assumed  - none  . unknown"
_NEWEST = 10
"""Releases on a screen."""


class Cell(NamedTuple):
    """What is known of the wheels of one release for one Python: the best level, and that of each device."""

    level: str
    devices: tuple[tuple[str, str], ...]

    @property
    def words(self) -> str:
        """The level; with the devices where they differ."""
        if len({level for _, level in self.devices}) <= 1:
            return self.level
        return ", ".join(f"{device} {level}" for device, level in self.devices)


class Row(NamedTuple):
    """One release; `cells` stand in the order of the table's Pythons."""

    release: str
    yanked: bool
    cells: tuple[Cell, ...]


class PythonMatrix(NamedTuple):
    """The releases known on a day, newest first, by the Pythons that any of them has wheels for, oldest first."""

    product: Product
    pythons: tuple[str, ...]
    rows: tuple[Row, ...]
    edition: Edition


def python_matrix(facts: Snapshot, product: Product, day: date, device: str | None = None) -> PythonMatrix:
    """Return the wheels of a product's releases by Python, over all systems and architectures.

    A missing wheel is `no` only where the list of wheels is whole on `day`. Raises UsageError for a product without
    wheels of its own, and for a device that none of its builds is for.
    """
    if product.role not in (Role.PACKAGE, Role.COMPANION):
        raise UsageError(f"{product.id} is a {product.role}: the data hold no wheels of it")
    known = [e for e in facts.elements(product.id) if e.since is None or e.since <= day.toordinal()]
    offered = sorted({name for element in known for name in element.devices})
    if device is not None and device not in offered:
        raise UsageError(f"no build of {product.id} is for {device!r}; known: {', '.join(offered) or 'none'}")
    releases: dict[str, list[Element]] = {}
    for element in reversed(known):
        if device is None or device in element.devices:
            releases.setdefault(element.release, []).append(element)
    pythons = facts.grid["python"]
    columns = [facts.dimension_cells("python", 1 << number) for number in range(len(pythons))]
    rows = []
    for release, builds in releases.items():
        shown = (device,) if device else tuple(sorted({name for build in builds for name in build.devices}))
        cells = tuple(_cell(builds, column, shown, day.toordinal()) for column in columns)
        yanked = all(e.yank_by is not None and e.yank_by <= day.toordinal() for e in builds)
        rows.append(Row(release, yanked, cells))
    used = [n for n in range(len(pythons)) if any(row.cells[n].level in (YES, INFERRED) for row in rows)]
    trimmed_rows = tuple(row._replace(cells=tuple(row.cells[n] for n in used)) for row in rows)
    return PythonMatrix(product, tuple(pythons[n] for n in used), trimmed_rows, Edition(facts.meta["data_date"], day))


def _cell(builds: list[Element], column: int, devices: tuple[str, ...], day: int) -> Cell:
    device_levels = []
    for device in devices:
        levels = [_level(build, column, day) for build in builds if device in build.devices]
        device_levels.append((device, min(levels, key=LEVELS.index)))
    return Cell(min((level for _, level in device_levels), key=LEVELS.index, default=UNKNOWN), tuple(device_levels))


def _level(build: Element, column: int, day: int) -> str:
    """Return what is known of one build; what may not have been out yet on the day is unknown at best."""
    if not build.installable:
        return NO
    if build.certain & column or build.inferred & column:
        if build.by is not None and build.by > day:
            return UNKNOWN
        return YES if build.certain & column else INFERRED
    return NO if build.complete >= day else UNKNOWN


def matrix_lines(table: PythonMatrix, *, everything: bool = False) -> list[Line]:
    """Return the table in columns of signs with their legend: of the newest releases, or of `everything`."""
    rows = table.rows if everything else table.rows[:_NEWEST]
    used = [n for n in range(len(table.pythons)) if any(row.cells[n].level in (YES, INFERRED) for row in rows)]
    signs = [(_name(row), *(_SIGNS[row.cells[n].level] for n in used)) for row in rows]
    lines = columns(signs, (table.product.id, *(table.pythons[n] for n in used)), indent=0)
    devices = sorted({device for row in rows for n in used if "," in row.cells[n].words for device, _ in row.cells[n].devices})
    best = []
    if devices:
        one = Line(f"    compatkb matrix {table.product.id} --device {devices[-1]}", "command")
        best = [Line("Builds for different devices differ; the best is shown. One device:"), one]
    more = [f"--all: {len(table.rows) - len(rows)} more"] if len(rows) < len(table.rows) else []
    return [*lines, BLANK, Line(_LEGEND), *best, *table.edition.footer(*more)]


def _name(row: Row) -> str:
    return f"{row.release} (yanked)" if row.yanked else row.release


def payload(table: PythonMatrix) -> str:
    """Return the table as JSON."""
    content = {
        "product": table.product.id,
        "by": "python",
        "columns": list(table.pythons),
        "rows": [
            {
                "release": row.release,
                "yanked": row.yanked,
                "cells": {
                    python: {"level": cell.level, "devices": dict(cell.devices)}
                    for python, cell in zip(table.pythons, row.cells, strict=True)
                },
            }
            for row in table.rows
        ],
    }
    return table.edition.document(content)


def blocks(table: PythonMatrix, most: int | None = None) -> list[Block]:
    """Return the newest releases with the Pythons that any of them has wheels for, in words, and what the words mean."""
    shown = table.rows[:most]
    used = [n for n in range(len(table.pythons)) if any(row.cells[n].level in (YES, INFERRED) for row in shown)]
    rows = tuple((_name(row), *("" if row.cells[n].words == NO else row.cells[n].words for n in used)) for row in shown)
    cells = [row.cells[n] for row in shown for n in used]
    levels = {level for cell in cells for level in (cell.level, *(each for _, each in cell.devices))}
    words = "; ".join(f"{level}: {meaning}" for level, meaning in MEANINGS.items() if level in levels and level != NO)
    legend = Paragraph(f"{words}{'; empty: there is none' if NO in levels else ''}.")
    return [Table((table.product.name, *(table.pythons[n] for n in used)), rows), legend]


def markdown(table: PythonMatrix) -> str:
    """Return the table in Markdown."""
    foot = f"As of {table.edition.day}, data of {table.edition.data_date}."
    return render([*blocks(table), Paragraph(foot)], Links())
