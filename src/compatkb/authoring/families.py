"""Makes the records of product files of the families in which they are written; pure.

A family says once what its rows share (`schema.families`). A source that one record alone cites stands in that record;
it gets an id here that follows from what it says. For every record it is kept where its words stand in the file.
"""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from typing import Any

from compatkb.core.record import NamedTuple
from compatkb.core.text_position import Where
from compatkb.core.versions import Scheme, parse
from compatkb.schema import Kind
from compatkb.schema.families import BuildRow, FamilyRow, PairRow, VariantRow, row_fields

Table = dict[str, Any]
_ROWS: dict[str, type[FamilyRow]] = {"builds": BuildRow, "variants": VariantRow, "pairs": PairRow}
_CITING = ("wheels", "compiled-for")
"""Lists of tables that cite what the build or variant cites, where they cite nothing."""


class Origin(NamedTuple):
    """Where a record is written: a row, or a record of its own."""

    where: Where
    cells: tuple[str, ...] = ()  # the names of the cells of a row
    family: str = ""  # what its family is about, as people read it

    def candidates(self, rest: Where) -> Iterator[Where]:
        """Yield the places where a value inside the record can stand, the likeliest first."""
        if not self.cells:
            yield (*self.where, *rest)
            return
        if rest and rest[0] in self.cells:
            cell = self.cells.index(str(rest[0]))
            yield (*self.where, cell, *rest[1:])
        if rest:
            for last in range(len(self.cells) - 1, len(self.cells) + 1):
                yield (*self.where, last, *rest)
            yield (*self.where[:2], *rest)
        yield self.where


class Expanded(NamedTuple):
    """The content of a product file record by record, where each is written, and what rows say that cannot be."""

    content: Table
    origins: dict[Where, Origin]
    problems: list[tuple[Where, str]]


# -- sources ------------------------------------------------------------------------------------------------------


def source_id(source: Mapping[str, Any]) -> str:
    """Return the id of a source that stands where it is cited: equal ones have equal ids."""
    said = json.dumps(source, sort_keys=True, default=str)
    return f"at-{hashlib.sha256(said.encode()).hexdigest()[:12]}"


def lift_sources(values: Table) -> tuple[Table, dict[str, tuple[Where, ...]]]:
    """Return content in which records cite ids alone, and where the sources stand that were written in records."""
    inline: dict[str, list[Where]] = {}
    sources: Table = {}

    def lifted(value: Any, where: Where, *, citing: bool) -> Any:
        if isinstance(value, dict):
            if citing:
                name = source_id(value)
                sources[name] = value
                inline.setdefault(name, []).append(where)
                return name
            return {key: lifted(item, (*where, key), citing=False) for key, item in value.items()}
        if isinstance(value, list):
            # A table in a list `sources` is a source, and so is one in a cell of a row.
            cited = bool(where) and (where[-1] == "sources" or (len(where) > 2 and where[-3] == "rows"))
            return [lifted(item, (*where, number), citing=cited) for number, item in enumerate(value)]
        return value

    content = {key: value if key == "source" else lifted(value, (key,), citing=False) for key, value in values.items()}
    if sources and isinstance(content.get("source", {}), dict):
        content["source"] = {**content.get("source", {}), **sources}
    return content, {name: tuple(places) for name, places in inline.items()}


# -- records of families ------------------------------------------------------------------------------------------


