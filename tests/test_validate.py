"""Validation: cells, evidence that survives kills, an index that real pip and uv ask."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import TODAY, breaks, build, constrains, index, listing, needs, product, release, universe
from loopback import Index, serve
from validation import HERE, with_own_pip

from compatkb.errors import DataError, UnavailableError
from compatkb.schema import Level, Observation, Outcome
from compatkb.validate import installers as pip
from compatkb.validate.cell import RunContext, ValidationCell, cell_of
from compatkb.validate.evidence import Journal, add_evidence, is_fresh, merged, read_lines, text_of
from compatkb.validate.limits import find_uv
from compatkb.validate.plan import ClaimPlan, PlanScope
from compatkb.validate.runner import Threads, run
from compatkb.validate.session import ValidationOptions, ValidationReport, check_published, choose, contradicts, merge
from compatkb.validate.targets import fits, this_platform


def cells(count: int) -> list[ValidationCell]:
    """Return made-up cells."""
    return [ValidationCell(Level.RESOLVE, "pip", (("torch", f"{n}.0"),), "3.11") for n in range(count)]


def accept(cell: ValidationCell, context: RunContext) -> Observation:
    """A check that finds everything in order, after a moment."""
    time.sleep(0.004)
    return cell.observed(Outcome.OK, context.today, digest=cell.id)


def context(folder: Path, **more: Any) -> RunContext:
    """Return a context below a folder."""
    return RunContext(TODAY, folder / "work", folder / "cache", folder / "data", interpreters={HERE: sys.executable}, **more)


# -- running --------------------------------------------------------------------------------------------------------

COUNT = 700
RUN = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_validate import COUNT, accept, cells, context
from compatkb.validate.evidence import text_of
from compatkb.validate.evidence import Journal
from compatkb.validate.runner import Threads, run
folder = Path(sys.argv[1])
with Journal(folder / "journal.jsonl") as journal:
    seen = run(cells(COUNT), accept, context(folder), Threads(3), journal)
    (folder / "out.jsonl").write_text(text_of(seen))
"""


@pytest.mark.long
@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.soak)])
def test_a_kill_at_any_moment_loses_and_doubles_nothing(kills: int, tmp_path: Path) -> None:
    """After kills at random moments a run ends with the bytes of one left alone, each cell asked once."""
    command = [sys.executable, "-c", RUN, str(tmp_path), str(Path(__file__).parent)]
    journal = tmp_path / "journal.jsonl"
    chance = random.Random(7)
    for _ in range(kills):
        written = size_of(journal)
        with subprocess.Popen(command) as process:
            while process.poll() is None and size_of(journal) == written:
                time.sleep(0.001)
            time.sleep(chance.random() * 0.05)
            process.kill()
        assert process.returncode == -signal.SIGKILL, "the run was over before it could be killed"
    subprocess.run(command, check=True)
    assert (tmp_path / "out.jsonl").read_text() == text_of([accept(c, context(tmp_path)) for c in sorted_cells(COUNT)])
    assert len(read_lines(journal)) == COUNT


def size_of(path: Path) -> int:
    """Return how many bytes a file has, 0 where there is none."""
    return path.stat().st_size if path.exists() else 0


def sorted_cells(count: int) -> list[ValidationCell]:
    """Return made-up cells in the order of their ids."""
    return sorted(cells(count), key=lambda cell: cell.id)


def test_a_line_that_was_cut_off_is_asked_again(tmp_path: Path) -> None:
    """A journal whose last line is half there goes on from the line before."""
    path = tmp_path / "journal.jsonl"
    whole = text_of([accept(cell, context(tmp_path)) for cell in cells(2)])
    path.write_text(whole + whole[:40])
    with Journal(path) as journal:
        assert len(journal.done) == 2
        assert len(run(cells(3), accept, context(tmp_path), Threads(1), journal)) == 3
    assert len(read_lines(path)) == 3


def test_a_budget_begins_nothing_after_its_end(tmp_path: Path) -> None:
    """What was seen until then is kept and goes on from there; without a minute left only that is returned."""
    with Journal(tmp_path / "journal.jsonl") as journal:
        run(cells(2), accept, context(tmp_path), Threads(1), journal)
    with Journal(tmp_path / "journal.jsonl") as journal:
        assert len(run(cells(5), accept, context(tmp_path), Threads(2), journal, minutes=0)) == 2
        assert len(run(cells(5), accept, context(tmp_path), Threads(2), journal, minutes=5)) == 5


