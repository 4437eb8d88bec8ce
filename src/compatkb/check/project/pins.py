"""Rules on single packages: published or not, on which index, for which Python and system, yanked, out of support."""

import re
from collections.abc import Iterator

from compatkb.check.lookups import urls
from compatkb.check.project.environments import LocatedStatement, ProductRequirement, ProjectEnvironment, at
from compatkb.check.project.index_contents import cited, has_wheels_alone, lacks_label, may_have, never_built
from compatkb.check.project.indexes import sources_of
from compatkb.check.project.install_plan import (
    ENVIRONMENTS,
    SETTINGS,
    InstalledProduct,
    InstallPlan,
    declared,
    holds,
    systems_of,
)
from compatkb.check.project.queries import AllowedVersions, Denial, ProjectQueries, Pythons, is_exact
from compatkb.check.project.resolution import replacement
from compatkb.check.project.step_pins import release_of
from compatkb.check.rules import ENDED, CheckRule, FileRole, place_of
from compatkb.core.findings import Edit, Finding, Severity
from compatkb.core.names import is_free_threaded, slips
from compatkb.core.platforms import misspelt
from compatkb.core.vocabulary import Kind, Role
from compatkb.parsers.registry import kind_of
from compatkb.parsers.requirement import parse
from compatkb.parsers.statement import MAIN, RequirementRole
from compatkb.request.lookup import has_ended, is_newer, newest_known

UNPUBLISHED = CheckRule("pin-unpublished", Severity.ERROR, "a pinned version is not on the index")
NEWER = CheckRule("pin-newer", Severity.WARNING, "a pinned version is newer than the data, which say nothing of it")
PLATFORM = CheckRule(
    "pin-platform",
    Severity.WARNING,
    "a pinned version has nothing for the Python or system that it is installed on",
    off_in=(FileRole.STEPS, FileRole.PIPELINE, FileRole.NOTEBOOK),
)
YANKED = CheckRule("pin-yanked", Severity.WARNING, "a pinned release is yanked")
OUTLIVED = CheckRule("pin-outlived", Severity.WARNING, "a pinned version has nothing for any Python that is supported today")
GAP = CheckRule("marker-gap", Severity.WARNING, "markers leave out a Python or a system for which a package is asked")
LOST = CheckRule("bound-lost", Severity.WARNING, "a shell takes a bound for a redirection")

_DECLARING = ("pyproject", "setup.cfg", "setup.py")
_RECENT = 365
"""Days in which a Python is so new that most projects do without it."""
NOT_JUDGED = "so it is not judged"
_LABEL = re.compile(r"\+[\w.]+")


