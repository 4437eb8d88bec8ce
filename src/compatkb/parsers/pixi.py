"""Parser of pixi manifests: `pixi.toml`, `[tool.pixi]` of a pyproject.toml."""

from typing import Any

from compatkb.parsers.commands.model import conda_requirement
from compatkb.parsers.documents import Toml, add_indexes, read_toml
from compatkb.parsers.requirement import statement
from compatkb.parsers.source import SourceFile
from compatkb.parsers.statement import MAIN, Group, ParsedFile, Word

STEP = 1
_Where = tuple[str, ...]


def read_pixi(source: SourceFile, reading: ParsedFile) -> None:
    """Add what a pixi.toml asks for."""
    document = read_toml(source, reading)
    if document is not None:
        read_pixi_tables(document, (), reading)


def read_pixi_tables(document: Toml, base: _Where, reading: ParsedFile) -> None:
    """Add what the tables of pixi below a key ask for; each feature is a group based on what all environments have."""
    with_default = _with_default(document, base)
    _tables(document, base, MAIN, reading)
    for name, table in document.table(*base, "feature").items():
        if isinstance(table, dict):
            group = f"feature:{name}"
            reading.groups[group] = Group(group, "extra", f"the feature {name}", (MAIN,) if name in with_default else ())
            _tables(document, (*base, "feature", name), group, reading)


def _with_default(document: Toml, base: _Where) -> set[str]:
    """Return the features that some environment has together with what all have by default."""
    names: set[str] = set()
    for value in document.table(*base, "environments").values():
        features = value.get("features") if isinstance(value, dict) else value
        if isinstance(features, list) and not (isinstance(value, dict) and value.get("no-default-feature") is True):
            names.update(name for name in features if isinstance(name, str))
    return names


def _tables(document: Toml, where: _Where, group: str, reading: ParsedFile) -> None:
    for name, value in document.table(*where, "dependencies").items():
        text, place = _version(document, (*where, "dependencies", name), value)
        if text is not None and (requirement := conda_requirement(f"{name} {text}", Word(text, text, place))):
            reading.add(requirement._replace(group=group, step=STEP))
    for name, value in document.table(*where, "pypi-dependencies").items():
        text, place = _version(document, (*where, "pypi-dependencies", name), value)
        index = value.get("index") if isinstance(value, dict) else None
        if text is None:
            continue
        specifier = "" if text.strip() == "*" else text
        requirement = statement(f"{name}{specifier}", place, group=group, step=STEP, tool="project", only_index=_text(index))
        if requirement:
            reading.add(requirement._replace(text=text))
    styles = {"index-url": "index-url", "extra-index-urls": "extra-index-url"}
    add_indexes(document, (*where, "pypi-options"), styles, group, reading)


def _version(document: Toml, where: _Where, value: Any) -> "tuple[str | None, Any]":
    """Return the version of a dependency and its place; None where it has none that installers choose from."""
    if isinstance(value, dict):
        inner = value.get("version")
        return _text(inner), document.value_place(*where, "version") if isinstance(inner, str) else document.place(*where)
    return _text(value), document.value_place(*where)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
