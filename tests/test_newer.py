"""What is newer than the data: nothing is said of it, no command calls it missing, and `check` does not fail for it."""

import json
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Run, clock, parted

from compatkb import KnowledgeBase, NewerError, UsageError
from compatkb.authoring.build_knowledge import resolve
from compatkb.authoring.loader import Files
from compatkb.check import check
from compatkb.check.config import Settings
from compatkb.check.document import CheckContext, TextDocument
from compatkb.core.findings import Finding, Severity
from compatkb.core.versions import Scheme, admits, parse
from compatkb.request.lookup import is_newer, newest_known
from compatkb.schema import ProductFile
from compatkb.store.compiler.compile import compile_snapshot
from compatkb.store.reader import Snapshot
from compatkb.web.responses import Api

CASES = sorted((Path(__file__).parent / "cases" / "check").glob("*.toml"))
MOST = 3
"""So many of the newest releases of each product the younger data lack."""


def without_newest(file: ProductFile) -> ProductFile:
    """Return a product as data of an earlier day would have it: without its newest releases, its lists still growing."""
    if file.product.scheme is not Scheme.PEP440:
        return file
    versions = sorted((release.version for release in file.release), key=lambda version: parse(Scheme.PEP440, version))
    if len(versions) <= MOST:  # of a product that was given up early nothing new can come
        return file
    gone = set(versions[-MOST:])
    lists = []
    for scope in file.product.complete:
        spec = scope.of.removeprefix(file.product.id)
        was_open = any(admits(Scheme.PEP440, spec, version) for version in gone)
        lists.append(scope.model_copy(update={"ended": False}) if was_open else scope)
    head = file.product.model_copy(update={"complete": tuple(lists)})
    kept = tuple(release for release in file.release if release.version not in gone)
    return file.model_copy(update={"product": head, "release": kept})


