"""The level `import`: every product of a cell imported, in a fresh environment, in a process of its own."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from compatkb.schema import Observation, Outcome
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.environment import RefusedError, VirtualEnvironment, environment, modules_of
from compatkb.validate.fake_libraries import add_stubs
from compatkb.validate.limits import Ended
from compatkb.validate.messages import decisive, remarks, shortened

PROBE = Path(__file__).with_name("probe.py")


@dataclass(frozen=True)
class Trial:
    """What the probe said, and how it ended."""

    facts: tuple[dict[str, Any], ...]
    ended: Ended

    def all(self, key: str) -> list[dict[str, Any]]:
        """Return the facts that have a key."""
        return [fact for fact in self.facts if key in fact]

    @property
    def finished(self) -> bool:
        """True where all that was begun was done and the process ended well."""
        return self.ended.ok and len(self.all("begun")) == len(self.all("done")) and not self.all("failed")

    def failure(self, venv: VirtualEnvironment) -> str:
        """Return where it broke off and with what words."""
        begun = self.all("begun")
        where = str(begun[-1]["begun"]) if begun else "the interpreter"
        how = self.ended.how
        if failed := self.all("failed"):
            fact = failed[-1]
            how = (
                f"SystemExit {fact['code']}"
                if fact["failed"] == "SystemExit"
                else f"{fact['failed']}: {' '.join(venv.tidy(str(fact['message'])).split())[:300]}"
            )
        message = decisive(venv.tidy(self.ended.output))
        words = message if how in message else f"{how}: {message}" if message else how
        return shortened(f"{Path(where).stem}: {words}")


def check(cell: ValidationCell, context: RunContext) -> Observation:
    """Install the builds of a cell, import every product, and return what was seen."""
    try:
        with environment(cell, context) as venv:
            _, seen = import_all(cell, venv)
            return seen
    except RefusedError as refusal:
        return cell.observed(refusal.outcome, context.today, refusal.detail)


def import_all(cell: ValidationCell, venv: VirtualEnvironment) -> tuple[Trial, Observation]:
    """Import every product of a cell in its environment; raises RefusedError where that says nothing."""
    if cell.stubbed:
        add_stubs(venv)
    modules = [module for _, module in modules_of(cell, venv.context)]
    if not modules:
        raise RefusedError(Outcome.NOT_CHECKED, "no package of this cell has a module that can be imported")
    trial = attempt(venv, "import", *modules)
    if trial.ended.stopped:
        raise RefusedError(Outcome.NOT_CHECKED, f"import: {trial.ended.stopped}: {decisive(venv.tidy(trial.ended.output))}")
    _same(cell, trial)
    more = {"tools": venv.tools, "digest": venv.digest}
    if not trial.finished:
        return trial, cell.observed(Outcome.FAILED_IMPORT, venv.context.today, trial.failure(venv), **more)
    names = [f"{fact['done']} {fact['version']}".rstrip() for fact in trial.all("done")]
    warnings = remarks(venv.tidy(trial.ended.output))
    return trial, cell.observed(
        Outcome.OK, venv.context.today, "; ".join(names) + (f"; said: {warnings}" if warnings else ""), **more
    )


def attempt(venv: VirtualEnvironment, *words: str) -> Trial:
    """Run the probe in an environment."""
    result = venv.folder / "result.jsonl"
    result.unlink(missing_ok=True)
    ended = venv.run([str(venv.python), "-I", "-u", str(PROBE), str(result), *words])
    text = result.read_text(encoding="utf-8", errors="replace") if result.is_file() else ""
    facts = []
    for line in text.split("\n")[:-1]:
        try:
            fact = json.loads(line)
        except ValueError:  # what runs there can write the file too
            continue
        if isinstance(fact, dict):
            facts.append(fact)
    return Trial(tuple(facts), ended)


def _same(cell: ValidationCell, trial: Trial) -> None:
    """Raise RefusedError where the environment holds another version than the cell asks for."""
    facts = trial.all("installed")
    installed = facts[0]["installed"] if facts else {}
    there = {str(canonicalize_name(name)): str(version) for name, version in installed.items()}
    for name, version in cell.packages if there else ():
        got = there.get(str(canonicalize_name(name)), "nothing")
        try:
            same = Version(got) == Version(version) or ("+" not in version and Version(got).public == Version(version).public)
        except InvalidVersion:
            same = got == version
        if not same:
            raise RefusedError(Outcome.NOT_CHECKED, f"{name} {version} was asked for, and the wheel calls itself {got}")
