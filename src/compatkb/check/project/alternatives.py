"""Finds what to write instead of versions that conflict, and edits a uv project so that packages come from an index."""

import re
from collections.abc import Iterable
from typing import Any

from compatkb.check.project.indexes import sources_of
from compatkb.check.project.install_plan import InstalledProduct, InstallPlan
from compatkb.check.project.queries import AllowedVersions, ProjectQueries, exactly
from compatkb.core.findings import Edit
from compatkb.core.names import normal
from compatkb.core.text_position import quoted
from compatkb.core.vocabulary import Role
from compatkb.parsers.statement import RequirementRole
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element

_PINNED = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*(?:\[[^\]]*\])?)(?P<rest>\s*==\s*[\w.+!-]+)?")


def edit_of(one: InstalledProduct, text: str) -> tuple[Edit, ...]:
    """Return the edit that writes a pin, none where a requirement is more than a name with or without a pin."""
    located, required = one.parts[-1].located, one.requirements[-1]
    start = located.document.offset(*located.statement.place)
    written = located.statement.text
    match = _PINNED.fullmatch(written)
    is_plain = required.requirement.role is RequirementRole.INSTALL and not located.statement.derived
    is_plain = is_plain and not required.requirement.hashed  # of another version the hashes are others
    if not match or not is_plain or not located.document.text.startswith(written, start):
        return ()
    if normal(match["name"].partition("[")[0]) != normal(text.partition("==")[0]):
        return ()
    if "+" in text and "+" not in written:
        return ()
    first = start + len(match["name"])
    return (Edit(first, start + len(written), f"=={text.partition('==')[2]}"),)


def fitting(
    one: InstalledProduct, element: Element, beside: AllowedVersions, plan: InstallPlan, queries: ProjectQueries
) -> str | None:
    """Return the pin to write for a build, None where it would not bring it.

    Where no pin beside it has its label it has none, unless installers then take a build that does not go with `beside`:
    from the indexes that are asked, or where those have none of it, from their own.
    """
    text = requirement_of(element, queries)
    public = text.partition("+")[0]
    if queries.facts.products[element.product].role == Role.LEAF:
        return public  # of which the data have no index
    pins = [other.allowed.text for other in plan.final.values() if other.requirements]
    if text != public and any(pin.endswith(text.removeprefix(public)) for pin in pins):
        return text
    asked = sources_of(plan, one.step, one.requirements[-1].requirement, queries) if one.requirements else None
    allowed = queries.allowed(queries.facts.products[element.product], [public[public.index("==") :]])
    if asked is None or not asked.known or allowed is None:
        return public
    taken = queries.taken(allowed, asked.channels, [beside]) or queries.taken(allowed, frozenset({queries.own}), [beside])
    there = queries.narrowed(beside, asked.channels)
    if taken is None or queries.refused([exactly(taken), there if there.mask else beside]):
        return text if text != public else None
    return public


def requirement_of(element: Element, queries: ProjectQueries) -> str:
    """Return the pin of a build, by the name that installers know it by."""
    name = queries.facts.distribution(element.product, element.version) or element.product
    return f"{name}=={element.version}"


def shown(one: InstalledProduct, queries: ProjectQueries) -> str:
    """Return what is installed as messages name it."""
    name = queries.facts.products[one.allowed.product].name
    text = one.allowed.text
    return f"{name} {text.removeprefix('==') if ',' not in text else text}".strip()


_SOURCES = re.compile(r"^\[tool\.uv\.sources\][^\n]*\n", re.MULTILINE)


def uses_uv(text: str) -> bool:
    """Return whether a pyproject.toml has settings of uv."""
    return "[tool.uv" in text


def routed(facts: Snapshot, text: str, builds: Iterable[Element], end: int, channel: str, url: str) -> tuple[Edit, ...]:
    """Return the edits that take builds from an index and nothing else from there; none where hands have to.

    What the builds bring along from there is named too, after the requirement that ends at `end`: uv looks on an index of
    its own only for what is named.
    """
    import tomllib

    uv: dict[str, Any] = tomllib.loads(text).get("tool", {}).get("uv", {})
    brought = [
        e
        for e in facts.automatic_of(builds, facts.all_platforms)
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
