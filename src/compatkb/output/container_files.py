"""An answer as files for containers: a Dockerfile, and a compose file that runs it."""

from contextlib import suppress

from compatkb.core.record import NamedTuple
from compatkb.core.text_position import quoted
from compatkb.errors import NoRequirementsError
from compatkb.output.commands import pip_commands, proof_command, short_proof
from compatkb.output.installer_files import minors, packages_of, stacks_of, title_of
from compatkb.output.registry import Wanted
from compatkb.output.things import StackView
from compatkb.output.view import AnswerView

_USER = "app"
_SHARED_MEMORY = "8gb"  # loaders of data hand batches through it, and Docker's own 64 MB end in a bus error
_GROUP = "RENDER_GROUP"
_DEVICES = "/dev/dri"


class Base(NamedTuple):
    """An image to install into: its name, and what root runs there before Python can install anything."""

    image: str
    steps: tuple[str, ...]


def dockerfile_text(view: AnswerView, wanted: Wanted) -> str:
    """Return a Dockerfile; raises NoRequirementsError where the data know no image to install the stack into."""
    stack = _based(view, wanted)
    return f"# {title_of(view, stack)}\n{dockerfile_of(stack)}"


def dockerfile_of(stack: StackView) -> str:
    """Return a Dockerfile that installs a stack in one layer, ends with a check that it is there, and leaves root.

    What is installed in several steps is installed in these. Raises NoRequirementsError as `dockerfile_text` does.
    """
    packages_of(stack)  # raises where there is nothing to install
    base = base_of(stack)
    steps = [*base.steps, "python3 -m venv /opt/venv", *pip_commands(stack)]
    steps += ["rm -rf /var/lib/apt/lists/*"] if base.steps else []
    steps.append(f"useradd --create-home --home-dir /{_USER} --uid 10001 {_USER}")
    steps.append(proof_command(stack) or "python --version")
    return "\n".join(
        [
            f"FROM {base.image}",
            "ENV PATH=/opt/venv/bin:$PATH DEBIAN_FRONTEND=noninteractive PIP_NO_CACHE_DIR=1",
            f"RUN {(' && ' + chr(92) + chr(10) + '    ').join(steps)}",
            f"USER {_USER}",
            f"WORKDIR /{_USER}",
            "",
        ]
    )


def _based(view: AnswerView, wanted: Wanted) -> StackView:
    """Return the best stack of those that are alike for which there is an image; raises NoRequirementsError for none."""
    stacks = stacks_of(view, wanted)
    for stack in stacks:
        packages_of(stack)
        with suppress(NoRequirementsError):
            base_of(stack)
            return stack
    base_of(stacks[0])  # raises
    return stacks[0]


def base_of(stack: StackView) -> Base:
    """Return the first image of the data that has a system and a Python of the stack and, for a GPU, its driver.

    Raises NoRequirementsError where there is none, with the images that were looked at.
    """
    has_graphics, pythons = stack.evidence.for_graphics, minors(stack)
    known = [base for base in stack.evidence.bases if base.driver or not has_graphics]
    for base in known:
        systems = {base.os.id, *(base.os.wider if base.os.family != base.os.id else ())}
        fitting = [python for python in base.python if python in pythons]
        if systems & {system.id for system in stack.os} and fitting:
            steps = (*base.setup, *(base.driver if has_graphics else ()))
            return Base(base.image.format(python=fitting[0]), steps)
    have = "; ".join(f"{base.os} with Python {', '.join(base.python)}" for base in known)
    what = f"{', '.join(system.name for system in stack.os)}, Python {', '.join(pythons)}"
    driver = f" with a driver for {stack.device}" if has_graphics else ""
    raise NoRequirementsError(f"no base image{driver} for {what}; the data have {have}; choose one with --os and --python")


def compose_text(view: AnswerView, wanted: Wanted) -> str:
    """Return a compose file that builds the Dockerfile beside it and hands the GPU in; raises NoRequirementsError likewise."""
    stack = _based(view, wanted)
    lines = [f"# {title_of(view, stack)}", "services:", f"  {_USER}:", "    build: ."]
    if proof := short_proof(stack):
        lines.append(f"    command: {quoted(proof)}")
    if stack.evidence.for_graphics:
        lines += ["    devices:", f"      - {_DEVICES}:{_DEVICES}", "    group_add:"]
        lines.append(f"      - ${{{_GROUP}:-video}}  # the number that `getent group render` prints on the host")
    return "\n".join([*lines, f"    shm_size: {_SHARED_MEMORY}", ""])
