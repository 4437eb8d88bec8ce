"""The shipped data, beyond what `compatkb lint` and `fmt --check` say of them in `make test`: whole, and free of hosts."""

import tomllib
from pathlib import Path

from conftest import ROOT
from families import product_file

from compatkb.schema import FeatureFile

DATA = ROOT / "data"
FEATURES = sorted((DATA / "features").glob("*.toml"))


def test_there_are_enough_features() -> None:
    """At least fifteen features have statements, and some are denied somewhere."""
    files = [FeatureFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))) for path in FEATURES]
    assert len(files) >= 15
    assert sum(any(s.status.denies for s in file.statement) for file in files) >= 5


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
