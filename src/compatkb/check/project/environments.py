"""Builds the environments of a project: what ends up installed together, with everything that its files include."""

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any

from compatkb.check.document import TextDocument
from compatkb.check.project.documented import is_resolved_otherwise
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Edit, Finding, Severity
from compatkb.core.names import normal
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.parsers.statement import (
    MAIN,
    Action,
    ImageUse,
    Include,
    IndexUse,
    ParsedFile,
    PythonUse,
    Requirement,
    RequirementRole,
    Statement,
    SystemPackage,
    SystemUse,
)
from compatkb.store.reader import Snapshot
from compatkb.store.records import Product

_DEEPEST = 8
_MOST_FOLDERS = 30
_OF_FOLDER = ("pyproject", "requirements", "uv.lock", "poetry.lock", "pylock")
"""Files that are installed into the Python of their folder."""
_WORKSPACE = "[tool.uv.workspace]"
_MANIFESTS = ("pyproject", "pixi")
_PROJECTS = ("pyproject", "setup.py")
_LOCKS = ("uv.lock", "poetry.lock")
_INSTALLED = (Requirement, Include, Action)
_UPPER = ("<", "==", "~=")
PACKAGE_KINDS = ("stub", "isolated_build", "clash")
"""The records of packages that are no products."""
MOST_STATEMENTS = 50_000
"""More statements of all environments together are not judged."""
MOST_ENVIRONMENTS = 400
"""More environments of one file are not judged."""
MOST_INDEXES = 100


class LocatedStatement(NamedTuple):
    """A statement with the document that it stands in."""

    document: TextDocument
    statement: Statement

    @property
    def span(self) -> tuple[int, int]:
        """Return where it stands: offsets in the document."""
        place = self.statement.place
        start = self.document.offset(place.line, place.column)
        line = self.document.line(place.line)
        rest = len(line) - place.column + 1
        return start, start + max(1, min(len(self.statement.text), rest)) if rest > 0 else start


def at(
    located: LocatedStatement,
    rule: CheckRule,
    message: str,
    *,
    sources: tuple[str, ...] = (),
    fix: str | None = None,
    edits: tuple[Edit, ...] = (),
    about: str = "",
    brief: str = "",
) -> Finding:
    """Return a finding about a statement."""
    start, end = located.span
    few, subject = tuple(dict.fromkeys(sources))[:4], located.statement.text
    finding = located.document.finding(rule, start, end, message, fix=fix, sources=few, edits=edits, subject=subject)
    finding = finding._replace(about=about, brief=brief)
    is_default = located.statement.derived and rule.level is Severity.ERROR  # whoever builds it may give another value
    return finding._replace(level=Severity.WARNING) if is_default else finding


class ProductRequirement(NamedTuple):
    """A package of the data that is asked for."""

    located: LocatedStatement
    requirement: Requirement
    product: Product

    @property
    def document(self) -> TextDocument:
        """Return the document that it stands in."""
        return self.located.document


