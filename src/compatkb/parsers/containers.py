"""Compose files and development containers: images, and commands that install."""

import re

from compatkb.parsers.commands.dispatch import read_shell
from compatkb.parsers.commands.model import CommandScope
from compatkb.parsers.pipelines import Runner
from compatkb.parsers.positioned_yaml import YamlNode, read_json
from compatkb.parsers.shell import Variables
from compatkb.parsers.source import Fragment, Segment, SourceFile
from compatkb.parsers.statement import MAIN, ParsedFile

_INSTALLS = re.compile(r"\b(?:pip3?|uv|conda|apt-get|apt|docker)\b")
_COMMANDS = ("onCreateCommand", "updateContentCommand", "postCreateCommand", "postStartCommand", "postAttachCommand")


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
