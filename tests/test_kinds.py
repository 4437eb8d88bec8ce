"""Builds are of a kind: what is compiled against torch goes with a torch of its own kind."""

from dataclasses import dataclass

import pytest
from builders import (
    TODAY,
    build,
    files_of,
    index,
    listing,
    needs,
    platform,
    product,
    release,
    route,
    universe,
    verified,
    wheel,
)
from conftest import parted

from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.authoring.knowledge_base import Knowledge
from compatkb.core.clock import Clock
from compatkb.engine.answer import resolve
from compatkb.errors import DataError
from compatkb.request.parser import make_request
from compatkb.schema import Basis

DEVICES = product(
    "device",
    role="dimension",
    scheme="listed",
    rank=530,
    releases=[
        {"version": "xpu", "sources": ["page"]},
        {"version": "cpu", "sources": ["page"]},
        {"version": "cuda", "sources": ["page"], "runs-on": ["cpu"], "alike": "cu(\\d+)\\d"},
        {"version": "rocm", "sources": ["page"], "runs-on": ["cpu"]},
    ],
)
DIMENSIONS = [*platform(archs=("x86_64", "aarch64"))[:3], DEVICES]
BUILT = {"built-with": {"product": "torch", "reason": "It is compiled against one torch.", "sources": ["page"]}}


def compiled_for(label, **more):
    """Return that a build is a CUDA build on Linux x86_64."""
    return {"device": "cuda", "label": label, "os": ["linux"], "arch": ["x86_64"], "sources": ["page"], **more}


def variant(device, *labels, **more):
    """Return builds by their labels, on the extra index, with wheels for Linux."""
    rows = [wheel(os=["linux"])]
    return {"device": device, "labels": list(labels), "channels": ["extra"], "wheels": rows, "sources": ["page"], **more}


def released(version, *, label, labels=(), **more):
    """Return a release with a plain build that is for CUDA on Linux, a CPU build, an XPU build, and builds with labels."""
    builds = [
        build(version, channels=["default"], devices=["cpu"], **{"compiled-for": [compiled_for(label)]}),
        build(f"{version}+cpu", devices=["cpu"]),
        build(f"{version}+xpu", devices=["xpu"]),
    ]
    return {**release(version, builds=[]), "build": builds, "variant": [variant("cuda", *labels)] if labels else [], **more}


def products(**of_vision):
    """Return torch 2 and vision 1, each in a plain, a CPU, an XPU and three CUDA builds."""
    labels = ("cu118", "cu121", "cu126")
    torch = product("torch", distribution="torch", releases=[{**released("2.0", label="cu126", labels=labels)}])
    vision = product(
        "vision", role="companion", distribution="vision", releases=[released("1.0", label="cu126", labels=labels)],
        **{**BUILT, **of_vision},
    )  # fmt: skip
    return [torch, vision]


def facts_of(**of_vision):
    """Return the knowledge base of these, where the metadata of vision name torch 2.0 alone."""
    listed = index("vision", [listing("1.0", requires=["torch==2.0"])])
    return build_knowledge(files_of(products(**of_vision), indexes=[listed], dimensions=DIMENSIONS))


@dataclass
class Beside:
    """What is said of two builds together."""

    denied: int
    vouched: int
    firmly: int


def beside(knowledge: Knowledge, one: str, other: str) -> Beside:
    """Return where a build is denied and vouched for beside another, as platform bits."""
    (p, v), (q, w) = one.split("=="), other.split("==")
    i = next(n for n, e in enumerate(knowledge.elements[p]) if e.version == v)
    j = next(n for n, e in enumerate(knowledge.elements[q]) if e.version == w)
    found = Beside(0, 0, 0)
    for edge in knowledge.edges:
        if (edge.of, edge.to) == (p, q) and edge.of_mask >> i & 1:
            if edge.to_mask >> j & 1:
                found.vouched |= edge.supported_on
                found.firmly |= 0 if edge.basis is Basis.INFERRED else edge.supported_on
            elif edge.kind in ("needs", "constrains"):
                found.denied |= edge.forbidden_on
    return found


