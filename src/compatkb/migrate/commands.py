"""Finds what commands run of discontinued products: programs, modules, lines of Python, options."""

import re
from collections.abc import Iterator, Sequence

from compatkb.check.document import TextDocument
from compatkb.check.migration_rules import BACKEND, COMMAND
from compatkb.core.findings import Finding
from compatkb.core.record import NamedTuple
from compatkb.migrate.guide import Guide, fitting
from compatkb.migrate.removing import TextSpan, span_of
from compatkb.parsers.statement import ParsedFile, Word

_LATEST = 40
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")


class CommandFinding(NamedTuple):
    """A finding about a command, and the product that the command needs."""

    product: str
    finding: Finding


def command_findings(
    document: TextDocument, reading: ParsedFile, guide: Guide, device: str | None
) -> Iterator[CommandFinding]:
    """Yield what the commands of a file need."""
    for words in reading.calls:
        for number, word in enumerate(words[:_LATEST]):
            before = words[number - 1].value if number else ""
            if word.value.rpartition("/")[2] in guide.launchers and (number == 0 or before == "-m" or _starts(words, number)):
                yield from _launched(document, guide, word, device)
            elif match := guide.module_pattern.search(word.raw):
                yield from _python(document, guide, word, match)
        yield from _options(document, guide, words, device)


def _starts(words: Sequence[Word], number: int) -> bool:
    """Return whether a word may be the program that a wrapper runs: it is neither an option's value nor a file."""
    return words[number].value == words[number].raw and "." not in words[number].value


def _span(document: TextDocument, word: Word) -> TextSpan:
    span = span_of(document, word)
    start = document.offset(*word.place)
    return span or TextSpan(start, start)


def _launched(document: TextDocument, guide: Guide, word: Word, device: str | None) -> Iterator[CommandFinding]:
    choices = fitting(guide.launchers[word.value.rpartition("/")[2]], device)
    product = choices[0].product
    remedies = [c.remedy(c.instead or "no documented replacement", several=len(choices) > 1) for c in choices]
    note = next((f" ({c.basis}: {c.note})" for c in choices if c.note), "")
    sources = tuple(dict.fromkeys(source for c in choices for source in c.sources))
    message, fix = f"{word.value} is of {guide.facts.products[product].name}{note}", "; ".join(remedies)
    finding = document.finding(COMMAND, *_span(document, word), message, fix=fix, sources=sources, subject=word.raw[:80])
    yield CommandFinding(product, finding)


def _python(document: TextDocument, guide: Guide, word: Word, match: re.Match[str]) -> Iterator[CommandFinding]:
    """Yield a word that holds Python which imports a module; a name in a path or an address is none."""
    if not re.search(r"\b(?:import|from)\b", word.raw) and word.value != match[0]:
        return
    if word.value == match[0] and not word.raw.startswith(("'", '"')):
        return  # a package's folder, or a word of a message
    product = guide.modules[match[0]]
    span = _span(document, word)
    start = span.start + match.start() if span.end > span.start else span.start
    name = guide.facts.products[product].name
    message = f"this command imports {match[0]} of {name}, which has ended"
    sources = guide.ended_sources.get(product, ())
    end, fix = start + len(match[0]), "take it out of the command"
    yield CommandFinding(product, document.finding(COMMAND, start, end, message, fix=fix, sources=sources, subject=match[0]))


def _options(document: TextDocument, guide: Guide, words: Sequence[Word], device: str | None) -> Iterator[CommandFinding]:
    for number, word in enumerate(words[:_LATEST]):
        name, equals, value = word.value.partition("=")
        if not _OPTION.fullmatch(name):
            continue
        holder = word
        if not equals and number + 1 < len(words):
            holder = words[number + 1]
            value = holder.value
        if value not in guide.values or not name.endswith(guide.options.get(value, ())):
            continue
        product, choices = guide.values[value]
        choices = fitting(choices, device)
        remedies = [c.remedy(f"give {c.instead}", several=len(choices) > 1) for c in choices]
        sources = tuple(dict.fromkeys(source for c in choices for source in c.sources))
        message = (
            f"{value} is a word of {guide.facts.products[product].name}; whether the program takes another one, it decides"
        )
        span = _span(document, holder)
        finding = document.finding(BACKEND, *span, message, fix="; ".join(remedies), sources=sources, subject=holder.raw[:80])
        yield CommandFinding(product, finding)
