"""`compatkb doctor`: real environments with stand-in wheels that real pip installed, copies of sysfs, and reports."""

import io
import json
import os
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from builders import wheel_file
from conftest import ROOT, Run, clock, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from machine_labels import missing

from compatkb.doctor.known_machine import KnownMachine
from compatkb.doctor.machine import Graphics, Installed, Machine, Node
from compatkb.doctor.machine.interpreter import active, read_interpreter
from compatkb.doctor.machine.reports import read_report
from compatkb.doctor.machine.system import read_graphics, read_libraries, read_nodes, read_packages, read_release
from compatkb.doctor.questions import KnownData
from compatkb.doctor.verdict import Examination, examine
from compatkb.errors import UsageError
from compatkb.output.doctor_report import examination_lines, present_examination
from compatkb.output.screen import fitted, labelled_rows, text_of
from compatkb.store.reader import Snapshot

DAY = date(2026, 11, 21)
WORKS = ("works", "works-with-warnings", "likely")
PAGE = (ROOT / "docs/doctor.md").read_text(encoding="utf-8")
INTEL = [
    ("0bd5", "max"), ("0bda", "max"), ("56c0", "flex"), ("56c1", "flex"), ("56a0", "arc-a"), ("5690", "arc-a"),
    ("56a5", "arc-a"), ("e20b", "arc-b"), ("e20c", "arc-b"), ("e211", "arc-pro-b60"), ("e212", "arc-pro-b60"),
    ("e223", "arc-pro-b70"), ("56b1", "arc-pro-a"),
    ("7d55", "meteor-lake-h"), ("64a0", "lunar-lake"), ("7d51", "arrow-lake-h"), ("b080", "panther-lake"),
    ("4680", "uhd-igpu"), ("9a49", "uhd-igpu"), ("a780", "uhd-igpu"), ("3e92", "uhd-igpu"), ("46a6", "uhd-igpu"),
    ("1916", "uhd-igpu"), ("4905", None), ("7d45", None), ("7d67", None), ("6420", None), ("fffe", None),
]  # fmt: skip


def wheel(folder: Path, name: str, version: str, module: str, *, written: str | None = None) -> None:
    """Write a wheel that holds nothing but a package that says its version and fails when it is imported."""
    files: dict[str, str | bytes] = {
        f"{module}/__init__.py": "raise SystemExit('a package under test was imported')\n",
        f"{module}/version.py": f"__version__ = '{written or version}'\n",
    }
    file, content = wheel_file(name, version, files)
    (folder / file).write_bytes(content)


