"""What a request names of the machine: drivers that nobody documents, several GPUs, toolkits, and what cannot be found."""

from collections.abc import Callable

import pytest
from conftest import Run

from compatkb import KnowledgeBase, Verdict
from compatkb.engine.answer import resolve
from compatkb.engine.budget import Budget
from compatkb.engine.problem import problems_of
from compatkb.engine.search import Aim, Search
from compatkb.errors import UsageError
from compatkb.output.presenter import present


@pytest.mark.parametrize(
    ("words", "right"),
    [
        pytest.param(("torch==2.8.0", "hardware==lunar-lake", "windows-driver==32.0.101.6881"), Verdict.LIKELY, id="listed"),
        pytest.param(("torch==2.8.0", "hardware==lunar-lake", "windows-driver==32.0.101.6559"), Verdict.LIKELY, id="unlisted"),
        pytest.param(("hardware==lunar-lake", "windows-driver==32.0.101.6881"), Verdict.LIKELY, id="torch-is-free"),
        pytest.param(
            ("torch==2.8.0", "hardware==lunar-lake", "os==windows11"), Verdict.WORKS_WITH_WARNINGS, id="no-driver-named"
        ),
    ],
)
def test_a_driver_that_nobody_documents_is_no_more_than_likely(
    base: KnowledgeBase, words: tuple[str, ...], right: Verdict
) -> None:
    """What the request names of the machine is an edge that matters, whatever else is free."""
    answer = base.explain(*words)
    assert answer.verdict is right
    told = [point.what for point in present(base.facts, answer).stacks[0].evidence.open_points]
    assert any("Windows driver" in what for what in told) is (right is Verdict.LIKELY)


def test_a_driver_that_the_hardware_demands_is_documented_by_that(base: KnowledgeBase) -> None:
    """A compute runtime that meets the least that a GPU needs speaks for itself."""
    answer = base.explain("torch==2.14.0", "hardware==arc-b", "os==ubuntu24.04", "compute-runtime==26.22", "python==3.12")
    assert answer.verdict is Verdict.WORKS


def test_a_driver_of_a_gpu_means_its_device_and_its_system(base: KnowledgeBase) -> None:
    """A question about a driver is none about the CPU; a driver for Windows is not for a Linux without it."""
    best = base.explain("gpu-driver==32.0.101.6559").stacks[0]
    assert (best.device, best.os) == ("xpu", ("windows",))
    assert base.explain("torch==2.8.0", "windows-driver==32.0.101.6559", device="cpu").stacks[0].device == "cpu"
    assert not base.explain("torch==2.8.0", "os==ubuntu24.04", "windows-driver==32.0.101.6559").verdict.is_usable


@pytest.mark.parametrize(
    ("number", "part", "version"),
    [
        ("101.5590", "windows-driver", "31.0.101.5590"),
        ("101.7000", "windows-driver", "32.0.101.7000"),
        ("23.43.27642", "compute-runtime", "23.43.27642"),
        ("1146.78", "gpu-driver", "1146.78"),
    ],
)
def test_a_number_of_a_driver_is_read_by_its_form(base: KnowledgeBase, number: str, part: str, version: str) -> None:
    """Numbers of Windows drivers, the last two groups too, and of compute runtimes are compared, and mean the GPU."""
    request = base.request({"gpu-driver": number})
    (pin,) = request.pins
    assert (pin.product, pin.text.rpartition("==")[2]) == (part, version)
    assert request.devices == ("xpu",)
    with pytest.raises(UsageError, match="nearest"):
        base.request({"gpu-driver": "900.5"})


def test_an_answer_for_the_processor_tells_of_its_graphics(base: KnowledgeBase) -> None:
    """Hardware with both is told apart: the part that the verdict is for, and what is known of the other one."""

    def shown(*words: str) -> tuple[str, list[str]]:
        view = present(base.facts, base.resolve(words=list(words)))
        return view.headline, [text for row in view.rows for text in row.texts if text.startswith("its graphics")]

    headline, graphics = shown("core ultra 7 155u", "windows11")
    assert "on the CPU of core ultra 7 155u" in headline
    assert "Intel Graphics" in graphics[0]
    assert shown("core ultra 7 155u", "windows11", "cpu")[1] == []
    assert shown("core ultra 7 155h", "windows11")[1] == []
    assert "no table of tested hardware" in " ".join(
        point.sentence for point in present(base.facts, base.resolve(words=["N100"])).stacks[0].evidence.open_points
    )


@pytest.mark.parametrize("words", [("macbook", "m3"), ("apple m2 pro",), ("m4",)])
def test_other_hardware_is_named_as_such(base: KnowledgeBase, words: tuple[str, ...]) -> None:
    """A chip of Apple is no unknown word: it is outside of what is covered."""
    with pytest.raises(UsageError, match="compatkb covers Intel GPUs and CPUs"):
        base.request({}, list(words))
    assert base.resolve(words=["macbook"]).stacks[0].device == "cpu"


