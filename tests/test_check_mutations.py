"""Faults planted into tables that are rendered from the data are seen; the tables as rendered are clean."""

from markdown_mutations import MUTATIONS, campaign

from compatkb.store.reader import Snapshot


def test_planted_faults_are_seen(facts: Snapshot) -> None:
    """Of two mutations of each kind at least 95 % are seen; documents without faults give nothing (all: make mutations)."""
    count = 2 * len(MUTATIONS)
    kinds, missed, loud = campaign(facts, count, seed=11)
    assert loud == []
    assert len(missed) * 20 <= count, [(mutation.kind, mutation.said) for mutation in missed]
    assert len(kinds) >= 12