def environment(folder: Path, wheels: Sequence[tuple[str, str, str]]) -> str:
    """Make an environment, install stand-ins with real pip, and return its interpreter."""
    venv.create(folder / "venv", with_pip=False, symlinks=os.name != "nt")
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    (folder / "wheels").mkdir()
    for name, version, module in wheels:
        wheel(folder / "wheels", name, version, module)
    if wheels:
        pip = [sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check", "--python", str(python)]
        options = ["install", "-q", "--no-index", "--no-deps", "--no-compile", "--find-links", str(folder / "wheels")]
        subprocess.run([*pip, *options, *(f"{name}=={version}" for name, version, _ in wheels)], check=True)
    return str(python)


IPEX = ("intel-extension-for-pytorch", "intel_extension_for_pytorch")


@pytest.fixture(scope="module")
def matching(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The interpreter of an environment whose packages go together."""
    wheels = [("torch", "2.8.0+xpu", "torch"), (IPEX[0], "2.8.10+xpu", IPEX[1]), ("numpy", "1.26.4", "numpy")]
    return environment(tmp_path_factory.mktemp("matching"), wheels)


@pytest.fixture(scope="module")
def mismatched(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The interpreter of an environment whose IPEX is of another release than its torch."""
    wheels = [("torch", "2.7.0+cpu", "torch"), (IPEX[0], "2.8.0", IPEX[1]), ("torchaudio", "2.8.0", "torchaudio")]
    return environment(tmp_path_factory.mktemp("mismatched"), wheels)


def sysfs(folder: Path, devices: Sequence[tuple[str, str, str | None]]) -> Path:
    """Write a sysfs with a network card and these display devices: vendor, device and kernel driver."""
    bus = folder / "bus/pci/devices"
    made = [("8086", "15f3", "igc", "0x020000"), *((v, d, k, "0x030000") for v, d, k in devices)]
    for number, (vendor, device, driver, kind) in enumerate(made):
        slot = bus / f"0000:{number:02x}:00.0"
        slot.mkdir(parents=True)
        for name, value in (("vendor", f"0x{vendor}"), ("device", f"0x{device}"), ("class", kind)):
            (slot / name).write_text(f"{value}\n", encoding="ascii")
        if driver:
            (folder / "bus/pci/drivers" / driver).mkdir(parents=True, exist_ok=True)
            (slot / "driver").symlink_to(folder / "bus/pci/drivers" / driver)
    return folder


def of_json(run: Callable[..., Run], *words: str) -> tuple[int, dict[str, Any]]:
    """Run doctor and return its exit code and its answer."""
    done = run("doctor", *words, "--format", "json")
    return done.code, json.loads(done.out)


@pytest.mark.long
def test_matching_packages(run: Callable[..., Run], matching: str, tmp_path: Path) -> None:
    """What goes together is said to, with its local labels, and nothing has to change; nothing was imported."""
    code, answer = of_json(run, "--python", matching, "--sysfs", str(sysfs(tmp_path, [("8086", "e20b", "xe")])))
    packages = {package["name"]: package["version"] for package in answer["packages"]}
    assert packages["torch"] == "2.8.0+xpu"
    assert packages[IPEX[0]] == "2.8.10+xpu"
    assert answer["verdict"] in WORKS
    assert answer["request"]["devices"] == ["xpu"]
    assert (code, answer["steps"], answer["commands"]) == (0, [], [])


@pytest.mark.long
def test_mismatched_packages(run: Callable[..., Run], mismatched: str) -> None:
    """What does not go together is denied, with the reason, the changes, and commands for that very interpreter."""
    code, answer = of_json(run, "--python", mismatched)
    assert (code, answer["verdict"]) == (1, "does-not-work")
    assert answer["reasons"]
    assert answer["stack"]["verdict"] in WORKS
    changed = {step["distribution"]: (step["before"], step["after"]) for step in answer["steps"]}
    assert changed
    for name, version in changed.values():
        assert name != version
    assert all(command.startswith(mismatched) for command in answer["commands"])
    shown = run("doctor", "--python", mismatched).out
    assert shown.startswith("✗ does not work   ")
    assert f"    {mismatched} -m pip " in shown


@pytest.mark.verdict
def test_the_way_works(facts: Snapshot, mismatched: str) -> None:
    """After the changes that are proposed, the same machine is said to work."""
    machine = read_interpreter(mismatched, KnownData(facts).modules())._replace(release=("ubuntu", "22.04"))
    made = examine(facts, machine, clock())
    assert made.best
    mended = {item.name: item for item in machine.packages}
    for step in made.steps:
        mended.pop(step.distribution, None)
        if step.after:
            mended[step.distribution] = Installed(step.distribution, step.after)
    numbers = made.best.stack.python
    python = machine.python if machine.python in numbers else numbers[-1]
    again = examine(facts, machine._replace(packages=tuple(mended.values()), python=python), clock())
    assert again.verdict in WORKS


def test_nothing_installed(run: Callable[..., Run], tmp_path: Path) -> None:
    """An empty environment is told what to install for its hardware."""
    python = environment(tmp_path, [])
    code, answer = of_json(run, "--python", python, "--sysfs", str(sysfs(tmp_path / "sys", [("8086", "56a0", "i915")])))
    assert (code, answer["verdict"], answer["packages"]) == (7, "nothing-installed", [])
    assert answer["stack"]["device"] == "xpu"
    assert all(step["before"] is None for step in answer["steps"])


@pytest.mark.long
def test_broken_environment(run: Callable[..., Run], tmp_path: Path) -> None:
    """Metadata without package, package without metadata, metadata without version, and two versions of one are found."""
    wheels = [("torch", "2.8.0+cpu", "torch"), ("torchvision", "0.23.0", "torchvision"), ("torchaudio", "2.8.0", "torchaudio")]
    python = environment(tmp_path, wheels)
    (site,) = (path.parent for path in (tmp_path / "venv").rglob("torch") if path.is_dir())
    (site / "torch/version.py").write_text("__version__ = '2.7.1+xpu'\n", encoding="utf-8")
    (site / "torchvision/__init__.py").unlink()
    (site / "torchaudio-2.8.0.dist-info/METADATA").write_text("", encoding="utf-8")
    (site / IPEX[1]).mkdir()
    (site / IPEX[1] / "__init__.py").write_text("", encoding="utf-8")
    code, answer = of_json(run, "--python", python)
    rules = {remark["rule"] for remark in answer["remarks"]}
    assert {"two-versions", "missing-package", "broken-metadata", "no-metadata"} <= rules
    assert code == 1
    assert answer["verdict"] not in WORKS


def test_installed_twice(facts: Snapshot) -> None:
    """Two versions of a distribution on one path are an error."""
    packages = (Installed("torch", "2.8.0+cpu"), Installed("torch", "2.7.0+cpu"))
    made = examine(facts, Machine("test", "3.12", "linux", packages=packages), clock())
    assert "installed-twice" in rules_of(made)
    assert not made.healthy


def rules_of(made: Examination) -> set[str]:
    """Return the rules of the remarks."""
    return {remark.rule for remark in made.remarks}


@pytest.mark.verdict
def test_ended_packages_have_a_way_out(facts: Snapshot) -> None:
    """Beside packages that have ended, the stack for the same device that does without them is shown."""
    for label, ipex in (("xpu", "2.8.10+xpu"), ("cpu", "2.8.0")):
        packages = (Installed("torch", f"2.8.0+{label}"), Installed(IPEX[0], ipex))
        made = examine(facts, Machine("t", "3.12", "linux", arch="x86_64", packages=packages), clock())
        assert made.instead
        assert made.instead.stack.device == label


def test_what_conda_installed_is_removed_with_conda(facts: Snapshot) -> None:
    """A command of pip for an environment in which conda put torch says that conda has to take it away first."""
    for installer, said in (("conda", True), ("pip", False)):
        packages = (Installed("torch", "2.8.0", installer=installer), Installed(IPEX[0], "2.8.10+xpu"))
        made = examine(facts, Machine("t", "3.12", "linux", arch="x86_64", packages=packages), clock())
        lines = examination_lines(present_examination(facts, made, clock().day))
        assert ("conda put torch 2.8.0" in " ".join(text_of(lines).split())) is said


def test_a_label_stays_with_the_rows_that_stay() -> None:
    """Where the first row of a label has no room, the next one carries the label."""
    blocks = labelled_rows([("detected", "first", 9), ("detected", "second", 0), ("fix", "third", 0)])
    assert text_of(fitted(blocks, 2)).splitlines() == ["  detected       second", "  fix            third"]
    assert text_of(fitted(blocks, 3)).splitlines()[1] == f"{'':17}second"


@pytest.mark.verdict
def test_unknown_build_never_works(facts: Snapshot) -> None:
    """Beside a build that the data do not know, the rest is not said to work; what packages say can still deny."""
    known = Installed("intel-extension-for-pytorch", "2.8.0")
    for version, verdict in (
        ("2.8.0+cu126", "unknown"),
        ("2.8.0.dev20250501+xpu", "unknown"),
        ("2.1.0+cu118", "does-not-work"),
    ):
        machine = Machine("test", "3.11", "linux", arch="x86_64", packages=(known, Installed("torch", version)))
        assert examine(facts, machine, clock()).verdict == verdict, version


def test_runtime_package_that_does_not_fit(facts: Snapshot) -> None:
    """A run-time package such as numpy can be what denies, and is then named."""
    packages = (
        Installed("torch", "2.1.0+cpu"),
        Installed("intel-extension-for-pytorch", "2.1.0"),
        Installed("numpy", "2.1.2"),
        Installed("setuptools", "69.5.1"),
    )
    made = examine(facts, Machine("test", "3.11", "linux", arch="x86_64", packages=packages), clock())
    assert made.verdict == "does-not-work"
    assert made.answer
    assert "numpy" in {pin.product for pin in made.answer.request.pins}
    assert "setuptools" not in {pin.product for pin in made.answer.request.pins}


@pytest.mark.parametrize(("device", "hardware"), INTEL)
def test_intel_graphics(facts: Snapshot, tmp_path: Path, device: str, hardware: str | None) -> None:
    """A GPU is told by its PCI id alone, and an integrated one is never taken for a card."""
    found = read_graphics(sysfs(tmp_path, [("8086", device, "i915")]))
    assert found == (Graphics("0000:01:00.0", "8086", device, "i915"),)
    assert KnownMachine(facts, Machine("here"), clock()).seen_as(found[0]).hardware == hardware
    made = examine(facts, Machine("test", "3.12", "linux", arch="x86_64", graphics=found), clock())
    named = hardware not in (None, "uhd-igpu")
    assert ("unnamed-graphics" in rules_of(made)) is not named
    assert made.best
    assert made.best.stack.device == ("xpu" if named else "cpu")


def test_every_family_is_covered(facts: Snapshot) -> None:
    """The copies of sysfs above have a GPU of every hardware that the data tell by id, and no id is there twice."""
    records = facts.guide_records("graphics")
    ids = [(record["vendor"], name) for record in records for name in record["ids"]]
    assert len(ids) == len(set(ids))
    assert {record["hardware"] for record in records} - {None} == {hardware for _, hardware in INTEL} - {None}
    assert all(record["sources"] for record in records)


def test_nvidia(facts: Snapshot, tmp_path: Path) -> None:
    """Another vendor's GPU is named and otherwise left alone."""
    found = read_graphics(sysfs(tmp_path, [("10de", "2684", "nvidia")]))
    assert found
    seen = KnownMachine(facts, Machine("here"), clock()).seen_as(found[0])
    assert (seen.hardware, seen.name) == (None, "NVIDIA graphics")
    made = examine(facts, Machine("test", "3.12", "linux", graphics=found), clock())
    assert not rules_of(made)


REPORTS = sorted((Path(__file__).parent / "cases" / "doctor").glob("*.toml"))


@pytest.mark.verdict
@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_real_report(path: Path, facts: Snapshot) -> None:
    """Real reports get the verdict, the machine and the way that somebody labelled by hand."""
    case = tomllib.loads(path.read_text(encoding="utf-8"))
    assert not list(missing(case, examine(facts, read_report(facts, case["text"], "report"), clock())))


def test_reports_are_real_and_many() -> None:
    """There are at least twenty, and each cites its thread."""
    cases = [tomllib.loads(path.read_text(encoding="utf-8")) for path in REPORTS]
    assert len(cases) >= 20
    assert all(case["source"]["repo"].count("/") == 1 and case["source"]["thread"] for case in cases)


@pytest.mark.verdict
def test_a_gpu_that_is_not_used_never_works(facts: Snapshot) -> None:
    """Neither a build for another device beside a GPU, nor one whose torch sees none, is said to work or left as it is."""
    graphics = (Graphics("0", "", "", None, "Intel(R) Arc(TM) A770 Graphics"),)
    machine = Machine("t", "3.12", "linux", ("ubuntu", "24.04"), arch="x86_64", graphics=graphics)
    for build in ("2.8.0+cpu", "2.8.0+cu128", "2.8.0"):
        made = examine(facts, machine._replace(packages=(Installed("torch", build),)), clock())
        assert (made.verdict, made.healthy) == ("gpu-not-used", False)
        assert made.best
        assert made.best.stack.device == "xpu"
        assert [(step.before, step.after) for step in made.steps if step.distribution == "torch"] == [(build, "2.8.0+xpu")]
    blind = machine._replace(packages=(Installed("torch", "2.8.0+xpu"),), sees_gpu=False)
    made = examine(facts, blind, clock())
    assert (made.verdict, made.healthy, made.steps) == ("gpu-not-used", False, ())
    assert "gpu-not-available" in rules_of(made)
    assert examine(facts, blind._replace(sees_gpu=True), clock()).verdict in WORKS


@pytest.mark.verdict
def test_the_way_has_the_fewest_changes(facts: Snapshot) -> None:
    """Releases that are installed stay, companions come along in the builds for the GPU, and bystanders are left alone."""
    packages = tuple(
        Installed(*pair) for pair in (("torch", "2.8.0+cpu"), ("torchvision", "0.23.0+cpu"), ("transformers", "4.52.3"))
    )
    graphics = (Graphics("0", "8086", "56a0", "i915"),)
    machine = Machine("t", "3.12", "linux", ("ubuntu", "24.04"), arch="x86_64", packages=packages, graphics=graphics)
    changes = {step.distribution: step.after for step in examine(facts, machine, clock()).steps}
    assert changes["torch"] == "2.8.0+xpu"
    assert changes["torchvision"] == "0.23.0+xpu"
    assert "transformers" not in changes


@pytest.mark.verdict
def test_build_for_the_wrong_device(facts: Snapshot) -> None:
    """A CPU build beside a GPU that has XPU support is remarked on, and is not said to work."""
    graphics = (Graphics("0", "8086", "e20b", "xe"),)
    machine = Machine("t", "3.12", "linux", arch="x86_64", packages=(Installed("torch", "2.8.0+cpu"),), graphics=graphics)
    made = examine(facts, machine, clock())
    assert "build-for-another-device" in rules_of(made)
    assert made.verdict == "gpu-not-used"


@pytest.mark.verdict
@pytest.mark.parametrize(("device", "python", "is_proven"), [("e20b", "3.12", False), ("e20b", "3.9", True)])
def test_the_proven_stands_beside_the_newest(facts: Snapshot, device: str, python: str, *, is_proven: bool) -> None:
    """Where a step of the newest stack is only inferred, the best one that is proven is told as well, with its Pythons.

    It is no newer, save on a Python that the machine does not have.
    """
    machine = Machine(
        "t", python, "linux", ("ubuntu", "24.04"), arch="x86_64", graphics=(Graphics("0", "8086", device, "xe"),)
    )
    made = examine(facts, machine, clock())
    assert made.best
    assert (made.best.stack.verdict, made.proven is not None) == ("likely" if is_proven else "works", is_proven)
    assert (
        "  also works     documented or tested: " in text_of(examination_lines(present_examination(facts, made, DAY)))
    ) is is_proven
    if made.proven:
        first, second = (next(e for e in s.packages if e.product == "torch") for s in (made.best.stack, made.proven))
        assert made.proven.verdict in ("works", "works-with-warnings")
        assert first.idx >= second.idx or python not in made.proven.python
        told = text_of(examination_lines(present_examination(facts, made, DAY)))
        assert (f"{second.version} on Python 3." in told) is (python not in made.proven.python)


def test_the_way_from_the_processor_to_the_graphics(facts: Snapshot) -> None:
    """Builds for the CPU beside a GPU that the makers name: the way to builds for the GPU is shown."""
    installed, graphics = (Installed("torch", "2.8.0+cpu"),), (Graphics("0", "8086", "56a0", "i915"),)
    machine = Machine("t", "3.12", "linux", ("ubuntu", "24.04"), arch="x86_64", packages=installed, graphics=graphics)
    made = examine(facts, machine, clock())
    assert made.verdict == "gpu-not-used"
    assert "build-for-another-device" in rules_of(made)
    assert made.best
    assert made.best.stack.device == "xpu"
    assert made.steps[0].before == "2.8.0+cpu"
    text = text_of(examination_lines(present_examination(facts, made, DAY)))
    assert text.startswith("✗ build for another device   ")
    assert "+xpu" in text
    assert "Nothing has to change" not in text


@pytest.mark.parametrize("graphics", [(), ("4680",), ("7d67",)])
def test_build_for_graphics_that_no_table_names(facts: Snapshot, graphics: tuple[str, ...]) -> None:
    """An XPU build is not said to work beside an old UHD, or without a GPU; where nobody looked, the packages decide."""
    seen = tuple(Graphics(str(n), "8086", device, "i915") for n, device in enumerate(graphics))
    packages = (Installed("torch", "2.8.0+xpu"), Installed("torchvision", "0.23.0+xpu"))
    machine = Machine("t", "3.12", "linux", arch="x86_64", packages=packages, graphics=seen)
    made = examine(facts, machine, clock())
    assert made.verdict == "unknown"
    assert "no-graphics-for-build" in rules_of(made)
    assert examine(facts, machine._replace(graphics=None), clock()).verdict in WORKS


def test_driver_series_and_parts(facts: Snapshot, tmp_path: Path) -> None:
    """The series of the driver is read from package versions; a part that is missing is named."""
    status = tmp_path / "var/lib/dpkg/status"
    status.parent.mkdir(parents=True)
    blocks = [
        ("intel-opencl-icd", "install ok installed", "23.43.27642.40-803~22.04"),
        ("libze1", "deinstall ok config-files", "1.14.0-744~22.04"),
        ("bash", "install ok installed", "5.2"),
    ]
    status.write_text("\n".join(f"Package: {n}\nStatus: {s}\nVersion: {v}\n" for n, s, v in blocks), encoding="utf-8")
    drivers = read_packages(tmp_path, {"intel-opencl-icd", "libze1"})
    assert drivers == (("intel-opencl-icd", "23.43.27642.40-803~22.04"),)
    graphics = (Graphics("0", "8086", "56c0", "i915"),)
    made = examine(facts, Machine("t", "3.10", "linux", graphics=graphics, drivers=drivers), clock())
    assert made.driver == "803"
    assert "driver-part-missing" in rules_of(made)


def test_driver_that_no_list_names(facts: Snapshot) -> None:
    """Lists of tested drivers deny nothing, but that they name others is said."""
    packages = (Installed("torch", "2.1.0.post0+cxx11.abi"), Installed(IPEX[0], "2.1.20+xpu"))
    machine = Machine("t", "3.10", "linux", arch="x86_64", packages=packages)
    for series, said in (("647", True), ("803", False)):
        drivers = (("intel-opencl-icd", f"23.43.27642.40-{series}~22.04"),)
        made = examine(facts, machine._replace(drivers=drivers), clock())
        assert ("driver-not-named" in rules_of(made)) is said
        assert made.verdict in WORKS


def test_device_files(facts: Snapshot, tmp_path: Path) -> None:
    """No render node, and one that this user may not open, are errors."""
    graphics = (Graphics("0", "8086", "56a0", None),)
    assert read_nodes(tmp_path / "nothing") == ()
    machine = Machine("t", "3.12", "linux", graphics=graphics, nodes=read_nodes(tmp_path))
    assert {"no-render-node", "no-kernel-driver"} <= rules_of(examine(facts, machine, clock()))
    (tmp_path / "renderD128").write_text("", encoding="ascii")
    nodes = read_nodes(tmp_path)
    assert nodes
    assert nodes[0].usable
    refused = machine._replace(nodes=(nodes[0]._replace(usable=False),))
    assert "render-node-refused" in rules_of(examine(facts, refused, clock()))


def test_libraries_and_variables(facts: Snapshot, tmp_path: Path) -> None:
    """Run times of two generations on the way of programs, and variables that hide devices, are remarked on."""
    for folder, name in (("oneapi", "libsycl.so.9"), ("venv", "libsycl.so.8")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text("", encoding="ascii")
    names = [record["library"] for record in facts.guide_records("generation")]
    libraries = read_libraries([tmp_path / "oneapi", tmp_path / "gone", tmp_path / "venv"], names)
    assert [Path(path).name for path in libraries] == ["libsycl.so.9", "libsycl.so.8"]
    variables = (("ZE_AFFINITY_MASK", "0.0"),)
    made = examine(facts, Machine("t", "3.12", "linux", libraries=libraries, variables=variables), clock())
    assert rules_of(made) == {"mixed-runtimes", "devices-hidden"}


@pytest.mark.parametrize(
    ("text", "kernel", "system"),
    [
        ('ID=ubuntu\nVERSION_ID="22.04"\n', "5.15.0", "ubuntu22.04"),
        ('ID="rhel"\nVERSION_ID="9.4"\n', "5.14.0", "rhel9.4"),
        ('ID="rhel"\nVERSION_ID="9.9"\n', "5.14.0", "rhel9"),
        ('ID="almalinux"\nVERSION_ID="9.4"\n', "5.14.0", "alma9"),
        ('ID="sles"\nVERSION_ID="15.5"\n', "5.14.0", "sles15sp5"),
        ('ID=ubuntu\nVERSION_ID="24.04"\n', "5.15.167.4-microsoft-standard-WSL2", "wsl2-ubuntu24.04"),
        ("ID=arch\n", "6.9.1", "linux"),
        ("", "6.9.1", "linux"),
    ],
)
def test_distributions(facts: Snapshot, tmp_path: Path, text: str, kernel: str, system: str) -> None:
    """A distribution is named as closely as the data know it, WSL by its kernel."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_text(text, encoding="utf-8")
    machine = Machine("t", "3.12", "linux", read_release(tmp_path), kernel)
    assert examine(facts, machine, clock()).system == system


def test_pip_inspect(run: Callable[..., Run], mismatched: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `pip inspect` prints of an environment leads to the same verdict."""
    line = [sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check", "--python", mismatched, "inspect"]
    report = subprocess.run(line, capture_output=True, check=True).stdout
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(report), encoding="utf-8"))
    code, answer = of_json(run, "-")
    assert (code, answer["verdict"], answer["graphics"]) == (1, "does-not-work", None)


@pytest.mark.parametrize("torch", ["2.8.0", "2.8.0+cpu"])
def test_mixed_builds(run: Callable[..., Run], tmp_path: Path, torch: str) -> None:
    """A build for GPUs is the wish for one: torch beside it that is none is named, and changed for its own release."""
    report = {
        "installed": [
            {"metadata": {"name": name, "version": version}}
            for name, version in (("torch", torch), ("intel-extension-for-pytorch", "2.8.10+xpu"))
        ],
        "environment": {"python_full_version": "3.12.3", "sys_platform": "linux", "platform_machine": "x86_64"},
    }
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report), encoding="utf-8")
    code, answer = of_json(run, str(path))
    assert (code, answer["verdict"]) == (1, "does-not-work")
    assert [remark["rule"] for remark in answer["remarks"] if remark["level"] == "error"] == ["mixed-builds"]
    assert {"2.8.0+xpu"} == {step["after"] for step in answer["steps"] if step["distribution"] == "torch"}


