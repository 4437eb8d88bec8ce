"""What became true in a span of days, as text, Markdown or JSON."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date
from itertools import groupby
from typing import Any

from compatkb.catalog.changelog import Change
from compatkb.output.documents import Edition, source_payloads
from compatkb.output.writers import cell
from compatkb.store.records import picked

_NAMED = 6  # so many subjects of one line are written out
_VERBS = {
    "released": "released",
    "yanked": "withdrawn",
    "ended": "out of support",
    "advised": "told",
    "listed": "image tags listed",
    "unlisted": "image tags no longer listed",
    "announced": "announced",
    "happened": "happened",
    "rotted": "resolves no longer",
    "validated": "observed",
    "decided": "decided",
}
_WHOLE = ("announced", "happened", "rotted", "validated")  # their subjects name products themselves


def changes_text(changelog: tuple[Change, ...], since: date, edition: Edition) -> str:
    """Return the changes by day, oldest first; what is alike on a day shares a line."""
    lines = [f"What became true from {since} to {edition.day}:"]
    for day, changes in groupby(changelog, key=lambda change: change.day):
        lines.append(str(day))
        lines += [f"  {line}" for line in _lines(list(changes))]
    if not changelog:
        lines.append("  nothing that the data know of")
    return "\n".join([*lines, edition.foot])


def changes_markdown(changelog: tuple[Change, ...], since: date, edition: Edition) -> str:
    """Return the changes as Markdown: a heading a day, a list below it."""
    lines = [f"# What became true from {since} to {edition.day}", ""]
    for day, changes in groupby(changelog, key=lambda change: change.day):
        lines += [f"## {day}", ""]
        lines += [f"- {cell(line)}" for line in _lines(list(changes))]
        lines.append("")
    if not changelog:
        lines += ["Nothing that the data know of.", ""]
    return "\n".join(lines) + f"(As of {edition.day}, data of {edition.data_date}.)\n"


def changes_json(changelog: tuple[Change, ...], since: date, edition: Edition) -> str:
    """Return the changes as JSON, one record each."""
    changes, until = [_payload(change) for change in changelog], edition.day.isoformat() if edition.day else None
    return edition.document({"since": since.isoformat(), "until": until, "changes": changes})


def _payload(change: Change) -> dict[str, Any]:
    return {
        "day": change.day.isoformat(),
        "after": change.after.isoformat() if change.after else None,
        **picked(change, "kind product subject detail"),
        "sources": source_payloads(change.sources),
    }


def _lines(changes: list[Change]) -> Iterator[str]:
    """Yield the lines of one day; of many observations that one line tells them all, how many of each outcome."""
    observed = [change for change in changes if change.kind == "validated"]
    if len(observed) > _NAMED:
        changes = [change for change in changes if change.kind != "validated"]
        counts = Counter(re.split("[,;]", change.detail)[0] for change in observed)
        shown = ", ".join(f"{outcome} {count}" for outcome, count in counts.most_common())
        yield f"{_VERBS['validated']}: {shown} (each with --format json)"

    def alike(change: Change) -> tuple[str, str | None, str, date | None]:
        detail = "" if change.kind == "released" else change.detail
        return (change.kind, change.product, detail, change.after)

    for (kind, product, detail, after), group in groupby(changes, key=alike):
        subjects = [_subject(change) for change in group]
        shown = ("; " if kind in _WHOLE else ", ").join(subjects[:_NAMED])
        if len(subjects) > _NAMED:
            shown += f" and {len(subjects) - _NAMED} more"
        about = f" ({_line(detail)})" if detail else ""
        bounds = f" some day since {after}" if after else ""
        named = "" if product is None or kind in _WHOLE else f"{product}: " if kind == "decided" else f"{product} "
        yield f"{_VERBS[kind]}{bounds}: {named}{shown}{about}"


def _subject(change: Change) -> str:
    more = f" ({change.detail})" if change.kind == "released" and change.detail else ""
    return _line(f"{change.subject}{more}")


def _line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
