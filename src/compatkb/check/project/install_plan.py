"""Works out what an environment holds after its steps and what an installer may choose: markers, indexes, order."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from compatkb.check.project.environments import LocatedStatement, ProductRequirement, ProjectEnvironment
from compatkb.check.project.queries import ANY_PYTHON, AllowedVersions, ProjectQueries, Pythons, address
from compatkb.check.rules import Registry
from compatkb.core.findings import Finding
from compatkb.core.names import newest_by_name
from compatkb.core.platforms import SPELLINGS
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.parsers.commands.model import python_specifier
from compatkb.parsers.statement import ImageUse, Requirement, RequirementRole

if TYPE_CHECKING:
    from compatkb.store.queries.images import ImageRecord

_SYSTEM_PYTHON = re.compile(r"python(\d)\.(\d+)")
_OWN_PYTHON = {"python3", "python3-pip", "python3-dev", "python3-venv", "python-is-python3"}
_OTHER_PYTHON = re.compile(r"conda|mamba|pyenv|deadsnakes|\buv[ \t]|\bpixi\b|\bnix\b|[Pp]ython-?3\.\d|python3\d\b")
"""What brings another Python than that of the system."""
_WHEEL_TAG = re.compile(r"-cp(\d)(\d+)-cp\d+-[^/]*\.whl")
_REBUILT = re.compile(r"(?:\.post\d+)?(?:\+[\w.]+)?$")
SETTLED = 365
"""So many days after it came out conda is taken to have a Python; whether it takes a younger one is left open."""
LINUX, WINDOWS = SPELLINGS["linux"], SPELLINGS["windows"]
FAMILIES = {"linux": "linux", "win32": "windows"}
"""What is installed on others is not judged: none of the devices is there."""


class RequirementOrigin(NamedTuple):
    """Something that determines what is installed of a product: a requirement, or an image that holds it."""

    located: LocatedStatement
    text: str  # as people read it
    step: int
    inside: str = ""  # the image


class InstalledProduct(NamedTuple):
    """What is installed of a product: what it may be, the step, and what asked for it."""

    allowed: AllowedVersions
    parts: list[RequirementOrigin]
    step: int
    tool: str
    requirements: list[ProductRequirement]

    @property
    def is_at_address(self) -> bool:
        """Whether it is a file at an address, which somebody may have built; those of locks are an index's."""
        requirements = [required.requirement for required in self.requirements]
        return any(one.url and one.role is not RequirementRole.LOCKED for one in requirements)


class InstallPlan:
    """An environment on one kind of platform: its requirements, and what its steps leave."""

    def __init__(
        self,
        environment: ProjectEnvironment,
        requirements: tuple[ProductRequirement, ...],
        pythons: Pythons,
        systems: tuple[str, ...],
        *,
        of_markers: bool = False,
    ) -> None:
        self.environment, self.requirements = environment, requirements
        self.of_markers = of_markers  # its Pythons are those that markers part, and nothing says that all of them run
        self.pythons, self.systems = pythons, systems
        self.final: dict[str, InstalledProduct] = {}
        self.empty: list[tuple[InstalledProduct, ProductRequirement]] = []  # within one step nothing fits all

    def resolves(self, step: int) -> bool:
        """Return whether the installer of a step looks at what packages need."""
        if self.environment.is_unchecked:
            return False
        overrides = (one.role is RequirementRole.OVERRIDE and one.step == step for _, one in self.environment.includes)
        return not any(overrides) and not any(flag.startswith("--no-deps") for flag in self.environment.flags.get(step, ()))

    def asks_unknown(self, queries: ProjectQueries) -> bool:
        """Return whether an index is named that is none of the data."""
        return any(address(use.url) not in queries.channels for _, use in self.environment.indexes)


ENVIRONMENTS = Registry[Callable[[ProjectEnvironment, ProjectQueries], Iterator[Finding]]]()
"""What checks an environment, whatever the platform."""
SETTINGS = Registry[Callable[[InstallPlan, ProjectQueries], Iterator[Finding]]]()
"""What checks an environment on one kind of platform."""


def install_plans(environment: ProjectEnvironment, queries: ProjectQueries) -> Iterator[InstallPlan]:
    """Yield the environment for each set of requirements that markers leave, with the platforms on which it is left."""
    pythons = _pythons(environment, queries)
    systems = systems_of(environment, queries)
    environment.requirements = _overridden(environment.requirements)
    named = [(system,) for name in queries.context.scope.systems if (system := queries.system(name))]
    for chosen in [systems] if systems or not named else named:
        yield from _plans(environment, queries, pythons, chosen)


