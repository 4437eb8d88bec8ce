"""Tells which packages of a lock file only extras bring in: an environment has those of the extras that it installs."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from compatkb.core.names import normal
from compatkb.parsers.documents import Toml

_Node = tuple[str, str]
"""A package, and the extra of it that is asked for; an empty one for the package alone."""
_OWN = {"editable", "virtual", "directory", "workspace"}
MOST_GROUPS = 200
"""Of more extras of one file what they bring is not told apart."""
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


def extras_of(document: Toml, array: str, tool: str) -> dict[str, list[str]]:
    """Return the groups of the packages that are installed with extras or groups alone, by normalised name.

    A package that is optional, and that no extra of the file reaches, is a group of its own.
    """
    rows = [row for row in document.list(array) if isinstance(row, dict) and isinstance(row.get("name"), str)]
    if tool == "uv":
        return _of_uv(rows)
    if tool == "poetry":
        return _of_poetry(rows, document.table("extras"))
    return _of_groups(rows) if tool == "pdm" else {}


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


def _of_groups(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    groups_by_package: dict[str, list[str]] = {}
    for row in rows:
        groups = row.get("groups")
        if isinstance(groups, list) and groups and "default" not in groups:
            groups_by_package[normal(row["name"])] = [f"extra:{group}" for group in groups]
    return groups_by_package


def _beyond(
    graph: Mapping[_Node, list[_Node]], own: Iterable[_Node], wanted: Mapping[str, list[_Node]]
) -> dict[str, list[str]]:
    """Return the groups by the packages that they bring beyond what is installed without them."""
    always = _reached(graph, own)
    groups_by_package: dict[str, list[str]] = {}
    for group, nodes in list(wanted.items())[:MOST_GROUPS]:
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
