"""The arguments of regions, and the request that a region makes."""

import re
from collections.abc import Callable
from datetime import date
from functools import lru_cache

from compatkb.core.clock import Clock
from compatkb.core.record import NamedTuple
from compatkb.engine.answer import resolve
from compatkb.errors import UsageError
from compatkb.output.presenter import present
from compatkb.output.view import AnswerView
from compatkb.output.writers import Block, Paragraph
from compatkb.request.lookup import find_product
from compatkb.request.parser import make_request
from compatkb.store.reader import Snapshot
from compatkb.store.records import Product, Request


class RegionArgument(NamedTuple):
    """A key that a kind of region takes, what it means, and its value where a region gives none."""

    name: str
    means: str
    default: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()


class RegionContext(NamedTuple):
    """A region's arguments over the facts, as of the end of a day; `pins` are version words by product."""

    facts: Snapshot
    day: date
    values: dict[str, str]
    pins: dict[str, str]

    def is_on(self, name: str) -> bool:
        """Return whether a yes-or-no argument says yes."""
        return self.values[name] == "yes"

    def product(self, name: str) -> Product | None:
        """Return the product that an argument names, None where it is empty; raises UsageError."""
        return find_product(self.facts, self.values[name]) if self.values[name] else None

    def number(self, name: str) -> int | None:
        """Return an argument as a number from 1 on, None where it is empty; raises UsageError."""
        text = self.values[name]
        if text and not re.fullmatch(r"[1-9]\d{0,5}", text, re.ASCII):
            raise UsageError(f"{name}={text} is not a number from 1 on")
        return int(text) if text else None

    def words(self, name: str) -> list[str]:
        """Return the words of an argument, separated by commas or blanks."""
        return self.values[name].replace(",", " ").split()

    @property
    def foot(self) -> Paragraph:
        """The line that says for which day a table is, and of which day its data are."""
        return Paragraph(f"As of {self.day}, data of {self.facts.meta['data_date']}.")

    @property
    def clock(self) -> Clock:
        """The day as a clock: a day before that of the data is asked about, a later one is only the day of asking."""
        is_past = self.day < date.fromisoformat(self.facts.meta["data_date"])
        return Clock(self.day, self.day if is_past else None)

    def answer(self, more: dict[str, str] | None = None, bare: tuple[str, ...] = ()) -> AnswerView:
        """Return the answer to the request that the region's pins, words and devices make; raises UsageError."""
        pins = {**self.pins, **(more or {})}
        options = [(find_product(self.facts, name).id, text) for name, text in pins.items()]
        words = (*self.values.get("words", "").split(), *bare)
        request = make_request(self.facts, options, words, self.words("device"), self.clock)
        return _resolved(self.facts, request)


@lru_cache(maxsize=512)
def _resolved(facts: Snapshot, request: Request) -> AnswerView:
    """Return the answer to a request; pages ask many of them more than once."""
    return present(facts, resolve(facts, request))


class RegionKind:
    """A kind of region: what it shows, the function that writes it, and what it takes."""

    def __init__(
        self, shows: str, render: Callable[[RegionContext], list[Block]], *arguments: RegionArgument, pins: bool = False
    ) -> None:
        """With `pins` products are arguments too, each with the version words that pin it."""
        self.shows, self.render, self.arguments, self.pins = shows, render, arguments, pins


YES_NO = ("yes", "no")
DEVICE = RegionArgument("device", "the device or devices, separated by commas; every one unless given")
