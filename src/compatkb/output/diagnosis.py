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


def diagnosis_json(facts: Snapshot, diagnosis: Diagnosis, day: date) -> str:
    """Return the diagnosis as JSON; docs/diagnose.md names the fields."""
    answer = diagnosis.answer
    request = request_of(answer, day)
    content: dict[str, Any] = {
        "version_problem": diagnosis.about_versions if diagnosis.candidates else None,
        "causes": [
            {
                **picked(candidate, "id kind title why do weight"),
                "lines": [{"line": hit.line, "text": hit.text} for hit in candidate.hits],
                "sources": [source_payload(source) for source in candidate.sources],
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
        "reasons": [messages.cause(facts, cause, answer.request) for cause in answer.causes] if answer else [],
        "nearest": [
            {**picked(near, "relaxed where"), "stack": stack_brief(facts, near.stack, request)} for near in diagnosis.nearest
        ],
        "either": [
            {
                **picked(choice, "device systems"),
                **picked(choice.near, "relaxed where"),
                "stack": stack_brief(facts, choice.near.stack, request),
            }
            for choice in diagnosis.either
        ],
        "ended": list(diagnosis.ended),
        "instead": instead_payload(facts, diagnosis.instead, request),
        "target": picked(diagnosis.target, "device foreign os python"),
        "symbols": [
            {
                **picked(symbol, "symbol library"),
                "product": symbol.product.id if symbol.product else None,
                **picked(symbol, "provider platform releases"),
                "installed": symbol.installed or None,
                "fits": symbol.fits,
            }
            for symbol in diagnosis.symbols
        ],
        "collect": list(diagnosis.collect),
    }
    return document(facts, day, content)
