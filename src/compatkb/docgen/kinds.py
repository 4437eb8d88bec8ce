"""The registry of regions, which takes up what `tables`, `answers` and `images` define; and the function that writes one."""

from collections.abc import Mapping
from datetime import date
from difflib import get_close_matches

from compatkb.docgen.answers import ANSWERS
from compatkb.docgen.arguments import RegionArgument, RegionContext, RegionKind
from compatkb.docgen.images import IMAGES
from compatkb.docgen.tables import TABLES
from compatkb.errors import UsageError
from compatkb.output.writers import Block, Table
from compatkb.request.parser import parse_day
from compatkb.store.reader import Snapshot

AS_OF = RegionArgument("as-of", "the day that it is for, YYYY-MM-DD; unless given, the date of the data")


def _kinds(asked: RegionContext) -> list[Block]:
    """Return the table of kinds; it needs the registry that it stands in."""
    del asked
    rows = [("any", "", *_described(AS_OF))]
    for name, kind in KINDS.items():
        arguments = [_described(argument) for argument in kind.arguments]
        arguments += [("PRODUCT", "version words that pin a product, by its id or another name of it")] if kind.pins else []
        first, *rest = arguments or [("", "")]
        rows += [(name, kind.shows, *first), *(("", "", *row) for row in rest)]
    return [Table(("kind", "shows", "argument", "means"), tuple(rows))]


def _described(argument: RegionArgument) -> tuple[str, str]:
    more = "; required" if argument.required else ""
    if argument.default:
        more = f"; {argument.default} unless given"
    return argument.name, argument.means + more


KINDS: dict[str, RegionKind] = {
    **TABLES,
    **ANSWERS,
    **IMAGES,
    "kinds": RegionKind("this table", _kinds),
}
"""Every kind of region, in the order in which the documents list them."""


class RegionContents:
    """What regions show, on a day unless they name one themselves, and unless one is given on the date of the data."""

    def __init__(self, facts: Snapshot, day: date | None = None) -> None:
        self.facts = facts
        self.day = day or date.fromisoformat(facts.meta["data_date"])

    def content(self, name: str, arguments: Mapping[str, str]) -> list[Block]:
        """Return what a region of a kind shows.

        Raises UsageError naming the wrong kind or argument.
        """
        kind = KINDS.get(name)
        if kind is None:
            raise UsageError(f"{name!r} is no kind of region{_closest(name, list(KINDS))}")
        known = {argument.name: argument for argument in (AS_OF, *kind.arguments)}
        values = {key: argument.default for key, argument in known.items()}
        pins = {}
        for key, value in arguments.items():
            if key in known:
                _check(known[key], value)
                values[key] = value
            elif kind.pins and self.facts.product(key):
                pins[key] = value
            else:
                also = " and no product" if kind.pins else ""
                names = [*known, *(self.facts.products if kind.pins else ())]
                raise UsageError(f"{key!r} is no argument of {name}{also}{_closest(key, names)}")
        for argument in kind.arguments:
            if argument.required and not values[argument.name]:
                raise UsageError(f"{name} needs {argument.name}=: {argument.means}")
        day = parse_day(values["as-of"]) if values["as-of"] else self.day
        return kind.render(RegionContext(self.facts, day, values, pins))


def _check(argument: RegionArgument, value: str) -> None:
    if not value:
        raise UsageError(f"{argument.name}= has no value; leave it out where none is meant")
    if argument.choices and value not in argument.choices:
        raise UsageError(f"{argument.name}={value}: it is one of {', '.join(argument.choices)}")


def _closest(word: str, known: list[str]) -> str:
    near = get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known[:12])}"