def test_mixed_builds_are_the_headline(facts: Snapshot) -> None:
    """What is mixed stands in the first line; nothing is said of products that are not there."""
    packages = (Installed("torch", "2.9.1+xpu"), Installed("torchvision", "0.24.1+cu126"))
    machine = Machine("t", "3.12", "linux", ("ubuntu", "24.04"), arch="x86_64", packages=packages)
    shown = text_of(examination_lines(present_examination(facts, examine(facts, machine, clock()), DAY)))
    assert shown.startswith("\u2717 mixed builds   torchvision 0.24.1+cu126 is no xpu build, torch 2.9.1+xpu is")
    assert "IPEX" not in shown


@pytest.mark.parametrize(("driver", "rule"), [(None, "no-kernel-driver"), ("xe", "no-render-node")])
def test_a_container_without_the_device_files(facts: Snapshot, tmp_path: Path, driver: str | None, rule: str) -> None:
    """A GPU on the bus without /dev/dri is an error: bound to a driver, the container was not given it."""
    graphics = (Graphics("0", "8086", "e20b", driver),)
    packages = (Installed("torch", "2.14.0+xpu"),)
    nodes = read_nodes(tmp_path / "dri")
    machine = Machine(
        "t", "3.12", "linux", ("ubuntu", "24.04"), arch="x86_64", packages=packages, graphics=graphics, nodes=nodes
    )
    made = examine(facts, machine, clock())
    assert rule in rules_of(made)
    assert not made.healthy
    shown = text_of(examination_lines(present_examination(facts, made, DAY)))
    assert shown.startswith(f"\u2717 {rule.replace('-', ' ')}")
    assert "--device /dev/dri" in shown