class ProjectEnvironment:
    """What one group of one file installs, in its steps; `borrowed` where others install this file, with options of theirs."""

    def __init__(
        self, document: TextDocument, reading: ParsedFile, group: str, *, borrowed: bool = False, uses_uv: bool = False
    ) -> None:
        self.document, self.reading, self.group = document, reading, group
        self.paths = {document.path}  # of all files that it is made of
        self.uses_uv = uses_uv  # something of the project does, so its files may be installed by it
        self.requirements: list[ProductRequirement] = []
        self.others: list[tuple[LocatedStatement, Requirement]] = []  # packages that the data do not know as products
        self.indexes: list[tuple[LocatedStatement, IndexUse]] = []
        self.pythons: list[tuple[LocatedStatement, PythonUse]] = []
        self.systems: list[tuple[LocatedStatement, SystemUse]] = []
        self.images: list[tuple[LocatedStatement, ImageUse]] = []
        self.packages: list[tuple[LocatedStatement, SystemPackage]] = []
        self.actions: list[tuple[LocatedStatement, Action]] = []
        self.includes: list[tuple[LocatedStatement, Include]] = []
        self.by_kind: dict[type, list[Any]] = {
            PythonUse: self.pythons, SystemUse: self.systems, ImageUse: self.images, SystemPackage: self.packages,
            Action: self.actions, Include: self.includes,
        }  # fmt: skip
        self.borrowed = borrowed
        self.is_unchecked = False  # what installs the file goes by no metadata, or by others
        self.is_locked = False  # a lock beside it says what is chosen
        self.missing: set[int] = set()  # the steps that include a file that is not there
        self.bounded: set[str] = set()  # packages that the data do not know, and whose newest releases it keeps away

    @cached_property
    def flags(self) -> dict[int, set[str]]:
        """The flags that installers are given, by step; asked once all is put in."""
        flags_by_step: dict[int, set[str]] = {}
        for _, action in self.actions:
            if action.verb != "copy":
                flags_by_step.setdefault(action.step, set()).update(action.words)
        return flags_by_step

    @property
    def kind(self) -> str:
        """Return what the group is: file, extra, group, stage, job, branch, environment, service."""
        return self.reading.groups[self.group].kind


