"""The one view of an answer: sentence, commands by system, rows by label, causes, ways out; every form writes it."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property, partial
from typing import TYPE_CHECKING

from compatkb.core.names import is_free_threaded
from compatkb.core.record import hidden, record, replaced
from compatkb.core.vocabulary import Verdict
from compatkb.output import messages
from compatkb.output.issue_text import GRAVE, issue_line
from compatkb.output.things import StackView, listed, platforms, shortened, systems_listed
from compatkb.store.records import Request, Sources

if TYPE_CHECKING:
    from compatkb.output.json_types import DisputeJson

MOST = 3
"""So many ways out, and so many other stacks, are shown unless all are asked for."""
_FEW = 2
_NEEDED = re.compile(r"Needs ([^.]{1,60})\.")
"""The beginning of a note about a feature that says what it requires."""
_LEFT_OUT = ("eol", "security")


@record()
class StackGroup:
    """Stacks of one verdict for which one command will do, save for packages that some of them lack; the best first."""

    stacks: tuple[StackView, ...]
    wide: Callable[[], tuple[StackView, ...]] = hidden()  # each on every Python that installs the same

    @property
    def best(self) -> StackView:
        """The first of them."""
        return self.stacks[0]

    @property
    def place(self) -> str:
        """Where they hold together."""
        return platforms(self.stacks)

    @property
    def systems(self) -> str:
        """Their operating systems."""
        return systems_listed(system.name for stack in self.stacks for system in stack.os)

    @property
    def differences(self) -> list[str]:
        """What the further ones install otherwise, and where."""
        first = self.best.installed
        groups: dict[str, list[StackView]] = {}
        for stack in self.stacks[1:]:
            other = stack.installed
            parts = [f"{name} {version}" for name, version in other.items() if first.get(name) != version]
            parts += [f"no {name}" for name in first if name not in other]
            if parts:
                groups.setdefault(", ".join(parts), []).append(stack)
        return [f"{platforms(group)}: {what}" for what, group in groups.items()]

    def serves(self, *, free_threaded: bool) -> frozenset[str]:
        """Return the systems that it serves, with or without those that only a free-threaded Python (PEP 703) is for."""
        some = [one for one in self.stacks if free_threaded or not all(is_free_threaded(python.id) for python in one.python)]
        return frozenset(system.id for one in some for system in one.os)


@record()
class Section:
    """The commands for some systems; the title is empty where they are for all of them."""

    title: str
    group: StackGroup


@record()
class AnswerRow:
    """What an answer says under a label; of the rows that may go, those of the highest weight go first."""

    label: str
    texts: tuple[str, ...]
    weight: float = 0
    install: StackView | None = None  # whose commands stand below it
    when_brief: bool = False  # whether it goes where every stack is shown
    short: str = ""  # what stands in its place where it takes more than two lines


@record()
class CauseView:
    """Why there is no answer."""

    kind: str
    products: tuple[str, ...]
    device: str
    route: str
    certain: bool
    message: str
    claims: tuple[str, ...]
    about_asked: bool  # whether it is about nothing but what was asked for
    look: "Callable[[], tuple[list[DisputeJson], Sources]]" = hidden()

    @cached_property
    def _looked(self) -> "tuple[list[DisputeJson], Sources]":
        return self.look()

    @property
    def disputes(self) -> "list[DisputeJson]":
        """The disputes that it rests on."""
        return self._looked[0]

    @property
    def sources(self) -> Sources:
        """Who says it."""
        return self._looked[1]


@record()
class Way:
    """A way out of a "no": what it is called, its stack, whether programs have to change, and which pins move or go."""

    title: str
    stack: StackView
    migrates: bool = False
    relaxed: tuple[str, ...] = ()


@record()
class Near:
    """A stack that answers after some pins were given up: the same series, below, above, or the best."""

    relaxed: tuple[str, ...]
    where: str
    stack: StackView


@record()
class BesideView:
    """A stack that stands beside the best one, why, and what it is in words."""

    kind: str
    text: str
    stack: StackView


@record()
class AnswerView:
    """An answer as it is shown, whatever shows it."""

    data_date: str
    request: Request
    asked: str
    verdict: Verdict
    headline: str
    stacks: tuple[StackView, ...]
    groups: tuple[StackGroup, ...]
    sections: tuple[Section, ...]  # the commands to show first, by system where one command will not do
    rows: tuple[AnswerRow, ...]
    causes: tuple[CauseView, ...]
    reasons: tuple[str, ...]  # sentences, without those of the causes
    nearest: tuple[Near, ...]
    beside: tuple[BesideView, ...]
    ways: tuple[Way, ...]
    fixes_place: bool  # whether the request fixes system and Python, so that an answer need not name them
    gave_up: bool = False

    @property
    def is_positive(self) -> bool:
        """Whether there is something to install that somebody vouches for."""
        return bool(self.stacks) and self.verdict != Verdict.UNKNOWN

    @property
    def best(self) -> StackView | None:
        """The first stack, none for a "no"."""
        return self.stacks[0] if self.stacks else None

    @property
    def foremost(self) -> list[CauseView]:
        """The causes, each sentence once, none within a longer one, first those about nothing but what was asked for."""
        told: dict[str, CauseView] = {}
        for cause in self.causes:
            told.setdefault(cause.message, cause)
        longer = {
            whole for whole in told for part in told if part != whole and re.search(rf"{re.escape(part)}(?:[.;] |$)", whole)
        }
        return sorted((told[each] for each in told if each not in longer), key=lambda cause: not cause.about_asked)

    @property
    def disputed(self) -> int:
        """How many disputes a "no" rests on."""
        rows = {row["id"] for cause in self.causes for row in cause.disputes}
        return len(rows | {row["id"] for stack in self.stacks[:1] for row in stack.evidence.disputes})

    @property
    def foot(self) -> list[str]:
        """What the last line says beside the day of the data."""
        until = self.request.uploaded_until
        told = [] if until is None else [f"uploads before {date.fromordinal(until + 1)}"]
        return [*told, *(["the search for alternatives ended early"] if self.gave_up else [])]


def grouped(stacks: Iterable[StackView], wide: Callable[[list[StackView]], tuple[StackView, ...]]) -> tuple[StackGroup, ...]:
    """Return stacks in groups; `wide` merges the Pythons of one."""
    groups: list[list[StackView]] = []
    for stack in stacks:
        group = next((group for group in groups if _is_alike(group[0], stack)), None)
        if group is None:
            groups.append([stack])
        else:
            group.append(stack)
    return tuple(StackGroup(tuple(group), partial(wide, group)) for group in groups)


def _is_alike(one: StackView, other: StackView) -> bool:
    """Return whether two stacks have the same main builds, and what both install comes in the same builds."""
    if (one.device, one.route, one.verdict, one.builds) != (other.device, other.route, other.verdict, other.builds):
        return False
    first, second = one.installed, other.installed
    return all(first[name] == second[name] for name in first.keys() & second.keys())


def by_system(request: Request, groups: Sequence[StackGroup]) -> tuple[StackGroup, ...]:
    """Return the best group, and where no system is asked for, the best of a system for which its command will not do.

    That a free-threaded Python (PEP 703) is served on a system is no answer for those who did not ask for one.
    """
    best = groups[0]
    if request.pin("os"):
        return (best,)
    named = request.pin("python") is not None
    served = best.serves(free_threaded=named)
    for group in groups[1:]:
        alike = (group.best.device, group.best.route) == (best.best.device, best.best.route)
        if alike and (systems := group.serves(free_threaded=named)) and systems.isdisjoint(served):
            return (best, group)
    return (best,)


def sections_of(groups: Sequence[StackGroup]) -> tuple[Section, ...]:
    """Return the commands of groups, each under its systems where there are several; what differs from the first is named."""
    if len(groups) == 1:
        return (Section("", groups[0]),)
    sections = []
    for group in groups:
        name = f": {group.best.name}" if group is not groups[0] else ""
        sure = f"   {messages.signed(group.best.verdict)}" if group.best.verdict != groups[0].best.verdict else ""
        sections.append(Section(f"on {group.place}{name}{sure}", group))
    return tuple(sections)


def rows_of(
    request: Request,
    sentence: str,
    groups: Sequence[StackGroup],
    shown: Sequence[StackGroup],
    beside: Sequence[BesideView],
    newer: tuple[str, str],
    graphics: str = "",
) -> tuple[AnswerRow, ...]:
    """Return what is said of a positive answer below its commands.

    `newer` is what is newer in the series of a pin, and why it leads with no newer release else; `graphics` what is not known
    of the graphics of a machine whose processor it is for.
    """
    best = groups[0]
    stack = best.best
    fixed = bool(request.pin("python") and request.pin("os"))
    where = [best.place] if len(shown) == 1 and best.place not in sentence and not fixed else []
    gpus = [] if request.pin("hardware") else [value.name.removeprefix("Intel ") for value in stack.hardware]
    others = [
        f"{'same versions' if g.best.name == stack.name else g.best.name}   {messages.signed(g.best.verdict)}; {g.place}"
        for g in others_of(request, groups, shown, beside)
    ]
    alike = [AnswerRow("", (b.text,), 3 if b.kind == "default-index" else 1, b.stack) for b in beside]
    alike += [AnswerRow("", (line,), 3 + n, when_brief=True) for n, line in enumerate(others[:MOST])]
    rows = [
        _sureness(stack),
        AnswerRow("", tuple(_of_hardware(stack)), 1),
        AnswerRow("untested" if stack.is_certain else "", (graphics,)),
        AnswerRow("warning", (*messages.warnings_in_brief(stack.warnings), *stack.ending)),
        AnswerRow("known issues", tuple(_issues(stack)), 2),
        AnswerRow("requires", tuple(_required(best.stacks)), 1),
        AnswerRow("platforms", (*where, stack.elsewhere) if stack.elsewhere else tuple(where), 2),
        AnswerRow("" if where or stack.elsewhere else "platforms", (shortened(gpus),), 4),
        AnswerRow("" if where or gpus else "platforms", tuple(best.differences[:_FEW]), 6, when_brief=True),
        AnswerRow("why not newer", newer[:1], 1),
        AnswerRow("" if newer[0] else "why not newer", newer[1:], 5),
        *(replaced(row, label="" if n else "also works") for n, row in enumerate(alike)),
    ]
    return tuple(row for row in rows if any(row.texts))


def _required(stacks: Sequence[StackView]) -> Iterator[str]:
    """Yield what stacks need of the machine, and what the features need that were asked for."""
    yield from dict.fromkeys([*_needs(stacks), *(text for one in stacks for text in one.required)])
    for offered in (offered for one in stacks[:1] for offered in one.features):
        needed = (_NEEDED.match(claim.note or "") for claim in offered.claims)
        yield from dict.fromkeys(f"{offered.feature}: {found[1]}" for found in needed if found)


def _of_hardware(stack: StackView) -> Iterator[str]:
    """Yield what is said of the features that were asked for on the hardware of the question alone."""
    for offered in stack.features:
        yield from dict.fromkeys(claim.note for claim in offered.claims if claim.note and "hardware " in claim.when)


def _issues(stack: StackView) -> Iterator[str]:
    """Yield the gravest known issues, of what is below the packages only those that are sure, and how many more there are."""
    told = [issue for issue in stack.issues if issue.effect in GRAVE and (issue.of_packages or not issue.when)][:_FEW]
    notes = [warned.detail.rstrip(".") for warned in stack.warnings if warned.kind == "known-issue"]
    below = sum(not issue.of_packages for issue in stack.issues if issue not in told)
    more = len(stack.issues) - len(told) - below + max(len(notes) - 1, 0)
    counts = [f"{more} more" if told or notes else f"{more} of less harm"] if more else []
    counts += [f"{below} of drivers, compilers and kernels"] if below else []
    yield from map(issue_line, told)
    yield from notes[:1]
    if counts:
        yield f"{' and '.join(counts)} (--why)"


def others_of(
    request: Request, groups: Sequence[StackGroup], shown: Sequence[StackGroup], beside: Sequence[BesideView]
) -> list[StackGroup]:
    """Return the groups that are told besides those shown: none brings what has ended, unless asked for or led with."""
    held = groups[0].best.held | {pin.product for pin in request.pins} | set(request.bare)
    known = {other.stack.name for other in beside}
    return [
        group
        for group in groups
        if group not in shown
        and group.best.name not in known
        and not any(warned.kind in _LEFT_OUT and warned.product.id not in held for warned in group.best.warnings)
    ]


def _sureness(stack: StackView) -> AnswerRow:
    """Return who documents an answer, or what nobody documents or ran."""
    known = stack.evidence
    disputed = counted(len(known.disputes))
    if stack.is_certain:
        apart = "".join(f"; {what}" for what in known.strangers)
        return AnswerRow("evidence", (known.basis + apart + (f" ({disputed}: --why)" if disputed else ""),))
    points = known.open_points
    parts = [part for part in (f"and {len(points) - 1} more" if len(points) > 1 else "", disputed) if part]
    more = f" ({', '.join(parts)}: --why)" if parts else ""
    return AnswerRow("untested", (points[0].brief + more,), short=points[0].what + more)


def counted(count: int) -> str:
    """Return how many points are disputed; empty for none."""
    return f"{count} disputed point{'s' if count > 1 else ''}" if count else ""


def _needs(stacks: Sequence[StackView]) -> list[str]:
    """Return what stacks need of the machine: once where they agree, else with the systems."""
    by_text: dict[str, dict[str, None]] = {}
    for stack in stacks:
        text = ", ".join(f"{product.label} {values}" for product, values in stack.needs)
        by_text.setdefault(text, {}).update(dict.fromkeys(system.name for system in stack.os))
    if not any(by_text):
        return [stacks[0].unbounded_need] if stacks[0].unbounded_need else []
    if len(by_text) == 1:
        return list(by_text)
    return [f"{text} ({listed(list(systems))})" for text, systems in by_text.items() if text]
