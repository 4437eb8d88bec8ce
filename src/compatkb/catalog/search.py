"""Full-text search of the knowledge base: every word must match; names weigh more than remarks."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from compatkb.core.names import SEARCH_WORD, close, word_key
from compatkb.core.record import NamedTuple
from compatkb.errors import UsageError
from compatkb.store.queries.search import SearchRecord
from compatkb.store.reader import Snapshot

KINDS = (
    "product", "application", "feature", "release", "value", "event", "image", "advisory", "dispute", "statement", "claim",
    "symptom", "issue", "library", "graphics",
)  # fmt: skip
"""Kinds of records, in the order in which equally good ones are shown."""

_NAMED = ("product", "application", "feature", "release", "value")  # a name of theirs means them
_SNIPPET, _NOTICE = 120, 240
_TELLING = 8  # so many letters of an error tell something


class SearchHit(NamedTuple):
    """A record that has every word, and the command that shows more of it."""

    kind: str
    product: str | None
    version: str | None
    title: str
    text: str  # the further name, remark, reason or message in which a word was found; empty where the title has them all
    command: str


class SearchResult(NamedTuple):
    """What a search found, best first; where that is nothing, what to try."""

    words: tuple[str, ...]
    hits: tuple[SearchHit, ...]
    matches: tuple[tuple[str, int], ...]  # each word alone, and how many records have it
    near: tuple[str, ...]  # words of the data that are spelt like those that match nothing


def search(facts: Snapshot, words: Sequence[str], day: date) -> SearchResult:
    """Return the records that have all words, as of `day`; raises UsageError where there is no word to search for."""
    text = " ".join(words).casefold()
    wanted = tuple(dict.fromkeys(SEARCH_WORD.findall(text)))
    if not wanted:
        raise UsageError(f"{' '.join(words)!r} holds no word to search for; give letters or digits, such as arc or 2.8")
    key, until = word_key(text), day.toordinal()
    records = _of_kind(facts, wanted, until) or sorted(
        facts.search_records(wanted, until), key=lambda record: _order(record, key)
    )
    if all(record.kind == "issue" for record in records):  # nothing says what it means in general, or there is nothing
        records = [*(record for record in facts.records_of_kind("symptom") if _is_within(record, text)), *records]
    if records:
        return SearchResult(wanted, tuple(_hit(record, wanted) for record in records), (), ())
    alone = tuple((word, facts.count_records(word, until)) for word in wanted)
    known = facts.name_words()
    near = dict.fromkeys(near for word, count in alone if not count for near in close(word, known))
    return SearchResult(wanted, (), alone, tuple(near))


def kind_of(word: str) -> str | None:
    """Return the kind of records that a word names: `images` is one."""
    return next((kind for kind in KINDS if word in (kind, f"{kind}s", f"{kind[:-1]}ies")), None)


def _of_kind(facts: Snapshot, wanted: Sequence[str], until: int) -> list[SearchRecord]:
    """Return the records of the kinds that are named, which have the other words: the images of `image vllm`."""
    kinds = {kind for word in wanted if (kind := kind_of(word))}
    words = tuple(word for word in wanted if not kind_of(word))
    if not words:  # all that there is of a kind; of images that is one for each repository
        return [record for kind in kinds for record in _wholes(facts.records_of_kind(kind))]
    records = facts.search_records(words, until) if kinds else ()
    key = word_key(" ".join(words))
    return sorted((record for record in records if record.kind in kinds), key=lambda record: _order(record, key))


def _wholes(records: Iterable[SearchRecord]) -> Iterator[SearchRecord]:
    """Yield the records of a kind; where they are parts of a whole, such as the tags of a repository, the whole."""
    wholes: dict[str, list[SearchRecord]] = {}
    for record in records:
        wholes.setdefault(record.title.partition(":")[0] if record.kind == "image" else record.title, []).append(record)
    for title, (first, *more) in wholes.items():
        yield first._replace(title=title, command=first.command.replace(first.title, title)) if more else first


def _order(record: SearchRecord, key: str) -> tuple[int, bool, int, int, int]:
    """Return what sorts records, the best first: those whose name was typed, begun, then as well as the words match."""
    exact = 0 if key not in record.keys else 2 if record.kind in _NAMED else 1
    begun = any(name.startswith(key) for name in record.keys)
    place = -record.place if record.kind == "image" else record.place  # the newest tag first, as other releases
    return (-exact, not begun, round(record.rank), KINDS.index(record.kind), place)


def _is_within(record: SearchRecord, text: str) -> bool:
    """Return whether a longer text, such as a line of an error, has what a symptom looks for."""
    return any(len(name) >= _TELLING and name.casefold() in text for name in record.names)


def _hit(record: SearchRecord, wanted: tuple[str, ...]) -> SearchHit:
    title = record.title.casefold()
    missing = [word for word in wanted if word not in title and word.removesuffix("s") != record.kind]
    texts = (*record.names, *record.remarks)
    passage = next((text for text in texts if any(word in text.casefold() for word in missing)), "")
    text = _snippet(passage, missing, _NOTICE if record.kind == "advisory" else _SNIPPET)
    return SearchHit(record.kind, record.product, record.version, _line(record.title), text, record.command)


def _snippet(text: str, wanted: Sequence[str], size: int) -> str:
    """Return the part of a text around the first word in it."""
    text = _line(text)
    if len(text) <= size:
        return text
    places = [text.casefold().find(word) for word in wanted]
    start = max(0, min((place for place in places if place >= 0), default=0) - size // 3)
    head = text[start:].partition(" ")[2] if start else text
    tail = head[:size].rpartition(" ")[0] if len(head) > size else head
    return ("... " if start else "") + tail + (" ..." if tail != head else "")


def _line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
