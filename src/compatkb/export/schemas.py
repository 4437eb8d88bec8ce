"""JSON Schemas of the data files, made from the models, so that editors and other programs can check a file."""

import json
from functools import cache
from typing import Any

from compatkb.authoring.loader import FOLDERS, SINGLE
from compatkb.schema import Observation, Record, WrittenProduct
from compatkb.schema.evidence import ProofFile

_MODELS: dict[str, type[Record]] = {
    **{folder.removesuffix("s"): model for folder, model in FOLDERS.items()},
    **{name.removesuffix(".toml"): model for name, model in SINGLE.items()},
    "product": WrittenProduct,
    "proofs": ProofFile,
    "observation": Observation,
}
ENDING = ".schema.json"


@cache
def schema_files() -> dict[str, str]:
    """Return the schema of each kind of data file, by file name."""
    return {f"{name}{ENDING}": json.dumps(_schema(model), indent=2) + "\n" for name, model in _MODELS.items()}


def _schema(model: type[Record]) -> dict[str, Any]:
    schema = model.model_json_schema(by_alias=True, mode="validation")
    if "source" in model.model_fields:
        _admit_sources(schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _admit_sources(schema: Any) -> None:
    """Let lists of sources hold, beside ids, sources that are defined where they are cited."""
    if isinstance(schema, dict):
        if schema.get("title") == "Sources" and "pattern" in schema.get("items", {}):
            schema["items"] = {"anyOf": [schema["items"], {"$ref": "#/$defs/SourceEntry"}]}
        for part in schema.values():
            _admit_sources(part)
    elif isinstance(schema, list):
        for part in schema:
            _admit_sources(part)
