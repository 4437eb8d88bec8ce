"""What edges say of two elements together."""

from typing import NamedTuple

from compatkb.records import STRONG, Edge

DEMANDING = ("needs", "constrains")
"""The kinds of edges that exclude what they do not name."""


class Pair(NamedTuple):
    """What is known of two elements together, as platform bits."""

    denied: int
    strong: int
    weak: int
    matters: int  # where the two must be vouched for
    muddled: int  # where an undecided dispute leaves them open
    vague: int  # where nothing says that they work together, and something should
    faint: int  # where nothing says it firmly, and something should
    known: int  # where a stack can rest on them: neither denied nor vague


def pair_of(denied: int, strong: int, weak: int, matters: int, muddled: int) -> Pair:
    """Return a pair with what follows from what is known of it."""
    faint = matters & ~strong
    vague = muddled | (faint & ~weak)
    return Pair(denied, strong, weak, matters, muddled, vague, faint, ~(denied | vague))


NO_PAIR = pair_of(0, 0, 0, 0, 0)


def judged(speaking: list[tuple[Edge, bool]]) -> Pair:
    """Return what edges between two elements say together; each comes with whether it names the other element."""
    denied = strong = weak = matters = muddled = 0
    for edge, inside in speaking:
        if edge.open:
            if inside or edge.kind in DEMANDING:
                muddled |= edge.denies | edge.vouches
            continue
        if edge.kind in DEMANDING:
            matters |= edge.denies
            if not inside:
                denied |= edge.denies
        elif edge.kind == "breaks" and inside:
            denied |= edge.denies
        if inside and edge.level == STRONG:
            strong |= edge.vouches
        elif inside:
            weak |= edge.vouches
    return pair_of(denied, strong, weak, matters, muddled)
