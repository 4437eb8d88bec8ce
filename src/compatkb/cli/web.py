"""The commands of the site: write it, show it."""

import argparse
import sys
from pathlib import Path

from compatkb.cli.commands import open_facts
from compatkb.snapshot.store import locate


def build(arguments: argparse.Namespace) -> int:
    """Write the site."""
    from compatkb.web.site import write_site

    _, day = open_facts(arguments)
    written = write_site(locate(arguments.data), day, Path(arguments.out), jobs=arguments.jobs)
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
        write_site(locate(arguments.data), day, Path(folder) / "site", jobs=arguments.jobs)
        serve_folder(Path(folder) / "site", arguments.host, arguments.port)
    return 0
