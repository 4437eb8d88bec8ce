"""Rows of the FTS5 index: every record with its names, its remarks and the command that shows more."""

import re
import shlex
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path

from compatkb.authoring.knowledge_base import KnowledgeEdge
from compatkb.core.names import search_words, word_key
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.store.queries.disputes import DisputeRecord
from compatkb.store.queries.products import ReleaseRecord
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Product
from compatkb.store.rows import dumps

SEARCH = """
create table searchable (
  id integer primary key, kind text, product text, version text, title text, names text, remarks text, keys text, command text,
  place integer, since integer
);
create virtual table search using fts5(
  names, remarks, keys, content='', tokenize="unicode61 remove_diacritics 0 tokenchars '.'"
);
create virtual table search_word using fts5vocab(search, col);
"""
"""Records to search in; the index over their words; and the vocabulary. Names, remarks and keys are lists as JSON."""
_TERMS = 4  # so many terms of a claim are shown in its title
_SLOT = re.compile(r"\*|\{[^}]*\}")


class Searchable(NamedTuple):
    """A record to search in, known from `since` on, an ordinal; `place` is its place among those of its kind."""

    kind: str
    product: str | None
    version: str | None
    title: str
    names: tuple[str, ...]
    remarks: tuple[str, ...]
    command: tuple[str, ...]
    place: int
    since: int = 0


def add_search_index(target: Path, edges: Iterable[KnowledgeEdge]) -> None:
    """Add the index over all records to the snapshot in `target`; `edges` are those of its claims."""
    rows, words = [], []
    for number, record in enumerate(_Records(Snapshot(str(target)), edges).all(), 1):
        texts = (record.names, record.remarks, sorted({word_key(name) for name in record.names}))
        rows.append(
            (number, *record[:4], *map(dumps, texts), shlex.join(record.command), record.place, record.since),
        )
        words.append((number, *(" ".join(search_words(" ".join(text))) for text in texts)))
    with closing(sqlite3.connect(target)) as db, db:
        db.executescript(SEARCH)
        db.executemany(f"insert into searchable values ({', '.join('?' * len(rows[0]))})", rows)
        db.executemany("insert into search(rowid, names, remarks, keys) values (?, ?, ?, ?)", words)


def _span(first: int, last: int) -> str:
    return f"{date.fromordinal(first)} to {date.fromordinal(last)}"


def _timeline(first: int, last: int) -> tuple[str, ...]:
    days = (date.fromordinal(first).isoformat(), date.fromordinal(last).isoformat())
    return ("compatkb", "timeline", "--from", days[0], "--to", days[1])


def _release(
    product: Product, version: str, record: ReleaseRecord | None, builds: list[Element], notes: list[str | None], place: int
) -> Searchable:
    key = product.id
    own = _some(record.name, *record.aliases) if record else ()
    names = (f"{key} {version}", version, *own, *(f"{key} {build.version}" for build in builds))
    remarks = _some(record.note if record else None, *notes)
    title = f"{key} {version}" + (f" ({', '.join(own[:6])})" if own else "")
    kind = "value" if product.role == Role.DIMENSION else "release"
    return Searchable(kind, key, version, title, names, remarks, ("compatkb", "show", key, version), place, _first(builds))


def _first(builds: Sequence[Element]) -> int:
    """Return the day on which the first of some builds came out, 0 where that of one is unknown."""
    return min((build.since or 0 for build in builds), default=0)


def _split(term: str) -> tuple[str, str]:
    match = re.match(r"[a-z0-9][a-z0-9_-]*", term)
    end = match.end() if match else len(term)
    return term[:end], term[end:].strip()


def _some(*texts: str | None) -> tuple[str, ...]:
    return tuple(text for text in texts if text)


