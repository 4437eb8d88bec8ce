"""Published tables about what is told of versions rather than shipped with them: features, the timeline, disputes."""

from compatkb.export.columns import ELEMENT, Table, cites, day, maybe, number, text

FEATURES = (
    Table(
        "feature",
        "Features: something that software can do.",
        ("id",),
        (
            text("id", "its id"),
            text("name", "its name"),
            text("names", "further names by which it is found, between commas"),
            text("product", "the product that it is part of", "product"),
            maybe("note", "a remark"),
        ),
        ("id", "name", "names", "note"),
    ),
    Table(
        "feature_need",
        "Products without which nobody has a feature.",
        ("feature", "product"),
        (text("feature", "the feature", "feature"), text("product", "the product", "product")),
    ),
    cites("feature", "what a feature needs"),
    Table(
        "statement",
        "What sources say of a feature: which versions have it, under which condition.",
        ("id",),
        (
            text("id", "its id"),
            text("feature", "the feature", "feature"),
            number("position", "its place among those of the feature"),
            text("product", "the product of whose versions it speaks", "product"),
            text("term", "these versions, as product and specifier"),
            text("status", "supported, beta, prototype, not-supported or removed"),
            text("devices", "on these devices, between spaces; empty for any"),
            text("os", "on these systems, likewise"),
            text("arch", "on these architectures, likewise"),
            text("python", "with these Pythons, likewise"),
            text("hardware", "on this hardware, likewise"),
            text("basis", "stated, observed or inferred"),
            text("standing", "holds; open in a dispute; or overruled by the decision of one"),
            maybe("reason", "of a denial: the sentence that people read"),
            maybe("note", "a remark; for an inference its reason"),
        ),
        ("id", "term", "status", "reason", "note"),
    ),
    Table(
        "statement_version",
        "The known versions that a statement covers; one that was overruled covers none.",
        (),
        (text("statement", "the statement", "statement"), *ELEMENT),
    ),
    cites("statement", "a statement"),
)
"""Features and what is said of them."""

TIMELINE = (
    Table(
        "vendor",
        "Those whose events the timeline has.",
        ("id",),
        (text("id", "its id"), number("position", "its place in the data"), text("name", "its name")),
    ),
    Table(
        "event",
        "Events of the timeline: releases, milestones, ends of life.",
        ("id",),
        (
            text("id", "its id"),
            number("position", "its place in time, 0 for the oldest"),
            maybe("vendor", "whose event it is", "vendor"),
            text("kind", "release, milestone or end-of-life"),
            text("title", "what happened"),
            maybe("product", "the product that it is about, where the data know it", "product"),
            maybe("release", "the release that it is about, likewise", "release"),
            day("first_day", "the first day on which it can have happened"),
            day("last_day", "the last one; equal to the first where the day is known"),
            text("precision", "day, month, quarter, half, year, end-of-month ..., or bounds"),
            maybe("basis", "where its date is that of a release: what that date is"),
            maybe("announced", "the day from which on it was planned", kind="date"),
            maybe("note", "a remark"),
        ),
        ("id", "title", "note"),
    ),
    cites("event", "an event"),
)
"""What happened when."""

DISPUTES = (
    Table(
        "dispute",
        "Sources that disagree, and what was decided.",
        ("id",),
        (
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
        ),
        ("id", "about", "decision", "holds", "reason"),
    ),
    Table(
        "dispute_claim",
        "The claims that a dispute is about.",
        ("dispute", "claim"),
        (text("dispute", "the dispute", "dispute"), text("claim", "the claim", "claim")),
    ),
    Table(
        "dispute_statement",
        "The statements about a feature that a dispute is about.",
        ("dispute", "statement"),
        (text("dispute", "the dispute", "dispute"), text("statement", "the statement", "statement")),
    ),
    Table(
        "dispute_subject",
        "Whom a dispute concerns beside its claims: in each row a version, a feature, an image tag, a channel or an event.",
        (),
        (
            text("dispute", "the dispute", "dispute"),
            maybe("product", "the product", "product"),
            maybe("release", "its release", "release"),
            maybe("build", "its build", "build"),
            maybe("feature", "the feature", "feature"),
            maybe("image_tag", "the image tag", "image_tag"),
            maybe("channel", "the index", "channel"),
            maybe("event", "the event", "event"),
        ),
    ),
    Table(
        "dispute_position",
        "What each side of a dispute says.",
        ("dispute", "position"),
        (
            text("dispute", "the dispute", "dispute"),
            number("position", "0 for the first"),
            text("text", "what it says"),
            maybe("claim", "the claim that says it", "claim"),
            maybe("statement", "the statement about a feature that says it", "statement"),
        ),
        ("text",),
    ),
    Table(
        "dispute_position_source",
        "The documents of each side of a dispute.",
        ("dispute", "position", "number"),
        (
            text("dispute", "the dispute", "dispute"),
            number("position", "the side, as in dispute_position"),
            number("number", "0 for the first document of a side"),
            number("source", "the document", "source"),
        ),
    ),
)
"""Disagreements between sources, with both sides."""
