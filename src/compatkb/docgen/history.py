"""Regions about time: the timeline, wheels by Python, what replaces what."""

from typing import Any

from compatkb.docgen.arguments import RegionArgument, RegionContext, RegionKind
from compatkb.errors import UsageError
from compatkb.output import timeline as events
from compatkb.output.document_model import Block, Bullets, Inline, Paragraph, Span, Table
from compatkb.output.python_matrix import INFERRED, MEANINGS, NO, YES, levels_of, python_matrix, row_name
from compatkb.store.queries.claims import features, statements
from compatkb.store.queries.products import replacements
from compatkb.store.queries.provenance import guide_records

_MOST_NAMES = 3
_NOTHING = "no documented replacement"


def _timeline(asked: RegionContext) -> list[Block]:
    values = asked.values
    since = events.parse_bound(values["from"], end=False) if values["from"] else None
    until = events.parse_bound(values["to"], end=True) if values["to"] else None
    for kind in asked.words("what"):
        if kind not in events.KINDS:
            raise UsageError(f"what={kind}: it is one of {', '.join(events.KINDS)}")
    vendors = asked.words("vendor")
    selection = events.select(asked.facts, asked.day, since, until, vendors, asked.words("what"))
    if not selection:
        return [Paragraph(f"The data know of no event here, as of {asked.day}.")]
    rows = []
    for event in selection:
        title = " ".join([event.title, *(f"({mark})" for mark in events.marks(event, asked.day))])
        who = () if len(vendors) == 1 else (asked.facts.vendors[event.vendor],)
        rows.append((events.date_text(event), *who, event.kind, title, numbered(event.sources)))
    notes = tuple(
        f"{event.title}: {d['about']}: {'; '.join(d['positions'])}. Decided {d['decided']}: {d['decision']}. {d['reason']}"
        for event in selection
        for d in event.disputes
    )
    disputed: list[Block] = [Paragraph("Disputed:"), Bullets(notes)] if notes else []
    head = ("date", *(() if len(vendors) == 1 else ("who",)), "kind", "event", "sources")
    return [Table(head, tuple(rows)), *disputed, asked.foot]


def numbered(sources: Any) -> Inline:
    """Return sources, pairs of text and address, as numbered links."""
    pieces: list[str | Span] = []
    for number, (text, url) in enumerate(sources, 1):
        pieces += [", ", Span(str(number), url) if url else text.partition(": ")[0]]  # a file of an index has no page
    return tuple(pieces[1:])


def _wheels(asked: RegionContext) -> list[Block]:
    product = asked.product("product")
    assert product  # it is required
    matrix = python_matrix(asked.facts, product, asked.day, asked.values["device"] or None)
    if not matrix.rows:
        return [Paragraph(f"The data know of no release here, as of {asked.day}.")]
    shown = matrix.rows[: asked.number("limit")]
    columns = [n for n in range(len(matrix.pythons)) if any(row.cells[n].level in (YES, INFERRED) for row in shown)]
    shown = tuple(row._replace(cells=tuple(row.cells[n] for n in columns)) for row in shown)
    rows = tuple((row_name(row), *("" if c.words == NO else c.words for c in row.cells)) for row in shown)
    used = levels_of(shown)
    words = "; ".join(f"{level}: {meaning}" for level, meaning in MEANINGS.items() if level in used and level != NO)
    empty = "; empty: there is none" if NO in used else ""
    head = (product.name, *(matrix.pythons[n] for n in columns))
    return [Table(head, rows), Paragraph(f"{words}{empty}."), asked.foot]


def _replacements(asked: RegionContext) -> list[Block]:
    rows: list[tuple[Inline, ...]] = []
    facts = asked.facts
    for product, replaced in replacements(facts).items():
        where = f" on {replaced.device}" if replaced.device else ""
        name = facts.products[replaced.product].name if replaced.product in facts.products else replaced.product
        since = f"{name} {replaced.specifier.removeprefix('>=')}{where}"
        rows.append((facts.products[product].name, name, since, "stated", numbered(replaced.sources)))
    for feature in features(facts):
        if instead := feature.replaced_by:
            known = instead.basis if instead.basis == "stated" else f"inferred: {instead.note}"
            name = facts.features.get(instead.feature, (instead.feature,))[0]
            rows.append((feature.name, name, _since(asked, instead.feature), known, numbered(instead.sources)))
    if not rows:
        return [Paragraph("The data know of nothing that replaces anything.")]
    return [Table(("before", "instead", "from", "known", "sources"), tuple(rows)), asked.foot]


def _since(asked: RegionContext, feature: str) -> str:
    """Return the oldest release that has a feature, for each device and system that its statements name."""
    oldest: dict[tuple[str, str], tuple[int, str]] = {}
    for statement in statements(asked.facts):
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
        for record in guide_records(facts, kind):
            if wanted and record["product"] != wanted:
                continue
            before, after = formatter(record)
            known = "stated" if record["basis"] == "stated" else f"inferred: {record['note']}"
            known = known if record["instead"] or record["how"] else ""
            rows.append((before, after, record["device"] or "any", known, numbered(record["sources"])))
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


HISTORY = {
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
