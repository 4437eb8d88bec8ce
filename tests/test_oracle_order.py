"""The rules of the oracle itself, each on the smallest made-up knowledge base, with what comes out worked out by hand."""

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from builders import (
    LONG_AGO,
    TODAY,
    Record,
    breaks,
    build,
    files_of,
    index,
    listing,
    needs,
    platform,
    product,
    release,
    route,
    verified,
    wheel,
)
from denials import Verdict, verdict
from oracle import Ask, Level, Oracle, Trial
from ordering import best

from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.authoring.knowledge_base import KnowledgeElement
from compatkb.schema import Release

DAY = timedelta(days=1)
LATER = TODAY + 200 * DAY
GUESSED = [wheel(basis="inferred")]
"""Wheels that nobody has seen: such a build is only presumed to exist."""

ENDED = {"last-day": TODAY - DAY, "sources": ["page"]}


def base(products: Iterable[Record], **more: Any) -> Oracle:
    """Return the oracle of a made-up knowledge base with some hardware."""
    machines = [("xeon", ["cpu"]), ("core", ["cpu", "xpu"]), ("arc", ["xpu"])]
    listed = [{"version": name, "devices": devices, "sources": ["page"]} for name, devices in machines]
    hardware = product("hardware", role="dimension", scheme="listed", rank=540, releases=listed)
    return Oracle(build_knowledge(files_of(products, dimensions=[*platform(), hardware], **more)))


def made_for(oracle: Oracle, device: str, *elements: tuple[str, str], system: str | None = None) -> Oracle:
    """Say that builds, told by product and version, are for another device; on one system, where that is given."""
    for name, version in elements:
        (element,) = (e for e in oracle.knowledge.elements[name] if e.version == version and e.build)
        rows = (SimpleNamespace(device=device, os=(system,), arch=("x86_64",)),)
        said = {"compiled_for": rows} if system else {"devices": (device,)}
        element.build = element.build.model_copy(update=said)
    return oracle


def asks(
    oracle: Oracle, pins: Mapping[str, str | Iterable[str]] | None = None, bare: Iterable[str] = (), **more: Any
) -> list[Ask]:
    """Return a question about Linux, Python 3.12 and CPU unless told, for every route; a pin names versions of elements."""
    plain: dict[str, Any] = {
        "device": "cpu",
        "python": "3.12",
        "os": "linux",
        "arch": "x86_64",
        "as_of": TODAY,
        "today": TODAY,
    }
    made = {}
    for name, wanted in (pins or {}).items():
        versions = {wanted} if isinstance(wanted, str) else set(wanted)
        made[name] = frozenset(n for n, e in enumerate(oracle.knowledge.elements[name]) if e.version in versions)
        assert len(made[name]) == len(versions)
    routes = [way for way in oracle.knowledge.files.routes.route if not {*made, *bare} & set(way.without)]
    return [Ask(route=way, pins=made, bare=tuple(bare), **plain | more) for way in routes]


def first(oracle: Oracle, pins: Mapping[str, str | Iterable[str]] | None = None, **more: Any) -> str:
    """Return the best stack as words, such as `torch 2.0 ext 1.0`; nothing where there is none."""
    found = best(*(Trial(oracle, ask) for ask in asks(oracle, pins, **more)))
    return " ".join(f"{name} {oracle.element(name, n).version}" for name, n in found.members) if found else ""


def level(oracle: Oracle, pins: Mapping[str, str | Iterable[str]] | None = None, **more: Any) -> Level | None:
    """Return how well the best stack is known."""
    found = best(*(Trial(oracle, ask) for ask in asks(oracle, pins, **more)))
    return found.level if found else None


def torch(*made: Record | str, claims: Iterable[Record] = (), tested_on: str = "core", **more: Any) -> Record:
    """Return torch with its releases, newest first, each tested on some hardware, without which none is more than likely."""
    tested = [verified("torch", f"hardware=={tested_on}")] if tested_on else []
    return product("torch", releases=made, claims=[*claims, *tested], **more)