def _overridden(requirements: list[ProductRequirement]) -> list[ProductRequirement]:
    """Return requirements without those that overrides stand for; an override of what nothing asks for installs nothing."""
    of_overrides = {w.product.id for w in requirements if w.requirement.role is RequirementRole.OVERRIDE}
    asked = {w.product.id for w in requirements if w.requirement.role is not RequirementRole.OVERRIDE}
    return [
        w for w in requirements if (w.requirement.role is RequirementRole.OVERRIDE) == (w.product.id in of_overrides)
        and (w.product.id in asked)
    ]  # fmt: skip


def _plans(
    environment: ProjectEnvironment, queries: ProjectQueries, pythons: Pythons, systems: tuple[str, ...]
) -> Iterator[InstallPlan]:
    markers = {required.requirement.marker for required in environment.requirements if required.requirement.marker}
    if not markers:
        yield _installed(InstallPlan(environment, tuple(environment.requirements), pythons, systems), queries)
        return
    admitted = (pythons or declared(environment, queries)).mask
    groups: dict[tuple[int, ...], list[tuple[str, int]]] = {}
    for platform, system, os_name in (LINUX, WINDOWS):
        if systems and not _fits(systems, FAMILIES[platform], queries):
            continue
        for element in queries.facts.elements("python"):
            if element.version.endswith("t") or (admitted and not admitted >> element.idx & 1):
                continue
            active = tuple(
                n
                for n, required in enumerate(environment.requirements)
                if holds(required.requirement.marker, platform, system, os_name, element.version, pythons.patch)
            )
            groups.setdefault(active, []).append((platform, element.idx))
    for active, places in groups.items():
        requirements = tuple(environment.requirements[n] for n in active)
        mask = sum(1 << idx for idx in {idx for _, idx in places})
        families = {FAMILIES[platform] for platform, _ in places}
        chosen = systems or (tuple(families) if len(families) == 1 else ())
        left = Pythons(mask, pythons.patch) if pythons or len(groups) > 1 else ANY_PYTHON
        plan = InstallPlan(environment, requirements, left, chosen, of_markers=not admitted)
        yield _installed(plan, queries)


@lru_cache(maxsize=65536)
def holds(marker: str | None, platform: str, system: str, os_name: str, python: str, patch: str | None = None) -> bool:
    """Return whether a marker holds on a platform, by its names in three variables, and a Python."""
    if marker is None:
        return True
    from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName

    values = {
        "sys_platform": platform,
        "platform_system": system,
        "os_name": os_name,
        "platform_machine": "AMD64" if platform == "win32" else "x86_64",
        "python_version": python,
        "python_full_version": patch or f"{python}.0",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "extra": "",
    }
    try:
        return Marker(marker).evaluate(values)
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName, KeyError):
        return False


def _pythons(environment: ProjectEnvironment, queries: ProjectQueries) -> Pythons:
    """Return the Pythons that run, the last set up first of all."""
    for _, python in reversed(environment.pythons):
        if python.runs and (pythons := queries.python(python.specifier)):
            return _newest_of_conda(environment, pythons, queries) or pythons
    if newest := _newest_of_conda(environment, ANY_PYTHON, queries):
        return newest
    for _, image in environment.images:
        product = queries.facts.product(image.repository.rpartition("/")[2])
        if product and product.id == "python" and not (image.digest or image.unknown):
            number = (image.tag or "").partition("-")[0]
            if number.count(".") and (pythons := queries.python(python_specifier(number))):
                return pythons
            is_floating = number in ("", "3") or (number.isalpha() and number != "rc")
            if is_floating and image.repository.removeprefix("docker.io/").removeprefix("library/") == "python":
                return queries.newest_python
    return _only_python(environment, queries)


def _newest_of_conda(environment: ProjectEnvironment, pythons: Pythons, queries: ProjectQueries) -> Pythons:
    """Return the Pythons of which conda takes one for a file that asks for a range, or for none: the newest that have settled.

    Where others of conda's packages are asked for than pip and what goes with it, they decide it, too.
    """
    everything = [*(one for _, one in environment.others), *(w.requirement for w in environment.requirements)]
    of_conda = [one for one in everything if one.tool == "conda" and one.group == environment.group]
    is_free = all(not one.specifier for one in of_conda) and not any(
        w.requirement in of_conda for w in environment.requirements
    )
    if environment.reading.kind != "environment" or not is_free or not any(one.name == "pip" for one in of_conda):
        return ANY_PYTHON
    usual = [e for e in queries.facts.elements("python") if not e.version.endswith("t") and (pythons.mask or -1) >> e.idx & 1]
    settled = [n for n, e in enumerate(usual) if (e.since or 0) <= queries.day - SETTLED]
    return Pythons(sum(1 << e.idx for e in usual[settled[-1] :])) if settled else ANY_PYTHON


