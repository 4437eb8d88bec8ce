"""Regions that are tables of what the knowledge base holds: figures, ends of life, versions, wheels, what replaces what."""

from datetime import date
from typing import Any

from compatkb.core.clock import later
from compatkb.docgen.arguments import YES_NO, RegionArgument, RegionContext, RegionKind
from compatkb.errors import UsageError
from compatkb.output import python_matrix, timeline
from compatkb.output.writers import Block, Inline, Paragraph, Span, Table
from compatkb.request.parser import parse_days
from compatkb.store.queries.products import ReleaseRecord

ONLY = "only"
_MOST = 6
"""More versions than this in a cell are counted instead of named."""
_MOST_NAMES = 3
_NOTHING = "no documented replacement"


def _eol(asked: RegionContext) -> list[Block]:
    product = asked.product("product")
    within = asked.values["within"]
    limit = later(asked.day, parse_days(within)).isoformat() if within else date.max.isoformat()
    today = asked.day.isoformat()
    rows = [record for record in asked.facts.releases() if record.eol and record.eol <= limit]
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


def _timeline(asked: RegionContext) -> list[Block]:
    values, vendors = asked.values, asked.words("vendor")
    since = timeline.parse_bound(values["from"], end=False) if values["from"] else None
    until = timeline.parse_bound(values["to"], end=True) if values["to"] else None
    for kind in asked.words("what"):
        if kind not in timeline.KINDS:
            raise UsageError(f"what={kind}: it is one of {', '.join(timeline.KINDS)}")
    selected = timeline.select(asked.facts, asked.day, since, until, vendors, asked.words("what"))
    if not selected.events:
        return [Paragraph(f"The data know of no event here, as of {asked.day}.")]
    return [*timeline.blocks(selected, names_vendors=len(vendors) != 1), asked.foot]


def _wheels(asked: RegionContext) -> list[Block]:
    product = asked.product("product")
    assert product  # it is required
    matrix = python_matrix.python_matrix(asked.facts, product, asked.day, asked.values["device"] or None)
    if not matrix.rows:
        return [Paragraph(f"The data know of no release here, as of {asked.day}.")]
    return [*python_matrix.blocks(matrix, asked.number("limit")), asked.foot]


def _replacements(asked: RegionContext) -> list[Block]:
    rows: list[tuple[Inline, ...]] = []
    facts = asked.facts
    for product, replaced in facts.replacements().items():
        where = f" on {replaced.device}" if replaced.device else ""
        name = facts.products[replaced.product].name if replaced.product in facts.products else replaced.product
        since = f"{name} {replaced.specifier.removeprefix('>=')}{where}"
        rows.append((facts.products[product].name, name, since, "stated", timeline.numbered(replaced.sources)))
    for feature in facts.feature_records():
        if instead := feature.replaced_by:
            known = instead.basis if instead.basis == "stated" else f"inferred: {instead.note}"
            name = facts.features.get(instead.feature, (instead.feature,))[0]
            rows.append((feature.name, name, _since(asked, instead.feature), known, timeline.numbered(instead.sources)))
    if not rows:
        return [Paragraph("The data know of nothing that replaces anything.")]
    return [Table(("before", "instead", "from", "known", "sources"), tuple(rows)), asked.foot]


def _since(asked: RegionContext, feature: str) -> str:
    """Return the oldest release that has a feature, for each device and system that its statements name."""
    oldest: dict[tuple[str, str], tuple[int, str]] = {}
    for statement in asked.facts.statements():
        elements = asked.facts.elements(statement.product).of(statement.mask)
        if not elements or statement.feature != feature or statement.status != "supported":
            continue
        name = f"{asked.facts.products[statement.product].name} {elements[0].release}"
        for device in statement.device or ("",):
            for system in statement.os or ("",):
                key = (device, system)
                oldest[key] = min(oldest.get(key, (elements[0].idx, name)), (elements[0].idx, name))
    if any(device for device, _ in oldest):  # what is said of no device adds nothing then
        oldest = {key: release for key, release in oldest.items() if key[0]}
    places: dict[str, list[str]] = {}
    for key, (_, name) in sorted(oldest.items(), key=lambda pair: (pair[1][0], pair[0])):
        places.setdefault(name, []).append(" on ".join(word for word in key if word) or "everywhere")
    return "; ".join(f"{name} ({', '.join(words)})" for name, words in places.items())


