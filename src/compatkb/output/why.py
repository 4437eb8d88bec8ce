"""What stands behind an answer: claims with numbered sources, disputes with both sides, run-time packages, images, proof."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from compatkb.output import disputes, messages
from compatkb.output.commands import proof_command
from compatkb.output.documents import Numbers, address
from compatkb.output.screen import BLANK, Line, command, wrapped
from compatkb.output.things import ClaimView, StackView
from compatkb.output.view import AnswerView

if TYPE_CHECKING:
    from compatkb.output.json_types import DisputeJson, StackImageJson

_LEVELS = ("", " (inferred)", " (not documented)")


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
    lines += _section("open", [point.sentence for point in stack.evidence.open_points])
    warnings = [(w, numbers.marks(w.sources)) for w in stack.warnings]
    for title, is_issue in (("warnings", False), ("known issues", True)):
        entries = [(w, marks) for w, marks in warnings if (w.kind == "known-issue") is is_issue]
        lines += _section(title, [f"{messages.warning(w)} {marks}" for w, marks in entries])
    lines += _disputes(stack.evidence.disputes, numbers)
    names = ", ".join(f"{build.distribution or build.product.id} {build.version}" for build in stack.run_times)
    lines += _section("also installs", [names] if names else [])
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
