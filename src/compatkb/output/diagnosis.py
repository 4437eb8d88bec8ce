"""What is behind an error: the first screen (the cause, the line that shows it, the fix, how to confirm it), and JSON."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Any

from compatkb.core.names import normal
from compatkb.core.record import record
from compatkb.doctor.diagnose import Candidate, Diagnosis, UnmetRequirement
from compatkb.doctor.target import POETRY, UV, UV_PIP, Target, installed
from compatkb.output import commands, messages
from compatkb.output.commands import POSIX, quote
from compatkb.output.documents import Edition, short, source_payloads
from compatkb.output.issue_text import issue_condition, issue_headline, target_in_words
from compatkb.output.payload import instead_payload, request_payload, stack_brief
from compatkb.output.presenter import Presenter, request_of
from compatkb.output.screen import BLANK, WIDTH, Block, Line, Row, command, fitted, labelled_rows, text_of, wrapped
from compatkb.output.things import Instead, StackView, listed, python_ranges
from compatkb.output.view import CauseView, Near
from compatkb.request.lookup import is_newer, newest_known
from compatkb.store.reader import Snapshot
from compatkb.store.records import Product, picked

_LINES, _STEPS, _PLACES, _MANY = 2, 3, 2, 4
_RELEASES = ("library", "version", "issue")
_VERDICTS = {True: "cause", False: "possible", None: "unknown"}
_MISSING = {
    "traceback": "the whole traceback",
    "packages": "`pip list`",
    "gpu": "the GPU (lspci -nn | grep -i vga)",
    "kernel": "the kernel (uname -r)",
    "windows": "the graphics driver (Device Manager)",
    "runtime": "the compute runtime (clinfo | grep -i version)",
}


@record()
class ChoiceView:
    """A stack for a device and kinds of system of which the text does not tell whether they are meant."""

    device: str
    systems: tuple[str, ...]
    place: str  # the same in words, with what it lacks of the products that the text names
    near: Near


@record()
class DiagnosisView:
    """What is said of an error, as it is shown."""

    edition: Edition
    diagnosis: Diagnosis
    candidates: tuple[Candidate, ...]  # known issues with their title and cures in words
    causes: tuple[CauseView, ...]  # what the data say against the versions that the text names
    wanted: tuple[str, ...]  # what is known of the requirements that no installer could meet
    detected: tuple[str, ...]  # what the text names, in words
    newer: tuple[str, ...]  # of the versions that the data do not know, those that are newer than they are
    cures: tuple[str, ...]  # other versions of parts of the machine, in words
    issues: tuple[str, ...]  # known issues of what the text names, of which it shows no sign
    nearest: tuple[Near, ...]
    title: str  # of the first of those
    either: tuple[ChoiceView, ...]
    ended: tuple[Product, ...]
    instead: Instead | None
    have: dict[str, str]  # the installed versions by distribution

    @property
    def verdict(self) -> str:
        """How sure the cause is: `cause`, `possible` or `unknown`."""
        return _VERDICTS[self.candidates[0].proven if self.candidates else None]


def present_diagnosis(facts: Snapshot, diagnosis: Diagnosis, day: date) -> DiagnosisView:
    """Return a diagnosis as it is shown."""
    return _DiagnosisPresenter(facts, request_of(diagnosis.answer, day)).diagnosis(diagnosis, day)


class _DiagnosisPresenter(Presenter):
    """Shows what was found in one text."""

    def diagnosis(self, diagnosis: Diagnosis, day: date) -> DiagnosisView:
        """Return the whole diagnosis."""
        nearest = tuple(map(self.near, diagnosis.nearest))
        title = ""
        if nearest:
            near = nearest[0]
            title = self.way_title(near) if diagnosis.answer and near.relaxed else self._named(near)
        products = self.facts.products
        have = {
            normal(name): read.version
            for read in installed(diagnosis.versions)
            if (name := self.facts.distribution(read.product, read.version) or products[read.product].distribution)
        }
        return DiagnosisView(
            Edition(self.facts.meta["data_date"], day), diagnosis,
            tuple(map(self._candidate, diagnosis.candidates)),
            tuple(map(self.cause, diagnosis.answer.causes)) if diagnosis.answer else (),
            tuple(map(self._wanted, diagnosis.wanted)),
            tuple(dict.fromkeys(self._version(read.product, read.version) for read in diagnosis.versions)),
            tuple(text for text in diagnosis.unread if self._is_newer(text)),
            tuple(map(self._in_words, diagnosis.candidates[0].cures)) if diagnosis.candidates else (),
            tuple(issue_headline(self, match)[0].partition(": ")[2] for match in diagnosis.beside),
            nearest, title, self._choices(diagnosis),
            tuple(products[product] for product in diagnosis.ended), self.instead(diagnosis.instead), have,
        )  # fmt: skip

    def _candidate(self, candidate: Candidate) -> Candidate:
        """Return a candidate with the words of its known issue, if it is one."""
        if candidate.issue is None:
            return candidate
        title, about = issue_headline(self, candidate.issue)
        do = (*candidate.do, *(f"{self._in_words(cure.to)}" for cure in candidate.issue.issue.cures if cure.to))
        unsaid = listed([issue_condition(self, condition) for condition in candidate.issue.unsaid])
        confirm = f"{unsaid} (anything else refutes it)" if unsaid else None
        return candidate._replace(
            title=f"known issue: {title.partition(': ')[2]}", why=about, confirm=confirm,
            do=do or (f"no cure is known; see {candidate.sources[0][0]}",),
        )  # fmt: skip

    def _in_words(self, cure: str) -> str:
        """Return other versions of a product in words, such as `use compute runtime 26.22 or newer`."""
        return f"use {target_in_words(self, cure)}"

    def _named(self, near: Near) -> str:
        """Return the packages of a stack that is near and that it is about."""
        return listed([build.label for build in near.stack.packages if build.requested])

    def _is_newer(self, text: str) -> bool:
        """Return whether a version that the data do not know, such as `torch 2.99.0`, is newer than they are."""
        product, _, version = text.partition(" ")
        return is_newer(self.facts, self.facts.products[product], version)

    def _wanted(self, wanted: UnmetRequirement) -> str:
        """Return what is known of a requirement that an installer did not find."""
        addresses = {channel.id: channel.url for channel in self.facts.channels}
        builds = {
            version: f"{version} on {addresses.get(ids[0]) or 'the default index'}" for version, ids in wanted.builds if ids
        }
        pinned = wanted.requirement.rpartition("==")[2]
        if "==" not in wanted.requirement:
            elsewhere = builds and all(addresses.get(ids[0]) for _, ids in wanted.builds if ids)
            return f"{wanted.requirement} is on another index: {'; '.join(list(builds.values())[:2])}" if elsewhere else ""
        if wanted.known and pinned in builds:
            return f"{wanted.requirement} exists: {builds[pinned]}"
        product = self.facts.product(wanted.requirement.partition("==")[0])
        if product and is_newer(self.facts, product, pinned):
            near = f"; the newest known is {newest_known(self.facts, product.id)}"
            return f"{wanted.requirement} is newer than these data ({self.facts.meta['data_date']}){near}"
        missing = "exists without wheels" if wanted.known else "does not exist"
        if builds:
            return f"{wanted.requirement} {missing}; that release has {'; '.join(list(builds.values())[:_STEPS])}"
        near = f"; the nearest releases are {', '.join(wanted.near)}" if wanted.near else ""
        return f"{wanted.requirement} {missing}{near}"

    def _choices(self, diagnosis: Diagnosis) -> tuple[ChoiceView, ...]:
        """Return the stacks of a text that leaves the device or the system open; products that no stack has lack nowhere."""
        named = {read.product for read in diagnosis.versions}
        somewhere = named.intersection(e.product for choice in diagnosis.either for e in choice.near.stack.packages)
        choices = []
        for choice in diagnosis.either:
            near = self.near(choice.near)
            place = [self.value("device", choice.device), *(self.value("os", system) for system in choice.systems)]
            if gone := sorted(somewhere - near.stack.held):
                place.append(f"without {listed(self.labels(gone))}")
            choices.append(ChoiceView(choice.device, choice.systems, ", ".join(place), near))
        return tuple(choices)

    def _version(self, product: str, version: str) -> str:
        """Return a version that was read, with the name of its product, or by its own name where it has one."""
        name = self.value(product, version)
        return name if name != version else f"{self.label(product)} {version}"


def diagnosis_text(view: DiagnosisView) -> str:
    """Return the screen as plain text."""
    return text_of(diagnosis_lines(view))


def diagnosis_lines(view: DiagnosisView, shell: str = POSIX) -> list[Line]:
    """Return the screen."""
    first = view.candidates[0] if view.candidates else None
    if first is None:
        head = Line("? cause unknown", "unknown")
    elif first.proven:
        head = wrapped(first.title, "✗ cause: ", "  ", "does-not-work")[0]
    else:
        head = wrapped(first.title, "~ possible cause: ", "  ", "likely")[0]
    hits = first.hits if first else tuple(filter(None, (view.diagnosis.shown,)))
    blocks = [Block([head]), *(Block([_shown(hit.line, hit.text)], n) for n, hit in enumerate(hits[:_LINES]))]
    steps = list(_commands(view, shell))
    blocks.append(Block([BLANK, *steps, BLANK] if steps else [BLANK]))
    blocks += labelled_rows((label, (text or "").rstrip("."), weight) for label, text, weight in _rows(view, first))
    return fitted([*blocks, Block(view.edition.footer())])


def _rows(view: DiagnosisView, first: Candidate | None) -> Iterator[Row]:
    """Yield what stands below the commands."""
    yield "detected", "; ".join(_detected(view)), 1
    is_sure = first is not None and first.proven
    if first:
        yield "cause", _why(view, first), 3
        yield "confirm", first.confirm, 4
        yield from (
            ("fix", step, 3 if step.startswith("or") else number * 2) for number, step in enumerate(_fixes(view, first))
        )
        for other in _others(view):
            yield "untested", "" if _is_release(other) else _other(other), 7
    yield "known issues", "" if is_sure else _beside(view), 5
    yield "also works", _kept(view), 4
    yield "avoid", first.avoid if first else None, 5
    missing = "; ".join(_MISSING[kind] for kind in view.diagnosis.missing[:_STEPS])
    yield "missing", "" if is_sure else missing, 6 if first else 0
    yield "next", _next(view), 6
    yield "reported in", short(first.sources[0]) if first and first.sources else None, 6


def _shown(number: int, text: str) -> Line:
    """Return a line of the text that speaks for a cause, cut to the width."""
    line = f"  {number:>4} │ {text.strip()}"
    return Line(line if len(line) <= WIDTH else line[: WIDTH - 1] + "…", "dim")


def _detected(view: DiagnosisView) -> Iterator[str]:
    """Yield what was read, what of it the data do not know, and what they say of it together."""
    answer = view.diagnosis.answer
    yield ", ".join(view.detected) or "nothing: no version, GPU or system"
    if older := [text for text in view.diagnosis.unread if text not in view.newer]:
        yield f"not in the data: {', '.join(older)}"
    if view.newer:
        yield f"newer than these data ({view.edition.data_date}): {', '.join(view.newer)}"
    if answer and answer.verdict == "unknown" and not view.candidates:
        yield "whether these are compatible is not known"
    if not view.candidates and not view.issues:
        yield "no known issue of it matches this text"
    if view.diagnosis.target.foreign:
        yield f"{view.diagnosis.target.foreign} is not covered"


def _why(view: DiagnosisView, first: Candidate) -> str:
    """Return the mechanism in one sentence: what the data say against the versions, else what is known of the cause."""
    parts = []
    answer = view.diagnosis.answer
    if answer and not answer.verdict.is_usable and view.causes and first.proven and first.issue is None:
        named = {read.product for read in view.diagnosis.versions}
        about = next((cause for cause in view.causes if named.issuperset(cause.products)), view.causes[0])
        parts.append(messages.sentence(about.message))
    return ". ".join(part.rstrip(".") for part in parts) or first.why


def _fixes(view: DiagnosisView, first: Candidate) -> list[str]:
    """Return what the command changes, and the steps in order; steps that the text shows to be done are left out."""
    steps = []
    lead = _lead(view)
    if lead and _installs(view, lead):
        if view.instead and lead is view.instead.stack:
            ended = listed([product.label for product in view.ended])
            steps.append(f"remove {ended}: {lead.main_name} does without it ({messages.signed(lead.verdict)})")
        else:
            on = f"; Python {python_ranges(lead.python)}" if first.kind == "index" else ""
            steps.append(f"{view.title} ({messages.signed(lead.verdict)}{on})")
    if first.kind == "index":
        if lead is None and view.either and view.diagnosis.target.python:
            stack = view.either[0].near.stack
            steps.append(f"{stack.main_name} has wheels for Python {python_ranges(stack.python)}")
        steps += [text for text in view.wanted if text][:1]
    if first.issue is None:
        steps += view.cures
    steps += (step for step in first.do if step not in steps)
    others = [f"{_other(other)}: {other.do[0]}" for other in _others(view) if _is_release(other)]
    return [*steps[: _MANY - len(others)], *others]


def _other(other: Candidate) -> str:
    return f"{'or' if other.issue else 'or possibly'}: {other.title} (line {other.hits[0].line})"


def _is_release(other: Candidate) -> bool:
    """Return whether another release may be what helps: harmless to try, where a step on the machine is not."""
    return other.kind in _RELEASES and bool(other.do)


def _lead(view: DiagnosisView) -> StackView | None:
    """Return the stack to install: without what has ended where that serves and keeps the Python, else the nearest."""
    python = view.diagnosis.target.python
    if view.instead and (view.nearest or not view.either):
        pythons = {value.id for value in view.instead.stack.python}
        if python is None or any(python == p or python.startswith(f"{p}.") for p in pythons):
            return view.instead.stack
    return view.nearest[0].stack if view.nearest else None


def _kept(view: DiagnosisView) -> str:
    """Return the way that keeps what has ended, or the one that does without it, where the command is for the other."""
    lead = _lead(view)
    if lead is None or not view.instead:
        return ""
    if lead is view.instead.stack:
        held = {build.product.id for build in view.nearest[0].stack.packages} if view.nearest else set()
        kept = [product.label for product in view.ended if product.id in held]
        return f"{view.title}, which keeps {listed(kept)}" if kept and lead.named else ""
    stack = view.instead.stack
    return f"{stack.main_name} without {listed([p.label for p in view.ended])}, on Python {python_ranges(stack.python)}"


def _commands(view: DiagnosisView, shell: str) -> Iterator[Line]:
    """Yield the commands: for the device and the system of the text, at most two places where it tells neither."""
    if not view.candidates:
        return
    if lead := _lead(view):
        gone = [
            product.distribution
            for product in view.ended
            if view.instead
            and lead is view.instead.stack
            and product.distribution
            and normal(product.distribution) in view.have
        ]
        installs = _installs(view, lead)
        yield from (command(_removal(gone, view.diagnosis.target, shell)) for _ in gone[:1] if installs)
        yield from (command(step) for step in _shell_lines(installs, view.diagnosis.target, shell))
        return
    shown = [(choice, installs) for choice in view.either if (installs := _installs(view, choice.near.stack))]
    for choice, installs in _one_each(shown):
        yield Line(f"  {choice.place}:")
        yield from (command(step) for step in _shell_lines(installs, view.diagnosis.target, shell))


def _one_each(shown: "list[tuple[ChoiceView, list[commands.Step]]]") -> "list[tuple[ChoiceView, list[commands.Step]]]":
    """Return at most two choices: of several devices the first system of each."""
    devices = {choice.device for choice, _ in shown}
    first = {choice.device: (choice, installs) for choice, installs in reversed(shown)}
    return (list(reversed(first.values())) if len(devices) > 1 else shown)[:_PLACES]


def _installs(view: DiagnosisView, stack: StackView) -> "list[commands.Step]":
    """Return what of a stack has to be installed: nothing that the text has already, no companion that it does not name.

    A companion that the text does not name goes with a torch that changes.
    """
    names = {normal(build.distribution): build for build in stack.packages if build.distribution}
    there = {name for name, build in names.items() if view.have.get(name) == build.version}
    kept = any(names[name] in stack.main for name in there)
    others = tuple(  # of what others bring along, such as Triton, what is there in another release
        f"{name}=={build.version}"
        for name, build in names.items()
        if build not in stack.named and name in view.have and build.index
    )
    steps = []
    for number, step in enumerate(commands.steps_of(stack)):
        step = step._replace(pins=(*step.pins, *(others if number == 0 else ())))
        pins = tuple(pin for pin in step.pins if (name := _distribution(pin)) not in there and (not kept or name in view.have))
        if any("==" in pin for pin in pins):
            flags = ("--no-deps", *step.flags) if kept else step.flags
            steps.append(step._replace(pins=pins, flags=flags))
    return steps


def _distribution(pin: str) -> str:
    return normal(re.split(r"[\[=<>!~ ;]", pin, maxsplit=1)[0])


def _removal(names: list[str], target: Target, shell: str) -> str:
    words = {UV: "uv remove", UV_PIP: "uv pip uninstall", POETRY: "poetry remove"}
    return f"{words.get(target.installer, 'python -m pip uninstall -y')} {quote(names, shell)}"


def _shell_lines(steps: "list[commands.Step]", target: Target, shell: str) -> Iterator[str]:
    """Yield install commands for the installer of a text."""
    for step in steps:
        pins, flags = quote(step.pins, shell), " ".join(step.flags)
        addresses = [flag.partition(" ")[2] for flag in step.flags if flag.startswith("--") and " " in flag]
        if target.installer == UV:
            named = [f"--index {_index_name(url)}={url}" for url in addresses]
            yield " ".join(["uv add", pins, *named])
        elif target.installer == POETRY:
            for url in addresses:
                yield f"poetry source add --priority=explicit {_index_name(url)} {url}"
            sources = [f"--source {_index_name(url)}" for url in addresses[:1]]
            yield " ".join(["poetry add", *sources, pins])
        else:
            words = "uv pip install" if target.installer == UV_PIP else "python -m pip install"
            yield f"{words} {pins} {flags}".rstrip()


def _index_name(url: str) -> str:
    """Return a name for an index, from its address: `pytorch-xpu` for download.pytorch.org/whl/xpu."""
    host, *path = re.sub(r"^https?://", "", url).strip("/").split("/")
    return "-".join([host.split(".")[-2] if "." in host else host, *path[-1:]])


def _others(view: DiagnosisView) -> list[Candidate]:
    """Return what else it may be, where the first cause is not sure."""
    first = view.candidates[0]
    if first.proven:
        return []
    near = (other for other in view.candidates[1:_STEPS] if other.hits and 2 * other.weight >= first.weight)
    return [other for other in near if 2 * other.weight > first.weight or _is_release(other)][:1]


def _beside(view: DiagnosisView) -> str:
    more = f"; {len(view.issues) - _LINES} more: compatkb explain" if len(view.issues) > _LINES else ""
    return "; ".join(view.issues[:_LINES]) + more


def _next(view: DiagnosisView) -> str:
    """Return the one command to go on with."""
    lead = _lead(view)
    if view.candidates and view.instead and lead is view.instead.stack:
        return "compatkb migrate .   (what changes in the code)"
    return "compatkb doctor" + ("" if view.candidates else "   (collects all of these)")


def diagnosis_json(view: DiagnosisView) -> str:
    """Return the diagnosis as JSON; docs/diagnose.md names the fields."""
    diagnosis, answer = view.diagnosis, view.diagnosis.answer
    content: dict[str, Any] = {
        "certainty": view.verdict,
        "causes": [
            {
                **picked(candidate, "id kind weight title why"),
                "certainty": _VERDICTS[candidate.proven],
                "do": list(candidate.do),
                **picked(candidate, "confirm avoid"),
                "lines": [{"line": hit.line, "text": hit.text} for hit in candidate.hits],
                "sources": source_payloads(candidate.sources),
            }
            for candidate in view.candidates
        ],
        "commands": [line.text.strip() for line in _commands(view, POSIX) if line.style == "command"],
        "fixes": _fixes(view, view.candidates[0]) if view.candidates else [],
        "detected": list(view.detected),
        "versions": [picked(read, "product version line") for read in diagnosis.versions],
        "unknown_versions": list(diagnosis.unread),
        "wanted": [
            {
                **picked(wanted, "requirement known"),
                "builds": [{"version": version, "channels": channels} for version, channels in wanted.builds],
                "near": wanted.near,
            }
            for wanted in diagnosis.wanted
        ],
        "verdict": answer.verdict if answer else None,
        "request": request_payload(answer.request) if answer else None,
        "reasons": [cause.message for cause in view.causes],
        "known_issues": list(view.issues),
        "nearest": [_near(near) for near in view.nearest],
        "either": [{**picked(choice, "device systems"), **_near(choice.near)} for choice in view.either],
        "ended": list(diagnosis.ended),
        "instead": instead_payload(view.instead),
        "target": picked(diagnosis.target, "device foreign os python installer"),
        "missing": [_MISSING[kind] for kind in diagnosis.missing],
    }
    return view.edition.document(content)


def _near(near: Near) -> dict[str, Any]:
    return {**picked(near, "relaxed where"), "stack": stack_brief(near.stack)}
