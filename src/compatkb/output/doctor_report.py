"""What is said about a machine: the first screen of `doctor` (verdict, command, what changes, what is wrong), and JSON."""

from datetime import date
from typing import Any

from compatkb.core.findings import Severity
from compatkb.doctor.checks import Remark, Seen
from compatkb.doctor.verdict import Examination
from compatkb.output import commands, messages
from compatkb.output.citations import Numbers, short, source_payloads
from compatkb.output.json_document import document
from compatkb.output.labels import ranges
from compatkb.output.payload import request_payload, stack_brief
from compatkb.output.presenter import Presenter, instead_payload, request_of
from compatkb.output.screen import BLANK, HEIGHT, Block, Line, command, fitted, labelled, labelled_block, wrapped
from compatkb.output.shells import POSIX, quote
from compatkb.output.things import listed
from compatkb.store.reader import Snapshot
from compatkb.store.records import picked

_NOTHING = "nothing-installed"
_REASONS = 2
_MANY = 6


def examination_lines(facts: Snapshot, examination: Examination, day: date, shell: str = POSIX) -> list[Line]:
    """Return the screen."""
    shown = Presenter(facts, request_of(examination.answer, day))
    numbers = Numbers(_REASONS)
    style, sentence, headline_remark = _headline(shown, examination)
    blocks = [Block(wrapped(sentence, f"{messages.signed(style)}   ", "  ", style))]
    steps = install_commands(shown, examination, shell)
    blocks.append(Block([BLANK, *map(command, steps), BLANK] if steps else [BLANK]))
    blocks += _reasons(shown, examination, numbers)
    blocks += _have(shown, examination)
    blocks += _changes(shown, examination)
    blocks += [_remark(remark) for remark in examination.remarks if remark is not headline_remark or remark.fix]
    blocks += _beside(shown, examination, shell)
    blocks += [Block(labelled("note", remark), 3) for remark in examination.machine.remarks]
    blocks += labelled_block("way", "" if examination.best else "no stack is known to work on this machine")
    for number, source in enumerate(numbers.sources, 1):
        blocks.append(Block(wrapped(short(source), f"  [{number}] ", "      ", "dim"), 4))
    blocks.append(Block([BLANK, *wrapped(messages.footer(shown.facts.meta["data_date"], day.toordinal()), "  ", style="dim")]))
    return fitted(blocks, HEIGHT)


def _headline(shown: Presenter, examination: Examination) -> tuple[str, str, Remark | None]:
    """Return the verdict on the machine, its sentence, and the remark that is told with it."""
    wrong = [remark for remark in examination.remarks if remark.level is Severity.ERROR]
    wrong += [remark for remark in examination.remarks if remark.rule in ("build-for-another-device", "no-graphics-for-build")]
    main = listed([f"{shown.label(h.product)} {h.installed.version or '(no version)'}" for h in examination.held if h.main])
    where = examination.machine.origin
    if examination.verdict == _NOTHING:
        return "unknown", f"no package that compatkb knows is installed ({where})", None
    if examination.verdict == "does-not-work":
        sentence = shown.asked(examination.answer.request) if examination.answer else main
        return "does-not-work", f"{sentence} ({where})", None
    if wrong:
        return "does-not-work", f"{wrong[0].message} ({where})", wrong[0]
    if examination.doubtful:
        return "unknown", f"no data for this build of {listed(examination.doubtful)} ({where})", None
    sentence = shown.asked(examination.answer.request) if examination.answer else main
    return examination.verdict, f"{sentence} ({where})", None


def install_commands(shown: Presenter, examination: Examination, shell: str = POSIX) -> list[str]:
    """Return the commands for that interpreter: what is in the way goes first, then the installation."""
    if examination.best is None or (examination.best.where == "same" and examination.verdict != "unknown"):
        return []
    python = quote([examination.machine.command], shell)
    gone = [step.distribution for step in examination.steps if step.before and step.after is None]
    lines = [f"{python} -m pip uninstall -y {quote(gone, shell)}"] if gone else []
    return [
        *lines,
        *(python + line.removeprefix("python") for line in commands.pip_commands(shown.stack(examination.best.stack), shell)),
    ]


def _reasons(shown: Presenter, examination: Examination, numbers: Numbers) -> list[Block]:
    """Return why what is installed does not work."""
    if not examination.answer or examination.verdict != "does-not-work":
        return []
    blocks = []
    for number, cause in enumerate(examination.answer.causes[:_REASONS]):
        marks = numbers.marks(shown.sources(cause)[:1])
        text = f"{shown.sentence(cause)} {marks}"
        blocks += labelled_block("" if number else "why", text, number)
    return blocks


