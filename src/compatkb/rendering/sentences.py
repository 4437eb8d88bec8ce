"""Causes, warnings and requests as sentences."""

import re
from collections.abc import Iterable
from datetime import date

from compatkb.engine.causes import Cause
from compatkb.engine.problem import GLIBC, GLIBC_FAMILY
from compatkb.engine.stacks import Link, Offered, Stack, Warned
from compatkb.records import Edge, Element, Request
from compatkb.snapshot.read import Fields, Snapshot

Cited = tuple[str, str | None]
"""A source as people read it, and its address."""


def asked(request: Request) -> str:
    """Return the request in words: what is pinned, what is asked for, on which devices."""
    pins = [pin for pin in request.pins if not pin.need]
    parts = [pin.text if pin.text.startswith(pin.product) else f"{pin.product} {pin.text}" for pin in pins]
    parts += [f"any {product}" for product in request.bare]
    needs = [pin.product for pin in request.pins if pin.need]
    needed = f" with {' and '.join(needs)}" if needs else ""
    over = f" over the route {request.route}" if request.route else ""
    return f"{', '.join(parts) or 'anything'}{needed} on {' or '.join(request.devices)}{over}"


def ranges(values: Iterable[str], order: tuple[str, ...]) -> str:
    """Return values with neighbours folded into ranges: 3.8–3.11, 3.13."""
    numbers = sorted(order.index(value) for value in values)
    plain = [n for n in numbers if not order[n].endswith("t")]
    rest = [order[n] for n in numbers if order[n].endswith("t")]
    line = [n for n, value in enumerate(order) if not value.endswith("t")]
    found: list[list[str]] = []
    last = None
    for n in plain:
        place = line.index(n)
        if last is not None and place == last + 1:
            found[-1].append(order[n])
        else:
            found.append([order[n]])
        last = place
    parts = [run[0] if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in found]
    return ", ".join([*parts, *rest])


def warning(warned: Warned) -> str:
    """Return a warning as one sentence."""
    name = f"{warned.product} {warned.version}"
    if warned.kind == "yanked":
        reason = f" (reason given: {warned.detail.strip().rstrip('.')})" if warned.detail.strip() else " (no reason given)"
        day = date.fromordinal(warned.day) if warned.day else None
        if warned.until is not None:
            return (
                f"{name} was yanked from the default index some time between {date.fromordinal(warned.until)} and {day}"
                f"{reason}; on the day asked about it may or may not have been"
            )
        return f"{name} is yanked from the default index, seen {day}{reason}; pip takes it only by an exact pin"
    if warned.kind == "eol":
        return f"{name} is past its end of life, {date.fromordinal(warned.day or 1)}"
    if warned.kind == "feature":
        feature, _, status = warned.detail.partition(" ")
        return f"{feature} is no more than a {status} in {name}"
    if warned.kind == "preview":
        return f"{name} is a {warned.detail} build, not a stable release"
    return f"{name}: {warned.detail}"


def cause(facts: Snapshot, found: Cause, request: Request) -> str:
    """Return a cause as one or two sentences."""
    kind, product = found.blocker[0], found.blocker[1]
    if kind == "offer":
        return _offer(facts, found, request)
    if kind == "platform":
        return _platform(facts, found, request)
    return _claims(facts, found, product, found.blocker[2], request)


def cause_sources(facts: Snapshot, found: Cause, request: Request) -> tuple[Cited, ...]:
    """Return the sources of a cause, without repetition."""
    cited: dict[Cited, None] = {}
    elements = [e for _, e in _unlike(found)] if found.blocker[0] == "offer" else list(found.elements)
    for element in elements[:6]:
        cited.update(dict.fromkeys(element_sources(facts, element)[:2]))
    for edge in nearest_edges(facts, found, request):
        cited.update(dict.fromkeys(claim_sources(facts, edge.claim)))
    if found.certain and not found.edges:
        for row in facts.rows("select sources from scope where product = ?", found.blocker[1]):
            cited.update(dict.fromkeys(_pairs(row["sources"])))
    return tuple(cited)[:8]


