"""Answers for people: plain text that needs no colour and fits a terminal."""

import textwrap
from datetime import date
from typing import Any

from compatkb.engine.answer import Answer
from compatkb.engine.stacks import Stack
from compatkb.records import Request
from compatkb.rendering import commands, disputes, features, sentences
from compatkb.rendering.images import images_of
from compatkb.rendering.payload import claim_payload, stack_sources, unsettled
from compatkb.snapshot.read import Snapshot

VERDICTS = {
    "works": "works",
    "works-with-warnings": "works, with warnings",
    "likely": "likely, but at least one step is only inferred",
    "unknown": "unknown: the data cannot tell",
    "does-not-work": "does not work",
}
"""Verdicts as people read them."""
_SIDES = {
    "same": "of the same series",
    "below": "the nearest below",
    "above": "the nearest above",
    "best": "the best today",
}
_SHOWN = 3
_IMAGES = 4
_DISPUTES = 3
_WIDTH = 100
_TIED = "\N{NO-BREAK SPACE}"
_BREAKS = frozenset("\t\n\v\f\r")


def answer_text(facts: Snapshot, answer: Answer, *, why: bool = False, everything: bool = False) -> str:
    """Return the answer; three stacks are shown in full, the rest counted, unless `everything` is wanted."""
    request = answer.request
    day = date.fromordinal(request.as_of)
    lines = [
        f"{sentences.asked(request)}: {VERDICTS[answer.verdict]}",
        f"(as of {day}, data of {facts.meta['data_date']})",
    ]
    shown = answer.stacks if everything else _varied(answer.stacks)
    for number, stack in enumerate(shown, 1):
        lines += ["", *_stack(facts, stack, request, f"{number}. ", why=why)]
    left = len(answer.stacks) - len(shown)
    if left:
        lines += ["", f"{left} more for other Pythons, systems or versions; --all shows them"]
    if answer.causes:
        lines += ["", "Why not:"]
        for cause in answer.causes:
            lines += _wrapped("- ", sentences.cause(facts, cause, request))
            for row in disputes.of_cause(facts, cause, request)[: None if why else _DISPUTES]:
                lines += _dispute(row, "    ", why=why)
            for source in sentences.cause_sources(facts, cause, request)[: 8 if why else 3]:
                lines.append(f"    source: {_source(source)}")
    elif not answer.stacks:
        lines += [
            "",
            "Why not:",
            "- what is pinned of the platform excludes itself: no such OS, Python and glibc go together",
        ]
    if answer.nearest:
        lines += ["", "Nearest:"]
        names = {route.id: route.name for route in facts.routes}
        needs = {pin.product for pin in request.pins if pin.need}
        for number, near in enumerate(answer.nearest, 1):
            given = ", ".join(near.relaxed)
            what = "the need for" if set(near.relaxed) <= needs else "the pin on"
            over = f" over {names[near.stack.route]}" if near.where != "best" else ""
            lines += ["", f"{_SIDES[near.where].capitalize()}{over}, giving up {what} {given}:"]
            lines += _stack(facts, near.stack, request, f"{number}. ", why=why)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _varied(stacks: tuple[Stack, ...]) -> list[Stack]:
    """Return the first stacks, and among them the first of each route."""
    kept = list(stacks[:_SHOWN])
    routes = {stack.route for stack in kept}
    for stack in stacks[_SHOWN:]:
        if stack.route not in routes:
            routes.add(stack.route)
            kept[-1:] = [stack] if len(kept) == _SHOWN else [kept[-1], stack]
    return kept


