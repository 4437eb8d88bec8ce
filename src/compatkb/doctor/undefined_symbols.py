"""Symbols that a loader did not find: whose library asked for them, and which builds find all theirs in what is installed."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from compatkb.doctor.questions import KnownData
from compatkb.doctor.version_extraction import Read
from compatkb.store.queries.provenance import ObservationRecord
from compatkb.store.records import Product

_MOST = 3
_NEAR = 400
"""How many characters before and after the words of the loader are looked at: paths are shorter."""
_WORDS = ("undefined symbol:", "Symbol not found:", "undefined reference to", "procedure entry point")
_SYMBOL = re.compile(r"[\s`'\"(]*([A-Za-z_?@$.][\w?@$.]*)")
_WORD = re.compile(r"[\w./~+@\\-]++")
_LIBRARY = re.compile(r"(?<=.)\.(?:so|pyd|dll|dylib)(?:\.\d+)*")
_STEM = re.compile(r"^(?:lib)?_?(.+?)(?:\.(?:cpython|cp|abi3).*)?\.(?:so|pyd|dll|dylib)[.\d]*$")


class UndefinedSymbol(NamedTuple):
    """A symbol that a library asked for in vain, and what was read of the wheels of its product."""

    symbol: str
    library: str  # the path that the text names
    product: Product  # whose library it is
    provider: str  # the product whose symbols it needs
    platform: str
    installed: str  # the release of the provider that the text names
    fits: tuple[str, ...]  # builds of the product that find all their symbols in that release, newest first


class SymbolSearch(KnownData):
    """Looks up the symbols that loaders did not find."""

    def in_text(self, text: str, versions: Iterable[Read]) -> tuple[UndefinedSymbol, ...]:
        """Return the first symbols that libraries of known products miss in a release that the text names.

        Only where the symbols of that release were read beside builds of the product, on the platform of which the text
        speaks.
        """
        asked = list(dict.fromkeys(_asked(text)))[:_MOST]
        seen: dict[str, str] = {}
        for read in versions:
            seen.setdefault(read.product, read.version.partition("+")[0])
        platforms = _platforms(text)
        return tuple(filter(None, (self._looked_up(platforms, *each, seen) for each in asked)))

    def _looked_up(
        self, platforms: tuple[str, ...], symbol: str, library: str, seen: dict[str, str]
    ) -> UndefinedSymbol | None:
        product = self._product_of(library)
        own = (product.distribution or product.id) if product else ""
        if product is None or not seen:
            return None
        pairs = [o for o in self.facts.observations("symbols") if own in o.packages and f"{o.os}-{o.arch}" in platforms]
        for other in sorted({name for o in pairs for name in o.packages if name != own}):
            provider = self.facts.product(other)
            installed = seen.get(provider.id, "") if provider and provider.id != product.id else ""
            beside = [o for o in pairs if installed in o.packages.get(other, "").split()]
            if provider and beside:
                platform = f"{beside[0].os}-{beside[0].arch}"
                return UndefinedSymbol(
                    symbol, library, product, provider.id, platform, installed, self._fitting(product, own, beside)
                )
        return None

    def _product_of(self, library: str) -> Product | None:
        """Return the product whose library a path names: the nearest folder that is one, else the file itself."""
        parts = re.split(r"[/\\]", library)
        names = [part.partition("-")[0] for part in parts[-2::-1]] if len(parts) > 1 else []
        if stem := _STEM.match(parts[-1]):
            names += [stem[1], stem[1].partition(".")[0], stem[1].partition("_")[0]]
        return next((product for name in names if name and (product := self.facts.product(name))), None)

    def _fitting(self, product: Product, own: str, beside: list[ObservationRecord]) -> tuple[str, ...]:
        """Return the builds of a product that find all their symbols in a release, newest first."""
        linked = (seen for seen in beside if seen.outcome == "links" and not seen.missing)
        versions = {version for seen in linked for version in seen.packages[own].split()}
        return tuple(e.version for e in reversed(self.facts.elements(product.id)) if e.version in versions)


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


def _platforms(text: str) -> tuple[str, ...]:
    """Return the platforms of which a text speaks."""
    lowered = text.lower()
    system = "macos" if ".dylib" in lowered or "symbol not found" in lowered else "windows" if ".dll" in lowered else "linux"
    is_arm = "aarch64" in lowered or "arm64" in lowered or system == "macos"
    return tuple(f"{system}-{arch}" for arch in (("aarch64", "arm64") if is_arm else ("x86_64",)))
