"""What the API promises: a JSON Schema for each kind of file, and an OpenAPI document of the paths."""

import json
from typing import Any, NamedTuple

Schema = dict[str, Any]
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Path(NamedTuple):
    """An address of the API: its parameters with examples, the schema of what is there, and what it is."""

    schema: str
    summary: str
    parameters: tuple[tuple[str, str], ...] = ()


_PRODUCT = ("product", "id of a product, as products.json lists them")
_SERIES = ("series", "a series, or `any`; other signs than letters, digits, dots, dashes and underscores become underscores")
PATHS = {
    "index.json": Path("index", "What there is, and when it was made."),
    "products.json": Path("products", "Every product."),
    "products/{product}.json": Path("product", "A product with its releases, newest first.", (_PRODUCT,)),
    "releases/{product}/{version}.json": Path(
        "release",
        "One release: builds, claims, disputes, sources.",
        (_PRODUCT, ("version", "a version, as products/{product}.json lists them, written as a series is")),
    ),
    "stacks.json": Path("stacks", "The best stacks of every device and series."),
    "images.json": Path("images", "Every image tag and what it is declared to hold."),
    "eol.json": Path("eol", "Every end of life that is known, latest first."),
    "timeline.json": Path("timeline", "Releases, milestones and ends of life, oldest first."),
    "answers/{device}/{series}.json": Path(
        "answer",
        "What `compatkb resolve --format json` says to a device and a series.",
        (("device", "id of a device"), _SERIES),
    ),
}


def _text(**more: Any) -> Schema:
    return {"type": "string", **more}


