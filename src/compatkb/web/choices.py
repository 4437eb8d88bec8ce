"""The rows of buttons: each is a link to the question that it makes, struck out where that is denied."""

from collections.abc import Container
from typing import NamedTuple

from compatkb.errors import CompatkbError
from compatkb.web.asker import Asker
from compatkb.web.questions import PageQuestion
from compatkb.web.systems import WSL, Value

SHOWN_SERIES, SHOWN_PYTHONS = 7, 6
SHORT = {WSL: "WSL 2"}


class Button(NamedTuple):
    """A choice: what it says, the question that it leads to, and what is known of it."""

    label: str
    question: PageQuestion
    small: str = ""
    chosen: bool = False
    impossible: bool = False
    reason: str = ""


class Option(NamedTuple):
    """A further value of a row, of those that are seldom asked for."""

    value: str
    label: str
    question: PageQuestion
    chosen: bool = False


class ChoiceRow(NamedTuple):
    """A row of buttons, and a list of the values that have none."""

    id: str
    label: str
    buttons: tuple[Button, ...]
    more: str
    options: tuple[Option, ...]
    name: str  # the parameter that an option sets


def rows_of(asker: Asker, question: PageQuestion, best: str) -> list[ChoiceRow]:
    """Return the rows for a question; `best` is the series of the newest stack that works."""
    return [_hardware(asker, question), _systems(asker, question), _pythons(asker, question), _series(asker, question, best)]


def _hardware(asker: Asker, question: PageQuestion) -> ChoiceRow:
    chosen = question.version_of("hardware")
    pinned = _value_of(asker, "hardware", chosen)
    free = question.fix("hardware")
    buttons = []
    for device in asker.form.devices:
        is_chosen = question.devices == (device.id,)
        asked = free._replace(devices=(device.id,))
        buttons.append(Button(device.label, asked, chosen=True) if is_chosen else _button(asker, device.label, asked))
    options = []
    for value in _grouped(asker.form.values("hardware")):
        at = tuple(device for device in question.devices if device in value.devices) or value.devices[:1]
        asked = question.fix("hardware", value.id)._replace(devices=at)
        label = ("– " if value.part_of and value.id != pinned else "") + value.label.removeprefix("Intel ")
        options.append(Option(value.id, label, asked, value.id == pinned))
    return ChoiceRow("hardware", "Run on", tuple(buttons), "exact model", _with(options, question, pinned), "hardware")


def _grouped(values: list[Value]) -> list[Value]:
    """Return values with those that are part of one after it."""
    values_by_id: dict[str, Value] = {}
    for value in values:
        if not value.part_of:
            values_by_id[value.id] = value
            values_by_id |= {other.id: other for other in values if value.id in other.part_of and other.id not in values_by_id}
    return list(values_by_id.values())


def _systems(asker: Asker, question: PageQuestion) -> ChoiceRow:
    pinned = _value_of(asker, "os", question.version_of("os"))
    every = asker.form.values("os")
    heads = [value for value in every if value.id in asker.facts.families or value.id == WSL]
    buttons = tuple(_toggle(asker, question, "os", SHORT.get(value.id, value.label), value.id, pinned) for value in heads)
    rest = [_option(question, "os", value.id, value.label, pinned) for value in every if value not in heads]
    options = _with(rest, question, pinned, [value.id for value in every])
    return ChoiceRow("os", "System", buttons, "exact system", options, "os")


def _pythons(asker: Asker, question: PageQuestion) -> ChoiceRow:
    pinned = question.version_of("python")
    every = asker.form.pythons
    last = next((p for p in reversed(every) if not asker.state(question.fix("python", p)).impossible), every[-1])
    names = _window(every, pinned if pinned in every else last, SHOWN_PYTHONS)
    shown = tuple(_toggle(asker, question, "python", python, python, pinned) for python in names)
    rest = [_option(question, "python", p, p, pinned) for p in asker.facts.grid["python"] if p not in names]
    return ChoiceRow("python", "Python", shown, "other", _with(rest, question, pinned, names), "python")


def _series(asker: Asker, question: PageQuestion, best: str) -> ChoiceRow:
    product = asker.form.main
    pinned = question.version_of(product)
    every = asker.form.series[::-1]
    first = Button("newest that works", question.fix(product), best if not pinned else "", chosen=not pinned)
    names = _window(every, pinned if pinned in every else best, SHOWN_SERIES)[::-1]
    shown = [_toggle(asker, question, product, name, name, pinned) for name in names]
    rest = [_option(question, product, name, name, pinned) for name in reversed(every) if name not in names]
    options = _with(rest, question, pinned, names)
    return ChoiceRow(product, asker.facts.products[product].name, (first, *shown), "others", options, product)


def _window(names: list[str], inside: str, count: int) -> list[str]:
    """Return so many neighbours in the order given, the last ones but for one after what has to be among them."""
    end = names.index(inside) + 2 if inside in names else len(names)
    end = min(max(end, count), len(names))
    return names[max(0, end - count) : end]


def _with(options: list[Option], question: PageQuestion, pinned: str, shown: Container[str] = ()) -> tuple[Option, ...]:
    """Return the options, with one for what is pinned to something else: a patch, a range, several values."""
    if not pinned or pinned in shown or any(option.chosen for option in options):
        return tuple(options)
    return (Option(pinned, pinned, question, chosen=True), *options)


def _option(question: PageQuestion, product: str, value: str, label: str, pinned: str) -> Option:
    return Option(value, label, question.fix(product, value), value == pinned)


def _toggle(asker: Asker, question: PageQuestion, product: str, label: str, text: str, pinned: str) -> Button:
    """Return the button that fixes a product, or frees it where it is chosen already."""
    if text != pinned:
        return _button(asker, label, question.fix(product, text))
    free = question.fix(product)
    state = asker.state(question)
    culprit = state.impossible and not asker.state(free).impossible  # without this choice there is an answer
    return Button(label, free, chosen=True, impossible=culprit, reason=state.reason if culprit else "")


def _button(asker: Asker, label: str, question: PageQuestion) -> Button:
    state = asker.state(question)
    return Button(label, question, impossible=state.impossible, reason=state.reason)


def _value_of(asker: Asker, product: str, text: str) -> str:
    """Return the value that a text names, whatever it is called there; the text itself where it names several."""
    names = {value.id for value in asker.form.values(product)}
    if not text or text in names:
        return text
    try:
        pin = PageQuestion(options=((product, text),)).request(asker.facts, asker.clock).pin(product)
    except CompatkbError:
        return text
    elements = list(asker.facts.elements(product).of(pin.mask)) if pin else []
    return elements[0].version if len(elements) == 1 else text
