"""Versions and specifiers of every scheme."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compatkb.versions import Scheme, admits, parse, specifier


@pytest.mark.parametrize(
    ("spec", "release", "build", "expected"),
    [
        pytest.param("==2.1.0", "2.1.0", "2.1.0a0+cxx11.abi", True, id="a-release-names-all-its-builds"),
        pytest.param("==2.1.0a0", "2.1.0", "2.1.0a0+cxx11.abi", True, id="a-build-by-its-public-part"),
        pytest.param("==2.1.0+cpu", "2.1.0", "2.1.0", False, id="a-local-label-names-one-build"),
        pytest.param("==2.1.0+cpu", "2.1.0", "2.1.0+cpu", True, id="that-build"),
        pytest.param("==2.1.0.post2", "2.1.0", "2.1.0.post3+cxx11.abi", False, id="another-build"),
        pytest.param("==2.1.*", "2.1.2", "2.1.2+cpu", True, id="series"),
        pytest.param(">=2.1,<2.2", "2.1.0", "2.1.0a0", True, id="ranges-look-at-releases"),
        pytest.param("!=2.4.*", "2.4.1", "2.4.1", False, id="not-this-series"),
        pytest.param(">=2.9", "2.10.0", "2.10.0", True, id="numbers-not-text"),
        pytest.param("", "1.0", None, True, id="empty-names-everything"),
    ],
)
def test_pep440_claims(spec: str, release: str, build: str | None, expected: bool) -> None:
    """Claims name releases with their builds, or one build."""
    assert admits(Scheme.PEP440, spec, release, build) is expected


@pytest.mark.parametrize(
    ("scheme", "spec", "release", "expected"),
    [
        pytest.param(Scheme.DOTTED, ">=775.20", "803.29", True, id="drivers-in-order"),
        pytest.param(Scheme.DOTTED, ">=803.3", "803.29", True, id="not-as-text"),
        pytest.param(Scheme.DOTTED, "==803.*", "803.63", True, id="driver-series"),
        pytest.param(Scheme.DOTTED, "==803.*", "8030.1", False, id="a-series-is-no-prefix-of-text"),
        pytest.param(Scheme.MINOR, ">=3.9,<=3.13", "3.13t", True, id="a-bound-counts-for-free-threaded-too"),
        pytest.param(Scheme.MINOR, "==3.13", "3.13t", False, id="equal-is-exact"),
        pytest.param(Scheme.MINOR, "<3.10", "3.9", True, id="3.9-before-3.10"),
        pytest.param(Scheme.LISTED, "==arc-a", "arc-a", True, id="listed"),
        pytest.param(Scheme.LISTED, "!=arc-a", "arc-b", True, id="listed-not"),
    ],
)
def test_other_schemes(scheme: Scheme, spec: str, release: str, expected: bool) -> None:
    """Versions that are not PEP 440 have an order of their own."""
    assert admits(scheme, spec, release) is expected


@pytest.mark.parametrize(
    ("scheme", "text"),
    [(Scheme.PEP440, "two"), (Scheme.DOTTED, "8.x"), (Scheme.MINOR, "3"), (Scheme.MINOR, "3.12.1"), (Scheme.LISTED, "Arc A")],
)
def test_unreadable_versions_are_sentences(scheme: Scheme, text: str) -> None:
    """What does not parse is a ValueError that names the text."""
    with pytest.raises(ValueError, match=f"'{text}'"):
        parse(scheme, text)


def test_listed_values_have_no_order() -> None:
    """An order is not invented where there is none."""
    with pytest.raises(ValueError, match="order"):
        admits(Scheme.LISTED, ">=arc-a", "arc-b")


@given(st.text(max_size=30))
def test_any_text_parses_or_is_refused(text: str) -> None:
    """No text crashes a parser."""
    for scheme in Scheme:
        with contextlib.suppress(ValueError):
            parse(scheme, text)
    with contextlib.suppress(ValueError):
        specifier(text)
