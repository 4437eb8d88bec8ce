"""The API keeps to its schemas, and its OpenAPI document is valid."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from site_of_tests import ROOT

from compatkb.web.api_files import answer_schema
from compatkb.web.contract import PATHS


def test_files_fit_their_schemas(site: Path) -> None:
    """Every file of the API is under one of its paths and fits the schema named there, and every path has a file."""
    api = site / "api" / "v1"
    contents = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in (api / "schema").glob("*.json")}
    registry = Registry().with_resources([(name, Resource.from_contents(schema)) for name, schema in contents.items()])
    checkers = {}
    for name, schema in contents.items():
        Draft202012Validator.check_schema(schema)
        checkers[name] = Draft202012Validator(schema, registry=registry, format_checker=Draft202012Validator.FORMAT_CHECKER)
    kinds = {address: re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(address))) for address in PATHS}
    used = set()
    for path in sorted(api.rglob("*.json")):
        name = path.relative_to(api).as_posix()
        if name.startswith("schema/"):
            continue
        address = next(address for address, pattern in kinds.items() if pattern.fullmatch(name))
        used.add(address)
        errors = list(
            checkers[f"{PATHS[address].schema}.schema.json"].iter_errors(json.loads(path.read_text(encoding="utf-8")))
        )
        assert not errors, f"{name}: {errors[0].json_path}: {errors[0].message}"
    assert used == set(PATHS)


def test_openapi_is_valid(site: Path) -> None:
    """The document passes the validator, and has every path."""
    validator = pytest.importorskip("openapi_spec_validator")
    readers = pytest.importorskip("openapi_spec_validator.readers")
    document, base = readers.read_from_filename(str(site / "api" / "v1" / "openapi.yaml"))
    validator.validate(document, base_uri=base)
    assert set(document["paths"]) == {f"/{address}" for address in PATHS}


def test_answers_are_those_of_the_command_line(site: Path) -> None:
    """The schema of answers is the documented one, and the front page's question has its answer."""
    assert answer_schema() == json.loads((ROOT / "docs/schema/resolve.schema.json").read_text(encoding="utf-8"))
    answer = json.loads((site / "api/v1/answers/xpu/2.4.json").read_text(encoding="utf-8"))
    assert answer["verdict"] == "does-not-work"
    assert answer["request"]["pins"] == {"torch": "2.4"}
