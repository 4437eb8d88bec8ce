"""What a screen and a page say alike of an answer: its sentence, its needs, what stands beside it, causes, ways out."""

from collections.abc import Sequence
from typing import NamedTuple

from compatkb.core.names import is_free_threaded
from compatkb.engine.answer import Alternative, Answer, Beside
from compatkb.engine.conflicts import Cause
from compatkb.engine.stacks import Stack
from compatkb.output import messages
from compatkb.output.labels import (
    HARDWARE,
    asked,
    build,
    label,
    listed,
    main_packages,
    place,
    platform_cells,
    platforms,
    shortened,
    stack_name,
    value,
)
from compatkb.store.queries.products import release
from compatkb.store.reader import Snapshot
from compatkb.store.records import Request


def headline(facts: Snapshot, answer: Answer) -> str:
    """Return what a verdict is about: the best stack and where it runs, or what was asked for."""
    if not answer.stacks or answer.verdict == "unknown":
        return asked(facts, answer.request) + _on_devices(facts, answer.request)
    stack = answer.stacks[0]
    features = [facts.features[offered.feature][0] for offered in stack.features]
    using = f"using {' and '.join(features)}" if features else ""
    parts = (stack_name(facts, stack, answer.request), using, place(facts, answer.request, stack.device))
    return " ".join(part for part in parts if part)


def needs(facts: Snapshot, stack: Stack, request: Request) -> list[tuple[str, str]]:
    """Return what a stack needs of the machine beyond the platform, by product, as far as that is known and was not fixed."""
    requirements = []
    for product in facts.products.values():
        values = stack.known.get(product.id, ())
        if not product.shown or product.id == HARDWARE or not values or request.pin(product.id):
            continue
        names = [v for v in values if v[:1].isalnum()] or list(values)
        requirements.append((product.id, shortened(names).replace(", ", " or ")))
    return requirements


def unbounded_need(facts: Snapshot, stack: Stack) -> str:
    """Return what the device of a stack needs where no version of it is known or fixed; empty where it needs nothing."""
    if any(facts.products[product].shown and product != HARDWARE for product in stack.known):
        return ""
    device = release(facts, "device", stack.device)
    return f"{device.needs}; no minimum version is known" if device and device.needs else ""


def beside_words(facts: Snapshot, answer: Answer, beside: Beside) -> tuple[str, str]:
    """Return why a stack stands beside the best one, in a word, and what it is."""
    name = stack_name(facts, beside.stack, answer.request) + _narrower(facts, beside.stack, answer.stacks[0])
    if beside.kind == "proven":
        return "proven", f"{name}: {messages.basis(messages.support(facts, beside.stack))}"
    if beside.kind == "successor":
        members = {e.product for e in beside.stack.packages}
        ended = [e for e in main_packages(facts, answer.stacks[0]) if e.product not in members]
        gone = " and ".join(label(facts, e.product) for e in ended if e.product in facts.successors)
        left = " and ".join(label(facts, e.product) for e in ended if e.product not in facts.successors)
        text = (f"{name} replaces {gone}" if gone else name) + (f", without {left}" if left else "")
        return "instead", f"{text}; `compatkb migrate` shows what changes in your code"
    cells = platform_cells(facts, beside.stack, ("os", "arch"))
    built = [kind for e in main_packages(facts, beside.stack) for kind in facts.kinds(e) if kind.cells & cells]
    larger = f", a {built[0].device.upper()} build, of which this device uses the CPU part alone" if built else ""
    return "also", f"{name} from the default index{larger}"


def _on_devices(facts: Snapshot, request: Request) -> str:
    """Return the devices that a "no" is about, where what the default index has of a pin is built for another one."""
    elements = [e for pin in request.pins for e in facts.elements(pin.product).of(pin.mask)]
    if len(request.devices) < 2 or not any(e.foreign and "default" in e.channels for e in elements):
        return ""
    return f" on {listed([value(facts, 'device', device) for device in request.devices], 'or')}"


def _narrower(facts: Snapshot, stack: Stack, best: Stack) -> str:
    """Return where a stack holds, if that is not wherever the best one does."""
    parts = ((best.python, stack.python), (best.os, stack.os), (best.arch, stack.arch))
    return "" if all(set(all_of).issubset(some) for all_of, some in parts) else f" on {platforms(facts, [stack])}"


def foremost(answer: Answer) -> list[Cause]:
    """Return the causes of a "no", first those that are about nothing but what was asked for."""
    pinned = {pin.product for pin in answer.request.pins}
    return sorted(answer.causes, key=lambda cause: cause.blocker[0] == "offer" or not pinned.issuperset(cause.blocker[1:]))


MOST = 3
_CLOSEST = {"same": 0, "above": 1, "below": 2, "best": 3}
_SIDES = {"same": "same series", "above": "nearest newer", "below": "nearest older", "best": "newest"}


class Way(NamedTuple):
    """A way out: what it is called, its stack, and whether programs have to change for it."""

    title: str
    stack: Stack
    migrates: bool = False
    relaxed: tuple[str, ...] = ()  # the products whose pins move or go


