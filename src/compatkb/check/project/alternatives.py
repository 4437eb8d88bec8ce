"""Finds what to write instead of versions that conflict, and edits a uv project so that packages come from an index."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from compatkb.check.project.indexes import sources_of
from compatkb.check.project.install_plan import InstalledProduct, InstallPlan
from compatkb.check.project.queries import AllowedVersions, ProjectQueries, exactly
from compatkb.core.findings import Edit, Finding
from compatkb.core.names import normal
from compatkb.core.text_position import quoted
from compatkb.core.vocabulary import Certainty, Role
from compatkb.parsers.statement import RequirementRole
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element


class Conflicting(NamedTuple):
    """A finding about products that do not work together."""

    finding: Finding
    products: tuple[InstalledProduct, ...]


_MOST_NEAR = 40


class PinSet(NamedTuple):
    """What to write in an environment so that it works: pins, and what stays as it is."""

    pins: tuple[tuple[InstalledProduct, str], ...]
    stays: str
    is_certain: bool
    leaves: str | None = None  # what is discontinued and has nothing that fits


def mended_together(conflicts: list[Conflicting], plan: InstallPlan, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield the findings of an environment; those that hang together with one set of pins that mends all of them."""
    while conflicts:
        group, conflicts = [conflicts[0]], conflicts[1:]
        names = {one.allowed.product for one in group[0].products}
        while near := [one for one in conflicts if names.intersection(part.allowed.product for part in one.products)]:
            group += near
            conflicts = [one for one in conflicts if one not in near]
            names.update(part.allowed.product for one in near for part in one.products)
        parts = {part.allowed.product: plan.final[part.allowed.product] for one in group for part in one.products}
        pins = _set_of(list(parts.values()), plan, queries)
        for finding, _ in group:
            yield _mended(finding, pins, queries) if pins else finding


def _mended(finding: Finding, pins: PinSet, queries: ProjectQueries) -> Finding:
    """Return a finding with the set that mends it, and with edits where all of it stands in the file of the finding."""
    ended = next((one.allowed.product for one, _ in pins.pins if queries.is_decided(one.allowed.product)), None)
    way_out = f"or without {queries.facts.products[ended].label}: compatkb migrate ." if ended else ""
    if pins.leaves:
        way_out = f"without {queries.facts.products[pins.leaves].label}: compatkb migrate ."
    edits = [edit_of(one, text) for one, text in pins.pins]
    is_here = all(one.parts[-1].located.document.path == finding.path for one, _ in pins.pins)
    is_written = pins.is_certain and is_here and all(edits) and not way_out  # who keeps what is discontinued decides that
    lines = [text for _, text in pins.pins] + ([way_out] if way_out else [])
    environment = f"{pins.stays} stays" if pins.stays else "all of them"
    own = tuple(sorted({edit for several in edits for edit in several})) if is_written else ()
    return finding._replace(fix="\n".join(lines), edits=own, environment=environment)


def _set_of(parts: list[InstalledProduct], plan: InstallPlan, queries: ProjectQueries) -> PinSet | None:
    """Return the pins that make an environment work: what can stay stays, first what an image holds, then by rank.

    What moves takes the builds of the best stack beside the rest, of the indexes that are asked; None where there is none.
    """
    facts = queries.facts
    names = {part.allowed.product for part in parts}
    whole = [one.allowed for one in plan.final.values() if one.allowed.mask and one.allowed.product not in names]
    if queries.refused(whole, plan.pythons, plan.systems):
        whole = [one.allowed for one in plan.final.values() if one.step < 0 and one.allowed.product not in names]
    stays: list[InstalledProduct] = []
    moves: list[InstalledProduct] = []

    def order(one: InstalledProduct) -> tuple[object, ...]:
        product = one.allowed.product
        return one.step >= 0, queries.is_decided(product), facts.ranks[product]

    for part in sorted(parts, key=order):
        beside = [*whole, *(one.allowed for one in stays), part.allowed]
        fits = not queries.refused(beside, plan.pythons, plan.systems) and not _demands(part.allowed, stays, queries)
        (stays if fits else moves).append(part)
    if not moves or any(not one.requirements or one.is_at_address or one.tool == "conda" for one in moves):
        return None
    kept = [*whole, *(one.allowed for one in stays)]
    ended = (one for one in moves if queries.is_decided(one.allowed.product))
    leaves = next((one.allowed.product for one in ended if not _has_any(one, kept, plan, queries)), None)
    moves = [one for one in moves if one.allowed.product != leaves]
    new = _moved(moves, kept, plan, queries)
    if new is None:  # nothing supports the rest: without it, as long as nothing refuses the whole
        new = _moved(moves, [one.allowed for one in stays], plan, queries)
    if new is None or queries.refused([*kept, *map(exactly, new.values())], plan.pythons, plan.systems):
        return None
    texts = []
    for one in moves:
        pin = exactly(new[one.allowed.product])
        others = [*kept, *(exactly(element) for product, element in new.items() if product != pin.product)]
        if any(queries.demand(new[pin.product], other) for other in others if other.mask):
            return None
        text = fitting(one, new[pin.product], others[-1], plan, queries)
        if text is None:
            return None
        texts.append((one, text))
    first = next((part for part in stays if part.allowed.text), None)
    is_certain = _level([*kept, *map(exactly, new.values())], plan, queries) == Certainty.CERTAIN
    return PinSet(tuple(texts), shown(first, queries) if first else "", is_certain, leaves) if texts or leaves else None


