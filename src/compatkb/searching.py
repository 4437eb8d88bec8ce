"""Search for words in what the knowledge base says: every word must match, names count more than remarks."""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import NamedTuple

from compatkb.errors import UsageError
from compatkb.export.disagreements import Disagreement, read_disagreements
from compatkb.snapshot.read import Fields, Snapshot
from compatkb.words import word_key

KINDS = ("product", "feature", "release", "value", "event", "image", "advisory", "dispute", "statement", "claim")
"""Kinds of records, in the order in which equally good ones are shown."""

_TOKEN = re.compile(r"[^\W_]+(?:\.[^\W_]+)*")
_SENTENCES = ("event", "dispute")  # what these are called is no name that people would misspell
_SNIPPET = 120
_TERMS = 4  # so many terms of a claim are shown in its title


class Hit(NamedTuple):
    """A record that has every word, and the command that shows more of it."""

    kind: str
    product: str | None
    version: str | None
    title: str
    text: str  # the further name, remark, reason or message in which a word was found; empty where the title has them all
    command: str


class Found(NamedTuple):
    """What a search found, best first; where that is nothing, what to try."""

    words: tuple[str, ...]
    hits: tuple[Hit, ...]
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


def search(facts: Snapshot, words: Sequence[str], day: date) -> Found:
    """Return the records that have all words, as of `day`; raises UsageError where there is no word to search for."""
    wanted = tuple(dict.fromkeys(_TOKEN.findall(" ".join(words).casefold())))
    if not wanted:
        raise UsageError(f"{' '.join(words)!r} holds no word to search for; give letters or digits, such as arc or 2.8")
    key = word_key(" ".join(words))
    records = list(_records(facts, day))
    scored = [(_score(record, wanted, key), record) for record in records]
    scored.sort(key=lambda pair: (-pair[0], KINDS.index(pair[1].kind), pair[1].place))
    hits = tuple(_hit(record, wanted) for score, record in scored if score)
    if hits:
        return Found(wanted, hits, (), ())
    alone = tuple((word, sum(1 for record in records if _score(record, (word,), word))) for word in wanted)
    return Found(wanted, (), alone, _near(records, [word for word, count in alone if not count]))


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


