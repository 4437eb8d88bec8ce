"""Hardware, system and release: cells of the makers' tables with their negatives, and names as tools and shops print them."""

import pytest
from builders import shown

from compatkb import KnowledgeBase, Verdict
from compatkb.errors import UsageError
from compatkb.output import commands

USABLE = {Verdict.WORKS, Verdict.WORKS_WITH_WARNINGS, Verdict.LIKELY}
NO, OPEN = {Verdict.DOES_NOT_WORK}, {Verdict.UNKNOWN}

CELLS = [
    ("torch==2.8.0+xpu", "arc-b", "ubuntu24.10", USABLE),
    ("torch==2.9.0+xpu", "arc-a", "windows10", {Verdict.LIKELY}),
    ("torch==2.12.0+xpu", "panther-lake", "ubuntu24.04", {Verdict.LIKELY}),
    ("torch==2.14.0+xpu", "lunar-lake", "wsl2-ubuntu26.04", USABLE),
    ("torch==2.14.1+xpu", "arc-pro-b", "ubuntu22.04", {Verdict.LIKELY}),
    ("torch==2.12.0+xpu", "arc-pro-b", "windows11", {Verdict.LIKELY}),  # the chips of the B-Series
    ("torch==2.12.0+xpu", "arc-pro-a", "debian12", {Verdict.LIKELY}),
    ("torch==2.12.0+xpu", "arc-b", "wsl2-ubuntu22.04", OPEN),  # no table of that release names WSL 2
    ("torch==2.6.0+xpu", "max", "wsl2", NO),
    ("torch==2.13.0+xpu", "max", "windows11", NO),
    ("torch==2.13.0+xpu", "max", "rhel9.2", USABLE),
    ("torch==2.12.0+xpu", "uhd-igpu", "windows11", OPEN),
    ("torch==2.9.0+xpu", "uhd-igpu", "windows11", OPEN),
    ("torch==2.13.0+xpu", "core-ultra-no-arc", "ubuntu24.04", OPEN),
    ("torch==2.9.0+xpu", "core-cpu", "ubuntu24.04", NO),
    ("ipex==2.8.10+xpu", "flex", "ubuntu22.04", NO),
    ("ipex==2.8.10+xpu", "arc-a", "wsl2", {Verdict.LIKELY}),
    ("ipex==2.8.10+xpu", "max", "ubuntu22.04", {Verdict.WORKS, Verdict.WORKS_WITH_WARNINGS}),
    ("ipex==2.1.10+xpu", "flex", "wsl2", OPEN),
    ("ipex==2.1.30+xpu", "arc-a", "macos", NO),
    ("ipex==2.3.110+xpu", "lunar-lake", "windows", USABLE),
    ("ipex==2.3.110+xpu", "uhd-igpu", "windows", NO),
]

NAMES = [
    ("Intel(R) Arc(TM) Pro B50 Graphics", "arc-pro-b60"), ("Intel Arc A770 16GB", "arc-a"), ("Arc B580 12 GB", "arc-b"),
    ("Intel(R) Core(TM) Ultra 9 285K", "core-ultra-no-arc"), ("Core Ultra 5 125H", "meteor-lake-h"),
    ("Core Ultra 5 235H", "arrow-lake-h"),
    ("Core Ultra 200H", "arrow-lake-h"), ("Intel(R) Arc(TM) 130T GPU (16GB)", "arrow-lake-h"),
    ("Core Ultra 7 266V", "lunar-lake"), ("Core Ultra X9 388H", "panther-lake"), ("Core Ultra 7 356H", "core-ultra-no-arc"),
    ("Core Ultra 7 155U", "core-ultra-no-arc"), ("Intel(R) UHD Graphics 770", "uhd-igpu"), ("UHD 630", "uhd-igpu"),
    ("Core i7", "core-cpu"), ("8086:56a0", "arc-a"), ("0xe20b", "arc-b"), ("8086:E211", "arc-pro-b60"), ("8086:0bd5", "max"),
    ("Core Ultra 100H", "meteor-lake-h"), ("Core Ultra 300H", "panther-lake"), ("i7-1185G7", "core-cpu"),
    ("Intel(R) Core(TM) i9-14900K", "core-cpu"), ("Intel(R) Core(TM) i7-8700K CPU @ 3.70GHz", "core-cpu"),
    ("Core 7 150U", "core-cpu"), ("Xeon Platinum 8180", "xeon-skylake"), ("Xeon Gold 6248R", "xeon-cascade-lake"),
    ("Xeon Platinum 8380H", "xeon-cooper-lake"), ("Intel(R) Xeon(R) Platinum 8380", "xeon-ice-lake"),
    ("Xeon Platinum 8480+", "xeon-sapphire-rapids"), ("Xeon w9-3495X", "xeon-sapphire-rapids"),
    ("Xeon CPU Max 9480", "xeon-sapphire-rapids"), ("Xeon Platinum 8592+", "xeon-emerald-rapids"),
    ("Xeon 6980P", "xeon-granite-rapids"), ("Xeon 6 6787P", "xeon-granite-rapids"), ("Xeon 6780E", "xeon-sierra-forest"),
]  # fmt: skip


