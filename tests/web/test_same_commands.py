"""Terminal, page, API, MCP and llms.txt name the same commands for the same systems, as someone reads them there."""

import json
import random
import re
import shlex
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any, NamedTuple

import pytest
from site_of_tests import DAY

from compatkb.core.clock import Clock
from compatkb.mcp.tools import AgentTools
from compatkb.store.reader import Snapshot
from compatkb.web.asker import Asker, ChoiceState
from compatkb.web.pages import Site
from compatkb.web.questions import PageQuestion
from compatkb.web.responses import Api
from compatkb.web.static import site_files

SEED, MANY, FEW = 500, 500, 6
CUT = "... (cut;"
COMMAND = re.compile(r"\s*(?:python -m )?pip install .*[^\\]")
PIN = re.compile(r"[\w.\[\],-]+(?:==|[<>!~]=?)")
MODELS = ("A770", "B580", "Arc-140V", "Max 1100", "gaudi2", "xeon", "sapphire-rapids")
"""Hardware as people type it, which may be no hardware of the device beside it."""
FOREIGN = ("torch==2.3.1 xpu sapphire-rapids", "cpu A770", "hpu Arc-140V ipex", "cpu sapphire-rapids", "hpu xeon py3.11")
Commands = list[tuple[str, ...]]
"""The words of each command, as a shell reads them."""


class Told(NamedTuple):
    """What a place tells: the verdict's sentence, the commands of each system by its title, and those of the ways out."""

    headline: str
    sections: dict[str, Commands]
    ways: list[Commands]


def drawn(facts: Snapshot, count: int) -> list[list[str]]:
    """Return questions in words: pins and names of products, a device or hardware, a system, a Python."""
    chance, found = random.Random(SEED), dict[tuple[str, ...], None]()
    packages = [p.id for p in facts.products.values() if p.role in ("package", "companion") and p.size and p.id != "torch"]
    named = ("ipex", "torchvision", "torchaudio", "neural-compressor", "oneccl-bind-pt", "transformers", "vllm")
    hardware = [element.version for element in facts.elements("hardware")[:]]
    systems = [element.version for element in facts.elements("os")[:]]
    torches = sorted({e.release for e in facts.elements("torch")[:] if e.stage == "stable"})
    while len(found) < count:
        words = []
        if chance.random() < 0.6:
            torch = chance.choice(torches)
            series = ".".join(torch.split(".")[:2])
            words.append(chance.choice([f"torch=={torch}", f"torch=={series}.*", f"torch>={series}", "torch"]))
        for _ in range(chance.choice((0, 0, 1, 1, 2))):
            name = chance.choice(named) if chance.random() < 0.7 else chance.choice(packages)
            words.append(chance.choice([name, f"{name}=={chance.choice(facts.elements(name)[:]).version}"]))
        words += [chance.choice(("xpu", "cpu", "hpu"))] if chance.random() < 0.45 else []
        words += (
            [chance.choice((f"hardware=={chance.choice(hardware)}", chance.choice(MODELS)))] if chance.random() < 0.4 else []
        )
        words += [f"os=={chance.choice(systems)}"] if chance.random() < 0.45 else []
        words += [f"python=={chance.choice(facts.grid['python'][3:])}"] if chance.random() < 0.45 else []
        if words:
            found[tuple(words)] = None
    return [list(words) for words in found]


def commands_of(lines: str) -> Commands:
    """Return the commands that install, of some lines: words with quotes of any shell are read alike."""
    return [tuple(shlex.split(line)) for line in lines.splitlines() if COMMAND.fullmatch(line)]


def of_screen(text: str) -> Told:
    """Return what a screen tells: lines that begin `on SYSTEM` head a part, and a number heads a way out."""
    sections: dict[str, Commands] = {}
    ways: list[Commands] = []
    title = ""
    head, _, body = text.partition("\n\n")
    for line in body.splitlines():
        if match := re.match(r"  on (\w.*?)(?:: .*)?$", line):
            title = match[1]
        elif re.match(r"  \d  ", line):
            ways.append([])
        elif found := commands_of(line):
            indent = len(line) - len(line.lstrip())
            if ways and indent == 7:
                ways[-1] += found
            elif indent == 4:
                sections.setdefault(title, []).extend(found)
    return Told(_headline(head), sections, ways)


def _headline(text: str) -> str:
    """Return what stands behind the sign and the verdict, on one line."""
    return " ".join(text.partition("   ")[2].split())


def _text(html: str) -> str:
    return unescape(re.sub("<[^>]+>", "", html))


def of_page(html: str) -> Told:
    """Return what a page tells: its parts with the recipe for pip, and the pins of its ways out."""
    sections: dict[str, Commands] = {}
    for part in re.split(r'<div class="part">', html)[1:]:
        head = re.search(r'<p class="file on">(.*?)</p>', part)
        title = _text(head[1]).partition(":")[0] if head else ""
        recipe = re.search(r'data-with="pip">.*?<pre[^>]*>(.*?)</pre>', part, re.S)
        if recipe:
            found = commands_of(_text(recipe[1]))
            sections.setdefault(re.sub("^On ", "", title), []).extend(found)
    return Told("", {title: found for title, found in sections.items() if found}, [])


