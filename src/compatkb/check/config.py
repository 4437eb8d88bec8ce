"""Reads the configuration of `check`: the table `[tool.compatkb]` of a pyproject.toml."""

from collections.abc import Callable, Container, Mapping
from fnmatch import fnmatch
from typing import Any

from compatkb.check.document import ProjectScope
from compatkb.core.findings import Severity
from compatkb.core.record import NamedTuple
from compatkb.errors import UsageError
from compatkb.request.parser import parse_days

NEVER = "never"
_NAME = "compatkb"


class Settings(NamedTuple):
    """What a project wants of `check`; `folder` is where its paths are relative to."""

    folder: str = ""
    fail_on: str = Severity.ERROR  # a level, or never
    ignore: tuple[str, ...] = ()  # rules that do not run
    levels: Mapping[str, Severity] = {}
    exclude: tuple[str, ...] = ()  # patterns of paths that are not read
    per_file: Mapping[str, tuple[str, ...]] = {}  # pattern of paths, rules that are left out there
    baseline: str | None = None
    within: int = 0  # days
    scope: ProjectScope = ProjectScope()

    def leaves_out(self, path: str) -> bool:
        """Return whether a path is not read."""
        return any(matches(path, pattern) for pattern in self.exclude)

    def ignored(self, path: str, rule: str) -> bool:
        """Return whether findings of a rule do not count in a file."""
        return rule in self.ignore or any(rule in rules and matches(path, p) for p, rules in self.per_file.items())


def matches(path: str, pattern: str) -> bool:
    """Return whether a path, or a folder that it is in, is meant by a pattern such as `docs/*.md` or `vendor`."""
    parts = path.split("/")
    heads = ["/".join(parts[:n]) for n in range(1, len(parts) + 1)]
    return any(fnmatch(head, pattern.rstrip("/")) for head in heads) or ("/" not in pattern and fnmatch(parts[-1], pattern))


def parse_settings(text: str, path: str, folder: str, known: Callable[[], Container[str]]) -> Settings | None:
    """Return the settings in a pyproject.toml, None where it has none; raises UsageError naming what is wrong in it.

    `known` returns the rules that there are; it is asked where rules are named.
    """
    if _NAME not in text and "\\" not in text:  # a key may be written with escapes
        return None
    import tomllib

    try:
        table: Any = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: is no TOML: {error}") from None
    table = table.get(_NAME) if isinstance(table, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise UsageError(f"{path}: [tool.compatkb] must be a table")
    return _SettingsReader(path, known).read(table, folder)


class _SettingsReader:
    def __init__(self, path: str, known: Callable[[], Container[str]]) -> None:
        self.path = path
        self.known = known

    def read(self, table: dict[str, Any], folder: str) -> Settings:
        readers: dict[str, Callable[[str, Any], Any]] = {
            "fail-on": self._fail_on,
            "ignore": self._rules,
            "levels": self._levels,
            "exclude": self._texts,
            "per-file-ignores": self._per_file,
            "baseline": self._text,
            "eol-within": self._days,
            "device": self._text,
            "systems": self._texts,
            "index": self._indexes,
            "machine": self._text,  # of questions, which cli/profile.py reads
        }
        if strange := [key for key in table if key not in readers]:
            raise self._error(strange[0], f"is not a valid setting; expected one of {', '.join(readers)}")
        values = {key: read(key, table[key]) for key, read in readers.items() if key in table}
        values.pop("machine", None)
        names = {"per-file-ignores": "per_file", "eol-within": "within"}
        scope = ProjectScope(values.pop("device", None), values.pop("systems", ()), values.pop("index", ()))
        own = {names.get(key, key.replace("-", "_")): value for key, value in values.items()}
        return Settings(folder, scope=scope, **own)

    def _error(self, key: str, problem: str) -> UsageError:
        return UsageError(f"{self.path}: tool.compatkb.{key} {problem}")

    def _text(self, key: str, value: Any) -> str:
        if not isinstance(value, str) or not value:
            raise self._error(key, "is no text")
        return value

    def _texts(self, key: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise self._error(key, "is no list of texts")
        return tuple(self._text(key, item) for item in value)

    def _indexes(self, key: str, value: Any) -> tuple[str, ...]:
        return (self._text(key, value),) if isinstance(value, str) else self._texts(key, value)

    def _rules(self, key: str, value: Any) -> tuple[str, ...]:
        names = self._texts(key, value)
        for name in names:
            if name not in self.known():
                raise self._error(key, f"names {name!r}, which is no rule; `compatkb check --rules` lists them")
        return names

    def _fail_on(self, key: str, value: Any) -> str:
        if value not in (*Severity, NEVER):
            raise self._error(key, f"is one of {', '.join((*Severity, NEVER))}")
        return str(value)

    def _levels(self, key: str, value: Any) -> dict[str, Severity]:
        levels = {}
        for name, level in self._table(key, value).items():
            self._rules(key, [name])
            if level not in tuple(Severity):
                raise self._error(f"{key}.{name}", f"is one of {', '.join(Severity)}")
            levels[name] = Severity(level)
        return levels

    def _per_file(self, key: str, value: Any) -> dict[str, tuple[str, ...]]:
        return {pattern: self._rules(f"{key}.{pattern}", rules) for pattern, rules in self._table(key, value).items()}

    def _table(self, key: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._error(key, "must be a table")
        return value

    def _days(self, key: str, value: Any) -> int:
        try:
            return parse_days(str(value))
        except UsageError:
            raise self._error(key, "is a number of days, such as 90 or '90d', or another span, such as '12w'") from None
