"""How large, how well supported and how fresh a knowledge base is, counted from its snapshot.

What counts as two independent sources is defined in docs/stats.md; `snapshot.citation.document_of` applies it.
"""

from datetime import date
from typing import NamedTuple

from compatkb.snapshot.read import Fields, Snapshot

BASES = ("stated", "observed", "inferred")
ROLES = ("package", "companion", "leaf", "dimension")
KINDS = ("needs", "constrains", "verified", "breaks")
LEVELS = ("published", "resolve", "gate", "import", "run")
READINGS = ("source", "index", "evidence")
UNCHECKED = "not-checked"
"""The outcome that is no check: it makes nothing fresher."""


class Coverage(NamedTuple):
    """The products of one role: their releases, those whose end of life is known, and those that are past it."""

    role: str
    products: int
    releases: int
    with_end: int
    ended: int


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


class Reading(NamedTuple):
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
    readings: tuple[Reading, ...]

    @property
    def observed(self) -> int:
        """The number of observations."""
        return sum(number for outcomes in self.observations.values() for number in outcomes.values())

    @property
    def with_end(self) -> int:
        """The number of releases whose end of life is known."""
        return sum(row.with_end for row in self.coverage)


_OF_PRODUCTS = "c.product in (select id from product where role <> 'feature')"  # what is said of features is no requirement


def statistics(facts: Snapshot, day: date) -> Stats:
    """Return the figures; everything in the data counts, and ages and ends of life are as of the end of `day`."""
    coverage = tuple(_coverage(facts, role, day) for role in ROLES)
    by_kind, by_basis, by_people = dict.fromkeys(KINDS, 0), dict.fromkeys(BASES, 0), dict.fromkeys(BASES, 0)
    query = (
        f"select origin, kind, basis, count(*) n from claim c where origin <> 'evidence' and {_OF_PRODUCTS} group by 1, 2, 3"
    )
    for row in facts.rows(query):
        by_kind[row["kind"]] += row["n"]
        by_basis[row["basis"]] += row["n"]
        by_people[row["basis"]] += row["n"] if row["origin"] == "people" else 0
    return Stats(
        day=day,
        data_date=date.fromisoformat(facts.meta["data_date"]),
        products=sum(1 for product in facts.products.values() if product.role != "feature"),
        releases=sum(row.releases for row in coverage),
        builds=_number(
            facts,
            "select count(*) n from element e join product p on p.id = e.product "
            "where p.role <> 'dimension' and e.devices <> ''",
        ),
        image_tags=_number(facts, "select count(*) n from image"),
        requirements=sum(by_kind.values()),
        by_kind=by_kind,
        by_basis=by_basis,
        by_people=by_people,
        independence=_independence(facts, "origin <> 'evidence'"),
        independence_people=_independence(facts, "origin = 'people'"),
        disputes=_disputes(facts),
        observations=_observations(facts),
        coverage=coverage,
        readings=tuple(_readings(facts)),
    )


def _coverage(facts: Snapshot, role: str, day: date) -> Coverage:
    row = facts.rows(
        "select count(*) releases, count(eol) with_end, count(case when eol < ? then 1 end) ended from "
        "(select max(e.eol) eol from element e join product p on p.id = e.product where p.role = ? "
        "group by e.product, e.release)",
        day.toordinal(),
        role,
    )[0]
    products = sum(1 for product in facts.products.values() if product.role == role)
    return Coverage(role, products, row["releases"], row["with_end"], row["ended"])


def _independence(facts: Snapshot, where: str) -> Independence:
    row = facts.rows(
        "select count(*) total, coalesce(sum(d > 1), 0) two_documents, coalesce(sum(p > 1), 0) two_publishers "
        "from (select count(distinct t.document) d, count(distinct t.publisher) p from claim c "
        f"left join citation t on t.claim = c.id and c.basis <> 'inferred' where {where} and {_OF_PRODUCTS} group by c.id)"
    )[0]
    return Independence(**row)


def _disputes(facts: Snapshot) -> Disputes:
    rows = facts.rows("select decision from dispute")
    undecided = sum(1 for row in rows if row["decision"] == "open")
    (claims,) = facts.rows("select count(distinct claim) n from concerned where claim is not null")
    return Disputes(len(rows), len(rows) - undecided, undecided, claims["n"])


def _observations(facts: Snapshot) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {level: {} for level in LEVELS}
    query = "select level, outcome, sum(n) n from reading where kind = 'evidence' group by 1, 2 order by 1, 2"
    for row in facts.rows(query):
        found[row["level"]][row["outcome"]] = row["n"]
    return found


def _readings(facts: Snapshot) -> list[Reading]:
    rows: dict[str, list[Fields]] = {}
    query = f"select kind, day, n, example from reading where outcome <> '{UNCHECKED}' order by day, example"
    for row in facts.rows(query):
        rows.setdefault(row["kind"], []).append(row)
    return [
        Reading(
            kind,
            sum(row["n"] for row in rows[kind]),
            date.fromisoformat(rows[kind][0]["day"]),
            date.fromisoformat(rows[kind][-1]["day"]),
            rows[kind][0]["example"],
        )
        for kind in READINGS
        if kind in rows
    ]


def _number(facts: Snapshot, query: str) -> int:
    number: int = facts.rows(query)[0]["n"]
    return number