def test_damage_in_the_middle_is_an_error(tmp_path: Path) -> None:
    """A line that was finished and cannot be read is no accident to pass over."""
    path = tmp_path / "journal.jsonl"
    path.write_text("{}\n")
    with pytest.raises(DataError, match=r"journal.jsonl:1"):
        read_lines(path)


def test_two_runs_do_not_share_a_journal(tmp_path: Path) -> None:
    """The second run of one folder ends with a clear word."""
    with Journal(tmp_path / "journal.jsonl"), pytest.raises(UnavailableError, match="another run"):
        Journal(tmp_path / "journal.jsonl").__enter__()


@pytest.mark.parametrize("parts", [2, 5])
def test_shards_are_disjoint_and_complete(parts: int, tmp_path: Path) -> None:
    """Merged shards are the same bytes as one run, whatever their order."""
    every = cells(60)
    shards = [[c for c in every if c.in_shard(n, parts)] for n in range(1, parts + 1)]
    assert sorted(c.id for shard in shards for c in shard) == sorted(c.id for c in every)
    assert all(shards)
    files = []
    for number, shard in enumerate(shards):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(text_of([accept(cell, context(tmp_path)) for cell in shard]))
        files.append(path)
    data = tmp_path / "data"
    merge(data, files[::-1])
    assert (data / "evidence" / "resolve.jsonl").read_text() == text_of(
        [accept(c, context(tmp_path)) for c in sorted_cells(60)]
    )


def test_a_check_that_breaks_ends_no_run(tmp_path: Path) -> None:
    """What goes wrong in a check itself is `not-checked`, with the reason, and the others go on."""

    def broken(cell: ValidationCell, own: RunContext) -> Observation:
        if cell.packages[0][1] == "1.0":
            raise RuntimeError("out of luck")
        return accept(cell, own)

    with Journal(tmp_path / "journal.jsonl") as journal:
        seen = run(cells(3), broken, context(tmp_path), Threads(2), journal)
    assert [o.outcome for o in seen] == [Outcome.OK, Outcome.NOT_CHECKED, Outcome.OK]
    assert "out of luck" in seen[1].detail


# -- evidence -------------------------------------------------------------------------------------------------------


def observed(outcome: Outcome, day: date = TODAY, **more: Any) -> Observation:
    """Return an observation of one question."""
    return cells(1)[0].observed(outcome, day, "because" if outcome is Outcome.NOT_CHECKED else "", **more)


def test_newer_evidence_takes_the_place_of_older() -> None:
    """Of one question the newest answer stays, in whatever order they come."""
    older, newer = observed(Outcome.OK, TODAY - timedelta(9)), observed(Outcome.CONFLICT)
    assert merged([newer], [older]) == merged([older], [newer]) == [newer]


def test_what_was_not_checked_replaces_nothing() -> None:
    """An unreachable index is no news."""
    older, newer = observed(Outcome.OK, TODAY - timedelta(9)), observed(Outcome.NOT_CHECKED)
    assert merged([older], [newer]) == [older]
    assert merged([], [newer]) == [newer]


@pytest.mark.parametrize(("words", "kept"), [("because", True), ("for another reason", False)])
def test_a_culprit_stays_with_its_failure(words: str, *, kept: bool) -> None:
    """Seen again in the same words, a failure keeps the claim that somebody found behind it; other words want another look."""
    cell = cells(1)[0]
    older = cell.observed(Outcome.CONFLICT, TODAY - timedelta(9), "because", culprit="gate")
    (seen,) = merged([older], [cell.observed(Outcome.CONFLICT, TODAY, words)])
    assert (seen.checked, seen.culprit) == (TODAY, "gate" if kept else None)


def test_only_what_was_checked_is_fresh() -> None:
    """What was not checked is asked again, and what is older than the age that is asked for."""
    assert is_fresh(observed(Outcome.CONFLICT), TODAY, timedelta(0))
    assert not is_fresh(observed(Outcome.OK, TODAY - timedelta(31)), TODAY, timedelta(30))
    assert is_fresh(observed(Outcome.OK, TODAY - timedelta(310)), TODAY, None)
    assert not is_fresh(observed(Outcome.NOT_CHECKED), TODAY, None)


