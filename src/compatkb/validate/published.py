"""The weakest level: the exact builds are on their index for a Python and platform, withdrawn or not."""

from packaging.version import Version

from compatkb.errors import UnavailableError
from compatkb.schema import Observation, Outcome
from compatkb.validate.cell import ValidationCell, Workshop
from compatkb.validate.recorded_index import records_for
from compatkb.validate.targets import fits, version_of


def check(cell: ValidationCell, workshop: Workshop) -> Observation:
    """Look for a wheel of every package of a cell."""
    missing, withdrawn = [], []
    for name, version in cell.packages:
        try:
            wheels = [wheel for record in records_for(workshop, cell.index) for wheel in record.page(name) or ()]
        except (LookupError, UnavailableError) as error:
            return cell.saw(Outcome.NOT_CHECKED, workshop.today, str(error.args[0]))
        fitting = [w for w in wheels if version_of(w.file) == Version(version) and fits(w.file, cell.python, cell.platform)]
        if not fitting:
            missing.append(f"{name} {version}")
        elif all(wheel.yanked is not None for wheel in fitting):
            reason = next((wheel.yanked for wheel in fitting if wheel.yanked), "")
            withdrawn.append(f"{name} {version} ({reason})" if reason else f"{name} {version}")
    if missing:
        return cell.saw(Outcome.NOT_FOUND, workshop.today, f"no wheel for this Python and platform: {', '.join(missing)}")
    if withdrawn:
        return cell.saw(Outcome.YANKED, workshop.today, f"yanked: {', '.join(withdrawn)}")
    return cell.saw(Outcome.OK, workshop.today)
