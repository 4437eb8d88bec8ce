"""The program's own modules, each parsed once for all rules about code."""

import ast
from functools import cache
from pathlib import Path

from conftest import ROOT

SOURCE = ROOT / "src" / "compatkb"
MODULES = sorted(SOURCE.rglob("*.py"))


def place_of(path: Path) -> str:
    """Return where a module stands within the package."""
    return path.relative_to(SOURCE).as_posix()


def name_of(path: Path) -> str:
    """Return a module's name within the package."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(path: Path) -> ast.Module:
    """Return a module's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Return every node of a module."""
    return tuple(ast.walk(tree_of(path)))
