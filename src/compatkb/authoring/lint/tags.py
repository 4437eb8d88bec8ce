"""Image tags use a known vocabulary, near misses are slips; their versions are those of what the image contains."""

import re
from collections import Counter
from collections.abc import Iterator

from compatkb.authoring.knowledge_base import split_term
from compatkb.authoring.lint.subject import LintProblem, LintSubject
from compatkb.core.names import meant
from compatkb.schema import ImageFile, Tag

_TAG_WORD = re.compile(r"[a-z]{2,}")
_VERSION = re.compile(r"(?<![\w.])\d+(?:\.\d+)+(?![\w.])")


def tag_spelling(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield parts of tags that are rare and close to a common part."""
    tags = {tag.name for _, file in subject.images for tag in file.tag}
    counts = Counter(word for name in tags for word in _TAG_WORD.findall(name))
    fields = {text for _, file in subject.images for tag in file.tag for text in (tag.device, tag.option, tag.flavour)}
    slips = {word: right for word in counts if word not in fields and (right := meant(word, counts))}
    for document, file in subject.images:
        for number, tag in enumerate(file.tag):
            for word in _TAG_WORD.findall(tag.name):
                if word in slips:
                    message = f"{word!r} in {tag.name} is nearly {slips[word]!r}, which {counts[slips[word]]} tags have"
                    yield LintProblem(document, ("tag", number, "name"), message)


def tag_contents(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield tags whose name and record disagree."""
    devices = {release.version for release in subject.by_id["device"].release} if "device" in subject.by_id else set()
    for document, file in subject.images:
        options = {tag.option for tag in file.tag if tag.option}
        for number, tag in enumerate(file.tag):
            held = " ".join(_held(file, tag))
            for version in _VERSION.findall(tag.name):
                if held and not re.search(rf"(?<![\d.]){re.escape(version)}(?!\.?\d)", held):
                    message = f"{tag.name} carries {version}, and holds no such version: {held}"
                    yield LintProblem(document, ("tag", number, "name"), message)
            words = set(tag.name.split("-"))
            for key, value, known in (("device", tag.device, devices), ("option", tag.option, options)):
                if value and words & known and value not in words:
                    message = f"{tag.name} carries {', '.join(sorted(words & known))}, and its {key} is {value}"
                    yield LintProblem(document, ("tag", number, key), message)


def _held(file: ImageFile, tag: Tag) -> list[str]:
    """Return the specifiers of what a tag holds, its own or those of the tag that it repeats."""
    named = {other.name: other for other in file.tag}
    seen = {tag.name}
    while tag.same_as and tag.same_as in named and tag.same_as not in seen:
        seen.add(tag.same_as)
        tag = named[tag.same_as]
    return [split_term(held.is_)[1] for held in tag.contains]
