"""Product files record by record, as tests make them, in the form in which they are written: a family for each record."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from compatkb.authoring.canonical import product_text, text_of
from compatkb.authoring.loader import LoadProblem, parse_document
from compatkb.schema import ProductFile, WrittenProduct

Content = dict[str, Any]
_TERM = re.compile(r"([a-zA-Z0-9][a-zA-Z0-9_.-]*)\s*(.*)")


def in_families(content: Content) -> Content:
    """Return the content of a product file with a family of one row for each claim, build and variant."""
    written: Content = {key: value for key, value in content.items() if key not in ("release", "claim")}
    releases = content.get("release", ())
    written["release"] = [{k: v for k, v in release.items() if k not in ("build", "variant")} for release in releases]
    for key, name in (("builds", "build"), ("variants", "variant")):
        written[key] = [_family(key, release, record) for release in releases for record in release.get(name, ())]
    written["pairs"] = [_pair(content["product"]["id"], claim) for claim in content.get("claim", ())]
    order = WrittenProduct.model_fields
    return {
        key: written[key] for key in sorted(written, key=list(order).index) if written[key] or key in ("product", "source")
    }


def _family(key: str, release: Content, record: Content) -> Content:
    shared = dict(record)
    if key == "variants":
        return {**shared, "rows": [[release["version"], *_cells(shared, "labels", "sources")]]}
    version = shared.pop("version")
    own = {} if version.partition("+")[0] == release["version"] else {"release": release["version"]}
    row = [version, *_cells(shared, "sources"), *([own] if own else [])]
    return {**shared, "rows": [row]}


def _cells(record: Content, *names: str) -> list[Any]:
    return [record.pop(name) for name in names if name in record]


def _pair(product: str, claim: Content) -> Content:
    shared = dict(claim)
    kind, of, to = (shared.pop(name) for name in ("kind", "of", "to"))
    specs: dict[str, list[str]] = {}
    for term in to:
        name, spec = _TERM.fullmatch(term).groups()  # type: ignore[union-attr]  # a term begins with a product
        specs.setdefault(name, []).append(_cell(spec))
    assert of.startswith(product)
    cells = [found[0] if len(found) == 1 else found for found in specs.values()]
    row = [_cell(of[len(product) :]), cells[0] if len(cells) == 1 else cells, *_cells(shared, "sources")]
    own = {"id": shared.pop("id")} if "id" in shared else {}
    return {str(kind): list(specs), **shared, "rows": [[*row, *([own] if own else [])]]}


def _cell(spec: str) -> str:
    spec = spec.strip()
    plain = re.fullmatch(r"==\s*([^=,\s]+)", spec)
    return plain[1] if plain else spec


@cache
def product_file(path: Path) -> ProductFile:
    """Return the records of a product file."""
    problems: list[LoadProblem] = []
    document = parse_document(f"products/{path.name}", path.read_bytes(), problems)
    assert document, problems
    assert isinstance(document.record, ProductFile)
    return document.record


def written_text(content: Content, *, ordered: bool = False) -> str:
    """Return the text of a product file, in the order of its records unless they are to be `ordered`."""
    written = WrittenProduct.model_validate(in_families(content))
    return product_text(written) if ordered else text_of(written)