def _only_python(environment: ProjectEnvironment, queries: ProjectQueries) -> Pythons:
    """Return the one Python that packages of the system, or the tags of all wheels at addresses, are for."""
    for texts in (
        [_SYSTEM_PYTHON.fullmatch(package.name) for _, package in environment.packages],
        [_WHEEL_TAG.search(required.requirement.url or "") for required in environment.requirements],
    ):
        numbers = {f"{match[1]}.{match[2]}" for match in texts if match}
        if len(numbers) == 1:
            return queries.python(python_specifier(numbers.pop()))
    return _python_of_system(environment, queries)


def _python_of_system(environment: ProjectEnvironment, queries: ProjectQueries) -> Pythons:
    """Return the Python that a system carries, where an image is built on it and installs that by its usual name."""
    bases = [image for _, image in environment.images if not image.group.startswith("from:")]
    names = {package.name for _, package in environment.packages}
    is_plain = all(queries.is_plain(image.repository) and not image.unknown for image in bases)
    if not bases or not is_plain or not names & _OWN_PYTHON or _OTHER_PYTHON.search(environment.document.text):
        return ANY_PYTHON
    systems = systems_of(environment, queries)
    carried = queries.facts.guide_records("carried")
    known = newest_by_name((r["system"], r["packages"]["python"]) for r in carried if "python" in r["packages"])
    known |= {r["os"]: r["python"][0] for r in queries.facts.guide_records("base_image") if r["setup"]}
    versions = [known[system] for system in systems if system in known]
    return queries.python(python_specifier(versions[0])) if versions else ANY_PYTHON


def declared(environment: ProjectEnvironment, queries: ProjectQueries) -> Pythons:
    """Return the Pythons that a project declares."""
    return next((queries.python(python.specifier) for _, python in environment.pythons if not python.runs), ANY_PYTHON)


def supported_pythons(plan: InstallPlan, pins: list[AllowedVersions], queries: ProjectQueries) -> list[Pythons]:
    """Return the Pythons that may run and have all pins, newest first: those that are known, else those still supported."""
    admitted = (plan.pythons or declared(plan.environment, queries)).mask
    usual = [e for e in queries.facts.elements("python") if not e.version.endswith("t") and (admitted or -1) >> e.idx & 1]
    if plan.of_markers or not plan.pythons:  # nothing says which run
        usual = [e for e in usual if not e.has_ended(queries.day)] or usual
    masks = [Pythons(1 << e.idx) for e in reversed(usual)]
    return [one for one in masks if not any(queries.refused([pin], one) for pin in pins)] or [ANY_PYTHON]


def systems_of(environment: ProjectEnvironment, queries: ProjectQueries) -> tuple[str, ...]:
    """Return the system that runs, by its images or as pipelines name it; empty where it is not known."""
    images = [image for _, image in environment.images if image.tag]
    names = [f"{image.repository}:{image.tag}".partition("-")[0] for image in images]
    names += [part for image in images if queries.is_plain(image.repository) for part in (image.tag or "").split("-")[1:]]
    names += [part for image in images for part in (image.tag or "").split("-") if part.isalpha()]  # such as noble
    for name in (*names, *(system.name for _, system in environment.systems)):
        if os_name := queries.system(name):
            return (os_name,)
    return ("windows",) if environment.reading.kind == "batch" else ()


def is_supported(plan: InstallPlan, queries: ProjectQueries) -> bool:
    """Return whether the system is one on which any of the devices is, or is not known."""
    return not plan.systems or any(_fits(plan.systems, family, queries) for family in FAMILIES.values())


def _fits(systems: tuple[str, ...], family: str, queries: ProjectQueries) -> bool:
    return any(family in (system, *queries.facts.wider.get(system, ())) for system in systems)


def _installed(plan: InstallPlan, queries: ProjectQueries) -> InstallPlan:
    """Go through the steps; a later one keeps what fits it, and replaces what does not."""
    _from_images(plan, queries)
    steps: dict[int, list[ProductRequirement]] = {}
    for required in plan.requirements:
        steps.setdefault(required.requirement.step, []).append(required)
    uninstalled = {(a.step, name) for _, a in plan.environment.actions if a.verb == "uninstall" for name in a.words}
    gone = {(step, product.id) for step, name in uninstalled if (product := queries.facts.product(name))}
    limits = [w for w in plan.requirements if w.requirement.role is RequirementRole.CONSTRAINT]
    alone = len(limits) == len(plan.requirements)
    for step in sorted({*steps, *(step for step, _ in gone)}):
        for at, product_id in gone:
            if at == step:
                plan.final.pop(product_id, None)
        for product_id, requirements in _by_product(steps.get(step, [])).items():
            if not alone and all(w.requirement.role is RequirementRole.CONSTRAINT for w in requirements):
                continue
            _put(plan, queries, product_id, requirements, step)
    return plan


