"""What the knowledge base holds: products, versions, ends of life."""

import re
from datetime import date
from functools import cached_property
from typing import Any

from compatkb.core.clock import later
from compatkb.core.vocabulary import Kind, Role
from compatkb.engine.relations import excluded_by
from compatkb.errors import UsageError
from compatkb.output.disputes import DisputeFinder
from compatkb.output.documents import Edition, source_payloads
from compatkb.output.evidence import claims_of
from compatkb.output.features import Features
from compatkb.output.labels import SYSTEM, Names
from compatkb.output.machine import MachineText
from compatkb.output.payload import claim_payloads
from compatkb.request.lookup import find_versions, is_newer, newer_version
from compatkb.store.queries.products import SupportRule
from compatkb.store.queries.provenance import ObservationRecord
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Product, picked
from compatkb.store.suggestions import Suggestions

Content = dict[str, Any]
_NUMBER = re.compile(r"\d+(\.\d+)+")
_NOTICES = ("security", "vulnerability", "reported")
_SECURITY = re.compile(r"security|vulnerab|CVE", re.IGNORECASE)


class Catalog(Names):
    """Gathers what the data hold of products and releases, as of a day."""

    def __init__(self, facts: Snapshot, day: date) -> None:
        super().__init__(facts)
        self.day, self.edition = day, Edition(facts.meta["data_date"], day)

    def list_json(self, product: Product | None = None, device: str = "") -> str:
        """Return the products, or the versions of one, newest first, as JSON; of hardware that of one device."""
        of_one = {"product": product.id, "releases": self.releases(product, device)} if product else {}
        return self.edition.document(of_one or {"products": self.products()})

    def product_json(self, product: Product) -> str:
        """Return a product with its releases, disputes and end of life as JSON."""
        return self.edition.document(self.product(product))

    def release_json(self, product: Product, version: str) -> str:
        """Return one version, or a series: dates, builds, what it says of others and others of it, sources, as JSON."""
        return self.edition.document({"product": product.id, "releases": self.chosen(product, version)})

    def eol_json(self, product: Product | None, days: int, *, version: str | None = None) -> str:
        """Return the ends of life up to `days` after the day, and what is said where no day is known, as JSON."""
        ends = self.ends(product, version, days)
        return self.edition.document({"within_days": days, "ends": ends, "rules": self.rules(product, version, ends)})

    def products(self) -> list[Content]:
        """Return every product with numbers of its releases and builds."""
        return [
            {
                **picked(p, "id name role"),
                "releases": len({element.release for element in self.facts.elements(p.id)}),
                "builds": len(self.facts.elements(p.id)),
                "distribution": p.distribution,
            }
            for p in self.facts.products.values()
            if p.role != Role.FEATURE
        ]

    def product(self, product: Product) -> Content:
        """Return a product with its releases, disputes and end of life."""
        details = self.facts.product_details(product.id)
        return {
            **picked(product, "id name role distribution"),
            "eol": details.eol,
            "eol_rule": details.eol_rule and _rule(details.eol_rule),
            "replaced_by": details.replaced_by_record,
            "note": details.note,
            "security": self.notices(product),
            "releases": self.releases(product),
            "disputes": DisputeFinder(self.facts).of_product(product.id),
        }

    def notices(self, product: Product, mask: int = -1) -> list[Content]:
        """Return what has been said of the security of some elements by the day, the newest first: advisories, then yanks."""
        until = self.day.toordinal()
        own = (a for a in self.facts.advisories_of(product.id) if a.mask & mask and a.since <= until)
        known = sorted((a for a in own if a.kind in _NOTICES), key=lambda a: (_NOTICES.index(a.kind), -a.since))
        told = [
            {"message": a.message, "since": date.fromordinal(a.since).isoformat(), "sources": source_payloads(a.sources)}
            for a in known
        ]
        yanked = [e for e in self.facts.elements(product.id).of(mask) if _SECURITY.search(e.yank_reason or "")]
        for reason in dict.fromkeys(e.yank_reason or "" for e in yanked):
            gone = [e for e in yanked if e.yank_reason == reason]
            releases = list(dict.fromkeys(e.release for e in reversed(gone)))
            named = releases[0] if len(releases) == 1 else f"{len(releases)} releases"
            told.append(
                {
                    "message": f"yanked, {named}: {reason.strip().rstrip('.')}",
                    "since": date.fromordinal(min(e.yank_by or until for e in gone)).isoformat(),
                    "sources": source_payloads(self.facts.element_sources(gone[-1])),
                }
            )
        return told

    def chosen(self, product: Product, version: str) -> list[Content]:
        """Return the releases that a version word means, newest first; raises UsageError where there is none.

        Of a part of a machine what is known by range, where the number itself is not listed.
        """
        mask = find_versions(self.facts, product, version)
        if not mask and product.machine and _NUMBER.fullmatch(version) and not is_newer(self.facts, product, version):
            return [self._unlisted(product, version)]
        if not mask:
            if is_newer(self.facts, product, version):
                raise newer_version(self.facts, product, version)
            known = ", ".join(release["version"] for release in self.releases(product)[:8])
            raise UsageError(f"{product.id} has no version {version!r}; newest: {known}")
        chosen = self.facts.elements(product.id).of(mask)
        return [
            self._release(product, name, [e for e in chosen if e.release == name], version)
            for name in dict.fromkeys(e.release for e in reversed(chosen))
        ]

    def documented_on(self, product: Product, system: str) -> list[Content]:
        """Return the releases of a product that are documented for a system, newest first."""
        place = next(element.idx for element in self.facts.elements(SYSTEM) if element.version == system)
        edges = [e for e in self.facts.edges(product.id, SYSTEM) if e.kind == Kind.VERIFIED and e.to_mask >> place & 1]
        named = {element.release for edge in edges for element in self.facts.elements(product.id).of(edge.of_mask)}
        return [release for release in self.releases(product) if release["version"] in named]

    def _release(self, product: Product, name: str, builds: list[Any], word: str) -> Content:
        row = self.facts.release(product.id, name)
        says, claimed_by = [], []
        bits = sum(1 << e.idx for e in builds)
        for other in self.facts.targets_of(product.id):
            says += [edge.claim for edge in self.facts.edges(product.id, other) if edge.of_mask & bits]
        for other, head in self.facts.products.items():
            if other != product.id and head.role != Role.FEATURE:
                claimed_by += [
                    edge.claim
                    for edge in self.facts.edges(other, product.id)
                    if edge.to_mask & bits and edge.spec != "any version"
                ]
        return {
            "version": name,
            "released": row.released if row else None,
            "released_basis": row.basis if row else None,
            "eol": row.eol if row else None,
            "note": row.note if row else None,
            "security": self.notices(product, bits),
            "disputed": [
                day for day in ("released", "end-of-life") if DisputeFinder(self.facts).dated(product.id, day) & bits
            ],
            "sources": source_payloads(row.sources) if row else [],
            "builds": [
                {
                    **picked(e, "version stage"),
                    "devices": sorted(e.devices),
                    "channels": list(e.channels),
                    "yanked": e.yank_by is not None,
                    "yank_reason": e.yank_reason,
                    "wheels": self._wheels(product, e) if e.installable and e.channels else [],
                    "links": self._links(product, e),
                    "sources": source_payloads(self.facts.element_sources(e)),
                }
                for e in _newest_first(builds)
                if product.role in (Role.PACKAGE, Role.COMPANION)
            ],
            "claims": claim_payloads(claims_of(self.facts, dict.fromkeys(says))),
            "claimed_by": claim_payloads(claims_of(self.facts, dict.fromkeys(claimed_by))),
            "disputes": DisputeFinder(self.facts).of_elements(product.id, bits),
            "features": Features(self.facts, self.day).of_release(product.id, bits),
            "machine": MachineText(self.facts).of_release(product, builds, word),
        }

    def _unlisted(self, product: Product, version: str) -> Content:
        """Return what is known of a version of a part of a machine that the data do not list."""
        machine = MachineText(self.facts)
        below, above = machine.around(product, version)
        place = f"after {below} and before {above}" if below else f"before {above}"
        lists = ("security", "disputed", "sources", "builds", "claims", "claimed_by", "disputes", "features")
        return {
            "version": version,
            **dict.fromkeys(("released", "released_basis", "eol")),
            "note": f"These data do not list this version; it is {place}.",
            **{name: [] for name in lists},
            "machine": machine.of_number(product, version),
        }

    def _links(self, product: Product, build: Any) -> list[Content]:
        """Return, by platform, what the libraries of a build need of the machine and other packages, where that was read."""
        named = (build.distribution or product.distribution, build.version)
        return [
            {
                **picked(seen, "os arch"), "seen": seen.checked, **picked(seen, "needs unlinked"),
                "conflict": seen.detail if seen.outcome == "conflict" else None,
            }
            for seen in (self._linked.get(named, ()) if "default" in build.channels else ())
        ]  # fmt: skip

    @cached_property
    def _linked(self) -> dict[tuple[str | None, str], list[ObservationRecord]]:
        """What was seen of the libraries of one build alone, by its distribution and version."""
        found: dict[tuple[str | None, str], list[ObservationRecord]] = {}
        for seen in self.facts.observations("symbols"):
            if len(seen.packages) == 1 and (seen.needs or seen.unlinked):
                found.setdefault(next(iter(seen.packages.items())), []).append(seen)
        return found

    def _wheels(self, product: Product, build: Element) -> list[Content]:
        """Return, by family of systems and architecture, the Pythons with wheels, without those that a claim excludes."""
        grid, denied = self.facts.grid, 0
        for dimension in ("python", "os", "arch"):
            for edge in self.facts.edges(product.id, dimension):
                is_certain = not edge.open and not edge.hardware and (not edge.devices or build.devices <= edge.devices)
                if edge.of_mask >> build.idx & 1 and is_certain:
                    denied |= edge.forbidden_on & self.facts.dimension_cells(dimension, excluded_by(edge))
        certain, inferred = build.certain & ~denied, build.inferred & ~denied
        pythons, archs = len(grid["python"]), len(grid["arch"])
        wheels = []
        for s, system in enumerate(grid["os"]):
            if system not in self.facts.families:
                continue
            for a, arch in enumerate(grid["arch"]):
                shift = (s * archs + a) * pythons
                for cells, basis in ((certain, "seen"), (inferred, "inferred")):
                    names = [grid["python"][n] for n in range(pythons) if cells >> shift + n & 1]
                    if names:
                        wheels.append({"os": system, "arch": arch, "python": names, "basis": basis})
        return wheels

    def rules(self, product: Product | None, version: str | None, ends: list[Content]) -> list[Content]:
        """Return how long releases are supported where no day is known, or that nobody publishes it, in rank order."""
        if version and ends:
            return []
        return [
            {"product": name, **_rule(details.eol_rule)}
            for name, details in self.facts.every_product_details().items()
            if details.eol_rule and (product is None or name == product.id)
        ]

    def ends(self, product: Product | None, version: str | None, days: int) -> list[Content]:
        """Return ends of life, latest first; raises UsageError where a product has no such version."""
        wanted = None
        if product and version:
            wanted = {e.release for e in self.facts.elements(product.id).of(find_versions(self.facts, product, version))}
            if not wanted and is_newer(self.facts, product, version):
                raise newer_version(self.facts, product, version)
            if not wanted:
                raise Suggestions(self.facts).unknown_version(product, version)
        limit = later(self.day, days)
        rows = [(record.eol, record) for record in self.facts.releases() if record.eol]
        rows.sort(key=lambda row: row[0], reverse=True)
        names = dict.fromkeys(record.product for _, record in rows)
        unsure = {
            (e.product, e.release)
            for n in names
            for e in self.facts.elements(n).of(DisputeFinder(self.facts).dated(n, "end-of-life"))
        }
        return [
            {
                **picked(record, "product version"),
                "last_day": last,
                "precision": record.eol_precision,
                "ended": last < self.day.isoformat(),
                "disputed": (record.product, record.version) in unsure,
                "sources": source_payloads(record.eol_sources),
            }
            for last, record in rows
            if last <= limit.isoformat()
            and (product is None or record.product == product.id)
            and (wanted is None or record.version in wanted)
        ]

    def releases(self, product: Product, device: str = "") -> list[Content]:
        """Return the releases of a product that were out by the day, newest first; of hardware that of one device."""
        records = {record.version: record for record in self.facts.releases_of(product.id)}
        if device:
            offered = self.facts.hardware_devices()
            records = {name: record for name, record in records.items() if offered[name][:1] == (device,)}
        elements = self.facts.elements(product.id)
        unsure = {day: DisputeFinder(self.facts).dated(product.id, day) for day in ("released", "end-of-life")}
        entries = []
        for version in records or [element.release for element in reversed(elements)]:
            record = records.get(version)
            released, eol = (record.released, record.eol) if record else (None, None)
            if released and released[:10] > self.day.isoformat():
                continue
            builds = [e for e in elements if e.release == version]
            entries.append(
                {
                    "version": version,
                    "name": record.name if record else None,
                    "aliases": list(record.aliases) if record else [],
                    "released": released,
                    "eol": eol,
                    "ended": bool(eol and eol < self.day.isoformat()),
                    "yanked": bool(builds) and all(e.yank_by is not None for e in builds),
                    "builds": [e.version for e in _newest_first(builds)],
                    "disputed": [day for day, mask in unsure.items() if any(mask >> e.idx & 1 for e in builds)],
                }
            )
        return entries


def _rule(rule: SupportRule) -> Content:
    return {"published": rule.published, "says": rule.says, "sources": source_payloads(rule.sources)}


def _newest_first(builds: list[Element]) -> list[Element]:
    """Return builds with the newest first, those for devices that no route serves last."""
    return sorted(builds, key=lambda element: (element.foreign, -element.idx))
