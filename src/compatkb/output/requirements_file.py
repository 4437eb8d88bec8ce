"""An answer as a requirements file for pip, and as commands for uv."""

from compatkb.engine.answer import Answer
from compatkb.engine.stacks import Stack
from compatkb.errors import NoRequirementsError
from compatkb.output.commands import requirements, uv_commands, waived
from compatkb.output.messages import asked, cause
from compatkb.output.registry import Wanted
from compatkb.store.reader import Snapshot


def requirements_text(facts: Snapshot, answer: Answer, _: Wanted | None = None) -> str:
    """Return the best stack as a requirements file; raises NoRequirementsError where no such file installs one."""
    stack = _best(facts, answer)
    if pins := waived(facts, stack):
        reason = f"its maker installs it in steps and against {', '.join(pins)}"
        raise NoRequirementsError(f"one requirements file cannot install this stack: {reason}; see `compatkb resolve`")
    return requirements(facts, stack)


def uv_text(facts: Snapshot, answer: Answer, _: Wanted | None = None) -> str:
    """Return the commands with which uv installs the best stack; raises NoRequirementsError where there is none."""
    return "".join(f"{step}\n" for step in uv_commands(facts, _best(facts, answer)))


def _best(facts: Snapshot, answer: Answer) -> Stack:
    if not answer.stacks:
        causes = "".join(f"\n- {cause(facts, found, answer.request)}" for found in answer.causes)
        raise NoRequirementsError(f"{asked(facts, answer.request)}: no stack{causes}")
    return answer.stacks[0]
