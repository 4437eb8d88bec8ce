"""Parses words as people type them, such as `B580 ubuntu24.04 py3.12 torch 2.8`, into options and words of a request."""

import re
from collections.abc import Iterable, Iterator, Sequence

from compatkb.core.names import word_key
from compatkb.core.vocabulary import Role
from compatkb.errors import UsageError
from compatkb.request.lookup import OPERATORS, Meaning, find_versions, meanings, places_named, products_having
from compatkb.store.reader import Snapshot
from compatkb.store.records import Product
from compatkb.store.suggestions import suggest, unjudged

_NUMBER = re.compile(r"v?\d+(\.\d+)*t?")
_VERSION = re.compile(r"v?\d+(\.\w+)*(\+[\w.]+)?")
_COMPACT_PYTHON = re.compile(r"(?:py|cp|python)-?3(\d{1,2}t?)", re.IGNORECASE)
"""A Python as the tags of wheels and environments write it: py312, cp313t."""
_NEWEST = ("latest", "newest")
"""Words behind a product that say what is so anyhow: of what works, the newest comes first."""
_FILLING = (
    "a am an and any are as at be best both can card compatible computer conda container could desktop do docker does "
    "find for from get gib has have how i image images in install installation installed installing is it laptop latest life "
    "linked lts machine matching me my need needs newest notebook of on only or out pc pip pip3 please run running set "
    "should still support supported supports that the their these this to two upgrade upgrading use using uv version "
    "versions vs want what wheel wheels when which will with work working works you"
)
FILLING = frozenset(_FILLING.split())
"""Words of a sentence, and of an install command, that say nothing of what is asked for."""
LONGEST = 6
"""The most words that are read as one name."""


def read_words(facts: Snapshot, words: Sequence[str], *, asked: bool = False) -> tuple[list[tuple[str, str]], list[str]]:
    """Return words as people type them as options and words: `B580 py3.12 torch` pins hardware and Python, asks for torch.

    An application stands for the torch that it requires. Where something is `asked` without them, all may say nothing.

    A word that names neither a product nor one thing alone stays as it is, for `make_request` to refuse, which reads all words
    so: those of the command line, of the page, of the API and of an agent.
    """
    options, rest = _Words(facts).read(words)
    return options, rest if rest or options or asked else list(words)  # words that all say nothing are no question


