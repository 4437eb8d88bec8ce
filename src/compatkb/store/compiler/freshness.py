"""Rows of the snapshot about when things were last looked at: sources read, indexes listed, observations made."""

from collections.abc import Iterator
from datetime import date

from compatkb.authoring.knowledge_base import Knowledge
from compatkb.store.compiler.platform_sets import Row


def readings(knowledge: Knowledge) -> Iterator[Row]:
    """Yield one row a kind, day and, for observations, level and outcome: how many there are, and one of them."""
    names_by_reading: dict[tuple[str, str, str, date], list[str]] = {}
    files = knowledge.files
    for product in files.products:
        for name, source in product.source.items():
            names_by_reading.setdefault(("source", "", "", source.seen), []).append(
                f"products/{product.product.id}.toml {name}"
            )
    for image in files.images:
        for name, source in image.source.items():
            names_by_reading.setdefault(("source", "", "", source.seen), []).append(
                f"images/{image.repository.id}.toml {name}"
            )
    for name, source in files.channels.source.items():
        names_by_reading.setdefault(("source", "", "", source.seen), []).append(f"channels.toml {name}")
    for index in files.index:
        names_by_reading.setdefault(("index", "", "", index.seen), []).append(f"index/{index.distribution}.toml")
    for seen in files.evidence:
        packages = " ".join(f"{name}=={version}" for name, version in sorted(seen.packages.items()))
        names_by_reading.setdefault(("evidence", str(seen.level), str(seen.outcome), seen.checked), []).append(
            f"{seen.level} of {packages}"
        )
    for (kind, level, outcome, day), names in sorted(names_by_reading.items()):
        yield {
            "kind": kind,
            "level": level,
            "outcome": outcome,
            "day": day.isoformat(),
            "n": len(names),
            "example": min(names),
        }
