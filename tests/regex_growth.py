"""Counts the steps that the regular expressions of all readers take, to find those that grow faster than their text.

A matcher that backtracks as `re` does runs each expression over repeated pieces of two lengths; no clock is read.
"""

import ast
import importlib
import re
import re._constants as c
import re._parser as parser
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent / "src" / "compatkb"
READERS = ("check", "parsers", "migrate", "validate", "refresh", "doctor", "docgen", "authoring", "core", "request")
SIZES = ((40, 80), (200, 400))
"""Pairs of lengths; what only the shorter pair sees is bounded, as `{0,60}` is."""
MOST_STEPS = 200_000
MOST_TIMES = 100
BOUNDED = {
    r"[\s,]+(?![^<>=!~^]*$)|,\s*": "of a clause of at most MOST_LETTERS",
    r"(?:[a-z][a-z0-9_]{0,30}(?:[-.][a-z][a-z0-9_]{0,20}){0,4}[ :=@('*-]{1,4}){1,3}$": "of the 160 letters before a number",
}
"""Expressions that grow and whose texts are short."""
FASTER = 2.9
"""Steps on a text of twice the length are at most so many times as many; what is quadratic takes four times."""
PIECES = (
    " ",
    "\t",
    "\n",
    " \n",
    "a",
    "A",
    "1",
    "1.",
    "a.",
    "a-",
    "a/",
    "/a",
    "_",
    "[",
    "(",
    "<",
    "`",
    "'",
    '"',
    "\\",
    "|",
    "#",
    "=",
    "-",
    ",",
    "x1 ",
)
_OPERATIONS = ("match", "search", "fullmatch", "sub", "split", "findall", "finditer")


class Expression(NamedTuple):
    """A regular expression where it stands, and what it is asked for."""

    place: str
    pattern: str
    flags: int
    operation: str


class TooManyError(Exception):
    """The steps are beyond counting."""


