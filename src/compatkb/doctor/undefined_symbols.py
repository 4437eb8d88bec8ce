"""Symbols that a loader did not find: which releases export them, and which builds of the package do not need them."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from compatkb.core.symbol_table import SymbolTable
from compatkb.doctor.version_extraction import Read
from compatkb.store.queries.provenance import ObservationRecord, observations, symbol_tables
from compatkb.store.reader import Snapshot
from compatkb.store.records import Product

_MOST = 3
_SPACE = 6
"""Letters of a mangled name that tell its namespace, as in _ZN2at and _ZN3c1."""
_NEAR = 400
"""How many characters before and after the words of the loader are looked at: paths are shorter."""
_WORDS = ("undefined symbol:", "Symbol not found:", "undefined reference to", "procedure entry point")
_SYMBOL = re.compile(r"[\s`'\"(]*([A-Za-z_?@$.][\w?@$.]*)")
_WORD = re.compile(r"[\w./~+@\\-]++")
_LIBRARY = re.compile(r"(?<=.)\.(?:so|pyd|dll|dylib)(?:\.\d+)*")
_STEM = re.compile(r"^(?:lib)?_?(.+?)(?:\.(?:cpython|cp|abi3).*)?\.(?:so|pyd|dll|dylib)[.\d]*$")


class UndefinedSymbol(NamedTuple):
    """A symbol that a library asked for in vain, and what the tables of exported symbols say of it."""

    symbol: str
    library: str  # the path that the text names, empty where it names none
    product: Product | None  # whose library it is
    provider: str  # the product whose symbols are known
    platform: str  # of the table
    releases: tuple[str, ...]  # that export it, oldest first
    known: tuple[str, ...]  # all releases of the table
    installed: str  # the release of the provider that the text names, empty where it names none
    fits: tuple[str, ...]  # builds of the product that find all their symbols in that release, newest first


def undefined_symbols(facts: Snapshot, text: str, versions: Iterable[Read]) -> tuple[UndefinedSymbol, ...]:
    """Return the first symbols that a pasted text misses and that some release of a known product exports.

    One that no release exports is returned too where it was asked for by a library of a known product.
    """
    symbols = list(dict.fromkeys(_asked(text)))[:_MOST]
    tables = _best_first(symbol_tables(facts), text) if symbols else ()
    seen: dict[str, str] = {}
    for read in versions:
        seen.setdefault(read.product, read.version)
    return tuple(filter(None, (_looked_up(facts, tables, *asked, seen) for asked in symbols)))


def _asked(text: str) -> Iterator[tuple[str, str]]:
    """Yield each missing symbol with the library that asked for it."""
    for words in _WORDS:
        at = text.find(words)
        while at >= 0:
            end = at + len(words)
            if name := _SYMBOL.match(text[end : end + _NEAR * 4]):
                before = _paths(text[max(0, at - _NEAR) : at])
                after = _paths(text[end : end + _NEAR]) if words.startswith("Symbol") or not before else []
                library = (after or before or [""])[0 if after else -1]
                symbol = name[1].removeprefix("_") if words.startswith("Symbol") else name[1]
                yield symbol.rstrip("."), library
            at = text.find(words, end)


def _paths(text: str) -> list[str]:
    """Return the paths of libraries in a text: of each word what stands before its last suffix of a library, with that."""
    ends = ((word[0], [match.end() for match in _LIBRARY.finditer(word[0])]) for word in _WORD.finditer(text))
    return [word[: places[-1]] for word, places in ends if places]


def _best_first(tables: tuple[SymbolTable, ...], text: str) -> tuple[SymbolTable, ...]:
    """Return tables with those first that are for the system and architecture of which the text speaks."""
    lowered = text.lower()
    system = "macos" if ".dylib" in lowered or "symbol not found" in lowered else "windows" if ".dll" in lowered else "linux"
    arch = ("aarch64", "arm64") if "aarch64" in lowered or "arm64" in lowered or system == "macos" else ("x86_64",)
    wanted = [table for table in tables if table.platform in {f"{system}-{name}" for name in arch}]
    return (*wanted, *(table for table in tables if table not in wanted))


def _looked_up(
    facts: Snapshot, tables: tuple[SymbolTable, ...], symbol: str, library: str, seen: dict[str, str]
) -> UndefinedSymbol | None:
    product = _product_of(facts, library)
    table = next((t for t in tables if t.having(symbol)), None)
    if table is None and product:  # one that it lacks, and would have: of the same namespace, and not cut off
        others = (t for t in tables if t.product != product.id)
        table = next((t for t in others if t.has_like(symbol[:_SPACE]) and not t.has_like(symbol)), None)
    if table is None:
        return None
    installed = seen.get(table.product, "").partition("+")[0]
    fits = _fitting(facts, product, table, installed) if product and installed else ()
    releases = table.having(symbol)
    return UndefinedSymbol(symbol, library, product, table.product, table.platform, releases, table.releases, installed, fits)


def _product_of(facts: Snapshot, library: str) -> Product | None:
    """Return the product whose library a path names: the nearest folder that is one, else the file itself."""
    parts = re.split(r"[/\\]", library)
    names = [part.partition("-")[0] for part in parts[-2::-1]] if len(parts) > 1 else []
    if stem := _STEM.match(parts[-1]):
        names += [stem[1], stem[1].partition(".")[0], stem[1].partition("_")[0]]
    return next((product for name in names if name and (product := facts.product(name))), None)


def _fitting(facts: Snapshot, product: Product, table: SymbolTable, release: str) -> tuple[str, ...]:
    """Return the builds of a product that find all their symbols in a release, newest first."""
    own, other = product.distribution or product.id, facts.products[table.product].distribution or table.product
    system, _, arch = table.platform.rpartition("-")
    order = [element.version for element in facts.elements(product.id)]

    def fits(seen: ObservationRecord) -> bool:
        where = (seen.outcome, seen.os, seen.arch, seen.packages.get(other))
        return where == ("links", system, arch, release) and own in seen.packages and not seen.missing

    versions = {seen.packages[own] for seen in observations(facts, "symbols") if fits(seen)}
    return tuple(version for version in reversed(order) if version in versions)
