"""Regions that are tables of what the knowledge base holds: figures, ends of life, versions."""

from datetime import date, timedelta

from compatkb.catalog.statistics import statistics
from compatkb.docgen.arguments import YES_NO, RegionArgument, RegionContext, RegionKind
from compatkb.output.document_model import Block, Paragraph, Table
from compatkb.output.statistics import stats_blocks
from compatkb.request.parser import parse_days
from compatkb.store.queries.products import ReleaseRecord, releases, releases_of
from compatkb.store.records import Element

ONLY = "only"
_MOST = 6
"""More versions than this in a cell are counted instead of named."""


def _eol(asked: RegionContext) -> list[Block]:
    product = asked.product("product")
    within = asked.values["within"]
    limit = (asked.day + timedelta(days=parse_days(within))).isoformat() if within else date.max.isoformat()
    today = asked.day.isoformat()
    rows = [record for record in releases(asked.facts) if record.eol and record.eol <= limit]
    rows.sort(key=lambda record: record.eol or "", reverse=True)
    hidden = {"yes": (), "no": (True,), ONLY: (False,)}[asked.values["ended"]]
    groups: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        last, precision = row.eol or "", row.eol_precision or ""
        unborn = (row.released or "")[:10] > today
        if unborn or (product and row.product != product.id) or (last < today) in hidden:
            continue
        groups.setdefault((last, precision, row.product), []).append(_shown(asked, row))
    if not groups:
        return [Paragraph(f"The data know of no end of life here, as of {asked.day}.")]
    head = ("last supported day", *(() if product else ("product",)), "versions", "state")
    cells = []
    for (last, precision, name), versions in groups.items():
        shown = last if precision == "day" else f"{last} (known to the {precision})"
        state = "ended" if last < today else "supported"
        cells.append((shown, *(() if product else (asked.facts.products[name].name,)), _some(versions), state))
    return [Table(head, tuple(cells)), asked.foot]


def _shown(asked: RegionContext, row: ReleaseRecord) -> str:
    """Return a version as people know it: those of listed products have names."""
    listed = asked.facts.products[row.product].scheme == "listed"
    return row.name or row.version if listed else row.version


def _some(versions: list[str]) -> str:
    if len(versions) <= _MOST:
        return ", ".join(versions)
    return f"{', '.join(versions[: _MOST - 1])} and {len(versions) - _MOST + 1} more"


def _versions(asked: RegionContext) -> list[Block]:
    product = asked.product("product")
    assert product  # it is required
    devices = set(asked.words("device"))
    today, last = asked.day.toordinal(), asked.number("limit")
    elements = asked.facts.elements(product.id)
    records = {record.version: record for record in releases_of(asked.facts, product.id)}
    has_builds = any(element.devices and element.channels for element in elements)
    cells = []
    for version in records or dict.fromkeys(element.release for element in reversed(elements)):
        released = records[version].released if records else None
        matching = [e for e in reversed(elements) if e.release == version and (e.since is None or e.since <= today)]
        matching = [e for e in matching if not devices or devices & e.devices]
        if (released or "")[:10] > asked.day.isoformat() or not matching:
            continue
        names = [e.version if e.stage == "stable" else f"{e.version} ({e.stage})" for e in matching if e.devices]
        builds = (", ".join(names),) if has_builds else ()
        eol = records[version].eol if records else None
        cells.append((version, _released(released), *builds, _state(eol, matching, asked.day)))
    if not cells:
        return [Paragraph(f"The data know of no release here, as of {asked.day}.")]
    head = ("release", "released", *(("builds",) if has_builds else ()), "state")
    return [Table(head, tuple(cells[:last])), asked.foot]


def _released(released: str | None) -> str:
    after, bounded, by = (released or "").partition("/")
    if not bounded:
        return after or "not known"
    known = [f"{word} {day}" for word, day in (("after", after), ("by", by)) if day[:1].isdigit()]
    return " and ".join(known)


def _state(eol: str | None, elements: list[Element], day: date) -> str:
    today = day.toordinal()
    parts = []
    withdrawn = [e for e in elements if e.yank_by is not None and e.yank_by <= today]
    if withdrawn and len(withdrawn) == len(elements):
        parts.append("yanked")
    elif withdrawn:
        parts.append(f"yanked: {', '.join(e.version for e in withdrawn)}")
    elif any(e.yank_after is not None and e.yank_after <= today for e in elements):
        parts.append("maybe yanked by then")
    if eol:
        parts.append(f"{'ended' if eol < day.isoformat() else 'supported to'} {eol}")
    return "; ".join(parts)


TABLES = {
    "stats": RegionKind(
        "how large, how well supported and how fresh the data are",
        lambda asked: stats_blocks(statistics(asked.facts, asked.day)),
    ),
    "eol": RegionKind(
        "the last supported days of a product's versions, or of all products', latest first",
        _eol,
        RegionArgument("product", "the product; every one unless given"),
        RegionArgument("within", "leaves out what ends later than this after the day: 90d, 12w, 6m, 1y"),
        RegionArgument("ended", "whether what has ended is shown: yes, no, or only that", "yes", choices=(*YES_NO, ONLY)),
    ),
    "versions": RegionKind(
        "the releases of a product with their days, builds and states, newest first",
        _versions,
        RegionArgument("product", "the product", required=True),
        RegionArgument("device", "shows only builds for one of these devices, separated by commas"),
        RegionArgument("limit", "how many releases are shown; all unless given"),
    ),
}
