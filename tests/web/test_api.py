"""The API as files: each keeps to its schema, the OpenAPI documents are valid, and nothing changes with the day alone."""

import json
import re
from collections import Counter
from datetime import date
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from compatkb.core.clock import Clock
from compatkb.engine.answer import resolve
from compatkb.output.payload import answer_payload
from compatkb.output.presenter import present
from compatkb.web.api_schema import CALLS, FILES, POSTS, openapi
from compatkb.web.asker import Asker
from compatkb.web.machine_files import MachineFiles
from compatkb.web.pages import Site
from compatkb.web.static import site_files


@pytest.mark.parametrize("most", [1, pytest.param(10_000, marks=pytest.mark.soak)])
def test_files_fit_their_schemas(site: Path, most: int) -> None:
    """Every file of the API is under one of its paths and fits the schema named there, and every path has a file.

    With one member more, or without one that is required, it does not. Every run reads one of each path.
    """
    api = site / "api" / "v1"
    contents = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in (api / "schema").glob("*.json")}
    registry = Registry().with_resources([(name, Resource.from_contents(schema)) for name, schema in contents.items()])
    checkers = {}
    for name, schema in contents.items():
        Draft202012Validator.check_schema(schema)
        checkers[name] = Draft202012Validator(schema, registry=registry, format_checker=Draft202012Validator.FORMAT_CHECKER)
    kinds = {address: re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(address))) for address in FILES}
    used: Counter[str] = Counter()
    for path in sorted(api.rglob("*.json"), key=lambda path: (path.stat().st_size, path)):
        name = path.relative_to(api).as_posix()
        if name.startswith("schema/"):
            continue
        address = next(address for address, pattern in kinds.items() if pattern.fullmatch(name))
        used[address] += 1
        if used[address] > most:
            continue
        content = json.loads(path.read_text(encoding="utf-8"))
        errors = list(checkers[f"{FILES[address].schema}.schema.json"].iter_errors(content))
        assert not errors, f"{name}: {errors[0].json_path}: {errors[0].message}"
        checker = checkers[f"{FILES[address].schema}.schema.json"]
        brief = {key: value[:1] if isinstance(value, list) else value for key, value in content.items()}
        brief = brief if checker.is_valid(brief) else content  # one of each record is enough for what follows
        assert not checker.is_valid({**brief, "more": 1}), f"{name}: a member that no schema names"
        required = [member for member in contents[f"{FILES[address].schema}.schema.json"]["required"] if member in content]
        for member in required:
            assert not checker.is_valid({key: value for key, value in brief.items() if key != member}), f"{name}: {member}"
    assert set(used) == set(FILES)


@pytest.mark.parametrize("live", [pytest.param(True, marks=pytest.mark.long), False])
def test_openapi_is_valid(site: Path, tmp_path: Path, live: bool) -> None:
    """The document is YAML, passes the validator, and has every path; a live server's has its calls too."""
    validator = pytest.importorskip("openapi_spec_validator")
    text = openapi(live=live)
    document = yaml.safe_load(text)
    base = (site / "api" / "v1" / "openapi.yaml").as_uri()
    validator.validate(document, base_uri=base)
    assert not text.lstrip().startswith("{")
    calls = {f"/{name}" for name in (*CALLS, *POSTS)} if live else set()
    assert set(document["paths"]) == {f"/{address}" for address in FILES} | calls
    if not live:
        assert (site / "api" / "v1" / "openapi.yaml").read_text(encoding="utf-8") == text


def test_answers_are_those_of_the_command_line(asker: Asker, site: Path) -> None:
    """Each written answer is the engine's."""
    made = Site(asker, live=False)
    seen = 0
    for question, path in made.written.items():
        file = site / "api/v1/answers" / path.replace(".html", ".json")
        if file.exists():
            seen += 1
            answer = resolve(asker.facts, question.request(asker.facts, asker.clock))
            assert json.loads(file.read_text(encoding="utf-8")) == answer_payload(present(asker.facts, answer)), path
    assert seen >= 10
    answer = json.loads((site / "api/v1/answers/xpu/2.4.json").read_text(encoding="utf-8"))
    assert (answer["verdict"], answer["request"]["pins"]) == ("does-not-work", {"torch": "2.4"})


def test_only_the_day_changes_nothing(asker: Asker, site: Path) -> None:
    """A site that is built from the same data on another day has the same files in its API."""
    later = Site(Asker(asker.facts, Clock(date(2027, 3, 1))), live=False)
    names = (
        "products.json",
        "eol.json",
        "releases/torch/2.8.0.json",
        "latest/ipex.json",
        "endoflife/python.json",
        "timeline.json",
    )
    files = MachineFiles(later).files()
    for name in (*names, "answers/xpu/2.8.json", "renovate/torch.json", "shields/xpu/2.8.json"):
        assert files[f"api/v1/{name}"]() == (site / "api/v1" / name).read_text(encoding="utf-8"), name


def test_each_release_has_a_file_of_its_own(asker: Asker) -> None:
    """A file of a release tells of that release alone, also where its version is a word for several."""
    files = MachineFiles(Site(asker, live=True)).files()
    for product in ("python", "tbb", "oneapi", "os"):
        for release in asker.facts.releases_of(product)[:12]:
            path = f"api/v1/releases/{product}/{re.sub('[^A-Za-z0-9._-]', '_', release.version)}.json"
            assert [entry["version"] for entry in json.loads(files[path]())["releases"]] == [release.version]


def test_latest_names_the_newest_that_can_be_installed(asker: Asker) -> None:
    """The newest release of a product is a stable one that is not yanked, where there is any."""
    files = MachineFiles(Site(asker, live=False)).files()
    latest = json.loads(files["api/v1/latest/ipex.json"]())
    assert not latest["latest"]["yanked"]
    assert latest["latest"] in latest["series"].values()


def test_llms_txt_leads_to_files_that_exist(asker: Asker) -> None:
    """llms.txt has a command for each device and names what has ended; each link is a file of the site."""
    files = site_files(Site(asker, live=False))
    text = files["llms.txt"]()
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert links
    assert set(links) <= files.keys()
    assert text.count("pip install ") >= 2
    assert "intel-extension-for-pytorch): ended 2026-03-31" in text


def test_ends_of_life_are_in_the_envelope_of_their_api(asker: Asker) -> None:
    """A client of API v1 of endoflife.date reads them: the members of a product and of a series, in its words."""
    files = MachineFiles(Site(asker, live=False)).files()
    document = json.loads(files["api/v1/endoflife/ipex.json"]())
    assert set(document) == {"schema_version", "generated_at", "last_modified", "result"}
    result = document["result"]
    assert result["name"] == "ipex"
    assert "intel-extension-for-pytorch" in result["aliases"]
    assert all(row["isEol"] and not row["isMaintained"] and row["eolFrom"] for row in result["releases"])
    python = json.loads(files["api/v1/endoflife/python.json"]())["result"]["releases"]
    maintained = {row["name"] for row in python if row["isMaintained"]}
    assert "3.13" in maintained
    assert "3.9" not in maintained
    issues = json.loads(files["api/v1/issues.json"]())["issues"]
    assert issues
    assert all(issue["sources"] for issue in issues)
