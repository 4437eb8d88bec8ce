"""Rules about packages together: pairs that do not work, what drifts apart, what a later step replaces."""

from collections.abc import Iterator
from itertools import combinations

from compatkb.check.project.install_plan import SETTINGS, Installed, Setting, sources_of
from compatkb.check.project.pins import at, short
from compatkb.check.project.queries import Denial, Held, Judge, is_exact
from compatkb.check.rules import Rule
from compatkb.core.findings import Edit, Finding, Severity
from compatkb.core.vocabulary import Certainty, Role
from compatkb.parsers.statement import RequirementRole
from compatkb.store.records import Element

TOGETHER = Rule("pins-together", Severity.ERROR, "versions that are installed together do not work together")
CONTRADICT = Rule("pins-contradict", Severity.ERROR, "requirements of one step leave no version of a package")
DRIFTS = Rule("pin-drifts", Severity.ERROR, "what installers choose today does not go with what is pinned")
LOOSE = Rule(
    "pin-missing", Severity.WARNING, "a package that has to match a pinned one is not pinned, and metadata do not tie it"
)
REPLACES = Rule("step-replaces", Severity.WARNING, "a later step replaces what an earlier one has installed")
MOST_TOGETHER = 4
"""More versions at once are too much to explain."""


@SETTINGS.rule(TOGETHER, CONTRADICT, DRIFTS, LOOSE, REPLACES)
def check(setting: Setting, judge: Judge) -> Iterator[Finding]:
    """Yield what is wrong with the packages of an environment together."""
    for installed, wish in setting.empty:
        texts = " and ".join(dict.fromkeys(part.text for part in installed.parts))
        yield at(wish.said, CONTRADICT, f"no version of {wish.product.name} is admitted by {texts}, which one step asks for")
    for before, after in setting.replaced:
        yield from _replaced(before, after, judge)
    final = [one for one in setting.final.values() if one.hold.mask and not _pinned_by_metadata(one, judge)]
    if len(final) < 2:
        return
    denied = list(_together(setting, final, judge))
    yield from denied
    if not denied and not any(one.wishes and one.wishes[0].requirement.role is RequirementRole.LOCKED for one in final):
        yield from _drifting(setting, final, judge)


def _pinned_by_metadata(one: Installed, judge: Judge) -> bool:
    """Return whether a lock names a runtime that only the metadata of others pin: whoever locked it has honoured those."""
    leaf = judge.facts.products[one.hold.product].role == Role.LEAF
    return leaf and bool(one.wishes) and one.wishes[0].requirement.role is RequirementRole.LOCKED


def _replaced(before: Installed, after: Installed, judge: Judge) -> Iterator[Finding]:
    """Yield what was installed on purpose and is gone after a later step."""
    if before.step < 0 or not before.hold.exact or not after.parts:
        return
    product = judge.facts.products[after.hold.product]
    old = before.parts[-1]
    line = f"line {old.said.statement.place.line}" + (
        f" of {old.said.document.path}" if old.said.document is not after.parts[-1].said.document else ""
    )
    message = f"this replaces {product.name} {before.hold.text.removeprefix('==')}, which {line} has installed before"
    yield at(after.parts[-1].said, REPLACES, message, fix="install it in one step, or with the same version in both")


