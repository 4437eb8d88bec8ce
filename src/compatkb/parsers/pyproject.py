"""pyproject.toml: what a project asks for, by standard fields and by those of uv, poetry, pdm and hatch."""

from collections.abc import Mapping
from typing import Any

from compatkb.core.text_position import Place
from compatkb.parsers.documents import Toml, read_toml
from compatkb.parsers.requirement import from_poetry, is_name, is_specifier, normal, parse, pinned, statement
from compatkb.parsers.source import SourceFile
from compatkb.parsers.statement import MAIN, Group, IndexUse, ParsedFile, PythonUse, Requirement, RequirementRole


def read_pyproject(source: SourceFile, reading: ParsedFile) -> None:
    """Add what a pyproject.toml declares; extras and dependency groups are groups, based on what is always installed."""
    document = read_toml(source, reading)
    if document is None:
        return
    sources = _uv_sources(document, reading)
    _project(document, reading, sources)
    _dependency_groups(document, reading, sources)
    _listed(document, reading, ("build-system", "requires"), "build", sources, RequirementRole.BUILD, kind="build", alone=True)
    for name in ("constraint-dependencies", "override-dependencies"):
        _listed(document, reading, ("tool", "uv", name), MAIN, sources, RequirementRole.CONSTRAINT)
    _listed(document, reading, ("tool", "uv", "dev-dependencies"), "group:dev", sources, RequirementRole.INSTALL, kind="group")
    _indexes(document, reading, ("tool", "uv", "index"))
    _uv_pip(document, reading)
    _indexes(document, reading, ("tool", "pdm", "source"))
    for name in document.table("tool", "pdm", "dev-dependencies"):
        _listed(
            document,
            reading,
            ("tool", "pdm", "dev-dependencies", name),
            f"group:{name}",
            {},
            RequirementRole.INSTALL,
            kind="group",
        )
    _hatch(document, reading)
    _poetry(document, reading)


def _project(document: Toml, reading: ParsedFile, sources: Mapping[str, str]) -> None:
    requires = document.get("project", "requires-python")
    if isinstance(requires, str) and is_specifier(requires):
        place = document.value_place("project", "requires-python")
        reading.statements.append(PythonUse(place=place, text=requires, specifier=requires))
    elif isinstance(requires, str):
        reading.problem(document.place("project", "requires-python"), f"{requires[:80]!r} is no PEP 440 specifier")
    _listed(document, reading, ("project", "dependencies"), MAIN, sources, RequirementRole.INSTALL)
    for extra in document.table("project", "optional-dependencies"):
        _listed(
            document,
            reading,
            ("project", "optional-dependencies", extra),
            f"extra:{extra}",
            sources,
            RequirementRole.INSTALL,
            kind="extra",
        )


def _listed(
    document: Toml,
    reading: ParsedFile,
    where: tuple[str, ...],
    group: str,
    sources: Mapping[str, str],
    role: RequirementRole,
    *,
    kind: str = "group",
    alone: bool = False,
) -> None:
    values = document.list(*where)
    if group != MAIN and values:
        based = () if alone else (MAIN,)
        reading.groups.setdefault(group, Group(group, kind, f"the {kind} {group.partition(':')[2] or group}", based))
    for number, text in enumerate(values):
        if isinstance(text, str):
            _add(document.place(*where, number), text, reading, group, sources, role)


def _add(place: Place, text: str, reading: ParsedFile, group: str, sources: Mapping[str, str], role: RequirementRole) -> None:
    found = parse(text.strip())
    if found is None:
        if "{" not in text:  # hatch fills such places in
            reading.problem(place, f"invalid requirement: {text[:80]!r}")
        return
    made = statement(text, place, group=group, role=role, only_index=sources.get(found.name), tool="project")
    if made:
        reading.statements.append(made)


def _dependency_groups(document: Toml, reading: ParsedFile, sources: Mapping[str, str]) -> None:
    for name, values in document.table("dependency-groups").items():
        group = f"group:{name}"
        included = [
            f"group:{value['include-group']}"
            for value in (values if isinstance(values, list) else [])
            if isinstance(value, dict) and isinstance(value.get("include-group"), str)
        ]
        reading.groups[group] = Group(group, "group", f"the group {name}", (MAIN, *included))
        _listed(document, reading, ("dependency-groups", name), group, sources, RequirementRole.INSTALL)


def _uv_sources(document: Toml, reading: ParsedFile) -> dict[str, str]:
    """Return the index that uv takes each package from; one that hangs on a marker counts for those it names."""
    found: dict[str, str] = {}
    for name, value in document.table("tool", "uv", "sources").items():
        rows = value if isinstance(value, list) else [value]
        named = [row["index"] for row in rows if isinstance(row, dict) and isinstance(row.get("index"), str)]
        if len(named) == 1:
            found[normal(name)] = named[0]
        elif named:
            found[normal(name)] = " ".join(named)  # it depends: some index of these
        for row in rows:
            if isinstance(row, dict) and isinstance(url := row.get("url"), str) and (version := _version_of(name, url)):
                place = document.place("tool", "uv", "sources", name)
                reading.statements.append(
                    Requirement(place=place, text=url, name=normal(name), specifier=version, url=url, tool="uv")
                )
    return found


def _version_of(name: str, url: str) -> str:
    found = parse(f"{name} @ {url}") if is_name(name) and " " not in url else None
    return pinned(found) if found else ""


