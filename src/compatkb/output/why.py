"""What stands behind an answer: claims with numbered sources, disputes with both sides, run-time packages, images, proof."""

from compatkb.engine.answer import Answer
from compatkb.engine.stacks import Stack
from compatkb.output import commands, disputes, messages
from compatkb.output.citations import Numbers, address
from compatkb.output.images import images_of
from compatkb.output.open_points import open_points
from compatkb.output.payload import claim_payload
from compatkb.output.screen import BLANK, Line, command, wrapped
from compatkb.store.reader import Snapshot
from compatkb.store.records import Request

_LEVELS = ("", " (inferred)", " (not documented)")


def details(facts: Snapshot, answer: Answer, numbers: Numbers) -> list[Line]:
    """Return all that is known of the best stack, or of the causes, and the addresses of every source by number."""
    lines: list[Line] = []
    if answer.stacks:
        lines += _stack(facts, answer.stacks[0], answer.request, numbers)
    rows = [row for cause in answer.causes for row in disputes.of_cause(facts, cause, answer.request)]
    lines += _disputes(list({row["id"]: row for row in rows}.values()), numbers)
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


def _stack(facts: Snapshot, stack: Stack, request: Request, numbers: Numbers) -> list[Line]:
    asked = [element for element in stack.packages if element.product in stack.requested]
    builds = [f"{messages.build(facts, e)} {numbers.marks(messages.element_sources(facts, e))}" for e in asked]
    lines = _section("builds", builds)
    lines += _claims(facts, stack, numbers)
    lines += _section("open", [point.sentence for point in open_points(facts, stack)])
    warnings = [(w, numbers.marks(messages.warning_sources(facts, w))) for w in stack.warnings]
    for title, is_issue in (("warnings", False), ("known issues", True)):
        entries = [(w, marks) for w, marks in warnings if (w.kind == "known-issue") is is_issue]
        lines += _section(title, [f"{messages.warning(facts, w)} {marks}" for w, marks in entries])
    lines += _disputes(disputes.of_stack(facts, stack, request.as_of), numbers)
    runtimes = [e for e in stack.packages if facts.products[e.product].role == "leaf" and e.product not in stack.requested]
    names = ", ".join(f"{e.distribution or e.product} {e.version}" for e in runtimes)
    lines += _section("also installs", [names] if names else [])
    images = images_of(facts, stack, request.as_of)
    lines += _section("container images", [image["image"] + _marks(image) for image in images])
    proof = commands.proof_command(facts, stack)
    if proof:
        lines += [*_heading("proof that exactly this is installed"), command(proof, 2)]
    return lines


def _marks(image: dict[str, object]) -> str:
    marks = ([] if image["listed"] else ["no longer listed"]) + (["disputed"] if image["disputes"] else [])
    return f" ({', '.join(marks)})" if marks else ""


def _claims(facts: Snapshot, stack: Stack, numbers: Numbers) -> list[Line]:
    """Return what speaks for each two members."""
    lines: list[Line] = []
    seen: set[str] = set()
    for link in stack.links:
        if not {link.one, link.other} & set(stack.requested) or set(link.claims) <= seen:
            continue
        lines += wrapped(f"{link.one} with {link.other}{_LEVELS[link.level]}", "  ", "    ", "heading")
        for (text, note), claims in _texts(facts, [claim for claim in link.claims if claim not in seen]).items():
            marks = "".join(numbers.marks(facts.citations(claim)) for claim in claims)
            lines += wrapped(f"{text} {marks}", "    ", "      ")
            lines += wrapped(note, "      ") if note else []
        seen |= set(link.claims)
    return [*_heading("evidence"), *lines] if lines else []


def _texts(facts: Snapshot, claims: list[str]) -> dict[tuple[str, str], list[str]]:
    """Return what claims say, and their notes; those that say the same stand together."""
    claims_by_text: dict[tuple[str, str], list[str]] = {}
    for claim in claims:
        payload = claim_payload(facts, claim)
        when = f" when {payload['when']}" if payload["when"] else ""
        text = f"{payload['of']} {payload['kind']} {messages.terms(payload['to'])}{when} ({payload['basis']})"
        claims_by_text.setdefault((text, payload.get("note", "")), []).append(claim)
    return claims_by_text


def _disputes(rows: list[dict[str, object]], numbers: Numbers) -> list[Line]:
    """Return disputes with both their sides, the decision and its reason."""
    lines: list[Line] = []
    for row in rows:
        lines += wrapped(str(row["about"]), "  ", "    ")
        for position in row["positions"]:  # type: ignore[attr-defined]  # rows come from JSON
            cited = tuple((source["text"], source["url"]) for source in position["sources"])
            lines += wrapped(f"one side: {position['text']} {numbers.marks(cited)}", "    ", "      ")
        lines += wrapped(f"{disputes.decided(row)}; {row['reason']}", "    ", "      ")
    return [*_heading("disputed"), *lines] if lines else []
