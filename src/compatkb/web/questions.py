"""A question as an address has it: read from a query string, and written as one, or as a line for the command line."""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import lru_cache
from urllib.parse import quote

from compatkb.core.clock import Clock
from compatkb.core.record import NamedTuple
from compatkb.errors import UsageError, WordsError
from compatkb.headline_options import HEADLINES
from compatkb.request.parser import make_request, parse_day
from compatkb.request.typed import Aside, read_typed, set_aside
from compatkb.store.reader import Snapshot
from compatkb.store.records import Request

Parameters = Iterable[tuple[str, str]]
MOST_CHARACTERS, MOST_WORDS, MOST_QUOTED = 1000, 40, 5000
_NAMES = {product: option.removeprefix("--") for option, _, product, _ in HEADLINES}


class PageQuestion(NamedTuple):
    """What was asked: version words by product, further words such as `numpy==2.0`, devices, features, route, day."""

    options: tuple[tuple[str, str], ...] = ()
    words: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    route: str | None = None
    as_of: date | None = None

    def request(self, facts: Snapshot, clock: Clock) -> Request:
        """Return the request, as the command line makes it; raises UsageError."""
        asked = Clock(clock.today, self.as_of or clock.as_of)
        return make_request(facts, self.options, self.words, self.devices, asked, self.needs, self.route)

    def parameters(self) -> list[tuple[str, str]]:
        """Return the parameters of an address that asks this."""
        parameters = [("device", device) for device in self.devices]
        parameters += [(_NAMES[product], text) for product, text in self.options]
        parameters += [("q", shlex.join(self.words))] if self.words else []
        parameters += [("needs", need) for need in self.needs]
        parameters += [("route", self.route)] if self.route else []
        return parameters + ([("as-of", self.as_of.isoformat())] if self.as_of else [])

    def query(self) -> str:
        """Return the query string of an address that asks this; empty for a question about anything."""
        return "&".join(f"{quoted(name)}={quoted(text)}" for name, text in self.parameters())

    def command(self) -> str:
        """Return the command line that asks this, quoted for a POSIX shell."""
        words = ["compatkb", "resolve"]
        for name, text in self.parameters():
            words += self.words if name == "q" else [f"--{name}", text]
        return shlex.join(words)

    def version_of(self, product: str) -> str:
        """Return the version words that an option fixes of a product; empty where none does."""
        return " ".join(text for name, text in self.options if name == product)

    def fix(self, product: str, text: str = "") -> "PageQuestion":
        """Return the question with a product fixed otherwise, or free where no version is given."""
        others = tuple(option for option in self.options if option[0] != product)
        return self._replace(options=_ordered((*others, *([(product, text)] if text else []))))


@lru_cache(MOST_QUOTED)
def quoted(text: str) -> str:
    """Return a part of a query string; signs that every browser reads as themselves stay."""
    return quote(text, safe="=<>!~,.:")


