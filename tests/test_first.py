"""The requests of tests/cases/first: which stack comes first was worked out from release notes, matrices and lock files."""

import json
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Run, parted
from families import product_file
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from test_cases import holds

from compatkb.core.names import word_key
from compatkb.store.reader import Snapshot

CASES = sorted((ROOT / "tests" / "cases" / "first").glob("*.toml"))
BESIDE = frozenset({"channel", "not", "os", "verdict"})
"""Fields of an expected stack that are no products."""
VOUCHED = frozenset({"works", "works-with-warnings", "likely"})
Content = Mapping[str, Any]


def load(path: Path) -> dict[str, Any]:
    """Return one case."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def addresses() -> dict[str, str]:
    """Return the address of each channel, as a stack names it, by the id of the channel."""
    channels = tomllib.loads((ROOT / "data" / "channels.toml").read_text(encoding="utf-8"))["channel"]
    return {channel["id"]: channel.get("url", channel["id"]) for channel in channels}


@pytest.mark.verdict
@pytest.mark.parametrize("path", parted(CASES, CASES[::6]), ids=lambda path: path.stem)
def test_first_stack(path: Path, run: Callable[..., Run], facts: Snapshot) -> None:
    """What a careful colleague would install today comes first; where nothing can be vouched for, nothing is offered."""
    case = load(path)
    done = run("resolve", *case["args"], "--format", "json")
    assert done.code in (0, 1, 7), done.err
    answer = json.loads(done.out)
    if "none" in case:
        assert answer["verdict"] in case["none"]["verdict"], shown(answer)
        assert not [stack for stack in answer["stacks"] if stack["verdict"] in VOUCHED], shown(answer)
        return
    assert answer["stacks"], answer["causes"]
    first = case["first"]
    ways = first if isinstance(first, list) else [first]
    found = [list(differences(facts, answer["stacks"][0], expected)) for expected in ways]
    assert [] in found, (found, shown(answer), case["reason"])


def differences(facts: Snapshot, stack: Content, expected: Content) -> Iterator[str]:
    """Yield in words what a stack has otherwise than expected."""
    for product, versions in expected.items():
        if product not in BESIDE and not any(holds(facts, stack, {product: version}) for version in listed(versions)):
            yield f"{product} {stack['packages'].get(product)} instead of {versions}"
    url = addresses()
    if "channel" in expected and url[expected["channel"]] not in stack["indexes"]:
        yield f"from {stack['indexes']} instead of {expected['channel']}"
    for name in expected.get("not", ()):
        if name in stack["packages"] or url.get(name) in stack["indexes"]:
            yield f"with {name}"
    if not set(stack["os"]) <= set(expected.get("os", stack["os"])):
        yield f"on {stack['os']} instead of {expected['os']}"
    if stack["verdict"] not in expected["verdict"]:
        yield f"{stack['verdict']} instead of {expected['verdict']}"


def listed(versions: str | list[str]) -> list[str]:
    """Return the versions that are as good as each other."""
    return [versions] if isinstance(versions, str) else versions


def shown(answer: Content) -> list[Any]:
    """Return what the first stacks of an answer are, for a message."""
    fields = ("verdict", "route", "os", "python", "packages")
    return [answer["verdict"], *([stack[field] for field in fields] for stack in answer["stacks"][:2])]


ROWS = [row for path in sorted((ROOT / "tests/cases/first/table").glob("*.toml")) for row in load(path)["case"]]
"""Requests worked out by hand from release notes, build matrices and documents, before anybody had asked the program."""
QUICK_ROWS = 12  # of so many rows one is asked each time


@pytest.mark.verdict
@pytest.mark.parametrize(
    "row",
    [pytest.param(row, marks=pytest.mark.long if number % QUICK_ROWS else ()) for number, row in enumerate(ROWS)],
    ids=lambda row: row["id"],
)
def test_row_of_the_table(row: dict[str, Any], run: Callable[..., Run]) -> None:
    """The verdict, the series and the device of what leads are those of the table; what it forbids is in no command."""
    done = run(*shlex.split(row["request"]), "--format", "json")
    wrong = list(deviations(row, json.loads(done.out)))
    assert bool(wrong) is row.get("known-failure", False), (wrong, row["why"])


def deviations(row: Content, answer: Content) -> Iterator[str]:
    """Yield in words where an answer is otherwise than a row of the table says."""
    allowed, verdict = row["verdict"], answer["verdict"]
    if verdict not in allowed:
        yield f"{verdict} instead of {allowed}"
    if verdict in VOUCHED:
        lead = answer["stacks"][0]
        release = Version(lead["packages"].get("torch", "0").partition("+")[0])
        if row.get("torch") and not any(SpecifierSet(spec).contains(release, prereleases=True) for spec in row["torch"]):
            yield f"torch {release} instead of {row['torch']}"
        if row.get("device", lead["device"]) != lead["device"]:
            yield f"for {lead['device']} instead of {row['device']}"
        command = " ".join(lead["install"])
        yield from (f"with {name}" for name in row.get("forbid", ()) if name in lead["packages"] or name in command)
    elif row.get("torch") and VOUCHED.issuperset(allowed):
        yield f"no torch, instead of {row['torch']}"
    elif row.get("way-out") and not (answer["nearest"] or answer["beside"]):
        yield f"no way out, instead of {row['way-out']}"


def test_rows_have_sources() -> None:
    """Each row says where its answer is from and why, and what is doubtful is marked."""
    assert len(ROWS) > 300
    assert len({row["request"] for row in ROWS}) == len(ROWS)
    assert all(row["sources"] and len(row["why"]) >= 10 for row in ROWS)


def test_every_family_is_asked_for() -> None:
    """Every family that has a device of a route is asked for, by one of its names, on Linux and on Windows.

    Devices that are served on request alone, which are a second vendor's, have tests of their own.
    """
    routes = tomllib.loads((ROOT / "data" / "routes.toml").read_text(encoding="utf-8"))["route"]
    reached = {device for route in routes if not route.get("on-request") for device in route["device"]}
    families = tomllib.loads((ROOT / "data" / "products" / "hardware.toml").read_text(encoding="utf-8"))["release"]
    asked: dict[str, set[str]] = {}
    for args in (load(path)["args"] for path in CASES):
        if "--hardware" in args and "--os" in args:
            name = word_key(args[args.index("--hardware") + 1])
            asked.setdefault(name, set()).add(args[args.index("--os") + 1])
    for family in families:
        names = map(word_key, (family["version"], *family.get("aliases", ())))
        systems = {system for name in names for system in asked.get(name, ())}
        assert {"linux", "windows"} <= systems or reached.isdisjoint(family.get("devices", ())), family["version"]


def test_every_ipex_is_asked_for() -> None:
    """Every release of IPEX is asked for by name."""
    named = [args[args.index("--ipex") + 1] for args in (load(path)["args"] for path in CASES) if "--ipex" in args]
    asked = {version.partition("+")[0] for version in named}
    assert {release.version for release in product_file(ROOT / "data" / "products" / "ipex.toml").release} <= asked


def test_every_python_is_asked_for() -> None:
    """Each Python from 3.10 to 3.14 is asked for on both devices, on Linux and on Windows."""
    asked = [tuple(args) for args in (load(path)["args"] for path in CASES)]
    for python in ("3.10", "3.11", "3.12", "3.13", "3.14"):
        for device in ("xpu", "cpu"):
            for system in ("linux", "windows"):
                assert ("--device", device, "--python", python, "--os", system) in asked


def test_the_table_is_large_enough() -> None:
    """At least ninety requests, each with a reason that names its sources, and none of them bound to a day."""
    cases = [load(path) for path in CASES]
    assert len(cases) >= 90
    assert all(len(case["reason"]) > 40 and ("first" in case) != ("none" in case) for case in cases)
    assert not any("--as-of" in case["args"] for case in cases)
