"""Bills of materials: CycloneDX and SPDX in JSON, as far as they name packages of Python by their package URLs."""

import re
from urllib.parse import unquote

from compatkb.parsers.positioned_yaml import YamlNode, read_json, walk
from compatkb.parsers.requirement import is_name, is_specifier, locked
from compatkb.parsers.source import SourceFile
from compatkb.parsers.statement import ParsedFile, Requirement

_PYPI = re.compile(r"pkg:pypi/([^@?#/]+)@([^?#]+)")
_LISTS = ("components", "packages", "@graph")
_VERSIONS = ("version", "versionInfo", "software_packageVersion")


def read_bill_of_materials(source: SourceFile, reading: ParsedFile) -> None:
    """Add the packages of a bill of materials; one in several versions is in several environments, so it is left out."""
    tree = read_json(source, reading)
    packages: dict[str, Requirement] = {}
    several = set()
    for name in _LISTS:
        listed = tree.get(name) if tree else None
        for node in walk(listed) if listed else ():
            package = _package(node)
            if package is None:
                continue
            before = packages.setdefault(package.name, package)
            if before.specifier != package.specifier:
                several.add(package.name)
    reading.statements += [package for name, package in packages.items() if name not in several]


def _package(node: YamlNode) -> Requirement | None:
    """Return the package that an entry names, which may do so in a list of references."""
    values = {key.text: value for key, value in node.pairs}
    rows = values.get("externalRefs")
    urls = [values.get("purl"), values.get("software_packageUrl")]
    urls += [row.get("referenceLocator") for row in rows.items] if rows else []
    match = next((m for url in urls if url is not None and (m := _PYPI.match(url.text))), None)
    name, version = (unquote(match[1]), unquote(match[2])) if match else ("", "")
    if match is None or not is_name(name) or not is_specifier(f"=={version}"):
        return None
    written = next((values[key] for key in _VERSIONS if key in values), None)
    place = written.place if written is not None and written.text else node.place
    text = written.text if written is not None and written.text else "{"
    return locked(place, text, name, f"=={version}", url=match[0])
