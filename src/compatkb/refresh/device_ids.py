"""Reads the PCI ids of GPUs with the first tag that lists each, from the tables of the compute runtime at all its tags."""

import re
from pathlib import Path

from compatkb.core.clones import GitTag, commit_of, texts
from compatkb.core.record import NamedTuple
from compatkb.refresh.git_tags import numbers, versions_of
from compatkb.schema import DeviceFeed
from compatkb.schema.collected import DeviceRow, DevicesRead

# `DEVICE( 0x56A0, DG2_CONFIG )` of old tags, `NAMEDDEVICE(0x56A0, Dg2HwConfig, "...")` of new ones.
_ENTRY = re.compile(
    r"(?:NAMED)?DEVICE\(\s*0x(?P<id>[0-9A-Fa-f]{4}),\s*(?P<config>\w+?)(?:HwConfig|_CONFIG)\w*\s*"
    r"(?:,\s*\w+\s*)?(?:,\s*\"(?P<name>[^\"]*)\")?\s*\)"
)


class _Entry(NamedTuple):
    family: str
    name: str
    path: str
    line: int


def read_devices(feed: DeviceFeed, clone: Path) -> tuple[DevicesRead, ...]:
    """Return the ids of each family of a feed, by id, families in the order of the feed.

    The first tag is the first by day; an id that older branches got later has the lowest version with it, too.
    """
    found = versions_of(feed.tags, clone)
    tables: dict[str, dict[str, _Entry]] = {}
    for path in reversed(feed.paths):
        for name, text in texts(clone, (tag.name for tag in found.values()), path).items():
            tables[name] = tables.get(name, {}) | _entries(text, path)
    dated = {version: tag for version, tag in found.items() if tag.name in tables}
    if not dated:
        return ()
    head = commit_of(clone) or ""
    newest = max(dated, key=numbers)
    families: dict[str, list[DeviceRow]] = {family: [] for family in feed.families}
    for device in sorted({device for table in tables.values() for device in table}):
        having = {version: tag for version, tag in dated.items() if device in tables[tag.name]}
        last = max(having, key=numbers)
        if (family := tables[having[last].name][device].family) in families:
            families[family].append(_row(device, having, dated, tables, last, feed.paths[0], newest))
    return tuple(
        DevicesRead(family=family, listed_by=feed.listed_by, repo=feed.repo, head=head, path=feed.paths[0], rows=tuple(rows))
        for family, rows in families.items()
        if rows
    )


def _row(
    device: str,
    having: dict[str, GitTag],
    dated: dict[str, GitTag],
    tables: dict[str, dict[str, _Entry]],
    last: str,
    usual: str,
    newest: str,
) -> DeviceRow:
    first = min(having, key=lambda version: (having[version].day, numbers(version)))
    lowest = min(having, key=numbers)
    opening = tables[having[first].name][device]
    name = tables[having[last].name][device].name
    lacking = sum(numbers(first) < numbers(v) < numbers(last) and v not in having for v in dated)
    more = {
        "path": opening.path if opening.path != usual else None,
        "name": name or None,
        "lowest": lowest if lowest != first else None,
        "last": last if last != newest else None,
        "lacking": lacking or None,
    }
    said = {key: value for key, value in more.items() if value is not None}
    return DeviceRow.model_validate([device, first, having[first].day, opening.line, *([said] if said else [])])


def _entries(text: str, path: str) -> dict[str, _Entry]:
    """Return the entries of one table by PCI id."""
    found: dict[str, _Entry] = {}
    for number, line in enumerate(text.splitlines(), 1):
        for match in _ENTRY.finditer(line):
            family = match["config"].split("_")[0].lower()
            found[match["id"].lower()] = _Entry(family, match["name"] or "", path, number)
    return found