RUNTIME = (("libze-intel-gpu1", "25.48.36300.8-1"), ("libze1", "1.26.0"))
OLD_RUNTIME = (("libze-intel-gpu1", "23.43.27642.40-1ubuntu3"), ("libze1", "1.16.1"))


@pytest.mark.parametrize(
    ("kernel", "driver", "packages", "verdict", "fix"),
    [
        ("6.8.0-51-generic", None, RUNTIME, "does-not-work", "use kernel 6.11 or newer"),
        ("6.11.0-9-generic", "xe", RUNTIME, "works", None),
        ("6.14.0-37-generic", "xe", RUNTIME, "works", None),
        ("6.14.0-37-generic", "xe", OLD_RUNTIME, "does-not-work", "use compute runtime 24.31.30508.5 or newer"),
    ],
)
def test_b580_by_kernel_and_runtime(
    facts: Snapshot, kernel: str, driver: str | None, packages: tuple[tuple[str, str], ...], verdict: str, fix: str | None
) -> None:
    """A kernel or a compute runtime that does not know the card denies it, says what would, and changes no package."""
    machine = Machine(
        "t", "3.12", "linux", ("ubuntu", "24.04"), kernel, packages=(Installed("torch", "2.14.0+xpu"),),
        graphics=(Graphics("0", "8086", "e20b", driver),), nodes=(Node("/dev/dri/renderD128", usable=True),), drivers=packages,
    )  # fmt: skip
    made = examine(facts, machine, clock())
    shown = text_of(examination_lines(present_examination(facts, made, DAY)))
    assert (made.verdict, made.steps) == (verdict, ())
    assert re.findall(r"^  fix +(.*)$", shown, re.MULTILINE) == ([fix] if fix else [])
    assert "IPEX" not in shown
    assert "pip install" not in shown


