"""A stack in a few lines, for commands that propose one beside their own answer."""

import textwrap
from typing import Any

from compatkb.engine.stacks import Stack
from compatkb.records import Request
from compatkb.rendering import commands, sentences
from compatkb.rendering.payload import stack_payload
from compatkb.replacing import Instead
from compatkb.snapshot.read import Snapshot

WIDTH = 100
FIELDS = ("verdict", "support", "device", "route", "packages", "python", "os", "install", "install_uv", "proof", "warnings")
"""What programs get of a proposed stack; `resolve --format json` has the rest."""


def stack_lines(facts: Snapshot, stack: Stack) -> list[str]:
    """Return the packages of a stack, its verdict, where it holds, its warnings and its commands."""
    main = [e for e in stack.packages if facts.products[e.product].role != "leaf" or e.product in stack.requested]
    names = {route.id: route.name for route in facts.routes}
    lines = wrapped("", ", ".join(f"{e.product} {e.version}" for e in main))
    python = sentences.ranges(stack.python, facts.grid["python"])
    lines += wrapped("", f"{stack.verdict} — {names[stack.route]}, {stack.device}; Python {python}; {', '.join(stack.os)}")
    for warned in stack.warnings:
        if warned.kind != "known-issue":
            lines += wrapped(f"warning ({warned.kind}): ", sentences.warning(warned))
    steps = commands.pip_commands(facts, stack)
    lines += [f"$ {command}" for command in steps]
    if not steps:
        lines.append("no install command: a package of this stack is on no index that the data know")
    elif proof := commands.proof_command(facts, stack):
        lines.append(f"$ {proof}")
    return lines


def stack_brief(facts: Snapshot, stack: Stack, request: Request) -> dict[str, Any]:
    """Return a stack for programs, in the fields that `resolve` has, without those that take many lookups."""
    content = stack_payload(facts, stack, request)
    return {name: content[name] for name in FIELDS}


def instead_lines(facts: Snapshot, instead: Instead | None) -> list[str]:
    """Return what takes the place of ended products, if anything."""
    if instead is None:
        return []
    head = f"In place of {' and '.join(instead.ended)}, which {'have' if len(instead.ended) > 1 else 'has'} ended:"
    return [*wrapped("", head), *(f"  {line}" for line in stack_lines(facts, instead.stack)), ""]


def instead_payload(facts: Snapshot, instead: Instead | None, request: Request) -> dict[str, Any] | None:
    """Return what takes the place of ended products, for programs."""
    return instead and {"ended": list(instead.ended), "stack": stack_brief(facts, instead.stack, request)}


def wrapped(head: str, text: str, indent: str = "") -> list[str]:
    """Return a text in lines that fit a terminal, the later ones indented by two more."""
    return textwrap.wrap(
        f"{indent}{head}{text}", WIDTH, subsequent_indent=f"{indent}  ", break_long_words=False, break_on_hyphens=False
    ) or [f"{indent}{head}"]