@pytest.fixture(scope="module")
def facts():
    return facts_of()


def test_metadata_speak_for_builds_for_the_device_they_are_of():
    """What a requirement says for some platforms alone is said of builds for the device there, of no other ones."""
    marker = "; sys_platform == 'linux' and platform_machine == 'x86_64'"
    listed = index("vision", [listing("1.0", requires=["torch==2.0", f"num==1.0{marker}"])])
    num = product("num", distribution="num", role="leaf", releases=["2.0", "1.0"])
    knowledge = build_knowledge(files_of([*products(), num], indexes=[listed], dimensions=DIMENSIONS))
    assert beside(knowledge, "vision==1.0", "num==1.0").vouched
    assert beside(knowledge, "vision==1.0+cu118", "num==1.0").vouched == linux(knowledge)
    assert beside(knowledge, "vision==1.0+cu118", "num==2.0").denied == linux(knowledge)
    assert beside(knowledge, "vision==1.0+xpu", "num==1.0") == Beside(0, 0, 0)
    assert beside(knowledge, "vision==1.0+xpu", "num==2.0") == Beside(0, 0, 0)


def test_metadata_of_builds_for_several_devices_speak_for_all():
    """What is required on every platform is required by builds for a CPU and for CUDA, so it is of their common source."""
    listed = index("vision", [listing("1.0", requires=["torch==2.0", "num==1.0"])])
    num = product("num", distribution="num", role="leaf", releases=["2.0", "1.0"])
    knowledge = build_knowledge(files_of([*products(), num], indexes=[listed], dimensions=DIMENSIONS))
    for one in ("vision==1.0", "vision==1.0+cu118", "vision==1.0+xpu"):
        assert beside(knowledge, one, "num==1.0").vouched == knowledge.grid.all
        assert beside(knowledge, one, "num==2.0").denied == knowledge.grid.all


def linux(knowledge, arch="x86_64"):
    return knowledge.grid.cells(("linux",), (arch,))


def test_a_label_makes_a_build_of_its_own(facts):
    """A variant stands for one build a label: on its own index, for its device, with the wheels of the row."""
    found = {e.version: e for e in facts.elements["torch"]}
    assert set(found) == {"2.0", "2.0+cpu", "2.0+xpu", "2.0+cu118", "2.0+cu121", "2.0+cu126"}
    assert found["2.0+cu118"].build.devices == ("cuda",)
    assert found["2.0+cu118"].floors[0].seen == linux(facts) & facts.grid.cells(None, None, ("3.11", "3.12"))


def test_the_index_of_a_variant_follows_from_its_label():
    """`variant-channel` leads to the index where there is such a one; else nobody knows where the build is."""
    torch = product("torch", releases=[{**release("2.0"), "variant": [{**variant("cuda", "ra", "b2"), "channels": []}]}])
    torch["product"]["variant-channel"] = "ext{label}"
    found = {e.version: e.build.channels for e in build_knowledge(files_of([torch], dimensions=DIMENSIONS)).elements["torch"]}
    assert (found["2.0+ra"], found["2.0+b2"]) == (("extra",), ())


def test_builds_for_different_devices_do_not_go_together(facts):
    """On Linux the plain vision is a CUDA build, which the CPU and XPU builds of torch are not; elsewhere it is for a CPU."""
    found = beside(facts, "vision==1.0", "torch==2.0+cpu")
    assert (found.denied, found.vouched) == (linux(facts), facts.grid.all & ~linux(facts))
    assert beside(facts, "vision==1.0", "torch==2.0+xpu").denied == facts.grid.all
    assert beside(facts, "vision==1.0+xpu", "torch==2.0").denied == facts.grid.all


def test_metadata_that_name_a_release_vouch_for_the_same_kind(facts):
    """The plain builds go together everywhere, a label with its own, and the plain build with its label where it is that."""
    assert beside(facts, "vision==1.0", "torch==2.0") == Beside(0, facts.grid.all, facts.grid.all)
    assert beside(facts, "vision==1.0+cu118", "torch==2.0+cu118") == Beside(0, facts.grid.all, facts.grid.all)
    assert beside(facts, "vision==1.0", "torch==2.0+cu126").vouched == linux(facts)


