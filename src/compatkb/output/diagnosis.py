"""What is behind an error: the first screen (the cause, the line that shows it, the fix, what else it may be), and JSON."""

from datetime import date
from typing import Any

from compatkb.doctor.diagnose import Candidate, Diagnosis, UnmetRequirement
from compatkb.doctor.target import StackChoice
from compatkb.doctor.undefined_symbols import UndefinedSymbol
from compatkb.engine.alternatives import Alternative
from compatkb.output import commands, messages
from compatkb.output.citations import short, source_payloads
from compatkb.output.issue_text import issue_cures, issue_headline
from compatkb.output.json_document import document
from compatkb.output.labels import ranges
from compatkb.output.payload import request_payload, stack_brief
from compatkb.output.presenter import Presenter, instead_payload, request_of
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
from compatkb.output.shells import POSIX
from compatkb.output.things import listed, shortened
from compatkb.store.queries.products import channels
from compatkb.store.reader import Snapshot
from compatkb.store.records import picked

_SHARE = 0.4  # a second cause is named that has this part of the weight of the first
_LINES, _STEPS = 2, 3
_PLACES = 16  # more than there are of devices and systems: what a place weighs is below all that may go before


def diagnosis_text(facts: Snapshot, diagnosis: Diagnosis, day: date, shell: str = POSIX) -> str:
    """Return the screen as plain text."""
    return text_of(diagnosis_lines(facts, diagnosis, day, shell))


def diagnosis_lines(facts: Snapshot, diagnosis: Diagnosis, day: date, shell: str = POSIX) -> list[Line]:
    """Return the screen."""
    shown = Presenter(facts, request_of(diagnosis.answer, day))
    first = diagnosis.candidates[0] if diagnosis.candidates else None
    if first:
        title, why = _said(shown, first)
        blocks = [Block(wrapped(title, "✗ ", "  ", "does-not-work")), *_shown_lines(first)]
        blocks.append(Block(wrapped(why, "  "), 4))
    else:
        blocks = [Block([Line("? no known cause matches this text", "unknown")])]
    blocks += [Block(wrapped(_wanted(shown, wanted), "  ")) for wanted in diagnosis.wanted[:_LINES]]
    blocks += [Block(wrapped(_symbol(shown, symbol), "  "), 1) for symbol in diagnosis.symbols[:1]]
    blocks += _denied(shown, diagnosis)
    blocks.append(Block([BLANK]))
    blocks += _fix(shown, diagnosis, shell)
    for other in _others(diagnosis):
        blocks += labelled_block("or", f"{_said(shown, other)[0]} (line {other.hits[0].line})", 3)
    if not first:
        blocks += labelled_block("collect", "; ".join(diagnosis.collect))
    elif diagnosis.about_versions:
        blocks += labelled_block("then", "`compatkb doctor` checks the rest of the machine", 2)
    if diagnosis.target.foreign:
        blocks += labelled_block("note", f"the text is about {diagnosis.target.foreign}, for which compatkb has no stacks", 2)
    blocks += _read(shown, diagnosis)
    if first and first.sources:
        blocks += labelled_block("seen in", short(first.sources[0]), 2)
    blocks.append(Block([BLANK, *wrapped(messages.footer(shown.facts.meta["data_date"], day.toordinal()), "  ", style="dim")]))
    return fitted(blocks, HEIGHT)


def _shown_lines(candidate: Candidate) -> list[Block]:
    """Return the lines of the text that speak for a cause, cut to the width."""
    lines = [BLANK]
    for hit in candidate.hits[:_LINES]:
        head = f"  {hit.line:>4} │ "
        text = f"{head}{hit.text.strip()}"
        lines.append(Line(text if len(text) <= WIDTH else text[: WIDTH - 1] + "…", "dim"))
    return [Block(lines if candidate.hits else []), Block([BLANK])]


def _said(shown: Presenter, candidate: Candidate) -> tuple[str, str]:
    """Return what a cause is called, and why it is one."""
    return issue_headline(shown, candidate.issue) if candidate.issue else (candidate.title, candidate.why)


