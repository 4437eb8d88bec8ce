"""What an environment holds after its steps, and what an installer is free to choose: markers, indexes, orders judged."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from compatkb.check.project.environments import Environment, Said, Wish
from compatkb.check.project.queries import Held, Judge, address
from compatkb.check.rules import Registry
from compatkb.core.findings import Finding
from compatkb.core.vocabulary import Role
from compatkb.parsers.statement import ImageUse, IndexUse, Requirement, RequirementRole

if TYPE_CHECKING:
    from compatkb.check.lookups import Image

_PLATFORMS = (("linux", "Linux", "posix"), ("win32", "Windows", "nt"))
FAMILIES = {"linux": "linux", "win32": "windows"}
"""What is installed on others is not judged: none of the devices is there."""


class Part(NamedTuple):
    """Something that determines what is installed of a product: a requirement, or an image that holds it."""

    said: Said
    text: str  # as people read it
    step: int
    inside: str = ""  # the image


class Installed(NamedTuple):
    """What is installed of a product: what it may be, the step, and what asked for it."""

    hold: Held
    parts: list[Part]
    step: int
    tool: str
    wishes: list[Wish]


class Setting:
    """An environment on one kind of platform: its requirements, and what its steps leave."""

    def __init__(
        self,
        environment: Environment,
        wishes: tuple[Wish, ...],
        pythons: int,  # elements, 0 for any
        python_said: Said | None,
        systems: tuple[str, ...],
    ) -> None:
        self.environment, self.wishes = environment, wishes
        self.pythons, self.python_said, self.systems = pythons, python_said, systems
        self.final: dict[str, Installed] = {}
        self.empty: list[tuple[Installed, Wish]] = []  # within one step nothing fits all
        self.replaced: list[tuple[Installed, Installed]] = []

    @property
    def conditional(self) -> bool:
        """Return whether markers chose its requirements."""
        return len(self.wishes) < len(self.environment.wishes)


ENVIRONMENTS = Registry[Callable[[Environment, Judge], Iterator[Finding]]]()
"""What checks an environment, whatever the platform."""
SETTINGS = Registry[Callable[[Setting, Judge], Iterator[Finding]]]()
"""What checks an environment on one kind of platform."""
PROJECTS = Registry[Callable[[list[Setting], Judge], Iterator[Finding]]]()
"""What checks all environments together."""


class Sources(NamedTuple):
    """The channels that an installer asks; `known` is false where an index is not among the data."""

    channels: frozenset[str]
    known: bool
    extra: tuple[str, ...] = ()  # channels beside the first


def settings_of(environment: Environment, judge: Judge) -> Iterator[Setting]:
    """Yield the environment for each set of requirements that markers leave, with the platforms on which it is left."""
    pythons, said = _pythons(environment, judge)
    systems = _systems(environment, judge)
    markers = {wish.requirement.marker for wish in environment.wishes if wish.requirement.marker}
    if not markers:
        yield _installed(Setting(environment, tuple(environment.wishes), pythons, said, systems), judge)
        return
    declared = pythons or _declared(environment, judge)
    groups: dict[tuple[int, ...], list[tuple[str, int]]] = {}
    for platform, system, os_name in _PLATFORMS:
        if systems and not _fits(systems, FAMILIES[platform], judge):
            continue
        for element in judge.facts.elements("python"):
            if element.version.endswith("t") or (declared and not declared >> element.idx & 1):
                continue
            active = tuple(
                n
                for n, wish in enumerate(environment.wishes)
                if _holds(wish.requirement.marker, platform, system, os_name, element.version)
            )
            groups.setdefault(active, []).append((platform, element.idx))
    for active, places in groups.items():
        wishes = tuple(environment.wishes[n] for n in active)
        mask = 0
        for _, idx in places:
            mask |= 1 << idx
        families = {FAMILIES[platform] for platform, _ in places}
        chosen = systems or (tuple(families) if len(families) == 1 else ())
        yield _installed(Setting(environment, wishes, mask if pythons or len(groups) > 1 else 0, said, chosen), judge)


@lru_cache(maxsize=65536)
def _holds(marker: str | None, platform: str, system: str, os_name: str, python: str) -> bool:
    if marker is None:
        return True
    from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName

    values = {
        "sys_platform": platform,
        "platform_system": system,
        "os_name": os_name,
        "platform_machine": "AMD64" if platform == "win32" else "x86_64",
        "python_version": python,
        "python_full_version": f"{python}.0",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "extra": "",
    }
    try:
        return Marker(marker).evaluate(values)
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName, KeyError):
        return False


def _pythons(environment: Environment, judge: Judge) -> tuple[int, Said | None]:
    """Return the Pythons that run, the last set up first of all."""
    for said, python in reversed(environment.pythons):
        if python.runs and (mask := judge.python(python.specifier)):
            return mask, said
    for said, image in environment.images:
        name = image.repository.rpartition("/")[2]
        found = judge.facts.product(name) if image.tag else None
        if found and found.id == "python" and image.tag:
            number = image.tag.partition("-")[0]
            if number.count(".") and (mask := judge.python(f"=={number}.*" if number.count(".") == 1 else f"=={number}")):
                return mask, said
    return 0, None


def _declared(environment: Environment, judge: Judge) -> int:
    for _, python in environment.pythons:
        if not python.runs:
            return judge.python(python.specifier)
    return 0


def _systems(environment: Environment, judge: Judge) -> tuple[str, ...]:
    names = [f"{image.repository}:{image.tag}".partition("-")[0] for _, image in environment.images if image.tag]
    for name in (*names, *(system.name for _, system in environment.systems)):
        if found := judge.system(name):
            return (found,)
    return ()


def is_judged(setting: Setting, judge: Judge) -> bool:
    """Return whether the system is one on which any of the devices is, or is not known."""
    return not setting.systems or any(_fits(setting.systems, family, judge) for family in FAMILIES.values())


def _fits(systems: tuple[str, ...], family: str, judge: Judge) -> bool:
    return any(family in (system, *judge.facts.wider.get(system, ())) for system in systems)


def _installed(setting: Setting, judge: Judge) -> Setting:
    """Go through the steps; a later one keeps what fits it, and replaces what does not."""
    _from_images(setting, judge)
    steps: dict[int, list[Wish]] = {}
    for wish in setting.wishes:
        steps.setdefault(wish.requirement.step, []).append(wish)
    uninstalled = {(a.step, name) for _, a in setting.environment.actions if a.verb == "uninstall" for name in a.words}
    gone = {(step, product.id) for step, name in uninstalled if (product := judge.facts.product(name))}
    limits = [w for w in setting.wishes if w.requirement.role is RequirementRole.CONSTRAINT]
    alone = len(limits) == len(setting.wishes)
    for step in sorted({*steps, *(step for step, _ in gone)}):
        for at, product_id in gone:
            if at == step:
                setting.final.pop(product_id, None)
        for product_id, wishes in _by_product(steps.get(step, [])).items():
            if not alone and all(w.requirement.role is RequirementRole.CONSTRAINT for w in wishes):
                continue
            _put(setting, judge, product_id, wishes, step)
    return setting


def _by_product(wishes: list[Wish]) -> dict[str, list[Wish]]:
    found: dict[str, list[Wish]] = {}
    for wish in wishes:
        found.setdefault(wish.product.id, []).append(wish)
    return found


def _put(setting: Setting, judge: Judge, product_id: str, wishes: list[Wish], step: int) -> None:
    if any(w.requirement.unknown or (w.requirement.url and not w.requirement.specifier) for w in wishes):
        setting.final.pop(product_id, None)
        return
    told = [w for w in wishes if w.requirement.specifier] or wishes
    hold = judge.held(wishes[0].product, [w.requirement.specifier for w in wishes])
    if hold is None:
        setting.final.pop(product_id, None)
        return
    parts = [Part(w.said, f"{w.product.id}{w.requirement.specifier}", step) for w in told]
    made = Installed(hold, parts, step, wishes[0].requirement.tool, wishes)
    if not hold.mask and len(wishes) > 1 and all(_one(judge, w) for w in wishes):
        setting.empty.append((made, told[-1]))
        setting.final.pop(product_id, None)
        return
    before = setting.final.get(product_id)
    if before and before.step != step:
        both = before.hold.mask & hold.mask
        if both:
            text = ",".join(t for t in (before.hold.text, hold.text) if t)
            kept = Held(product_id, text, both, before.hold.exact or hold.exact)
            setting.final[product_id] = Installed(
                kept, [*before.parts, *(parts if hold.text else [])], before.step, before.tool, [*before.wishes, *wishes]
            )
            return
        if before.hold.mask and hold.mask:
            setting.replaced.append((before, made))
    setting.final[product_id] = made


def _one(judge: Judge, wish: Wish) -> bool:
    hold = judge.held(wish.product, [wish.requirement.specifier])
    return bool(hold and hold.mask)


def _from_images(setting: Setting, judge: Judge) -> None:
    for said, use in setting.environment.images:
        if not use.tag or use.group.startswith("from:"):
            continue
        image = known_image(judge, use)
        if image is None:
            continue
        for product_id, held in judge.known.held(image).items():
            product = judge.facts.products.get(product_id)
            if product is None or product.role not in (Role.PACKAGE, Role.COMPANION) or not held.mask:
                continue
            name = f"{use.repository}:{use.tag}"
            hold = Held(product_id, held.spec or "==0", held.mask, True)
            part = Part(said, f"{product_id}{held.spec}", 0, name)
            setting.final[product_id] = Installed(hold, [part], -1, "image", [])


def known_image(judge: Judge, use: ImageUse) -> "Image | None":
    """Return the tag that the data know, None for others and for tags of other repositories."""
    repository = use.repository.removeprefix("docker.io/")
    if repository not in judge.known.repositories or not use.tag:
        return None
    found = judge.known.image(use.tag, repository)
    return found if found and found.repository == repository else None


def sources_of(setting: Setting, step: int, requirement: Requirement, judge: Judge) -> Sources:
    """Return the channels that the installer asks in a step; options of other steps do not count, settings do."""
    environment = setting.environment
    if requirement.only_index:
        named = [use.url for _, use in environment.indexes if use.name and use.name in requirement.only_index.split()]
        urls = named or ([requirement.only_index] if "/" in requirement.only_index else [])
        return _channels(urls, judge) if urls else Sources(frozenset(), known=False)
    uses = [use for _, use in environment.indexes if not use.explicit and (use.step == step or _lasts(use, step))]
    if requirement.tool in ("project", "poetry", "pdm", "pipenv") or (requirement.tool == "uv" and not step):
        uses = [use for _, use in environment.indexes if not use.explicit]
    first = [use for use in uses if use.style == "index-url"]
    flags = environment.flags.get(step, ())
    if any(flag.startswith(("--torch-backend", "--no-index", "--pre")) for flag in flags):
        return Sources(frozenset(), known=False)
    found = _channels([use.url for use in uses], judge)
    if any("/" in image.repository or image.unknown for _, image in environment.images if not image.group.startswith("from:")):
        found = found._replace(known=False)  # whoever made the image may have set indexes in it
    own = frozenset() if first else frozenset({judge.own})
    extra = tuple(c for use in uses if use.style != "index-url" and (c := judge.channels.get(address(use.url))))
    return Sources(found.channels | own, found.known, extra)


def _lasts(use: IndexUse, step: int) -> bool:
    """Return whether an index was set for all steps after it: by a variable or a setting, not by an option."""
    return not use.text.startswith("-") and use.step < step and ("=" in use.text.partition("http")[0] or use.step == 0)


def _channels(urls: list[str], judge: Judge) -> Sources:
    found = set()
    whole = True
    for url in urls:
        channel = judge.channels.get(address(url))
        if channel:
            found.add(channel)
        else:
            whole = False
    return Sources(frozenset(found), whole)