def claim_sources(facts: Snapshot, claim: str) -> tuple[Cited, ...]:
    """Return the sources of a claim."""
    return facts.citations(claim)


def element_sources(facts: Snapshot, element: Element) -> tuple[Cited, ...]:
    """Return the sources of a build or release."""
    rows = facts.rows("select sources from element where product = ? and idx = ?", element.product, element.idx)
    return _pairs(rows[0]["sources"]) if rows else ()


def _pairs(text: str) -> tuple[Cited, ...]:
    import json

    return tuple((name, url) for name, url in json.loads(text))


def _unlike(found: Cause) -> list[tuple[str, Element]]:
    """Return the refused builds that say most: those made for the device, or all where there are none."""
    telling = [(code, e) for code, e in found.refused if code != "device"]
    return telling or list(found.refused)


def _offer(facts: Snapshot, found: Cause, request: Request) -> str:
    product, device = found.blocker[1], found.device
    pin = request.pin(product)
    what = f"{product} {pin.text.removeprefix(product).lstrip('= ')}" if pin else product
    if pin and pin.beyond and "+" in pin.text:
        return f"{what}: the data cover no builds of {product} with that label"
    if pin and pin.beyond:
        last = facts.elements(product)[pin.near.bit_length() - 1].release
        return f"{what}: no complete list of {product} releases covers it on the day asked about; the nearest known is {last}"
    if not found.refused:
        return f"{what} was never published"
    if facts.products[product].role == "dimension":
        offered = [f"{e.version} is for {' and '.join(sorted(e.devices)) or 'no device'}" for _, e in found.refused]
        return f"{what} is not for {device}: {_names(offered)}"
    by_code: dict[str, list[Element]] = {}
    for code, element in found.refused:
        by_code.setdefault(code, []).append(element)
    parts = []
    for code, elements in sorted(by_code.items(), key=lambda item: item[0] == "device"):
        names = _names(e.version for e in elements)
        if code == "device":
            made_for = sorted({d for e in elements for d in e.devices})
            parts.append(f"{names} {_is(elements)} for {' and '.join(made_for)}")
        elif code == "source-only":
            notes = _notes(facts, elements)
            parts.append(f"{names} {_is(elements)} source-only, with no wheels to install{notes}")
        elif code == "tag-only":
            parts.append(f"{names} {_is(elements)} a tag without published wheels{_notes(facts, elements)}")
        elif code == "not-yet":
            days = {date.fromordinal(e.since or 1).isoformat() for e in elements}
            parts.append(f"{names} came out on {_names(sorted(days))}, after {date.fromordinal(request.as_of)}")
        elif code == "yanked":
            parts.append(f"{names} {_is(elements)} yanked, and a range does not admit a yanked release")
        elif code == "only-with":
            others = sorted({o for e in elements for o in e.only_with})
            parts.append(f"{names} {_is(elements)} of use only beside {' and '.join(others)}")
        else:
            parts.append(f"{names} {_is(elements)} on no package index")
    return f"{what} has no build to install for {device}: {'; '.join(parts)}"


def _notes(facts: Snapshot, elements: list[Element]) -> str:
    for e in elements:
        rows = facts.rows("select note from element where product = ? and idx = ?", e.product, e.idx)
        if rows and rows[0]["note"]:
            return f" ({rows[0]['note'].rstrip('.')})"
    return ""


