"""Faults planted into tables that are rendered from the data are seen; the tables as rendered are clean."""

import pytest
from markdown_mutations import MUTATIONS, OPTIONAL, campaign

from compatkb.store.reader import Snapshot


@pytest.mark.long
def test_planted_faults_are_seen(facts: Snapshot) -> None:
    """Of two mutations of each kind at least 95 % are seen; documents without faults give nothing (all: make mutations).

    Rules that are off by themselves count; without them the kinds that are theirs alone go unseen, and no others.
    """
    count = 2 * len(MUTATIONS)
    made = campaign(facts, count, seed=11)
    assert made.loud == []
    assert len(made.missed) * 20 <= count, [(mutation.kind, mutation.said) for mutation in made.missed]
    assert len(made.kinds) >= 12
    unseen = {mutation.kind for mutation in made.missed_by_default} - {mutation.kind for mutation in made.missed}
    assert unseen == set(OPTIONAL)
