"""Rules on groups of automatic updates: packages that have to move together and are left out of the group."""

import posixpath
from collections.abc import Iterator
from fnmatch import fnmatchcase

from compatkb.check.lookups import BUILT, spelt
from compatkb.check.project.environments import LocatedStatement, Project
from compatkb.check.project.pins import at
from compatkb.check.project.queries import ProjectQueries
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.core.vocabulary import Kind
from compatkb.parsers.statement import MOVES, Action, Requirement, RequirementRole

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
    for located in groups:
        words = located.statement.words if isinstance(located.statement, Action) else ()
        root = located.document.path.rpartition(".github/")[0]
        folders = [(root + word.lstrip("/")).rstrip("/").replace("**/", "*") for word in words if word.startswith("/")]
        names = _installed(project, folders)
        moving = {product for product, name in names.items() if _matched(name, words)}
        held = {product for product, name in names.items() if _matches(name, words, "-")}  # whoever holds them moves them
        left = [p for p in names if p not in moving | held and any(_tied(queries, p, other) for other in moving)]
        tied = [p for p in sorted(moving) if any(_tied(queries, p, other) for other in left)]
        if left:
            here = spelt(names[product] for product in tied)
            goes = "goes" if len(left) == 1 else "go"
            message = f"the group moves {here} without {spelt(names[p] for p in left)}, which {goes} with one release alone"
            yield at(located, SPLITS, message, fix=f"put {spelt(names[p] for p in left)} into the group")


def _installed(project: Project, folders: list[str]) -> dict[str, str]:
    """Return the packages that files of some folders ask for, by product, in the order of names; without locks."""
    packages = {}
    for path, (_, reading) in project.read.items():
        if folders and not any(fnmatchcase(posixpath.dirname(path), folder) for folder in folders):
            continue
        for statement in reading.statements:
            if not isinstance(statement, Requirement) or statement.role is RequirementRole.LOCKED:
                continue
            product = project.product(statement.name, statement.tool)
            if product and product.role in BUILT:
                packages[product.id] = statement.name
    return dict(sorted(packages.items(), key=lambda pair: pair[1]))


def _matched(name: str, words: tuple[str, ...]) -> bool:
    wanted = [word for word in words if not word.startswith(("!", "-", "/"))]
    among = not wanted or any(fnmatchcase(name, word) for word in wanted)
    return among and not _matches(name, words, "!") and not _matches(name, words, "-")


def _matches(name: str, words: tuple[str, ...], mark: str) -> bool:
    return any(word.startswith(mark) and fnmatchcase(name, word[1:]) for word in words)


def _tied(queries: ProjectQueries, product: str, other: str) -> bool:
    """Return whether releases of one of two products need just one release of the other."""
    for of, to in ((product, other), (other, product)):
        needed = (e.to_mask for e in queries.facts.edges(of, to) if e.kind == Kind.NEEDS and e.to_mask and not e.open)
        if any(len(queries.lookups.names(to, mask)) == 1 for mask in needed):
            return True
    return False