def _together(setting: Setting, final: list[Installed], judge: Judge) -> Iterator[Finding]:
    whole = {one.hold.product: one.hold for one in final}
    final = _on_their_indexes(setting, final, judge)
    holds = [one.hold for one in final]
    if not judge.refused(holds, setting.pythons, setting.systems):
        return
    pinned = [one for one in final if one.hold.text]
    singles = {one.hold.product for one in pinned if judge.denial([one.hold], setting.pythons, setting.systems)}
    found = False
    told: set[int] = set()
    for one, other in combinations(pinned, 2):
        inside = one.step < 0 or other.step < 0
        if {one.hold.product, other.hold.product} & singles or (one.step < 0 and other.step < 0):
            continue
        denial = judge.denial([one.hold, other.hold])
        if not denial:
            continue
        found = True
        if _for_other_devices(one, other, judge) and not judge.denial([whole[one.hold.product], whole[other.hold.product]]):
            continue  # told as a build for another device
        mine = id(one if other.step < 0 else other)
        if not (inside and mine in told):  # of an image one contradiction is enough
            yield _denied(one, other, denial, judge)
        if inside:
            told.add(mine)
    if found or singles:
        return
    few = _least(pinned, setting, judge)
    if len(few) > MOST_TOGETHER or all(one.step < 0 for one in few):
        return
    denial = judge.denial([one.hold for one in few], setting.pythons, setting.systems)
    if denial:
        last = max(
            (one for one in few if one.step >= 0), key=lambda one: (one.parts[-1].step, one.parts[-1].said.statement.place)
        )
        names = ", ".join(_told(one, judge) for one in few)
        message = f"{names} do not go together: {short(denial.said)} ({denial.basis})"
        yield at(last.parts[-1].said, TOGETHER, message, sources=denial.sources)


def _least(pinned: list[Installed], setting: Setting, judge: Judge) -> list[Installed]:
    """Return some of what is pinned, of which none can be left out: without it the rest goes together."""
    few = list(pinned)
    for one in pinned:
        rest = [other for other in few if other is not one]
        if rest and judge.refused([other.hold for other in rest], setting.pythons, setting.systems):
            few = rest
    return few


def _for_other_devices(one: Installed, other: Installed, judge: Judge) -> bool:
    mine, theirs = ({d for e in judge.elements(x.hold.product, x.hold.mask) for d in e.devices} for x in (one, other))
    return bool(mine and theirs) and not mine & theirs


def _on_their_indexes(setting: Setting, final: list[Installed], judge: Judge) -> list[Installed]:
    """Return what is installed without the builds that none of the indexes has, where all indexes are known."""
    if setting.environment.borrowed or setting.environment.missing:
        return final
    found = []
    for one in final:
        if one.step < 0 or one.tool == "conda" or not one.wishes or any(wish.requirement.url for wish in one.wishes):
            return final
        sources = sources_of(setting, one.step, one.wishes[-1].requirement, judge)
        leaf = judge.facts.products[one.hold.product].role == Role.LEAF
        hold = one.hold if leaf else judge.narrowed(one.hold, sources.channels)
        if not sources.known or not hold.mask:
            return final
        found.append(one._replace(hold=hold))
    return found


def _denied(one: Installed, other: Installed, denial: Denial, judge: Judge) -> Finding:
    """Return a finding at the statement that came last, naming where the other one stands."""
    first, last = sorted(
        (one, other), key=lambda part: (part.step >= 0, part.parts[-1].step, part.parts[-1].said.statement.place)
    )
    where = _where(first, last)
    message = f"{_told(last, judge)} does not work with {_told(first, judge)} ({where}): {short(denial.said)} ({denial.basis})"
    return at(last.parts[-1].said, TOGETHER, message, sources=denial.sources, fix=_way(last, first, denial, judge))


def _where(first: Installed, last: Installed) -> str:
    part = first.parts[-1]
    if part.inside:
        return f"in {part.inside}"
    place = f"line {part.said.statement.place.line}"
    return place if part.said.document is last.parts[-1].said.document else f"{part.said.document.path}, {place}"


def _told(one: Installed, judge: Judge) -> str:
    name = judge.facts.products[one.hold.product].name
    return f"{name} {one.hold.text.removeprefix('==')}".strip()


def _way(last: Installed, first: Installed, denial: Denial, judge: Judge) -> str | None:
    """Return what to write instead, from the nearest stacks that keep one of the two."""
    told = []
    for kept, moved in ((first, last), (last, first)):
        for near in denial.nearest:
            if near.relaxed != (moved.hold.product,):
                continue
            match = next((e for e in near.stack.packages if e.product == moved.hold.product), None)
            if match:
                told.append(f"{_requirement(match, judge)} with {_told(kept, judge)}")
                break
    return "; or ".join(told) or None


def _requirement(element: Element, judge: Judge) -> str:
    name = judge.facts.distribution(element.product, element.version) or element.product
    return f"{name}=={element.version}"


