"""The figures of a knowledge base as text, JSON and a Markdown table; docs/quality.md describes them."""

from datetime import date
from typing import Any

from compatkb.catalog.statistics import Independence, ReadingCount, Stats
from compatkb.output.documents import Edition
from compatkb.output.screen import Line, heads, row
from compatkb.output.writers import Block, Links, Paragraph, Table, render
from compatkb.store.records import picked

_ROLES = {"package": "packages", "companion": "companions", "leaf": "leaves", "dimension": "dimensions"}
_READINGS = {"source": "cited sources", "index": "index listings", "evidence": "observations with an outcome"}


def stats_lines(stats: Stats) -> list[Line]:
    """Return the figures for people."""
    rows = figures(stats)
    width = max(len(name) for name, _ in rows)
    lines = [heads("what", "figures")]
    lines += [line for name, value in rows for line in row([Line(f"{name:<{width}}  {value}")], name, value)]
    return [*lines, Line(f"(as of {stats.day}, data of {stats.data_date})", "dim")]


def stats_markdown(stats: Stats) -> str:
    """Return the figures as a table."""
    return render(stats_blocks(stats), Links())


def stats_blocks(stats: Stats) -> list[Block]:
    """Return the figures as a table, for any form of text."""
    return [Table(("what", "figures"), tuple(figures(stats))), Paragraph(f"As of {stats.day}, data of {stats.data_date}.")]


def stats_json(stats: Stats) -> str:
    """Return the figures for programs."""
    content: dict[str, Any] = {
        **picked(stats, "products releases builds image_tags"),
        "requirements": {
            "total": stats.requirements,
            "kinds": stats.by_kind,
            "support": stats.by_basis,
            "support_people": stats.by_people,
            "independent": stats.independence._asdict(),
            "independent_people": stats.independence_people._asdict(),
        },
        "disputes": stats.disputes._asdict(),
        "observations": {"total": stats.observed, "levels": stats.observations},
        "end_of_life": [row._asdict() for row in stats.coverage],
        "checks": [_reading(stats, reading) for reading in stats.readings],
    }
    return Edition(stats.data_date.isoformat(), stats.day).document(content)


def figures(stats: Stats) -> list[tuple[str, str]]:
    """Return what is counted, and the figures in words."""
    disputes = stats.disputes
    people = sum(stats.by_people.values())
    rows = [
        ("products", str(stats.products)),
        ("releases", str(stats.releases)),
        ("builds", str(stats.builds)),
        ("image tags", str(stats.image_tags)),
        ("requirements", f"{stats.requirements}: {_list(stats.by_kind)}"),
        ("support", _shares(stats.by_basis)),
        ("written by people", f"{people}: {_shares(stats.by_people)}; the rest was read from package indexes"),
        ("two independent documents", _independent(stats.independence, stats.independence_people)),
        (
            "disputes",
            f"{disputes.total}: {disputes.decided} decided, {disputes.open} open; about {disputes.requirements} requirements",
        ),
        ("observations", _observations(stats)),
        (
            "end of life known",
            f"{_share(stats.with_end, stats.releases)} of releases, a rule covers {stats.with_rule} more; "
            f"of {stats.unpublished} it was read that none is published",
        ),
    ]
    rows += [
        (
            f"- {_ROLES[row.role]}",
            f"{_share(row.with_end, row.releases)} of {row.releases}, {row.ended} past it; by rule {row.with_rule}; "
            f"no end is published: {row.unpublished}",
        )
        for row in stats.coverage
        if row.releases
    ]
    rows += [(_READINGS[reading.kind], _checked(stats, reading)) for reading in stats.readings]
    return rows


def _independent(every: Independence, people: Independence) -> str:
    return (
        f"{_share(every.two_documents, every.total)} of requirements, "
        f"{_share(people.two_documents, people.total)} of those written by people; "
        f"of two publishers {_share(every.two_publishers, every.total)}"
    )


def _observations(stats: Stats) -> str:
    parts = [f"{level} ({_list(outcomes)})" for level, outcomes in stats.observations.items() if outcomes]
    return f"{stats.observed}: {', '.join(parts)}" if parts else "none recorded"


def _checked(stats: Stats, reading: ReadingCount) -> str:
    oldest = f"{reading.oldest} ({_ago(stats.day, reading.oldest)})"
    if reading.oldest == reading.newest:
        return f"{reading.total}, all checked on {oldest}"
    return f"{reading.total}, newest check {reading.newest} ({_ago(stats.day, reading.newest)}), oldest {oldest}"


def _ago(day: date, seen: date) -> str:
    days = (day - seen).days
    if days <= 0:
        return "that day" if days == 0 else "later"
    return f"{days} day{'' if days == 1 else 's'} before"


def _reading(stats: Stats, reading: ReadingCount) -> dict[str, Any]:
    return {
        **picked(reading, "kind total"),
        "newest": reading.newest.isoformat(),
        "newest_age_days": (stats.day - reading.newest).days,
        "oldest": reading.oldest.isoformat(),
        "oldest_age_days": (stats.day - reading.oldest).days,
        "oldest_example": reading.example,
    }


def _list(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counts.items())


def _shares(counts: dict[str, int]) -> str:
    total = sum(counts.values())
    return ", ".join(f"{name} {_share(number, total)}" for name, number in counts.items())


def _share(number: int, total: int) -> str:
    return f"{number} ({_percent(number, total)} %)"


def _percent(number: int, total: int) -> int:
    """Return a share in percent, rounded to the nearest; 100 stands for all, and 0 for none."""
    if number in (0, total):
        return 100 if number else 0
    return min(99, max(1, (200 * number + total) // (2 * total)))
