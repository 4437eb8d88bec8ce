"""Image repositories: their tags, what each declares to hold, when it was listed, and what is disputed."""

from datetime import date
from typing import Any

from compatkb.errors import UsageError
from compatkb.output import disputes
from compatkb.output.images import run_command
from compatkb.output.json_document import document
from compatkb.output.payload import source_payload
from compatkb.store.queries.images import ImageRecord, contents_of, images_of, repositories, runs_for
from compatkb.store.reader import Snapshot

Content = dict[str, Any]


def repository_text(facts: Snapshot, name: str, day: date, *, as_json: bool) -> str:
    """Return the tags of an image repository, or of one tag (`repository:tag`) all that is known; raises UsageError."""
    repository, _, tag = name.partition(":")
    rows = images_of(facts, repository)
    if not rows:
        known = sorted(repositories(facts))
        raise UsageError(f"unknown image repository {repository!r}; known: {', '.join(known)}")
    chosen = [row for row in rows if row.name == tag] if tag else rows
    if not chosen:
        raise UsageError(f"{repository} has no tag {tag!r} that the data know; `compatkb show {repository}` lists them")
    tags = [_tag(facts, row, day) for row in chosen]
    if as_json:
        return document(facts, day, {"repository": repository, "tags": tags})
    lines = [line for entry in tags for line in (_lines(entry) if tag else [_line(entry)])]
    head = f"{repository}:{tag}" if tag else f"{repository}, {len(tags)} tags"
    return "\n".join([head, *lines]) + _foot(facts, day)


def _tag(facts: Snapshot, image: ImageRecord, day: date) -> Content:
    runs = [[date.fromordinal(first), date.fromordinal(last)] for first, last in image.runs]
    return {
        "tag": image.name,
        "device": image.device,
        "listed": [[first.isoformat(), None if last == date.max else last.isoformat()] for first, last in runs],
        "is_listed": any(first <= day <= last for first, last in runs),
        "contains": [{"is": f"{part.product}{part.spec}", "basis": part.basis} for part in contents_of(facts, image.id)],
        "run": run_command(facts, image, image.name),
        "run_notes": [run.note for run in runs_for(facts, image) if run.note],
        "note": image.note,
        "disputes": disputes.of_name(facts, image.reference),
        "sources": [source_payload(source) for source in image.sources],
    }


def _line(entry: Content) -> str:
    marks = ([] if entry["is_listed"] else ["not listed"]) + (["disputed"] if entry["disputes"] else [])
    parts = [f"  {entry['tag']}", f"for {entry['device']}", *(held["is"] for held in entry["contains"][:2])]
    return "  ".join(parts) + (f"  ({', '.join(marks)})" if marks else "")


def _lines(entry: Content) -> list[str]:
    lines = [f"  for: {entry['device']}"]
    lines += [f"  listed: {first} to {last or 'the last document read'}" for first, last in entry["listed"]]
    mark = {"inferred": " (inferred)"}
    lines += [f"  holds: {held['is']}{mark.get(held['basis'], '')}" for held in entry["contains"]]
    if entry["note"]:
        lines.append(f"  note: {entry['note']}")
    lines += [f"  run: {entry['run']}".replace("\n", "\n  "), *(f"  to run it: {note}" for note in entry["run_notes"])]
    for dispute in entry["disputes"]:
        head, *rest = disputes.lines(dispute)
        lines += [f"  disputed: {head}", *(f"  {line}" for line in rest)]
    return lines + [f"  source: {source['url'] or source['text']}" for source in entry["sources"]]


def _foot(facts: Snapshot, day: date) -> str:
    return f"\n(as of {day}, data of {facts.meta['data_date']})\n"