def _drifting(setting: Setting, final: list[Installed], judge: Judge) -> Iterator[Finding]:
    """Yield what an installer chooses today that does not go with the rest, though something in the range would."""
    chosen: dict[str, Element] = {}
    for one in final:
        if one.step < 0 or one.tool == "conda" or not one.wishes:
            continue
        sources = sources_of(setting, one.step, one.wishes[-1].requirement, judge)
        if not sources.known:
            return
        beside = [o.hold for o in final if o.step == one.step and judge.facts.products[o.hold.product].role != Role.LEAF]
        element = judge.taken(one.hold, sources.channels, beside)
        if element is not None:
            chosen[one.hold.product] = element
    loose = [one for one in final if one.hold.product in chosen and not is_exact(one.hold.text)]
    for one in loose:
        yield from _drifts(one, final, chosen, judge)


def _drifts(one: Installed, final: list[Installed], chosen: dict[str, Element], judge: Judge) -> Iterator[Finding]:
    mine = _exactly(chosen[one.hold.product])
    for other in final:
        if other is one or other.hold.product not in chosen or judge.facts.products[other.hold.product].role == Role.LEAF:
            continue
        theirs = _exactly(chosen[other.hold.product])
        element, rest = chosen[one.hold.product], chosen[other.hold.product]
        if not (judge.excluded(element, rest.product) or judge.excluded(rest, element.product)):
            continue
        both_loose = not is_exact(other.hold.text)
        denial = judge.denial([mine, theirs])
        if denial and not (both_loose and one.parts[-1].said.statement.place < other.parts[-1].said.statement.place):
            name, beside = (judge.facts.products[e.product].name for e in (element, rest))
            message = (
                f"installers take {name} {element.version} here, which does not go with {beside} {rest.version} "
                f"({_where(other, one)}): {short(denial.said)} ({denial.basis})"
            )
            fix, edits = _pin(one, element, rest, denial, judge)
            yield at(one.parts[-1].said, DRIFTS, message, sources=denial.sources, fix=fix, edits=edits)
            return
        declared = judge.declares(element, rest.product) or judge.declares(rest, element.product)
        loose = not one.hold.text and not both_loose and element.product not in judge.ended
        newer = judge.excluded(element, rest.product) >> rest.idx + 1  # it goes with its own series alone
        if not denial and not declared and loose and newer:
            message = (
                f"{judge.facts.products[element.product].name} is not pinned, and its metadata do not tie it to "
                f"{_told(other, judge)}; the current latest, {element.version}, is compatible; a later release may not be"
            )
            yield at(one.parts[-1].said, LOOSE, message, fix=f"write {_requirement(element, judge)}")
            return


def _exactly(element: Element) -> Held:
    return Held(element.product, f"=={element.version}", 1 << element.idx, exact=True)


def _pin(one: Installed, element: Element, rest: Element, denial: Denial, judge: Judge) -> tuple[str | None, tuple[Edit, ...]]:
    """Return what to pin, and the edit where the whole requirement is a bare name and the stack is known to work."""
    for near in denial.nearest:
        if near.relaxed == (element.product,):
            match = next((e for e in near.stack.packages if e.product == element.product), None)
            kept = next((e for e in near.stack.packages if e.product == rest.product), None)
            if match and kept and kept.release == rest.release:
                text = _requirement(match, judge)
                return f"write {text}", _edit(one, text) if near.stack.level == Certainty.CERTAIN else ()
    return None, ()


def _edit(one: Installed, text: str) -> tuple[Edit, ...]:
    said = one.parts[-1].said
    wish = one.wishes[-1]
    start = said.document.offset(*said.statement.place)
    written = said.statement.text
    plain = written.replace("_", "-").lower() == wish.requirement.name and not said.statement.derived and "+" not in text
    if plain and wish.requirement.role is RequirementRole.INSTALL and said.document.text.startswith(written, start):
        return (Edit(start + len(written), start + len(written), f"=={text.partition('==')[2]}"),)
    return ()
