"""Judges what an environment holds as one whole: its conflicts, and the one set of pins that mends all of them."""

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, permutations, product
from types import MappingProxyType

from compatkb.check.project.alternatives import edit_of, fitting, shown
from compatkb.check.project.documented import is_of_other_architecture
from compatkb.check.project.environments import at
from compatkb.check.project.index_contents import cited, demanded, may_have
from compatkb.check.project.indexes import sources_of
from compatkb.check.project.install_plan import InstalledProduct, InstallPlan
from compatkb.check.project.queries import AllowedVersions, Denial, ProjectQueries, exactly
from compatkb.check.project.step_pins import StepPins
from compatkb.check.rules import CheckRule, FileRole, place_of
from compatkb.core.findings import Finding, Severity
from compatkb.core.names import normal, numbers
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Certainty, Role
from compatkb.parsers.statement import RequirementRole
from compatkb.store.records import Element

TOGETHER = CheckRule(
    "pins-together",
    Severity.ERROR,
    "versions that are installed together do not work together",
    off_in=(FileRole.LOCK, FileRole.NOTEBOOK),
)
MOST_TOGETHER = 4
"""More versions at once are too much to explain."""
_MOST_CONFLICTS = 12
_LINUX = ("linux",)
_OF_WINDOWS = ("windows", "nanoserver")
"""What the names of images that are no Linux hold."""
_FROM_ONE = "install them in one command, from one index"
_MOST_NAMED = 3
_MANY = 3
_MOST_NEAR = 40


class Conflict(NamedTuple):
    """Some of what is installed, which does not go together and without any one of it would; the last one moves."""

    members: tuple[InstalledProduct, ...]
    message: str
    level: Severity
    sources: tuple[str, ...]
    demand: str = ""  # what to write where no set is known
    by_index: bool = False  # the releases go together, and the builds that the steps take do not

    @property
    def moves(self) -> InstalledProduct:
        """Return what has to be another version so that the rest may stay."""
        return self.members[-1]

    @property
    def names(self) -> set[str]:
        """Return the products."""
        return {one.allowed.product for one in self.members}


class PinSet(NamedTuple):
    """What to write in an environment so that it works: pins, and what stays as it is."""

    pins: tuple[tuple[InstalledProduct, str], ...]
    stays: str
    is_certain: bool
    leaves: str | None = None  # what is discontinued and has nothing that fits


def judge(plan: InstallPlan, final: list[InstalledProduct], queries: ProjectQueries) -> list[Finding]:
    """Return a finding for each part of an environment that does not go together, with what mends it."""
    conflicts = _conflicts(plan, final, queries)
    findings = []
    while conflicts:
        group, conflicts = [conflicts[0]], conflicts[1:]
        while near := [one for one in conflicts if any(one.names & other.names for other in group)]:
            group += near
            conflicts = [one for one in conflicts if one not in near]
        findings.append(_finding(group, plan, queries))
    return findings


