"""Counts how large, how well supported and how fresh a knowledge base is.

What counts as two independent sources is defined in docs/quality.md; `authoring.citation.document_of` applies it.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from compatkb.core.vocabulary import Role
from compatkb.store.queries.claims import ClaimRecord
from compatkb.store.queries.provenance import ReadingRecord
from compatkb.store.reader import Snapshot

BASES = ("stated", "observed", "inferred")
ROLES = ("package", "companion", "leaf", "dimension")
KINDS = ("needs", "constrains", "verified", "breaks")
LEVELS = ("published", "resolve", "symbols", "gate", "import", "run")
READINGS = ("source", "index", "evidence")
UNCHECKED = "not-checked"
"""The outcome that is no check: it makes nothing fresher."""


class Coverage(NamedTuple):
    """The products of one role: their releases, those with an end of life, past it, with a rule alone, with none published."""

    role: str
    products: int
    releases: int
    with_end: int
    ended: int
    with_rule: int
    unpublished: int


class Independence(NamedTuple):
    """Requirements of one origin, and how many of them two documents say, and two publishers; inferences are said by none."""

    total: int
    two_documents: int
    two_publishers: int


class Disputes(NamedTuple):
    """Disagreements between sources, and the requirements that they are about."""

    total: int
    decided: int
    open: int
    requirements: int


class ReadingCount(NamedTuple):
    """How often something was looked at, when first and last, and what is oldest."""

    kind: str
    total: int
    oldest: date
    newest: date
    example: str


class Stats(NamedTuple):
    """The figures of a knowledge base, as of the end of a day."""

    day: date
    data_date: date
    products: int
    releases: int
    builds: int
    image_tags: int
    requirements: int
    by_kind: dict[str, int]
    by_basis: dict[str, int]
    by_people: dict[str, int]  # those that curators wrote, by basis; the rest was read from indexes
    independence: Independence
    independence_people: Independence
    disputes: Disputes
    observations: dict[str, dict[str, int]]  # level: outcome: how many
    coverage: tuple[Coverage, ...]
    readings: tuple[ReadingCount, ...]

    @property
    def observed(self) -> int:
        """The number of observations."""
        return sum(number for outcomes in self.observations.values() for number in outcomes.values())

    @property
    def with_end(self) -> int:
        """The number of releases whose end of life is known."""
        return sum(row.with_end for row in self.coverage)

    @property
    def with_rule(self) -> int:
        """The number of releases that have no known end of life, and a rule of their maker."""
        return sum(row.with_rule for row in self.coverage)

    @property
    def unpublished(self) -> int:
        """The number of releases of which it was read that no end of life is published."""
        return sum(row.unpublished for row in self.coverage)


def statistics(facts: Snapshot, day: date) -> Stats:
    """Return the figures; everything in the data counts, and ages and ends of life are as of the end of `day`."""
    coverage = tuple(_coverage(facts, role, day) for role in ROLES)
    requirements = [claim for claim in facts.product_claims() if claim.origin != "evidence"]
    by_hand = [claim for claim in requirements if claim.origin == "people"]
    looked = facts.readings()
    return Stats(
        day=day,
        data_date=date.fromisoformat(facts.meta["data_date"]),
        products=sum(1 for product in facts.products.values() if product.role != Role.FEATURE),
        releases=sum(row.releases for row in coverage),
        builds=sum(
            1
            for product in facts.products.values()
            for element in facts.elements(product.id)
            if product.role != Role.DIMENSION and element.devices
        ),
        image_tags=len(facts.images()),
        requirements=len(requirements),
        by_kind=_counted(KINDS, (claim.kind for claim in requirements)),
        by_basis=_counted(BASES, (claim.basis for claim in requirements)),
        by_people=_counted(BASES, (claim.basis for claim in by_hand)),
        independence=_independence(facts, requirements),
        independence_people=_independence(facts, by_hand),
        disputes=_disputes(facts),
        observations=_observations(looked),
        coverage=coverage,
        readings=tuple(_readings(looked)),
    )


def _counted(names: Iterable[str], occurrences: Iterable[str]) -> dict[str, int]:
    counter = Counter(occurrences)
    return {name: counter[name] for name in names}


def _coverage(facts: Snapshot, role: str, day: date) -> Coverage:
    products = [product.id for product in facts.products.values() if product.role == role]
    ends: dict[tuple[str, str], int] = {}  # of each release, 0 where it is not known
    for product in products:
        for element in facts.elements(product):
            key = (product, element.release)
            ends[key] = max(ends.get(key, 0), element.eol or 0)
    known = [end for end in ends.values() if end]
    rules = {product: details.eol_rule for product, details in facts.every_product_details().items()}
    open_ended = [rule for (product, _), end in ends.items() if not end and (rule := rules[product])]
    by_rule = sum(rule.published for rule in open_ended)
    past = sum(end < day.toordinal() for end in known)
    return Coverage(role, len(products), len(ends), len(known), past, by_rule, len(open_ended) - by_rule)


def _independence(facts: Snapshot, requirements: list[ClaimRecord]) -> Independence:
    documents: dict[str, set[str]] = {claim.id: set() for claim in requirements if claim.basis != "inferred"}
    publishers: dict[str, set[str]] = {claim: set() for claim in documents}
    for cited in facts.every_citation():
        if cited.claim in documents:
            documents[cited.claim].add(cited.document)
            publishers[cited.claim].add(cited.publisher)
    several = (sum(len(names) > 1 for names in names_by_claim.values()) for names_by_claim in (documents, publishers))
    return Independence(len(requirements), *several)


def _disputes(facts: Snapshot) -> Disputes:
    records = facts.dispute_records().values()
    undecided = sum(1 for record in records if record.decision == "open")
    claims = {concerned.claim for concerned in facts.concerned_records()} - {None}
    return Disputes(len(records), len(records) - undecided, undecided, len(claims))


def _observations(looked: tuple[ReadingRecord, ...]) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {level: {} for level in LEVELS}
    for reading in sorted(looked, key=lambda reading: (reading.level, reading.outcome)):
        if reading.kind == "evidence":
            outcomes = counts[reading.level]
            outcomes[reading.outcome] = outcomes.get(reading.outcome, 0) + reading.number
    return counts


def _readings(looked: tuple[ReadingRecord, ...]) -> list[ReadingCount]:
    counts = []
    for kind in READINGS:
        records = [reading for reading in looked if reading.kind == kind and reading.outcome != UNCHECKED]
        if records:
            days = (date.fromisoformat(records[0].day), date.fromisoformat(records[-1].day))
            counts.append(ReadingCount(kind, sum(reading.number for reading in records), *days, records[0].example))
    return counts