def expand(values: Table) -> Expanded:
    """Return the records of a product file whose written form is valid, with sources lifted."""
    scheme = Scheme(values["product"]["scheme"])
    origins: dict[Where, Origin] = {}
    problems: list[tuple[Where, str]] = []
    releases: dict[str, tuple[Table, Origin]] = {}
    doubled: list[tuple[Table, Origin]] = []
    for number, entry in enumerate(values.get("release", ())):
        written = (dict(entry), Origin(("release", number)))
        if entry["version"] in releases:
            doubled.append(written)
        releases.setdefault(entry["version"], written)
    parts: dict[str, dict[str, list[tuple[Table, Origin]]]] = defaultdict(lambda: {"build": [], "variant": []})
    for key, name in (("builds", "build"), ("variants", "variant")):
        for origin, family, row in _rows(values, key):
            record = _joined(family, row, origin, problems)
            version = record.pop("version") if key == "variants" else record.pop("release", "") or _release(record["version"])
            releases.setdefault(version, ({"version": version, "sources": record.get("sources", [])}, origin))
            parts[version][name].append((record, origin))
    content = {key: value for key, value in values.items() if key not in _ROWS}
    content["release"] = []
    for number, (release, origin) in enumerate(_newest_first(scheme, [*releases.values(), *doubled], itemgetter("version"))):
        where: Where = ("release", number)
        origins[where] = origin
        made = dict(release)
        for name, records in parts.pop(release["version"], {}).items():
            made[name] = [record for record, _ in records]
            origins |= {(*where, name, n): origin for n, (_, origin) in enumerate(records)}
        content["release"].append(made)
    claims = _newest_first(scheme, _claims(values, problems), _claimed)
    content["claim"] = [record for record, _ in claims]
    origins |= {("claim", number): origin for number, (_, origin) in enumerate(claims)}
    return Expanded(content, origins, problems)


def _rows(values: Table, key: str) -> Iterator[tuple[Origin, Table, Table]]:
    """Yield each row of the families of a kind: where it stands, what its family says, and what it says."""
    for number, family in enumerate(values.get(key, ())):
        shared = {name: value for name, value in family.items() if name != "rows"}
        model = _ROWS[key]
        named = family_name(key, shared)
        for position, row in enumerate(family["rows"]):
            yield Origin((key, number, "rows", position), model.cells, named), shared, row_fields(model, row)


def family_name(key: str, family: Mapping[str, Any]) -> str:
    """Return what a family is about, as findings name it: `needs torch`, `builds for xpu`."""
    if key == "pairs":
        said = [(kind, _targets(family[kind])) for kind in Kind if family.get(kind)]
        return "; ".join(f"{kind} {', '.join(products[:3])}" for kind, products in said) or key
    devices = family.get("devices") or [family["device"]] if family.get("devices") or family.get("device") else []
    return f"{key} for {', '.join(devices)}" if devices else key