@pytest.mark.parametrize("number", ["32.0.101.8826", "32.0.101.6647"])
def test_b580_on_windows_asks_for_no_package_of_linux(facts: Snapshot, number: str) -> None:
    """On Windows the driver brings the run time: it is told, and no package of a distribution is missed."""
    machine = Machine(
        "t", "3.12", "windows", packages=(Installed("torch", "2.14.0+xpu"),),
        graphics=(Graphics("0", "8086", "e20b"),), drivers=(("windows-driver", number),),
    )  # fmt: skip
    made = examine(facts, machine, clock())
    assert made.verdict == "works"
    assert made.parts == {"windows-driver": number}
    assert not {"driver-part-missing", "no-render-node"} & rules_of(made)


def test_wsl2_shows_no_gpu_on_its_bus(facts: Snapshot) -> None:
    """Under WSL2 neither the bus nor /dev/dri shows the GPU, and its kernel proves nothing: none of them is a fault."""
    machine = Machine(
        "t", "3.12", "linux", ("ubuntu", "24.04"), "6.6.87.2-microsoft-standard-WSL2",
        packages=(Installed("torch", "2.14.0+xpu"),), graphics=(), nodes=(), drivers=RUNTIME,
    )  # fmt: skip
    made = examine(facts, machine, clock())
    assert made.verdict == "works"
    assert made.healthy


