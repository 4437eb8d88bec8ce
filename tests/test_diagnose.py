"""`compatkb diagnose`: real error texts of public threads get the right cause first; no text hurts, whatever it holds."""

import io
import json
import re
import sys
import tomllib
import tracemalloc
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from advice import family, graded, misread, proposed
from conftest import ROOT, Run, clock, examples, parted
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from test_lint import good, written
from test_machine_schemas import faults
from test_screens import faults_of

from compatkb.authoring.lint import lint
from compatkb.doctor.diagnose import Diagnosis, diagnose
from compatkb.doctor.error_text import LIMIT, ErrorText, decode, plain, read_ends
from compatkb.doctor.machine_reading import MachineReader
from compatkb.doctor.version_extraction import WISHED
from compatkb.output.diagnosis import diagnosis_json, diagnosis_lines, diagnosis_text, present_diagnosis
from compatkb.output.screen import text_of
from compatkb.schema.guides import SymptomFile
from compatkb.store.reader import Snapshot

DAY = date(2026, 11, 21)
CASES = sorted((Path(__file__).parent / "cases" / "diagnose").glob("*.toml"))
WORKS = ("works", "works-with-warnings", "likely")
PAGE = (ROOT / "docs/diagnose.md").read_text(encoding="utf-8")
Case = Mapping[str, Any]


def case_of(path: Path) -> Case:
    """Return a case."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


QUICK = CASES[::8]
"""What every run judges."""
FEW_OR_ALL = pytest.mark.parametrize("paths", [QUICK, pytest.param(CASES, marks=pytest.mark.long)], ids=("few", "all"))


@pytest.fixture(scope="module")
def answers(facts: Snapshot) -> Callable[[Path], Diagnosis]:
    """Return what gives the answer to a case, each worked out once."""
    made = cache(lambda path, asked: diagnose(facts, case_of(path)["text"], asked))
    return lambda path: made(path, clock())


@pytest.mark.verdict
@pytest.mark.parametrize("path", parted(CASES, QUICK), ids=lambda path: path.stem)
def test_real_text(path: Path, facts: Snapshot, answers: Callable[[Path], Diagnosis]) -> None:
    """A text is answered with what cured its thread and with nothing that its thread refutes; versions are read as labelled.

    A case that names its `known-failure` is one that is not answered so yet: the entry goes when it is. Every text gets a
    screen within the limits.
    """
    case, made = case_of(path), answers(path)
    view = present_diagnosis(facts, made, clock().day)
    lines = diagnosis_lines(view)
    if "must-not" in case["expect"]:
        grade = graded(case, lines, json.loads(diagnosis_json(view)))
        assert case.get("known-failure", grade if grade == "open" else "solved") == grade
    assert list(misread(case, made)) == []
    for near in made.nearest:
        assert near.stack.verdict in WORKS
    assert text_of(lines).startswith(("✗ cause: ", "~ possible cause: ", "? cause unknown"))
    assert faults_of(text_of(lines).splitlines()) == []


@pytest.mark.parametrize("path", parted(CASES[::6], QUICK), ids=lambda path: path.stem)
def test_json_fits_its_schema(path: Path, facts: Snapshot, answers: Callable[[Path], Diagnosis]) -> None:
    """What programs get of real texts is as docs/schema has it."""
    assert faults("diagnose", json.loads(diagnosis_json(present_diagnosis(facts, answers(path), DAY)))) == []


@FEW_OR_ALL
def test_advice_is_for_the_device_and_system_of_the_text(paths: list[Path], answers: Callable[[Path], Diagnosis]) -> None:
    """Every stack that is proposed is for the device and system that the text tells; none is for what we do not serve."""
    for path in paths:
        made = answers(path)
        for stack, _ in proposed(made):
            assert made.target.foreign is None, path.stem
            assert made.target.device == stack.device, path.stem
            systems = {family(name) for name in stack.os}
            assert systems >= ({family(made.target.os)} if made.target.os else {"linux", "windows"}), path.stem


@pytest.mark.parametrize(
    ("text", "device"),
    [
        ("CUDA error: unspecified launch failure, on an Arc A770", "cuda"),  # what failed comes before the machine
        ("Intel(R) Arc(TM) B580 Graphics, torch 2.6.0+cu126", "xpu"),  # the machine before a build
        ("--index-url https://download.pytorch.org/whl/xpu\ntorch 2.6.0+cpu", "xpu"),  # an order before a build
        ("Arc A770 beside GeForce RTX 3060, torch 2.6.0+cu126", "cuda"),  # a build decides between two machines
        ("torch 2.8.0+xpu, torchvision 0.23.0+cu126", "xpu"),  # the one that is served
        ("Lunar Lake", "xpu"),
        ("an A40, 60 of them", None),
        ("No module named 'torch'", None),
        ("torch 2.6.0+cpu, torch.xpu.is_available() False", None),  # what is installed may be the fault
    ],
)
def test_the_device_of_a_text(facts: Snapshot, text: str, device: str | None) -> None:
    """Kinds of evidence count in one order; a name that is also another maker's is none."""
    found = MachineReader(facts, ErrorText(text)).device()
    assert (found.version if found else None) == device


