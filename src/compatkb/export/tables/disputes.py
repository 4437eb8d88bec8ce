"""Published tables of disputes: whom they concern, what each side says, what was decided."""

from compatkb.export.columns import day, maybe, number, table, text
from compatkb.export.table_reader import Reader, Row, Tables
from compatkb.store.queries.disputes import Disagreement, DisputeSubject
from compatkb.store.records import picked

_PLATFORM = ("os", "arch", "python")
TABLES = (
    table(
        "dispute",
        "Sources that disagree, and what was decided.",
        ("id",),
        text("id", "its id"),
        text("kind", "what the data that record it are about: product, feature, image, channel or timeline"),
        maybe("product", "the product whose data record it", "product"),
        maybe("feature", "the feature whose data record it", "feature"),
        maybe("repository", "the image repository whose data record it"),
        text("about", "what they disagree about"),
        maybe("date_of", "where it is about a date, which one: released or end-of-life"),
        text("devices", "it matters on these devices, between spaces; empty for any"),
        text("os", "on these systems, likewise"),
        text("arch", "on these architectures, likewise"),
        text("python", "with these Pythons, likewise"),
        text("hardware", "on this hardware, likewise"),
        text("decision", "the claim or value that holds, both, or open"),
        maybe("holds", "what holds, in words; null while it is open"),
        text("reason", "why"),
        day("decided", "the day of the decision; of an open one, the day on which it was last looked at"),
        search=("id", "about", "decision", "holds", "reason"),
    ),
    table(
        "dispute_claim",
        "The claims that a dispute is about.",
        ("dispute", "claim"),
        text("dispute", "the dispute", "dispute"),
        text("claim", "the claim", "claim"),
    ),
    table(
        "dispute_statement",
        "The statements about a feature that a dispute is about.",
        ("dispute", "statement"),
        text("dispute", "the dispute", "dispute"),
        text("statement", "the statement", "statement"),
    ),
    table(
        "dispute_subject",
        "Whom a dispute concerns beside its claims: in each row a version, a feature, an image tag, a channel or an event.",
        (),
        text("dispute", "the dispute", "dispute"),
        maybe("product", "the product", "product"),
        maybe("release", "its release", "release"),
        maybe("build", "its build", "build"),
        maybe("feature", "the feature", "feature"),
        maybe("image_tag", "the image tag", "image_tag"),
        maybe("channel", "the index", "channel"),
        maybe("event", "the event", "event"),
    ),
    table(
        "dispute_position",
        "What each side of a dispute says.",
        ("dispute", "position"),
        text("dispute", "the dispute", "dispute"),
        number("position", "0 for the first"),
        text("text", "what it says"),
        maybe("claim", "the claim that says it", "claim"),
        maybe("statement", "the statement about a feature that says it", "statement"),
        search=("text",),
    ),
    table(
        "dispute_position_source",
        "The documents of each side of a dispute.",
        ("dispute", "position", "number"),
        text("dispute", "the dispute", "dispute"),
        number("position", "the side, as in dispute_position"),
        number("number", "0 for the first document of a side"),
        number("source", "the document", "source"),
    ),
)


def fill(reader: Reader, tables: Tables) -> None:
    """Fill the tables of disputes; those of claims, features, image tags, channels and events are there already."""
    known = {name: {row["id"] for row in tables[name]} for name in ("claim", "statement", "image_tag", "channel", "event")}
    for dispute in reader.disputes:
        key = dispute.id
        owner = {"product": "product", "feature": "feature", "image": "repository"}.get(dispute.kind)
        tables["dispute"].append(
            {
                "id": key,
                **picked(dispute, "kind about decision holds reason decided"),
                **{name: dispute.owner if name == owner else None for name in ("product", "feature", "repository")},
                "date_of": dispute.day,
                **_where(reader, dispute.subjects),
            }
        )
        for name in ("claim", "statement"):
            about = [claim for claim in dispute.claims if claim in known[name]]
            tables[f"dispute_{name}"] += [{"dispute": key, name: claim} for claim in about]
        for subject in dispute.subjects:
            tables["dispute_subject"] += [{"dispute": key, **row} for row in _subjects(reader, dispute, subject, known)]
        for position, side in enumerate(dispute.positions):
            at = {"dispute": key, "position": position}
            columns = {name: side.claim if side.claim in known[name] else None for name in ("claim", "statement")}
            tables["dispute_position"].append({**at, "text": side.text, **columns})
            numbers = enumerate(reader.sources(side.sources))
            tables["dispute_position_source"] += [{**at, "number": n, "source": source} for n, source in numbers]


def _subjects(reader: Reader, dispute: Disagreement, subject: DisputeSubject, known: dict[str, set[str]]) -> list[Row]:
    """Return whom a dispute concerns: a row for each version, or one for the feature, tag, channel or event."""
    nothing = dict.fromkeys(("product", "release", "build", "feature", "image_tag", "channel", "event"))
    if dispute.kind == "feature" and subject.name == dispute.owner:
        return [{**nothing, "feature": subject.name}]
    if dispute.kind in ("product", "feature"):
        versions = list(reader.named(subject.name, subject.mask)) or [{"product": reader.known(subject.name)}]
        return [{**nothing, **version} for version in versions]
    column = {"image": "image_tag", "channel": "channel", "timeline": "event"}[dispute.kind]
    return [{**nothing, column: subject.name}] if subject.name in known[column] else []


def _where(reader: Reader, subjects: tuple[DisputeSubject, ...]) -> Row:
    """Return on which machines a dispute matters, as words; empty for any."""
    facts = reader.facts
    row = dict.fromkeys(("devices", "hardware", *_PLATFORM), "")
    cells = 0
    for subject in subjects:  # of one dispute all have the same condition
        row |= {"devices": " ".join(subject.devices), "hardware": " ".join(subject.hardware)}
        cells |= subject.cells
    for name in _PLATFORM if cells else ():
        values = facts.grid[name]
        inside = [value for n, value in enumerate(values) if facts.dimension_cells(name, 1 << n) & cells]
        if len(inside) < len(values):
            wider = facts.wider if name == "os" else {}
            row[name] = " ".join(value for value in inside if not set(wider.get(value, ())) & set(inside))
    return row