def pair(ext_of_the_newest: Record | None = None, **more: Any) -> list[Record]:
    """Return torch 2.0, which needs ext 2.0, and torch 1.0, which needs ext 1.0."""
    said = [needs("torch==2.0", "ext==2.0"), needs("torch==1.0", "ext==1.0")]
    return [
        torch("2.0", "1.0", claims=said),
        product("ext", releases=[ext_of_the_newest or release("2.0"), release("1.0")], **more),
    ]


# -- the order, from the first rule to the last, and each rule before the next ------------------------------------------


def test_unknown_comes_last() -> None:
    """What the data cannot vouch for comes after what they can, were that ended: of ext 2.0 no wheels are known."""
    unknown = release("2.0", builds=[build("2.0", wheels=[], wheels_complete=False)])
    ended = release("1.0", eol=ENDED)
    said = [needs("torch==2.0", "ext==2.0"), needs("torch==1.0", "ext==1.0")]
    oracle = base([torch("2.0", "1.0", claims=said), product("ext", releases=[unknown, ended])])
    assert first(oracle) == "torch 1.0 ext 1.0"
    assert first(oracle, {"torch": "2.0"}) == "torch 2.0 ext 2.0"


@pytest.mark.parametrize(
    ("products", "indexes"),
    [
        pytest.param(pair(release("2.0", eol=ENDED)), [], id="ended"),
        pytest.param(
            pair(release("2.0", builds=[build("2.0", channels=["default"])]), distribution="ext"),
            [index("ext", [listing("2.0", yanked=TODAY)])],
            id="yanked",
        ),
        pytest.param(
            pair(advisory=[{"of": "ext==2.0", "kind": "security", "message": "A hole.", "since": TODAY, "sources": ["page"]}]),
            [],
            id="insecure",
        ),
    ],
)
def test_put_behind_unless_named(products: list[Record], indexes: list[Record]) -> None:
    """What has ended, was yanked or is insecure comes after all without, unless the request names that very product."""
    oracle = base(products, indexes=indexes)
    assert first(oracle) == "torch 1.0 ext 1.0"
    assert first(oracle, bare=["torch"]) == "torch 1.0 ext 1.0"
    assert first(oracle, bare=["ext"]) == "torch 2.0 ext 2.0"
    assert first(oracle, {"ext": ["1.0", "2.0"]}) == "torch 2.0 ext 2.0"


def test_known_issue_puts_nothing_behind() -> None:
    """Only security does, of all advisories."""
    known = {"of": "ext==2.0", "kind": "known-issue", "message": "It is slow.", "since": TODAY, "sources": ["page"]}
    assert first(base(pair(advisory=[known]))) == "torch 2.0 ext 2.0"


def test_kind_of_the_device_first() -> None:
    """A build that is made for another device on this platform comes after older ones of the kind, on this platform alone."""
    oracle = made_for(base([torch("2.0", "1.0")]), "cuda", ("torch", "2.0"), system="linux")
    assert first(oracle) == "torch 1.0"
    assert first(oracle, os="windows") == "torch 2.0"


def test_put_behind_before_kind() -> None:
    """A build of another kind comes before one of the kind with what has ended: the second rule is before the third."""
    oracle = made_for(base(pair(release("2.0", eol=ENDED))), "cuda", ("torch", "1.0"), system="linux")
    assert first(oracle) == "torch 1.0 ext 1.0"


def test_seen_before_presumed() -> None:
    """A build of which nobody has seen or stated a wheel comes after older ones that were; pinned, it is there."""
    oracle = base([torch(release("2.0", builds=[build("2.0", wheels=GUESSED)]), "1.0")])
    assert first(oracle) == "torch 1.0"
    assert first(oracle, {"torch": "2.0"}) == "torch 2.0"


