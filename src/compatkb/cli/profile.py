"""The machine that a project or a user names once, so that questions need not: `machine = "B580, ubuntu24.04, py3.12"`."""

import os
from pathlib import Path
from typing import Any, NamedTuple

from compatkb.errors import UsageError

CONFIG = "COMPATKB_CONFIG"
"""Names another file than config.toml in the platform's folder for configuration."""


class Profile(NamedTuple):
    """The words of a machine, and the file that has them."""

    words: tuple[str, ...]
    path: str


def machine_profile() -> Profile | None:
    """Return the machine that [tool.compatkb] of the nearest pyproject.toml names, else the user's configuration; or None.

    Raises UsageError for a file that is no TOML, and a machine that is no text.
    """
    for folder in (Path.cwd(), *Path.cwd().parents):
        if found := _read(folder / "pyproject.toml"):
            return found
        if (folder / ".git").exists():
            break
    return _read(Path(os.environ.get(CONFIG) or _user_file()))


def _user_file() -> str:
    import platformdirs

    return str(platformdirs.user_config_path("compatkb", appauthor=False) / "config.toml")


def _read(path: Path) -> Profile | None:
    from compatkb.core.foreign import safe_open

    if not path.is_file():
        return None
    with safe_open(path) as file:
        content = file.read()
    if b"compatkb" not in content and path.name == "pyproject.toml":
        return None  # most projects: not worth a parser
    import tomllib

    try:
        document: dict[str, Any] = tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from None
    table = document.get("tool", {}).get("compatkb", {}) if path.name == "pyproject.toml" else document
    if "machine" not in table:
        return None
    if not isinstance(table["machine"], str):
        raise UsageError(f'{path}: machine is a text, such as machine = "B580, ubuntu24.04, py3.12"')
    words = tuple(word for part in table["machine"].split(",") for word in part.split())
    return Profile(words, str(path))