class Counter:
    """A backtracking matcher over the tree that `re` compiles; every attempt at one part is a step."""

    def __init__(self, expression: Expression) -> None:
        tree = parser.parse(expression.pattern, expression.flags)
        self.tree = _plain(tree)
        self.flags = int(tree.state.flags)
        self.hits: dict[tuple[Any, int, str], bool] = {}
        self.whole = expression.operation == "fullmatch"
        self.scans = expression.operation not in ("match", "fullmatch")
        self.steps = 0

    def count(self, text: str) -> int:
        """Return the steps for a text, all starts together where the expression is searched for."""
        self.steps, at = 0, 0
        self.groups: dict[int, tuple[int, int]] = {}
        while at <= len(text):
            end = self._run(self.tree, 0, text, at, (lambda e: e if e == len(text) else None) if self.whole else lambda e: e)
            if not self.scans:
                break
            at = max(at + 1, end) if end is not None else at + 1
        return self.steps

    def _run(self, nodes: list[Any], number: int, text: str, at: int, then: Callable[[int], int | None]) -> int | None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooManyError
        if number == len(nodes):
            return then(at)
        operation, value = nodes[number]

        def onward(end: int) -> int | None:
            return self._run(nodes, number + 1, text, end, then)

        if operation in (c.LITERAL, c.NOT_LITERAL, c.IN, c.ANY, c.CATEGORY):
            return onward(at + 1) if at < len(text) and self._one(operation, value, text[at]) else None
        if operation in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
            return self._repeat(operation, value, text, at, onward)
        if operation is c.SUBPATTERN:
            return self._run(value, 0, text, at, onward)
        if operation is c.ATOMIC_GROUP:
            end = self._run(value, 0, text, at, lambda e: e)
            return None if end is None else onward(end)
        if operation is c.BRANCH:
            return next((e for part in value if (e := self._run(part, 0, text, at, onward)) is not None), None)
        if operation in (c.ASSERT, c.ASSERT_NOT):
            starts = [at] if value[0] > 0 else [at - value[2]]
            ends = [s >= 0 and self._run(value[1], 0, text, s, lambda e: e) is not None for s in starts]
            return onward(at) if any(ends) == (operation is c.ASSERT) else None
        if operation is c.AT:
            return onward(at) if self._at(value, text, at) else None
        return onward(at)  # a reference to a group: as if it were empty

    def _repeat(self, operation: Any, value: Any, text: str, at: int, onward: Callable[[int], int | None]) -> int | None:
        least, most, body = value
        if len(body) == 1 and body[0][0] in (c.LITERAL, c.NOT_LITERAL, c.IN, c.ANY):
            end = at
            if operation is c.MIN_REPEAT:
                while True:
                    self.steps += 1
                    if end - at >= least and (found := onward(end)) is not None:
                        return found
                    if end - at >= most or end >= len(text) or not self._one(*body[0], text[end]):
                        return None
                    end += 1
            while end - at < most and end < len(text) and self._one(*body[0], text[end]):
                self.steps += 1
                end += 1
            while end - at >= least:
                if (found := onward(end)) is not None or operation is c.POSSESSIVE_REPEAT:
                    return found
                end -= 1
            return None
        if operation is c.POSSESSIVE_REPEAT:
            times = 0
            while times < most and (end := self._run(body, 0, text, at, lambda e: e)) is not None and end > at:
                at, times = end, times + 1
            return onward(at) if times >= least else None

        def more(times: int, start: int) -> int | None:
            def again(end: int) -> int | None:
                return more(times + 1, end) if end > start or times < least else None

            inner = times < most and not (times >= least and start >= len(text))
            if operation is c.MIN_REPEAT and times >= least and (found := onward(start)) is not None:
                return found
            if inner and (found := self._run(body, 0, text, start, again)) is not None:
                return found
            return onward(start) if operation is c.MAX_REPEAT and times >= least else None

        return more(0, at)

    def _one(self, operation: Any, value: Any, letter: str) -> bool:
        key = (operation, id(value), letter)
        if key not in self.hits:
            self.hits[key] = self._is_hit(operation, value, letter)
        return self.hits[key]

    def _is_hit(self, operation: Any, value: Any, letter: str) -> bool:
        if operation is c.ANY:
            return letter != "\n" or bool(self.flags & re.DOTALL)
        if operation in (c.LITERAL, c.NOT_LITERAL):
            same = chr(value) == letter or (bool(self.flags & re.IGNORECASE) and chr(value).lower() == letter.lower())
            return same == (operation is c.LITERAL)
        if operation is c.CATEGORY:
            return _in_category(value, letter)
        negated = value[0][0] is c.NEGATE
        letters = {letter, letter.lower(), letter.upper()} if self.flags & re.IGNORECASE else {letter}
        return any(_among(part, one) for part in value[negated:] for one in letters) != negated

    def _at(self, value: Any, text: str, at: int) -> bool:
        if value in (c.AT_BEGINNING, c.AT_BEGINNING_STRING):
            return at == 0 or (value is c.AT_BEGINNING and bool(self.flags & re.MULTILINE) and text[at - 1] == "\n")
        if value in (c.AT_END, c.AT_END_STRING):
            return at == len(text) or (value is c.AT_END and bool(self.flags & re.MULTILINE) and text[at] == "\n")
        beside = [0 <= n < len(text) and _in_category(c.CATEGORY_WORD, text[n]) for n in (at - 1, at)]
        return (beside[0] != beside[1]) == (value is c.AT_BOUNDARY)


def _plain(nodes: Any) -> list[tuple[Any, Any]]:
    """Return what `re` compiled as plain lists, which are quick to walk; of a lookbehind its width, too."""
    plain = []
    for operation, value in nodes:
        if operation in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
            value = (*value[:2], _plain(value[2]))
        elif operation is c.SUBPATTERN:
            value = _plain(value[3])
        elif operation is c.ATOMIC_GROUP:
            value = _plain(value)
        elif operation is c.BRANCH:
            value = [_plain(part) for part in value[1]]
        elif operation in (c.ASSERT, c.ASSERT_NOT):
            value = (value[0], _plain(value[1]), value[1].getwidth()[0])
        plain.append((operation, value))
    return plain


def _among(part: tuple[Any, Any], letter: str) -> bool:
    kind, value = part
    if kind is c.LITERAL:
        return ord(letter) == value
    return value[0] <= ord(letter) <= value[1] if kind is c.RANGE else _in_category(value, letter)


