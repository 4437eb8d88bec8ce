"""A stack in the forms that people paste: requirements file, conda environment, container lines."""

from compatkb.engine.stacks import Stack
from compatkb.rendering import commands
from compatkb.snapshot.read import Snapshot


def forms_of(facts: Snapshot, stack: Stack, python: str) -> dict[str, str]:
    """Return the forms by name, for one Python; empty where a form cannot say it, or a package is on no known index."""
    steps = commands.steps_of(facts, stack)
    whole = bool(steps) and not commands.waived(facts, stack)
    lines = commands.requirements(facts, stack) if whole else ""
    return {
        "requirements": lines,
        "conda": _conda(python, lines) if whole else "",
        "container": _container(facts, stack, python) if steps else "",
    }


def python_of(stack: Stack) -> str:
    """Return the newest Python of a stack that is no free-threaded build; empty where there is none."""
    return next((python for python in reversed(stack.python) if not python.endswith("t")), "")


def _conda(python: str, requirements: str) -> str:
    body = "".join(f"      - {_scalar(line)}\n" for line in requirements.splitlines() if not line.startswith("#"))
    return f"name: compatkb\nchannels:\n  - conda-forge\ndependencies:\n  - python={python}\n  - pip\n  - pip:\n{body}"


def _scalar(line: str) -> str:
    """Return a line as a YAML scalar."""
    return f'"{line}"' if any(sign in line for sign in "[]{}<>*&!|%@`,#") or ": " in line else line


def _container(facts: Snapshot, stack: Stack, python: str) -> str:
    runs = "".join(f"RUN {command}\n" for command in commands.pip_commands(facts, stack))
    return f"FROM docker.io/library/python:{python}-slim\n{runs}"
