"""Pairs of releases that the metadata of one of them exclude, read from data/index without the program."""

import tomllib
from collections.abc import Iterator
from typing import NamedTuple

from conftest import ROOT
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from compatkb.store.reader import Snapshot
from compatkb.store.records import Element

DEFAULT = "default"
TOGETHER = ("torch", "torchvision", "torchaudio", "triton", "ipex", "numpy")
"""The products among which every pair that metadata decide is looked at."""
LINUX = {
    "os_name": "posix", "sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64",
    "implementation_name": "cpython", "platform_python_implementation": "CPython", "extra": "",
}  # fmt: skip


class Pair(NamedTuple):
    """Two releases, the first of which requires another version of the second's product on some Python."""

    product: str
    version: str
    other: str
    number: str
    python: str

    @property
    def words(self) -> tuple[str, str]:
        """The two as pins."""
        return f"{self.product}=={self.version}", f"{self.other}=={self.number}"


def releases(facts: Snapshot, product: str) -> list[Element]:
    """Return what the default index has of a product, oldest first; of runtimes every version that the data know."""
    found = (e for e in facts.elements(product) if DEFAULT in e.channels or facts.products[product].role == "leaf")
    return sorted(found, key=lambda element: Version(element.version))


def requirements(facts: Snapshot, product: str) -> dict[str, list[Requirement]]:
    """Return what the releases of a product require on the index, by version; nothing where no index lists it."""
    path = ROOT / "data" / "index" / f"{facts.products[product].distribution}.toml"
    listed = tomllib.loads(path.read_text(encoding="utf-8")).get("release", ()) if path.exists() else ()
    return {release["version"]: list(_readable(release.get("requires", ()))) for release in listed}


def _readable(texts: list[str]) -> Iterator[Requirement]:
    for text in texts:
        try:
            yield Requirement(text)
        except InvalidRequirement:
            continue


def excluded_pairs(facts: Snapshot) -> list[Pair]:
    """Return every pair of listed releases that metadata exclude on Linux x86-64, each on the newest Python that shows it.

    A requirement on a local label (torchvision 0.11.0 asks for torch 1.10.0+cu102) excludes builds, not releases.
    """
    known = {canonicalize_name(facts.products[name].distribution or name): name for name in TOGETHER}
    found = []
    for product in TOGETHER:
        required = requirements(facts, product)
        for element in releases(facts, product):
            for requirement in required.get(element.version, ()):
                other = known.get(canonicalize_name(requirement.name))
                python = other and _python(facts, element, requirement)
                if not other or not python or "+" in str(requirement.specifier):
                    continue
                against = (
                    e for e in releases(facts, other) if not requirement.specifier.contains(e.version, prereleases=True)
                )
                found += [Pair(product, element.version, other, e.version, python) for e in against]
    return found


def _python(facts: Snapshot, element: Element, requirement: Requirement) -> str:
    """Return the newest Python with a wheel of a build on which a requirement counts; empty where there is none."""
    cells = element.certain | element.inferred
    for dimension, value in (("os", "linux"), ("arch", "x86_64")):
        cells &= facts.dimension_cells(dimension, facts.word(dimension, value) or 0)
    for number, name in reversed(list(enumerate(facts.grid["python"]))):
        versions = {"python_version": name, "python_full_version": f"{name}.0"}
        marker = requirement.marker
        if name.endswith("t") or not cells & facts.dimension_cells("python", 1 << number):
            continue
        if marker is None or marker.evaluate({**LINUX, **versions}):
            return name
    return ""


def own_partners(facts: Snapshot, since: str) -> list[tuple[str, str]]:
    """Return the newest torch of each series from one on whose torchvision names it, with that torchvision."""
    named = {
        version: Version(next(iter(requirement.specifier)).version)
        for version, found in requirements(facts, "torchvision").items()
        for requirement in found
        if requirement.name == "torch" and requirement.specifier and not requirement.marker
    }
    known = {Version(element.version) for element in releases(facts, "torch")}
    series = {}
    for vision in sorted(named, key=Version):
        torch = named[vision]
        if torch in known and torch >= Version(since):
            series[torch.release[:2]] = (str(torch), vision)
    return [series[key] for key in sorted(series)]


def neighbours(facts: Snapshot, since: str) -> list[tuple[str, str]]:
    """Return the newest torch of each series from one on, with the torchvision of the series before and of the one after."""
    pairs = own_partners(facts, since)
    return [
        (torch, pairs[place][1])
        for number, (torch, _) in enumerate(pairs)
        for place in (number - 1, number + 1)
        if 0 <= place < len(pairs)
    ]
