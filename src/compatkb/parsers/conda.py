"""Parser of conda environments and conda-lock files."""

from compatkb.parsers.commands.model import conda_requirement
from compatkb.parsers.positioned_yaml import YamlNode, read_yaml
from compatkb.parsers.requirement import is_specifier, locked
from compatkb.parsers.requirements import read_requirements
from compatkb.parsers.source import Fragment, SourceFile
from compatkb.parsers.statement import MAIN, Group, ParsedFile, PythonUse, Word

_CONDA_STEP, _PIP_STEP = 1, 2


def read_environment(root: YamlNode, reading: ParsedFile) -> None:
    """Add what an environment.yml asks for: conda's packages, then those of its pip section."""
    for item in root.rows("dependencies"):
        if item.kind == "text":
            if requirement := conda_requirement(item.text, Word(item.text, item.text, item.place)):
                reading.add(requirement._replace(step=_CONDA_STEP))
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
        reading.add(statement._replace(place=place, step=step))
    for problem in one.problems:
        reading.problem(line.place(problem.place.column - 1), problem.message)


def read_conda_lock(source: SourceFile, reading: ParsedFile) -> None:
    """Add the packages of a conda-lock.yml; each platform is a group."""
    root = read_yaml(source, reading)
    for row in root.rows("package") if root else ():
        name, version, manager, platform = (row.get(key) for key in ("name", "version", "manager", "platform"))
        if not name or not version or not is_specifier(f"=={version.text}"):
            continue
        group = f"platform:{platform.text}" if platform else MAIN
        if platform:
            reading.groups.setdefault(group, Group(group, "environment", f"the platform {platform.text}"))
        if name.text == "python":
            reading.add(PythonUse(version.place, version.text, f"=={version.text}", group, step=1, runs=True))
            continue
        tool = "pip" if manager and manager.text == "pip" else "conda"
        package = locked(version.place, version.text, name.text, f"=={version.text}", tool=tool, group=group)
        reading.add(package)
