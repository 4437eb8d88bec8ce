"""Stacks that a user names, in place of those that the data claim: any builds that an index may carry, known here or not."""

from collections.abc import Iterable, Mapping

from packaging.version import InvalidVersion, Version

from compatkb.core.clock import Clock
from compatkb.core.vocabulary import Verdict
from compatkb.engine.answer import resolve
from compatkb.errors import UsageError
from compatkb.request.parser import make_request
from compatkb.store.reader import Snapshot
from compatkb.store.records import Request
from compatkb.validate.plan import Claimed, PlanScope


def named(facts: Snapshot, wanted: PlanScope, texts: Iterable[str]) -> list[Claimed]:
    """Return the stacks that texts such as `torch==2.4.0 setuptools==81.0.0` name, on each Python that is wanted, sorted.

    A package is named by its distribution or as the data call it. Raises UsageError for what is no exact pin.
    """
    if not wanted.pythons:
        raise UsageError("a stack that is named needs at least one --python")
    stacks = {tuple(sorted(_pin(facts, word) for word in text.split())) for text in texts}
    return [
        Claimed(packages, python, verdict_of(facts, wanted, packages, python))
        for packages in sorted(stacks)
        for python in sorted(wanted.pythons)
    ]


def _pin(facts: Snapshot, word: str) -> tuple[str, str]:
    name, equal, version = word.partition("==")
    try:
        if not (name and equal):
            raise InvalidVersion
        number = str(Version(version))
    except InvalidVersion:
        raise UsageError(f"{word!r} is not PACKAGE==VERSION; a stack is such pins with spaces between them") from None
    product = facts.product(name)
    if product is None:
        return name, number
    return facts.distribution(product.id, number) or name, number


def verdict_of(facts: Snapshot, wanted: PlanScope, packages: tuple[tuple[str, str], ...], python: str) -> Verdict:
    """Return what the data say of it: `unknown` too where they do not know one of the versions."""
    system, _, arch = wanted.platform.rpartition("-")
    words = [f"{name}=={version}" for name, version in packages if facts.product(name)]
    words += [f"python=={python}", f"os=={system}", f"arch=={arch}"]
    try:
        request = make_request(facts, (), words, (wanted.device,), Clock(wanted.day))
    except UsageError:
        return Verdict.UNKNOWN
    return resolve(facts, _of_builds(facts, request, dict(packages)), near=False).verdict


def _of_builds(facts: Snapshot, request: Request, packages: Mapping[str, str]) -> Request:
    """Return a request for the builds that are named and no others: an installer that gets 2.0 has not got 2.0+cpu."""
    pins = []
    for pin in request.pins:
        named = packages.get(pin.product) or packages.get(facts.products[pin.product].distribution or "")
        same = [e for e in facts.elements(pin.product) if pin.mask >> e.idx & 1 and e.version == named]
        pins.append(pin._replace(mask=1 << same[0].idx) if same else pin)
    return request._replace(pins=tuple(pins))
