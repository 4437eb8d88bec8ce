"""What a question leaves out of account: some of the groups of facts that can exclude stacks, and what follows from that."""

from collections.abc import Iterable

from compatkb.snapshot.read import Snapshot

Blocker = tuple[str, ...]
"""A group of facts that can exclude stacks; see `problem`."""


class Ignored:
    """Blockers that do not count, sorted by what a search asks of them."""

    __slots__ = ("blockers", "leaves", "silent", "unoffered", "unplaced")

    def __init__(
        self,
        blockers: frozenset[Blocker] = frozenset(),
        silent: frozenset[Blocker] = frozenset(),
        unplaced: frozenset[str] = frozenset(),
        unoffered: frozenset[str] = frozenset(),
        leaves: frozenset[Blocker] = frozenset(),
    ) -> None:
        self.blockers = blockers
        self.silent = silent  # pairs of products that say nothing of each other, each both ways round
        self.unplaced = unplaced  # products that every platform will do for
        self.unoffered = unoffered  # products that nobody need offer
        self.leaves = leaves  # the claims of and about leaves

    def without(self, active: frozenset[Blocker]) -> "Ignored":
        """Return the same while some of the blockers are in force."""
        claims = [blocker[1:] for blocker in active if blocker[0] == "claim"]
        return Ignored(
            self.blockers - active,
            self.silent.difference(claims, [claim[::-1] for claim in claims]),
            self.unplaced.difference(_about(active, "platform")),
            self.unoffered.difference(_about(active, "offer")),
            self.leaves - active,
        )

    def also(self, offers: Iterable[Blocker]) -> "Ignored":
        """Return the same with some products that nobody need offer besides."""
        more = list(offers)
        if not more:
            return self
        unoffered = self.unoffered.union(_about(more, "offer"))
        return Ignored(self.blockers.union(more), self.silent, self.unplaced, unoffered, self.leaves)


NOTHING = Ignored()


def ignored_of(facts: Snapshot, blockers: Iterable[Blocker]) -> Ignored:
    """Sort blockers."""
    roles, every = facts.products, frozenset(blockers)
    claims = [blocker[1:] for blocker in every if blocker[0] == "claim"]
    return Ignored(
        every,
        frozenset((*claims, *(claim[::-1] for claim in claims))),
        frozenset(_about(every, "platform")),
        frozenset(_about(every, "offer")),
        frozenset(("claim", *claim) for claim in claims if "leaf" in (roles[claim[0]].role, roles[claim[1]].role)),
    )


def _about(blockers: Iterable[Blocker], kind: str) -> Iterable[str]:
    return (blocker[1] for blocker in blockers if blocker[0] == kind)
