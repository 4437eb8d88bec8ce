"""Build hooks: the data compiled into the snapshot that the wheel carries; the README as a package page can show it."""

import atexit
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")


class RepositoryHook(MetadataHookInterface):
    """Gives the metadata the addresses of the repository that builds, and the README links that lead to it.

    A package page has no files beside it. `COMPATKB_REPOSITORY` names the address, on a forge what the workflow runs for; a
    build that knows none names none: nobody's address is guessed.
    """

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set urls and readme; `data update` asks the one named Data."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        source = _repository()
        if source:
            metadata["urls"] = {
                "Source": source,
                "Documentation": f"{source}/blob/main/docs/README.md",
                "Changelog": f"{source}/blob/main/CHANGELOG.md",
                "Issues": f"{source}/issues",
                "Data": f"{source}/releases/download/data",
            }
            text = _LINK.sub(
                lambda link: f"{link[1]}[{link[2]}]({source}/{'raw' if link[1] else 'blob'}/main/{link[3]})", text
            )
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def _repository() -> str:
    forge, name = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    return os.environ.get("COMPATKB_REPOSITORY") or (f"{forge}/{name}" if forge and name else "")


class SnapshotHook(BuildHookInterface):  # type: ignore[type-arg]  # the plugin API is untyped
    """Writes the snapshot beside nothing in the tree: the wheel takes it from a temporary folder."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile `data/`; an editable install reads the checkout's own data and gets none."""
        if version == "editable":
            return
        root = Path(self.root)
        sys.path.insert(0, str(root / "src"))
        from compatkb.store.cache import compile_directory

        folder = tempfile.mkdtemp(prefix="compatkb-build-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        target = Path(folder) / "snapshot.sqlite"
        compile_directory(root / "data", target)
        build_data["force_include"][str(target)] = "compatkb/_data/snapshot.sqlite"
        build_data["force_include"][str(root / "docs" / "check.md")] = "compatkb/_data/check.md"
        build_data["force_include"][str(root / "web")] = "compatkb/_web"
