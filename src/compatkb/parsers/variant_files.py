"""Tables of wheel variants as files, NAME-VERSION-variants.json: the release that each is about, and what is wrong with it."""

from typing import Any

from compatkb.parsers.positioned_yaml import YamlNode, read_json
from compatkb.parsers.requirement import locked
from compatkb.parsers.source import SourceFile
from compatkb.parsers.statement import ParsedFile
from compatkb.parsers.variants import named_release, variants_of


def read_variants(source: SourceFile, reading: ParsedFile) -> None:
    """Add the release that a table is about, and what of the table does not keep the draft."""
    tree = read_json(source, reading)
    if tree is None or (release := named_release(reading.path)) is None:
        return
    for problem in variants_of(plain(tree))[1]:
        node = tree.get(*problem.keys)
        reading.problem(node.place if node else tree.place, problem.message)
    name, version = release
    reading.add(locked(tree.place, "{", name, f"=={version}"))


def plain(node: YamlNode) -> Any:
    """Return a tree as dictionaries, lists and texts."""
    if node.kind == "map":
        return {key.text: plain(value) for key, value in node.pairs}
    return [plain(item) for item in node.items] if node.kind == "list" else node.text
