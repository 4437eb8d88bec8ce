"""What is said about a machine: the first screen of `doctor` (verdict, command, what changes, what is wrong), and JSON."""

from collections.abc import Iterator
from datetime import date
from functools import reduce
from operator import or_
from typing import Any

from compatkb.core.findings import Severity
from compatkb.core.record import record
from compatkb.doctor.known_machine import DeviceCheck, Remark, Seen
from compatkb.doctor.machine.interpreter import CheckRun
from compatkb.doctor.verdict import Examination
from compatkb.engine.known_issues import Surroundings
from compatkb.output import commands, messages
from compatkb.output.commands import POSIX, quote
from compatkb.output.documents import Edition, Numbers, short, source_payloads
from compatkb.output.issue_text import GRAVE, issue_line, place_issues
from compatkb.output.labels import Names
from compatkb.output.payload import instead_payload, request_payload, stack_brief
from compatkb.output.presenter import Presenter, request_of
from compatkb.output.screen import BLANK, Block, Line, Row, command, fitted, labelled, labelled_rows, wrapped
from compatkb.output.things import Instead, StackIssue, StackView, listed, python_ranges
from compatkb.output.view import CauseView
from compatkb.store.reader import Snapshot
from compatkb.store.records import picked

_NOTHING = "nothing-installed"
_REASONS = 2
_MANY = 6


@record()
class ExaminationView:
    """What is said of a machine, as it is shown."""

    edition: Edition
    examination: Examination
    asked: str  # what is installed and where, in words; empty where nothing was asked
    system: str | None  # its name
    causes: tuple[CauseView, ...]  # why what is installed does not work
    best: StackView | None  # the stack to go to
    below: tuple[str, ...]  # which parts of the machine have to be of other versions, in words
    instead: Instead | None
    proven: StackView | None
    issues: tuple[StackIssue, ...]  # known issues of what is installed, on this kernel, driver and GPU


def present_examination(facts: Snapshot, examination: Examination, day: date) -> ExaminationView:
    """Return an examination as it is shown."""
    answer, best, shown = examination.answer, examination.best, Presenter(facts, request_of(examination.answer, day))
    return ExaminationView(
        Edition(facts.meta["data_date"], day),
        examination,
        shown.asked(answer.request) if answer else "",
        shown.value("os", examination.system) if examination.system else None,
        tuple(map(shown.cause, answer.causes)) if answer else (),
        shown.stack(best.stack) if best else None,
        tuple(shown.elsewhere(shown.stack(best.stack), p) for p in best.relaxed if facts.products[p].machine) if best else (),
        shown.instead(examination.instead),
        shown.stack(examination.proven) if examination.proven else None,
        _issues(shown, examination),
    )


def _issues(names: Names, examination: Examination) -> tuple[StackIssue, ...]:
    """Return the known issues of a machine: of its packages, its kernel, its driver and its GPU."""
    facts = names.facts
    packages = {h.product.id: (h.installed.version,) for h in examination.held if h.main and h.installed.version}
    dimensions = {"os": (examination.system,), "hardware": examination.hardware, "device": examination.devices}
    masks = {
        name: reduce(or_, (facts.word(name, value) or 0 for value in values if value), 0)
        for name, values in dimensions.items()
    }
    parts = {product: (version,) for product, version in examination.parts.items()}
    return place_issues(names, Surroundings(packages | parts, masks), packages) if packages else ()


def examination_lines(view: ExaminationView, shell: str = POSIX) -> list[Line]:
    """Return the screen."""
    examination = view.examination
    numbers = Numbers(_REASONS)
    style, head, sentence, headline_remark = _headline(view)
    blocks = [Block(wrapped(sentence, f"{messages.SIGNS[style]} {head}   ", "  ", style))]
    steps = install_commands(view, shell)
    blocks.append(Block([BLANK, *map(command, steps), BLANK] if steps else [BLANK]))
    missing = "" if examination.best else "no stack is known to work on this machine"
    blocks += labelled_rows([*_reasons(view, numbers), *_have(view), ("known issues", _known(view), 3), *_changes(view)])
    by_conda = [
        f"{h.installed.name} {h.installed.version}" for h in examination.held if h.core and h.installed.installer == "conda"
    ]
    if steps and by_conda:
        names = f"conda put {listed(by_conda)} there: remove it with conda first (`conda list` names the package)"
        blocks += labelled_rows([("warning", f"{names}, or two stay behind", 0)])
    blocks += _warnings(view.best if examination.steps else None)
    blocks += [
        block
        for remark in examination.remarks
        if remark is not headline_remark or remark.fix
        for block in labelled_rows([_remark(remark)])
    ]
    blocks += [*_warnings(None if examination.steps else view.best), *_beside(view, shell)]
    blocks += [Block(labelled("note", remark), 3) for remark in examination.machine.remarks]
    blocks += labelled_rows([("missing", missing, 0)])
    for number, source in enumerate(numbers.sources, 1):
        blocks.append(Block(wrapped(short(source), f"  [{number}] ", "      ", "dim"), 4))
    return fitted([*blocks, Block(view.edition.footer())])


