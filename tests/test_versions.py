"""Versions and specifiers of every scheme."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from compatkb.core.versions import Listing, Scheme, admits, admits_python, matches, parse, specifier

_NUMBERS = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(lambda parts: ".".join(map(str, parts)))
_PUBLIC = st.tuples(st.sampled_from(["", "1!"]), _NUMBERS, st.sampled_from(["", "a0", "rc1", ".post1", ".dev0"])).map("".join)
_BUILDS = st.tuples(_PUBLIC, st.sampled_from(["", "+cpu", "+cxx11.abi", "+xpu"])).map("".join)
_ORDERED = st.tuples(st.sampled_from([">=", "<=", ">", "<"]), _PUBLIC).map("".join)
_EQUAL = st.tuples(st.sampled_from(["==", "!=", "==="]), _BUILDS).map("".join)
_SERIES = st.tuples(st.sampled_from(["==", "!="]), _NUMBERS, st.just(".*")).map("".join)
_CLOSE = _NUMBERS.filter(lambda text: "." in text).map(lambda text: f"~={text}")
_SPECIFIERS = st.lists(st.one_of(_ORDERED, _EQUAL, _SERIES, _CLOSE), max_size=3).map(",".join)
_PATCH = st.tuples(st.integers(8, 12), st.integers(0, 20)).map(lambda at: f"3.{at[0]}.{at[1]}")
_MINOR = st.integers(8, 12).map(lambda minor: f"3.{minor}")
_PYTHON = st.one_of(_PATCH, _MINOR, st.just("3"), _PATCH.map(lambda patch: f"{patch}rc1"))
_BOUND = st.tuples(st.sampled_from([">=", "<=", ">", "<", "==", "!=", "==="]), _PYTHON).map("".join)
_WITHIN = st.one_of(_BOUND, _PATCH.map(lambda at: f"~={at}"), _PATCH.map(lambda at: f"!={at}.*"), st.just("!=3.10.*"))
_REQUIRES_PYTHON = st.lists(_WITHIN, max_size=4).map(",".join)


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


@given(_SPECIFIERS, _BUILDS)
def test_specifiers_are_matched_as_packaging_does(spec: str, version: str) -> None:
    """A specifier names what packaging says, pre-releases included."""
    assert matches(spec, version) is SpecifierSet(spec).contains(version, prereleases=True)


@pytest.mark.parametrize(
    ("spec", "version", "expected"),
    [
        pytest.param("==2.0.1a0", "2.0.1a0+cxx11.abi", True, id="no-label-ignores-that-of-the-version"),
        pytest.param("==2.1.0", "2.1.0a0", False, id="a-release-is-no-pre-release-of-it"),
        pytest.param("==2.8.0+cpu", "2.8.0", False, id="a-label-names-one-build"),
        pytest.param("===2.8.0", "2.8.0+cpu", False, id="text-is-text"),
        pytest.param(">=1", "no version", False, id="text-that-is-no-version"),
    ],
)
def test_match(spec: str, version: str, expected: bool) -> None:
    """Local labels, pre-releases and texts are matched as PEP 440 says."""
    assert matches(spec, version) is expected


@given(_REQUIRES_PYTHON, st.integers(8, 12))
def test_a_minor_is_admitted_if_some_patch_is(requires: str, minor: int) -> None:
    """Trying the patches beside the bounds finds what trying all patches finds."""
    wanted = SpecifierSet(requires)
    patches = {patch for patch in range(31) if wanted.contains(f"3.{minor}.{patch}", prereleases=True)}
    assert admits_python(requires, f"3.{minor}") is bool(patches)
    assert admits_python(requires, f"3.{minor}t") is bool(patches)
    assert {patch for patch in range(31) if admits_python(requires, f"3.{minor}.{patch}")} == patches


@pytest.mark.parametrize(
    ("requires", "python", "expected"),
    [
        pytest.param("!=3.14.1,>=3.10", "3.14.1", False, id="an-excluded-patch"),
        pytest.param("!=3.14.1,>=3.10", "3.14.2", True, id="the-next-one"),
        pytest.param("!=3.14.1,>=3.10", "3.14", True, id="its-minor"),
        pytest.param("!=3.14.1,>=3.10", "3.14.1t", False, id="free-threaded-too"),
        pytest.param(">=3.9.18,<3.9.19", "3.9", True, id="one-patch-in-between"),
        pytest.param(">3.9.18,<3.9.19", "3.9", False, id="no-patch-in-between"),
        pytest.param("<=3.13", "3.13", True, id="up-to-the-first-patch"),
        pytest.param("<=3.13", "3.13.1", False, id="not-the-second"),
        pytest.param("", "3.8", True, id="no-bound"),
    ],
)
def test_requires_python(requires: str, python: str, expected: bool) -> None:
    """Requires-Python is judged by patches where one is named, and by any patch where a minor is."""
    assert admits_python(requires, python) is expected


_CLAUSES = st.sampled_from(
    ["==2.1.0", "==2.1.0+cpu", "==2.1", "===2.1.0+cpu", "!=2.1.*", ">=2.1", "<2.2", ">2.1.0", "~=2.1", "<=2.1.1"]
)
_KNOWN = (
    ("2.0.1", "2.0.1"),
    ("2.1.0", "2.1.0a0+cxx11.abi"),
    ("2.1.0", "2.1.0"),
    ("2.1.0", "2.1.0+cpu"),
    ("2.1.1", "2.1.1.post2"),
    ("2.2.0rc1", "2.2.0rc1"),
    ("2.10.0", "2.10.0+xpu"),
)


@given(st.lists(_CLAUSES, max_size=3))
def test_a_listing_names_what_each_build_alone_is_named_by(clauses: list[str]) -> None:
    """Sets are made clause by clause, with the same result as build by build; to the letter as packaging has it."""
    spec = ",".join(clauses)
    listing = Listing((number, *names) for number, names in enumerate(_KNOWN))
    assert listing.named(spec) == sum(
        1 << n for n, (release, name) in enumerate(_KNOWN) if admits(Scheme.PEP440, spec, release, name)
    )
    assert listing.named(spec, to_the_letter=True) == sum(1 << n for n, (_, name) in enumerate(_KNOWN) if matches(spec, name))


def test_a_build_with_two_names_is_named_by_either() -> None:
    """All clauses hold of one name: two names do not share a specifier."""
    listing = Listing([(0, "2.1.0", "2.1.0+cpu"), (0, "2.1.0", "2.1.0+cxx11")])
    assert listing.named("==2.1.0+cxx11") == 1
    assert listing.named("==2.1.0+cxx11,==2.1.0+cpu") == 0
