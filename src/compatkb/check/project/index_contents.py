"""Knows which builds indexes have, and which they certainly do not have."""

import re
from functools import reduce
from operator import or_

from compatkb.check.project.queries import ANY_PYTHON, AllowedVersions, Denial, ProjectQueries, Pythons
from compatkb.core.names import numbers
from compatkb.core.vocabulary import FOREVER
from compatkb.engine.conflicts import Cause
from compatkb.request.lookup import is_newer
from compatkb.store.records import Element

_OF_A_MATRIX = 2


def cited(queries: ProjectQueries, element: Element) -> tuple[str, ...]:
    """Return the sources of a build as findings name them."""
    return tuple(url or text for text, url in queries.facts.element_sources(element)[:2])


def has_wheels_alone(product: str, queries: ProjectQueries) -> bool:
    """Return whether a wheel was seen of each release on the default index: else others may have source archives, too."""
    return all(e.certain for e in queries.facts.elements(product) if queries.own in e.channels)


def never_built(product: str, version: str, queries: ProjectQueries) -> tuple[str, ...] | None:
    """Return the sources of a list of the builds for the device of a label that is whole, None where there is none.

    The makers' matrix of a release, `cu118` and `cu126`, is one for what is older or newer than all of it alone.
    """
    from compatkb.check.lookups import urls
    from compatkb.core.versions import Scheme, admits

    public, _, label = version.partition("+")
    for scope in queries.facts.scopes:
        of_label = scope.product == product and label in scope.devices and scope.until >= queries.lists_until
        if scope.until < FOREVER and is_newer(queries.facts, queries.facts.products[product], public):
            continue
        if of_label and admits(Scheme(queries.facts.products[product].scheme), scope.spec, public):
            return urls(scope.sources)
    builds = [
        e for e in queries.facts.elements(product) if e.release == public and _kind(e.version) == _kind(version) is not None
    ]
    known = [_number(e.version) for e in builds]
    is_inside = len(builds) < _OF_A_MATRIX or min(known) <= _number(version) <= max(known)
    return None if is_inside else cited(queries, builds[-1])


def _kind(version: str) -> str | None:
    """Return the letters of a label that is letters and a number, None of others."""
    match = re.fullmatch(r"[^+]+\+([a-z]+)[\d.]+", version)
    return match[1] if match else None


def _number(version: str) -> tuple[int, ...]:
    """Return the number of such a label: (118,) of `cu118`, (6, 3) of `rocm6.3`."""
    return numbers(version.partition("+")[2])


def lacks(channel: str, builds: list[Element], queries: ProjectQueries) -> bool:
    """Return whether it is known that an index has none of these builds, beyond that the data list none there.

    The default index takes no labels (PEP 440), and an index that is named for a label has builds with that one; of others a
    list has to be whole.
    """
    product = builds[0].product
    if channel == queries.own and queries.is_decided(product):
        return not any(channel in e.channels for e in queries.facts.elements(product))  # nor will it ever have any
    label = queries.addresses[channel][0].rstrip("/").rpartition("/")[2]
    labels = {build.version.partition("+")[2] for build in builds}
    if "" not in labels and (channel == queries.own or _is_of_label(builds[0].product, channel, label, queries)):
        return label not in labels
    if _is_of_label(builds[0].product, channel, label, queries):
        return all(never_built(build.product, f"{build.release}+{label}", queries) for build in builds)
    return all(queries.lookups.is_listed_whole(build, channel, queries.lists_until) for build in builds)


def lacks_label(channel: str, product: str, version: str, queries: ProjectQueries) -> bool:
    """Return whether an index has no build of a label: the default one (PEP 440), and one that is named for another label."""
    label = queries.addresses[channel][0].rstrip("/").rpartition("/")[2]
    return channel == queries.own or (label != version.partition("+")[2] and _is_of_label(product, channel, label, queries))


def may_have(channel: str, builds: list[Element], queries: ProjectQueries) -> bool:
    """Return whether an index has one of these builds, or is named for a label that one may have."""
    label = queries.addresses[channel][0].rstrip("/").rpartition("/")[2]
    return any(channel in build.channels for build in builds) or (
        bool(builds)
        and _is_of_label(builds[0].product, channel, label, queries)
        and not all(never_built(build.product, f"{build.release}+{label}", queries) for build in builds)
    )


def _is_of_label(product: str, channel: str, label: str, queries: ProjectQueries) -> bool:
    there = [e.version for e in queries.facts.elements(product) if channel in e.channels]
    return any(version.endswith(f"+{label}") for version in there)


def demanded(
    one: AllowedVersions, other: AllowedVersions, pythons: Pythons, systems: tuple[str, ...], queries: ProjectQueries
) -> Denial | None:
    """Return what the metadata of each build of one demand that another cannot be, whatever the device.

    Of systems that are not known Linux on the usual architecture is meant, of Pythons all that both have wheels for.
    """
    facts = queries.facts
    builds = [build for build in queries.elements(one.product, one.mask) if build.installable]
    if not builds or not queries.demand(builds[0], other):
        return None
    if any(build.extras for build in builds):  # what they demand with their extras binds nobody who goes without
        return None
    cells = facts.dimension_cells("os", reduce(or_, (facts.word("os", name) or 0 for name in systems or ("linux",))))
    cells &= facts.dimension_cells("arch", facts.usual["arch"])
    if pythons:
        cells &= facts.dimension_cells("python", pythons.mask)
    cells &= reduce(or_, (e.certain | e.inferred for e in queries.elements(other.product, other.mask)), 0)
    edges = [
        edge
        for build in builds
        if (edge := queries.demand(build, other, cells)) and not cells & (build.certain | build.inferred) & ~edge.forbidden_on
    ]
    request = queries.request((one, other), ANY_PYTHON, ())
    if len(edges) < len(builds) or request is None:
        return None
    conflict = Cause(("claim", one.product, other.product), request.devices[0], "", True, (), (), (edges[0],))
    from compatkb.output.causes import Causes

    words = Causes(facts, request)
    sources = tuple(dict.fromkeys(url or text for text, url in words.sources(conflict)))
    products = frozenset((one.product, other.product))
    name, spec = facts.products[other.product].distribution or other.product, edges[0].spec
    fix = "" if "+" in spec else f"write {name}{spec}"
    return Denial(words.sentence(conflict), "stated", sources, products, (), stops=True, demand=fix)
