"""What is behind an error: the first screen (the cause, the line that shows it, the fix, what else it may be), and JSON."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from compatkb.doctor.diagnose import Candidate, Diagnosis, UnmetRequirement
from compatkb.doctor.error_text import PatternMatch
from compatkb.doctor.undefined_symbols import UndefinedSymbol
from compatkb.output import commands, messages
from compatkb.output.commands import POSIX
from compatkb.output.documents import Edition, short, source_payloads
from compatkb.output.issue_text import issue_cures, issue_headline
from compatkb.output.payload import instead_payload, request_payload, stack_brief
from compatkb.output.presenter import Presenter, request_of
from compatkb.output.screen import (
    BLANK,
    HEIGHT,
    WIDTH,
    Block,
    Line,
    command,
    fitted,
    labelled,
    labelled_block,
    text_of,
    wrapped,
)
from compatkb.output.things import Instead, listed, python_ranges, shortened
from compatkb.output.view import CauseView, Near
from compatkb.request.lookup import is_newer, newest_known
from compatkb.store.reader import Snapshot
from compatkb.store.records import Product, Sources, picked

_SHARE = 0.4  # a second cause is named that has this part of the weight of the first
_LINES, _STEPS = 2, 3
_PLACES = 16  # more than there are of devices and systems: what a place weighs is below all that may go before


@dataclass(frozen=True)
class CandidateView:
    """What may be behind an error."""

    id: str
    kind: str
    title: str
    why: str
    do: tuple[str, ...]
    weight: int
    hits: tuple[PatternMatch, ...]
    sources: Sources


@dataclass(frozen=True)
class ChoiceView:
    """A stack for a device and kinds of system of which the text does not tell whether they are meant."""

    device: str
    systems: tuple[str, ...]
    place: str  # the same in words, with what it lacks of the products that the text names
    near: Near


@dataclass(frozen=True)
class DiagnosisView:
    """What is said of an error, as it is shown."""

    edition: Edition
    day: date
    diagnosis: Diagnosis
    candidates: tuple[CandidateView, ...]
    causes: tuple[CauseView, ...]  # what the data say against the versions that the text names
    wanted: tuple[str, ...]  # what is known of the requirements that no installer could meet
    symbols: tuple[str, ...]
    versions: tuple[str, ...]  # that the text names, in words
    newer: tuple[str, ...]  # of those that the data do not know, those that are newer than they are
    nearest: tuple[Near, ...]
    title: str  # of the first of those
    either: tuple[ChoiceView, ...]
    ended: tuple[Product, ...]
    instead: Instead | None


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
        return DiagnosisView(
            Edition(self.facts.meta["data_date"], day), day, diagnosis,
            tuple(map(self._candidate, diagnosis.candidates)),
            tuple(map(self.cause, diagnosis.answer.causes)) if diagnosis.answer else (),
            tuple(map(self._wanted, diagnosis.wanted)),
            tuple(map(self._symbol, diagnosis.symbols)),
            tuple(dict.fromkeys(self._version(read.product, read.version) for read in diagnosis.versions)),
            tuple(text for text in diagnosis.unread if self._is_newer(text)),
            nearest, title, self._choices(diagnosis),
            tuple(self.facts.products[product] for product in diagnosis.ended), self.instead(diagnosis.instead),
        )  # fmt: skip

    def _candidate(self, candidate: Candidate) -> CandidateView:
        """Return what a cause is called, why it is one, and what to do: of an issue first the versions that cure it."""
        title, why, do = candidate.title, candidate.why, candidate.do
        if candidate.issue:  # without a cure: where it is told of
            title, why = issue_headline(self, candidate.issue)
            do = (*issue_cures(self, candidate.issue.issue), *do) or (f"no cure is known; see {candidate.sources[0][0]}",)
        return CandidateView(candidate.id, candidate.kind, title, why, do, candidate.weight, candidate.hits, candidate.sources)

    def _named(self, near: Near) -> str:
        """Return the packages of a stack that is near and that it is about."""
        return listed([build.label for build in near.stack.packages if build.requested])

    def _is_newer(self, text: str) -> bool:
        """Return whether a version that the data do not know, such as `torch 2.99.0`, is newer than they are."""
        product, _, version = text.partition(" ")
        return is_newer(self.facts, self.facts.products[product], version)

    def _wanted(self, wanted: UnmetRequirement) -> str:
        """Return what is known of a requirement that an installer did not find."""
        addresses = {channel.id: channel.url or "the default index" for channel in self.facts.channels}
        builds = {version: f"{version} on {addresses.get(ids[0], ids[0])}" for version, ids in wanted.builds if ids}
        pinned = wanted.requirement.rpartition("==")[2]
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

    def _symbol(self, symbol: UndefinedSymbol) -> str:
        """Return whose library misses a symbol, and which builds of its package find theirs in the release installed."""
        provider = f"{self.label(symbol.provider)} {symbol.installed}"
        system, _, arch = symbol.platform.rpartition("-")
        where = f"{self.value('os', system)} {arch}"
        if not symbol.fits:
            return f"No {symbol.product.label} of the default index finds all its symbols in {provider} ({where})."
        return f"{provider} goes with {symbol.product.label} {shortened(symbol.fits)}, which miss no symbol ({where})."

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


def diagnosis_text(view: DiagnosisView, shell: str = POSIX) -> str:
    """Return the screen as plain text."""
    return text_of(diagnosis_lines(view, shell))


def diagnosis_lines(view: DiagnosisView, shell: str = POSIX) -> list[Line]:
    """Return the screen."""
    diagnosis = view.diagnosis
    first = view.candidates[0] if view.candidates else None
    if first:
        blocks = [Block(wrapped(first.title, "✗ ", "  ", "does-not-work")), *_shown_lines(first)]
        blocks.append(Block(wrapped(first.why, "  "), 4))
    else:
        blocks = [Block([Line("? no known cause matches this text", "unknown")])]
    blocks += [Block(wrapped(wanted, "  ")) for wanted in view.wanted[:_LINES]]
    blocks += [Block(wrapped(symbol, "  "), 1) for symbol in view.symbols[:1]]
    blocks += _denied(view)
    blocks.append(Block([BLANK]))
    blocks += _fix(view, shell)
    for other in _others(view):
        blocks += labelled_block("or", f"{other.title} (line {other.hits[0].line})", 3)
    if not first:
        blocks += labelled_block("collect", "; ".join(diagnosis.collect))
    elif diagnosis.about_versions:
        blocks += labelled_block("then", "`compatkb doctor` checks the rest of the machine", 2)
    if diagnosis.target.foreign:
        blocks += labelled_block("note", f"the text is about {diagnosis.target.foreign}, for which compatkb has no stacks", 2)
    blocks += _read(view)
    if first and first.sources:
        blocks += labelled_block("seen in", short(first.sources[0]), 2)
    foot = messages.footer(view.edition.data_date, view.day.toordinal())
    blocks.append(Block([BLANK, *wrapped(foot, "  ", style="dim")]))
    return fitted(blocks, HEIGHT)


def _shown_lines(candidate: CandidateView) -> list[Block]:
    """Return the lines of the text that speak for a cause, cut to the width."""
    lines = [BLANK]
    for hit in candidate.hits[:_LINES]:
        text = f"  {hit.line:>4} │ {hit.text.strip()}"
        lines.append(Line(text if len(text) <= WIDTH else text[: WIDTH - 1] + "…", "dim"))
    return [Block(lines if candidate.hits else []), Block([BLANK])]


def _denied(view: DiagnosisView) -> list[Block]:
    """Return what the data say against the versions that the text names."""
    answer = view.diagnosis.answer
    if not answer or answer.verdict != "does-not-work" or not view.causes:
        return []
    named = {read.product for read in view.diagnosis.versions}
    about = next((cause for cause in view.causes if named.issuperset(cause.products)), view.causes[0])
    return [Block(wrapped(messages.sentence(about.message), "  "))]


def _fix(view: DiagnosisView, shell: str) -> list[Block]:
    """Return the command to run, or the steps to take."""
    blocks = []
    if view.either:
        blocks.append(Block(wrapped(_question(view), "  ")))
        blocks += [_on(choice, shell, number) for number, choice in enumerate(view.either)]
    near = view.nearest[0] if view.nearest else None
    if near and (steps := commands.pip_commands(near.stack, shell)):
        blocks.append(Block([command(step) for step in steps]))
        word = "fix" if view.candidates else "sound"
        blocks.append(Block([BLANK, *labelled(word, f"{view.title}   ({messages.signed(near.stack.verdict)})")]))
    for number, step in enumerate(view.candidates[0].do[:_STEPS] if view.candidates else ()):
        blocks += labelled_block("" if number else "do", step.rstrip("."), 1 if blocks else 0)
    if view.ended:
        blocks.append(_instead(view, shell))
    return blocks


def _instead(view: DiagnosisView, shell: str) -> Block:
    """Return what takes the place of what has ended, with its commands unless they stand above."""
    ended, verb = listed([product.label for product in view.ended]), "have" if len(view.ended) > 1 else "has"
    text = f"{ended} {verb} ended; `compatkb migrate` shows what changes"
    steps: list[str] = []
    if view.instead:
        stack, python = view.instead.stack, view.diagnosis.target.python
        steps = commands.pip_commands(stack, shell)
        if python and python not in {value.id for value in stack.python}:
            text = f"{text}; needs Python {python_ranges(stack.python)}"
    if view.nearest and steps == commands.pip_commands(view.nearest[0].stack, shell):
        steps = []
    return Block([*labelled("instead", text), *(command(step, 13) for step in steps)], 2)


def _question(view: DiagnosisView) -> str:
    """Return what the text leaves open, and what to do about it."""
    unknown = [] if view.diagnosis.target.device else ["the device"]
    unknown += ["the system"] if any(choice.systems for choice in view.either) else []
    return f"The text does not name {' or '.join(unknown)}. Take the command for yours:"


def _on(choice: ChoiceView, shell: str, number: int) -> Block:
    """Return the commands of a choice; of several the last may go first."""
    steps = [command(step) for step in commands.pip_commands(choice.near.stack, shell)]
    return Block([*wrapped(f"on {choice.place}:", "  "), *steps, BLANK] if steps else [], number / _PLACES)


def _others(view: DiagnosisView) -> list[CandidateView]:
    least = view.candidates[0].weight * _SHARE if view.candidates else 0
    return [candidate for candidate in view.candidates[1:_STEPS] if candidate.weight >= least and candidate.hits]


def _read(view: DiagnosisView) -> list[Block]:
    """Return the versions that were read from the text, and whether they fit each other."""
    if not view.versions:
        return []
    answer, unread = view.diagnosis.answer, view.diagnosis.unread
    fits = " (whether these are compatible is not known)" if answer and answer.verdict == "unknown" else ""
    older = [text for text in unread if text not in view.newer]
    more = f"; not known: {', '.join(older)}" if older else ""
    more += f"; newer than these data ({view.edition.data_date}): {', '.join(view.newer)}" if view.newer else ""
    return [Block(labelled("read", f"{', '.join(view.versions)}{fits}{more}"), 1)]


def diagnosis_json(view: DiagnosisView) -> str:
    """Return the diagnosis as JSON; docs/diagnose.md names the fields."""
    diagnosis, answer = view.diagnosis, view.diagnosis.answer
    content: dict[str, Any] = {
        "version_problem": diagnosis.about_versions if diagnosis.candidates else None,
        "causes": [
            {
                **picked(candidate, "id kind weight title why"),
                "do": list(candidate.do),
                "lines": [{"line": hit.line, "text": hit.text} for hit in candidate.hits],
                "sources": source_payloads(candidate.sources),
            }
            for candidate in view.candidates
        ],
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
        "nearest": [_near(near) for near in view.nearest],
        "either": [{**picked(choice, "device systems"), **_near(choice.near)} for choice in view.either],
        "ended": list(diagnosis.ended),
        "instead": instead_payload(view.instead),
        "target": picked(diagnosis.target, "device foreign os python"),
        "symbols": [
            {
                **picked(symbol, "symbol library"),
                "product": symbol.product.id,
                **picked(symbol, "provider platform installed fits"),
            }
            for symbol in diagnosis.symbols
        ],
        "collect": list(diagnosis.collect),
    }
    return view.edition.document(content)


def _near(near: Near) -> dict[str, Any]:
    return {**picked(near, "relaxed where"), "stack": stack_brief(near.stack)}