def test_a_text_without_a_device_gets_commands_for_each(facts: Snapshot) -> None:
    """Where the cause is known and the device is not, the ways are told apart by device; where neither is, there is none."""
    made = diagnose(facts, "operator torchvision::nms does not exist, torch 2.5.1", clock())
    assert made.target.device is None
    assert not made.nearest
    assert {way.device for way in made.either} == {"xpu", "cpu"}
    assert "  Intel GPU" in diagnosis_text(present_diagnosis(facts, made, DAY))
    none = diagnose(facts, "torch 2.5.1: KeyError", clock())
    assert not none.nearest
    assert not none.either


def test_a_text_without_a_system_gets_commands_for_each(facts: Snapshot) -> None:
    """Where systems differ each has its command, none with what has ended; what is the same on both needs no question."""
    made = diagnose(facts, "needs to work with PyTorch 2.4.*, but PyTorch 2.5.1+cpu is found", clock())
    assert (made.target.device, made.target.os) == ("cpu", None)
    assert not made.nearest
    assert {way.systems for way in made.either} == {("linux",), ("windows",)}
    assert not any(e.product in facts.successors for way in made.either for e in way.near.stack.packages)
    both = diagnose(facts, "torch 2.6.0+xpu, No XPU devices are available, triton/_C: PassManager::run failed", clock())
    assert not both.either


def test_steps_for_another_device_are_left_out(facts: Snapshot) -> None:
    """A step for one device is told to texts about it and to those that tell none."""
    text = "No module named 'triton'"
    for beside, told in ((" torch 2.6.0+cpu", {"cpu"}), ("", {"xpu", "cpu"}), (" xpu:0, torch 2.6.0+xpu", {"xpu"})):
        do = " ".join(diagnose(facts, text + beside, clock()).candidates[0].do)
        assert ("Intel GPU" in do, "On the CPU" in do) == ("xpu" in told, "cpu" in told)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("vLLM on XPU crashes: 'NoneType' object has no attribute 'copy' in compile_or_warm_up_model", "vllm-release"),
        ("vLLM on XPU fails: ImportError: libsycl.so.8: cannot open shared object file", "oneapi-generation"),
        ("Arc B580: after IGC 2.34.4 llama-server ends with SIGSEGV", "driver-release"),
        ("Arc B580: after IGC 2.34.4 every program ends with UR_RESULT_ERROR_DEVICE_LOST", "device-lost"),
    ],
)
def test_a_release_alone_is_blamed_last(facts: Snapshot, text: str, first: str) -> None:
    """That an application or a driver has faults of its own is said where nothing else in the text tells more."""
    assert diagnose(facts, text, clock()).candidates[0].id == first


@pytest.mark.parametrize(
    ("system", "tool"),
    [
        ("RHEL 9.4", "dnf"),
        ("Fedora 43", "dnf"),
        ("SLES 15 SP6", "zypper"),
        ("Arch Linux", "pacman"),
        ("Ubuntu 24.04", "apt-get"),
        ("WSL2 Ubuntu 24.04", "apt-get"),
        ("openSUSE Tumbleweed", "the maker's page is https://"),
        ("Linux", "your distribution"),
    ],
)
def test_steps_are_those_of_the_distribution(facts: Snapshot, system: str, tool: str) -> None:
    """What installs the driver is said for the distribution of the text, and that nothing is known where nothing is."""
    others = {"dnf", "zypper", "pacman", "apt-get"} - {tool, *(["apt-get"] if system == "Linux" else [])}
    do = " ".join(diagnose(facts, f"{system}\nUserWarning: XPU device count is zero!\nB580", clock()).candidates[0].do)
    assert tool in do
    assert not any(f"{other} " in do for other in others)


@pytest.mark.parametrize(
    "text",
    [
        "Gaudi 2, habana: no devices found, GPU is not detected, driver version 1.21: fails to start",
        "Radeon RX 7900: clGetPlatformIDs error, no platforms found, driver version 25.8 crash",
        "EPYC 9654, no GPU: Segmentation fault, error code 40, OpenCL error occurred",
        "onnxruntime runs on CPU",
    ],
)
def test_the_driver_of_an_intel_gpu_is_blamed_where_the_text_shows_one(facts: Snapshot, text: str) -> None:
    """A text about another device, or about none, gets no cause in the driver of Intel's GPUs."""
    padding = "\nthe program stops after a while" * 4  # no phrase that somebody typed
    about = {record["id"]: record["device"] for record in facts.guide_records("cause")}
    assert all(about.get(each.id) != "xpu" for each in diagnose(facts, text + padding, clock()).candidates)


@pytest.mark.parametrize(
    ("torch", "out"), [("2.7.0+xpu", True), ("2.1.0a0", False)], ids=("serves the device alone", "needs it")
)
def test_what_has_ended_is_left_out_where_torch_serves_alone(facts: Snapshot, torch: str, out: bool) -> None:
    """A fault of the machine beside what has ended says to leave that out, if the torch of the text does without it."""
    text = f"torch {torch}\nintel_extension_for_pytorch 2.1.10+xpu\nArc A770: UR_RESULT_ERROR_DEVICE_LOST"
    assert ("Leave IPEX out" in " ".join(diagnose(facts, text, clock()).candidates[0].do)) is out


