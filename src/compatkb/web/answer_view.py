"""An answer as the page shows it: one sentence, what to paste, what comes of it, what must be there, ways out of a no."""

from datetime import date
from typing import Any, NamedTuple

from compatkb.engine.answer import Answer, Near
from compatkb.engine.stacks import Stack
from compatkb.errors import CompatkbError
from compatkb.output import commands, disputes, messages
from compatkb.output.images import images_of
from compatkb.output.payload import doubts, stack_sources, support
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element
from compatkb.web import systems
from compatkb.web.asker import DENIED, Asker
from compatkb.web.installers import Recipe, proof, recipes
from compatkb.web.questions import Question, question_of

WORDS = {
    "works": ("●", "Works."),
    "works-with-warnings": ("▲", "Works, with warnings."),
    "likely": ("◆", "Likely."),
    "unknown": ("?", "Unknown."),
    DENIED: ("✕", "Does not work."),
}
"""The sign and the word of each verdict."""
SUPPORTS = {
    "observed": "Stated by the makers and seen in dated, repeatable runs.",
    "stated": "Stated by the makers and seen on the index.",
    "inferred": "At least one step is only inferred.",
    "unknown": "The data cannot tell.",
}
CPU = "cpu"
MOST_WAYS, MOST_OTHERS = 3, 6
_PLACE = ("os", "arch", "python", "device")
Source = tuple[str, str | None]


class Package(NamedTuple):
    """A package of a stack, with the release whose page tells more."""

    name: str
    version: str
    product: str = ""
    release: str = ""


class Way(NamedTuple):
    """A way out of a no: what is kept, what is used instead, and the question that asks for it."""

    title: str
    kept: str
    verdict: str
    pins: str
    question: Question


class Reason(NamedTuple):
    """A sentence with its sources."""

    text: str
    sources: tuple[Source, ...] = ()
    kind: str = ""


class View(NamedTuple):
    """Everything that the page shows of an answer."""

    verdict: str
    sign: str
    word: str
    title: str
    sure: str
    sources: tuple[Source, ...]
    recipes: list[Recipe]
    proof: str
    packages: list[Package]
    runtimes: list[Package]
    needs: list[tuple[str, str]]
    warnings: list[Reason]
    unsettled: list[str]
    disputes: list[str]
    images: list[str]
    causes: list[Reason]
    ways: list[Way]
    others: list[dict[str, Any]]
    as_of: str
    series: str


def view_of(asker: Asker, question: Question, answer: Answer) -> View:
    """Return what the page shows of the answer to a question."""
    facts, request = asker.facts, answer.request
    stack = answer.stacks[0] if answer.stacks else None
    usable = stack is not None and answer.verdict != "unknown"
    sign, word = WORDS[answer.verdict]
    return View(
        answer.verdict, sign, word,
        title=_title(asker, question, stack if usable else None),
        sure=SUPPORTS[support(facts, stack)] if stack and usable else "",
        sources=stack_sources(facts, stack) if stack else (),
        recipes=recipes(facts, stack, stack.os) if stack and usable else [],
        proof=proof(facts, stack) if stack and usable else "",
        packages=_packages(facts, stack) if stack else [],
        runtimes=_runtimes(facts, stack) if stack else [],
        needs=_needs(facts, stack) if stack else [],
        warnings=[Reason(messages.warning(facts, w), messages.warning_sources(facts, w), w.kind) for w in stack.warnings]
        if stack else [],
        unsettled=messages.unsettled(facts, stack) if stack and usable else [],
        disputes=[disputes.mark(row) for row in disputes.of_stack(facts, stack, request.as_of)] if stack else [],
        images=[image["image"] for image in images_of(facts, stack, request.as_of) if image["listed"]] if stack else [],
        causes=_causes(facts, answer),
        ways=_ways(asker, question, answer) if not usable else [],
        others=[_other(facts, other) for other in (answer.stacks[1:] if usable else ())][:MOST_OTHERS],
        as_of=date.fromordinal(request.as_of).isoformat(),
        series=_series(facts, stack),
    )  # fmt: skip


def _causes(facts: Snapshot, answer: Answer) -> list[Reason]:
    causes = [
        Reason(messages.cause(facts, cause, answer.request), messages.cause_sources(facts, cause, answer.request))
        for cause in answer.causes
    ]
    causes += [
        Reason(row["message"], tuple((source["text"], source["url"]) for source in row["sources"][:3]))
        for row in doubts(facts, answer)
    ]
    return causes


def asked_words(asker: Asker, question: Question, stack: Stack | None = None) -> str:
    """Return the question in words; with a stack, the packages in its versions."""
    return _title(asker, question, stack)


def _title(asker: Asker, question: Question, stack: Stack | None) -> str:
    facts = asker.facts
    request = question.request(facts, asker.clock)
    found: list[str] = []
    pins = {pin.product: pin.text for pin in request.pins if not pin.need}
    if stack:
        mine = [e for e in stack.packages if e.product in stack.requested and facts.products[e.product].role != "leaf"]
        found = [f"{facts.products[e.product].name} {e.release}" for e in mine if e.product not in _PLACE]
    else:
        for product, text in pins.items():
            if facts.products[product].role in ("package", "companion", "leaf"):
                found.append(f"{facts.products[product].name} {text.removeprefix(product).removeprefix('==')}")
        found += [facts.products[product].name for product in request.bare]
    what = " with ".join(filter(None, (found[0] if found else "Anything", ", ".join(found[1:]))))
    if "hardware" in pins:
        on = systems.label(facts, "hardware", pins["hardware"])
    else:
        on = " or ".join(systems.label(facts, "device", device) for device in (stack and (stack.device,)) or request.devices)
    parts = [f"{what} on {on}"]
    for product, text in sorted(pins.items(), key=lambda pin: pin[0] != "os"):
        if product == "os":
            parts.append(systems.label(facts, "os", text))
        elif product == "python":
            parts.append(f"Python {text.removeprefix('python').removeprefix('==')}")
        elif facts.products[product].role == "dimension" and product != "hardware":
            parts.append(f"{facts.products[product].name} {text.removeprefix(product).removeprefix('==')}")
    needs = [pin.product for pin in request.pins if pin.need]
    return ", ".join(parts) + (f", with {' and '.join(needs)}" if needs else "")


