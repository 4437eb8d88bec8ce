"""Indexes of other hosts: their builds asked for and loaded over small wheels with the same names, labels and metadata.

The hosts themselves may be out of reach; nothing here talks to them.
"""

import json
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import TODAY, build, data_directory, product, release
from conftest import ROOT, Run, parted
from loopback import Index, serve
from validation import HERE as PYTHON
from validation import with_own_pip

from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.authoring.evidence import add_observations
from compatkb.authoring.loader import load
from compatkb.schema import Level, Observation, Outcome
from compatkb.validate import installers as pip
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.environment import here
from compatkb.validate.evidence import merged, read_lines
from compatkb.validate.importing import check as check_import
from compatkb.validate.indexes import addresses_of, shown
from compatkb.validate.installers import check_uv
from compatkb.validate.session import check_published
from compatkb.validate.targets import this_platform

ABI = f"cp{PYTHON.replace('.', '')}"
HERE = f"{ABI}-{ABI}-linux_x86_64"
NOWHERE = "http://127.0.0.1:9"
IPEX = "intel_extension_for_pytorch"
REFUSES = "ERROR! Intel® Extension for PyTorch* needs to work with PyTorch 2.1.*, but PyTorch is"
GATE = f"""
import torch
if not torch.__version__.startswith("2.1."):
    print("{REFUSES} " + torch.__version__)
    exit(127)
"""
CHECKS = {"index": check_published, "pip": pip.check, "uv": check_uv}


@pytest.fixture(scope="module")
def near() -> Iterator[Index]:
    """What the index of a channel holds: builds with the vendors' names and labels, in wheels for this Python and Linux."""
    with serve() as index:
        index.add("torch", "2.8.0+xpu", "", tag=HERE, requires=("pytorch-triton-xpu==3.4.0", "filelock"))
        index.add("torch", "2.8.0+cpu", "", tag=HERE, requires=("filelock",))
        index.add("torch", "2.9.0+xpu", "", tag="cp399-cp399-linux_x86_64")
        index.add(
            "pytorch-triton-xpu", "3.4.0", "", tag=f"{ABI}-{ABI}-manylinux_2_27_x86_64.manylinux_2_28_x86_64", module="triton"
        )
        index.add("torchvision", "0.23.0+xpu", "import torch", tag=HERE, requires=("torch==2.8.0",))
        index.add("filelock", "3.20.0", "")
        index.add("torch", "2.1.0.post0+cxx11.abi", "", tag=HERE, requires=("filelock", "numpy"))
        index.add("torch", "2.3.1+cxx11.abi", "", tag=HERE)
        index.add(IPEX, "2.1.20+xpu", GATE, tag=HERE, requires=("numpy",))
        index.yanked[index.add(IPEX, "2.1.10+xpu", GATE, tag=HERE)] = "for security"
        index.hashes = False
        yield index


@pytest.fixture(scope="module")
def far() -> Iterator[Index]:
    """What the default index holds: other builds of the same versions, and what both need."""
    with serve() as index:
        index.add("torch", "2.8.0", "raise SystemError('the build of another index')")
        index.add("torch", "2.1.0", "raise SystemError('the build of another index')")
        index.add("numpy", "1.26.4", "")
        index.add("filelock", "3.20.0", "")
        yield index


@pytest.fixture
def context(tmp_path: Path, near: Index, far: Index) -> RunContext:
    """A context with the real data, in which machines have an XPU and loopback indexes answer."""
    data = tmp_path / "data"
    data.mkdir()
    for name in ("products", "workloads", "channels.toml"):
        (data / name).symlink_to(ROOT / "data" / name)
    proofs = (ROOT / "data" / "proofs.toml").read_text(encoding="utf-8")
    (data / "proofs.toml").write_text(proofs.replace('path = "/dev/dri/renderD*"\n', ""), encoding="utf-8")
    listed = tomllib.loads((ROOT / "data" / "channels.toml").read_text(encoding="utf-8"))["channel"]
    channels = {channel["id"]: (channel["style"], channel.get("url", "")) for channel in listed}
    indexes = {"default": f"{far.url}/simple/", "intel-legacy-xpu": f"{near.url}/links"}
    indexes |= dict.fromkeys(("pytorch-xpu", "pytorch-cpu", "intel-xpu"), f"{near.url}/simple/")
    made = RunContext(
        TODAY, tmp_path / "work", tmp_path / "cache", data,
        channels=channels, indexes=indexes, seconds=60,
    )  # fmt: skip
    return with_own_pip(made)