@pytest.mark.parametrize(
    ("wheels", "listed"),
    [
        pytest.param([*GUESSED, wheel(["3.12"])], [], id="one-row-is-stated"),
        pytest.param(GUESSED, [listing("2.0")], id="an-index-lists-it"),
    ],
)
def test_not_presumed(wheels: list[Record], listed: list[Record]) -> None:
    """One row that is stated, or a listing of an index, and a build is not only presumed."""
    newest = release("2.0", builds=[build("2.0", wheels=wheels, channels=["default"])])
    oracle = base([torch(newest, "1.0", distribution="torch")], indexes=[index("torch", listed)] if listed else [])
    assert first(oracle) == "torch 2.0"


def test_presumed_companion_does_not_count() -> None:
    """A companion that nobody asked for is no reason to come later; one that was asked for is."""
    vision = product(
        "vision",
        role="companion",
        releases=[release("2.0", builds=[build("2.0", wheels=GUESSED)]), "1.0"],
        claims=[needs("vision==2.0", "torch==2.0"), needs("vision==1.0", "torch==1.0")],
    )
    oracle = base([torch("2.0", "1.0"), vision])
    assert first(oracle) == "torch 2.0"
    assert first(oracle, bare=["vision"]) == "torch 1.0 vision 1.0"


def test_kind_before_presumed() -> None:
    """A presumed build of the kind comes before a build of another kind that was seen."""
    oracle = base([torch("2.0", release("1.0", builds=[build("1.0", wheels=GUESSED)]))])
    assert first(made_for(oracle, "cuda", ("torch", "2.0"), system="linux")) == "torch 1.0"


ROUTES = [route(without=["ipex"]), route("ipex", "ipex", 2, **{"with": ["ipex"]})]


def ipex(**more: Any) -> Record:
    """Return IPEX, made for torch 2.0."""
    return product("ipex", releases=[release("1.0", **more)], claims=[needs("ipex", "torch==2.0")])


def test_route_before_series() -> None:
    """The better route comes first, were its torch older: 2.0 is for those who have IPEX."""
    only = release("2.0", builds=[build("2.0", only_with=["ipex"])])
    oracle = base([torch(only, "1.0"), ipex()], routes=ROUTES)
    assert first(oracle) == "torch 1.0"
    assert first(oracle, bare=["ipex"]) == "torch 2.0 ipex 1.0"


def test_presumed_before_route() -> None:
    """A route whose torch is only presumed to exist comes after another one whose builds were seen."""
    only = release("2.0", builds=[build("2.0", only_with=["ipex"])])
    guessed = release("1.0", builds=[build("1.0", wheels=GUESSED)])
    assert first(base([torch(only, guessed), ipex()], routes=ROUTES)) == "torch 2.0 ipex 1.0"


def test_ended_route_is_the_last_way() -> None:
    """A route that has ended comes after a presumed build of another; who names what has ended gets it."""
    guessed = release("2.0", builds=[build("2.0", wheels=GUESSED)])
    oracle = base([torch(guessed), ipex(eol=ENDED)], routes=ROUTES)
    assert first(oracle) == "torch 2.0"
    assert first(oracle, bare=["ipex"]) == "torch 2.0 ipex 1.0"


def likely(version: str) -> Record:
    """Return the claim that makes a torch `likely`: it was only concluded which ext it needs."""
    return needs(f"torch=={version}", "ext==1.0", basis="inferred")


def test_series_before_level() -> None:
    """The newest series comes first, though it is only likely and an older one works."""
    oracle = base([torch("2.1.0", "2.0.0", claims=[likely("2.1.0")]), product("ext", releases=["1.0"])])
    assert first(oracle) == "torch 2.1.0 ext 1.0"
    assert level(oracle) is Level.WEAK


def test_level_within_a_series() -> None:
    """Within a series what works comes before what is newer and likely; how many numbers make a series is data."""
    ext = product("ext", releases=["1.0"])
    assert first(base([torch("2.1.1", "2.1.0", claims=[likely("2.1.1")]), ext])) == "torch 2.1.0"
    assert first(base([torch("2.1.0", "2.0.0", claims=[likely("2.1.0")], series=1), ext])) == "torch 2.0.0"