def _packages(facts: Snapshot, stack: Stack) -> list[Package]:
    shown = [e for e in stack.packages if facts.products[e.product].role != "leaf" or e.product in stack.requested]
    return [_package(facts, e) for e in shown]


def _runtimes(facts: Snapshot, stack: Stack) -> list[Package]:
    return [
        _package(facts, e)
        for e in stack.packages
        if facts.products[e.product].role == "leaf" and e.product not in stack.requested
    ]


def _package(facts: Snapshot, element: Element) -> Package:
    return Package(facts.products[element.product].name, element.version, element.product, element.release)


def _needs(facts: Snapshot, stack: Stack) -> list[tuple[str, str]]:
    found = [("Python", messages.ranges(stack.python, facts.grid["python"]))]
    found.append(("System", ", ".join(systems.label(facts, "os", system) for system in stack.os)))
    for product in ("gpu-driver", "glibc", "oneapi", "hardware"):
        if product not in facts.products:
            continue
        known = stack.known.get(product, ())
        if known:
            names = [systems.label(facts, product, text) if product == "hardware" else text for text in known]
            found.append((facts.products[product].name.capitalize() if product == "hardware" else facts.products[product].name,
                          ", ".join(name.removeprefix("Intel ") for name in names)))  # fmt: skip
        elif product == "gpu-driver" and stack.device != CPU:
            found.append(("GPU driver", "a current one; no minimum is stated"))
    found += [(facts.products[product].name, spec) for product, spec in stack.bounds if spec]
    return found


def _series(facts: Snapshot, stack: Stack | None) -> str:
    product = systems.main_product(facts)
    element = next((e for e in stack.packages if e.product == product), None) if stack else None
    return ".".join(element.release.split(".")[: facts.products[product].series]) if element else ""


def _other(facts: Snapshot, stack: Stack) -> dict[str, Any]:
    made = recipes(facts, stack, stack.os)
    return {
        "verdict": stack.verdict,
        "word": WORDS[stack.verdict][1].rstrip("."),
        "packages": ", ".join(f"{p.name} {p.version}" for p in _packages(facts, stack)),
        "place": f"{', '.join(systems.label(facts, 'os', s) for s in stack.os)}; Python "
        + messages.ranges(stack.python, facts.grid["python"]),
        "command": made[0].text if made else "",
    }


def _ways(asker: Asker, question: Question, answer: Answer) -> list[Way]:
    """Return at most three ways out; each was asked itself, so that its page says what is said here."""
    facts = asker.facts
    normal = question_of(answer.request, question)
    found: dict[Question, Way] = {}
    for near in answer.nearest:
        asked = _asked_near(facts, normal, near)
        if asked is None or asked in found:
            continue
        try:
            other = asker.answer(asked)
        except CompatkbError:
            continue
        if other.verdict in ("unknown", DENIED) or not other.stacks:
            continue
        stack = other.stacks[0]
        kept = [
            label for pin in answer.request.pins
            if pin.product not in near.relaxed and (label := _pin_words(facts, pin.product, pin.text))
        ]  # fmt: skip
        changed = [_change(facts, product, asked, stack) for product in near.relaxed]
        pins = " ".join(pin for step in commands.steps_of(facts, stack) for pin in step.pins)
        found[asked] = Way(" and ".join(filter(None, changed)), ", ".join(kept), other.verdict, pins, asked)
    return list(found.values())[:MOST_WAYS]


def _asked_near(facts: Snapshot, question: Question, near: Near) -> Question | None:
    """Return the question with what is given up fixed to what is near; None where the form cannot ask it."""
    for product in near.relaxed:
        if product in dict(question.options):
            question = question.fix(product, _near_value(facts, product, near.stack))
        else:
            kept = tuple(word for word in question.words if not word.startswith(product))
            if kept == question.words and product not in question.needs:
                return None
            needs = tuple(need for need in question.needs if need != product)
            question = question._replace(words=kept, needs=needs)
    return question._replace(devices=(near.stack.device,))


def _near_value(facts: Snapshot, product: str, stack: Stack) -> str:
    """Return what to ask for in place of a pin; empty for anything."""
    element = next((e for e in stack.packages if e.product == product), None)
    if element is not None:
        return ".".join(element.release.split(".")[: facts.products[product].series or 1])
    if product == "python":
        return next((p for p in reversed(stack.python) if not p.endswith("t")), "")
    if product == "os":
        return stack.os[0] if stack.os else ""
    known = stack.known.get(product, ())
    return known[0] if product in ("hardware", "gpu-driver") and known else ""


def _change(facts: Snapshot, product: str, asked: Question, stack: Stack) -> str:
    element = next((e for e in stack.packages if e.product == product), None)
    text = element.release if element else asked.version_of(product)
    return _pin_words(facts, product, text) if text else f"any {facts.products[product].name}"


def _pin_words(facts: Snapshot, product: str, text: str) -> str:
    text = text.removeprefix(product).removeprefix("==")
    if product in ("os", "hardware", "device"):
        return systems.label(facts, product, text)
    return f"{facts.products[product].name} {text}"
