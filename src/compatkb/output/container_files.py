"""An answer as files for containers: a Dockerfile, and a compose file that runs it."""

from contextlib import suppress
from typing import NamedTuple

from compatkb.core.quoting import quoted
from compatkb.engine.answer import Answer
from compatkb.engine.stacks import Stack
from compatkb.errors import NoRequirementsError
from compatkb.output.commands import pip_commands, proof_command, short_proof
from compatkb.output.labels import value
from compatkb.output.registry import Wanted
from compatkb.output.stack_files import minors, packages_of, stacks_of, title_of
from compatkb.store.queries.provenance import guide_records, needs_graphics
from compatkb.store.reader import Snapshot

_USER = "app"
_SHARED_MEMORY = "8gb"  # loaders of data hand batches through it, and Docker's own 64 MB end in a bus error
_GROUP = "RENDER_GROUP"
_DEVICES = "/dev/dri"


class Base(NamedTuple):
    """An image to install into: its name, and what root runs there before Python can install anything."""

    image: str
    steps: tuple[str, ...]


def dockerfile_text(facts: Snapshot, answer: Answer, wanted: Wanted) -> str:
    """Return a Dockerfile; raises NoRequirementsError where the data know no image to install the stack into."""
    stack = _based(facts, answer, wanted)
    return f"# {title_of(facts, answer, stack)}\n{dockerfile_of(facts, stack)}"


def dockerfile_of(facts: Snapshot, stack: Stack) -> str:
    """Return a Dockerfile that installs a stack in one layer, ends with a check that it is there, and leaves root.

    What is installed in several steps is installed in these. Raises NoRequirementsError as `dockerfile_text` does.
    """
    packages_of(facts, stack)  # raises where there is nothing to install
    base = base_of(facts, stack)
    steps = [*base.steps, "python3 -m venv /opt/venv", *pip_commands(facts, stack)]
    steps += ["rm -rf /var/lib/apt/lists/*"] if base.steps else []
    steps.append(f"useradd --create-home --home-dir /{_USER} --uid 10001 {_USER}")
    steps.append(proof_command(facts, stack) or "python --version")
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


def _based(facts: Snapshot, answer: Answer, wanted: Wanted) -> Stack:
    """Return the best stack of those that are alike for which there is an image; raises NoRequirementsError for none."""
    stacks = stacks_of(facts, answer, wanted)
    for stack in stacks:
        packages_of(facts, stack)
        with suppress(NoRequirementsError):
            base_of(facts, stack)
            return stack
    base_of(facts, stacks[0])  # raises
    return stacks[0]


def base_of(facts: Snapshot, stack: Stack) -> Base:
    """Return the first image of the data that has a system and a Python of the stack and, for a GPU, its driver.

    Raises NoRequirementsError where there is none, with the images that were looked at.
    """
    has_graphics = needs_graphics(facts, stack.device)
    known = guide_records(facts, "base_image")
    for record in known:
        systems = {record["os"], *(facts.wider.get(record["os"], ()) if record["os"] not in facts.families else ())}
        pythons = [python for python in record["python"] if python in minors(stack)]
        if systems & set(stack.os) and pythons and (record["driver"] or not has_graphics):
            steps = (*record["setup"], *(record["driver"] if has_graphics else ()))
            return Base(record["image"].format(python=pythons[0]), steps)
    fitting = [r for r in known if r["driver"] or not has_graphics]
    have = "; ".join(f"{value(facts, 'os', r['os'])} with Python {', '.join(r['python'])}" for r in fitting)
    what = f"{', '.join(value(facts, 'os', system) for system in stack.os)}, Python {', '.join(minors(stack))}"
    driver = f" with a driver for {value(facts, 'device', stack.device)}" if has_graphics else ""
    raise NoRequirementsError(f"no base image{driver} for {what}; the data have {have}; choose one with --os and --python")


def compose_text(facts: Snapshot, answer: Answer, wanted: Wanted) -> str:
    """Return a compose file that builds the Dockerfile beside it and hands the GPU in; raises NoRequirementsError likewise."""
    stack = _based(facts, answer, wanted)
    lines = [f"# {title_of(facts, answer, stack)}", "services:", f"  {_USER}:", "    build: ."]
    if proof := short_proof(facts, stack):
        lines.append(f"    command: {quoted(proof)}")
    if needs_graphics(facts, stack.device):
        lines += ["    devices:", f"      - {_DEVICES}:{_DEVICES}", "    group_add:"]
        lines.append(f"      - ${{{_GROUP}:-video}}  # the number that `getent group render` prints on the host")
    return "\n".join([*lines, f"    shm_size: {_SHARED_MEMORY}", ""])