def test_series_is_of_the_release() -> None:
    """A vendor's build is of the series of its release, whatever its own version says."""
    vendor = release("2.0.0", builds=[build("9.9.0", maker="Intel")])
    assert first(base([torch("2.1.0", vendor)])) == "torch 2.1.0"


PREVIEW = {"stage": "preview"}


def test_level_before_warnings() -> None:
    """What works with a warning comes before what is likely without one."""
    said = [likely("2.1.1")]
    oracle = base(
        [
            torch("2.1.1", release("2.1.0", builds=[build("2.1.0", **PREVIEW)]), claims=said),
            product("ext", releases=["1.0"]),
        ]
    )
    assert first(oracle) == "torch 2.1.0"


def test_fewer_warnings_before_newer() -> None:
    """Of one series and level the one with fewer warnings comes first; a newer series does all the same."""
    early = release("2.1.1", builds=[build("2.1.1", **PREVIEW)])
    assert first(base([torch(early, "2.1.0")])) == "torch 2.1.0"
    assert first(base([torch(early, "2.0.0")])) == "torch 2.1.1"


def test_notices_of_what_others_need_count_where_it_is_named() -> None:
    """Of what is pinned and others need, what is known to be insecure comes after what is not; its end counts for nothing."""
    notice = {"of": "leaf==2.0", "kind": "vulnerability", "message": "CVE-1: a hole.", "since": TODAY, "sources": ["page"]}
    said = [verified("leaf", "torch", basis="inferred", note="It asks for none.")]
    insecure = product("leaf", role="leaf", rank=600, releases=["2.0", "1.0"], claims=said, advisory=[notice])
    ended = product("leaf", role="leaf", rank=600, releases=[release("2.0", eol=ENDED), "1.0"], claims=said)
    both = {"leaf": ("2.0", "1.0")}
    assert first(base([torch("2.0"), insecure]), both) == "torch 2.0 leaf 1.0"
    assert first(base([torch("2.0"), ended]), both) == "torch 2.0 leaf 2.0"


@pytest.mark.parametrize(("ranks", "expected"), [((1, 2), "torch 2.1.1 ext 1.0"), ((2, 1), "ext 2.0 torch 2.1.0")])
def test_newest_product_by_product(ranks: tuple[int, int], expected: str) -> None:
    """Where all else is equal the product that ranks first decides."""
    said = [needs("torch==2.1.1", "ext==1.0"), needs("torch==2.1.0", "ext==2.0")]
    products = [
        torch("2.1.1", "2.1.0", claims=said, rank=ranks[0]),
        product("ext", releases=["2.0", "1.0"], rank=ranks[1]),
    ]
    assert first(base(products)) == expected


# -- who is a candidate ---------------------------------------------------------------------------------------------------


def cuda() -> Oracle:
    """Return torch and vision, each with a plain build and one for CUDA, which goes with its like."""
    said = [verified(f"vision=={version}", f"torch=={version}") for version in ("2.0", "2.0+cu1")]
    mixed = [breaks("vision==2.0+cu1", "torch==2.0+cpu")]
    builds = [[build(f"2.0{label}") for label in ("+cu1", "+cpu")] for _ in "12"]
    oracle = base(
        [
            torch(release("2.0", builds=builds[0])),
            product("vision", releases=[release("2.0", builds=builds[1])], claims=said + mixed),
        ]
    )
    oracle.knowledge.elements["device"].append(KnowledgeElement("device", "cuda", cuda_device()))
    return made_for(oracle, "cuda", ("torch", "2.0+cu1"), ("vision", "2.0+cu1"))


def cuda_device() -> Release:
    """Return a device that no route serves; builds for it run on a CPU too."""
    return Release(version="cuda", sources=("page",)).model_copy(update={"runs_on": ("cpu",)})