def test_what_has_ended_is_a_way_only_where_it_is_named(base: KnowledgeBase) -> None:
    """Who did not ask for IPEX is not sent to it while anything else serves."""

    def ways(*words: str) -> list[bool]:
        return ["ipex" in way.stack.held for way in present(base.facts, base.resolve(words=list(words))).ways]

    assert ways("B580", "windows11", "py3.15") == [False]
    assert any(ways("torch==2.15", "ipex==2.3.110+xpu"))


def test_a_release_after_the_last_names_the_last(base: KnowledgeBase) -> None:
    """What is waited for in vain, and what serves in its place; what may still come has no such word."""

    def said(word: str) -> str:
        return present(base.facts, base.resolve(words=[word])).causes[0].message

    assert "torchaudio 2.11.1 is its last release, for torch 2.11 and newer" in said("torchaudio==2.12")
    assert "last release" not in said("torchvision==0.99")


@pytest.mark.parametrize(
    ("hardware", "needs", "release"),
    [("b60", ("fsdp",), "2.12.1"), ("b60", ("ddp",), "2.12.1"), ("b60", (), "2.14.1"), ("b580", ("fsdp",), "2.14.0")],
)
def test_a_feature_of_several_gpus_avoids_their_hang(
    base: KnowledgeBase, hardware: str, needs: tuple[str, ...], release: str
) -> None:
    """Who uses several GPUs has an issue that only several have, as far as a release brings the runtime that has it."""
    answer = base.resolve({}, [f"hardware=={hardware}", "os==ubuntu24.04", "python==3.12"], needs=needs)
    assert next(e.release for e in answer.stacks[0].packages if e.product == "torch") == release


def test_a_part_named_without_a_version_can_be_left_out(base: KnowledgeBase) -> None:
    """A toolkit that nobody documents leads to the same question without it, first; one that is documented stays."""
    ways = present(base.facts, base.resolve({"torch": "2.14"}, ["oneapi"], device="xpu")).ways
    assert ways[0].title.startswith("without oneAPI: torch 2.14")
    pinned = present(base.facts, base.resolve({"oneapi": "2026.1"}, [], device="xpu")).ways
    assert pinned[0].title.startswith("without oneAPI: torch 2.14")
    assert base.resolve({"ipex": "2.5.10+xpu"}, ["oneapi"], device="xpu").verdict.is_usable


def test_what_nothing_vouches_for_is_dropped_before_the_search(base: KnowledgeBase) -> None:
    """Of a package that no candidate of another one speaks for on a platform, none is tried beside all the others."""
    words = ["torch>=2.1", "torchserve", "neural-compressor", "python==3.14"]
    budget = Budget()
    for problem in problems_of(base.facts, base.request({}, words), budget):
        assert Search(problem, Aim.EVERY, worst=1).run() == ()
    assert budget.spent < 100
    assert resolve(base.facts, base.request({}, ["torch>=2.1", "torchserve", "python==3.11"])).verdict.is_usable


def test_an_unknown_tag_leads_on(run: Callable[..., Run]) -> None:
    """The newest tags for the device of the one that was asked for, and a way on where their products have ended."""
    said = run("show", "intel/intel-extension-for-pytorch:2.14-xpu")
    assert said.code == 2
    assert "newest: 2.8.10-xpu-pip-base, 2.8.10-xpu" in said.err
    assert "IPEX ended 2026-03-31" in said.err
    assert "compatkb resolve torch xpu --format dockerfile" in said.err
    assert "ended" not in run("show", "vllm/vllm-openai-xpu:none").err


def test_a_tag_that_no_list_has_is_not_called_dropped(run: Callable[..., Run]) -> None:
    """Tags that a document names and no table lists are shown as they are; one that left its table says until when."""
    assert "no longer" not in run("show", "vllm/vllm-openai-xpu").out
    assert run("show", "vllm/vllm-openai-xpu:v0.33.0").out.startswith("image vllm/vllm-openai-xpu:v0.33.0\n")
    assert "documented since" in run("show", "intel/intel-extension-for-pytorch:2.8.10-xpu").out


def test_a_pin_of_features_is_read_as_show_reads_it(run: Callable[..., Run]) -> None:
    """`ipex==2.8` is the series, as `ipex 2.8`; a range stays a range."""
    assert run("features", "ipex==2.8", "xpu").out == run("features", "ipex", "2.8", "xpu").out
    assert "torch.compile" in run("features", "torch>=2.8,<2.9").out


def test_search_finds_known_issues(run: Callable[..., Run]) -> None:
    """A word of a known issue finds it by its title and thread; a word of none does not."""
    found = run("search", "empty_cache", "NaN").out
    assert "known issue" in found
    assert "pytorch/pytorch#197520" in found
    assert "known issue" not in run("search", "jupyterlab").out
