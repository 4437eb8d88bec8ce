"""Published tables of features, and of what sources say of them."""

from compatkb.export.columns import ELEMENT, cites, maybe, number, table, text
from compatkb.export.table_reader import Reader, Tables
from compatkb.store.queries.claims import features, sources_by_claim, statements
from compatkb.store.records import picked

TABLES = (
    table(
        "feature",
        "Features: something that software can do.",
        ("id",),
        text("id", "its id"),
        text("name", "its name"),
        text("names", "further names by which it is found, between commas"),
        text("product", "the product that it is part of", "product"),
        maybe("note", "a remark"),
        search=("id", "name", "names", "note"),
    ),
    table(
        "feature_need",
        "Products without which nobody has a feature.",
        ("feature", "product"),
        text("feature", "the feature", "feature"),
        text("product", "the product", "product"),
    ),
    cites("feature", "what a feature needs"),
    table(
        "statement",
        "What sources say of a feature: which versions have it, under which condition.",
        ("id",),
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
        search=("id", "term", "status", "reason", "note"),
    ),
    table(
        "statement_version",
        "The known versions that a statement covers; one that was overruled covers none.",
        (),
        text("statement", "the statement", "statement"),
        *ELEMENT,
    ),
    cites("statement", "a statement"),
)


def fill(reader: Reader, tables: Tables) -> None:
    """Fill the tables of features and of what is said of them."""
    cited = sources_by_claim(reader.facts)
    for feature in features(reader.facts):
        key = feature.id
        shown = {"id": key, "name": feature.name, "product": feature.product, "note": feature.note}
        tables["feature"].append({**shown, "names": ", ".join(feature.aliases)})
        tables["feature_need"] += [{"feature": key, "product": product} for product in feature.needs]
        tables["feature_source"] += reader.cite("feature", key, feature.sources)
    for statement in statements(reader.facts):
        key = statement.claim
        tables["statement"].append(
            {
                "id": key,
                **picked(statement, "feature position product status basis reason note"),
                "term": statement.product + statement.spec,
                "devices": " ".join(statement.device),
                **{name: " ".join(getattr(statement, name)) for name in ("os", "arch", "python", "hardware")},
                "standing": reader.standing.get(key, "holds"),
            }
        )
        tables["statement_version"] += [{"statement": key, **row} for row in reader.named(statement.product, statement.mask)]
        tables["statement_source"] += reader.cite("statement", key, cited.get(key, ()))