def _ordered(options: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    places = {product: number for number, (_, _, product, _) in enumerate(HEADLINES)}
    return tuple(sorted(options, key=lambda option: places[option[0]]))


def read_question(parameters: Parameters) -> PageQuestion:
    """Return the question of an address; empty values count for nothing.

    Raises UsageError naming every parameter that is unknown or wrong: none is dropped.
    """
    known = _known()
    options: list[tuple[str, str]] = []
    lists: dict[str, list[str]] = {"device": [], "needs": [], "route": [], "as-of": [], "q": []}
    problems: list[str] = []
    given = [(name, text.strip()) for name, text in parameters if text.strip()]
    if sum(len(text) for _, text in given) > MOST_CHARACTERS or len(given) > MOST_WORDS:
        raise UsageError(f"the question is longer than {MOST_CHARACTERS} characters or {MOST_WORDS} parts")
    for name, text in given:
        plain = name.replace("_", "-")
        if plain in known:
            options.append((known[plain], text))
        elif plain in lists:
            lists[plain].append(text)
        else:
            problems.append(f"unknown parameter {name[:60]!r}; known: {', '.join([*dict.fromkeys(known), *lists])}")
    problems += [f"{name} is given more than once" for name in ("route", "as-of") if len(lists[name]) > 1]
    if problems:
        raise WordsError(tuple(problems)) if len(problems) > 1 else UsageError(problems[0])
    words = tuple(word for text in lists["q"] for word in split_words(text))
    day = parse_day(lists["as-of"][0]) if lists["as-of"] else None
    route = lists["route"][0] if lists["route"] else None
    return PageQuestion(_ordered(tuple(options)), words, tuple(lists["device"]), tuple(lists["needs"]), route, day)


@lru_cache
def _known() -> dict[str, str]:
    """The products that have a parameter, by its name."""
    return {name.removeprefix("--"): product for option, others, product, _ in HEADLINES for name in (option, *others)}


def split_words(text: str) -> list[str]:
    """Return the words of a line as a shell splits them; raises UsageError for an open quote."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{text!r}: {str(error).lower()}") from None


def question_of(request: Request, asked: PageQuestion) -> PageQuestion:
    """Return the question with every pin on a product of the form as an option, so that single ones can be changed."""
    headlines = {product for _, _, product, _ in HEADLINES}
    options: list[tuple[str, str]] = []
    words = list(request.bare)
    for pin in request.pins:
        if pin.need:
            continue
        for text in _texts(pin.text, pin.product):
            plain = text[len(pin.product) :].strip() if _is_word(text, pin.product) else text
            if pin.product in headlines:
                options.append((pin.product, re.sub(r"^==\s*(?=[^,*]*$)", "", plain)))
            else:
                words.append(text if _is_word(text, pin.product) else f"{pin.product} {text}")
    devices = asked.devices or (request.devices if request.names_devices else ())
    needs = tuple(pin.product for pin in request.pins if pin.need)
    return asked._replace(options=_ordered(tuple(options)), words=tuple(words), devices=devices, needs=needs)


class Asked(NamedTuple):
    """What an address asks of a page: the question that was understood, and what of it was set aside."""

    question: PageQuestion
    aside: tuple[Aside, ...] = ()


def read_asked(facts: Snapshot, parameters: Parameters, clock: Clock) -> Asked:
    """Return the question of an address as a page reads it: what cannot be asked is set aside, and the rest is answered.

    Words are read as people type them; what they say of a product or a device takes the place of what a parameter says.
    """
    asked, aside = PageQuestion(), []
    given = [(name, text.strip()) for name, text in parameters if text.strip()][:MOST_WORDS]
    typed = " ".join(text for name, text in given if name == "q")[:MOST_CHARACTERS]
    for name, text in given:
        if name == "q":
            continue
        try:
            more = read_question([(name, text[:MOST_CHARACTERS])])
            more.request(facts, clock)
            both = _with(asked, more)
            both.request(facts, clock)
            asked = both
        except UsageError as error:
            aside.append(set_aside(text[:80], error))
    for read in (_words_of, read_typed) if typed else ():  # whole words first, then one by one
        words, unread = read(facts, typed, clock)
        named = [word for word in words if facts.find_application(word) and not facts.product(word)]
        try:
            said = _form_of(facts, [word for word in words if word not in named], clock)
            both = _with(asked, said._replace(words=(*said.words, *named)))
            both.request(facts, clock)
            return Asked(both, (*aside, *unread))
        except UsageError as error:
            problem = set_aside(typed[:80], error)
    return Asked(asked, (*aside, *([problem] if typed else ())))


def _words_of(facts: Snapshot, typed: str, clock: Clock) -> tuple[Sequence[str], tuple[Aside, ...]]:
    """Return the words of a line as the command line reads them, and what is set aside of a line that it would refuse."""
    try:
        words = split_words(typed)
        make_request(facts, (), words, (), clock)
    except UsageError:
        return read_typed(facts, typed, clock)
    return words, ()


def _form_of(facts: Snapshot, words: Sequence[str], clock: Clock) -> PageQuestion:
    """Return what words ask together as a question with options; what an option cannot say, as `==2.8`, stays a word."""
    if not words:
        return PageQuestion()
    request = make_request(facts, (), words, (), clock)
    said = question_of(request, PageQuestion())
    kept = {pin.product: pin for pin in said.request(facts, clock).pins}
    for pin in request.pins:
        if kept.get(pin.product) != pin and _is_word(pin.text, pin.product):
            said = said.fix(pin.product)._replace(words=(*said.words, *_texts(pin.text, pin.product)))
    return said if said.request(facts, clock) == request else PageQuestion(words=tuple(words))


def _with(asked: PageQuestion, more: PageQuestion) -> PageQuestion:
    """Return a question with what another says, whose pins and devices take the place of those that were there."""
    for product, text in more.options:
        asked = asked.fix(product, text)
    named = {re.split(r"[<>=!~\[]", word)[0] for word in more.words}
    for product in named:
        asked = asked.fix(product)
    words = (*(word for word in asked.words if re.split(r"[<>=!~\[]", word)[0] not in named), *more.words)
    devices = more.devices or (() if more.version_of("hardware") else asked.devices)
    return PageQuestion(
        asked.options, words, devices, (*asked.needs, *more.needs), more.route or asked.route, more.as_of or asked.as_of
    )


def _is_word(text: str, product: str) -> bool:
    return bool(re.match(re.escape(product) + r"\s*[<>=!~]", text))


def _texts(text: str, product: str) -> Iterator[str]:
    """Yield the texts of the pins that one product has: a pin may stand for several."""
    if _is_word(text, product):
        yield from re.split(rf"\s+(?={re.escape(product)}\s*[<>=!~])", text)
    else:
        yield text
