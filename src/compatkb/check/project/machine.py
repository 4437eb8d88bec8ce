"""Rules about what a system brings: drivers and toolkits that are installed beside packages which refuse them."""

import re
from collections.abc import Iterator

from compatkb.check.project.environments import Said
from compatkb.check.project.install_plan import SETTINGS, Installed, Setting
from compatkb.check.project.pins import at, short
from compatkb.check.project.queries import Held, Judge
from compatkb.check.rules import Rule
from compatkb.core.findings import Finding, Severity
from compatkb.core.vocabulary import Kind, Role
from compatkb.errors import UsageError
from compatkb.request_parser import find_versions

REFUSED = Rule("machine-refused", Severity.ERROR, "a driver or toolkit of the system is one that a package does not go with")
OLDER = Rule("machine-older", Severity.WARNING, "a driver of the system is older than any that a package was verified with")

_SERIES = re.compile(r"[-+](\d{3,4})~\d+\.\d+")
_NUMBER = re.compile(r"(?<!\d)(\d{4}\.\d+(?:\.\d+)?)(?!\d)")


@SETTINGS.rule(REFUSED, OLDER)
def check(setting: Setting, judge: Judge) -> Iterator[Finding]:
    """Yield drivers and toolkits that packages of an environment refuse, whatever else is chosen."""
    packages = [one for one in setting.final.values() if one.hold.mask and one.hold.text and one.step >= 0]
    if not packages:
        return
    for said, hold, text in _brought(setting, judge):
        judged = [one for one in packages if judge.facts.products[one.hold.product].role != Role.LEAF]
        fitting = [one for one in judged if not judge.refused([one.hold])]
        if refused := next((found for one in fitting if (found := _refused(said, one, hold, text, judge))), None):
            yield refused
        elif older := next((found for one in fitting if (found := _older(said, one, hold, text, judge))), None):
            yield older


def _refused(said: Said, one: Installed, hold: Held, text: str, judge: Judge) -> Finding | None:
    denial = judge.denial([one.hold, hold])
    if denial is None:
        return None
    product, name = judge.facts.products[hold.product].name, judge.facts.products[one.hold.product].name
    package = f"{name} {one.hold.text.removeprefix('==')}"
    message = f"{product} {text} does not go with {package}: {short(denial.said)} ({denial.basis})"
    return at(said, REFUSED, message, sources=denial.sources)


def _older(said: Said, one: Installed, hold: Held, text: str, judge: Judge) -> Finding | None:
    """Return a finding where all versions that a package was verified with are newer."""
    edges = [
        edge
        for edge in judge.facts.edges(one.hold.product, hold.product)
        if edge.kind == Kind.VERIFIED and not edge.open and edge.of_mask & one.hold.mask == one.hold.mask
    ]
    verified = 0
    for edge in edges:
        verified |= edge.to_mask
    oldest = (verified & -verified).bit_length() - 1
    if not verified or hold.mask.bit_length() - 1 >= oldest:
        return None
    product, name = judge.facts.products[hold.product].name, judge.facts.products[one.hold.product].name
    first = judge.facts.elements(hold.product)[oldest].version
    from compatkb.output.messages import claim_sources

    sources = tuple(url or cited for edge in edges[:2] for cited, url in claim_sources(judge.facts, edge.claim))
    message = f"{name} {one.hold.text.removeprefix('==')} was verified with {product} {first} and newer, not {text}"
    return at(said, OLDER, message, sources=sources, fix=f"install {first} or newer")


def _brought(setting: Setting, judge: Judge) -> Iterator[tuple[Said, Held, str]]:
    """Yield what packages and images of the system are versions of: products that no installer of Python knows."""
    for said, package in setting.environment.packages:
        series = _SERIES.search(package.version or "")
        number = _NUMBER.search(f"{package.name} {package.version or ''}")
        yield from _versions(said, package.name, (series, number), judge)
    for said, image in setting.environment.images:
        if image.tag:
            yield from _versions(said, image.repository, (None, _NUMBER.match(image.tag)), judge)


def _versions(
    said: Said, name: str, found: tuple[re.Match[str] | None, re.Match[str] | None], judge: Judge
) -> Iterator[tuple[Said, Held, str]]:
    series, number = found
    words = set(re.split(r"[-_/]", name.lower()))
    for product in judge.facts.products.values():
        if product.role != Role.DIMENSION or product.platform or product.scheme != "dotted":
            continue
        text = number[1] if number and product.id in words else None
        if text is None and series and product.series == 1 and judge.facts.word(product.id, series[1]):
            text = series[1]
        if text and (mask := _mask(judge, product.id, text)):
            yield said, Held(product.id, f"=={text}", mask, exact=True), text


def _mask(judge: Judge, product: str, text: str) -> int:
    try:
        return find_versions(judge.facts, judge.facts.products[product], text)
    except UsageError:
        return 0
