"""The rows about what is told of versions rather than shipped with them: features, the timeline, disputes."""

import json

from compatkb.export.disagreements import Disagreement, Subject
from compatkb.export.reading import Reader, Row, Tables, day_of

_PLATFORM = ("os", "arch", "python")


def fill_features(reader: Reader, tables: Tables, standing: dict[str, str]) -> None:
    """Fill the tables of features and of what is said of them."""
    for name in ("feature", "feature_need", "feature_source", "statement", "statement_version", "statement_source"):
        tables[name] = []
    facts, cited = reader.facts, reader.citations()
    for row in facts.rows("select * from feature order by id"):
        key = row["id"]
        shown = {"id": key, "name": row["name"], "product": row["product"], "note": row["note"]}
        tables["feature"].append({**shown, "names": ", ".join(json.loads(row["aliases"]))})
        tables["feature_need"] += [{"feature": key, "product": product} for product in row["needs"].split()]
        tables["feature_source"] += reader.cite("feature", key, row["sources"])
    query = "select s.*, c.reason, c.note from statement s join claim c on c.id = s.claim order by s.feature, s.position"
    for row in facts.rows(query):
        key = row["claim"]
        tables["statement"].append(
            {
                "id": key,
                "feature": row["feature"],
                "position": row["position"],
                "product": row["product"],
                "term": row["product"] + row["spec"],
                "status": row["status"],
                "devices": row["device"],
                **{name: row[name] for name in (*_PLATFORM, "hardware", "basis", "reason", "note")},
                "standing": standing.get(key, "holds"),
            }
        )
        named = reader.named(row["product"], int(row["mask"], 16))
        tables["statement_version"] += [{"statement": key, **version} for version in named]
        tables["statement_source"] += reader.cite("statement", key, cited.get(key, ()))


def fill_timeline(reader: Reader, tables: Tables) -> None:
    """Fill the tables of the timeline."""
    tables["vendor"] = [dict(row) for row in reader.facts.rows("select id, position, name from vendor order by position")]
    tables["event"], tables["event_source"] = [], []
    releases = {row["id"] for row in tables["release"]}
    for position, event in enumerate(reader.facts.events):
        release = f"{event.product}=={event.version}"
        tables["event"].append(
            {
                "id": event.id,
                "position": position,
                "vendor": event.vendor if event.vendor in reader.facts.vendors else None,
                "kind": event.kind,
                "title": event.title,
                "product": reader.known(event.product),
                "release": release if release in releases else None,
                "first_day": day_of(event.first),
                "last_day": day_of(event.last),
                "precision": event.precision,
                "basis": event.basis,
                "announced": day_of(event.announced),
                "note": event.note,
            }
        )
        tables["event_source"] += reader.cite("event", event.id, event.sources)


def fill_disputes(reader: Reader, tables: Tables, disputes: tuple[Disagreement, ...]) -> None:
    """Fill the tables of disputes; those of claims, features, image tags, channels and events are there already."""
    names = ("dispute", "dispute_claim", "dispute_statement", "dispute_subject", "dispute_position")
    for name in (*names, "dispute_position_source"):
        tables[name] = []
    known = {name: {row["id"] for row in tables[name]} for name in ("claim", "statement", "image_tag", "channel", "event")}
    for dispute in disputes:
        key = dispute.id
        owner = {"product": "product", "feature": "feature", "image": "repository"}.get(dispute.kind)
        tables["dispute"].append(
            {
                "id": key,
                "kind": dispute.kind,
                **{name: dispute.owner if name == owner else None for name in ("product", "feature", "repository")},
                "about": dispute.about,
                "date_of": dispute.day,
                **_where(reader, dispute.subjects),
                "decision": dispute.decision,
                "holds": dispute.holds,
                "reason": dispute.reason,
                "decided": dispute.decided,
            }
        )
        for name in ("claim", "statement"):
            about = [claim for claim in dispute.claims if claim in known[name]]
            tables[f"dispute_{name}"] += [{"dispute": key, name: claim} for claim in about]
        for subject in dispute.subjects:
            tables["dispute_subject"] += [{"dispute": key, **row} for row in _subjects(reader, dispute, subject, known)]
        for position, side in enumerate(dispute.positions):
            at = {"dispute": key, "position": position}
            said = {name: side.claim if side.claim in known[name] else None for name in ("claim", "statement")}
            tables["dispute_position"].append({**at, "text": side.text, **said})
            numbers = enumerate(reader.sources(side.sources))
            tables["dispute_position_source"] += [{**at, "number": n, "source": source} for n, source in numbers]


def _subjects(reader: Reader, dispute: Disagreement, subject: Subject, known: dict[str, set[str]]) -> list[Row]:
    """Return whom a dispute concerns: a row for each version, or one for the feature, tag, channel or event."""
    nothing = dict.fromkeys(("product", "release", "build", "feature", "image_tag", "channel", "event"))
    if dispute.kind == "feature" and subject.name == dispute.owner:
        return [{**nothing, "feature": subject.name}]
    if dispute.kind in ("product", "feature"):
        versions = list(reader.named(subject.name, subject.mask)) or [{"product": reader.known(subject.name)}]
        return [{**nothing, **version} for version in versions]
    column = {"image": "image_tag", "channel": "channel", "timeline": "event"}[dispute.kind]
    return [{**nothing, column: subject.name}] if subject.name in known[column] else []


def _where(reader: Reader, subjects: tuple[Subject, ...]) -> Row:
    """Return on which machines a dispute matters, as words; empty for any."""
    facts = reader.facts
    found = dict.fromkeys(("devices", "hardware", *_PLATFORM), "")
    cells = 0
    for subject in subjects:  # of one dispute all have the same condition
        found |= {"devices": subject.devices, "hardware": subject.hardware}
        cells |= subject.cells
    for name in _PLATFORM if cells else ():
        values = facts.grid[name]
        inside = [value for n, value in enumerate(values) if facts.dimension_cells(name, 1 << n) & cells]
        if len(inside) < len(values):
            wider = facts.wider if name == "os" else {}
            found[name] = " ".join(value for value in inside if not set(wider.get(value, ())) & set(inside))
    return found
