"""The region about code: names, values and commands of products that have ended, and what to write instead."""

from typing import Any

from compatkb.docgen.arguments import RegionArgument, RegionContext, RegionKind
from compatkb.docgen.history import numbered
from compatkb.errors import UsageError
from compatkb.output.document_model import Block, Inline, Paragraph, Span, Table
from compatkb.store.queries.provenance import guide_records

_MOST_NAMES = 3
_NOTHING = "no documented replacement"


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
    after: Inline = record["how"] or _NOTHING
    if record["instead"]:
        words = ", ".join((*record["before"], *(f"{key}={value}" for key, value in record["defaults"].items())))
        after = (_span(record["instead"].replace(".*", "") + (f"({words})" if words else "")),)
    return tuple(shown[1:]), after


def _value(record: dict[str, Any]) -> tuple[Inline, Inline]:
    calls = " or ".join(argument["call"].rpartition(".")[2] for argument in record["arguments"])
    after: Inline = (_span(f'"{record["instead"]}"'),) if record["instead"] else record["how"] or _NOTHING
    return (_span(f'"{record["value"]}"'), f" in {calls}"), after


def _launcher(record: dict[str, Any]) -> tuple[Inline, Inline]:
    after: Inline = (_span(record["instead"]),) if record["instead"] else record["how"] or _NOTHING
    return (_span(record["names"][0]),), after


def _span(text: str) -> Span:
    return Span(text, code=True)


MIGRATION = {
    "code-replacements": RegionKind(
        "names, values and commands of products that have ended, and what to write instead",
        _code,
        (RegionArgument("product", "only what this product brings"),),
    ),
}
