"""An answer as a requirements file or a constraints file for pip and uv."""

from compatkb.engine.answer import Answer
from compatkb.output.commands import bounds_of, requirements
from compatkb.output.registry import Wanted
from compatkb.output.stack_files import one_step, packages_of, stack_of, title_of
from compatkb.store.reader import Snapshot

_PLAIN = Wanted()


def requirements_text(facts: Snapshot, answer: Answer, wanted: Wanted = _PLAIN) -> str:
    """Return a stack as a requirements file; raises NoRequirementsError where no such file installs one."""
    stack = stack_of(facts, answer, wanted)
    one_step(facts, stack, "requirements file")
    packages_of(facts, stack)  # raises where there is nothing to name
    return requirements(facts, stack)


def constraints_text(facts: Snapshot, answer: Answer, wanted: Wanted = _PLAIN) -> str:
    """Return a stack as a constraints file; the indexes stand in comments, since such a file installs nothing itself.

    Raises NoRequirementsError where no such file holds one.
    """
    stack = stack_of(facts, answer, wanted)
    one_step(facts, stack, "constraints file")
    placed = packages_of(facts, stack)
    lines = [f"# {title_of(facts, answer, stack)}"]
    lines += dict.fromkeys(f"# index: {each.channel.url}" for each in placed if each.channel.url)
    lines += [f"{each.name}=={each.element.version}" for each in placed]  # a constraint may have no extras
    return "\n".join([*lines, *bounds_of(facts, stack)]) + "\n"