def _targets(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _release(build: str) -> str:
    return build.partition("+")[0]


def _joined(family: Table, row: Table, origin: Origin, problems: list[tuple[Where, str]]) -> Table:
    """Return what a family and its row say together."""
    record = {**family, **row}
    for name in _CITING:
        if name in family and name in row:
            if len(family[name]) == len(row[name]):
                record[name] = [{**shared, **own} for shared, own in zip(family[name], row[name], strict=True)]
            else:
                message = f"{name}: the row has {len(row[name])}, and its family {len(family[name])} to complete"
                problems.append((origin.where, message))
    for name in _CITING:
        if name in record:
            cites = {"sources": record["sources"]} if "sources" in record else {}
            record[name] = [_noted({**cites, **item}, record["version"]) for item in record[name]]
    return _noted(record, record["version"])


def _noted(record: Table, version: str) -> Table:
    """Return a record with the release of a version for `{of}` in its note."""
    return {**record, "note": filled(record["note"], version)} if isinstance(record.get("note"), str) else record


def _newest_first(
    scheme: Scheme, records: list[tuple[Table, Origin]], version: Callable[[Table], str]
) -> list[tuple[Table, Origin]]:
    """Return records from the newest version; those without one last, and those of listed products as they stand."""
    if scheme is Scheme.LISTED:
        return records

    def key(record: tuple[Table, Origin]) -> Any:
        try:
            return parse(scheme, version(record[0]))
        except ValueError:
            return None

    keyed = [(key(record), record) for record in records]
    readable = sorted((pair for pair in keyed if pair[0] is not None), key=itemgetter(0), reverse=True)
    return [record for _, record in readable] + [record for found, record in keyed if found is None]


# -- claims -------------------------------------------------------------------------------------------------------


def _claimed(claim: Table) -> str:
    return first_version(re.split(r"(?=[<>=!~])", claim["of"], maxsplit=1)[-1])


def _claims(values: Table, problems: list[tuple[Where, str]]) -> list[tuple[Table, Origin]]:
    product = values["product"]["id"]
    records: list[Table] = []
    origins: list[Origin] = []
    for origin, family, row in _rows(values, "pairs"):
        kind = next(kind for kind in Kind if family.get(kind))
        to = _terms(_targets(family[kind]), row["to"])
        if to is None:
            named = len(_targets(family[kind]))
            problems.append((origin.where, f"to: the family names {named} products, so it is a list with a version for each"))
            continue
        record = {key: value for key, value in {**family, **row}.items() if key not in (*Kind, "of")}
        record |= {"kind": str(kind), "of": f"{product}{_spec(row['of'])}", "to": to}
        for name in ("reason", "note"):
            if isinstance(record.get(name), str):
                record[name] = filled(record[name], row["of"], row["to"])
                problems += [
                    ((*origin.where, name), f"{slot} stands for one version, and the row names several")
                    for slot in ("{of}", "{to}")
                    if slot in record[name]
                ]
        origins.append(origin)
        records.append(record)
    for record, name in zip(records, _ids(product, records), strict=True):
        record["id"] = name
    return list(zip(records, origins, strict=True))


def _spec(text: str) -> str:
    return f"=={text}" if text and text[0] not in "<>=!~" else text


def _terms(products: list[str], to: Any) -> list[str] | None:
    """Return the terms of a cell; None where it has not one for each of several products."""
    if len(products) == 1:
        cells = [to]
    elif isinstance(to, list) and len(to) == len(products):
        cells = to
    else:
        return None
    return [
        f"{product}{_spec(spec)}"
        for product, cell in zip(products, cells, strict=True)
        for spec in (cell if isinstance(cell, list) else [cell])
    ]


def filled(text: str, of: str, to: Any = None) -> str:
    """Return a reason or a note with the releases of its row for `{of}` and `{to}`, where a cell names one."""
    for slot, cell in (("{of}", of), ("{to}", to)):
        if isinstance(cell, str) and not re.match(r"[<>!~]", cell):
            text = text.replace(slot, _release(cell.lstrip("=")))
    return text


def first_version(spec: str) -> str:
    """Return the first version that a specifier names, empty where it names none."""
    match = re.match(r"\s*[<>=!~]*\s*([^,\s]*)", spec)
    return match[1].removesuffix(".*") if match else ""


def _ids(product: str, records: list[Table]) -> list[str]:
    """Return the ids of claims: their own, or product, version and what it is about, with more where two are alike."""
    names: list[str] = []
    longer: list[str] = []
    for record in records:
        spec = record["of"][len(product) :]
        about = dict.fromkeys(re.split(r"[<>=!~]", term)[0].strip() for term in record["to"])
        words = [
            product,
            first_version(spec),
            next(iter(about)) if len(about) == 1 else f"{next(iter(about))}-and-{len(about) - 1}",
        ]
        words += [] if record["kind"] == Kind.NEEDS else [record["kind"]]
        words += [str(value) for values in record.get("when", {}).values() for value in values[:2]]
        versions = [first_version(term[len(re.split(r"[<>=!~]", term)[0]) :]) for term in record["to"][:2]]
        names.append(_id_text(words))
        longer.append(_id_text([*words, *versions, *([] if spec.startswith("=") else ["range"])]))
    counts = Counter(names)
    taken = Counter(record["id"] for record in records if "id" in record)
    ids = []
    for record, name, long in zip(records, names, longer, strict=True):
        chosen = name if counts[name] == 1 and name not in taken else long
        made = record.get("id") or chosen
        if "id" not in record:
            number = 1
            while made in taken:
                number += 1
                made = f"{chosen}-{number}"
            taken[made] += 1
        ids.append(made)
    return ids


def _id_text(words: list[str]) -> str:
    return re.sub(r"[^a-z0-9_.-]+", "-", "-".join(word for word in words if word).lower()).strip("-.")
