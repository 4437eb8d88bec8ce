"""The paths and calls of the API, and the OpenAPI document of them; `export.responses` has what each file holds."""

from typing import Any

import yaml

from compatkb.core.record import NamedTuple
from compatkb.headline_options import HEADLINES


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
    "claims/{product}.json": Path(
        "claims", "What other products say of a product, each claim once; releases name them by id.", (_PRODUCT,)
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
    "issues.json": Path("issues", "Every known issue: symptom, state, cure, where it was reported."),
    "endoflife/{product}.json": Path(
        "endoflife", "The series of a product, in the envelope of API v1 of endoflife.date.", (_PRODUCT,)
    ),
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
        "answer", "Which versions work together.",
        (*_ASKED, ("why", "1 for everything that speaks for it"), ("fields", "the only members, with commas")),
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


POSTS = {
    "check": ("What `check --format json` says of a text.", ("text", "name", "device", "os")),
    "diagnose": ("What `diagnose --format json` says of a text.", ("text",)),
}
"""The calls that a text is posted to: what each does, and the members of the post."""


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
            get["responses"]["404"] = _problem("What is asked about is newer than the data.")
            get["responses"]["503"] = _problem("The search took too long.")
            paths[f"/{name}"] = {"get": get}
        for name, (summary, members) in POSTS.items():
            schema = {"type": "object", "required": ["text"], "properties": {m: {"type": "string"} for m in members}}
            content = {media: {"schema": schema} for media in ("application/json", "application/x-www-form-urlencoded")}
            post = _get("posted", summary, f"post-{name}", ())
            post["requestBody"] = {"required": True, "content": content}
            post["responses"]["400"] = _problem("The text cannot be read.")
            post["responses"]["413"] = _problem("The text is too long.")
            paths[f"/{name}"] = {"post": post}
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
    known = schema not in ("search", "shown", "posted")
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
