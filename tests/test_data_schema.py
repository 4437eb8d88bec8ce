"""The JSON Schemas of the data files: fresh, valid, true of every shipped file, and strict enough to find mistakes."""

import datetime
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Run, parted
from jsonschema import Draft202012Validator, FormatChecker

from compatkb.export.schemas import schema_files
from compatkb.store.cache import data_files

DATA = ROOT / "data"
KINDS = {
    "products": "product",
    "features": "feature",
    "images": "image",
    "index": "index",
    "issues": "issue",
    "collected": "collected",
    "data": "channels",
}
FILES = sorted([*DATA.glob("*/*.toml"), *DATA.glob("*.toml")])
QUICK = {folder: next(path for path in FILES if path.parent == folder) for folder in {path.parent for path in FILES}}
"""Of each folder one file, which every run validates; all files are those of one kind, save those that lie beside folders."""


def validator(name: str) -> Draft202012Validator:
    """Return the validator of a shipped schema."""
    schema = json.loads((DATA / "schema" / f"{name}.schema.json").read_text(encoding="utf-8"))
    return Draft202012Validator(schema, format_checker=FormatChecker())


VALIDATORS = {name.partition(".")[0]: validator(name.partition(".")[0]) for name in schema_files()}


def as_json(value: Any) -> Any:
    """Return what TOML gives as JSON has it: dates are text."""
    if isinstance(value, dict):
        return {key: as_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_json(inner) for inner in value]
    return value.isoformat() if isinstance(value, datetime.date) else value


def problems(name: str, content: Any) -> list[str]:
    """Return what a schema finds wrong."""
    return [error.message for error in VALIDATORS[name].iter_errors(as_json(content))]


def test_schemas_are_fresh() -> None:
    """The shipped schemas are those that the models make."""
    assert {path.name: path.read_text(encoding="utf-8") for path in (DATA / "schema").glob("*.json")} == schema_files()
    for found in VALIDATORS.values():
        Draft202012Validator.check_schema(found.schema)


@pytest.mark.parametrize(
    "path", parted(FILES, [*QUICK.values(), *DATA.glob("*.toml")]), ids=lambda path: str(path.relative_to(DATA))
)
def test_shipped_file_validates(path: Path) -> None:
    """Every shipped data file validates with the schema of its kind."""
    name = KINDS[path.parent.name] if path.parent != DATA else path.stem
    assert problems(name, tomllib.loads(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rank": "1"}, "'1' is not of type 'integer'"),
        ({"scheme": "semver"}, "'semver' is not one of"),
        ({"colour": "red"}, "Additional properties are not allowed"),
        ({"series-aliases": {"x": 3.1}}, "3.1 is not of type 'string'"),
        ({"complete": [{"what": "release", "of": "Torch = 2", "until": "2026-11-21", "sources": ["a"]}]}, "does not match"),
        ({"complete": [{"what": "release", "of": "torch", "until": "soon", "sources": ["a"]}]}, "'soon' is not a 'date'"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_mistakes_are_found(change: dict[str, Any], said: str) -> None:
    """A wrong type, an unknown word or key, a bare version, a bad term and a bad date are errors."""
    plain = {"id": "thing", "name": "Thing", "role": "leaf", "scheme": "pep440", "rank": 1}
    assert problems("product", {"product": plain, "source": {}}) == []
    assert any(said in message for message in problems("product", {"product": {**plain, **change}, "source": {}}))


def test_stale_schemas_are_written_anew(run: Callable[..., Run], tmp_path: Path) -> None:
    """A changed schema is mended, a strange one goes, and what is no schema stays."""
    folder = tmp_path / "schema"
    assert run("schema", "--out", str(folder)).code == 0
    (folder / "routes.schema.json").write_text("{}\n", encoding="utf-8")
    (folder / "old.schema.json").write_text("{}\n", encoding="utf-8")
    (folder / "mine.txt").touch()
    assert run("schema", "--out", str(folder)).code == 0
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")} == schema_files()
    assert (folder / "mine.txt").exists()
    assert run("schema", "--out", str(folder / "mine.txt")).code == 2


def test_schemas_are_no_data() -> None:
    """The folder of schemas is not read as data: an edit of it compiles nothing anew."""
    assert not [path for path in data_files(str(DATA)) if "schema" in Path(path).parts]
