"""Answers as plain dictionaries: the JSON contract, whose text is docs/json.md."""

from datetime import date
from typing import TYPE_CHECKING, Any

from compatkb.engine.advice import FeatureSupport, StackWarning
from compatkb.engine.answer import Alternative, Answer
from compatkb.engine.conflicts import Cause
from compatkb.engine.stacks import Stack, SupportLink
from compatkb.output import commands, disputes, messages
from compatkb.output.citations import source_payloads
from compatkb.output.images import images_of
from compatkb.output.json_document import head, json_text
from compatkb.output.registry import Wanted
from compatkb.store.queries.claims import claim as claim_record
from compatkb.store.reader import Snapshot
from compatkb.store.records import Request, picked

if TYPE_CHECKING:  # what answers in the browser has no doctor
    from compatkb.doctor.successors import SuccessorStack

_LEVELS = ("supported", "inferred", "unknown")
_BEYOND = ("hardware", "driver", "oneapi", "glibc")
"""Fields that every stack has, whatever the data show."""


def answer_payload(facts: Snapshot, answer: Answer, *, why: bool = False) -> dict[str, Any]:
    """Return what `resolve --format json` prints."""
    request = answer.request
    return {
        **head(facts, date.fromordinal(request.as_of)),
        "request": request_payload(request),
        "verdict": answer.verdict,
        "stacks": [stack_payload(facts, stack, request, why=why) for stack in answer.stacks],
        "causes": [cause_payload(facts, cause, request) for cause in answer.causes] + doubts(facts, answer),
        "nearest": [near_payload(facts, near, request, why=why) for near in answer.nearest],
        "beside": [
            {"kind": beside.kind, "stack": stack_payload(facts, beside.stack, request, why=why)} for beside in answer.beside
        ],
        "gave_up": answer.gave_up,
    }


def answer_json(facts: Snapshot, answer: Answer, wanted: Wanted | None = None) -> str:
    """Return an answer as JSON text."""
    return json_text(answer_payload(facts, answer, why=bool(wanted and wanted.why)))


def request_payload(request: Request) -> dict[str, Any]:
    """Return the request as it was understood."""
    until = request.uploaded_until
    return {
        "pins": {pin.product: pin.text for pin in request.pins if not pin.need},
        "needs": [pin.product for pin in request.pins if pin.need],
        "products": list(request.bare),
        "devices": list(request.devices),
        "route": request.route,
        "uploaded_before": None if until is None else date.fromordinal(until + 1).isoformat(),
    }


def stack_payload(facts: Snapshot, stack: Stack, request: Request, *, why: bool = False) -> dict[str, Any]:
    """Return one stack."""
    proof = commands.proof_command(facts, stack)
    content: dict[str, Any] = {
        "verdict": stack.verdict,
        "support": messages.support(facts, stack),
        **picked(stack, "device route"),
        "packages": {e.product: e.version for e in stack.packages},
        "distributions": {e.product: e.distribution for e in stack.packages if e.distribution not in (None, e.product)},
        "python": list(stack.python),
        "os": list(stack.os),
        "arch": list(stack.arch),
        **_shown(facts, stack),
        "features": [feature_payload(facts, offered) for offered in stack.features],
        "bounds": dict(stack.bounds),
        "indexes": commands.indexes_of(facts, stack),
        "install": commands.pip_commands(facts, stack),
        "install_uv": commands.uv_commands(facts, stack),
        "proof": proof,
        "images": images_of(facts, stack, request.as_of),
        "warnings": [warning_payload(facts, warned) for warned in stack.warnings],
        "disputes": disputes.of_stack(facts, stack, request.as_of),
        "unsettled": messages.unsettled(facts, stack),
        "sources": source_payloads(stack_sources(facts, stack)),
    }
    if why:
        content["edges"] = [link_payload(facts, link) for link in stack.links]
        content["builds"] = [
            {**picked(e, "product version"), "sources": source_payloads(messages.element_sources(facts, e))}
            for e in stack.packages
        ]
    return content


def _shown(facts: Snapshot, stack: Stack) -> dict[str, Any]:
    """Return what is known of a stack beyond the platform, by the labels of the data: the usual ones, and `software`."""
    shown = {
        product.label.lower(): list(stack.known.get(product.id, ())) for product in facts.products.values() if product.shown
    }
    usual = {name: shown.pop(name, []) for name in _BEYOND}
    return {**usual, "software": {label: values for label, values in shown.items() if values}}


