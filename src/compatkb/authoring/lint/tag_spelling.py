"""Tags are made of few words; one that nearly is one of them is a slip."""

import re
from collections import Counter
from collections.abc import Iterator

from compatkb.authoring.lint.subject import LintSubject
from compatkb.core.findings import Finding, Severity
from compatkb.core.spelling import meant

NAME, LEVEL = "tag-spelling", Severity.ERROR
SUMMARY = "a part of an image tag is nearly, but not quite, a word that other tags have"

_WORD = re.compile(r"[a-z]{2,}")


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield parts of tags that are rare and close to a common part."""
    tags = {tag.name for _, file in subject.images for tag in file.tag}
    counts = Counter(word for name in tags for word in _WORD.findall(name))
    fields = {text for _, file in subject.images for tag in file.tag for text in (tag.device, tag.option, tag.flavour)}
    slips = {word: right for word in counts if word not in fields and (right := meant(word, counts))}
    for document, file in subject.images:
        for number, tag in enumerate(file.tag):
            for word in _WORD.findall(tag.name):
                if word in slips:
                    message = f"{word!r} in {tag.name} is nearly {slips[word]!r}, which {counts[slips[word]]} tags have"
                    yield subject.finding(NAME, LEVEL, document, ("tag", number, "name"), message)
