"""Rules on combinations of packages: pairs that do not work, versions that drift apart, what a later step replaces."""

from collections.abc import Iterator

from compatkb.check.project.alternatives import edit_of, fitting, shown
from compatkb.check.project.environments import at
from compatkb.check.project.indexes import index_option, sources_of
from compatkb.check.project.install_plan import SETTINGS, InstalledProduct, InstallPlan, supported_pythons
from compatkb.check.project.pins import about_end
from compatkb.check.project.queries import ANY_PYTHON, Denial, ProjectQueries, Pythons, exactly, is_exact
from compatkb.check.project.resolution import TOGETHER, judge, unlisted, where
from compatkb.check.project.step_pins import release_of
from compatkb.check.rules import CheckRule, FileRole
from compatkb.core.findings import Edit, Finding, Severity
from compatkb.core.names import normal
from compatkb.core.vocabulary import Certainty, Role
from compatkb.parsers.statement import RequirementRole
from compatkb.store.records import Element

CONTRADICT = CheckRule(
    "pins-contradict", Severity.ERROR, "requirements of one step leave no version of a package", off_in=(FileRole.NOTEBOOK,)
)
DRIFTS = CheckRule(
    "pin-drifts", Severity.WARNING, "what installers choose today does not go with what is pinned", off_in=(FileRole.NOTEBOOK,)
)
RULES = (TOGETHER, CONTRADICT, DRIFTS)