def _steps(shown: Presenter, candidate: Candidate) -> tuple[str, ...]:
    """Return what to do about a cause: of an issue first the versions that cure it, without a cure where it is told of."""
    if candidate.issue is None:
        return candidate.do
    return (*issue_cures(shown, candidate.issue.issue), *candidate.do) or (f"no cure is known; see {candidate.sources[0][0]}",)


def _symbol(shown: Presenter, symbol: UndefinedSymbol) -> str:
    """Return whose library misses a symbol, and which builds of its package find theirs in the release installed."""
    provider = f"{shown.label(symbol.provider)} {symbol.installed}"
    system, _, arch = symbol.platform.rpartition("-")
    where = f"{shown.value('os', system)} {arch}"
    if not symbol.fits:
        return f"No {symbol.product.label} of the default index finds all its symbols in {provider} ({where})."
    return f"{provider} goes with {symbol.product.label} {shortened(symbol.fits)}, which miss no symbol ({where})."


def _denied(shown: Presenter, diagnosis: Diagnosis) -> list[Block]:
    """Return what the data say against the versions that the text names."""
    answer = diagnosis.answer
    if not answer or answer.verdict != "does-not-work" or not answer.causes:
        return []
    named = {read.product for read in diagnosis.versions}
    about = [cause for cause in answer.causes if set(cause.blocker[1:]) <= named] or list(answer.causes)
    return [Block(wrapped(messages.sentence(shown.sentence(about[0])), "  "))]


def _fix(shown: Presenter, diagnosis: Diagnosis, shell: str) -> list[Block]:
    """Return the command to run, or the steps to take."""
    blocks = []
    near = diagnosis.nearest[0] if diagnosis.nearest else None
    if diagnosis.either:
        blocks.append(Block(wrapped(_question(diagnosis), "  ")))
        named = {read.product for read in diagnosis.versions}
        somewhere = named.intersection(e.product for choice in diagnosis.either for e in choice.near.stack.packages)
        blocks += [_on(shown, choice, somewhere, shell, n) for n, choice in enumerate(diagnosis.either)]
    if near and (steps := commands.pip_commands(shown.stack(near.stack), shell)):
        blocks.append(Block([command(step) for step in steps]))
        title = shown.way_title(shown.near(near)) if diagnosis.answer and near.relaxed else near_name(shown, near)
        word = "fix" if diagnosis.candidates else "sound"
        blocks.append(Block([BLANK, *labelled(word, f"{title}   ({messages.signed(near.stack.verdict)})")]))
    first = diagnosis.candidates[0] if diagnosis.candidates else None
    for number, step in enumerate(_steps(shown, first)[:_STEPS] if first else ()):
        blocks += labelled_block("" if number else "do", step.rstrip("."), 1 if blocks else 0)
    if diagnosis.ended:
        blocks.append(_instead(shown, diagnosis, shell))
    return blocks


def _instead(shown: Presenter, diagnosis: Diagnosis, shell: str) -> Block:
    """Return what takes the place of what has ended, with its commands unless they stand above."""
    ended, verb = listed([shown.label(product) for product in diagnosis.ended]), "have" if len(diagnosis.ended) > 1 else "has"
    text = f"{ended} {verb} ended; `compatkb migrate` shows what changes"
    steps = commands.pip_commands(shown.stack(diagnosis.instead.stack), shell) if diagnosis.instead else []
    if diagnosis.nearest and steps == commands.pip_commands(shown.stack(diagnosis.nearest[0].stack), shell):
        steps = []
    if diagnosis.instead and diagnosis.target.python and diagnosis.target.python not in diagnosis.instead.stack.python:
        text = f"{text}; needs Python {ranges(diagnosis.instead.stack.python, shown.facts.grid['python'])}"
    return Block([*labelled("instead", text), *(command(step, 13) for step in steps)], 2)


def _question(diagnosis: Diagnosis) -> str:
    """Return what the text leaves open, and what to do about it."""
    unknown = [] if diagnosis.target.device else ["the device"]
    unknown += ["the system"] if any(choice.systems for choice in diagnosis.either) else []
    return f"The text does not name {' or '.join(unknown)}. Take the command for yours:"


