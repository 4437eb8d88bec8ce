"""What a run of the user's own torch showed."""

from datetime import date
from typing import NamedTuple

from compatkb.doctor.known_machine import DeviceCheck
from compatkb.doctor.machine.running import CheckRun
from compatkb.output.documents import Edition
from compatkb.output.labels import Names
from compatkb.output.screen import Line, labelled, wrapped
from compatkb.store.reader import Snapshot


class VerificationView(NamedTuple):
    """What was run, and what came of it."""

    edition: Edition
    python: str
    device: str | None
    device_name: str
    module: str
    run: CheckRun


def present_verification(facts: Snapshot, python: str, check: DeviceCheck, run: CheckRun, day: date) -> VerificationView:
    """Return what was run by an interpreter, in the names of the data."""
    name = Names(facts).value("device", check.device) if check.device else "this machine"
    return VerificationView(Edition(facts.meta["data_date"], day), python, check.device, name, check.module, run)


def verification_lines(view: VerificationView) -> list[Line]:
    """Return whether the device can be used, and what to look at where it cannot."""
    run = view.run
    if run.version is None:
        last = next((line for line in reversed(run.text.splitlines()) if line.strip()), "it printed nothing")
        return wrapped(
            f"✗ fails   {view.module} cannot be imported by {view.python}: {last.strip()}", "", "  ", "does-not-work"
        )
    if not run.usable:
        head = f"✗ fails   {view.module} {run.version} is imported, but it can use no {view.device_name} here"
        return [*wrapped(head, "", "  ", "does-not-work"), *labelled("fix", "`compatkb doctor` says what is missing")]
    return wrapped(f"✓ verified   {view.module} {run.version} runs on {view.device_name} ({view.python})", "", "  ", "works")


def verification_json(view: VerificationView) -> str:
    """Return what a run showed for programs."""
    return view.edition.document({"python": view.python, "device": view.device, "module": view.module, **view.run._asdict()})
