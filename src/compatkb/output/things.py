"""What an answer holds as it is shown: builds, places, claims, stacks: frozen values that ask no snapshot."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from compatkb.core.names import is_free_threaded
from compatkb.core.record import NamedTuple, hidden, record
from compatkb.core.vocabulary import Certainty, Role, Verdict
from compatkb.store.queries.claims import InstallRecord
from compatkb.store.queries.products import ChannelRecord
from compatkb.store.records import Product, Sources

if TYPE_CHECKING:
    from compatkb.output.evidence import Evidence
    from compatkb.output.json_types import DisputeJson

_MANY, _FEW = 6, 4
_NUMBERED = re.compile(r"(.*? )(\d[\d.]*(?: [A-Z]+\d+)?)((?: .*)?)")


@record()
class DimensionValue:
    """A value of a dimension: a Python, a system, a device, a GPU family."""

    dimension: str
    id: str
    name: str  # as people write it
    place: int = 0  # among the values of its dimension, oldest first; free-threaded Pythons count by themselves
    family: str = ""  # of a system: linux, windows or macos
    wider: tuple[str, ...] = ()  # the values that it is a kind of
    usual: bool = True  # whether it goes without saying, as one architecture does

    def __str__(self) -> str:
        return self.name


@record(eq=False)
class BuildView:
    """A build of a stack: what it is, where it is from, and how commands name it there."""

    product: Product
    idx: int
    version: str
    release: str
    name: str  # of its product, or its own distribution where the product goes by another one today
    distribution: str | None
    extras: str
    stage: str
    maker: str | None
    devices: frozenset[str]
    channels: tuple[str, ...]
    index: ChannelRecord | None  # where commands take it from in this stack
    served: tuple[ChannelRecord, ...]  # its channels, in the order of the data
    inside: str  # the first system of an image that fits the stack
    requested: bool  # whether the search was about it
    named: bool  # whether commands name it; what requirements bring along comes by itself
    cited: Callable[[], Sources] = hidden()

    @property
    def label(self) -> str:
        """The build as people know it: torch 2.8.0+xpu."""
        return f"{self.name} {self.version}"

    @property
    def requirement(self) -> str:
        """The requirement (PEP 508) that only this build meets."""
        extras = f"[{self.extras}]" if self.extras else ""
        return f"{self.distribution}{extras}=={self.version}"

    @property
    def made_at(self) -> ChannelRecord | None:
        """The repository that it is compiled from, or the registry whose image holds it."""
        return next((channel for channel in reversed(self.served) if not channel.is_index), None)

    @property
    def sources(self) -> Sources:
        """Where it is known from."""
        return self.cited()

    @property
    def key(self) -> tuple[str, int]:
        """What tells it apart from every other build."""
        return self.product.id, self.idx


@record()
class Warned:
    """A reason for care: its kind, whom it concerns, and since when."""

    kind: str  # yanked, eol, security, driver, device, preview, known-issue, unreviewed, feature, unnamed
    product: Product
    version: str
    day: int | None
    until: int | None
    detail: str
    cited: Callable[[], Sources] = hidden()

    @property
    def sources(self) -> Sources:
        """Who says it."""
        return self.cited()


@record()
class ClaimView:
    """What somebody says of versions of one product and of another, or of a machine."""

    id: str
    kind: str
    of: str
    to: tuple[str, ...]
    when: str
    basis: str
    reason: str | None
    note: str | None
    sources: Sources
    disputes: "list[DisputeJson]"


@record()
class Link:
    """What speaks for two members of a stack together."""

    one: str
    other: str
    level: int
    claims: tuple[ClaimView, ...]


@record()
class Offered:
    """A feature that was asked for: how far it has come in a stack, and who says so."""

    feature: str
    name: str
    status: str
    level: int
    by: tuple[tuple[Product, str], ...]
    claims: tuple[ClaimView, ...]


class Open(NamedTuple):
    """One point that keeps a stack from `works`."""

    what: str
    why: str | None  # on what an inference rests
    settled_by: str  # what would verify it

    @property
    def brief(self) -> str:
        """The point and what it rests on."""
        return f"{self.what}: {self.why}" if self.why else self.what

    @property
    def sentence(self) -> str:
        """All of it as a sentence."""
        return f"{self.brief}; {self.settled_by} would verify it"


class FirstImage(NamedTuple):
    """An image that a Dockerfile can begin with: what it has, and what root runs there first."""

    image: str
    os: DimensionValue
    python: tuple[str, ...]
    setup: tuple[str, ...]
    driver: tuple[str, ...]


class StackIssue(NamedTuple):
    """A known issue in words: what decides where something was not said, and what takes it away."""

    id: str
    title: str
    effect: str
    state: str
    when: tuple[str, ...]  # all of which must be so; none: it is so
    cures: tuple[str, ...]
    sources: Sources
    of_packages: bool  # a package of the stack has it; else what is below: driver, compiler, kernel


@record(eq=False)
class StackView:
    """Builds that work together on every combination of some systems, architectures and Pythons."""

    device: DimensionValue
    route: str
    provider: str  # the product that brings the device
    verdict: Verdict
    level: int
    packages: tuple[BuildView, ...]
    main: tuple[BuildView, ...]  # the packages that it is about
    about: tuple[BuildView, ...]  # the same, with what else was asked for
    requested: tuple[str, ...]
    python: tuple[DimensionValue, ...]
    os: tuple[DimensionValue, ...]
    arch: tuple[DimensionValue, ...]
    known: Mapping[str, tuple[str, ...]]
    shown: tuple[tuple[Product, tuple[str, ...]], ...]  # what is known of it beyond the platform
    hardware: tuple[DimensionValue, ...]
    needs: tuple[tuple[Product, str], ...]  # of the machine beyond the platform, as far as known and not asked for
    required: tuple[str, ...]  # of kernel and driver by the hardware that was asked for, a sentence each
    unbounded_need: str  # what its device needs where no version of it is known or asked for
    bounds: tuple[tuple[Product, str], ...]  # products outside the stack, and what they must be
    warnings: tuple[Warned, ...]
    elsewhere: str  # the newest release on the architecture that was not named, where another one is assumed
    ending: tuple[str, ...]  # systems and Pythons that the request fixes and that end: no matter of the packages
    look_for_issues: Callable[[], tuple[StackIssue, ...]] = hidden()
    features: tuple[Offered, ...]
    recipe: InstallRecord | None  # an installation that one command cannot do
    waives: tuple[str, ...]  # the pins that its vendor says to ignore
    proof: str | None  # an expression that prints whether the device can be used
    evidence: "Evidence" = hidden()

    @cached_property
    def issues(self) -> tuple[StackIssue, ...]:
        """The known issues that it has or may have on what was asked for, the surest and gravest first."""
        return self.look_for_issues()

    @property
    def name(self) -> str:
        """The stack by what it is about: torch 2.8.0 with IPEX 2.8.0."""
        return joined_with([build.label for build in self.about])

    @property
    def main_name(self) -> str:
        """The stack by its packages alone, whatever else was asked for."""
        return joined_with([build.label for build in self.main])

    @property
    def builds(self) -> tuple[tuple[str, str], ...]:
        """The products and versions that it is about."""
        return tuple((build.product.id, build.version) for build in self.main)

    @property
    def named(self) -> tuple[BuildView, ...]:
        """The builds that commands name."""
        return tuple(build for build in self.packages if build.named)

    @property
    def installed(self) -> dict[str, str]:
        """What commands install, by name."""
        return {build.name: build.version for build in self.named}

    @property
    def held(self) -> frozenset[str]:
        """The products of its packages."""
        return frozenset(build.product.id for build in self.packages)

    @property
    def newest_python(self) -> str:
        """The newest Python that is no free-threaded build; empty where there is none."""
        return next((python.id for python in reversed(self.python) if not is_free_threaded(python.id)), "")

    @property
    def is_certain(self) -> bool:
        """Whether every step of it is stated or observed."""
        return self.level == Certainty.CERTAIN

    @property
    def run_times(self) -> tuple[BuildView, ...]:
        """What requirements bring along and nobody asked for."""
        return tuple(build for build in self.packages if build.product.role == Role.LEAF and not build.requested)

    def build_of(self, product: str) -> BuildView | None:
        """Return its build of a product, None where it has none."""
        return next((build for build in self.packages if build.product.id == product), None)


@record()
class Instead:
    """Products that have ended, and a stack that does without them."""

    ended: tuple[Product, ...]
    stack: StackView


def platforms(stacks: Iterable[StackView]) -> str:
    """Return where stacks hold together: Linux and Windows, Python 3.10–3.13; of many systems the first ones."""
    cells: dict[tuple[DimensionValue, DimensionValue], set[DimensionValue]] = {}
    for stack in stacks:
        for system in stack.os:
            for arch in stack.arch:
                cells.setdefault((system, arch), set()).update(stack.python)
    merged: dict[frozenset[DimensionValue], list[str]] = {}
    for (system, arch), pythons in cells.items():
        name = system.name + ("" if arch.usual else f" ({arch.id})")
        merged.setdefault(frozenset(pythons), []).append(name)
    return "; ".join(f"{systems_listed(names)}, Python {python_ranges(pythons)}" for pythons, names in merged.items())


def systems_listed(names: Iterable[str]) -> str:
    """Return systems as a sentence lists them, those that differ in a number alone under one name, of many the first ones.

    Ubuntu 24.04 and 26.04 is shorter than both names; of a family in all its releases the first three tell which it is.
    """
    numbers: dict[tuple[str, str], list[str]] = {}
    for name in dict.fromkeys(names):
        stem, number, rest = numbered(name)
        numbers.setdefault((stem, rest), []).append(number)
    groups = [f"{stem}{listed(shown_first(several))}{rest}" for (stem, rest), several in numbers.items()]
    return listed(shown_first(groups), ", and" if len(groups) > 1 and len(groups) < sum(map(len, numbers.values())) else "and")


def numbered(name: str) -> tuple[str, str, str]:
    """Return the name of a system in what stands before its number, the number, and what follows."""
    match = _NUMBERED.fullmatch(name)
    return (match[1], match[2], match[3]) if match else (name, "", "")


def shown_first(names: list[str]) -> list[str]:
    """Return names, of many the first three and that there are others."""
    return [*names[:3], "others"] if len(names) > _FEW else names


def python_ranges(values: Iterable[DimensionValue]) -> str:
    """Return Pythons with neighbours folded into ranges: 3.8–3.11, 3.13; free-threaded ones last."""
    wanted = sorted(set(values), key=lambda value: value.place)
    runs: list[list[DimensionValue]] = []
    for value in wanted:
        if is_free_threaded(value.id):
            continue
        if runs and runs[-1][-1].place + 1 == value.place:
            runs[-1].append(value)
        else:
            runs.append([value])
    parts = [f"{run[0].id}–{run[-1].id}" if len(run) > 1 else run[0].id for run in runs]
    return ", ".join([*parts, *(value.id for value in wanted if is_free_threaded(value.id))])


def joined_with(names: list[str] | tuple[str, ...]) -> str:
    """Return names as parts of one stack: torch 2.8.0 with IPEX 2.8.0 and torchvision 0.23.0."""
    return f"{names[0]} with {listed(names[1:])}" if len(names) > 1 else "".join(names)


def listed(names: list[str] | tuple[str, ...], last: str = "and") -> str:
    """Return names as a sentence lists them: a, b and c."""
    return f"{', '.join(names[:-1])}{'' if last[0] == ',' else ' '}{last} {names[-1]}" if len(names) > 1 else "".join(names)


def shortened(values: Iterable[str]) -> str:
    """Return values without repetition, the middle of many left out."""
    names = list(dict.fromkeys(values))
    if len(names) > _MANY:
        names = [*names[:3], "...", *names[-2:]]
    return ", ".join(names)