def cell(channel: str, tool: str, *pins: str, level: Level | None = None, device: str = "xpu") -> ValidationCell:
    """Return a cell of a channel; pins such as `torch==2.8.0+xpu`."""
    packages = tuple(sorted((name, version) for name, _, version in (pin.partition("==") for pin in pins)))
    level = level or (Level.PUBLISHED if tool == "index" else Level.RESOLVE)
    return ValidationCell(level, tool, packages, PYTHON, this_platform(), device, channel)


NATIVE = ("torch==2.8.0+xpu", "pytorch-triton-xpu==3.4.0", "torchvision==0.23.0+xpu")
EXTENDED = ("torch==2.1.0.post0+cxx11.abi", "intel-extension-for-pytorch==2.1.20+xpu")


KINDS = {
    "an-index-alone": ("pytorch-xpu", NATIVE),
    "cpu": ("pytorch-cpu", ("torch==2.8.0+cpu",)),
    "beside-the-default": ("intel-xpu", EXTENDED),
    "page-of-links": ("intel-legacy-xpu", EXTENDED),
}
QUICK = {("uv", "beside-the-default")}
"""What every run asks the installers; our own reader is asked for every kind of channel."""


@pytest.mark.parametrize(
    ("channel", "pins", "tool"),
    [
        pytest.param(
            *kind, tool, id=f"{name}-{tool}", marks=() if tool == "index" or (tool, name) in QUICK else pytest.mark.long
        )
        for name, kind in KINDS.items()
        for tool in ("index", "pip", "uv")
    ],
)
def test_builds_of_a_channel_are_found(context: RunContext, channel: str, pins: tuple[str, ...], tool: str) -> None:
    """Exact builds with local labels resolve over the channel in its style, and the answer says which channel it was."""
    seen = CHECKS[tool](cell(channel, tool, *pins), context)
    assert (seen.outcome, seen.index) == (Outcome.OK, channel), seen.detail


@pytest.mark.long
@pytest.mark.parametrize("channel", ["pytorch-xpu", pytest.param("intel-legacy-xpu", marks=pytest.mark.soak)])
def test_two_installers_find_the_same_builds(context: RunContext, channel: str) -> None:
    """The digests of two independent resolutions are equal, so both took the builds of the channel."""
    pins = NATIVE if channel == "pytorch-xpu" else EXTENDED
    one, other = pip.check(cell(channel, "pip", *pins), context), check_uv(cell(channel, "uv", *pins), context)
    assert one.digest == other.digest != ""


@pytest.mark.long
@pytest.mark.parametrize("tool", ["index", "pip", "uv"])
def test_builds_that_a_channel_lacks(context: RunContext, tool: str) -> None:
    """Another label, and another Python's wheel, are not found: the default index has the version and is not asked."""
    for pin in ("torch==2.8.0+rocm", "torch==2.9.0+xpu", "torch==2.1.0")[: 1 if tool == "pip" else 3]:
        seen = CHECKS[tool](cell("pytorch-xpu", tool, pin), context)
        assert seen.outcome is Outcome.NOT_FOUND, seen.detail


def test_yanked_builds_are_told(context: RunContext) -> None:
    """A withdrawn build of a channel is `yanked`, with the reason."""
    seen = check_published(cell("intel-xpu", "index", "intel-extension-for-pytorch==2.1.10+xpu"), context)
    assert (seen.outcome, "for security" in seen.detail) == (Outcome.YANKED, True)


@pytest.mark.long
@pytest.mark.parametrize(
    "channel", ["pytorch-xpu", *(pytest.param(name, marks=pytest.mark.long) for name in ("intel-xpu", "intel-legacy-xpu"))]
)
def test_builds_of_a_channel_are_loaded(context: RunContext, channel: str) -> None:
    """The wheels that are installed and imported are those of the channel, on a machine that has the device."""
    pins = NATIVE if channel == "pytorch-xpu" else EXTENDED
    asked = replace(cell(channel, "python", *pins, level=Level.IMPORT), platform=here(context.data))
    seen = check_import(asked, context)
    assert (seen.outcome, seen.index) == (Outcome.OK, channel), seen.detail
    assert pins[0].partition("==")[2] in seen.detail
    refused = check_import(replace(asked, packages=(("torch", "2.8.0+cuda"),)), context)
    assert refused.outcome is Outcome.NOT_FOUND, refused.detail


