"""An answer as a requirements file for pip."""

from compatkb.engine.answer import Answer
from compatkb.errors import NoRequirementsError
from compatkb.output.commands import requirements, waived
from compatkb.output.messages import asked, cause
from compatkb.output.registry import Wanted
from compatkb.store.reader import Snapshot


def requirements_text(facts: Snapshot, answer: Answer, _: Wanted | None = None) -> str:
    """Return the best stack as a requirements file; raises NoRequirementsError where no such file installs one."""
    if not answer.stacks:
        causes = "".join(f"\n- {cause(facts, found, answer.request)}" for found in answer.causes)
        raise NoRequirementsError(f"{asked(facts, answer.request)}: no stack{causes}")
    if pins := waived(facts, answer.stacks[0]):
        reason = f"its maker installs it in steps and against {', '.join(pins)}"
        raise NoRequirementsError(f"one requirements file cannot install this stack: {reason}; see `compatkb resolve`")
    return requirements(facts, answer.stacks[0])
