"""Reads a snapshot with the standard library: only the products that a question touches, each once."""

import json
import sqlite3
from collections.abc import Collection, Mapping
from functools import cached_property, partial
from typing import Any

from compatkb.errors import DataError
from compatkb.records import Advisory, Edge, Element, Event, Floor, Product, Route
from compatkb.snapshot import schema
from compatkb.snapshot.sequence import Elements
from compatkb.words import word_key

Fields = Mapping[str, Any]
"""A row by its columns."""
_MAPPED = 1 << 30
_FEW, _MOST_KEPT = 64, 20_000
"""Rows of an answer that is kept, and how many answers are: what is shown of one stack is shown of the next."""


class Snapshot:
    """The facts of a compiled knowledge base; immutable, and safe to share between questions of one thread."""

    def __init__(self, path: str) -> None:
        """Open `path` read-only; raises DataError where it is no snapshot of our format."""
        try:
            self._db = sqlite3.connect(f"file:{_quoted(path)}?mode=ro&immutable=1", uri=True)
            self._db.execute(f"pragma mmap_size = {_MAPPED}")  # nobody changes a snapshot, so no page need be copied
            self.meta: dict[str, str] = dict(self._db.execute("select key, value from meta"))
        except sqlite3.Error as error:
            raise DataError((f"{path}: is no compiled knowledge base: {error}",)) from None
        if self.meta.get("format") != schema.FORMAT:
            raise DataError((f"{path}: has format {self.meta.get('format')}, this program reads {schema.FORMAT}",))
        self._elements: dict[str, Elements] = {}
        self._traits: dict[str, dict[str, list[tuple[str, str]]]] = {}
        self._having: dict[tuple[str, str], tuple[tuple[str, int], ...]] = {}
        self._edges: dict[tuple[str, str], tuple[Edge, ...]] = {}
        self._edge_by_id: dict[int, Edge] = {}
        self._rows_told: dict[tuple[str, str], list[list[Any]]] = {}
        self._relations: dict[str, dict[str, str]] = {}
        self._cited: dict[str, tuple[tuple[str, str | None], ...]] = {}
        self._rows: dict[tuple[str, tuple[object, ...]], list[Fields]] = {}
        self._sets: dict[str, frozenset[str]] = {}
        self._series: dict[str, tuple[int, ...]] = {}
        self._values: dict[tuple[str, int], int] = {}
        self.kept: object = None  # what the engine keeps between questions
        self.finder: Any = None  # what searches in place of the engine, where many questions share their work

    def rows(self, query: str, *values: object) -> list[Fields]:
        """Return rows as dictionaries, for what is shown rather than solved; they are shared, so nobody changes them."""
        key = (query, values)
        found = self._rows.get(key)
        if found is None:
            cursor = self._db.execute(query, values)
            names = [column[0] for column in cursor.description]
            found = [dict(zip(names, row, strict=True)) for row in cursor]
            if len(found) <= _FEW:
                if len(self._rows) >= _MOST_KEPT:
                    self._rows.clear()
                self._rows[key] = found
        return found

    @cached_property
    def products(self) -> dict[str, Product]:
        """All products by id, in rank order."""
        query = (
            "select id, name, role, rank, distribution, import_name, scheme, series, automatic, default_value, platform, "
            "open, size from product order by rank, id"
        )
        return {
            row[0]: Product._make((*row[:8], bool(row[8]), row[9], bool(row[10]), bool(row[11]), row[12]))
            for row in self._db.execute(query)
        }

    @cached_property
    def sizes(self) -> dict[str, int]:
        """How many elements each product has."""
        return {product: head.size for product, head in self.products.items()}

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The place of each product in rank order."""
        return {product: place for place, product in enumerate(self.products)}

    @cached_property
    def routes(self) -> tuple[Route, ...]:
        """The ways to reach a device, preferred ones first."""
        query = "select id, name, rank, devices, provider, with_, without from route order by rank, id"
        return tuple(
            Route(i, n, r, frozenset(d.split()), p, tuple(w.split()), frozenset(o.split()))
            for i, n, r, d, p, w, o in self._db.execute(query)
        )

    @cached_property
    def grid(self) -> dict[str, tuple[str, ...]]:
        """The values of each platform dimension, in the order of the bits."""
        found: dict[str, list[str]] = {"os": [], "arch": [], "python": []}
        for dimension, value in self._db.execute("select dimension, value from grid order by dimension, idx"):
            found[dimension].append(value)
        return {dimension: tuple(values) for dimension, values in found.items()}

    @cached_property
    def families(self) -> tuple[str, ...]:
        """The operating systems that are part of no other one."""
        query = "select value from grid where dimension = 'os' and wider = '' order by idx"
        return tuple(value for (value,) in self._db.execute(query))

    @cached_property
    def wider(self) -> dict[str, tuple[str, ...]]:
        """For each operating system the wider ones that it is part of."""
        query = "select value, wider from grid where dimension = 'os'"
        return {value: tuple(wider.split()) for value, wider in self._db.execute(query)}

    def dimension_cells(self, dimension: str, mask: int) -> int:
        """Return the platform bits whose value of `dimension` is among the elements in `mask`."""
        key = (dimension, mask)
        if key not in self._values:
            self._values[key] = self._dimension_cells(dimension, mask)
        return self._values[key]

    def _dimension_cells(self, dimension: str, mask: int) -> int:
        pythons, archs, systems = (len(self.grid[name]) for name in ("python", "arch", "os"))
        row, block = (1 << pythons) - 1, (1 << pythons * archs) - 1
        if dimension == "python":
            block = sum((mask & row) << a * pythons for a in range(archs))
        elif dimension == "arch":
            block = sum(row << a * pythons for a in range(archs) if mask >> a & 1)
        else:
            return sum(block << s * pythons * archs for s in range(systems) if mask >> s & 1)
        return sum(block << s * pythons * archs for s in range(systems))

    def product(self, name: str) -> Product | None:
        """Return a product by id, distribution name, import name or alias."""
        if name in self.products:
            return self.products[name]
        row = self._db.execute("select product from name where name = ?", (word_key(name),)).fetchone()
        return self.products[row[0]] if row else None

    def word(self, product: str, text: str, *, strict: bool = False) -> int | None:
        """Return the elements that a version word names, None where the data do not know the word."""
        key = word_key(text) if self.products[product].scheme == "listed" else text.lower()
        query = "select mask from word where product = ? and word = ? and strict = ?"
        row = self._db.execute(query, (product, key, int(strict))).fetchone()
        return int(row[0], 16) if row else None

    def names(self, product: str) -> dict[str, str]:
        """Return the names of a listed product's versions as people write them, by the word that they are looked up by."""
        query = "select version, name, aliases from release where product = ? order by position desc"
        found = {}
        for version, name, aliases in self._db.execute(query, (product,)):
            found.update({word_key(text): text for text in (*json.loads(aliases), name, version) if text})
        return found

    def elements(self, product: str) -> Elements:
        """Return the elements of a product, oldest first; they are read when somebody looks at them."""
        found = self._elements.get(product)
        if found is None:
            fetch, make = partial(self._chunk, product), partial(self._element, product)
            found = self._elements[product] = Elements(self.products[product].size, schema.CHUNK, fetch, make)
        return found

    def _chunk(self, product: str, number: int) -> list[list[Any]]:
        row = self._db.execute("select elements from chunk where product = ? and n = ?", (product, number)).fetchone()
        found: list[list[Any]] = json.loads(row[0])
        return found

    def _element(self, product: str, idx: int, row: list[Any]) -> Element:
        sets = (self._set(row[4]), tuple(row[5].split()), self._set(row[6]))
        cells = (self.cells(row[14]), self.cells(row[15]))
        return Element._make((product, idx, *row[:3], bool(row[3]), *sets, *row[7:14], *cells, *row[16:]))

    def having(self, product: str, column: str) -> tuple[tuple[str, int], ...]:
        """Return the elements of a product by what a column says of them, as text; see `snapshot.traits`."""
        key = (product, column)
        found = self._having.get(key)
        if found is None:
            traits = self._traits.get(product)
            if traits is None:
                row = self._db.execute("select traits from trait where product = ?", (product,)).fetchone()
                traits = self._traits[product] = json.loads(row[0]) if row else {}
            found = self._having[key] = tuple([(value, int(mask, 16)) for value, mask in traits.get(column, ())])
        return found

    def series(self, product: str) -> tuple[int, ...]:
        """Return the elements of each series of a product, oldest series first."""
        found = self._series.get(product)
        if found is None:
            row = self._db.execute("select series from trait where product = ?", (product,)).fetchone()
            masks: dict[int, int] = {}
            for idx, number in enumerate(json.loads(row[0]) if row else ()):
                masks[number] = masks.get(number, 0) | 1 << idx
            found = self._series[product] = tuple(masks.values())
        return found

    def _set(self, words: str) -> frozenset[str]:
        """Return words between blanks as a set: few different ones stand in thousands of places."""
        found = self._sets.get(words)
        if found is None:
            found = self._sets[words] = frozenset(words.split())
        return found

    def floors(self, element: Element) -> tuple[Floor, ...]:
        """Return the groups of an element's wheels by the oldest glibc that they admit."""
        groups = json.loads(element.floors or "[]")
        return tuple(Floor(_dotted(f), bool(f) and not inferred, self.cells(a), self.cells(b)) for f, inferred, a, b in groups)

    def cells(self, number: int) -> int:
        """Return interned platform bits."""
        return self._masks[number]

    @cached_property
    def _masks(self) -> dict[int, int]:
        return {number: int.from_bytes(mask) for number, mask in self._db.execute("select id, mask from cells")}

    def spoken_of(self, of: str) -> Collection[str]:
        """Return the products that a product says something of, in the order of the data."""
        return self._said(of).keys()

    def _said(self, of: str) -> dict[str, str]:
        found = self._relations.get(of)
        if found is None:
            query = "select to_product, edges from relation where of_product = ? order by position"
            found = self._relations[of] = dict(self._db.execute(query, (of,))) if of in self._speaking else {}
        return found

    @cached_property
    def _speaking(self) -> frozenset[str]:
        """The products that say anything of another one: most say nothing."""
        return frozenset(of for (of,) in self._db.execute("select distinct of_product from relation"))

    def edges(self, of: str, to: str) -> tuple[Edge, ...]:
        """Return what `of` says of `to`."""
        found = self._edges.get((of, to))
        if found is None:
            found = self._edges[of, to] = tuple([self._edge(of, to, row) for row in self._told(of, to)])
        return found

    def edges_of(self, of: str, idx: int, to: str) -> list[Edge]:
        """Return what one element of `of` says of `to`; the other edges are not made."""
        return [self._edge(of, to, row) for row in self._told(of, to) if row[3] >> idx & 1]

    def _told(self, of: str, to: str) -> list[list[Any]]:
        """Return the rows of edges, as `snapshot.packed` writes them."""
        found = self._rows_told.get((of, to))
        if found is None:
            text = self._said(of).get(to)
            found = json.loads(text) if text else []
            if text and schema.WIDE in text:
                found = [[_wide(value) for value in row] for row in found]
            self._rows_told[of, to] = found
        return found

    def _edge(self, of: str, to: str, row: list[Any]) -> Edge:
        found = self._edge_by_id.get(row[0])
        if found is None:
            id_, claim, kind, of_mask, to_mask, spec, denies, vouches, level, devices, *rest = row
            cells, sets = self._masks, self._set(devices)
            found = self._edge_by_id[id_] = Edge._make(
                (id_, claim, kind, of, of_mask, to, to_mask, spec, cells[denies], cells[vouches], level, sets, *rest)
            )
        return found

    @cached_property
    def hardware_edges(self) -> tuple[tuple[str, str], ...]:
        """Of the edges that speak of some hardware alone: the products spoken of, and the kinds."""
        return tuple(self._db.execute("select distinct to_product, kind from edge where hardware not in ('', '0')"))

    def citations(self, claim: str) -> tuple[tuple[str, str | None], ...]:
        """Return the sources of a claim: text and address."""
        found = self._cited.get(claim)
        if found is None:
            query = "select text, url from citation where claim = ? order by n"
            found = self._cited[claim] = tuple(self._db.execute(query, (claim,)))
        return found

    @cached_property
    def disputed(self) -> frozenset[str]:
        """The names of all that disputes concern: products, image tags, channels."""
        return frozenset(name for (name,) in self._db.execute("select distinct name from concerned"))

    @cached_property
    def disputed_claims(self) -> dict[str, tuple[str, ...]]:
        """The disputes that each claim is part of, for claims that are part of any."""
        found: dict[str, dict[str, None]] = {}
        query = "select claim, dispute from concerned where claim is not null order by dispute"
        for claim, dispute in self._db.execute(query):
            found.setdefault(claim, {})[dispute] = None
        return {claim: tuple(names) for claim, names in found.items()}

    @cached_property
    def features(self) -> dict[str, tuple[str, ...]]:
        """The words by which each feature goes: its name, then its other names."""
        query = "select id, name, aliases from feature order by id"
        return {row[0]: (row[1], *json.loads(row[2])) for row in self._db.execute(query)}

    @cached_property
    def advisories(self) -> tuple[Advisory, ...]:
        """All advisories."""
        query = (
            "select product, mask, kind, message, since, to_product, to_mask, devices, cells, hardware, sources "
            "from advisory order by id"
        )
        return tuple(
            Advisory._make((row[0], int(row[1], 16), *row[2:6], int(row[6], 16), frozenset(row[7].split()), *self._where(row)))
            for row in self._db.execute(query)
        )

    def _where(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.cells(row[8]), int(row[9], 16), _pairs(row[10]))

    @cached_property
    def waivers(self) -> tuple[tuple[str, int, int, int], ...]:
        """Product and its elements; the edge that does not hold beside them, and for which of its elements."""
        query = "select product, mask, edge, of_mask from waiver"
        return tuple((p, int(m, 16), e, int(o, 16)) for p, m, e, o in self._db.execute(query))

    @cached_property
    def vendors(self) -> dict[str, str]:
        """The names of those whose events the timeline has, by id, in the order of the data."""
        return dict(self._db.execute("select id, name from vendor order by position"))

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The events of the timeline, oldest first."""
        query = (
            "select id, vendor, kind, title, product, version, precision, basis, note, first, last, announced, disputes, "
            "sources from event order by position"
        )
        return tuple(Event._make((*row[:12], tuple(json.loads(row[12])), _pairs(row[13]))) for row in self._db.execute(query))

    @cached_property
    def scopes(self) -> tuple[tuple[str, str, int, frozenset[str], int], ...]:
        """The scopes in which the list of releases is whole: product, specifier, elements, devices, until."""
        query = "select product, spec, mask, devices, until from scope order by id"
        return tuple((p, s, int(m, 16), frozenset(d.split()), u) for p, s, m, d, u in self._db.execute(query))


def _quoted(path: str) -> str:
    """Return a path as the body of a file: URI; only what SQLite would misread is escaped."""
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _wide(value: Any) -> Any:
    """Return a value, as a number where it is one that JSON cannot hold."""
    return int(value, 16) if isinstance(value, str) and value.startswith(schema.WIDE) else value


def _dotted(text: str | None) -> tuple[int, ...] | None:
    return tuple(int(part) for part in text.split(".")) if text else None


def _pairs(text: str) -> tuple[tuple[str, str | None], ...]:
    return tuple((name, url) for name, url in json.loads(text))
