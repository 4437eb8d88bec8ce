"""The level `run`: after the import, the workload of every product that has one, its numbers compared."""

import re
from pathlib import Path

from compatkb.schema import Observation, Outcome
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.environment import RefusedError, VirtualEnvironment, environment
from compatkb.validate.importing import Trial, attempt, import_all
from compatkb.validate.messages import decisive, shortened
from compatkb.validate.proofs import proofs, subjects_of


def check(cell: ValidationCell, context: RunContext) -> Observation:
    """Install the builds of a cell, import them, run their workloads, and return what was seen."""
    try:
        with environment(cell, context) as made:
            trial, seen = import_all(cell, made)
            return run_all(cell, made) if trial.finished else seen
    except RefusedError as refusal:
        return cell.observed(refusal.outcome, context.today, refusal.detail)


def run_all(cell: ValidationCell, made: VirtualEnvironment) -> Observation:
    """Run the workloads of a cell's products; raises RefusedError where there is none or the time was up."""
    scripts = [str(s.workload) for _, _, s in subjects_of(made.context.data, cell.packages) if s.workload]
    if not scripts:
        raise RefusedError(Outcome.NOT_CHECKED, "no product of this cell has a workload")
    features = features_here(made.context.data)
    more = {"tools": made.tools, "digest": made.digest, "features": features}
    trial = attempt(made, "run", ",".join(features), *scripts)
    if trial.ended.stopped:
        raise RefusedError(Outcome.NOT_CHECKED, f"run: {trial.ended.stopped}: {decisive(made.tidy(trial.ended.output))}")
    wrong = [fact for fact in trial.all("check") if not fact["ok"]]
    if wrong:
        words = ", ".join(f"{f['check']} is off by {f['error']:.3g}, allowed {f['tolerance']:.3g}" for f in wrong)
        return cell.observed(Outcome.FAILED_RUN, made.context.today, words, **more)
    if not trial.finished:
        return cell.observed(Outcome.FAILED_RUN, made.context.today, trial.failure(made), **more)
    return cell.observed(Outcome.OK, made.context.today, shortened(_summary(trial, made)), **more)


def _summary(trial: Trial, made: VirtualEnvironment) -> str:
    """Return what each workload did, in their order."""
    said: dict[str, list[str]] = {}
    for fact in trial.facts:
        if "begun" in fact:
            words = said.setdefault(Path(fact["begun"]).stem, [])
        elif "check" in fact:
            words.append(str(fact["check"]))
        elif "note" in fact:
            words.append(f"{fact['note']} {fact['value']}")
        elif "skipped" in fact:
            reason = made.tidy(" ".join(str(fact["reason"]).split()))[:160]
            words.append(f"not tried: {fact['skipped']} ({reason})")
    return "; ".join(f"{product}: {', '.join(words)}" for product, words in said.items())


def features_here(data: Path) -> tuple[str, ...]:
    """Return which of the processor's features that matter this machine has."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return ()
    found = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", text, re.M)
    flags = set(found[1].split()) if found else set()
    return tuple(sorted(flags & set(proofs(data).features)))
