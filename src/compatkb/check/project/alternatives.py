"""Finds what to write instead of versions that conflict."""

from compatkb.check.project.install_plan import InstalledProduct, InstallPlan, sources_of
from compatkb.check.project.queries import ProjectQueries, exactly
from compatkb.check.project.values import AllowedVersions, Denial
from compatkb.store.records import Element


def way(
    last: InstalledProduct, first: InstalledProduct, denial: Denial, plan: InstallPlan, queries: ProjectQueries
) -> str | None:
    """Return what to write instead, from the nearest stacks that keep one of the two."""
    ways = []
    for fixed, moved in ((first, last), (last, first)):
        product, newest = moved.allowed.product, moved.allowed.mask.bit_length()
        stacks = [near.stack.packages for near in denial.nearest if near.relaxed == (product,)]
        there = [e for packages in stacks for e in packages if e.product == product and not e.is_yanked(queries.day)]
        if there:
            match = min(there, key=lambda element: abs(element.idx + 1 - newest))
            text = fitting(moved, match, fixed.allowed, plan, queries) or requirement_of(match, queries)
            ways.append(f"{text} with {shown(fixed, queries)}")
    return "; or ".join(ways) or None


def fitting(
    one: InstalledProduct, element: Element, beside: AllowedVersions, plan: InstallPlan, queries: ProjectQueries
) -> str | None:
    """Return the pin to write for a build, None where it would not bring it.

    Where no pin beside it has its label it has none, unless installers then take a build that does not go with `beside`:
    from the indexes that are asked, or where those have none of it, from their own.
    """
    text = requirement_of(element, queries)
    public = text.partition("+")[0]
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