def test_every_step_that_is_filled_in_is_known(facts: Snapshot) -> None:
    """What stands between braces in a step is what every distribution has a step for, or a release of the text."""
    steps = next(record["steps"] for record in facts.guide_records("system") if record["id"] == "linux")
    steps = {**steps, "good": "", "blamed": ""}
    for record in facts.guide_records("cause"):
        for step in (*record["do"], *(step for steps in record["do_for"].values() for step in steps)):
            assert set(re.findall(r"\{(\w+)\}", step)) <= steps.keys(), record["id"]


def test_neutral_steps_name_no_device(facts: Snapshot) -> None:
    """What a step says of one device is under that device, unless the cause is about it or its name says so."""
    for record in facts.guide_records("cause"):
        for step in () if record["device"] or "xpu" in record["id"] else record["do"]:
            assert not re.search(r"\bXPU\b|\+xpu|\bCUDA\b|\bROCm\b", step), (record["id"], step)


@pytest.mark.parametrize(
    ("text", "system"),
    [
        ("file:///home/me/x.py on Windows 11", "linux"),  # e:/ within a word is no drive
        ('File "C:\\a.py", line 1, torch-2.5.1-cp312-cp312-linux_x86_64.whl', "windows"),  # a trace before an index
        ("torch+xpu on Windows, torch-2.5.1+xpu-cp312-cp312-linux_x86_64.whl", None),  # an index against a mention
        ("Windows 11, Linux-6.6.87.2-microsoft-standard-WSL2", "wsl2"),
        ("OS: Ubuntu 24.04.1 LTS\nLinux-6.8", "ubuntu24.04"),
        ("RHEL 9.4, Linux-5.14", "rhel9.4"),  # the closest of those that a question may name
        ("Red Hat Enterprise Linux release 9.4 (Plow)", "rhel9.4"),
        ("Debian GNU/Linux 12 (bookworm)", "debian12"),
        ("SUSE Linux Enterprise Server 15 SP6", "sles15sp6"),
        ("Debian 12 under WSL2", "wsl2"),
        ("torch 2.5.1", None),
        ("C:/Users/me/x.py", "windows"),  # the folder after a drive is none of macOS
        ("/Users/me/x.py", "macos"),
    ],
)
def test_the_system_of_a_text(facts: Snapshot, text: str, system: str | None) -> None:
    """Kinds of evidence count in one order; what contradicts weak evidence leaves the system open."""
    found = MachineReader(facts, ErrorText(text)).system()
    assert (found.version if found else None) == system


def test_where_no_cause_is_known_nothing_is_installed(facts: Snapshot) -> None:
    """What is missing is said, by kind, and no command: what would be installed is there, or nobody knows what helps."""
    made = diagnose(facts, "/lib/python3.12/site-packages/torch/xpu: Bus error, torch 2.8.0+xpu", clock())
    assert not made.candidates
    assert made.missing == ("traceback", "gpu", "kernel", "runtime")
    assert not made.nearest
    assert not diagnose(facts, "KeyError: 'x'", clock()).nearest


@pytest.mark.parametrize(
    ("text", "product", "version"),
    [
        (
            "03:00.0 VGA compatible controller [0300]: Intel Corporation Battlemage G21 [Arc B580] [8086:e20b]",
            "hardware",
            "arc-b",
        ),
        ("Intel(R) Arc(TM) A770 Graphics, xpu", "hardware", "arc-a"),
        ("Linux host 6.14.0-15-generic #15-Ubuntu SMP x86_64", "linux-kernel", "6.14"),
        ("Driver Version 25.18.33578.6", "compute-runtime", "25.18.33578.6"),
        ("ii  libze1:amd64  1.28.2-1~24.04", "level-zero", "1.28.2"),
        ("libigc2 2.36.3+16804", "igc", "2.36.3"),
        ("Intel GPU driver version:\n* 32.0.101.8826 (20260529)", "windows-driver", "32.0.101.8826"),
        ("driver 101.8331 on Windows 11", "windows-driver", "32.0.101.8331"),
        ("GuC firmware xe/bmg_guc_70.58.0.bin version 70.58.0", "guc-firmware", "70.58.0"),
        ("Kernel driver in use: xe", "kernel-driver", "xe"),
        ("| torch | 2.9.1+xpu |", "torch", "2.9.1+xpu"),
        ("- PyTorch: `2.10.0+xpu`", "torch", "2.10.0+xpu"),
    ],
)
def test_a_paste_is_read_whole(facts: Snapshot, text: str, product: str, version: str) -> None:
    """GPUs, kernels, parts of the driver and versions in tables are read as tools print them, and shown as detected."""
    made = diagnose(facts, text, clock())
    assert (product, version) in {(read.product, read.version) for read in made.versions}
    assert "  detected " in diagnosis_text(present_diagnosis(facts, made, DAY))


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("No XPU devices are available\ntorch.xpu.device_count() -> 2", "gpu-driver"),
        ("Torch not compiled with XPU enabled\ntorch 2.9.1+xpu", "torch-without-xpu"),
    ],
)
def test_a_text_refutes_a_cause(facts: Snapshot, text: str, cause: str) -> None:
    """A cause that the same text refutes is not named; without the refutation it is."""
    assert cause not in {candidate.id for candidate in diagnose(facts, text, clock()).candidates}
    assert cause in {candidate.id for candidate in diagnose(facts, f"xpu:0 {text.splitlines()[0]}", clock()).candidates}