def feature_payload(facts: Snapshot, offered: FeatureSupport) -> dict[str, Any]:
    """Return what is known of a feature that was asked for."""
    return {
        "feature": offered.feature,
        "status": offered.status if offered.claims else "unknown",
        "support": _LEVELS[offered.level],
        "claims": [claim_payload(facts, claim) for claim in offered.claims],
    }


def stack_sources(facts: Snapshot, stack: Stack) -> tuple[messages.CitedSource, ...]:
    """Return the sources that speak for a stack: its builds, then what links them."""
    sources: dict[messages.CitedSource, None] = {}
    asked = set(stack.requested)
    for element in stack.packages:
        if element.product in asked:
            sources.update(dict.fromkeys(messages.element_sources(facts, element)))
    for link in stack.links:
        if link.one in asked or link.other in asked:
            for claim in link.claims:
                sources.update(dict.fromkeys(facts.citations(claim)))
    return tuple(sources)


def link_payload(facts: Snapshot, link: SupportLink) -> dict[str, Any]:
    """Return what vouches for two members of a stack."""
    return {
        "between": [link.one, link.other],
        "support": _LEVELS[link.level],
        "claims": [claim_payload(facts, claim) for claim in link.claims],
    }


def claim_payload(facts: Snapshot, claim: str) -> dict[str, Any]:
    """Return a claim with its basis and sources."""
    record = claim_record(facts, claim)
    content: dict[str, Any] = {
        "id": claim,
        "kind": record.kind,
        "of": record.of_term,
        "to": list(record.to_terms),
        "when": record.condition,
        "basis": record.basis,
        "sources": source_payloads(facts.citations(claim)),
    }
    content |= {name: text for name, text in (("reason", record.reason), ("note", record.note)) if text}
    if rows := disputes.of_claims(facts, (claim,)):
        content["disputes"] = rows
    return content


def cause_payload(facts: Snapshot, cause: Cause, request: Request) -> dict[str, Any]:
    """Return one cause."""
    return {
        "kind": cause.blocker[0],
        "products": list(cause.blocker[1:]),
        **picked(cause, "device route certain"),
        "message": messages.cause(facts, cause, request),
        "claims": [edge.claim for edge in cause.edges],
        "disputes": disputes.of_cause(facts, cause, request),
        "sources": source_payloads(messages.cause_sources(facts, cause, request)),
    }


def doubts(facts: Snapshot, answer: Answer) -> list[dict[str, Any]]:
    """Return what keeps an unknown answer from being one."""
    if answer.verdict != "unknown" or not answer.stacks:
        return []
    stack = answer.stacks[0]
    sources = source_payloads(stack_sources(facts, stack))
    head = {"kind": "unsettled", "products": list(stack.requested), "device": stack.device, "route": stack.route}
    rest = {"certain": False, "claims": [], "disputes": disputes.of_stack(facts, stack, answer.request.as_of)}
    return [{**head, "message": message, **rest, "sources": sources} for message in messages.unsettled(facts, stack)]


def near_payload(facts: Snapshot, near: Alternative, request: Request, *, why: bool = False) -> dict[str, Any]:
    """Return one nearest stack with the pins that it gives up."""
    stack = stack_payload(facts, near.stack, request, why=why)
    return {"relaxed": list(near.relaxed), "where": near.where, "stack": stack}


def warning_payload(facts: Snapshot, warned: StackWarning) -> dict[str, Any]:
    """Return one warning."""
    return {
        **picked(warned, "kind product"),
        "message": messages.warning(facts, warned),
        "sources": source_payloads(messages.warning_sources(facts, warned)),
    }


FIELDS = ("verdict", "support", "device", "route", "packages", "python", "os", "install", "install_uv", "proof", "warnings")
"""What programs get of a proposed stack; `resolve --format json` has the rest."""


def stack_brief(facts: Snapshot, stack: Stack, request: Request) -> dict[str, Any]:
    """Return a stack for programs, in the fields that `resolve` has, without those that take many lookups."""
    content = stack_payload(facts, stack, request)
    return {name: content[name] for name in FIELDS}


def request_of(answer: Answer | None, day: date) -> Request:
    """Return the request that an answer is to; where there is none, one of that day that fixes nothing."""
    return answer.request if answer else Request((), (), (), day.toordinal(), day.toordinal(), 1)


def instead_payload(facts: Snapshot, instead: "SuccessorStack | None", request: Request) -> dict[str, Any] | None:
    """Return what takes the place of ended products, for programs."""
    return instead and {"ended": list(instead.ended), "stack": stack_brief(facts, instead.stack, request)}
