"""What a screen and a page say alike of an answer: its sentence, what it needs, what stands beside it, its causes in order."""

from compatkb.engine.answer import Answer, Beside
from compatkb.engine.conflicts import Cause
from compatkb.engine.stacks import Stack
from compatkb.output import messages
from compatkb.output.labels import (
    HARDWARE,
    asked,
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
