"""The shipped data: valid, in the one form, sourced, and free of what must not stand in them."""

import tomllib
from pathlib import Path

import pytest
from conftest import ROOT
from families import product_file

from compatkb.authoring.canonical import canonical, text_of
from compatkb.authoring.loader import LoadProblem, parse_document
from compatkb.schema import FeatureFile, ImageFile, IndexFile, ProductFile, Record

DATA = ROOT / "data"
PRODUCTS = sorted((DATA / "products").glob("*.toml"))
IMAGES = sorted((DATA / "images").glob("*.toml"))
FEATURES = sorted((DATA / "features").glob("*.toml"))


def cited(record: object) -> set[str]:
    """Return every source id that a record and what it holds cite."""
    if isinstance(record, Record):
        found = set(getattr(record, "sources", ()))
        for name in type(record).model_fields:
            if name not in ("source", "sources"):
                found |= cited(getattr(record, name))
        return found
    if isinstance(record, tuple):
        return set().union(*(cited(item) for item in record)) if record else set()
    return set()


@pytest.mark.parametrize("path", PRODUCTS, ids=lambda path: path.stem)
def test_product_file(path: Path) -> None:
    """A product file is in canonical form, named by its id, and cites exactly the sources that it defines."""
    text = path.read_text(encoding="utf-8")
    problems: list[LoadProblem] = []
    document = parse_document(f"products/{path.name}", text.encode(), problems)
    assert document, problems
    assert canonical(document) == text
    file = document.record
    assert isinstance(file, ProductFile)
    assert file.product.id == path.stem
    assert cited(file) == set(file.source)


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.stem)
def test_image_file(path: Path) -> None:
    """An image file is in canonical form, and every tag that it lists or repeats is defined."""
    text = path.read_text(encoding="utf-8")
    file = ImageFile.model_validate(tomllib.loads(text))
    assert text_of(file) == text
    assert cited(file) == set(file.source)
    names = {tag.name for tag in file.tag}
    assert {tag.same_as for tag in file.tag if tag.same_as} <= names
    assert len(names) == len(file.tag)


@pytest.mark.parametrize("path", FEATURES, ids=lambda path: path.stem)
def test_feature_file(path: Path) -> None:
    """A feature file is in canonical form, named by its id, and cites exactly the sources that it defines."""
    text = path.read_text(encoding="utf-8")
    file = FeatureFile.model_validate(tomllib.loads(text))
    assert text_of(file) == text
    assert file.feature.id == path.stem
    assert cited(file) == set(file.source)


def test_there_are_enough_features() -> None:
    """At least fifteen features have statements, and some are denied somewhere."""
    files = [FeatureFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))) for path in FEATURES]
    assert len(files) >= 15
    assert sum(any(s.status.denies for s in file.statement) for file in files) >= 5


@pytest.mark.parametrize("path", sorted((DATA / "index").glob("*.toml")), ids=lambda path: path.stem)
def test_index_file(path: Path) -> None:
    """An index file is in the form in which it is written."""
    text = path.read_text(encoding="utf-8")
    assert text_of(IndexFile.model_validate(tomllib.loads(text))) == text


def test_releases_since_2021_10_are_there() -> None:
    """Every release of the main products that the index lists is named by its product file."""
    for name, product in (
        ("torch", "torch"),
        ("torchvision", "torchvision"),
        ("torchaudio", "torchaudio"),
        ("intel-extension-for-pytorch", "ipex"),
        ("neural-compressor", "neural-compressor"),
    ):
        listed = tomllib.loads((DATA / "index" / f"{name}.toml").read_text(encoding="utf-8"))
        known = {release.version for release in product_file(DATA / "products" / f"{product}.toml").release}
        assert {release["version"] for release in listed["release"]} <= known


HOSTS = [b".".join(parts) for parts in ((b"pypi", b"org"), (b"pypi", b"python"), (b"registry", b"npm"), (b"deb", b"debian"))]
HOSTS.append(b"python" + b"hosted")


def test_no_registry_host_is_named() -> None:
    """Package registries are reached through the clients' own defaults; no file names their hosts."""
    for folder in ("action", "bench", "data", "docs", "src", "templates", "tests", "web"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".toml", ".py", ".md", ".jsonl", ".json", ".txt", ".js", ".html") and path != Path(__file__):
                text = path.read_bytes().lower()
                assert not any(host in text for host in HOSTS), path
