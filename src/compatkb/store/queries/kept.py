"""Caches the results of queries: texts and commands of one answer ask for the same rows many times."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from compatkb.store.reader import Snapshot

P = ParamSpec("P")
T = TypeVar("T")


def kept(query: Callable[Concatenate[Snapshot, P], T]) -> Callable[Concatenate[Snapshot, P], T]:
    """Return a query that is run once for the same arguments of a snapshot; for results that nobody changes."""

    @wraps(query)
    def ask(facts: Snapshot, /, *arguments: P.args, **options: P.kwargs) -> T:
        key = (query, arguments, *options.items())
        if key not in facts.kept:
            facts.kept[key] = query(facts, *arguments, **options)
        answer: T = facts.kept[key]
        return answer

    return ask
