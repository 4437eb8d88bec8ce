"""Published tables of what to know before installing: advisories, complete lists, installations, routes."""

from compatkb.core.vocabulary import FOREVER
from compatkb.export.columns import ELEMENT, cites, day, maybe, number, table, text, truth
from compatkb.export.table_reader import Reader, Tables, day_of
from compatkb.store.queries.claims import installs
from compatkb.store.queries.products import route_notes
from compatkb.store.records import picked

TABLES = (
    table(
        "advisory",
        "What users of some versions must be told.",
        ("id",),
        number("id", "a number without meaning"),
        text("product", "the product that it concerns", "product"),
        text("kind", "security, driver, device or known-issue"),
        text("message", "the sentence that users read"),
        day("since", "the day since which it is known"),
        maybe("beside", "it concerns them only beside this product", "product"),
        text("devices", "the devices of which it speaks, between spaces; empty for any"),
        search=("message",),
    ),
    table(
        "advisory_version",
        "The versions that an advisory concerns.",
        (),
        number("advisory", "the advisory", "advisory"),
        *ELEMENT,
    ),
    cites("advisory", "an advisory"),
    table(
        "completeness",
        "Scopes inside which our list of releases is whole, so that an absence means no.",
        ("id",),
        number("id", "a number without meaning"),
        text("product", "the product", "product"),
        text("term", "the versions covered, as product and specifier"),
        maybe("channel", "only on this index", "channel"),
        text("devices", "only for these devices, between spaces; empty for any"),
        maybe("until", "the day up to which it is whole; null where it is closed for good", kind="date"),
    ),
    cites("completeness", "a scope"),
    table(
        "install",
        "Installations that one plain command cannot do.",
        ("id",),
        number("id", "a number without meaning"),
        text("product", "the product", "product"),
        text("steps", "products in the order of installation; bars stand between steps"),
        text("waives", "pins in metadata that its maker says to ignore, between bars"),
        maybe("note", "a remark"),
    ),
    table(
        "install_version",
        "The versions that an installation is for.",
        (),
        number("install", "the installation", "install"),
        *ELEMENT,
    ),
    cites("install", "an installation"),
    table(
        "route",
        "Ways to reach a device.",
        ("id",),
        text("id", "its id"),
        text("name", "its name"),
        number("rank", "small for the preferred one"),
        text("devices", "the devices, between spaces"),
        maybe("provider", "the product that brings the device", "product"),
        text("with_products", "products that belong to it, between spaces"),
        text("without_products", "products that it leaves out, between spaces"),
        truth("on_request", "true: taken only where its device, or what is for its device alone, is asked for"),
        maybe("note", "a remark"),
    ),
)


def fill(reader: Reader, tables: Tables) -> None:
    """Fill the tables of advisories, complete lists, installations and routes; those of package indexes are there already."""
    _fill_advisories(reader, tables)
    _fill_scopes(reader, tables)
    _fill_installs(reader, tables)
    notes = route_notes(reader.facts)
    tables["route"] = [
        {
            **picked(route, "id name rank"),
            "devices": " ".join(route.devices),
            "provider": reader.known(route.provider),
            "with_products": " ".join(route.with_),
            "without_products": " ".join(route.without),
            "on_request": int(route.on_request),
            "note": notes[route.id],
        }
        for route in reader.facts.routes
    ]


def _fill_advisories(reader: Reader, tables: Tables) -> None:
    for key, advisory in enumerate(reader.facts.advisories):
        shown = {"id": key, "product": advisory.product, "kind": advisory.kind, "message": advisory.message}
        where = {"beside": reader.known(advisory.to), "devices": " ".join(advisory.devices)}
        tables["advisory"].append({**shown, "since": day_of(advisory.since), **where})
        named = reader.named(advisory.product, advisory.mask)
        tables["advisory_version"] += [{"advisory": key, **version} for version in named]
        tables["advisory_source"] += reader.cite("advisory", key, advisory.sources)


def _fill_scopes(reader: Reader, tables: Tables) -> None:
    channels = {row["id"] for row in tables["channel"]}
    for key, scope in enumerate(reader.facts.scopes):
        tables["completeness"].append(
            {
                "id": key,
                "product": scope.product,
                "term": scope.product + scope.spec,
                "channel": scope.channel if scope.channel in channels else None,
                "devices": " ".join(scope.devices),
                "until": None if scope.until == FOREVER else day_of(scope.until),
            }
        )
        tables["completeness_source"] += reader.cite("completeness", key, scope.sources)


def _fill_installs(reader: Reader, tables: Tables) -> None:
    for install in installs(reader.facts):
        steps = " | ".join(" ".join(step) for step in install.steps)
        shown = {"id": install.id, "product": install.product, "note": install.note}
        tables["install"].append({**shown, "steps": steps, "waives": " | ".join(install.waives)})
        named = reader.named(install.product, install.mask)
        tables["install_version"] += [{"install": install.id, **version} for version in named]
        tables["install_source"] += reader.cite("install", install.id, install.sources)
