"""Imports of discontinued products: which can be removed, the edits that remove them, and why others must stay."""

import ast
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from compatkb.check.migration_rules import BACKEND, IMPORT
from compatkb.core.findings import WAITS, Edit, Finding, Severity
from compatkb.migrate.guide import Guide
from compatkb.migrate.program import Program
from compatkb.migrate.syntax import Imported, PythonSource
from compatkb.migrate.uses import Use, module_of

_MOST_LINES = 5


class Relevant(NamedTuple):
    """An import of a product: the statement's part, the module or name, and whether it is imported for that alone."""

    imported: Imported
    product: str
    name: str
    whole: bool  # a module, whose import does more than to bind a name


def relevant_of(code: PythonSource, guide: Guide) -> list[Relevant]:
    """Return the imports that need a product which has ended."""
    imports = []
    for one in code.imports:
        name = one.alias.name if isinstance(one.statement, ast.Import) else one.meaning
        module = module_of(guide, name)
        named = guide.names.get(one.meaning if isinstance(one.statement, ast.ImportFrom) else name)
        if module is not None:
            imports.append(Relevant(one, guide.modules[module], name, True))
        elif named is not None:
            imports.append(Relevant(one, named.product, name, False))
    return imports


class ImportFindings(NamedTuple):
    """What is said of the imports of a text: findings, and what of each product stays in use there."""

    findings: tuple[Finding, ...]
    left: Mapping[str, tuple[int, ...]]  # lines, by product


def judge(
    program: Program,
    guide: Guide,
    uses: Iterable[Use],
    needed: Mapping[str, str],
    exported: frozenset[str],
) -> ImportFindings:
    """Return what is said of the imports of a text.

    `needed` names, by product, a place elsewhere that needs it loaded; `exported` are names that other files take from it.
    """
    code = program.code
    imports = relevant_of(code, guide)
    uses = tuple(uses)
    left: dict[str, list[int]] = {}
    for use in uses:
        if not use.asked:
            left.setdefault(use.product, []).append(_line(program, use.start))
    going: set[Imported] = set()
    staying: dict[Imported, list[int]] = {}
    by_root: dict[str, list[Use]] = {}
    for use in uses:
        by_root.setdefault(use.root or f":{use.product}", []).append(use)
    meanings = {bound: len({i.meaning for i in several}) for bound, several in code.bound.items()}
    for one in imports:
        bound = one.imported.bound
        own_uses = [*by_root.get(bound, ()), *(by_root.get(f":{one.product}", ()) if one.whole else ())]
        lines = [_line(program, use.start) for use in own_uses if not use.asked or use.rule is BACKEND]
        sure = meanings[bound] == 1 and bound not in code.rebound
        elsewhere = one.whole and one.product in needed
        if lines or elsewhere or bound in code.exported | exported or one.imported.alias.name == "*" or not sure:
            staying[one.imported] = lines
            if one.imported.optional is None and one.product not in left:
                left[one.product] = [_line(program, code.span(one.imported.statement)[0])]
        else:
            going.add(one.imported)
    aliases = {one.alias for one in going}
    gone: set[ast.stmt] = {one.statement for one in going if aliases.issuperset(one.statement.names)}
    by_statement: dict[ast.stmt, list[Relevant]] = {}
    for one in imports:
        by_statement.setdefault(one.imported.statement, []).append(one)
    findings = (_finding(program, guide, items, going, staying, needed, gone) for items in by_statement.values())
    return ImportFindings(tuple(findings), {product: tuple(sorted(set(lines))) for product, lines in left.items()})


def _line(program: Program, offset: int) -> int:
    return program.document.place(program.start(offset)).line