def unlisted(plan: InstallPlan, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield exact pins that the data do not list, where the metadata of another exact pin of the step admit none such."""
    exact = [one for one in plan.final.values() if one.allowed.exact and one.requirements and not one.is_at_address]
    for one, other in permutations((one for one in exact if one.tool != "conda" and plan.resolves(one.step)), 2):
        product, version = one.requirements[-1].product, one.allowed.text.removeprefix("==").partition("+")[0]
        if one.allowed.mask or not other.allowed.mask or one.step != other.step or "," in version:
            continue
        from compatkb.core.versions import Scheme, admits

        builds = [e for e in queries.elements(other.allowed.product, other.allowed.mask) if e.installable]
        specs = [queries.metadata_bound(e, product.id) for e in builds]
        if not specs or any(spec is None or admits(Scheme(product.scheme), spec, version) for spec in specs):
            continue
        if queries.lookups.covered(product, version, queries.lists_until) is not None:
            continue  # told as a version that never was
        message = (
            f"{product.name} {version} does not work with {shown(other, queries)} ({where(other, one)}): "
            f"{shown(other, queries)} needs {product.id} {(specs[0] or '').removeprefix('==')}, not {version} (stated)"
        )
        fix = f"write {one.requirements[-1].requirement.name}{specs[0]}"
        yield at(one.parts[-1].located, TOGETHER, message, sources=cited(queries, builds[-1]), fix=fix)


def _finding(group: list[Conflict], plan: InstallPlan, queries: ProjectQueries) -> Finding:
    """Return what is wrong with some products, at what has to move, with the set that mends it, and edits if that is here."""
    members = {one.allowed.product: plan.final[one.allowed.product] for conflict in group for one in conflict.members}
    moving = {conflict.moves.allowed.product for conflict in group}
    pins = None if group[0].by_index else _set_of(members, moving, plan, queries)
    others = members.keys() - moving - {route.provider for route in queries.facts.routes}
    if len(others) == 1 and not group[0].by_index and (pins is None or _is_far(pins)):
        other = _set_of(members, others, plan, queries)
        pins = other if other and not other.leaves and (pins is None or not _is_far(other)) else pins
    shared = {name for name in members if all(name in one.names for one in group)}
    if len(group) >= _MANY and shared - moving and not group[0].by_index:  # that one was moved alone
        other = _set_of(members, shared - moving, plan, queries)
        pins = other if other and not (other.leaves or _is_far(other)) else pins
    first = next((one for one in group if one.level is Severity.ERROR), group[0])
    told = [first, *(one for one in group if one is not first)]
    more = f"; and {len(told) - _MOST_NAMED} more" if len(told) > _MOST_NAMED else ""
    message = "; ".join(one.message for one in told[:_MOST_NAMED]) + more
    sources = tuple(source for one in told for source in one.sources)
    finding = at(first.moves.parts[-1].located, TOGETHER, message, sources=sources, fix=first.demand or None)
    finding = finding if first.level is Severity.ERROR else finding._replace(level=first.level)
    return _mended(finding, pins, queries) if pins else finding


def _is_far(pins: PinSet) -> bool:
    """Return whether a set has another first number of an exact pin, with which code often has to change."""
    return any(
        one.allowed.exact and numbers(one.allowed.text.removeprefix("=="))[:1] != numbers(text.partition("==")[2])[:1]
        for one, text in pins.pins
    )


def _order(one: InstalledProduct, queries: ProjectQueries) -> tuple[object, ...]:
    """Return the order in which products stay: what an image holds, what goes on being made, by rank."""
    return one.step >= 0, queries.is_decided(one.allowed.product), queries.facts.ranks[one.allowed.product]


def _conflicts(plan: InstallPlan, final: list[InstalledProduct], queries: ProjectQueries) -> list[Conflict]:
    """Return conflicts of an environment until what is left of it goes together.

    The environment is one question to the engine. While nothing holds all of it, a part is sought of which nothing can be
    left out, and the last of that moves out of the way.
    """
    whole = {one.allowed.product: one.allowed for one in final}
    final = _on_their_indexes(plan, final, queries)
    pinned = sorted((one for one in final if one.allowed.text), key=lambda one: _order(one, queries))
    left = pinned
    if queries.refused([one.allowed for one in final], plan.pythons, plan.systems):
        left = [one for one in pinned if not queries.denial([one.allowed], plan.pythons, plan.systems)]  # told alone
    conflicts: list[Conflict] = []
    while left and len(conflicts) < _MOST_CONFLICTS:
        if not queries.refused([one.allowed for one in left], plan.pythons, plan.systems):
            break
        few = _least(left, plan, queries)
        left = [one for one in left if one is not few[-1]]
        if conflict := _conflict(few, whole, plan, queries):
            conflicts.append(conflict)
    told = [conflict.names for conflict in conflicts]
    for one, other in combinations(pinned, 2):
        for part, beside in ((one, other), (other, one)) if {one.allowed.product, other.allowed.product} not in told else ():
            denial = _demanded(part, beside, plan, queries)
            pair = (part, beside) if denial and denial.demand else (one, other)
            if denial and (conflict := _denied(*pair, denial, plan, queries)):
                conflicts.append(conflict)
                break
    told = [conflict.names for conflict in conflicts]
    conflicts += [one for one in _of_steps(plan, pinned, whole, queries) if one.names not in told]
    return conflicts


def _of_steps(
    plan: InstallPlan, pinned: list[InstalledProduct], whole: dict[str, AllowedVersions], queries: ProjectQueries
) -> Iterator[Conflict]:
    """Yield pins that go together, and of which steps of an image on Linux take builds that do not, each from its index."""
    images = [image.text.lower() for _, image in plan.environment.images]
    if plan.systems or not images or any(word in text for text in images for word in _OF_WINDOWS):
        return
    plain = [one for one in pinned if one.allowed.exact and one.step >= 0 and "+" not in whole[one.allowed.product].text]
    for one, other in combinations(plain, 2):
        parts = [one.allowed, other.allowed]
        if one.step == other.step or parts == (every := [whole[part.product] for part in parts]):
            continue
        denial = queries.denial(parts, plan.pythons, _LINUX)
        if denial and denial.is_claimed and not queries.refused(every, plan.pythons, _LINUX):
            first, last = sorted((one, other), key=lambda part: part.step)
            if conflict := _denied(first, last, denial, plan, queries):
                yield conflict._replace(demand=_FROM_ONE, by_index=True)


def _least(left: list[InstalledProduct], plan: InstallPlan, queries: ProjectQueries) -> list[InstalledProduct]:
    """Return some of what does not go together of which none can be left out: of several those of the first rank.

    What has ended rather than others: it goes with one series alone.
    """

    def order(one: InstalledProduct) -> tuple[object, ...]:
        return queries.is_decided(one.allowed.product), -queries.facts.ranks[one.allowed.product]

    few = list(left)
    for one in sorted(left, key=order):
        rest = [other for other in few if other is not one]
        if queries.refused([other.allowed for other in rest], plan.pythons, plan.systems):
            few = rest
    return few


def _conflict(
    few: list[InstalledProduct], whole: dict[str, AllowedVersions], plan: InstallPlan, queries: ProjectQueries
) -> Conflict | None:
    """Return why some products do not go together, None where that is told otherwise, or not known well enough."""
    if len(few) > MOST_TOGETHER or all(one.step < 0 for one in few):
        return None
    every = [whole[one.allowed.product] for one in few]
    is_pair = len(few) == 2
    if is_pair and _fits_for_others(few[0], few[1], queries):
        return None
    if not queries.denial(every, plan.pythons, plan.systems):
        return None  # other builds of these releases go together, which the indexes asked lack
    denial = queries.denial([one.allowed for one in few], plan.pythons, plan.systems)
    if denial is None or not (denial.is_claimed or (is_pair and denial.of_device)):
        return None
    if is_pair:
        return _denied(few[0], few[1], denial, plan, queries)
    names = ", ".join(shown(one, queries) for one in few)
    message = f"{names} do not go together: {denial.told}"
    return Conflict(tuple(few), message, Severity.WARNING, denial.sources)


def _demanded(one: InstalledProduct, other: InstalledProduct, plan: InstallPlan, queries: ProjectQueries) -> Denial | None:
    """Return why an installer refuses two exact pins of a step, by the metadata of the first, for whatever device they are."""
    parts = (one, other)
    if one.step != other.step or not all(part.allowed.exact and part.requirements for part in parts):
        return None
    roles = {required.requirement.role for part in parts for required in part.requirements}
    if RequirementRole.LOCKED in roles or any(part.tool == "conda" or part.is_at_address for part in parts):
        return None
    if is_of_other_architecture(plan.environment.document.text, queries.facts):
        return None  # its wheels may demand less than those of the usual one, which the index was read for
    denial = demanded(one.allowed, other.allowed, plan.pythons, plan.systems, queries)
    if denial is None or plan.asks_unknown(queries) or not plan.resolves(one.step):
        return None
    asked = sources_of(plan, one.step, one.requirements[-1].requirement, queries)
    builds = queries.elements(one.allowed.product, one.allowed.mask)
    has_other = any(may_have(channel, builds, queries) for channel in asked.extra)  # a build that the data lack may go before
    return None if has_other else denial


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
        if not sources.known or not (allowed.mask or "+" in one.allowed.text):
            return final
        narrowed.append(one._replace(allowed=allowed) if allowed.mask else one)  # a build that is named comes from elsewhere
    return narrowed


def _denied(
    stays: InstalledProduct, moves: InstalledProduct, denial: Denial, plan: InstallPlan, queries: ProjectQueries
) -> Conflict | None:
    """Return a conflict of two products, named from what moves, with where the other stands; if not certain, of few files."""
    first, last = sorted((stays, moves), key=lambda part: (part.step >= 0, part.step))
    message = f"{shown(moves, queries)} does not work with {shown(stays, queries)} ({where(stays, moves)}): {denial.told}"
    later = 0 <= first.step < last.step
    known = queries.facts.products
    if _may_be_built_alike(stays, moves, plan, queries) or _may_be_built_alike(moves, stays, plan, queries):
        return None
    if later and known[last.allowed.product].role == Role.LEAF:
        return None  # the installer says so, and goes on
    builds = queries.elements(last.allowed.product, last.allowed.mask)
    requires = later and any(queries.demand(build, first.allowed) for build in builds)
    if replaced := requires and plan.resolves(last.step):
        message += "; installers replace what was there"
    imports = {known[part.allowed.product].import_name for part in (first, last)}
    overwrites = len(imports) == 1 and imports != {None}  # one overwrites the other, and is imported for it
    is_exact_pair = all(part.allowed.exact and not part.is_at_address for part in (first, last))
    asked = [w for part in (first, last) for w in part.requirements]
    is_asked = any(w.requirement.role is not RequirementRole.CONSTRAINT for w in last.requirements)
    is_fixed = is_asked and not any(origin.located.statement.derived for part in (first, last) for origin in part.parts)
    if overwrites and not is_exact_pair:
        return None  # ranges that admit both of them everywhere are meant so
    between = denial.products - {first.allowed.product, last.allowed.product}
    allowed = [part.allowed for part in (first, last)]
    is_clash = is_exact_pair and queries.has_clash(
        build for one in allowed for build in queries.elements(one.product, one.mask)
    )
    is_stopped = (denial.stops or is_clash) and not any(
        known[third].role == Role.PACKAGE for third in between if third in known
    )
    is_doubtful = denial.basis == "inferred" or denial.of_device or overwrites or replaced
    is_bounded = all(part.allowed.text and not part.is_at_address for part in (first, last))
    is_whole = denial.by_metadata or _part_by_series(first, last, queries)
    is_certain = (is_exact_pair or (is_bounded and is_whole)) and is_stopped and not is_doubtful
    if not is_certain and not all(place_of(w.document.path) is FileRole.INSTALLED for w in asked[-1:]):
        return None
    is_refused = denial.at_import or is_clash or (first.step == last.step and plan.resolves(last.step))
    level = Severity.ERROR if is_certain and is_fixed and is_refused else Severity.WARNING
    return Conflict((stays, moves), message, level, denial.sources, denial.demand)


def _part_by_series(one: InstalledProduct, other: InstalledProduct, queries: ProjectQueries) -> bool:
    """Return whether nothing of the series of two packages of conda goes together: its builds are compiled for one series."""
    if one.tool != "conda" or other.tool != "conda" or one.step != other.step:
        return False
    every = []
    for part in (one.allowed, other.allowed):
        builds = queries.elements(part.product, part.mask)
        series = {tuple(numbers(e.release)[:2]) for e in builds}
        alike = (e for e in queries.facts.elements(part.product) if tuple(numbers(e.release)[:2]) in series)
        every.append(part._replace(mask=sum(1 << e.idx for e in alike), exact=False))
    return queries.denial(every) is not None


def _fits_for_others(one: InstalledProduct, other: InstalledProduct, queries: ProjectQueries) -> bool:
    """Return whether builds of both for devices that the engine leaves aside go together, as far as anything is said."""
    builds = ([e for e in queries.elements(part.allowed.product, part.allowed.mask) if e.foreign] for part in (one, other))
    return any(
        not (queries.excluded(a, b.product) >> b.idx & 1 or queries.excluded(b, a.product) >> a.idx & 1)
        for a, b in product(*builds)
    )


def _may_be_built_alike(one: InstalledProduct, other: InstalledProduct, plan: InstallPlan, queries: ProjectQueries) -> bool:
    """Return whether a pin without a label may bring a build like one with a label: an index of that is asked, or any."""
    public, _, label = other.allowed.text.partition("+")
    if not label or "+" in one.allowed.text or not one.requirements:
        return False
    asked = sources_of(plan, one.step, one.requirements[-1].requirement, queries)
    every = queries.allowed(queries.facts.products[other.allowed.product], [public])
    is_served = not asked.known or any(queries.addresses[c][0].rstrip("/").endswith(f"/{label}") for c in asked.channels)
    return is_served and every is not None and not queries.refused([every, one.allowed])


def where(first: InstalledProduct, last: InstalledProduct) -> str:
    """Return where one product is asked for, as a message at another one names it."""
    part = next((part for part in reversed(first.parts) if "==" in part.text), first.parts[-1])  # what pins it
    if part.inside:
        return f"in {part.inside}"
    place = f"line {part.located.statement.place.line}"
    return place if part.located.document is last.parts[-1].located.document else f"{part.located.document.path}, {place}"


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


def _set_of(
    members: dict[str, InstalledProduct], moving: set[str], plan: InstallPlan, queries: ProjectQueries
) -> PinSet | None:
    """Return the pins that make an environment work: what moves takes the nearest builds that go with the rest.

    They are of the indexes that are asked, and the engine knows them to go with all else; None where there are none.
    """
    stays = [one for product, one in members.items() if product not in moving]
    moves = sorted((members[product] for product in moving), key=lambda one: _order(one, queries))
    whole = [one.allowed for one in plan.final.values() if one.allowed.mask and one.allowed.product not in members]
    is_whole = not queries.refused([*whole, *(one.allowed for one in stays)], plan.pythons, plan.systems)
    if not is_whole:  # as much of it as goes together
        rest, whole = sorted(plan.final.values(), key=lambda one: _order(one, queries)), []
        for one in rest:
            is_beside = one.allowed.mask and one.allowed.product not in members
            together = [*whole, one.allowed, *(each.allowed for each in stays)]
            if is_beside and not queries.refused(together, plan.pythons, plan.systems):
                whole.append(one.allowed)
    if any(not one.requirements or one.is_at_address or one.tool == "conda" for one in moves):
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
    beside = (one for one in plan.final.values() if one.allowed.product not in (*new, *members, leaves))
    left = [one.allowed for one in beside if one.allowed.mask]  # also what went with nothing when its own partner moved
    left = [one for one in left if not queries.refused([one], plan.pythons, plan.systems)]  # refused alone is told there
    if any(queries.denial([one, exactly(build)], plan.pythons, plan.systems) for one in left for build in new.values()):
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
    first = next((part for part in sorted(stays, key=lambda one: _order(one, queries)) if part.allowed.text), None)
    is_certain = is_whole and _level([*kept, *map(exactly, new.values())], plan, queries) == Certainty.CERTAIN
    return PinSet(tuple(texts), shown(first, queries) if first else "", is_certain, leaves) if texts or leaves else None


def replacement(plan: InstallPlan, one: InstalledProduct, among: Callable[[str], int], queries: ProjectQueries) -> list[str]:
    """Return the pins that take a product to a build, the nearest newer one if there is one, with what has to follow.

    They are some of those that `among` returns for a product.

    Empty where the engine knows of no such builds that go with the rest of the environment.
    """
    movable = _movable(one, plan, queries)
    movable = movable._replace(mask=movable.mask & among(one.allowed.product))
    beside = [other for other in plan.final.values() if other is not one and other.allowed.mask]
    following = [o for o in beside if o.allowed.text and queries.refused([o.allowed, movable], plan.pythons, plan.systems)]
    moves = [one, *following]
    if not movable.mask or any(not part.requirements or part.is_at_address or part.tool == "conda" for part in moves):
        return []
    kept = [other.allowed for other in beside if other not in following]
    others = ((o.allowed.product, _movable(o, plan, queries)) for o in following)
    only = {product: allowed._replace(mask=allowed.mask & among(product)) for product, allowed in others}
    new = _moved(moves, kept, plan, queries, {**only, one.allowed.product: movable})
    if new is None or queries.refused([*kept, *map(exactly, new.values())], plan.pythons, plan.systems):
        return []
    first = exactly(new[one.allowed.product])
    texts = [fitting(part, new[part.allowed.product], first, plan, queries) for part in moves]
    return [text for text in texts if text] if all(texts) else []


def moved_alone(one: InstalledProduct, among: int, plan: InstallPlan, queries: ProjectQueries) -> str | None:
    """Return the pin of some builds to which a product can move by itself, so that no more is refused than before."""
    movable = _movable(one, plan, queries)
    movable = movable._replace(mask=movable.mask & among)
    if not movable.mask or one.is_at_address or one.tool == "conda":
        return None
    kept: list[AllowedVersions] = []
    for other in sorted(plan.final.values(), key=lambda each: _order(each, queries)):
        if other is one or not other.allowed.mask or queries.refused([*kept, other.allowed], plan.pythons, plan.systems):
            continue
        if not queries.refused([*kept, other.allowed, movable], plan.pythons, plan.systems):
            kept.append(other.allowed)
        elif not queries.refused([*kept, other.allowed, one.allowed], plan.pythons, plan.systems):
            return None
    near = (e for e in queries.elements(one.allowed.product, movable.mask) if not queries.refused([*kept, exactly(e)]))
    only = {one.allowed.product: movable._replace(mask=sum(1 << e.idx for e in near))}
    new = _moved([one], kept, plan, queries, only) or _moved([one], [], plan, queries, only)  # nothing supports the rest
    return fitting(one, new[one.allowed.product], (kept or [movable])[-1], plan, queries) if new else None


def _has_any(one: InstalledProduct, kept: list[AllowedVersions], plan: InstallPlan, queries: ProjectQueries) -> bool:
    """Return whether a product has anything that fits beside what is kept."""
    movable = _movable(one, plan, queries)
    return bool(movable.mask) and queries.best([*kept, movable], plan.pythons, plan.systems) is not None


def _moved(
    moves: list[InstalledProduct],
    kept: list[AllowedVersions],
    plan: InstallPlan,
    queries: ProjectQueries,
    only: Mapping[str, AllowedVersions] = MappingProxyType({}),
) -> dict[str, Element] | None:
    """Return the builds that products move to, each as near to its pin as the others let it be; None where there are none."""
    open_ = {one.allowed.product: _movable(one, plan, queries) for one in moves}
    open_.update(only)
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
        pinned, name = StepPins(plan, one.step, queries), normal(queries.facts.products[product].distribution or product)
        near = (e for e in above[:_MOST_NEAR] if not queries.refused([*rest, exactly(e)], plan.pythons, plan.systems))
        near = (e for e in near if pinned.admits(name, e.release))
        best = next((e for e in stack.packages if e.product == product and pinned.admits(name, e.release)), None)
        fitting_ = (e for e in near if _level([*rest, exactly(e)], plan, queries) <= stack.level)
        nearest = next(fitting_, best)
        if nearest is None:
            return None
        new[product] = nearest
    return new


def _level(constraints: list[AllowedVersions], plan: InstallPlan, queries: ProjectQueries) -> int:
    stack = queries.best(constraints, plan.pythons, plan.systems)
    return stack.level if stack else Certainty.UNKNOWN


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
