"""The weakest level: the exact builds are on their index for a Python and platform, yanked or not."""

from packaging.version import Version

from compatkb.errors import UnavailableError
from compatkb.schema import Observation, Outcome
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.indexes import listed
from compatkb.validate.targets import fits


def check(cell: ValidationCell, context: RunContext) -> Observation:
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