class Project:
    """The documents of a project, read, and the environments in them."""

    def __init__(
        self, facts: Snapshot, read: Iterable[tuple[TextDocument, ParsedFile]], documented: frozenset[str] = frozenset()
    ) -> None:
        self.facts = facts
        self._documented = documented  # names of files that documents install from an index
        self.read = {document.path: (document, reading) for document, reading in read}
        self._names = _distributions(facts)
        self._left = MOST_STATEMENTS
        self.is_exhausted = False  # more was included or inherited than is judged
        self._copies: dict[str, dict[str, list[str]]] = {}
        self.borrowed = frozenset(
            target
            for document, reading in self.read.values()
            for statement in (
                () if reading.kind in _PROJECTS else reading.statements
            )  # whose list is installed by itself, too
            if isinstance(statement, Include) and (target := self.target(document.path, statement.path, reading)) is not None
        )

    @cached_property
    def _manifests(self) -> tuple[str, ...]:
        return tuple(one.text for one, of in self.read.values() if of.kind in _MANIFESTS)

    @cached_property
    def _unchecked(self) -> frozenset[str]:
        """The files that a step installs with overrides, or without what their packages need."""
        paths: set[str | None] = set()
        for document, reading in self.read.values():
            steps = {(one.group, one.step) for one in reading.statements if _goes_by_no_metadata(one)}
            includes = (one for one in reading.statements if isinstance(one, Include) and (one.group, one.step) in steps)
            paths.update(self.target(document.path, one.path, reading) for one in includes)
        return frozenset(path for path in paths if path)

    def product(self, name: str, tool: str) -> Product | None:
        """Return the product that a package name means to a tool, None for packages that the data do not know."""
        if product_id := self._names.get(name):
            return self.facts.products[product_id]
        if tool == "conda":
            product = self.facts.product(name)
            return product if product and product.role in (Role.PACKAGE, Role.COMPANION, Role.LEAF) else None
        return None

    def target(self, path: str, named: str, reading: ParsedFile) -> str | None:
        """Return the file that an include means: where it was copied from, beside the one that names it, or above it."""
        named = named.removeprefix("file://").replace("\\", "/")
        base = posixpath.basename(named)
        names = [*self._copied(reading).get(base, ()), named, base]
        for name in names:
            for parent in _folders(path):
                candidate = posixpath.normpath(posixpath.join(parent, name.lstrip("/")))
                if candidate in self.read and candidate != path:
                    return candidate
        return None

    def _copied(self, reading: ParsedFile) -> dict[str, list[str]]:
        """Return the paths that are copied, a few by each last part."""
        if reading.path not in self._copies:
            paths_by_name: dict[str, list[str]] = {}
            for statement in reading.statements:
                if isinstance(statement, Action) and statement.verb == "copy":
                    for word in statement.words[:-1]:
                        if len(names := paths_by_name.setdefault(posixpath.basename(word), [])) < 5:
                            names.append(word)
            self._copies[reading.path] = paths_by_name
        return self._copies[reading.path]

    def environments(self, path: str | None = None) -> Iterator[ProjectEnvironment]:
        """Yield every group that says something of products that the data know, of all files or of one."""
        uses_uv = any("uv pip " in document.text or document.path.endswith("uv.lock") for document, _ in self.read.values())
        for document, reading in self.read.values() if path is None else [self.read[path]]:
            stated = _by_group(reading)
            is_otherwise = is_resolved_otherwise(document.text, self._manifests)
            for group in list(stated)[:MOST_ENVIRONMENTS]:
                if group != MAIN and not self._concerns(reading.statements[number] for number, _ in stated[group]):
                    continue  # such as an extra of others: what it is added to is judged without it
                borrowed = document.path in self.borrowed or posixpath.basename(document.path) in self._documented
                environment = ProjectEnvironment(document, reading, group, borrowed=borrowed, uses_uv=uses_uv)
                environment.is_unchecked = document.path in self._unchecked or is_otherwise
                environment.is_locked = reading.kind in _MANIFESTS and self._has_lock(document.path)
                pairs = sorted(pair for member in reading.members(group) for pair in stated.get(member, ()))
                around = group.rpartition("#")[0]  # of what an environment lies in, it has all that is not installed there
                if around in reading.groups and around != group:
                    outer = (pair for member in reading.members(around) for pair in stated.get(member, ()))
                    pairs = sorted([*pairs, *(p for p in outer if not isinstance(reading.statements[p[0]], _INSTALLED))])
                own = [LocatedStatement(document, reading.statements[number]) for number, _ in pairs]
                if reading.kind in _OF_FOLDER:
                    own += self._python_version(document.path)
                if reading.kind == "pyproject":
                    own = self._of_workspace(own, document.path)
                self._put(environment, own, (document.path,))
                yield environment

    def _of_workspace(self, own: list[LocatedStatement], path: str) -> list[LocatedStatement]:
        """Return the statements of a member of a workspace of uv with what counts for all of them."""
        above = (posixpath.join(folder, "pyproject.toml") for folder in _folders(path)[1:])
        root, reading = next((self.read[p] for p in above if p in self.read), (None, None))
        if root is None or reading is None or _WORKSPACE not in root.text:
            return own
        import tomllib

        try:
            sources = {normal(name) for name in tomllib.loads(root.text)["tool"]["uv"].get("sources", {})}
        except (tomllib.TOMLDecodeError, KeyError, AttributeError):
            return own
        elsewhere = [
            one._replace(statement=s._replace(only_index=s.only_index or _WORKSPACE))
            if isinstance(s := one.statement, Requirement) and s.name in sources
            else one
            for one in own
        ]
        return elsewhere + [
            LocatedStatement(root, s)
            for s in reading.statements
            if isinstance(s, IndexUse)
            or (isinstance(s, Requirement) and s.role in (RequirementRole.CONSTRAINT, RequirementRole.OVERRIDE))
        ]

    def _has_lock(self, path: str) -> bool:
        """Return whether a lock lies beside a manifest, or above it, as for the members of a workspace."""
        return any(posixpath.join(folder, name) in self.read for folder in _folders(path) for name in _LOCKS)

    def _concerns(self, statements: Iterable[Statement]) -> bool:
        """Return whether something is no requirement, or one of a product or another package of the data."""
        return any(
            not isinstance(one, Requirement) or self.product(one.name, one.tool) or one.name in self._packages
            for one in statements
        )

    @cached_property
    def _packages(self) -> frozenset[str]:
        """The packages that are no products and of which the data say something."""
        named = (record["name"] for kind in PACKAGE_KINDS for record in self.facts.guide_records(kind))
        return self.facts.described.union(named)

    def _python_version(self, path: str) -> Iterable[LocatedStatement]:
        """Return the Python of the nearest `.python-version`, beside a file or above it."""
        for folder in _folders(path):
            if entry := self.read.get(posixpath.join(folder, ".python-version")):
                return [LocatedStatement(entry[0], statement) for statement in entry[1].statements]
        return ()

    def unjudged(self) -> Iterator[tuple[TextDocument, int]]:
        """Yield files with more environments than are judged, and how many more."""
        for document, reading in self.read.values():
            if (more := len(_by_group(reading)) - MOST_ENVIRONMENTS) > 0:
                yield document, more

    def _put(self, environment: ProjectEnvironment, statements: Iterable[LocatedStatement], chain: tuple[str, ...]) -> None:
        for located in statements:
            statement = located.statement
            self._left -= 1
            if self._left < 0:
                self.is_exhausted = True
                return
            environment.paths.add(located.document.path)
            if isinstance(statement, Requirement):
                product = self.product(statement.name, statement.tool)
                if product is None and any(mark in statement.specifier for mark in _UPPER):
                    environment.bounded.add(statement.name)
                if product:
                    environment.requirements.append(ProductRequirement(located, statement, product))
                else:
                    environment.others.append((located, statement))
            elif isinstance(statement, IndexUse):
                if len(environment.indexes) < MOST_INDEXES:
                    environment.indexes.append((located, statement))
            else:
                environment.by_kind[type(statement)].append((located, statement))
                if isinstance(statement, Include):
                    self._include(environment, located, statement, chain)

    def _include(
        self, environment: ProjectEnvironment, located: LocatedStatement, include: Include, chain: tuple[str, ...]
    ) -> None:
        target = self.target(located.document.path, include.path, self.read[located.document.path][1])
        if target is None:
            environment.missing.add(include.step)
            return
        if target in chain or len(chain) > _DEEPEST:
            return
        document, reading = self.read[target]
        inner = []
        for statement in reading.statements:
            if reading.kind == "pyproject" and statement.group != MAIN:
                environment.missing.add(include.step)  # which extras and groups are asked for is not read
                continue
            moved = statement._replace(group=include.group, step=include.step)
            if include.role is not RequirementRole.INSTALL and isinstance(moved, Requirement | Include):
                moved = moved._replace(role=include.role)
            inner.append(LocatedStatement(document, moved))
        self._put(environment, inner, (*chain, target))


