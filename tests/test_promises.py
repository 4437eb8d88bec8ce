"""What an answer promises (section 3 of the design), rule by rule, each on the smallest world that could break it."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import (
    TODAY,
    bare_release,
    breaks,
    build,
    claim,
    compiled,
    constrains,
    files_of,
    index,
    listing,
    needs,
    platform,
    product,
    release,
    route,
    shown,
    universe,
    verified,
    wheel,
)
from conftest import clock

from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.authoring.evidence import add_observations
from compatkb.core.clock import Clock
from compatkb.engine.answer import Answer, resolve
from compatkb.output.commands import pip_commands
from compatkb.output.payload import answer_payload
from compatkb.output.presenter import present
from compatkb.request.parser import make_request
from compatkb.schema import Observation
from compatkb.store.reader import Snapshot

TORCH = product("torch", releases=["2.0.0", "1.0.0"])


def ask(facts: Snapshot, *words: str, device: str = "cpu", as_of: date | None = None, **options: str) -> Answer:
    """Return the answer to words and options as they are typed."""
    chosen = [(name.replace("_", "-"), text) for name, text in options.items()]
    return resolve(facts, make_request(facts, chosen, words, (device,), clock(as_of)))


def versions(answer: Answer) -> list[dict[str, str]]:
    """Return the packages of each stack."""
    return [{e.product: e.version for e in stack.packages} for stack in answer.stacks]


def observed(level: str, outcome: str = "ok", **more: Any) -> Observation:
    """Return an observation of torch 2.0.0 with helper 1.0 on Python 3.11, Linux, CPU."""
    plain = {
        "packages": {"torch": "2.0.0", "helper": "1.0"},
        "python": "3.11",
        "platform": "linux-x86_64",
        "device": "cpu",
        "index": "extra",
        "checked": TODAY,
        "tool": "python",
    }
    return Observation.model_validate({"level": level, "outcome": outcome, **plain, **more})


def world(folder: Path, evidence: Iterable[Observation], claims: Iterable[dict[str, Any]] = ()) -> Snapshot:
    """Return a world of torch and a helper that speaks of it in general only, with evidence."""
    spoken = [constrains("helper", "torch"), *claims]
    files = files_of([TORCH, product("helper", releases=["1.0"], claims=spoken)])
    knowledge = build_knowledge(replace(files, evidence=tuple(evidence)))
    add_observations(knowledge)
    return compiled(knowledge, folder)


@pytest.mark.parametrize("level", ["published", "resolve", "gate"])
def test_what_could_not_fail_proves_nothing(level: str, tmp_path: Path) -> None:
    """A resolution, a gate or a look at the index says nothing of an edge that metadata do not speak of."""
    answer = ask(world(tmp_path, [observed(level)]), "torch==2.0.0", "helper==1.0")
    assert answer.verdict == "unknown"


@pytest.mark.parametrize("level", ["import", "run"])
def test_import_vouches_where_it_was_made(level: str, tmp_path: Path) -> None:
    """An import that could have failed vouches for its builds, on its Python and system alone."""
    answer = ask(world(tmp_path, [observed(level)]), "torch==2.0.0", "helper==1.0")
    assert answer.verdict == "works"
    assert [(stack.python, stack.os) for stack in answer.stacks] == [(("3.11",), ("linux",))]


def test_run_on_a_cpu_says_nothing_about_xpu(tmp_path: Path) -> None:
    """An observation holds for its device."""
    answer = ask(world(tmp_path, [observed("run")]), "torch==2.0.0", "helper==1.0", device="xpu")
    assert answer.verdict == "unknown"


def test_observation_of_another_patch_says_nothing(tmp_path: Path) -> None:
    """An observation holds for the exact builds."""
    answer = ask(world(tmp_path, [observed("run")]), "torch==1.0.0", "helper==1.0")
    assert answer.verdict == "unknown"


def test_failed_import_alone_denies_nothing(tmp_path: Path) -> None:
    """A failed import is a finding until its culprit is recorded as a claim."""
    claims = [verified("helper==1.0", "torch==2.0.0")]
    answer = ask(world(tmp_path, [observed("import", "failed-import")], claims), "torch==2.0.0", "helper==1.0")
    assert answer.verdict == "works"


def test_import_does_not_vouch_for_builds_whose_run_failed(tmp_path: Path) -> None:
    """Builds that load together and then fail to work are no reason to say that they work."""
    seen = [observed("import"), observed("run", "failed-run")]
    assert ask(world(tmp_path, seen), "torch==2.0.0", "helper==1.0").verdict == "unknown"


def test_inferred_edge_is_likely(tmp_path: Path) -> None:
    """One inferred edge that matters makes an answer likely, with what would settle it."""
    helper = product("helper", releases=["1.0"], claims=[needs("helper==1.0", "torch==2.0.0", basis="inferred")])
    answer = ask(universe(tmp_path, [TORCH, helper]), "helper")
    assert answer.verdict == "likely"


def test_stack_is_split_where_pythons_were_seen_and_inferred(tmp_path: Path) -> None:
    """Seen Pythons work, inferred ones are likely: never one stack for both."""
    rows = [wheel(python=["3.11"]), wheel(python=["3.12"], basis="inferred")]
    torch = product("torch", releases=[release("2.0.0", builds=[build("2.0.0", wheels=rows)])])
    answer = ask(universe(tmp_path, [torch]), "torch")
    assert [(stack.python, stack.verdict) for stack in answer.stacks] == [(("3.11",), "works"), (("3.12",), "likely")]


def test_older_that_works_comes_before_newer_that_is_likely(tmp_path: Path) -> None:
    """The verdict decides before the version does."""
    newest = release("3.0.0", builds=[build("3.0.0", wheels=[wheel(basis="inferred")])])
    answer = ask(universe(tmp_path, [product("torch", releases=[newest, "2.0.0"])]), "torch")
    assert versions(answer) == [{"torch": "2.0.0"}]


def test_positive_list_never_denies(tmp_path: Path) -> None:
    """`verified` supports what it names; the rest is unknown, not excluded."""
    helper = product("helper", releases=["1.0"], claims=[verified("helper==1.0", "torch==2.0.0")])
    facts = universe(tmp_path, [TORCH, helper])
    assert ask(facts, "helper", "torch==2.0.0").verdict == "works"
    assert ask(facts, "helper", "torch==1.0.0").verdict == "unknown"


def test_stated_claim_denies(tmp_path: Path) -> None:
    """`needs` denies what it does not name."""
    helper = product("helper", releases=["1.0"], claims=[needs("helper==1.0", "torch==2.0.0")])
    assert ask(universe(tmp_path, [TORCH, helper]), "helper", "torch==1.0.0").verdict == "does-not-work"


def test_passing_a_gate_is_no_support(tmp_path: Path) -> None:
    """A rule that breaks the rest vouches for nothing."""
    claims = [constrains("helper", "torch"), breaks("helper==1.0", "torch!=2.0.0")]
    helper = product("helper", releases=["1.0"], claims=claims)
    assert ask(universe(tmp_path, [TORCH, helper]), "helper", "torch==2.0.0").verdict == "unknown"


@pytest.mark.parametrize(("whole", "expected"), [(True, "does-not-work"), (False, "unknown")])
def test_missing_wheel_denies_only_within_a_complete_list(whole: bool, expected: str, tmp_path: Path) -> None:
    """Where the list of wheels is not whole, a missing one proves nothing."""
    made = build("2.0.0", wheels=[wheel(python=["3.11"])], wheels_complete=whole)
    torch = product("torch", releases=[release("2.0.0", builds=[made])])
    assert ask(universe(tmp_path, [torch]), "torch", python="3.12").verdict == expected


@pytest.mark.parametrize(
    ("as_of", "expected"), [(date(2026, 11, 21), "does-not-work"), (date(2027, 6, 1), "unknown")], ids=["covered", "later"]
)
def test_missing_release_denies_only_until_its_list_ends(as_of: date, expected: str, tmp_path: Path) -> None:
    """A list of releases that is whole until a day says nothing of later days, and the last state is named."""
    until = [{"what": "release", "of": "torch", "until": date(2026, 11, 21), "sources": ["page"]}]
    made = [release("2.0.0", builds=[build("2.0.0", devices=["cpu"])])]
    facts = universe(tmp_path, [product("torch", releases=made, complete=until)])
    assert ask(facts, "torch", device="xpu", as_of=as_of).verdict == expected


def test_version_beyond_the_list_is_unknown_not_wrong(tmp_path: Path) -> None:
    """A release that may have come out after the list ends cannot be called wrong."""
    until = [{"what": "release", "of": "torch", "until": date(2026, 11, 21), "sources": ["page"]}]
    facts = universe(tmp_path, [product("torch", releases=["2.0.0"], complete=until)])
    assert ask(facts, torch="3.0", as_of=date(2027, 6, 1)).verdict == "unknown"


@pytest.mark.parametrize(("what", "expected"), [("release", "does-not-work"), ("wheel", "unknown")])
def test_a_whole_list_of_wheels_says_nothing_of_releases(what: str, expected: str, tmp_path: Path) -> None:
    """Where only the wheels of what came out are all known, a release for another device may be out."""
    whole = [{"what": what, "of": "torch", "until": TODAY, "sources": ["page"]}]
    made = [release("2.0.0", builds=[build("2.0.0", devices=["cpu"])])]
    assert (
        ask(universe(tmp_path, [product("torch", releases=made, complete=whole)]), "torch", device="xpu").verdict == expected
    )


@pytest.mark.parametrize(("channel", "expected"), [("extra", "does-not-work"), ("default", "unknown")])
def test_the_wheels_of_one_index_are_whole_for_its_own_builds(channel: str, expected: str, tmp_path: Path) -> None:
    """A list of the wheels of an index denies what its builds lack, not what builds of another index lack."""
    whole = [{"what": "wheel", "of": "torch", "channel": channel, "until": TODAY, "sources": ["page"]}]
    made = [release("2.0.0", builds=[build("2.0.0", wheels=[wheel(python=["3.11"])], wheels_complete=False)])]
    facts = universe(tmp_path, [product("torch", releases=made, complete=whole)])
    assert ask(facts, "torch==2.0.0", python="3.12").verdict == expected


def test_another_name_of_a_series_asks_for_its_releases(tmp_path: Path) -> None:
    """A driver goes by the number of its branch, too: a request that pins it admits what the series has."""
    named = {"series_aliases": {"2350": "803"}, "releases": ["803.2", "803.1", "736.1"]}
    facts = universe(tmp_path, [TORCH, product("driver", role="dimension", scheme="dotted", **named)])
    by_alias, by_series = (make_request(facts, (), [f"driver=={name}"]).pins[0] for name in ("2350", "803"))
    assert by_alias.mask == by_series.mask


@pytest.mark.parametrize("later", [1, 30, 365])
def test_today_changes_no_denial(later: int, tmp_path: Path) -> None:
    """What is denied on the day of the data is denied on every day after; a later day that is asked about is open."""
    until = [{"what": "release", "of": "torch", "until": TODAY, "sources": ["page"]}]
    made = [release("2.0.0", builds=[build("2.0.0", devices=["cpu"])])]
    helper = product("helper", releases=["1.0"], claims=[needs("helper==1.0", "torch==1.0.0")])
    facts = universe(tmp_path, [product("torch", releases=made, complete=until), helper])
    day = TODAY + timedelta(days=later)
    for today, as_of, open_verdict in ((day, None, "does-not-work"), (day, day, "unknown")):
        asked = make_request(facts, (), ["torch"], ("xpu",), Clock(today, as_of))
        assert resolve(facts, asked).verdict == open_verdict
        fixed = make_request(facts, (), ["torch==2.0.0", "helper==1.0"], ("cpu",), Clock(today, as_of))
        assert resolve(facts, fixed).verdict == "does-not-work"


def test_companion_never_vetoes(tmp_path: Path) -> None:
    """A companion is shown where one matches, and left out where none does."""
    vision = product(
        "vision",
        role="companion",
        releases=[release("0.2", builds=[build("0.2", wheels=[wheel(python=["3.11"])])])],
        claims=[needs("vision==0.2", "torch==2.0.0")],
    )
    facts = universe(tmp_path, [TORCH, vision])
    answer = ask(facts, "torch==2.0.0")
    assert [(stack.python, "vision" in packages) for stack, packages in zip(answer.stacks, versions(answer), strict=True)] == [
        (("3.11",), True),
        (("3.12",), False),
    ]
    assert versions(ask(facts, "torch==1.0.0")) == [{"torch": "1.0.0"}]


def test_requested_companion_does_veto(tmp_path: Path) -> None:
    """What is asked for must be there; in any version, another release may fit unless the list of them is whole."""
    vision = product("vision", role="companion", releases=["0.2"], claims=[needs("vision==0.2", "torch==2.0.0")])
    facts = universe(tmp_path, [TORCH, vision])
    assert ask(facts, "torch==1.0.0", "vision==0.2").verdict == "does-not-work"
    assert ask(facts, "torch==1.0.0", "vision").verdict == "unknown"
    vision["product"]["complete"] = [{**scope, "of": "vision"} for scope in TORCH["product"]["complete"]]
    assert ask(universe(tmp_path / "whole", [TORCH, vision]), "torch==1.0.0", "vision").verdict == "does-not-work"


def test_undecided_dispute_makes_unknown(tmp_path: Path) -> None:
    """While a dispute is open, what depends on it is unknown; once decided, the winner counts."""
    one, other = needs("helper==1.0", "torch==2.0.0"), needs("helper==1.0", "torch==1.0.0")
    quarrel = {"id": "d", "about": "torch", "claims": [one["id"], other["id"]], "reason": "they differ", "decided": TODAY}
    for decision, expected in (("open", "unknown"), (one["id"], "works")):
        disputes = [{**quarrel, "decision": decision}]
        helper = product("helper", releases=["1.0"], claims=[one, other], dispute=disputes)
        folder = tmp_path / expected
        folder.mkdir()
        assert ask(universe(folder, [TORCH, helper]), "helper", "torch==2.0.0").verdict == expected


@pytest.mark.parametrize(
    ("as_of", "kinds"),
    [
        pytest.param(date(2025, 12, 31), [], id="before-upload-of-the-yank"),
        pytest.param(date(2026, 2, 1), ["yanked"], id="between-the-bounds"),
        pytest.param(date(2026, 6, 1), ["yanked"], id="after"),
    ],
)
def test_yank_between_bounds_is_said_to_be_unsure(as_of: date, kinds: list[str], tmp_path: Path) -> None:
    """The index dates uploads, not yanks: between the two the answer says so."""
    made = [release("2.0.0", builds=[build("2.0.0", channels=["default"], wheels=[])], on=None)]
    torch = product("torch", distribution="torch", releases=made)
    listed = index("torch", [listing("2.0.0", on=date(2025, 12, 31), yanked=date(2026, 3, 1))])
    answer = ask(universe(tmp_path, [torch], indexes=[listed]), "torch", as_of=as_of)
    found = [warned for stack in answer.stacks[:1] for warned in stack.warnings]
    if as_of == date(2025, 12, 31):
        assert found[0].until is not None  # uploaded that day; whether it was yanked at once is not known
    else:
        assert [warned.kind for warned in found] == kinds
        assert (found[0].until is not None) is (as_of < date(2026, 3, 1))


def test_as_of_hides_what_came_later(tmp_path: Path) -> None:
    """A release after the day does not exist; on its day it does."""
    torch = product("torch", releases=[release("2.0.0", on=date(2026, 5, 5)), release("1.0.0", on=date(2025, 5, 5))])
    facts = universe(tmp_path, [torch])
    assert versions(ask(facts, "torch", as_of=date(2026, 5, 4))) == [{"torch": "1.0.0"}]
    assert versions(ask(facts, "torch", as_of=date(2026, 5, 5))) == [{"torch": "2.0.0"}]


def test_end_of_life_day_is_still_supported(tmp_path: Path) -> None:
    """The end-of-life date is the last supported day."""
    eol = {"last-day": date(2026, 3, 31), "sources": ["page"]}
    facts = universe(tmp_path, [product("torch", releases=[release("2.0.0", eol=eol)])])
    assert ask(facts, "torch", as_of=date(2026, 3, 31)).verdict == "works"
    assert ask(facts, "torch", as_of=date(2026, 4, 1)).verdict == "works-with-warnings"


def test_fewer_warnings_before_newer(tmp_path: Path) -> None:
    """Within a series a stack without warnings is preferred to a newer one with some; a newer series is preferred to both."""
    torch = product("torch", releases=[release("2.0.1", builds=[build("2.0.1", stage="preview")]), "2.0.0", "1.0.0"])
    assert versions(ask(universe(tmp_path, [torch]), "torch")) == [{"torch": "2.0.0"}]


def test_routes_are_both_shown_and_a_named_one_is_taken(tmp_path: Path) -> None:
    """Where both routes exist both are shown, today's preference first; a request that names one gets it."""
    extension = product("extension", releases=["2.0.0"], claims=[needs("extension", "torch==2.0.0")])
    routes = [
        route("native", without=["extension"]),
        route("extended", "extension", 2, **{"with": ["extension"]}),
    ]
    facts = universe(tmp_path, [TORCH, extension], routes=routes)
    assert [stack.route for stack in ask(facts, "torch==2.0.0").stacks] == ["native", "extended"]
    assert [stack.route for stack in ask(facts, "extension").stacks] == ["extended"]


