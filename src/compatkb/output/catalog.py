"""What the knowledge base holds: products, versions, ends of life."""

import re
from datetime import date
from typing import Any

from compatkb.core.clock import later
from compatkb.core.vocabulary import Kind, Role
from compatkb.engine.relations import excluded_by
from compatkb.errors import UsageError
from compatkb.output import disputes, messages
from compatkb.output.catalog_screen import CatalogScreen, release_row
from compatkb.output.disputes import DisputeFinder
from compatkb.output.documents import Edition, source_payloads
from compatkb.output.evidence import claims_of
from compatkb.output.features import Features
from compatkb.output.features import release_lines as feature_lines
from compatkb.output.labels import SYSTEM
from compatkb.output.machine import MachineText
from compatkb.output.payload import claim_payloads
from compatkb.output.screen import Line, columns
from compatkb.request.lookup import find_versions, is_newer, newer_version
from compatkb.store.queries.products import (
    SupportRule,
)
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Product, picked
from compatkb.store.suggestions import Suggestions

Content = dict[str, Any]
_NUMBER = re.compile(r"\d+(\.\d+)+")
_ROLES = {"companion": " (of torch)", "leaf": " (dependency)", "dimension": " (platform)"}
_COLUMNS = ("version", "released", "builds", "", "name")
_SECURITY = re.compile(r"security|vulnerab|CVE", re.IGNORECASE)


