"""Rules on combinations of packages: pairs that do not work, versions that drift apart, what a later step replaces."""

from collections.abc import Iterator
from itertools import combinations

from compatkb.check.project.alternatives import Conflicting, edit_of, fitting, mended_together, shown
from compatkb.check.project.documented import is_of_other_architecture
from compatkb.check.project.indexes import sources_of
from compatkb.check.project.install_plan import SETTINGS, InstalledProduct, InstallPlan, supported_pythons
from compatkb.check.project.listed import demanded, may_have
from compatkb.check.project.pins import about_end, at, short
from compatkb.check.project.queries import ANY_PYTHON, Denial, ProjectQueries, Pythons, exactly, is_exact
from compatkb.check.rules import CheckRule, FileRole, place_of
from compatkb.core.findings import Edit, Finding, Severity
from compatkb.core.vocabulary import Certainty, Role
from compatkb.parsers.statement import RequirementRole
from compatkb.store.records import Element

TOGETHER = CheckRule(
    "pins-together",
    Severity.ERROR,
    "versions that are installed together do not work together",
    off_in=(FileRole.LOCK, FileRole.NOTEBOOK),
)
CONTRADICT = CheckRule(
    "pins-contradict", Severity.ERROR, "requirements of one step leave no version of a package", off_in=(FileRole.NOTEBOOK,)
)
DRIFTS = CheckRule(
    "pin-drifts", Severity.WARNING, "what installers choose today does not go with what is pinned", off_in=(FileRole.NOTEBOOK,)
)
RULES = (TOGETHER, CONTRADICT, DRIFTS)
MOST_TOGETHER = 4
"""More versions at once are too much to explain."""


