"""Contexts for cells of `validate`, in which this interpreter's own pip is used: it needs no network to be there."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from compatkb.validate import recorded_index
from compatkb.validate.cell import RunContext

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


@contextmanager
def with_own_pip(context: RunContext) -> Iterator[RunContext]:
    """Yield a context in which this interpreter resolves; the indexes that it served end with it."""
    try:
        yield replace(context, interpreters={HERE: sys.executable}, newest_pip=False)
    finally:
        recorded_index.close()
