"""What installers meet beyond the products of the data: foreign requirements, and packages of one import name."""

from collections.abc import Callable
from pathlib import Path

import pytest
from builders import build, constrains, index, listing, needs, product, release, request, shown, universe, verified

from compatkb import KnowledgeBase, Verdict
from compatkb.engine.answer import resolve
from compatkb.output.presenter import present
from compatkb.store.reader import Snapshot

Made = Callable[..., Snapshot]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """A universe of torch and two packages, of which the index records what they require."""

    def make(*requires: str, basis: str = "inferred") -> Snapshot:
        claims = [[], [verified("one", "torch==1.0", basis=basis)], [verified("two", "torch==1.0", "one==1.0", basis=basis)]]
        torch, one, two = (
            product(
                name, distribution=name, releases=[release("1.0", builds=[build("1.0", channels=["default"])])], claims=said
            )
            for name, said in zip(("torch", "one", "two"), claims, strict=True)
        )
        listed = [index("one", [listing("1.0", requires=list(requires))]), index("two", [listing("1.0")])]
        return universe(tmp_path, [torch, one, two], indexes=listed)

    return make


def foreign(facts: Snapshot, *named: str, system: str = "linux") -> list[str]:
    """Return what the first stack leaves open that its packages require from beyond the data."""
    answer = resolve(facts, request(facts, {"os": system}, named))
    return [point.what for point in shown(facts, answer.stacks[0]).evidence.open_points if "do not have" in point.what]


def test_likely_names_the_requirements_that_the_data_lack(made: Made) -> None:
    """Where several packages are asked for, what the metadata of one require beyond the data is said."""
    facts = made("torch>=1.0", "alien>=2", "stranger")
    assert foreign(facts, "one", "two") == ["one 1.0 requires 2 packages that these data do not have: alien, stranger"]


def test_what_nobody_installs_there_is_no_foreign_requirement(made: Made) -> None:
    """Products, extras and what other systems require are left out."""
    facts = made("torch>=1.0", "extra-one; extra == 'more'", "alien; sys_platform == 'win32'")
    assert foreign(facts, "one", "two") == []
    assert foreign(facts, "one", "two", system="windows") == ["one 1.0 requires a package that these data do not have: alien"]


def test_what_works_leaves_no_requirement_open(made: Made) -> None:
    """Where makers state that versions go together, nothing is open."""
    facts = made("alien", basis="stated")
    answer = resolve(facts, request(facts, {"os": "linux"}, ("one", "two")))
    assert answer.verdict is Verdict.WORKS
    assert foreign(facts, "one", "two") == []


@pytest.mark.parametrize("link", [needs, constrains])
def test_what_installs_a_package_denies_another_of_its_import_name(tmp_path: Path, link: Callable[..., dict]) -> None:
    """A bound alone does not install: only a need, or what installers bring by themselves, denies the other package."""
    torch = product("torch", releases=["2.0", "1.0"], claims=[link("torch==2.0", "mine==1.0")])
    mine = product("mine", releases=["1.0"], distribution="mine", import_name="shared", claims=[verified("mine", "torch")])
    yours = product("yours", releases=["1.0"], distribution="yours", import_name="shared", claims=[verified("yours", "torch")])
    facts = universe(tmp_path, [torch, mine, yours])
    for version, denied in (("2.0", link is needs), ("1.0", False)):
        answer = resolve(facts, request(facts, {"torch": version, "yours": "1.0"}))
        assert (answer.verdict is Verdict.DOES_NOT_WORK) is denied
    both = present(facts, resolve(facts, request(facts, {"mine": "1.0", "yours": "1.0"})))
    assert both.verdict is Verdict.DOES_NOT_WORK
    assert both.causes[0].message == "mine and yours install the same Python package, shared: the later overwrites the other"
    yours["claim"].append(needs("yours", "mine"))
    facts = universe(tmp_path.joinpath("more"), [torch, mine, yours])
    assert resolve(facts, request(facts, {"mine": "1.0", "yours": "1.0"})).verdict is not Verdict.DOES_NOT_WORK


@pytest.mark.parametrize(("torch", "right"), [("2.8.0+xpu", Verdict.DOES_NOT_WORK), ("2.8.0", Verdict.WORKS_WITH_WARNINGS)])
def test_triton_of_cuda_is_denied_beside_the_one_for_intel_gpus(base: KnowledgeBase, torch: str, right: Verdict) -> None:
    """A wheel for Intel GPUs brings its own triton, and the way out says so; the build of the default index needs triton."""
    answer = base.explain(f"torch=={torch}", "triton==3.4.0", "os==linux")
    assert answer.verdict is right
    ways = [way.title for way in present(base.facts, answer).ways]
    assert ways == (["pytorch-triton-xpu 3.4.0 instead of triton: torch 2.8.0+xpu"] if right is Verdict.DOES_NOT_WORK else [])