def test_known_bound_appears_in_commands(tmp_path: Path) -> None:
    """A product outside the stack with a known bound appears in the command as that bound."""
    numpy = product("numbers", role="leaf", distribution="numbers", releases=["2.0", "1.0"])
    torch = product("torch", distribution="torch", releases=["2.0.0"], claims=[constrains("torch==2.0.0", "numbers<2")])
    facts = universe(tmp_path, [torch, numpy])
    answer = ask(facts, "torch")
    assert "'numbers<2'" in pip_commands(shown(facts, answer.stacks[0]))[0]
    assert ask(facts, "torch", "numbers==2.0").verdict == "does-not-work"


def test_unlisted_version_of_a_bounded_product_is_judged(tmp_path: Path) -> None:
    """A version that the data do not list is judged by the bounds on it."""
    numpy = product("numbers", role="leaf", releases=["2.0", "1.0"])
    torch = product("torch", releases=["2.0.0"], claims=[constrains("torch==2.0.0", "numbers<2")])
    facts = universe(tmp_path, [torch, numpy])
    assert ask(facts, "torch", "numbers==1.5").verdict == "works"
    assert ask(facts, "torch", "numbers==2.7").verdict == "does-not-work"


def test_pins_of_runtimes_that_exclude_each_other_deny(tmp_path: Path) -> None:
    """Two builds that pin one runtime differently do not go together, unless a recipe waives the pin."""
    runtime = product("runtime", role="leaf", releases=["2.0", "1.0"])
    torch = product("torch", releases=["2.0.0"], claims=[needs("torch==2.0.0", "runtime==1.0")])
    claims = [needs("helper==1.0", "torch==2.0.0"), needs("helper==1.0", "runtime==2.0")]
    helper = product("helper", releases=["1.0"], claims=claims)
    assert ask(universe(tmp_path, [torch, helper, runtime]), "helper").verdict == "does-not-work"
    recipe = {
        "of": "helper==1.0",
        "steps": [["torch"], ["helper"]],
        "waives": ["torch==2.0.0: runtime==1.0"],
        "sources": ["page"],
    }
    helper = product("helper", releases=["1.0"], claims=claims, install=[recipe])
    (tmp_path / "waived").mkdir()
    answer = ask(universe(tmp_path / "waived", [torch, helper, runtime]), "helper")
    assert versions(answer) == [{"torch": "2.0.0", "helper": "1.0", "runtime": "2.0"}]