WAYS = {
    "no-connection": (f"{NOWHERE}/simple/", "no connection"),
    "forbidden": ("{}/forbidden/", "status 403"),
    "broken": ("{}/broken/", "status 500"),
    "endless-redirect": ("{}/loop/", "redirects more than"),
    "huge-page": ("{}/endless/", "is larger than"),
    "no-page": ("{}/text/", "no index page"),
}

QUICK = ("forbidden",)


@pytest.mark.long
@pytest.mark.parametrize("way", parted(WAYS, QUICK, pytest.mark.soak))
def test_an_index_that_does_not_answer_says_nothing(context: RunContext, near: Index, way: str) -> None:
    """Whatever keeps an index from answering is the reason of `not-checked` at every level, never a pass or a failure."""
    address, words = WAYS[way]
    url = address.format(near.url)
    asked = replace(cell("pytorch-xpu", "python", *NATIVE, level=Level.IMPORT), platform=here(context.data))
    own = replace(context, indexes=context.indexes | {"pytorch-xpu": url})
    seen = [check(cell("pytorch-xpu", tool, *NATIVE), own) for tool, check in CHECKS.items()]
    for observation in (*seen, check_import(asked, own)):
        assert (observation.outcome, words in observation.detail) == (Outcome.NOT_CHECKED, True), observation.detail


@pytest.mark.long
@pytest.mark.parametrize("tool", ["index", "pip", "uv"])
def test_one_of_two_indexes_is_not_enough(context: RunContext, tool: str) -> None:
    """What resolves on the default index alone says nothing of a channel beside it that does not answer."""
    own = replace(context, indexes=context.indexes | {"intel-xpu": f"{NOWHERE}/simple/"})
    seen = CHECKS[tool](cell("intel-xpu", tool, "numpy==1.26.4"), own)
    assert (seen.outcome, "no connection" in seen.detail) == (Outcome.NOT_CHECKED, True), seen.detail


def test_channel_without_a_place_is_not_checked(context: RunContext) -> None:
    """A machine without the device imports nothing of it."""
    (context.data / "proofs.toml").write_bytes((ROOT / "data" / "proofs.toml").read_bytes())
    asked = cell("pytorch-xpu", "python", *NATIVE, level=Level.IMPORT)
    if not list(Path("/dev").glob("dri/renderD*")):
        assert "no device xpu" in check_import(asked, context).detail


# -- which index answered -------------------------------------------------------------------------------------------


def test_another_address_is_another_question() -> None:
    """What an address said in a channel's place does not take the place of the channel's own words."""
    own = cell("pytorch-xpu", "pip", *NATIVE)
    other = replace(own, answered="https://index.example/simple")
    seen = [c.observed(Outcome.OK, TODAY) for c in (own, other)]
    assert len(merged(seen)) == 2
    assert seen[1].answered in other.id


def test_address_is_shown_without_secrets() -> None:
    """User, password and query of an address stay out of the evidence."""
    assert shown("https://me:secret@index.example/simple/?token=1#x") == "https://index.example/simple/"


def test_styles_become_options(context: RunContext) -> None:
    """Each style of a channel is told to pip and uv in their words."""
    own = replace(context, indexes={})
    url = own.channels["intel-xpu"][1]
    assert addresses_of(cell("intel-xpu", "pip"), own).pip == ["--extra-index-url", url]
    assert addresses_of(cell("intel-xpu", "uv"), own).uv[:2] == ["--index", url]
    url = own.channels["intel-legacy-xpu"][1]
    assert addresses_of(cell("intel-legacy-xpu", "pip"), own).pip == ["--find-links", url]
    assert addresses_of(cell("pytorch-xpu", "uv"), own).uv[:2] == ["--default-index", own.channels["pytorch-xpu"][1]]
    assert addresses_of(cell("default", "pip"), own).pip == []


