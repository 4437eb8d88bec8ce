"""Parses YAML files once and passes each to the parser of its kind, which for some only the content tells."""

import re
from collections.abc import Callable

from compatkb.parsers import containers, pipelines
from compatkb.parsers.commands.model import conda_requirement
from compatkb.parsers.positioned_yaml import YamlNode, yaml_documents
from compatkb.parsers.requirements import read_requirements
from compatkb.parsers.source import Fragment, SourceFile, TreeError
from compatkb.parsers.statement import ParsedFile, Word

_CONDA_STEP, _PIP_STEP = 1, 2
_INSTALLS = re.compile(r"image|pip|dependencies|uses", re.IGNORECASE)
_TOP = re.compile(r"\b(?:services|jobs|runs|dependencies)[\"']?\s*:")


def read_trees(source: SourceFile, reading: ParsedFile) -> None:
    """Add what a YAML file says; of the kind `yaml`, which any file may be, the reading gets the kind that it is."""
    if reading.kind == "yaml" and not (_INSTALLS.search(source.text) and _TOP.search(source.text)):
        return
    try:
        roots = yaml_documents(source)
    except TreeError as error:
        if "{{" not in source.text and "{%" not in source.text:
            reading.problem(error.place, str(error))
        return
    if not roots:
        return
    if reading.kind == "yaml":
        reading.kind = _sniffed(roots[0])
    if reader := _READERS.get(reading.kind):
        for root in roots if reading.kind == "gitlab" else roots[:1]:
            reader(root, reading)


def _sniffed(root: YamlNode) -> str:
    """Return the format of a YAML file that could be anything: by the keys that its top has."""
    keys = set(root.mapping())
    if {"services"} <= keys and not {"apiVersion", "kind"} & keys:
        return "compose"
    if {"jobs", "on"} <= keys or {"runs", "name"} <= keys:
        return "github"
    if {"dependencies"} <= keys and keys & {"channels", "name", "prefix"} and root.get("dependencies", "0") is None:
        listed = root.get("dependencies")
        is_listed = listed and listed.kind == "list" and any(i.kind == "text" or i.get("pip") for i in listed.items)
        return "environment" if is_listed else "yaml"
    return "yaml"


def read_environment(root: YamlNode, reading: ParsedFile) -> None:
    """Add what an environment.yml asks for: conda's packages, then those of its pip section."""
    for item in root.rows("dependencies"):
        if item.kind == "text":
            if requirement := conda_requirement(item.text, Word(item.text, item.text, item.place)):
                reading.add(requirement._replace(step=_CONDA_STEP))
        elif inner := item.get("pip"):
            for line in inner.texts():
                _pip_line(line.fragment(), reading)


def _pip_line(line: Fragment, reading: ParsedFile) -> None:
    """Read one of a list of packages in YAML, which has the notation of a line of a requirements file."""
    one = ParsedFile(reading.path, reading.kind)
    text = line.text.replace("\n", " ")
    read_requirements(SourceFile(reading.path, text), one)

    for statement in one.statements:
        place = line.place(statement.place.column - 1)
        reading.add(statement._replace(place=place, step=_PIP_STEP))
    for problem in one.problems:
        reading.problem(line.place(problem.place.column - 1), problem.message)


_READERS: dict[str, Callable[[YamlNode, ParsedFile], None]] = {
    "compose": containers.read_compose,
    "github": pipelines.read_github,
    "gitlab": pipelines.read_gitlab,
    "environment": read_environment,
}