def test_one_os_is_an_inference_for_its_siblings(tmp_path: Path) -> None:
    """A table of hardware that names one member of a family holds there, for the family, and by inference for siblings.

    Not for another family, nor for one that tells nothing of the rest, such as WSL 2.
    """
    hardware = product("hardware", role="dimension", scheme="listed", releases=["gpu"])
    claims = [verified("torch==2.0.0", "hardware==gpu", when={"os": ["ubuntu"]})]
    torch = product("torch", releases=["2.0.0"], claims=claims)
    dimensions = platform(systems=["windows", "linux", ("ubuntu", "linux"), ("debian", "linux"), ("wsl", "linux")])
    next(release for release in dimensions[1]["release"] if release["version"] == "wsl")["apart"] = True
    facts = universe(tmp_path, [torch, hardware], dimensions=dimensions)
    verdicts = {system: ask(facts, "torch", os=system, hardware="gpu").verdict for system in facts.grid["os"]}
    assert verdicts == {
        "ubuntu": "works", "linux": "works", "debian": "likely", "windows": "unknown", "wsl": "unknown",
    }  # fmt: skip


def test_os_that_fixes_glibc_is_denied_by_a_rule_on_glibc(tmp_path: Path) -> None:
    """A rule about glibc denies the distributions that ship it, and a platform tag the ones that are too old."""
    glibc = product("glibc", role="dimension", scheme="dotted", releases=["2.41", "2.35", "2.17"], machine="system")
    made = build("2.0.0", wheels=[wheel(glibc="2.28")])
    torch = product("torch", releases=[release("2.0.0", builds=[made])], claims=[breaks("torch==2.0.0", "glibc>=2.41")])
    dimensions = platform(systems=["linux", ("new", "linux"), ("fit", "linux"), ("old", "linux")])
    system = dimensions[1]
    system["claim"] = [needs(f"os=={name}", f"glibc=={v}") for name, v in (("new", "2.41"), ("fit", "2.35"), ("old", "2.17"))]
    facts = universe(tmp_path, [torch, glibc], dimensions=dimensions)
    verdicts = {name: ask(facts, "torch", os=name).verdict for name in ("new", "fit", "old", "linux")}
    assert verdicts == {"new": "does-not-work", "fit": "works", "old": "does-not-work", "linux": "works"}
    assert ask(facts, "torch", "glibc==2.41", os="linux").verdict == "does-not-work"
    assert ask(facts, "torch", "glibc==2.30", os="linux").verdict == "works"
    assert ask(facts, "torch", "glibc==2.20", os="linux").verdict == "does-not-work"


