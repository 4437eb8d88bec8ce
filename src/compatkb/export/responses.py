"""JSON Schemas (draft 2020-12) of what the program writes, made from its types."""

import json
import re
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import TypedDictSchema
from typing_extensions import TypedDict

from compatkb.output import json_types as types

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def _document(**members: Any) -> Any:
    """Return the type of a document with these members after its head."""
    make: Any = TypedDict
    return make("Document", {**types.DocumentJson.__annotations__, **members})


_DOCUMENTS: dict[str, Any] = {
    "answer": types.AnswerJson,
    "doctor": types.ExaminationJson,
    "diagnose": types.DiagnosisJson,
    "error": types.RefusalDocument,
    "index": _document(program=str, paths=list[str], openapi=str),
    "products": _document(products=list[types.ProductRowJson]),
    "product": types.ProductDocument,
    "release": _document(product=str, releases=list[types.ReleaseJson]),
    "claims": _document(product=str, claims=list[types.ClaimJson]),
    "stacks": _document(stacks=list[types.SeriesBestJson]),
    "images": _document(repositories=list[types.RepositoryJson]),
    "eol": _document(within_days=types.Count, ends=list[types.EndJson], rules=list[types.ProductEndRuleJson]),
    "issues": _document(issues=list[types.DefectJson]),
    "latest": _document(product=str, latest=types.ListedReleaseJson | None, series=dict[str, types.ListedReleaseJson]),
    "timeline": _document(vendors=list[types.VendorJson], events=list[types.EventJson]),
    "shield": types.ShieldDocument,
    "endoflife": types.EndoflifeDocument,
    "renovate": types.RenovateDocument,
}
"""What is printed, by its name: what commands print, and the files of the API."""
NAMES = tuple(_DOCUMENTS)
_SUFFIX = re.compile(r"(?<=\w)Json$")


class _Closed(GenerateJsonSchema):
    """Objects have the members that are listed and no other; members have no titles beside their names."""

    def typed_dict_schema(self, schema: TypedDictSchema) -> JsonSchemaValue:
        return {**super().typed_dict_schema(schema), "additionalProperties": False}

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  # as pydantic calls it
        return False


def response_schema(name: str, summary: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of what is printed under a name; `summary` says what it is."""
    body = TypeAdapter(_DOCUMENTS[name]).json_schema(schema_generator=_Closed, ref_template="#/$defs/{model}")
    body = json.loads(re.sub(r"#/\$defs/(\w+)", lambda match: f"#/$defs/{_name(match[1])}", json.dumps(body)))
    shapes = body.pop("$defs", {})
    parts = {_name(part): shape for part, shape in shapes.items()}
    if len(parts) < len(shapes):
        raise ValueError(f"{name}: two kinds of objects have one name: {', '.join(shapes)}")
    body = {"$schema": _DIALECT, "$id": f"{name}.schema.json", **body, "title": name, "description": summary}
    return {**body, "$defs": parts} if parts else body


def _name(kind: str) -> str:
    """Return what a kind of object is called in schemas and documents: StackJson and StackBriefJson are a stack each."""
    *_, last = re.findall(r"[A-Z][a-z]+", _SUFFIX.sub("", kind).removesuffix("Brief"))
    return str(last).lower()


_CONTRACTS = {
    "resolve": (
        "answer",
        "What `compatkb resolve --format json` and `compatkb explain --format json` print; docs/json.md explains it.",
    ),
    "doctor": ("doctor", "What `compatkb doctor --format json` prints; docs/doctor.md explains it."),
    "error": ("error", "What a command with `--format json` prints where it has no result; docs/json.md explains it."),
    "diagnose": ("diagnose", "What `compatkb diagnose --format json` prints; docs/diagnose.md explains it."),
}


def contracts() -> dict[str, dict[str, Any]]:
    """Return the schemas that docs/schema has, by the name of the command."""
    return {command: response_schema(*content) for command, content in _CONTRACTS.items()}