def test_mixed_builds_without_a_gpu(facts: Snapshot) -> None:
    """Where no GPU is in sight, as in a container, two kinds of builds are still mended for the GPU that one is for."""
    packages = (Installed("torch", "2.9.1+xpu"), Installed("torchvision", "0.24.1+cu126"))
    machine = Machine("t", "3.12", "linux", ("ubuntu", "24.04"), arch="x86_64", packages=packages, graphics=())
    made = examine(facts, machine, clock())
    assert made.mixed
    assert [(step.distribution, step.after) for step in made.steps] == [("torchvision", "0.24.1+xpu")]


@pytest.mark.long
def test_one_kind_is_not_mixed(run: Callable[..., Run], matching: str) -> None:
    """Builds that are all for one device are not called mixed."""
    assert "mixed-builds" not in run("doctor", "--python", matching).out


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        ({"VIRTUAL_ENV": "a", "CONDA_PREFIX": "b"}, "a"),
        ({"CONDA_PREFIX": "b", "CONDA_DEFAULT_ENV": "work"}, "b"),
        ({"CONDA_PREFIX": "b", "CONDA_DEFAULT_ENV": "base"}, "project/.venv"),
        ({"VIRTUAL_ENV": "gone"}, "project/.venv"),
        ({}, "project/.venv"),
    ],
    ids=["venv", "conda", "base of conda", "a folder that is gone", "none"],
)
def test_the_active_environment(tmp_path: Path, variables: dict[str, str], wanted: str) -> None:
    """The environment asked about is the active one, else `.venv` of the folder or above; else that of the program."""
    for name in ("a", "b", "project/.venv"):
        (tmp_path / name / "bin").mkdir(parents=True)
        (tmp_path / name / "bin" / "python").touch()
        (tmp_path / name / "pyvenv.cfg").touch()
    (tmp_path / "project" / "src").mkdir()
    places = {name: value if name == "CONDA_DEFAULT_ENV" else str(tmp_path / value) for name, value in variables.items()}
    assert active(places, tmp_path / "project" / "src") == str(tmp_path / wanted / "bin" / "python")
    assert active({}, tmp_path / "a") == sys.executable


