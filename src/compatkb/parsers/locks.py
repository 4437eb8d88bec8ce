"""Locks: uv.lock, poetry.lock, pdm.lock, pylock.toml, Pipfile.lock; a Pipfile, bills of materials, tables of variants."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from compatkb.core.names import normal
from compatkb.core.text_position import Place
from compatkb.parsers.documents import Toml, read_toml
from compatkb.parsers.lock_extras import extras_of
from compatkb.parsers.positioned_yaml import YamlNode, read_json, walk
from compatkb.parsers.requirement import from_poetry, is_name, is_specifier, locked, unquoted
from compatkb.parsers.source import SourceFile
from compatkb.parsers.statement import MAIN, Group, IndexUse, ParsedFile, PythonUse, Requirement
from compatkb.parsers.variants import label_of, named_release, variants_of

STEP = 1
_DIRECT = ("git", "url", "file", "path", "directory", "vcs", "archive")
"""How locks name what is on no index."""


_PYPI = re.compile(r"pkg:pypi/([^@?#/]+)@([^?#]+)")
_LISTS = ("components", "packages", "@graph")
_VERSIONS = ("version", "versionInfo", "software_packageVersion")
_PYTHONS = {
    "uv.lock": ("requires-python",),
    "poetry.lock": ("metadata", "python-versions"),
    "pdm.lock": ("metadata", "requires_python"),
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
    """Return the index that a package was locked from; pdm names none."""
    if tool == "pylock":
        return _text(row.get("index"))
    source = row.get("source")
    if not isinstance(source, dict) or tool == "pdm" or (tool == "poetry" and source.get("type") == "git"):
        return None
    return _text(source.get("registry" if tool == "uv" else "url"))


def read_lock(source: SourceFile, reading: ParsedFile) -> None:
    """Add the packages of a uv.lock, poetry.lock, pdm.lock or pylock.toml (PEP 751), each with its index."""
    document = read_toml(source, reading)
    if document is None:
        return
    tool = reading.kind.removesuffix(".lock")
    array = "packages" if tool == "pylock" else "package"
    _python(document, reading, _PYTHONS[reading.kind])
    groups = _groups(document, array)
    forks = _forks_that_need(document, array, groups)
    extras = extras_of(document, array, tool)
    for group in {group: None for of in extras.values() for group in of}:
        reading.groups[group] = Group(group, "extra", f"the lock with the {group.replace(':', ' ')}", (MAIN,))
    for _, row, place in document.tables(array):
        name, version = row.get("name"), row.get("version")
        if not isinstance(name, str) or not isinstance(version, str) or not is_name(name) or not is_specifier(f"=={version}"):
            continue
        if isinstance(value := row.get("source"), dict) and set(value) & {"editable", "virtual", "directory"}:
            continue
        _check_variants(row, place, reading)
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


def _check_variants(row: Mapping[str, Any], place: Place, reading: ParsedFile) -> None:
    """Note variant wheels of a package whose labels nothing explains, and a table of them that does not keep the draft."""
    wheels = row.get("wheels")
    files = [w for w in wheels if isinstance(w, dict)] if isinstance(wheels, list) else []
    names = [re.split(r"[/\\]", str(w.get("name") or w.get("url") or w.get("path") or ""))[-1] for w in files]
    labels = {label for name in names if (label := label_of(unquoted(name.partition("#")[0])))}
    table = row.get("variants-json")
    if table is None:
        return  # uv names the labels in the files alone
    variants, problems = variants_of(table)
    for problem in problems:
        reading.problem(place, f"variants-json: {problem.message}")
    if unknown := sorted(labels - {variant.label for variant in variants}):
        reading.problem(place, f"variants-json: does not tell what the variants {', '.join(unknown)} are for")


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
        reading.add(PythonUse(place=document.value_place(*where), text=str(value), specifier=specifier, step=STEP))


def read_pipfile(source: SourceFile, reading: ParsedFile) -> None:
    """Add what a Pipfile asks for."""
    document = read_toml(source, reading)
    if document is None:
        return
    for number, row in enumerate(document.list("source")):
        if isinstance(row, dict) and isinstance(url := row.get("url"), str):
            place = document.value_place("source", number, "url")
            style = "extra-index-url" if number else "index-url"
            reading.add(IndexUse(place, url, url, style, name=_text(row.get("name"))))
    version = document.get("requires", "python_version")
    if isinstance(version, str) and is_specifier(f"=={version}.*"):
        place = document.value_place("requires", "python_version")
        reading.add(PythonUse(place=place, text=version, specifier=f"=={version}.*", runs=True))
    for section, group in (("packages", MAIN), ("dev-packages", "group:dev")):
        if group and document.table(section):
            reading.groups[group] = Group(group, "group", "the group dev", (MAIN,))
        for name, value in document.table(section).items():
            text = value if isinstance(value, str) else value.get("version", "*") if isinstance(value, dict) else None
            if not isinstance(text, str):
                continue
            specifier = None if isinstance(value, dict) and value.keys() & {"git", "file", "path"} else from_poetry(text)
            index = value.get("index") if isinstance(value, dict) else None
            reading.add(
                Requirement(
                    place=document.value_place(section, name), text=text, name=normal(name), specifier=specifier or "",
                    unknown=specifier is None, group=group, tool="pipenv", only_index=_text(index),
                )
            )  # fmt: skip


def read_pipfile_lock(source: SourceFile, reading: ParsedFile) -> None:
    """Add the packages of a Pipfile.lock; those for development are a group based on the others."""
    tree = read_json(source, reading)
    if tree is None:
        return
    addresses = {}
    for row in tree.rows("_meta", "sources"):
        name, url = row.get("name"), row.get("url")
        if name and url:
            addresses[name.text] = url.text
    version = tree.get("_meta", "requires", "python_version")
    if version and is_specifier(f"=={version.text}.*"):
        specifier = f"=={version.text}.*"
        reading.add(PythonUse(place=version.place, text=version.text, specifier=specifier, runs=True, step=STEP))
    for section, group in (("default", MAIN), ("develop", "group:dev")):
        if group and tree.get(section):
            reading.groups[group] = Group(group, "group", "the group dev", (MAIN,))
        for package, node in tree.table(section).items():
            _locked(reading, package, node, group, addresses)


def _locked(reading: ParsedFile, name: str, row: YamlNode, group: str, addresses: Mapping[str, str]) -> None:
    version = row.get("version")
    if not version or not is_name(name) or not is_specifier(version.text):
        return
    marker, index = row.get("markers"), row.get("index")
    origin = {"marker": marker.text if marker else None, "only_index": addresses.get(index.text) if index else None}
    reading.add(locked(version.place, version.text, name, version.text, tool="pipenv", group=group, **origin))


def read_bill_of_materials(source: SourceFile, reading: ParsedFile) -> None:
    """Add the packages of a bill of materials; one in several versions is in several environments, so it is left out."""
    tree = read_json(source, reading)
    packages: dict[str, Requirement] = {}
    several = set()
    for name in _LISTS:
        listed = tree.get(name) if tree else None
        for node in walk(listed) if listed else ():
            package = _package(node)
            if package is None:
                continue
            before = packages.setdefault(package.name, package)
            if before.specifier != package.specifier:
                several.add(package.name)
    reading.statements += [package for name, package in packages.items() if name not in several]


def _package(node: YamlNode) -> Requirement | None:
    """Return the package that an entry names, which may do so in a list of references."""
    values = {key.text: value for key, value in node.pairs}
    rows = values.get("externalRefs")
    urls = [values.get("purl"), values.get("software_packageUrl")]
    urls += [row.get("referenceLocator") for row in rows.items] if rows else []
    match = next((m for url in urls if url is not None and (m := _PYPI.match(url.text))), None)
    name, version = (unquote(match[1]), unquote(match[2])) if match else ("", "")
    if match is None or not is_name(name) or not is_specifier(f"=={version}"):
        return None
    written = next((values[key] for key in _VERSIONS if key in values), None)
    place = written.place if written is not None and written.text else node.place
    text = written.text if written is not None and written.text else "{"
    return locked(place, text, name, f"=={version}", url=match[0])


def read_variants(source: SourceFile, reading: ParsedFile) -> None:
    """Add the release that a table is about, and what of the table does not keep the draft."""
    tree = read_json(source, reading)
    if tree is None or (release := named_release(reading.path)) is None:
        return
    for problem in variants_of(plain(tree))[1]:
        node = tree.get(*problem.keys)
        reading.problem(node.place if node else tree.place, problem.message)
    name, version = release
    reading.add(locked(tree.place, "{", name, f"=={version}"))


def plain(node: YamlNode) -> Any:
    """Return a tree as dictionaries, lists and texts."""
    if node.kind == "map":
        return {key.text: plain(value) for key, value in node.pairs}
    return [plain(item) for item in node.items] if node.kind == "list" else node.text
