"""Why an answer does not lead with a newer release: the first rule of the order of preference by which it lost."""

import re
from collections.abc import Iterator

from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Certainty
from compatkb.engine.availability import GLIBC
from compatkb.engine.budget import Budget
from compatkb.engine.preference import Quality, preference
from compatkb.engine.problem import Problem, problem_of
from compatkb.engine.search import Aim, Search
from compatkb.engine.stacks import Stack
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Elements, ElementSet, Pin, Request

DENIED, UNKNOWN = "denied", "is_unknown"
MOST = 3
"""Of so many releases, the newest ones, it is told."""


class PassedOver(NamedTuple):
    """A newer release of what brings the device, and why it does not lead: the field of `Quality` that decides.

    DENIED where nothing goes with it on the systems and Pythons of the answer, GLIBC where theirs is too old for its wheels.
    """

    element: Element
    why: str


def passed_over(facts: Snapshot, request: Request, best: Stack) -> tuple[PassedOver, ...]:
    """Return the newest of the releases of the product that brings the device which the best stack passes over.

    Those that a pin leaves out are not among them: the user passed over these. Raises GaveUpError.
    """
    route = next(route for route in facts.routes if route.id == best.route)
    held = next((element for element in best.packages if element.product == route.provider), None)
    pin = request.pin(route.provider)
    if held is None or held.has_ended(request.today):
        return ()
    newer: dict[str, int] = {}
    for element in reversed(facts.elements(route.provider)):
        is_newer = element.idx > held.idx and element.release != held.release and best.device in element.devices
        is_admitted = element.installable and not element.is_preview and (pin is None or bool(pin.mask >> element.idx & 1))
        if is_newer and is_admitted:
            newer[element.release] = newer.get(element.release, 0) | 1 << element.idx
    problem = problem_of(facts, request, best.device, route, Budget())
    told = []
    for mask in list(newer.values())[:MOST]:
        element = facts.elements(route.provider)[mask.bit_length() - 1]
        left = problem.limited_to({route.provider: mask & problem.domains[route.provider]}, best.cells(facts))
        hits = Search(left, Aim.BEST, Certainty.INFERRED).run()
        if hits:
            why = _deciding(min(preference(hit.problem, hit.quality) for hit in hits), best)
        else:
            why = UNKNOWN if Search(left, Aim.FIRST).run() else GLIBC if _is_too_new(left, element) else DENIED
        told.append(PassedOver(element, why))
    return tuple(told)


def _is_too_new(problem: Problem, element: Element) -> bool:
    """Return whether what a release says of glibc denies it on a system that is asked about."""
    of_glibc, pin = problem.context.edges_from(element.product, element.idx, GLIBC), problem.pins.get(GLIBC)
    said, of_systems = {edge.claim for edge in of_glibc}, problem.context.edges_from(element.product, element.idx, "os")
    return any(pin and pin.mask & edge.to_mask for edge in of_glibc) or any(
        edge.claim in said and edge.forbidden_on & problem.facts.dimension_cells("os", edge.to_mask) & problem.platforms
        for edge in of_systems
    )


class InSeries(NamedTuple):
    """A newer release of the series that a pin reads like: `torch==2.8` is 2.8.0 to PEP 440, whatever 2.8.1 mends."""

    pin: Pin
    named: str  # the one release that the pin names
    release: str
    is_certain: bool  # it works, rather than probably


def newer_in_series(facts: Snapshot, request: Request, best: Stack) -> Iterator[InSeries]:
    """Yield for each pin that reads like a series the newest release of it that answers the request, too.

    Raises GaveUpError.
    """
    read = {pin.product: _series(pin, facts.elements(pin.product)) for pin in request.pins}
    series = {product: found for product, found in read.items() if found}
    if not series:
        return
    route = next(route for route in facts.routes if route.id == best.route)
    pins = tuple(
        pin._replace(mask=sum(series[pin.product].values())) if pin.product in series else pin for pin in request.pins
    )
    problem = problem_of(facts, request._replace(pins=pins), best.device, route, Budget()).limited_to({}, best.cells(facts))
    for pin in request.pins:
        for release, mask in list(series.get(pin.product, {}).items())[:-1][:MOST]:
            left = problem.limited_to({pin.product: mask & problem.domains[pin.product]})
            levels = (level for level in (Certainty.CERTAIN, Certainty.INFERRED) if Search(left, Aim.FIRST, level).run())
            if (level := next(levels, None)) is not None:
                yield InSeries(pin, list(series[pin.product])[-1], release, level == Certainty.CERTAIN)
                break


def _series(pin: Pin, elements: Elements) -> dict[str, ElementSet]:
    """Return the releases of the series that a pin reads like, newest first, the one that it names last; none for another."""
    written = re.fullmatch(r"[^=]*==\s*v?(\d+(?:\.\d+)*)", pin.text) if pin.strict and pin.mask else None
    if written is None:
        return {}
    releases: dict[str, ElementSet] = {}
    for element in reversed(elements):
        if element.release.startswith(f"{written[1]}.") and not element.is_preview:
            releases[element.release] = releases.get(element.release, 0) | 1 << element.idx
    named = {element.release for element in elements.of(pin.mask)}
    return releases if len(releases) > 1 and named == {list(releases)[-1]} else {}


def _deciding(key: tuple[int, ...], best: Stack) -> str:
    """Return the name of the first field in which a preference is behind that of the best stack."""
    before = Quality._fields.index("age")
    names = (*Quality._fields[:before], "device", "route", *Quality._fields[before:])
    least: tuple[object, ...] = best.rank
    return next((name for name, own, other in zip(names, key, least, strict=False) if own != other), names[-1])
