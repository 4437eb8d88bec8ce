"""Answers as JSON: docs/json.md names the fields, docs/schema/resolve.schema.json describes them."""

from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING

from compatkb.core.vocabulary import Verdict
from compatkb.output import commands, messages
from compatkb.output.documents import SCHEMA, json_text, source_payloads
from compatkb.output.registry import Wanted
from compatkb.output.things import ClaimView, Instead, Link, Offered, StackIssue, StackView, Warned
from compatkb.output.view import AnswerView, CauseView, Near
from compatkb.store.records import Request

if TYPE_CHECKING:
    from compatkb.output.json_types import (
        AnswerJson,
        CauseJson,
        ClaimJson,
        EdgeJson,
        FeatureJson,
        InsteadJson,
        NearJson,
        RequestJson,
        StackBriefJson,
        StackIssueJson,
        StackJson,
        WarningJson,
    )

_LEVELS = ("supported", "inferred", "unknown")


def answer_payload(view: AnswerView, *, why: bool = False) -> "AnswerJson":
    """Return what `resolve --format json` prints."""
    return {
        "schema": SCHEMA,
        "data_date": view.data_date,
        "as_of": date.fromordinal(view.request.as_of).isoformat(),
        "request": request_payload(view.request),
        "verdict": view.verdict,
        "stacks": [stack_payload(stack, why=why) for stack in view.stacks],
        "causes": [cause_payload(cause) for cause in view.causes] + doubts(view),
        "nearest": [near_payload(near, stack_payload(near.stack, why=why)) for near in view.nearest],
        "beside": [{"kind": beside.kind, "stack": stack_payload(beside.stack, why=why)} for beside in view.beside],
        "gave_up": view.gave_up,
    }


def answer_json(view: AnswerView, wanted: Wanted | None = None) -> str:
    """Return an answer as JSON text."""
    return json_text(answer_payload(view, why=bool(wanted and wanted.why)))


def request_payload(request: Request) -> "RequestJson":
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


def stack_brief(stack: StackView) -> "StackBriefJson":
    """Return what programs get of a proposed stack; `resolve --format json` has the rest."""
    return {
        "verdict": stack.verdict,
        "support": stack.evidence.support,
        "device": stack.device.id,
        "route": stack.route,
        "packages": {build.product.id: build.version for build in stack.packages},
        "python": [value.id for value in stack.python],
        "os": [value.id for value in stack.os],
        "install": commands.pip_commands(stack),
        "install_uv": commands.uv_commands(stack),
        "proof": commands.proof_command(stack),
        "warnings": [warning_payload(warned) for warned in stack.warnings],
    }


def stack_payload(stack: StackView, *, why: bool = False) -> "StackJson":
    """Return one stack: the brief, and all else that is known of it."""
    shown = {product.label.lower(): list(values) for product, values in stack.shown}
    hardware, driver, oneapi, glibc = (shown.pop(name, []) for name in ("hardware", "driver", "oneapi", "glibc"))
    content: StackJson = {
        **stack_brief(stack),  # type: ignore[typeddict-item]  # it says nothing of `edges` and `builds`
        "distributions": {b.product.id: b.distribution for b in stack.packages if b.distribution not in (None, b.product.id)},
        "arch": [value.id for value in stack.arch],
        "hardware": hardware,
        "driver": driver,
        "oneapi": oneapi,
        "glibc": glibc,
        "software": {label: values for label, values in shown.items() if values},
        "features": [feature_payload(offered) for offered in stack.features],
        "bounds": {product.id: spec for product, spec in stack.bounds},
        "known_issues": [issue_payload(issue) for issue in stack.issues],
        "indexes": commands.indexes_of(stack),
        "images": stack.evidence.images,
        "disputes": stack.evidence.disputes,
        "unsettled": stack.evidence.unsettled,
        "sources": source_payloads(stack.evidence.sources),
    }
    if why:
        content["edges"] = [link_payload(link) for link in stack.evidence.links]
        content["builds"] = [
            {"product": build.product.id, "version": build.version, "sources": source_payloads(build.sources)}
            for build in stack.packages
        ]
    return content


def issue_payload(issue: StackIssue) -> "StackIssueJson":
    """Return a known issue of a stack."""
    return {
        "id": issue.id,
        "title": issue.title,
        "effect": issue.effect,
        "state": issue.state,
        "when": list(issue.when),
        "cures": list(issue.cures),
        "sources": source_payloads(issue.sources),
    }


def feature_payload(offered: Offered) -> "FeatureJson":
    """Return what is known of a feature that was asked for."""
    return {
        "feature": offered.feature,
        "status": offered.status if offered.claims else "unknown",
        "support": _LEVELS[offered.level],
        "claims": claim_payloads(offered.claims),
    }


def link_payload(link: Link) -> "EdgeJson":
    """Return what vouches for two members of a stack."""
    return {"between": [link.one, link.other], "support": _LEVELS[link.level], "claims": claim_payloads(link.claims)}


def claim_payloads(claims: Iterable[ClaimView]) -> "list[ClaimJson]":
    """Return claims with their bases and sources."""
    rows: list[ClaimJson] = []
    for claim in claims:
        row: ClaimJson = {
            "id": claim.id, "kind": claim.kind, "of": claim.of, "to": list(claim.to), "when": claim.when,
            "basis": claim.basis, "sources": source_payloads(claim.sources),
        }  # fmt: skip
        if claim.reason:
            row["reason"] = claim.reason
        if claim.note:
            row["note"] = claim.note
        if claim.disputes:
            row["disputes"] = claim.disputes
        rows.append(row)
    return rows


def cause_payload(cause: CauseView) -> "CauseJson":
    """Return one cause."""
    return {
        "kind": cause.kind,
        "products": list(cause.products),
        "device": cause.device,
        "route": cause.route,
        "certain": cause.certain,
        "message": cause.message,
        "claims": list(cause.claims),
        "disputes": cause.disputes,
        "sources": source_payloads(cause.sources),
    }


def doubts(view: AnswerView) -> "list[CauseJson]":
    """Return what keeps an unknown answer from being one."""
    if view.verdict != Verdict.UNKNOWN or not view.best:
        return []
    stack, known = view.best, view.best.evidence
    return [
        {
            "kind": "unsettled", "products": list(stack.requested), "device": stack.device.id, "route": stack.route,
            "certain": False, "message": message, "claims": [], "disputes": known.disputes,
            "sources": source_payloads(known.sources),
        }
        for message in known.unsettled
    ]  # fmt: skip


def instead_payload(instead: Instead | None) -> "InsteadJson | None":
    """Return what takes the place of ended products."""
    return {"ended": [product.id for product in instead.ended], "stack": stack_brief(instead.stack)} if instead else None


def near_payload(near: Near, stack: "StackJson") -> "NearJson":
    """Return one nearest stack with the pins that it gives up."""
    return {"relaxed": list(near.relaxed), "where": near.where, "stack": stack}


def warning_payload(warned: Warned) -> "WarningJson":
    """Return one warning."""
    return {
        "kind": warned.kind,
        "product": warned.product.id,
        "message": messages.warning(warned),
        "sources": source_payloads(warned.sources),
    }
