"""What is said about a machine, as text or JSON."""

import json
import shlex
from datetime import date
from typing import Any

from compatkb.examining import Examination
from compatkb.findings import Severity
from compatkb.gleaning import guide
from compatkb.inspecting import Remark, Seen
from compatkb.rendering import commands, sentences
from compatkb.rendering.payload import SCHEMA, request_payload, source_payload
from compatkb.rendering.stacks import instead_lines, instead_payload, stack_brief, stack_lines, wrapped
from compatkb.rendering.text import VERDICTS
from compatkb.snapshot.read import Snapshot

_REASONS = 3
_NOTHING = "nothing-installed"


def examination_text(facts: Snapshot, made: Examination, day: date) -> str:
    """Return what is there, whether it works, what is wrong, and the way to the nearest stack that works."""
    machine = made.machine
    parts = [f"Python {machine.python}" if machine.python else None, made.system or machine.system, machine.arch]
    parts += [f"glibc {machine.glibc}" if machine.glibc else None, f"kernel {machine.kernel}" if machine.kernel else None]
    lines = [f"{machine.origin}", *wrapped("", ", ".join(part for part in parts if part), "  ")]
    lines += [f"remark: {remark}" for remark in machine.remarks]
    main = [item for item in made.held if item.main]
    rest = [item for item in made.held if not item.main]
    lines += ["", "Installed:"] if made.held else ["", "Installed: nothing that the data know"]
    lines += [f"  {item.installed.name} {item.installed.version or '(no version)'}" for item in main]
    if rest:
        lines += wrapped(
            "  and " if main else "  only ", ", ".join(f"{item.installed.name} {item.installed.version}" for item in rest)
        )
    lines += _graphics(made)
    lines += _environment(facts, made)
    lines += ["", f"Verdict: {_verdict(made)}"]
    answer = made.answer
    if answer and made.verdict == "does-not-work":
        for cause in answer.causes[:_REASONS]:
            lines += wrapped("- ", sentences.cause(facts, cause, answer.request), "  ")
            lines += [f"    source: {s[1] or s[0]}" for s in sentences.cause_sources(facts, cause, answer.request)[:2]]
    elif made.doubtful:
        lines += wrapped("- ", f"the data do not know the builds of {', '.join(made.doubtful)}", "  ")
    for remark in made.remarks:
        lines += _remark(remark)
    return "\n".join([*lines, *_way(facts, made), f"(as of {day}, data of {facts.meta['data_date']})"]) + "\n"


def examination_json(facts: Snapshot, made: Examination, day: date) -> str:
    """Return the examination as JSON; docs/doctor.md names the fields."""
    machine, answer = made.machine, made.answer
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "data_date": facts.meta["data_date"],
        "as_of": day.isoformat(),
        "origin": machine.origin,
        "python": machine.python,
        "os": made.system,
        "arch": machine.arch,
        "kernel": machine.kernel,
        "glibc": machine.glibc,
        "packages": [
            {"product": h.product, "name": h.installed.name, "version": h.installed.version, "known": h.known}
            for h in made.held
        ],
        "graphics": [_graphics_payload(seen) for seen in made.seen] if machine.graphics is not None else None,
        "drivers": [{"name": name, "version": version} for name, version in machine.drivers or ()],
        "driver": made.driver,
        "variables": dict(machine.variables),
        "libraries": list(machine.libraries),
        "verdict": made.verdict,
        "healthy": made.healthy,
        "request": request_payload(answer.request) if answer else None,
        "reasons": [sentences.cause(facts, cause, answer.request) for cause in answer.causes] if answer else [],
        "remarks": [
            {
                "rule": remark.rule,
                "level": remark.level.value,
                "message": remark.message,
                "fix": remark.fix,
                "sources": [source_payload(source) for source in remark.sources],
            }
            for remark in made.remarks
        ],
        "steps": [step._asdict() for step in made.steps],
        "commands": _commands(facts, made),
        "stack": stack_brief(facts, made.best.stack, _request(made, day)) if made.best else None,
        "instead": instead_payload(facts, made.instead, _request(made, day)),
        "newer": stack_brief(facts, made.newer, _request(made, day)) if made.newer else None,
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _request(made: Examination, day: date) -> Any:
    from compatkb.records import Request

    return made.answer.request if made.answer else Request((), (), (), day.toordinal())


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


