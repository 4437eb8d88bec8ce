"""What became true in a span of days, as text, Markdown or JSON."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from itertools import groupby
from typing import Any

from compatkb.catalog.changelog import Change
from compatkb.output.documents import Edition, source_payloads
from compatkb.output.screen import Line, columns
from compatkb.output.things import shortened
from compatkb.output.writers import cell
from compatkb.store.records import picked

Named = Callable[[str], str]
"""Returns a term as people read it: of ipex==2.8.0 it is IPEX 2.8.0."""
_LABELS = {
    "ended": "end of life",
    "released": "released",
    "yanked": "yanked",
    "advised": "security",
    "listed": "images",
    "unlisted": "images gone",
    "announced": "announced",
    "happened": "milestone",
    "validated": "tested",
    "decided": "decided",
}
"""What each kind of change is called, in the order in which they are shown."""
_CURATION = ("validated", "decided")
"""What became true of the data, not of the things that they are about."""
_TOGETHER = ("ended", "released", "yanked", "listed", "unlisted")
"""What is alike on a day shares a row."""


def changes_text(
    changelog: tuple[Change, ...], since: date, edition: Edition, named: Named, *, everything: bool = False
) -> list[Line]:
    """Return a row for each fact, by kind and then by day; what curators decided and tested only with `everything`."""
    shown = [change for change in changelog if everything or change.kind not in _CURATION]
    rows = _rows(shown, named)
    labels = [label for label, _, _ in rows]
    rows = [(label if n == labels.index(label) else "", day, text) for n, (label, day, text) in enumerate(rows)]
    lines = columns(rows, indent=0) if rows else [Line(f"No changes from {since} to {edition.day}.")]
    hidden = len(_rows(changelog, named)) - len(rows)
    more = [f"--all: {hidden} more (decided disputes, test runs)"] if hidden else []
    return [*lines, *edition.footer(*more)]


def changes_markdown(changelog: tuple[Change, ...], since: date, edition: Edition, named: Named) -> str:
    """Return the changes as Markdown: a heading for each kind, a list below it."""
    lines = [f"# Changes from {since} to {edition.day}", ""]
    for label, rows in groupby(_rows(changelog, named), key=lambda row: row[0]):
        lines += [f"## {label[0].upper()}{label[1:]}", "", *(f"- {day}: {cell(text)}" for _, day, text in rows), ""]
    if not changelog:
        lines += ["No changes.", ""]
    return "\n".join(lines) + f"(As of {edition.day}, data of {edition.data_date}.)\n"


def changes_json(changelog: tuple[Change, ...], since: date, edition: Edition, _: Named) -> str:
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


def _rows(changes: Sequence[Change], named: Named) -> list[tuple[str, str, str]]:
    """Return the label, the day and the text of each row."""
    rows = []
    for kind, label in _LABELS.items():
        for (day, _), group in groupby((change for change in changes if change.kind == kind), key=_dated):
            shown = day - timedelta(days=1) if kind == "ended" else day  # the last day of support, as everywhere
            rows += [(label, str(shown), _line(text)) for text in _texts(kind, list(group), named)]
    return rows


def _dated(change: Change) -> tuple[date, bool]:
    return change.day, change.after is not None


def _texts(kind: str, changes: list[Change], named: Named) -> Iterator[str]:
    """Yield the texts of the rows of a kind on one day."""
    if kind in _TOGETHER:
        versions: dict[str | None, list[str]] = {}
        for change in changes:
            versions.setdefault(change.product, []).append(change.subject)
        together = ", ".join(_together(product, subjects, named) for product, subjects in versions.items())
        yield together + (" (date unknown)" if any(change.after for change in changes) else "")
    elif kind == "validated":
        counts = Counter(re.split("[,;]", change.detail)[0] for change in changes)
        yield ", ".join(f"{outcome} {count}" for outcome, count in counts.most_common())
    else:
        for change in changes:
            name = change.subject
            if change.product and kind in ("advised", "decided"):
                name = named(change.product) + ("" if kind == "advised" else f", {change.subject}")
            yield f"{name}: {change.detail}" if change.detail else name


def _together(product: str | None, subjects: list[str], named: Named) -> str:
    first, *others = subjects if product is None else [named(f"{product}=={subject}") for subject in subjects]
    names = [first, *(other.removeprefix(f"{named(product)} ") if product else other for other in others)]
    return shortened(names)


def _line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
