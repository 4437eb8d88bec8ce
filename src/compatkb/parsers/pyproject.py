"""pyproject.toml, pixi.toml, metadata of scripts (PEP 723): standard fields, those of uv, poetry, pdm, hatch and pixi."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from compatkb.core.names import normal
from compatkb.core.text_position import Place
from compatkb.parsers.commands.model import conda_requirement
from compatkb.parsers.documents import Toml, add_indexes, read_toml
from compatkb.parsers.requirement import from_poetry, is_name, is_specifier, of_file, parse, pinned, refusal, statement
from compatkb.parsers.source import SourceFile
from compatkb.parsers.statement import (
    MAIN,
    Group,
    Include,
    IndexUse,
    ParsedFile,
    PythonUse,
    Requirement,
    RequirementRole,
    Word,
)

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


_OPENS, _CLOSES = "# /// script", "# ///"


def read_pyproject(source: SourceFile, reading: ParsedFile) -> None:
    """Add what a pyproject.toml declares; extras and dependency groups are groups, based on what is always installed."""
    document = read_toml(source, reading)
    if document is not None:
        _PyprojectReader(document, reading).read()
        if document.table("tool", "pixi"):
            read_pixi_tables(document, ("tool", "pixi"), reading)


def read_script_metadata(source: SourceFile, reading: ParsedFile) -> None:
    """Add what the block of metadata of a script asks for; scripts without one state nothing."""
    lines = source.text.split("\n")
    first = next((n for n, line in enumerate(lines) if line.rstrip() == _OPENS), None)
    if first is None:
        return
    last = first + 1
    closing = None
    while last < len(lines) and (lines[last] == "#" or lines[last].startswith("# ")):
        closing = last if lines[last].rstrip() == _CLOSES else closing
        last += 1
    if closing is None:
        reading.problem(source.place(source.starts[first]), f"opens a block of metadata that no {_CLOSES!r} closes")
        return
    # the comment marks become spaces, so that the block is TOML whose places are those of the script
    inner = [f"  {line[2:]}" for line in lines[first + 1 : closing]]
    document = read_toml(SourceFile(source.path, "\n".join([""] * (first + 1) + inner)), reading)
    if document is not None:
        _PyprojectReader(document, reading).read_script()


class _PyprojectReader:
    def __init__(self, document: Toml, reading: ParsedFile) -> None:
        self.document, self.reading = document, reading
        self.sources: Mapping[str, list[Mapping[str, Any]]] = {}  # by package, where uv takes it from
        self.separate = _conflicting_with_all(document)
        rows = document.list("tool", "uv", "dependency-metadata")
        self.redefined = {normal(str(row.get("name"))) for row in rows if isinstance(row, dict)}  # by uv

    def read(self) -> None:
        self.sources = self._uv_sources()
        for name, value in self.document.table("tool", "poetry", "dependencies").items():
            if isinstance(value, dict) and isinstance(value.get("source"), str):
                self.sources.setdefault(normal(name), []).append({"index": value["source"]})
        self._project()
        self._dependency_groups()
        self._listed(("build-system", "requires"), "build", RequirementRole.BUILD, kind="build", alone=True)
        self._listed(("tool", "uv", "constraint-dependencies"), MAIN, RequirementRole.CONSTRAINT)
        self._listed(("tool", "uv", "override-dependencies"), MAIN, RequirementRole.OVERRIDE)
        for name in self.document.table("tool", "pdm", "resolution", "overrides"):
            place = self.document.value_place("tool", "pdm", "resolution", "overrides", name)
            self.reading.add(Requirement(place, name, normal(name), unknown=True, role=RequirementRole.OVERRIDE, tool="pdm"))
        self._listed(("tool", "uv", "dev-dependencies"), "group:dev")
        self._indexes(("tool", "uv", "index"))
        self._uv_pip()
        self._indexes(("tool", "pdm", "source"))
        for name in self.document.table("tool", "pdm", "dev-dependencies"):
            self._listed(("tool", "pdm", "dev-dependencies", name), f"group:{name}")
        self._hatch()
        self._poetry()

    def read_script(self) -> None:
        self.sources = self._uv_sources()
        self._project(())
        self._indexes(("tool", "uv", "index"))
        self._uv_pip()

    def _project(self, where: tuple[str, ...] = ("project",)) -> None:
        requires = self.document.get(*where, "requires-python")
        if isinstance(requires, str) and is_specifier(requires):
            place = self.document.value_place(*where, "requires-python")
            self.reading.add(PythonUse(place=place, text=requires, specifier=requires))
        elif isinstance(requires, str):
            message = f"{requires[:80]!r} is no PEP 440 specifier"
            self.reading.problem(self.document.place(*where, "requires-python"), message, is_refused=True)
        self._listed((*where, "dependencies"), MAIN)
        if not where:
            return
        for table in ("tool.setuptools.dynamic.dependencies.file", "tool.hatch.metadata.hooks.requirements_txt.files"):
            keys = table.split(".")
            for number, path in enumerate(self.document.list(*keys)):
                if isinstance(path, str):
                    self.reading.add(Include(self.document.place(*keys, number), path, path=path))
        for extra in self.document.table("project", "optional-dependencies"):
            self._listed(("project", "optional-dependencies", extra), f"extra:{extra}", kind="extra")

    def _listed(
        self,
        where: tuple[str, ...],
        group: str,
        role: RequirementRole = RequirementRole.INSTALL,
        *,
        kind: str = "group",
        alone: bool = False,
    ) -> None:
        values = self.document.list(*where)
        if group != MAIN and values:
            based = () if alone or group in self.separate else (MAIN,)
            self.reading.groups.setdefault(group, Group(group, kind, f"the {kind} {group.partition(':')[2] or group}", based))
        for number, text in enumerate(values):
            if isinstance(text, str):
                self._add(self.document.place(*where, number), text, group, role)

    def _add(self, place: Place, text: str, group: str, role: RequirementRole) -> None:
        parts = parse(text.strip())
        if parts is None:
            if "{" not in text:  # hatch fills such places in
                self.reading.invalid(place, text, refusal(text))
            return
        index, elsewhere = _taken_from(self.sources.get(parts.name, ()), group)
        requirement = statement(text, place, group=group, role=role, only_index=index, tool="project")
        if requirement:
            self.reading.add(requirement._replace(unknown=elsewhere or parts.name in self.redefined))

    def _dependency_groups(self) -> None:
        locks = self.document.table("tool").keys() & {"uv", "pdm", "poetry"}
        based = (MAIN,) if locks else ()  # by itself a group is not installed with the project
        for name, values in self.document.table("dependency-groups").items():
            group = f"group:{name}"
            included = [
                f"group:{value['include-group']}"
                for value in (values if isinstance(values, list) else [])
                if isinstance(value, dict) and isinstance(value.get("include-group"), str)
            ]
            own = () if group in self.separate else based
            self.reading.groups[group] = Group(group, "group", f"the group {name}", (*own, *included))
            self._listed(("dependency-groups", name), group)

    def _uv_sources(self) -> dict[str, list[Mapping[str, Any]]]:
        """Return where uv takes each package from, on the systems that devices are on."""
        index_by_package: dict[str, list[Mapping[str, Any]]] = {}
        for name, value in self.document.table("tool", "uv", "sources").items():
            rows = [row for row in (value if isinstance(value, list) else [value]) if isinstance(row, dict)]
            index_by_package[normal(name)] = [row for row in rows if _is_for_devices(row.get("marker"))]
            for row in rows:
                if isinstance(url := row.get("url", row.get("path")), str) and (version := _version_of(name, url)):
                    self._add_source(name, url, version, row)
        return index_by_package

    def _add_source(self, name: str, url: str, version: str, row: Mapping[str, object]) -> None:
        """Add a file that uv takes a package from, which counts where its marker holds and for its extra or group alone."""
        limits = _limits(row)
        marker = row.get("marker")
        place, group = self.document.place("tool", "uv", "sources", name), limits[0] if limits else MAIN
        marker = marker if isinstance(marker, str) else None
        self.reading.add(Requirement(place, url, normal(name), group, specifier=version, marker=marker, url=url, tool="uv"))

    def _indexes(self, where: tuple[str, ...]) -> None:
        for number, row in enumerate(self.document.list(*where)):
            if not isinstance(row, dict) or not isinstance(row.get("url"), str):
                continue
            name = row.get("name")
            primary = row.get("default") is True or row.get("priority") in ("default", "primary")
            explicit = row.get("explicit") is True or row.get("priority") == "explicit"
            style = "index-url" if primary or name == "pypi" else "extra-index-url"
            place, name = self.document.value_place(*where, number, "url"), name if isinstance(name, str) else None
            self.reading.add(IndexUse(place, row["url"], row["url"], style, name=name, explicit=explicit))

    def _uv_pip(self) -> None:
        for where in (("tool", "uv"), ("tool", "uv", "pip")):
            styles = {name: name for name in ("index-url", "extra-index-url", "find-links")}
            add_indexes(self.document, where, styles, MAIN, self.reading)

    def _hatch(self) -> None:
        for name, table in self.document.table("tool", "hatch", "envs").items():
            for key in ("dependencies", "extra-dependencies"):
                where = ("tool", "hatch", "envs", name, key)
                alone = isinstance(table, dict) and (table.get("detached") is True or table.get("skip-install") is True)
                self._listed(where, f"env:{name}", kind="environment", alone=alone)
            version = table.get("python") if isinstance(table, dict) else None
            if isinstance(version, str) and is_specifier(f"=={version}.*") and f"env:{name}" in self.reading.groups:
                place = self.document.value_place("tool", "hatch", "envs", name, "python")
                self.reading.add(PythonUse(place, version, f"=={version}.*", f"env:{name}", runs=True))

    def _poetry(self) -> None:
        base = ("tool", "poetry")
        self._indexes((*base, "source"))
        optional = self._poetry_extras()
        self._poetry_table((*base, "dependencies"), MAIN, optional)
        self._poetry_group((*base, "dev-dependencies"), "dev")
        for name in self.document.table(*base, "group"):
            self._poetry_group((*base, "group", name, "dependencies"), name)

    def _poetry_group(self, where: tuple[str, ...], name: str) -> None:
        if self.document.table(*where):
            group = f"group:{name}"
            self.reading.groups[group] = Group(group, "group", f"the group {name}", (MAIN,))
            self._poetry_table(where, group, {})

    def _poetry_extras(self) -> dict[str, str]:
        """Return the extra that brings an optional dependency, by its name."""
        group_by_package = {}
        for extra, names in self.document.table("tool", "poetry", "extras").items():
            group = f"extra:{extra}"
            self.reading.groups[group] = Group(group, "extra", f"the extra {extra}", (MAIN,))
            for name in names if isinstance(names, list) else []:
                if isinstance(name, str):
                    group_by_package[normal(name)] = group
        return group_by_package

    def _poetry_table(self, where: tuple[str, ...], group: str, optional: Mapping[str, str]) -> None:
        for name, value in self.document.table(*where).items():
            for number, row in enumerate(value if isinstance(value, list) else [value]):
                self._poetry_row(where, name, row, number if isinstance(value, list) else None, group, optional)

    def _poetry_row(
        self, where: tuple[str, ...], name: str, row: Any, number: int | None, group: str, optional: Mapping[str, str]
    ) -> None:
        table = row if isinstance(row, dict) else {}
        text = row if isinstance(row, str) else table.get("version")
        url = table.get("url")
        place = self.document.value_place(*where, name) if number is None else self.document.place(*where, name, number)
        if isinstance(row, dict) and number is None and "version" in row:
            place = self.document.value_place(*where, name, "version")
        if not isinstance(text, str):
            if isinstance(url, str):
                file = Requirement(place, url, normal(name), group, specifier=_version_of(name, url), url=url, tool="poetry")
                self.reading.add(file)
            return
        specifier = from_poetry(text)
        if specifier is None and re.search(r";|(?<![<>=!~])=[<>]", text):
            message = f"poetry reads no constraint in {text[:80]!r}: commas part bounds, and operators are written >= and <="
            self.reading.problem(place, message, is_refused=True)
        if name == "python":
            if specifier is not None:
                self.reading.add(PythonUse(place=place, text=text, specifier=specifier))
            return
        marker = _marker(table)
        index = table.get("source")
        self.reading.add(
            Requirement(
                place=place, text=text, name=normal(name), specifier=specifier or "", unknown=specifier is None, marker=marker,
                group=optional.get(normal(name), group), tool="poetry", only_index=index if isinstance(index, str) else None,
            )
        )  # fmt: skip


def _limits(row: Mapping[str, Any]) -> list[str]:
    """Return the groups that a source of uv counts for alone, none where it counts for all."""
    return [f"{kind}:{row[kind]}" for kind in ("extra", "group") if isinstance(row.get(kind), str)]


def _taken_from(rows: Iterable[Mapping[str, Any]], group: str) -> tuple[str | None, bool]:
    """Return the index that uv takes a requirement of a group from, of several it depends; and whether from none of any."""
    applicable = [row for row in rows if not (limits := _limits(row)) or group in limits]
    indexes = [row["index"] for row in applicable if isinstance(row.get("index"), str)]
    return " ".join(indexes) or None, any("index" not in row and not of_file(str(row.get("url"))) for row in applicable)


def _is_for_devices(marker: object) -> bool:
    """Return whether a marker may hold on a system that devices are on."""
    if not isinstance(marker, str):
        return True
    from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName

    from compatkb.core.platforms import spelling_of

    try:
        parsed = Marker(marker)
        return any(parsed.evaluate({**spelling_of(family), "python_version": v, "python_full_version": f"{v}.0"})
                   for family in ("linux", "windows") for v in ("3.10", "3.13"))  # fmt: skip
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName):
        return True


def _conflicting_with_all(document: Toml) -> frozenset[str]:
    """Return the extras and groups of which uv is told that they exclude the project itself."""
    conflicting: set[str] = set()
    conflicts = document.get("tool", "uv", "conflicts")
    for several in conflicts if isinstance(conflicts, list) else ():
        rows = [row for row in (several if isinstance(several, list) else ()) if isinstance(row, dict)]
        if any(not _limits(row) for row in rows):
            conflicting.update(limit for row in rows for limit in _limits(row))
    return frozenset(conflicting)


def _version_of(name: str, url: str) -> str:
    parts = parse(f"{name} @ {url}") if is_name(name) and " " not in url else None
    return pinned(parts) if parts else ""


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
    requirement = parse(f"x; {whole}")
    return requirement.marker if requirement else None
