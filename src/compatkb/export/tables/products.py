"""Published tables of products: their releases."""

from collections.abc import Iterator, Sequence

from compatkb.export.columns import cites, days, maybe, number, table, text, truth
from compatkb.export.table_reader import Reader, Row, Tables, day_of, series_of
from compatkb.store.queries.products import ReleaseRecord, element_details, every_product_details, product_names, releases_of
from compatkb.store.records import Element, picked

TABLES = (
    table(
        "product",
        "Products: packages, runtimes, drivers, and the properties of a machine.",
        ("id",),
        text("id", "its id"),
        text("name", "its name"),
        text("role", "package, companion, leaf (known through the pins of others) or dimension (of a machine)"),
        text("scheme", "how its versions read: pep440, dotted, minor or listed"),
        number("place", "its place in stacks and commands, small first"),
        maybe("distribution", "its name on package indexes"),
        maybe("import_name", "the module that it installs"),
        maybe("homepage", "its address"),
        text("names", "keys of the names by which it is found, between spaces"),
        maybe("eol", "its last supported day", kind="date"),
        maybe("eol_rule", "how long releases are supported, where no day is known, or what was read instead"),
        truth("eol_unpublished", "whether it was read that neither an end nor a rule is published"),
        maybe("replaced_by", "what to use instead", "product"),
        maybe("replaced_by_version", "in which versions"),
        maybe("replaced_by_device", "on which device"),
        maybe("note", "a remark"),
        search=("id", "name", "distribution", "import_name", "names", "note"),
    ),
    table(
        "release",
        "Releases of products; of a property of a machine, its values (a Python, a system, a GPU family).",
        ("id",),
        text("id", "product==version"),
        text("product", "its product", "product"),
        text("version", "its version"),
        text("series", "the series that it belongs to"),
        number("position", "0 for the newest of its product"),
        maybe("name", "its name, where it has one beside the version"),
        text("names", "further names by which people know it, between commas"),
        text("part_of", "the wider values that it belongs to, between spaces"),
        *days("released"),
        maybe("released_basis", "what the date is: tag-commit, first-upload, announcement ..."),
        maybe("eol", "its last supported day", kind="date"),
        maybe("eol_precision", "day, month, quarter or year"),
        truth("yanked", "whether every build of it is withdrawn"),
        *days("yanked"),
        maybe("yank_reason", "the reason that was given"),
        maybe("track", "of a driver: lts, production or rolling"),
        text("devices", "of hardware: the devices that it offers, between spaces"),
        maybe("note", "a remark"),
        search=("id", "name", "names", "note"),
    ),
    cites("release", "a release"),
)


def fill(reader: Reader, tables: Tables) -> None:
    """Fill the tables of products and releases."""
    tables["product"] = list(_products(reader))
    for product in reader.products:
        _fill_releases(reader, tables, product)


def _products(reader: Reader) -> Iterator[Row]:
    names, details = product_names(reader.facts), every_product_details(reader.facts)
    for name in reader.products:
        product, more = reader.facts.products[name], details[name]
        other = more.replaced_by
        yield {
            **picked(product, "id name role scheme distribution import_name"),
            "place": product.rank,
            **picked(more, "homepage eol note"),
            "names": " ".join(names.get(name, ())),
            "eol_rule": more.eol_rule.says if more.eol_rule else None,
            "eol_unpublished": int(more.eol_rule is not None and not more.eol_rule.published),
            "replaced_by": reader.known(other.product) if other else None,
            "replaced_by_version": other.specifier if other else None,
            "replaced_by_device": other.device if other else None,
        }


def _fill_releases(reader: Reader, tables: Tables, product: str) -> None:
    """Fill in what a product's file tells of its releases, and those that only an index tells of."""
    facts = reader.facts
    stored = {record.version: record for record in releases_of(facts, product)}
    details, series = element_details(facts, product), series_of(facts, product)
    groups: dict[str, list[Element]] = {}
    for element in reversed(facts.elements(product)):
        groups.setdefault(element.release, []).append(element)
    for position, version in enumerate(dict.fromkeys((*groups, *stored))):
        record, elements = stored.get(version), groups.get(version, [])
        key = f"{product}=={version}"
        head = {"id": key, "product": product, "version": version, "position": position}
        described = {"series": series.get(version, version), **_told(record)}
        tables["release"].append({**head, **described, **_released(record, elements), **_yanked(elements)})
        sources = record.sources if record else details[elements[0].idx].sources
        tables["release_source"] += reader.cite("release", key, sources)


def _told(record: ReleaseRecord | None) -> Row:
    """Return what a release's record says of it."""
    names = "name eol eol_precision track note"
    if record is None:
        return {**dict.fromkeys([*names.split(), "released_basis"]), **dict.fromkeys(("names", "part_of", "devices"), "")}
    lists = {"names": ", ".join(record.aliases), "part_of": " ".join(record.part_of), "devices": " ".join(record.devices)}
    return {**picked(record, names), "released_basis": record.basis, **lists}


def _released(record: ReleaseRecord | None, elements: Sequence[Element]) -> Row:
    """Return the bounds of the day of release, its own or its first build's."""
    text = (record.released if record else None) or ""
    if "/" in text:
        first, _, last = (part or None for part in text.partition("/"))
        return {"released_from": None if first == "..." else first, "released_by": None if last == "..." else last}
    if not text:
        dated = sorted((e.by or e.since, e) for e in elements if e.by or e.since)
        if dated:
            return {"released_from": day_of(dated[0][1].since), "released_by": day_of(dated[0][1].by)}
    return {"released_from": text or None, "released_by": text or None}


def _yanked(elements: Sequence[Element]) -> Row:
    if not elements or any(e.yank_by is None for e in elements):
        return {"yanked": 0, "yanked_from": None, "yanked_by": None, "yank_reason": None}
    first = elements[0]
    days = {"yanked_from": day_of(first.yank_after), "yanked_by": day_of(first.yank_by)}
    return {"yanked": 1, **days, "yank_reason": first.yank_reason}