class _Records:
    """The records of a snapshot to search in."""

    def __init__(self, facts: Snapshot, edges: Iterable[KnowledgeEdge]) -> None:
        self.facts, self.edges = facts, edges

    def all(self) -> Iterator[Searchable]:
        yield from self.products()
        yield from self.features()
        yield from self.events()
        yield from self.releases()
        yield from self.images()
        yield from self.advisories()
        yield from self.disputes()
        yield from self.claims()
        yield from self.symptoms()
        yield from self.issues()
        yield from self.libraries()
        yield from self.graphics()
        yield from self.applications()

    def products(self) -> Iterator[Searchable]:
        keys, details = self.facts.keys_by_product, self.facts.every_product_details()
        products = [product for product in self.facts.products.values() if product.role != Role.FEATURE]
        for place, product in enumerate(products):
            key = product.id
            names = _some(key, product.name, product.distribution, product.import_name, *keys.get(key, ()))
            title = key if key == product.name else f"{key}: {product.name}"
            yield Searchable("product", key, None, title, names, _some(details[key].note), ("compatkb", "show", key), place)

    def features(self) -> Iterator[Searchable]:
        for place, feature in enumerate(self.facts.feature_records()):
            names = (feature.id, feature.name, *feature.aliases)
            title = feature.id if feature.id == feature.name else f"{feature.id}: {feature.name}"
            command = ("compatkb", "features", feature.id)
            yield Searchable(
                "feature", feature.product, None, title, names, _some(feature.note, feature.product), command, place
            )
        for place, statement in enumerate(self.facts.statements()):
            product = statement.product
            since = _first(self.facts.elements(product).of(statement.mask))
            where = ", ".join(" ".join(values) for values in statement.condition.values())
            title = f"{statement.feature} {statement.status} in {product}{statement.spec}{f' ({where})' if where else ''}"
            command = ("compatkb", "features", statement.feature)
            remarks = _some(title, *self.facts.features[statement.feature], statement.reason, statement.note)
            yield Searchable("statement", product, None, title, (statement.claim,), remarks, command, place, since)

    def events(self) -> Iterator[Searchable]:
        for place, event in enumerate(reversed(self.facts.events)):
            known = event.first if event.announced is None else min(event.first, event.announced)
            first = date.fromordinal(event.first)
            vendor = self.facts.vendors.get(event.vendor, event.vendor)
            title = f"{first if event.first == event.last else _span(event.first, event.last)} {event.title}"
            remarks = _some(vendor, event.kind, event.product, event.note)
            command = _timeline(event.first, event.last)
            yield Searchable(
                "event", event.product, event.version, title, (event.id, event.title), remarks, command, place, known
            )

    def releases(self) -> Iterator[Searchable]:
        stored = {(release.product, release.version): release for release in self.facts.releases()}
        place = 0
        for product in self.facts.products.values():
            if product.role == Role.FEATURE:
                continue
            details = self.facts.element_details(product.id)
            builds: dict[str, list[Element]] = {}
            for element in reversed(self.facts.elements(product.id)):
                builds.setdefault(element.release, []).append(element)
            for version, release_builds in builds.items():
                known = [(details[build.idx], build.yank_reason) for build in release_builds]
                notes = [note for more, reason in known for note in (more.note, more.wheels_note, reason)]
                yield _release(product, version, stored.get((product.id, version)), release_builds, notes, place)
                place += 1

    def images(self) -> Iterator[Searchable]:
        held = self.facts.contents()
        for place, image in enumerate(reversed(self.facts.images())):
            since = min((first for first, _ in image.runs), default=0)
            parts = held.get(image.id, ())
            pins = [
                f"{part.product}{part.spec}"
                for part in parts
                if part.product in self.facts.products
                and self.facts.products[part.product].role == Role.PACKAGE
                and re.fullmatch(r"==[^*,]+", part.spec)
                and part.mask
                and self.facts.elements(part.product)[part.mask.bit_length() - 1].devices
            ]
            title = image.reference
            command = ("compatkb", "explain", *pins, "--device", image.device) if pins else ("docker", "pull", title)
            remarks = _some(image.note, *(f"{part.product}{part.spec}" for part in parts))
            yield Searchable("image", None, None, title, (title, image.name), remarks, command, place, since)

    def advisories(self) -> Iterator[Searchable]:
        for place, advisory in enumerate(self.facts.advisories):
            product, newest = advisory.product, advisory.mask.bit_length() - 1
            version = self.facts.elements(product)[newest].release if newest >= 0 else None
            command = ("compatkb", "show", product, *([version] if version else ()))
            title = f"{advisory.kind} advisory on {product}{f' {version}' if version else ''}"
            about = "security notice, CVE" if advisory.kind in ("security", "vulnerability", "reported") else None
            names, remarks = (product, advisory.kind), _some(advisory.message, about)
            yield Searchable("advisory", product, version, title, names, remarks, command, place, advisory.since)

    def claims(self) -> Iterator[Searchable]:
        known = self.known_since()
        explained = self.facts.explained_claims()
        for place, claim in enumerate(explained):
            terms = claim.to_terms
            whole = f"{claim.of_term} {claim.kind} {', '.join(terms)}"
            more = f" and {len(terms) - _TERMS} more" if len(terms) > _TERMS else ""
            title = f"{claim.of_term} {claim.kind} {', '.join(terms[:_TERMS])}{more}"
            of, spec = _split(claim.of_term)
            plain = spec[2:] if re.fullmatch(r"==[^*,=]+", spec) else spec
            command = ("compatkb", "show", of, *([plain] if plain else ()))
            remarks = _some(whole, claim.reason, claim.note)
            yield Searchable("claim", of, plain or None, title, (claim.id,), remarks, command, place, known.get(claim.id, 0))

    def disputes(self) -> Iterator[Searchable]:
        for place, dispute in enumerate(self.facts.dispute_records().values()):
            concerned = [subject.name for subject in self.facts.subjects[dispute.id]]
            days = [e for e in self.facts.events if dispute.kind == "timeline" and e.id in concerned]
            since = min((min(e.first, e.announced or e.first) for e in days), default=0)
            sides = (position.text for position in dispute.positions)
            remarks = _some(dispute.about, dispute.reason, dispute.holds, *sides)
            products = [e.product for e in days if e.product]
            product = dispute.owner if dispute.kind == "product" else next(iter(products), None)
            names = _some(dispute.owner, dispute.id, *concerned)
            command = self.shows(dispute)
            yield Searchable("dispute", product, None, dispute.about, names, remarks, command, place, since)

    def shows(self, dispute: DisputeRecord) -> tuple[str, ...]:
        """Return the command that shows a dispute with both sides."""
        concerned = [subject.name for subject in self.facts.subjects[dispute.id]]
        if dispute.kind == "timeline":
            events = [event for event in self.facts.events if event.id in concerned]
            return _timeline(min(event.first for event in events), max(event.last for event in events))
        if dispute.kind == "image":
            tag = next((name.rpartition(":")[2] for name in concerned), None)
            return ("compatkb", "show", dispute.owner, *([tag] if tag else ()))
        if dispute.kind == "channel":  # no product of its own shows it
            return ("compatkb", "changes", "--since", dispute.decided, "--until", dispute.decided, "--all")
        return ("compatkb", "features" if dispute.kind == "feature" else "show", dispute.owner)

    def known_since(self) -> dict[str, int]:
        """Return the day on which the first version came out of which each claim speaks."""
        day_by_claim: dict[str, int] = {}
        days: dict[tuple[str, int], int] = {}
        for edge in (edge for edge in self.edges if not edge.extra):
            key = (edge.of, edge.of_mask)
            if key not in days:
                days[key] = _first(self.facts.elements(edge.of).of(edge.of_mask))
            day_by_claim[edge.claim] = min(day_by_claim.get(edge.claim, days[key]), days[key])
        return day_by_claim

    def libraries(self) -> Iterator[Searchable]:
        for place, record in enumerate(self.facts.guide_records("generation")):
            library, product, version = record["library"], record["product"], record["version"]
            names = (library, library.partition(".so")[0])
            command = ("compatkb", "diagnose", f"{library}: cannot open shared object file")
            title = f"{library} comes with {product} {version}"
            yield Searchable("library", product, version, title, names, _some(record["note"]), command, place)

    def graphics(self) -> Iterator[Searchable]:
        for place, record in enumerate(self.facts.guide_records("graphics")):
            ids = tuple(f"{record['vendor']}:{device}" for device in record["ids"])
            hardware = record["hardware"]
            title = f"{record['name']}" + (f" is hardware {hardware}" if hardware else " is on no list of supported hardware")
            names = (record["name"], *ids, *record["ids"])
            command = ("compatkb", "resolve", hardware) if hardware else ("compatkb", "list", "hardware")
            yield Searchable("graphics", None, None, title, names, _some(record["note"], hardware), command, place)

    def applications(self) -> Iterator[Searchable]:
        for place, record in enumerate(self.facts.guide_records("application")):
            key = record["id"]
            names = (key, record["name"], *record["aliases"], record["repo"])
            remarks = _some(record["note"], record["about"], *record["instead"], *record["by"], *record["requires"])
            ended = [f"{record['state']} {record['ended']}"] if record["ended"] else []
            title = f"{key}: {', '.join([record['name'], *ended])}" if ended or key != record["name"] else key
            yield Searchable("application", None, None, title, names, remarks, ("compatkb", "show", key), place)

    def issues(self) -> Iterator[Searchable]:
        for place, record in enumerate(self.facts.guide_records("issue")):
            product = next((each["product"] for each in record["where"] if each["product"] in self.facts.products), None)
            names = (record["title"], record["id"], *record["aliases"], *record["signs"])
            title = f"{record['title']} ({', '.join(record['aliases'][:1]) or record['state']})"
            shown = ("compatkb", "show", product) if product else ("compatkb", "search", record["id"])
            yield Searchable("issue", product, None, title, names, (), shown, place)

    def symptoms(self) -> Iterator[Searchable]:
        causes = {record["id"]: record for record in self.facts.guide_records("cause")}
        for place, record in enumerate(self.facts.guide_records("symptom")):
            likeliest = causes[max(record["causes"], key=lambda speaks: speaks["weight"])["cause"]]
            patterns = tuple(
                " ".join(re.sub(r"\{[^}]*\}", "", pattern).replace("*", " ").split()) for pattern in record["patterns"]
            )
            pieces = _SLOT.split(record["patterns"][0])
            phrase = max((piece.strip(" :=") for piece in pieces), key=len)
            remarks = (likeliest["why"], *likeliest["do"], *_some(record["note"]))
            names = (*patterns, likeliest["title"], record["id"], likeliest["id"])
            title = f"{patterns[0]}: {likeliest['title']}"
            yield Searchable("symptom", None, None, title, names, remarks, ("compatkb", "diagnose", phrase), place)
