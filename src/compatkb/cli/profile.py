"""The machine that a project or a user names once, so that questions need not: `machine = "B580, ubuntu24.04, py3.12"`."""

import os
from typing import Any

from compatkb.core.record import NamedTuple
from compatkb.errors import UsageError
from compatkb.store.cache import user_folder

CONFIG = "COMPATKB_CONFIG"
"""Names another file than config.toml in the platform's folder for configuration."""
_MOST_BYTES = 1_000_000


class Profile(NamedTuple):
    """The words of a machine, and the file that has them."""

    words: tuple[str, ...]
    path: str


def machine_profile() -> Profile | None:
    """Return the machine that [tool.compatkb] of the nearest pyproject.toml names, else the user's configuration; or None.

    Files that cannot be read count as none. Raises UsageError for one that is no TOML, and a machine that is no text.
    """
    folder = os.getcwd()
    while True:
        if found := _read(os.path.join(folder, "pyproject.toml")):
            return found
        above = os.path.dirname(folder)
        if above == folder or os.path.exists(os.path.join(folder, ".git")):
            return _read(os.environ.get(CONFIG) or os.path.join(user_folder("user_config_dir"), "config.toml"))
        folder = above


def _read(path: str) -> Profile | None:
    if not os.path.isfile(path):
        return None
    from compatkb.core.foreign import read_bounded

    is_project = path.endswith("pyproject.toml")
    try:
        content = read_bounded(path, _MOST_BYTES)
    except OSError:
        return None
    if is_project and not (b"compatkb" in content and b"machine" in content):
        return None  # most projects: not worth a parser
    import tomllib

    try:
        table: Any = tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: {error}") from None
    for name in ("tool", "compatkb") if is_project else ():
        table = table.get(name) if isinstance(table, dict) else None
    if not isinstance(table, dict) or "machine" not in table:
        return None
    if not isinstance(table["machine"], str):
        raise UsageError(f'{path}: machine is a text, such as machine = "B580, ubuntu24.04, py3.12"')
    words = tuple(word for part in table["machine"].split(",") for word in part.split())
    return Profile(words, path)