def test_foreign_build_is_no_candidate() -> None:
    """A build for a device that is not served is never offered, not even where a pin admits it among others."""
    assert first(cuda(), bare=["vision"]) == "torch 2.0+cpu vision 2.0+cpu"
    assert first(cuda(), {"torch": ["2.0+cpu", "2.0+cu1"]}, bare=["vision"]) == "torch 2.0+cpu vision 2.0+cpu"


def test_pinned_foreign_build() -> None:
    """It is one where a pin admits nothing else, and then what goes with it is one too."""
    assert first(cuda(), {"torch": "2.0+cu1"}) == "torch 2.0+cu1"
    assert first(cuda(), {"vision": "2.0+cu1"}) == "torch 2.0+cu1 vision 2.0+cu1"
    assert first(cuda(), {"vision": "2.0+cu1", "torch": "2.0+cpu"}) == ""


def any_hardware() -> Oracle:
    """Return torch 2.0, which runs on no Arc, where packages for CPU and for xpu run on any such hardware."""
    oracle = base([torch("2.0", claims=[breaks("torch", "hardware==arc")], tested_on="")])
    for element in oracle.knowledge.elements["device"]:
        element.release = element.release.model_copy(update={"any_hardware": True})
    return oracle


def test_cpu_needs_no_claim() -> None:
    """Hardware that is for the device alone is vouched for; what is for two devices, and what a claim denies, is not."""
    assert level(any_hardware(), {"hardware": "xeon"}) is Level.STRONG
    assert level(any_hardware(), {"hardware": "core"}) is Level.UNKNOWN
    assert level(any_hardware(), {"hardware": "arc"}, device="xpu") is None


def test_hardware_needs_a_claim() -> None:
    """Where the device does not say so, nobody vouches for hardware that nobody names."""
    assert level(base([torch("2.0", tested_on="")]), {"hardware": "xeon"}) is Level.UNKNOWN


def test_patch_of_python() -> None:
    """A pin on a patch of Python excludes what its metadata exclude there, and nothing on another patch."""
    newest = release("2.0", builds=[build("2.0", channels=["default"])])
    listed = [listing("2.0", **{"requires-python": ">=3.11,!=3.12.1"})]
    oracle = base([torch(newest, "1.0", distribution="torch")], indexes=[index("torch", listed)])
    assert [first(oracle, patch=patch) for patch in ("", "3.12.0", "3.12.1")] == ["torch 2.0", "torch 2.0", "torch 1.0"]


def test_patch_and_builds_elsewhere() -> None:
    """What the index records of a release holds for its maker's builds on other indexes, and not for a vendor's."""
    listed = [index("torch", [listing("2.0", **{"requires-python": "!=3.12.1"})])]
    for maker, expected in (({}, ""), ({"maker": "Intel"}, "torch 2.0+x")):
        oracle = base([torch(release("2.0", builds=[build("2.0+x", **maker)]), distribution="torch")], indexes=listed)
        assert first(oracle, patch="3.12.1") == expected


# -- time has two hands ---------------------------------------------------------------------------------------------------


def test_clock_decides_what_has_ended() -> None:
    """The last day still counts; the day after it the release has ended, though the data are the same."""
    oracle = base(pair(release("2.0", eol={"last-day": TODAY, "sources": ["page"]})))
    assert first(oracle) == "torch 2.0 ext 2.0"
    assert first(oracle, today=TODAY + DAY) == "torch 1.0 ext 1.0"


def test_clock_changes_no_verdict() -> None:
    """A year later the same question has the same answer, a "no" or a stack."""
    oracle = base(pair())
    for today in (TODAY, LATER):
        assert level(oracle, today=today) is Level.STRONG
        assert verdict(oracle, *asks(oracle, {"torch": "2.0", "ext": "1.0"}, today=today)) is Verdict.DOES_NOT_WORK


