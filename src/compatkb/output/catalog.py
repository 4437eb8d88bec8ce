"""What the knowledge base holds: products, versions, ends of life."""

import json
import re
from datetime import date, timedelta
from typing import Any

from compatkb.core.vocabulary import Role
from compatkb.errors import UsageError
from compatkb.output import disputes, messages
from compatkb.output.catalog_screen import eol_lines, product_lines
from compatkb.output.catalog_screen import release_lines as release_screen
from compatkb.output.features import release_features, release_lines
from compatkb.output.payload import SCHEMA, claim_payload, source_payload
from compatkb.output.screen import text_of
from compatkb.request_parser import find_versions
from compatkb.store.queries.products import ReleaseRecord, product_details, release, releases, releases_of
from compatkb.store.reader import Snapshot
from compatkb.store.records import Product

Content = dict[str, Any]


def list_text(facts: Snapshot, product: Product | None, day: date, *, as_json: bool) -> str:
    """Return the products, or the versions of one, newest first."""
    if product is None:
        rows = [
            {
                "id": p.id,
                "name": p.name,
                "role": p.role,
                "releases": len({element.release for element in facts.elements(p.id)}),
                "builds": len(facts.elements(p.id)),
                "distribution": p.distribution,
            }
            for p in facts.products.values()
            if p.role != Role.FEATURE
        ]
        if as_json:
            return _json(facts, day, {"products": rows})
        width = max(len(str(row["id"])) for row in rows)
        counts = {row["id"]: f"{row['releases']:>4} release{'' if row['releases'] == 1 else 's'}" for row in rows}
        lines = [f"{row['id']:<{width}}  {counts[row['id']]:<13} {row['name']} ({row['role']})\n" for row in rows]
        return "".join(lines) + _foot(facts, day)
    releases = _releases(facts, product, day)
    if as_json:
        return _json(facts, day, {"product": product.id, "releases": releases})
    return "".join(f"{_release_line(release)}\n" for release in releases) + _foot(facts, day)


def product_text(facts: Snapshot, product: Product, day: date, *, as_json: bool, why: bool = False) -> str:
    """Return a product with its releases, disputes and end of life."""
    details = product_details(facts, product.id)
    releases = _releases(facts, product, day)
    disputed = disputes.of_product(facts, product.id)
    content: Content = {
        "id": product.id,
        "name": product.name,
        "role": product.role,
        "distribution": product.distribution,
        "eol": details.eol,
        "replaced_by": details.replaced_by_record,
        "note": details.note,
        "releases": releases,
        "disputes": disputed,
    }
    if as_json:
        return _json(facts, day, content)
    if not why:
        return text_of(product_lines(facts, product, content, day))
    lines = [f"{product.name} ({product.id}), {product.role}"]
    if product.distribution:
        lines.append(f"distribution: {product.distribution}")
    if details.eol:
        lines.append(f"end of life: {details.eol}{_ended(details.eol, day)}")
    if other := details.replaced_by:
        lines.append(f"replaced by: {other.product} {other.specifier}" + (f" on {other.device}" if other.device else ""))
    if details.note:
        lines.append(f"note: {details.note}")
    lines += ["", f"{len(releases)} releases, newest first:"]
    lines += [f"  {_release_line(release)}" for release in releases]
    if disputed:
        lines += ["", "Disputes:"]
        for dispute in disputed:
            head, *rest = disputes.lines(dispute)
            lines += [f"- {head}", *rest]
    return "\n".join(lines) + "\n" + _foot(facts, day)