def test_evidence_is_written_once(tmp_path: Path) -> None:
    """Writing the same evidence again changes no file; what is read back is what was written."""
    found = [observed(Outcome.OK)]
    count, changed = add_evidence(tmp_path, found)
    assert (count, [path.name for path in changed]) == (1, ["resolve.jsonl"])
    assert add_evidence(tmp_path, found) == (1, [])
    assert read_lines(tmp_path / "evidence" / "resolve.jsonl") == found
    assert cell_of(found[0]) == replace(cells(1)[0], claimed="works")


def test_runs_side_by_side_lose_nothing_of_each_other(tmp_path: Path) -> None:
    """What is added at the same time from many sides is all there in the end."""
    found = [cell.observed(Outcome.OK, TODAY, "") for cell in cells(48)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda observation: add_evidence(tmp_path, [observation]), found))
    assert read_lines(tmp_path / "evidence" / "resolve.jsonl") == merged(found)


@pytest.mark.parametrize(
    ("claim", "level", "outcome", "against"),
    [
        ("works", Level.RESOLVE, Outcome.CONFLICT, True),
        ("likely", Level.PUBLISHED, Outcome.YANKED, False),
        ("works", Level.IMPORT, Outcome.FAILED_IMPORT, True),
        ("works", Level.IMPORT, Outcome.NOT_CHECKED, False),
        ("does-not-work", Level.RESOLVE, Outcome.OK, False),
        ("does-not-work", Level.RUN, Outcome.OK, True),
        ("does-not-work", Level.IMPORT, Outcome.FAILED_IMPORT, False),
    ],
)
def test_what_speaks_against_the_data(claim: str, level: Level, outcome: Outcome, *, against: bool) -> None:
    """That an installer accepts what is denied is no contradiction; that it loads, is."""
    cell = ValidationCell(level, "pip", (("torch", "1.0"),), "3.11", claimed=claim)
    seen = cell.observed(outcome, TODAY, "because")
    assert contradicts(cell, seen) is against
    assert ValidationReport(((cell, seen),)).exit_code == (1 if against else 5 if outcome is Outcome.NOT_CHECKED else 0)


# -- installers -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served() -> Iterator[Index]:
    """An index with small wheels; `silent` is a distribution whose page it does not give."""
    with serve() as index:
        index.add("torch", "2.0.0", "", requires=("helper>=1", "extra[fast]==1.0"))
        index.yanked[index.add("torch", "1.0.0", "", requires=("helper<1",))] = "for security"
        index.add("torch", "3.0.0", "", tag="cp399-cp399-win_amd64")
        index.add("torch", "4.0.0", "", requires=("silent",))
        index.add("helper", "1.0", "")
        index.add("helper", "0.5", "")
        index.add("extra", "1.0", "", requires=("gone==9; extra == 'fast'",), headers=("Provides-Extra: fast",))
        index.add("quick", "1.0", "", requires=("helper==1.0",))
        index.add("liar", "2.0", "", metadata_version="9.9")
        index.silent.add("silent")
        yield index


@pytest.fixture
def own(tmp_path: Path, served: Index) -> RunContext:
    """A context over that index."""
    return with_own_pip(context(tmp_path, indexes={"default": f"{served.url}/simple/"}, seconds=60))


def cell(*packages: str, tool: str = "pip", python: str = HERE) -> ValidationCell:
    """Return a cell of pins such as `torch==2.0.0`."""
    pins = tuple(sorted((name, version) for name, _, version in (text.partition("==") for text in packages)))
    level = Level.PUBLISHED if tool == "index" else Level.RESOLVE
    return ValidationCell(level, tool, pins, python, this_platform())


ASKED = {
    "ok": (["quick==1.0", "helper==1.0"], Outcome.OK, ""),
    "conflict": (["quick==1.0", "helper==0.5"], Outcome.CONFLICT, "helper"),
    "yanked-exact-pin": (["torch==1.0.0", "helper==0.5"], Outcome.OK, ""),
    "other-platform": (["torch==3.0.0"], Outcome.NOT_FOUND, "torch"),
    "never-published": (["torch==7.0.0"], Outcome.NOT_FOUND, "torch"),
    "an-extra-that-cannot-be-had": (["torch==2.0.0"], Outcome.NOT_FOUND, "gone"),
    "a-page-that-cannot-be-read": (["torch==4.0.0"], Outcome.NOT_CHECKED, "403"),
}
QUICK = ("conflict",)
"""What every run asks pip too, which takes longer than uv."""


