"""The rows of every published table, read from a snapshot; sorted, so that the same data give the same rows."""

import json
from collections.abc import Iterator
from datetime import date

from compatkb import __version__
from compatkb.export.disagreements import read_disagreements, standings
from compatkb.export.reading import ANY_VERSION, Reader, Row, Tables, day_of, element_id, is_build, series_of
from compatkb.export.schema import FORMAT
from compatkb.export.tables_told import fill_disputes, fill_features, fill_timeline
from compatkb.records import Element
from compatkb.snapshot.read import Fields, Snapshot

_FOREVER = date.max.toordinal()
_NO_FEATURE = "product not in (select id from feature)"


def read_tables(facts: Snapshot) -> Tables:
    """Return the rows of every table of the published schema, by table name."""
    return _Reader(facts).tables


class _Reader(Reader):
    """Fills the tables in one pass over the snapshot."""

    def __init__(self, facts: Snapshot) -> None:
        super().__init__(facts)
        self.disputes = read_disagreements(facts)
        self.standing = standings(self.disputes)
        query = "select text, url, seen from document union all select text, url, seen from citation order by seen"
        self.seen = {(row["text"], row["url"]): row["seen"] for row in facts.rows(query)}
        self.channels = {row["id"] for row in facts.rows("select id from channel")}
        filled: dict[str, list[Row]] = {"meta": self._meta()}
        self._fill(filled)
        told = {(row["text"], row["url"]): row for row in facts.rows("select text, url, document, publisher from citation")}
        unknown = {"document": None, "publisher": None}
        filled["source"] = [
            {"id": number, "seen": self.seen.get((text, url)), **unknown, **told.get((text, url), {"text": text, "url": url})}
            for (text, url), number in self.numbers.items()
        ]
        self.tables = filled

    def _meta(self) -> list[Row]:
        meta = self.facts.meta
        values = {"format": str(FORMAT), "program": f"compatkb {__version__}"}
        values |= {"data_date": meta["data_date"], "digest": meta["digest"]}
        return [{"key": key, "value": value} for key, value in sorted(values.items())]

    def _fill(self, tables: Tables) -> None:
        tables["product"] = list(self._products())
        self._releases(tables)
        self._builds(tables)
        self._channels(tables)
        self._claims(tables)
        fill_features(self, tables, self.standing)
        self._advisories(tables)
        self._scopes(tables)
        self._installs(tables)
        self._images(tables)
        fill_timeline(self, tables)
        fill_disputes(self, tables, self.disputes)
        self._observations(tables)
        tables["route"] = [
            {
                "id": row["id"],
                "name": row["name"],
                "rank": row["rank"],
                "devices": row["devices"],
                "provider": self.known(row["provider"]),
                "with_products": row["with_"],
                "without_products": row["without"],
                "note": row["note"],
            }
            for row in self.facts.rows("select * from route order by rank, id")
        ]

    def _products(self) -> Iterator[Row]:
        names: dict[str, list[str]] = {}
        for row in self.facts.rows("select name, product from name order by name"):
            names.setdefault(row["product"], []).append(row["name"])
        for row in self.facts.rows("select * from product where role != 'feature' order by rank, id"):
            other = json.loads(row["replaced_by"]) if row["replaced_by"] else {}
            yield {
                **{key: row[key] for key in ("id", "name", "role", "scheme", "distribution", "import_name", "homepage")},
                "place": row["rank"],
                "names": " ".join(names.get(row["id"], ())),
                "eol": row["eol"],
                "replaced_by": self.known(other.get("product")),
                "replaced_by_version": other.get("version"),
                "replaced_by_device": other.get("device"),
                "note": row["note"],
            }

    def _releases(self, tables: Tables) -> None:
        tables["release"], tables["release_source"] = [], []
        for product in self.products:
            stored = {r["version"]: r for r in self.facts.rows("select * from release where product = ?", product)}
            groups: dict[str, list[Element]] = {version: [] for version in stored}
            for element in reversed(self.facts.elements(product)):
                groups.setdefault(element.release, []).append(element)
            order = list(dict.fromkeys(e.release for e in reversed(self.facts.elements(product))))
            series = series_of(self.facts, product)
            for position, version in enumerate(dict.fromkeys((*order, *stored))):
                row, elements = stored.get(version, {}), groups[version]
                key = f"{product}=={version}"
                tables["release"].append(
                    {
                        "id": key,
                        "product": product,
                        "version": version,
                        "series": series.get(version, version),
                        "position": position,
                        "name": row.get("name"),
                        "names": ", ".join(json.loads(row.get("aliases") or "[]")),
                        "part_of": row.get("part_of") or "",
                        **_released(row, elements),
                        "released_basis": row.get("basis"),
                        "eol": row.get("eol"),
                        "eol_precision": row.get("eol_precision"),
                        **_yanked(elements),
                        "track": row.get("track"),
                        "devices": row.get("devices") or "",
                        "note": row.get("note"),
                    }
                )
                pairs = row.get("sources") or self._element_sources(product, elements)
                tables["release_source"] += self.cite("release", key, pairs)

    def _element_sources(self, product: str, elements: list[Element]) -> str:
        for element in elements:
            query = "select sources from element where product = ? and idx = ?"
            return str(self.facts.rows(query, product, element.idx)[0]["sources"])
        return "[]"

    def _builds(self, tables: Tables) -> None:
        for name in ("build", "build_device", "build_channel", "build_source", "wheel"):
            tables[name] = []
        for product in self.products:
            rows = {row["idx"]: row for row in self.facts.rows("select * from element where product = ?", product)}
            builds = [e for e in reversed(self.facts.elements(product)) if is_build(self.facts, e)]
            for position, element in enumerate(builds):
                row, key = rows[element.idx], element_id(element)
                tables["build"].append(
                    {
                        "id": key,
                        "product": product,
                        "release": f"{product}=={element.release}",
                        "version": element.version,
                        "position": position,
                        "stage": element.stage,
                        "installable": int(element.installable),
                        "distribution": element.distribution,
                        "maker": element.maker,
                        "extras": element.extras,
                        "only_with": " ".join(sorted(element.only_with)),
                        "released_from": day_of(element.since),
                        "released_by": day_of(element.by),
                        "yanked": int(element.yank_by is not None),
                        "wheels_note": row["wheels_note"],
                        "note": row["note"],
                    }
                )
                tables["build_device"] += [{"build": key, "device": device} for device in sorted(element.devices)]
                known = [channel for channel in dict.fromkeys(element.channels) if channel in self.channels]
                tables["build_channel"] += [{"build": key, "channel": channel} for channel in known]
                tables["build_source"] += self.cite("build", key, row["sources"])
                if element.installable:
                    tables["wheel"] += self._wheels(key, element)

    def _wheels(self, key: str, element: Element) -> Iterator[Row]:
        grid = self.facts.grid
        pythons, archs = len(grid["python"]), len(grid["arch"])
        for s, system in enumerate(grid["os"]):
            if system not in self.facts.families:
                continue
            for a, arch in enumerate(grid["arch"]):
                for p, python in enumerate(grid["python"]):
                    bit = (s * archs + a) * pythons + p
                    if (element.strong | element.weak) >> bit & 1:
                        basis = "seen" if element.strong >> bit & 1 else "inferred"
                        yield {"build": key, "os": system, "arch": arch, "python": python, "basis": basis}

    def _channels(self, tables: Tables) -> None:
        tables["channel"], tables["channel_mirror"] = [], []
        for row in self.facts.rows("select * from channel order by position"):
            mirrors = json.loads(row["mirrors"])
            tables["channel"].append(_but(row, "mirrors"))
            tables["channel_mirror"] += [{"channel": row["id"], "name": n, "url": u} for n, u in sorted(mirrors.items())]

    def _claims(self, tables: Tables) -> None:
        tables["claim"], tables["claim_source"], tables["claim_side"] = [], [], []
        cited = self.citations()
        for row in self.facts.rows(f"select * from claim where {_NO_FEATURE} order by id"):
            told = {**_but(row, "when_"), "condition": row["when_"]}
            tables["claim"].append({**told, "standing": self.standing.get(row["id"], "holds")})
            tables["claim_source"] += self.cite("claim", row["id"], cited.get(row["id"], ()))
        tables["claim_side"] = self._sides()

    def _sides(self) -> list[Row]:
        masks: dict[tuple[str, str, str], int] = {}
        present: set[tuple[str, str, str]] = set()
        query = (
            "select claim, kind, of_product, of_mask, to_product, to_mask, spec from edge "
            f"where claim in (select id from claim where {_NO_FEATURE}) order by claim, id"
        )
        terms = {row["id"]: row["to_terms"] for row in self.facts.rows("select id, to_terms from claim")}
        for row in self.facts.rows(query):
            named = row["to_product"] in {term.split("=")[0].strip() for term in _products_of(terms[row["claim"]])}
            for side, product, mask in (("of", row["of_product"], row["of_mask"]), ("to", row["to_product"], row["to_mask"])):
                if side == "of" or named:  # what follows for an operating system is no side of the claim
                    key = (row["claim"], side, product)
                    masks[key] = masks.get(key, 0) | int(mask, 16)
                    if side == "to" and row["spec"] == ANY_VERSION:
                        present.add(key)
        found = []
        for (claim, side, product), mask in masks.items():
            known = (1 << len(self.facts.elements(product))) - 1
            anything = {"product": product, "release": None, "build": None}
            versions = [anything] if (claim, side, product) in present else self.named(product, mask & known)
            found += [{"claim": claim, "side": side, **version} for version in versions]
        return found

    def _advisories(self, tables: Tables) -> None:
        tables["advisory"], tables["advisory_version"], tables["advisory_source"] = [], [], []
        for row in self.facts.rows("select * from advisory order by id"):
            shown = {key: row[key] for key in ("id", "product", "kind", "message", "devices")}
            since, beside = day_of(row["since"]), self.known(row["to_product"])
            tables["advisory"].append({**shown, "since": since, "beside": beside})
            named = self.named(row["product"], int(row["mask"], 16))
            tables["advisory_version"] += [{"advisory": row["id"], **version} for version in named]
            tables["advisory_source"] += self.cite("advisory", row["id"], row["sources"])

    def _scopes(self, tables: Tables) -> None:
        tables["completeness"], tables["completeness_source"] = [], []
        for row in self.facts.rows("select * from scope order by id"):
            tables["completeness"].append(
                {
                    "id": row["id"],
                    "product": row["product"],
                    "term": row["product"] + row["spec"],
                    "channel": row["channel"] if row["channel"] in self.channels else None,
                    "devices": row["devices"],
                    "until": None if row["until"] == _FOREVER else day_of(row["until"]),
                }
            )
            tables["completeness_source"] += self.cite("completeness", row["id"], row["sources"])

    def _installs(self, tables: Tables) -> None:
        tables["install"], tables["install_version"], tables["install_source"] = [], [], []
        for row in self.facts.rows("select * from install order by id"):
            steps = " | ".join(" ".join(step) for step in json.loads(row["steps"]))
            waives = " | ".join(json.loads(row["waives"]))
            shown = {"id": row["id"], "product": row["product"], "note": row["note"]}
            tables["install"].append({**shown, "steps": steps, "waives": waives})
            named = self.named(row["product"], int(row["mask"], 16))
            tables["install_version"] += [{"install": row["id"], **version} for version in named]
            tables["install_source"] += self.cite("install", row["id"], row["sources"])

    def _images(self, tables: Tables) -> None:
        for name in ("image_tag", "image_listing", "image_content", "image_tag_source"):
            tables[name] = []
        for row in self.facts.rows("select * from image order by repository, name, id"):
            key = f"{row['repository']}:{row['name']}"
            runs = json.loads(row["runs"])
            last = max((run[1] for run in runs), default=_FOREVER)
            tables["image_tag"].append(
                {
                    "id": key,
                    "repository": row["repository"],
                    "name": row["name"],
                    "device": row["device"],
                    "first_listed": day_of(min((run[0] for run in runs), default=None)),
                    "last_listed": None if last == _FOREVER else day_of(last),
                    "note": row["note"],
                }
            )
            for position, (first, until) in enumerate(runs):
                shown = {"image_tag": key, "position": position, "listed_from": day_of(first)}
                tables["image_listing"].append({**shown, "listed_to": None if until == _FOREVER else day_of(until)})
            tables["image_tag_source"] += self.cite("image_tag", key, row["sources"])
            for part in self.facts.rows("select * from content where image = ? order by rowid", row["id"]):
                shown = {"image_tag": key, "term": part["product"] + part["spec"], "basis": part["basis"]}
                nothing = {"product": self.known(part["product"]), "release": None, "build": None}
                named = list(self.named(part["product"], int(part["mask"], 16))) or [nothing]
                tables["image_content"] += [{**shown, **version} for version in named]

    def _observations(self, tables: Tables) -> None:
        tables["observation"], tables["observation_package"] = [], []
        for row in self.facts.rows("select * from observation order by id"):
            packages = json.loads(row["packages"])
            tables["observation"].append(_but(row, "packages"))
            named = sorted(packages.items())
            tables["observation_package"] += [{"observation": row["id"], "name": n, "version": v} for n, v in named]


