"""Which releases of a product export which symbols on a platform: one compressed table for all releases.

One line a symbol, with a bit for each release that has it, since releases share most of their symbols: 36 releases of torch
take 0.4 MB together and 7.4 MB one by one.
"""

import lzma
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from compatkb.errors import DataError

_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]
_LARGEST = 64 << 20


class SymbolTable(NamedTuple):
    """A table as it is read; `lines` has for each symbol, sorted, a line `SYMBOL<TAB>BITS`, after an empty one."""

    product: str
    platform: str
    releases: tuple[str, ...]  # in the order of the bits, the first being 1
    lines: str

    def having(self, symbol: str) -> tuple[str, ...]:
        """Return the releases that export a symbol, in the order of the table."""
        start = self._first_from(f"{symbol}\t")
        if not self.lines.startswith(f"{symbol}\t", start):
            return ()
        bits = int(self.lines[start + len(symbol) + 1 : self.lines.index("\n", start)], 16)
        return tuple(release for number, release in enumerate(self.releases) if bits >> number & 1)

    def has_like(self, beginning: str) -> bool:
        """Return whether some symbol begins so."""
        return self.lines.startswith(beginning, self._first_from(beginning))

    def _first_from(self, beginning: str) -> int:
        """Return where the first line stands that is not before a text: a binary search, as lines are sorted."""
        low, high = 1, len(self.lines)
        while low < high:
            middle = (low + high) // 2
            start = self.lines.rfind("\n", 0, middle) + 1
            if self.lines[start : start + len(beginning)] < beginning:
                low = self.lines.index("\n", middle) + 1
            else:
                high = start
        return low

    def of(self, release: str) -> "ReleaseSymbols":
        """Return the symbols of one release to look names up in."""
        return ReleaseSymbols(_bits(self.lines), 1 << self.releases.index(release))

    def symbols(self) -> dict[str, frozenset[str]]:
        """Return the symbols of each release."""
        symbols_by_release: dict[str, set[str]] = {release: set() for release in self.releases}
        for line in self.lines.split("\n")[1:-1]:
            symbol, _, bits = line.partition("\t")
            for number, release in enumerate(self.releases):
                if int(bits, 16) >> number & 1:
                    symbols_by_release[release].add(symbol)
        return {release: frozenset(symbols) for release, symbols in symbols_by_release.items()}


@dataclass(frozen=True)
class ReleaseSymbols:
    """The symbols of one release, which shares a mapping with the others of its table: all of them need 20 MB."""

    bits: Mapping[str, int]
    release: int

    def __contains__(self, symbol: object) -> bool:
        return bool(self.bits.get(str(symbol), 0) & self.release)


@lru_cache(maxsize=4)
def _bits(lines: str) -> dict[str, int]:
    rows = (line.partition("\t") for line in lines.split("\n")[1:-1])
    return {symbol: int(bits, 16) for symbol, _, bits in rows}


def pack(product: str, platform: str, exported: Mapping[str, Iterable[str]]) -> bytes:
    """Return a table as it is kept; the releases are bits in the order given; the same content gives the same bytes."""
    bits: dict[str, int] = {}
    for number, symbols in enumerate(exported.values()):
        for symbol in symbols:
            bits[symbol] = bits.get(symbol, 0) | 1 << number
    head = " ".join((product, platform, *exported))
    text = "".join([head, "\n", *(f"{symbol}\t{mask:x}\n" for symbol, mask in sorted(bits.items()))])
    return lzma.compress(text.encode(), format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=_FILTERS)


def unpack(name: str, content: bytes) -> SymbolTable:
    """Return a table that `pack` made; raises DataError with the name of the file for other bytes."""
    try:
        reader = lzma.LZMADecompressor(format=lzma.FORMAT_XZ)
        text = reader.decompress(content, _LARGEST).decode()
        head, end, lines = text.partition("\n")
        product, platform, *releases = head.split(" ")
        if not reader.eof or not end:
            raise ValueError("it is cut off or too large")
    except (lzma.LZMAError, EOFError, ValueError) as error:
        raise DataError((f"{name}: is no table of symbols: {error}",)) from None
    return SymbolTable(product, platform, tuple(releases), f"\n{lines}")