@pytest.mark.parametrize(
    ("packages", "outcome", "said", "tool"),
    [
        pytest.param(*asked, tool, id=f"{name}-{tool}", marks=() if tool == "uv" or name in QUICK else pytest.mark.long)
        for name, asked in ASKED.items()
        for tool in ("pip", "uv")
    ],
)
def test_real_installers_ask_an_index(packages: list[str], outcome: Outcome, said: str, tool: str, own: RunContext) -> None:
    """Real pip and uv resolve over pages and metadata; a page that is not given settles nothing."""
    if tool == "uv" and find_uv() is None:
        pytest.skip("uv is not installed")
    seen = (pip.check if tool == "pip" else pip.check_uv)(cell(*packages, tool=tool), own)
    assert (seen.outcome, said in seen.detail) == (outcome, True), seen.detail
    assert bool(seen.digest) is (outcome is Outcome.OK)


@pytest.mark.long
def test_pip_and_uv_find_the_same_pins(own: RunContext) -> None:
    """The digests of two independent resolutions of one cell are equal."""
    if find_uv() is None:
        pytest.skip("uv is not installed")
    one, other = pip.check(cell("quick==1.0"), own), pip.check_uv(cell("quick==1.0", tool="uv"), own)
    assert one.digest == other.digest


@pytest.mark.long
@pytest.mark.parametrize("tool", ["pip", "uv"])
def test_metadata_that_lie_give_an_outcome(tool: str, own: RunContext) -> None:
    """A wheel whose metadata name another version is refused by the installer and never counts as resolved."""
    if tool == "uv" and find_uv() is None:
        pytest.skip("uv is not installed")
    seen = (pip.check if tool == "pip" else pip.check_uv)(cell("liar==2.0", tool=tool), own)
    assert seen.outcome is not Outcome.OK


