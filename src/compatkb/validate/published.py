"""The weakest level: the exact builds are on their index for a Python and platform, yanked or not."""

from packaging.version import Version

from compatkb.errors import UnavailableError
from compatkb.schema import Observation, Outcome
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.recorded_index import records_for
from compatkb.validate.targets import fits, version_of


def check(cell: ValidationCell, context: RunContext) -> Observation:
    """Look for a wheel of every package of a cell."""
    missing, withdrawn = [], []
    for name, version in cell.packages:
        try:
            wheels = [wheel for record in records_for(context, cell.index) for wheel in record.page(name) or ()]
        except (LookupError, UnavailableError) as error:
            return cell.observed(Outcome.NOT_CHECKED, context.today, str(error.args[0]))
        fitting = [w for w in wheels if version_of(w.file) == Version(version) and fits(w.file, cell.python, cell.platform)]
        if not fitting:
            missing.append(f"{name} {version}")
        elif all(wheel.yanked is not None for wheel in fitting):
            reason = next((wheel.yanked for wheel in fitting if wheel.yanked), "")
            withdrawn.append(f"{name} {version} ({reason})" if reason else f"{name} {version}")
    if missing:
        return cell.observed(Outcome.NOT_FOUND, context.today, f"no wheel for this Python and platform: {', '.join(missing)}")
    if withdrawn:
        return cell.observed(Outcome.YANKED, context.today, f"yanked: {', '.join(withdrawn)}")
    return cell.observed(Outcome.OK, context.today)