def _verdict(made: Examination) -> str:
    if made.verdict == _NOTHING:
        return "nothing of these packages is installed"
    return VERDICTS[made.verdict]


def _graphics(made: Examination) -> list[str]:
    machine = made.machine
    if machine.graphics is None:
        return []
    lines = ["", "Graphics:" if made.seen else "Graphics: none on the PCI bus"]
    for seen in made.seen:
        graphics = seen.graphics
        family = f"; hardware {seen.hardware}" if seen.hardware else ""
        driver = f"; kernel driver {graphics.driver}" if graphics.driver else ""
        lines += wrapped("  ", f"{seen.name} ({graphics.vendor}:{graphics.device} at {graphics.slot}){family}{driver}")
    if machine.drivers:
        series = f" (driver series {made.driver})" if made.driver else ""
        lines += wrapped("  packages: ", ", ".join(f"{name} {version}" for name, version in machine.drivers) + series)
    return lines


def _environment(facts: Snapshot, made: Examination) -> list[str]:
    """Return the run-time libraries that were found, with their generation, and the variables that are set."""
    known = {record["library"]: record["version"] for record in guide(facts, "generation")}
    lines = []
    for path in made.machine.libraries:
        generation = known.get(path.replace("\\", "/").rpartition("/")[2])
        lines += wrapped("  ", f"{path}" + (f" (oneAPI {generation})" if generation else ""))
    lines += [line for name, value in made.machine.variables for line in wrapped("  ", f"{name}={value}")]
    return ["", "Run time:", *lines] if lines else []


def _remark(remark: Remark) -> list[str]:
    word = "error" if remark.level is Severity.ERROR else "warning"
    lines = wrapped(f"{word} [{remark.rule}]: ", remark.message)
    if remark.fix:
        lines += wrapped("fix: ", remark.fix, "  ")
    return lines


def _way(facts: Snapshot, made: Examination) -> list[str]:
    if made.best is None:
        return ["", "No stack is known to work on this machine.", ""]
    instead = instead_lines(facts, made.instead)
    if made.best.where == "same" and made.verdict != "unknown":
        said = [w for w in made.best.stack.warnings if w.kind != "known-issue"]
        lines = [line for w in said for line in wrapped(f"warning ({w.kind}): ", sentences.warning(w), "  ")]
        return [*lines, "  Nothing has to change.", "", *instead, *_newer(facts, made)]
    given = f", giving up {', '.join(made.best.relaxed)}" if made.best.relaxed else ""
    aim = (
        "a stack for the GPU" if made.verdict not in ("does-not-work", "unknown", _NOTHING) else "the nearest stack that works"
    )
    lines = ["", f"The way to {aim}{given}:"]
    for step in made.steps:
        lines += [f"  - {step.distribution} {step.before}"] if step.before else []
        lines += [f"  + {step.distribution} {step.after}"] if step.after else []
    stack = stack_lines(facts, made.best.stack)
    lines += [f"  {line}" for line in stack if not line.startswith("$ ")]
    return [*lines, *(f"  $ {command}" for command in _commands(facts, made)), "", *_newer(facts, made), *instead]


def _newer(facts: Snapshot, made: Examination) -> list[str]:
    """Return the newer stack beside the one that is proposed, and why it does not come first."""
    if made.newer is None:
        return []
    weak = made.newer.verdict == "likely"
    head = "Newer, but at least one step is only inferred:" if weak else "Newer, but with warnings:"
    return [head, *(f"  {line}" for line in stack_lines(facts, made.newer)), ""]


def _commands(facts: Snapshot, made: Examination) -> list[str]:
    """Return the commands for that interpreter: what is in the way goes first, then the installation and its check."""
    if made.best is None or (made.best.where == "same" and made.verdict != "unknown"):
        return []
    python = shlex.quote(made.machine.command)
    gone = [step.distribution for step in made.steps if step.before and step.after is None]
    lines = [f"{python} -m pip uninstall -y {' '.join(shlex.quote(name) for name in gone)}"] if gone else []
    wanted = commands.pip_commands(facts, made.best.stack)
    proof = commands.proof_command(facts, made.best.stack)
    return [*lines, *(python + line.removeprefix("python") for line in [*wanted, *([proof] if wanted and proof else [])])]
