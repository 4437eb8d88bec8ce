"""The migration data, indexed for look-up: names, values and commands of discontinued products."""

import re
from collections import Counter
from functools import cached_property
from typing import Any, TypeVar

from compatkb.core.record import NamedTuple
from compatkb.store.reader import Snapshot
from compatkb.store.records import Successor


class NameReplacement(NamedTuple):
    """What replaces a name: another name, a sentence, or nothing that is documented."""

    product: str
    instead: str | None
    how: str | None
    device: str | None
    mechanical: bool
    before: tuple[str, ...]
    defaults: tuple[tuple[str, str], ...]
    basis: str
    note: str | None
    sources: tuple[str, ...]


class ArgumentPosition(NamedTuple):
    """Where a call takes a value."""

    name: str
    position: int | None


class Choice(NamedTuple):
    """What to give or to run instead of a value or a command on a device; any device where none is named."""

    product: str
    device: str | None
    instead: str | None
    how: str | None
    basis: str
    note: str | None
    sources: tuple[str, ...]
    mechanical: bool = False  # a command never is

    def remedy(self, action: str, *, several: bool) -> str:
        """Return what to do, with the device where there are several choices; `action` is for a choice that tells no more."""
        action = self.how or action
        return f"on {self.device}: {action}" if several and self.device else action


def fitting(choices: tuple[Choice, ...], device: str | None) -> tuple[Choice, ...]:
    """Return the choices for a device, all of them where it is open or none is for it."""
    return tuple(c for c in choices if device is None or c.device in (None, device)) or choices


T = TypeVar("T", NameReplacement, Choice)


class Guide:
    """The records of the data, by what is looked up."""

    def __init__(self, facts: Snapshot) -> None:
        self.facts = facts

    @cached_property
    def modules(self) -> dict[str, str]:
        """The product that each module belongs to."""
        return {record["name"]: record["product"] for record in self.facts.guide_records("module")}

    @cached_property
    def names(self) -> dict[str, NameReplacement]:
        """What replaces each dotted name."""
        replacement_by_name: dict[str, NameReplacement] = {}
        for record in self.facts.guide_records("replacement"):
            for name in record["names"]:
                stem, star, _ = name.partition(".*")
                for member in record["members"] if star else ("",):
                    other = record["instead"] and record["instead"].replace("*", member)
                    replacement_by_name[f"{stem}.{member}" if star else name] = _of_record(
                        NameReplacement, {**record, "instead": other}
                    )
        return replacement_by_name

    @cached_property
    def values(self) -> dict[str, tuple[str, tuple[Choice, ...]]]:
        """The product and the choices for each value."""
        choices_by_value: dict[str, tuple[str, tuple[Choice, ...]]] = {}
        for record in self.facts.guide_records("value"):
            product, choices = choices_by_value.get(record["value"], (record["product"], ()))
            choices_by_value[record["value"]] = (product, (*choices, _of_record(Choice, record)))
        return choices_by_value

    @cached_property
    def calls(self) -> dict[str, dict[str, ArgumentPosition]]:
        """Where each call takes each of the values."""
        positions_by_call: dict[str, dict[str, ArgumentPosition]] = {}
        for record in self.facts.guide_records("value"):
            for item in record["arguments"]:
                positions_by_call.setdefault(item["call"], {})[record["value"]] = ArgumentPosition(
                    item["name"], item["position"]
                )
        return positions_by_call

    @cached_property
    def options(self) -> dict[str, tuple[str, ...]]:
        """How options of programs end that take each of the values."""
        return {record["value"]: tuple(record["options"]) for record in self.facts.guide_records("value")}

    @cached_property
    def launchers(self) -> dict[str, tuple[Choice, ...]]:
        """What replaces each program or module that is run."""
        replacements_by_name: dict[str, tuple[Choice, ...]] = {}
        for record in self.facts.guide_records("launcher"):
            for name in record["names"]:
                replacements_by_name[name] = (*replacements_by_name.get(name, ()), _of_record(Choice, record))
        return replacements_by_name

    def holds(self, text: str) -> bool:
        """Return whether a text may use any of it, so that it has to be read: words are looked for, however they are meant."""
        return any(all(word in text for word in words) for words in self._marks)

    @cached_property
    def _marks(self) -> tuple[tuple[str, ...], ...]:
        heads = Counter(".".join(name.split(".")[:2]) for name in self.names)
        words = {name if heads[head] == 1 else head for name in self.names if (head := ".".join(name.split(".")[:2]))}
        marks: list[tuple[str, ...]] = [(word,) for word in sorted({*self.modules, *words})]
        marks += [(f"from {word.rpartition('.')[0]} import", word.rpartition(".")[2]) for word in sorted(words)]
        marks += [(f"import {head} as", tail) for head, _, tail in (word.rpartition(".") for word in sorted(words)) if head]
        marks += [(f"{mark}{value}",) for value in sorted(self.values) for mark in ("'", '"', ":")]
        return tuple(marks)

    @cached_property
    def module_pattern(self) -> re.Pattern[str]:
        """The modules as words of a text."""
        return re.compile("|".join(rf"(?<![\w.-]){re.escape(name)}(?![\w-])" for name in sorted(self.modules)) or r"(?!)")

    @cached_property
    def ended(self) -> dict[str, Successor]:
        """What replaces each product that has ended."""
        return self.facts.replacements()

    @cached_property
    def ended_sources(self) -> dict[str, tuple[str, ...]]:
        """The sources that say what replaces a product."""
        return {product: tuple(url or text for text, url in instead.sources) for product, instead in self.ended.items()}


def _of_record(kind: type[T], record: dict[str, Any]) -> T:
    """Return a record as one of these kinds, which have its fields; lists and tables as tuples."""
    values: dict[str, Any] = {name: _frozen(value) for name, value in record.items()} | {"sources": _cited(record)}
    return kind(**{name: values[name] for name in kind._fields if name in values})


def _frozen(value: Any) -> Any:
    return tuple(value.items()) if isinstance(value, dict) else tuple(value) if isinstance(value, list) else value


def _cited(record: dict[str, Any]) -> tuple[str, ...]:
    return tuple(url or text for text, url in record["sources"])