def one_wheel() -> Oracle:
    """Return torch 2.0 with a wheel for Python 3.11 alone, by an index that was read long before the day of knowledge."""
    made = torch(
        release("2.0", builds=[build("2.0", wheels=[], wheels_complete=False, channels=["default"])]), distribution="torch"
    )
    listed = listing("2.0", wheels={"cp311": ["manylinux_2_28_x86_64"]})
    return base([made], indexes=[index("torch", [listed], seen=TODAY - 100 * DAY)])


@pytest.mark.parametrize(
    ("as_of", "explicit", "expected"),
    [
        pytest.param(TODAY, False, Verdict.DOES_NOT_WORK, id="day-of-knowledge"),
        pytest.param(TODAY - 101 * DAY, True, Verdict.DOES_NOT_WORK, id="before-the-list-was-read"),
        pytest.param(TODAY, True, Verdict.UNKNOWN, id="after-the-list-was-read"),
    ],
)
def test_missing_wheel(as_of: date, explicit: bool, expected: Verdict) -> None:
    """A list counts as whole up to the day of knowledge; who names a day asks what was known by then."""
    oracle = one_wheel()
    assert verdict(oracle, *asks(oracle, {"torch": "2.0"}, as_of=as_of, explicit=explicit)) is expected
    assert level(oracle, python="3.11", as_of=as_of, explicit=explicit) is Level.STRONG


def test_day_in_the_past() -> None:
    """What was released after a day does not exist on it."""
    oracle = base([torch(release("2.0", on=TODAY), release("1.0", on=LONG_AGO))])
    assert first(oracle, as_of=TODAY - DAY, explicit=True) == "torch 1.0"


# -- when a "no" is certain -----------------------------------------------------------------------------------------------


def scope(**more: Any) -> dict[str, Any]:
    """Return the scope of a list of all releases of ext that is whole until the day of knowledge."""
    return {"complete": [{"what": "release", "of": "ext", "until": TODAY, "sources": ["page"], **more}]}


def needing_the_old(**more: Any) -> Oracle:
    """Return torch 2.0 and an ext whose only release needs torch 1.0."""
    ext = product("ext", releases=["1.0"], claims=[needs("ext==1.0", "torch==1.0")], **more)
    return base([torch("2.0", "1.0"), ext])


@pytest.mark.parametrize(
    ("lists", "time", "expected"),
    [
        pytest.param(scope(), {}, Verdict.DOES_NOT_WORK, id="whole-list"),
        pytest.param(scope(until=LONG_AGO), {}, Verdict.DOES_NOT_WORK, id="by-default-whole-up-to-the-day-of-knowledge"),
        pytest.param(scope(), {"as_of": LATER, "explicit": True}, Verdict.UNKNOWN, id="may-have-grown"),
        pytest.param(scope(ended=True), {"as_of": LATER, "explicit": True}, Verdict.DOES_NOT_WORK, id="closed-for-good"),
        pytest.param({"complete": []}, {}, Verdict.UNKNOWN, id="no-list"),
        pytest.param(scope(of="ext<1.0"), {}, Verdict.UNKNOWN, id="of-another-series"),
        pytest.param(scope(device=["xpu"]), {}, Verdict.UNKNOWN, id="of-another-device"),
    ],
)
def test_choice_needs_a_whole_list(lists: dict[str, Any], time: dict[str, Any], expected: Verdict) -> None:
    """Where the request leaves a choice, absence denies inside a list that is whole on that day, and nowhere else."""
    oracle = needing_the_old(**lists)
    assert verdict(oracle, *asks(oracle, {"torch": "2.0"}, bare=["ext"], **time)) is expected


def test_fixed_needs_no_list() -> None:
    """What a fixed release says decides for ever, whether or not its list is whole."""
    oracle = needing_the_old(complete=[])
    question = asks(oracle, {"torch": "2.0", "ext": "1.0"}, as_of=LATER, explicit=True)
    assert verdict(oracle, *question) is Verdict.DOES_NOT_WORK


