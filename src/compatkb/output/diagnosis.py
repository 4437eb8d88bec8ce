"""What is behind an error, as JSON; the screen is in `diagnosis_screen`."""

from datetime import date
from typing import Any

from compatkb.doctor.diagnose import Diagnosis
from compatkb.output import messages
from compatkb.output.json_document import document
from compatkb.output.payload import request_payload, source_payload
from compatkb.output.stack_summary import instead_payload, request_of, stack_brief
from compatkb.store.reader import Snapshot


def diagnosis_json(facts: Snapshot, made: Diagnosis, day: date) -> str:
    """Return the diagnosis as JSON; docs/diagnose.md names the fields."""
    answer = made.answer
    request = request_of(answer, day)
    content: dict[str, Any] = {
        "version_problem": made.about_versions if made.candidates else None,
        "causes": [
            {
                "id": found.id,
                "kind": found.kind,
                "title": found.title,
                "why": found.why,
                "do": list(found.do),
                "weight": found.weight,
                "lines": [{"line": hit.line, "text": hit.text} for hit in found.hits],
                "sources": [source_payload(source) for source in found.sources],
            }
            for found in made.candidates
        ],
        "versions": [{"product": read.product, "version": read.version, "line": read.line} for read in made.versions],
        "unknown_versions": list(made.unread),
        "wanted": [
            {
                "requirement": wanted.requirement,
                "known": wanted.known,
                "builds": [{"version": version, "channels": list(channels)} for version, channels in wanted.builds],
                "near": list(wanted.near),
            }
            for wanted in made.wanted
        ],
        "verdict": answer.verdict if answer else None,
        "request": request_payload(answer.request) if answer else None,
        "reasons": [messages.cause(facts, cause, answer.request) for cause in answer.causes] if answer else [],
        "nearest": [
            {"relaxed": list(near.relaxed), "where": near.where, "stack": stack_brief(facts, near.stack, request)}
            for near in made.nearest
        ],
        "either": [
            {
                "device": choice.device,
                "systems": list(choice.systems),
                "relaxed": list(choice.near.relaxed),
                "where": choice.near.where,
                "stack": stack_brief(facts, choice.near.stack, request),
            }
            for choice in made.either
        ],
        "ended": list(made.ended),
        "instead": instead_payload(facts, made.instead, request),
        "target": {name: getattr(made.target, name) for name in ("device", "foreign", "os", "python")},
        "symbols": [
            {
                "symbol": found.symbol,
                "library": found.library,
                "product": found.product.id if found.product else None,
                "provider": found.provider,
                "platform": found.platform,
                "releases": list(found.releases),
                "installed": found.installed or None,
                "fits": list(found.fits),
            }
            for found in made.symbols
        ],
        "collect": list(made.collect),
    }
    return document(facts, day, content)
