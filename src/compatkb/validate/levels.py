"""The levels of validation and the tools that decide each, in one table for the command line and the runner."""

from importlib import import_module

from compatkb.schema import Level, Observation
from compatkb.validate.cell import Check, RunContext, ValidationCell

TOOLS: dict[Level, tuple[str, ...]] = {
    Level.PUBLISHED: ("index",),
    Level.RESOLVE: ("pip", "uv"),
    Level.SYMBOLS: ("index",),
    Level.IMPORT: ("python",),
    Level.RUN: ("python",),
}
"""Who answers at each level; the first one unless asked otherwise."""

_CHECKS = {
    (Level.PUBLISHED, "index"): "published:check",
    (Level.RESOLVE, "pip"): "pip:check",
    (Level.RESOLVE, "uv"): "uv:check",
    (Level.SYMBOLS, "index"): "linking:check",
    (Level.IMPORT, "python"): "importing:check",
    (Level.RUN, "python"): "importing:check_run",
}


def check(cell: ValidationCell, context: RunContext) -> Observation:
    """Answer a cell at its level with its tool; each check is imported when it is first used."""
    module, name = _CHECKS[cell.level, cell.tool].split(":")
    checker: Check = getattr(import_module(f"compatkb.validate.{module}"), name)
    return checker(cell, context)
