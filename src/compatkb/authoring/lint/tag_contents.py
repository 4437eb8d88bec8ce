"""The versions in the name of a tag are versions of what it holds."""

import re
from collections.abc import Iterator

from compatkb.authoring.knowledge_base import split_term
from compatkb.authoring.lint.subject import LintSubject
from compatkb.core.findings import Finding, Severity
from compatkb.schema import ImageFile, Tag

NAME, LEVEL = "tag-contents", Severity.ERROR
SUMMARY = "a tag carries a version that nothing in it has, or a word that speaks against its record"

_VERSION = re.compile(r"(?<![\w.])\d+(?:\.\d+)+(?![\w.])")


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield tags whose name and record disagree."""
    devices = {release.version for release in subject.by_id["device"].release} if "device" in subject.by_id else set()
    for document, file in subject.images:
        options = {tag.option for tag in file.tag if tag.option}
        for number, tag in enumerate(file.tag):
            held = " ".join(_held(file, tag))
            for version in _VERSION.findall(tag.name):
                if held and not re.search(rf"(?<![\d.]){re.escape(version)}(?!\.?\d)", held):
                    message = f"{tag.name} carries {version}, and holds no such version: {held}"
                    yield subject.finding(NAME, LEVEL, document, ("tag", number, "name"), message)
            words = set(tag.name.split("-"))
            for key, value, known in (("device", tag.device, devices), ("option", tag.option, options)):
                if value and words & known and value not in words:
                    message = f"{tag.name} carries {', '.join(sorted(words & known))}, and its {key} is {value}"
                    yield subject.finding(NAME, LEVEL, document, ("tag", number, key), message)


def _held(file: ImageFile, tag: Tag) -> list[str]:
    """Return the specifiers of what a tag holds, its own or those of the tag that it repeats."""
    named = {other.name: other for other in file.tag}
    seen = {tag.name}
    while tag.same_as and tag.same_as in named and tag.same_as not in seen:
        seen.add(tag.same_as)
        tag = named[tag.same_as]
    return [split_term(held.is_)[1] for held in tag.contains]
