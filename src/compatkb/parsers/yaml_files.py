"""Parses YAML files once and passes each to the parser of its kind, which for some only the content tells."""

import re
from collections.abc import Callable
from itertools import pairwise

from compatkb.parsers import conda, containers, other_pipelines, pipelines
from compatkb.parsers.positioned_yaml import YamlNode, yaml_documents
from compatkb.parsers.source import SourceFile, TreeError
from compatkb.parsers.statement import ParsedFile

_QUICK = re.compile(r"image|pip|dependencies|uses", re.IGNORECASE)

_DOCUMENT = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)
_TOP = re.compile(r"\b(?:services|jobs|runs|stages|steps|dependencies)[\"']?\s*:")
_IMAGE = re.compile(r"""mage["']?\s*:\s*+(?:[&!]\S++\s++)*+(?:[|>][-+\d]*+\s++)?["']?(?:\*|[^\s"'#]*?[:/@][^\s"'])""")
_TAG = re.compile(r"""tag["']?\s*:[ \t]*+[^\s#]""")
"""An image with a value of its own, as manifests name one; the definition of a field that is called so has a type below it."""

_READERS: dict[str, Callable[[YamlNode, ParsedFile], None]] = {
    "compose": containers.read_compose,
    "github": pipelines.read_github,
    "gitlab": other_pipelines.read_gitlab,
    "azure": other_pipelines.read_azure,
    "environment": conda.read_environment,
    "cog": containers.read_cog,
}


def read_trees(source: SourceFile, reading: ParsedFile) -> None:
    """Add what a YAML file says; of the kind `yaml`, which any file may be, the reading gets the kind that it is."""
    text = _concerning(source.text) if reading.kind == "yaml" else source.text
    if text is None:
        return
    try:
        roots = yaml_documents(source, text)
    except TreeError as error:
        if "{{" in source.text or "{%" in source.text:
            containers.read_image_lines(source, reading)
        else:
            reading.problem(error.place, str(error))
        return
    if not roots:
        return
    if reading.kind == "yaml":
        reading.kind = _sniffed(roots[0])
    if reader := _READERS.get(reading.kind):
        for root in roots if reading.kind == "gitlab" else roots[:1]:
            reader(root, reading)
    elif reading.kind == "manifest":
        containers.read_manifests(roots, reading)


def _concerning(text: str) -> str | None:
    """Return a text with those of its documents left blank that give no image and install nothing; None for all of them."""
    if not _QUICK.search(text):
        return None
    starts = [0, *(match.start() for match in _DOCUMENT.finditer(text)), len(text)]
    pieces = [text[start:end] for start, end in pairwise(starts)]
    concerning = [any(pattern.search(piece) for pattern in (_TOP, _IMAGE, _TAG)) for piece in pieces]
    if not any(concerning):
        return None
    return "".join(piece if is_concerning else _blank(piece) for piece, is_concerning in zip(pieces, concerning, strict=True))


def _blank(document: str) -> str:
    """Return an empty document of the same length, with its mark and its last line break."""
    mark = "---" if document.startswith("---") else ""
    return f"{mark:<{max(len(document) - 1, 0)}}{document[-1:]}"


def _sniffed(root: YamlNode) -> str:
    """Return the format of a YAML file that could be anything: by the keys that its top has."""
    keys = set(root.mapping())
    if {"services"} <= keys and not {"apiVersion", "kind"} & keys:
        return "compose"
    if {"jobs", "on"} <= keys or {"runs", "name"} <= keys:
        return "github"
    if keys & {"trigger", "pool", "stages"} and keys & {"steps", "jobs", "stages"}:
        return "azure"
    if {"dependencies"} <= keys and keys & {"channels", "name", "prefix"} and root.get("dependencies", "0") is None:
        listed = root.get("dependencies")
        is_listed = listed and listed.kind == "list" and any(i.kind == "text" or i.get("pip") for i in listed.items)
        return "environment" if is_listed else "yaml"
    return "manifest"
