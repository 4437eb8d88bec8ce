"""The target of a migration: the best native stack for a device, a Python and a system."""

from collections.abc import Iterator, Mapping

from compatkb.check.document import CheckContext
from compatkb.check.project.environments import LocatedStatement, ProjectEnvironment
from compatkb.check.project.install_plan import FAMILIES, known_image
from compatkb.check.project.queries import ProjectQueries
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Verdict
from compatkb.doctor.questions import Questions
from compatkb.engine.stacks import Stack
from compatkb.migrate.guide import Guide
from compatkb.parsers.statement import ImageUse

_WORKS = (Verdict.WORKS, Verdict.WORKS_WITH_WARNINGS)


class MigrationTarget(NamedTuple):
    """A stack without the products that have ended, and the Python that was asked for, empty for any."""

    stack: Stack
    versions: Mapping[str, str]  # by product
    url: str  # the index that has its builds
    channel: str
    python: str

    @property
    def fits(self) -> bool:
        """Return whether the stack is for the Python that was asked for."""
        return not self.python or self.python in self.stack.python

    @property
    def known(self) -> bool:
        """Return whether the stack is known to work, not only likely to."""
        return self.stack.verdict in _WORKS

    @property
    def where(self) -> str:
        """Return how well the stack is known, and where it holds."""
        known = "works" if self.known else "likely works"
        return f"{known} on Python {', '.join(self.stack.python)} ({', '.join(self.stack.os)})"


class MigrationTargets:
    """The stacks that migrations lead to, each asked for once."""

    def __init__(self, context: CheckContext, guide: Guide, queries: ProjectQueries) -> None:
        self._context, self._guide, self._queries = context, guide, queries
        self._targets: dict[tuple[str, str, str, tuple[str, ...]], MigrationTarget | None] = {}

    def of(self, device: str, python: str, system: str, beside: tuple[str, ...] = ()) -> MigrationTarget | None:
        """Return the best stack; an empty Python or system is any; None where nothing replaces on this device.

        It holds the products `beside` where any stack does.
        """
        key = (device, python, system, beside)
        if key not in self._targets:
            self._targets[key] = self._search(device, python, system, beside)
        return self._targets[key]

    def _search(self, device: str, python: str, system: str, beside: tuple[str, ...]) -> MigrationTarget | None:
        guide = self._guide
        if device not in {known.device for known in guide.ended.values()}:
            return None
        questions = Questions(self._context.facts, self._context.clock)
        options = [("os", system or next(iter(FAMILIES.values())))]
        options += [("python", python)] if python else []
        more = [(product, ">=0") for product in beside]
        several = [  # what is written into files is proven, if there is such a stack
            questions.successor(tuple(guide.ended), several, [device], certain_only=certain_only)
            for several in (([*options, *more], options) if more else (options,))
            for certain_only in (True, False)
        ]
        instead = next((instead for instead in several if instead is not None), None)
        if instead is None:
            return None
        stack = instead.stack
        main = next(e for e in stack.packages if e.product in {known.product for known in guide.ended.values()})
        channel = next((c for c in main.channels if c in self._queries.addresses), "")
        url = self._queries.addresses.get(channel, ("", ""))[0]
        versions = {element.product: element.version for element in stack.packages}
        return MigrationTarget(stack, versions, url, channel, python)


VersionMention = tuple[str, str, tuple[str, ...]]
"""What is said of an image: message, fix, sources."""


def held_in(use: ImageUse, queries: ProjectQueries, guide: Guide) -> dict[str, str]:
    """Return the ended products in an image, with the versions that it holds."""
    image = known_image(queries, use)
    held = queries.lookups.contents(image) if image else {}
    return {product: h.spec.removeprefix("==") for product, h in held.items() if product in guide.ended and h.mask}


def image_findings(
    environment: ProjectEnvironment, queries: ProjectQueries, guide: Guide, targets: MigrationTargets, device: str | None
) -> Iterator[tuple[LocatedStatement, VersionMention]]:
    """Yield the images of an environment that hold what has ended, or whose repository is there for that alone."""
    for located, use in environment.images:
        held = held_in(use, queries, guide)
        names = {p: queries.facts.products[p].name for p in guide.ended}
        if held:
            what = " and ".join(f"{names[p]} {version}".strip() for p, version in held.items())
            message = f"this image holds {what}"
        elif _repository_ends(use, queries, guide):
            message = f"images of {use.repository} are there for products that have ended"
        else:
            continue
        own = getattr(known_image(queries, use), "device", None) or device
        sources = tuple(dict.fromkeys(s for p in held or guide.ended for s in guide.ended_sources.get(p, ())))
        yield located, (message, _instead(own, guide, targets), sources[:3])


def _instead(device: str | None, guide: Guide, targets: MigrationTargets) -> str:
    """Return what to start from, and what to install there where the device is known."""
    fix = "no image is documented that takes its place: start from one of a system or of Python"
    target = targets.of(device, "", "") if device else None
    if target is None:
        return fix
    main = {known.product for known in guide.ended.values()}
    words = " ".join(f"{p}=={v}" for p, v in target.versions.items() if p in main)
    return f"{fix}, and install {words} from {target.url}"


def _repository_ends(use: ImageUse, queries: ProjectQueries, guide: Guide) -> bool:
    known = queries.lookups
    if use.repository not in known.repositories:
        return False
    images = [i for several in known.images.values() for i in several if i.repository == use.repository]
    several_contents = [products for image in images if (products := known.contents(image))]
    return bool(several_contents) and all(set(products) & set(guide.ended) for products in several_contents)
