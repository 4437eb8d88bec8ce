"""What every file for an installer needs of an answer: which stack, its packages and their indexes, Pythons and platforms."""

from typing import NamedTuple

from compatkb.core.names import is_free_threaded
from compatkb.core.vocabulary import Verdict
from compatkb.errors import NoRequirementsError, UsageError
from compatkb.output.messages import not_installable
from compatkb.output.registry import Wanted
from compatkb.output.things import BuildView, StackView
from compatkb.output.view import AnswerView
from compatkb.store.queries.products import ChannelRecord


class Placed(NamedTuple):
    """A package of a stack and the index to take it from."""

    build: BuildView
    channel: ChannelRecord

    @property
    def name(self) -> str:
        """Its name on the index."""
        return self.build.distribution or self.build.product.id


def stack_of(view: AnswerView, wanted: Wanted) -> StackView:
    """Return the stack that a file is for, on every Python on which the same is installed; raises as `stacks_of` does."""
    return stacks_of(view, wanted)[0]


def stacks_of(view: AnswerView, wanted: Wanted) -> tuple[StackView, ...]:
    """Return the stack that a file is for and its like, on every Python on which the same is installed, best first.

    Raises UsageError for a number that no stack has, NoRequirementsError where there is none.
    """
    if not view.stacks:
        causes = "".join(f"\n- {cause.message}" for cause in view.causes)
        raise NoRequirementsError(f"{view.asked}: no stack{causes}")
    if not 1 <= wanted.stack <= len(view.groups):
        raise UsageError(f"there is no stack {wanted.stack}: `compatkb resolve --all` counts {len(view.groups)}")
    return view.groups[wanted.stack - 1].wide()


def one_step(stack: StackView, form: str) -> None:
    """Raise NoRequirementsError where installers that read a whole file at once cannot install the stack."""
    if stack.waives:
        raise NoRequirementsError(
            f"one {form} cannot install this stack: its maker installs it in steps and against {', '.join(stack.waives)}; "
            "`compatkb resolve` shows the steps, and --format dockerfile contains them"
        )


def packages_of(stack: StackView) -> list[Placed]:
    """Return the packages to name: those of the commands, then what they bring along from an index of its own.

    Installers that take each package from its own index look for no dependency there unless it is named too.
    Raises NoRequirementsError where a package is on no known index.
    """
    placed = [Placed(build, build.index) for build in stack.named if build.index]
    if not placed or len(placed) < len(stack.named):
        raise NoRequirementsError(not_installable(stack))
    others = [build for build in stack.packages if not build.named and build.distribution and build.channels]
    brought = [Placed(build, build.index) for build in [*others, *stack.evidence.brought] if build.index and build.index.url]
    return placed + [each for each in brought if "default" not in each.build.channels]


def minors(stack: StackView) -> list[str]:
    """Return the Pythons of a stack, oldest first; raises NoRequirementsError where all are free-threaded builds."""
    plain = [python.id for python in stack.python if not is_free_threaded(python.id)]
    if not plain:
        names = ", ".join(python.id for python in stack.python)
        raise NoRequirementsError(f"only free-threaded Pythons go with this stack ({names}): no file format can require that")
    return plain


def python_range(pythons: list[str]) -> str:
    """Return the specifier that admits these minors, given oldest first, and no other."""
    major, _, newest = pythons[-1].partition(".")
    first = int(pythons[0].partition(".")[2])
    left_out = [f"!={major}.{n}.*" for n in range(first, int(newest)) if f"{major}.{n}" not in pythons]
    return ",".join([f">={pythons[0]}", *left_out, f"<{major}.{int(newest) + 1}"])


def platforms_of(stack: StackView) -> list[tuple[str, str]]:
    """Return family of system and architecture of every platform of a stack, each once."""
    return list(dict.fromkeys((system.family, arch.id) for system in stack.os if system.family for arch in stack.arch))


def markers_of(stack: StackView) -> list[str]:
    """Return a marker (PEP 508) for each platform of a stack."""
    from compatkb.core.platforms import marker_of  # with packaging, which no other answer needs

    return [marker_of(*platform) for platform in platforms_of(stack)]


def title_of(view: AnswerView, *stacks: StackView) -> str:
    """Return the line that a file begins with: what it installs, how well that is known, and how old the data are."""
    names: dict[str, None] = {}
    for stack in stacks:
        sure = "" if stack.verdict == Verdict.WORKS else f" ({stack.verdict})"
        names[f"{stack.name} on {stack.device}{sure}"] = None
    return f"{' or '.join(names)}; by compatkb, from data of {view.data_date}"
