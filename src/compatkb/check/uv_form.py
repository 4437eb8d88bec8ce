"""Edits a uv project's pyproject.toml so that packages come from a certain index."""

import re
import tomllib
from collections.abc import Iterable
from typing import Any

from compatkb.core.findings import Edit
from compatkb.core.names import normal
from compatkb.core.quoting import quoted
from compatkb.store.queries.claims import automatic_of
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element

_SOURCES = re.compile(r"^\[tool\.uv\.sources\][^\n]*\n", re.MULTILINE)


def uses_uv(text: str) -> bool:
    """Return whether a pyproject.toml has settings of uv."""
    return "[tool.uv" in text


def routed(facts: Snapshot, text: str, builds: Iterable[Element], end: int, channel: str, url: str) -> tuple[Edit, ...]:
    """Return the edits that take builds from an index and nothing else from there; none where hands have to.

    What the builds bring along from there is named too, after the requirement that ends at `end`: uv looks on an index of
    its own only for what is named.
    """
    uv: dict[str, Any] = tomllib.loads(text).get("tool", {}).get("uv", {})
    brought = [
        e
        for e in automatic_of(facts, builds, facts.all_platforms)
        if not re.search(rf"[\"']{re.escape(e.distribution or e.product)}\b", text)
    ]
    names = list(dict.fromkeys(e.distribution or e.product for e in (*builds, *brought)))
    header = _SOURCES.search(text)
    source_names = {normal(name) for name in uv.get("sources", {})}
    is_named = source_names & {normal(name) for name in names}
    if is_named or (source_names and not header) or text[end : end + 1] not in ("'", '"'):
        return ()
    index = next(
        (i["name"] for i in uv.get("index", ()) if i.get("url", "").rstrip("/") == url.rstrip("/") and "name" in i), ""
    )
    rows = "".join(f"{name} = {{ index = {quoted(index or channel)} }}\n" for name in names)
    more = "" if header else f"\n[tool.uv.sources]\n{rows}"
    more += "" if index else f"\n[[tool.uv.index]]\nname = {quoted(channel)}\nurl = {quoted(url)}\nexplicit = true\n"
    quote = text[end]
    pins = "".join(f"{quote}, {quote}{e.distribution}=={e.version}" for e in brought)
    edits = [Edit(end, end, pins)] if pins else []
    edits += [Edit(header.end(), header.end(), rows)] if header else []
    last = len(text)
    edits += [Edit(last, last, more if text.endswith("\n") else f"\n{more}")] if more else []
    return tuple(edits)
