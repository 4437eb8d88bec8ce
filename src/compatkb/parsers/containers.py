"""Compose files, Kubernetes manifests, Helm values, development containers and Cog: images, and commands that install."""

import re

from compatkb.parsers.commands.dispatch import read_shell
from compatkb.parsers.commands.model import CommandScope
from compatkb.parsers.conda import read_pip_line
from compatkb.parsers.images import image_use
from compatkb.parsers.pipelines import Runner
from compatkb.parsers.positioned_yaml import YamlNode, read_json, walk
from compatkb.parsers.shell import Variables
from compatkb.parsers.source import Fragment, Segment, SourceFile
from compatkb.parsers.statement import MAIN, Include, IndexUse, ParsedFile, Word

_IMAGE_LINE = re.compile(r"^[ \t]*+(?:-[ \t]++)?[\"']?image[\"']?[ \t]*+:[ \t]*+[\"']?([^\s\"'#{}]+)", re.MULTILINE)
_KEY = re.compile(r"image|.*[a-z]Image|.*[_-]image")
_INSTALLS = re.compile(r"\b(?:pip3?|uv|conda|apt-get|apt|docker)\b")
_COMMANDS = ("onCreateCommand", "updateContentCommand", "postCreateCommand", "postStartCommand", "postAttachCommand")
_PIP_STEP = 1


def read_compose(root: YamlNode, reading: ParsedFile) -> None:
    """Add the images of the services of a compose file, each a group, and what their commands install."""
    runner = Runner(reading)
    for name, service in root.table("services").items():
        group = runner.group(f"service:{name}", f"the service {name}", kind="service")
        variables: Variables = {}
        runner.settings(service.get("environment"), variables, group)
        runner.image(service.get("image"), variables, group)
        for key in ("command", "entrypoint"):
            _command(service.get(key), CommandScope(reading, variables, group))


def read_manifests(roots: list[YamlNode], reading: ParsedFile) -> None:
    """Add the images of Kubernetes manifests or Helm values, wherever they stand; each container is a group."""
    runner = Runner(reading)
    for root in roots:
        for node in walk(root):
            for key, value in node.pairs:
                if _KEY.fullmatch(key.text):
                    _image(runner, node, value)


def _image(runner: Runner, holder: YamlNode, value: YamlNode) -> None:
    group = f"container:{value.place.line}"
    if value.kind == "text" and re.search(r"[:/@]", value.text):
        runner.image(value, {}, runner.group(group, f"the container at line {value.place.line}", kind="service"))
        for key in ("command", "args"):
            _command(holder.get(key), CommandScope(runner.reading, {}, group))
    elif value.kind == "map":
        repository, tag, registry = value.get("repository") or value.get("name"), value.get("tag"), value.get("registry")
        if repository and tag and tag.text and repository.kind == tag.kind == "text":
            whole = f"{registry.text}/{repository.text}" if registry and registry.text else repository.text
            group = runner.group(group, f"the container at line {value.place.line}", kind="service")
            word = Word(f"{whole}:{tag.text}", tag.text, tag.place)
            if use := image_use(word.value, word.place, word.raw, group, derived=True):
                runner.reading.add(use)


def _command(node: YamlNode | None, scope: CommandScope) -> None:
    texts = node.texts() if node else []
    if not any(_INSTALLS.search(item.text) for item in texts):
        return
    if node is not None and len(texts) > 1 and not any(item.text.startswith("-") and "c" in item.text for item in texts[:3]):
        inner = command_text(node)  # a program with its arguments
        if inner is not None:
            read_shell(inner, scope)
        return
    for item in texts:
        if _INSTALLS.search(item.text):
            read_shell(item.fragment(), scope)


def read_image_lines(source: SourceFile, reading: ParsedFile) -> None:
    """Add the images of a template that is no YAML before it is filled in."""
    runner = Runner(reading)
    for match in _IMAGE_LINE.finditer(source.text):
        place = source.place(match.start(1))
        group = runner.group(f"container:{place.line}", f"the container at line {place.line}", kind="service")
        if re.search(r"[:/@]", match[1]) and (use := image_use(match[1], place, match[1], group)):
            reading.add(use)


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


def read_cog(root: YamlNode, reading: ParsedFile) -> None:
    """Add what the build of a cog.yaml installs: its packages in one step, then its commands."""
    build = root.get("build")
    if build is None:
        return
    scope = CommandScope(reading, step=_PIP_STEP)
    Runner(reading).python(build.get("python_version"), {}, scope)
    packages, file = build.get("python_packages"), build.get("python_requirements")
    problems = list(reading.problems)
    for line in packages.texts() if packages else []:
        read_pip_line(line.fragment(), reading, _PIP_STEP)
    reading.problems = problems  # Cog has its own notation, with indexes behind packages
    if file and file.text:
        reading.add(Include(place=file.place, text=file.text, path=file.text, step=_PIP_STEP))
    if packages or file:  # Cog adds an index that fits the CUDA of the image, which it chooses itself
        place = (packages or file or build).place
        reading.add(IndexUse(place=place, text="", url="cuda", style="extra-index-url", step=_PIP_STEP, derived=True))
    for item in build.rows("run"):
        command = item.get("command") if item.kind == "map" else item
        if command and command.text:
            read_shell(command.fragment(), scope)
