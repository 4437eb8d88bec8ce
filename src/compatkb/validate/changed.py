"""Finds the claims that a change touches: stacks that are new, or whose verdict, builds or requirements changed."""

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from compatkb.core.clones import commit_of, git
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Kind
from compatkb.errors import DataError, UsageError
from compatkb.store.cache import compile_directory
from compatkb.store.reader import Snapshot
from compatkb.store.records import UNBUILT, Edge, Element
from compatkb.validate.plan import Claimed, ClaimPlan, PlanScope


class ClaimChange(NamedTuple):
    """What a change does to the stacks that are claimed."""

    touched: list[Claimed]  # new ones, and those that rest on something else than before; sorted
    same: int
    gone: list[Claimed]  # those of before that are claimed no more; sorted


def change(old: Snapshot, new: Snapshot, wanted: PlanScope) -> ClaimChange:
    """Return what differs between the stacks that two states of the data claim, on the same day."""
    try:
        earlier_stacks = ClaimPlan(old, wanted).claimed()
    except UsageError:  # the old data do not know the platform
        earlier_stacks = []
    basis = _Basis(old, wanted)
    before = {(stack.packages, stack.python): (stack, basis.of(stack)) for stack in earlier_stacks}
    basis = _Basis(new, wanted)
    touched, same = [], 0
    for stack in ClaimPlan(new, wanted).claimed():
        _, known = before.pop((stack.packages, stack.python), (None, None))
        if known == basis.of(stack):
            same += 1
        else:
            touched.append(stack)
    return ClaimChange(touched, same, [stack for stack, _ in before.values()])


class _Basis:
    """All that an installer or interpreter could see of a stack; nothing in it depends on what else the data hold."""

    def __init__(self, facts: Snapshot, wanted: PlanScope) -> None:
        self.facts, self.wanted = facts, wanted
        self.system, _, self.arch = wanted.platform.rpartition("-")
        grid = facts.grid["os"]
        within = [name for name in grid if self.system in (name, *facts.wider.get(name, ()))]
        self.systems = [(name, facts.dimension_cells("os", 1 << grid.index(name))) for name in within]
        self.elements: dict[tuple[str, str], list[Element]] = {}
        for product in facts.products:
            for element in facts.elements(product):
                if wanted.channel in element.channels:
                    self.elements.setdefault((element.distribution or product, element.version), []).append(element)
        self.seen: dict[tuple[str, int, str], object] = {}

    def of(self, stack: Claimed) -> object:
        """Return the verdict on a stack, its builds, and what they demand of each other, of runtimes and of the platform."""
        members = [element for pin in stack.packages for element in self.elements.get(pin, ())]
        chosen = {member.product: member.idx for member in members}
        builds = [self._build(member, stack.python) for member in members]
        required = sorted(text for member in members for text in self._required(member, chosen, stack.python))
        return stack.verdict, builds, required

    def _build(self, element: Element, python: str) -> object:
        """Return a build with its wheels for a Python and platform."""
        key = (element.product, element.idx, python)
        if key not in self.seen:
            floors = [(f.glibc or (), f.stated, *self._where(python, f.seen, f.inferred)) for f in self.facts.floors(element)]
            wheels = (*self._where(python, element.certain, element.inferred), sorted(f for f in floors if f[2] or f[3]))
            withdrawn = (element.yank_after, element.yank_by, element.yank_reason)
            self.seen[key] = (element.product, element.version, element.release, element.extras, withdrawn, wheels)
        return self.seen[key]

    def _where(self, python: str, *masks: int) -> tuple[list[str], ...]:
        """Return the systems on which platform bits are set for a Python."""
        here = self._cells(("arch", self.arch), ("python", python))
        return tuple([name for name, cells in self.systems if mask & here & cells] for mask in masks)

    def _required(self, element: Element, chosen: dict[str, int], python: str) -> Iterator[tuple[str, ...]]:
        for to in self.facts.targets_of(element.product):
            if to not in chosen and self.facts.products[to].role not in UNBUILT:
                continue
            for edge in self.facts.edges(element.product, to):
                if edge.of_mask >> element.idx & 1 and edge.kind != Kind.VERIFIED and self._concerns(edge, python):
                    # of another member it matters what is said of the build at hand, not what else is listed
                    what = str(edge.to_mask >> chosen[to] & 1) if to in chosen else edge.spec
                    yield element.product, to, edge.kind, what, str(edge.level), str(edge.open)

    def _concerns(self, edge: Edge, python: str) -> bool:
        if edge.devices and self.wanted.device not in edge.devices:
            return False
        here = self._cells(("os", self.system), ("arch", self.arch), ("python", python))
        return bool((edge.forbidden_on | edge.supported_on) & here)

    def _cells(self, *places: tuple[str, str]) -> int:
        cells = -1
        for dimension, value in places:
            cells &= self.facts.dimension_cells(dimension, self.facts.word(dimension, value) or 0)
        return cells


@contextmanager
def earlier(directory: Path, since: str) -> Iterator[Snapshot]:
    """Open the data to compare with: another data directory, or what a commit has in the place of `directory`.

    Raises UsageError where it is neither, DataError where those data cannot be read, UnavailableError without git.
    """
    with TemporaryDirectory(prefix="compatkb-") as name:
        folder = Path(name) / "data"
        if (Path(since) / "products").is_dir():
            folder = Path(since)
        else:
            _unpack(directory, since, folder)
        snapshot = Path(name) / "snapshot.sqlite"
        try:
            compile_directory(folder, snapshot)
        except DataError as error:
            shown = tuple(problem.replace(str(folder), since) for problem in error.problems[:5])
            raise DataError((*shown, f"{since} cannot be compared with; without --changed-since all is asked")) from None
        yield Snapshot(str(snapshot))


def _unpack(directory: Path, since: str, folder: Path) -> None:
    """Write the data that a commit has into a folder."""
    commit = commit_of(directory, since)
    if commit is None:
        raise UsageError(
            f"{since!r} is neither a data directory nor a commit that the repository of {directory} has; "
            "a shallow clone has to fetch it first"
        )
    content = git(directory, "archive", "--format=tar", commit)
    if not content:
        raise UsageError(f"{since} has no data in the place of {directory}")
    with tarfile.open(fileobj=BytesIO(content)) as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            if member.isfile() and not path.is_absolute() and ".." not in path.parts and (file := archive.extractfile(member)):
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(file.read())