@SETTINGS.rule(UNPUBLISHED, NEWER, PLATFORM, OUTLIVED, YANKED, LOST, ENDED)
def check(plan: InstallPlan, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield what is wrong with single requirements of an environment."""
    for required in plan.requirements:
        requirement = required.requirement
        if requirement.group != plan.environment.group:
            continue  # judged where it is stated
        if requirement.lost:
            yield _lost(required, queries)
        allowed = queries.allowed(required.product, [requirement.specifier])
        if requirement.unknown or allowed is None or not requirement.specifier:
            continue
        if not allowed.mask:
            yield from _unpublished(plan, required, queries)
            continue
        is_built = any(e.installable for e in queries.elements(allowed.product, allowed.mask))
        if required.product.role != Role.LEAF and not is_built:
            yield from _not_built(required, allowed, queries)
            continue
        yield from _yanked(plan, required, allowed, queries)
        yield from _ended(required, allowed, queries)
    for installed in plan.final.values():
        yield from list(_platform(plan, installed, queries)) or _system(plan, installed, queries)
        yield from _declared(plan, installed, queries)
        yield from _toolkit(plan, installed, queries)


@ENVIRONMENTS.rule(GAP)
def check_markers(environment: ProjectEnvironment, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield packages that a declared Python goes without, though older and newer get them; markers that name no system."""
    yield from _misspelt(environment)
    admitted = declared(environment, queries).mask
    if not admitted or environment.group != MAIN or environment.reading.kind not in _DECLARING:
        return
    by_product: dict[str, list[ProductRequirement]] = {}
    for required in environment.requirements:
        by_product.setdefault(required.product.id, []).append(required)
    pythons = [e.version for e in queries.elements("python", admitted) if not e.version.endswith("t")]
    for requirements in by_product.values():
        markers = [required.requirement.marker for required in requirements]
        if len(requirements) < 2 or not all(markers) or any(required.requirement.group != MAIN for required in requirements):
            continue
        asked = [any(holds(marker, "linux", "Linux", "posix", python) for marker in markers) for python in pythons]
        if True not in asked:
            continue
        first, last = asked.index(True), len(asked) - 1 - asked[::-1].index(True)
        if gaps := [pythons[n] for n in range(first, last) if not asked[n]]:
            name = requirements[-1].product.name
            message = f"{name} is asked for on Python {pythons[first]} and on {pythons[last]}, and not on {', '.join(gaps)}"
            yield at(requirements[-1].located, GAP, message, fix="let the markers meet")


def _misspelt(environment: ProjectEnvironment) -> Iterator[Finding]:
    """Yield markers that compare with the name of a system in a spelling that no Python gives."""
    asked = [*environment.others, *((w.located, w.requirement) for w in environment.requirements)]
    for located, one in asked:
        if one.group == environment.group and one.marker and (found := misspelt(one.marker)):
            wrong, family, right = found
            message = f"{wrong} {'never' if '==' in wrong else 'always'} holds: Python has {right} on {family}"
            yield at(located, GAP, message, fix=f"write {right}")


def _lost(required: ProductRequirement, queries: ProjectQueries) -> Finding:
    text = required.located.statement.text
    whole = f"{text}{required.requirement.lost}"
    start = required.document.offset(*required.located.statement.place)
    there = required.document.text[start : start + len(whole)]
    plain = required.document.path.endswith((".sh", ".md")) or "ockerfile" in required.document.path
    quoted = _LABEL.sub("", whole)  # which PEP 440 admits beside == alone
    edits = (Edit(start, start + len(whole), f'"{quoted}"'),) if plain and there == whole else ()
    written, reads, read = (required.requirement.lost or "").lstrip(">").partition("<")
    if kind_of(required.document.path) == "batch":
        written = written.lstrip("=")  # which parts words there
    message = (
        f"without quotes the shell reads from a file named {read!r}, and installs nothing where there is none"
        if reads
        else f"without quotes the shell writes into a file named {written!r}, and installs any {text}"
    )
    meant = parse(quoted)
    allowed = meant and queries.allowed(required.product, [meant.specifier])
    if allowed and not allowed.mask:
        return at(required.located, LOST, f"{message}; there is no release that {quoted} admits")
    return at(required.located, LOST, message, fix=f'write "{quoted}" in quotes', edits=edits)


def _unpublished(plan: InstallPlan, required: ProductRequirement, queries: ProjectQueries) -> Iterator[Finding]:
    specifier = required.requirement.specifier
    if required.requirement.url or not is_exact(specifier) or "," in specifier or specifier.startswith("==="):
        return
    if required.requirement.hashed and required.requirement.role is not RequirementRole.LOCKED:
        return  # whoever wrote it had the file
    version = specifier.removeprefix("==").strip()
    product = required.product
    asked = sources_of(plan, required.requirement.step, required.requirement, queries)
    is_final = queries.is_decided(product.id) and "+" not in version  # then no index ever had another one
    is_labelled = "+" in version and bool(queries.lookups.mask(product, version.partition("+")[0]))
    if not asked.known and not is_final and (is_labelled or not asked.named):
        return  # of other indexes the data have no list, of pages of links none of the builds of a release
    if is_newer(queries.facts, product, version):
        if release_of(required.requirement.name, version, queries):
            return  # the index has it, and nobody wrote it down
        known = f"the newest known is {newest_known(queries.facts, product.id)}"
        message = (
            f"{product.name} {version} is newer than these data ({queries.facts.meta['data_date']}), {NOT_JUDGED}; {known}"
        )
        yield at(required.located, NEWER, message, about=required.document.path, brief=f"{product.name} {version}")
        return
    if is_labelled:
        sources = never_built(product.id, version, queries)
    else:
        asked_for = queries.serving(product.id, asked.channels)
        channels = None if is_final or queries.follows(product.id, asked_for - {queries.own}) else asked_for
        sources = queries.lookups.covered(product, version, queries.lists_until, channels)
    if sources is None:
        return
    close = _near(product.id, version, queries, asked.channels)
    is_over = has_ended(product, queries.facts.scopes_of(product.id), version)
    end = queries.facts.product_details(product.id).eol if is_over else None
    whole = f"{product.label} ended {end}" if end else "the list of releases is complete"
    known = "as far as its builds are known" if is_labelled else whole
    message = f"{product.name} {version} is not on the index ({known}); the nearest are {close}"
    finding = at(required.located, UNPUBLISHED, message, sources=sources, fix=f"pin one that exists: {close}")
    was_there = required.requirement.role is RequirementRole.LOCKED  # whoever locked it had it, so it is gone at most
    is_elsewhere = is_labelled and not all(lacks_label(c, product.id, version, queries) for c in asked.channels)
    yield finding._replace(level=Severity.WARNING) if is_elsewhere or was_there else finding


def _not_built(required: ProductRequirement, allowed: AllowedVersions, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield a version of which no index has anything, so that nothing can be installed; installers build an archive."""
    if required.requirement.url or any(e.channels for e in queries.elements(allowed.product, allowed.mask)):
        return
    if denial := queries.denial([allowed]):
        yield at(required.located, UNPUBLISHED, denial.told, sources=denial.sources)


def _near(product: str, version: str, queries: ProjectQueries, asked: frozenset[str]) -> str:
    indexes = frozenset(queries.facts.indexes)
    kept = [e for e in queries.facts.elements(product) if not e.is_yanked(queries.day) and indexes.intersection(e.channels)]
    there = [e for e in kept if asked.intersection(e.channels)] or kept
    there = [e for e in there if e.certain] or there
    builds = [e.version for e in kept if e.release == version.partition("+")[0]]
    if "+" in version and builds:
        return ", ".join(builds)

    def numbers(text: str) -> tuple[int, ...]:
        return tuple(int(part) for part in text.split(".") if part.isdigit())

    names = list(dict.fromkeys(e.release for e in there))
    newest = max(names, key=numbers, default="")
    if newest and numbers(version) > numbers(newest):
        return newest
    if misspelt := [name for name in names if slips(name, version.partition("+")[0], 1) == 1]:
        return ", ".join(sorted(misspelt[-3:], key=numbers))
    names.sort(
        key=lambda name: [abs(a - b) for a, b in zip((*numbers(name), 0, 0, 0), (*numbers(version), 0, 0, 0), strict=False)]
    )
    return ", ".join(sorted(names[:3], key=numbers))


def _yanked(
    plan: InstallPlan, required: ProductRequirement, allowed: AllowedVersions, queries: ProjectQueries
) -> Iterator[Finding]:
    if required.requirement.tool == "conda" or not allowed.exact:
        return  # what an index has yanked, channels may have
    asked = sources_of(plan, required.requirement.step, required.requirement, queries)
    if asked.known and queries.own not in asked.channels:
        return  # yanks of another index
    elements = [e for e in queries.elements(allowed.product, allowed.mask) if e.installable]
    pages = {channel for channel in asked.channels if queries.addresses[channel][1] == "find-links"}
    if any(pages.intersection(e.channels) for e in queries.facts.elements(allowed.product)):
        return  # such a page lists more than the data have of it
    if plan.asks_unknown(queries) or any(may_have(c, elements, queries) for c in asked.channels - {queries.own}):
        return  # a build of another index may go before it
    gone = [e for e in elements if e.is_yanked(queries.day)]
    own = [e for e in elements if queries.own in e.channels]
    if not gone or any(e not in gone for e in own) or not own:
        return
    reason = next((e.yank_reason.strip().rstrip(".") for e in gone if e.yank_reason and e.yank_reason.strip()), "")
    why = f" ({reason})" if reason else ""
    elsewhere = [e for e in elements if e not in own]
    if elsewhere and "+" in allowed.text:
        return
    message = (
        f"{required.product.name} {gone[-1].release} is yanked from its index{why}; it is installed for being pinned exactly"
    )
    _, fix = about_end(allowed.product, queries)
    yield at(required.located, YANKED, message, sources=cited(queries, gone[-1]), fix=fix)


def _ended(required: ProductRequirement, allowed: AllowedVersions, queries: ProjectQueries) -> Iterator[Finding]:
    if required.requirement.role is RequirementRole.BUILD or required.product.role == Role.LEAF:
        return  # what others need is no choice of a product of ours
    end = queries.lookups.ended(allowed.product, allowed.mask, queries.context.day, queries.context.within)
    if end is None:
        return
    last, sources = end
    is_over = last < queries.context.day
    status = f"is out of support since {last}" if is_over else f"will be out of support after {last}"
    name = f"{required.product.name} {allowed.text.removeprefix('==')}"
    about, fix = about_end(required.product.id, queries)
    yield at(required.located, ENDED, f"{name} {status}", sources=sources, fix=fix, about=about, brief=name)


def about_end(product: str, queries: ProjectQueries) -> tuple[str, str | None]:
    """Return what the end of life of a product is about, and what leads away: discontinued products are one stack."""
    is_replaced = product in queries.facts.successors
    return ("discontinued", "compatkb migrate .") if is_replaced else (product, None)


def _platform(plan: InstallPlan, installed: InstalledProduct, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield a package that has nothing for the Python or the system, where it has something elsewhere."""
    allowed = installed.allowed
    if not allowed.text or not allowed.mask or installed.step < 0:
        return
    if queries.facts.products[allowed.product].role == Role.LEAF and not queries.requires_other_python(allowed, plan.pythons):
        return  # of which the data have no wheels, but the Pythons that they ask for
    if any(required.requirement.url for required in installed.requirements):
        return  # what lies at an address need not be on any index
    if plan.of_markers and not any(one.requirement.marker for one in installed.requirements):
        return  # the markers are those of other packages
    if not any(e.certain for e in queries.elements(allowed.product, allowed.mask)):
        return  # no wheel was seen anywhere: installers build an archive
    if queries.denial([allowed]) is not None:
        return
    located = installed.parts[-1].located
    where = plan.environment.document
    if located.document is not where and place_of(where.path) in PLATFORM.off_in:
        return  # its Python and system are those of a pipeline, which says so itself
    name = f"{queries.facts.products[allowed.product].name} {allowed.text.removeprefix('==')}"
    pythons = plan.pythons or declared(plan.environment, queries)
    is_built = not has_wheels_alone(allowed.product, queries)  # what has no wheel is made from an archive
    if is_built and not queries.requires_other_python(allowed, pythons):
        return
    denial = queries.denial([allowed], pythons) if pythons else None
    if queries.requires_other_python(allowed, pythons):
        builds = queries.elements(allowed.product, allowed.mask)
        denial = denial or Denial("", "", (), frozenset((allowed.product,)), ())
        text = f"it needs Python {builds[-1].requires_python}"
        denial = denial._replace(reason=text, basis="stated", sources=cited(queries, builds[-1]))
    if pythons and not denial and installed.requirements and installed.tool != "conda":  # whose channels are no indexes
        denial = queries.denial([_on_indexes(plan, installed, queries)], pythons)
    if denial and ("python" in denial.products or denial.products == {allowed.product}):
        beside = (plan.final.get(product) for product in denial.products - {allowed.product})
        needed = [one.allowed for one in beside if one and one.allowed.text and one.requirements]
        if any(queries.facts.products[n.product].role != Role.LEAF and queries.refused([n], pythons) for n in needed):
            return  # what it needs has nothing, which is told there
        versions = [e.version for e in queries.elements("python", pythons.mask)]
        runs = pythons.patch or (versions[0] if len(versions) == 1 else f"{versions[0]} to {versions[-1]}")
        chosen = ", which conda takes here" if plan.environment.reading.kind == "environment" and len(versions) > 1 else ""
        message = f"{name} has nothing for Python {runs}{chosen}: {denial.told}"
        finding = at(located, PLATFORM, message, sources=denial.sources, fix=_ways_out(plan, installed, pythons, queries))
        is_run = place_of(located.document.path) in (FileRole.INSTALLED, FileRole.PIPELINE)
        is_run |= any(python.runs and python.group == plan.environment.group for _, python in plan.environment.pythons)
        is_known = bool(plan.pythons) and not plan.of_markers and is_run
        is_certain = is_known and _is_refused(plan, installed, pythons, denial, queries)
        yield finding._replace(level=Severity.ERROR) if is_certain else finding
        return
    if not pythons and (outlived := _outlived(plan, installed, name, located, queries)):
        yield outlived
        return
    if plan.pythons and not is_built and installed.tool != "conda" and (told := _unseen(installed, plan.pythons, queries)):
        message = f"{name} has no wheel that is known for Python {told}"
        sources = cited(queries, queries.elements(allowed.product, allowed.mask)[-1])
        yield at(located, PLATFORM, message, sources=sources, fix=_ways_out(plan, installed, plan.pythons, queries))


def _unseen(installed: InstalledProduct, pythons: Pythons, queries: ProjectQueries) -> str:
    """Return a Python with those that the wheels of a pin are for, if it is newer than all these; empty for any other."""
    asked = list(queries.elements("python", pythons.mask))
    builds = queries.elements(installed.allowed.product, installed.allowed.mask)
    known = [
        each
        for each in queries.facts.elements("python")
        if any((build.certain | build.inferred) & queries.facts.dimension_cells("python", 1 << each.idx) for build in builds)
    ]
    newest = [each for each in known if not is_free_threaded(each.version)]
    if not newest or len(asked) != 1 or is_free_threaded(asked[0].version) or asked[0].idx <= newest[-1].idx:
        return ""
    return f"{asked[0].version}: those of it are for {newest[0].version} to {newest[-1].version}"


def _system(plan: InstallPlan, installed: InstalledProduct, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield a package, in a version or in any, of which there are wheels alone, and none for the system."""
    one, requirements = installed.allowed, installed.requirements
    if not plan.systems or not one.mask or installed.step < 0 or not requirements or installed.tool == "conda":
        return
    if any(w.requirement.url for w in requirements) or not has_wheels_alone(one.product, queries):
        return
    last, is_leaf = requirements[-1], queries.facts.products[one.product].role == Role.LEAF
    asked = sources_of(plan, installed.step, last.requirement, queries)
    there = one._replace(text=one.text or ">=0")
    if not is_leaf and asked.known:
        there = queries.narrowed(there, asked.channels)
    if not there.mask or not (is_leaf or all(e.certain for e in queries.elements(one.product, there.mask))):
        return
    denial = queries.denial([there], systems=plan.systems)
    is_of_others = denial and any(
        (other := queries.facts.products.get(name)) and other.role == Role.PACKAGE for name in denial.products - {one.product}
    )
    if denial is None or is_of_others or queries.denial([there]) is not None:
        return  # what it needs has nothing, or nobody has it: told there
    is_named = bool(systems_of(plan.environment, queries)) or any(
        "platform" in (w.requirement.marker or "") for w in requirements
    )
    is_certain = is_named and asked.known and last.requirement.role is RequirementRole.INSTALL and denial.basis != "inferred"
    is_certain &= not is_leaf or (asked.channels == {queries.own} and "os" in denial.products)
    is_linux = "linux" in (plan.systems[0], *queries.facts.wider.get(plan.systems[0], ()))
    if (is_linux and not one.text) or (not is_certain and (is_leaf or not one.text or not asked.known)):
        return  # of any version the C library of an image decides, which is told of it
    name = f"{queries.facts.products[one.product].name} {one.text.removeprefix('==')}".strip()
    located = installed.parts[-1].located if installed.parts else last.located
    system = queries.facts.release("os", plan.systems[0])
    message = f"{name} has nothing for {(system and system.name) or plan.systems[0]}: {denial.told}"
    fix = about_end(one.product, queries)[1] or ("leave it out, or to Linux by its marker" if is_leaf else None)
    finding = at(located, PLATFORM, message, sources=denial.sources, fix=fix)
    yield finding._replace(level=Severity.ERROR) if is_certain and not plan.environment.borrowed else finding


def _on_indexes(plan: InstallPlan, installed: InstalledProduct, queries: ProjectQueries) -> AllowedVersions:
    """Return what the indexes asked have of a pin; of a range nothing older than their list: no later Python is theirs."""
    allowed = installed.allowed
    asked = sources_of(plan, installed.step, installed.requirements[-1].requirement, queries)
    there = queries.narrowed(allowed, asked.channels) if asked.known else allowed
    if allowed.exact or not there.mask:
        return there if there.mask else allowed
    return there._replace(text=f"{allowed.text},>={queries.elements(allowed.product, there.mask)[0].release}")


def _ways_out(plan: InstallPlan, installed: InstalledProduct, pythons: Pythons, queries: ProjectQueries) -> str | None:
    """Return the nearest Python that all pins are for, and the pins that are for the Python that runs."""
    pinned = [one.allowed for one in plan.final.values() if one.allowed.text and one.allowed.mask]
    runs = [e for e in queries.elements("python", pythons.mask) if not e.version.endswith("t")]
    usual = [e for e in queries.facts.elements("python") if not e.version.endswith("t") and e not in runs]
    near = sorted(usual, key=lambda e: (e.has_ended(queries.day), min(abs(e.idx - one.idx) for one in runs))) if runs else []
    there = (e for e in near if (e.since or 0) <= queries.day)
    python = next((e.version for e in there if not queries.refused(pinned, Pythons(1 << e.idx), plan.systems)), None)
    pins = replacement(plan, installed, lambda _: -1, queries) if plan.pythons else []
    return " or ".join([f"Python {python}"] * bool(python) + [" with ".join(pins)] * bool(pins)) or None


def _is_refused(
    plan: InstallPlan, installed: InstalledProduct, pythons: Pythons, denial: Denial, queries: ProjectQueries
) -> bool:
    """Return whether installers find nothing for a Python: by what releases ask for, or since there are wheels alone."""
    requirement = installed.requirements[-1].requirement
    if installed.tool == "conda" or requirement.role is not RequirementRole.INSTALL or plan.environment.borrowed:
        return False
    asked = sources_of(plan, installed.step, requirement, queries)
    is_listed = asked.known and has_wheels_alone(installed.allowed.product, queries)
    is_listed &= asked.channels == {queries.own} or (bool(asked.channels) and denial.basis != "inferred")
    return is_listed or queries.requires_other_python(installed.allowed, pythons)


def _outlived(
    plan: InstallPlan, installed: InstalledProduct, name: str, located: LocatedStatement, queries: ProjectQueries
) -> Finding | None:
    """Return a pin with nothing for any Python that is supported today, where nothing of the project names a Python."""
    if installed.tool == "conda" or names_a_python(plan.environment, queries) or not is_exact(installed.allowed.text):
        return None
    usual = [e for e in queries.facts.elements("python") if not e.version.endswith("t") and (e.since or 0) <= queries.day]
    alive = [e for e in usual if not e.has_ended(queries.day)]
    if not alive or not all(queries.has_nothing_for(installed.allowed, e) for e in alive):
        return None
    fit = [e.version for e in usual if e not in alive and not queries.has_nothing_for(installed.allowed, e)]
    if not fit:
        return None
    message = (
        f"{name} has nothing for Python {alive[0].version} and newer; the newest it is for, {fit[-1]}, is out of support, "
        "and no Python is named here"
    )
    sources = cited(queries, queries.elements(installed.allowed.product, installed.allowed.mask)[-1])
    return at(located, OUTLIVED, message, sources=sources, about=f"{located.document.path} outlived", brief=name)


def names_a_python(environment: ProjectEnvironment, queries: ProjectQueries) -> bool:
    """Return whether anything says which Python a list of packages, or a notebook, is for; of other files others say it."""
    is_list = environment.reading.kind in ("requirements", "notebook")
    return not is_list or bool(environment.images or environment.pythons) or queries.names_python


def _declared(plan: InstallPlan, installed: InstalledProduct, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield a Python that a project admits and a package of it does not: uv and poetry refuse one that is too old."""
    environment, allowed = plan.environment, installed.allowed
    bounds = [(located, python) for located, python in environment.pythons if not python.runs]
    installable = [e for e in queries.facts.elements(allowed.product) if e.installable]
    is_bounded = bool(installable) and not allowed.mask >> installable[-1].idx & 1  # a newer release may have what these lack
    if environment.reading.kind not in _DECLARING or not bounds or not is_bounded or not allowed.mask or installed.step < 0:
        return
    if any(w.requirement.marker for w in installed.requirements):
        return
    located, python = bounds[0]
    admitted = queries.elements("python", queries.python(python.specifier).mask)
    usual = [e for e in admitted if not e.version.endswith("t") and (e.since or 0) <= queries.day]
    refused = [e for e in usual if queries.has_nothing_for(allowed, e)]
    fit = [e for e in usual if e not in refused]
    if not refused or not fit:
        return
    name = f"{queries.facts.products[allowed.product].name} {allowed.text.removeprefix('==')}"
    names = ", ".join(e.version for e in refused)
    message = f"requires-python admits Python {names}, for which {name} has nothing"
    is_old = refused[0].idx < fit[0].idx
    fix = f'write ">={fit[0].version}"' if is_old else f'add "<{refused[0].version}"'
    finding = at(located, PLATFORM, message, fix=fix, about=f"{located.document.path} python", brief=name)
    newest = queries.allowed(queries.facts.products[allowed.product], [f"=={installable[-1].release}"])
    by_the_pin = newest and any(not queries.has_nothing_for(newest, e) for e in refused)  # and by nothing newer than all of it
    is_recent = not is_old and all((e.since or queries.day) > queries.day - _RECENT for e in refused)
    is_refused = is_old and queries.requires_other_python(allowed, Pythons(sum(1 << e.idx for e in refused)))
    level = Severity.ERROR if is_refused else Severity.WARNING if is_old or by_the_pin else Severity.INFO
    always = [w.requirement.specifier for w in installed.requirements if w.requirement.group == MAIN]
    usually = queries.allowed(queries.facts.products[allowed.product], always) if always else None
    group = max(w.requirement.group for w in installed.requirements)
    if group != MAIN and not (usually and all(queries.has_nothing_for(usually, e) for e in refused)):  # installs without it
        others = [
            one.allowed for one in plan.final.values() if one.requirements and one.requirements[-1].requirement.group == MAIN
        ]
        if all(any(queries.has_nothing_for(one, e) for one in others if one.text) for e in refused):
            return  # told of what is always installed
        sign, edge = (">=", fit[0]) if is_old else ("<", refused[0])
        message = (
            f"{name} of {environment.reading.groups[group].label} has nothing for Python {names}, which the project admits"
        )
        fix = f"add \"; python_version {sign} '{edge.version}'\""
        about = f"{environment.document.path} {group} python"
        finding = at(installed.parts[-1].located, PLATFORM, message, fix=fix, about=about, brief=name)
        level = Severity.WARNING if is_old else Severity.INFO
    yield finding._replace(level=Severity.INFO if is_recent or plan.pythons else level)  # else one that fits it runs


def _toolkit(plan: InstallPlan, installed: InstalledProduct, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield a package that needs another release of a toolkit than the one of the image that it is installed in."""
    for _, image in plan.environment.images:
        product = queries.toolkit(image.repository)
        if product is None or not image.tag or image.group.startswith("from:") or installed.step < 0:
            continue
        version = image.tag.partition("-")[0]
        held = queries.lookups.mask(product, version) or queries.lookups.mask(product, version.rpartition(".")[0])
        builds = queries.elements(installed.allowed.product, installed.allowed.mask)
        if not held or len({e.version for e in builds}) != 1:
            continue
        edges = [e for b in builds for e in queries.facts.edges(b.product, product.id) if e.of_mask >> b.idx & 1]
        told = [e for e in edges if e.kind in (Kind.NEEDS, Kind.VERIFIED)]
        if not told or any(e.to_mask & held for e in told):
            continue
        wanted = " or ".join(dict.fromkeys(e.spec.removeprefix("==") for e in told))
        name = f"{queries.facts.products[installed.allowed.product].name} {builds[-1].version}"
        message = f"{name} is documented with {product.name} {wanted}, and this image has {version}"
        sources = tuple(url for e in told for url in urls(queries.facts.citations(e.claim)))
        yield at(installed.parts[-1].located, PLATFORM, message, sources=sources, fix=f"start from {product.name} {wanted}")