def _in_category(value: Any, letter: str) -> bool:
    name = str(value)
    found = letter.isdigit() if "DIGIT" in name else letter.isspace() if "SPACE" in name else letter.isalnum() or letter == "_"
    return found != ("NOT" in name)


def expressions() -> Iterator[Expression]:
    """Yield the regular expressions of the readers, each once for each thing that it is asked for."""
    seen = set()
    files = [file for name in READERS for file in sorted((ROOT / name).rglob("*.py"))]
    for file in files:
        for expression in _of_file(file):
            if expression[1:] not in seen:
                seen.add(expression[1:])
                yield expression


def _of_file(file: Path) -> Iterator[Expression]:
    text = file.read_text("utf-8")
    named = vars(
        importlib.import_module(
            ".".join(("compatkb", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        )
    )
    place = file.relative_to(ROOT).as_posix()
    for call in ast.walk(ast.parse(text)):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr not in _OPERATIONS:
            continue
        holder = call.func.value
        if isinstance(holder, ast.Name) and isinstance(pattern := named.get(holder.id), re.Pattern):
            if isinstance(pattern.pattern, str):  # those over bytes read what we made ourselves
                yield Expression(f"{place}:{call.lineno}", pattern.pattern, pattern.flags & ~re.UNICODE, call.func.attr)
        elif isinstance(holder, ast.Name) and holder.id == "re" and call.args:
            try:
                value = eval(compile(ast.Expression(call.args[0]), "x", "eval"), dict(named))  # constants of our own code
            except Exception:
                continue  # made of local names
            pattern = value if isinstance(value, re.Pattern) else re.compile(value)
            if isinstance(pattern.pattern, str):
                yield Expression(f"{place}:{call.lineno}", pattern.pattern, pattern.flags & ~re.UNICODE, call.func.attr)


def _repeated(nodes: list[tuple[Any, Any]], times: int = 1) -> Iterator[tuple[Any, Any]]:
    """Yield the letters that may be taken more than MOST_TIMES in a row: nothing else grows with a text."""
    for operation, value in nodes:
        if operation in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
            yield from _repeated(value[2], times * value[1])
        elif operation in (c.SUBPATTERN, c.ATOMIC_GROUP):
            yield from _repeated(value, times)
        elif operation is c.BRANCH:
            for part in value:
                yield from _repeated(part, times)
        elif operation in (c.ASSERT, c.ASSERT_NOT):
            yield from _repeated(value[1], times)
        elif times > MOST_TIMES and operation is not c.AT:
            yield operation, value


def grows(expression: Expression) -> str | None:
    """Return a piece whose repetition takes faster growing steps, None where none of those that are tried does."""
    runs = re.findall(r"[A-Za-z#<!:/=. -]{3,}", re.sub(r"\\.|\(\?[a-z:!=<]+", " ", expression.pattern))
    heads = sorted({run.strip()[:12] for run in runs} - {""})[:4]
    counter = Counter(expression)
    repeated = [*_repeated(counter.tree)]
    for piece in (*PIECES, *heads, *(f"{head} " for head in heads)):
        if not any(
            operation is c.GROUPREF or counter._one(operation, value, one) for operation, value in repeated for one in piece
        ):
            continue
        for head in ("", *heads):
            if all(_is_faster(counter, head, piece, sizes) for sizes in SIZES):
                return f"{head}{piece}*"
    return None


def _is_faster(counter: Counter, head: str, piece: str, sizes: tuple[int, int]) -> bool:
    try:
        first, second = (partial(counter.count, f"{head}{piece * size}\u00a7") for size in sizes)
        return (steps := second()) > 600 and steps > FASTER * first()
    except (TooManyError, RecursionError):
        return True


def growing() -> list[str]:
    """Return the expressions of the readers whose steps grow faster than their text, with a piece that shows it."""
    found = []
    for one in expressions():
        piece = None if one.pattern in BOUNDED else grows(one)
        if piece is not None:
            found.append(f"{one.place} {one.operation} {piece!r} {one.pattern[:120]}")
    return found
