"""Reads a line as people type it into a field: what the parser of words understands, and what is set aside and why."""

import re
from collections.abc import Sequence

from compatkb.core.clock import Clock
from compatkb.core.names import slips
from compatkb.core.record import NamedTuple
from compatkb.errors import CompatkbError, UsageError
from compatkb.request.lookup import OPERATORS, meanings, products_having
from compatkb.request.parser import make_request
from compatkb.request.words import FILLING, LONGEST, begun_names, read_words
from compatkb.store.reader import Snapshot

_MARKS = " \t,;:!?()[]{}\"'`*®™“”‘’"
"""Signs around a word that are none of it."""
_LINKING = frozenset(("and", "for", "in", "of", "on", "or", "to", "with"))
"""Words that no name ends with."""
_GLUED = re.compile(r"([A-Za-z][A-Za-z_-]*?)[-_=]?v?(\d+(?:\.\d+)+\S*)")
_PIN = re.compile(r"([A-Za-z][\w.-]*(?:\[[\w,.-]*\])?)\s*=\s*(\d\S*)")
_VERSION = re.compile(r"v?\d+(?:\.\w+)*(?:\+[\w.]+)?")
_MEANT = re.compile(r"\n[^\S\n]*did you mean: (.+?)\?(?:\n|$)")


class Aside(NamedTuple):
    """A word that was not understood, why, and what may have been meant in its place."""

    word: str
    why: str
    meant: tuple[str, ...] = ()


class Typed(NamedTuple):
    """What a line says: words as the command line takes them, and what was set aside."""

    words: tuple[str, ...]
    aside: tuple[Aside, ...] = ()


def read_typed(facts: Snapshot, text: str, clock: Clock) -> Typed:
    """Return the words of a line that can be asked together, and those set aside; nothing that is typed is refused."""
    words: list[str] = []
    aside: list[Aside] = []
    line = _Line(facts, clock)
    left = line.tokens(text)
    while left:
        count, word = line.first(left)
        del left[:count]
        if not word:
            continue
        if _VERSION.fullmatch(word) and (owner := line.owner(words, word)):
            words[words.index(owner)] = f"{owner} {word}"
        elif reason := line.refusal([word]):
            aside.append(line.with_version(set_aside(word, reason), left))
        elif reason := line.refusal([*words, word]):
            aside.append(set_aside(word, reason))
        else:
            words.append(word)
    return Typed(tuple(words), tuple(aside))


def reread(facts: Snapshot, words: Sequence[str], clock: Clock) -> Typed:
    """Return what refused words of a command line say as a sentence, each slip of one letter in a name put right.

    A word is put right where it begins no name, and one word of the names alone differs from it by a single letter.
    """
    texts = [*facts.products, *(product.name for product in facts.products.values())]
    texts += [name for place in ("os", "hardware") if place in facts.products for name in facts.names(place).values()]
    texts += [record["name"] for record in facts.guide_records("application")]
    known = {part for text in texts for part in re.findall(r"[a-z]{5,}", text.lower())}

    def right(match: re.Match[str]) -> str:
        word = match[0].lower()
        if word in FILLING or facts.product(word) or any(each.startswith(word) for each in known):
            return match[0]
        near = [each for each in known if slips(word, each, 1) <= 1]
        return near[0] if len(near) == 1 else match[0]

    return read_typed(facts, re.sub(r"(?<![^\s])[A-Za-z]{5,}(?=[\d.]*t?(?:\s|$))", right, " ".join(words)), clock)


def set_aside(word: str, error: CompatkbError) -> Aside:
    """Return a word as one that was not understood, with the reason and the suggestions of the parser."""
    text = str(error)
    meant = _MEANT.search(text)
    return Aside(word, text.split("\n", maxsplit=1)[0], tuple(meant[1].split(", ")) if meant else ())


