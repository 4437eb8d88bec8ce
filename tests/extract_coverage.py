"""Write the lists of tests/cases/coverage/ from a folder of researched facts: `python tests/extract_coverage.py FACTS`.

The lists hold names only: image tags with the revisions of the README that listed them, and the versions of the main
products. tests/test_coverage.py holds the data to them; `left-out.txt` beside them is written by hand.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent / "cases" / "coverage"


def main(facts: Path) -> None:
    """Read the facts and write one list of tags and one of versions."""

    def read(name: str) -> Any:
        return json.loads((facts / f"{name}_facts.json").read_text(encoding="utf-8"))

    write("image-tags.txt", tags(read("images")))
    write("versions.txt", versions(read("torch"), read("pypi"), read("ipex"), read("inc"), read("drivers"), read("eol")))


def tags(images: Any) -> Iterable[str]:
    """Yield a line a listed tag: name, first and last commit that listed it, how many revisions did."""
    for image in images["images"]:
        first, last = image["first_listed"]["commit"], image["last_listed"]["commit"]
        yield f"{image['tag']} {first[:12]} {last[:12]} {image['n_revisions_listed']}"


def versions(torch: Any, index: Any, ipex: Any, inc: Any, drivers: Any, eol: Any) -> Iterable[str]:
    """Yield a line a version: product and version, as the facts spell it, without a leading v."""
    found = {("torch", release["torch"]) for release in torch["releases"]}
    for release in torch["releases"]:
        for name in ("torchvision", "torchaudio"):
            for side in (release, release.get("xpu") or {}):
                found |= {(name, version) for version in (side.get("companions") or {}).get(name) or ()}
    projects = {"torch": "torch", "torchvision": "torchvision", "torchaudio": "torchaudio"}
    projects |= {"ipex": "intel-extension-for-pytorch", "neural-compressor": "neural-compressor"}
    for product, project in projects.items():
        found |= {(product, version) for version in index["projects"][project]["versions"]}
    for name, records in ipex["packages"].items():
        product = "ipex" if name.startswith("ipex") else "oneccl-bind-pt"
        found |= {(product, record["version"]) for record in records}
    found |= {("ipex", record["release"]) for record in eol["ipex_releases"]}
    found |= {("oneccl-bind-pt", record["tag"]) for record in eol["torch_ccl_tags"]}
    found |= {("neural-compressor", record["version"]) for record in inc["releases"]}
    found |= {("gpu-driver", record["number"]) for record in drivers["releases"]}
    yield from (f"{product} {version.removeprefix('v').split()[0]}" for product, version in found)


def write(name: str, lines: Iterable[str]) -> None:
    """Write sorted lines, each once."""
    (TARGET / name).write_text("".join(f"{line}\n" for line in sorted(set(lines))), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
