"""The questions that a static site answers with a page of their own, and the names of files: of releases, of questions."""

import re
from collections.abc import Iterator

from compatkb.store.reader import Snapshot
from compatkb.web import systems
from compatkb.web.choices import WSL
from compatkb.web.questions import PageQuestion

_PREFIXES = {"python": "py"}
_PLAIN = ("os", "hardware")


def file_name(text: str) -> str:
    """Return a version as the name of a file."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text)


def release_path(product: str, version: str) -> str:
    """Return the path of a release's page."""
    return f"products/{file_name(product)}/{file_name(version)}.html"


def answer_path(question: PageQuestion, main: str) -> str:
    """Return the path of a written answer: the device as folder, then what is fixed."""
    parts = []
    for product, text in question.options:
        plain = product in _PLAIN or product == main
        parts.append(file_name(text) if plain else f"{_PREFIXES.get(product, product)}{file_name(text)}")
    return f"{question.devices[0]}/{'_'.join(parts) or 'any'}.html"


RECENT = 8
"""So many of the newest Pythons have pages; older ones are asked for seldom, and so are devices served on request alone."""


def written_questions(facts: Snapshot) -> Iterator[PageQuestion]:
    """Yield them: each device, alone, with each series, system, Python, family of hardware, and with a few together."""
    main = systems.main_product(facts)
    places = [value.id for value in systems.values(facts, "os") if value.id in (*facts.families, WSL)]
    usual = {name for route in facts.routes if not route.on_request for name in route.devices}
    for device in (device for device in systems.devices(facts) if device.id in usual):
        alone = PageQuestion(devices=(device.id,))
        for series in ("", *systems.series(facts)):
            at = alone.fix(main, series)
            yield at
            yield from (at.fix("os", place) for place in places)
            yield from (at.fix("python", python) for python in systems.pythons(facts)[-RECENT:])
        for value in systems.values(facts, "hardware"):
            if device.id in value.devices:
                yield alone.fix("hardware", value.id)
                yield from (alone.fix("hardware", value.id).fix("os", place) for place in facts.families[1:])
