"""What the API promises: a JSON Schema for each kind of file, and an OpenAPI document of paths and calls."""

from typing import Any, NamedTuple

import yaml

from compatkb.headline_options import HEADLINES

Schema = dict[str, Any]
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Path(NamedTuple):
    """An address of the API, a file or a call: the schema of what is there, what it is, its parameters, an example."""

    schema: str
    summary: str
    parameters: tuple[tuple[str, str], ...] = ()
    example: str = ""


_PRODUCT = ("product", "id of a product, as products.json lists them")
_DEVICE = ("device", "id of a device")
_QUESTION = ("question", "a series, or another question that the site has a page of: the name of the page")
FILES = {
    "index.json": Path("index", "What there is."),
    "products.json": Path("products", "Every product."),
    "products/{product}.json": Path("product", "A product with its releases, newest first.", (_PRODUCT,)),
    "releases/{product}/{version}.json": Path(
        "release",
        "One release: builds, claims, disputes, sources. Signs of the version that no file name has are underscores.",
        (_PRODUCT, ("version", "a version, as products/{product}.json lists them")),
    ),
    "latest/{product}.json": Path("latest", "The newest release of a product, and of each of its series.", (_PRODUCT,)),
    "stacks.json": Path("stacks", "The best stacks of every device and series."),
    "images.json": Path("images", "Every image tag and what it is declared to hold."),
    "eol.json": Path("eol", "Every end of life that is known, latest first."),
    "timeline.json": Path("timeline", "Releases, milestones and ends of life, oldest first."),
    "answers/{device}/{question}.json": Path(
        "answer", "What `compatkb resolve --format json` says to a question.", (_DEVICE, _QUESTION)
    ),
    "shields/{device}/{question}.json": Path("shield", "The verdict as a badge (shields endpoint).", (_DEVICE, _QUESTION)),
    "shields/{product}.json": Path("shield", "The newest release of a product as a badge (shields endpoint).", (_PRODUCT,)),
    "endoflife/{product}.json": Path("endoflife", "The series of a product in the shape of endoflife.date.", (_PRODUCT,)),
    "renovate/{product}.json": Path("renovate", "The releases of a product for a custom datasource of Renovate.", (_PRODUCT,)),
}
"""The files of the API, by their paths."""