def release_text(facts: Snapshot, product: Product, version: str, day: date, *, as_json: bool, why: bool = False) -> str:
    """Return one version, or a series: dates, builds, what it says of others and others of it, sources."""
    mask = find_versions(facts, product, version)
    if not mask:
        known = ", ".join(release["version"] for release in _releases(facts, product, day)[:8])
        raise UsageError(f"{product.id} has no version {version!r}; newest: {known}")
    chosen = facts.elements(product.id).of(mask)
    names = dict.fromkeys(e.release for e in reversed(chosen))
    content = []
    for name in names:
        builds = [e for e in chosen if e.release == name]
        content.append(_release(facts, product, name, release(facts, product.id, name), builds))
    if as_json:
        return _json(facts, day, {"product": product.id, "releases": content})
    if not why:
        return text_of(release_screen(facts, product, content, day))
    return "\n".join(f"{product.id} {_release_lines(entry, day)}" for entry in content) + _foot(facts, day)


def _release(facts: Snapshot, product: Product, name: str, row: ReleaseRecord | None, builds: list[Any]) -> Content:
    says, said = [], []
    bits = sum(1 << e.idx for e in builds)
    for other in facts.spoken_of(product.id):
        says += [edge.claim for edge in facts.edges(product.id, other) if edge.of_mask & bits]
    for other, head in facts.products.items():
        if other != product.id and head.role != Role.FEATURE:
            said += [
                edge.claim for edge in facts.edges(other, product.id) if edge.to_mask & bits and edge.spec != "any version"
            ]
    return {
        "version": name,
        "released": row.released if row else None,
        "released_basis": row.basis if row else None,
        "eol": row.eol if row else None,
        "note": row.note if row else None,
        "disputed": [day for day in ("released", "end-of-life") if disputes.dated(facts, product.id, day) & bits],
        "sources": [source_payload(s) for s in row.sources] if row else [],
        "builds": [
            {
                "version": e.version,
                "stage": e.stage,
                "devices": sorted(e.devices),
                "channels": list(e.channels),
                "yanked": e.yank_by is not None,
                "yank_reason": e.yank_reason,
                "wheels": _wheels(facts, e.strong, e.weak) if e.installable and e.channels else [],
                "sources": [source_payload(s) for s in messages.element_sources(facts, e)],
            }
            for e in reversed(builds)
            if product.role in (Role.PACKAGE, Role.COMPANION)
        ],
        "claims": [claim_payload(facts, claim) for claim in dict.fromkeys(says)],
        "claimed_by": [claim_payload(facts, claim) for claim in dict.fromkeys(said)],
        "disputes": disputes.of_elements(facts, product.id, bits),
        "features": release_features(facts, product.id, bits),
    }


def _wheels(facts: Snapshot, strong: int, weak: int) -> list[Content]:
    """Return, by family of systems and architecture, the Pythons with wheels."""
    grid = facts.grid
    pythons, archs = len(grid["python"]), len(grid["arch"])
    found = []
    for s, system in enumerate(grid["os"]):
        if system not in facts.families:
            continue
        for a, arch in enumerate(grid["arch"]):
            shift = (s * archs + a) * pythons
            for cells, basis in ((strong, "seen"), (weak, "inferred")):
                names = [grid["python"][n] for n in range(pythons) if cells >> shift + n & 1]
                if names:
                    found.append({"os": system, "arch": arch, "python": names, "basis": basis})
    return found


def _release_lines(entry: Content, day: date) -> str:
    lines = [entry["version"]]
    if entry["released"]:
        basis = f" ({entry['released_basis']})" if entry["released_basis"] else ""
        lines.append(f"  released: {_dated(entry['released'], 'released', entry['disputed'])}{basis}")
    if entry["eol"]:
        last = _dated(entry["eol"], "end-of-life", entry["disputed"])
        lines.append(f"  end of life: {last}{_ended(entry['eol'], day)}")
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
    lines += release_lines(entry["features"])
    lines += [f"  source: {s['url'] or s['text']}" for s in entry["sources"]]
    return "\n".join(lines) + "\n"


