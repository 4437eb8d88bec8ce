"""Finds what a Python text uses of discontinued products: names, values, modules loaded by name."""

import ast
import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass

from compatkb.check.migration_rules import BACKEND, CALL, HINT, IMPORT, NONE
from compatkb.check.rules import CheckRule
from compatkb.migrate.guide import ArgumentPosition, Guide, NameReplacement, fitting
from compatkb.migrate.syntax import Chain, PythonSource

_LOADS = ("import_module", "__import__")
_ASKS = re.compile(
    r"find_spec|find_loader|importorskip|version|distribution|metadata|(?:_?is|has|check|get|require)_\w+"
    r"|(?=\w+\Z)\w*?(?:available|installed)\w*"
)


@dataclass(frozen=True)
class Use:
    """Something of a product in use, from `start` to `end` of the text."""

    product: str
    rule: CheckRule
    start: int
    end: int
    message: str
    fix: str | None
    sources: tuple[str, ...]
    root: str = ""  # the imported name that leads to it; empty where none does
    asked: bool = False  # it is only asked whether the product is there


def devices_of(code: PythonSource, known: frozenset[str]) -> frozenset[str]:
    """Return the devices that a text names: in strings such as `xpu:0`, or as parts of names such as `torch.xpu`."""
    devices: set[str] = set()
    for node in code.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            head = node.value.partition(":")[0]
            parent = code.parents.get(node)
            if head in known and not (isinstance(parent, ast.keyword) and parent.arg == "map_location"):
                devices.add(head)
    parts = (chain.meaning.split(".") for chain in code.chains)
    return frozenset(devices | {part[1] for part in parts if len(part) > 1 and part[1] in known})


def uses_of(code: PythonSource, guide: Guide, device: str | None) -> Iterator[Use]:
    """Yield what a text uses; `device` is the one that it runs on, None where that is open."""
    seen: set[tuple[int, int, str]] = set()
    for chain in code.chains:
        use = _named(code, guide, chain)
        if use and _is_asked(code, chain):
            use = dataclasses.replace(use, asked=True)
        if use and (key := (use.start, use.end, use.rule.id)) not in seen:
            seen.add(key)
            yield use
    calls = _Calls(code, guide)
    for node in code.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            if text in guide.modules:
                yield from _asked(code, guide, node, text)
            elif any(part.rpartition(":")[2] in guide.values for part in text.split(",")):
                yield from _value(code, guide, calls, node, text, device)


# names


def _named(code: PythonSource, guide: Guide, chain: Chain) -> Use | None:
    for meaning, _ in reversed(chain.nodes):
        if replacement := guide.names.get(meaning):
            return _replaced(code, guide, chain, replacement)
    module = module_of(guide, chain.meaning)
    if module is None:
        return None
    product = guide.modules[module]
    start, end = code.span(chain.nodes[-1][1])
    name = guide.facts.products[product].name
    what = "it is used as a whole" if chain.meaning == module else "no documented replacement"
    return Use(
        product, NONE, start, end, f"{_shown(code, start, end)} is of {name}; {what}", None,
        guide.ended_sources.get(product, ()), root=chain.root.id,
    )  # fmt: skip


def module_of(guide: Guide, meaning: str) -> str | None:
    """Return the module of an ended product that a dotted name leads into."""
    parts = meaning.split(".")
    heads = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((head for head in heads if head in guide.modules), None)


def _replaced(code: PythonSource, guide: Guide, chain: Chain, replacement: NameReplacement) -> Use:
    top = chain.nodes[-1][1]
    start, end = code.span(top)
    name = guide.facts.products[replacement.product].name
    shown = _shown(code, start, end)
    root = chain.root.id
    if replacement.instead is None and replacement.how is None:
        message = f"{shown} is of {name}; no documented replacement"
        return Use(replacement.product, NONE, start, end, message, None, replacement.sources, root=root)
    note = "" if replacement.basis == "stated" else f" ({replacement.basis})"
    note = f" ({replacement.basis}: {replacement.note})" if replacement.note else note
    if not replacement.mechanical:
        message = f"{shown} is of {name}; nothing does just the same{note}"
        fix = replacement.how or f"see {replacement.instead}"
        return Use(replacement.product, HINT, start, end, message, fix, replacement.sources, root=root)
    message = f"{shown} is of {name}; {replacement.instead} does the same"
    given = ", ".join((*replacement.before, *(f"{key}={value}" for key, value in replacement.defaults)))
    fix = f"write {replacement.instead}" + (f"({given}, ...)" if given else "")
    return Use(replacement.product, CALL, start, end, message, fix, replacement.sources, root)


def _shown(code: PythonSource, start: int, end: int) -> str:
    return " ".join(code.text[start:end].split())[:100]


def _is_asked(code: PythonSource, chain: Chain) -> bool:
    """Return whether a name is used only where `hasattr` finds it."""
    name = chain.meaning.split(".")
    child: ast.AST = chain.root
    for one in code.above(chain.root):
        if isinstance(one, ast.If | ast.IfExp) and child is not one.test:
            for node in ast.walk(one.test):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hasattr":
                    asked = [a.value for a in node.args if isinstance(a, ast.Constant)]
                    if any(part in asked for part in name):
                        return True
        child = one
    return False


# modules that are asked for by name


