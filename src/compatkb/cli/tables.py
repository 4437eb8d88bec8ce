"""Commands that print whole tables and pictures: the timeline, and which Pythons have wheels."""

import sys
from enum import StrEnum
from typing import Annotated, Literal

import typer

from compatkb.cli import completion
from compatkb.cli import options as o
from compatkb.cli.opening import open_facts
from compatkb.output import registry
from compatkb.output.terminal import show, show_text
from compatkb.request.lookup import find_product


class EventChoice(StrEnum):
    """The kinds of events."""

    release = "release"
    milestone = "milestone"
    end_of_life = "end-of-life"


def timeline(
    since: Annotated[str | None, o.value("--from", "DATE", "leave out what came before: YYYY-MM-DD, YYYY-MM or YYYY")] = None,
    until: Annotated[str | None, o.value("--to", "DATE", "leave out what came after, likewise")] = None,
    vendor: Annotated[o.Words, o.value("--vendor", "NAME", "only events of this vendor (repeatable)")] = None,
    kind: Annotated[list[EventChoice] | None, typer.Option("--kind", help="only events of this kind (repeatable)")] = None,
    width: Annotated[str, o.value("--width", "PIXELS", "how wide the SVG picture is")] = "960",
    form: Annotated[str, o.form("timeline")] = "text",
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Print the events that were asked for; 1 where there is none."""
    from compatkb.output import timeline as made
    from compatkb.output.timeline_svg import parse_width

    facts, clock = open_facts(data, as_of)
    first = made.parse_bound(since, end=False) if since else None
    last = made.parse_bound(until, end=True) if until else None
    events = made.select(facts, clock.day, first, last, vendor or (), [each.value for each in kind or ()])
    wide = {"width": parse_width(width)} if form == "svg" else {}
    (show_text if form == "text" else show)(registry.form("timeline", form)(facts, events, clock.day, **wide))
    if not events:
        print("remark: no event fits", file=sys.stderr)
    return 0 if events else 1


def matrix(
    product: o.Product,
    by: Annotated[Literal["python"], typer.Option("--by", help="what the columns are")] = "python",  # noqa: ARG001  # one so far
    device: Annotated[str | None, o.value("--device", "NAME", "only the builds for this device", completion.devices)] = None,
    form: Annotated[str, o.form("matrix")] = "text",
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Print which releases of a product have wheels for which Pythons."""
    from compatkb.output.python_matrix import python_matrix

    facts, clock = open_facts(data, as_of)
    table = python_matrix(facts, find_product(facts, product), clock.day, device)
    show(registry.form("matrix", form)(facts, table, clock.day))
    return 0
