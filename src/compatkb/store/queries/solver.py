"""What is solved with, read lazily: only the elements and edges of products that a question touches."""

import json
import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import chain, repeat
from typing import Any, TypeVar, cast

from compatkb.core.memo import memoized
from compatkb.core.names import word_key
from compatkb.core.vocabulary import Role
from compatkb.errors import DataError
from compatkb.store.connection import FORMAT, connect
from compatkb.store.records import (
    EVERY,
    PART,
    Advisory,
    Compiled,
    CompleteScope,
    Defect,
    Edge,
    Element,
    Elements,
    ElementSet,
    Event,
    Floor,
    OutsideRequirement,
    PlatformSet,
    Product,
    Route,
    Sources,
    Successor,
    Waiver,
    newest_first,
)
from compatkb.store.rows import RecordForm, form_of, read_mask, unpacked

_MAPPED = 1 << 30
R = TypeVar("R")
_ALIKE = (str, int, type(None))
"""What a column of packed rows is that has one value for all; others are lists."""
_WHOLE = (1 << PART) - 1
_PART = Edge.packed_by().index("part")
_NUMBERS = re.compile(r"\d+(\.\d+)*")


class SolverQueries:
    """A compiled knowledge base, and what the engine reads of it."""

    def __init__(self, path: str) -> None:
        """Open `path` read-only; raises DataError where it is no snapshot of our format."""
        try:
            self._db = connect(path)
            self._db.execute(f"pragma mmap_size = {_MAPPED}")  # nobody changes a snapshot, so no page need be copied
            self.meta: dict[str, str] = dict(self._db.execute("select key, value from meta"))
        except sqlite3.Error as error:
            raise DataError((f"{path}: is no compiled knowledge base: {error}",)) from None
        if self.meta.get("format") != FORMAT:
            raise DataError((f"{path}: has format {self.meta.get('format')}, this program reads {FORMAT}",))

    def close(self) -> None:
        """Let go of the file; nothing can be asked any more."""
        self._db.close()

    def select(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query; for this package, in which all SQL stands."""
        return self._db.execute(query, values).fetchall()

    def records(self, kind: Callable[..., R], rest: str, *values: object) -> tuple[R, ...]:
        """Return the rows of a query as records of a kind; `rest` is what follows the columns; for this package, likewise."""
        return self.made(kind, self.select(f"select {form_of(kind).columns} {rest}", *values))

    def made(self, kind: Callable[..., R], rows: list[tuple[Any, ...]]) -> tuple[R, ...]:
        """Return the records for which rows of their columns stand."""
        form = form_of(kind)
        columns: list[Iterable[Any]] = [*zip(*rows, strict=True)]
        if not columns:
            return ()
        make, readers = partial(tuple.__new__, cast("Any", kind)), (*form.readers, *self._interned(form))
        if form.packed_by:
            return tuple(chain.from_iterable(map(make, _read_packed(row, form, readers)) for row in rows))
        for place, read in readers:
            columns[place] = map(read, columns[place])
        return cast("tuple[R, ...]", tuple(map(make, zip(*columns, strict=True))))

    def _interned(self, form: RecordForm) -> list[tuple[int, Callable[[Any], Any]]]:
        return [(place, self._cells.__getitem__) for place in form.interned]

    def copy_to(self, db: sqlite3.Connection) -> None:
        """Copy the snapshot into an empty database."""
        self._db.backup(db)

    @cached_property
    def products(self) -> dict[str, Product]:
        """All products by id, in rank order."""
        return {product.id: product for product in self.records(Product, "from product order by rank, id")}

    @cached_property
    def sizes(self) -> dict[str, int]:
        """How many elements each product has."""
        return {product: head.size for product, head in self.products.items()}

    @cached_property
    def companions(self) -> tuple[str, ...]:
        """The products that come along with a stack unasked, in rank order."""
        return tuple(head.id for head in self.products.values() if head.role == Role.COMPANION)

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """The products of which a stack says what is known, beyond the platform, in rank order."""
        return tuple(head.id for head in self.products.values() if head.shown)

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The place of each product in rank order."""
        return {product: place for place, product in enumerate(self.products)}

    def product(self, name: str) -> Product | None:
        """Return a product by id, distribution name, import name or alias."""
        return self.products.get(name) or self.products.get(self.product_names.get(word_key(name), ""))

    @cached_property
    def product_names(self) -> dict[str, str]:
        """The products by every name that they go by, as `word_key` has it."""
        return dict(self._db.execute("select name, product from name"))

    @memoized
    def version_words(self, product: str, strict: bool) -> dict[str, str]:
        """Return the words that name versions of a product, with the elements of each as hexadecimal digits."""
        query = "select word, mask from word where product = ? and strict = ?"
        return dict(self._db.execute(query, (product, strict)))

    def products_with(self, word: str) -> list[str]:
        """Return the products of which a word names a version."""
        return [product for (product,) in self.select("select product from word where word = ? and strict = 0", word.lower())]

    def word(self, product: str, text: str, *, strict: bool = False) -> int | None:
        """Return the elements that a version word names, None where the data do not know the word."""
        key = word_key(text) if self.products[product].scheme == "listed" else text.lower()
        mask = self.version_words(product, strict).get(key)
        if mask is None:
            mask = next((mask for pattern, mask in self._models.get(product, ()) if re.fullmatch(pattern, key)), None)
        return None if mask is None else read_mask(mask)

    @cached_property
    def _models(self) -> dict[str, list[tuple[str, str]]]:
        patterns: dict[str, list[tuple[str, str]]] = {}
        for product, pattern, mask in self.select("select product, pattern, mask from model"):
            patterns.setdefault(product, []).append((pattern, mask))
        return patterns

    @memoized
    def names(self, product: str) -> dict[str, str]:
        """Return the names of a listed product's versions as people write them, by the word that they are looked up by."""
        query = "select version, name, aliases from release where product = ? order by position desc"
        names = {}
        for version, name, aliases in self.select(query, product):
            names.update({word_key(text): text for text in (*json.loads(aliases), name, version) if text})
        return names

    @cached_property
    def features(self) -> dict[str, tuple[str, ...]]:
        """The words by which each feature goes: its name, then its other names."""
        query = "select id, name, aliases from feature order by id"
        return {feature: (name, *json.loads(aliases)) for feature, name, aliases in self.select(query)}

    @memoized
    def elements(self, product: str) -> Elements:
        """Return the elements of a product, oldest first."""
        form = form_of(Element)
        for row in self.select(f"select {form.columns} from element where product = ?", product):
            return Elements(*unpacked(row, form), {**dict(form.readers), **dict(self._interned(form))})
        return Elements(0, [[] for _ in form.names], {})

    def distribution(self, product: str, version: str) -> str | None:
        """Return the name under which a version is installed: that of its build where it has one of its own."""
        own = next((e.distribution for e in self.elements(product) if e.version == version), None)
        return own or self.products[product].distribution

    @memoized
    def series(self, product: str) -> tuple[int, ...]:
        """Return the elements of each series of a product, oldest series first."""
        depth, elements_by_series = self.products[product].series, dict[str, int]()
        for (release,), elements in self.elements(product).groups("release").items():
            name = series_name(release, depth)
            elements_by_series[name] = elements_by_series.get(name, 0) | elements
        return tuple(elements_by_series.values())

    def floors(self, element: Element) -> tuple[Floor, ...]:
        """Return the groups of an element's wheels by the oldest glibc that they admit."""
        groups = json.loads(element.floors or "[]")
        return tuple(Floor(_dotted(f), bool(f) and not inferred, self.cells(a), self.cells(b)) for f, inferred, a, b in groups)

    def kinds(self, element: Element) -> tuple[Compiled, ...]:
        """Return what an element was compiled for where that is another device than its own."""
        return tuple(Compiled(device, label, self.cells(cells)) for device, label, cells in json.loads(element.kinds or "[]"))

    @cached_property
    def grid(self) -> dict[str, tuple[str, ...]]:
        """The values of each platform dimension, in the order of the bits."""
        grid: dict[str, list[str]] = {"os": [], "arch": [], "python": []}
        for dimension, value in self.select("select dimension, value from grid order by dimension, idx"):
            grid[dimension].append(value)
        return {dimension: tuple(values) for dimension, values in grid.items()}

    @cached_property
    def families(self) -> tuple[str, ...]:
        """The operating systems that are part of no other one."""
        rows = self.select("select value from grid where dimension = 'os' and wider = '' order by idx")
        return tuple(value for (value,) in rows)

    @cached_property
    def family_cells(self) -> tuple[int, ...]:
        """The platform bits of each family of systems."""
        return tuple(self.dimension_cells("os", 1 << self.grid["os"].index(family)) for family in self.families)

    @cached_property
    def blocks(self) -> tuple[PlatformSet, ...]:
        """The platform bits of each family of systems, its members among them, on each architecture."""
        blocks = []
        for family in self.families:
            systems = [n for n, name in enumerate(self.grid["os"]) if self.family(name) == family]
            cells = self.dimension_cells("os", sum(1 << n for n in systems))
            blocks += [cells & self.dimension_cells("arch", 1 << n) for n in range(len(self.grid["arch"]))]
        return tuple(blocks)

    def family(self, system: str) -> str:
        """Return the family that an operating system belongs to, itself where it is one; empty where it is in none."""
        return next((name for name in (system, *self.wider.get(system, ())) if name in self.families), "")

    def unnamed_systems(self, platforms: PlatformSet) -> PlatformSet:
        """Return the platforms of systems, families apart, of which the given ones hold neither all nor a part."""
        cells = {name: self.dimension_cells("os", 1 << number) for number, name in enumerate(self.grid["os"])}
        named = {name for name, where in cells.items() if where & platforms}
        named |= {wider for name in named for wider in self.wider.get(name, ())}
        return sum(where for name, where in cells.items() if name not in named and name not in self.families)

    @cached_property
    def wider(self) -> dict[str, tuple[str, ...]]:
        """For each operating system the wider ones that it is part of."""
        rows = self.select("select value, wider from grid where dimension = 'os'")
        return {value: tuple(wider.split()) for value, wider in rows}

    @cached_property
    def architectures(self) -> list[tuple[str, str, str, str]]:
        """The architectures: the families of systems that have each, those where it is meant unnamed, what it equals."""
        return list(self.select("select value, systems, usual_on, same_as from grid where dimension = 'arch'"))

    def arch_on(self, names: Sequence[str], family: str) -> tuple[str, ...]:
        """Return what architectures are called on a family of systems; of no names what is meant where none is named."""
        rows = self.architectures
        if not names:
            return tuple(value for value, _, usual_on, _ in rows if family in usual_on.split())
        alike = {value: same_as or value for value, _, _, same_as in rows}
        here = {alike[value]: value for value, systems, _, _ in rows if family in systems.split()}
        return tuple(dict.fromkeys(here.get(alike[name], name) for name in names))

    @cached_property
    def usual(self) -> dict[str, int]:
        """The values of each platform dimension that a request means which names none: of systems all families."""
        masks = {}
        for dimension, values in self.grid.items():
            default = self.products[dimension].default
            meant = self.families if dimension == "os" else (default,) if default else values
            masks[dimension] = sum(1 << n for n, value in enumerate(values) if value in meant)
        return masks

    @cached_property
    def unusual(self) -> int:
        """The platforms of the families of systems that mean another architecture than a request that names none."""
        other = {f for _, _, usual_on, _ in self.architectures for f in usual_on.split()}
        return self.dimension_cells("os", sum(1 << n for n, name in enumerate(self.grid["os"]) if name in other))

    @cached_property
    def all_platforms(self) -> int:
        """Every platform, as bits."""
        grid = self.grid
        return (1 << len(grid["python"]) * len(grid["arch"]) * len(grid["os"])) - 1

    @memoized
    def dimension_cells(self, dimension: str, mask: int) -> int:
        """Return the platform bits whose value of `dimension` is among the elements in `mask`."""
        pythons, archs, systems = (len(self.grid[name]) for name in ("python", "arch", "os"))
        row, block = (1 << pythons) - 1, (1 << pythons * archs) - 1
        if dimension == "python":
            block = sum((mask & row) << a * pythons for a in range(archs))
        elif dimension == "arch":
            block = sum(row << a * pythons for a in range(archs) if mask >> a & 1)
        else:
            return sum(block << s * pythons * archs for s in range(systems) if mask >> s & 1)
        return sum(block << s * pythons * archs for s in range(systems))

    def cells(self, number: int) -> int:
        """Return interned platform bits."""
        return self._cells[number]

    @cached_property
    def _cells(self) -> dict[int, int]:
        return {number: int.from_bytes(mask) for number, mask in self.select("select id, mask from cells")}

    # -- edges ------------------------------------------------------------------------------------------------------

    def targets_of(self, of: str) -> Collection[str]:
        """Return the products that a product says something of, in the order of the data."""
        return self._targets.get(of, {}).keys()

    @cached_property
    def _targets(self) -> dict[str, dict[str, str]]:
        """For each product those that it says something of, with the kinds of what it says, between blanks."""
        targets: dict[str, dict[str, str]] = {}
        for of, to, kinds in self.select("select [of], [to], kinds from pair order by rowid"):
            targets.setdefault(of, {})[to] = kinds
        return targets

    @memoized
    def edges(self, of: str, to: str, among: ElementSet = EVERY) -> tuple[Edge, ...]:
        """Return what `of` says of `to`; of edges of elements that are in no part of those `among` some or none."""
        cells = (cell for cell in self._rows(of, to) if cell[0] < 0 or among >> cell[0] * PART & _WHOLE)
        return tuple(sorted(chain.from_iterable(self._cell(of, to, cell) for cell in cells)))

    def edges_from(self, of: str, idx: int, to: str) -> tuple[Edge, ...]:
        """Return what one element of a product says of another one."""
        return self._edges_by_element(of, to, idx // PART).get(idx, ()) if idx >= 0 and self._rows(of, to) else ()

    @memoized
    def edges_naming(self, of: str, to: str, idx: int) -> tuple[Edge, ...]:
        """Return what a product says of another one that names one of its elements."""
        cells = (cell for cell in self._rows(of, to) if cell[1] in (idx // PART, -1))
        return tuple([edge for cell in cells for edge in self._cell(of, to, cell) if edge.to_mask >> idx & 1])

    def edges_of_kinds(self, of: str, to: str, kinds: Collection[str]) -> Iterator[Edge]:
        """Yield what `of` says of `to` in some ways, for who may be content with the first of it."""
        if any(kind in self._targets.get(of, {}).get(to, "") for kind in kinds):
            cells = (self._cell(of, to, cell) for cell in self._rows(of, to))
            yield from (edge for edges in cells for edge in edges if edge.kind in kinds)

    @memoized
    def _edges_by_element(self, of: str, to: str, part: int) -> dict[int, tuple[Edge, ...]]:
        """Return what each element of a part says of another product."""
        edges_by_element: dict[int, list[Edge]] = {}
        elements = _WHOLE << part * PART
        for edge in self.edges(of, to, elements):
            for idx in newest_first(edge.of_mask & elements):
                edges_by_element.setdefault(idx, []).append(edge)
        return {idx: tuple(edges) for idx, edges in edges_by_element.items()}

    @memoized
    def _rows(self, of: str, to: str) -> dict[tuple[int, int], list[tuple[Any, ...]]]:
        """Return the rows for what `of` says of `to` by the parts of both of which they speak; to read them takes longer."""
        rows: dict[tuple[int, int], list[tuple[Any, ...]]] = {}
        if to in self._targets.get(of, ()):
            query = f"select {form_of(Edge).columns} from edge where [of] = ? and [to] = ? and extra = ''"
            for row in self.select(query, of, to):
                rows.setdefault((row[_PART], row[_PART + 1]), []).append(row)
        return rows

    @memoized
    def _cell(self, of: str, to: str, cell: tuple[int, int]) -> tuple[Edge, ...]:
        return self.made(Edge, self._rows(of, to)[cell])

    def edges_of_extras(self, of: str, to: str, extras: Collection[str]) -> tuple[Edge, ...]:
        """Return what `of` says of `to` with some extras, beside what it says without."""
        edges = self._edges("where [of] = ? and [to] = ? and extra != ''", of, to)
        return tuple(edge for edge in edges if edge.extra in extras)

    def _edges(self, where: str, *values: object) -> tuple[Edge, ...]:
        return tuple(sorted(self.records(Edge, f"from edge {where}", *values)))

    @cached_property
    def hardware_pairs(self) -> frozenset[tuple[str, str]]:
        """The products that say something of each other which holds on some hardware alone, each pair both ways round."""
        pairs = self.select("select distinct [of], [to] from edge where hardware != '0'")
        return frozenset(pair for of, to in pairs for pair in ((of, to), (to, of)))

    @cached_property
    def waivers(self) -> tuple[Waiver, ...]:
        """The edges that do not hold beside some products, by what their makers say."""
        return self.records(Waiver, "from waiver order by rowid")

    @memoized
    def outside_requirements(self, product: str) -> tuple[OutsideRequirement, ...]:
        """Return what metadata of a product's elements require that is no product of the data."""
        return self.records(OutsideRequirement, "from outside where product = ? order by rowid", product)

    @memoized
    def citations(self, claim: str) -> Sources:
        """Return the sources of a claim."""
        return tuple(self.select("select text, url from citation where claim = ? order by n", claim))

    @cached_property
    def routes(self) -> tuple[Route, ...]:
        """The ways to reach a device, preferred ones first."""
        return self.records(Route, "from route order by rank, id")

    @cached_property
    def defects(self) -> tuple[Defect, ...]:
        """All known issues that lead to other releases."""
        return self.records(Defect, "from defect order by rowid")

    @cached_property
    def advisories(self) -> tuple[Advisory, ...]:
        """All advisories."""
        return self.records(Advisory, "from advisory order by rowid")

    @memoized
    def advisories_of(self, product: str) -> tuple[Advisory, ...]:
        """Return the advisories on a product."""
        return self.records(Advisory, "from advisory where product = ? order by rowid", product)

    @cached_property
    def scopes(self) -> tuple[CompleteScope, ...]:
        """The scopes in which the list of releases is whole."""
        return self.records(CompleteScope, "from scope order by rowid")

    def scopes_of(self, product: str) -> Sequence[CompleteScope]:
        """Return the scopes in which the list of a product's releases is whole."""
        return self._scopes.get(product, ())

    @cached_property
    def _scopes(self) -> dict[str, list[CompleteScope]]:
        scopes_by_product: dict[str, list[CompleteScope]] = {}
        for scope in self.scopes:
            scopes_by_product.setdefault(scope.product, []).append(scope)
        return scopes_by_product

    @cached_property
    def vendors(self) -> dict[str, str]:
        """The names of those whose events the timeline has, by id, in the order of the data."""
        return dict(self.select("select id, name from vendor order by rowid"))

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The events of the timeline, oldest first."""
        return self.records(Event, "from event order by rowid")

    @cached_property
    def successors(self) -> dict[str, tuple[Successor, ...]]:
        """What takes the place of products that have ended, by product: one for each device that is named."""
        rows = self.select(
            "select id, replaced_by_record from product_details where replaced_by_record is not null order by rowid"
        )
        replacements = ((product, json.loads(text)) for product, text in rows)
        return {
            product: tuple(Successor(row["product"], each["version"], each["device"]) for each in (row, *row["also"]))
            for product, row in replacements
        }

    @cached_property
    def disputed(self) -> frozenset[str]:
        """The names of all that disputes concern: products, image tags, channels."""
        return frozenset(name for (name,) in self.select("select distinct name from concerned"))

    @cached_property
    def disputed_claims(self) -> dict[str, tuple[str, ...]]:
        """The disputes that each claim is part of, for claims that are part of any."""
        disputes_by_claim: dict[str, dict[str, None]] = {}
        query = "select claim, dispute from concerned where claim is not null order by dispute"
        for claim, dispute in self.select(query):
            disputes_by_claim.setdefault(claim, {})[dispute] = None
        return {claim: tuple(names) for claim, names in disputes_by_claim.items()}


def _read_packed(row: tuple[Any, ...], form: RecordForm, readers: Iterable[tuple[int, Callable[[Any], Any]]]) -> Iterable[Any]:
    """Return the values of the records for which a row of a packed table stands."""
    size, columns = unpacked(row, form)
    if size == 1:
        for place, read in readers:
            columns[place] = read(columns[place])
        return (columns,)
    for place, read in readers:
        column = columns[place]
        columns[place] = map(read, column) if type(column) is list else repeat(read(column), size)
    return zip(*(repeat(column, size) if type(column) in _ALIKE else column for column in columns), strict=True)


def series_name(release: str, depth: int) -> str:
    """Return the series of a release, its first `depth` numbers; one without numbers is a series of its own."""
    numbers = _NUMBERS.match(release)
    return ".".join(numbers[0].split(".")[:depth]) if numbers else release


def _dotted(text: str | None) -> tuple[int, ...] | None:
    return tuple(int(part) for part in text.split(".")) if text else None