@pytest.mark.parametrize("answered", ["", "https://mirror.example/xpu", "https://elsewhere.example/xpu"])
def test_only_the_channel_and_its_mirrors_speak_for_it(tmp_path: Path, answered: str) -> None:
    """An import with wheels of another address vouches for no build of the channel."""
    directory = data_directory(
        tmp_path / "data",
        [
            product("torch", releases=[release("2.0", builds=[build("2.0+xpu", channels=["pytorch-xpu"], devices=["xpu"])])]),
            product("ipex", releases=[release("2.0", builds=[build("2.0+xpu", channels=["pytorch-xpu"], devices=["xpu"])])]),
        ],
    )
    text = '\n[[channel]]\nid = "pytorch-xpu"\nname = "x"\nstyle = "index-url"\nurl = "https://own.example/xpu"\n'
    text += 'mirrors = { cn = "https://mirror.example/xpu/" }\n'
    path = directory / "channels.toml"
    kept = [part for part in path.read_text().split("[[channel]]") if '"pytorch-xpu"' not in part]
    path.write_text("[[channel]]".join(kept) + text)
    line = Observation.model_validate(
        {"level": "import", "outcome": "ok", "packages": {"torch": "2.0+xpu", "ipex": "2.0+xpu"}, "python": "3.11"}
        | {"platform": "linux-x86_64", "device": "xpu", "index": "pytorch-xpu", "answered": answered}
        | {"checked": TODAY, "tool": "python"}
    )
    (directory / "evidence").mkdir(exist_ok=True)
    (directory / "evidence" / "import.jsonl").write_text(line.model_dump_json(exclude_defaults=True) + "\n")
    knowledge = build_knowledge(load(directory))
    add_observations(knowledge)
    assert any(edge.basis == "observed" for edge in knowledge.edges) is (answered != "https://elsewhere.example/xpu")


@pytest.mark.long
def test_the_command_asks_a_channel(tmp_path: Path, near: Index, run: Callable[..., Run], monkeypatch: Any) -> None:
    """The claimed stacks of a channel are asked of the address that answers for it, and each line says which it was."""
    monkeypatch.setenv("COMPATKB_CACHE", str(tmp_path / "cache"))
    versions = [release(n, builds=[build(f"{n}+xpu", channels=["extra"], devices=["xpu"])]) for n in ("2.8.0", "2.7.0")]
    directory = data_directory(tmp_path / "data", [product("torch", releases=versions)])
    out = tmp_path / "out.jsonl"
    words = ["validate", "--data", str(directory), "--channel", "extra", "--device", "xpu", "--python", PYTHON]
    words += ["--level", "published", "--level", "resolve", "--tool", "index", "--tool", "uv"]
    words += ["--work", str(tmp_path / "work"), "--out", str(out)]
    url = near.url.replace("//", "//me:secret@") + "/simple/"
    done = run(*words, "--index", f"extra={url}", "--format", "json")
    lines = read_lines(out)
    assert done.code == 1, "the small index lacks one build that is claimed"
    assert {line.index for line in lines} == {"extra"}
    assert {line.answered for line in lines} == {f"{near.url}/simple/"}
    assert {(line.packages["torch"], line.outcome) for line in lines} == {("2.8.0+xpu", "ok"), ("2.7.0+xpu", "not-found")}
    assert len(json.loads(done.out)["cells"]) == len(lines) == 4
    done = run(*words, "--index", f"extra={NOWHERE}/simple/")
    assert (done.code, {line.outcome for line in read_lines(out)}) == (5, {Outcome.NOT_CHECKED})
    for wrong in (["--channel", "nowhere"], ["--index", "extra"], ["--index", "extra=file:///etc"]):
        assert run("validate", "--data", str(directory), "--list", *wrong).code == 2


@pytest.mark.long
def test_stacks_are_named(run: Callable[..., Run]) -> None:
    """Named builds take the place of what is claimed, each with what the data say of that build; what is no pin is refused."""
    pins = [
        "--stack",
        "torch==2.5.0 ipex==2.4.0",
        "--stack",
        "torch==2.4.0 ipex==2.4.0 packaging==26.3",
        "--stack",
        "torch==99.0",
        "--stack",
        "torch==2.13.0+cpu torchvision==0.28.0",
    ]
    said = [
        line.split() for line in run("validate", "--list", "--level", "import", "--python", "3.11", *pins).out.splitlines()
    ]
    assert [(line[0].partition("-")[0], line[3]) for line in said] == [
        ("likely", "intel-extension-for-pytorch==2.4.0,packaging==26.3,torch==2.4.0"),
        ("does", "intel-extension-for-pytorch==2.4.0,torch==2.5.0"),
        ("does", "torch==2.13.0+cpu,torchvision==0.28.0"),
        ("unknown", "torch==99.0"),
    ]
    assert run("validate", "--list", "--stack", "torch==2.5.0").code == 2
    assert run("validate", "--list", "--python", "3.11", "--stack", "torch>=2.5.0").code == 2