@pytest.mark.parametrize(
    ("asked", "free", "named"),
    [
        ("4.00 GiB", "15.11 GiB", {"allocation-4gb"}),
        ("8.00 GiB", "512.00 MiB", {"device-memory"}),
        ("64.00 MiB", "15.11 GiB", set()),
    ],
)
def test_free_memory_refutes_that_memory_is_short(facts: Snapshot, asked: str, free: str, named: set[str]) -> None:
    """Where more was free than was asked for, memory is not what is short; 4 GiB and more may not be had at once."""
    text = f"torch.OutOfMemoryError: XPU out of memory. Tried to allocate {asked}. GPU 0 has a total capacity of 15.11 GiB"
    made = diagnose(facts, f"{text} of which {free} is free.\ntorch 2.9.1+xpu, Arc A770", clock())
    assert {candidate.id for candidate in made.candidates} & {"allocation-4gb", "device-memory"} == named


def test_nothing_that_is_there_is_installed(facts: Snapshot) -> None:
    """Of a stack only what the text has in another version is installed, and torch stays where it is right."""
    text = "operator torchvision::nms does not exist\ntorch 2.9.1+xpu\ntorchvision 0.24.1+cu126\nPython 3.12, Linux"
    view = present_diagnosis(facts, diagnose(facts, text, clock()), DAY)
    (command,) = json.loads(diagnosis_json(view))["commands"]
    assert "torchvision==0.24.1+xpu --no-deps" in command
    assert "torch==" not in command


@pytest.mark.parametrize(
    ("said", "begins"),
    [
        ("", "python -m pip install torch=="),
        ("uv pip install torch", "uv pip install torch=="),
        ("uv sync", "uv add torch=="),
        ("poetry lock", "poetry source add --priority=explicit pytorch-xpu https://"),
    ],
)
def test_commands_are_for_the_installer_of_the_text(facts: Snapshot, said: str, begins: str) -> None:
    """A project of uv or Poetry gets its own commands, with the index named."""
    text = f"Torch not compiled with XPU enabled\ntorch 2.9.1+cpu, Arc A770, Ubuntu 24.04\n{said}"
    view = present_diagnosis(facts, diagnose(facts, text, clock()), DAY)
    assert json.loads(diagnosis_json(view))["commands"][0].startswith(begins)


def test_ipex_goes_where_torch_serves(facts: Snapshot) -> None:
    """IPEX is never added, and is taken out where torch alone serves the device and the Python of the text."""
    text = "libintel-ext-pt-gpu.so: undefined symbol: x\ntorch 2.9.1+xpu, IPEX 2.8.10+xpu, Python 3.12, Arc A770, Ubuntu 24.04"
    answer = json.loads(diagnosis_json(present_diagnosis(facts, diagnose(facts, text, clock()), DAY)))
    assert answer["commands"][0] == "python -m pip uninstall -y intel-extension-for-pytorch"
    assert not any("install" in command and "intel-ext" in command for command in answer["commands"][1:])
    none = json.loads(
        diagnosis_json(present_diagnosis(facts, diagnose(facts, "No module named 'triton', Arc A770", clock()), DAY))
    )
    assert "intel-extension" not in " ".join(none["commands"])


