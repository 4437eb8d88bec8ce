"""What `web build` and `web serve` do, whoever reads their words."""

import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path

from compatkb.core.clock import Clock, current_day
from compatkb.errors import UnavailableError
from compatkb.request.parser import parse_day

Count = Callable[[str, int, int], None]
"""Is told what is made, how many of it are done, and of how many."""


def serve_live(host: str, port: int, *, data: str | None = None, as_of: str | None = None) -> int:
    """Answer pages and the API on this machine until interrupted; raises UnavailableError and UsageError."""
    _require_server()
    from compatkb.web.server import run, source_of

    clock = _clock(as_of)
    run(lambda: source_of(data, clock), host, port)
    return 0


def serve_folder(folder: str, host: str, port: int) -> int:
    """Show a folder that `build_site` wrote, until interrupted; raises UsageError where it is none."""
    _require_server()
    from compatkb.web.folder import run_folder

    run_folder(Path(folder), host, port)
    return 0


def build_site(out: str, count: Count, *, data: str | None = None, as_of: str | None = None, engine: bool = True) -> int:
    """Write the static site, whole or not at all, counting its files; raises UsageError and UnavailableError."""
    from compatkb.store.cache import locate
    from compatkb.web.static import write_site

    begun = time.process_time()
    written = write_site(locate(data), _clock(as_of), Path(out), count, engine=engine)
    taken = time.process_time() - begun
    where = Path(out) / "index.html"
    print(f"wrote {written} files to {out} in {taken:.0f} s of processor time; open {where}", file=sys.stderr)
    return 0


def _require_server() -> None:
    missing = [name for name in ("starlette", "uvicorn") if importlib.util.find_spec(name) is None]
    if missing:
        raise UnavailableError(f"the server needs {' and '.join(missing)}: python -m pip install 'compatkb[web]'")


def _clock(as_of: str | None) -> Clock:
    return Clock(current_day(), parse_day(as_of) if as_of else None)