def test_a_client_is_imported_when_one_is_asked() -> None:
    """What reads indexes and libraries is an extra: planning and merging evidence need neither."""
    code = "import sys, compatkb.validate.session; print([name for name in sys.argv[1:] if name in sys.modules])"
    words = [sys.executable, "-c", code, "requests", "pypi_simple", "elftools", "compatkb.refresh"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_no_interpreter_is_not_checked(own: RunContext) -> None:
    """Markers are judged with the interpreter that runs pip, so without one nothing is said; nor for another platform."""
    assert "no interpreter 3.99" in pip.check(cell("quick==1.0", python="3.99"), own).detail
    other = pip.check(replace(cell("quick==1.0"), platform="windows-x86_64"), own)
    assert other.outcome is Outcome.NOT_CHECKED


@pytest.mark.parametrize(
    ("packages", "outcome"),
    [
        (["quick==1.0", "helper==1.0"], Outcome.OK),
        (["torch==1.0.0"], Outcome.YANKED),
        (["torch==3.0.0"], Outcome.NOT_FOUND),
        (["gone==1.0"], Outcome.NOT_FOUND),
        (["silent==1.0"], Outcome.NOT_CHECKED),
    ],
)
def test_published(packages: list[str], outcome: Outcome, own: RunContext) -> None:
    """A build is published where a wheel of its version fits the Python and the platform."""
    assert check_published(cell(*packages, tool="index"), own).outcome is outcome


@pytest.mark.parametrize(
    ("file", "python", "platform", "good"),
    [
        ("t-1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "3.11", "linux-x86_64", True),
        ("t-1.0-cp311-cp311-manylinux1_x86_64.whl", "3.11", "linux-x86_64", True),
        ("t-1.0-cp311-cp311-linux_x86_64.whl", "3.11", "linux-x86_64", True),
        ("t-1.0-cp311-cp311-win_amd64.whl", "3.11", "linux-x86_64", False),
        ("t-1.0-cp311-cp311-win_amd64.whl", "3.11", "windows-x86_64", True),
        ("t-1.0-cp313-cp313t-win_amd64.whl", "3.13", "windows-x86_64", False),
        ("t-1.0-cp313-cp313t-win_amd64.whl", "3.13t", "windows-x86_64", True),
        ("t-1.0-cp37-abi3-manylinux_2_28_x86_64.whl", "3.12", "linux-x86_64", True),
        ("t-1.0-cp37-abi3-manylinux_2_28_x86_64.whl", "3.13t", "linux-x86_64", False),
        ("t-1.0-cp37-cp37m-manylinux2014_x86_64.whl", "3.7", "linux-x86_64", True),
        ("t-1.0-cp311-cp311-macosx_11_0_arm64.whl", "3.11", "macos-arm64", True),
        ("t-1.0-cp311-cp311-macosx_10_13_x86_64.whl", "3.11", "macos-x86_64", True),
        ("t-1.0-py3-none-any.whl", "3.13t", "macos-arm64", True),
        ("no wheel", "3.11", "linux-x86_64", False),
    ],
)
def test_tags(file: str, python: str, platform: str, *, good: bool) -> None:
    """A wheel fits by its tags, as installers judge them (PEP 425, 600)."""
    assert fits(file, python, platform) is good


# -- the plan -------------------------------------------------------------------------------------------------------


def test_plan_has_what_is_claimed_and_neighbours_of_it(tmp_path: Path) -> None:
    """Claimed are stacks that works or are likely, with companions; denied are pairs one release beside those that go."""

    def versions(name: str, *numbers: str, **more: Any) -> dict[str, Any]:
        made = [release(n, builds=[build(n, channels=["default"], devices=["cpu"])]) for n in numbers]
        return product(name, distribution=f"{name}-dist", releases=made, **more)

    facts = universe(
        tmp_path,
        [
            versions("torch", "3.0", "2.0", "1.0"),
            versions("ipex", "2.0", claims=[needs("ipex==2.0", "torch==2.0")]),
            versions("vision", "2.0", role="companion", claims=[constrains("vision==2.0", "torch==2.0")]),
            versions("far", "1.0", claims=[breaks("far==1.0", "torch>=1.0")]),
        ],
    )
    wanted = PlanScope(TODAY, platform="linux-x86_64", pythons=("3.11",))
    found = {tuple(f"{n}=={v}" for n, v in c.packages): c.verdict for c in ClaimPlan(facts, wanted).claimed()}
    assert found == {
        ("torch-dist==1.0",): "works",
        ("torch-dist==2.0", "vision-dist==2.0"): "works",
        ("torch-dist==3.0",): "works",
        ("ipex-dist==2.0", "torch-dist==2.0", "vision-dist==2.0"): "works",
    }
    denied = {tuple(f"{n}=={v}" for n, v in c.packages) for c in ClaimPlan(facts, replace(wanted, denied=True)).claimed()}
    assert denied == {
        ("ipex-dist==2.0", "torch-dist==1.0"),
        ("ipex-dist==2.0", "torch-dist==3.0"),
        ("torch-dist==1.0", "vision-dist==2.0"),
        ("torch-dist==3.0", "vision-dist==2.0"),
    }
    cells = choose(facts, ValidationOptions(wanted, (Level.PUBLISHED, Level.RESOLVE)), [])
    assert len(cells) == 4 * 3
    known = [c.observed(Outcome.OK, TODAY) for c in cells[:5]]
    assert len(choose(facts, ValidationOptions(wanted, (Level.PUBLISHED, Level.RESOLVE)), known)) == 7


def test_what_may_be_wrong_is_asked_first(tmp_path: Path) -> None:
    """A build that was yanked since it was asked, then the newest, and of what came out on one day what was never asked."""
    days = {"1.0": 3, "2.0": 3, "3.0": 1, "4.0": 2}
    made = [release(n, builds=[build(n, channels=["default"], devices=["cpu"])], on=date(2026, 1, d)) for n, d in days.items()]
    listed = index("torch-dist", [listing(n, yanked=date(2026, 2, 2) if n == "3.0" else None) for n in days])
    facts = universe(tmp_path, [product("torch", distribution="torch-dist", releases=made)], indexes=[listed])
    options = ValidationOptions(PlanScope(TODAY, pythons=("3.11",)), by_risk=True, again=True, tools=("pip",))
    cells = {dict(cell.packages)["torch-dist"]: cell for cell in choose(facts, options, [])}
    seen = [cells[number].observed(Outcome.OK, date(2026, 2, 1)) for number in ("1.0", "3.0")]
    ordered = [dict(cell.packages)["torch-dist"] for cell in choose(facts, options, seen)]
    assert ordered == ["3.0", "2.0", "1.0", "4.0"]