def test_a_release_that_works_by_the_text(facts: Snapshot) -> None:
    """Where a text says that another release works, that release is the way; one that does not work is none."""
    text = "torch 2.13.0+xpu crashes on Arc A770. It worked with torch 2.12.0."
    made = diagnose(facts, text, clock())
    assert made.candidates[0].cures == ("torch==2.12.0",)
    assert "torch 2.12.0" in diagnosis_text(present_diagnosis(facts, made, DAY))
    assert not diagnose(facts, "torch 2.13.0+xpu crashes on Arc A770. It does not work with torch 2.12.0.", clock()).candidates


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("Agama 39122.14 computes wrongly; the tests pass on Agama 38646.6, on B580", "Go back to Agama 38646.6"),
        ("Segmentation fault with PyTorch 2.4 and Agama Rolling. Not happening with Agama LTS.", "Go back to Agama LTS"),
        ("Foo 2.2.0b1 has a deviation in accuracy. No such error with Foo 2.1.0b2.", "Go back to Foo 2.1.0b2"),
        ("ipex-llm nightly 20250415 prints garbage; nightly 20250313 is good", "Go back to ipex-llm 20250313"),
        ("llama.cpp b9159 crashes with SYCL on Arc A770; b8850 works", "Go back to llama.cpp b8850"),
        (
            "UR_RESULT_ERROR_DEVICE_LOST since driver 32.0.101.8331. Driver 32.0.101.8247 works.",
            "use Windows driver 32.0.101.8247",
        ),
        ("Support of the Arc A770 is broken since Bar 0.10.0", "Go back to the release before Bar 0.10.0"),
        (
            "support is broken after updating to vLLM 0.10.0 on XPU",
            "Go back to the release before vLLM 0.10.0 (before it: 0.9.",
        ),
    ],
)
def test_releases_that_a_text_tells_apart(facts: Snapshot, text: str, step: str) -> None:
    """The good release that a text names is the way back, of whatever it is one; what it blames has a release before it."""
    answer = json.loads(diagnosis_json(present_diagnosis(facts, diagnose(facts, text, clock()), DAY)))
    assert answer["fixes"][0].startswith(step)
    none = json.loads(diagnosis_json(present_diagnosis(facts, diagnose(facts, "works on Foo 1.2.3", clock()), DAY)))
    assert none["fixes"] == []


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        (">>> torch.__version__\n'2.6.0+xpu'\n", {"torch": "2.6.0+xpu"}),
        (
            'python -c "print(torch.__version__); print(ipex.__version__)"\nwarning\n2.3.1\n2.3.110+xpu',
            {"ipex": "2.3.110+xpu"},
        ),
        ("`torch` with version `2.5.1+xpu`", {"torch": "2.5.1+xpu"}),
        ("Found existing installation: torch 2.5.1\nSuccessfully installed torch-2.4.0", {"torch": "2.4.0"}),
        (" - torch==2.7.0+xpu\n + torch==2.8.0\n", {"torch": "2.8.0"}),
        ("Requirement already satisfied: torch in c:\\x\\site-packages (2.7.1+xpu)\n", {"torch": "2.7.1+xpu"}),
        ("Ignored the following versions that require a different python version: 2.0.0 Requires-Python >=3.8,<3.11", {}),
        ("pip install torch==2.1.2 torchvision==0.16.2", {}),
        ("requirement torch==2.5 (from versions: 2.2.0, 2.2.1)", {}),
        ("IPEX 1.13.10+xpu, PyTorch 1.13.1", {"ipex": "1.13.10+xpu", "torch": "1.13.1"}),
        ("- **PyTorch:** 2.10.0+xpu", {"torch": "2.10.0+xpu"}),
    ],
)
def test_versions_that_are_installed(facts: Snapshot, text: str, versions: dict[str, str]) -> None:
    """What a text tells as installed is read as such; what was removed, asked for or required is not."""
    made = diagnose(facts, text, clock())
    read = {read.product: read.version for read in made.versions if read.how != WISHED and read.product in ("torch", "ipex")}
    assert versions.items() <= read.items() if versions else not read
    assert "python" not in {read.product for read in made.versions}


@pytest.mark.parametrize(
    ("library", "release"),
    [("libsycl.so.7", "2024"), ("libsycl.so.8", "2025"), ("libsycl.so.9", "2026"), ("libmkl_sycl.so.3", "2023")],
)
def test_a_library_tells_its_release(facts: Snapshot, library: str, release: str) -> None:
    """The first step names the oneAPI release that brings the library, and how to get it."""
    made = diagnose(facts, f"OSError: {library}: cannot open shared object file", clock())
    assert made.candidates[0].id == "oneapi-generation"
    assert library in made.candidates[0].do[0]
    assert f"oneAPI {release}" in made.candidates[0].do[0]


def test_sycl_speaks_for_the_run_time_first(facts: Snapshot) -> None:
    """A symbol of SYCL that is missing in a library of torch is a matter of the run time before one of torch."""
    text = "ImportError: /v/torch/lib/libtorch_xpu.so: undefined symbol: _ZN4sycl3_V17handler10"
    assert diagnose(facts, text, clock()).candidates[0].id == "oneapi-runtime-mixed"


@pytest.mark.parametrize(
    ("phrase", "cause"),
    [
        ("libsycl.so.8 missing", "oneapi-generation"),
        ("Torch not compiled with XPU", "torch-without-xpu"),
        ("device lost", "device-lost"),
        ("torchvision nms", "companion-mismatch"),
        ("libsycl.so.7", "oneapi-generation"),
        ("fp64 not supported", "fp64-missing"),
        ("hello world", None),
        ("torch", None),
    ],
)
def test_a_short_phrase(facts: Snapshot, run: Callable[..., Run], phrase: str, cause: str | None) -> None:
    """A few words of an error are enough, with and without quotes; words that mean nothing of ours name no cause."""
    made = diagnose(facts, phrase, clock())
    assert (made.candidates[0].id if made.candidates else None) == cause
    for words in ([phrase], phrase.split()):
        assert run("diagnose", *words).code == (0 if cause else 7)


def test_a_replaced_build(facts: Snapshot) -> None:
    """An installer that puts another build in the place of the XPU build is found out; one that updates it is not."""
    log = "Found existing installation: torch 2.7.0+xpu\nSuccessfully installed numpy-2.1.0 torch-"
    assert diagnose(facts, f"{log}2.8.0", clock()).candidates[0].id == "torch-without-xpu"
    assert not diagnose(facts, f"{log}2.8.0+xpu", clock()).candidates


