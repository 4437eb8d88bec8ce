"""Dependencies that uv does not look for on an index because only packages named for that index use it."""

from collections.abc import Iterator

from compatkb.check.project.install_plan import FAMILIES, SETTINGS, InstallPlan, sources_of
from compatkb.check.project.listed import cited
from compatkb.check.project.pins import at
from compatkb.check.project.queries import ProjectQueries
from compatkb.check.rules import CheckRule
from compatkb.check.uv_form import uses_uv
from compatkb.core.findings import Finding, Severity
from compatkb.core.names import normal
from compatkb.output.stack_files import automatic_of
from compatkb.parsers.statement import Requirement
from compatkb.store.records import Element

UNROUTED = CheckRule(
    "index-unrouted", Severity.WARNING, "a package from an explicit index needs another one that only this index has, unnamed"
)


@SETTINGS.rule(UNROUTED)
def check(plan: InstallPlan, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield the packages from explicit indexes that bring along what uv then looks for elsewhere."""
    by_uv = uses_uv(plan.environment.document.text)
    explicit = {use.name for _, use in plan.environment.indexes if use.explicit and use.name and by_uv}
    stated = [*plan.environment.reading.statements, *(required.requirement for required in plan.requirements)]
    routed = {s.name for s in stated if isinstance(s, Requirement) and s.only_index}
    for required in plan.requirements:
        names = explicit.intersection((required.requirement.only_index or "").split())
        asked = sources_of(plan, required.requirement.step, required.requirement, queries)
        allowed = queries.allowed(required.product, [required.requirement.specifier])
        if not names or not asked.known or allowed is None:
            continue
        taken = queries.taken(allowed, asked.channels, ())
        for brought in _everywhere(taken, plan, queries) if taken else ():
            name = brought.distribution or brought.product
            names_of_it = {normal(e.distribution or e.product) for e in queries.facts.elements(brought.product)}
            if names_of_it & routed or queries.own in brought.channels or not asked.channels & set(brought.channels):
                continue
            message = (
                f"{required.product.name} {taken.version if taken else ''} brings {name} along, which the default index does "
                f"not have, and uv asks an explicit index for nothing but what names it"
            )
            fix = f'name {name} in the dependencies and in [tool.uv.sources], with index = "{min(names)}"'
            yield at(required.located, UNROUTED, message, sources=cited(queries, brought), fix=fix)


def _everywhere(element: Element, plan: InstallPlan, queries: ProjectQueries) -> list[Element]:
    """Return what a build brings along on every system that the project may be locked for."""
    facts = queries.facts
    systems = plan.systems or tuple(FAMILIES.values())
    number = {e.version: e.idx for e in facts.elements("os")}
    brought = [automatic_of(facts, [element], facts.dimension_cells("os", 1 << number[name])) for name in systems]
    return [each for each in brought[0] if all(each in others for others in brought)]