def _platform(facts: Snapshot, found: Cause, request: Request) -> str:
    product = found.blocker[1]
    wanted = [f"{name} {pin.text}" for name in ("python", "os", "arch", "glibc") if (pin := request.pin(name))]
    grid = facts.grid
    cells = 0
    for element in found.elements:
        cells |= element.strong | element.weak
    width = len(grid["arch"]) * len(grid["python"])
    systems, pythons = set(), set()
    for n, system in enumerate(grid["os"]):
        row = cells >> n * width & ((1 << width) - 1)
        if row and system in facts.families:
            systems.add(system)
            for a in range(len(grid["arch"])):
                part = row >> a * len(grid["python"])
                pythons |= {p for m, p in enumerate(grid["python"]) if part >> m & 1}
    versions = _names(dict.fromkeys(e.version for e in found.elements))
    have = f"; its wheels are for Python {ranges(pythons, grid['python'])} on {_names(sorted(systems))}" if pythons else ""
    floors = sorted({f.glibc for e in found.elements for f in facts.floors(e) if f.glibc and f.glibc > (0,)})
    if have and floors and (request.pin(GLIBC) or _has_glibc(facts, request)):
        have += f" with glibc {'.'.join(str(n) for n in floors[0])} or newer"
    proof = "has no wheel" if found.certain else "has no wheel that is known"
    return f"{product} {versions} {proof} for {', '.join(wanted) or 'this platform'}{have}"


def _has_glibc(facts: Snapshot, request: Request) -> bool:
    """Return whether a request names systems, and only such as have a glibc."""
    pin = request.pin("os")
    names = [name for n, name in enumerate(facts.grid["os"]) if pin and pin.mask >> n & 1]
    return bool(names) and all(GLIBC_FAMILY in (name, *facts.wider.get(name, ())) for name in names)


def nearest_edges(facts: Snapshot, found: Cause, request: Request) -> list[Edge]:
    """Of many denials keep those that are closest to what was pinned: the last ones before it and the first after it."""
    edges = list(found.edges)
    if found.blocker[0] != "claim" or len(edges) <= 3:
        return edges
    one, other = found.blocker[1], found.blocker[2]
    for held, free in ((other, one), (one, other)):
        pin = request.pin(held)
        if not pin or not pin.mask:
            continue
        low, high = (pin.mask & -pin.mask).bit_length() - 1, pin.mask.bit_length() - 1
        needs = [e for e in edges if e.kind != "breaks" and e.to == held and e.of == free and e.to_mask]
        place = {e.id: next(n for n, mask in enumerate(facts.series(held)) if mask & e.to_mask) for e in needs}
        known = {e.id: _spread(facts, e) for e in needs}
        below = [e for e in needs if e.to_mask.bit_length() - 1 < low]
        above = [e for e in needs if (e.to_mask & -e.to_mask).bit_length() - 1 > high]
        chosen = []
        if below:
            chosen.append(max(below, key=lambda e: (place[e.id], known[e.id], e.of_mask.bit_length())))
        if above:
            chosen.append(min(above, key=lambda e: (place[e.id], -known[e.id], e.of_mask.bit_length())))
        if chosen:
            return chosen
    return edges[:3]


def _spread(facts: Snapshot, edge: Edge) -> int:
    """Return on how many platforms the widest build that an edge is about is known."""
    return max((e.strong | e.weak).bit_count() for e in facts.elements(edge.of).of(edge.of_mask))


def _claims(facts: Snapshot, found: Cause, one: str, other: str, request: Request) -> str:
    shown = nearest_edges(facts, found, request)
    parts = []
    for edge in shown:
        row = facts.rows("select reason, of_term, to_terms, when_ from claim where id = ?", edge.claim)[0]
        condition = f" ({row['when_']})" if row["when_"] else ""
        if row["reason"]:
            parts.append(f"{row['reason'].rstrip('.')}{condition}")
        else:
            verb = {"needs": "needs", "constrains": "goes only with", "breaks": "does not work with"}[edge.kind]
            parts.append(f"{plain(row['of_term'])} {verb} {edge.to} {_spec(edge.spec)}{condition}")
    if len(found.edges) > len(shown):
        pin = request.pin(other) or request.pin(one)
        about = f"{pin.product} {pin.text.removeprefix(pin.product).lstrip('= ')}" if pin else other
        free = one if pin and pin.product == other else other
        return f"no {free} release for {found.device} serves {about}: {'; '.join(parts)}"
    held = [pin for name in (other, one) if (pin := request.pin(name))]
    wanted = " and ".join(pin.text if pin.text.startswith(pin.product) else f"{pin.product} {pin.text}" for pin in held)
    verb = "is" if len(held) == 1 else "are"
    return f"{'; '.join(parts)}; {wanted} {verb} asked for" if held else "; ".join(parts)


