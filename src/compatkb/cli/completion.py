"""The values that a shell completes, from the snapshot."""

from collections.abc import Callable
from functools import cache

import typer

from compatkb.store.cache import locate
from compatkb.store.reader import Snapshot

Values = list[tuple[str, str]]
"""Words, each with what the shell may show beside it."""
_PLACES = ("hardware", "os", "python", "device")
"""The products whose versions stand as words of their own."""


class _BehindEquals(str):
    """A version that bash puts behind `==`, which it takes for the word that is completed."""

    __slots__ = ()

    def startswith(self, *_: object) -> bool:
        """Return that it is not to be left out for not beginning with `==`."""
        return True


def _open(ctx: typer.Context) -> Snapshot:
    return Snapshot(locate(ctx.params.get("data")))


def products(ctx: typer.Context, incomplete: str) -> Values:
    """Return products, features left out."""
    candidates = _open(ctx).products.values()
    return [
        (product.id, product.name) for product in candidates if product.role != "feature" and product.id.startswith(incomplete)
    ]


def features(ctx: typer.Context, incomplete: str) -> Values:
    """Return features."""
    facts = _open(ctx)
    return [(name, facts.products[name].name) for name in facts.features if name.startswith(incomplete)]


def products_and_features(ctx: typer.Context, incomplete: str) -> Values:
    """Return products, then features."""
    return products(ctx, incomplete) + features(ctx, incomplete)


def routes(ctx: typer.Context, incomplete: str) -> Values:
    """Return the ways to reach a device."""
    return [(route.id, route.name) for route in _open(ctx).routes if route.id.startswith(incomplete)]


@cache
def versions_of(product: str) -> Callable[[typer.Context, str], Values]:
    """Return what completes the versions of one product."""

    def values(ctx: typer.Context, incomplete: str) -> Values:
        return _versions(_open(ctx), product, incomplete)

    return values


devices = versions_of("device")


def versions(ctx: typer.Context, incomplete: str) -> Values:
    """Return the versions of the product that stands before."""
    facts = _open(ctx)
    product = facts.product(str(ctx.params.get("product") or ""))
    return _versions(facts, product.id, incomplete) if product else []


def words(ctx: typer.Context, incomplete: str) -> Values:
    """Return products, `PRODUCT==V` where a product stands already, features, hardware, systems, Pythons and devices.

    bash takes `torch==2.8` for three words: then the product and `==` stand before, or the product alone.
    """
    facts = _open(ctx)
    before = list(ctx.params.get("words") or ())
    if incomplete == "==" and before and (product := facts.product(before[-1])):
        return [(_BehindEquals(version), about) for version, about in _versions(facts, product.id, "")]
    if len(before) > 1 and before[-1] == "==" and (product := facts.product(before[-2])):
        return _versions(facts, product.id, incomplete)
    name, equals, version = incomplete.partition("==")
    if equals:
        product = facts.product(name)
        candidates = _versions(facts, product.id, version) if product else []
        return [(f"{name}=={text}", about) for text, about in candidates]
    places = [value for place in _PLACES for value in _versions(facts, place, incomplete)]
    return products_and_features(ctx, incomplete) + places


def _versions(facts: Snapshot, product: str, start: str) -> Values:
    """Return the versions of a product, newest first; where none begins so, other names that do: b580."""
    if product not in facts.products:
        return []
    names = {record.version: record.name for record in facts.releases_of(product)}
    releases = dict.fromkeys(element.release for element in reversed(facts.elements(product)))
    candidates = [(release, names.get(release) or "") for release in releases if release.startswith(start)]
    if candidates or not start or facts.products[product].scheme != "listed":
        return candidates
    return [(text, "") for text in facts.names(product).values() if text.startswith(start) and " " not in text]