def _headline(view: ExaminationView) -> tuple[str, str, str, Remark | None]:
    """Return the verdict on the machine, the problem in a word, its sentence, and the remark that is told with it."""
    examination = view.examination
    wrong = [remark for remark in examination.remarks if remark.level is Severity.ERROR]
    wrong += [remark for remark in examination.remarks if remark.rule in ("build-for-another-device", "no-graphics-for-build")]
    main = listed([f"{h.product.label} {h.installed.version or '(no version)'}" for h in examination.held if h.main])
    where = examination.machine.origin
    if examination.verdict == _NOTHING:
        return "unknown", "nothing to check", f"no torch in {where}", None
    if mixed := next((remark for remark in wrong if remark.rule == "mixed-builds"), None):
        return "does-not-work", "mixed builds", f"{mixed.message} ({where})", mixed
    if examination.verdict == "does-not-work":
        sentence = view.asked or main
        return "does-not-work", messages.VERDICTS["does-not-work"], f"{sentence} ({where})", None
    if wrong:
        return "does-not-work", wrong[0].rule.replace("-", " "), f"{wrong[0].message} ({where})", wrong[0]
    if examination.doubtful:
        return "unknown", "unknown", f"no data for this build of {listed(examination.doubtful)} ({where})", None
    sentence = view.asked or main
    head = "no problems" if examination.verdict == "works" else messages.VERDICTS[examination.verdict]
    return examination.verdict, head, f"{sentence} ({where})", None


def install_commands(view: ExaminationView, shell: str = POSIX) -> list[str]:
    """Return the commands for that interpreter: what is in the way goes first, then the installation."""
    examination = view.examination
    if not view.best or not (examination.steps or examination.verdict == "unknown"):
        return []
    python = quote([examination.machine.command], shell)
    gone = [step.distribution for step in examination.steps if step.before and step.after is None]
    lines = [f"{python} -m pip uninstall -y {quote(gone, shell)}"] if gone else []
    return [*lines, *(python + line.removeprefix("python") for line in commands.pip_commands(view.best, shell))]


def _reasons(view: ExaminationView, numbers: Numbers) -> Iterator[Row]:
    """Yield why what is installed does not work."""
    is_told = view.examination.verdict == "does-not-work" and not view.examination.mixed  # which the headline says
    causes = [cause for cause in view.causes if cause.about_asked] or view.causes
    for number, cause in enumerate(causes[:_REASONS] if is_told else ()):
        yield "cause", f"{cause.message} {numbers.marks(cause.sources[:1])}", number


def _have(view: ExaminationView) -> Iterator[Row]:
    """Yield what is there: packages, GPU, system, driver, run-time libraries, variables."""
    examination, machine = view.examination, view.examination.machine
    main = [f"{h.installed.name} {h.installed.version or '(no version)'}" for h in examination.held if h.main]
    rest = [f"{h.installed.name} {h.installed.version}" for h in examination.held if not h.main]
    more = f" and {len(rest) - _MANY} more" if len(rest) > _MANY else ""
    parts = [f"Python {machine.python}" if machine.python else None, view.system or machine.system, machine.arch]
    parts += [f"glibc {machine.glibc}" if machine.glibc else None, f"kernel {machine.kernel}" if machine.kernel else None]
    rows = [(", ".join(main), 1.0), (", ".join(part for part in parts if part), 1)]
    if machine.graphics is not None:
        seen = [f"{s.name}{f' ({s.hardware})' if s.hardware else ''}" for s in examination.seen]
        rows.append((", ".join(seen) or "no Intel GPU on the PCI bus", 1))
    if machine.drivers:
        series = f" (series {examination.driver})" if examination.driver else ""
        rows.append((", ".join(f"{name} {version}" for name, version in machine.drivers[:_MANY]) + series, 3))
    rows += [(f"also: {', '.join(rest[:_MANY])}{more}" if rest else "", 5), (", ".join(machine.libraries[:_REASONS]), 4)]
    rows.append((", ".join(f"{name}={text}" for name, text in machine.variables), 4))
    yield from (("detected", text, weight) for text, weight in rows)


