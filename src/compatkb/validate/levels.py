"""The levels of validation with the tools that decide each; here the weakest: builds are on their index, yanked or not."""

from importlib import import_module

from packaging.version import Version

from compatkb.errors import UnavailableError
from compatkb.schema import Level, Observation, Outcome
from compatkb.validate.cell import Check, RunContext, ValidationCell
from compatkb.validate.indexes import listed
from compatkb.validate.targets import fits

TOOLS: dict[Level, tuple[str, ...]] = {
    Level.PUBLISHED: ("index",),
    Level.RESOLVE: ("pip", "uv"),
    Level.SYMBOLS: ("index",),
    Level.IMPORT: ("python",),
    Level.RUN: ("python",),
}
"""Who answers at each level; the first one unless asked otherwise."""

_CHECKS = {
    (Level.PUBLISHED, "index"): "levels:check_published",
    (Level.RESOLVE, "pip"): "installers:check",
    (Level.RESOLVE, "uv"): "installers:check_uv",
    (Level.SYMBOLS, "index"): "linking:check",
    (Level.IMPORT, "python"): "importing:check",
    (Level.RUN, "python"): "importing:check_run",
}


def check(cell: ValidationCell, context: RunContext) -> Observation:
    """Answer a cell at its level with its tool; each check is imported when it is first used."""
    module, name = _CHECKS[cell.level, cell.tool].split(":")
    checker: Check = getattr(import_module(f"compatkb.validate.{module}"), name)
    return checker(cell, context)


def check_published(cell: ValidationCell, context: RunContext) -> Observation:
    """Look for a wheel of every package of a cell."""
    missing, withdrawn = [], []
    for name, version in cell.packages:
        try:
            wheels = [file for file in listed(cell, context, name) if file.version == Version(version)]
        except UnavailableError as error:
            return cell.observed(Outcome.NOT_CHECKED, context.today, str(error))
        yanks = [file.entry.yanked for file in wheels if fits(file.entry.name, cell.python, cell.platform)]
        if not yanks:
            missing.append(f"{name} {version}")
        elif None not in yanks:
            reason = next(filter(None, yanks), "")
            withdrawn.append(f"{name} {version} ({reason})" if reason else f"{name} {version}")
    if missing:
        return cell.observed(Outcome.NOT_FOUND, context.today, f"no wheel for this Python and platform: {', '.join(missing)}")
    if withdrawn:
        return cell.observed(Outcome.YANKED, context.today, f"yanked: {', '.join(withdrawn)}")
    return cell.observed(Outcome.OK, context.today)