def test_metadata_deny_other_releases_to_every_build():
    """What the plain vision says of a release denies others to its CPU and XPU builds too, and vouches for none of them."""
    torch, vision = products()
    torch["release"].append(released("2.1", label="cu126"))
    for requirement, denied in (("torch==2.0", True), ("torch>=2.0", False), ("torch==2.0+cpu", False)):
        listed = index("vision", [listing("1.0", requires=[requirement])])
        knowledge = build_knowledge(files_of([torch, vision], indexes=[listed], dimensions=DIMENSIONS))
        every = knowledge.grid.all if denied else 0
        for kind in ("cpu", "xpu"):
            assert beside(knowledge, f"vision==1.0+{kind}", f"torch==2.1+{kind}") == Beside(every, 0, 0), requirement
            assert beside(knowledge, f"vision==1.0+{kind}", f"torch==2.0+{kind}") == Beside(0, 0, 0), requirement


def test_labels_of_one_device_are_neither_denied_nor_vouched_for(facts):
    """CUDA 12.1 beside 12.6 may work or not: nobody says; CUDA 11 beside 12 does not."""
    assert beside(facts, "vision==1.0+cu121", "torch==2.0+cu126") == Beside(0, 0, 0)
    assert beside(facts, "vision==1.0+cu118", "torch==2.0+cu121").denied == facts.grid.all


def test_an_unknown_label_decides_nothing():
    """A CUDA build of which nobody knows the CUDA is denied beside a CPU build, and open beside other CUDA builds."""
    made = products()
    made[1]["release"][0]["build"][0]["compiled-for"][0].pop("label")
    listed = index("vision", [listing("1.0", requires=["torch==2.0"])])
    knowledge = build_knowledge(files_of(made, indexes=[listed], dimensions=DIMENSIONS))
    assert beside(knowledge, "vision==1.0", "torch==2.0+cpu").denied == linux(knowledge)
    for label in ("cu118", "cu126"):
        found = beside(knowledge, "vision==1.0", f"torch==2.0+{label}")
        assert (found.denied & linux(knowledge), found.vouched) == (0, 0)


def test_a_claim_on_one_build_stays_whole():
    """A claim that names builds of one kind is one edge, which denies and vouches as it did."""
    torch, vision = products()
    vision["claim"] = [needs("vision==1.0+cpu", "torch==2.0+cpu", id="one")]
    knowledge = build_knowledge(files_of([torch, vision], dimensions=DIMENSIONS))
    (edge,) = [edge for edge in knowledge.edges if edge.claim == "one"]
    assert edge.forbidden_on == edge.supported_on == knowledge.grid.all


def test_the_reason_and_its_sources_are_a_claim(facts):
    """Whoever is denied for the kind can be told why, and by whom."""
    cited = facts.claims["vision-kind"]
    assert cited.claim.reason == "It is compiled against one torch."
    assert [source.url for source in cited.sources] == ["https://example.org/"]


def test_what_is_built_with_nothing_is_not_split():
    """Without `built-with` the metadata vouch for every build of the release, and no kind is denied."""
    vision = {k: v for k, v in products()[1]["product"].items() if k != "built-with"}
    made = [products()[0], {**products()[1], "product": vision}]
    listed = index("vision", [listing("1.0", requires=["torch==2.0"])])
    knowledge = build_knowledge(files_of(made, indexes=[listed], dimensions=DIMENSIONS))
    assert beside(knowledge, "vision==1.0", "torch==2.0+cpu") == Beside(0, knowledge.grid.all, knowledge.grid.all)