@pytest.mark.parametrize("kind", ["verified", "breaks"])
def test_a_distribution_that_makers_name_is_new_enough(kind: str, tmp_path: Path) -> None:
    """Where the floor of glibc is a guess, a condition of the makers vouches for a distribution, for their release."""
    glibc = product("glibc", role="dimension", scheme="dotted", releases=["2.35"], machine="system")
    releases = [release(v, builds=[build(v, wheels=[wheel(glibc="2.28", glibc_inferred=True)])]) for v in ("2.0.0", "1.0.0")]
    tested = claim(kind, "torch==1.0.0", "driver==1.0", when={"os": ["fit"]})
    torch = product("torch", releases=releases, claims=[tested])
    driver = product("driver", role="dimension", scheme="dotted", releases=["1.0"])
    dimensions = platform(systems=["linux", ("fit", "linux")])
    dimensions[1]["claim"] = [needs("os==fit", "glibc==2.35")]
    facts = universe(tmp_path, [torch, driver, glibc], dimensions=dimensions)
    verdicts = {version: ask(facts, f"torch=={version}", os="fit").verdict for version in ("1.0.0", "2.0.0")}
    assert verdicts == {"1.0.0": "works" if kind == "verified" else "likely", "2.0.0": "likely"}


def test_an_index_lists_without_its_label_what_was_built_with_one(tmp_path: Path) -> None:
    """What was imported from the default index under a labelled version is the build that the index lists."""
    torch = product("torch", distribution="torch", releases=[release("2.0.0", builds=[build("2.0.0", channels=["default"])])])
    helper = product("helper", releases=["1.0"], claims=[constrains("helper", "torch")])
    files = files_of([torch, helper], indexes=[index("torch", [listing("2.0.0")])])
    for channel, expected in (("default", "works"), ("extra", "unknown")):
        seen = observed("import", packages={"torch": "2.0.0+cpu", "helper": "1.0"}, index=channel)
        knowledge = build_knowledge(replace(files, evidence=(seen,)))
        add_observations(knowledge)
        asked = compiled(knowledge, tmp_path)
        assert ask(asked, "torch==2.0.0", "helper==1.0", python="3.11", os="linux").verdict == expected