@pytest.mark.parametrize(("pin", "hardware", "system", "right"), CELLS)
def test_cells_of_tables(base: KnowledgeBase, pin: str, hardware: str, system: str, right: set[Verdict]) -> None:
    """What a table names works, what its maker denies does not, and the rest of its family of systems probably does."""
    assert base.explain(pin, f"hardware=={hardware}", f"os=={system}").verdict in right


@pytest.mark.parametrize("device", [None, "cpu", "xpu"])
def test_hardware_of_others_is_told(base: KnowledgeBase, device: str | None) -> None:
    """A processor of another maker is no unknown word: it is said to be no Intel hardware, whatever is asked for."""
    for name in ("EPYC 9654", "AMD Ryzen 9 7950X"):
        with pytest.raises(UsageError, match="no Intel hardware"):
            base.request({"hardware": name}, ["torch"], device=device)


@pytest.mark.parametrize(
    ("release", "system", "right"),
    [
        ("2.9.1", "windows11", Verdict.WORKS_WITH_WARNINGS),
        ("2.9.1", "windows10", Verdict.LIKELY),
        ("2.9.1", "wsl2", Verdict.LIKELY),
        ("2.9.1", "linux", Verdict.WORKS_WITH_WARNINGS),
    ],
)
def test_a_system_that_no_hardware_table_names_is_open(base: KnowledgeBase, release: str, system: str, right: Verdict) -> None:
    """Without hardware, a single system is as sure as the tables of the release: some of them has to name it."""
    assert base.explain(f"torch=={release}+xpu", f"os=={system}").verdict is right


@pytest.mark.parametrize(("name", "family"), NAMES)
def test_names_mean_families(base: KnowledgeBase, name: str, family: str) -> None:
    """A card, a processor and a PCI id mean their family, however they are printed, and no other."""
    meant, known = (base.request({"hardware": text}).pins[0].mask for text in (name, family))
    assert meant == known


@pytest.mark.parametrize(
    ("words", "right", "torch"),
    [
        ("torch==2.6.*", "works-with-warnings", "2.6.0+hpu.1.21.0"),
        ("synapseai==1.16.0 torch==2.2.2 python==3.10 os==ubuntu22.04", "works-with-warnings", "2.2.2+hpu.1.16.0"),
        ("hardware==gaudi3 torch==2.6.*", "works-with-warnings", "2.6.0+hpu.1.21.0"),
        ("neural-compressor==3.4 synapseai==1.21.0 torch", "works-with-warnings", "2.6.0+hpu.1.21.0"),
        ("torch==2.8.*", "does-not-work", ""),  # no Gaudi software holds it
        ("synapseai==1.21.0 torch==2.4.0", "does-not-work", ""),
        ("torch==2.4.* python==3.9", "does-not-work", ""),
        ("torch==2.6.* os==windows11", "does-not-work", ""),  # its driver is a module of the Linux kernel
        ("torch==2.4.* os==debian12", "does-not-work", ""),
        ("ipex==2.8.0", "does-not-work", ""),
        ("hardware==gaudi torch==2.9.*", "unknown", ""),  # the table of the release leaves the first generation out
        ("transformers==4.45.2 torch==2.6.0", "unknown", ""),  # Python code alone: nobody says so of this device
    ],
)
def test_gaudi_is_a_device_like_others(base: KnowledgeBase, words: str, right: str, torch: str) -> None:
    """Its software holds one PyTorch each, on the systems and Pythons that the maker's tables name."""
    answer = base.resolve(words=words.split(), device="hpu")
    assert answer.verdict == right
    if torch:
        assert {e.version for e in answer.stacks[0].packages if e.product == "torch"} == {torch}


@pytest.mark.parametrize(
    ("words", "devices"), [("torch==2.6.0", {"cpu", "xpu"}), ("synapseai", {"hpu"}), ("hardware==gaudi3", {"hpu"})]
)
def test_a_device_on_request_is_not_taken_unasked(base: KnowledgeBase, words: str, devices: set[str]) -> None:
    """A device of a route that is taken on request alone needs a word that is about it."""
    assert set(base.request({}, words.split()).devices) == devices


@pytest.mark.parametrize(
    ("place", "image"), [({"python": "3.10"}, "ubuntu22.04"), ({"os": "rhel9.4"}, "rhel9.4"), ({}, "ubuntu24.04")]
)
def test_the_image_is_for_the_system_and_python(base: KnowledgeBase, place: dict[str, str], image: str) -> None:
    """The command names the image of a system on which the build is for the Python of the stack."""
    stack = base.resolve({"torch": "2.6", **place}, device="hpu").stacks[0]
    told = commands.pip_commands(shown(base.facts, stack))
    assert [f"/1.21.0/{image}/habanalabs/pytorch-installer-2.6.0:" in line for line in told] == [True]