def test_what_people_say_of_a_release_is_not_said_of_foreign_builds(facts):
    """A claim on torch 2.0 denies the rest for all its builds, and vouches for those that a route serves, or that it names."""
    torch, vision = products()
    other = product(
        "other",
        releases=["1.0"],
        claims=[needs("other==1.0", "torch==2.0", "torch==2.0+cpu"), verified("other==1.0", "torch==2.0+cu118")],
    )
    knowledge = build_knowledge(files_of([torch, vision, other], dimensions=DIMENSIONS))
    for version, there in (("2.0", True), ("2.0+cpu", True), ("2.0+cu118", True), ("2.0+cu121", False)):
        found = beside(knowledge, "other==1.0", f"torch=={version}")
        assert (found.denied, bool(found.vouched)) == (0, there), version


def test_built_with_a_product_that_is_not_there_is_an_error():
    """A slip in `built-with` is named with its file."""
    with pytest.raises(DataError, match=r"products/vision\.toml: built-with: tensor is no product"):
        facts_of(**{"built-with": {**BUILT["built-with"], "product": "tensor"}})


def test_the_store_keeps_the_kinds(tmp_path):
    """What no route serves is foreign, on the devices that it runs on; where a build is of another kind is kept."""
    snapshot = universe(tmp_path, products(), dimensions=DIMENSIONS, routes=[route(), route("other", rank=2)])
    found = {e.version: e for e in snapshot.elements("torch")}
    plain, label = found["2.0"], found["2.0+cu118"]
    assert (plain.foreign, label.foreign) == (False, True)
    assert label.devices == frozenset({"cpu"})
    assert (plain.kind, label.kind, found["2.0+xpu"].kind) == ("cpu", "cu118", "xpu")
    assert plain.foreign_cells
    assert not label.foreign_cells
    assert snapshot.kinds(plain) == (("cuda", "cu126", plain.foreign_cells),)
    assert {element.foreign for element in snapshot.elements("torch")} == {False, True}


def test_the_store_keeps_what_was_published(tmp_path):
    """A wheel that was seen or stated makes a build published; one that is only inferred does not."""
    inferred = build("2.0+cpu", wheels=[wheel(basis="inferred")])
    torch = product("torch", distribution="torch", releases=[release("2.0", builds=["2.0"]), release("1.0", builds=[])])
    torch["release"][0]["build"].append(inferred)
    torch["release"][1]["build"] = [build("1.0", channels=["default"], wheels=[])]
    listed = index("torch", [listing("1.0", on=TODAY, **{"requires-python": ">=3.9,!=3.12.1"})])
    snapshot = universe(tmp_path, [torch], indexes=[listed])
    found = {e.version: e for e in snapshot.elements("torch")}
    assert (found["2.0"].published, found["2.0+cpu"].published, found["1.0"].published) == (True, False, True)
    assert (found["1.0"].requires_python, found["2.0"].requires_python) == (">=3.9,!=3.12.1", "")


# -- the real data ------------------------------------------------------------------------------------------------

PAIRS = {
    "1.13.1": "0.14.1",
    "2.0.1": "0.15.2",
    "2.1.2": "0.16.2",
    "2.2.2": "0.17.2",
    "2.3.1": "0.18.1",
    "2.4.1": "0.19.1",
    "2.5.1": "0.20.1",
    "2.6.0": "0.21.0",
    "2.7.1": "0.22.1",
    "2.8.0": "0.23.0",
    "2.9.1": "0.24.1",
    "2.10.0": "0.25.0",
    "2.12.1": "0.27.1",
    "2.13.0": "0.28.0",
}
QUICK = ("2.1.2", "2.6.0", "2.13.0")


@pytest.mark.long
@pytest.mark.parametrize("torch", parted(PAIRS, QUICK, pytest.mark.soak))
def test_mixed_kinds_of_real_releases_are_denied(knowledge, torch):
    """On Linux the CPU build of torch does not go with the torchvision of the default index; on Windows it does."""
    where = linux(knowledge)
    windows = knowledge.grid.cells(("windows",), ("x86_64",))
    found = beside(knowledge, f"torchvision=={PAIRS[torch]}", f"torch=={torch}+cpu")
    assert found.denied & where == where
    assert found.vouched & where == 0
    assert (found.denied & windows, found.vouched & windows) == (0, windows)


