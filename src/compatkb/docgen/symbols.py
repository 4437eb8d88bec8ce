"""Regions about symbols: which releases of a package find all of theirs in which releases of another."""

from collections import defaultdict

from compatkb.docgen.arguments import RegionArgument, RegionContext, region_kind
from compatkb.errors import UsageError
from compatkb.output.document_model import Block, Table
from compatkb.output.labels import ranges
from compatkb.request.lookup import find_product
from compatkb.store.queries.provenance import ObservationRecord, observations, symbol_tables

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
    "links": region_kind("with which releases a package's libraries find all symbols", _links, _PRODUCT, _PLATFORM),
    "symbols-read": region_kind("how many wheels were read for their symbols", _read),
}
"""The kinds of regions about symbols."""