def _code(asked: RegionContext) -> list[Block]:
    facts = asked.facts
    wanted = asked.values["product"]
    if wanted and facts.product(wanted) is None:
        raise UsageError(f"product={wanted}: no such product")
    rows: list[tuple[Inline, ...]] = []
    for kind, formatter in (("replacement", _name), ("value", _value), ("launcher", _launcher)):
        for record in facts.guide_records(kind):
            if wanted and record["product"] != wanted:
                continue
            before, after = formatter(record)
            known = "stated" if record["basis"] == "stated" else f"inferred: {record['note']}"
            known = known if record["instead"] or record["how"] else ""
            rows.append((before, after, record["device"] or "any", known, timeline.numbered(record["sources"])))
    if not rows:
        return [Paragraph("The data know of nothing here.")]
    return [Table(("before", "instead", "device", "known", "sources"), tuple(rows)), asked.foot]


def _name(record: dict[str, Any]) -> tuple[Inline, Inline]:
    names = [name.replace(".*", "") for name in record["names"]]
    shown: list[str | Span] = []
    for name in names[:_MOST_NAMES]:
        shown += [", ", _span(name)]
    if len(names) > _MOST_NAMES:
        shown.append(f" and {len(names) - _MOST_NAMES} more")
    if members := record["members"]:
        shown.append(f" with {len(members)} names such as ")
        shown.append(_span(members[0]))
    words = ", ".join((*record["before"], *(f"{key}={value}" for key, value in record["defaults"].items())))
    return tuple(shown[1:]), _after(record, (record["instead"] or "").replace(".*", "") + (f"({words})" if words else ""))


def _value(record: dict[str, Any]) -> tuple[Inline, Inline]:
    calls = " or ".join(argument["call"].rpartition(".")[2] for argument in record["arguments"])
    return (_span(f'"{record["value"]}"'), f" in {calls}"), _after(record, f'"{record["instead"]}"')


def _launcher(record: dict[str, Any]) -> tuple[Inline, Inline]:
    return (_span(record["names"][0]),), _after(record, record["instead"])


def _after(record: dict[str, Any], text: str) -> Inline:
    """Return what to write instead, or how to do without, as far as that is documented."""
    return (_span(text),) if record["instead"] else record["how"] or _NOTHING


def _span(text: str) -> Span:
    return Span(text, code=True)


TABLES = {
    "eol": RegionKind(
        "the last supported days of a product's versions, or of all products', latest first",
        _eol,
        RegionArgument("product", "the product; every one unless given"),
        RegionArgument("within", "leaves out what ends later than this after the day: 90d, 12w, 6m, 1y"),
        RegionArgument("ended", "whether what has ended is shown: yes, no, or only that", "yes", choices=(*YES_NO, ONLY)),
    ),
    "timeline": RegionKind(
        "what happened in the support of hardware, oldest first, with sources",
        _timeline,
        RegionArgument("from", "leaves out what came before this day, month or year"),
        RegionArgument("to", "leaves out what came after, likewise"),
        RegionArgument("vendor", "only the events of these, separated by commas"),
        RegionArgument("what", "only these kinds of events, separated by commas: release, milestone, end-of-life"),
    ),
    "wheels": RegionKind(
        "the releases of a product by the Pythons that they have wheels for, newest first",
        _wheels,
        RegionArgument("product", "the product", required=True),
        RegionArgument("device", "only the builds for this device"),
        RegionArgument("limit", "how many releases are shown; all unless given"),
    ),
    "replacements": RegionKind("products and features that have ended, and what to use instead", _replacements),
    "code-replacements": RegionKind(
        "names, values and commands of products that have ended, and what to write instead",
        _code,
        RegionArgument("product", "only what this product brings"),
    ),
}
