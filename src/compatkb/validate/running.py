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