def _on(shown: Presenter, choice: StackChoice, named: set[str], shell: str, number: int) -> Block:
    """Return the commands for a device and a system of which the text does not tell whether they are meant.

    What it lacks of the products that the text names is said; of several places the last may go first.
    """
    steps = [command(step) for step in commands.pip_commands(shown.stack(choice.near.stack), shell)]
    place = [shown.value("device", choice.device), *(shown.value("os", system) for system in choice.systems)]
    if gone := sorted(named.difference(element.product for element in choice.near.stack.packages)):
        place.append(f"without {listed([shown.label(product) for product in gone])}")
    return Block([*wrapped(f"on {', '.join(place)}:", "  "), *steps, BLANK] if steps else [], number / _PLACES)


def near_name(shown: Presenter, near: Alternative) -> str:
    """Return the main packages of a stack that is near."""
    return listed([shown.build(e) for e in near.stack.packages if e.product in near.stack.requested])


def _others(diagnosis: Diagnosis) -> list[Candidate]:
    least = diagnosis.candidates[0].weight * _SHARE if diagnosis.candidates else 0
    return [candidate for candidate in diagnosis.candidates[1:_STEPS] if candidate.weight >= least and candidate.hits]


def _wanted(shown: Presenter, wanted: UnmetRequirement) -> str:
    """Return what is known of a requirement that an installer did not find."""
    addresses = {channel.id: channel.url or "the default index" for channel in channels(shown.facts)}
    builds = {
        version: f"{version} on {addresses.get(channels[0], channels[0])}" for version, channels in wanted.builds if channels
    }
    pinned = wanted.requirement.rpartition("==")[2]
    if wanted.known and pinned in builds:
        return f"{wanted.requirement} exists: {builds[pinned]}"
    missing = "exists without wheels" if wanted.known else "does not exist"
    if builds:
        return f"{wanted.requirement} {missing}; that release has {'; '.join(list(builds.values())[:_STEPS])}"
    near = f"; the nearest releases are {', '.join(wanted.near)}" if wanted.near else ""
    return f"{wanted.requirement} {missing}{near}"


def _read(shown: Presenter, diagnosis: Diagnosis) -> list[Block]:
    """Return the versions that were read from the text, and whether they fit each other."""
    if not diagnosis.versions:
        return []
    named = ", ".join(dict.fromkeys(_version(shown, read.product, read.version) for read in diagnosis.versions))
    answer = diagnosis.answer
    fits = " (whether these are compatible is not known)" if answer and answer.verdict == "unknown" else ""
    unread = f"; not known: {', '.join(diagnosis.unread)}" if diagnosis.unread else ""
    return [Block(labelled("read", f"{named}{fits}{unread}"), 1)]


def _version(shown: Presenter, product: str, version: str) -> str:
    """Return a version that was read, with the name of its product, or by its own name where it has one."""
    name = shown.value(product, version)
    return name if name != version else f"{shown.label(product)} {version}"


def diagnosis_json(facts: Snapshot, diagnosis: Diagnosis, day: date) -> str:
    """Return the diagnosis as JSON; docs/diagnose.md names the fields."""
    answer = diagnosis.answer
    shown = Presenter(facts, request_of(answer, day))
    content: dict[str, Any] = {
        "version_problem": diagnosis.about_versions if diagnosis.candidates else None,
        "causes": [
            {
                **picked(candidate, "id kind weight"),
                **dict(zip(("title", "why"), _said(shown, candidate), strict=True)),
                "do": list(_steps(shown, candidate)),
                "lines": [{"line": hit.line, "text": hit.text} for hit in candidate.hits],
                "sources": source_payloads(candidate.sources),
            }
            for candidate in diagnosis.candidates
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
        "reasons": [shown.sentence(cause) for cause in answer.causes] if answer else [],
        "nearest": [_near(shown, near) for near in diagnosis.nearest],
        "either": [{**picked(choice, "device systems"), **_near(shown, choice.near)} for choice in diagnosis.either],
        "ended": list(diagnosis.ended),
        "instead": instead_payload(shown, diagnosis.instead),
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
    return document(shown.facts, day, content)


def _near(shown: Presenter, near: Alternative) -> dict[str, Any]:
    return {**picked(near, "relaxed where"), "stack": stack_brief(shown.stack(near.stack))}