def eol_text(
    facts: Snapshot, product: Product | None, day: date, days: int, *, as_json: bool, everything: bool = False
) -> str:
    """Return the ends of life up to `days` after `day`, latest first: what is over, and what will be."""
    limit = day + timedelta(days=days)
    rows = [(record.eol, record) for record in releases(facts) if record.eol]
    rows.sort(key=lambda row: row[0], reverse=True)
    names = dict.fromkeys(record.product for _, record in rows)
    unsure = {name: _named(facts, name, disputes.dated(facts, name, "end-of-life")) for name in names}
    found: list[Content] = [
        {
            "product": record.product,
            "version": record.version,
            "last_day": last,
            "precision": record.eol_precision,
            "ended": last < day.isoformat(),
            "disputed": record.version in unsure[record.product],
            "sources": [source_payload(s) for s in record.eol_sources],
        }
        for last, record in rows
        if last <= limit.isoformat() and (product is None or record.product == product.id)
    ]
    if as_json:
        return _json(facts, day, {"within_days": days, "ends": found})
    return text_of(eol_lines(facts, found, day, days, everything=everything))


def parse_days(text: str) -> int:
    """Return a span such as 90d, 12w or 1y in days; raises UsageError."""
    match = re.fullmatch(r"(\d{1,5})([dwmy]?)", text.strip())
    if not match:
        raise UsageError(f"{text!r} is not a span; write it as 90d, 12w, 6m or 1y")
    return int(match[1]) * {"": 1, "d": 1, "w": 7, "m": 30, "y": 365}[match[2]]


def _releases(facts: Snapshot, product: Product, day: date) -> list[Content]:
    records = {record.version: record for record in releases_of(facts, product.id)}
    elements = facts.elements(product.id)
    unsure = {day: disputes.dated(facts, product.id, day) for day in ("released", "end-of-life")}
    found = []
    for version in records or [element.release for element in reversed(elements)]:
        record = records.get(version)
        released, eol = (record.released, record.eol) if record else (None, None)
        if released and released[:10] > day.isoformat():
            continue
        mine = [e for e in elements if e.release == version]
        found.append(
            {
                "version": version,
                "name": record.name if record else None,
                "aliases": list(record.aliases) if record else [],
                "released": released,
                "eol": eol,
                "ended": bool(eol and eol < day.isoformat()),
                "yanked": bool(mine) and all(e.yank_by is not None for e in mine),
                "builds": [e.version for e in reversed(mine)],
                "disputed": [day for day, mask in unsure.items() if any(mask >> e.idx & 1 for e in mine)],
            }
        )
    return found


def _release_line(release: Content) -> str:
    parts = [release["version"]]
    if release["name"]:
        parts.append(f"({release['name']})")
    parts.append(_dated(release["released"], "released", release["disputed"]))
    builds = [build for build in release["builds"] if build != release["version"]]
    if builds:
        parts.append(f"builds: {', '.join(builds)}")
    if release["aliases"]:
        parts.append(f"also: {', '.join(release['aliases'][:8])}")
    if release["yanked"]:
        parts.append("yanked")
    if release["eol"]:
        ended = _dated(release["eol"], "end-of-life", release["disputed"])
        parts.append(f"{'ended' if release['ended'] else 'ends'} {ended}")
    return "  ".join(part for part in parts if part)


def _dated(day: str | None, name: str, disputed: list[str]) -> str:
    return f"{day} (disputed)" if day and name in disputed else day or ""


def _named(facts: Snapshot, product: str, mask: int) -> set[str]:
    """Return the releases that elements belong to."""
    return {element.release for element in facts.elements(product).of(mask)}


def _ended(last_day: str, day: date) -> str:
    return " (over)" if last_day < day.isoformat() else ""


def _foot(facts: Snapshot, day: date) -> str:
    return f"(as of {day}, data of {facts.meta['data_date']})\n"


def _json(facts: Snapshot, day: date, content: Content) -> str:
    head = {"schema": SCHEMA, "data_date": facts.meta["data_date"], "as_of": day.isoformat()}
    return json.dumps({**head, **content}, indent=2, ensure_ascii=False) + "\n"
