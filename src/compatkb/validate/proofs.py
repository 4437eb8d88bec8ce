"""What proofs need to know of products: what to import, how to try it, and what it links."""

import re
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from pydantic import ValidationError

from compatkb.authoring.loader import parse
from compatkb.errors import DataError
from compatkb.schema import ChannelFile, ProductFile
from compatkb.schema.evidence import ExportedSymbols, LinkedLibraries, ProofFile

_ITANIUM = re.compile(r"_Z(?:T[VIST]|GV|Th?v?n?\d+_(?:n?\d+_)?)?(N[rVKRO]*)?(\d+)(\w+)")


@dataclass(frozen=True)
class ProvenProduct:
    """A product as an interpreter knows it."""

    product: str
    module: str | None
    rank: int
    workload: Path | None  # the script that tries it out
    extras: tuple[tuple[str, str], ...]  # version and its extras, as `[a,b]`, without which requirements are missing


@dataclass(frozen=True)
class LinkedProducts:
    """Products with native libraries that are built against those of another one, from one of its releases on."""

    provider: str
    since: str
    partners: tuple[str, ...]


@cache
def _products(data: Path) -> tuple[ProductFile, ...]:
    """Return the product files of a data directory; raises DataError."""
    loaded = parse({f"products/{path.name}": path.read_bytes() for path in sorted((data / "products").glob("*.toml"))})
    if loaded.problems:
        raise DataError(tuple(map(str, loaded.problems)))
    return tuple(document.record for document in loaded.documents if isinstance(document.record, ProductFile))


@cache
def subjects(data: Path) -> dict[str, ProvenProduct]:
    """Return the products of a data directory by distribution, each name in its canonical form."""
    subject_by_name: dict[str, ProvenProduct] = {}
    for file in _products(data):
        head, builds = file.product, [build for release in file.release for build in release.build]
        script = data / "workloads" / f"{head.id}.py"
        extras = tuple((build.version, f"[{','.join(build.extras)}]") for build in builds if build.extras)
        subject = ProvenProduct(head.id, head.import_name, head.rank, script if script.is_file() else None, extras)
        for name in {head.distribution, *(build.distribution for build in builds)} - {None}:
            subject_by_name[canonicalize_name(str(name))] = subject
    return subject_by_name


def subjects_of(data: Path, packages: tuple[tuple[str, str], ...]) -> list[tuple[str, str, ProvenProduct]]:
    """Return distribution, version and subject of the packages that the data know, in the order of their rank."""
    known = subjects(data)
    builds = [(name, version, known[key]) for name, version in packages if (key := str(canonicalize_name(name))) in known]
    return sorted(builds, key=lambda item: (item[2].rank, item[0]))


def pins_of(data: Path, packages: tuple[tuple[str, str], ...]) -> list[str]:
    """Return packages as installers take them, with the extras that the data give to a build."""
    known = subjects(data)
    pins = []
    for name, version in packages:
        subject = known.get(str(canonicalize_name(name)))
        extras = dict(subject.extras).get(version, "") if subject else ""
        pins.append(f"{name}{extras}=={version}")
    return pins


@cache
def listed_systems(data: Path) -> dict[str, tuple[str, ...]]:
    """Return the systems of the data, each with the families that it is part of."""
    listed = next((file.release for file in _products(data) if file.product.id == "os"), ())
    return {release.version: release.part_of for release in listed}


@cache
def proofs(data: Path) -> ProofFile:
    """Return data/proofs.toml; raises DataError."""
    path = data / "proofs.toml"
    try:
        return ProofFile.model_validate(_read(path))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise DataError((f"{path}: {'.'.join(str(part) for part in first['loc'])}: {first['msg']}",)) from None


def exports_of(data: Path, product: str) -> ExportedSymbols | None:
    """Return what a product offers to native libraries, or None."""
    return next((exports for exports in proofs(data).exports if exports.product == product), None)


def links_of(data: Path, product: str) -> LinkedLibraries | None:
    """Return against what a product is built, or None."""
    return next((links for links in proofs(data).links if links.product == product), None)


def belongs(symbol: str, exports: ExportedSymbols) -> bool:
    """Return whether a symbol is in a namespace of the product, or named like one of its functions (Itanium, MSVC, C)."""
    if symbol.startswith("?"):
        return any(f"@{space}@@" in symbol for space in exports.namespaces) or _is_named(symbol[1:].partition("@")[0], exports)
    match = _ITANIUM.match(symbol)
    if not match:
        return not symbol.startswith("_Z") and _is_named(symbol, exports)
    outermost = match[3][: int(match[2])]
    return outermost in exports.namespaces if match[1] else _is_named(outermost, exports)


def _is_named(name: str, exports: ExportedSymbols) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in exports.names)


def linked_products(data: Path) -> tuple[LinkedProducts, ...]:
    """Return which products of a data directory link which others."""
    known = proofs(data)
    partners = {e.product: tuple(link.product for link in known.links if link.against == e.product) for e in known.exports}
    return tuple(LinkedProducts(e.product, e.since, partners[e.product]) for e in known.exports)


@cache
def channel_words(data: Path, channel: str) -> tuple[str, str] | None:
    """Return style and url of a channel; None where it has no url, as the client's own index."""
    file = ChannelFile.model_validate(_read(data / "channels.toml"))
    entry = next((c for c in file.channel if c.id == channel), None)
    if entry is None:  # one of those for each release of a product
        entry = next((c for c in file.channel if c.of and channel.startswith(f"{c.id}-")), None)
        version = channel.removeprefix(f"{entry.id}-") if entry else ""
        return (str(entry.style), entry.url.replace("{of}", version)) if entry and entry.url else None
    return (str(entry.style), entry.url) if entry.url else None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError((f"{path}: {error}",)) from None
