"""The syntax of a Python text as a migration needs it: imports, resolved dotted names and calls, with positions.

The standard library's parser gives places in bytes of a line; here they are offsets of characters. Names are followed as
imports bind them, for the file as a whole.
"""

import ast
import warnings
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from compatkb.core.text_position import SourceText

MOST_CHARACTERS = 2_000_000
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
_MISSING = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException", "RuntimeError", "OSError"}


class SyntaxProblemError(Exception):
    """The text is no Python that can be read; `line` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


class Imported(NamedTuple):
    """One name of an import statement: what it means, what it is bound to, and whether the program can do without."""

    statement: ast.Import | ast.ImportFrom
    alias: ast.alias
    meaning: str
    bound: str
    optional: ast.stmt | None  # the `try` or `if` that guards it


class Chain(NamedTuple):
    """A dotted name in use; `nodes` are its parts from the root on, with what each means."""

    root: ast.Name
    nodes: tuple[tuple[str, ast.expr], ...]

    @property
    def meaning(self) -> str:
        """Return what the whole name means."""
        return self.nodes[-1][0]


class PythonSource(SourceText):
    """A Python text that was parsed; raises SyntaxProblemError for text that is none."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.tree = _parsed(text)
        self.nodes = list(ast.walk(self.tree))
        self.parents: dict[ast.AST, ast.AST] = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    # places

    def _character(self, line: int, byte: int) -> int:
        """Return the offset of a line, from 1, and a column in bytes, from 0, as `ast` has them."""
        start, end = self.line_bounds(line)
        part = self.text[start:end]
        return start + (byte if part.isascii() else len(part.encode()[:byte].decode(errors="ignore")))

    def span(self, node: ast.expr | ast.stmt | ast.alias | ast.arg | ast.keyword) -> tuple[int, int]:
        """Return where a node starts and ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._character(node.lineno, node.col_offset), self._character(node.end_lineno, node.end_col_offset)

    # what stands around a node

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield what a node is in, from the inside."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def block_of(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return the statements among which a statement stands."""
        parent = self.parents[statement]
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            number = self.numbers.get(statement, 0)
            if isinstance(block, list) and number < len(block) and block[number] is statement:
                return block
        return [statement]

    @cached_property
    def numbers(self) -> dict[ast.stmt, int]:
        """The number of each statement in its block."""
        blocks = (getattr(node, name, None) for node in self.nodes for name in ("body", "orelse", "finalbody"))
        return {
            statement: number
            for block in blocks
            if isinstance(block, list)
            for number, statement in enumerate(block)
            if isinstance(statement, ast.stmt)
        }

    # what is bound

    @cached_property
    def imports(self) -> tuple[Imported, ...]:
        """Every name that is imported from elsewhere than the own package, in the order of the text."""
        imports: list[Imported] = []
        for node in self.nodes:
            if isinstance(node, ast.Import):
                guard = self._guard(node)
                for alias in node.names:
                    meaning = alias.name if alias.asname else alias.name.partition(".")[0]
                    imports.append(Imported(node, alias, meaning, alias.asname or meaning, guard))
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                guard = self._guard(node)
                imports += [
                    Imported(node, alias, f"{node.module}.{alias.name}", alias.asname or alias.name, guard)
                    for alias in node.names
                ]
        return tuple(sorted(imports, key=lambda one: (one.alias.lineno, one.alias.col_offset)))

    def _guard(self, statement: ast.stmt) -> ast.stmt | None:
        """Return the `try` or `if` without which a statement is not run, or may fail."""
        child: ast.AST = statement
        for one in self.above(statement):
            if isinstance(one, _FUNCTIONS):
                return None
            if isinstance(one, ast.Try) and child in one.body and any(_catches(handler) for handler in one.handlers):
                return one
            if isinstance(one, ast.If) and not _is_main(one):
                return one
            child = one
        return None

    @cached_property
    def bound(self) -> Mapping[str, tuple[Imported, ...]]:
        """The imports by the name that they bind."""
        imports_by_name: dict[str, list[Imported]] = {}
        for one in self.imports:
            imports_by_name.setdefault(one.bound, []).append(one)
        return {bound: tuple(several) for bound, several in imports_by_name.items()}

    @cached_property
    def rebound(self) -> frozenset[str]:
        """The names that something else than an import binds, other than to None or a truth value."""
        names: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Name):
                if not isinstance(node.ctx, ast.Load) and not self._means_nothing(node):
                    names.add(node.id)
            elif isinstance(node, ast.arg):
                names.add(node.arg)
            elif isinstance(node, ast.MatchMapping):
                names.add(node.rest or "")
            elif isinstance(node, _NAMED):
                names.add(node.name or "")
        return frozenset(names)

    def _means_nothing(self, node: ast.Name) -> bool:
        parent = self.parents.get(node)
        return (
            isinstance(parent, ast.Assign)
            and isinstance(parent.value, ast.Constant)
            and (parent.value.value is None or isinstance(parent.value.value, bool))
        )

    @cached_property
    def exported(self) -> frozenset[str]:
        """The names that `__all__` lists."""
        names: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Assign | ast.AugAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
                    values = (n.value for n in ast.walk(node.value) if isinstance(n, ast.Constant))
                    names |= {value for value in values if isinstance(value, str)}
        return frozenset(names)

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        """Every dotted name whose root an import binds, as often as it may mean something else."""
        chains: list[Chain] = []
        for node in self.nodes:
            if not isinstance(node, ast.Name) or node.id not in self.bound or not isinstance(node.ctx, ast.Load | ast.Del):
                continue
            meanings = dict.fromkeys(one.meaning for one in self.bound[node.id])
            for meaning in meanings:
                nodes: list[tuple[str, ast.expr]] = [(meaning, node)]
                top: ast.AST = node
                while isinstance(parent := self.parents.get(top), ast.Attribute):
                    nodes.append((f"{nodes[-1][0]}.{parent.attr}", parent))
                    top = parent
                chains.append(Chain(node, tuple(nodes)))
        return tuple(chains)

    def call_of(self, node: ast.expr) -> ast.Call | None:
        """Return the call of what a node names, None where it is not called."""
        parent = self.parents.get(node)
        return parent if isinstance(parent, ast.Call) and parent.func is node else None


def _parsed(text: str) -> ast.Module:
    if len(text) > MOST_CHARACTERS:
        raise SyntaxProblemError(1, f"is too long to be read: {len(text):,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            tree = compile(text, "<text>", "exec", flags=flags, dont_inherit=True)
    except SyntaxError as error:
        raise SyntaxProblemError(max(1, error.lineno or 1), f"is no Python that can be read: {error.msg}") from None
    except (ValueError, OverflowError) as error:
        raise SyntaxProblemError(1, f"is no Python that can be read: {error}") from None
    except (RecursionError, MemoryError):
        raise SyntaxProblemError(1, "is no Python that can be read: it is nested too deeply") from None
    assert isinstance(tree, ast.Module)
    return tree


def _catches(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(isinstance(node, ast.Name) and node.id in _MISSING for node in ast.walk(handler.type))


def _is_main(node: ast.If) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "__name__" for one in ast.walk(node.test))
