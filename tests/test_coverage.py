"""The data hold what was researched: every image tag with its listings, every version of the main products.

`tests/cases/coverage/` has the names: lists of researched facts, and `left-out.txt`, which says what was left out and why.
"""

from functools import cache
from pathlib import Path

import pytest
from conftest import ROOT
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from compatkb.authoring.listed import with_listed
from compatkb.authoring.loader import load
from compatkb.schema import ImageFile, ProductFile

LISTS = ROOT / "tests" / "cases" / "coverage"
TAGS = (LISTS / "image-tags.txt").read_text(encoding="utf-8").splitlines()
VERSIONS = (LISTS / "versions.txt").read_text(encoding="utf-8").splitlines()
LEFT_OUT = [line.split(maxsplit=2) for line in (LISTS / "left-out.txt").read_text(encoding="utf-8").splitlines()]
PRODUCTS = sorted({line.split()[0] for line in VERSIONS})


def image_files() -> list[ImageFile]:
    """Return the files of data/images/."""
    return list(load(ROOT / "data").images)


def same(version: str) -> str:
    """Return a version in one spelling; what is no PEP 440 version stays as it is."""
    try:
        return str(Version(version))
    except InvalidVersion:
        return version


@cache
def products(folder: Path) -> dict[str, ProductFile]:
    """Return the product files of a data folder by product, with what their index files list."""
    files = load(folder)
    return {file.product.id: file for file in with_listed(files.products, files.index)}


def held(product: str, folder: Path = ROOT / "data") -> set[str]:
    """Return every release, build and alias of a product."""
    file = products(folder)[product]
    found = set()
    for release in file.release:
        found |= {release.version, *release.aliases}
        for build in release.build:
            found |= {build.version, *build.aliases}
    return {same(version) for version in found}


def is_left_out(product: str, version: str) -> list[str]:
    """Return the reasons why a version is left out; the lines of left-out.txt that name it."""
    reasons = []
    for name, spec, reason in LEFT_OUT:
        exact = spec.removeprefix("===") == version
        inside = not spec.startswith("===") and SpecifierSet(spec).contains(same(version), prereleases=True)
        if name == product and (exact or inside):
            reasons.append(reason)
    return reasons


def test_every_image_tag_is_there() -> None:
    """Every tag that a revision of the README listed is in the data, listed in just those revisions."""
    assert len(TAGS) > 100
    listed = {}
    for file in image_files():
        commits = {revision.n: revision.commit for revision in file.revision}
        for tag in file.tag:
            rows = [row for row in file.listing if row.lists == "tags" and tag.name in row.tags]
            runs = [run for row in rows for run in row.runs]
            numbers = sorted({n for first, last in runs for n in range(first, last + 1)})
            if numbers:
                first, last = commits[numbers[0]], commits[numbers[-1]]
                listed[tag.name] = f"{tag.name} {first[:12]} {last[:12]} {len(numbers)}"
    assert sorted(listed.values()) == sorted(TAGS)


@pytest.mark.long
@pytest.mark.parametrize("product", PRODUCTS)
def test_every_version_is_there_or_left_out_with_a_reason(product: str) -> None:
    """A version that was researched is in the data, or in left-out.txt with its reason, and never in both."""
    known = held(product)
    versions = [line.split()[1] for line in VERSIONS if line.split()[0] == product]
    assert len(versions) > 4
    missing = [version for version in versions if same(version) not in known and not is_left_out(product, version)]
    assert missing == []
    assert [version for version in versions if same(version) in known and is_left_out(product, version)] == []


@pytest.mark.parametrize("line", LEFT_OUT, ids=lambda line: " ".join(line[:2]))
def test_left_out_names_something(line: list[str]) -> None:
    """A line of left-out.txt names a version that was researched, and says why it is left out."""
    product, spec, reason = line
    named = [v for p, v in (entry.split() for entry in VERSIONS) if p == product and reason in is_left_out(p, v)]
    assert named, spec
    assert len(reason.split()) > 3


@pytest.mark.long
def test_a_missing_version_would_be_found() -> None:
    """A version that is neither in the data nor left out is noticed."""
    assert same("99.1") not in held("torch")
    assert is_left_out("torch", "99.1") == []