@pytest.mark.skipif(os.name == "nt", reason="a stand-in of an interpreter is a script")
@pytest.mark.parametrize("mark", ["pipx_metadata.json", "uv-receipt.toml"])
def test_an_installed_tool_is_not_what_is_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    """Without an active environment, a program that pipx or uv installed looks at the Python that the shell finds."""
    for place in ("tool", "shell"):
        (tmp_path / place / "bin").mkdir(parents=True)
        (tmp_path / place / "bin" / "python3").write_text("#!/bin/sh\n", encoding="ascii")
        (tmp_path / place / "bin" / "python3").chmod(0o755)
    path = os.pathsep.join(str(tmp_path / place / "bin") for place in ("tool", "shell"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "tool"))
    (tmp_path / "tool" / mark).write_text("", encoding="ascii")
    assert active({"PATH": path}, tmp_path) == str(tmp_path / "shell" / "bin" / "python3")
    assert active({"PATH": ""}, tmp_path) == sys.executable


COLLECTED = """Collecting environment information...
PyTorch version: 2.8.0+xpu
OS: Ubuntu 22.04.4 LTS (x86_64)
Libc version: glibc-2.35
Python version: 3.10.18 (main, Jun  4 2025, 04:05:45) [GCC 11.4.0] (64-bit runtime)
Python platform: Linux-5.15.0-153-generic-x86_64-with-glibc2.35
Intel GPU driver version:
* libze1:\t1.21.9.0-1136~22.04
* intel-opencl-icd:\t25.18.33578.15-1146~22.04
Intel GPU models detected:
* [0] _XpuDeviceProperties(name='Intel(R) Data Center GPU Max 1100', device_id=0xBDA, total_memory=49136MB)
[pip3] numpy==1.26.4
[pip3] torch==2.8.0+xpu
[pip3] torchvision==0.21.0+xpu
"""