def _has_any(one: InstalledProduct, kept: list[AllowedVersions], plan: InstallPlan, queries: ProjectQueries) -> bool:
    """Return whether a product has anything that fits beside what is kept."""
    movable = _movable(one, plan, queries)
    return bool(movable.mask) and queries.best([*kept, movable], plan.pythons, plan.systems) is not None


def _moved(
    moves: list[InstalledProduct], kept: list[AllowedVersions], plan: InstallPlan, queries: ProjectQueries
) -> dict[str, Element] | None:
    """Return the builds that products move to, each as near to its pin as the others let it be; None where there are none."""
    open_ = {one.allowed.product: _movable(one, plan, queries) for one in moves}
    if any(not allowed.mask for allowed in open_.values()):
        return None
    new: dict[str, Element] = {}
    for one in moves:
        product, at = one.allowed.product, one.allowed.mask.bit_length() - 1
        rest = [*kept, *map(exactly, new.values()), *(other for name, other in open_.items() if name not in (product, *new))]
        stack = queries.best([*rest, open_[product]], plan.pythons, plan.systems)
        if stack is None:
            return None
        above = [e for e in queries.elements(product, open_[product].mask) if e.idx > at]
        near = (e for e in above[:_MOST_NEAR] if not queries.refused([*rest, exactly(e)], plan.pythons, plan.systems))
        best = next((e for e in stack.packages if e.product == product), None)
        fitting_ = (e for e in near if _level([*rest, exactly(e)], plan, queries) <= stack.level)
        nearest = next(fitting_, best)
        if nearest is None:
            return None
        new[product] = nearest
    return new


def _level(constraints: list[AllowedVersions], plan: InstallPlan, queries: ProjectQueries) -> int:
    stack = queries.best(constraints, plan.pythons, plan.systems)
    return stack.level if stack else Certainty.UNKNOWN


def _demands(allowed: AllowedVersions, stays: list[InstalledProduct], queries: ProjectQueries) -> bool:
    """Return whether metadata keep every build of one from what stays, either way."""
    others = [one.allowed for one in stays]
    return any(_refuses(one, other, queries) for other in others for one, other in ((allowed, other), (other, allowed)))


def _refuses(one: AllowedVersions, other: AllowedVersions, queries: ProjectQueries) -> bool:
    builds = [element for element in queries.elements(one.product, one.mask) if element.installable]
    return bool(builds) and all(queries.demand(element, other) for element in builds)


def _movable(one: InstalledProduct, plan: InstallPlan, queries: ProjectQueries) -> AllowedVersions:
    """Return what a product may become: what is on the indexes that are asked, and neither yanked nor early."""
    product = one.allowed.product
    asked = sources_of(plan, one.step, one.requirements[-1].requirement, queries)
    usual = [e for e in queries.facts.elements(product) if e.installable and not e.is_yanked(queries.day)]
    there = [e for e in usual if e.stage == "stable"] or usual
    _, plus, label = one.allowed.text.partition("+")
    there = [e for e in there if e.version.endswith(f"+{label}")] if plus else there
    channels = asked.channels if asked.known else frozenset({queries.own})
    near = [e for e in there if channels & set(e.channels) or not e.channels]
    return AllowedVersions(product, ">=0", sum(1 << e.idx for e in near), False)


_PINNED = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*(?:\[[^\]]*\])?)(?P<rest>\s*==\s*[\w.+!-]+)?")


def edit_of(one: InstalledProduct, text: str) -> tuple[Edit, ...]:
    """Return the edit that writes a pin, none where a requirement is more than a name with or without a pin."""
    located, required = one.parts[-1].located, one.requirements[-1]
    start = located.document.offset(*located.statement.place)
    written = located.statement.text
    match = _PINNED.fullmatch(written)
    is_plain = required.requirement.role is RequirementRole.INSTALL and not located.statement.derived
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
