"""Search for words in what the knowledge base says: every word must match, names count more than remarks."""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import NamedTuple

from compatkb.catalog.disputes import Disagreement, read_disagreements
from compatkb.catalog.troubles import KINDS as TROUBLES
from compatkb.catalog.troubles import troubles
from compatkb.core.names import word_key
from compatkb.core.vocabulary import Role
from compatkb.errors import UsageError
from compatkb.store.queries.claims import every_edge, features, product_claims, statements
from compatkb.store.queries.images import contents, images
from compatkb.store.queries.products import ReleaseRecord, element_details, every_product_details, product_names, releases
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Product

KINDS = ("product", "feature", "release", "value", "event", "image", "advisory", "dispute", "statement", "claim", *TROUBLES)
"""Kinds of records, in the order in which equally good ones are shown."""

_TOKEN = re.compile(r"[^\W_]+(?:\.[^\W_]+)*")
_SENTENCES = ("event", "dispute", "symptom")  # what these are called is no name that people would misspell
_SNIPPET = 120
_TELLING = 8  # so many letters of an error tell something
_TERMS = 4  # so many terms of a claim are shown in its title


class SearchHit(NamedTuple):
    """A record that has every word, and the command that shows more of it."""

    kind: str
    product: str | None
    version: str | None
    title: str
    text: str  # the further name, remark, reason or message in which a word was found; empty where the title has them all
    command: str


class SearchResult(NamedTuple):
    """What a search found, best first; where that is nothing, what to try."""

    words: tuple[str, ...]
    hits: tuple[SearchHit, ...]
    matches: tuple[tuple[str, int], ...]  # each word alone, and how many records have it
    near: tuple[str, ...]  # words of the data that are spelt like those that match nothing


class _Record(NamedTuple):
    kind: str
    product: str | None
    version: str | None
    title: str
    names: tuple[str, ...]
    remarks: tuple[str, ...]
    command: tuple[str, ...]
    place: int


def search(facts: Snapshot, words: Sequence[str], day: date) -> SearchResult:
    """Return the records that have all words, as of `day`; raises UsageError where there is no word to search for."""
    wanted = tuple(dict.fromkeys(_TOKEN.findall(" ".join(words).casefold())))
    if not wanted:
        raise UsageError(f"{' '.join(words)!r} holds no word to search for; give letters or digits, such as arc or 2.8")
    key = word_key(" ".join(words))
    records = list(_records(facts, day))
    scored = [(_score(record, wanted, key), record) for record in records]
    scored.sort(key=lambda pair: (-pair[0], KINDS.index(pair[1].kind), pair[1].place))
    hits = tuple(_hit(record, wanted) for score, record in scored if score)
    hits = hits or tuple(_hit(record, wanted) for record in records if _is_within(record, " ".join(words).casefold()))
    if hits:
        return SearchResult(wanted, hits, (), ())
    alone = tuple((word, sum(1 for record in records if _score(record, (word,), word))) for word in wanted)
    return SearchResult(wanted, (), alone, _near(records, [word for word, count in alone if not count]))


def _score(record: _Record, wanted: tuple[str, ...], key: str) -> int:
    """Return how well a record matches, 0 where a word is missing."""
    names = {word_key(name) for name in record.names}
    if key in names:
        return 1000 if record.kind in ("product", "feature", "release", "value") else 500
    title, body = " ".join(record.names).casefold(), " ".join(record.remarks).casefold()
    whole = f"{title} {body}"
    if not all(word in whole for word in wanted):
        return 0
    in_title, in_body = set(_TOKEN.findall(title)), set(_TOKEN.findall(body))
    score = 0
    for word in wanted:
        if word in in_title:
            score += 80
        elif any(token.startswith(word) for token in in_title):
            score += 40
        elif word in in_body:
            score += 20
        elif any(token.startswith(word) for token in in_body):
            score += 10
        else:
            return 0
    return score + (100 if any(name.startswith(key) for name in names) else 0)


def _is_within(record: _Record, text: str) -> bool:
    """Return whether a longer text, such as a line of an error, has what a symptom looks for."""
    return record.kind == "symptom" and any(len(name) >= _TELLING and name.casefold() in text for name in record.names)


def _hit(record: _Record, wanted: tuple[str, ...]) -> SearchHit:
    title = record.title.casefold()
    missing = [word for word in wanted if word not in title]
    texts = (*record.names, *record.remarks)
    found = next((text for text in texts if any(word in text.casefold() for word in missing)), "")
    return SearchHit(
        record.kind, record.product, record.version, _line(record.title), _snippet(found, wanted), shlex.join(record.command)
    )


