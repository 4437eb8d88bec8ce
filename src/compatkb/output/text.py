"""The first screen of an answer: the verdict, the one thing to do, how sure it is, what else there is, where more is."""

from collections.abc import Sequence
from datetime import date

from compatkb.core.names import is_free_threaded
from compatkb.core.vocabulary import Certainty, Role
from compatkb.engine.advice import StackWarning
from compatkb.engine.answer import Answer
from compatkb.engine.stacks import Stack
from compatkb.output import commands, disputes, messages
from compatkb.output.answer_words import (
    MOST,
    Way,
    beside_words,
    foremost,
    headline,
    main_builds,
    needs,
    unbounded_need,
    ways_of,
)
from compatkb.output.citations import Numbers, short
from compatkb.output.labels import HARDWARE, label, listed, main_packages, platforms, stack_name, value
from compatkb.output.open_points import open_points, strangers
from compatkb.output.registry import Wanted
from compatkb.output.screen import (
    BLANK,
    HEIGHT,
    TIED,
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
from compatkb.store.reader import Snapshot
from compatkb.store.records import Request

VERDICTS = messages.VERDICTS
_OTHERS = 3
_SOURCES = 3
_FOOT = 2
_UNLIMITED = 10_000
_LINES = 2


def answer_text(facts: Snapshot, answer: Answer, *, why: bool = False, everything: bool = False, shell: str = POSIX) -> str:
    """Return the answer as plain text."""
    return text_of(answer_screen(facts, answer, Wanted(why, everything, shell)))


def answer_screen(facts: Snapshot, answer: Answer, wanted: Wanted) -> list[Line]:
    """Return the first screen; `why` adds the sources and all that speaks for and against, `everything` every stack."""
    why, everything, shell = wanted.why, wanted.everything, wanted.shell or POSIX
    height = _UNLIMITED if why or everything else HEIGHT
    numbers = Numbers(None if why else _SOURCES)
    if answer.stacks and answer.verdict != "unknown":
        blocks = _positive(facts, answer, shell, everything=everything)
    else:
        for most in range(_OTHERS, 0, -1):  # fewer reasons where the ways out need the room
            numbers = Numbers(None if why else _SOURCES)
            blocks = _negative(facts, answer, numbers, shell, None if why else most)
            if sum(len(block.lines) for block in blocks) <= height - _FOOT:
                break
    more = [] if why else ["--why: sources"]
    if answer.request.uploaded_until is not None:
        more.insert(0, f"uploads before {date.fromordinal(answer.request.uploaded_until + 1)}")
    left = len(grouped(facts, answer.stacks)) or len(answer.nearest)
    more += [f"--all: {left} stacks"] if left > 1 and not everything else []
    blocks.append(Block([BLANK, *wrapped(messages.footer(facts, answer.request.as_of, more), "  ", style="dim")]))
    lines = fitted(blocks, height)
    if everything:
        lines += _all(facts, answer, shell)
    if why:
        from compatkb.output.why import details

        lines += details(facts, answer, numbers)
    return lines


def _head(answer: Answer, sentence: str) -> list[Line]:
    head = f"{messages.signed(answer.verdict)}   "
    style = "works" if answer.verdict == "works-with-warnings" else answer.verdict
    return wrapped(sentence, head, "  ", style)


# -- an answer ------------------------------------------------------------------------------------------------------


def _positive(facts: Snapshot, answer: Answer, shell: str, *, everything: bool) -> list[Block]:
    request, stack = answer.request, answer.stacks[0]
    groups = grouped(facts, answer.stacks)
    sentence = headline(facts, answer)
    shown = _by_system(request, groups)
    blocks = [Block(_head(answer, sentence)), Block([BLANK, *_commands(facts, shown, request, shell), BLANK])]
    blocks += [Block(labelled(*_sureness(facts, stack, request)))]
    if warned := messages.warnings_in_brief(facts, stack.warnings):
        blocks.append(Block([line for n, text in enumerate(warned) for line in labelled("" if n else "warning", text)]))
    if len(shown) == 1 and (where := platforms(facts, groups[0])) not in sentence and not _is_fixed(request):
        blocks.append(Block(labelled("runs on", where), 2))
    if needed := _needs_of(facts, groups[0], request):
        blocks.append(Block([line for n, text in enumerate(needed) for line in labelled("" if n else "needs", text)], 1))
    machines = () if request.pin(HARDWARE) else stack.known.get(HARDWARE, ())
    blocks += labelled_block("hardware", ", ".join(machines), 4)
    blocks += _beside(facts, answer, shell)
    if not everything:
        blocks += [Block(lines, 6) for lines in differences(facts, groups[0])[:_LINES]]
    blocks += _others(facts, answer, [group for group in groups if group not in shown[1:]], everything=everything)
    issues = [warned for warned in stack.warnings if warned.kind == "known-issue"]
    if issues:
        more = f" (and {len(issues) - 1} more: --why)" if len(issues) > 1 else ""
        blocks.append(Block(labelled("note", f"{issues[0].detail.rstrip('.')}{more}"), 5))
    return blocks


def _by_system(request: Request, groups: list[list[Stack]]) -> list[list[Stack]]:
    """Return the best stacks, and where no system is asked for, the best of a system for which their command will not do.

    That a free-threaded Python (PEP 703) is served on a system is no answer for those who did not ask for one.
    """
    best = groups[0]
    if request.pin("os"):
        return [best]
    names_python = request.pin("python") is not None

    def systems(group: list[Stack]) -> set[str]:
        some = [one for one in group if names_python or not all(map(is_free_threaded, one.python))]
        return {system for one in some for system in one.os}

    for group in groups[1:]:
        alike = (group[0].device, group[0].route) == (best[0].device, best[0].route)
        if alike and (served := systems(group)) and served.isdisjoint(systems(best)):
            return [best, group]
    return [best]


def _commands(facts: Snapshot, groups: list[list[Stack]], request: Request, shell: str) -> list[Line]:
    """Return the commands of one group of stacks, or of several, each under its systems."""
    if len(groups) == 1:
        return install_lines(facts, groups[0][0], shell)
    lines: list[Line] = []
    for group in groups:
        name = f": {stack_name(facts, group[0], request)}" if group is not groups[0] else ""
        lines += [*wrapped(f"on {platforms(facts, group)}{name}", "  "), *install_lines(facts, group[0], shell)]
    return lines


def _is_fixed(request: Request) -> bool:
    """Return whether a request fixes the platform, so that it is told already."""
    return bool(request.pin("python") and request.pin("os"))


def install_lines(facts: Snapshot, stack: Stack, shell: str, indent: int = 4, *, proof: bool = True) -> list[Line]:
    """Return the commands that install a stack and the one that proves it; or that there are none."""
    steps = commands.pip_commands(facts, stack, shell)
    if not steps:
        return wrapped(messages.not_installable(facts, stack), " " * indent)
    shown = commands.short_proof(facts, stack) if proof else None
    return [command(step, indent) for step in [*steps, *([shown] if shown else [])]]


def _sureness(facts: Snapshot, stack: Stack, request: Request) -> tuple[str, str]:
    """Return how sure an answer is, in a line: what it rests on, or what is open."""
    disputed = _disputed(len(disputes.of_stack(facts, stack, request.as_of)))
    if stack.level == Certainty.CERTAIN:
        apart = "".join(f"; {what}" for what in strangers(facts, stack))
        return "sure", messages.basis(messages.support(facts, stack)) + apart + (f" ({disputed}: --why)" if disputed else "")
    points = open_points(facts, stack)
    parts = [f"and {len(points) - 1} more" if len(points) > 1 else "", disputed]
    more = f" ({', '.join(part for part in parts if part)}: --why)" if any(parts) else ""
    text = points[0].brief + more
    return "open", text if len(labelled("open", text)) <= _LINES else points[0].what + more


def _disputed(count: int) -> str:
    """Return how many points are disputed."""
    return f"{count} disputed point{'s' if count > 1 else ''}" if count else ""


def _needs_of(facts: Snapshot, stacks: Sequence[Stack], request: Request) -> list[str]:
    """Return what stacks need of the machine: once where they agree, else with the systems."""
    by_text: dict[str, list[str]] = {}
    for stack in stacks:
        text = ", ".join(f"{label(facts, name)} {values}" for name, values in needs(facts, stack, request))
        by_text.setdefault(text, []).extend(value(facts, "os", system) for system in stack.os)
    if not any(by_text):
        return [text] if (text := unbounded_need(facts, stacks[0])) else []
    if len(by_text) == 1:
        return list(by_text)
    return [f"{text} ({listed(list(dict.fromkeys(systems)))})" for text, systems in by_text.items() if text]


def _beside(facts: Snapshot, answer: Answer, shell: str) -> list[Block]:
    """Return what stands beside the best stack: a proven one, the default index, the way out of what has ended."""
    blocks = []
    for beside in answer.beside:
        word, text = beside_words(facts, answer, beside)
        lines = [*labelled(word, text), *install_lines(facts, beside.stack, shell, 13, proof=False)]
        blocks.append(Block(lines, 3 if beside.kind == "default-index" else 1))
    return blocks


def grouped(facts: Snapshot, stacks: Sequence[Stack]) -> list[list[Stack]]:
    """Return stacks of one verdict together for which one command will do, save for packages that some of them lack."""
    groups: list[list[Stack]] = []
    for stack in stacks:
        same = (group for group in groups if _is_alike(facts, group[0], stack))
        group = next(same, None)
        if group is None:
            groups.append([stack])
        else:
            group.append(stack)
    return groups


def _is_alike(facts: Snapshot, one: Stack, other: Stack) -> bool:
    """Return whether two stacks have the same main builds, and what both install comes in the same builds."""
    if (one.device, one.route, one.verdict) != (other.device, other.route, other.verdict):
        return False
    if main_builds(facts, one) != main_builds(facts, other):
        return False
    first, second = _installed(facts, one), _installed(facts, other)
    return all(first[name] == second[name] for name in first.keys() & second.keys())


def differences(facts: Snapshot, stacks: Sequence[Stack]) -> list[list[Line]]:
    """Return for the further stacks of a group what they install otherwise, and where."""
    first = _installed(facts, stacks[0])
    groups: dict[str, list[Stack]] = {}
    for stack in stacks[1:]:
        other = _installed(facts, stack)
        parts = [f"{name} {version}" for name, version in other.items() if first.get(name) != version]
        parts += [f"no {name}" for name in first if name not in other]
        if parts:
            groups.setdefault(", ".join(parts), []).append(stack)
    return [labelled("differs", f"{platforms(facts, group)}: {what}") for what, group in groups.items()]


def _installed(facts: Snapshot, stack: Stack) -> dict[str, str]:
    """Return what commands install, by name."""
    named = [e for e in stack.packages if commands.is_named(facts, e, stack)]
    return {messages.build_name(facts, e): e.version for e in named}


def _others(facts: Snapshot, answer: Answer, groups: Sequence[Sequence[Stack]], *, everything: bool) -> list[Block]:
    """Return the other stacks, a line each, and of what brings the device which is better left out."""
    request, best = answer.request, answer.stacks[0]
    held = {e.product for e in best.packages} | {pin.product for pin in request.pins} | set(request.bare)
    lines: list[list[Line]] = []
    avoided: dict[str, list[StackWarning]] = {}
    beside = [stack_name(facts, b.stack, request) for b in answer.beside]
    for group in groups[1:]:
        stack = group[0]
        ended = [w for w in stack.warnings if w.kind in ("eol", "security") and w.product not in held]
        if ended:
            for warned in ended:
                avoided.setdefault(label(facts, warned.product), []).append(warned._replace(version=""))
            continue
        if (name := stack_name(facts, stack, request)) not in beside:
            name = "the same" if name == stack_name(facts, best, request) else name
            text = f"{name}   {messages.signed(stack.verdict)}; {platforms(facts, group)}"
            lines.append(labelled("" if lines else "others", text))
    blocks = [Block(other, 3 + number) for number, other in enumerate([] if everything else lines[:_OTHERS])]
    own = {route.provider for route in facts.routes}
    asked = {*(pin.product for pin in request.pins), *request.bare}
    if any(facts.products[product].role == Role.PACKAGE and product not in own for product in asked):
        return blocks  # who asks about other packages did not think of those
    shown = [messages.warnings_in_brief(facts, warnings)[0] for warnings in list(avoided.values())[:1]]
    return blocks + [Block(labelled("not", text), 2) for text in shown]


# -- no answer ------------------------------------------------------------------------------------------------------


def _negative(facts: Snapshot, answer: Answer, numbers: Numbers, shell: str, most: int | None) -> list[Block]:
    """Return the causes, at most so many, and the ways out; without a limit the causes have all their sources."""
    request = answer.request
    blocks = [Block([*_head(answer, headline(facts, answer)), BLANK])]
    reasons: list[Line] = []
    causes = foremost(answer)
    for cause in causes[:most]:
        marks = numbers.marks(messages.cause_sources(facts, cause, request)[: 1 if most else None])
        reasons += wrapped(f"{messages.sentence(messages.cause(facts, cause, request))}{TIED}{marks}".rstrip(), "  ")
    rows = {row["id"] for cause in causes for row in disputes.of_cause(facts, cause, request)}
    rows |= {row["id"] for stack in answer.stacks[:1] for row in disputes.of_stack(facts, stack, request.as_of)}
    if not answer.causes and answer.stacks:
        points = open_points(facts, answer.stacks[0])
        for point in points[:_LINES]:
            reasons += wrapped(messages.sentence(point.sentence), "  ")
        reasons += wrapped(f"Also open: {len(points) - _LINES} (--why).", "  ") if len(points) > _LINES else []
    elif not answer.causes:
        reasons += wrapped(messages.sentence(messages.excluded(request, facts)), "  ")
    if rows:
        reasons += wrapped(f"This rests on {_disputed(len(rows))} (--why).", "  ")
    blocks.append(Block(reasons))
    blocks += _ways(facts, answer, shell)
    if numbers.sources and most:
        cited = [line for n, s in enumerate(numbers.sources, 1) for line in wrapped(short(s), f"  [{n}] ", "      ", "dim")]
        blocks.append(Block([BLANK, *cited], 2))
    return blocks


def _ways(facts: Snapshot, answer: Answer, shell: str) -> list[Block]:
    ways = ways_of(facts, answer)
    if not ways and answer.stacks:
        ways = [Way(f"to try: {stack_name(facts, answer.stacks[0], answer.request)}", answer.stacks[0])]
    blocks = []
    for number, way in enumerate(ways, 1):
        lines = wrapped(_described(facts, way, answer.request), f"  {number}  ", "     ", "heading")
        if way.migrates:
            lines.append(command("compatkb migrate .          shows what to change in your code", 7))
        blocks.append(Block([BLANK, *lines] if number == 1 else lines, 0))
        blocks.append(Block(install_lines(facts, way.stack, shell, 7, proof=False), 10 + number if number > 1 else 0))
    shared = _shared_warnings(facts, ways)
    if shared:
        blocks.append(Block(shared, 3))
    return blocks


def _described(facts: Snapshot, way: Way, request: Request, stacks: Sequence[Stack] = ()) -> str:
    """Return a way with its verdict and, where the request leaves that open, where it holds."""
    python = request.pin("python")
    stays = python and any(name in python.text for name in way.stack.python)
    where = "" if _is_fixed(request) and stays else f"; {platforms(facts, stacks or [way.stack])}"
    return f"{way.title}   ({messages.signed(way.stack.verdict)}{where})"


def _shared_warnings(facts: Snapshot, ways: Sequence[Way]) -> list[Line]:
    """Return what must be known of the ways, each thing once, with the numbers of the ways that it is about."""
    numbers_by_text: dict[str, list[str]] = {}
    for number, way in enumerate(ways, 1):
        main = {e.product for e in main_packages(facts, way.stack)}
        about = [
            w._replace(version="") if w.kind in ("eol", "security") else w for w in way.stack.warnings if w.product in main
        ]
        for text in messages.warnings_in_brief(facts, about):
            numbers_by_text.setdefault(text, []).append(str(number))
    lines: list[Line] = []
    for text, places in numbers_by_text.items():
        lines += wrapped(text, f"     {listed(places)}: " if len(ways) > 1 else "     ", "     ")
    return lines


# -- everything -----------------------------------------------------------------------------------------------------


def _all(facts: Snapshot, answer: Answer, shell: str) -> list[Line]:
    """Return every further stack with where it holds and its commands; for a "no", every further way out."""
    lines: list[Line] = []
    for number, group in enumerate(grouped(facts, answer.stacks), 1):
        stack = group[0]
        seen = {line.text for line in install_lines(facts, stack, shell, 7, proof=False)} if number == 1 else set()
        if number > 1:
            way = Way(stack_name(facts, stack, answer.request), stack)
            lines += wrapped(_described(facts, way, answer.request, group), f"  {number}  ", "     ", "heading")
            for text in messages.warnings_in_brief(facts, stack.warnings):
                lines += wrapped(text, "       ")
        for member in group:
            steps = [line for line in install_lines(facts, member, shell, 7, proof=False) if line.text not in seen]
            if steps and seen:
                lines += wrapped(f"on {platforms(facts, [member])}:", "       " if number > 1 else "  ")
            lines += steps
            seen |= {line.text for line in steps}
    if not answer.stacks:
        for number, way in enumerate(ways_of(facts, answer, len(answer.nearest) + len(answer.beside))[MOST:], MOST + 1):
            lines += wrapped(_described(facts, way, answer.request), f"  {number}  ", "     ", "heading")
            lines += install_lines(facts, way.stack, shell, 7, proof=False)
    return [BLANK, *lines] if lines else []
