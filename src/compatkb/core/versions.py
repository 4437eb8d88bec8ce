"""Versions of every scheme, parsed once and ordered; the one place that matches specifiers.

Four schemes exist. `pep440` follows PEP 440. `dotted` is numbers between dots (drivers: 803.29). `minor` is a Python
minor with an optional `t` for the free-threaded build (3.13t). `listed` has no inner order: the file's order counts.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property, lru_cache, partial, reduce
from itertools import accumulate
from operator import or_
from typing import TypeVar

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version


class Scheme(StrEnum):
    """How the versions of a product are written and ordered."""

    PEP440 = "pep440"
    DOTTED = "dotted"
    MINOR = "minor"
    LISTED = "listed"


Key = tuple[object, ...] | Version | str
T = TypeVar("T")

_DOTTED = re.compile(r"\d+(\.\d+)*")
_MINOR = re.compile(r"(\d+)\.(\d+)(t?)")
_LISTED = re.compile(r"[a-z0-9][a-z0-9._+-]*")
_CLAUSE = re.compile(r"\s*(==|!=|>=|<=|<|>)\s*([^\s,]+)\s*")


@lru_cache(maxsize=65536)
def parse(scheme: Scheme, text: str) -> Key:
    """Return the comparable value of `text`; raises ValueError with a sentence when it does not fit `scheme`."""
    if scheme is Scheme.PEP440:
        try:
            return Version(text)
        except InvalidVersion:
            raise ValueError(f"{text!r} is not a PEP 440 version") from None
    if scheme is Scheme.DOTTED:
        if not _DOTTED.fullmatch(text):
            raise ValueError(f"{text!r} is not numbers between dots")
        return tuple(int(part) for part in text.split("."))
    if scheme is Scheme.MINOR:
        match = _MINOR.fullmatch(text)
        if not match:
            raise ValueError(f"{text!r} is not a Python minor such as 3.12 or 3.13t")
        return (int(match[1]), int(match[2]), match[3])
    if not _LISTED.fullmatch(text):
        raise ValueError(f"{text!r} is not a name of small letters, digits and . _ + -")
    return text


@lru_cache(maxsize=65536)
def specifier(text: str) -> SpecifierSet:
    """Return a PEP 440 specifier set that admits pre-releases; raises ValueError with a sentence."""
    try:
        return SpecifierSet(text, prereleases=True)
    except InvalidSpecifier:
        hint = "; clauses are set apart by commas, such as >=1.0,<2.0" if re.search(r"\d\s+[<>=!~]", text) else ""
        raise ValueError(f"{text!r} is not a PEP 440 specifier{hint}") from None


@lru_cache(maxsize=65536)
def matches(spec: str, version: str) -> bool:
    """Return whether a PEP 440 specifier names a version, to the letter; pre-releases count as if they were installed.

    Raises ValueError for text that is no specifier; text that is no version is named by an equal `===` alone.
    """
    try:
        return specifier(spec).contains(version)
    except InvalidVersion:  # packaging before 26 raises it
        return False


@lru_cache(maxsize=65536)
def admits_python(requires_python: str, python: str) -> bool:
    """Return whether a Requires-Python admits a patch of Python (3.14.1), or any patch of a minor (3.14, 3.13t).

    Raises ValueError for text that is no specifier.
    """
    number = python.removesuffix("t")
    if number.count(".") > 1:
        return matches(requires_python, number)
    return any(matches(requires_python, f"{number}.{patch}") for patch in _patches(requires_python))


@lru_cache(maxsize=4096)
def _patches(requires_python: str) -> tuple[int, ...]:
    """Return the patches that its bounds name and those beside them: all others are judged as one of these."""
    patches = {0}
    for clause in specifier(requires_python):
        try:
            release = Version(clause.version.removesuffix(".*")).release
        except InvalidVersion:  # `===` takes any text
            continue
        patch = release[2] if len(release) > 2 else 0
        patches |= {max(patch - 1, 0), patch, patch + 1}
    return tuple(sorted(patches))


def admits(scheme: Scheme, spec: str, release: str, build: str | None = None) -> bool:
    """Return whether `spec` names `release`, or its `build` when one is given.

    An `==` without a local label names a release and so all its builds; with one, or with the text of a build, that
    build (this is how claims are written, and it is wider than PEP 440 on purpose). An `===` names the one build with that
    text. Other operators look at releases.
    An empty `spec` names everything. Raises ValueError for text that the scheme cannot read.
    """
    if not spec.strip():
        return True
    if scheme is Scheme.PEP440:
        return all(_pep440_clause(clause.strip(), release, build) for clause in spec.split(","))
    return all(_ordered_clause(scheme, operator, text, release) for operator, text in _clauses(spec))


@lru_cache(maxsize=65536)
def _clauses(spec: str) -> tuple[tuple[str, str], ...]:
    """Return operator and version of each clause; raises ValueError with a sentence."""
    clauses = [_CLAUSE.fullmatch(clause) for clause in spec.split(",")]
    if not all(clauses):
        raise ValueError(f"{spec!r} is not a list of ==, !=, >=, <=, <, > clauses")
    return tuple((match[1], match[2]) for match in clauses if match)


def admitted(scheme: Scheme, spec: str, releases: Sequence[str]) -> int:
    """Return which of some releases a specifier names, a bit for each, as `admits` does.

    Dotted ones are in order, the oldest first, so that a clause is a search. Raises ValueError as `admits` does.
    """
    if scheme is not Scheme.DOTTED or not spec.strip():
        return sum(1 << number for number, release in enumerate(releases) if admits(scheme, spec, release))
    every = mask = (1 << len(releases)) - 1

    def below(key: Key) -> int:
        """Return the releases below a version."""
        return (1 << bisect_left(releases, key, key=partial(parse, scheme))) - 1

    for operator, text in _clauses(spec):
        known = parse(scheme, text.removesuffix(".*") if operator in ("==", "!=") else text)
        assert isinstance(known, tuple)
        after = (*known[:-1], int(str(known[-1])) + 1) if text.endswith(".*") else (*known, 0)
        equal = below(after) & ~below(known)
        mask &= {
            "==": equal, "!=": every & ~equal, "<": below(known), "<=": below(known) | equal,
            ">": every & ~below(known) & ~equal, ">=": every & ~below(known),
        }[operator]  # fmt: skip
    return mask


class Listing:
    """The builds of a product with PEP 440 versions, for many specifiers: each clause is matched once with each release.

    Sets are integers with a bit for each number; a number may have several names.
    """

    def __init__(self, builds: Iterable[tuple[int, str, str]]) -> None:
        """Take the number, the release and a name of each build; raises ValueError for what is no version."""
        self._builds = tuple(builds)
        self._plain = len({number for number, _, _ in self._builds}) == len(self._builds)
        self._read = [(_pep440(release), _pep440(name), name) for _, release, name in self._builds]
        self._rows: dict[tuple[str, bool], int] = {}
        self._ordered: dict[bool, _Ordered] = {}

    @cached_property
    def _by_text(self) -> dict[str, int]:  # rows of `builds`, as sets
        return _sets((name,) for _, _, name in self._read)

    @cached_property
    def _by_name(self) -> dict[Version, int]:
        return _sets((known,) for _, known, _ in self._read)

    @cached_property
    def _by_public(self) -> dict[Version, int]:
        return _sets((without_local(known),) for _, known, _ in self._read)

    @cached_property
    def _by_release(self) -> dict[Version, int]:
        return _sets((of,) for of, _, _ in self._read)

    @cached_property
    def _by_any(self) -> dict[Version, int]:  # a release stands for its builds, a build for itself with or without label
        return _sets({known, of, without_local(known)} for of, known, _ in self._read)

    def named(self, spec: str, *, to_the_letter: bool = False) -> int:
        """Return the set that a specifier names as `admits` reads it, or, of all names, as PEP 440 does to the letter.

        Raises ValueError as `admits` and `matches` do.
        """
        rows = (1 << len(self._builds)) - 1
        for clause in spec.split(",") if spec.strip() else ():
            rows &= self._clause(clause.strip(), to_the_letter=to_the_letter)
        if self._plain:
            return rows
        return reduce(or_, (1 << number for row, (number, _, _) in enumerate(self._builds) if rows >> row & 1), 0)

    def _clause(self, clause: str, *, to_the_letter: bool) -> int:
        key = (clause, to_the_letter)
        if key not in self._rows:
            self._rows[key] = self._matched(clause, to_the_letter=to_the_letter)
        return self._rows[key]

    def _matched(self, clause: str, *, to_the_letter: bool) -> int:
        if clause.startswith("==="):
            text = clause[3:].strip()
            if not to_the_letter:
                return self._by_text.get(text, 0)
            return reduce(or_, (rows for name, rows in self._by_text.items() if matches(clause, name)), 0)
        if clause.startswith("==") and not clause.endswith(".*"):
            wanted = _pep440(clause[2:].strip())
            sets = self._by_any if not to_the_letter else self._by_name if wanted.local else self._by_public
            return sets.get(wanted, 0)
        rows, asked = self._by_name if to_the_letter else self._by_release, specifier(clause)
        bound = _BOUND.fullmatch(clause)
        if not bound:
            return reduce(or_, map(rows.__getitem__, asked.filter(rows)), 0)
        if to_the_letter not in self._ordered:
            self._ordered[to_the_letter] = _Ordered(rows)
        order = self._ordered[to_the_letter]
        first, last = order.span(Version(bound[2]))
        there = order.below[first] if bound[1].startswith("<") else order.below[-1] & ~order.below[last]
        return reduce(or_, map(rows.__getitem__, asked.filter(order.versions[first:last])), there)


def _pep440(text: str) -> Version:
    version = parse(Scheme.PEP440, text)
    assert isinstance(version, Version)
    return version


def _sets(rows: Iterable[Iterable[T]]) -> dict[T, int]:
    """Return for each value the rows that have it, a bit for each."""
    sets: dict[T, int] = {}
    for row, values in enumerate(rows):
        for value in values:
            sets[value] = sets.get(value, 0) | 1 << row
    return sets


_BOUND = re.compile(r"([<>]=?)\s*(\S+)")


class _Ordered:
    """Versions in order with the union of the sets below each: a bound is a search, but for versions of its own numbers.

    Of those PEP 440 has rules about pre-releases, post-releases and labels.
    """

    def __init__(self, sets: Mapping[Version, int]) -> None:
        self.versions = sorted(sets)
        self.below: list[int] = [0, *accumulate((sets[version] for version in self.versions), or_)]
        self._numbers = [_numbers(version) for version in self.versions]

    def span(self, version: Version) -> tuple[int, int]:
        """Return where the versions with the same numbers begin and end."""
        numbers = _numbers(version)
        return bisect_left(self._numbers, numbers), bisect_right(self._numbers, numbers)


def _numbers(version: Version) -> tuple[int, tuple[int, ...]]:
    """Return epoch and release, without the zeros at its end: 2.8 and 2.8.0 are equal."""
    release = version.release
    while release and not release[-1]:
        release = release[:-1]
    return version.epoch, release


def _pep440_clause(clause: str, release: str, build: str | None) -> bool:
    if clause.startswith("==="):
        return clause[3:].strip() == (build or release)
    if clause.startswith("==") and not clause.startswith("===") and not clause.endswith(".*"):
        wanted = parse(Scheme.PEP440, clause[2:].strip())
        assert isinstance(wanted, Version)
        known = parse(Scheme.PEP440, build or release)
        assert isinstance(known, Version)
        if wanted == known or wanted == parse(Scheme.PEP440, release):
            return True
        return wanted.local is None and wanted == without_local(known)
    return matches(clause, release)


@lru_cache(maxsize=65536)
def without_local(version: Version) -> Version:
    """Return a version without its local label."""
    return Version(version.public)


def names_of_series(spec: str, version: str) -> bool | None:
    """Return whether a list of clauses names all versions between dots that begin like one, so 25.18; None for a part.

    Raises ValueError for text that is no such list or no such version.
    """
    begins = parse(Scheme.DOTTED, version)
    assert isinstance(begins, tuple)
    named = []
    for clause in spec.split(","):
        match = _CLAUSE.fullmatch(clause)
        if not match:
            raise ValueError(f"{spec!r} is not a list of ==, !=, >=, <=, <, > clauses")
        bound = parse(Scheme.DOTTED, match[2].removesuffix(".*"))
        assert isinstance(bound, tuple)
        is_inside = len(begins) < len(bound) and bound[: len(begins)] == begins  # the bound lies within the series
        named.append(None if is_inside else _ordered_clause(Scheme.DOTTED, match[1], match[2], version))
    return False if False in named else None if None in named else True


def _ordered_clause(scheme: Scheme, operator: str, text: str, release: str) -> bool:
    if operator in ("==", "!="):
        if text.endswith(".*"):
            prefix = parse(scheme, text[:-2])
            known = parse(scheme, release)
            assert isinstance(prefix, tuple)
            assert isinstance(known, tuple)
            equal = known[: len(prefix)] == prefix
        else:
            equal = parse(scheme, text) == parse(scheme, release)
        return equal == (operator == "==")
    if scheme is Scheme.LISTED:
        raise ValueError(f"{operator} needs an order, and a listed product has none")
    left, right = parse(scheme, release), parse(scheme, text)
    assert isinstance(left, tuple)
    assert isinstance(right, tuple)
    if scheme is Scheme.MINOR:  # a bound on the language counts for the free-threaded build too
        left, right = left[:2], right[:2]
    return {">=": left >= right, "<=": left <= right, "<": left < right, ">": left > right}[operator]
