"""Parses YAML files once and passes each to the parser of its kind, which for some only the content tells.

Compose files, environments of conda and development containers (JSON) are read here, pipelines in `pipelines`.
"""

import re
from collections.abc import Callable

from compatkb.parsers import pipelines
from compatkb.parsers.commands.dispatch import read_shell
from compatkb.parsers.commands.model import CommandScope, conda_requirement
from compatkb.parsers.pipelines import Runner
from compatkb.parsers.positioned_yaml import YamlNode, read_json, yaml_documents
from compatkb.parsers.requirements import read_requirements
from compatkb.parsers.shell import Variables
from compatkb.parsers.source import Fragment, Segment, SourceFile, TreeError
from compatkb.parsers.statement import MAIN, ParsedFile, Word

_CONDA_STEP, _PIP_STEP = 1, 2
_INSTALLS = re.compile(r"image|pip|dependencies|uses", re.IGNORECASE)
_INSTALLERS = re.compile(r"\b(?:pip3?|uv|conda|apt-get|apt|docker)\b")
_COMMANDS = ("onCreateCommand", "updateContentCommand", "postCreateCommand", "postStartCommand", "postAttachCommand")
_TOP = re.compile(r"\b(?:services|jobs|runs|dependencies|containers)[\"']?\s*:")
_CONTAINERS = ("containers", "initContainers")


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
        for root in roots if reading.kind in ("gitlab", "kubernetes") else roots[:1]:
            reader(root, reading)


def _sniffed(root: YamlNode) -> str:
    """Return the format of a YAML file that could be anything: by the keys that its top has."""
    keys = set(root.mapping())
    if {"services"} <= keys and not {"apiVersion", "kind"} & keys:
        return "compose"
    if {"apiVersion", "kind"} <= keys:
        return "kubernetes"
    if {"jobs", "on"} <= keys or {"runs", "name"} <= keys:
        return "github"
    if {"dependencies"} <= keys and keys & {"channels", "name", "prefix"} and root.get("dependencies", "0") is None:
        listed = root.get("dependencies")
        is_listed = listed and listed.kind == "list" and any(i.kind == "text" or i.get("pip") for i in listed.items)
        return "environment" if is_listed else "yaml"
    return "yaml"


def read_environment(root: YamlNode, reading: ParsedFile) -> None:
    """Add what an environment.yml asks for: its channels, conda's packages, then those of its pip section."""
    reading.channels = tuple(item.text for item in root.rows("channels") if item.kind == "text")
    for item in root.rows("dependencies"):
        if item.kind == "text":
            if requirement := conda_requirement(item.text, Word(item.text, item.text, item.place)):
                reading.add(requirement._replace(step=_CONDA_STEP))
            elif item.text.count("::") > 1:
                message = f"{item.text} is no match specification: it is channel::name=version"
                reading.problem(item.place, message, is_refused=True)
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


def read_compose(root: YamlNode, reading: ParsedFile) -> None:
    """Add the images of the services of a compose file, each a group, and what their commands install."""
    runner = Runner(reading)
    for name, service in root.table("services").items():
        group = runner.group(f"service:{name}", f"the service {name}", kind="service")
        variables: Variables = {}
        runner.settings(service.get("environment"), variables, group)
        if service.get("build") is None:  # else that is what the built image is called
            runner.image(service.get("image"), variables, group)
        for key in ("command", "entrypoint"):
            _command(service.get(key), CommandScope(reading, variables, group))


def read_kubernetes(root: YamlNode, reading: ParsedFile) -> None:
    """Add the images of the containers of a manifest of Kubernetes, each a group, and what their commands install."""
    runner, left, seen = Runner(reading), [root], set[int]()
    while left:
        node = left.pop()
        if id(node) in seen:  # an alias may stand within what it names
            continue
        seen.add(id(node))
        left += (*node.items, *(inner for inner in node.mapping().values() if inner.kind != "text"))
        for container in (one for name in _CONTAINERS for one in node.rows(name)):
            place = f"{container.place.line}"
            group = runner.group(f"container:{place}", f"the container at line {place}", kind="service")
            runner.image(container.get("image"), {}, group)
            for key in ("command", "args"):
                _command(container.get(key), CommandScope(reading, {}, group))


def _command(node: YamlNode | None, scope: CommandScope) -> None:
    texts = node.texts() if node else []
    if not any(_INSTALLERS.search(item.text) for item in texts):
        return
    if node is not None and len(texts) > 1 and not any(item.text.startswith("-") and "c" in item.text for item in texts[:3]):
        inner = command_text(node)  # a program with its arguments
        if inner is not None:
            read_shell(inner, scope)
        return
    for item in texts:
        if _INSTALLERS.search(item.text):
            read_shell(item.fragment(), scope)


def read_devcontainer(source: SourceFile, reading: ParsedFile) -> None:
    """Add the image, the Python and the commands of a development container; they run in the order of its life."""
    tree = read_json(source, reading, comments=True)
    if tree is None:
        return
    runner, scope = Runner(reading), CommandScope(reading)
    runner.image(tree.get("image"), {}, MAIN)
    for name, options in tree.table("features").items():
        if name.rpartition("/")[2].partition(":")[0] == "python":
            runner.python(options.get("version"), {}, scope)
    for key in _COMMANDS:
        command = tree.get(key)
        for one in command.mapping().values() if command and command.kind == "map" else [command]:
            if one is not None and (text := command_text(one)):
                read_shell(text, scope)


def command_text(node: YamlNode) -> Fragment | None:
    """Return a command as a shell reads it: its text, what a shell among its words runs, or its words in a row."""
    if node.kind != "list":
        return node.fragment() if node.text else None
    words = [item for item in node.items if item.kind == "text"]
    inner = next((words[n + 1] for n, word in enumerate(words[:-1]) if word.text in ("-c", "-lc", "-ec", "-exc")), None)
    if inner is not None:
        return inner.fragment()
    pieces = []
    for word in words:
        fragment = word.fragment()
        quoted = "'" if any(mark in word.text for mark in " <>;&|*$") and "'" not in word.text else ""
        pieces += [Segment(quoted, fragment.origin(0))]
        pieces += [Segment(fragment.text[at], fragment.origin(at)) for at in range(len(fragment.text))]
        pieces += [Segment(f"{quoted} ", fragment.origin(len(fragment.text)))]
    return Fragment(node.source, pieces) if words else None


_READERS: dict[str, Callable[[YamlNode, ParsedFile], None]] = {
    "compose": read_compose,
    "kubernetes": read_kubernetes,
    "github": pipelines.read_github,
    "gitlab": pipelines.read_gitlab,
    "environment": read_environment,
}
