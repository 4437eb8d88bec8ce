"""The commands of the site: write it, show it."""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

from compatkb.cli.commands import open_facts
from compatkb.snapshot.store import locate

EVERY = 5
"""Seconds between two remarks."""


class Countdown:
    """Says on stderr how much of the answers is worked out, and about how long the rest will take."""

    def __init__(self) -> None:
        self.begun = self.said = time.monotonic()

    def say(self, made: int, wanted: int) -> None:
        """Say it, every few seconds."""
        now = time.monotonic()
        if made == wanted or now - self.said > EVERY:
            self.said = now
            left = (now - self.begun) / made * (wanted - made)
            print(f"answers: {made} of {wanted} files, about {left:.0f} s left", file=sys.stderr, flush=True)


def _manner(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"jobs": arguments.jobs or os.cpu_count() or 1, "done": Countdown().say}


def build(arguments: argparse.Namespace) -> int:
    """Write the site."""
    from compatkb.web.site import write_site

    _, day = open_facts(arguments)
    written = write_site(locate(arguments.data), day, Path(arguments.out), **_manner(arguments))
    print(f"wrote {written} files to {arguments.out}; open {Path(arguments.out) / 'index.html'}", file=sys.stderr)
    return 0


def serve(arguments: argparse.Namespace) -> int:
    """Show the site on this machine until interrupted, built anew unless a folder is named."""
    import tempfile

    from compatkb.web.serving import serve_folder
    from compatkb.web.site import write_site

    if arguments.dir:
        serve_folder(Path(arguments.dir), arguments.host, arguments.port)
        return 0
    _, day = open_facts(arguments)
    with tempfile.TemporaryDirectory(prefix="compatkb-web-") as folder:
        write_site(
            locate(arguments.data),
            day,
            Path(folder) / "site",
            jobs=arguments.jobs or os.cpu_count() or 1,
            done=Countdown().say,
        )
        serve_folder(Path(folder) / "site", arguments.host, arguments.port)
    return 0
