"""Products beside torch: what is compiled from source, what extras bound, and pairs that nobody speaks of."""

import random
from collections.abc import Callable

import pytest
from builders import shown
from conftest import Run
from metadata_pairs import LINUX, releases, requirements
from packaging.requirements import Requirement

from compatkb import KnowledgeBase, Verdict
from compatkb.engine.answer import resolve
from compatkb.engine.stacks import Stack
from compatkb.errors import NoRequirementsError
from compatkb.output import commands
from compatkb.output.installer_files import packages_of
from compatkb.output.presenter import present
from compatkb.store.reader import Snapshot


@pytest.mark.parametrize(
    ("release", "device", "torch"),
    [("0.10.2", "xpu", "2.8.0+xpu"), ("0.16.0", "xpu", "2.10.0+xpu"), ("0.11.0", "cpu", "2.8.0+cpu")],
)
def test_what_is_compiled_names_its_torch_and_its_commands(
    base: KnowledgeBase, facts: Snapshot, release: str, device: str, torch: str
) -> None:
    """A release without wheels for a device leads to the torch that its requirements pin, and is never more than likely."""
    answer = base.explain(f"vllm=={release}", f"torch=={torch}", device=device)
    assert answer.verdict is Verdict.LIKELY
    told = commands.pip_commands(shown(facts, answer.stacks[0]))
    assert f"torch=={torch}" in told[0]
    assert f"git clone --depth 1 --branch v{release} https://github.com/vllm-project/vllm" in told
    assert any(f"VLLM_TARGET_DEVICE={device}" in command for command in told)
    with pytest.raises(NoRequirementsError, match="compiled from source"):
        packages_of(shown(facts, answer.stacks[0]))


def test_another_torch_than_that_of_the_source_is_denied(base: KnowledgeBase) -> None:
    """What requirements at the tag exclude does not work, compiled or not."""
    assert base.explain("vllm==0.16.0", "torch==2.9.1", device="xpu").verdict is Verdict.DOES_NOT_WORK


def test_published_wheels_come_before_what_is_compiled(base: KnowledgeBase) -> None:
    """Who leaves the release open is not sent to a compiler while an index has wheels."""
    best = base.resolve(words=["vllm"], device="xpu").stacks[0]
    assert not commands.compiled_of(shown(base.facts, best))


@pytest.mark.parametrize(
    ("pins", "right"),
    [
        (("optimum-intel==1.25.2", "openvino==2025.0.0"), Verdict.LIKELY),
        (("optimum-intel[openvino]==1.25.2", "openvino==2025.0.0"), Verdict.DOES_NOT_WORK),
        (("optimum-intel[openvino]==1.25.2", "openvino==2025.1.0"), Verdict.LIKELY),
        (("optimum-intel[ipex]==1.25.2", "openvino==2025.0.0"), Verdict.LIKELY),
        (("accelerate==0.33.0", "deepspeed==0.15.1"), Verdict.LIKELY),
        (("accelerate[deepspeed]==0.33.0", "deepspeed==0.15.1"), Verdict.DOES_NOT_WORK),
        (("neural-compressor==3.3", "numpy==1.24.0"), Verdict.DOES_NOT_WORK),  # of no use without its extra pt
        (("vllm==0.33.0", "setuptools==82.0.0"), Verdict.DOES_NOT_WORK),  # of no extra
    ],
)
def test_an_extra_bounds_what_it_is_named_for_where_it_is_asked_for(
    base: KnowledgeBase, pins: tuple[str, ...], right: Verdict
) -> None:
    """Who does not ask for an extra installs nothing that it requires: it denies nothing, and vouches for what it names."""
    answer = base.explain(*pins, f"python=={'3.12' if 'vllm' in pins[0] else '3.10'}")
    assert answer.verdict is right


def test_what_no_index_has_is_named(run: Callable[..., Run]) -> None:
    """A chain that ends in what the default index does not have says so, and nobody is told to install that."""
    told = run("explain", "impi-devel==2021.19.0", "linux").out
    assert "impi-rt 2021.19.0 needs libfabric >=2.6, which the default index does not have" in " ".join(told.split())
    assert "pip install libfabric" not in run("show", "libfabric").out


