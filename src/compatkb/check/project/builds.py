"""Rules on a project as a whole: its images compared with the rest, its builds compared with its intent."""

import posixpath
import re
from collections.abc import Iterator

from compatkb.check.project.alternatives import requirement_of
from compatkb.check.project.environments import LocatedStatement, ProjectEnvironment, at
from compatkb.check.project.index_contents import cited
from compatkb.check.project.indexes import index_option, named, sources_of
from compatkb.check.project.install_plan import (
    ENVIRONMENTS,
    SETTINGS,
    InstalledProduct,
    InstallPlan,
    known_image,
    systems_of,
)
from compatkb.check.project.pins import about_end
from compatkb.check.project.queries import ProjectQueries, exactly, is_exact
from compatkb.check.rules import ENDED, UNLISTED, CheckRule, FileRole
from compatkb.core.findings import Finding, Severity
from compatkb.core.vocabulary import Role
from compatkb.parsers.statement import ImageUse, RequirementRole, image_use
from compatkb.store.records import Element

_IS_ADDED = re.compile(r"[:./]")
"""What the names of archives have that are not the system's own."""
_ADDS_ARCHIVE = re.compile(r"/etc/apt|apt-repository|ppa:|\.deb\b|repositories\.|\.sh\b|\|\s*(?:sudo\s+)?(?:ba)?sh\b")
"""What may add an archive, or brings packages itself."""
PLAIN = CheckRule(
    "build-plain",
    Severity.WARNING,
    "a build for another device is taken than the one that is meant",
    off_in=(FileRole.NOTEBOOK,),
)


PACKAGE = CheckRule(
    "driver-package", Severity.WARNING, "a package of the GPU driver is installed by a name that its system does not have"
)


