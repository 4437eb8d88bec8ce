"""What a run of the user's own torch showed."""

from compatkb.doctor.known_machine import DeviceCheck
from compatkb.doctor.machine.running import CheckRun
from compatkb.output.documents import Edition
from compatkb.output.screen import Line, labelled, wrapped


def verification_lines(python: str, module: str, device: str, run: CheckRun) -> list[Line]:
    """Return whether a device can be used by a module of an interpreter, and what to look at where it cannot."""
    if run.version is None:
        last = next((line for line in reversed(run.text.splitlines()) if line.strip()), "it printed nothing")
        return wrapped(f"✗ fails   {module} cannot be imported by {python}: {last.strip()}", "", "  ", "does-not-work")
    if not run.usable:
        head = f"✗ fails   {module} {run.version} is imported, but it can use no {device} here"
        return [*wrapped(head, "", "  ", "does-not-work"), *labelled("fix", "`compatkb doctor` says what is missing")]
    return wrapped(f"✓ verified   {module} {run.version} runs on {device} ({python})", "", "  ", "works")


def verification_json(edition: Edition, python: str, check: DeviceCheck, run: CheckRun) -> str:
    """Return what a run showed for programs."""
    return edition.document({"python": python, "device": check.device, "module": check.module, **run._asdict()})
