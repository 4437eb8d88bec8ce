"""Rules on what releases are known for: vulnerabilities that were published, and grave issues whose conditions pins meet."""

from collections.abc import Iterator
from functools import partial, reduce
from operator import or_

from compatkb.check.lookups import urls
from compatkb.check.project.alternatives import shown
from compatkb.check.project.environments import at
from compatkb.check.project.indexes import sources_of
from compatkb.check.project.install_plan import SETTINGS, InstalledProduct, InstallPlan
from compatkb.check.project.queries import ProjectQueries, is_exact
from compatkb.check.project.resolution import replacement
from compatkb.check.rules import CheckRule, FileRole
from compatkb.core.findings import Finding, Severity
from compatkb.engine.known_issues import DEVICE, GRAVE, SYSTEM, KnownIssue, Surroundings, known_issues

ISSUE = CheckRule(
    "known-issue",
    Severity.WARNING,
    "what is pinned has a known issue that ends in wrong results, a crash, a hang or no installation",
    off_in=(FileRole.LOCK, FileRole.NOTEBOOK),
)
VULNERABLE = CheckRule(
    "pin-vulnerable",
    Severity.INFO,
    "every version that a pin admits has a vulnerability that was published",
    off_in=(FileRole.PIPELINE, FileRole.NOTEBOOK),
)


@SETTINGS.rule(VULNERABLE)
def check_vulnerable(plan: InstallPlan, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield what admits only releases with a vulnerability: the one that was fixed last, and the names of the others.

    What mends it is sought for the first of several that are told as one.
    """
    if plan.environment.reading.kind == "markdown":
        return  # not told of what documents show
    for product, one in plan.final.items():
        published = queries.vulnerabilities(product)
        told = [a for a in published if not one.allowed.mask & ~a.mask]
        if not told or not one.allowed.text or not one.allowed.mask or not one.requirements:
            continue
        others = ", ".join(advisory.message.partition(":")[0].partition(" (")[0] for advisory in told[1:])
        more = f"; also {others}" if others else ""
        name = shown(one, queries)
        message = f"{name} has a known vulnerability: {told[0].message.rstrip('.')}{more}"
        about = f"{product} {message.removeprefix(name)}"
        first = queries.first_of.setdefault(
            about, (plan.environment.document.path, one.parts[-1].located.statement.place.line)
        )
        is_first = first == (plan.environment.document.path, one.parts[-1].located.statement.place.line)
        safe = replacement(plan, one, partial(_safe, queries), queries) if is_first else []
        sources = tuple(url for advisory in told for url in urls(advisory.sources))
        fix = f"take {' with '.join(safe)}" if safe else None
        yield at(one.parts[-1].located, VULNERABLE, message, sources=sources, fix=fix, about=about, brief=name)


def _safe(queries: ProjectQueries, product: str) -> int:
    """Return the elements of a product that have no published vulnerability."""
    return ~reduce(or_, (advisory.mask for advisory in queries.vulnerabilities(product)), 0)


@SETTINGS.rule(ISSUE)
def check(plan: InstallPlan, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield pins with issues that another release cures, each pin once; where a condition is in no file there is none."""
    pinned = {p: one for p, one in plan.final.items() if one.requirements and is_exact(one.allowed.text) and one.allowed.mask}
    place = _place(plan, pinned, queries) if pinned else None
    issues = known_issues(queries.facts)
    found: dict[str, list[tuple[KnownIssue, list[str]]]] = {}
    for match in issues.at(place) if place else ():
        cures = (
            [cure for cure in issues.clean_cures(match.issue, place) if cure.to and cure.product in pinned] if place else []
        )
        if cures and not match.unsaid and match.issue.effect in GRAVE:
            found.setdefault(cures[0].product or "", []).append((match.issue, [cure.to or "" for cure in cures]))
    for product, several in found.items():
        cured = [to for to in several[0][1] if all(to in cures for _, cures in several)]
        told = "; ".join(f"{issue.title} ({issue.effect.replace('-', ' ')})" for issue, _ in several)
        message = f"{shown(pinned[product], queries)} has a known issue here: {told}"
        sources = tuple(url or name for issue, _ in several for name, url in issue.sources)
        fix = f"take {' or '.join(cured or several[0][1])}"
        yield at(pinned[product].parts[-1].located, ISSUE, message, sources=sources, fix=fix)


def _place(plan: InstallPlan, pinned: dict[str, InstalledProduct], queries: ProjectQueries) -> Surroundings | None:
    """Return what the pins say: versions, system, and the one device that all builds of some are for; None without that."""
    versions: dict[str, tuple[str, ...]] = {}
    devices: set[str] = set()
    for product, one in pinned.items():
        sources = sources_of(plan, one.step, one.requirements[-1].requirement, queries)
        there = queries.narrowed(one.allowed, sources.channels) if sources.known else one.allowed
        builds = queries.elements(product, there.mask or one.allowed.mask)
        versions[product] = tuple(build.version for build in builds)
        of_builds = {frozenset(build.devices) for build in builds}
        devices |= of_builds.pop() if len(of_builds) == 1 else frozenset()
    if len(devices) != 1:
        return None
    system = reduce(or_, (queries.facts.word(SYSTEM, name) or 0 for name in plan.systems), 0)
    return Surroundings(versions, {DEVICE: queries.facts.word(DEVICE, devices.pop()) or 0, SYSTEM: system}, is_whole=False)