@ENVIRONMENTS.rule(UNLISTED, ENDED, PACKAGE)
def check_environment(environment: ProjectEnvironment, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield what is wrong with the images of an environment."""
    for located, image in environment.images:
        yield from _image(located, image, queries)
    yield from _packages(environment, queries)


def _packages(environment: ProjectEnvironment, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield packages of the driver that the archives of the system have by another name, or that need an archive of others."""
    systems = systems_of(environment, queries)
    carried = [record for record in queries.facts.guide_records("carried") if record["system"] in systems]
    carried.sort(key=lambda record: not _IS_ADDED.search(record["archive"]))  # the system's own last, which are told
    archives = {name: record["archive"] for record in carried for name in record["names"]}
    own = {name for name, archive in archives.items() if not _IS_ADDED.search(archive)}
    bases = [image.repository for _, image in environment.images]  # those with a maker's name may have archives of the maker
    is_alone = own and bases and not any("/" in base for base in bases) and not _ADDS_ARCHIVE.search(environment.document.text)
    for located, package in environment.packages if archives else ():
        for component in queries.facts.guide_records("component"):
            known = [name for name in component["packages"] if name in archives]
            if package.group != environment.group or package.name not in component["packages"] or not known:
                continue
            if package.name not in known:
                message = (
                    f"{package.name} is the name of other systems; on {systems[0]} the {component['name']} is {known[0]}, "
                    f"in {archives[known[0]]}"
                )
                level = PACKAGE.level
            elif is_alone and package.name not in own:
                level = Severity.ERROR
                message = (
                    f"{systems[0]} has no {package.name} itself; it is in {archives[package.name]}, which is not added here"
                )
            else:
                continue
            about = f"{located.document.path} driver packages"
            fix = f"install {known[0]}" if level is PACKAGE.level else f"add {archives[package.name]} first"
            yield at(located, PACKAGE, message, fix=fix, about=about, brief=package.name)._replace(level=level)


def _filled(located: LocatedStatement, use: ImageUse, queries: ProjectQueries) -> ImageUse:
    """Return an image with the variables of its name filled in from the `.env` beside a file, which compose reads."""
    if not use.unknown or not located.document.path.endswith((".yml", ".yaml")):
        return use
    beside = posixpath.join(posixpath.dirname(located.document.path), ".env")
    text = next((one.text for one in queries.context.documents if one.path == beside), "")
    values = dict(re.findall(r"^[ \t]*(\w+)=[\"']?([^\s\"'#]*)", text, re.MULTILINE))
    filled = re.sub(r"\$\{?(\w+)\}?", lambda match: values.get(match[1], match[0]), use.text)
    return image_use(filled, use.place, use.text, use.group, unknown="$" in filled, derived=True, step=use.step) or use


def _image(located: LocatedStatement, use: ImageUse, queries: ProjectQueries) -> Iterator[Finding]:
    use = _filled(located, use, queries)
    repository = use.repository
    if repository not in queries.lookups.repositories or not use.tag or use.digest:
        return
    image = known_image(queries, use)
    if image is None:
        if use.tag in queries.lookups.images:
            return  # repositories of one maker carry each other's tags
        if near := queries.lookups.misspelt(use.tag, queries.context.clock.lists_until):
            message = f"{use.tag} was never listed as a tag of {repository}; no registry was asked"
            yield at(located, UNLISTED, message, fix=f"did you mean {near}?")
        elif never := queries.lookups.never_built(repository, use.tag):
            yield at(located, UNLISTED, never)._replace(level=Severity.ERROR)
        return
    ended: list[str] = []
    products: list[str] = []
    cited_by: list[str] = []
    for product_id, held in queries.lookups.contents(image).items():
        product = queries.facts.products.get(product_id)
        if product is None or product.role != Role.PACKAGE or not held.mask:
            continue
        if end := queries.lookups.ended(product_id, held.mask, queries.context.day, queries.context.within):
            last, sources = end
            tense = "is out of support since" if last < queries.context.day else "will be out of support after"
            ended.append(f"{product.name} {held.spec.removeprefix('==')} {tense} {last}")
            products.append(product_id)
            cited_by += sources
    if ended:
        about, fix = min((about_end(product, queries) for product in products), key=lambda one: one[1] is None)
        message = f"of what {use.tag} holds, {', '.join(ended)}"
        yield at(located, ENDED, message, sources=tuple(cited_by), fix=fix, about=about, brief=f"image {use.tag}")


@SETTINGS.rule(PLAIN)
def check(plan: InstallPlan, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield packages whose build is for another device than the index beside them, or their companions, are for."""
    yield from _replaced(plan, queries)
    wanted = _wanted(plan, queries)
    for installed in plan.final.values():
        if installed.step < 0 or installed.tool == "conda" or not installed.requirements:
            continue
        requirement = installed.requirements[-1].requirement
        if requirement.url or requirement.role is not RequirementRole.INSTALL or "+" in installed.allowed.text:
            continue
        if installed.requirements[-1].product.role != Role.PACKAGE:
            continue
        sources = sources_of(plan, installed.step, requirement, queries)
        device, why = wanted or (_device_of(sources.extra, installed.allowed.product, queries), None)
        if not device or not sources.known or (why and installed.allowed.product == why.allowed.product):
            continue
        every = queries.elements(installed.allowed.product, -1)
        builds = [e for e in every if device in e.devices and e.channels]
        if wanted:
            fit = (e for e in reversed(builds) if installed.allowed.mask >> e.idx & 1)
            near = next((e for e in fit if not why or not queries.refused([exactly(e), why.allowed], plan.pythons)), None)
        else:
            there = [e for e in builds if e.stage == "stable" and sources.extra[0] in e.channels]
            near = next((e for e in there if e.idx >= installed.allowed.mask.bit_length()), there[-1] if there else None)
        if near is None:
            continue  # where none of them goes with it, that is told
        taken = queries.taken(installed.allowed, sources.channels, [why.allowed] if why else [], plan.pythons)
        if taken is None or device in taken.devices:
            continue
        channel = near.channels[0]
        option = index_option(plan, installed.step, channel, queries) if channel not in sources.channels else None
        name = queries.facts.products[taken.product].name
        meant = (
            f"{queries.facts.products[why.allowed.product].name} {why.allowed.text.removeprefix('==')}"
            if why
            else "the project"
            if wanted
            else named(sources.extra[0], queries)
        )
        message = f"{meant} is for {device}, and installers take {name} {taken.version} here, which is not for {device}"
        fix = f"pin {requirement_of(near, queries)}" + (f" with {option}" if option else "")
        yield at(installed.parts[-1].located, PLAIN, message, sources=cited(queries, near), fix=fix)


def _device_of(extra: tuple[str, ...], product: str, queries: ProjectQueries) -> str:
    """Return the one device that builds of a product on the only index beside the first one are for, if any."""
    on_it = [e.devices for e in queries.facts.elements(product) if len(extra) == 1 and extra[0] in e.channels]
    return next(iter(on_it[0])) if on_it and len(on_it[0]) == 1 and all(one == on_it[0] for one in on_it) else ""


def _replaced(plan: InstallPlan, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield a requirement of a later step for which installers replace a build for a device by one that is not for it."""
    there: dict[str, tuple[Element, LocatedStatement]] = {}
    taken_away = [a.step for _, a in plan.environment.actions if a.verb == "uninstall"]
    for required in sorted(plan.requirements, key=lambda one: one.requirement.step):
        requirement, product = required.requirement, required.product
        allowed = queries.allowed(product, [requirement.specifier])
        is_usual = requirement.role is RequirementRole.INSTALL and not (requirement.url or requirement.unknown)
        if product.role != Role.PACKAGE or not allowed or requirement.tool == "conda" or not is_usual:
            there.pop(product.id, None)
            continue
        sources = sources_of(plan, requirement.step, requirement, queries)
        taken = queries.taken(allowed, sources.channels, [], plan.pythons) if sources.known and allowed.mask else None
        before, place = there.get(product.id, (None, None))
        upgrades = {"-U", "--upgrade"} & plan.environment.flags.get(requirement.step, set())
        if before and allowed.mask >> before.idx & 1 and not (upgrades and taken and taken.idx > before.idx):
            continue
        if taken is None:
            there.pop(product.id, None)
            continue
        there[product.id] = (taken, required.located)
        is_gone = before is None or place is None or any(place.statement.step < s <= requirement.step for s in taken_away)
        if is_gone or before is None or place is None or requirement.step == place.statement.step:
            continue
        if len(before.devices) == 1 and not before.devices <= taken.devices and not before.foreign:
            device = next(iter(before.devices))
            line = f"line {place.statement.place.line}"
            line = line if place.document is required.document else f"{place.document.path}, {line}"
            message = f"this replaces {product.name} {before.version} ({line}) by {taken.version}, which is not for {device}"
            fix = f"write {product.distribution}=={before.version}, or leave it out here"
            yield at(required.located, PLAIN, message, sources=cited(queries, before), fix=fix)


def _wanted(plan: InstallPlan, queries: ProjectQueries) -> tuple[str, InstalledProduct | None] | None:
    """Return the one device for which a pinned package is, or the whole project, where it needs builds of its own."""
    for installed in plan.final.values():
        text = installed.allowed.text
        if installed.step >= 0 and "+" in text and is_exact(text):
            devices = {d for e in queries.elements(installed.allowed.product, installed.allowed.mask) for d in e.devices}
            label = text.partition("+")[2].partition(",")[0]
            if devices == {label}:
                return label, installed
    own = queries.context.scope.device
    return (own, None) if own else None
