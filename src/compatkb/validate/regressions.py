"""Finds regressions: what resolved once and no longer does, with the files that an index has lost since."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date

from compatkb.core.versions import matches
from compatkb.errors import DataError, UnavailableError
from compatkb.schema import Level, Observation, Outcome
from compatkb.validate.cell import RunContext, cell_of
from compatkb.validate.messages import missing_pins
from compatkb.validate.record import RecordedIndex, Wheel
from compatkb.validate.recorded_index import records_for
from compatkb.validate.targets import fits, version_of

_SOUND = (Outcome.OK, Outcome.YANKED)
_REFUSED = (Outcome.CONFLICT, Outcome.NOT_FOUND)
_LEVELS = (Level.PUBLISHED, Level.RESOLVE)


def with_rot(seen: Iterable[Observation], known: Iterable[Observation], context: RunContext) -> list[Observation]:
    """Return observations; those of what resolved before have the last day on which it did, and what vanished since."""
    before = {observation.question: observation for observation in known}
    return [_told(observation, before, context) for observation in seen]


def _told(seen: Observation, before: Mapping[tuple[object, ...], Observation], context: RunContext) -> Observation:
    known = before.get(seen.question)
    if known is None or seen.level not in _LEVELS or seen.outcome not in _REFUSED or known.checked > seen.checked:
        return seen
    if known.outcome in _SOUND:
        return seen.model_copy(update={"resolved": known.checked, "vanished": tuple(_vanished(seen, known.checked, context))})
    return seen.model_copy(update={"resolved": known.resolved, "vanished": known.vanished})


def _vanished(seen: Observation, day: date, context: RunContext) -> Iterator[str]:
    """Yield the files that are gone; where no record of before has them, the pins that nothing serves any more."""
    for name, version in missing_pins(seen.detail):
        now = {wheel.file for wheel in _page(seen, name, context)}
        then = [w.file for w in _earlier(seen, name, day, context) if _is_meant(w, version, seen) and w.file not in now]
        yield from sorted(then) or [f"{name}=={version}"]


def _is_meant(wheel: Wheel, version: str, seen: Observation) -> bool:
    own = version_of(wheel.file)
    try:
        return own is not None and matches(f"=={version}", str(own)) and fits(wheel.file, seen.python, seen.platform)
    except ValueError:  # the installer's words hold no version there
        return False


def _page(seen: Observation, name: str, context: RunContext) -> list[Wheel]:
    wheels: list[Wheel] = []
    try:
        for record in records_for(context, cell_of(seen).index):
            wheels += record.page(name) or ()
    except (LookupError, UnavailableError):
        return wheels
    return wheels


def _earlier(seen: Observation, name: str, day: date, context: RunContext) -> list[Wheel]:
    """Return the wheels of a distribution as the newest kept record of that day or before has them."""
    root = context.cache / "record"
    days = sorted((folder.name for folder in root.glob("????-??-??") if folder.name <= day.isoformat()), reverse=True)
    for record_day in days:
        for channel in (seen.index, "default"):
            try:
                if page := RecordedIndex(root / record_day / channel).page(name):
                    return page
            except (LookupError, DataError):
                continue
    return []