class _Line:
    """A line that somebody typed, read word by word."""

    def __init__(self, facts: Snapshot, clock: Clock) -> None:
        self.facts, self.clock = facts, clock

    def with_version(self, aside: Aside, left: list[str]) -> Aside:
        """Return what was set aside together with the version or the second word of its name, taken from what is left."""
        if left and _VERSION.fullmatch(left[0]) and products_having(self.facts, left[0]) != ["python"]:
            version = left.pop(0)
            meant = dict.fromkeys(re.sub(r"(?<=[a-z])\d[\d.]*$", "", name) for name in aside.meant)
            return aside._replace(word=f"{aside.word} {version}", meant=tuple(f"{name} {version}" for name in meant))
        if left and aside.meant and all(name.startswith(f"{aside.word} {left[0]}".lower()) for name in aside.meant[:2]):
            return aside._replace(word=f"{aside.word} {left.pop(0)}")
        return aside

    def owner(self, words: Sequence[str], version: str) -> str:
        """Return the product of which a version by itself may be: the last one without a version; empty where none is."""
        free = [word for word in words if self.facts.product(word)][-1:]
        return "".join(word for word in free if self.refusal([version]) and not self.refusal([f"{word} {version}"]))

    def refusal(self, words: Sequence[str]) -> UsageError | None:
        try:
            make_request(self.facts, (), words, (), self.clock)
        except UsageError as error:
            return error
        return None

    def tokens(self, text: str) -> list[str]:
        """Return the words between blanks without the signs around them; of an index address the device that it is for."""
        tokens: list[str] = []
        for part in re.sub(r"([<>=!~]=?|===)\s+(?=\d)", r"\1", text).split():
            if part.startswith("-"):
                continue
            if "://" in part:
                part = part.rstrip("/").rpartition("/")[2]
            word = part.strip(_MARKS).rstrip(".")
            pieces = re.split(r"[/,|]", word) if "/" in word or "," in word else []
            if len(pieces) > 1 and OPERATORS.isdisjoint(word) and all(self._is_known(piece) for piece in pieces):
                tokens += pieces
            elif re.search(r"\w", word):
                tokens.append(word)
        return tokens

    def _is_known(self, text: str) -> bool:
        try:
            options, rest = read_words(self.facts, [text])
        except UsageError:  # only the beginning of a name
            return False
        return bool(options) or all(self.facts.product(word) for word in rest)

    def first(self, left: Sequence[str]) -> tuple[int, str]:
        """Return how many words of a line its first name takes, and the name; none for what says nothing."""
        word = left[0]
        if (word.lower() in FILLING and not self.facts.product(word)) or re.fullmatch(r"\d+gb", word, re.IGNORECASE):
            return 1, ""
        for count in range(min(len(left), LONGEST), 0, -1):
            last = left[count - 1].lower()
            if count > 1 and (last in _LINKING or (last in FILLING and self._name(" ".join(left[: count - 1]), count - 1))):
                continue  # of `a750 on windows` no name is `a750 on`
            if name := self._name(" ".join(left[:count]), count):
                if (product := self.facts.product(name)) and len(left) > count and _VERSION.fullmatch(left[count]):
                    return count + 1, f"{product.id} {left[count].removeprefix('v')}"
                return count, name
            if count == 2 and word.lower() == "intel":
                return 1, ""  # by itself it names the maker, which says nothing here
        return 1, word

    def _name(self, text: str, count: int) -> str:
        """Return a name that a text means by itself, in words of the command line; empty where it means none."""
        if re.fullmatch(r"3\.\d{1,2}t", text):
            return f"python {text}"
        if match := _PIN.fullmatch(text):
            return f"{match[1]}=={match[2]}" if self.facts.product(match[1].partition("[")[0]) else ""
        if not OPERATORS.isdisjoint(text):
            return text if count == 1 else ""
        dashed = re.sub(r"\s+", "-", text)
        if product := self.facts.product(text) or self.facts.product(dashed):
            return product.id
        if (glued := _GLUED.fullmatch(text)) and (product := self.facts.product(glued[1])):
            return f"{product.id} {glued[2]}"
        if (
            meanings(self.facts).get(re.sub(r"\s+", "", text.lower()).replace("-", "").replace("_", "")) is not None
            and count > 1
        ):
            return text
        if count > 1 and begun_names(self.facts, text):
            return text
        try:
            options, rest = read_words(self.facts, [text])
        except UsageError:
            return text if count == 1 else ""
        if options and not rest and (count == 1 or len(options) == 1):
            return text
        if count > 1 and self.facts.find_application(text):
            return text
        spaced = re.sub(r"(?<=[A-Za-z]{3})(?=\d{3,})", " ", text)  # rtx4090
        return spaced if count == 1 and spaced != text and read_words(self.facts, [spaced])[0] else ""