def _products_of(terms: str) -> list[str]:
    """Return the product ids of terms that stand between bars."""
    found = []
    for term in terms.split(" | "):
        end = next((n for n, letter in enumerate(term) if letter in "=<>!~ "), len(term))
        found.append(term[:end])
    return found


def _but(row: Fields, left_out: str) -> Row:
    """Return a row without one of its columns."""
    return {name: value for name, value in row.items() if name != left_out}


def _released(row: Fields, elements: list[Element]) -> Row:
    """Return the bounds of the day of release, its own or its first build's."""
    text = row.get("released") or ""
    if "/" in text:
        first, _, last = (part or None for part in text.partition("/"))
        return {"released_from": None if first == "..." else first, "released_by": None if last == "..." else last}
    if not text:
        dated = sorted((e.by or e.since, e) for e in elements if e.by or e.since)
        if dated:
            return {"released_from": day_of(dated[0][1].since), "released_by": day_of(dated[0][1].by)}
    return {"released_from": text or None, "released_by": text or None}


def _yanked(elements: list[Element]) -> Row:
    withdrawn = bool(elements) and all(e.yank_by is not None for e in elements)
    first = elements[0] if withdrawn else None
    return {
        "yanked": int(withdrawn),
        "yanked_from": day_of(first.yank_after) if first else None,
        "yanked_by": day_of(first.yank_by) if first else None,
        "yank_reason": first.yank_reason if first else None,
    }