def test_collected_environment(facts: Snapshot, run: Callable[..., Run], tmp_path: Path) -> None:
    """A paste of collect_env tells Python, system, glibc, packages, GPUs and driver packages."""
    machine = read_report(facts, COLLECTED, "report")
    assert (machine.python, machine.system, machine.release, machine.glibc) == ("3.10", "linux", ("ubuntu", "22.04"), "2.35")
    assert machine.kernel == "5.15.0-153-generic"
    assert machine.graphics == (Graphics("0", "8086", "0bda"),)
    path = tmp_path / "env.txt"
    path.write_text(COLLECTED, encoding="utf-8")
    code, answer = of_json(run, str(path))
    assert (code, answer["verdict"], answer["os"]) == (1, "does-not-work", "ubuntu22.04")
    assert answer["graphics"][0]["hardware"] == "max"
    assert answer["driver"] == "1146"
    listed = [part for name in ("graphics", "packages", "remarks", "steps") for part in answer[name]]
    for field in {*answer, *(field for part in listed for field in part)}:
        assert f"`{field}`" in PAGE, field


@pytest.mark.parametrize(
    "text", ["{}", '{"installed": 3, "environment": {}}', "{" * 9999, "[1]", "hello", '{"installed": [{}]}']
)
def test_other_texts_are_refused(facts: Snapshot, text: str) -> None:
    """What is no report is wrong usage, in one line."""
    with pytest.raises(UsageError):
        read_report(facts, text, "report")


@settings(max_examples=examples(80))
@given(
    st.text(st.sampled_from('{}[]":,installedenvironmentmetadata Pythonversion: 3.12\n*torch=2.8device_id=0x'), max_size=150)
)
def test_any_report_is_read_or_refused(facts: Snapshot, text: str) -> None:
    """No report makes another error."""
    with suppress(UsageError):
        examine(facts, read_report(facts, text, "report"), clock())


def test_no_interpreter(run: Callable[..., Run], tmp_path: Path) -> None:
    """A path that is no Python is unavailable; a report beside --python is wrong usage."""
    done = run("doctor", "--python", str(tmp_path / "nothing"))
    assert (done.code, done.err.count("\n")) == (5, 1)
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\necho no\n", encoding="ascii")
    script.chmod(0o755)
    assert run("doctor", "--python", str(script)).code == 5
    assert run("doctor", "-", "--python", str(script)).code == 2


@pytest.mark.long
def test_noise_before_the_answer(facts: Snapshot, matching: str, tmp_path: Path) -> None:
    """What a start-up file of the environment prints does not spoil the answer."""
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\necho "hello {{"\nexec "{matching}" "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    assert "torch" in {item.name for item in read_interpreter(str(script), KnownData(facts).modules()).packages}


def test_rules_are_documented() -> None:
    """docs/doctor.md names every rule."""
    source = "".join(
        (ROOT / f"src/compatkb/{name}.py").read_text(encoding="utf-8")
        for name in ("doctor/known_machine", "doctor/verdict", "doctor/upgrade_path")
    )
    rules = set(re.findall(r'Remark\("([a-z-]+)"', source))
    assert len(rules) > 10
    assert all(f"`{rule}`" in PAGE for rule in rules)


@pytest.mark.parametrize("words", [("--sysfs", "nowhere"), ("report.json", "--sysfs", "."), ("report.json", "--python", "x")])
def test_places_that_cannot_be_looked_at(run: Callable[..., Run], words: tuple[str, ...]) -> None:
    """A copy of /sys that is not there, and a report beside a place to look at, are wrong usage in one line."""
    done = run("doctor", *words)
    assert (done.code, done.err.count("\n")) == (2, 1)


def test_helpers_alone_are_not_listed_as_more(facts: Snapshot) -> None:
    """Where only packages are installed that others bring along, they are told behind the place."""
    made = examine(facts, Machine("t", "3.12", "linux", packages=(Installed("numpy", "1.26.4"),)), clock())
    text = text_of(examination_lines(present_examination(facts, made, DAY)))
    assert "also: numpy 1.26.4\n" in text


@pytest.mark.parametrize(("runtime", "is_told"), [("26.05.37020.3-1~24.04", True), ("26.22.38646.4-1~24.04", False)])
def test_known_issues_of_the_machine_are_told(facts: Snapshot, runtime: str, is_told: bool) -> None:
    """What is wrong with these releases on this GPU, kernel and driver is said; a driver that has the repair ends it."""
    graphics = (Graphics("0000:03:00.0", "8086", "e20b", "xe"),)
    drivers = (("libze-intel-gpu1", runtime), ("libze1", "1.28.2-1~24.04"), ("libigc2", "2.28.4"))
    torch = (Installed("torch", "2.13.0+xpu"),)
    machine = Machine(
        "t",
        "3.12",
        "linux",
        ("ubuntu", "24.04"),
        "6.14.0-15-generic",
        "x86_64",
        packages=torch,
        graphics=graphics,
        drivers=drivers,
    )
    view = present_examination(facts, examine(facts, machine, clock()), DAY)
    assert any("nonzero" in issue.title for issue in view.issues) is is_told
    assert ("torch.nonzero" in text_of(examination_lines(view))) is is_told
