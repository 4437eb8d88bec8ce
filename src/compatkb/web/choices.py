"""The rows of buttons: each is a link to the question that it makes, struck out where that is denied."""

from collections.abc import Container

from compatkb.core.record import NamedTuple
from compatkb.errors import CompatkbError
from compatkb.web.asker import Asker, ChoiceState
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

    @property
    def is_blamed(self) -> bool:
        """Whether what is chosen in it makes the answer a "no"."""
        return any(button.chosen and button.impossible for button in self.buttons)


def rows_of(asker: Asker, question: PageQuestion, best: str, served: str | None) -> list[ChoiceRow]:
    """Return the rows for a question; `best` is the series of the stack that answers it, `served` its device."""
    rows = [_hardware(asker, question, served), _systems(asker, question), _pythons(asker, question)]
    series = _series(asker, question, best)
    if any(row.is_blamed for row in rows):  # one culprit is enough
        series = series._replace(buttons=tuple(b._replace(impossible=b.impossible and not b.chosen) for b in series.buttons))
    return [*rows, series]


def _hardware(asker: Asker, question: PageQuestion, served: str | None) -> ChoiceRow:
    chosen = question.version_of("hardware")
    pinned = value_of(asker, "hardware", chosen)
    free = question.fix("hardware")
    buttons = []
    at = next((value.devices[:1] for value in asker.form.values("hardware") if value.id == pinned), ())
    if at and served:  # of a processor with graphics the answer may be for the processor alone
        at = (served,)
    for device in asker.form.devices:
        is_chosen = (question.devices or at) == (device.id,)
        asked = free._replace(devices=(device.id,))
        small = asker.form.model(chosen).removeprefix("Arc ") if chosen else ""
        buttons.append(
            Button(device.label, asked, small, chosen=True) if is_chosen else _button(asker, device.label, asked, question)
        )
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
    text = question.version_of("os")
    pinned = value_of(asker, "os", text)
    every = asker.form.values("os")
    heads = [value for value in every if value.id in asker.facts.families or value.id == WSL]
    ids = [value.id for value in heads]
    head = pinned if pinned in ids else WSL if pinned.startswith(WSL) else asker.facts.family(pinned) if text else ""
    exact = next((value.label for value in every if value.id == pinned), text)
    buttons = []
    for value in heads:
        label = SHORT.get(value.id, value.label)
        small = exact.removeprefix(value.label).strip() if value.id == head and pinned not in ids else ""
        buttons.append(_toggle(asker, question, "os", label, value.id, chosen=value.id == head, small=small))
    rest = [_option(question, "os", value.id, value.label, pinned) for value in every if value not in heads]
    options = _with(rest, question, pinned, [*(value.id for value in every), *([pinned] if head in ids else [])])
    return ChoiceRow("os", "System", tuple(buttons), "exact system", options, "os")


def _pythons(asker: Asker, question: PageQuestion) -> ChoiceRow:
    every = asker.form.pythons
    return _numbered(asker, question, "python", every[-SHOWN_PYTHONS:], every, list(asker.facts.grid["python"]))


def _series(asker: Asker, question: PageQuestion, best: str) -> ChoiceRow:
    product, every = asker.form.main, asker.form.series
    row = _numbered(asker, question, product, every[:SHOWN_SERIES], every, every)
    free = not question.version_of(product)
    first = Button("newest that works", question.fix(product), best if free else "", chosen=free)
    return row._replace(label=asker.facts.products[product].name, buttons=(first, *row.buttons))


def _numbered(
    asker: Asker, question: PageQuestion, product: str, names: list[str], every: list[str], listed: list[str]
) -> ChoiceRow:
    """Return a row of series or minors: the same buttons for every question, then a chosen one beside them."""
    text = question.version_of(product)
    series = ".".join(text.split("+")[0].split(".")[:2])
    chosen = text if text in every else series if series in every else ""
    shown = [*names, chosen] if chosen and chosen not in names else names
    buttons = tuple(
        _toggle(asker, question, product, name, name, chosen=name == chosen, small=text if name == chosen != text else "")
        for name in shown
    )
    rest = [_option(question, product, name, name, text) for name in listed if name not in shown]
    return ChoiceRow(
        product, "Python", buttons, "older", _with(rest, question, text, [*shown, *([text] if chosen else [])]), product
    )


def _with(options: list[Option], question: PageQuestion, pinned: str, shown: Container[str] = ()) -> tuple[Option, ...]:
    """Return the options, with one for what is pinned to something else: a patch, a range, several values."""
    if not pinned or pinned in shown or any(option.chosen for option in options):
        return tuple(options)
    return (Option(pinned, pinned, question, chosen=True), *options)


def _option(question: PageQuestion, product: str, value: str, label: str, pinned: str) -> Option:
    return Option(value, label, question.fix(product, value), value == pinned)


def _toggle(
    asker: Asker, question: PageQuestion, product: str, label: str, value: str, *, chosen: bool, small: str = ""
) -> Button:
    """Return the button that fixes a product, or frees it where it is chosen already; struck out where it is to blame."""
    if not chosen:
        asked = question.fix(product, value)
        if not question.version_of(product) and _is_held(asker, question, product, value):
            return Button(label, asked)
        return _button(asker, label, asked, question)
    free = question.fix(product)
    state = asker.state(question)
    culprit = state.impossible and not asker.state(free).impossible  # without this choice there is an answer
    return Button(label, free, small, chosen=True, impossible=culprit, reason=state.reason if culprit else "")


def _is_held(asker: Asker, question: PageQuestion, product: str, value: str) -> bool:
    """Return whether a stack of the answer holds on a Python or system already: to fix that denies nothing."""
    try:
        stacks = asker.view(question).stacks
    except CompatkbError:
        return False
    ids = {each.id for stack in stacks for each in (*stack.python, *stack.os)} if product in ("python", "os") else set()
    return value in ids or (product == "os" and value in map(asker.facts.family, ids))


def _button(asker: Asker, label: str, question: PageQuestion, now: PageQuestion) -> Button:
    """Return a button that leads to a question; where the present one is denied already, that is not said of others."""
    state = ChoiceState(False) if asker.state(now).impossible else asker.state(question)
    return Button(label, question, impossible=state.impossible, reason=state.reason)


def value_of(asker: Asker, product: str, text: str) -> str:
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
