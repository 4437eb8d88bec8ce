"""What is behind an error, as text or JSON."""

import json
from datetime import date
from typing import Any

from compatkb.diagnosing import Candidate, Diagnosis, Wanted
from compatkb.rendering import sentences
from compatkb.rendering.payload import SCHEMA, request_payload, source_payload
from compatkb.rendering.stacks import instead_lines, instead_payload, stack_brief, stack_lines, wrapped
from compatkb.snapshot.read import Snapshot

_SHOWN = 3
_SHARE = 0.4  # a candidate is shown that has this part of the weight of the first
_LINES = 3
_MARKS = {
    "version": "versions that do not go together",
    "index": "where packages come from",
    "runtime": "run-time libraries",
    "machine": "probably not a version problem",
    "code": "probably not a version problem",
}
_SIDES = {
    "same": "the nearest that works",
    "below": "the nearest below",
    "above": "the nearest above",
    "best": "the best today",
}


def diagnosis_text(facts: Snapshot, made: Diagnosis, day: date) -> str:
    """Return the candidates with the lines that speak for them, what the versions say, and what would work."""
    lines: list[str] = []
    for number, found in enumerate(_shown(made), 1):
        lines += [*_candidate(found, number), ""]
    if not made.candidates:
        lines += ["no cause is known for this text", ""]
        lines += [
            "The whole traceback, with the output of `pip list`, tells more; `compatkb doctor` looks at the machine.",
            "",
        ]
    for wanted in made.wanted:
        lines += [*wrapped("", _wanted(facts, wanted)), ""]
    lines += _versions(facts, made)
    for near in made.nearest:
        given = f", giving up {', '.join(near.relaxed)}" if near.relaxed else ""
        lines += [f"{_SIDES[near.where].capitalize()}{given}:", *(f"  {line}" for line in stack_lines(facts, near.stack)), ""]
    lines += instead_lines(facts, made.instead)
    if made.candidates and not made.about_versions:
        lines += ["Probably not a version problem: other versions alone would hardly mend it.", ""]
    lines.append(f"(as of {day}, data of {facts.meta['data_date']})")
    return "\n".join(lines) + "\n"


def diagnosis_json(facts: Snapshot, made: Diagnosis, day: date) -> str:
    """Return the diagnosis as JSON; docs/diagnose.md names the fields."""
    answer = made.answer
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "data_date": facts.meta["data_date"],
        "as_of": day.isoformat(),
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
        "reasons": [sentences.cause(facts, cause, answer.request) for cause in answer.causes] if answer else [],
        "nearest": [
            {"relaxed": list(near.relaxed), "where": near.where, "stack": stack_brief(facts, near.stack, _request(made, day))}
            for near in made.nearest
        ],
        "instead": instead_payload(facts, made.instead, _request(made, day)),
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _request(made: Diagnosis, day: date) -> Any:
    from compatkb.records import Request

    return made.answer.request if made.answer else Request((), (), (), day.toordinal())


def _shown(made: Diagnosis) -> tuple[Candidate, ...]:
    least = made.candidates[0].weight * _SHARE if made.candidates else 0
    return tuple(found for found in made.candidates[:_SHOWN] if found.weight >= least)


def _candidate(found: Candidate, number: int) -> list[str]:
    lines = wrapped(f"{number}. ", f"{found.title} ({_MARKS[found.kind]})")
    for hit in found.hits[:_LINES]:
        lines.append(f"   line {hit.line}: {hit.text}")
    lines += wrapped("", found.why, "   ")
    for step in found.do:
        lines += wrapped("- ", step, "   ")
    lines += [f"   source: {url or text}" for text, url in found.sources[:2]]
    return lines


def _wanted(facts: Snapshot, wanted: Wanted) -> str:
    addresses = {row["id"]: row["url"] or "the default index" for row in facts.rows("select id, url from channel")}
    builds = {
        version: f"{version} on {addresses.get(channels[0], channels[0])}" for version, channels in wanted.builds if channels
    }
    pinned = wanted.requirement.rpartition("==")[2]
    if wanted.known and pinned in builds:
        return f"{wanted.requirement}: the data know this build: {builds[pinned]}"
    found = "this build, but no wheel of it" if wanted.known else "no such build"
    if builds:
        of_it = "; ".join(list(builds.values())[:5])
        return f"{wanted.requirement}: the data know {found}; of that release there are {of_it}"
    near = f"; the nearest releases are {', '.join(wanted.near)}" if wanted.near else ""
    return f"{wanted.requirement}: the data know {found}{near}"


def _versions(facts: Snapshot, made: Diagnosis) -> list[str]:
    if not made.versions:
        return []
    lines = wrapped(
        "Versions in the text: ",
        ", ".join(f"{read.product} {read.version}" + (f" (line {read.line})" if read.line else "") for read in made.versions),
    )
    if made.unread:
        lines += wrapped("", f"The data do not know {', '.join(made.unread)}, so nothing is said of it.", "  ")
    answer = made.answer
    if answer and answer.verdict == "does-not-work":
        lines.append("  The data deny that these work together:")
        for cause in answer.causes[:_LINES]:
            lines += wrapped("- ", sentences.cause(facts, cause, answer.request), "  ")
    elif answer and answer.stacks and answer.verdict != "unknown":
        lines += wrapped("", f"By the data these go together ({answer.verdict}), so look beside the versions.", "  ")
    elif answer:
        lines += wrapped("", "Whether these work together, the data cannot tell.", "  ")
    return [*lines, ""]