class Catalog:
    """Gathers what the data hold of products and releases, as of a day."""

    def __init__(self, facts: Snapshot, day: date) -> None:
        self.facts, self.day = facts, day

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
        known = (a for a in self.facts.advisories if a.product == product.id and a.mask & mask and a.since <= until)
        told = [
            {"message": a.message, "since": date.fromordinal(a.since).isoformat(), "sources": source_payloads(a.sources)}
            for a in sorted(known, key=lambda a: (a.kind != "security", -a.since))
            if a.kind in ("security", "vulnerability")
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
        name, links = build.distribution or product.distribution, []
        for seen in self.facts.observations("symbols"):
            if seen.packages == {name: build.version} and (seen.needs or seen.unlinked) and "default" in build.channels:
                conflict = seen.detail if seen.outcome == "conflict" else None
                links.append(
                    {**picked(seen, "os arch"), "seen": seen.checked, **picked(seen, "needs unlinked"), "conflict": conflict}
                )
        return links

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

    def releases(self, product: Product) -> list[Content]:
        """Return the releases of a product that were out by the day, newest first."""
        records = {record.version: record for record in self.facts.releases_of(product.id)}
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


def list_json(facts: Snapshot, product: Product | None, day: date) -> str:
    """Return the products, or the versions of one, newest first, as JSON."""
    if product is None:
        return Edition(facts.meta["data_date"], day).document({"products": Catalog(facts, day).products()})
    return Edition(facts.meta["data_date"], day).document(
        {"product": product.id, "releases": Catalog(facts, day).releases(product)}
    )


def list_lines(facts: Snapshot, product: Product | None, day: date) -> list[Line]:
    """Return the products, or the versions of one, newest first, a row each."""
    catalog, edition = Catalog(facts, day), Edition(facts.meta["data_date"], day)
    if product is None:
        known = catalog.products()
        shown = [(each["id"], str(each["releases"]), f"{each['name']}{_ROLES.get(each['role'], '')}") for each in known]
        lines = columns(shown, ("product", "releases", "name"), 0)
        return [*lines, *edition.footer("compatkb list PRODUCT")]
    rows = [release_row(release) for release in catalog.releases(product)]
    used = [n for n in range(len(_COLUMNS)) if any(row[n] for row in rows)]
    lines = columns([[row[n] for n in used] for row in rows], [_COLUMNS[n] for n in used], 0)
    return [*lines, *edition.footer(f"compatkb show {product.id} VERSION")]


def product_json(facts: Snapshot, product: Product, day: date) -> str:
    """Return a product with its releases, disputes and end of life as JSON."""
    return Edition(facts.meta["data_date"], day).document(Catalog(facts, day).product(product))


def product_screen(facts: Snapshot, product: Product, day: date, *, why: bool = False) -> list[Line]:
    """Return a product with its releases, disputes and end of life; with `why` all of it."""
    content = Catalog(facts, day).product(product)
    if not why:
        return CatalogScreen(facts).product_lines(product, content, day)
    details, releases, disputed = facts.product_details(product.id), content["releases"], content["disputes"]
    lines = [f"{product.name} ({product.id}), {product.role}"]
    if product.distribution:
        lines.append(f"distribution: {product.distribution}")
    if details.eol:
        lines.append(f"end of life: {details.eol}{_ended(details.eol, day)}")
    if rule := details.eol_rule:
        lines.append(f"support: {messages.support_rule(rule.published, rule.says)}")
        lines += [f"  source: {text}" for text, _ in rule.sources]
    if other := details.replaced_by:
        lines.append(f"replaced by: {other.product} {other.specifier}" + (f" on {other.device}" if other.device else ""))
    for notice in content["security"]:
        lines.append(f"security: {notice['message']} ({notice['since']})")
        lines += [f"  source: {s['url'] or s['text']}" for s in notice["sources"]]
    if details.note:
        lines.append(f"note: {details.note}")
    lines += ["", f"{len(releases)} releases, newest first:"]
    lines += [f"  {'  '.join(filter(None, release_row(release)))}" for release in releases]
    if disputed:
        lines += ["", "disputed:"]
        for dispute in disputed:
            head, *rest = disputes.lines(dispute)
            lines += [f"- {head}", *rest]
    return [*map(Line, lines), *Edition(facts.meta["data_date"], day).footer()]


def release_json(facts: Snapshot, product: Product, version: str, day: date) -> str:
    """Return one version, or a series: dates, builds, what it says of others and others of it, sources, as JSON."""
    return Edition(facts.meta["data_date"], day).document(
        {"product": product.id, "releases": Catalog(facts, day).chosen(product, version)}
    )


def release_screen(facts: Snapshot, product: Product, version: str, day: date, *, why: bool = False) -> list[Line]:
    """Return one version, or a series, on a first screen; with `why` all that is known of it."""
    catalog = Catalog(facts, day)
    system = None if find_versions(facts, product, version) else _system(facts, version)
    if system and (documented := catalog.documented_on(product, system)):
        return CatalogScreen(facts).platform_lines(product, system, documented, day)
    content = catalog.chosen(product, version)
    if not why:
        return CatalogScreen(facts).release_lines(product, content, day)
    text = "\n".join(f"{product.id} {_release_lines(entry, day)}" for entry in content)
    return [*map(Line, text.splitlines()), *Edition(facts.meta["data_date"], day).footer()]


def _system(facts: Snapshot, word: str) -> str | None:
    """Return the one system that a word means."""
    found = list(facts.elements(SYSTEM).of(facts.word(SYSTEM, word) or 0))
    return found[0].version if len(found) == 1 else None


def eol_json(facts: Snapshot, product: Product | None, day: date, days: int, *, version: str | None = None, **_: bool) -> str:
    """Return the ends of life up to `days` after `day`, and what is said where no day is known, as JSON."""
    ends = Catalog(facts, day).ends(product, version, days)
    return Edition(facts.meta["data_date"], day).document(
        {"within_days": days, "ends": ends, "rules": Catalog(facts, day).rules(product, version, ends)}
    )


def eol_screen(
    facts: Snapshot, product: Product | None, day: date, days: int, *, version: str | None = None, everything: bool = False
) -> list[Line]:
    """Return the ends of life up to `days` after `day`: what will be, what is over, and what has no day."""
    ends = Catalog(facts, day).ends(product, version, days)
    return CatalogScreen(facts).eol_lines(
        ends, Catalog(facts, day).rules(product, version, ends), day, days, everything=everything
    )


def _rule(rule: SupportRule) -> Content:
    return {"published": rule.published, "says": rule.says, "sources": source_payloads(rule.sources)}


def _newest_first(builds: list[Element]) -> list[Element]:
    """Return builds with the newest first, those for devices that no route serves last."""
    return sorted(builds, key=lambda element: (element.foreign, -element.idx))


def _release_lines(entry: Content, day: date) -> str:
    lines = [entry["version"]]
    if entry["released"]:
        basis = f" ({entry['released_basis']})" if entry["released_basis"] else ""
        lines.append(f"  released: {_dated(entry['released'], 'released', entry['disputed'])}{basis}")
    if entry["eol"]:
        last = _dated(entry["eol"], "end-of-life", entry["disputed"])
        lines.append(f"  end of life: {last}{_ended(entry['eol'], day)}")
    for notice in entry["security"]:
        lines.append(f"  security: {notice['message']} ({notice['since']})")
        lines += [f"    source: {s['url'] or s['text']}" for s in notice["sources"]]
    if entry["note"]:
        lines.append(f"  note: {entry['note']}")
    for build in entry["builds"]:
        state = [build["stage"]] if build["stage"] != "stable" else []
        if build["yanked"]:
            state.append(f"yanked: {(build['yank_reason'] or 'no reason given').rstrip('.')}")
        more = f" ({'; '.join(state)})" if state else ""
        where = f" from {', '.join(build['channels'])}" if build["channels"] else ""
        lines.append(f"  build {build['version']} for {', '.join(build['devices']) or 'any device'}{where}{more}")
        for wheel in build["wheels"]:
            mark = " (inferred)" if wheel["basis"] == "inferred" else ""
            lines.append(f"    {wheel['os']} {wheel['arch']}: Python {', '.join(wheel['python'])}{mark}")
        for link in build["links"]:
            remarks = [*(f"nothing of {name}" for name in link["unlinked"]), *([link["conflict"]] if link["conflict"] else [])]
            lines.append(f"    {link['os']} {link['arch']} links: {'; '.join([', '.join(link['needs']), *remarks])}")
    for title, claims in (("says", entry["claims"]), ("others say", entry["claimed_by"])):
        if claims:
            lines.append(f"  {title}:")
        for claim in claims:
            when = f" when {claim['when']}" if claim["when"] else ""
            lines.append(f"    {claim['of']} {claim['kind']} {messages.terms(claim['to'])}{when} [{claim['basis']}]")
            lines += [f"      {name}: {claim[name]}" for name in ("reason", "note") if name in claim]
            lines += [f"      disputed: {d['about']} (below)" for d in claim.get("disputes", ())]
            lines += [f"      source: {s['url'] or s['text']}" for s in claim["sources"][:2]]
    for dispute in entry["disputes"]:
        head, *rest = disputes.lines(dispute)
        lines += [f"  disputed: {head}", *(f"  {line}" for line in rest)]
    for name, value in entry["machine"].items():
        lines += [f"  {name.replace('_', ' ')}: {_said(record)}" for record in value]
    lines += feature_lines(entry["features"])
    lines += [f"  source: {s['url'] or s['text']}" for s in entry["sources"]]
    return "\n".join(lines) + "\n"


def _said(record: Content | str) -> str:
    """Return a record as its keys and values, without those that say nothing."""
    if isinstance(record, str):
        return record
    return "; ".join(f"{key.replace('_', ' ')} {value}" for key, value in record.items() if value not in (None, [], {}))


def _dated(day: str | None, name: str, disputed: list[str]) -> str:
    return f"{day} (disputed)" if day and name in disputed else day or ""


def _ended(last_day: str, day: date) -> str:
    return " (over)" if last_day < day.isoformat() else ""
