"""The levels `import` and `run`, in a fresh environment: every product of a cell imported, then its workload, in processes."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from compatkb.schema import Observation, Outcome
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.environment import RefusedError, VirtualEnvironment, environment, modules_of
from compatkb.validate.limits import Ended
from compatkb.validate.messages import decisive, remarks, shortened
from compatkb.validate.proofs import proofs, subjects_of

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


def check_run(cell: ValidationCell, context: RunContext) -> Observation:
    """Install the builds of a cell, import them, run their workloads, and return what was seen."""
    try:
        with environment(cell, context) as venv:
            trial, seen = import_all(cell, venv)
            return run_all(cell, venv) if trial.finished else seen
    except RefusedError as refusal:
        return cell.observed(refusal.outcome, context.today, refusal.detail)


def run_all(cell: ValidationCell, venv: VirtualEnvironment) -> Observation:
    """Run the workloads of a cell's products; raises RefusedError where there is none or the time was up."""
    scripts = [str(s.workload) for _, _, s in subjects_of(venv.context.data, cell.packages) if s.workload]
    if not scripts:
        raise RefusedError(Outcome.NOT_CHECKED, "no product of this cell has a workload")
    features = features_here(venv.context.data)
    more = {"tools": venv.tools, "digest": venv.digest, "features": features}
    trial = attempt(venv, "run", ",".join(features), *scripts)
    if trial.ended.stopped:
        raise RefusedError(Outcome.NOT_CHECKED, f"run: {trial.ended.stopped}: {decisive(venv.tidy(trial.ended.output))}")
    wrong = [fact for fact in trial.all("check") if not fact["ok"]]
    if wrong:
        words = ", ".join(f"{f['check']} is off by {f['error']:.3g}, allowed {f['tolerance']:.3g}" for f in wrong)
        return cell.observed(Outcome.FAILED_RUN, venv.context.today, words, **more)
    if not trial.finished:
        return cell.observed(Outcome.FAILED_RUN, venv.context.today, trial.failure(venv), **more)
    return cell.observed(Outcome.OK, venv.context.today, shortened(_summary(trial, venv)), **more)


def _summary(trial: Trial, venv: VirtualEnvironment) -> str:
    """Return what each workload did, in their order."""
    words_by_product: dict[str, list[str]] = {}
    for fact in trial.facts:
        if "begun" in fact:
            words = words_by_product.setdefault(Path(fact["begun"]).stem, [])
        elif "check" in fact:
            words.append(str(fact["check"]))
        elif "note" in fact:
            words.append(f"{fact['note']} {fact['value']}")
        elif "skipped" in fact:
            reason = venv.tidy(" ".join(str(fact["reason"]).split()))[:160]
            words.append(f"not tried: {fact['skipped']} ({reason})")
    return "; ".join(f"{product}: {', '.join(words)}" for product, words in words_by_product.items())


def features_here(data: Path) -> tuple[str, ...]:
    """Return which of the processor's features that matter this machine has."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return ()
    match = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", text, re.M)
    flags = set(match[1].split()) if match else set()
    return tuple(sorted(flags & set(proofs(data).features)))
