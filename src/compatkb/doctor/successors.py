"""Finds what replaces discontinued products: the best stack without them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from compatkb.core.clock import Clock
from compatkb.engine.answer import best_stacks
from compatkb.engine.stacks import Stack
from compatkb.errors import CompatkbError
from compatkb.request.parser import make_request
from compatkb.store.reader import Snapshot


class SuccessorStack(NamedTuple):
    """The products that have ended, and a stack that does without them."""

    ended: tuple[str, ...]
    stack: Stack


def successor_stack(
    facts: Snapshot,
    products: Iterable[str],
    options: Sequence[tuple[str, str]],
    devices: Sequence[str],
    clock: Clock,
    *,
    certain_only: bool = False,
) -> SuccessorStack | None:
    """Return the best stack in place of ended products, where the data name what replaces them on these devices.

    With `certain_only` the best one of which every step is stated or observed. `options` are version words of what stays,
    such as the system; the first of them are given up last.
    """
    ended = tuple(product for product in facts.products if product in facts.successors and product in set(products))
    successors = [successor for name in ended for successor in facts.successors[name]]
    fitting = [successor for successor in successors if successor.device is None or not devices or successor.device in devices]
    if not fitting:
        return None
    words = tuple(dict.fromkeys(successor.product + successor.specifier for successor in fitting))
    kept_options = [option for option in options if option[0] not in ended]
    asked = [device for device in dict.fromkeys(successor.device for successor in fitting) if device] or list(devices)
    for number in range(len(kept_options), -1, -1):
        try:
            request = make_request(facts, kept_options[:number], words, asked, clock)
            stacks = best_stacks(facts, request, certain_only=certain_only)
        except CompatkbError:
            continue
        for stack in stacks:
            if stack.verdict.is_usable and not {e.product for e in stack.packages} & set(ended):
                return SuccessorStack(ended, stack)
    return None
