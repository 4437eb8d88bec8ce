"""What has ended, or is too new for a system, is denied for good, with the reason."""

from collections.abc import Callable

import pytest
from conftest import Run

from compatkb.store.reader import Snapshot

OLD = ("amzn2", "centos7", "rhel7", "ubuntu18.04")
"""Systems whose glibc is older than 2.28."""


def test_no_release_of_an_ended_product_follows(facts: Snapshot, run: Callable[..., Run]) -> None:
    """A version above the last one of a product that has ended was never published, rather than newer than the data."""
    ended = [name for name in facts.products if facts.product_details(name).eol]
    assert ended
    for name in ended:
        done = run("explain", f"{name}==99.0.0")
        assert (done.code, "was never published" in done.out) == (1, True), name


@pytest.mark.parametrize("system", OLD)
def test_an_old_glibc_is_named(run: Callable[..., Run], system: str) -> None:
    """Wheels that need a newer glibc are denied, and a newer release is passed over for that reason."""
    denied = run("explain", "torch==2.14.0+xpu", "xpu", system)
    assert (denied.code, "glibc" in denied.out) == (1, True)
    assert "the wheels need a newer glibc" in " ".join(run("resolve", "cpu", system).out.split())


def test_another_reason_is_not_the_glibc(run: Callable[..., Run]) -> None:
    """Where the glibc of a system is new enough, a release that is passed over has another reason."""
    assert "glibc" not in run("resolve", "A770", "ubuntu22.04", "py3.10").out


def test_every_release_says_how_long_it_is_supported(facts: Snapshot, run: Callable[..., Run]) -> None:
    """A release has a row `support`: its end, the rule of its vendor, or that none is published."""
    for name in ("ipex", "os", "torchserve", "oneccl-bind-pt", "linux-kernel", "python", "torch", "numpy"):
        for element in (facts.elements(name)[0], facts.elements(name)[-1]):
            assert "\n  support  " in run("show", name, element.release).out, (name, element.release)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("resolve", "b580", "ubuntu25.04", "py3.13"), "Ubuntu 25.04: end of life 2026-01-15"),
        (("resolve", "a380", "fedora43", "py3.14"), "Fedora Linux 43: end of life 2026-12-09"),
        (("resolve", "b580", "windows11", "py3.9"), "Python 3.9: end of life 2025-10"),
        (("explain", "torch==2.14.1+xpu", "a770", "ubuntu22.04", "py3.10"), "Python 3.10: end of life 2026-10"),
        (("eol", "sles", "15.5"), "Long-term support (LTSS), sold apart, until 2027-12-31"),
        (("eol", "kernel", "5.15"), "2028-12 kernel 6.12"),
        (("eol", "ubuntu", "22.04"), "2031-05-29 Ubuntu 26.04"),
        (("eol", "ipex", "2.8.10"), "use instead: torch >=2.6 on Intel GPU"),
    ],
)
def test_what_a_question_fixes_is_told_to_end(run: Callable[..., Run], words: tuple[str, ...], told: str) -> None:
    """A system or a Python that was named says when it has ended, or soon does; the end of one version what outlives it."""
    assert told in " ".join(run(*words).out.split())


def test_what_does_not_end_soon_is_no_warning(run: Callable[..., Run]) -> None:
    """The end of a system or of a Python years from now is no reason for care."""
    assert "end of life" not in run("resolve", "b580", "ubuntu24.04", "py3.12").out