@pytest.mark.parametrize(
    ("packages", "first", "refuted"),
    [
        ("torch 2.14.0\nvllm 0.33.0", "torch-without-xpu", "gpu-driver"),
        ("torch 2.14.0+xpu\nvllm 0.33.0+xpu", "gpu-driver", "torch-without-xpu"),
    ],
)
def test_a_list_of_packages_tells_the_build(facts: Snapshot, packages: str, first: str, refuted: str) -> None:
    """A package without the label of the device is the build of another one: no driver helps it, though versions fit."""
    said = "No platform detected, vLLM is running on UnspecifiedPlatform\nRuntimeError: Failed to infer device type"
    said = f"/home/u/.venv/lib/python3.12/site-packages/vllm/config/device.py\n{said}"
    made = diagnose(facts, f"{said}\n$ pip list\n{packages}\n$ lspci\nIntel Corporation DG2 [Arc A770]\nLinux", clock())
    causes = [candidate.id for candidate in made.candidates]
    assert causes[0] == first
    assert refuted not in causes
    proposed_packages = {f"{e.product}=={e.version}" for stack, _ in proposed(made) for e in stack.packages}
    assert first == "gpu-driver" or {"torch==2.14.0+xpu", "vllm==0.33.0+xpu"} <= proposed_packages


def test_cases_are_real_and_cured() -> None:
    """Each cites a thread, a third was held back when the patterns were written, and most hold the cure of their thread."""
    cases = [case_of(path) for path in CASES]
    assert all(case["source"]["repo"].count("/") == 1 and case["source"]["thread"] for case in cases)
    assert sum(case["held-out"] for case in cases) >= len(cases) // 3
    assert sum("fix-accept" in case["expect"] for case in cases) >= 3 * len(cases) // 4


def test_every_symptom_has_a_thread_or_file(facts: Snapshot) -> None:
    """Each cause, symptom and reading cites a document that has an address."""
    for kind in ("cause", "symptom", "reading"):
        records = facts.guide_records(kind)
        assert records
        assert all(source[1] for record in records for source in record["sources"])


@pytest.mark.parametrize(
    ("pattern", "text", "slots"),
    [
        ("torch {torch} is found", "x TORCH 2.4.0+cpu is found", (("torch", "2.4.0+cpu"),)),
        ("libsycl.so.{_}: cannot", "libsycl.so.7: cannot open", (("_", "7"),)),
        ("error*/torch/lib/", r"Error loading C:\a\torch\lib\x.dll", ()),
        ("needs {a}.*, but {b} is", "needs 2.4.*, but 2.5.1 is", (("a", "2.4"), ("b", "2.5.1"))),
        ("for {requirement}", "for torch[x]==2.0", (("requirement", "torch[x]==2.0"),)),
        ("version 'glibc_{_}' not", "version `GLIBC_2.28' not found", (("_", "2.28"),)),
        ("abc*def", "abc\ndef", None),
        ("abc()*def", ">>> abc()\ndef", ()),
        ("abc()*def", ">>> abc()\nx\ndef", None),
        ("abc*def", "abc" + "x" * 3000 + "def", None),
        ("torch {torch} x", "torch none x", None),
    ],
)
def test_patterns(pattern: str, text: str, slots: tuple[tuple[str, str], ...] | None) -> None:
    """A pattern stands in one line, ignores case, slashes and quotes, and its gaps are bounded."""
    hit = ErrorText(text).find(pattern)
    assert (hit.slots if hit else None) == slots


@pytest.mark.parametrize(
    "pattern", ["*x", "{torch} is found", "ab", "abc {torch}{ipex}", "abc*a*b*c*d", "abc {torch", "abc\ndef"]
)
def test_wrong_patterns_are_refused(pattern: str) -> None:
    """A pattern that could match nearly everything, or cost much, is no data."""
    source = {"a": {"repo": "a/b", "thread": "issues/1", "seen": DAY}}
    cause = {"id": "c", "kind": "version", "title": "t", "why": "w", "do": ["d"], "sources": ["a"]}
    symptom = {"id": "s", "patterns": [pattern], "causes": [{"cause": "c", "weight": 5}], "sources": ["a"]}
    with pytest.raises(ValidationError):
        SymptomFile.model_validate({"source": source, "cause": [cause], "symptom": [symptom]})


def test_a_cause_needs_a_symptom() -> None:
    """A symptom names causes that are there, and no cause stands alone."""
    source = {"a": {"repo": "a/b", "thread": "issues/1", "seen": DAY}}
    cause = {"id": "c", "kind": "version", "title": "t", "why": "w", "do": ["d"], "sources": ["a"]}
    with pytest.raises(ValidationError, match="no symptom names"):
        SymptomFile.model_validate({"source": source, "cause": [cause]})
    symptom = {"id": "s", "patterns": ["abcd"], "causes": [{"cause": "x", "weight": 5}], "sources": ["a"]}
    with pytest.raises(ValidationError, match="no such cause"):
        SymptomFile.model_validate({"source": source, "cause": [], "symptom": [symptom]})


@settings(max_examples=examples(150))
@given(st.binary(max_size=400))
def test_any_bytes_are_text(content: bytes) -> None:
    """Whatever bytes come, the plain form has the same lines as the text, and every hit names one of them."""
    text = decode(content)
    pasted = ErrorText(text)
    assert pasted.plain.count("\n") == text.count("\n")
    assert plain(text) == pasted.plain
    for at in pasted.places("e"):
        number, _ = pasted.line_at(at)
        assert 1 <= number <= text.count("\n") + 1


