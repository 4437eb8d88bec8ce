"""Regions that are tables of what the knowledge base holds: figures, ends of life, versions, symbols."""

from collections import defaultdict
from datetime import date, timedelta

from compatkb.catalog.statistics import statistics
from compatkb.docgen.arguments import YES_NO, RegionArgument, RegionContext, RegionKind
from compatkb.errors import UsageError
from compatkb.output.document_model import Block, Paragraph, Table
from compatkb.output.labels import ranges
from compatkb.output.statistics import stats_blocks
from compatkb.request.lookup import find_product
from compatkb.request.parser import parse_days
from compatkb.store.queries.products import ReleaseRecord, releases, releases_of
from compatkb.store.queries.provenance import ObservationRecord, observations, symbol_tables
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


_PRODUCT = RegionArgument("product", "the package whose libraries are linked", required=True)
_PLATFORM = RegionArgument("platform", "the system and architecture, such as linux-x86_64", default="linux-x86_64")


def _links(asked: RegionContext) -> list[Block]:
    """Return a row a release: with which releases it links, and what it lacks in the newest one below and above them."""
    product = find_product(asked.facts, asked.values["product"])
    name = product.distribution or product.id
    order = [element.version for element in asked.facts.elements(product.id)]
    platform, releases = asked.values["platform"], {table.platform: table.releases for table in symbol_tables(asked.facts)}
    if platform not in releases:
        raise UsageError(f"no symbols were read for {platform}; they were for {', '.join(releases)}")
    links: dict[str, dict[str, ObservationRecord]] = defaultdict(dict)
    for seen in _seen_on(asked, platform):
        other = next((other for other in seen.packages if other != name), None)
        if name in seen.packages and other and seen.outcome in ("links", "missing-symbol"):
            links[seen.packages[name]][seen.packages[other]] = seen
    rows = [_row(releases[platform], version, links[version]) for version in reversed(order) if version in links]
    heads = ("release", "links with", "without some libraries with", "older releases lack", "newer releases lack", "looked at")
    return [Table(heads, tuple(rows))]


def _row(order: tuple[str, ...], version: str, beside: dict[str, ObservationRecord]) -> tuple[str, ...]:
    known = [release for release in order if release in beside]
    part = [release for release in known if beside[release].outcome == "links" and beside[release].missing]
    whole = [release for release in known if beside[release].outcome == "links" and not beside[release].missing]
    places = sorted(known.index(release) for release in (*part, *whole)) or [len(known)]
    below = known[places[0] - 1] if places[0] else None
    above = known[places[-1] + 1] if places[-1] + 1 < len(known) else None
    lacks = ["" if release is None else f"{beside[release].missing[0]} ({release})" for release in (below, above)]
    return (version, ranges(whole, order), ranges(part, order), *lacks, str(len(known)))


def _read(asked: RegionContext) -> list[Block]:
    """Return a row a platform: how many wheels were read, how many bytes, how many pairs were looked at, and the outcomes."""
    rows = []
    for table in symbol_tables(asked.facts):
        seen = _seen_on(asked, table.platform)
        alone = [each for each in seen if len(each.packages) == 1]
        pairs = [each for each in seen if len(each.packages) == 2]
        size = f"{sum(each.fetched for each in alone) / 1e9:.1f} GB" if alone else ""
        linked = [each for each in pairs if each.outcome == "links"]
        part = sum(bool(each.missing) for each in linked)
        counts = [sum(each.outcome == outcome for each in pairs) for outcome in ("missing-symbol", "not-checked")]
        nothing, conflicts = sum(bool(e.unlinked) for e in alone), sum(e.outcome == "conflict" for e in alone)
        cells = (
            table.platform,
            len(table.releases),
            len(alone),
            size,
            nothing,
            len(pairs),
            len(linked) - part,
            part,
            *counts,
            conflicts,
        )
        rows.append(tuple(str(cell) for cell in cells))
    heads = ("platform", "releases in the table", "wheels read", "bytes", "wheels that link nothing", "pairs", "link")
    more = (
        "link without some libraries",
        "lack a symbol",
        "not checked",
        "wheels that need a newer glibc than their tag says",
    )
    return [Table((*heads, *more), tuple(rows))]


def _seen_on(asked: RegionContext, platform: str) -> list[ObservationRecord]:
    return [seen for seen in observations(asked.facts, "symbols") if f"{seen.os}-{seen.arch}" == platform]


SYMBOLS = {
    "links": RegionKind("with which releases a package's libraries find all symbols", _links, _PRODUCT, _PLATFORM),
    "symbols-read": RegionKind("how many wheels were read for their symbols", _read),
}
"""The kinds of regions about symbols."""