@SETTINGS.rule(TOGETHER, CONTRADICT, DRIFTS)
def check(plan: InstallPlan, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield what is wrong with the packages of an environment together."""
    for installed, required in plan.empty:
        texts = " and ".join(_with_place(installed, required.located.document.path))
        message = f"no version of {required.product.name} is admitted by {texts}, which one step asks for"
        yield at(required.located, CONTRADICT, message)
    yield from unlisted(plan, queries)
    final = [one for one in plan.final.values() if one.allowed.mask and not _pinned_by_metadata(one, queries)]
    if len(final) < 2:
        return
    denied = judge(plan, final, queries)
    yield from denied
    roles = {required.requirement.role for one in final for required in one.requirements}
    installs = roles != {RequirementRole.CONSTRAINT} and RequirementRole.LOCKED not in roles
    if not denied and installs and not plan.environment.is_locked:
        yield from _drifting(plan, final, queries)


def _with_place(installed: InstalledProduct, path: str) -> Iterator[str]:
    """Yield what is asked of a product, once each, with the file where that is another than `path`."""
    placed = {}
    for part in installed.parts:
        place, document = part.located.statement.place, part.located.document.path
        placed[part.text] = part.text if document == path else f"{part.text} ({document}, line {place.line})"
    yield from placed.values()


def _pinned_by_metadata(one: InstalledProduct, queries: ProjectQueries) -> bool:
    """Return whether a lock names a runtime that only the metadata of others pin: whoever locked it has honoured those."""
    leaf = queries.facts.products[one.allowed.product].role == Role.LEAF
    return leaf and bool(one.requirements) and one.requirements[0].requirement.role is RequirementRole.LOCKED


def _drifting(plan: InstallPlan, final: list[InstalledProduct], queries: ProjectQueries) -> Iterator[Finding]:
    """Yield what an installer chooses today that does not go with what is pinned exactly, though something in the range would.

    pip takes the newest of all indexes, uv the newest of the first one that has the package. Where a project uses both,
    only what drifts with both counts.
    """
    drifting = _drifting_from(plan, final, queries, _chosen(plan, final, queries, ANY_PYTHON, first_index=False))
    if not drifting:
        return
    pythons = supported_pythons(plan, [one.allowed for one in final if one.allowed.text], queries)
    for by_first in (False, True)[: 1 + plan.environment.uses_uv]:
        for python in reversed(pythons):
            chosen = _chosen(plan, final, queries, python, first_index=by_first)
            again = _drifting_from(plan, final, queries, chosen)
            lacking = {product for product in drifting if queries.is_decided(product) and product not in chosen}
            drifting = {product: again.get(product, one) for product, one in drifting.items() if product in {*again, *lacking}}
    yield from drifting.values()


def _chosen(
    plan: InstallPlan, final: list[InstalledProduct], queries: ProjectQueries, pythons: Pythons, *, first_index: bool
) -> dict[str, Element]:
    """Return what an installer takes of each product, as far as that is known."""
    chosen: dict[str, Element] = {}
    for one in final:
        if one.step < 0 or one.tool == "conda" or not one.requirements:
            continue
        sources = sources_of(plan, one.step, one.requirements[-1].requirement, queries)
        if not sources.known and not queries.is_decided(one.allowed.product):
            builds = [e for e in queries.elements(one.allowed.product, one.allowed.mask) if e.installable]
            if builds and is_exact(one.allowed.text) and not one.is_at_address:
                chosen[one.allowed.product] = builds[-1]  # wherever it is from
            continue
        roles = queries.facts.products
        beside = [o.allowed for o in final if o.step == one.step and roles[o.allowed.product].role != Role.LEAF]
        channels = sources.channels
        if first_index:
            has = {channel for e in queries.facts.elements(one.allowed.product) for channel in e.channels}
            first = next((extra for extra in sources.extra if extra in has), None)
            channels = frozenset({first}) if first else channels - set(sources.extra)
        element = queries.taken(one.allowed, channels, beside, pythons)
        if element is not None:
            chosen[one.allowed.product] = element
    if plan.environment.bounded:  # what a package demands of those decides which release of it is taken
        known = {one.allowed.product for one in final if is_exact(one.allowed.text)}
        chosen = {p: e for p, e in chosen.items() if p in known or queries.is_decided(p) or queries.has_metadata(p)}
    return chosen


def _drifting_from(
    plan: InstallPlan, final: list[InstalledProduct], queries: ProjectQueries, chosen: dict[str, Element]
) -> dict[str, Finding]:
    """Return what is wrong with the choice of a product that is not pinned, by product."""
    tied = {product.id for product in queries.facts.products.values() if product.automatic}  # metadata of others pin these
    loose = [o for o in final if o.allowed.product in chosen.keys() - tied and not is_exact(o.allowed.text)]
    return {one.allowed.product: found for one in loose if (found := _drifts(one, final, chosen, plan, queries))}


def _drifts(
    one: InstalledProduct,
    final: list[InstalledProduct],
    chosen: dict[str, Element],
    plan: InstallPlan,
    queries: ProjectQueries,
) -> Finding | None:
    pin = exactly(chosen[one.allowed.product])
    for other in final:
        if other is one or queries.facts.products[other.allowed.product].role == Role.LEAF:
            continue
        if other.allowed.product not in chosen:
            if found := _drifts_beside(one, other, chosen[one.allowed.product], queries):
                return found
            continue
        element, rest = chosen[one.allowed.product], chosen[other.allowed.product]
        other_pin = exactly(rest)
        if not is_exact(other.allowed.text) and not queries.is_decided(one.allowed.product):
            is_tied = queries.requires(element, rest.product) or queries.requires(rest, element.product)
            is_open = is_tied or not other.allowed.text or queries.is_decided(rest.product)
            others = [each.allowed for each in final if each is not one and each is not other]
            if is_open or queries.refused([pin, *others]) or not queries.denial([pin, other.allowed]):
                continue  # what is chosen of both may move, or goes with something that the other may be
        if not (queries.excluded(element, rest.product) or queries.excluded(rest, element.product)):
            continue
        extras = {extra for required in one.requirements for extra in required.requirement.extras}
        replaces = one.step > other.step and plan.resolves(one.step) and bool(queries.demand(element, other_pin))
        is_seen = queries.requires(element, rest.product) or queries.requires(rest, element.product)
        is_left = _is_left(one, other, plan) and bool(queries.demand(element, other_pin))
        if rest.product in extras or (is_seen and not (replaces or is_left)):
            continue  # installers see that, and take what goes together
        denial = queries.denial([pin, other_pin], near=True)
        is_leaf = queries.facts.products[element.product].role == Role.LEAF
        if denial and is_leaf and (denial.by_metadata or not is_exact(other.allowed.text)):
            continue  # installers see that too
        if denial:
            name, beside = (queries.facts.products[e.product].name for e in (element, rest))
            message = (
                f"installers take {name} {element.version} here, which does not go with {beside} {rest.version} "
                f"({where(other, one)}): {denial.told}"
            )
            message += "; it replaces what was there" if replaces else "; the later step leaves it there" if is_left else ""
            fix, edits = _pin(one, element, rest, denial, plan, queries)
            fix = fix or about_end(element.product, queries)[1]
            finding = at(one.parts[-1].located, DRIFTS, message, sources=denial.sources, fix=fix, edits=edits)
            is_companion = queries.facts.products[element.product].role == Role.COMPANION and denial.basis != "inferred"
            is_fatal = queries.has_clash([element, rest]) or (denial.at_import and is_companion)
            is_bound = _is_bound(element, plan, queries) or denial.of_device
            is_decided = queries.is_decided(element.product) and denial.at_import
            is_certain = (is_decided or (is_fatal and not is_bound)) and not (replaces or is_left)
            return finding._replace(level=Severity.ERROR) if is_certain else finding
    return None


def _is_left(one: InstalledProduct, other: InstalledProduct, plan: InstallPlan) -> bool:
    """Return whether a later step pins another package of which this one had taken the newest with it."""
    is_later = 0 <= one.step < other.step and is_exact(other.allowed.text) and plan.environment.kind == "stage"
    return is_later and all(w.requirement.step > one.step for w in plan.requirements if w.product.id == other.allowed.product)


def _is_bound(element: Element, plan: InstallPlan, queries: ProjectQueries) -> bool:
    """Return whether bounds on packages that the data do not know may keep a release away, which demands something of them."""
    name = normal(queries.facts.products[element.product].distribution or element.product)
    record = release_of(name, element.release, queries) if plan.environment.bounded else {"requires": ()}
    rows = record["requires"] if record else None
    return rows is None or any(other in plan.environment.bounded for other, *_ in rows)


def _drifts_beside(
    one: InstalledProduct, other: InstalledProduct, element: Element, queries: ProjectQueries
) -> Finding | None:
    """Return that the last build of what has ended goes with nothing that another product may be, whatever is chosen of it."""
    denial = queries.denial([exactly(element), other.allowed]) if other.allowed.text and other.allowed.mask else None
    if not denial or not denial.at_import or not queries.is_decided(element.product):
        return None
    message = (
        f"installers take {queries.facts.products[element.product].name} {element.version} here, which does not go with "
        f"{shown(other, queries)} ({where(other, one)}): {denial.told}"
    )
    finding = at(one.parts[-1].located, DRIFTS, message, sources=denial.sources, fix=about_end(element.product, queries)[1])
    return finding._replace(level=Severity.ERROR)


def _pin(
    one: InstalledProduct, element: Element, rest: Element, denial: Denial, plan: InstallPlan, queries: ProjectQueries
) -> tuple[str | None, tuple[Edit, ...]]:
    """Return what to pin, and the edit where the whole requirement is a bare name and the stack is known to work."""
    for near in denial.nearest:
        if near.relaxed == (element.product,):
            match = next((e for e in near.stack.packages if e.product == element.product), None)
            fixed = next((e for e in near.stack.packages if e.product == rest.product), None)
            admitted = match is not None and bool(one.allowed.mask >> match.idx & 1) and not match.is_yanked(queries.day)
            text = fitting(one, match, exactly(rest), plan, queries) if match and admitted else None
            if match and text and fixed and fixed.release == rest.release:
                sources = sources_of(plan, one.step, one.requirements[-1].requirement, queries)
                if "+" in text and sources.known and match.channels and sources.channels.isdisjoint(match.channels):
                    option = index_option(plan, one.step, next(iter(match.channels)), queries)
                    return f"write {text} and add {option}" if option else None, ()
                return f"write {text}", edit_of(one, text) if near.stack.level == Certainty.CERTAIN else ()
    return None, ()
