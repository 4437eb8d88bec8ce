"""The screen of an answer: verdict, the one thing to do, how sure it is, what else there is; with --why what is behind it."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from compatkb.output import disputes, messages
from compatkb.output.commands import POSIX, pip_commands, proof_command, short_proof
from compatkb.output.documents import Numbers, address, short
from compatkb.output.issue_text import issue_line
from compatkb.output.registry import Wanted
from compatkb.output.screen import (
    BLANK,
    HEIGHT,
    TIED,
    Block,
    Line,
    command,
    fitted,
    height_of,
    labelled,
    text_of,
    wrapped,
)
from compatkb.output.things import ClaimView, StackView, listed, platforms
from compatkb.output.view import MOST, AnswerRow, AnswerView, Way, counted

if TYPE_CHECKING:
    from compatkb.output.json_types import DisputeJson, StackImageJson

_SOURCES = 3
_FOOT = 2
_UNLIMITED = 10_000
_LINES = 2
_HANGING = 17
"""Where commands stand that belong to a row."""


def answer_text(view: AnswerView, wanted: Wanted | None = None) -> str:
    """Return the answer as plain text."""
    return text_of(answer_screen(view, wanted or Wanted()))


def answer_screen(view: AnswerView, wanted: Wanted) -> list[Line]:
    """Return the first screen; `why` adds the sources and all that speaks for and against, `everything` every stack."""
    why, everything, shell = wanted.why, wanted.everything, wanted.shell or POSIX
    height = _UNLIMITED if why or everything else HEIGHT
    numbers = Numbers(None if why else _SOURCES)
    if view.is_positive:
        blocks = _positive(view, shell, everything=everything)
    else:
        chain = any(
            not cause.about_asked and cause.kind == "claim" for cause in view.foremost[:1]
        )  # one alone says half of it
        for most in range(MOST, int(chain), -1):  # fewer reasons where the ways out need the room
            numbers = Numbers(None if why else _SOURCES)
            blocks = _negative(view, numbers, shell, None if why else most)
            if sum(height_of(block.lines) for block in blocks) <= height - _FOOT:
                break
    more = [*view.foot, *([] if why else ["--why: sources"])]
    left = len(view.groups) or len(view.nearest)
    more += [f"--all: {left} stacks"] if left > 1 and not everything else []
    foot = messages.footer(view.data_date, view.request.as_of, more)
    blocks.append(Block([BLANK, *wrapped(foot, "  ", style="dim")]))
    lines = fitted(blocks, height)
    if everything:
        lines += _all(view, shell)
    if why:
        lines += details(view, numbers)
    return lines


def _head(view: AnswerView) -> list[Line]:
    style = "works" if view.verdict == "works-with-warnings" else view.verdict
    return wrapped(view.headline, f"{messages.signed(view.verdict)}   ", "  ", style)


def _positive(view: AnswerView, shell: str, *, everything: bool) -> list[Block]:
    steps: list[Line] = []
    for section in view.sections:
        steps += wrapped(section.title, "  ") + install_lines(section.group.best, shell)
    rows = [row for row in view.rows if not (everything and row.when_brief)]
    return [Block(_head(view)), Block([BLANK, *steps, BLANK]), *(row_block(row, shell) for row in rows)]


def row_block(row: AnswerRow, shell: str) -> Block:
    """Return a row, with its commands."""
    lines = [line for n, text in enumerate(row.texts) for line in labelled("" if n else row.label, text)]
    if row.short and height_of(lines) > _LINES:
        lines = labelled(row.label, row.short)
    return Block(lines + (install_lines(row.install, shell, _HANGING, proof=False) if row.install else []), row.weight)


def install_lines(stack: StackView, shell: str, indent: int = 4, *, proof: bool = True) -> list[Line]:
    """Return the commands that install a stack and the one that proves it; or that there are none."""
    steps = pip_commands(stack, shell)
    if not steps:
        return wrapped(messages.not_installable(stack), " " * indent)
    shown = short_proof(stack) if proof else None
    return [command(step, indent) for step in [*steps, *([shown] if shown else [])]]


# -- no answer ------------------------------------------------------------------------------------------------------


def _negative(view: AnswerView, numbers: Numbers, shell: str, most: int | None) -> list[Block]:
    """Return the causes, at most so many, and the ways out; without a limit the causes have all their sources."""
    blocks = [Block([*_head(view), BLANK])]
    reasons: list[Line] = []
    for cause in view.foremost[:most]:
        marks = numbers.marks(cause.sources[: 1 if most else None])
        reasons += wrapped(f"{messages.sentence(cause.message)}{TIED}{marks}".rstrip(), "  ")
    points = view.stacks[0].evidence.open_points if view.stacks else ()
    texts = [*(point.sentence for point in points[:_LINES]), *view.reasons]
    more = len(points) - _LINES
    texts += [f"Also untested: {more} point{'s' if more > 1 else ''} (--why)."] if more > 0 else []
    texts += [f"This rests on {counted(view.disputed)} (--why)."] if view.disputed else []
    blocks.append(Block([*reasons, *(line for text in texts for line in wrapped(messages.sentence(text), "  "))]))
    blocks += _ways(view, shell)
    if numbers.sources and most:
        cited = [line for n, s in enumerate(numbers.sources, 1) for line in wrapped(short(s), f"  [{n}] ", "      ", "dim")]
        blocks.append(Block([BLANK, *cited], 2))
    return blocks


def _ways(view: AnswerView, shell: str) -> list[Block]:
    ways: Sequence[Way] = view.ways[:MOST]
    if not ways and view.stacks:
        ways = [Way(f"to try: {view.stacks[0].name}", view.stacks[0])]
    blocks = []
    for number, way in enumerate(ways, 1):
        lines = wrapped(_described(view, way), f"  {number}  ", "     ", "heading")
        if way.migrates:
            lines.append(command("compatkb migrate .          shows what to change in your code", 7))
        blocks.append(Block([BLANK, *lines] if number == 1 else lines, 0))
        blocks.append(Block(install_lines(way.stack, shell, 7, proof=False), 10 + number if number > 1 else 0))
    shared = _shared_warnings(ways)
    if shared:
        blocks.append(Block(shared, 3))
    return blocks


def _described(view: AnswerView, way: Way, stacks: Sequence[StackView] = ()) -> str:
    """Return a way with its verdict and, where the request leaves that open, where it holds."""
    python = view.request.pin("python")
    stays = python and any(value.id in python.text for value in way.stack.python)
    where = "" if view.fixes_place and stays else f"; {platforms(stacks or [way.stack])}"
    return f"{way.title}   ({messages.signed(way.stack.verdict)}{where})"


def _shared_warnings(ways: Sequence[Way]) -> list[Line]:
    """Return what must be known of the ways, each thing once, with the numbers of the ways that it is about."""
    numbers_by_text: dict[str, list[str]] = {}
    for number, way in enumerate(ways, 1):
        main = {build.product for build in way.stack.main}
        about = [warned for warned in way.stack.warnings if warned.product in main]
        for text in messages.warnings_in_brief(about, whole=True):
            numbers_by_text.setdefault(text, []).append(str(number))
    lines: list[Line] = []
    for text, places in numbers_by_text.items():
        lines += wrapped(text, f"     {listed(places)}: " if len(ways) > 1 else "     ", "     ")
    return lines


# -- everything -----------------------------------------------------------------------------------------------------


def _all(view: AnswerView, shell: str) -> list[Line]:
    """Return every further stack with where it holds and its commands; for a "no", every further way out."""
    lines: list[Line] = []
    for number, group in enumerate(view.groups, 1):
        seen = {line.text for line in install_lines(group.best, shell, 7, proof=False)} if number == 1 else set()
        if number > 1:
            described = _described(view, Way(group.best.name, group.best), group.stacks)
            lines += wrapped(described, f"  {number}  ", "     ", "heading")
            for text in messages.warnings_in_brief(group.best.warnings):
                lines += wrapped(text, "       ")
        for member in group.stacks:
            steps = [line for line in install_lines(member, shell, 7, proof=False) if line.text not in seen]
            if steps and seen:
                lines += wrapped(f"on {platforms([member])}:", "       " if number > 1 else "  ")
            lines += steps
            seen |= {line.text for line in steps}
    if not view.stacks:
        for number, way in enumerate(view.ways[MOST:], MOST + 1):
            lines += wrapped(_described(view, way), f"  {number}  ", "     ", "heading")
            lines += install_lines(way.stack, shell, 7, proof=False)
    return [BLANK, *lines] if lines else []


# -- what stands behind an answer ---------------------------------------------------------------------------------------


_LEVELS = ("", " (assumed)", " (not documented)")


def details(view: AnswerView, numbers: Numbers) -> list[Line]:
    """Return all that is known of the best stack, or of the causes, and the addresses of every source by number."""
    lines: list[Line] = []
    if view.best:
        lines += _stack(view.best, numbers)
    rows = {row["id"]: row for cause in view.causes for row in cause.disputes}
    lines += _disputes(rows.values(), numbers)
    if numbers.sources:
        lines += _heading("sources")
        for number, source in enumerate(numbers.sources, 1):
            lines += wrapped(address(source), f"  [{number}] ", "      ")
    return lines


def _heading(title: str) -> list[Line]:
    return [BLANK, Line(title, "heading")]


def _section(title: str, texts: list[str]) -> list[Line]:
    """Return a heading and a list; nothing where the list is empty."""
    return [*_heading(title), *(line for text in texts for line in wrapped(text, "  ", "    "))] if texts else []


def _stack(stack: StackView, numbers: Numbers) -> list[Line]:
    builds = [f"{build.label} {numbers.marks(build.sources)}" for build in stack.packages if build.requested]
    lines = _section("builds", builds)
    lines += _claims(stack, numbers)
    lines += _section("untested", [point.sentence for point in stack.evidence.open_points])
    warnings = [(w, numbers.marks(w.sources)) for w in stack.warnings]
    for title, is_issue in (("warnings", False), ("known issues", True)):
        entries = [(w, marks) for w, marks in warnings if (w.kind == "known-issue") is is_issue]
        lines += _section(title, [f"{messages.warning(w)} {marks}" for w, marks in entries])
    lines += _disputes(stack.evidence.disputes, numbers)
    names = ", ".join(f"{build.distribution or build.product.id} {build.version}" for build in stack.run_times)
    lines += _section("also installs", [names] if names else [])
    lines += _section("known issues", [f"{issue_line(issue)} {numbers.marks(issue.sources)}" for issue in stack.issues])
    lines += _section("container images", [image["image"] + _marks(image) for image in stack.evidence.images])
    proof = proof_command(stack)
    if proof:
        lines += [*_heading("proof that exactly this is installed"), command(proof, 2)]
    return lines


def _marks(image: "StackImageJson") -> str:
    marks = ([] if image["listed"] else ["no longer listed"]) + (["disputed"] if image["disputes"] else [])
    return f" ({', '.join(marks)})" if marks else ""


def _claims(stack: StackView, numbers: Numbers) -> list[Line]:
    """Return what speaks for each two members."""
    lines: list[Line] = []
    seen: set[str] = set()
    for link in stack.evidence.links:
        names = {claim.id for claim in link.claims}
        if not {link.one, link.other} & set(stack.requested) or names <= seen:
            continue
        lines += wrapped(f"{link.one} with {link.other}{_LEVELS[link.level]}", "  ", "    ", "heading")
        for (text, note), claims in _texts(claim for claim in link.claims if claim.id not in seen).items():
            marks = "".join(numbers.marks(claim.sources) for claim in claims)
            lines += wrapped(f"{text} {marks}", "    ", "      ")
            lines += wrapped(note, "      ") if note else []
        seen |= names
    return [*_heading("evidence"), *lines] if lines else []


def _texts(claims: Iterable[ClaimView]) -> dict[tuple[str, str], list[ClaimView]]:
    """Return what claims say, and their notes; those that say the same stand together."""
    claims_by_text: dict[tuple[str, str], list[ClaimView]] = {}
    for claim in claims:
        when = f" when {claim.when}" if claim.when else ""
        text = f"{claim.of} {claim.kind} {messages.terms(claim.to)}{when} ({claim.basis})"
        claims_by_text.setdefault((text, claim.note or ""), []).append(claim)
    return claims_by_text


def _disputes(rows: "Iterable[DisputeJson]", numbers: Numbers) -> list[Line]:
    """Return disputes with both their sides, the decision and its reason."""
    lines: list[Line] = []
    for row in rows:
        lines += wrapped(row["about"], "  ", "    ")
        for position in row["positions"]:
            cited = tuple((source["text"], source["url"]) for source in position["sources"])
            lines += wrapped(f"one side: {position['text']} {numbers.marks(cited)}", "    ", "      ")
        lines += wrapped(f"{disputes.decided(row)}; {row['reason']}", "    ", "      ")
    return [*_heading("disputed"), *lines] if lines else []
