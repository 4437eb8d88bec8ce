"""A small knowledge base whose every free text tries to break out of the form that it is written in."""

from datetime import date
from pathlib import Path
from typing import Any

from builders import (
    TODAY,
    breaks,
    build,
    data_directory,
    feature,
    index,
    listing,
    needs,
    product,
    release,
    statement,
    universe,
    verified,
)

from compatkb.store.reader import Snapshot

TEXT = (
    "=cmd|' /C calc'!A0 \"double\" 'single' `back` a,b;c:d\r\nnext line\tTab ]] --> %% } </desc><img src=x onerror=alert(1)>"
    ' & &amp; \\N \\" {{x}} ${y} END:VEVENT é 漢字 😀 \u0001\u202e ' + "long " * 40
)
"""Quotes, line ends, marks of every form, letters of several octets, a control letter, and more than a line."""

IMAGE = {
    "repository": {"id": "box", "name": "maker/box", "document": "README.md", "repo": "maker/box", "note": TEXT},
    "source": {"page": {"url": "https://example.org/?a=1&b=\"<'", "at": TEXT, "seen": TODAY}},
    "revision": [
        {"n": 1, "commit": "a", "at": f"{date(2026, 1, 5)}T10:00:00Z"},
        {"n": 2, "commit": "b", "at": f"{date(2026, 3, 5)}T10:00:00Z"},
    ],
    "tag": [
        {
            "name": "old",
            "device": "cpu",
            "note": TEXT,
            "contains": [
                {"is": "torch==2.8.0", "sources": ["page"]},
                {"is": "stranger==1", "basis": "inferred", "note": "it follows", "sources": ["page"]},
            ],
            "sources": ["page"],
        },
        {"name": "new", "device": "cpu", "same-as": "old", "sources": ["page"]},
    ],
    "dispute": [
        {
            "id": "image",
            "about": f"an image {TEXT}",
            "of": ["new"],
            "positions": [TEXT, "another"],
            "decision": TEXT,
            "reason": TEXT,
            "decided": date(2026, 7, 3),
            "sources": ["page", "page"],
        }
    ],
    "listing": [
        {"tags": ["old"], "table": "t", "order": 1, "runs": [[1, 1]]},
        {"tags": ["new"], "table": "t", "order": 2, "runs": [[2, 2]]},
    ],
}

FEATURE = feature(
    "trick",
    statement("torch==2.8.0", id="can", reason=TEXT, note=TEXT),
    statement("torch==2.8.0", "not-supported", id="cannot", reason=TEXT, when={"os": ["windows"]}),
    statement("torch==2.7.0", "beta", "inferred", id="maybe"),
    needs="ipex",
    aliases=[TEXT],
    note=TEXT,
    dispute=[
        {
            "id": "feature",
            "about": f"a feature {TEXT}",
            "claims": ["can", "cannot"],
            "decision": "can",
            "reason": TEXT,
            "decided": date(2026, 7, 4),
        }
    ],
)
FEATURE["feature"]["name"] = TEXT
LINE = " ".join("".join(letter if letter.isprintable() else " " for letter in TEXT).split())
TIMELINE = {
    "vendor": [{"id": "maker", "name": f"Maker {LINE}"}],
    "source": {"page": {"url": "https://example.org/", "at": TEXT, "seen": TODAY}},
    "event": [
        {"id": "first", "who": "maker", "kind": "milestone", "title": LINE, "on": date(2025, 1, 1), "sources": ["page"]},
        {"id": "out", "who": "maker", "kind": "release", "title": LINE, "of": "torch==2.8.0"},
        {"id": "stop", "who": "maker", "kind": "end-of-life", "title": LINE, "on": date(2026, 6, 1), "precision": "month"}
        | {"note": TEXT, "sources": ["page"]},
        {"id": "plan", "who": "maker", "kind": "milestone", "title": LINE, "on": date(2027, 1, 1), "precision": "year"}
        | {"announced": date(2026, 7, 6), "sources": ["page"]},
    ],
    "dispute": [
        {
            "id": "when",
            "about": f"an event {TEXT}",
            "of": ["first"],
            "positions": [TEXT, "another"],
            "decision": "open",
            "reason": TEXT,
            "decided": date(2026, 7, 5),
            "sources": ["page", "page"],
        }
    ],
}
MORE: Any = {"features": [FEATURE], "timeline": TIMELINE}


def records() -> list[dict[str, object]]:
    """Return the product files."""
    torch = product(
        "torch",
        releases=[
            release("2.8.0", note=TEXT, on=date(2026, 2, 1), builds=[build("2.8.0", note=TEXT)]),
            release("2.7.0", eol={"last-day": date(2026, 4, 30), "precision": "month", "sources": ["page"]}),
        ],
        note=TEXT,
        advisory=[
            {"of": "torch==2.7.0", "kind": "security", "message": TEXT, "since": date(2026, 5, 1), "sources": ["page"]},
        ],
    )
    torch["product"]["name"] = TEXT
    ipex = product(
        "ipex",
        releases=["2.8.0", release("2.7.0", builds=[build("2.7.0", channels=["default"], wheels=[])])],
        claims=[
            needs("ipex==2.8.0", "torch==2.8.0", id="yes"),
            verified("ipex==2.8.0", "torch==2.7.0", basis="inferred", note=TEXT, id="no"),
            breaks("ipex==2.7.0", "torch!=2.7.0", reason=TEXT, id="check"),
            needs("ipex==2.7.0", "torch==2.7.0", id="doubt"),
        ],
        eol={"last-day": date(2026, 6, 30), "sources": ["page"]},
        dispute=[
            {
                "id": "which",
                "about": TEXT,
                "claims": ["yes", "no"],
                "decision": "yes",
                "reason": TEXT,
                "decided": date(2026, 7, 1),
                "sources": ["page"],
            },
            {
                "id": "open",
                "about": "a date",
                "claims": ["doubt"],
                "positions": [TEXT, "another"],
                "sources": ["page", "page"],
                "decision": "open",
                "reason": TEXT,
                "decided": date(2026, 7, 2),
            },
        ],
        distribution="ipex-wheel",
    )
    ipex["source"]["page"]["at"] = TEXT
    hardware = product("hardware", role="dimension", scheme="listed", releases=[])
    hardware["release"] = [
        {"version": "arc-x", "name": "Arc\nX", "aliases": [TEXT, "XG-1"], "devices": ["xpu"], "sources": ["page"]}
    ]
    return [torch, ipex, hardware]


def hostile_directory(folder: Path) -> Path:
    """Write the data directory, and return it."""
    yanked = listing("2.7.0", on=date(2026, 1, 10), yanked=date(2026, 8, 1))
    return data_directory(folder / "data", records(), images=[IMAGE], indexes=[index("ipex-wheel", [yanked])], **MORE)


def hostile_facts(folder: Path) -> Snapshot:
    """Return the facts, compiled."""
    yanked = listing("2.7.0", on=date(2026, 1, 10), yanked=date(2026, 8, 1))
    return universe(folder, records(), images=[IMAGE], indexes=[index("ipex-wheel", [yanked])], **MORE)
