"""Finds regressions: what resolved once and no longer does, with what data/index/ records and the index has lost since."""

from collections.abc import Iterable, Iterator, Mapping

from packaging.version import Version

from compatkb.core.versions import matches
from compatkb.errors import UnavailableError
from compatkb.schema import Level, Observation, Outcome
from compatkb.validate.cell import RunContext, cell_of
from compatkb.validate.indexes import listed
from compatkb.validate.messages import missing_pins
from compatkb.validate.proofs import recorded_releases
from compatkb.validate.targets import fits

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
        return seen.model_copy(update={"resolved": known.checked, "vanished": tuple(_vanished(seen, context))})
    return seen.model_copy(update={"resolved": known.resolved, "vanished": known.vanished})


def _vanished(seen: Observation, context: RunContext) -> Iterator[str]:
    """Yield the pins that nothing serves any more; of a release that is still there, the recorded wheels that are gone."""
    for name, version in missing_pins(seen.detail):
        try:
            files = listed(cell_of(seen), context, name)
        except UnavailableError:
            files = []
        now = {(file.python, file.platform) for file in files if _is_meant(file.version, version)}
        then = {
            (python, platform)
            for release in recorded_releases(context.data, name)
            if _is_meant(Version(release.version), version)
            for python, platforms in release.wheels.items()
            for platform in platforms
            if fits(_wheel_name(name, release.version, python, platform), seen.python, seen.platform)
        }
        gone = sorted(f"{name}=={version}:{python}-{platform}" for python, platform in then - now) if now else []
        yield from gone or [f"{name}=={version}"]


def _is_meant(own: Version, version: str) -> bool:
    try:
        return matches(f"=={version}", str(own))
    except ValueError:  # the installer's words hold no version there
        return False


def _wheel_name(name: str, version: str, python: str, platform: str) -> str:
    """Return a name with the tags of a wheel: data/index/ has the ABI only where the Python does not tell it."""
    if python.startswith("cp"):
        interpreter, _, abi = python.removesuffix("t").partition("-")
        python = f"{interpreter}-{abi or python}"
    else:
        python = f"{python}-none"
    return f"{name.replace('-', '_')}-{version}-{python}-{platform}.whl"
