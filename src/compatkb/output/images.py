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
from compatkb.output.labels import DEVICE, Names
from compatkb.output.screen import BLANK, Block, Line, columns, command, fitted, labelled_rows, wrapped
from compatkb.output.things import listed
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


def _unknown_tag(facts: Snapshot, repository: str, tag: str, rows: Sequence[ImageRecord]) -> str:
    """Return that a repository has no such tag, its newest ones for that device, and how to go on where they hold an end."""
    alike = [row for row in rows if row.device in tag.lower()] or list(rows)
    details = facts.every_product_details()
    held = [part.product for part in facts.contents_of(alike[0].id)]
    ended = [f"{facts.products[name].label} ended {details[name].eol}" for name in dict.fromkeys(held) if details[name].eol]
    device = alike[0].device
    own = f"\n  {listed(ended)}; an image of your own: compatkb resolve torch {device} --format dockerfile" if ended else ""
    newest = ", ".join(row.name for row in alike[:2])
    told = f"{repository} has no tag {tag!r} that the data know\n  newest: {newest}; all: compatkb show {repository}"
    return told + own


def _fate(facts: Snapshot, name: str) -> str:
    """Return what has become of a product that has ended and that a repository of images has its name of."""
    ended = {product: details.eol for product, details in facts.every_product_details().items() if details.eol}
    product = max((each for each in ended if name.startswith(each)), key=len, default="")
    if not product:
        return ""
    instead = f", use instead: {other}" if (other := Names(facts).successor(product)) else ""
    return f"\n  by its name it is of {facts.products[product].label}, discontinued {ended[product]}{instead}"


def repository_content(facts: Snapshot, name: str, day: date) -> Content:
    """Return the tags of an image repository, or one of them (`repository:tag`), with all that is known; raises UsageError."""
    repository, _, tag = name.partition(":")
    rows = facts.images_of(repository)
    if not rows:
        known = sorted(facts.repositories())
        fate = _fate(facts, repository.rpartition("/")[2])
        raise UsageError(f"unknown image repository {repository!r}; known: {', '.join(known)}{fate}")
    chosen = [row for row in rows if row.name == tag] if tag else rows
    if not chosen:
        raise UsageError(_unknown_tag(facts, repository, tag, rows))
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


_TAGS = 15
"""Tags of a repository on a screen."""
_BASED = {"inferred": "concluded from its build files, not read in the image", "observed": "read in the image"}


def repository_lines(content: Content, edition: Edition, names: Names, *, why: bool = False) -> list[Line]:
    """Return the newest tags of a repository, a line each; all of them with `why`."""
    tags = content["tags"] if why else content["tags"][:_TAGS]
    rows = []
    for entry in tags:
        parts = ", ".join(names.term(part["is"]) for part in entry["contains"][:2])
        marks = [*(["no longer documented"] if _is_dropped(entry) else []), *(["disputed"] if entry["disputes"] else [])]
        rows.append((entry["tag"], names.value(DEVICE, entry["device"]), "; ".join([parts, *marks])))
    repository, count = content["repository"], len(content["tags"])
    head = wrapped(f"{repository}   {count} tags", "", "  ", "heading")
    more = [] if len(tags) == count else [f"--why: {count - len(tags)} more"]
    return [*head, BLANK, *columns(rows, indent=0), *edition.footer(f"compatkb show {repository}:TAG", *more)]


def _is_dropped(entry: Content) -> bool:
    """Return whether a document listed a tag and does so no more; of many tags there is no list at all."""
    return bool(entry["listed"]) and not entry["is_listed"]


def image_lines(content: Content, edition: Edition, names: Names, *, why: bool = False) -> list[Line]:
    """Return what is known of one tag: since when it is documented, how it runs, what it contains; with `why` all of it."""
    (entry,) = content["tags"]
    since = ""
    if runs := entry["listed"]:
        since = (
            f"no longer documented ({runs[0][0]} to {runs[-1][1]})" if _is_dropped(entry) else f"documented since {runs[0][0]}"
        )
    blocks = [Block(wrapped(f"image {content['repository']}:{entry['tag']}   {since}".rstrip(), "", "  ", "heading"))]
    blocks.append(Block([BLANK, command(entry["run"].replace(" \\\n    ", " ")), BLANK]))
    parts = listed([names.term(part["is"]) for part in entry["contains"]])
    bases = {part["basis"] for part in entry["contains"]}
    based = f" ({_BASED[only]})" if len(bases) == 1 and (only := next(iter(bases))) in _BASED else ""
    about = listed([dispute["about"] for dispute in entry["disputes"] if dispute["holds"] is None])
    warned = _warnings(entry, names, edition.day)
    instead = [(names.label(product), names.successor(product, entry["device"])) for product in warned]
    blocks += labelled_rows(
        [
            ("requires", "; ".join(entry["run_notes"]), 0),
            ("platforms", names.value(DEVICE, entry["device"]), 0),
            ("contents", f"{parts}{based}" if parts else "", 0),
            ("" if parts else "contents", entry["note"], 1),
            ("warning", "; ".join(warned.values()), 0),
            ("untested", about and f"sources disagree about {about}", 1),
            ("also works", "; ".join(f"{other} replaces {label}" for label, other in instead if other), 0),
            ("next", f"compatkb resolve torch {entry['device']} --format dockerfile" if warned else "", 0),
        ]
    )
    if not why:
        return fitted([*blocks, Block(edition.footer("--why: sources"))])
    lines = [line for block in blocks for line in block.lines] + [BLANK]
    for dispute in entry["disputes"]:
        top, *rest = disputes.lines(dispute)
        lines += [*wrapped(top, "  ", "    "), *(part for text in rest for part in wrapped(text.strip(), "    "))]
    lines += [Line(f"  source: {source['url'] or source['text']}") for source in entry["sources"]]
    return [*lines, *edition.footer()]


def _warnings(entry: Content, names: Names, day: date | None) -> dict[str, str]:
    """Return what is discontinued or insecure of what an image contains, by product."""
    told = {}
    for product in dict.fromkeys(re.split(r"[<>=!~ ]", part["is"], maxsplit=1)[0] for part in entry["contains"]):
        end = names.facts.product_details(product).eol
        if end and day and end < day.isoformat():
            unsafe = any(each.kind == "security" for each in names.facts.advisories_of(product))
            told[product] = f"{names.label(product)}: discontinued {end}" + (", unfixed security issues" if unsafe else "")
    return told
