"""Build hook: compile the data into the snapshot that the wheel carries."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


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
