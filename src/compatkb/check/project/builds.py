"""Rules on a project as a whole: its images compared with the rest, its builds compared with its intent."""

import re
from collections.abc import Iterator

from compatkb.check.project.environments import LocatedStatement, ProjectEnvironment, at
from compatkb.check.project.index_contents import cited
from compatkb.check.project.indexes import index_option, sources_of
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
from compatkb.core.names import numbers
from compatkb.core.vocabulary import Role
from compatkb.parsers.statement import ImageUse, RequirementRole

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
    """Yield packages of the driver that the archives of the system have by another name."""
    systems = systems_of(environment, queries)
    carried = [record for record in queries.facts.guide_records("carried") if record["system"] in systems]
    archives = {name: record["archive"] for record in carried for name in record["names"]}
    for located, package in environment.packages if archives else ():
        for component in queries.facts.guide_records("component"):
            known = [name for name in component["packages"] if name in archives]
            if (
                package.group == environment.group
                and package.name in component["packages"]
                and known
                and package.name not in known
            ):
                message = (
                    f"{package.name} is the name of other systems; on {systems[0]} the {component['name']} is {known[0]}, "
                    f"in {archives[known[0]]}"
                )
                about = f"{located.document.path} driver packages"
                yield at(located, PACKAGE, message, fix=f"install {known[0]}", about=about, brief=package.name)


def _image(located: LocatedStatement, use: ImageUse, queries: ProjectQueries) -> Iterator[Finding]:
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
        elif never := _never_built(use, queries):
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


def _never_built(use: ImageUse, queries: ProjectQueries) -> str | None:
    """Return that a tag is named for a build that a product which has ended never had, None for other tags."""
    number, _, label = (use.tag or "").partition("-")
    product = queries.facts.product(use.repository.rpartition("/")[2])
    if product is None or not queries.is_decided(product.id) or not re.fullmatch(r"\d+(?:\.\d+)+", number):
        return None
    of_label = [e.release for e in queries.facts.elements(product.id) if e.version.endswith(f"+{label}")]
    tags = [name for name in queries.lookups.images if name.endswith(f"-{label}")]
    if not of_label or not tags or number in of_label:
        return None
    near = sorted(tags, key=lambda name: [abs(a - b) for a, b in zip(numbers(name), numbers(number), strict=False)])[:3]
    there = ", ".join(sorted(near))
    return f"there is no {use.text}: {product.name} never had a build {number}+{label}; tags near to it are {there}"


@SETTINGS.rule(PLAIN)
def check(plan: InstallPlan, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield packages whose build is for another device than the index beside them, or their companions, are for."""
    wanted = _wanted(plan, queries)
    if wanted is None:
        return
    device, why = wanted
    for installed in plan.final.values():
        is_pinned = why is not None and installed.allowed.product == why.allowed.product
        if installed.step < 0 or installed.tool == "conda" or not installed.requirements or is_pinned:
            continue
        requirement = installed.requirements[-1].requirement
        if requirement.url or requirement.role is not RequirementRole.INSTALL or "+" in installed.allowed.text:
            continue
        if installed.requirements[-1].product.role != Role.PACKAGE:
            continue
        every = reversed(queries.elements(installed.allowed.product, installed.allowed.mask))
        of_device = (e for e in every if device in e.devices and e.channels)
        newest = next((e for e in of_device if not why or not queries.refused([exactly(e), why.allowed], plan.pythons)), None)
        if newest is None:
            continue  # where none of them goes with it, that is told
        sources = sources_of(plan, installed.step, requirement, queries)
        if not sources.known:
            continue
        taken = queries.taken(installed.allowed, sources.channels, [why.allowed] if why else [], plan.pythons)
        if taken is None or device in taken.devices:
            continue
        channel = newest.channels[0]
        option = index_option(plan, installed.step, channel, queries)
        name = queries.facts.products[taken.product].name
        meant = (
            f"{queries.facts.products[why.allowed.product].name} {why.allowed.text.removeprefix('==')}"
            if why
            else "the project"
        )
        message = f"{meant} is for {device}, and installers take {name} {taken.version} here, which is not for {device}"
        fix = f"pin =={newest.version}" + (f" with {option}" if option else "")
        yield at(installed.parts[-1].located, PLAIN, message, sources=cited(queries, newest), fix=fix)


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