def test_series_leaves_a_choice() -> None:
    """A pin that admits several releases may admit one that no list holds; a pin on one release admits no other."""
    ext = product("ext", releases=["3.0", "2.0", "1.0"], claims=[needs("ext", "torch==1.0")], complete=[])
    oracle = base([torch("2.0", "1.0", claims=[needs("torch==2.0", "ext>=3.0")]), ext])
    assert verdict(oracle, *asks(oracle, {"torch": "2.0", "ext": ["2.0", "3.0"]})) is Verdict.UNKNOWN
    assert verdict(oracle, *asks(oracle, {"torch": "2.0", "ext": "2.0"})) is Verdict.DOES_NOT_WORK


def test_inference_denies_without_certainty() -> None:
    """Where only a conclusion excludes every stack, there is none and the answer is unknown; stated, it is a "no"."""
    for basis, expected in (("inferred", Verdict.UNKNOWN), ("stated", Verdict.DOES_NOT_WORK)):
        oracle = base([torch("2.0", claims=[breaks("torch", "ext", basis=basis)]), product("ext", releases=["1.0"])])
        assert first(oracle, bare=["ext"]) == ""
        assert verdict(oracle, *asks(oracle, bare=["ext"])) is expected


def test_certain_facts_decide_beside_uncertain_ones() -> None:
    """A conclusion that excludes the stack too takes nothing from a certain "no"."""
    said = [breaks("torch", "ext", basis="inferred"), needs("torch", "ext==2.0")]
    oracle = base([torch("2.0", claims=said), product("ext", releases=["2.0", "1.0"])])
    assert verdict(oracle, *asks(oracle, {"ext": "1.0"})) is Verdict.DOES_NOT_WORK
    assert verdict(oracle, *asks(oracle, {"ext": "2.0"})) is Verdict.UNKNOWN


def test_metadata_deny_with_certainty() -> None:
    """Ranges that an index records only hint at what works, and deny what they exclude for certain."""
    newest = release("2.0", builds=[build("2.0", channels=["default"])])
    ext = product("ext", releases=["2.0", "1.0"], distribution="ext")
    listed = [index("torch", [listing("2.0", wheels={"cp312": ["manylinux_2_28_x86_64"]}, requires=["ext>=2.0"])])]
    oracle = base([torch(newest, distribution="torch"), ext], indexes=listed)
    assert verdict(oracle, *asks(oracle, {"ext": "1.0"})) is Verdict.DOES_NOT_WORK
    assert verdict(oracle, *asks(oracle, {"ext": "2.0"})) is Verdict.LIKELY


def test_open_dispute_denies_nothing() -> None:
    """Where a claim is disputed and nobody has decided, nothing that rests on it is a "no"."""
    claim = breaks("torch", "ext")
    dispute = {
        "id": "about-it", "about": "which", "claims": [claim["id"]], "positions": ["this", "that"], "decision": "open",
        "reason": "no source decides", "decided": TODAY, "sources": ["page", "page"],
    }  # fmt: skip
    oracle = base([torch("2.0", claims=[claim], dispute=[dispute]), product("ext", releases=["1.0"])])
    assert verdict(oracle, *asks(oracle, bare=["ext"])) is Verdict.UNKNOWN


def test_pin_more_weakens_no_denial() -> None:
    """Adding a pin to a question whose answer is "no" leaves it one, though it brings an uncertain reason too."""
    said = [needs("torch==2.0", "ext==2.0"), breaks("torch", "ext==1.0", basis="inferred")]
    oracle = base([torch("2.0", "1.0", claims=said), product("ext", releases=["1.0"])])
    assert verdict(oracle, *asks(oracle, {"torch": "2.0"})) is Verdict.DOES_NOT_WORK
    assert verdict(oracle, *asks(oracle, {"torch": "2.0", "ext": "1.0"})) is Verdict.DOES_NOT_WORK
    assert verdict(oracle, *asks(oracle, {"torch": "1.0", "ext": "1.0"})) is Verdict.UNKNOWN