def _have(shown: Presenter, examination: Examination) -> list[Block]:
    """Return what is there: packages, GPU, system, driver, run-time libraries, variables."""
    machine = examination.machine
    main = [f"{h.installed.name} {h.installed.version or '(no version)'}" for h in examination.held if h.main]
    rest = [f"{h.installed.name} {h.installed.version}" for h in examination.held if not h.main]
    more = f" and {len(rest) - _MANY} more" if len(rest) > _MANY else ""
    blocks = labelled_block("have", ", ".join(main), 1)
    blocks += labelled_block("and", ", ".join(rest[:_MANY]) + more, 5)
    system = shown.value("os", examination.system) if examination.system else machine.system
    parts = [f"Python {machine.python}" if machine.python else None, system, machine.arch]
    parts += [f"glibc {machine.glibc}" if machine.glibc else None, f"kernel {machine.kernel}" if machine.kernel else None]
    blocks += labelled_block("machine", ", ".join(part for part in parts if part), 1)
    if machine.graphics is not None:
        seen = [f"{s.name}{f' ({s.hardware})' if s.hardware else ''}" for s in examination.seen]
        blocks += labelled_block("graphics", ", ".join(seen) or "none on the PCI bus", 1)
    if machine.drivers:
        series = f" (series {examination.driver})" if examination.driver else ""
        names = ", ".join(f"{name} {version}" for name, version in machine.drivers[:_MANY])
        blocks += labelled_block("driver", names + series, 3)
    blocks += labelled_block("libraries", ", ".join(machine.libraries[:_REASONS]), 4)
    return blocks + labelled_block("variables", ", ".join(f"{name}={text}" for name, text in machine.variables), 4)


def _changes(shown: Presenter, examination: Examination) -> list[Block]:
    """Return what changes from what is installed to the stack that the commands install."""
    if examination.best is None or not examination.steps:
        return []
    parts = [f"{s.distribution} {s.before} to {s.after}" for s in examination.steps if s.before and s.after]
    parts += [f"remove {s.distribution} {s.before}" for s in examination.steps if not s.after]
    if added := [f"{s.distribution} {s.after}" for s in examination.steps if not s.before]:
        parts.append(f"{'also ' if parts else ''}install {listed(added)}")
    verdict = messages.signed(examination.best.stack.verdict)
    blocks = [Block(labelled("change", f"{'; '.join(parts)}   ({verdict})"))]
    if examination.best.relaxed:
        moved = listed([shown.label(product) for product in examination.best.relaxed])
        blocks += labelled_block("moves", f"{moved}; everything else that you fixed stays", 3)
    warned = messages.warnings_in_brief(shown.stack(examination.best.stack).warnings)
    return [*blocks, *(Block(labelled("warning", text)) for text in warned)]


def _remark(remark: Remark) -> Block:
    word = "error" if remark.level is Severity.ERROR else "warning"
    fix = f"; {remark.fix}" if remark.fix else ""
    return Block(labelled(word, f"{remark.message}{fix} ({remark.rule})"), 0 if word == "error" else 2)


def _beside(shown: Presenter, examination: Examination, shell: str) -> list[Block]:
    """Return the warnings of what is installed, what takes the place of what has ended, and the proven stack."""
    blocks = []
    if examination.best and not examination.steps:
        warned = messages.warnings_in_brief(shown.stack(examination.best.stack).warnings)
        blocks += [Block(labelled("warning", text)) for text in warned]
    if examination.instead:
        ended = listed([shown.label(product) for product in examination.instead.ended])
        name = shown.stack(examination.instead.stack).main_name
        text = f"{name} replaces {ended}; `compatkb migrate` shows what changes in your code"
        steps = commands.pip_commands(shown.stack(examination.instead.stack), shell)
        blocks.append(Block([*labelled("instead", text), *(command(step, 13) for step in steps)], 2))
    if examination.proven and not (examination.instead and examination.instead.stack.packages == examination.proven.packages):
        stays = examination.machine.python in (None, *examination.proven.python)
        other = "" if stays else f" on Python {ranges(examination.proven.python, shown.facts.grid['python'])}"
        text = f"{shown.stack(examination.proven).main_name}{other}   ({messages.signed(examination.proven.verdict)})"
        blocks += labelled_block("proven", text, 3)
    return blocks


def examination_json(facts: Snapshot, examination: Examination, day: date) -> str:
    """Return the examination as JSON; docs/doctor.md names the fields."""
    machine, answer = examination.machine, examination.answer
    shown = Presenter(facts, request_of(answer, day))
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
        "reasons": [shown.sentence(cause) for cause in answer.causes] if answer else [],
        "remarks": [
            {**picked(remark, "rule level message fix"), "sources": source_payloads(remark.sources)}
            for remark in examination.remarks
        ],
        "steps": [step._asdict() for step in examination.steps],
        "commands": _commands(shown, examination),
        "stack": stack_brief(shown.stack(examination.best.stack)) if examination.best else None,
        "instead": instead_payload(shown, examination.instead),
        "proven": stack_brief(shown.stack(examination.proven)) if examination.proven else None,
    }
    return document(shown.facts, day, content)


def _graphics_payload(seen: Seen) -> dict[str, Any]:
    graphics = seen.graphics
    return {
        "slot": graphics.slot,
        "id": f"{graphics.vendor}:{graphics.device}",
        **picked(seen, "name hardware"),
        "kernel_driver": graphics.driver,
        "note": seen.note,
        "sources": source_payloads(seen.sources),
    }


def _commands(shown: Presenter, examination: Examination) -> list[str]:
    """Return the commands and, where they install anything, the one that proves it."""
    lines = install_commands(shown, examination)
    proof = commands.proof_command(shown.stack(examination.best.stack)) if examination.best and lines else None
    python = quote([examination.machine.command])
    return [*lines, *([python + proof.removeprefix("python")] if proof else [])]
