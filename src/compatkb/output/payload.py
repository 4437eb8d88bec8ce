"""Answers as JSON: docs/json.md names the fields, docs/schema/resolve.schema.json describes them."""

from collections.abc import Iterable
from datetime import date
from typing import Any

from compatkb.core.vocabulary import Verdict
from compatkb.output import commands, messages
from compatkb.output.citations import source_payloads
from compatkb.output.json_document import SCHEMA, json_text
from compatkb.output.registry import Wanted
from compatkb.output.things import ClaimView, Link, Offered, StackView, Warned
from compatkb.output.view import AnswerView, CauseView, Near
from compatkb.store.records import Request, picked

_LEVELS = ("supported", "inferred", "unknown")
_BEYOND = ("hardware", "driver", "oneapi", "glibc")
"""Fields that every stack has, whatever the data show."""


def answer_payload(view: AnswerView, *, why: bool = False) -> dict[str, Any]:
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


def stack_brief(stack: StackView) -> dict[str, Any]:
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


_ORDER = (
    "verdict", "support", "device", "route", "packages", "distributions", "python", "os", "arch", *_BEYOND, "software",
    "features", "bounds", "indexes", "install", "install_uv", "proof", "images", "warnings", "disputes", "unsettled",
    "sources", "edges", "builds",
)  # fmt: skip


def stack_payload(stack: StackView, *, why: bool = False) -> dict[str, Any]:
    """Return one stack: the brief, and all else that is known of it."""
    shown = {product.label.lower(): list(values) for product, values in stack.shown}
    content = stack_brief(stack) | {
        "distributions": {
            build.product.id: build.distribution
            for build in stack.packages
            if build.distribution not in (None, build.product.id)
        },
        "arch": [value.id for value in stack.arch],
        **{name: shown.pop(name, []) for name in _BEYOND},
        "software": {label: values for label, values in shown.items() if values},
        "features": [feature_payload(offered) for offered in stack.features],
        "bounds": {product.id: spec for product, spec in stack.bounds},
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
    return {name: content[name] for name in _ORDER if name in content}


def feature_payload(offered: Offered) -> dict[str, Any]:
    """Return what is known of a feature that was asked for."""
    return {
        "feature": offered.feature,
        "status": offered.status if offered.claims else "unknown",
        "support": _LEVELS[offered.level],
        "claims": claim_payloads(offered.claims),
    }


def link_payload(link: Link) -> dict[str, Any]:
    """Return what vouches for two members of a stack."""
    return {"between": [link.one, link.other], "support": _LEVELS[link.level], "claims": claim_payloads(link.claims)}


def claim_payloads(claims: Iterable[ClaimView]) -> list[dict[str, Any]]:
    """Return claims with their bases and sources."""
    return [
        {
            **picked(claim, "id kind of"),
            "to": list(claim.to),
            **picked(claim, "when basis"),
            "sources": source_payloads(claim.sources),
            **{name: text for name, text in picked(claim, "reason note disputes").items() if text},
        }
        for claim in claims
    ]


def cause_payload(cause: CauseView) -> dict[str, Any]:
    """Return one cause."""
    return {
        "kind": cause.kind,
        "products": list(cause.products),
        **picked(cause, "device route certain message"),
        "claims": list(cause.claims),
        "disputes": cause.disputes,
        "sources": source_payloads(cause.sources),
    }


def doubts(view: AnswerView) -> list[dict[str, Any]]:
    """Return what keeps an unknown answer from being one."""
    if view.verdict != Verdict.UNKNOWN or not view.best:
        return []
    stack = view.best
    head = {"kind": "unsettled", "products": list(stack.requested), "device": stack.device.id, "route": stack.route}
    rest = {"certain": False, "claims": [], "disputes": stack.evidence.disputes}
    sources = source_payloads(stack.evidence.sources)
    unsettled = stack.evidence.unsettled
    return [{**head, "message": message, **rest, "sources": sources} for message in unsettled]


def near_payload(near: Near, stack: dict[str, Any]) -> dict[str, Any]:
    """Return one nearest stack with the pins that it gives up."""
    return {"relaxed": list(near.relaxed), "where": near.where, "stack": stack}


def warning_payload(warned: Warned) -> dict[str, Any]:
    """Return one warning."""
    return {
        "kind": warned.kind,
        "product": warned.product.id,
        "message": messages.warning(warned),
        "sources": source_payloads(warned.sources),
    }
