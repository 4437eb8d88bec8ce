"""Conda environments and conda-lock files."""

from compatkb.core.names import normal
from compatkb.parsers.commands.model import conda_requirement
from compatkb.parsers.positioned_yaml import YamlNode, read_yaml
from compatkb.parsers.requirement import is_specifier
from compatkb.parsers.requirements import read_requirements
from compatkb.parsers.source import Fragment, SourceFile
from compatkb.parsers.statement import MAIN, Group, ParsedFile, PythonUse, Requirement, RequirementRole, Word

_CONDA_STEP, _PIP_STEP = 1, 2


def read_environment(root: YamlNode, reading: ParsedFile) -> None:
    """Add what an environment.yml asks for: conda's packages, then those of its pip section."""
    dependencies = root.get("dependencies")
    for item in dependencies.items if dependencies else []:
        if item.kind == "text":
            if requirement := conda_requirement(item.text, Word(item.text, item.text, item.place)):
                reading.statements.append(requirement._replace(step=_CONDA_STEP))
        elif inner := item.get("pip"):
            for line in inner.texts():
                read_pip_line(line.fragment(), reading, _PIP_STEP)


def read_pip_line(line: Fragment, reading: ParsedFile, step: int) -> None:
    """Read one of a list of packages in YAML, which has the notation of a line of a requirements file."""
    one = ParsedFile(reading.path, reading.kind)
    text = line.text.replace("\n", " ")
    read_requirements(SourceFile(reading.path, text), one)

    for statement in one.statements:
        place = line.place(statement.place.column - 1)
        reading.statements.append(statement._replace(place=place, step=step))
    for problem in one.problems:
        reading.problem(line.place(problem.place.column - 1), problem.message)


def read_conda_lock(source: SourceFile, reading: ParsedFile) -> None:
    """Add the packages of a conda-lock.yml; each platform is a group."""
    root = read_yaml(source, reading)
    packages = root.get("package") if root else None
    for row in packages.items if packages else []:
        name, version, manager, platform = (row.get(key) for key in ("name", "version", "manager", "platform"))
        if not name or not version or not is_specifier(f"=={version.text}"):
            continue
        group = f"platform:{platform.text}" if platform else MAIN
        if platform:
            reading.groups.setdefault(group, Group(group, "environment", f"the platform {platform.text}"))
        if name.text == "python":
            specifier = f"=={version.text}"
            reading.statements.append(
                PythonUse(place=version.place, text=version.text, specifier=specifier, runs=True, group=group, step=1)
            )
            continue
        tool = "pip" if manager and manager.text == "pip" else "conda"
        reading.statements.append(
            Requirement(
                place=version.place, text=version.text, name=normal(name.text), specifier=f"=={version.text}",
                role=RequirementRole.LOCKED, tool=tool, group=group, hashed=True, step=1,
            )
        )  # fmt: skip
