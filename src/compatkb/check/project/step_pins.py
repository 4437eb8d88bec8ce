"""What the lines of one step and the metadata of its exact pins ask of each package, also of those that are no products."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from compatkb.check.project.environments import LocatedStatement
from compatkb.check.project.install_plan import LINUX, WINDOWS, InstallPlan, declared, holds
from compatkb.check.project.queries import ProjectQueries, is_exact
from compatkb.core.names import normal
from compatkb.core.record import NamedTuple
from compatkb.core.versions import admits_python
from compatkb.core.vocabulary import Role
from compatkb.parsers.statement import Requirement, RequirementRole
from compatkb.store.records import Product

_MOST_NEAR = 40
MAIN_BRANCH = "of its main branch"
UPPER = re.compile(r"<|==|~=")


class Bound(NamedTuple):
    """What is asked of a package: by a line of the project, or by the metadata of a pin (its name and version)."""

    of: str
    spec: str
    by: str = ""
    version: str = ""


class Clash(NamedTuple):
    """Two bounds on one package that no version meets."""

    one: Bound
    other: Bound


class StepPins:
    """What one step asks for, and what the metadata of its exact pins ask for beside."""

    def __init__(self, plan: InstallPlan, step: int, queries: ProjectQueries) -> None:
        self.plan, self.queries = plan, queries
        self.asked: dict[str, list[tuple[LocatedStatement, Requirement]]] = {}
        environment = plan.environment
        everything = [*environment.others, *((w.located, w.requirement) for w in plan.requirements)]
        system = WINDOWS if plan.systems and "windows" in queries.facts.wider.get(plan.systems[0], plan.systems) else LINUX
        named = declared(environment, queries)
        usual = [(*system, e.version, e.idx) for e in queries.facts.elements("python") if not e.version.endswith("t")]
        here = [place[:4] for place in usual if ((plan.pythons or named).mask or -1) >> place[4] & 1]
        # Pythons that only markers of lines part: nothing says that all of them run
        self.places = [place[:4] for place in usual if (named.mask or -1) >> place[4] & 1] if plan.of_markers else here
        self.heads: dict[str, str] = {}  # what comes from the main branch of its repository, with the newest release
        for located, one in everything:
            if head := _head(one, queries):
                self.heads[one.name], one = head, one._replace(specifier=f">{head}", url=None)
            is_asked = one.step == step and one.role in (RequirementRole.INSTALL, RequirementRole.CONSTRAINT)
            if is_asked and one.tool != "conda" and all(holds(one.marker, *place) for place in here):
                self.asked.setdefault(one.name, []).append((located, one))
        overridden = {one.name for _, one in everything if one.role is RequirementRole.OVERRIDE}
        vague = {
            name for name, asked in self.asked.items() if any(one.url or one.unknown or one.only_index for _, one in asked)
        }
        for name in vague | overridden:
            self.asked.pop(name, None)
        self.pins: dict[str, str] = {}
        self.moved: dict[str, str] = {}  # what fixes that are offered already write instead
        for name, asked in self.asked.items():
            pinned = {
                one.specifier.removeprefix("==") for _, one in asked if is_exact(one.specifier) and "," not in one.specifier
            }
            if len(pinned) == 1 and any(one.role is RequirementRole.INSTALL for _, one in asked):
                self.pins[name] = pinned.pop()
        self.product = {normal(w.product.distribution or w.product.id): w.product for w in plan.requirements}
        self._shared = self.places
        for name, version in self.pins.items():
            self._shared = self._places_of(self._python_of(name, version))

    def _python_of(self, name: str, version: str) -> str:
        """Return the Pythons that a release asks for, empty where that is not known."""
        if product := self.product.get(name):
            own = (e for e in self.queries.facts.elements(product.id) if e.release == version.partition("+")[0])
            return next((e.requires_python for e in own if e.requires_python), "")
        return str((release_of(name, version, self.queries) or {}).get("python", ""))

    def _places_of(self, python: str) -> list[tuple[str, str, str, str]]:
        """Return the platforms that all pins ask for, those of a Requires-Python where it admits any."""
        return [place for place in self._shared if not python or admits_python(python, place[3])] or self._shared

    @cached_property
    def _every(self) -> dict[str, Product]:
        """The products by their distributions."""
        known = self.queries.facts.products.values()
        return {normal(p.distribution): p for p in known if p.distribution and p.role is not Role.DIMENSION}

    def own(self) -> Iterator[Bound]:
        """Yield what the lines of the project ask for."""
        for name, asked in self.asked.items():
            yield from (Bound(name, one.specifier) for _, one in asked if one.specifier)

    def demands(self, name: str, version: str) -> Iterator[Bound]:
        """Yield what the metadata of a release ask for on every platform that may be meant."""
        record = release_of(name, version, self.queries)
        rows = (record or {}).get("requires") or ()
        if product := self.product.get(name):
            builds = [e for e in self.queries.facts.elements(product.id) if e.release == version.partition("+")[0]]
            elsewhere = any(set(e.channels) - {self.queries.own} for e in builds)
            if elsewhere and (self.plan.environment.indexes or self.queries.names_index or "+" in version):
                rows = ()  # a build of another index may ask for other packages
            named = self._every if self.heads else self.product
            others = {o: p for o, p in named.items() if (o in self.asked or self.heads) and p is not product}
            for other, beside in others.items() if product.role is not Role.LEAF or name in self.heads else ():
                specs = {self.queries.metadata_bound(e, beside.id) for e in builds if e.installable}
                if len(specs) == 1 and (spec := specs.pop()):
                    yield Bound(other, spec, name, version)
        places = self._places_of(self._python_of(name, version))
        for other, spec, marker in rows:
            if all(holds(marker or None, *place) for place in places):
                yield Bound(other, spec, name, version)

    def bounds(self, pins: Mapping[str, str]) -> dict[str, list[Bound]]:
        """Return what is asked of each package by the lines, with some pins in place of theirs, and by what these demand."""
        bounds: dict[str, list[Bound]] = {}
        for bound in self.own():
            if bound.of in self.heads and bound.of in pins:
                bound = bound._replace(spec=f"=={pins[bound.of]}")  # a release in its place
            moved = pins.get(bound.of)
            is_moved = bound.of in self.pins and moved != self.pins[bound.of] and is_exact(bound.spec)
            bounds.setdefault(bound.of, []).append(bound._replace(spec=f"=={moved}") if is_moved else bound)
        for name, version in pins.items():
            for bound in self.demands(name, version):
                bounds.setdefault(bound.of, []).append(bound)
        for name, newest in self.heads.items():
            if name in pins or name not in self.asked:
                continue
            for bound in self.demands(name, newest):  # what the newest release asks for at least, its successor does, too
                if lower := ",".join(clause for clause in bound.spec.split(",") if clause.startswith(">")):
                    bounds.setdefault(bound.of, []).append(bound._replace(spec=lower, version=MAIN_BRANCH))
        return bounds

    def clashes(self, pins: Mapping[str, str], only: str = "") -> Iterator[Clash]:
        """Yield what no version can meet of what some pins bring, with `only` where that has a part in it."""
        for name, several in self.bounds(pins).items():
            for one, other in combinations(several, 2):
                is_meant = not only or only in (name, one.by, other.by)
                if is_meant and not _meet(one.spec, other.spec) and not self._is_told(name, one, other):
                    yield Clash(one, other)

    def stuck(self, pins: Mapping[str, str]) -> Iterator[tuple[Clash, tuple[Bound, ...]]]:
        """Yield what the newest release of a package clashes with where every release does, and what is asked of the package.

        Only where a bound from above says that no later release can be meant.
        """
        bounds = self.bounds(pins)
        for name, several in bounds.items():
            asked = self.asked.get(name, ())
            is_installed = any(b.by for b in several) or any(one.role is RequirementRole.INSTALL for _, one in asked)
            is_bounded = self.heads or any(UPPER.search(bound.spec) for bound in several)
            if name in pins or name in self.heads or not is_installed or not is_bounded:
                continue
            known = releases_of(name, self.queries)
            admitted = [v for v in known if not v.is_prerelease and all(_admits(bound.spec, v) for bound in several)]
            if not 0 < len(admitted) <= _MOST_NEAR or not all(self._is_usable(known[v]) for v in admitted):
                continue
            found = [self._refused(name, v, bounds) for v in sorted(admitted)]
            if not all(found) or (newest := found[-1]) is None or self._is_told(name, newest.one, newest.other):
                continue
            if newest.other.of not in {bound.by for bound in several}:
                yield newest, tuple(several)

    def _refused(self, name: str, version: Version, bounds: Mapping[str, list[Bound]]) -> Clash | None:
        """Return what a release demands that something else asked of the same package does not meet."""
        demands = self.demands(name, str(version))
        pairs = ((demand, other) for demand in demands for other in bounds.get(demand.of, ()) if other.by != name)
        lines_first = sorted(pairs, key=lambda pair: bool(pair[1].by))
        return next((Clash(demand, other) for demand, other in lines_first if not _meet(demand.spec, other.spec)), None)

    def _is_told(self, name: str, one: Bound, other: Bound) -> bool:
        """Return whether a clash is among lines alone, or among products alone, which the engine judges."""
        if self.heads.keys() & {name, one.of, one.by, other.by}:
            return not (one.by or other.by)  # of which the engine knows nothing
        return not (one.by or other.by) or all(part in self.product for part in {name, one.by or name, other.by or name})

    def admits(self, name: str, version: str) -> bool:
        """Return whether a package may be another version, by all that the others and its own metadata ask for."""
        pins = {**self.pins, **self.moved, name: version}
        return not (name in self.pins or name in self.heads) or not (
            any(self.clashes(pins, name)) or any(self._concerns(one, name) for one in self.stuck(pins))
        )

    def _concerns(self, stuck: tuple[Clash, tuple[Bound, ...]], name: str) -> bool:
        """Return whether a package has a part in what is stuck."""
        clash, several = stuck
        return name in {clash.one.of, clash.other.by, *(bound.by for bound in several)}

    def mending(self, clash: Clash) -> str | None:
        """Return the pin that mends a clash, the nearest one, so that nothing else clashes; None where there is none."""
        if head := next((name for name in (clash.one.of, clash.one.by, clash.other.by) if name in self.heads), None):
            return self.released(head)
        names = [name for name in (clash.one.of, clash.other.by, clash.one.by) if name in self.pins and name not in self.moved]
        for name in sorted(dict.fromkeys(names), key=lambda name: name in self.product):
            if name in self.product:
                continue
            known = releases_of(name, self.queries)
            exact = next((b.spec for b in (clash.one, clash.other) if b.by and b.of == name and is_exact(b.spec)), "")
            if not known and exact and self.admits(name, exact.removeprefix("==")):
                return f"{name}{exact}"
            if nearest := self.nearest(name):
                return nearest
        return None

    def nearest(self, name: str) -> str | None:
        """Return the pin nearest to that of a package which all others and the Pythons admit; None where there is none."""
        known, at_ = releases_of(name, self.queries), _version(self.pins[name])
        order = (
            sorted(known, key=lambda version: (abs(_place(known, version) - _place(known, at_)), version < at_)) if at_ else []
        )
        fitting = (v for v in order[:_MOST_NEAR] if v != at_ and self._is_usable(known[v]) and self.admits(name, str(v)))
        return next((f"{name}=={version}" for version in fitting), None)

    def released(self, name: str) -> str | None:
        """Return the newest release that can take the place of a main branch; None where there is none."""
        known = releases_of(name, self.queries)
        order = (v for v in sorted(known, reverse=True) if not v.is_prerelease and self._is_usable(known[v]))
        return next((f"{name}=={v}" for v in order if self.admits(name, str(v))), None)

    def is_for_python(self, requires_python: str) -> bool:
        """Return whether a Requires-Python admits one of the Pythons that may be meant."""
        return any(admits_python(requires_python, place[3]) for place in self.places)

    def _is_usable(self, record: dict[str, Any]) -> bool:
        """Return whether a release is neither yanked nor for other Pythons nor one that pip passes over."""
        python = str(record["python"])
        return bool(
            not record["is_yanked"] and not record["unread"] and record["requires"] is not None
            and (not python or self.is_for_python(python))
        )  # fmt: skip


def _head(one: Requirement, queries: ProjectQueries) -> str:
    """Return the newest release of a package that comes from the main branch of its own repository, empty for others."""
    address, _, ref = (one.url or "").partition("#")[0].rpartition("github.com/")[2].partition("@")
    for record in queries.package_records("head") if one.url and "github.com/" in one.url else ():
        if record["name"] == one.name and record["repository"] == address.removesuffix("/").removesuffix(".git"):
            known = [version for version in releases_of(one.name, queries) if not version.is_prerelease]
            return str(max(known)) if known and ref in ("", "main") and one.role is RequirementRole.INSTALL else ""
    return ""


def releases_of(name: str, queries: ProjectQueries) -> dict[Version, dict[str, Any]]:
    """Return what metadata say of the releases of a distribution, by version; empty where they were not read."""
    return _releases(queries, name)


def release_of(name: str, version: str, queries: ProjectQueries) -> dict[str, Any] | None:
    """Return what metadata say of a release, None where they were not read."""
    parsed = _version(version.partition("+")[0])
    return _releases(queries, name).get(parsed) if parsed else None


@lru_cache(maxsize=4096)
def _releases(queries: ProjectQueries, name: str) -> dict[Version, dict[str, Any]]:
    return {
        Version(version): {
            "is_yanked": version in yanked,
            "python": python,
            "requires": bounds,
            "unread": unread,
            "seen": seen,
        }
        for record in queries.package_records(f"metadata of {name}")
        for seen in (record["seen"],)
        for versions, yanked, python, bounds, unread in record["groups"]
        for version in versions
    }


def source_of(name: str, version: str, queries: ProjectQueries) -> str:
    """Return the source of what metadata of a release say, as findings name it."""
    record = release_of(name, version, queries) or {}
    return f"{queries.own} index: {name} {version} “Requires-Dist” (seen {record.get('seen', '')})"


def _place(known: Iterable[Version], version: Version) -> int:
    return sum(one < version for one in known)


@lru_cache(maxsize=65536)
def _meet(one: str, other: str) -> bool:
    """Return whether a version can meet two specifiers: one that they name, one just above or below, or none at all."""
    try:
        both = SpecifierSet(one), SpecifierSet(other)
    except InvalidSpecifier:
        return True
    points: list[Version] = []
    for clause in (*both[0], *both[1]):
        if (named := _version(clause.version.removesuffix(".*"))) is None:
            return True
        release = named.release
        points += [named, *(Version(".".join(map(str, each))) for each in ((*release, 1), (*release, 0, 1)))]
        points += [Version(f"{named.base_version}.post1")]
        if any(release):
            last = max(n for n, part in enumerate(release) if part)
            points.append(Version(".".join(map(str, (*release[:last], release[last] - 1, 9999)))))
    return any(all(each.contains(point, prereleases=True) for each in both) for point in points)


@lru_cache(maxsize=65536)
def _admits(spec: str, version: Version) -> bool:
    try:
        return SpecifierSet(spec).contains(version, prereleases=True)
    except InvalidSpecifier:
        return True


@lru_cache(maxsize=65536)
def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None
