"""Applications: what the data say of them is shown, found, and stands for the torch that they require."""

import json

import pytest
from conftest import Run, clock

from compatkb.errors import UsageError
from compatkb.request.parser import make_request
from compatkb.store.reader import Snapshot


def test_no_application_hides_a_product(facts: Snapshot) -> None:
    """No name of an application is that of a product, which would be shown in its place."""
    for record in facts.guide_records("application"):
        assert facts.product(record["id"]) is None, record["id"]
        found = [facts.find_application(name) for name in (record["id"], record["name"], *record["aliases"])]
        assert {each and each.id for each in found} == {record["id"]}


@pytest.mark.parametrize(
    ("name", "wanted"), [("comfyui", "torch>=2.7"), ("SD.Next", "torch==2.13.0+xpu"), ("kohya-ss", "torch==2.7.1+xpu")]
)
def test_shown(run: Run, name: str, wanted: str) -> None:
    """`show` says what an application requires, on the screen and for programs."""
    assert wanted in run("show", name).out
    assert any(wanted in each for each in json.loads(run("show", name, "--format", "json").out)["application"]["requires"])


def test_an_ended_one_is_called_so(run: Run) -> None:
    """What nobody works on any more says so in its first line."""
    assert "ended 2025" in run("show", "torchtune").out.splitlines()[0]


@pytest.mark.parametrize("command", [("show",), ("resolve",), ("explain", "torch==2.8.0"), ("eol",), ("search",)])
@pytest.mark.parametrize(
    ("name", "ended", "instead"),
    [
        ("intel-extension-for-transformers", "2024-10-25", "AutoRound"),
        ("intel_npu_acceleration_library", "2025-04-24", "OpenVINO"),
        ("bigdl-llm", "2024-03", "torch on Intel GPU"),
        ("text-generation-inference", "2026-03-21", "vLLM"),
    ],
)
def test_an_ended_neighbour_is_no_other_thing(run: Run, command: tuple[str, ...], name: str, ended: str, instead: str) -> None:
    """Every command says when it ended and what does its work, and proposes nothing that is merely spelt alike."""
    done = run(*command, f"{name}==1.0" if command[0] == "explain" else name)
    told = " ".join((done.out + done.err).split())
    assert ended in told
    assert "did you mean" not in told
    assert instead in told or command == ("search",)


def test_an_ended_package_leads_away(run: Run) -> None:
    """A package of wheels that its maker gave up is a product: every answer about it says so, and what takes its place."""
    assert "2026-01-28  IPEX-LLM, all releases · use torch instead" in run("eol", "ipex-llm").out
    shown = run("show", "ipex-llm").out
    assert "discontinued 2026-01-28; use instead: torch >=2.6 on Intel GPU" in shown
    for words in (("resolve", "ipex-llm"), ("explain", "ipex-llm==2.2.0", "torch==2.6.0")):
        answer = run(*words).out
        assert "IPEX-LLM 2.2.0: end of life 2026-01-28, known security issues" in answer
        assert "replaces IPEX-LLM" in answer


def test_it_stands_for_its_torch(facts: Snapshot) -> None:
    """A question for an application is one for the torch that it requires."""
    asked = make_request(facts, words=["kohya", "a770"], clock=clock())
    assert asked == make_request(facts, words=["torch==2.7.1+xpu", "a770"], clock=clock())


@pytest.mark.parametrize(("name", "reason"), [("lightning", "does not support Intel GPUs"), ("llama.cpp", "names no torch")])
def test_without_a_torch_for_intel_gpus(facts: Snapshot, name: str, reason: str) -> None:
    """What Intel GPUs do not serve, or what takes no torch, is no question for versions of torch."""
    with pytest.raises(UsageError, match=reason):
        make_request(facts, words=[name, "b580"], clock=clock())


def test_found_by_search(run: Run) -> None:
    """`search` leads to the application of that name first."""
    assert run("search", "lightning").out.split()[:2] == ["application", "lightning"]


def test_an_application_is_told(run: Run) -> None:
    """The answer about the torch of an application names where its own steps are."""
    told = run("resolve", "comfyui", "B580").err
    assert "archived" not in told
    assert "the torch that ComfyUI needs: compatkb show comfyui" in told


def test_the_bindings_lead_to_a_backend_on_each_device(run: Run) -> None:
    """What takes the place of the oneCCL bindings differs by device; no command installs them from where they are not."""
    shown = " ".join(run("show", "oneccl-bind-pt").out.split())
    assert "(backend xccl)" in shown
    assert "on CPU (backend gloo)" in shown
    assert "pip install" not in shown
    image = " ".join(run("show", "intel/intel-extension-for-pytorch:2.6.10-xpu").out.split())
    assert "replaces IPEX" in image
    assert "gloo" not in image
