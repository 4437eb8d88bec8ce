"""Images that hold products which have ended, and what to start from instead."""

from collections.abc import Iterator

from compatkb.check.project.environments import LocatedStatement, ProjectEnvironment
from compatkb.check.project.install_plan import known_image
from compatkb.check.project.queries import ProjectQueries
from compatkb.migrate.guide import Guide
from compatkb.migrate.target import MigrationTargets
from compatkb.parsers.statement import ImageUse

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
