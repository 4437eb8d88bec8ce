"""A stack as each installer takes it: commands, or the file that it reads, quoted for the shell of the system."""

from collections.abc import Callable
from typing import NamedTuple

from compatkb.core.names import is_free_threaded
from compatkb.engine.stacks import Stack
from compatkb.errors import NoRequirementsError
from compatkb.output import commands
from compatkb.output.container_files import dockerfile_of
from compatkb.output.installer_files import environment_of
from compatkb.output.messages import not_installable, sentence
from compatkb.output.shells import CMD, POSIX
from compatkb.store.reader import Snapshot
from compatkb.web.systems import is_windows

INSTALLERS = (
    ("pip", "pip"),
    ("uv", "uv"),
    ("conda", "conda"),
    ("docker", "Docker"),
    ("requirements", "requirements.txt"),
)
"""What a stack can be installed with: the id, and the name."""


class Recipe(NamedTuple):
    """What to paste: a command, or the contents of a file."""

    installer: str
    text: str
    file: str = ""
    reason: str = ""  # why there is no text


def recipes(facts: Snapshot, stack: Stack, systems: tuple[str, ...]) -> list[Recipe]:
    """Return for each installer what to paste, or why it cannot install the stack; empty where no index has a package."""
    windows = is_windows(facts, systems)
    shell = CMD if windows else POSIX  # double quotes are read by every shell of Windows, single ones only by some
    pip = commands.pip_commands(facts, stack, shell)
    if not pip:
        return []
    waived = commands.waived(facts, stack)
    apart = f"The maker installs this in two steps and against {', '.join(waived)}; one file cannot say so." if waived else ""
    if commands.compiled_of(facts, stack):
        apart = sentence(not_installable(facts, stack))
    lines = "" if apart else commands.requirements(facts, stack)
    recipe_by_installer = {
        "pip": Recipe("pip", "\n".join(pip)),
        "uv": Recipe("uv", "\n".join(commands.uv_commands(facts, stack, shell))),
        "conda": Recipe("conda", "", "environment.yml", apart)
        if apart
        else _file("conda", "environment.yml", environment_of, facts, stack),
        "docker": _file("docker", "Dockerfile", dockerfile_of, facts, stack),
        "requirements": Recipe("requirements", lines, "requirements.txt", apart),
    }
    if windows:
        recipe_by_installer["docker"] = Recipe("docker", "", "Dockerfile", "The container images are for Linux.")
    return [recipe_by_installer[installer] for installer, _ in INSTALLERS]


def proof(facts: Snapshot, stack: Stack) -> str:
    """Return a short command that shows what is installed, and whether the GPU is seen; it is right in every shell."""
    return commands.short_proof(facts, stack) or ""


def newest_python(stack: Stack) -> str:
    """Return the newest Python of a stack that is no free-threaded build; empty where there is none."""
    return next((python for python in reversed(stack.python) if not is_free_threaded(python)), "")


def _file(installer: str, file: str, make: Callable[[Snapshot, Stack], str], facts: Snapshot, stack: Stack) -> Recipe:
    try:
        return Recipe(installer, make(facts, stack), file)
    except NoRequirementsError as error:
        return Recipe(installer, "", file, sentence(str(error)))