def plain(term: str) -> str:
    """Return a term without its operator where it names one version: ipex==2.8.10+xpu is ipex 2.8.10+xpu."""
    product, equal, version = term.partition("==")
    return f"{product} {version}" if equal and "," not in version else term


def terms(to: Iterable[str]) -> str:
    """Return what a claim names: alternatives of one product with "or", several products with "and"."""
    by_product: dict[str, list[str]] = {}
    for term in to:
        by_product.setdefault(re.split(r"[<>=!~ ]", term, maxsplit=1)[0], []).append(term)
    return " and ".join(" or ".join(group) for group in by_product.values())


def _spec(spec: str) -> str:
    return spec.replace("==", "")


def _names(values: Iterable[str]) -> str:
    names = list(dict.fromkeys(values))
    if len(names) > 6:
        names = [*names[:3], "...", *names[-2:]]
    return ", ".join(names)


def _is(elements: list[Element]) -> str:
    return "is" if len({e.version for e in elements}) == 1 else "are"


def warning_sources(facts: Snapshot, warned: Warned) -> tuple[Cited, ...]:
    """Return the sources of a warning."""
    if warned.sources:
        return warned.sources
    for element in facts.elements(warned.product):
        if element.version == warned.version:
            if warned.kind == "eol":
                rows = facts.rows(
                    "select eol_sources from release where product = ? and version = ?", warned.product, element.release
                )
                return _pairs(rows[0]["eol_sources"]) if rows else ()
            return element_sources(facts, element)[:1]
    return ()


def unsettled(facts: Snapshot, stack: Stack) -> list[str]:
    """Return what is only inferred or not known of a stack, and what would settle it."""
    from compatkb.records import STRONG, UNKNOWN, WEAK

    if stack.level == STRONG:
        return []
    found = []
    words = {WEAK: "only inferred", UNKNOWN: "not known"}
    roles = facts.products
    requested = {product for product in stack.requested if roles[product].role != "feature"}
    for link in stack.links:
        if link.level != STRONG and {link.one, link.other} <= requested:
            notes = [row["note"] for row in _inferences(facts, link)]
            why = f": {notes[0].rstrip('.')}" if notes else ""
            machine = [p for p in (link.one, link.other) if facts.products[p].role == "dimension"]
            settle = "a run there" if machine else "importing both"
            named = [f"{p} {', '.join(stack.known.get(p, ()))}".strip() if p in machine else p for p in (link.one, link.other)]
            found.append(f"that {' and '.join(named)} go together is {words[link.level]}{why}; {settle} would settle it")
    pinned = [link for link in stack.links if link.level != STRONG and facts.products[link.other].role == "leaf"]
    for one in dict.fromkeys(link.one for link in pinned if link.other not in stack.requested):
        named = [link.other for link in pinned if link.one == one]
        notes = [row["note"] for link in pinned if link.one == one for row in _inferences(facts, link)]
        why = f": {notes[0].rstrip('.')}" if notes else ""
        found.append(f"which {_names(named)} {one} brings along is only inferred{why}; its wheel metadata would settle it")
    linked = {product for link in stack.links for product in (link.one, link.other)}
    members = [e.product for e in stack.packages if e.product in stack.requested]
    for product in stack.requested:
        spoken = product in linked or product not in requested
        others = " and ".join(p for p in members if p != product)
        if not spoken and others and product != GLIBC:
            found.append(
                f"nothing in the data speaks of {product} beside {others}; a statement of its maker or a run would settle it"
            )
    for element in stack.packages:
        if element.product in stack.requested and element.channels and (unseen := _unseen(facts, element, stack)):
            query = "select wheels_note from element where product = ? and idx = ?"
            note = facts.rows(query, element.product, element.idx)[0]["wheels_note"]
            known = f"; what is known: {note.rstrip('.')}" if note else ""
            platform = f"Python {ranges(unseen, facts.grid['python'])} on {', '.join(stack.os)} {', '.join(stack.arch)}"
            found.append(
                f"wheels of {element.product} {element.version} for {platform} were not seen{known}; "
                "a look at the index would settle it"
            )
        about_glibc = element.product in stack.requested and GLIBC in stack.known and GLIBC in stack.requested
        if about_glibc and element.channels and any(not floor.stated for floor in facts.floors(element)):
            found.append(
                f"whether {element.product} {element.version} runs with glibc {', '.join(stack.known[GLIBC])} is not known: "
                "its wheels name no glibc; importing it there would settle it"
            )
    found += [_feature_unsettled(facts, stack, offered) for offered in stack.features if offered.level != STRONG]
    return list(dict.fromkeys(found))