def test_pep440_to_the_letter_for_pins_and_wider_for_words(tmp_path: Path) -> None:
    """`torch==2.1.0` does not match 2.1.0a0, the word 2.1.0 names the release and all its builds."""
    own = build("2.1.0a0+vendor", maker="vendor")
    torch = product("torch", releases=[release("2.1.0", builds=[own])])
    facts = universe(tmp_path, [torch])
    assert ask(facts, torch="2.1.0").verdict == "works"
    assert ask(facts, torch="2.1").verdict == "works"
    assert ask(facts, torch="2.1.0a0").verdict == "works"
    assert ask(facts, "torch==2.1.0a0").verdict == "works"
    with pytest.raises(Exception, match="no version"):
        ask(facts, "torch==2.1.0")


def test_nearest_keeps_the_device_and_says_what_it_gives_up(tmp_path: Path) -> None:
    """Nearest relaxes one pin before two, to the nearest series below and above."""
    made = [
        release(f"2.{n}.0", builds=[build(f"2.{n}.0", devices=["cpu", "xpu"] if n in (1, 6) else ["cpu"])]) for n in (6, 4, 1)
    ]
    facts = universe(tmp_path, [product("torch", releases=made)])
    answer = ask(facts, torch="2.4", python="3.11", device="xpu")
    assert answer.verdict == "does-not-work"
    found = {(near.relaxed, near.where, near.stack.packages[0].version, near.stack.device) for near in answer.nearest}
    assert found >= {(("torch",), "below", "2.1.0", "xpu"), (("torch",), "above", "2.6.0", "xpu")}
    assert {len(near.relaxed) for near in answer.nearest} == {1}