@pytest.mark.long
@pytest.mark.parametrize(("torch", "vision"), PAIRS.items())
def test_one_kind_of_real_releases_is_vouched_for(knowledge, torch, vision):
    """What the default index has goes together on every platform, and so do CPU builds, and builds with one label."""
    versions = {e.version for e in knowledge.elements["torchvision"]}
    labels = [v.partition("+")[2] for v in versions if v.startswith(f"{vision}+cu")]
    assert labels
    for label in ("", "+cpu", *(f"+{label}" for label in labels)):
        found = beside(knowledge, f"torchvision=={vision}{label}", f"torch=={torch}{label}")
        assert found.vouched == knowledge.grid.all, label
        assert not found.denied, label


@pytest.mark.long
def test_cuda_majors_of_real_releases_are_kept_apart(knowledge):
    """CUDA 11 beside CUDA 12 is denied; two minors of one are open."""
    assert beside(knowledge, "torchvision==0.16.2+cu118", "torch==2.1.2+cu121").denied == knowledge.grid.all
    assert beside(knowledge, "torchvision==0.23.0+cu126", "torch==2.8.0+cu128") == Beside(0, 0, 0)
    assert beside(knowledge, "torchaudio==2.8.0+cu126", "torch==2.8.0+rocm6.4").denied == knowledge.grid.all


def test_default_wheels_for_aarch64_are_cuda_builds_since_2_11(knowledge):
    """The maker put CPU wheels for aarch64 on the default index up to 2.10, and CUDA ones from 2.11 on."""
    arm = linux(knowledge, "aarch64")
    assert not beside(knowledge, "torchvision==0.25.0", "torch==2.10.0+cpu").denied & arm
    assert beside(knowledge, "torchvision==0.28.0", "torch==2.13.0+cpu").denied & arm == arm


def test_no_list_of_cpu_wheels_is_called_whole(knowledge):
    """Nobody has read the list of the CPU index, so a wheel that our rows lack is unknown there."""
    builds = [e.build for product in ("torch", "torchvision", "torchaudio") for e in knowledge.elements[product] if e.build]
    assert not [b.version for b in builds if b.version.endswith("+cpu") and b.wheels_complete]


def test_the_audio_of_1_11_goes_with_the_cpu_build_of_1_11_alone(knowledge):
    """It was once said to go with a build for Intel GPUs of torch 1.10 as well."""
    assert beside(knowledge, "torchaudio==0.11.0+cpu", "torch==1.11.0+cpu").vouched
    assert beside(knowledge, "torchaudio==0.11.0+cpu", "torch==1.10.0a0+git3d5f2d4").denied == knowledge.grid.all


@pytest.mark.parametrize(
    ("words", "options", "verdict"),
    [
        (["torch==2.0+cu118"], {}, "unknown"),
        (["torch==2.0+cu118", "vision==1.0+cu118"], {}, "unknown"),
        (["torch==2.0+cu118", "vision==1.0+cpu"], {}, "does-not-work"),
        (["torch==2.0+cu118"], {"device": ["cpu"]}, "works"),
        (["torch==2.0+cpu"], {}, "works"),
        (["torch==2.0"], {}, "works"),
    ],
    ids=["label", "labels that agree", "labels that differ", "device named", "a device that is served", "no label"],
)
def test_a_label_fixes_a_device_that_is_not_served(tmp_path, words, options, verdict):
    """Who names a CUDA build and no device does not ask about the processor: nothing is said of it, a contradiction is."""
    listed = index("vision", [listing("1.0", requires=["torch==2.0"])])
    snapshot = universe(tmp_path, products(), indexes=[listed], dimensions=DIMENSIONS)
    answer = resolve(snapshot, make_request(snapshot, (), words, options.get("device", ()), Clock(TODAY)))
    assert answer.verdict == verdict
    if verdict == "unknown":
        assert not answer.stacks
    if words == ["torch==2.0+cu118"] and not options:
        ways = [{e.product: e.version for e in near.stack.packages} for near in answer.nearest]
        assert [way["torch"] for way in ways] == ["2.0+xpu", "2.0+cpu"]