_AS_OF = ("as-of", "answer as of the end of this day, YYYY-MM-DD")
_ASKED = (
    *((option.removeprefix("--"), what) for option, _, _, what in HEADLINES),
    ("device", "a device; may be repeated"),
    ("q", "further words as on the command line, such as numpy==VERSION"),
    ("needs", "a feature that the stack must have; may be repeated"),
    ("route", "the only route to the device that will do"),
    _AS_OF,
)
CALLS = {
    "resolve": Path(
        "answer", "Which versions work together.", (*_ASKED, ("why", "1 for everything that speaks for it")),
        "torch=2.8&device=xpu&python=3.12",
    ),
    "explain": Path("answer", "Whether these versions work together, and why.", _ASKED, "q=torch>=2.8%20ipex"),
    "show": Path(
        "shown", "What the data hold of a product, a release, an image.",
        (("product", "a product, or an image repository"), ("version", "a version, or a tag"), _AS_OF),
        "product=torch&version=2.8",
    ),
    "eol": Path(
        "eol", "What ends soon, and what has ended.",
        (("product", "a product"), ("within", "how far ahead, such as 90d or 1y"), _AS_OF), "within=180d",
    ),
    "search": Path(
        "search", "Records that have all of some words.",
        (("q", "the words"), ("limit", "at most so many, 20 unless given"), _AS_OF), "q=arc",
    ),
    "shield": Path("shield", "The verdict as a badge (shields endpoint).", _ASKED, "torch=2.8&device=xpu"),
}  # fmt: skip
"""The calls of the live server."""


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
_LINKS = _record(os=_TEXT, arch=_TEXT, needs=_TEXTS, unlinked=_TEXTS, seen=_DAY, conflict=_maybe(_TEXT))
_BUILD = _record(
    version=_TEXT, stage=_TEXT, devices=_TEXTS, channels=_TEXTS, yanked=_TRUTH, yank_reason=_maybe(_TEXT),
    wheels=_list(_WHEELS), links=_list(_LINKS), sources=_SOURCES,
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
    is_listed=_TRUTH, contains=_list(_HELD), run=_TEXT, run_notes=_TEXTS,
    note=_maybe(_TEXT), disputes=_DISPUTES, sources=_SOURCES,
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
_ALSO = _record(device=_maybe(_TEXT), version=_TEXT, sources=_TEXTS)
_REPLACED = _record("device", "also", product=_TEXT, version=_TEXT, device=_maybe(_TEXT), also=_list(_ALSO), sources=_TEXTS)
_RULE = {"published": _TRUTH, "says": _TEXT, "sources": _SOURCES}
_STACK = {"$ref": "answer.schema.json#/$defs/stack"}
_BODIES = {
    "index": _record(program=_TEXT, paths=_TEXTS, openapi=_TEXT),
    "products": _record(products=_list(_ROW)),
    "product": _record(
        id=_TEXT, name=_TEXT, role=_TEXT, distribution=_maybe(_TEXT), eol=_maybe(_DAY),
        eol_rule=_maybe(_record(**_RULE)), replaced_by=_maybe(_REPLACED), note=_maybe(_TEXT), releases=_list(_LISTED),
        disputes=_DISPUTES,
    ),
    "release": _record(product=_TEXT, releases=_list(_RELEASE)),
    "stacks": _record(stacks=_list(_record(series=_maybe(_TEXT), device=_TEXT, stack=_STACK))),
    "images": _record(repositories=_list(_record(repository=_TEXT, tags=_list(_TAG)))),
    "eol": _record(within_days=_NUMBER, ends=_list(_END), rules=_list(_record(product=_TEXT, **_RULE))),
    "latest": _record(product=_TEXT, latest=_maybe(_LISTED), series={"type": "object", "additionalProperties": _LISTED}),
    "timeline": _record(vendors=_list(_record(id=_TEXT, name=_TEXT)), events=_list(_EVENT)),
}  # fmt: skip
_HEAD = {"schema": {"const": 1}, "data_date": _DAY, "as_of": _DAY}
_CYCLE = _record(
    "releaseDate", "eol", "latest", "latestReleaseDate", "discontinued",
    releaseCycle=_TEXT, releaseDate=_DAY, eol={"oneOf": [_DAY, _TRUTH]}, latest=_TEXT, latestReleaseDate=_DAY,
    discontinued=_TRUTH,
)  # fmt: skip
_UPDATE = _record("releaseTimestamp", "isDeprecated", "sourceUrl", version=_TEXT, releaseTimestamp=_TEXT,
                  isDeprecated=_TRUTH, sourceUrl=_TEXT)  # fmt: skip
_FOREIGN = {
    "shield": _record("isError", schemaVersion={"const": 1}, label=_TEXT, message=_TEXT, color=_TEXT, isError=_TRUTH),
    "endoflife": _record(
        title=_TEXT, category=_text(enum=["framework", "library", "os", "lang", "device"]), permalink=_text(pattern="^/"),
        releases=_list(_CYCLE),
    ),
    "renovate": _record(releases=_list(_UPDATE)),
}  # fmt: skip
"""Shapes that other tools fixed: they have no head of ours."""


def schemas() -> dict[str, Schema]:
    """Return the JSON Schema of each kind of file but the answers, by name."""
    own = {name: _whole(name, body) for name, body in _BODIES.items()}
    return own | {name: _named(name, body) for name, body in _FOREIGN.items()}


def _named(name: str, body: Schema) -> Schema:
    summary = next(path.summary for path in FILES.values() if path.schema == name)
    return {"$schema": _DIALECT, "$id": f"{name}.schema.json", "title": name, "description": summary, **body}


def _whole(name: str, body: Schema) -> Schema:
    schema = _named(name, body)
    return {**schema, "properties": {**_HEAD, **body["properties"]}, "required": [*_HEAD, *body["required"]]}


def openapi(*, live: bool) -> str:
    """Return the OpenAPI document as YAML: the paths of the files, and the calls of a live server."""
    paths = {
        f"/{address}": {"get": _get(path.schema, path.summary, address, path.parameters)} for address, path in FILES.items()
    }
    if live:
        for name, call in CALLS.items():
            get = _get(call.schema, call.summary, f"ask-{name}", ())
            get["parameters"] = [
                {"name": parameter, "in": "query", "description": what, "schema": {"type": "string"}}
                for parameter, what in call.parameters
            ]
            get["responses"]["400"] = _problem("The question cannot be read.")
            get["responses"]["503"] = _problem("The search took too long.")
            paths[f"/{name}"] = {"get": get}
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "compatkb",
            "version": "1",
            "summary": "Which versions of PyTorch and its companions work together on Intel hardware, and how we know.",
            "description": "Within one version of the API, paths and fields are only added.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": ".", "description": "Where this document lies."}],
        "paths": paths,
    }
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=110)


def _get(schema: str, summary: str, address: str, parameters: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    known = schema not in ("search", "shown")
    content = {"application/json": {"schema": {"$ref": f"schema/{schema}.schema.json"} if known else {"type": "object"}}}
    get: dict[str, Any] = {
        "operationId": "".join(sign if sign.isalnum() else "-" for sign in address.removesuffix(".json")).strip("-"),
        "summary": summary,
        "responses": {
            "200": {"description": summary, "content": content},
            "404": {"description": "There is nothing of that name."},
        },
    }
    if parameters:
        get["parameters"] = [
            {"name": name, "in": "path", "required": True, "description": what, "schema": {"type": "string"}}
            for name, what in parameters
        ]
    return get


def _problem(what: str) -> dict[str, Any]:
    members = {name: {"type": "string"} for name in ("type", "title", "detail")}
    schema = {"type": "object", "properties": {**members, "status": {"type": "integer"}}}
    return {"description": what, "content": {"application/problem+json": {"schema": schema}}}
