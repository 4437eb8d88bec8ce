"""Build hooks: the data compiled into the snapshot that the wheel carries; the README as a package page can show it."""

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")


class ReadmeHook(MetadataHookInterface):
    """Gives the README links that lead to the repository: a package page has no files beside it."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme, with the address that the project's own metadata name."""
        source = metadata["urls"]["Source"]
        text = Path(self.root, "README.md").read_text(encoding="utf-8")

        def absolute(found: re.Match[str]) -> str:
            return f"{found[1]}[{found[2]}]({source}/{'raw' if found[1] else 'blob'}/main/{found[3]})"

        metadata["readme"] = {"content-type": "text/markdown", "text": _LINK.sub(absolute, text)}


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

        target = Path(tempfile.mkdtemp(prefix="compatkb-build-")) / "snapshot.sqlite"
        compile_directory(root / "data", target)
        build_data["force_include"][str(target)] = "compatkb/_data/snapshot.sqlite"
        build_data["force_include"][str(root / "docs" / "check.md")] = "compatkb/_data/check.md"
        build_data["force_include"][str(root / "web")] = "compatkb/_web"