def _snippet(text: str, wanted: tuple[str, ...]) -> str:
    """Return the part of a text around the first word in it."""
    text = _line(text)
    if len(text) <= _SNIPPET:
        return text
    places = [text.casefold().find(word) for word in wanted]
    start = max(0, min((place for place in places if place >= 0), default=0) - _SNIPPET // 3)
    end = start + _SNIPPET
    return ("..." if start else "") + text[start:end].strip() + ("..." if end < len(text) else "")


def _line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _near(records: Iterable[_Record], lost: Sequence[str]) -> tuple[str, ...]:
    from difflib import get_close_matches

    named = [name for record in records if record.kind not in _SENTENCES for name in record.names]
    known = sorted({token for name in named for token in _TOKEN.findall(name.casefold())})
    return tuple(dict.fromkeys(near for word in lost for near in get_close_matches(word, known, n=3, cutoff=0.7)))


def _records(facts: Snapshot, day: date) -> Iterator[_Record]:
    yield from _products(facts)
    yield from _features(facts, day)
    yield from _events(facts, day)
    yield from _releases(facts, day)
    yield from _images(facts, day)
    yield from _sayings(facts, day)
    yield from (_Record(*trouble, place) for place, trouble in enumerate(troubles(facts)))


def _products(facts: Snapshot) -> Iterator[_Record]:
    keys, details = product_names(facts), every_product_details(facts)
    products = [product for product in facts.products.values() if product.role != Role.FEATURE]
    for place, product in enumerate(products):
        key = product.id
        names = _some(key, product.name, product.distribution, product.import_name, *keys.get(key, ()))
        title = key if key == product.name else f"{key}: {product.name}"
        yield _Record("product", key, None, title, names, _some(details[key].note), ("compatkb", "show", key), place)


def _features(facts: Snapshot, day: date) -> Iterator[_Record]:
    for place, feature in enumerate(features(facts)):
        names = (feature.id, feature.name, *feature.aliases)
        title = feature.id if feature.id == feature.name else f"{feature.id}: {feature.name}"
        command = ("compatkb", "features", feature.id)
        yield _Record("feature", feature.product, None, title, names, _some(feature.note, feature.product), command, place)
    for place, said in enumerate(statements(facts)):
        product = said.product
        mine = facts.elements(product).of(said.mask)
        if mine and all(e.since is not None and e.since > day.toordinal() for e in mine):
            continue
        where = ", ".join(" ".join(values) for values in said.condition.values())
        title = f"{said.feature} {said.status} in {product}{said.spec}{f' ({where})' if where else ''}"
        command = ("compatkb", "features", said.feature)
        remarks = _some(title, *facts.features[said.feature], said.reason, said.note)
        yield _Record("statement", product, None, title, (said.claim,), remarks, command, place)


def _events(facts: Snapshot, day: date) -> Iterator[_Record]:
    for place, event in enumerate(reversed(facts.events)):
        known = event.first if event.announced is None else min(event.first, event.announced)
        if known > day.toordinal():
            continue
        first = date.fromordinal(event.first)
        vendor = facts.vendors.get(event.vendor, event.vendor)
        title = f"{first if event.first == event.last else _span(event.first, event.last)} {event.title}"
        remarks = _some(vendor, event.kind, event.product, event.note)
        command = _timeline(event.first, event.last)
        yield _Record("event", event.product, event.version, title, (event.id, event.title), remarks, command, place)


def _span(first: int, last: int) -> str:
    return f"{date.fromordinal(first)} to {date.fromordinal(last)}"


def _timeline(first: int, last: int) -> tuple[str, ...]:
    days = (date.fromordinal(first).isoformat(), date.fromordinal(last).isoformat())
    return ("compatkb", "timeline", "--from", days[0], "--to", days[1])


def _releases(facts: Snapshot, day: date) -> Iterator[_Record]:
    stored = {(release.product, release.version): release for release in releases(facts)}
    place = 0
    for product in facts.products.values():
        if product.role == Role.FEATURE:
            continue
        details = element_details(facts, product.id)
        builds: dict[str, list[Element]] = {}
        for element in reversed(facts.elements(product.id)):
            builds.setdefault(element.release, []).append(element)
        for version, mine in builds.items():
            if not all(build.since and build.since > day.toordinal() for build in mine):
                known = [(details[build.idx], build.yank_reason) for build in mine]
                notes = [note for more, reason in known for note in (more.note, more.wheels_note, reason)]
                yield _release(product, version, stored.get((product.id, version)), mine, notes, place)
            place += 1


def _release(
    product: Product, version: str, record: ReleaseRecord | None, builds: list[Element], notes: list[str | None], place: int
) -> _Record:
    key = product.id
    own = _some(record.name, *record.aliases) if record else ()
    names = (f"{key} {version}", version, *own, *(f"{key} {build.version}" for build in builds))
    remarks = _some(record.note if record else None, *notes)
    title = f"{key} {version}" + (f" ({', '.join(own[:6])})" if own else "")
    kind = "value" if product.role == Role.DIMENSION else "release"
    return _Record(kind, key, version, title, names, remarks, ("compatkb", "show", key, version), place)


def _images(facts: Snapshot, day: date) -> Iterator[_Record]:
    held = contents(facts)
    for place, image in enumerate(reversed(images(facts))):
        if image.runs and min(first for first, _ in image.runs) > day.toordinal():
            continue
        parts = held.get(image.id, ())
        pins = [
            f"{part.product}{part.spec}"
            for part in parts
            if part.product in facts.products
            and facts.products[part.product].role == Role.PACKAGE
            and re.fullmatch(r"==[^*,]+", part.spec)
            and part.mask
            and facts.elements(part.product)[part.mask.bit_length() - 1].devices
        ]
        title = image.reference
        command = ("compatkb", "explain", *pins, "--device", image.device) if pins else ("docker", "pull", title)
        remarks = _some(image.note, *(f"{part.product}{part.spec}" for part in parts))
        yield _Record("image", None, None, title, (title, image.name), remarks, command, place)


def _sayings(facts: Snapshot, day: date) -> Iterator[_Record]:
    known = [advisory for advisory in facts.advisories if advisory.since <= day.toordinal()]
    for place, advisory in enumerate(known):
        product, newest = advisory.product, advisory.mask.bit_length() - 1
        version = facts.elements(product)[newest].release if newest >= 0 else None
        command = ("compatkb", "show", product, *([version] if version else ()))
        title = f"{advisory.kind} advisory on {product}{f' {version}' if version else ''}"
        yield _Record("advisory", product, version, title, (product, advisory.kind), _some(advisory.message), command, place)
    yield from _disputes(facts, day)
    later = _later(facts, day)
    explained = [claim for claim in product_claims(facts) if claim.reason is not None or claim.note is not None]
    for place, claim in enumerate(explained):
        if claim.id in later:
            continue
        terms = claim.to_terms
        whole = f"{claim.of_term} {claim.kind} {', '.join(terms)}"
        more = f" and {len(terms) - _TERMS} more" if len(terms) > _TERMS else ""
        title = f"{claim.of_term} {claim.kind} {', '.join(terms[:_TERMS])}{more}"
        of, spec = _split(claim.of_term)
        plain = spec[2:] if re.fullmatch(r"==[^*,=]+", spec) else spec
        command = ("compatkb", "show", of, *([plain] if plain else ()))
        remarks = _some(whole, claim.reason, claim.note)
        yield _Record("claim", of, plain or None, title, (claim.id,), remarks, command, place)


def _disputes(facts: Snapshot, day: date) -> Iterator[_Record]:
    for place, dispute in enumerate(read_disagreements(facts)):
        concerned = [subject.name for subject in dispute.subjects]
        days = [e for e in facts.events if dispute.kind == "timeline" and e.id in concerned]
        if days and min(min(e.first, e.announced or e.first) for e in days) > day.toordinal():
            continue
        sides = (position.text for position in dispute.positions)
        remarks = _some(dispute.about, dispute.reason, dispute.holds, *sides)
        products = [e.product for e in days if e.product]
        product = dispute.owner if dispute.kind == "product" else next(iter(products), None)
        names = _some(dispute.owner, dispute.id, *concerned)
        command = _shows(facts, dispute)
        yield _Record("dispute", product, None, dispute.about, names, remarks, command, place)


def _shows(facts: Snapshot, dispute: Disagreement) -> tuple[str, ...]:
    """Return the command that shows a dispute with both sides."""
    concerned = [subject.name for subject in dispute.subjects]
    if dispute.kind == "timeline":
        events = [event for event in facts.events if event.id in concerned]
        return _timeline(min(event.first for event in events), max(event.last for event in events))
    if dispute.kind == "image":
        tag = next((name.rpartition(":")[2] for name in concerned), None)
        return ("compatkb", "show", dispute.owner, *([tag] if tag else ()))
    if dispute.kind == "channel":  # no product of its own shows it
        return ("compatkb", "export", "--format", "csv", "--table", "dispute_position")
    return ("compatkb", "features" if dispute.kind == "feature" else "show", dispute.owner)


def _later(facts: Snapshot, day: date) -> set[str]:
    """Return the claims of versions that came out after a day, none earlier."""
    late: dict[str, bool] = {}
    for edge in every_edge(facts):
        mine = facts.elements(edge.of).of(edge.of_mask)
        after = all(e.since is not None and e.since > day.toordinal() for e in mine)
        late[edge.claim] = late.get(edge.claim, True) and after
    return {claim for claim, after in late.items() if after}


def _split(term: str) -> tuple[str, str]:
    match = re.match(r"[a-z0-9][a-z0-9_-]*", term)
    end = match.end() if match else len(term)
    return term[:end], term[end:].strip()


def _some(*texts: str | None) -> tuple[str, ...]:
    return tuple(text for text in texts if text)
