"""The JSON API as files: what the commands print as JSON, each under an address that stays."""

import json
from collections.abc import Iterator
from typing import Any

from compatkb import __version__
from compatkb.engine.answer import resolve
from compatkb.rendering import catalogue, tags, timeline
from compatkb.rendering.payload import SCHEMA, answer_payload
from compatkb.web.catalogue_pages import file_name
from compatkb.web.contract import PATHS, openapi, schemas
from compatkb.web.page import sources
from compatkb.web.questions import Form
from compatkb.web.tables import share
from compatkb.web.working import ANY

BASE = "api/v1/"
_LONG = 365 * 100


def api_files(form: Form) -> dict[str, bytes]:
    """Return the files of the API by their paths."""
    files = {f"{BASE}{path}": _bytes(content) for path, content in _contents(form)}
    for name, schema in {**schemas(), "answer": answer_schema()}.items():
        files[f"{BASE}schema/{name}.schema.json"] = _bytes(schema)
    files[f"{BASE}openapi.yaml"] = openapi().encode()
    return files


def answer_schema() -> dict[str, Any]:
    """Return the JSON Schema of `resolve --format json`: the one that docs/json.md describes."""
    folder = sources()
    places = (folder / "answer.schema.json", folder.parent / "docs" / "schema" / "resolve.schema.json")
    found: dict[str, Any] = json.loads(next(path for path in places if path.is_file()).read_text(encoding="utf-8"))
    return found


def _contents(form: Form) -> Iterator[tuple[str, Any]]:
    facts, day = form.facts, form.today
    head = {"schema": SCHEMA, "data_date": facts.meta["data_date"], "as_of": day.isoformat()}
    yield "index.json", {**head, "program": __version__, "paths": list(PATHS), "openapi": "openapi.yaml"}
    listed = json.loads(catalogue.list_text(facts, None, day, as_json=True))
    yield "products.json", listed
    for row in listed["products"]:
        product = facts.products[row["id"]]
        content = json.loads(catalogue.product_text(facts, product, day, as_json=True))
        yield f"products/{file_name(row['id'])}.json", content
        for release in content["releases"]:
            told = catalogue.release_text(facts, product, release["version"], day, as_json=True)
            yield f"releases/{file_name(row['id'])}/{file_name(release['version'])}.json", json.loads(told)
    repositories = [row["repository"] for row in facts.rows("select distinct repository from image order by repository")]
    images = [json.loads(tags.repository_text(facts, name, day, as_json=True)) for name in repositories]
    yield "images.json", {**head, "repositories": [{"repository": i["repository"], "tags": i["tags"]} for i in images]}
    yield "eol.json", json.loads(catalogue.eol_text(facts, None, day, _LONG, as_json=True))
    yield "timeline.json", json.loads(timeline.payload(facts, facts.events, day))
    yield from _answers(form, head)


def _answers(form: Form, head: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the answer to each device and series, and from them the list of all stacks that work."""
    stacks = []
    with share(form.facts):
        for device in form.values("device"):
            for main in ("", *form.values("main")):
                chosen = {"device": device, **({"main": main} if main else {})}
                answer = answer_payload(form.facts, resolve(form.facts, form.request(chosen)))
                yield f"answers/{device}/{file_name(main or ANY)}.json", answer
                series = {"series": main or None, "device": device}
                stacks += [{**series, "stack": stack} for stack in answer["stacks"] if main]
    yield "stacks.json", {**head, "stacks": stacks}


def _bytes(content: Any) -> bytes:
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()
