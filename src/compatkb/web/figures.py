"""How large, how well supported and how fresh a knowledge base is, in words; docs/quality.md says what each figure counts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import date

from compatkb.core.vocabulary import Role
from compatkb.store.queries.claims import ClaimRecord
from compatkb.store.reader import Snapshot

_BASES = ("stated", "observed", "inferred")
_KINDS = ("needs", "constrains", "verified", "breaks")
_READINGS = {"source": "cited sources", "index": "index listings", "evidence": "observations with an outcome"}
_UNCHECKED = "not-checked"
"""The outcome that is no check: it makes nothing fresher."""


def figures(facts: Snapshot, day: date) -> Iterator[tuple[str, str]]:
    """Yield what is counted with its figures; everything in the data counts, ages and ends are as of the end of a day."""
    products = [product for product in facts.products.values() if product.role != Role.FEATURE]
    builds = sum(1 for p in products if p.role != Role.DIMENSION for e in facts.elements(p.id) if e.devices)
    claims = [claim for claim in facts.product_claims() if claim.origin != "evidence"]
    people = [claim for claim in claims if claim.origin == "people"]
    ends, rules, unpublished = _ends(facts, [product.id for product in products])
    known = [end for end in ends.values() if end]
    yield "products", str(len(products))
    yield "releases", f"{len(ends)} with {builds} builds"
    yield "image tags", str(len(facts.images()))
    yield "requirements", f"{len(claims)}: {_list(_counted(_KINDS, (claim.kind for claim in claims)))}"
    yield "support", _shares(claims)
    yield "written by people", f"{len(people)}: {_shares(people)}; the rest was read from package indexes"
    documents, publishers = (_share(several, len(claims)) for several in _independent(facts, claims))
    yield "two independent documents", f"{documents} of requirements; of two publishers {publishers}"
    undecided = sum(record.decision == "open" for record in facts.dispute_records().values())
    total = len(facts.dispute_records())
    yield "disputes", f"{total}: {total - undecided} decided, {undecided} open"
    observed: Counter[str] = Counter()
    for reading in facts.readings():
        if reading.kind == "evidence":
            observed[f"{reading.level} {reading.outcome}"] += reading.number
    yield "observations", f"{observed.total()}: {_list(dict(sorted(observed.items())))}" if observed else "none recorded"
    ended = sum(end < day.toordinal() for end in known)
    yield (
        "end of life known",
        f"{_share(len(known), len(ends))} of releases, {ended} past it, a rule covers {rules} more; "
        f"of {unpublished} it was read that none is published",
    )
    for kind, name in _READINGS.items():
        if records := [r for r in facts.readings() if r.kind == kind and r.outcome != _UNCHECKED]:
            newest, oldest = (f"{r.day} ({_ago((day - date.fromisoformat(r.day)).days)})" for r in (records[-1], records[0]))
            yield name, f"{sum(record.number for record in records)}, newest check {newest}, oldest {oldest}"


def _ends(facts: Snapshot, products: list[str]) -> tuple[dict[tuple[str, str], int], int, int]:
    """Return the end of each release, 0 where none is known, and how many of these have a rule, or surely none."""
    ends: dict[tuple[str, str], int] = {}
    for product in products:
        for element in facts.elements(product):
            key = (product, element.release)
            ends[key] = max(ends.get(key, 0), element.eol or 0)
    details = {product: facts.product_details(product).eol_rule for product in products}
    rules = [rule.published for (product, _), end in ends.items() if not end and (rule := details[product])]
    return ends, sum(rules), len(rules) - sum(rules)


def _independent(facts: Snapshot, claims: list[ClaimRecord]) -> tuple[int, int]:
    """Return how many claims two documents say, and two publishers; inferences are said by none."""
    said = {claim.id for claim in claims if claim.basis != "inferred"}
    documents: dict[str, set[str]] = defaultdict(set)
    publishers: dict[str, set[str]] = defaultdict(set)
    for cited in facts.every_citation():
        if cited.claim in said:
            documents[cited.claim].add(cited.document)
            publishers[cited.claim].add(cited.publisher)
    one, other = (sum(len(names) > 1 for names in by_claim.values()) for by_claim in (documents, publishers))
    return one, other


def _counted(names: Iterable[str], occurrences: Iterable[str]) -> dict[str, int]:
    counter = Counter(occurrences)
    return {name: counter[name] for name in names}


def _ago(days: int) -> str:
    if days <= 0:
        return "that day" if days == 0 else "later"
    return f"{days} day{'' if days == 1 else 's'} before"


def _list(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counts.items())


def _shares(claims: list[ClaimRecord]) -> str:
    counts = _counted(_BASES, (claim.basis for claim in claims))
    return ", ".join(f"{name} {_share(number, len(claims))}" for name, number in counts.items())


def _share(number: int, total: int) -> str:
    """Return a number and its share in percent, rounded to the nearest; 100 stands for all, and 0 for none."""
    share = (100 if number else 0) if number in (0, total) else min(99, max(1, (200 * number + total) // (2 * total)))
    return f"{number} ({share} %)"