def _goes_by_no_metadata(statement: Statement) -> bool:
    """Return whether a statement says of its step that what packages need is overridden, or left out."""
    if isinstance(statement, Action):
        return statement.verb != "copy" and any(word.startswith("--no-deps") for word in statement.words)
    return isinstance(statement, Include) and statement.role is RequirementRole.OVERRIDE


def _folders(path: str) -> list[str]:
    """Return the folder of a file and those above it, the nearest first."""
    folders = [posixpath.dirname(path)]
    while folders[-1] and folders[-1] != "/" and len(folders) <= _MOST_FOLDERS:
        folders.append(posixpath.dirname(folders[-1]))
    return folders


def _by_group(reading: ParsedFile) -> dict[str, list[tuple[int, str]]]:
    """Return the numbers of the statements of each group that states something itself, in the order of the groups."""
    numbers_by_group: dict[str, list[tuple[int, str]]] = {}
    for number, statement in enumerate(reading.statements):
        numbers_by_group.setdefault(statement.group, []).append((number, statement.group))
    return {group: numbers_by_group[group] for group in reading.groups if group in numbers_by_group}


@lru_cache(maxsize=4)
def _distributions(facts: Snapshot) -> Mapping[str, str]:
    """Return the products by the names that package indexes know them by."""
    product_by_name = {normal(product.distribution): product.id for product in facts.products.values() if product.distribution}
    for product, distribution in facts.distributions():
        if facts.products[product].role in (Role.PACKAGE, Role.COMPANION, Role.LEAF):
            product_by_name.setdefault(normal(distribution), product)
    return product_by_name
