"""Rules about a project as a whole: images against the rest, indexes against what is meant, steps in their order."""

import posixpath
from collections.abc import Iterator

from compatkb.check.common_rules import ENDED, GONE, UNLISTED
from compatkb.check.project.environments import Environment, Said
from compatkb.check.project.install_plan import ENVIRONMENTS, PROJECTS, SETTINGS, Installed, Setting, known_image, sources_of
from compatkb.check.project.pins import at, cited
from compatkb.check.project.queries import Judge, is_exact
from compatkb.check.rules import Rule
from compatkb.core.findings import Finding, Severity
from compatkb.core.vocabulary import Role
from compatkb.parsers.statement import Action, ImageUse, RequirementRole

PLAIN = Rule("build-plain", Severity.WARNING, "a build for another device is taken than the one that is meant")
ORDER = Rule("step-order", Severity.ERROR, "a step needs a file that a later step brings")
APART = Rule("versions-apart", Severity.WARNING, "images install other versions than pipelines test")

_BUILT = ("stage",)
_TESTED = ("job",)


@SETTINGS.rule(PLAIN)
def check(setting: Setting, judge: Judge) -> Iterator[Finding]:
    """Yield what is wrong with an environment beyond its packages."""
    yield from _plain(setting, judge)


@ENVIRONMENTS.rule(UNLISTED, GONE, ENDED, ORDER)
def check_environment(environment: Environment, judge: Judge) -> Iterator[Finding]:
    """Yield what is wrong with the images and the steps of an environment."""
    for said, image in environment.images:
        yield from _image(said, image, judge)
    yield from _order(environment)


def _image(said: Said, use: ImageUse, judge: Judge) -> Iterator[Finding]:
    repository = use.repository.removeprefix("docker.io/")
    if repository not in judge.known.repositories or not use.tag or use.digest:
        return
    image = known_image(judge, use)
    if image is None:
        near = judge.known.near(use.tag)
        message = f"{use.tag} was never listed as a tag of {repository}; no registry was asked"
        yield at(said, UNLISTED, message, fix=f"did you mean {near}?" if near else None)
        return
    if image.runs and not any(first <= judge.day <= last for first, last in image.runs):
        yield at(said, GONE, f"{use.tag} is not listed any more", sources=image.sources)
    for product_id, held in judge.known.held(image).items():
        product = judge.facts.products.get(product_id)
        if product is None or product.role != Role.PACKAGE or not held.mask:
            continue
        if found := judge.known.ended(product_id, held.mask, judge.asked.day, judge.asked.within):
            last, sources = found
            tense = "is out of support since" if last < judge.asked.day else "will be out of support after"
            yield at(
                said,
                ENDED,
                f"{product.name} {held.spec.removeprefix('==')}, which {use.tag} holds, {tense} {last}",
                sources=sources,
            )


def _order(environment: Environment) -> Iterator[Finding]:
    """Yield files that are read before a later COPY brings them."""
    if environment.kind != "stage":
        return
    copies = sorted((a for _, a in environment.actions if a.verb == "copy"), key=lambda action: action.step)
    bringing: dict[str, list[Action]] = {}
    for copy in copies:
        for word in () if copy.tool else copy.words[:-1]:
            bringing.setdefault(posixpath.basename(word.rstrip("/")), []).append(copy)
    everything = next((copy.step for copy in copies if _whole(copy)), None)
    for said, include in environment.includes:
        if said.document is not environment.document or include.path.startswith(("http:", "https:")):
            continue
        mine = bringing.get(posixpath.basename(include.path), ())
        if mine and mine[0].step > include.step and (everything is None or everything > include.step):
            line = mine[0].place.line
            message = f"{include.path} is read here, and copied into the image by line {line} only"
            yield at(said, ORDER, message, fix=f"move the COPY of line {line} before this step")


def _whole(copy: Action) -> bool:
    return bool(copy.tool) or any(
        word.rstrip("/") in (".", "") or "*" in word or "." not in posixpath.basename(word) for word in copy.words[:-1]
    )


def _plain(setting: Setting, judge: Judge) -> Iterator[Finding]:
    """Yield packages whose build is for another device than the index beside them, or their companions, are for."""
    wanted = _wanted(setting, judge)
    if wanted is None:
        return
    device, why = wanted
    for installed in setting.final.values():
        if (
            installed.step < 0
            or installed.tool == "conda"
            or not installed.wishes
            or installed.hold.product == why.hold.product
        ):
            continue
        requirement = installed.wishes[-1].requirement
        if requirement.url or requirement.role is not RequirementRole.INSTALL or "+" in installed.hold.text:
            continue
        every = judge.elements(installed.hold.product, installed.hold.mask)
        fitting = [e for e in every if device in e.devices and e.channels]
        if not fitting or installed.wishes[-1].product.role != Role.PACKAGE:
            continue
        sources = sources_of(setting, installed.step, requirement, judge)
        if not sources.known:
            continue
        taken = judge.taken(installed.hold, sources.channels, [why.hold])
        if taken is None or device in taken.devices:
            continue
        channel = fitting[-1].channels[0]
        url, style = judge.addresses.get(channel, ("", ""))
        meant, name = (judge.facts.products[product].name for product in (why.hold.product, taken.product))
        message = (
            f"{meant} {why.hold.text.removeprefix('==')} is for {device}, and installers take {name} {taken.version} here, "
            f"which is for {' and '.join(sorted(taken.devices))}"
        )
        fix = f"pin =={fitting[-1].version}" + (f" with --{style} {url}" if url else "")
        yield at(installed.parts[-1].said, PLAIN, message, sources=cited(judge, fitting[-1]), fix=fix)


def _wanted(setting: Setting, judge: Judge) -> tuple[str, Installed] | None:
    """Return the one device for which a pinned package is, where it is a device that needs builds of its own."""
    for installed in setting.final.values():
        if installed.hold.text and installed.step >= 0 and "+" in installed.hold.text and is_exact(installed.hold.text):
            devices = {d for e in judge.elements(installed.hold.product, installed.hold.mask) for d in e.devices}
            if len(devices) == 1:
                device = next(iter(devices))
                label = installed.hold.text.partition("+")[2]
                if device == label.partition(",")[0]:
                    return device, installed
    return None


@PROJECTS.rule(APART)
def check_apart(settings: list[Setting], judge: Judge) -> Iterator[Finding]:
    """Yield what images install of a product where the pipelines install it too, and never in that version."""
    for product in judge.facts.products.values():
        if product.role != Role.PACKAGE:
            continue
        built = list(_exact(settings, product.id, _BUILT))
        tested = list(_exact(settings, product.id, _TESTED))
        releases = {e.release for one in tested for e in judge.elements(product.id, one.hold.mask)}
        for one in built:
            mine = {e.release for e in judge.elements(product.id, one.hold.mask)}
            if tested and mine and not mine & releases:
                other = tested[0].parts[-1].said
                message = (
                    f"the image has {product.name} {one.hold.text.removeprefix('==')}, and no pipeline tests it: "
                    f"{other.document.path}, line {other.statement.place.line}, has {tested[0].hold.text.removeprefix('==')}"
                )
                yield at(one.parts[-1].said, APART, message, fix="install the same version in both")


def _exact(settings: list[Setting], product: str, kinds: tuple[str, ...]) -> Iterator[Installed]:
    for setting in settings:
        found = setting.final.get(product)
        if setting.environment.kind in kinds and found and found.hold.mask and is_exact(found.hold.text):
            yield found