def _hit(record: _Record, wanted: tuple[str, ...]) -> Hit:
    found, title = "", record.title.casefold()
    for word in wanted:
        if word not in title:
            found = next((text for text in (*record.names, *record.remarks) if word in text.casefold()), "")
            break
    return Hit(
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


def _products(facts: Snapshot) -> Iterator[_Record]:
    keys: dict[str, list[str]] = {}
    for row in facts.rows("select name, product from name"):
        keys.setdefault(row["product"], []).append(row["name"])
    query = "select id, name, distribution, import_name, note from product where role != 'feature' order by rank, id"
    for place, row in enumerate(facts.rows(query)):
        names = _some(row["id"], row["name"], row["distribution"], row["import_name"], *keys.get(row["id"], ()))
        title = row["id"] if row["id"] == row["name"] else f"{row['id']}: {row['name']}"
        yield _Record("product", row["id"], None, title, names, _some(row["note"]), ("compatkb", "show", row["id"]), place)


def _features(facts: Snapshot, day: date) -> Iterator[_Record]:
    for place, row in enumerate(facts.rows("select * from feature order by id")):
        names = (row["id"], row["name"], *json.loads(row["aliases"]))
        title = row["id"] if row["id"] == row["name"] else f"{row['id']}: {row['name']}"
        command = ("compatkb", "features", row["id"])
        yield _Record("feature", row["product"], None, title, names, _some(row["note"], row["product"]), command, place)
    query = "select s.*, c.reason, c.note from statement s join claim c on c.id = s.claim order by s.feature, s.position"
    for place, row in enumerate(facts.rows(query)):
        bits, product = int(row["mask"], 16), row["product"]
        mine = facts.elements(product).of(bits)
        if mine and all(e.since is not None and e.since > day.toordinal() for e in mine):
            continue
        where = ", ".join(row[name] for name in ("device", "os", "arch", "python", "hardware") if row[name])
        title = f"{row['feature']} {row['status']} in {product}{row['spec']}{f' ({where})' if where else ''}"
        command = ("compatkb", "features", row["feature"])
        remarks = _some(title, *facts.features[row["feature"]], row["reason"], row["note"])
        yield _Record("statement", product, None, title, (row["claim"],), remarks, command, place)


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
    stored = {(r["product"], r["version"]): r for r in facts.rows("select * from release")}
    builds: dict[tuple[str, str], list[Fields]] = {}
    for row in facts.rows(
        "select e.product, e.release, e.version, e.since, e.note, e.wheels_note, e.yank_reason "
        "from element e join product p on p.id = e.product where p.role != 'feature' order by p.rank, p.id, e.idx desc"
    ):
        builds.setdefault((row["product"], row["release"]), []).append(row)
    for place, (key, mine) in enumerate(builds.items()):
        if all(build["since"] and build["since"] > day.toordinal() for build in mine):
            continue
        product, version = key
        row = stored.get(key, {})
        aliases = json.loads(row.get("aliases") or "[]")
        own = _some(row.get("name"), *aliases)
        names = (f"{product} {version}", version, *own, *(f"{product} {build['version']}" for build in mine))
        remarks = [row.get("note"), *(build[name] for build in mine for name in ("note", "wheels_note", "yank_reason"))]
        title = f"{product} {version}" + (f" ({', '.join(own[:6])})" if own else "")
        command = ("compatkb", "show", product, version)
        kind = "value" if facts.products[product].role == "dimension" else "release"
        yield _Record(kind, product, version, title, names, _some(*remarks), command, place)


def _images(facts: Snapshot, day: date) -> Iterator[_Record]:
    contents: dict[int, list[Fields]] = {}
    for row in facts.rows("select * from content order by rowid"):
        contents.setdefault(row["image"], []).append(row)
    for place, row in enumerate(facts.rows("select * from image order by id desc")):
        runs = json.loads(row["runs"])
        if runs and min(run[0] for run in runs) > day.toordinal():
            continue
        parts = contents.get(row["id"], [])
        pins = [
            f"{part['product']}{part['spec']}"
            for part in parts
            if part["product"] in facts.products
            and facts.products[part["product"]].role == "package"
            and re.fullmatch(r"==[^*,]+", part["spec"])
            and int(part["mask"], 16)
            and facts.elements(part["product"])[int(part["mask"], 16).bit_length() - 1].devices
        ]
        title = f"{row['repository']}:{row['name']}"
        command = ("compatkb", "explain", *pins, "--device", row["device"]) if pins else ("docker", "pull", title)
        remarks = _some(row["note"], *(f"{part['product']}{part['spec']}" for part in parts))
        yield _Record("image", None, None, title, (title, row["name"]), remarks, command, place)


def _sayings(facts: Snapshot, day: date) -> Iterator[_Record]:
    for place, row in enumerate(facts.rows("select * from advisory where since <= ? order by id", day.toordinal())):
        product, newest = row["product"], int(row["mask"], 16).bit_length() - 1
        version = facts.elements(product)[newest].release if newest >= 0 else None
        command = ("compatkb", "show", product, *([version] if version else ()))
        title = f"{row['kind']} advisory on {product}{f' {version}' if version else ''}"
        yield _Record("advisory", product, version, title, (product, row["kind"]), _some(row["message"]), command, place)
    yield from _disputes(facts, day)
    later = _later(facts, day)
    query = (
        "select * from claim where (reason is not null or note is not null) and product not in (select id from feature) "
        "order by id"
    )
    for place, row in enumerate(facts.rows(query)):
        if row["id"] in later:
            continue
        terms = row["to_terms"].split(" | ")
        whole = f"{row['of_term']} {row['kind']} {', '.join(terms)}"
        more = f" and {len(terms) - _TERMS} more" if len(terms) > _TERMS else ""
        title = f"{row['of_term']} {row['kind']} {', '.join(terms[:_TERMS])}{more}"
        of, spec = _split(row["of_term"])
        plain = spec[2:] if re.fullmatch(r"==[^*,=]+", spec) else spec
        command = ("compatkb", "show", of, *([plain] if plain else ()))
        remarks = _some(whole, row["reason"], row["note"])
        yield _Record("claim", of, plain or None, title, (row["id"],), remarks, command, place)


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
    for row in facts.rows("select claim, of_product, of_mask from edge"):
        bits = int(row["of_mask"], 16)
        mine = facts.elements(row["of_product"]).of(bits)
        after = all(e.since is not None and e.since > day.toordinal() for e in mine)
        late[row["claim"]] = late.get(row["claim"], True) and after
    return {claim for claim, after in late.items() if after}


def _split(term: str) -> tuple[str, str]:
    match = re.match(r"[a-z0-9][a-z0-9_-]*", term)
    end = match.end() if match else len(term)
    return term[:end], term[end:].strip()


def _some(*texts: str | None) -> tuple[str, ...]:
    return tuple(text for text in texts if text)
