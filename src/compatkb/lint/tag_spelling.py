"""Tags are made of few words; one that nearly is one of them is a slip."""

import re
from collections import Counter
from collections.abc import Iterator

from compatkb.findings import Finding, Severity
from compatkb.lint.subject import Subject

NAME, LEVEL = "tag-spelling", Severity.ERROR
SUMMARY = "a part of an image tag is nearly, but not quite, a word that other tags have"

_WORD = re.compile(r"[a-z]{2,}")


def check(subject: Subject) -> Iterator[Finding]:
    """Yield parts of tags that are rare and close to a common part."""
    tags = {tag.name for _, file in subject.images for tag in file.tag}
    counts = Counter(word for name in tags for word in _WORD.findall(name))
    fields = {text for _, file in subject.images for tag in file.tag for text in (tag.device, tag.option, tag.flavour)}
    meant = {word: right for word in counts if word not in fields and (right := _meant(word, counts))}
    for document, file in subject.images:
        for number, tag in enumerate(file.tag):
            for word in _WORD.findall(tag.name):
                if word in meant:
                    message = f"{word!r} in {tag.name} is nearly {meant[word]!r}, which {counts[meant[word]]} tags have"
                    yield subject.finding(NAME, LEVEL, document, ("tag", number, "name"), message)


def _meant(word: str, counts: Counter[str]) -> str | None:
    """Return the common word that a rare one is close to: one slip apart, or two in words of five letters or more."""
    allowed = 1 if len(word) < 5 else 2
    near = [
        (_slips(word, other, allowed), -count, other)
        for other, count in counts.items()
        if count >= 2 * counts[word] and abs(len(other) - len(word)) <= allowed
    ]
    best = min((item for item in near if 0 < item[0] <= allowed), default=None)
    return best[2] if best else None


def _slips(left: str, right: str, most: int) -> int:
    """Return how many letters are added, dropped, changed or swapped with their neighbour; more than `most` ends early."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for n, letter in enumerate(left, 1):
        fresh = [n]
        for m, other in enumerate(right, 1):
            cost = min(row[m] + 1, fresh[m - 1] + 1, row[m - 1] + (letter != other))
            if n > 1 and m > 1 and letter == right[m - 2] and left[n - 2] == other:
                cost = min(cost, before[m - 2] + 1)
            fresh.append(cost)
        if min(fresh) > most:
            return most + 1
        before, row = row, fresh
    return row[-1]