@settings(max_examples=examples(60))
@given(st.text(st.sampled_from("torch=2.+xpu01 \n{}*[](requires you have libsycl.so:'\"\\/"), max_size=200))
def test_any_text_is_answered(facts: Snapshot, text: str) -> None:
    """No text makes an error."""
    diagnose(facts, text, clock())


HOSTILE = {
    "one word": "torch ",
    "pins": "torch==2.",
    "lines": "torch 2.4.0\n",
    "newlines": "\n",
    "digits": "1.",
    "first part of a pattern": "[winerror 126] ",
    "second part of a pattern": "/torch/lib",
    "gate": "needs to work with pytorch 2.",
    "escapes": "\x1b[0",
    "letters that grow": "\u0130",
    "name without end": "no matching distribution found for a",
}


@pytest.mark.long
@pytest.mark.parametrize("name", parted(HOSTILE, ("pins", "lines", "first part of a pattern", "escapes"), pytest.mark.soak))
def test_long_texts_are_bounded(facts: Snapshot, name: str) -> None:
    """A text that repeats what patterns look for takes no more than twice the steps at twice its length."""
    piece = HOSTILE[name]
    texts = ["[winerror 126]" + piece * (size // len(piece)) for size in (60_000, 60_000, 120_000)]
    _, short, long = (_calls(partial(diagnose, facts, text, clock())) for text in texts)  # the first one fills caches
    assert long < 2.2 * short


def _calls(work: Callable[[], object]) -> int:
    """Return how many functions some work calls; what one of them does with a text is linear (`regex_growth.py`)."""
    count = 0

    def called(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def test_only_a_part_of_very_long_texts_counts() -> None:
    """Of a text beyond the limit its ends count, and lines between that tell of a failure; what is left out is said."""
    text = b"first\n" + b"a\n" * LIMIT + b"RuntimeError: here\n" + b"z\n" * LIMIT + b"last"
    content, left = read_ends(io.BytesIO(text))
    assert content.startswith(b"first\n")
    assert content.endswith(b"last")
    assert b"\nRuntimeError: here\n" in content
    assert len(content) <= LIMIT
    assert left > 3 * LIMIT
    assert read_ends(io.BytesIO(b"abc")) == (b"abc", 0)


@pytest.mark.soak
def test_a_line_of_many_megabytes_is_bounded(run: Callable[..., Run], tmp_path: Path) -> None:
    """One endless line is read in part: what its ends say is answered, and how much was left out is told."""
    path = tmp_path / "log.txt"
    path.write_bytes(b"torch==2. python " * 3_000_000 + GATE.encode())
    tracemalloc.start()
    done = run("diagnose", str(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert done.out.startswith("✗ cause: IPEX and torch are of different releases")
    assert "bytes in the middle of the text are left out" in done.err
    assert peak < 60_000_000


GATE = "ERROR! Intel® Extension for PyTorch* needs to work with PyTorch 2.4.*, but PyTorch 2.5.1+cpu is found."


def test_pasted_into_the_command(run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """The text comes by standard input; the answer names the cause, the versions, why they exclude each other, and a way."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GATE.encode()), encoding="utf-8"))
    done = run("diagnose")
    assert done.code == 0
    assert done.out.startswith("✗ cause: IPEX and torch are of different releases\n")
    assert "stops unless torch is 2.4" in " ".join(done.out.split())
    assert "    python -m pip install" in done.out


def test_file_of_a_windows_shell(run: Callable[..., Run], tmp_path: Path) -> None:
    """A file that was redirected as UTF-16 is read as any other."""
    path = tmp_path / "log.txt"
    path.write_bytes(GATE.encode("utf-16"))
    assert "IPEX and torch" in run("diagnose", str(path)).out


def test_a_way_keeps_what_it_holds_alone(run: Callable[..., Run], tmp_path: Path) -> None:
    """Beside the command without what has ended no way is said to keep it that leaves it out as well."""
    path = tmp_path / "log.txt"
    path.write_text(
        "host: Ubuntu 24.04, Python 3.11\ntorch 2.5.1+cpu\nintel-extension-for-pytorch 2.5.0\ntransformers 4.52.3\n"
        "ValueError: Due to a serious vulnerability issue in `torch.load`, even with `weights_only=True`, "
        "we now require users to upgrade torch to at least v2.6 in order to use the function.\n",
        encoding="utf-8",
    )
    done = run("diagnose", str(path)).out
    assert "uninstall -y intel-extension-for-pytorch" in done
    assert "keeps IPEX" not in done


def test_unknown_text(run: Callable[..., Run], tmp_path: Path) -> None:
    """A text without a known cause is answered with 7, and says so."""
    path = tmp_path / "log.txt"
    path.write_text("KeyError: 'x'\n", encoding="utf-8")
    done = run("diagnose", str(path))
    assert (done.code, "? cause unknown" in done.out) == (7, True)
    assert "compatkb doctor" in done.out


@pytest.mark.parametrize("content", [None, b"", b" \n"])
def test_nothing_to_read(run: Callable[..., Run], tmp_path: Path, content: bytes | None) -> None:
    """A missing file and an empty text are wrong usage, in one line."""
    path = tmp_path / "log.txt"
    if content is not None:
        path.write_bytes(content)
    done = run("diagnose", str(path))
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1


def test_json_fields_are_documented(run: Callable[..., Run], tmp_path: Path) -> None:
    """docs/diagnose.md names every field that programs get."""
    path = tmp_path / "log.txt"
    path.write_text(f"{GATE}\nERROR: No matching distribution found for torch==2.5.1.post0+xpu\n", encoding="utf-8")
    answer = json.loads(run("diagnose", str(path), "--format", "json").out)
    assert answer["causes"][0]["id"] == "ipex-torch-mismatch"
    assert answer["verdict"] == "does-not-work"
    assert answer["wanted"][0]["known"] is False
    assert any(build["version"] == "2.5.1+cxx11.abi" for build in answer["wanted"][0]["builds"])
    named = set(answer) | {key for name in ("causes", "versions", "wanted", "either") for key in answer[name][0]}
    for field in named:
        assert f"`{field}`" in PAGE, field


def test_ended_products_have_a_way_out(facts: Snapshot) -> None:
    """Where the text is about a product that has ended, a stack without it is shown, as new as what replaces it."""
    made = diagnose(facts, "libintel-ext-pt-gpu.so: undefined symbol: x", clock())
    assert made.instead
    assert made.instead.stack.verdict in WORKS
    assert not {e.product for e in made.instead.stack.packages} & set(made.instead.ended)
    assert diagnose(facts, "numpy is not available", clock()).instead is None


SMALL = """[source]
thread = { repo = "a/b", thread = "issues/1", seen = 2026-11-21 }

[[cause]]
id = "one"
kind = "version"
title = "One"
why = "Because."
do = ["Do it."]
device = "cpu"
sources = ["thread"]

[[symptom]]
id = "first"
patterns = ["torch {torch} is found"]
causes = [{ cause = "one", weight = 5 }]
sources = ["thread"]

[[symptom]]
id = "second"
patterns = ["other words"]
causes = [{ cause = "one", weight = 5 }]
sources = ["thread"]
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", None),
        ("torch {torch}", "torch {tortch}", "tortch is no product"),
        ('id = "second"', 'id = "first"', "first is there twice"),
        ('device = "cpu"', 'device = "cpus"', "cpus is no known device"),
        (
            'do = ["Do it."]\ndevice = "cpu"\nsources = ["thread"]',
            'do = ["Do it."]\nsources = ["x"]',
            "source x is not defined",
        ),
    ],
)
def test_lint_sees_faults(old: str, new: str, said: str | None) -> None:
    """References of symptoms are checked as those of other data."""
    contents = written(good()) | {"symptoms.toml": SMALL.replace(old, new, 1).encode()}
    found = [f.message for f in lint(contents, DAY, ("references", "sources", "form")).findings if f.path == "symptoms.toml"]
    assert any(said in message for message in found) if said else not found


def test_data_without_symptoms(run: Callable[..., Run], tmp_path: Path) -> None:
    """A data directory need not have symptoms."""
    from builders import data_directory, product

    data_directory(tmp_path / "data", [product("torch", distribution="torch", releases=["2.0.0"])])
    path = tmp_path / "log.txt"
    path.write_text(GATE, encoding="utf-8")
    assert run("diagnose", str(path), "--data", str(tmp_path / "data")).code == 7


@pytest.mark.parametrize(
    ("pin", "said", "nearest", "device"),
    [
        (
            "torch==2.8.0+xpu",
            "exists: 2.8.0+xpu on https://download.pytorch.org/whl/xpu",
            "2.8.0+xpu",
            "xpu",
        ),
        ("torch==2.8.0+cpu", "exists: 2.8.0+cpu on https://download.pytorch.org/whl/cpu", None, "cpu"),
        ("torch==2.5.1.post0+xpu", "does not exist; that release has ", "2.5.1+xpu", "xpu"),
        ("torch==2.4.0+xpu", "exists without wheels; that release has ", None, "xpu"),
    ],
)
def test_a_pin_that_was_not_found(
    pin: str, said: str, nearest: str | None, device: str, run: Callable[..., Run], tmp_path: Path
) -> None:
    """What an installer could not find is named with its own index; what is near is for the device of its label."""
    path = tmp_path / "log.txt"
    path.write_text(f"ERROR: No matching distribution found for {pin}\n", encoding="utf-8")
    assert f"{pin} {said}" in " ".join(run("diagnose", str(path)).out.split())
    answer = json.loads(run("diagnose", str(path), "--format", "json").out)
    near = [*answer["nearest"], *answer["either"]]
    assert {stack["stack"]["device"] for stack in near} == {device}
    if nearest:
        assert near[0]["stack"]["packages"]["torch"] == nearest


def test_a_way_out_names_its_python(facts: Snapshot) -> None:
    """Where what takes the place of ended products is not for the Python of a text, the answer says which one it needs."""
    case = tomllib.loads((ROOT / "tests/cases/diagnose/ccl-cxx11.toml").read_text(encoding="utf-8"))
    assert diagnose(facts, case["text"], clock()).instead is None  # the text names no device
    made = diagnose(facts, f"{case['text']}\n--device xpu", clock())
    assert made.instead
    assert made.target.python == "3.8"
    assert "3.8" not in made.instead.stack.python
    assert "on Python 3.12" in diagnosis_text(present_diagnosis(facts, made, clock().day))