@SETTINGS.rule(TOGETHER, CONTRADICT, DRIFTS)
def check(plan: InstallPlan, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield what is wrong with the packages of an environment together."""
    for installed, required in plan.empty:
        texts = " and ".join(_with_place(installed, required.located.document.path))
        message = f"no version of {required.product.name} is admitted by {texts}, which one step asks for"
        yield at(required.located, CONTRADICT, message)
    final = [one for one in plan.final.values() if one.allowed.mask and not _pinned_by_metadata(one, queries)]
    if len(final) < 2:
        return
    denied = list(_together(plan, final, queries))
    yield from mended_together(denied, plan, queries)
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


def _together(plan: InstallPlan, final: list[InstalledProduct], queries: ProjectQueries) -> Iterator[Conflicting]:
    whole = {one.allowed.product: one.allowed for one in final}
    final = _on_their_indexes(plan, final, queries)
    constraints = [one.allowed for one in final]
    refused = queries.refused(constraints, plan.pythons, plan.systems)
    pinned = [one for one in final if one.allowed.text]
    singles = {one.allowed.product for one in pinned if refused and queries.denial([one.allowed], plan.pythons, plan.systems)}
    any_denied = False
    reported: set[str] = set()
    reasons: set[tuple[str, str]] = set()  # of what goes with one and not with the other, the first is named
    denied: set[frozenset[str]] = set()  # pairs that are told
    for one, other in combinations(sorted(pinned, key=lambda one: queries.facts.ranks[one.allowed.product]), 2):
        inside = one.step < 0 or other.step < 0
        if one.step < 0 and other.step < 0:
            continue
        asked = refused and not {one.allowed.product, other.allowed.product} & singles
        denial = (asked and queries.denial([one.allowed, other.allowed])) or _demanded(one, other, plan, queries)
        if not denial:
            continue
        any_denied = True
        if not (denial.is_claimed or denial.of_device):
            continue
        pair = {one.allowed.product, other.allowed.product}
        between = denial.products - pair
        if any({frozenset({third, member}) for member in pair} & denied for third in between):
            continue  # one of them does not go with what the other needs, which is told
        both = [whole[one.allowed.product], whole[other.allowed.product]]
        if _for_other_devices(one, other, queries) and not queries.denial(both):
            continue  # told as a build for another device
        own = (one if other.step < 0 else other).allowed
        builds = queries.elements(own.product, own.mask)  # of an image one contradiction is enough, also of what needs it
        again = inside and any(p == own.product or any(queries.requires(b, p) for b in builds) for p in reported)
        same = {(product, denial.reason) for product in (one.allowed.product, other.allowed.product)}
        if not again and not same & reasons:
            denied.add(frozenset(pair))
            yield from (Conflicting(told, (one, other)) for told in _denied(one, other, denial, plan, queries))
        reasons |= same
        if inside:
            reported.add(own.product)
    if any_denied or singles or not refused:
        return
    few = _least(pinned, plan, queries)
    if len(few) > MOST_TOGETHER or all(one.step < 0 for one in few):
        return
    if not queries.refused([whole[one.allowed.product] for one in few], plan.pythons, plan.systems):
        return  # other builds of these releases go together, which the indexes asked lack
    denial = queries.denial([one.allowed for one in few], plan.pythons, plan.systems)
    if denial and denial.is_claimed:
        last = max(few, key=lambda one: (one.parts[-1].step, one.parts[-1].located.statement.place))
        names = ", ".join(shown(one, queries) for one in few)
        message = f"{names} do not go together: {short(denial.reason)} ({denial.basis})"
        finding = at(last.parts[-1].located, TOGETHER, message, sources=denial.sources)
        yield Conflicting(finding._replace(level=Severity.WARNING), tuple(few))


def _demanded(one: InstalledProduct, other: InstalledProduct, plan: InstallPlan, queries: ProjectQueries) -> Denial | None:
    """Return why an installer refuses two exact pins of one step, by the metadata of either, for whatever device they are."""
    parts = (one, other)
    if one.step != other.step or not all(part.allowed.exact and part.requirements for part in parts):
        return None
    roles = {required.requirement.role for part in parts for required in part.requirements}
    if RequirementRole.LOCKED in roles or any(part.tool == "conda" or part.is_at_address for part in parts):
        return None
    if is_of_other_architecture(plan.environment.document.text, queries.facts):
        return None  # its wheels may demand less than those of the usual one, which the index was read for
    for part, beside in (parts, parts[::-1]):
        denial = demanded(part.allowed, beside.allowed, plan.pythons, plan.systems, queries)
        if denial is None or plan.asks_unknown(queries) or not plan.resolves(part.step):
            continue
        asked = sources_of(plan, part.step, part.requirements[-1].requirement, queries)
        builds = queries.elements(part.allowed.product, part.allowed.mask)
        if not any(may_have(channel, builds, queries) for channel in asked.extra):  # a build that the data lack may go before
            return denial
    return None


def _least(pinned: list[InstalledProduct], plan: InstallPlan, queries: ProjectQueries) -> list[InstalledProduct]:
    """Return some of what is pinned, of which none can be left out: without it the rest goes together."""
    few = list(pinned)
    for one in pinned:
        rest = [other for other in few if other is not one]
        if rest and queries.refused([other.allowed for other in rest], plan.pythons, plan.systems):
            few = rest
    return few


def _for_other_devices(one: InstalledProduct, other: InstalledProduct, queries: ProjectQueries) -> bool:
    own, others = ({d for e in queries.elements(x.allowed.product, x.allowed.mask) for d in e.devices} for x in (one, other))
    return bool(own and others) and not own & others


def _on_their_indexes(plan: InstallPlan, final: list[InstalledProduct], queries: ProjectQueries) -> list[InstalledProduct]:
    """Return what is installed without the builds that none of the indexes has, where all indexes are known."""
    if plan.environment.borrowed or plan.environment.missing:
        return final
    narrowed = []
    for one in final:
        is_at_url = any(required.requirement.url for required in one.requirements)
        if one.step < 0 or one.tool == "conda" or not one.requirements or is_at_url:
            return final
        sources = sources_of(plan, one.step, one.requirements[-1].requirement, queries)
        leaf = queries.facts.products[one.allowed.product].role == Role.LEAF
        allowed = one.allowed if leaf else queries.narrowed(one.allowed, sources.channels)
        if not sources.known or not allowed.mask:
            return final
        narrowed.append(one._replace(allowed=allowed))
    return narrowed


def _denied(
    one: InstalledProduct, other: InstalledProduct, denial: Denial, plan: InstallPlan, queries: ProjectQueries
) -> Iterator[Finding]:
    """Yield a finding at the statement that came last, naming where the other stands; if not certain, of few files."""
    first, last = sorted(
        (one, other), key=lambda part: (part.step >= 0, part.parts[-1].step, part.parts[-1].located.statement.place)
    )
    reason = f"({_where(first, last)}): {short(denial.reason)} ({denial.basis})"
    message = f"{shown(last, queries)} does not work with {shown(first, queries)} {reason}"
    located = last.parts[-1].located
    later = 0 <= first.step < last.step
    known = queries.facts.products
    if _may_be_built_alike(one, other, plan, queries) or _may_be_built_alike(other, one, plan, queries):
        return
    if later and known[last.allowed.product].role == Role.LEAF:
        return  # the installer says so, and goes on
    builds = queries.elements(last.allowed.product, last.allowed.mask)
    requires = later and any(queries.requires(build, first.allowed.product) for build in builds)
    if replaced := requires and plan.resolves(last.step):
        message += "; installers replace what was there"
    imports = {known[part.allowed.product].import_name for part in (one, other)}
    overwrites = len(imports) == 1 and imports != {None}  # one overwrites the other, and is imported for it
    is_exact_pair = all(part.allowed.exact and not part.is_at_address for part in (first, last))
    is_asked = any(w.requirement.role is not RequirementRole.CONSTRAINT for w in last.requirements)
    is_fixed = is_asked and not any(origin.located.statement.derived for part in (first, last) for origin in part.parts)
    if overwrites and not is_exact_pair:
        return  # ranges that admit both of them everywhere are meant so
    between = denial.products - {one.allowed.product, other.allowed.product}
    is_stopped = denial.stops and not any(known[third].role == Role.PACKAGE for third in between if third in known)
    is_doubtful = denial.basis == "inferred" or denial.of_device or overwrites or replaced
    is_certain = is_exact_pair and is_stopped and not is_doubtful
    if not is_certain and place_of(located.document.path) is not FileRole.INSTALLED:
        return
    finding = at(located, TOGETHER, message, sources=denial.sources, fix=denial.demand or None)
    is_refused = denial.at_import or (first.step == last.step and plan.resolves(last.step))
    yield finding if is_certain and is_fixed and is_refused else finding._replace(level=Severity.WARNING)


def _may_be_built_alike(one: InstalledProduct, other: InstalledProduct, plan: InstallPlan, queries: ProjectQueries) -> bool:
    """Return whether a pin without a label may bring a build like one with a label: an index of that is asked, or any."""
    public, _, label = other.allowed.text.partition("+")
    if not label or "+" in one.allowed.text or not one.requirements:
        return False
    asked = sources_of(plan, one.step, one.requirements[-1].requirement, queries)
    every = queries.allowed(queries.facts.products[other.allowed.product], [public])
    is_served = not asked.known or any(queries.addresses[c][0].rstrip("/").endswith(f"/{label}") for c in asked.channels)
    return is_served and every is not None and not queries.refused([every, one.allowed])


def _where(first: InstalledProduct, last: InstalledProduct) -> str:
    part = next((part for part in reversed(first.parts) if "==" in part.text), first.parts[-1])  # what pins it
    if part.inside:
        return f"in {part.inside}"
    place = f"line {part.located.statement.place.line}"
    return place if part.located.document is last.parts[-1].located.document else f"{part.located.document.path}, {place}"


def _drifting(plan: InstallPlan, final: list[InstalledProduct], queries: ProjectQueries) -> Iterator[Finding]:
    """Yield what an installer chooses today that does not go with what is pinned exactly, though something in the range would.

    pip takes the newest of all indexes, uv the newest of the first one that has the package. Where a project uses both,
    only what drifts with both counts.
    """
    drifting = _drifting_from(plan, final, queries, _chosen(plan, final, queries, ANY_PYTHON, first_index=False))
    pythons = supported_pythons(plan, [one.allowed for one in final if is_exact(one.allowed.text)], queries)
    for by_first in (False, True)[: 1 + plan.environment.uses_uv]:
        for python in reversed(pythons) if drifting else ():
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
        if not sources.known:
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
    if plan.environment.bounds_others:  # what a package demands of those decides which release of it is taken
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
        if other is one or other.allowed.product not in chosen:
            continue
        if queries.facts.products[other.allowed.product].role == Role.LEAF:
            continue
        if not is_exact(other.allowed.text) and not queries.is_decided(one.allowed.product):
            continue  # what is chosen of both may move
        element, rest = chosen[one.allowed.product], chosen[other.allowed.product]
        other_pin = exactly(rest)
        if not (queries.excluded(element, rest.product) or queries.excluded(rest, element.product)):
            continue
        extras = {extra for required in one.requirements for extra in required.requirement.extras}
        replaces = one.step > other.step and plan.resolves(one.step) and bool(queries.demand(element, other_pin))
        is_seen = queries.requires(element, rest.product) or queries.requires(rest, element.product)
        if rest.product in extras or (is_seen and not replaces):
            continue  # installers see that, and take what goes together
        denial = queries.denial([pin, other_pin])
        if denial:
            name, beside = (queries.facts.products[e.product].name for e in (element, rest))
            message = (
                f"installers take {name} {element.version} here, which does not go with {beside} {rest.version} "
                f"({_where(other, one)}): {short(denial.reason)} ({denial.basis})"
            )
            message += "; it replaces what was there" if replaces else ""
            fix, edits = _pin(one, element, rest, denial, plan, queries)
            fix = fix or about_end(element.product, queries)[1]
            return at(one.parts[-1].located, DRIFTS, message, sources=denial.sources, fix=fix, edits=edits)
    return None


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
            if text and fixed and fixed.release == rest.release:
                return f"write {text}", edit_of(one, text) if near.stack.level == Certainty.CERTAIN else ()
    return None, ()