class _Words:
    """Words as people type them, which the data know."""

    def __init__(self, facts: Snapshot) -> None:
        self.facts = facts

    def read(self, words: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
        """Return words as options and words, see `read_words`."""
        options: list[tuple[str, str]] = []
        rest: list[str] = []
        left = [part for word in words for part in self._parts(word)]
        named: Product | None = None  # the product whose version may follow
        while left:
            count, read = self._read_place(left)
            if (
                named and _VERSION.fullmatch(left[0]) and not (read and not find_versions(self.facts, named, left[0]))
            ):  # torch 2.8
                rest.pop()
                read = [(named.id, left[0])]
            elif not read and not self._says_nothing(left[0]):
                if meant := begun_names(self.facts, text := " ".join(left[:2])):
                    raise UsageError(f"{text!r} may be several things{suggest(meant)}")
                rest.append(self._required(left[0]) or left[0])
                named = self.facts.product(rest[-1])
            options += read
            named = None if read else named
            del left[:count]
        return options, rest

    def _says_nothing(self, word: str) -> bool:
        """Return whether a word only fills a sentence, or says that the newest version will do."""
        return word.lower() in FILLING and not self.facts.product(word)

    def _required(self, word: str) -> str | None:
        """Return which torch the application of that name requires, None where a word names none.

        Raises UsageError for an application that no torch can be found for.
        """
        if self.facts.product(word) or not (application := self.facts.find_application(word)):
            return None
        if (torch := application.torch) and application.xpu != "no":
            return torch
        reason = "does not support Intel GPUs" if application.xpu == "no" else "names no torch that it requires"
        raise unjudged(application, f"{reason}; for the CPU ask for '{torch}' cpu" if torch else reason)

    def _parts(self, word: str) -> list[str]:
        """Return the words of one that a shell passed on as a whole, if all are known: of `"torch 2.8"` two; else itself."""
        parts = word.split()
        if len(parts) < 2 or not OPERATORS.isdisjoint(word) or self.facts.product(word) or self._read_place([word])[1]:
            return [word]
        return parts if all(map(self.facts.product, self.read(parts)[1])) else [word]

    def _read_place(self, words: Sequence[str]) -> tuple[int, list[tuple[str, str]]]:
        """Return how many words name where something runs, and the options that say so; (1, []) where none do."""
        if (compact := _COMPACT_PYTHON.fullmatch(words[0])) and "python" in self.facts.products:
            return 1, [("python", f"3.{compact[1]}")]
        known = meanings(self.facts)
        for count in range(min(len(words), LONGEST), 0, -1):
            text = " ".join(words[:count])
            if not OPERATORS.isdisjoint(text) or (_NUMBER.fullmatch(text) and not self._is_python(text)):
                continue
            meaning = known.get(word_key(text), Meaning())
            if count == 1 and (meaning.feature or (meaning.product and not self._says_more(meaning))):
                continue
            if pair := self.platform(text):
                return count, pair
            read = places_named(self.facts, text, joined=count > 1)
            if len(read) == 1 or set(read) == {"os", "arch"}:  # an Intel Mac is a system and an architecture
                return count, [(place, text) for place in read]
        return 1, []

    def _is_python(self, text: str) -> bool:
        """Return whether a number by itself is a Python: any other product is named before its version."""
        return "." in text and "python" in products_having(self.facts, text)

    def _says_more(self, meaning: Meaning) -> bool:
        """Return whether a word says more as a system or a GPU than as the name of what it is a kind of: `arch` is both."""
        return bool(meaning.places) and self.facts.products[meaning.product or ""].role is Role.DIMENSION

    def platform(self, text: str) -> list[tuple[str, str]]:
        """Return system and architecture of such a word as linux-x86_64 or Linux-6.8.0-generic-x86_64, as options."""
        if "os" not in self.facts.products or "arch" not in self.facts.products:
            return []
        for separator in re.finditer(r"[-_ ]", text):
            system, arch = text[: separator.start()], text[separator.end() :]
            if self.facts.word("os", system) and self.facts.word("arch", arch):
                return [("os", system), ("arch", arch)]
        system, kernel, more = text.partition(next(iter(re.findall(r"-\d+\.\d+\.\d+", text)), "\n"))
        if not kernel or not self.facts.word("os", system):
            return []
        return [("os", system), *(("arch", part) for part in more.split("-") if self.facts.word("arch", part))]


def begun_names(facts: Snapshot, text: str) -> tuple[str, ...]:
    """Return the names of hardware that begin with two words and name several things: `arrow lake` is no name by itself."""
    words = re.split(r"[ -]+", text.lower())
    if len(words) < 2 or "hardware" not in facts.products or facts.product(words[0]):
        return ()
    begun = {name: key for key, name in facts.names("hardware").items() if re.split(r"[ -]+", name.lower())[:-1] == words}
    return tuple(sorted(begun)) if len({facts.word("hardware", key) for key in begun.values()}) > 1 else ()


def is_newest(text: str) -> bool:
    """Return whether a word in place of a version asks for the newest one that has an answer: any version does."""
    return text.strip().lower() in _NEWEST


def read_release(facts: Snapshot, name: str, version: str | None = None) -> tuple[str, str | None]:
    """Return a product and a version of it as people type them: `torch 2.8`, `torch==2.8`, B580, `ubuntu 22.04`."""
    if facts.product(name) is None:
        options, rest = read_words(facts, [name, version] if version else [name])
        if len(options) == 1 and not rest:
            return options[0]
    product, _, pinned = name.partition("==")
    return product, version or pinned or None


def with_architectures(facts: Snapshot, options: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield options, one for a platform as one for its system and one for its architecture."""
    for name, text in options:
        yield from (name == "os" and _Words(facts).platform(text)) or [(name, text)]
