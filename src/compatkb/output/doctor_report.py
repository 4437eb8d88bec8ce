"""What is said about a machine, as JSON; the screen is in `doctor_screen`."""

from datetime import date
from typing import Any

from compatkb.doctor.checks import Seen
from compatkb.doctor.verdict import Examination
from compatkb.output import commands, messages
from compatkb.output.doctor_screen import install_commands
from compatkb.output.json_document import document
from compatkb.output.payload import request_payload, source_payload
from compatkb.output.shells import quote
from compatkb.output.stack_summary import instead_payload, request_of, stack_brief
from compatkb.store.reader import Snapshot
from compatkb.store.records import picked


def examination_json(facts: Snapshot, examination: Examination, day: date) -> str:
    """Return the examination as JSON; docs/doctor.md names the fields."""
    machine, answer = examination.machine, examination.answer
    request = request_of(answer, day)
    content: dict[str, Any] = {
        **picked(machine, "origin python"),
        "os": examination.system,
        **picked(machine, "arch kernel glibc"),
        "packages": [
            {"product": h.product, "name": h.installed.name, "version": h.installed.version, "known": h.known}
            for h in examination.held
        ],
        "graphics": [_graphics_payload(seen) for seen in examination.seen] if machine.graphics is not None else None,
        "drivers": [{"name": name, "version": version} for name, version in machine.drivers or ()],
        "driver": examination.driver,
        "variables": dict(machine.variables),
        "libraries": list(machine.libraries),
        "verdict": examination.verdict,
        "healthy": examination.healthy,
        "request": request_payload(answer.request) if answer else None,
        "reasons": [messages.cause(facts, cause, answer.request) for cause in answer.causes] if answer else [],
        "remarks": [
            {
                **picked(remark, "rule level message fix"),
                "sources": [source_payload(source) for source in remark.sources],
            }
            for remark in examination.remarks
        ],
        "steps": [step._asdict() for step in examination.steps],
        "commands": _commands(facts, examination),
        "stack": stack_brief(facts, examination.best.stack, request) if examination.best else None,
        "instead": instead_payload(facts, examination.instead, request),
        "proven": stack_brief(facts, examination.proven, request) if examination.proven else None,
    }
    return document(facts, day, content)


def _graphics_payload(seen: Seen) -> dict[str, Any]:
    graphics = seen.graphics
    return {
        "slot": graphics.slot,
        "id": f"{graphics.vendor}:{graphics.device}",
        "name": seen.name,
        "hardware": seen.hardware,
        "kernel_driver": graphics.driver,
        "note": seen.note,
        "sources": [source_payload(source) for source in seen.sources],
    }


def _commands(facts: Snapshot, examination: Examination) -> list[str]:
    """Return the commands and, where they install anything, the one that proves it."""
    lines = install_commands(facts, examination)
    proof = commands.proof_command(facts, examination.best.stack) if examination.best and lines else None
    python = quote([examination.machine.command])
    return [*lines, *([python + proof.removeprefix("python")] if proof else [])]
