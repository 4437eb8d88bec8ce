"""Where a migration leads: the best native stack for a device, a Python and a system, as the engine has it."""

from collections.abc import Mapping
from typing import NamedTuple

from compatkb.check.document import CheckContext
from compatkb.check.project.install_plan import FAMILIES
from compatkb.check.project.queries import ProjectQueries
from compatkb.core.vocabulary import Verdict
from compatkb.doctor.successors import successor_stack
from compatkb.engine.stacks import Stack
from compatkb.migrate.guide import Guide

_WORKS = (Verdict.WORKS, Verdict.WORKS_WITH_WARNINGS)


class MigrationTarget(NamedTuple):
    """A stack without the products that have ended; `fits` is false where it is not for the Python that was asked for."""

    stack: Stack
    versions: Mapping[str, str]  # by product
    url: str  # the index that has its builds
    channel: str
    fits: bool

    @property
    def known(self) -> bool:
        """Return whether the stack is known to work, not only likely to."""
        return self.stack.verdict in _WORKS

    @property
    def where(self) -> str:
        """Return how well the stack is known, and where it holds."""
        known = "works" if self.known else "likely works"
        return f"{known} on Python {', '.join(self.stack.python)} ({', '.join(self.stack.os)})"


class MigrationTargets:
    """The stacks that migrations lead to, each asked for once."""

    def __init__(self, context: CheckContext, guide: Guide, queries: ProjectQueries) -> None:
        self._context, self._guide, self._queries = context, guide, queries
        self._targets: dict[tuple[str, str, str, tuple[str, ...]], MigrationTarget | None] = {}

    def of(self, device: str, python: str, system: str, beside: tuple[str, ...] = ()) -> MigrationTarget | None:
        """Return the best stack; an empty Python or system is any; None where nothing replaces on this device.

        It holds the products `beside` where any stack does.
        """
        key = (device, python, system, beside)
        if key not in self._targets:
            self._targets[key] = self._search(device, python, system, beside)
        return self._targets[key]

    def _search(self, device: str, python: str, system: str, beside: tuple[str, ...]) -> MigrationTarget | None:
        guide = self._guide
        if device not in {known.device for known in guide.ended.values()}:
            return None
        facts = self._context.facts
        options = [("os", system or next(iter(FAMILIES.values())))]
        options += [("python", python)] if python else []
        more = [(product, ">=0") for product in beside]
        several = [  # what is written into files is proven, if there is such a stack
            successor_stack(facts, tuple(guide.ended), several, [device], self._context.clock, certain_only=certain_only)
            for several in (([*options, *more], options) if more else (options,))
            for certain_only in (True, False)
        ]
        instead = next((instead for instead in several if instead is not None), None)
        if instead is None:
            return None
        stack = instead.stack
        main = next(e for e in stack.packages if e.product in {known.product for known in guide.ended.values()})
        channel = next((c for c in main.channels if c in self._queries.addresses), "")
        url = self._queries.addresses.get(channel, ("", ""))[0]
        versions = {element.product: element.version for element in stack.packages}
        return MigrationTarget(stack, versions, url, channel, not python or python in stack.python)
