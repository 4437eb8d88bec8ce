"""What is behind an error, as JSON; the screen is in `diagnosis_screen`."""

from datetime import date
from typing import Any

from compatkb.doctor.diagnose import Diagnosis
from compatkb.output import messages
from compatkb.output.json_document import document
from compatkb.output.payload import request_payload, source_payload
from compatkb.output.stack_summary import instead_payload, request_of, stack_brief
from compatkb.store.reader import Snapshot
from compatkb.store.records import picked


def diagnosis_json(facts: Snapshot, made: Diagnosis, day: date) -> str:
    """Return the diagnosis as JSON; docs/diagnose.md names the fields."""
    answer = made.answer
    request = request_of(answer, day)
    content: dict[str, Any] = {
        "version_problem": made.about_versions if made.candidates else None,
        "causes": [
            {
                **picked(found, "id kind title why do weight"),
                "lines": [{"line": hit.line, "text": hit.text} for hit in found.hits],
                "sources": [source_payload(source) for source in found.sources],
            }
            for found in made.candidates
        ],
        "versions": [picked(read, "product version line") for read in made.versions],
        "unknown_versions": list(made.unread),
        "wanted": [
            {
                **picked(wanted, "requirement known"),
                "builds": [{"version": version, "channels": channels} for version, channels in wanted.builds],
                "near": wanted.near,
            }
            for wanted in made.wanted
        ],
        "verdict": answer.verdict if answer else None,
        "request": request_payload(answer.request) if answer else None,
        "reasons": [messages.cause(facts, cause, answer.request) for cause in answer.causes] if answer else [],
        "nearest": [
            {**picked(near, "relaxed where"), "stack": stack_brief(facts, near.stack, request)} for near in made.nearest
        ],
        "either": [
            {
                **picked(choice, "device systems"),
                **picked(choice.near, "relaxed where"),
                "stack": stack_brief(facts, choice.near.stack, request),
            }
            for choice in made.either
        ],
        "ended": list(made.ended),
        "instead": instead_payload(facts, made.instead, request),
        "target": picked(made.target, "device foreign os python"),
        "symbols": [
            {
                **picked(found, "symbol library"),
                "product": found.product.id if found.product else None,
                **picked(found, "provider platform releases"),
                "installed": found.installed or None,
                "fits": found.fits,
            }
            for found in made.symbols
        ],
        "collect": list(made.collect),
    }
    return document(facts, day, content)
