"""Locks: uv.lock, poetry.lock, pylock.toml."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from compatkb.core.names import normal
from compatkb.parsers.documents import Toml, read_toml
from compatkb.parsers.requirement import from_poetry, is_name, is_specifier, locked
from compatkb.parsers.source import SourceFile
from compatkb.parsers.statement import MAIN, Group, ParsedFile, PythonUse

STEP = 1
_DIRECT = ("git", "url", "file", "path", "directory", "vcs", "archive")
"""How locks name what is on no index."""
_Node = tuple[str, str]
"""A package, and the extra of it that is asked for; an empty one for the package alone."""
_OWN = {"editable", "virtual", "directory", "workspace"}
_MOST_GROUPS = 200
"""Of more extras of one file what they bring is not told apart."""
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_PYTHONS = {
    "uv.lock": ("requires-python",),
    "poetry.lock": ("metadata", "python-versions"),
    "pylock": ("requires-python",),
}
"""Where each kind of lock tells its Pythons."""


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _elsewhere(row: Mapping[str, Any]) -> str | None:
    """Return the address that a package was locked from, beside any index: a repository, an archive, a folder."""
    source = row.get("source")
    of_source = isinstance(source, dict) and "registry" not in source and source.get("type", "git") in _DIRECT
    address = source if of_source else {key: row[key] for key in _DIRECT if key in row}
    return str(address) if address else None


def _index(row: Mapping[str, Any], tool: str) -> str | None:
    """Return the index that a package was locked from."""
    if tool == "pylock":
        return _text(row.get("index"))
    source = row.get("source")
    if not isinstance(source, dict) or (tool == "poetry" and source.get("type") == "git"):
        return None
    return _text(source.get("registry" if tool == "uv" else "url"))


def read_lock(source: SourceFile, reading: ParsedFile) -> None:
    """Add the packages of a uv.lock, poetry.lock or pylock.toml (PEP 751), each with its index."""
    document = read_toml(source, reading)
    if document is None:
        return
    tool = reading.kind.removesuffix(".lock")
    array = "packages" if tool == "pylock" else "package"
    _python(document, reading, _PYTHONS[reading.kind])
    groups = _groups(document, array)
    forks = _forks_that_need(document, array, groups)
    extras = _extras_of(document, array, tool)
    for group in {group: None for of in extras.values() for group in of}:
        reading.groups[group] = Group(group, "extra", f"the lock with the {group.replace(':', ' ')}", (MAIN,))
    for _, row, place in document.tables(array):
        name, version = row.get("name"), row.get("version")
        if not isinstance(name, str) or not isinstance(version, str) or not is_name(name) or not is_specifier(f"=={version}"):
            continue
        if isinstance(value := row.get("source"), dict) and set(value) & {"editable", "virtual", "directory"}:
            continue
        several = normal(name) in groups
        of_groups = [MAIN]
        marker = _text(row.get("marker"))
        if several and not marker:  # one of several: which of them is installed depends on the platform
            of_groups = [_fork(name, version)]
            reading.groups[of_groups[0]] = Group(of_groups[0], "branch", f"the lock with {name} {version}", (MAIN,))
        elif normal(name) in forks:
            of_groups = forks[normal(name)]
        elif normal(name) in extras:
            of_groups = extras[normal(name)]
        for group in of_groups:
            origin = {"only_index": _index(row, tool), "url": _elsewhere(row)}
            package = locked(place, version, name, f"=={version}", tool=tool, marker=marker, group=group, **origin)
            reading.add(package)


def _groups(document: Toml, array: str) -> set[str]:
    """Return the names of the packages that are locked in several versions."""
    rows = (row for row in document.list(array) if isinstance(row, dict) and isinstance(row.get("name"), str))
    counts = Counter(normal(row["name"]) for row in rows)
    return {name for name, count in counts.items() if count > 1}


def _fork(name: str, version: str) -> str:
    return f"fork:{normal(name)}:{version}"


def _forks_that_need(document: Toml, array: str, several: set[str]) -> dict[str, list[str]]:
    """Return the groups of the forks that name a package among what they need; the others are installed without it."""
    forks_by_package: dict[str, list[str]] = {}
    for row in document.list(array):
        name, needs = (row.get("name"), row.get("dependencies")) if isinstance(row, dict) else (None, None)
        if isinstance(name, str) and isinstance(needs, list) and normal(name) in several:
            for need in needs:
                if isinstance(need, dict) and isinstance(needed := need.get("name"), str):
                    forks_by_package.setdefault(normal(needed), []).append(_fork(name, str(row.get("version"))))
    return forks_by_package


def _python(document: Toml, reading: ParsedFile, where: tuple[str, ...]) -> None:
    value = document.get(*where)
    specifier = from_poetry(value) if isinstance(value, str) else None
    if specifier:
        line = re.search(
            rf"^{where[-1]}\s*=\s*[\"']?", document.source.text, re.MULTILINE
        )  # places of all else would take long
        place = document.source.place(line.end()) if line else document.value_place(*where)
        reading.add(PythonUse(place=place, text=str(value), specifier=specifier, step=STEP))


def _extras_of(document: Toml, array: str, tool: str) -> dict[str, list[str]]:
    """Return the groups of the packages that are installed with extras or groups alone, by normalised name.

    A package that is optional, and that no extra of the file reaches, is a group of its own.
    """
    rows = [row for row in document.list(array) if isinstance(row, dict) and isinstance(row.get("name"), str)]
    if tool == "uv":
        return _of_uv(rows)
    if tool == "poetry":
        return _of_poetry(rows, document.table("extras"))
    return {}


def _of_uv(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    graph: dict[_Node, list[_Node]] = {}
    own: list[_Node] = []
    wanted: dict[str, list[_Node]] = {}
    for row in rows:
        name, source = normal(row["name"]), row.get("source")
        graph.setdefault((name, ""), []).extend(_needs(row.get("dependencies")))
        is_own = isinstance(source, dict) and bool(set(source) & _OWN)
        own += [(name, "")] if is_own else []
        for key, kind in (("optional-dependencies", "extra"), ("dev-dependencies", "group")):
            for extra, needs in _items(row.get(key)):
                node = (name, f"{kind}:{extra}" if kind == "group" else extra)
                graph.setdefault(node, []).extend(_needs(needs))
                if is_own:
                    wanted.setdefault(f"{kind}:{extra}", []).append(node)
    return _beyond(graph, own, wanted)


def _needs(value: object) -> Iterator[_Node]:
    for need in value if isinstance(value, list) else ():
        if isinstance(need, dict) and isinstance(name := need.get("name"), str):
            yield normal(name), ""
            extras = need.get("extra")
            yield from ((normal(name), str(extra)) for extra in (extras if isinstance(extras, list) else ()))


def _of_poetry(rows: list[dict[str, Any]], extras: Mapping[str, Any]) -> dict[str, list[str]]:
    optional = {normal(row["name"]) for row in rows if row.get("optional") is True}
    graph: dict[_Node, list[_Node]] = {}
    for row in rows:
        needs = [(normal(need), "") for need, _ in _items(row.get("dependencies"))]
        graph.setdefault((normal(row["name"]), ""), []).extend(needs)
    wanted = {
        f"extra:{extra}": [(normal(match[0]), "") for name in names if (match := _NAME.match(str(name)))]
        for extra, names in extras.items()
        if isinstance(names, list)
    }
    groups_by_package = _beyond(graph, [(name, "") for name, _ in graph if name not in optional], wanted)
    return {name: groups_by_package.get(name, [f"optional:{name}"]) for name in optional}


def _beyond(
    graph: Mapping[_Node, list[_Node]], own: Iterable[_Node], wanted: Mapping[str, list[_Node]]
) -> dict[str, list[str]]:
    """Return the groups by the packages that they bring beyond what is installed without them."""
    always = _reached(graph, own)
    groups_by_package: dict[str, list[str]] = {}
    for group, nodes in list(wanted.items())[:_MOST_GROUPS]:
        for name in _reached(graph, nodes) - always if always else ():
            groups_by_package.setdefault(name, []).append(group)
    return groups_by_package


def _reached(graph: Mapping[_Node, list[_Node]], nodes: Iterable[_Node]) -> set[str]:
    """Return the names of the packages that some bring, themselves included."""
    seen: set[_Node] = set()
    queue = list(nodes)
    while queue:
        node = queue.pop()
        if node not in seen:
            seen.add(node)
            queue += graph.get(node, ())
    return {name for name, _ in seen}


def _items(value: object) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []
