"""Whether there is certainly no stack: brute force over all that the certain facts leave possible.

What is only inferred, and what is disputed, is left out here. What no complete list covers may exist: of a product that
the request does not fix, an unlisted version stands for each range that claims tell apart. Where even so nothing goes
together, the answer is a "no"; where there is just no stack, it is unknown.
"""

from enum import IntEnum

from oracle import Ask, Level, Member, Oracle, Trial, beside, spec_names

from compatkb.authoring.knowledge_base import KnowledgeEdge, KnowledgeFloor, end_of_life, split_term
from compatkb.core.versions import Scheme, admits
from compatkb.schema import Basis, Complete, Kind, Role


class Verdict(IntEnum):
    """What an answer says, best first; warnings apart."""

    WORKS = 0
    LIKELY = 1
    UNKNOWN = 2
    DOES_NOT_WORK = 3


def verdict(oracle: Oracle, *asks: Ask) -> Verdict:
    """Return the best verdict that any platform and route of a request reaches."""
    trials = [Trial(oracle, ask) for ask in asks]
    levels = [judged.level for trial in trials for judged in trial.stacks()]
    if levels and min(levels) is Level.UNKNOWN:
        for trial in trials:
            of_runtimes = (oracle.heads[one].role in (Role.LEAF, Role.DIMENSION, Role.FEATURE) for one in trial.named)
            trial.runtimes_vouch = all(of_runtimes)
        levels = [judged.level for trial in trials for judged in trial.stacks()]
    if levels:
        return Verdict(min(levels))
    return Verdict.UNKNOWN if any(Possible(oracle, ask).is_possible() for ask in asks) else Verdict.DOES_NOT_WORK


class Possible(Trial):
    """A question judged by certain facts alone; the members with negative numbers are versions that no list holds."""

    def __init__(self, oracle: Oracle, ask: Ask) -> None:
        super().__init__(oracle, ask)
        self.unlisted = {name: self._unlisted(name) for name in self.heads}

    def is_possible(self) -> bool:
        """Return whether the certain facts leave any assignment."""
        return any(self.judge(members) is not None for members in self.assignments())

    def candidates(self, name: str) -> list[Member]:
        """Return what is listed, and what may exist besides."""
        return super().candidates(name) + [(name, -1 - n) for n in range(len(self.unlisted[name]))]

    def names(self, edge: KnowledgeEdge, number: int) -> bool:
        """Return whether an element is one of those that a claim names; of a runtime its version tells.

        A package that no list holds is taken to be what every claim asks for.
        """
        if number >= 0:
            return super().names(edge, number)
        if self.heads[edge.to].role is not Role.LEAF:
            return edge.kind is not Kind.BREAKS
        return spec_names(self.heads[edge.to].scheme, edge.spec, self.unlisted[edge.to][-1 - number])

    def _on_platform(self, name: str, number: int) -> Level | None:
        """Return how well an element is known to run here; what binds every listed release binds unlisted ones, too."""
        if number >= 0:
            return super()._on_platform(name, number)
        every = (1 << len(self.oracle.knowledge.elements[name])) - 1
        for dimension, value in (("python", self.ask.python), ("os", self.ask.os), ("arch", self.ask.arch)):
            values = self.oracle.knowledge.elements[dimension]
            for edge in self.oracle.knowledge.edges:
                is_about_all = (edge.of, edge.to, edge.of_mask) == (name, dimension, every) and edge.kind is not Kind.VERIFIED
                if (
                    is_about_all
                    and edge.forbidden_on & self.bit
                    and self._holds(edge)
                    and self.heads[name].role is not Role.LEAF
                ):
                    named = any(edge.to_mask >> n & 1 and e.version == value for n, e in enumerate(values))
                    if named is (edge.kind is Kind.BREAKS):
                        return None
        return Level.STRONG

    def _holds(self, edge: KnowledgeEdge) -> bool:
        """Return whether a claim is certain; what an index says is, though only its exact pins vouch for anything."""
        is_certain = edge.in_metadata or edge.basis is not Basis.INFERRED or self._is_final(edge)
        return is_certain and edge.claim not in self.oracle.undecided and super()._holds(edge)

    def _is_final(self, edge: KnowledgeEdge) -> bool:
        """Return whether a claim denies for good: what is concluded of releases of a product that gets no further ones."""
        roles = {self.heads[name].role for name in (edge.of, edge.to)}
        if edge.kind is Kind.VERIFIED or not roles <= {Role.PACKAGE, Role.COMPANION}:
            return False
        covered = 0
        for scope in self.heads[edge.of].complete:
            if scope.what == "release" and scope.ended and (not scope.device or self.ask.device in scope.device):
                covered |= self.oracle.knowledge.mask(scope.of)[1]
        elements = self.oracle.knowledge.elements[edge.of]
        has_end = end_of_life(self.heads[edge.of], elements[-1].release) is not None
        return has_end and bool(covered >> (len(elements) - 1) & 1) and not edge.of_mask & ~covered

    def _needs_newer_glibc(self, floor: KnowledgeFloor) -> bool:
        return not floor.inferred and super()._needs_newer_glibc(floor)

    def _some_version_suits(self, leaf: str, edges: list[KnowledgeEdge], members: dict[str, int]) -> bool:
        """Return whether a version of a leaf is all that is demanded, be it one that no list holds."""
        unlisted = [-1 - n for n in range(len(self.unlisted[leaf]))]
        return super()._some_version_suits(leaf, edges, members) or any(
            all(self.names(edge, n) is not (edge.kind is Kind.BREAKS) for edge in edges) for n in unlisted
        )

    # -- what no list holds ---------------------------------------------------------------------------------------

    def _unlisted(self, name: str) -> list[str]:
        """Return versions that may exist though nothing lists them, one for all that the same claims name.

        New builds of listed releases are among them.
        """
        head = self.heads[name]
        if head.role not in (Role.PACKAGE, Role.COMPANION, Role.LEAF) or head.scheme is Scheme.LISTED:
            return []
        specs = sorted({edge.spec for edge in self.oracle.knowledge.edges if edge.to == name})
        versions = {element.release.version for element in self.oracle.knowledge.elements[name]} | beside(specs)
        possible = [version for version in sorted(versions) if self._may_exist(name, version)]
        return list({tuple(spec_names(head.scheme, spec, v) for spec in specs): v for v in possible}.values())

    def _may_exist(self, name: str, version: str) -> bool:
        """Return whether the pins leave room for an unlisted version, and no list is whole that would have it."""
        is_covered = any(self._covers(scope, version) for scope in self.heads[name].complete)
        return not is_covered and self._leaves_open(name, version)

    def _covers(self, scope: Complete, version: str) -> bool:
        """Return whether a version that is not on a list was certainly not released."""
        name, spec = split_term(scope.of)
        is_whole = scope.what == "release" and (scope.ended or self._reaches(scope.until))
        is_whole = is_whole and (not scope.device or self.ask.device in scope.device)
        return is_whole and admits(self.heads[name].scheme, spec, version)

    def _leaves_open(self, name: str, version: str) -> bool:
        """Return whether a pin leaves room for an unlisted version: not if it fixes one release, nor outside its range."""
        if name not in self.ask.pins:
            return True
        scheme, elements = self.heads[name].scheme, self.oracle.knowledge.elements[name]
        pinned = [elements[n].release.version for n in sorted(self.ask.pins[name])]  # elements are numbered from the oldest
        if len(set(pinned)) < 2:
            return False
        is_open_above = elements[-1].release.version in pinned
        return admits(scheme, f">={pinned[0]}", version) and (is_open_above or admits(scheme, f"<={pinned[-1]}", version))