def ways_of(facts: Snapshot, answer: Answer, most: int = MOST) -> list[Way]:
    """Return the ways out, the easiest first, without two that install the same."""
    ways = []
    for beside in answer.beside:
        if beside.kind == "successor":
            relaxed = _unmet(facts, answer.request, beside.stack)
            held = {e.product for e in beside.stack.packages}
            pinned = [pin.product for pin in answer.request.pins if facts.products[pin.product].role == "package"]
            gone = [label(facts, product) for product in pinned if product not in held]
            title = f"without {listed(gone)}: " if gone else "instead: "
            ways.append(Way(title + stack_name(facts, beside.stack), beside.stack, migrates=True, relaxed=relaxed))
    near_ones = sorted(_ordered(answer.nearest), key=lambda near: _gives_up_leaf(facts, near))
    ways += [Way(way_title(facts, answer.request, near), near.stack, relaxed=near.relaxed) for near in near_ones]
    distinct: dict[object, Way] = {}
    titles = set()
    for way in ways:
        if way.title not in titles:
            distinct.setdefault(main_builds(facts, way.stack), way)
        titles.add(way.title)
    return list(distinct.values())[:most]


def _gives_up_leaf(facts: Snapshot, near: Alternative) -> bool:
    """Return whether a pin on what is known only through requirements goes, rather than to a version that fits."""
    held = {element.product for element in near.stack.packages}
    return any(facts.products[product].role == "leaf" and product not in held for product in near.relaxed)


def main_builds(facts: Snapshot, stack: Stack) -> tuple[tuple[str, str], ...]:
    """Return the products and versions that a stack is about."""
    return tuple((e.product, e.version) for e in main_packages(facts, stack))


def _unmet(facts: Snapshot, request: Request, stack: Stack) -> tuple[str, ...]:
    """Return the products that were asked for and that a stack lacks, or has in another version."""
    numbers = {e.product: e.idx for e in stack.packages}
    pins = [
        pin for pin in request.pins if facts.products[pin.product].role in ("package", "companion", "leaf") and not pin.need
    ]
    moved = [pin.product for pin in pins if pin.product not in numbers or not pin.mask >> numbers[pin.product] & 1]
    return (*moved, *(product for product in request.bare if product not in numbers))


def _ordered(nearest: Sequence[Alternative]) -> list[Alternative]:
    """Return of each set of pins that move the nearest one first; where only one set moves, today's best one first."""
    groups: dict[tuple[str, ...], list[Alternative]] = {}
    for near in nearest:
        groups.setdefault(near.relaxed, []).append(near)
    if len(groups) == 1:
        firsts: dict[str, list[Alternative]] = {}
        for near in nearest:
            firsts.setdefault(near.where, []).append(near)
        sides = [firsts[where] for where in ("best", "same", "above", "below") if where in firsts]
        return [side[0] for side in sides] + [near for side in sides for near in side[1:]]
    for group in groups.values():
        group.sort(key=lambda near: _CLOSEST[near.where])
    longest = max((len(group) for group in groups.values()), default=0)
    return [group[n] for n in range(longest) for group in groups.values() if n < len(group)]


def way_title(facts: Snapshot, request: Request, near: Alternative) -> str:
    """Return what is kept and what changes: keep IPEX 2.8.0, move torch to 2.8.0."""
    roles, stack = facts.products, near.stack
    members = {e.product: e for e in stack.packages}
    moved = [p for p in near.relaxed if p in members]
    gone = [p for p in near.relaxed if roles[p].role in ("package", "leaf") and p not in members]
    kept = [build(facts, members[pin.product]) for pin in request.pins if pin.product in members and pin.product not in moved]
    changes = [f"move {build_move(facts, stack, p)}" for p in moved]
    changes += [f"without {label(facts, p)}" for p in gone]
    changes += [f"without {facts.features[p][0]}" for p in near.relaxed if roles[p].role == "feature"]
    changes += [_elsewhere(facts, stack, p) for p in near.relaxed if roles[p].role == "dimension"]
    if kept and moved:
        return f"keep {listed(kept)}, {listed(changes)}"
    if moved:
        return f"{_SIDES[near.where]}: {stack_name(facts, stack, request)}"
    return f"{listed(changes)}: {stack_name(facts, stack, request)}"


def build_move(facts: Snapshot, stack: Stack, product: str) -> str:
    """Return where a package moves: torch to 2.8.0."""
    return next(f"{label(facts, e.product)} to {e.version}" for e in stack.packages if e.product == product)


def _elsewhere(facts: Snapshot, stack: Stack, dimension: str) -> str:
    """Return the value that a dimension of the machine has to have instead."""
    values = {"python": stack.python, "os": stack.os, "arch": stack.arch}.get(dimension) or stack.known.get(dimension, ())
    if not values:  # whatever hardware there is: its processor will do
        return f"on {value(facts, 'device', stack.device)}"
    if dimension == "python":
        plain = [python for python in values if not is_free_threaded(python)]
        return f"use {label(facts, dimension)} {(plain or values)[-1]}"
    return f"use {value(facts, dimension, values[0])}" if dimension == "os" else f"use {label(facts, dimension)} {values[0]}"
