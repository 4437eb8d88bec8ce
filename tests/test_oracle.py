"""Engine against brute force over the real data: the same stacks, levels and warnings, and the same silence.

`oracle.py` tries every combination and judges it claim by claim; it reads what curators wrote and nothing that was
compiled. What these tests compare is said in `agreement.py`.
"""

import random
import re
from collections.abc import Iterator
from datetime import date
from itertools import islice

import pytest
from agreement import Case, asks_of, broken_promises, differences, unsound_causes
from oracle import Oracle, Trial

from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.authoring.evidence import add_observations
from compatkb.authoring.knowledge_base import Knowledge
from compatkb.authoring.loader import Files
from compatkb.schema import Role
from compatkb.store.reader import Snapshot

DEVICES = ("xpu", "cpu")
TODAY = date(2026, 11, 21)
DAYS = (TODAY, date(2027, 6, 1), date(2026, 3, 31), date(2025, 9, 1), date(2024, 9, 15), date(2023, 9, 1), date(2022, 6, 1))
FEW = ("3.8", "3.12")
"""Pythons for questions that are many: an old one and a common one."""
PACKAGES = ("torch", "ipex", "oneccl-bind-pt", "neural-compressor")
MACHINE = ("hardware", "gpu-driver", "oneapi", "glibc")
MANY = 25
"""How many pins drawn at random each seed is good for."""
MOST = 3000
"""What is drawn and has so many combinations on some platform is left out."""

SOAK = pytest.mark.soak
"""Of exhaustive matrices: what takes longest, where a like part stays in every run."""

Pins = dict[str, frozenset[int]]


pytestmark = pytest.mark.long  # brute force over the real data; test_universe has it over made-up data


@pytest.fixture(scope="module")
def knowledge(files: Files) -> Knowledge:
    """The knowledge base of this checkout as curators wrote it, with what was observed."""
    made = build_knowledge(files)
    add_observations(made)
    return made


@pytest.fixture(scope="module")
def oracle(knowledge: Knowledge) -> Oracle:
    """Brute force over it."""
    return Oracle(knowledge)


def releases(knowledge: Knowledge, product: str, numbers: int = 99) -> list[frozenset[int]]:
    """Return the elements of each release of a product; of each series, told by as many leading numbers."""
    found: dict[str, set[int]] = {}
    for n, element in enumerate(knowledge.elements[product]):
        version = element.release.version
        leading = re.match(rf"\d+(\.\d+){{0,{numbers - 1}}}", version) if numbers < 99 else None
        found.setdefault(leading[0] if leading else version, set()).add(n)
    return [frozenset(group) for group in found.values()]


def wrong(oracle: Oracle, facts: Snapshot, case: Case) -> list[str]:
    """Return everything that is wrong with the answer to a case."""
    return differences(oracle, facts, case) + broken_promises(oracle, facts, case) + unsound_causes(facts, case)


@pytest.mark.parametrize(("device", "pythons"), [("xpu", ()), ("cpu", FEW), pytest.param("cpu", (), marks=SOAK)])
def test_every_torch_series(oracle: Oracle, facts: Snapshot, device: str, pythons: tuple[str, ...]) -> None:
    """For each torch series, route, Python and system: the best stack of the engine is the best of all combinations."""
    for series in releases(oracle.knowledge, "torch", 2):
        assert wrong(oracle, facts, Case(device, TODAY, {"torch": series}, pythons=pythons)) == []


@pytest.mark.parametrize("arch", ["x86_64", "aarch64", "arm64"])
@pytest.mark.parametrize("day", [*DAYS[:3:2], *(pytest.param(day, marks=SOAK) for day in (DAYS[1], *DAYS[3:]))], ids=str)
def test_nothing_pinned_on_any_day(oracle: Oracle, facts: Snapshot, day: date, arch: str) -> None:
    """With nothing but a device, as of days in the past and the future, on each architecture."""
    for device in DEVICES:
        assert wrong(oracle, facts, Case(device, day, arch=arch, explicit=day != TODAY)) == []


@pytest.mark.parametrize("product", [*PACKAGES[1:3], *(pytest.param(name, marks=SOAK) for name in ("torch", PACKAGES[3]))])
@pytest.mark.parametrize("device", DEVICES)
def test_every_release_pinned_alone(oracle: Oracle, facts: Snapshot, product: str, device: str) -> None:
    """Each release of torch, IPEX, the oneCCL bindings and INC, pinned in turn."""
    pythons = () if product in ("torch", "ipex") else FEW
    for release in releases(oracle.knowledge, product):
        assert wrong(oracle, facts, Case(device, TODAY, {product: release}, pythons=pythons)) == []