def _finding(
    program: Program,
    guide: Guide,
    items: list[Relevant],
    going: set[Imported],
    staying: Mapping[Imported, list[int]],
    needed: Mapping[str, str],
    gone: set[ast.stmt],
) -> Finding:
    code, statement = program.code, items[0].imported.statement
    start, end = code.span(statement)
    product = items[0].product
    name = guide.facts.products[product].name
    shown = ", ".join(dict.fromkeys(item.name for item in items))
    guard = items[0].imported.optional
    edits: tuple[Edit, ...] = ()
    message = f"{shown} is of {name}, which has ended"
    fix: str | None = None
    level = IMPORT.level
    if all(item.imported in going for item in items):
        removal = _removal(program, statement, {item.imported.alias for item in items}, gone)
        message += "; nothing of it is left in use"
        fix = "take the import out"
        if removal is not None:
            edits = program.edits((removal,))
        elif guard is not None:
            level = Severity.INFO
            message += (
                f"; the import is optional: without it line {_line(program, code.span(guard)[0])} takes the other branch"
            )
            fix = "take out the import and the branch that needs it"
    else:
        lines = sorted({line for item in items for line in staying.get(item.imported, ())})
        if lines:
            more = f" and {len(lines) - _MOST_LINES} more" if len(lines) > _MOST_LINES else ""
            message += f"; it stays in use in line {', '.join(str(n) for n in lines[:_MOST_LINES])}{more}"
            fix = WAITS
        elif product in needed:
            message += f"; {needed[product]} needs it loaded"
        else:
            message += "; other code may take the name from here"
        if guard is not None:
            level = Severity.INFO
            message += "; the import is optional"
    sources = tuple(dict.fromkeys(guide.ended_sources.get(product, ())))
    finding = program.document.finding(
        IMPORT, program.start(start), program.end(end), message, fix=fix, sources=sources, edits=edits, subject=shown
    )
    return finding._replace(level=level)


def _removal(program: Program, statement: ast.stmt, aliases: set[ast.alias], gone: set[ast.stmt]) -> Edit | None:
    """Return what takes aliases out of an import, or the import, or the `try` around it; None where hands have to."""
    code = program.code
    names = statement.names if isinstance(statement, ast.Import | ast.ImportFrom) else []
    if len(aliases) < len(names):
        return _without_aliases(code, names, aliases)
    parent = code.parents[statement]
    if isinstance(parent, ast.Try) and statement in parent.body:
        return _without_try(program, parent, gone)
    outer = code.parents.get(parent)
    whole = (
        _without_try(program, outer, gone) if isinstance(parent, ast.ExceptHandler) and isinstance(outer, ast.Try) else None
    )
    return whole or take_out(program, statement, gone)


def _without_aliases(code: PythonSource, names: list[ast.alias], aliases: set[ast.alias]) -> Edit | None:
    """Return what takes a run of aliases out of a list; None for those that stand apart."""
    numbers = [n for n, alias in enumerate(names) if alias in aliases]
    first, last = numbers[0], numbers[-1]
    if numbers != list(range(first, last + 1)):
        return None
    if last + 1 < len(names):
        return Edit(code.span(names[first])[0], code.span(names[last + 1])[0], "")
    return Edit(code.span(names[first - 1])[1], code.span(names[last])[1], "")


def _without_try(program: Program, guard: ast.Try, gone: set[ast.stmt]) -> Edit | None:
    """Return what takes out a `try` that does nothing but to import; None for others."""
    if guard.orelse or guard.finalbody or not all(statement in gone for statement in guard.body):
        return None
    bound = {alias.asname or alias.name for s in guard.body if isinstance(s, ast.Import | ast.ImportFrom) for alias in s.names}
    for handler in guard.handlers:
        for statement in handler.body:
            if isinstance(statement, ast.Pass) or statement in gone:
                continue
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            named = isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
            if named and all(isinstance(t, ast.Name) and t.id in bound for t in getattr(statement, "targets", ())):
                continue
            return None
    return take_out(program, guard, {*gone, guard})


def take_out(program: Program, statement: ast.stmt, gone: set[ast.stmt]) -> Edit | None:
    """Return what takes a statement out of a text, leaving `pass` where its block would be empty."""
    code = program.code
    start, end = code.span(statement)
    block = code.block_of(statement)
    empty = not isinstance(code.parents[statement], ast.Module) and all(one in gone for one in block)
    if empty and statement is block[0]:
        return Edit(start, end, "pass")
    line, last = code.place(start).line, code.place(end).line
    head, tail = code.line_bounds(line)[0], code.line_bounds(last)[1]
    before, after = code.text[head:start], code.text[end:tail].strip(" \t\r\n;")
    number = code.numbers[statement]
    if not before.strip() and (not after or after.startswith("#")):
        return Edit(head, tail, "") if program.whole_lines else Edit(start, end, "")
    if number + 1 < len(block) and code.place(code.span(block[number + 1])[0]).line == last:
        return Edit(start, code.span(block[number + 1])[0], "")
    if number and code.place(code.span(block[number - 1])[1]).line == line:
        return Edit(code.span(block[number - 1])[1], end, "")
    return Edit(start, end, "pass")