def _indexes(document: Toml, reading: ParsedFile, where: tuple[str, ...]) -> None:
    for number, row in enumerate(document.list(*where)):
        if not isinstance(row, dict) or not isinstance(row.get("url"), str):
            continue
        name = row.get("name")
        primary = row.get("default") is True or row.get("priority") in ("default", "primary")
        explicit = row.get("explicit") is True or row.get("priority") == "explicit"
        style = "index-url" if primary or name == "pypi" else "extra-index-url"
        reading.statements.append(
            IndexUse(
                place=document.value_place(*where, number, "url"), text=row["url"], url=row["url"], style=style,
                name=name if isinstance(name, str) else None, explicit=explicit,
            )
        )  # fmt: skip


def _uv_pip(document: Toml, reading: ParsedFile) -> None:
    for where in (("tool", "uv"), ("tool", "uv", "pip")):
        for key, style in (("index-url", "index-url"), ("extra-index-url", "extra-index-url"), ("find-links", "find-links")):
            value = document.get(*where, key)
            for url in value if isinstance(value, list) else [value]:
                if isinstance(url, str):
                    place = document.value_place(*where, key)
                    reading.statements.append(IndexUse(place=place, text=url, url=url, style=style))


def _hatch(document: Toml, reading: ParsedFile) -> None:
    for name, table in document.table("tool", "hatch", "envs").items():
        for key in ("dependencies", "extra-dependencies"):
            where = ("tool", "hatch", "envs", name, key)
            _listed(document, reading, where, f"env:{name}", {}, RequirementRole.INSTALL, kind="environment")
        version = table.get("python") if isinstance(table, dict) else None
        if isinstance(version, str) and is_specifier(f"=={version}.*") and f"env:{name}" in reading.groups:
            place = document.value_place("tool", "hatch", "envs", name, "python")
            reading.statements.append(
                PythonUse(place=place, text=version, specifier=f"=={version}.*", runs=True, group=f"env:{name}")
            )


def _poetry(document: Toml, reading: ParsedFile) -> None:
    base = ("tool", "poetry")
    _indexes(document, reading, (*base, "source"))
    optional = _poetry_extras(document, reading)
    _poetry_table(document, reading, (*base, "dependencies"), MAIN, optional)
    for table, name in (((*base, "dev-dependencies"), "dev"),):
        _poetry_group(document, reading, table, name)
    for name in document.table(*base, "group"):
        _poetry_group(document, reading, (*base, "group", name, "dependencies"), name)


def _poetry_group(document: Toml, reading: ParsedFile, where: tuple[str, ...], name: str) -> None:
    if document.table(*where):
        group = f"group:{name}"
        reading.groups[group] = Group(group, "group", f"the group {name}", (MAIN,))
        _poetry_table(document, reading, where, group, {})


def _poetry_extras(document: Toml, reading: ParsedFile) -> dict[str, str]:
    """Return the extra that brings an optional dependency, by its name."""
    found = {}
    for extra, names in document.table("tool", "poetry", "extras").items():
        group = f"extra:{extra}"
        reading.groups[group] = Group(group, "extra", f"the extra {extra}", (MAIN,))
        for name in names if isinstance(names, list) else []:
            if isinstance(name, str):
                found[normal(name)] = group
    return found


def _poetry_table(
    document: Toml, reading: ParsedFile, where: tuple[str, ...], group: str, optional: Mapping[str, str]
) -> None:
    for name, value in document.table(*where).items():
        for number, row in enumerate(value if isinstance(value, list) else [value]):
            _poetry_row(document, reading, where, name, row, number if isinstance(value, list) else None, group, optional)


def _poetry_row(
    document: Toml,
    reading: ParsedFile,
    where: tuple[str, ...],
    name: str,
    row: Any,
    number: int | None,
    group: str,
    optional: Mapping[str, str],
) -> None:
    table = row if isinstance(row, dict) else {}
    text = row if isinstance(row, str) else table.get("version")
    url = table.get("url")
    place = document.value_place(*where, name) if number is None else document.place(*where, name, number)
    if isinstance(row, dict) and number is None and "version" in row:
        place = document.value_place(*where, name, "version")
    if not isinstance(text, str):
        version = _version_of(name, url) if isinstance(url, str) else ""
        if isinstance(url, str):
            reading.statements.append(
                Requirement(place=place, text=url, name=normal(name), specifier=version, url=url, group=group, tool="poetry")
            )
        return
    specifier = from_poetry(text)
    if name == "python":
        if specifier is not None:
            reading.statements.append(PythonUse(place=place, text=text, specifier=specifier))
        return
    marker = _marker(table)
    index = table.get("source")
    reading.statements.append(
        Requirement(
            place=place, text=text, name=normal(name), specifier=specifier or "", unknown=specifier is None, marker=marker,
            group=optional.get(normal(name), group), tool="poetry", only_index=index if isinstance(index, str) else None,
        )
    )  # fmt: skip


def _marker(table: Mapping[str, Any]) -> str | None:
    """Return the marker of a dependency; `python` and `platform` are turned into one."""
    parts = []
    if isinstance(value := table.get("markers"), str):
        parts.append(value)
    if isinstance(value := table.get("platform"), str):
        parts.append(f"sys_platform == '{value}'")
    if isinstance(value := table.get("python"), str) and (specifier := from_poetry(value)):
        parts += [
            f"python_version {clause[:2].rstrip('0123456789')} '{clause.lstrip('<>=!~')}'" for clause in specifier.split(",")
        ]
    if not parts:
        return None
    whole = " and ".join(f"({part})" for part in parts)
    found = parse(f"x; {whole}")
    return found.marker if found else None
