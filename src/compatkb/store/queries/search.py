"""Full-text search: records by their words, the best first, and the words that there are."""

import json
from collections.abc import Iterable
from typing import Any

from compatkb.core.record import NamedTuple
from compatkb.store.queries.solver import SolverQueries


class SearchRecord(NamedTuple):
    """A record that was found; `keys` are its names as look-up words, `rank` is that of FTS5's bm25: less is better."""

    kind: str
    product: str | None
    version: str | None
    title: str
    names: tuple[str, ...]
    remarks: tuple[str, ...]
    keys: frozenset[str]
    command: str
    place: int
    rank: float


_COLUMNS = "kind, product, version, title, searchable.names, searchable.remarks, searchable.keys, command, place"
_MATCHING = "from search join searchable on searchable.id = search.rowid where search match ? and since <= ?"
_WEIGHTS = "8.0, 1.0, 0.0"
"""How much a word counts in names, in remarks and in names without separators."""


def _record(row: tuple[Any, ...]) -> SearchRecord:
    names, remarks, keys = map(json.loads, row[4:7])
    return SearchRecord._make((*row[:4], tuple(names), tuple(remarks), frozenset(keys), *row[7:]))


class SearchQueries(SolverQueries):
    """Full-text search."""

    def search_records(self, words: Iterable[str], day: int) -> list[SearchRecord]:
        """Return the records known on a day, as an ordinal, in which each of the words begins some word; in no order."""
        query = f"select {_COLUMNS}, bm25(search, {_WEIGHTS}) {_MATCHING}"
        return [_record(row) for row in self.select(query, " ".join(f'"{word}"*' for word in sorted(words)), day)]

    def records_of_kind(self, kind: str) -> list[SearchRecord]:
        """Return all records of a kind, in the order of the data."""
        query = f"select {_COLUMNS}, 0 from searchable where kind = ? order by place"
        return [_record(row) for row in self.select(query, kind)]

    def count_records(self, word: str, day: int) -> int:
        """Return how many of the records known on a day have a word that begins so."""
        ((count,),) = self.select(f"select count(*) {_MATCHING}", f'"{word}"*', day)
        return int(count)

    def name_words(self) -> list[str]:
        """Return the words of which names are made, sorted."""
        return [word for (word,) in self.select("select term from search_word where col = 'names'")]
