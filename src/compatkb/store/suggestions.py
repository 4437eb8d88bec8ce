"""What a wrong word may have meant: the nearest names and versions, as lines of an error."""

import re
from collections.abc import Iterable, Sequence

from compatkb.core.names import close, word_key
from compatkb.errors import UsageError
from compatkb.store.queries.products import release, releases_of
from compatkb.store.reader import Snapshot
from compatkb.store.records import Product


def unknown_version(facts: Snapshot, product: Product, version: str) -> UsageError:
    """Return the error for a version that a product does not have, with the nearest ones."""
    if product.scheme == "listed":
        names = facts.names(product.id)
        near = close(word_key(version), names, names)
        what = f"unknown {noun(facts, product.id, near)} {version!r}"
        return UsageError(what + (suggest(near) or nearest(facts, product, version)))
    return UsageError(f"{product.id} has no version {version!r}{nearest(facts, product, version)}")


def noun(facts: Snapshot, product: str, near: Sequence[str]) -> str:
    """Return what people call a version of a listed product; hardware after what is near it."""
    if product != "hardware":
        return {"os": "operating system", "arch": "architecture"}.get(product, product)
    masks = [facts.word(product, name) or 0 for name in near]
    devices = {device for mask in masks for element in facts.elements(product).of(mask) for device in element.devices}
    named = [record.name for record in releases_of(facts, "device") if record.name and record.version in devices]
    return " or ".join(name for name in named) or "hardware"


def nearest(facts: Snapshot, product: Product, text: str) -> str:
    """Return the nearest known versions as a line of a message."""
    versions = list(dict.fromkeys(e.release for e in facts.elements(product.id)))
    if not versions:
        return ""
    if product.scheme == "listed":
        more = f" and {len(versions) - 8} more, see `compatkb list {product.id}`" if len(versions) > 8 else ""
        return f"{listing(versions[:-9:-1])}{more}"
    wanted = numbers(text)
    if not wanted:
        return f"\n  newest: {', '.join(versions[:-4:-1])}"
    below = [v for v in versions if numbers(v) <= wanted]
    above = [v for v in versions if numbers(v) > wanted]
    near_by = [*below[:-3:-1], *above[:1]] if below else above[:3]
    return f"\n  nearest: {', '.join(near_by)}"


def numbers(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, for neighbours in a message only."""
    return tuple(int(number) for number in re.findall(r"\d+", text.rpartition("!")[2])[:4])


def suggest(words: Sequence[str]) -> str:
    """Return words that may have been meant as a line of a message, empty for none."""
    return f"\n  did you mean: {', '.join(words)}?" if words else ""


def listing(words: Iterable[str]) -> str:
    """Return all words that there are as a line of a message."""
    return f"\n  known: {', '.join(words)}"


def not_covered(facts: Snapshot, device: str) -> str:
    """Return why there are no answers for a device that no route reaches: its note, the first sentence first."""
    record = release(facts, "device", device)
    note = (record.note if record else None) or "no way to use it is known"
    first, _, more = note.partition(". ")
    return f"no answers for {device}: {first}" + (f"\n  {more.removesuffix('.')}" if more else "")
