"""What a run found and people should know."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["unnamed", "yanked", "unyanked", "gone", "differs", "unread", "undated", "new-file"]


@dataclass(frozen=True)
class Note:
    """One thing to look at; `toml` is the skeleton of a record, where one is needed."""

    kind: Kind
    distribution: str
    versions: tuple[str, ...]
    message: str
    product: str | None = None
    toml: str = ""
