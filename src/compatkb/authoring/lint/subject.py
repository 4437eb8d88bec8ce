"""What lint examines: the files with their texts, the knowledge base, and the day; and how findings name places."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import cache, cached_property
from typing import TypeVar

from compatkb.authoring.feature_products import claim_id
from compatkb.authoring.knowledge_base import Knowledge, KnowledgeEdge, split_term
from compatkb.authoring.loader import DataDocument, Files
from compatkb.core.findings import Finding, Severity
from compatkb.core.names import word_key
from compatkb.core.record import NamedTuple
from compatkb.core.text_position import Place, Places, Where
from compatkb.schema import (
    Dispute,
    FeatureFile,
    ImageFile,
    IndexFile,
    Observation,
    ProductFile,
    Record,
    SourceEntry,
    TimelineFile,
)

R = TypeVar("R", bound=Record)


class SeenObservation(NamedTuple):
    """A line of evidence, and where it stands; lines count from 1."""

    path: str
    line: int
    observation: Observation

    @property
    def name(self) -> str:
        """What was seen, where and when, as findings name it."""
        seen = self.observation
        held = " ".join(f"{name}=={version}" for name, version in seen.packages.items())
        return f"evidence {seen.level} of {held} on Python {seen.python} {seen.platform} {seen.device} {seen.checked}"


class LintProblem(NamedTuple):
    """What a rule finds wrong with the value at `where` in a document, keys as in the file, or with a line of evidence."""

    document: DataDocument | SeenObservation
    where: Where
    message: str
    fix: str | None = None
    sources: tuple[SourceEntry, ...] = ()
    place: Place | None = None  # unless that is where the value stands


class ListedRequirement(NamedTuple):
    """A requirement of an index file: where it stands, and of which version it is."""

    document: DataDocument
    where: Where
    version: str


@dataclass(frozen=True)
class LintSubject:
    """A data directory under lint; `knowledge` is None where its references do not resolve."""

    documents: tuple[DataDocument, ...]
    files: Files
    knowledge: Knowledge | None
    today: date
    seen: tuple[SeenObservation, ...] = ()
    _places: dict[str, Places] = field(default_factory=dict, repr=False)

    def of(self, model: type[R]) -> Iterator[tuple[DataDocument, R]]:
        """Yield the documents that hold a kind of file, with the file."""
        for document in self.documents:
            if isinstance(document.record, model):
                yield document, document.record

    @property
    def products(self) -> Iterator[tuple[DataDocument, ProductFile]]:
        """The product files."""
        return self.of(ProductFile)

    @property
    def images(self) -> Iterator[tuple[DataDocument, ImageFile]]:
        """The image files."""
        return self.of(ImageFile)

    @property
    def features(self) -> Iterator[tuple[DataDocument, FeatureFile]]:
        """The feature files."""
        return self.of(FeatureFile)

    @property
    def index(self) -> Iterator[tuple[DataDocument, IndexFile]]:
        """The index files."""
        return self.of(IndexFile)

    @cached_property
    def by_id(self) -> dict[str, ProductFile]:
        """The product files by product id."""
        return {file.product.id: file for file in self.files.products}

    @cached_property
    def claims(self) -> dict[str, tuple[DataDocument, Where]]:
        """Where each claim stands, and each statement on a feature, by the id under which it is kept."""
        places: dict[str, tuple[DataDocument, Where]] = {}
        for document, product in self.products:
            places |= {claim.id: (document, ("claim", n)) for n, claim in enumerate(product.claim)}
        for document, feature in self.features:
            for n, statement in enumerate(feature.statement):
                places[claim_id(feature, statement.id)] = (document, ("statement", n))
            for n, brought in enumerate(feature.feature.needs):
                places[claim_id(feature, f"needs-{brought.product}")] = (document, ("feature", "needs", n))
        return places

    @cached_property
    def disputed(self) -> tuple[frozenset[str], ...]:
        """The claims of each dispute, by the ids under which they are kept."""
        disputes = [frozenset(dispute.claims) for _, file in self.products for dispute in file.dispute]
        for _, feature in self.features:
            disputes += [frozenset(claim_id(feature, name) for name in dispute.claims) for dispute in feature.dispute]
        return tuple(claims for claims in disputes if claims)

    def requirement(self, edge: KnowledgeEdge) -> ListedRequirement | None:
        """Return where an index file lists the requirement that an edge was read from, None without such a file."""
        assert self.knowledge
        distribution = self.knowledge.products[edge.of].distribution
        for document, file in reversed(list(self.index)):
            if file.distribution == distribution:
                named = self.knowledge.claims[edge.claim].claim.of
                numbers = [n for n, release in enumerate(file.release) if f"{edge.of}=={release.version}" == named]
                if not numbers:  # a collector read it elsewhere
                    return None
                number = numbers[0]
                return ListedRequirement(document, ("release", number, "requires"), file.release[number].version)
        return None

    def places(self, document: DataDocument) -> Places:
        """Return where the values of a document stand."""
        if document.path not in self._places:
            self._places[document.path] = Places(document.text)
        return self._places[document.path]

    def finding(self, rule: str, level: Severity, problem: LintProblem) -> Finding:
        """Return what a rule found, with its place and the name of the record."""
        document, where, message, fix, sources, place = problem
        cited = tuple(dict.fromkeys(source.cited[1] or source.cited[0] for source in sources))
        if isinstance(document, SeenObservation):
            return Finding(rule, level, document.path, document.line, message, sources=cited, subject=document.name)
        line, column = place or self.places(document).first(document.candidates(where))
        return Finding(rule, level, document.path, line, message, column, fix, cited, describe(document, where))


def problems_of(
    files: Iterable[tuple[DataDocument, R]], check: Callable[[R], Iterator[tuple[Where, str]]]
) -> Iterator[LintProblem]:
    """Yield what a check of single files finds wrong, by place and message."""
    for document, file in files:
        for where, message in check(file):
            yield LintProblem(document, where, message)


def describe(document: DataDocument, where: Where) -> str:
    """Return the name of the record at `where`, by ids and versions, and of a row its place in its family.

    `torch release 2.8.0 build 2.8.0+xpu, row 3 of builds for xpu`
    """
    record: object = document.record
    words = [_title(document)]
    key = ""
    for part in where:
        if isinstance(part, int):
            record = record[part] if isinstance(record, tuple) and part < len(record) else None
            name = _name(record)
            if name:
                words += [key, name]
        elif isinstance(record, dict):
            record = record.get(part)
            words += [key, part]
        else:
            key = part
            record = getattr(record, _field(record, part), None)
    return ", ".join(filter(None, (" ".join(words), document.family(where))))


def _title(document: DataDocument) -> str:
    record = document.record
    if isinstance(record, ProductFile):
        return record.product.id
    if isinstance(record, FeatureFile):
        return f"feature {record.feature.id}"
    if isinstance(record, IndexFile):
        return f"index {record.distribution}"
    if isinstance(record, ImageFile):
        return f"images {record.repository.id}"
    return document.path.removesuffix(".toml")


def _name(record: object) -> str | None:
    for name in ("id", "version", "name", "is_", "n", "rule", "tags"):
        if (value := getattr(record, name, None)) is not None:
            return value[0] if isinstance(value, tuple) else str(value)
    return None


def _field(record: object, key: str) -> str:
    """Return the attribute of a key as it is written in files."""
    names = {alias: name for name, alias in _keys(type(record))} if isinstance(record, Record) else {}
    return names.get(key, key)


def walk(record: Record, where: Where = ()) -> Iterator[tuple[Where, Record]]:
    """Yield a record and every record inside it, with its place in the file."""
    yield where, record
    for name, key in _keys(type(record)):
        value = getattr(record, name)
        if isinstance(value, Record):
            yield from walk(value, (*where, key))
        elif isinstance(value, tuple | dict):
            for at, item in value.items() if isinstance(value, dict) else enumerate(value):
                if isinstance(item, Record):
                    yield from walk(item, (*where, key, at))


@cache
def _keys(kind: type[Record]) -> tuple[tuple[str, str], ...]:
    """Return the fields of a kind of record with their keys as files have them."""
    return tuple((name, info.alias or name) for name, info in kind.model_fields.items())


def sources_of(file: Record, names: tuple[str, ...]) -> tuple[SourceEntry, ...]:
    """Return the sources that a record of `file` cites, those that are defined."""
    known: dict[str, SourceEntry] = getattr(file, "source", {})
    return tuple(known[name] for name in names if name in known)


def terms(file: Record) -> Iterator[tuple[Where, str, Record]]:
    """Yield every term of a file (a product id with a specifier), its place, and the record that holds it."""
    for where, record in walk(file):
        if isinstance(record, Dispute) and not isinstance(file, ProductFile | FeatureFile):
            continue  # there it names tags, channels or events
        for name, key in _keys(type(record)):
            if name not in ("of", "to", "is_"):
                continue
            value = getattr(record, name)
            if isinstance(value, str):
                yield (*where, key), value, record
            elif isinstance(value, tuple):
                yield from (((*where, key, n), term, record) for n, term in enumerate(value) if is_term(term))


def is_term(text: str) -> bool:
    """Return whether a text begins as a term does; the models see to it where terms alone may stand."""
    try:
        split_term(text)
    except AssertionError:
        return False
    return True


def known_terms(subject: LintSubject) -> Iterator[tuple[DataDocument, Where, str, Record]]:
    """Yield the terms of all files whose product exists."""
    for document in subject.documents:
        if isinstance(document.record, ProductFile | ImageFile | FeatureFile | TimelineFile):
            for where, term, record in terms(document.record):
                if split_term(term)[0] in subject.by_id:
                    yield document, where, term, record


def version_word(text: str, *, listed: bool) -> str:
    """Return what a version or an alias of one is looked up by; those of `listed` products are words."""
    return word_key(text) if listed else text.lower()
