"""Answers as the page needs them: what the command line's JSON says, with every part that answers share kept once."""

import json
import re
from functools import lru_cache
from typing import Any, NamedTuple

from compatkb.engine.answer import Answer, resolve
from compatkb.engine.causes import Cause
from compatkb.engine.stacks import Stack
from compatkb.records import Request
from compatkb.rendering import sentences
from compatkb.rendering.payload import cause_payload, doubts, stack_payload
from compatkb.snapshot.read import Snapshot
from compatkb.web.forms import forms_of, python_of

SYSTEM, PYTHON, HARDWARE, NEWEST = "\x01", "\x02", "\x04", "\x03"
"""Stand for what a question names, and for the newest Python of a stack, so that questions can share an answer."""
NAMED = (("os", SYSTEM), ("python", PYTHON), ("hardware", HARDWARE))
HEAD = ("python", "os", "unsettled", "base")
"""What differs between stacks that share their evidence; `base` is the Python for forms that need a single one."""


class Packed(NamedTuple):
    """An answer whose parts are JSON texts, with stand-ins for what the question names."""

    verdict: str
    stacks: tuple[tuple[str, str], ...]  # body and head
    causes: tuple[str, ...]
    nearest: tuple[tuple[tuple[str, ...], str, tuple[str, str]], ...]  # what was given up, where, the stack


class Answering:
    """Answers requests; parts of answers are worked out once."""

    def __init__(self, facts: Snapshot) -> None:
        self.facts = facts
        self._bodies: dict[object, str] = {}
        self._doubted: dict[object, bool] = {}
        self._packed: dict[object, str] = {}

    def answer(self, request: Request) -> Packed:
        """Return the answer: its parts have the fields of docs/json.md, and stacks have more forms."""
        found = resolve(self.facts, request)
        named = tuple(pin.text if (pin := request.pin(field)) else "" for field, _ in NAMED)
        return Packed(
            found.verdict,
            tuple(self._stack(request, stack, named) for stack in found.stacks),
            tuple(self._causes(found, named)),
            tuple((near.relaxed, near.where, self._stack(request, near.stack, named)) for near in found.nearest),
        )

    def _stack(self, request: Request, stack: Stack, named: tuple[str, ...]) -> tuple[str, str]:
        """Return the body of a stack, and what differs between stacks that share their evidence."""
        body = self._bodies.get(stack.trace)
        if body is None:
            content = {**stack_payload(self.facts, stack, request), **forms_of(self.facts, stack, NEWEST)}
            self._doubted[stack.trace] = bool(content["unsettled"])
            for name in HEAD:
                content.pop(name, None)
            body = self._bodies[stack.trace] = pack(content, ("", "", named[2]))
        key = (stack.trace, stack.python, stack.os, named)
        if key not in self._packed:
            told = sentences.unsettled(self.facts, stack) if self._doubted[stack.trace] else []
            self._packed[key] = pack([list(stack.python), list(stack.os), told, python_of(stack)], named)
        return body, self._packed[key]

    def _causes(self, found: Answer, named: tuple[str, ...]) -> list[str]:
        if found.causes or not found.stacks or found.verdict != "unknown":
            return [self._cause(found.request, cause, named) for cause in found.causes]
        return [pack(doubt, named) for doubt in doubts(self.facts, found)]

    def _cause(self, request: Request, cause: Cause, named: tuple[str, ...]) -> str:
        key = (
            cause.blocker,
            cause.device,
            cause.route,
            cause.certain,
            cause.refused,
            cause.elements,
            cause.edges,
            request.pins,
        )
        if key not in self._packed:
            self._packed[key] = pack(cause_payload(self.facts, cause, request), named)
        return self._packed[key]


def pack(content: Any, named: tuple[str, ...]) -> str:
    """Return a part of an answer as JSON in which the system and the Python that a question names have stand-ins."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    for value, (_, mark) in zip(named, NAMED, strict=True):
        if value and value in text:
            text = _word(value).sub(json.dumps(mark)[1:-1].replace("\\", r"\\"), text)
    return text


def words_in(text: str, names: tuple[str, ...]) -> frozenset[str]:
    """Return the names that a text has as words, and those inside of others that it has."""
    found = set(_any_word(names).findall(text))
    return frozenset(name for name in names if any(name in longer for longer in found))


@lru_cache(maxsize=8)
def _any_word(names: tuple[str, ...]) -> re.Pattern[str]:
    every = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![\w.])(?:{every})(?!\w|\.\d)")


@lru_cache(maxsize=1024)
def _word(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.]){re.escape(value)}(?!\w|\.\d)")
