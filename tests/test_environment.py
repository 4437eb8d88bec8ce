"""An environment is one frozen value, and asks the engine the question that its words ask."""

from datetime import date

import pytest

from compatkb.core.clock import Clock
from compatkb.errors import UsageError
from compatkb.request.environment import read_environment
from compatkb.request.parser import make_request
from compatkb.store.reader import Snapshot

CLOCK = Clock(date(2026, 11, 21))


@pytest.mark.parametrize(
    ("versions", "packages", "devices"),
    [
        ([("torch", "2.8.0+xpu"), ("python", "3.12.4"), ("os", "ubuntu24.04")], (), ("xpu",)),
        ([("torch", "2.8.0"), ("hardware", "arc-b"), ("numpy", "2.0.0")], ("torchvision", "ipex"), ()),
        ([("torch", ">=2.7,<2.9"), ("glibc", "2.28")], ("optimum-intel[ipex]",), ("cpu",)),
        ([], ("torch",), ()),
    ],
)  # fmt: skip
def test_an_environment_asks_what_its_words_ask(
    versions: list[tuple[str, str]], packages: tuple[str, ...], devices: tuple[str, ...], facts: Snapshot
) -> None:
    """Nothing gets lost between what is read and the question, and nothing is added."""
    environment = read_environment(facts, versions, devices, CLOCK, packages)
    asked = make_request(facts, versions, packages, devices, CLOCK)
    assert environment.request(facts, CLOCK)._replace(names_devices=False) == asked._replace(names_devices=False)
    fixed = [pin.product for pin in (*environment.pins, *environment.ranges)]
    assert len({*fixed, *environment.packages}) == len(fixed) + len(environment.packages)


def test_an_environment_never_changes(facts: Snapshot) -> None:
    """It can be asked again and again, and be a key."""
    environment = read_environment(facts, [("torch", "2.8.0")], ("xpu",), CLOCK)
    with pytest.raises(AttributeError):
        environment.pins = ()  # type: ignore[misc]  # which must fail
    assert {environment: 1}[read_environment(facts, [("torch", "2.8.0")], ("xpu",), CLOCK)] == 1


def test_unknown_versions_are_named(facts: Snapshot) -> None:
    """All of them, in one error."""
    with pytest.raises(UsageError, match=r"(?s)no-such-system.*no-such-thing"):
        read_environment(facts, [("os", "no-such-system")], (), CLOCK, ("no-such-thing",))
