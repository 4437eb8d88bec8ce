"""Terminal, page, API, MCP and llms.txt name the same commands for the same systems, as someone reads them there."""

import json
import os
import random
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import suppress
from html import unescape
from typing import Any, NamedTuple

import pytest
from mcp.server.mcpserver.exceptions import ToolError
from site_of_tests import DAY

from compatkb.core.clock import Clock
from compatkb.errors import UsageError
from compatkb.mcp.tools import AgentTools
from compatkb.store.reader import Snapshot
from compatkb.web.asker import Asker, ChoiceState
from compatkb.web.pages import Site
from compatkb.web.questions import PageQuestion
from compatkb.web.responses import Api
from compatkb.web.static import site_files
from compatkb.web.systems import FormValues

FEW = (6, 500)
MORE = (30, 501)
MANY = (int(os.environ.get("COMPATKB_SOAK", "500")), 502)
"""So many questions, and the seed of those drawn."""
CUT = "... (cut;"
COMMAND = re.compile(r"\s*(?:python -m )?pip install .*[^\\]")
PIN = re.compile(r"[\w.\[\],-]+(?:==|[<>!~]=?)")
MODELS = ("A770", "B580", "Arc-140V", "Max 1100", "gaudi2", "xeon", "sapphire-rapids")
"""Hardware as people type it, which may be no hardware of the device beside it."""
FOREIGN = ("torch==2.3.1 xpu sapphire-rapids", "cpu A770", "hpu Arc-140V ipex", "cpu sapphire-rapids", "hpu xeon py3.11")
NAMED = ("ipex", "torchvision", "torchaudio", "neural-compressor", "oneccl-bind-pt", "transformers", "vllm", "numpy")
LABELS = ("xpu", "cpu", "cu121", "rocm6.1")
Commands = list[tuple[str, ...]]
"""The words of each command, as a shell reads them."""


class Told(NamedTuple):
    """What a place tells: the verdict's sentence, the commands of each system by its title, and those of the ways out."""

    headline: str
    sections: dict[str, Commands]
    ways: list[Commands]


def drawn(facts: Snapshot, count: int, seed: int) -> list[list[str]]:
    """Return questions as people type them, with their parts in any order.

    Pins and names of products, devices, hardware by its id and as it is sold, systems by id and name, Pythons, features.
    """
    chance, found, form = random.Random(seed), dict[tuple[str, ...], None](), FormValues(facts)
    packages = [p.id for p in facts.products.values() if p.role in ("package", "companion") and p.size and p.id != "torch"]
    features = [product.id for product in facts.products.values() if product.role == "feature"]
    hardware, systems = ([each.id for each in form.values(name)] for name in ("hardware", "os"))
    sold, titles = sorted(form.models), [value.label for value in form.values("os")]
    torches = sorted({e.release for e in facts.elements("torch") if e.stage == "stable"})
    while len(found) < count:
        parts = []
        if chance.random() < 0.6:
            torch = chance.choice(torches)
            series = ".".join(torch.split(".")[:2])
            pins = (f"torch=={torch}", f"torch=={series}.*", f"torch>={series}", f"torch=={torch}+{chance.choice(LABELS)}")
            parts.append(chance.choice((*pins, "torch", f"torch {torch}", f"torch {series}")))
        for _ in range(chance.choice((0, 0, 1, 1, 2))):
            name = chance.choice(NAMED) if chance.random() < 0.7 else chance.choice(packages)
            version = chance.choice(facts.elements(name)).version
            parts.append(chance.choice((name, f"{name}=={version}", f"{name} {version}")))
        parts += [chance.choice(("xpu", "cpu", "hpu"))] if chance.random() < 0.45 else []
        model = chance.choice(sold)
        named = (model, f"Intel {model}", f"{model}\0", chance.choice(MODELS), chance.choice(hardware))
        parts += [chance.choice((*named, f"hardware=={chance.choice(hardware)}"))] if chance.random() < 0.5 else []
        title = chance.choice(titles)
        places = (title, f"{title}\0", chance.choice(systems), f"os=={chance.choice(systems)}")
        parts += [chance.choice(places)] if chance.random() < 0.45 else []
        python = chance.choice(facts.grid["python"][3:])
        pythons = (python, f"py{python}", f"python {python}", f"python=={python}")
        parts += [chance.choice(pythons)] if chance.random() < 0.45 else []
        parts += [chance.choice(features)] if chance.random() < 0.1 else []
        chance.shuffle(parts)
        if parts:
            found[tuple(parts)] = None
    return [[word for part in parts for word in ([part[:-1]] if part[-1] == "\0" else part.split())] for parts in found]


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
        self.site, self.static = Site(self.asker, live=True), Site(self.asker, live=False)
        self.api = Api(asker.facts, Clock(DAY))
        self.tools = AgentTools(asker.facts, lambda: lambda: False)

    def differences(self, words: list[str]) -> Iterator[str]:
        """Yield where a place names other commands, or the same for another system, than the terminal does."""
        ended = self.run("resolve", *words)
        if ended.code not in (0, 1, 7):
            yield from self._refused(words, ended.code)
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
        if reply.status != 200:
            yield f"API: {reply.text}"
            return
        answer = json.loads(reply.text)
        if answer["gave_up"]:
            yield "gave up: API"
            return
        yield from self._of_api(told, answer)
        for name, site in (("page", self.site), ("static page", self.static)):
            page = site.question_page([("q", shlex.join(words))])
            yield from (f"{name}: {difference}" for difference in self._of_page(told, page))

    def _of_page(self, told: Told, page: str) -> Iterator[str]:
        if (shown := of_page(page)).sections != told.sections:
            yield f"{shown.sections}, not {told.sections}"
        if told.headline not in " ".join(_text(page).split()):
            yield f"not the sentence {told.headline!r}"
        shown_pins = [set(_text(found).split()) for found in re.findall(r"<code[^>]*>(.*?)</code>", page, re.S)]
        tried = [set(words) for text in re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.S) for words in commands_of(_text(text))]
        for way in told.ways:
            wanted = {word for command in way for word in command if PIN.match(word)}
            if not any(wanted <= pins for pins in (*shown_pins, set().union(*tried))):
                yield f"no way out to {wanted}"

    def _refused(self, words: list[str], code: int) -> Iterator[str]:
        """Yield which place answers words that the terminal refuses; a page answers what it understands of them."""
        status = self.api.respond("resolve", [("q", shlex.join(words))]).status
        if code == UsageError.exit_code and status != 400:
            yield f"API: {status}"
        with suppress(ToolError):
            yield f"agent: {self.tools.resolve(words)}"

    def _of_api(self, told: Told, answer: dict[str, Any]) -> Iterator[str]:
        by_system = of_api(answer)
        every = [found for group in by_system.values() for found in group]
        names = {element.version for element in self.asker.facts.elements("os")}
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


@pytest.mark.parametrize(
    ("count", "seed"), [FEW, pytest.param(*MORE, marks=pytest.mark.long), pytest.param(*MANY, marks=pytest.mark.soak)]
)
def test_every_place_names_the_same_commands(
    asker: Asker, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, count: int, seed: int
) -> None:
    """What the terminal says to paste, the others say too, for the same systems."""
    monkeypatch.setenv("COMPATKB_TODAY", DAY.isoformat())
    places = Places(asker, run)
    wrong = [(words, difference) for words in drawn(asker.facts, count, seed) for difference in places.differences(words)]
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