def test_same_question_same_answer(tmp_path: Path) -> None:
    """The same data and date give the same answer, whatever was asked before."""
    hardware = product("hardware", role="dimension", scheme="listed", releases=[bare_release("gpu", devices=["xpu"])])
    facts = universe(tmp_path, [TORCH, hardware])
    first = versions(ask(facts, "torch"))
    ask(facts, "torch", device="xpu", hardware="gpu")
    ask(facts, "torch==1.0.0", as_of=date(2021, 1, 1))
    assert versions(ask(facts, "torch")) == first


@pytest.mark.parametrize(
    ("pin", "helper", "verdict"),
    [
        pytest.param("runtime==1.0", "0.9", "does-not-work", id="too-old"),
        pytest.param("runtime==1.0", "2.0", "works", id="admitted"),
        pytest.param("runtime==1.*", "0.9", "does-not-work", id="every-version"),
        pytest.param("runtime==1.0; sys_platform == 'win32'", "0.9", "works", id="elsewhere"),
    ],
)
def test_a_pinned_runtime_brings_its_requirements(pin: str, helper: str, verdict: str, tmp_path: Path) -> None:
    """Who requires a runtime gets what all versions that are admitted require, and is told by the metadata of both."""
    made = [release("2.0", builds=[build("2.0", channels=["default"], wheels=[wheel()])])]
    products = [
        product("torch", distribution="torch", releases=made, claims=[verified("torch==2.0", "helper>=0.9")]),
        product("runtime", distribution="runtime", role="leaf"),
        product("helper", distribution="helper", role="leaf", releases=["2.0", "0.9"]),
    ]
    listed = [
        index("torch", [listing("2.0", requires=[pin], file="torch-2.0-py3-none-any.whl")]),
        index("runtime", [listing("1.0", requires=["helper>=1"], file="runtime-1.0-py3-none-any.whl")]),
    ]
    facts = universe(tmp_path, products, indexes=listed)
    answer = ask(facts, f"helper=={helper}", torch="2.0", python="3.11", os="linux")
    assert answer.verdict == verdict
    said = [name for cause in present(facts, answer).causes for name, _ in cause.sources]
    assert ["torch-2.0" in text or "runtime-1.0" in text for text in said] == [True, True] * (verdict == "does-not-work")