def _asked(code: PythonSource, guide: Guide, node: ast.Constant, module: str) -> Iterator[Use]:
    parent = code.parents.get(node)
    if not isinstance(parent, ast.Call) or node not in parent.args:
        return
    function = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
    loads = function in _LOADS
    if not loads and not _ASKS.fullmatch(function):
        return
    product = guide.modules[module]
    start, end = code.span(node)
    name = guide.facts.products[product].name
    action = "is loaded by name" if loads else f"is asked for by {function or 'a call'}"
    fix = "take out what depends on it" if not loads else None
    message = f"{module} of {name} {action}"
    yield Use(product, IMPORT, start, end, message, fix, guide.ended_sources.get(product, ()), asked=not loads)


# values


def _value(
    code: PythonSource, guide: Guide, calls: "_Calls", node: ast.Constant, text: str, device: str | None
) -> Iterator[Use]:
    parts = [part.rpartition(":") for part in text.split(",")]
    value = next(tail for _, _, tail in parts if tail in guide.values)
    own = next((head for head, _, tail in parts if tail == value and head), None)
    if not _is_taken(code, guide, calls, node, value):
        return
    product, choices = guide.values[value]
    start, end = code.span(node)
    name = guide.facts.products[product].name
    fits = fitting(choices, own or device or None)
    several = len(fits) > 1
    message = f"{value!r} is specific to {name}"
    if several:
        message += "; what to give instead depends on the device"
    fixes = [choice.remedy(f"give {choice.instead!r}", several=several) for choice in fits]
    message += f" ({fits[0].basis}: {fits[0].note})" if fits[0].note and not several else ""
    chosen = any(c.instead and _chooses(code, node, c.instead) for c in choices)
    if chosen:
        message += "; the program chooses already: the branch with this one can go"
    sources = tuple(dict.fromkeys(s for c in fits for s in c.sources))
    rule = BACKEND if any(c.instead for c in fits) else HINT
    yield Use(product, rule, start, end, message, "; ".join(fixes), sources, asked=chosen)


def _chooses(code: PythonSource, node: ast.AST, instead: str) -> bool:
    """Return whether a value stands where a condition asks for the one that takes its place."""
    for one in code.above(node):
        if isinstance(one, ast.If | ast.IfExp):
            start, end = code.span(one.test)
            if instead in code.text[start:end]:
                return True
    return False


def _is_taken(code: PythonSource, guide: Guide, calls: "_Calls", node: ast.Constant, value: str) -> bool:
    """Return whether a value reaches a call that takes it, or a name says so."""
    top: ast.AST = node
    while isinstance(parent := code.parents.get(top), ast.IfExp | ast.BoolOp):
        top = parent
    endings = guide.options.get(value, ())
    renamed = any(choice.instead for choice in guide.values[value][1])  # then what is compared with it matters too

    def fits(name: object) -> bool:
        return isinstance(name, str) and name.replace("-", "_").endswith(tuple(e.replace("-", "_") for e in endings))

    if isinstance(parent, ast.keyword):
        call = code.parents.get(parent)
        if isinstance(call, ast.Call) and calls.reaches(call, value, parent.arg, None):
            return True
        named = isinstance(call, ast.Call) and any(isinstance(a, ast.Constant) and fits(a.value) for a in call.args)
        return fits(parent.arg) or (parent.arg == "default" and named)
    if isinstance(parent, ast.Call) and top in parent.args:
        at = next(n for n, argument in enumerate(parent.args) if argument is top)
        return calls.reaches(parent, value, None, at)
    if isinstance(parent, ast.Assign | ast.AnnAssign) and top is parent.value:
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        if any((name, value) in calls.flowing for name in names):
            return True
        ends = [t.attr if isinstance(t, ast.Attribute) else getattr(t, "id", None) for t in targets]
        return renamed and any(fits(end) for end in ends)
    if isinstance(parent, ast.Dict):
        keys = [key for key, item in zip(parent.keys, parent.values, strict=True) if item is top]
        return any(isinstance(key, ast.Constant) and fits(key.value) for key in keys)
    if isinstance(parent, ast.Compare):
        sides = [parent.left, *parent.comparators]
        names_of = [s.attr if isinstance(s, ast.Attribute) else getattr(s, "id", None) for s in sides]
        functions = [s.func for s in sides if isinstance(s, ast.Call)]
        names_of += [f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", None) for f in functions]
        return renamed and any(fits(name) for name in names_of)
    return False


class _Calls:
    """The calls of a text that take values which only a product understands."""

    def __init__(self, code: PythonSource, guide: Guide) -> None:
        self.taking: dict[ast.Call, dict[str, ArgumentPosition]] = {}
        self.flowing: set[tuple[str, str]] = set()  # variables, and the values that are given by them
        for chain in code.chains:
            call = code.call_of(chain.nodes[-1][1])
            taken = guide.calls.get(chain.meaning)
            if call is None or taken is None:
                continue
            self.taking[call] = taken
            for value, argument in taken.items():
                given = [k.value for k in call.keywords if k.arg == argument.name]
                if argument.position is not None:
                    given += call.args[argument.position : argument.position + 1]
                self.flowing |= {(one.id, value) for one in given if isinstance(one, ast.Name)}

    def reaches(self, call: ast.Call, value: str, name: str | None, at: int | None) -> bool:
        """Return whether an argument of a call, by name or position, is one that takes the value."""
        argument = self.taking.get(call, {}).get(value)
        if argument is None:
            return False
        return (name is not None and name == argument.name) or (at is not None and at == argument.position)
