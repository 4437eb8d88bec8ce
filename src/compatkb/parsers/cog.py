"""Images that Cog builds: the Python, the packages and the commands that a cog.yaml asks for."""

from compatkb.parsers.commands.dispatch import read_shell
from compatkb.parsers.commands.model import CommandScope
from compatkb.parsers.conda import read_pip_line
from compatkb.parsers.pipelines import Runner
from compatkb.parsers.positioned_yaml import YamlNode
from compatkb.parsers.statement import Include, IndexUse, ParsedFile

_PIP_STEP = 1


def read_cog(root: YamlNode, reading: ParsedFile) -> None:
    """Add what the build of a cog.yaml installs: its packages in one step, then its commands."""
    build = root.get("build")
    if build is None:
        return
    scope = CommandScope(reading, step=_PIP_STEP)
    Runner(reading).python(build.get("python_version"), {}, scope)
    packages, file, commands = (build.get(key) for key in ("python_packages", "python_requirements", "run"))
    problems = list(reading.problems)
    for line in packages.texts() if packages else []:
        read_pip_line(line.fragment(), reading, _PIP_STEP)
    reading.problems = problems  # Cog has its own notation, with indexes behind packages
    if file and file.text:
        reading.statements.append(Include(place=file.place, text=file.text, path=file.text, step=_PIP_STEP))
    if packages or file:  # Cog adds an index that fits the CUDA of the image, which it chooses itself
        place = (packages or file or build).place
        reading.statements.append(
            IndexUse(place=place, text="", url="cuda", style="extra-index-url", step=_PIP_STEP, derived=True)
        )
    for item in commands.items if commands else []:
        command = item.get("command") if item.kind == "map" else item
        if command and command.text:
            read_shell(command.fragment(), scope)