@pytest.fixture(scope="module")
def older(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """The shipped data without the three newest releases of every package, of which the index files say nothing either."""
    products = tuple(map(without_newest, files.products))
    gone = {
        file.product.distribution: {release.version for release in file.release}
        - {release.version for release in kept.release}
        for file, kept in zip(files.products, products, strict=True)
    }
    index = tuple(
        one.model_copy(update={"release": tuple(r for r in one.release if r.version not in gone.get(one.distribution, ()))})
        for one in files.index
    )
    knowledge, problems = resolve(replace(files, products=products, index=index))
    assert knowledge is not None
    assert all("names no known release" in str(problem) for problem in problems)  # those that went
    target = tmp_path_factory.mktemp("older") / "kb.sqlite"
    compile_snapshot(knowledge, target, "older")
    return Snapshot(str(target))


@pytest.fixture(scope="module")
def older_base(older: Snapshot) -> KnowledgeBase:
    """The Python interface to these data."""
    base = KnowledgeBase(Path(__file__).parent.parent / "data")
    base.facts = older
    return base


def errors(case: dict, facts: Snapshot) -> dict[tuple[str, int, str], set[str]]:
    """Return the errors that a check finds in the files of a case, with the parts of what each says."""
    found = [f for f in findings(case["files"], facts, case) if f.level is Severity.ERROR]
    return {(f.path, f.line, f.rule): set(f.message.split("; ")) for f in found}


def findings(files: dict[str, str], facts: Snapshot, case: dict) -> tuple[Finding, ...]:
    """Return what a check finds in some files."""
    documents = [TextDocument(path, text) for path, text in files.items()]
    levels = {rule: Severity(level) for rule, level in case.get("levels", {}).items()}
    return check(documents, CheckContext(facts, clock(case.get("as-of"))), Settings(levels=levels)).findings


@pytest.mark.long
@pytest.mark.parametrize("path", parted(CASES, CASES[::12]), ids=lambda path: path.stem)
def test_no_error_appears_when_data_lack_what_is_new(path: Path, facts: Snapshot, older: Snapshot) -> None:
    """Whoever pins what came out since the data were read gets no error for that, whatever the files are."""
    case = tomllib.loads(path.read_text("utf-8"))
    known, told = errors(case, facts), errors(case, older)
    said = set().union(*known.values())  # a broken environment is told at the pin that moves first, which can be another one
    assert {place for place, parts in told.items() if place not in known and not parts <= said} == set()


def newest(product: str, facts: Snapshot, count: int = MOST) -> list[str]:
    """Return the newest releases of a product that can be installed, by the order of their versions."""
    releases = {e.release for e in facts.elements(product) if e.installable and e.channels}
    return sorted(releases, key=lambda version: parse(Scheme.PEP440, version))[-count:]


@pytest.mark.long
@pytest.mark.parametrize("product", ["torch", "torchvision", "transformers", "vllm", "accelerate", "triton-xpu", "openvino"])
def test_pins_of_what_is_new_are_told_and_do_not_fail(product: str, facts: Snapshot, older: Snapshot) -> None:
    """Each of the newest releases, pinned exactly, is a warning where the data lack it; it names their day and newest."""
    name = facts.products[product].distribution or product
    for version in newest(product, facts):
        (finding,) = findings({"requirements.txt": f"{name}=={version}\n"}, older, {})
        assert (finding.rule, finding.level) == ("pin-newer", Severity.WARNING)
        assert f"{version} is newer than these data ({older.meta['data_date']})" in finding.message
        assert str(newest_known(older, product)) in finding.message


@pytest.mark.long
@pytest.mark.parametrize("product", ["torch", "torchvision", "transformers", "vllm", "numpy", "huggingface-hub"])
def test_answers_about_what_is_new_are_unknown(product: str, facts: Snapshot, older_base: KnowledgeBase) -> None:
    """An answer about a release that the data lack is `unknown` and says so, unless what is known of others denies it."""
    version = newest(product, facts, 1)[0] if product not in ("numpy", "huggingface-hub") else "9999.0"
    answer = older_base.explain(f"{product}=={version}", *(["torch"] if product != "torch" else []))
    assert answer.verdict == "unknown"
    assert not any(stack.level < 2 for stack in answer.stacks)


def test_every_range_above_the_data_is_newer(base: KnowledgeBase) -> None:
    """A range that only newer versions can fit is answered as `unknown` too; one that can fit nothing is an error."""
    for text in ("torch>=9999", "torch>2.15.0,<3", "torch~=9999.1"):
        assert base.resolve(words=(text,)).verdict == "unknown"
    with pytest.raises(UsageError, match="no known version fits"):
        base.resolve(words=("torch>2.13.0,<2.14",))


def test_absence_denies_below_the_newest_and_where_a_list_ended(base: KnowledgeBase) -> None:
    """A gap below the newest release is one; what has ended for good has nothing above it either."""
    for product, version, expected in (
        ("torch", "9999.0", True),
        ("torch", "2.15.1", True),
        ("torch", "2.13.9", False),
        ("ipex", "9999.0", False),
        ("oneccl-bind-pt", "9999.0", False),
        ("transformers", "9999.0", True),
        ("hardware", "b9999", False),
        ("torch", "no version", False),
    ):
        assert is_newer(base.facts, base.product(product), version) is expected, (product, version)


def test_what_a_release_says_of_newer_ones_decides(base: KnowledgeBase) -> None:
    """What a published release excludes it excludes for ever, also of versions that the data do not know."""
    assert base.explain("torch==2.2.0", "numpy==9999.0").verdict == "does-not-work"
    assert base.explain("torch==2.14.1", "numpy==9999.0").verdict == "unknown"


def test_commands_say_newer_and_never_missing(run: Callable[..., Run]) -> None:
    """No command calls what is newer than the data wrong usage, or says that it is not there."""
    for words in (
        ("show", "transformers", "9999.0"),
        ("eol", "torch", "9999.0"),
        ("resolve", "xpu", "--python", "3.99"),
        ("explain", "torch==9999.0", "xpu"),
        ("resolve", "--torch", "9999.0", "--device", "xpu"),
        ("resolve", "torch==9999.0", "xpu", "--format", "requirements"),
    ):
        done = run(*words)
        assert done.code == 7, words
        assert "newer than these data" in done.out + done.err
        assert "has no version" not in done.out + done.err


def test_the_api_tells_newer_from_what_cannot_be_read(facts: Snapshot) -> None:
    """A call about what is newer finds nothing, and says why; it is no question that cannot be read."""
    api = Api(facts, clock())
    for call, parameters in (("show", [("product", "torch"), ("version", "9999.0")]), ("resolve", [("python", "3.99")])):
        told = json.loads(api.respond(call, parameters).text)
        assert (told["status"], told["title"]) == (404, "Newer than the data")
        assert "newer than these data" in told["detail"]


def test_places_that_are_newer_are_told_apart(base: KnowledgeBase) -> None:
    """A Python that the data do not know yet is no misspelling: the error is of a kind of its own."""
    with pytest.raises(NewerError, match=r"Python 3\.99 is newer than these data"):
        base.resolve({"python": "3.99"}, device="xpu")


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        (("torch==2.16.0", "torchvision==0.24.0"), "does-not-work"),
        (("torch==2.16.0+xpu", "torchvision==0.24.0+xpu"), "does-not-work"),
        (("torch==2.16.0", "torchvision==0.31.0"), "unknown"),
        (("ipex==2.12.0",), "does-not-work"),
        (("ipex==2.12.0", "torch==2.12.0"), "does-not-work"),
        (("oneccl-bind-pt==2.9.0", "torch==2.9.0"), "does-not-work"),
    ],
)
def test_a_fixed_release_and_an_ended_list_decide(words: tuple[str, ...], verdict: str, base: KnowledgeBase) -> None:
    """What a release that is known demands excludes a newer one; of a product that has ended no newer one ever comes."""
    assert base.explain(*words).verdict == verdict


def test_a_newer_build_is_for_the_device_of_its_label(base: KnowledgeBase) -> None:
    """Who pins a newer `+xpu` build gets ways out for Intel GPUs."""
    answer = base.explain("torch==2.99.0+xpu")
    assert answer.nearest
    assert {near.stack.device for near in answer.nearest} == {"xpu"}