@pytest.mark.parametrize("bare", ["ipex", *(pytest.param(name, marks=SOAK) for name in PACKAGES[2:])])
@pytest.mark.parametrize("device", DEVICES)
def test_every_torch_series_beside_another_product(oracle: Oracle, facts: Snapshot, device: str, bare: str) -> None:
    """Each torch series with a second product in any version."""
    for series in releases(oracle.knowledge, "torch", 2):
        case = Case(device, TODAY, {"torch": series}, (bare,), pythons=FEW)
        assert wrong(oracle, facts, case) == []


@pytest.mark.parametrize("product", ["glibc", *(pytest.param(name, marks=SOAK) for name in MACHINE[:3])])
@pytest.mark.parametrize("device", ["xpu", pytest.param("cpu", marks=SOAK)])  # of which the next but one has systems, too
def test_every_machine(oracle: Oracle, facts: Snapshot, product: str, device: str) -> None:
    """Each known hardware, driver, oneAPI and glibc, pinned in turn."""
    for value in releases(oracle.knowledge, product):
        assert wrong(oracle, facts, Case(device, TODAY, {product: value}, pythons=("3.10",))) == []


@pytest.mark.parametrize("device", DEVICES)
def test_every_system(oracle: Oracle, facts: Snapshot, device: str) -> None:
    """Each system by its own name, such as one Linux distribution."""
    for system in oracle.knowledge.grid.systems:
        case = Case(device, TODAY, pythons=("3.12",), systems=(system,), arch="arm64" if "macos" in system else "x86_64")
        assert wrong(oracle, facts, case) == []


@pytest.mark.parametrize("system", ["rhel8", "rhel9.2", "sles15sp5", "ubuntu22.04", "wsl2-ubuntu24.04", "linux", "windows11"])
def test_every_glibc_on_a_system(oracle: Oracle, facts: Snapshot, system: str) -> None:
    """Each glibc beside a system that ships one of its own, a family that ships many, and one that has none."""
    for value in releases(oracle.knowledge, "glibc"):
        case = Case("cpu", TODAY, {"glibc": value}, pythons=("3.12",), systems=(system,))
        assert wrong(oracle, facts, case) == []


@pytest.mark.soak
@pytest.mark.parametrize("device", ["xpu", pytest.param("cpu", marks=SOAK)])
def test_every_feature(oracle: Oracle, facts: Snapshot, device: str) -> None:
    """Each feature needed alone; where something is said of it and some hardware, beside a family and one of its cards."""
    told = {statement.feature for statement in facts.statements() if statement.hardware}
    cards = [e.version for e in oracle.knowledge.elements["hardware"]]
    for name in facts.features:
        every = {name: frozenset(range(len(oracle.knowledge.elements[name])))}
        machines = [{}] + [{"hardware": frozenset({cards.index(card)})} for card in ("arc", "arc-a") if name in told]
        for machine in machines:
            case = Case(device, TODAY, every | machine, pythons=("3.12",), systems=("linux", "windows"))
            assert wrong(oracle, facts, case) == []


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=SOAK) for seed in (1, 2, 3))])
def test_pins_drawn_at_random(oracle: Oracle, facts: Snapshot, seed: int) -> None:
    """Several pins at once, on packages, runtimes and the machine, as of any day; the same ones in every run."""
    cases = [case for case in drawn(oracle.knowledge, random.Random(seed)) if can_be_tried(oracle, case)]
    assert len(cases) >= MANY * 0.8
    for case in cases:
        assert wrong(oracle, facts, case) == []


def can_be_tried(oracle: Oracle, case: Case) -> bool:
    """Return whether no platform of a case has more combinations than brute force gets through."""
    return all(sum(1 for _ in islice(Trial(oracle, ask).assignments(), MOST)) < MOST for ask in asks_of(oracle, case))


def drawn(knowledge: Knowledge, dice: random.Random) -> Iterator[Case]:
    """Yield questions; what is asked for often is drawn often."""
    roles = {role: [p for p, head in knowledge.products.items() if head.role is role] for role in Role}
    some = [*PACKAGES * 3, *roles[Role.PACKAGE], *roles[Role.COMPANION]]

    def pins(names: list[str], most: int) -> Pins:
        chosen = dice.sample(names, dice.randint(0, most))
        groups = {name: releases(knowledge, name) for name in chosen}
        return {name: frozenset().union(*dice.sample(g, min(len(g), dice.choice((1, 3, 8))))) for name, g in groups.items()}

    for _ in range(MANY):
        fixed = pins(some, 3) | pins(list(MACHINE), 2) | pins(roles[Role.LEAF], 1)
        bare = tuple(name for name in dice.sample(PACKAGES, dice.randint(0, 1)) if name not in fixed)
        systems = (dice.choice(knowledge.grid.systems),) if dice.random() < 0.3 else ()
        arch = dice.choice(("x86_64", "x86_64", "x86_64", "aarch64", "arm64"))
        device, day = dice.choice(DEVICES), dice.choice(DAYS)
        yield Case(device, day, fixed, bare, ("3.10", "3.12"), systems, arch, explicit=day != TODAY)
