"""The JSON contract: real answers fit docs/schema/resolve.schema.json, and docs/json.md names every field of it."""

import json
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from conftest import ROOT, Run
from jsonschema import Draft202012Validator, FormatChecker

from compatkb.export.responses import NAMES, contracts, response_schema
from compatkb.output.documents import SCHEMA

CONTRACT: dict[str, Any] = json.loads((ROOT / "docs/schema/resolve.schema.json").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs/json.md").read_text(encoding="utf-8")
ANSWERS = (
    pytest.param("works-with-warnings", ("resolve", "--torch", "2.8", "--device", "cpu"), id="works"),
    pytest.param("works", ("resolve",), id="nothing-fixed"),
    pytest.param("works-with-warnings", ("resolve", "--torch", "2.8", "--device", "xpu", "--why"), id="works-why"),
    pytest.param("works-with-warnings", ("explain", "torch==2.8.0", "torchvision==0.23.0", "--device", "cpu"), id="explain"),
    pytest.param("works-with-warnings", ("explain", "torch==2.4.0", "ipex==2.4.0", "--device", "cpu"), id="warnings"),
    pytest.param(
        "works-with-warnings",
        ("resolve", "--torch", "2.8", "--device", "xpu", "--needs", "torch.compile", "--why"),
        id="needs-why",
    ),
    pytest.param("does-not-work", ("resolve", "--torch", "2.7", "--device", "xpu", "--needs", "xccl"), id="negative-needs"),
    pytest.param("unknown", ("resolve", "--torch", "2.8", "--device", "xpu", "--needs", "flex-attention"), id="unknown-needs"),
    pytest.param("likely", ("resolve", "--ipex", "2.6.10", "--device", "xpu", "--why"), id="likely-why"),
    pytest.param("likely", ("resolve", "--ipex", "2.3.110", "--device", "xpu", "--why"), id="bounds-and-images"),
    pytest.param("works-with-warnings", ("resolve", "--torch", "2.8", "--device", "xpu", "--min-age", "14d"), id="min-age"),
    pytest.param("does-not-work", ("resolve", "--torch", "2.4", "--device", "xpu"), id="negative"),
    pytest.param("does-not-work", ("resolve", "--torch", "2.4", "--device", "xpu", "--why"), id="negative-why"),
    pytest.param("does-not-work", ("explain", "torch==2.5.0", "ipex==2.4.0"), id="negative-explain"),
    pytest.param("does-not-work", ("resolve", "--ipex", "2.8.0", "--python", "3.14"), id="negative-platform"),
    pytest.param("unknown", ("resolve", "inc==3.8", "torch==2.12.0", "--device", "cpu", "--why"), id="unknown-why"),
    pytest.param("unknown", ("resolve", "--torch", "2.99", "--as-of", "2030-01-01"), id="unknown-version"),
)


QUESTIONS = [words for case in ANSWERS if isinstance(words := case.values[1], tuple)]
OBJECTS: dict[str, dict[str, Any]] = {"answer": CONTRACT, **CONTRACT["$defs"]}


def keys(value: Any) -> Iterator[str]:
    """Yield every key of a JSON value."""
    if isinstance(value, dict):
        yield from value
        for inner in value.values():
            yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)


def day_of(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the day to ask for, where the words name none."""
    return () if "--as-of" in words else ("--as-of", "2026-11-21")


@pytest.mark.parametrize("name", contracts())
def test_schemas_are_made_of_the_types(name: str) -> None:
    """docs/schema has what the types of the program's JSON say; with COMPATKB_UPDATE_GOLDEN=1 it is written anew."""
    path, made = ROOT / "docs" / "schema" / f"{name}.schema.json", json.dumps(contracts()[name], indent=2) + "\n"
    if os.environ.get("COMPATKB_UPDATE_GOLDEN"):
        path.write_text(made, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == made


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_file_has_a_schema(name: str) -> None:
    """The schema of each file of the API is one, and no two kinds of its objects share a name."""
    Draft202012Validator.check_schema(response_schema(name, "what it is"))


def test_schema_is_valid_and_closed() -> None:
    """The schema is JSON Schema 2020-12, has our number, and admits no field that it does not name."""
    Draft202012Validator.check_schema(CONTRACT)
    assert CONTRACT["properties"]["schema"]["const"] == SCHEMA
    assert all(found["additionalProperties"] is False for found in OBJECTS.values())


@pytest.mark.parametrize(("verdict", "words"), ANSWERS)
def test_answer_fits_the_schema(verdict: str, words: tuple[str, ...], run: Callable[..., Run]) -> None:
    """What the program prints is what the schema says, no field more and none less."""
    done = run(*words, *day_of(words), "--format", "json")
    answer = json.loads(done.out)
    validator = Draft202012Validator(CONTRACT, format_checker=FormatChecker())
    assert [f"{error.json_path}: {error.message}" for error in validator.iter_errors(answer)] == []
    assert answer["verdict"] == verdict
    assert done.code == {"does-not-work": 1, "unknown": 7}.get(verdict, 0)
    assert bool(answer["causes"]) is bool(done.code)
    why = "--why" in words or (words[0] == "explain" and bool(answer["stacks"]))
    shown = answer["stacks"] + [near["stack"] for near in answer["nearest"]]
    assert all(("edges" in stack) is why and ("builds" in stack) is why for stack in shown)


@pytest.fixture
def answers(run: Callable[..., Run]) -> list[Any]:
    """The answers to the questions above."""
    return [json.loads(run(*words, *day_of(words), "--format", "json").out) for words in QUESTIONS]


def test_every_field_is_in_some_answer(answers: list[Any]) -> None:
    """No field is documented that the program never prints."""
    assert {name for found in OBJECTS.values() for name in found["properties"]} <= set(keys(answers))


@pytest.mark.parametrize("name", OBJECTS)
def test_fields_are_documented(name: str) -> None:
    """docs/json.md has a section per object, with a row per field in the order of the schema."""
    section = re.split(rf"^## {name}$", PAGE, flags=re.MULTILINE)[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(OBJECTS[name]["properties"])


def test_values_are_documented() -> None:
    """docs/json.md names every word of every closed list."""
    words = {word for found in OBJECTS.values() for field in found["properties"].values() for word in field.get("enum", ())}
    assert {word for word in words if f"`{word}`" not in PAGE} == set()
