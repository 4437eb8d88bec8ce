"""What every file for an installer needs of an answer: which stack, its packages and their indexes, Pythons and platforms."""

from collections.abc import Iterable
from typing import NamedTuple

from compatkb.core.names import is_free_threaded
from compatkb.core.vocabulary import Kind, Verdict
from compatkb.engine.answer import Answer
from compatkb.engine.stacks import Stack
from compatkb.errors import NoRequirementsError, UsageError
from compatkb.output.commands import channel_for, is_named, waived
from compatkb.output.labels import asked, platform_cells, stack_name, value
from compatkb.output.messages import cause, not_installable
from compatkb.output.registry import Wanted
from compatkb.output.text import grouped
from compatkb.store.queries.products import ChannelRecord
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element

_BOUNDS = (Kind.NEEDS, Kind.CONSTRAINS)


class Placed(NamedTuple):
    """A package of a stack and the index to take it from."""

    element: Element
    channel: ChannelRecord

    @property
    def name(self) -> str:
        """Its name on the index."""
        return self.element.distribution or self.element.product


def stack_of(facts: Snapshot, answer: Answer, wanted: Wanted) -> Stack:
    """Return the stack that a file is for, on every Python on which the same is installed; raises as `stacks_of` does."""
    return stacks_of(facts, answer, wanted)[0]


def stacks_of(facts: Snapshot, answer: Answer, wanted: Wanted) -> list[Stack]:
    """Return the stack that a file is for and its like, on every Python on which the same is installed, best first.

    Raises UsageError for a number that no stack has, NoRequirementsError where there is none.
    """
    if not answer.stacks:
        causes = "".join(f"\n- {cause(facts, conflict, answer.request)}" for conflict in answer.causes)
        raise NoRequirementsError(f"{asked(facts, answer.request)}: no stack{causes}")
    groups = grouped(facts, answer.stacks)
    if not 1 <= wanted.stack <= len(groups):
        raise UsageError(f"there is no stack {wanted.stack}: `compatkb resolve --all` counts {len(groups)}")
    merged: dict[tuple[object, ...], Stack] = {}
    for stack in groups[wanted.stack - 1]:
        key = tuple(e for e in stack.packages if is_named(facts, e, stack)), stack.bounds, stack.os, stack.arch
        pythons = {*stack.python, *(merged[key].python if key in merged else ())}
        every = tuple(python for python in facts.grid["python"] if python in pythons)
        merged[key] = merged.get(key, stack)._replace(python=every)
    return list(merged.values())


def one_step(facts: Snapshot, stack: Stack, form: str) -> None:
    """Raise NoRequirementsError where installers that read a whole file at once cannot install the stack."""
    if pins := waived(facts, stack):
        raise NoRequirementsError(
            f"one {form} cannot install this stack: its maker installs it in steps and against {', '.join(pins)}; "
            "`compatkb resolve` shows the steps, and --format dockerfile contains them"
        )


def packages_of(facts: Snapshot, stack: Stack) -> list[Placed]:
    """Return the packages to name: those of the commands, then what they bring along from an index of its own.

    Installers that take each package from its own index look for no dependency there unless it is named too.
    Raises NoRequirementsError where a package is on no known index.
    """
    named = [e for e in stack.packages if is_named(facts, e, stack)]
    placed = [Placed(e, channel) for e in named if (channel := channel_for(facts, e, stack))]
    if not named or len(placed) < len(named):
        raise NoRequirementsError(not_installable(facts, stack))
    others = [e for e in stack.packages if e not in named and e.distribution and e.channels]
    others += automatic_of(facts, stack.packages, platform_cells(facts, stack))
    brought = [Placed(e, channel) for e in others if (channel := channel_for(facts, e, stack)) and channel.url]
    return placed + [each for each in brought if "default" not in each.element.channels]


def automatic_of(facts: Snapshot, elements: Iterable[Element], platforms: int) -> list[Element]:
    """Return what the metadata of builds bring along on some platforms, whether or not anybody vouches for it there."""
    elements = tuple(elements)
    held = {e.product for e in elements}
    dependencies = []
    for product in (p.id for p in facts.products.values() if p.automatic and p.id not in held):
        for e in elements:
            bounds = [edge for edge in facts.edges(e.product, product) if edge.of_mask >> e.idx & 1 and edge.kind in _BOUNDS]
            fitting = [x for edge in bounds if edge.supported_on & platforms for x in facts.elements(product).of(edge.to_mask)]
            near = [x for x in fitting if set(x.channels) & set(e.channels)]
            dependencies += (near or fitting)[:1]
    return dependencies


def minors(stack: Stack) -> list[str]:
    """Return the Pythons of a stack, oldest first; raises NoRequirementsError where all are free-threaded builds."""
    plain = [python for python in stack.python if not is_free_threaded(python)]
    if not plain:
        raise NoRequirementsError(
            f"only free-threaded Pythons go with this stack ({', '.join(stack.python)}): no file format can require that"
        )
    return plain


def python_range(pythons: list[str]) -> str:
    """Return the specifier that admits these minors, given oldest first, and no other."""
    major, _, newest = pythons[-1].partition(".")
    first = int(pythons[0].partition(".")[2])
    left_out = [f"!={major}.{n}.*" for n in range(first, int(newest)) if f"{major}.{n}" not in pythons]
    return ",".join([f">={pythons[0]}", *left_out, f"<{major}.{int(newest) + 1}"])


def platforms_of(facts: Snapshot, stack: Stack) -> list[tuple[str, str]]:
    """Return family of system and architecture of every platform of a stack, each once."""
    return list(dict.fromkeys((family, arch) for family in map(facts.family, stack.os) if family for arch in stack.arch))


def markers_of(facts: Snapshot, stack: Stack) -> list[str]:
    """Return a marker (PEP 508) for each platform of a stack."""
    from compatkb.core.platforms import marker_of  # with packaging, which no other answer needs

    return [marker_of(*platform) for platform in platforms_of(facts, stack)]


def title_of(facts: Snapshot, answer: Answer, *stacks: Stack) -> str:
    """Return the line that a file begins with: what it installs, how well that is known, and how old the data are."""
    names: dict[str, None] = {}
    for stack in stacks:
        sure = "" if stack.verdict == Verdict.WORKS else f" ({stack.verdict})"
        names[f"{stack_name(facts, stack, answer.request)} on {value(facts, 'device', stack.device)}{sure}"] = None
    return f"{' or '.join(names)}; by compatkb, from data of {facts.meta['data_date']}"
