"""Compose files, Kubernetes manifests and Helm values: images, and commands that install something."""

import re

from compatkb.parsers.commands.dispatch import read_shell
from compatkb.parsers.commands.model import CommandScope
from compatkb.parsers.devcontainer import command_text
from compatkb.parsers.pipelines import Runner
from compatkb.parsers.positioned_yaml import YamlNode, walk
from compatkb.parsers.shell import Variables
from compatkb.parsers.source import SourceFile
from compatkb.parsers.statement import ParsedFile, Word

_IMAGE_LINE = re.compile(r"^[ \t]*+(?:-[ \t]++)?[\"']?image[\"']?[ \t]*+:[ \t]*+[\"']?([^\s\"'#{}]+)", re.MULTILINE)
_KEY = re.compile(r"image|.*[a-z]Image|.*[_-]image")
_INSTALLS = re.compile(r"\b(?:pip3?|uv|conda|apt-get|apt|docker)\b")


def read_compose(root: YamlNode, reading: ParsedFile) -> None:
    """Add the images of the services of a compose file, each a group, and what their commands install."""
    runner = Runner(reading)
    services = root.get("services")
    for name, service in (services.mapping() if services else {}).items():
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
            from compatkb.parsers.images import image_use

            whole = f"{registry.text}/{repository.text}" if registry and registry.text else repository.text
            group = runner.group(group, f"the container at line {value.place.line}", kind="service")
            word = Word(f"{whole}:{tag.text}", tag.text, tag.place)
            if use := image_use(word.value, word.place, word.raw, group, derived=True):
                runner.reading.statements.append(use)


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
    from compatkb.parsers.images import image_use

    runner = Runner(reading)
    for match in _IMAGE_LINE.finditer(source.text):
        place = source.place(match.start(1))
        group = runner.group(f"container:{place.line}", f"the container at line {place.line}", kind="service")
        if re.search(r"[:/@]", match[1]) and (use := image_use(match[1], place, match[1], group)):
            reading.statements.append(use)