def _maybe(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _record(*optional: str, **properties: Schema) -> Schema:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_TEXT, _DAY, _TRUTH, _NUMBER = _text(), _text(format="date"), {"type": "boolean"}, {"type": "integer", "minimum": 0}
_TEXTS = _list(_TEXT)
_SOURCE = _record(text=_TEXT, url=_maybe(_TEXT))
_SOURCES = _list(_SOURCE)
_POSITION = _record(text=_TEXT, claim=_maybe(_TEXT), sources=_SOURCES)
_DISPUTE = _record(
    id=_TEXT, about=_TEXT, positions=_list(_POSITION), decision=_TEXT, holds=_maybe(_TEXT), reason=_TEXT, decided=_DAY
)
_DISPUTES = _list(_DISPUTE)
_CLAIM = _record(
    "reason", "note", "disputes",
    id=_TEXT, kind=_text(enum=["needs", "constrains", "verified", "breaks"]), of=_TEXT, to=_TEXTS, when=_TEXT,
    basis=_text(enum=["stated", "observed", "inferred"]), sources=_SOURCES, reason=_TEXT, note=_TEXT, disputes=_DISPUTES,
)  # fmt: skip
_WHEELS = _record(os=_TEXT, arch=_TEXT, python=_TEXTS, basis=_text(enum=["seen", "inferred"]))
_BUILD = _record(
    version=_TEXT, stage=_TEXT, devices=_TEXTS, channels=_TEXTS, yanked=_TRUTH, yank_reason=_maybe(_TEXT),
    wheels=_list(_WHEELS), sources=_SOURCES,
)  # fmt: skip
_LISTED = _record(
    version=_TEXT, name=_maybe(_TEXT), aliases=_TEXTS, released=_maybe(_TEXT), eol=_maybe(_DAY), ended=_TRUTH, yanked=_TRUTH,
    builds=_TEXTS, disputed=_TEXTS,
)  # fmt: skip
_RELEASE = _record(
    version=_TEXT, released=_maybe(_TEXT), released_basis=_maybe(_TEXT), eol=_maybe(_DAY), note=_maybe(_TEXT),
    disputed=_TEXTS, sources=_SOURCES, builds=_list(_BUILD), claims=_list(_CLAIM), claimed_by=_list(_CLAIM),
    disputes=_DISPUTES, features=_list({"type": "object"}),
)  # fmt: skip
_HELD = _record(**{"is": _TEXT, "basis": _text(enum=["stated", "inferred"])})
_TAG = _record(
    tag=_TEXT, device=_TEXT, listed=_list({"type": "array", "prefixItems": [_DAY, _maybe(_DAY)], "items": False}),
    is_listed=_TRUTH, contains=_list(_HELD), note=_maybe(_TEXT), disputes=_DISPUTES, sources=_SOURCES,
)  # fmt: skip
_END = _record(
    product=_TEXT, version=_TEXT, last_day=_DAY, precision=_maybe(_TEXT), ended=_TRUTH, disputed=_TRUTH, sources=_SOURCES
)
_EVENT = _record(
    id=_TEXT, vendor=_TEXT, kind=_TEXT, title=_TEXT, date=_TEXT, first_day=_DAY, last_day=_DAY, precision=_TEXT,
    basis=_maybe(_TEXT), state=_TEXT, announced=_maybe(_DAY), product=_maybe(_TEXT), version=_maybe(_TEXT),
    note=_maybe(_TEXT), disputes=_list({"type": "object"}), sources=_SOURCES,
)  # fmt: skip
_ROW = _record(id=_TEXT, name=_TEXT, role=_TEXT, releases=_NUMBER, builds=_NUMBER, distribution=_maybe(_TEXT))
_REPLACED = _record("device", product=_TEXT, version=_TEXT, device=_maybe(_TEXT), sources=_TEXTS)
_STACK = {"$ref": "answer.schema.json#/$defs/stack"}
_BODIES = {
    "index": _record(program=_TEXT, paths=_TEXTS, openapi=_TEXT),
    "products": _record(products=_list(_ROW)),
    "product": _record(
        id=_TEXT, name=_TEXT, role=_TEXT, distribution=_maybe(_TEXT), eol=_maybe(_DAY), replaced_by=_maybe(_REPLACED),
        note=_maybe(_TEXT), releases=_list(_LISTED), disputes=_DISPUTES,
    ),
    "release": _record(product=_TEXT, releases=_list(_RELEASE)),
    "stacks": _record(stacks=_list(_record(series=_maybe(_TEXT), device=_TEXT, stack=_STACK))),
    "images": _record(repositories=_list(_record(repository=_TEXT, tags=_list(_TAG)))),
    "eol": _record(within_days=_NUMBER, ends=_list(_END)),
    "timeline": _record(vendors=_list(_record(id=_TEXT, name=_TEXT)), events=_list(_EVENT)),
}  # fmt: skip
_HEAD = {"schema": {"const": 1}, "data_date": _DAY, "as_of": _DAY}


def schemas() -> dict[str, Schema]:
    """Return the JSON Schema of each kind of file but the answers, by name."""
    return {name: _whole(name, body) for name, body in _BODIES.items()}


def _whole(name: str, body: Schema) -> Schema:
    summary = next(path.summary for path in PATHS.values() if path.schema == name)
    head = {"$schema": _DIALECT, "$id": f"{name}.schema.json", "title": name, "description": summary}
    return {**head, **body, "properties": {**_HEAD, **body["properties"]}, "required": [*_HEAD, *body["required"]]}


def openapi() -> str:
    """Return the OpenAPI document of the paths, as YAML."""
    paths = {}
    for address, path in PATHS.items():
        schema = {"$ref": f"schema/{path.schema}.schema.json"}
        get: dict[str, Any] = {
            "operationId": path.schema,
            "summary": path.summary,
            "responses": {
                "200": {"description": path.summary, "content": {"application/json": {"schema": schema}}},
                "404": {"description": "There is nothing of that name."},
            },
        }
        if path.parameters:
            get["parameters"] = [
                {"name": name, "in": "path", "required": True, "description": what, "schema": {"type": "string"}}
                for name, what in path.parameters
            ]
        paths[f"/{address}"] = {"get": get}
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "compatkb",
            "version": "1",
            "summary": "Which versions of PyTorch and its companions work together on Intel hardware, and how we know.",
            "description": "Static files. Within one version of the API, paths and fields are only added.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": ".", "description": "Where this document lies."}],
        "paths": paths,
    }
    return "\n".join(_yaml(document, "")) + "\n"


def _yaml(content: Any, indent: str) -> list[str]:
    """Return records and lists as lines of YAML; every text is quoted, as JSON would."""
    lines = []
    pairs = content.items() if isinstance(content, dict) else ((None, item) for item in content)
    for key, value in pairs:
        head = f"{indent}-" if key is None else f"{indent}{json.dumps(key)}:"
        if isinstance(value, dict | list) and value:
            inner = _yaml(value, indent + "  ")
            lines += [f"{head} {inner[0].lstrip()}", *inner[1:]] if key is None else [head, *inner]
        else:
            lines.append(f"{head} {json.dumps(value, ensure_ascii=False)}")
    return lines
