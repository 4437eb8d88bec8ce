"""Image tags: those that contain a stack, the command that runs one, and all that is known of the tags of a repository."""

import re
import shlex
from collections.abc import Sequence
from datetime import date
from typing import Any

from compatkb.errors import UsageError
from compatkb.output import disputes
from compatkb.output.disputes import DisputeFinder
from compatkb.output.documents import Edition, source_payloads
from compatkb.store.queries.images import ImageRecord, RunRecord
from compatkb.store.reader import Snapshot

_HOST = {
    "{pwd}": '"$PWD"',
    "{video}": '"$(getent group video | cut -d: -f3)"',
    "{render}": '"$(getent group render | cut -d: -f3)"',
}
"""What the shell of the host puts in, by the name that the data have for it."""
_HOST_NAME = re.compile(f"({'|'.join(map(re.escape, _HOST))})")


def run_command(image: ImageRecord, tag: str, fitting: Sequence[RunRecord]) -> str:
    """Return the command that runs an image, with what its device and flavour need; an option and its value share a line."""
    lines: list[str] = []
    for word in (word for run in fitting for word in run.args):
        if word.startswith("-") or not lines:
            lines.append(_quoted(word))
        else:
            lines[-1] += f" {_quoted(word)}"
    ran = [f"{image.repository}:{tag}", *(word for run in fitting for word in run.command)]
    last = " ".join(map(_quoted, ran))
    parts = ["docker run -it --rm", *lines, last]
    return " \\\n    ".join(parts) if lines else " ".join(parts)


def _quoted(word: str) -> str:
    pieces = (part for part in _HOST_NAME.split(word) if part)
    return "".join(_HOST.get(part) or shlex.quote(part) for part in pieces) or "''"


Content = dict[str, Any]


def repository_content(facts: Snapshot, name: str, day: date) -> Content:
    """Return the tags of an image repository, or one of them (`repository:tag`), with all that is known; raises UsageError."""
    repository, _, tag = name.partition(":")
    rows = facts.images_of(repository)
    if not rows:
        known = sorted(facts.repositories())
        raise UsageError(f"unknown image repository {repository!r}; known: {', '.join(known)}")
    chosen = [row for row in rows if row.name == tag] if tag else rows
    if not chosen:
        raise UsageError(f"{repository} has no tag {tag!r} that the data know; `compatkb show {repository}` lists them")
    tags = []
    for image in chosen:
        fitting = facts.runs_for(image)
        runs = [[date.fromordinal(first), date.fromordinal(last)] for first, last in image.runs]
        tags.append(
            {
                "tag": image.name,
                "device": image.device,
                "listed": [[first.isoformat(), None if last == date.max else last.isoformat()] for first, last in runs],
                "is_listed": any(first <= day <= last for first, last in runs),
                "contains": [
                    {"is": f"{part.product}{part.spec}", "basis": part.basis} for part in facts.contents_of(image.id)
                ],
                "run": run_command(image, image.name, fitting),
                "run_notes": [run.note for run in fitting if run.note],
                "note": image.note,
                "disputes": DisputeFinder(facts).of_name(image.reference),
                "sources": source_payloads(image.sources),
            }
        )
    return {"repository": repository, "tags": tags}


def repository_text(content: Content, edition: Edition, *, one: bool) -> str:
    """Return the tags of a repository, a line each; where only one was asked for, all that is known of it."""
    repository, tags = content["repository"], content["tags"]
    lines = [line for entry in tags for line in (_lines(entry) if one else [_line(entry)])]
    head = f"{repository}:{tags[0]['tag']}" if one else f"{repository}, {len(tags)} tags"
    return "\n".join([head, *lines, edition.foot])


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
