"""A stack in a few fields, for commands that propose one beside their own answer."""

from datetime import date
from typing import Any

from compatkb.doctor.successors import SuccessorStack
from compatkb.engine.answer import Answer
from compatkb.engine.stacks import Stack
from compatkb.output.payload import stack_payload
from compatkb.store.reader import Snapshot
from compatkb.store.records import Request

FIELDS = ("verdict", "support", "device", "route", "packages", "python", "os", "install", "install_uv", "proof", "warnings")
"""What programs get of a proposed stack; `resolve --format json` has the rest."""


def stack_brief(facts: Snapshot, stack: Stack, request: Request) -> dict[str, Any]:
    """Return a stack for programs, in the fields that `resolve` has, without those that take many lookups."""
    content = stack_payload(facts, stack, request)
    return {name: content[name] for name in FIELDS}


def request_of(answer: Answer | None, day: date) -> Request:
    """Return the request that an answer is to; where there is none, one of that day that fixes nothing."""
    return answer.request if answer else Request((), (), (), day.toordinal(), day.toordinal(), 1)


def instead_payload(facts: Snapshot, instead: SuccessorStack | None, request: Request) -> dict[str, Any] | None:
    """Return what takes the place of ended products, for programs."""
    return instead and {"ended": list(instead.ended), "stack": stack_brief(facts, instead.stack, request)}
