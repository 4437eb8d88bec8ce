"""How large, how well supported and how fresh a knowledge base is; docs/quality.md says what each figure counts."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date
from functools import cached_property
from typing import Any

from compatkb.core.vocabulary import Role
from compatkb.output.writers import Block, Paragraph, Table
from compatkb.store.queries.claims import ClaimRecord
from compatkb.store.reader import Snapshot

Content = dict[str, Any]
_BASES = ("stated", "observed", "inferred")
_KINDS = ("needs", "constrains", "verified", "breaks")
_LEVELS = ("published", "resolve", "symbols", "gate", "import", "run")
_ROLES = {"package": "packages", "companion": "companions", "leaf": "leaves", "dimension": "dimensions"}
_READINGS = {"source": "cited sources", "index": "index listings", "evidence": "observations with an outcome"}
_UNCHECKED = "not-checked"
"""The outcome that is no check: it makes nothing fresher."""


class Statistics:
    """The figures of a knowledge base; everything in the data counts, ages and ends of life are as of the end of a day."""

    def __init__(self, facts: Snapshot, day: date) -> None:
        self.facts, self.day = facts, day

    @cached_property
    def content(self) -> Content:
        """The figures by name."""
        products = [product for product in self.facts.products.values() if product.role != Role.FEATURE]
        built = (e for p in products if p.role != Role.DIMENSION for e in self.facts.elements(p.id) if e.devices)
        claims = [claim for claim in self.facts.product_claims() if claim.origin != "evidence"]
        by_hand = [claim for claim in claims if claim.origin == "people"]
        coverage = [self._coverage(role) for role in _ROLES]
        levels = self._observations()
        return {
            "products": len(products),
            "releases": sum(row["releases"] for row in coverage),
            "builds": sum(1 for _ in built),
            "image_tags": len(self.facts.images()),
            "requirements": {
                "total": len(claims),
                "kinds": _counted(_KINDS, (claim.kind for claim in claims)),
                "support": _counted(_BASES, (claim.basis for claim in claims)),
                "support_people": _counted(_BASES, (claim.basis for claim in by_hand)),
                "independent": self._independent(claims),
                "independent_people": self._independent(by_hand),
            },
            "disputes": self._disputes(),
            "observations": {"total": sum(sum(outcomes.values()) for outcomes in levels.values()), "levels": levels},
            "end_of_life": coverage,
            "checks": self._checks(),
        }

    def _coverage(self, role: str) -> Content:
        """Return the releases of a role: with an end of life, past it, with a rule alone, with none published."""
        products = [product.id for product in self.facts.products.values() if product.role == role]
        ends: dict[tuple[str, str], int] = {}  # of each release, 0 where it is not known
        for product in products:
            for element in self.facts.elements(product):
                key = (product, element.release)
                ends[key] = max(ends.get(key, 0), element.eol or 0)
        known = [end for end in ends.values() if end]
        rules = {product: self.facts.product_details(product).eol_rule for product in products}
        open_ended = [rule for (product, _), end in ends.items() if not end and (rule := rules[product])]
        by_rule = sum(rule.published for rule in open_ended)
        return {
            "role": role, "products": len(products), "releases": len(ends), "with_end": len(known),
            "ended": sum(end < self.day.toordinal() for end in known), "with_rule": by_rule,
            "unpublished": len(open_ended) - by_rule,
        }  # fmt: skip

    def _independent(self, claims: list[ClaimRecord]) -> Content:
        """Return how many claims two documents say, and two publishers; inferences are said by none."""
        said = {claim.id for claim in claims if claim.basis != "inferred"}
        documents: dict[str, set[str]] = defaultdict(set)
        publishers: dict[str, set[str]] = defaultdict(set)
        for cited in self.facts.every_citation():
            if cited.claim in said:
                documents[cited.claim].add(cited.document)
                publishers[cited.claim].add(cited.publisher)
        several = [sum(len(names) > 1 for names in by_claim.values()) for by_claim in (documents, publishers)]
        return {"total": len(claims), "two_documents": several[0], "two_publishers": several[1]}

    def _disputes(self) -> Content:
        """Return how many disagreements there are, and the requirements that they are about."""
        records = self.facts.dispute_records().values()
        undecided = sum(1 for record in records if record.decision == "open")
        claims = {concerned.claim for concerned in self.facts.concerned_records()} - {None}
        counts = {"total": len(records), "decided": len(records) - undecided, "open": undecided}
        return {**counts, "requirements": len(claims)}

    def _observations(self) -> dict[str, Counter[str]]:
        """Return by level how many observations had each outcome."""
        counts: dict[str, Counter[str]] = {level: Counter() for level in _LEVELS}
        for reading in sorted(self.facts.readings(), key=lambda reading: (reading.level, reading.outcome)):
            if reading.kind == "evidence":
                counts[reading.level][reading.outcome] += reading.number
        return counts

    def _checks(self) -> list[Content]:
        """Return how often things of each kind were looked at, when first and last, and what is oldest."""
        checks = []
        for kind in _READINGS:
            if records := [r for r in self.facts.readings() if r.kind == kind and r.outcome != _UNCHECKED]:
                days = {"newest": records[-1].day, "oldest": records[0].day}
                ages = {name: (self.day - date.fromisoformat(day)).days for name, day in days.items()}
                dated = {key: each for name in days for key, each in ((name, days[name]), (f"{name}_age_days", ages[name]))}
                total = sum(reading.number for reading in records)
                checks.append({"kind": kind, "total": total, **dated, "oldest_example": records[0].example})
        return checks

    @property
    def figures(self) -> list[tuple[str, str]]:
        """What is counted, and the figures in words."""
        content, claims, disputes = self.content, self.content["requirements"], self.content["disputes"]
        coverage, observed = content["end_of_life"], content["observations"]
        ended, by_rule, unpublished = (sum(row[name] for row in coverage) for name in ("with_end", "with_rule", "unpublished"))
        every, people = claims["independent"], claims["independent_people"]
        levels = [f"{level} ({_list(outcomes)})" for level, outcomes in observed["levels"].items() if outcomes]
        rows = [
            *((name.replace("_", " "), str(content[name])) for name in ("products", "releases", "builds", "image_tags")),
            ("requirements", f"{claims['total']}: {_list(claims['kinds'])}"),
            ("support", _shares(claims["support"])),
            (
                "written by people",
                f"{people['total']}: {_shares(claims['support_people'])}; the rest was read from package indexes",
            ),
            (
                "two independent documents",
                f"{_share(every['two_documents'], every['total'])} of requirements, "
                f"{_share(people['two_documents'], people['total'])} of those written by people; "
                f"of two publishers {_share(every['two_publishers'], every['total'])}",
            ),
            (
                "disputes",
                f"{disputes['total']}: {disputes['decided']} decided, {disputes['open']} open; "
                f"about {disputes['requirements']} requirements",
            ),
            ("observations", f"{observed['total']}: {', '.join(levels)}" if levels else "none recorded"),
            (
                "end of life known",
                f"{_share(ended, content['releases'])} of releases, a rule covers {by_rule} more; "
                f"of {unpublished} it was read that none is published",
            ),
        ]
        rows += [
            (
                f"- {_ROLES[row['role']]}",
                f"{_share(row['with_end'], row['releases'])} of {row['releases']}, {row['ended']} past it; "
                f"by rule {row['with_rule']}; no end is published: {row['unpublished']}",
            )
            for row in coverage
            if row["releases"]
        ]
        return rows + [(_READINGS[check["kind"]], _checked(check)) for check in content["checks"]]

    @property
    def blocks(self) -> list[Block]:
        """The figures as a table, for any form of text."""
        foot = f"As of {self.day}, data of {self.facts.meta['data_date']}."
        return [Table(("what", "figures"), tuple(self.figures)), Paragraph(foot)]


def _counted(names: Iterable[str], occurrences: Iterable[str]) -> dict[str, int]:
    counter = Counter(occurrences)
    return {name: counter[name] for name in names}


def _checked(check: Content) -> str:
    oldest = f"{check['oldest']} ({_ago(check['oldest_age_days'])})"
    if check["oldest"] == check["newest"]:
        return f"{check['total']}, all checked on {oldest}"
    return f"{check['total']}, newest check {check['newest']} ({_ago(check['newest_age_days'])}), oldest {oldest}"


def _ago(days: int) -> str:
    if days <= 0:
        return "that day" if days == 0 else "later"
    return f"{days} day{'' if days == 1 else 's'} before"


def _list(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counts.items())


def _shares(counts: dict[str, int]) -> str:
    total = sum(counts.values())
    return ", ".join(f"{name} {_share(number, total)}" for name, number in counts.items())


def _share(number: int, total: int) -> str:
    return f"{number} ({_percent(number, total)} %)"


def _percent(number: int, total: int) -> int:
    """Return a share in percent, rounded to the nearest; 100 stands for all, and 0 for none."""
    if number in (0, total):
        return 100 if number else 0
    return min(99, max(1, (200 * number + total) // (2 * total)))