def _known(view: ExaminationView) -> str:
    """Return the gravest known issues, first those that are sure, and how many more there are."""
    told = [issue for issue in view.issues if issue.effect in GRAVE]
    more = f"; {len(told) - _REASONS} more (--format json)" if len(told) > _REASONS else ""
    return "; ".join(map(issue_line, told[:_REASONS])) + more


def _changes(view: ExaminationView) -> Iterator[Row]:
    """Yield what changes from what is installed to the stack that the commands install."""
    steps = view.examination.steps
    yield from (("fix", change, 0) for change in view.below)
    if view.best is None or not steps:
        return
    parts = [f"{s.distribution} {s.before} to {s.after}" for s in steps if s.before and s.after]
    parts += [f"remove {s.distribution} {s.before}" for s in steps if not s.after]
    if added := [f"{s.distribution} {s.after}" for s in steps if not s.before]:
        parts.append(f"{'also ' if parts else ''}install {listed(added)}")
    yield "fix", f"{'; '.join(parts)}   ({messages.signed(view.best.verdict)})", 0


def _warnings(stack: StackView | None) -> list[Block]:
    """Return the warnings of a stack, each with its label."""
    return [Block(labelled("warning", text)) for text in messages.warnings_in_brief(stack.warnings if stack else ())]


def _remark(remark: Remark) -> Row:
    word = "error" if remark.level is Severity.ERROR else "warning"
    fix = f"; {remark.fix}" if remark.fix else ""
    return word, f"{remark.message}{fix} ({remark.rule})", 0 if word == "error" else 2


def _beside(view: ExaminationView, shell: str) -> list[Block]:
    """Return what takes the place of what has ended, and the proven stack."""
    blocks: list[Block] = []
    instead, proven = view.instead, view.proven
    if instead:
        ended = listed([product.label for product in instead.ended])
        text = f"{instead.stack.main_name} replaces {ended}; `compatkb migrate` shows what changes in your code"
        steps = commands.pip_commands(instead.stack, shell)
        blocks.append(Block([*labelled("also works", text), *(command(step, 13) for step in steps)], 2))
    if proven and not (instead and [b.key for b in instead.stack.packages] == [b.key for b in proven.packages]):
        stays = view.examination.machine.python in (None, *(python.id for python in proven.python))
        other = "" if stays else f" on Python {python_ranges(proven.python)}"
        text = f"documented or tested: {proven.main_name}{other}   ({messages.signed(proven.verdict)})"
        blocks += labelled_rows([("also works", text, 3)])
    return blocks


def examination_json(view: ExaminationView) -> str:
    """Return the examination as JSON; docs/doctor.md names the fields."""
    examination, machine, answer = view.examination, view.examination.machine, view.examination.answer
    content: dict[str, Any] = {
        **picked(machine, "origin python"),
        "os": examination.system,
        **picked(machine, "arch kernel glibc"),
        "packages": [
            {"product": h.product.id, "name": h.installed.name, "version": h.installed.version, "known": h.known}
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
        "reasons": [cause.message for cause in view.causes],
        "remarks": [
            {**picked(remark, "rule level message fix"), "sources": source_payloads(remark.sources)}
            for remark in examination.remarks
        ],
        "steps": [step._asdict() for step in examination.steps],
        "commands": _commands(view),
        "stack": stack_brief(view.best) if view.best else None,
        "instead": instead_payload(view.instead),
        "proven": stack_brief(view.proven) if view.proven else None,
        "known_issues": [issue_line(issue) for issue in view.issues],
    }
    return view.edition.document(content)


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


def _commands(view: ExaminationView) -> list[str]:
    """Return the commands and, where they install anything, the one that proves it."""
    lines = install_commands(view)
    proof = commands.proof_command(view.best) if view.best and lines else None
    python = quote([view.examination.machine.command])
    return [*lines, *([python + proof.removeprefix("python")] if proof else [])]


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
