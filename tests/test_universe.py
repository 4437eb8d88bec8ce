"""Engine and oracle over made-up knowledge bases, and what must hold of any knowledge base."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import product as combinations_of
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders import (
    LONG_AGO,
    PYTHONS,
    SYSTEMS,
    TODAY,
    Record,
    build,
    claim,
    compiled,
    files_of,
    index,
    listing,
    platform,
    product,
    release,
    request,
    route,
    wheel,
)
from compatkb.engine.answer import best_stacks, routes_of
from compatkb.engine.problem import Problem
from compatkb.engine.search import Search
from compatkb.knowledge import Knowledge, build_knowledge
from compatkb.snapshot.read import Snapshot
from oracle import Ask, Judged, Level, Oracle, Trial

NAMES = ("torch", "ipex", "ccl", "inc")
LEAF = "lib"
DAYS = (date(2023, 1, 1), date(2024, 1, 1), date(2025, 1, 1), TODAY)


@dataclass(frozen=True)
class World:
    """A made-up knowledge base before it is compiled, and one question about it."""

    products: list[Record]
    indexes: list[Record]
    routes: list[Record]
    pins: dict[str, frozenset[int]] = field(default_factory=dict)
    bare: tuple[str, ...] = ()
    device: str = "cpu"
    as_of: date = TODAY

    def knowledge(self) -> Knowledge:
        """Return the knowledge base."""
        return build_knowledge(files_of(self.products, indexes=self.indexes, routes=self.routes, dimensions=DIMENSIONS))