def _feature_unsettled(facts: Snapshot, stack: Stack, offered: Offered) -> str:
    """Return why it is not certain that a stack has a feature, and what would settle it."""
    name = facts.features[offered.feature][0]
    where = f"{stack.device}, {', '.join(stack.os)}, Python {ranges(stack.python, facts.grid['python'])}"
    if offered.claims:
        notes = [row["note"] for c in offered.claims for row in facts.rows("select note from claim where id = ?", c)]
        why = next((f": {note.rstrip('.')}" for note in notes if note), "")
        by = " and ".join(f"{product} {version}" for product, version in offered.by)
        return f"that {name} works with {by} on {where} is only inferred{why}; a run that uses it would settle it"
    members = {e.product: 1 << e.idx for e in stack.packages}
    rows = facts.rows("select product, mask, hardware, device from statement where feature = ?", offered.feature)
    stated = [
        row["hardware"].split()
        for row in rows
        if row["hardware"] and members.get(row["product"], 0) & int(row["mask"], 16) and stack.device in row["device"].split()
    ]
    named = list(dict.fromkeys(value for values in stated for value in values))
    hint = f"; it is told by hardware, so pin one of {', '.join(named)}" if named and "hardware" not in stack.requested else ""
    about = " and ".join(f"{e.product} {e.version}" for e in stack.packages if e.product in requested_packages(facts, stack))
    settle = hint or "; a statement of its makers, or a run that uses it, would settle it"
    return f"nothing in the data says whether {name} works with {about} on {where}{settle}"


def requested_packages(facts: Snapshot, stack: Stack) -> set[str]:
    """Return the packages that the search was about."""
    return {product for product in stack.requested if facts.products[product].role == "package"}


def _inferences(facts: Snapshot, link: Link) -> list[Fields]:
    """Return the notes of the inferred claims of a link, those that vouch before those that only deny."""
    query = "select note, kind from claim where id = ? and basis = 'inferred' and note is not null"
    rows = [row for claim in link.claims for row in facts.rows(query, claim)]
    return sorted(rows, key=lambda row: row["kind"] != "verified")


def _unseen(facts: Snapshot, element: Element, stack: Stack) -> list[str]:
    """Return the Pythons of a stack for which some wheel of an element was not seen."""
    cells = -1
    for dimension, values in (("os", stack.os), ("arch", stack.arch)):
        mask = sum(1 << facts.grid[dimension].index(v) for v in values)
        cells &= facts.dimension_cells(dimension, mask)
    order = facts.grid["python"]
    wanted = {python: cells & facts.dimension_cells("python", 1 << order.index(python)) for python in stack.python}
    return [python for python, where in wanted.items() if where & ~element.strong]
