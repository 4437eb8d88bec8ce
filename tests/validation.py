"""Contexts for cells of `validate`, in which this interpreter's own pip is used: it needs no network to be there."""

import sys
from dataclasses import replace

from compatkb.validate.cell import RunContext

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


def with_own_pip(context: RunContext) -> RunContext:
    """Return a context in which this interpreter resolves."""
    return replace(context, interpreters={HERE: sys.executable}, newest_pip=False)