def _by_product(requirements: list[ProductRequirement]) -> dict[str, list[ProductRequirement]]:
    requirements_by_product: dict[str, list[ProductRequirement]] = {}
    for required in requirements:
        requirements_by_product.setdefault(required.product.id, []).append(required)
    return requirements_by_product


def _put(
    plan: InstallPlan, queries: ProjectQueries, product_id: str, requirements: list[ProductRequirement], step: int
) -> None:
    is_own = any(flag.startswith("--no-index") for flag in plan.environment.flags.get(step, ()))  # from files of the project
    if is_own or any(_is_open(w.requirement) for w in requirements):
        plan.final.pop(product_id, None)
        return
    bounded = [w for w in requirements if w.requirement.specifier] or requirements
    allowed = queries.allowed(requirements[0].product, [w.requirement.specifier for w in requirements])
    if allowed is None:
        plan.final.pop(product_id, None)
        return
    if not allowed.mask and allowed.exact and queries.is_decided(product_id):  # a label or a rebuild that the data lack
        release = queries.allowed(requirements[0].product, [_REBUILT.sub("", allowed.text)])
        allowed = allowed._replace(mask=release.mask) if release else allowed
    parts = [RequirementOrigin(w.located, f"{w.product.id}{w.requirement.specifier}", step) for w in bounded]
    installed = InstalledProduct(allowed, parts, step, requirements[0].requirement.tool, requirements)
    singles = (queries.allowed(w.product, [w.requirement.specifier]) for w in requirements)
    if not allowed.mask and len(requirements) > 1 and all(one and one.mask for one in singles):
        plan.empty.append((installed, bounded[-1]))
        plan.final.pop(product_id, None)
        return
    before = plan.final.get(product_id)
    if before and before.step != step:
        both = before.allowed.mask & allowed.mask
        if both and not before.allowed.text:
            both &= _beside_its_step(plan, queries, before)
        if both:
            text = ",".join(dict.fromkeys(t for t in (before.allowed.text, allowed.text) if t))
            merged = AllowedVersions(product_id, text, both, before.allowed.exact or allowed.exact)
            is_moved = allowed.exact and not before.allowed.exact  # a later step chose what stays
            plan.final[product_id] = InstalledProduct(
                merged,
                [*before.parts, *(parts if allowed.text else [])],
                step if is_moved else before.step,
                before.tool,
                [*before.requirements, *requirements],
            )
            return
    plan.final[product_id] = installed


def _beside_its_step(plan: InstallPlan, queries: ProjectQueries, installed: InstalledProduct) -> int:
    """Return what a product without a version may be beside the versions of others that its own step asks for."""
    product = installed.allowed.product
    wanted = [w for w in plan.requirements if w.requirement.step == installed.step and w.requirement.specifier]
    others = [queries.allowed(w.product, [w.requirement.specifier]) for w in wanted if w.product.id != product]
    fitting = (
        element.idx
        for element in queries.elements(product, installed.allowed.mask)
        if all(not o or not o.mask or o.mask & ~queries.excluded(element, o.product) for o in others)
    )
    return sum(1 << idx for idx in fitting)


def _is_open(requirement: Requirement) -> bool:
    """Return whether only a run would tell what is installed, or whoever asks for it takes what does not go together."""
    is_overriding = requirement.role is RequirementRole.OVERRIDE
    return requirement.unknown or is_overriding or bool(requirement.url and not requirement.specifier)


def _from_images(plan: InstallPlan, queries: ProjectQueries) -> None:
    for located, use in plan.environment.images if "#" not in plan.environment.group else ():  # an environment apart sees none
        if not use.tag or use.group.startswith("from:"):
            continue
        image = known_image(queries, use)
        if image is None:
            continue
        for product_id, held in queries.lookups.contents(image).items():
            product = queries.facts.products.get(product_id)
            if product is None or product.role not in (Role.PACKAGE, Role.COMPANION) or not held.mask:
                continue
            name = f"{use.repository}:{use.tag}"
            allowed = AllowedVersions(product_id, held.spec or "==0", held.mask, True)
            part = RequirementOrigin(located, f"{product_id}{held.spec}", 0, name)
            plan.final[product_id] = InstalledProduct(allowed, [part], -1, "image", [])


def known_image(queries: ProjectQueries, use: ImageUse) -> "ImageRecord | None":
    """Return the tag that the data know, None for others and for tags of other repositories."""
    if use.repository not in queries.lookups.repositories or not use.tag:
        return None
    image = queries.lookups.image(use.tag, use.repository)
    return image if image and image.repository == use.repository else None