def _stack(facts: Snapshot, stack: Stack, request: Request, head: str, *, why: bool) -> list[str]:
    runtimes = [e for e in stack.packages if facts.products[e.product].role == "leaf" and e.product not in stack.requested]
    main = [e for e in stack.packages if e not in runtimes]
    names = {route.id: route.name for route in facts.routes}
    lines = _wrapped(head, ", ".join(_tied(e.product, e.version) for e in main), len(head))
    pad = " " * len(head)
    lines += _wrapped(pad, f"{VERDICTS[stack.verdict]} — {names[stack.route]}, {stack.device}")
    platform = f"Python {sentences.ranges(stack.python, facts.grid['python'])}; {', '.join(stack.os)}; {', '.join(stack.arch)}"
    lines += _wrapped(pad, platform)
    for dimension, label in (
        ("hardware", "hardware"),
        ("gpu-driver", "driver"),
        ("oneapi", "oneAPI"),
        ("glibc", "glibc"),
    ):
        if values := stack.known.get(dimension):
            lines += _wrapped(f"{pad}{label}: ", ", ".join(values))
    for offered in stack.features:
        lines += _wrapped(f"{pad}feature: ", features.offered_words(facts, offered))
    if runtimes:
        few = runtimes if why or len(runtimes) <= 4 else runtimes[:3]
        more = "" if few is runtimes else f" and {len(runtimes) - len(few)} more (--why lists them)"
        lines += _wrapped(f"{pad}brings along: ", ", ".join(_tied(e.product, e.version) for e in few) + more)
    for warned in stack.warnings:
        word = "note" if warned.kind == "known-issue" else "warning"
        lines += _wrapped(f"{pad}{word} ({warned.kind}): ", sentences.warning(warned))
    disputed = disputes.of_stack(facts, stack, request.as_of)
    for row in () if why else disputed[:_DISPUTES]:
        lines += _dispute(row, pad, why=False)
    if not why and len(disputed) > _DISPUTES:
        lines.append(f"{pad}disputed: {len(disputed) - _DISPUTES} more points (--why shows them)")
    for sentence in unsettled(facts, stack)[: None if why else 3]:
        lines += _wrapped(f"{pad}open: ", sentence)
    steps = commands.pip_commands(facts, stack)
    lines += [f"{pad}$ {command}" for command in steps]
    if steps and (proof := commands.proof_command(facts, stack)):
        lines.append(f"{pad}$ {proof}")
    if not steps:
        lines.append(f"{pad}no install command: a package of this stack is on no index that the data know")
    images = images_of(facts, stack, request.as_of)
    if images:
        listed = sorted(images, key=lambda i: (not i["listed"], i["image"]))
        text = ", ".join(i["image"] + _marks(i) for i in listed[:_IMAGES])
        more = f" and {len(images) - _IMAGES} more" if len(images) > _IMAGES else ""
        lines += _wrapped(f"{pad}images: ", text + more)
    if why:
        lines += _why(facts, stack, pad)
        for row in disputed:
            lines += _dispute(row, pad, why=True)
    else:
        lines += [f"{pad}source: {_source(s)}" for s in stack_sources(facts, stack)[:2]]
    return lines


def _marks(image: dict[str, Any]) -> str:
    marks = ([] if image["listed"] else ["no longer listed"]) + (["disputed"] if image["disputes"] else [])
    return f" ({', '.join(marks)})" if marks else ""


def _why(facts: Snapshot, stack: Stack, pad: str) -> list[str]:
    lines = [f"{pad}why:"]
    for element in stack.packages:
        if element.product in stack.requested:
            lines.append(f"{pad}  {element.product} {element.version}")
            lines += [f"{pad}    source: {_source(s)}" for s in sentences.element_sources(facts, element)]
    words = ("", " (inferred)", " (not known)")
    told: set[str] = set()
    for link in stack.links:
        if not {link.one, link.other} & set(stack.requested) or set(link.claims) <= told:
            continue
        told |= set(link.claims)
        lines.append(f"{pad}  {link.one} with {link.other}{words[link.level]}")
        for claim in link.claims:
            said = claim_payload(facts, claim)
            when = f" when {said['when']}" if said["when"] else ""
            lines += _wrapped(
                f"{pad}    ", f"{said['of']} {said['kind']} {sentences.terms(said['to'])}{when} [{said['basis']}]"
            )
            if "note" in said:
                lines += _wrapped(f"{pad}    note: ", said["note"])
            lines += [f"{pad}      source: {source['url'] or source['text']}" for source in said["sources"]]
    return lines


def _dispute(row: dict[str, Any], pad: str, *, why: bool) -> list[str]:
    """Return the mark of a dispute, or with `why` both its sides, wrapped."""
    if not why:
        return _wrapped(f"{pad}disputed: ", disputes.mark(row))
    head, *rest = disputes.lines(row)
    lines = _wrapped(f"{pad}disputed: ", head)
    for line in rest:
        lines += [f"{pad}{line}"] if line.startswith("    ") else _wrapped(f"{pad}  ", line.strip())
    return lines


def _source(source: sentences.Cited) -> str:
    return source[1] or source[0]


def _wrapped(head: str, text: str, hang: int | None = None) -> list[str]:
    """Wrap at blanks, names and their versions kept together; continuation lines hang under the text."""
    line = head + text
    if len(line) <= _WIDTH and line.strip() and _BREAKS.isdisjoint(line):  # as most are, and nothing to do
        return [line.rstrip(" ").replace(_TIED, " ")]
    indent = len(head) - len(head.lstrip()) + 2 if hang is None else hang
    lines = textwrap.wrap(line, _WIDTH, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
    return [line.replace(_TIED, " ") for line in lines] or [head]


def _tied(name: str, version: str) -> str:
    return f"{name}{_TIED}{version}"