def test_systems_that_differ_have_the_worst_verdict_and_each_is_said(tmp_path: Path) -> None:
    """Who names no system gets the verdict that holds on all that are told of, on the screen and for programs."""
    rows = [wheel(os=["linux"]), wheel(os=["windows"], basis="inferred")]
    torch = product("torch", releases=[release("2.0.0", builds=[build("2.0.0", wheels=rows)])])
    facts = universe(tmp_path, [torch])
    both, linux = (present(facts, ask(facts, "torch", **options)) for options in ({}, {"os": "linux"}))
    assert (both.verdict, answer_payload(both)["verdict"], linux.verdict) == ("likely", "likely", "works")
    assert "works on linux" in both.headline
    assert "probably works on windows" in both.headline


def test_wheels_of_what_is_known_through_requirements_alone_deny_where_there_are_none(tmp_path: Path) -> None:
    """A pinned release of such a product has the wheels that its index lists, and runs nowhere else."""
    plain, pure = {"wheels": {"cp311-cp311": ["win_amd64", "manylinux_2_17_x86_64"]}}, {}
    listed = index("num", [listing("2.0", **pure), listing("1.0", **plain)])
    num = product("num", role="leaf", distribution="num", releases=["2.0", "1.0"])
    helper = product("helper", role="package", rank=600, releases=["1.0"], claims=[needs("helper", "torch", "num")])
    facts = universe(tmp_path, [TORCH, helper, num], indexes=[listed])
    verdicts = {
        words: ask(facts, "torch", "helper", *words).verdict for words in (("num==1.0", "py3.11"), ("num==1.0", "py3.12"))
    }
    assert verdicts[("num==1.0", "py3.12")] == "does-not-work"
    assert verdicts[("num==1.0", "py3.11")] != "does-not-work"
    assert ask(facts, "torch", "helper", "num==2.0", "py3.12").verdict != "does-not-work"


def test_a_build_that_nothing_names_hardware_with_is_likely_at_most(tmp_path: Path) -> None:
    """Wheels alone do not say on which hardware a build runs, where there is some for its device; elsewhere they do."""
    hardware = product("hardware", role="dimension", scheme="listed", releases=[bare_release("gpu", devices=["xpu"])])
    torch = product("torch", releases=["2.0.0", "1.0.0"], claims=[verified("torch==1.0.0", "hardware==gpu")])
    facts = universe(tmp_path, [torch, hardware])
    said = {
        (pin, device): ask(facts, f"torch=={pin}", device=device).verdict
        for pin in ("2.0.0", "1.0.0")
        for device in ("xpu", "cpu")
    }
    assert said == {
        ("2.0.0", "xpu"): "likely",
        ("1.0.0", "xpu"): "works",
        ("2.0.0", "cpu"): "works",
        ("1.0.0", "cpu"): "works",
    }
