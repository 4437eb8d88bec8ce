"""Rules on system packages: drivers and toolkits installed beside packages that refuse them."""

import re
from collections.abc import Iterator
from functools import reduce
from operator import or_

from compatkb.check.project.environments import LocatedStatement
from compatkb.check.project.install_plan import SETTINGS, InstalledProduct, InstallPlan
from compatkb.check.project.pins import at, short
from compatkb.check.project.queries import ProjectQueries
from compatkb.check.project.values import AllowedVersions
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.core.vocabulary import Kind, Role
from compatkb.errors import UsageError
from compatkb.request.lookup import find_versions

REFUSED = CheckRule(
    "machine-refused", Severity.WARNING, "a driver or toolkit of the system is one that a package does not go with"
)
OLDER = CheckRule(
    "machine-older", Severity.WARNING, "a driver of the system is older than any that a package was verified with"
)

_SERIES = re.compile(r"[-+](\d{3,4})~\d+\.\d+")
_NUMBER = re.compile(r"(?<!\d)(\d{4}\.\d+(?:\.\d+)?)(?!\d)")


@SETTINGS.rule(REFUSED, OLDER)
def check(plan: InstallPlan, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield drivers and toolkits that packages of an environment refuse, whatever else is chosen."""
    packages = [one for one in plan.final.values() if one.allowed.mask and one.allowed.text and one.step >= 0]
    if not packages:
        return
    for located, allowed, text in _brought(plan, queries):
        judged = [one for one in packages if queries.facts.products[one.allowed.product].role != Role.LEAF]
        fitting = [one for one in judged if not queries.refused([one.allowed])]
        if refused := next((finding for one in fitting if (finding := _refused(located, one, allowed, text, queries))), None):
            yield refused
        elif older := next((finding for one in fitting if (finding := _older(located, one, allowed, text, queries))), None):
            yield older


def _refused(
    located: LocatedStatement, one: InstalledProduct, allowed: AllowedVersions, text: str, queries: ProjectQueries
) -> Finding | None:
    denial = queries.denial([one.allowed, allowed])
    if denial is None:
        return None
    product, name = queries.facts.products[allowed.product].name, queries.facts.products[one.allowed.product].name
    package = f"{name} {one.allowed.text.removeprefix('==')}"
    message = f"{product} {text} does not go with {package}: {short(denial.reason)} ({denial.basis})"
    return at(located, REFUSED, message, sources=denial.sources)


def _older(
    located: LocatedStatement, one: InstalledProduct, allowed: AllowedVersions, text: str, queries: ProjectQueries
) -> Finding | None:
    """Return a finding where all versions that a package was verified with are newer."""
    edges = [
        edge
        for edge in queries.facts.edges(one.allowed.product, allowed.product)
        if edge.kind == Kind.VERIFIED and not edge.open and edge.of_mask & one.allowed.mask == one.allowed.mask
    ]
    verified = reduce(or_, (edge.to_mask for edge in edges), 0)
    oldest = (verified & -verified).bit_length() - 1
    if not verified or allowed.mask.bit_length() - 1 >= oldest:
        return None
    product, name = queries.facts.products[allowed.product].name, queries.facts.products[one.allowed.product].name
    first = queries.facts.elements(allowed.product)[oldest].version
    from compatkb.output.messages import claim_sources

    sources = tuple(url or cited for edge in edges[:2] for cited, url in claim_sources(queries.facts, edge.claim))
    message = f"{name} {one.allowed.text.removeprefix('==')} was verified with {product} {first} and newer, not {text}"
    return at(located, OLDER, message, sources=sources, fix=f"install {first} or newer")


def _brought(plan: InstallPlan, queries: ProjectQueries) -> Iterator[tuple[LocatedStatement, AllowedVersions, str]]:
    """Yield what packages and images of the system are versions of: products that no installer of Python knows."""
    for located, package in plan.environment.packages:
        series = _SERIES.search(package.version or "")
        number = _NUMBER.search(f"{package.name} {package.version or ''}")
        yield from _versions(located, package.name, (series, number), queries)
    for located, image in plan.environment.images:
        if image.tag:
            yield from _versions(located, image.repository, (None, _NUMBER.match(image.tag)), queries)


def _versions(
    located: LocatedStatement, name: str, matches: tuple[re.Match[str] | None, re.Match[str] | None], queries: ProjectQueries
) -> Iterator[tuple[LocatedStatement, AllowedVersions, str]]:
    series, number = matches
    words = set(re.split(r"[-_/]", name.lower()))
    for product in queries.facts.products.values():
        if product.role != Role.DIMENSION or product.platform or product.scheme != "dotted":
            continue
        text = number[1] if number and product.id in words else None
        if text is None and series and product.series == 1 and queries.facts.word(product.id, series[1]):
            text = series[1]
        if text and (mask := _mask(queries, product.id, text)):
            yield located, AllowedVersions(product.id, f"=={text}", mask, exact=True), text


def _mask(queries: ProjectQueries, product: str, text: str) -> int:
    try:
        return find_versions(queries.facts, queries.facts.products[product], text)
    except UsageError:
        return 0
