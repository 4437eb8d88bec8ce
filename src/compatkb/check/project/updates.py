"""Groups of updates: packages that have to move with one of a group, and are left out of it."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from compatkb.check.lookups import BUILT, spelt
from compatkb.check.project.environments import LocatedStatement, Project
from compatkb.check.project.pins import at
from compatkb.check.project.queries import ProjectQueries
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.core.vocabulary import Kind
from compatkb.parsers.statement import MOVES, Action, Requirement

SPLITS = CheckRule(
    "group-splits", Severity.WARNING, "a group of updates leaves out a package that has to move with its others"
)
RULES = (SPLITS,)


def check(project: Project, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield groups that name some of what the project installs, and not what goes with one release of it alone."""
    groups = [
        LocatedStatement(document, statement)
        for document, reading in project.read.values()
        for statement in reading.statements
        if isinstance(statement, Action) and statement.verb == MOVES
    ]
    if not groups:
        return
    names = _installed(project)
    for located in groups:
        words = located.statement.words if isinstance(located.statement, Action) else ()
        moving = {product for product, name in names.items() if _matched(name, words)}
        left = [p for p in names if p not in moving and any(_tied(queries, p, other) for other in moving)]
        if left:
            here = spelt(names[product] for product in sorted(moving))
            message = (
                f"the group moves {here} without {spelt(names[p] for p in left)}, which {_goes(left)} with one release alone"
            )
            yield at(located, SPLITS, message, fix=f"put {spelt(names[p] for p in left)} into the group")


def _goes(left: list[str]) -> str:
    return "goes" if len(left) == 1 else "go"


def _installed(project: Project) -> dict[str, str]:
    """Return the packages that a project installs, by product, in the order of their names."""
    packages = {}
    for _, reading in project.read.values():
        for statement in reading.statements:
            product = project.product(statement.name, statement.tool) if isinstance(statement, Requirement) else None
            if isinstance(statement, Requirement) and product and product.role in BUILT:
                packages[product.id] = statement.name
    return dict(sorted(packages.items(), key=lambda pair: pair[1]))


def _matched(name: str, words: tuple[str, ...]) -> bool:
    wanted = [word for word in words if not word.startswith("!")]
    others = [word[1:] for word in words if word.startswith("!")]
    among = not wanted or any(fnmatchcase(name, word) for word in wanted)
    return among and not any(fnmatchcase(name, word) for word in others)


def _tied(queries: ProjectQueries, product: str, other: str) -> bool:
    """Return whether releases of one of two products need just one release of the other."""
    for of, to in ((product, other), (other, product)):
        needed = (e.to_mask for e in queries.facts.edges(of, to) if e.kind == Kind.NEEDS and e.to_mask and not e.open)
        if any(len(queries.lookups.names(to, mask)) == 1 for mask in needed):
            return True
    return False