@pytest.mark.parametrize(
    ("pins", "right"),
    [
        (("torch==2.14.1+cpu", "sympy==1.12.1"), Verdict.DOES_NOT_WORK),  # the index has another build of torch 2.14.1
        (("torch==2.14.1+xpu", "sympy==1.12.1"), Verdict.DOES_NOT_WORK),
        (("torch==2.14.1+xpu", "sympy==1.13.3"), Verdict.LIKELY),
        (("accelerate==1.0.1", "sympy==1.12.1", "python==3.13"), Verdict.DOES_NOT_WORK),  # by every torch for that Python
        (("impi-devel==2021.19.0",), Verdict.DOES_NOT_WORK),  # ends in what the index does not have
        (("onnxruntime-openvino==1.13.1", "packaging==23.0"), Verdict.LIKELY),  # any version will do
        (("mkl==2024.2.1", "intel-openmp==2024.2.1"), Verdict.LIKELY),  # nothing but runtimes
        (("mkl==2024.2.1", "six==1.16.0"), Verdict.UNKNOWN),
        (("torch==2.14.1+cpu", "mkl==2024.2.1", "intel-openmp==2024.2.1"), Verdict.UNKNOWN),  # of torch nobody speaks
    ],
)
def test_recorded_requirements_decide(base: KnowledgeBase, pins: tuple[str, ...], right: Verdict) -> None:
    """Where metadata tie what was asked for, they decide, whoever names the packages between."""
    assert base.explain(*pins, "linux").verdict is right


@pytest.mark.parametrize(
    ("pins", "right"),
    [
        (("optimum-intel[ipex]==1.25.1", "transformers==4.50.0"), Verdict.DOES_NOT_WORK),
        (("optimum-intel[ipex]==1.25.1", "transformers==4.51.0"), Verdict.LIKELY),
        (("optimum-intel==1.25.1", "transformers==4.50.0"), Verdict.LIKELY),
        (("optimum-intel[openvino,neural-compressor]==1.23.0", "transformers==4.46.0"), Verdict.DOES_NOT_WORK),
        (("optimum-intel[neural-compressor]==1.17.0", "onnxruntime==1.16.3"), Verdict.DOES_NOT_WORK),  # of nothing else said
    ],
)
def test_what_an_extra_requires_counts_where_it_is_asked_for(
    base: KnowledgeBase, pins: tuple[str, ...], right: Verdict
) -> None:
    """An extra that is named for a product bounds the other products that it requires too, and says so, if it is named."""
    answer = base.explain(*pins, "python==3.11", "os==linux", device="cpu")
    assert answer.verdict is right
    said = [cause.message for cause in present(base.facts, answer).causes]
    assert right is not Verdict.DOES_NOT_WORK or any("with its extra " in sentence for sentence in said)


@pytest.mark.parametrize(
    ("pins", "right"),
    [
        (("dpcpp-cpp-rt==2023.1.0", "os==linux", "python==3.8"), Verdict.DOES_NOT_WORK),
        (("dpcpp-cpp-rt==2023.1.0", "os==windows", "python==3.8"), Verdict.UNKNOWN),
        (("torch==1.13.1", "os==macos", "arch==aarch64", "python==3.7"), Verdict.WORKS_WITH_WARNINGS),  # numpy has no wheel
    ],
)
def test_a_runtime_that_metadata_require_needs_a_wheel(base: KnowledgeBase, pins: tuple[str, ...], right: Verdict) -> None:
    """What installers look for because a runtime requires it has to be there; what is only bounded may stay away."""
    answer = base.explain(*pins)
    assert answer.verdict is right
    said = [cause.message for cause in present(base.facts, answer).causes]
    assert right is not Verdict.DOES_NOT_WORK or "intel-opencl-rt 2023.1.0 has no wheel for Python 3.8, Linux" in said[1]


def test_an_unpinned_package_for_another_device_alone_is_found(base: KnowledgeBase) -> None:
    """All builds of xformers are for CUDA: which one goes with a torch is told, with what fails on a CPU."""
    answer = base.resolve({"torch": "2.9.1"}, ["xformers"], device="cpu")
    assert "device" in {warned.kind for warned in answer.stacks[0].warnings}
    assert {e.version for e in answer.stacks[0].packages if e.product == "xformers"} == {"0.0.33.post2"}
    assert base.resolve({"torch": "2.9.1"}, ["xformers"], device="xpu").verdict is Verdict.DOES_NOT_WORK


@pytest.mark.parametrize(
    ("words", "device", "right"),
    [
        pytest.param("vllm==0.6.6 torch==2.5.1 numpy==2.1.0 python==3.10", "cpu", "does-not-work", id="common-file"),
        pytest.param("vllm==0.6.6 torch==2.5.1 numpy==1.26.4 python==3.10", "cpu", "likely", id="common-file-met"),
        pytest.param("vllm==0.6.2 python==3.12", "xpu", "does-not-work", id="files-exclude-each-other"),
        pytest.param("vllm==0.4.0 torch==2.1.2 python==3.11", "cpu", "does-not-work", id="for-cuda-alone"),
        pytest.param("vllm==0.11.0 torch==2.8.0+cu128 python==3.11", "cpu", "does-not-work", id="for-cuda-beside-one-for-cpu"),
        pytest.param("deepspeed==0.13.4 torch==2.8.0+xpu python==3.10", "xpu", "unknown", id="imports-ipex"),
        pytest.param("deepspeed==0.18.7 torch==2.10.0+xpu python==3.11", "xpu", "likely", id="does-without-ipex"),
        pytest.param("transformers==4.33.3 torch==2.2.2 python==3.12", "cpu", "does-not-work", id="wheel-of-what-it-needs"),
        pytest.param("transformers==4.33.3 torch==2.2.2 python==3.11", "cpu", "likely", id="wheel-is-there"),
        pytest.param("transformers==4.43.4 torch==2.7.1 python==3.11", "cpu", "likely", id="extra-without-bound"),
        pytest.param("transformers==4.33.3 torch==2.15.0 accelerate==0.30.0 python==3.11", "cpu", "unknown", id="newer-torch"),
        pytest.param("transformers==4.52.1 torch==2.8.0 accelerate==1.3.0 python==3.11", "cpu", "unknown", id="bounded-extra"),
        pytest.param("neural-compressor==3.7 torch==2.8.0+xpu python==3.11", "xpu", "likely", id="release-note"),
    ],
)
def test_what_a_release_brings_along_counts(base: KnowledgeBase, words: str, device: str, right: str) -> None:
    """Requirement files, imports, devices and the wheels of what a release needs decide as its own metadata do."""
    assert base.explain(*words.split(), "os==linux", device=device).verdict.value == right