def of_api(answer: dict[str, Any]) -> dict[str, list[Commands]]:
    """Return the commands of the stacks and of the nearest ones, by each system that they are for."""
    found: dict[str, list[Commands]] = {}
    for stack in [*answer["stacks"], *(near["stack"] for near in answer["nearest"]), *(b["stack"] for b in answer["beside"])]:
        for system in stack["os"]:
            found.setdefault(system, []).append(commands_of("\n".join(stack["install"])))
    return found


class Plain(Asker):
    """An asker for pages whose buttons are not judged: whether they lead anywhere is another question, and takes long."""

    def state(self, _: PageQuestion) -> ChoiceState:
        """Return that it may lead somewhere."""
        return ChoiceState(False)


class Places:
    """Asks each place the same words."""

    def __init__(self, asker: Asker, run: Callable[..., Any]) -> None:
        self.asker, self.run = Plain(asker.facts, Clock(DAY)), run
        self.site, self.api = Site(self.asker, live=True), Api(asker.facts, Clock(DAY))
        self.tools = AgentTools(asker.facts, lambda: lambda: False)

    def differences(self, words: list[str]) -> Iterator[str]:
        """Yield where a place names other commands, or the same for another system, than the terminal does."""
        ended = self.run("resolve", *words)
        if ended.code not in (0, 1, 7):
            return
        told, agent = of_screen(ended.out), self.tools.resolve(words)
        if CUT in agent:
            cut = of_screen(agent)
            if any(told.sections.get(title, [])[: len(found)] != found for title, found in cut.sections.items()):
                yield f"agent: {cut.sections}, not {told.sections}"
        elif of_screen(agent) != told:
            yield f"agent: {of_screen(agent)}, not {told}"
        reply = self.api.respond("resolve", [("q", shlex.join(words))])
        if reply.status == 503:
            yield "gave up: API"
            return
        answer = json.loads(reply.text)
        if answer["gave_up"]:
            yield "gave up: API"
            return
        yield from self._of_api(told, answer)
        page = self.site.question_page([("q", shlex.join(words))])
        if (shown := of_page(page)).sections != told.sections:
            yield f"page: {shown.sections}, not {told.sections}"
        if told.headline not in " ".join(_text(page).split()):
            yield f"page: not the sentence {told.headline!r}"
        shown_pins = [set(_text(found).split()) for found in re.findall(r"<code[^>]*>(.*?)</code>", page, re.S)]
        tried = [set(words) for text in re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.S) for words in commands_of(_text(text))]
        for way in told.ways:
            wanted = {word for command in way for word in command if PIN.match(word)}
            if not any(wanted <= pins for pins in (*shown_pins, set().union(*tried))):
                yield f"page: no way out to {wanted}"

    def _of_api(self, told: Told, answer: dict[str, Any]) -> Iterator[str]:
        by_system = of_api(answer)
        every = [found for group in by_system.values() for found in group]
        names = {element.version for element in self.asker.facts.elements("os")[:]}
        for title, found in told.sections.items():
            families = [name for name in ("linux", "windows", "macos") if name in title.lower()]
            there = [one for name in families for one in by_system.get(name, [])] if set(families) <= names else []
            if title and families and not any(found == one for one in there):
                yield f"API: {title}: {there}, not {found}"
            elif found not in every:
                yield f"API: {title}: not {found}"
        missing = [way for way in told.ways if way and way not in every]
        if missing:
            yield f"API: no way out with {missing}"


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.soak)])
def test_every_place_names_the_same_commands(
    asker: Asker, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """What the terminal says to paste, the others say too, for the same systems."""
    monkeypatch.setenv("COMPATKB_TODAY", DAY.isoformat())
    places = Places(asker, run)
    wrong = [(words, difference) for words in drawn(asker.facts, count) for difference in places.differences(words)]
    gave_up = [words for words, difference in wrong if difference.startswith("gave up")]
    assert len(gave_up) <= count / 20
    assert [one for one in wrong if not one[1].startswith("gave up")] == []


@pytest.mark.parametrize("typed", FOREIGN)
def test_a_device_beside_hardware_is_asked_for(
    asker: Asker, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    """The page of what is typed says what the terminal says, where device and hardware are not of one kind, too."""
    monkeypatch.setenv("COMPATKB_TODAY", DAY.isoformat())
    assert list(Places(asker, run).differences(typed.split())) == []


def test_llms_txt_names_the_commands_of_the_terminal(
    asker: Asker, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For each device the commands of each system are those that `resolve` prints."""
    monkeypatch.setenv("COMPATKB_TODAY", asker.facts.meta["data_date"])
    text = site_files(Site(asker, live=False))["llms.txt"]()
    told = re.findall(r"^  `(.*)`$", text, re.M)
    wanted: list[str] = []
    for device in asker.form.devices:
        lines = run("resolve", "--device", device.id).out.splitlines()
        wanted += [
            line.strip() for line in lines if re.match(r"    (?!python -c)\S", line) and len(line) - len(line.lstrip()) == 4
        ]
    assert told == wanted
    assert told
