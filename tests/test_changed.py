"""What a change to the data touches: `validate --changed-since`."""

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import (
    TODAY,
    build,
    constrains,
    data_directory,
    index,
    listing,
    needs,
    product,
    release,
    universe,
    verified,
    wheel,
)
from conftest import ROOT, Run, parse

from compatkb.errors import DataError, UsageError
from compatkb.store.reader import Snapshot
from compatkb.validate.changed import ClaimChange, change, earlier
from compatkb.validate.plan import PlanScope

WANTED = PlanScope(TODAY, pythons=("3.11",))


def on_default(name: str, *numbers: str, builds: dict[str, dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    """Return a product whose releases are on the default index; `builds` has further fields of single ones."""
    made = [
        release(n, builds=[build(n, **{"channels": ["default"], "devices": ["cpu"], **(builds or {}).get(n, {})})])
        for n in numbers
    ]
    return product(name, distribution=name, releases=made, **more)


def base(**instead: Any) -> list[dict[str, Any]]:
    """Return two releases of torch and of a package that goes with each; `instead` has products that differ."""
    products = {
        "torch": on_default("torch", "2.0", "1.0"),
        "ipex": on_default("ipex", "2.0", "1.0", claims=[needs("ipex==2.0", "torch==2.0"), needs("ipex==1.0", "torch==1.0")]),
        "numpy": product("numpy", releases=["2.0", "1.0"], role="leaf"),
    }
    return list({**products, **instead}.values())


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """The data before each change."""
    return universe(tmp_path_factory.mktemp("before"), base())


def names(found: ClaimChange) -> list[str]:
    """Return the touched stacks in short."""
    return [" ".join(f"{name} {version}" for name, version in stack.packages) for stack in found.touched]


def test_the_same_data_touch_nothing(before: Snapshot, tmp_path: Path) -> None:
    """Two equal states of the data differ in no stack."""
    assert change(before, universe(tmp_path, base()), WANTED) == ClaimChange([], 4, [])


CLAIMS = [needs("ipex==2.0", "torch==2.0"), needs("ipex==1.0", "torch==1.0")]


@pytest.mark.parametrize(
    ("instead", "touched", "gone"),
    [
        pytest.param(
            {"torch": on_default("torch", "2.0", "1.5", "1.0")},
            ["torch 1.5"],
            0,
            id="a-release-between-others",
        ),
        pytest.param(
            {"torch": on_default("torch", "2.0", "1.0", builds={"2.0": {"wheels": [wheel(os=("linux",))]}})},
            [],
            0,
            id="wheels-of-another-platform",
        ),
        pytest.param(
            {"torch": on_default("torch", "2.0", "1.0", builds={"2.0": {"wheels": [wheel(glibc="2.28")]}})},
            ["ipex 2.0 torch 2.0", "torch 2.0"],
            0,
            id="wheels-for-another-glibc",
        ),
        pytest.param(
            {"ipex": on_default("ipex", "2.0", "1.0", claims=[*CLAIMS, needs("ipex==1.0", "numpy<2")])},
            ["ipex 1.0 torch 1.0"],
            0,
            id="a-runtime-is-required",
        ),
        pytest.param(
            {"ipex": on_default("ipex", "2.0", "1.0", claims=[*CLAIMS, constrains("ipex==2.0", "torch==2.0")])},
            ["ipex 2.0 torch 2.0"],
            0,
            id="another-rule-between-members",
        ),
        pytest.param(
            {"ipex": on_default("ipex", "2.0", "1.0", claims=[*CLAIMS, verified("ipex==2.0", "torch==2.0")])},
            [],
            0,
            id="a-list-of-what-was-tested",
        ),
        pytest.param(
            {"ipex": on_default("ipex", "2.0", "1.0", claims=[CLAIMS[0], needs("ipex==1.0", "torch==1.0", basis="inferred")])},
            ["ipex 1.0 torch 1.0"],
            0,
            id="stated-becomes-inferred",
        ),
        pytest.param(
            {"ipex": on_default("ipex", "2.0", claims=CLAIMS[:1])},
            [],
            1,
            id="a-release-less",
        ),
        pytest.param(
            {"ipex": on_default("ipex", "2.0", "1.0", claims=[CLAIMS[0], needs("ipex==1.0", "torch==2.0")])},
            ["ipex 1.0 torch 2.0"],
            1,
            id="a-claim-of-something-else",
        ),
    ],
)
def test_only_what_rests_on_a_change_is_touched(
    instead: dict[str, Any], touched: list[str], gone: int, before: Snapshot, tmp_path: Path
) -> None:
    """A stack is touched by what an installer could see of it, and by nothing that the data say of other stacks."""
    found = change(before, universe(tmp_path, base(**instead)), WANTED)
    assert (names(found), len(found.gone)) == (touched, gone)


def test_a_yank_touches(tmp_path: Path) -> None:
    """A build that was withdrawn since touches its stacks."""
    listed = {number: {"wheels": [], "wheels_complete": False} for number in ("2.0", "1.0")}
    torch = on_default("torch", "2.0", "1.0", builds=listed)

    def state(folder: str, **more: Any) -> Any:
        rows = [listing("2.0", **more), listing("1.0")]
        return universe(tmp_path / folder, base(torch=torch), indexes=[index("torch", rows)])

    found = change(state("before"), state("after", yanked=TODAY), WANTED)
    assert names(found) == ["ipex 2.0 torch 2.0", "torch 2.0"]


def test_only_wanted_stacks_are_compared(before: Snapshot, tmp_path: Path) -> None:
    """The filters of a run hold for the comparison too."""
    after = universe(tmp_path, base(torch=on_default("torch", "3.0", "2.0", "1.0")))
    assert not change(before, after, replace(WANTED, products=("ipex",))).touched
    assert names(change(before, after, replace(WANTED, products=("torch",)))) == ["torch 3.0"]


def commit(folder: Path, message: str) -> None:
    """Commit all that is below a folder, in its repository."""
    who = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", folder, "add", "--all", "."], check=True)
    subprocess.run(["git", "-C", folder, *who, "commit", "--quiet", "--allow-empty", "-m", message], check=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose second commit has data, and whose third one has a release more."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    folder = tmp_path / "repository"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    commit(folder, "nothing")
    data_directory(folder / "data", base())
    commit(folder, "data")
    data_directory(folder / "data", base(torch=on_default("torch", "3.0", "2.0", "1.0")))
    commit(folder, "a release")
    return folder


def test_a_commit_to_compare_with(repository: Path, run: Callable[..., Run], tmp_path: Path) -> None:
    """The data of a commit are read from git, whatever is checked out; only stacks that differ are cells."""
    words = ("validate", "--data", str(repository / "data"), "--list", "--tool", "pip")
    since = run(*words, "--changed-since", "HEAD~1")
    assert since.code == 0
    assert {line.split()[3] for line in since.out.splitlines()} == {"torch==3.0"}
    assert "2 changed, 8 unchanged, 0 no longer claimed" in since.err
    assert not run(*words, "--changed-since", "HEAD").out
    older = data_directory(tmp_path / "older", base())
    assert run(*words, "--changed-since", str(older)).out == since.out


@pytest.mark.parametrize(
    ("since", "said"),
    [
        ("no-such-branch", "neither a data directory nor a commit"),
        ("--output=stolen", "neither a data directory nor a commit"),
        ("HEAD~2", "has no data in the place of"),
    ],
)
def test_what_cannot_be_compared_with(since: str, said: str, repository: Path) -> None:
    """A name that git does not know, one that looks like an option, and a commit without data are refused."""
    with pytest.raises(UsageError, match=said), earlier(repository / "data", since):
        pass
    assert not list(repository.rglob("stolen"))


def test_old_data_that_cannot_be_read(repository: Path) -> None:
    """Data that this program no longer reads are an error that names file and commit, never a comparison."""
    (repository / "data" / "products" / "torch.toml").write_text("[product]\nid = 3\n")
    commit(repository, "broken")
    with pytest.raises(DataError) as caught, earlier(repository / "data", "HEAD"):
        pass
    assert "HEAD/products/torch.toml" in str(caught.value)
    assert "without --changed-since" in str(caught.value)


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("validate*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_use_the_options_that_there_are(path: Path) -> None:
    """Every command of a ready workflow is one that the program takes."""
    text = re.sub(r"\$\{\{[^}]*\}\}|\$\([^)]*\)", "1", path.read_text(encoding="utf-8"))
    commands = re.findall(r"compatkb (validate|lint)([^\n]*(?:\n +--[^\n]*)*)", text.partition("jobs:")[2])
    assert commands
    for name, words in commands:
        assert parse([name, *words.split()])["command"] == name