def test_what_is_known_through_pins_alone_vouches_for_no_package(base: KnowledgeBase) -> None:
    """Two that speak of each other, and not of torch, do not make a stack with it."""
    pins = ("transformers==4.11.3", "tokenizers==0.10.3", "python==3.9")
    assert base.explain(*pins, "torch==2.4.1", device="cpu").verdict is Verdict.UNKNOWN


def test_a_pair_that_nobody_speaks_of_is_told(base: KnowledgeBase, facts: Snapshot) -> None:
    """Two packages that a third one holds together are told on the first screen; a pair that is named is not."""
    apart = base.explain("transformers==5.15.1", "ipex==2.6.0", "python==3.12", device="cpu")
    assert shown(facts, apart.stacks[0]).evidence.strangers == ["IPEX 2.6.0 with transformers 5.15.1 is not documented"]
    together = base.explain("optimum-intel==1.27.0", "transformers==4.57.6", "python==3.12", device="cpu")
    assert not shown(facts, together.stacks[0]).evidence.strangers


PACKAGES = ("transformers", "accelerate", "vllm", "torchcodec", "bitsandbytes", "onnxruntime", "openvino", "optimum-intel")
QUESTIONS = 40


@pytest.fixture(scope="module")
def required(facts: Snapshot) -> dict[str, dict[str, list[Requirement]]]:
    """What the index says that releases of each product require, by the name of the product."""
    return {head.id: requirements(facts, head.id) for head in facts.products.values() if head.distribution}


def excluded(facts: Snapshot, required: dict[str, dict[str, list[Requirement]]], stack: Stack, python: str) -> list[str]:
    """Return which requirements of the members of a stack its other members do not meet."""
    held = {facts.products[e.product].distribution: e.version.partition("+")[0] for e in stack.packages}
    environment = {**LINUX, "python_version": python, "python_full_version": f"{python}.0"}
    asked = [r for e in stack.packages for r in required.get(e.product, {}).get(e.version, ()) if "+" not in str(r)]
    counting = [r for r in asked if r.name in held and (r.marker is None or r.marker.evaluate(environment))]
    return [f"{r} beside {held[r.name]}" for r in counting if not r.specifier.contains(held[r.name], prereleases=True)]


@pytest.mark.parametrize(
    "seed", [pytest.param(0, marks=pytest.mark.long), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 10))]
)
def test_no_stack_holds_what_metadata_exclude(
    base: KnowledgeBase, facts: Snapshot, required: dict[str, dict[str, list[Requirement]]], seed: int
) -> None:
    """In stacks for random questions each wheel of the default index has neighbours that its metadata admit."""
    chance = random.Random(seed)
    for _ in range(QUESTIONS):
        chosen = chance.sample(PACKAGES, chance.choice((1, 2, 2, 3)))
        words = [
            f"{one}=={chance.choice(releases(facts, one)[-40:]).release}" if chance.random() < 0.6 else one for one in chosen
        ]
        python = chance.choice(("3.9", "3.10", "3.12", "3.13", "3.14"))
        answer = resolve(facts, base.request({"python": python, "os": "linux"}, words), near=False)
        usable = answer.stacks if answer.verdict in (Verdict.WORKS, Verdict.LIKELY) else ()
        assert [text for stack in usable for text in excluded(facts, required, stack, python)] == [], (words, python)


def test_image_is_run_before_what_is_installed_within(base: KnowledgeBase, facts: Snapshot) -> None:
    """The command that runs an image comes first: packages of indexes are installed inside of it."""
    best = base.resolve(words=["bitsandbytes==0.48.2"], device="hpu").stacks[0]
    first, *inside = [command.split()[0] for command in commands.pip_commands(shown(facts, best))]
    assert (first, set(inside)) == ("docker", {"python"})
