"""What agents may ask: the answers of the command line, cut to what a model needs; nothing that is read is run."""

import re
from collections.abc import Callable, Iterable
from functools import wraps
from itertools import groupby
from pathlib import PurePosixPath
from threading import Lock
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from compatkb.check import check, reads
from compatkb.check.document import CheckContext, TextDocument
from compatkb.core.clock import Clock, current_day
from compatkb.core.findings import Finding, Severity
from compatkb.engine.answer import Answer
from compatkb.engine.answer import resolve as answer_of
from compatkb.errors import CompatkbError, GaveUpError, UsageError
from compatkb.mcp.pins import PinnedSet, PinReader
from compatkb.output.catalog_screen import CatalogScreen
from compatkb.output.diagnosis import diagnosis_text, present_diagnosis
from compatkb.output.documents import Numbers, short
from compatkb.output.presenter import present
from compatkb.output.screen import text_of
from compatkb.output.text import answer_text
from compatkb.output.things import StackView
from compatkb.output.view import AnswerView
from compatkb.parsers.guessing import guessed_name, new_side
from compatkb.request.lookup import find_product
from compatkb.request.parser import make_request
from compatkb.store.reader import Snapshot
from compatkb.store.records import Request
from compatkb.version import __version__

MOST = 920
"""Pieces of an answer: no more than 1,000 tokens of the usual vocabularies."""
INSTRUCTIONS = (
    "compatkb knows which versions of PyTorch, torchvision, torchaudio, Triton, Intel Extension for PyTorch (IPEX), oneCCL "
    "bindings, Neural Compressor, Python, drivers and systems work together on Intel GPUs (xpu) and CPUs, with sources. Ask "
    "before you write or change such a pin, an index URL or an install command; copy the command as it stands."
)
_SOURCES = 3
_FEWER = 3
_PIECE = re.compile(r"[A-Za-z]{1,5}|\d{1,3}|[^\sA-Za-z\d]|\n| {2,}")
"""What a token holds at most; over 650 answers there were 0.93 to 1.3 of these for each token of two public vocabularies."""
_LEFT_OUT = "... (cut; ask about less at once)\n"


Words = Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=40)]
Text = Annotated[str, Field(max_length=100_000)]
Name = Annotated[str, Field(max_length=300)]


def _call(method: Callable[..., str]) -> Callable[..., str]:
    """Return a method that answers one call of a client; what is wrong with the call is told to the model."""

    @wraps(method)
    def answer(tools: "AgentTools", *args: Any, **arguments: Any) -> str:
        with tools.one_by_one:
            tools.expired, tools.clock = tools.patience(), Clock(current_day())
            try:
                return method(tools, *args, **arguments)
            except CompatkbError as error:
                raise ToolError(str(error)) from error

    return answer


class AgentTools:
    """The tools over some facts, one call at a time; `patience` returns what tells that the time of a call is over."""

    def __init__(self, facts: Snapshot, patience: Callable[[], Callable[[], bool]]) -> None:
        self.facts, self.patience, self.expired = facts, patience, patience()
        self.clock, self.one_by_one = Clock(current_day()), Lock()

    def server(self) -> MCPServer:
        """Return a server of the Model Context Protocol that offers the tools."""
        server = MCPServer("compatkb", instructions=INSTRUCTIONS, version=__version__, log_level="ERROR")
        for tool in (self.resolve, self.explain, self.check_text, self.diagnose, self.show):
            hints = ToolAnnotations(read_only_hint=True, open_world_hint=False)
            server.add_tool(tool, annotations=hints, structured_output=False)
        return server

    @_call
    def resolve(
        self,
        words: Annotated[Words, Field(description="products, pins and where it runs: torch, ipex==2.8.0, xpu, B580, py3.12")],
    ) -> str:
        """Find versions that work together: verdict, install command, reasons and sources; or why none do, and what does."""
        return self._resolved(words)

    def _resolved(self, words: list[str]) -> str:
        request = make_request(self.facts, (), words, (), self.clock)
        return _answer(present(self.facts, answer_of(self.facts, request, self.expired)))

    @_call
    def explain(
        self,
        pins: Annotated[Words, Field(description="such as torch==2.8.0, ipex==2.8.10+xpu, py3.12, xpu")],
    ) -> str:
        """Say whether these exact versions work together, why or why not, with sources and the nearest sets that do."""
        if not pins:
            raise UsageError("name what should work together, such as torch==2.8.0 and ipex==2.8.0")
        return self._resolved(pins)

    @_call
    def check_text(
        self,
        text: Annotated[Text, Field(description="the content of a file, or lines of it")],
        name: Annotated[Name, Field(description="its name, which tells the format: Dockerfile, README.md")] = "",
    ) -> str:
        """Check pins and install commands, before or after they are written: what is wrong, and the right pins."""
        text = new_side(text)
        path = PurePosixPath(name.replace("\\", "/") or guessed_name(text)).as_posix().lstrip("/")
        if not reads(path):
            raise UsageError(f"{name!r} is no name of a file that is checked, such as requirements.txt, Dockerfile, README.md")
        context, document = CheckContext(self.facts, self.clock), TextDocument(path, text)
        findings = check([document], context).findings
        order = list(Severity)
        ranked = sorted(findings, key=lambda finding: (-order.index(finding.level), finding.order))
        report = _cut(_findings(ranked), MOST // 2) if ranked else f"no findings in {path}\n"
        for pinned in PinReader(context).sets(document):
            report += "".join(f"{remark}\n" for remark in pinned.remarks)
            try:
                report += f"\ntogether: {_answer(present(self.facts, self._together(pinned)))}"
            except GaveUpError:
                continue
        return _cut(f"{report}data of {self.facts.meta['data_date']}\n")

    @_call
    def diagnose(self, text: Annotated[Text, Field(description="what was printed, the whole traceback at best")]) -> str:
        """Name what may be behind an error that a program printed, and what mends it."""
        from compatkb.doctor.diagnose import diagnose

        diagnosis = diagnose(self.facts, text, self.clock)
        return _cut(diagnosis_text(present_diagnosis(self.facts, diagnosis, self.clock.day)))

    @_call
    def show(
        self,
        product: Annotated[Name, Field(description="torch, ipex, triton-xpu, gpu-driver, ...")],
        version: Annotated[Name, Field(description="2.8.0 or 2.8")] = "",
    ) -> str:
        """Show a product, or one version: dates, end of life, builds with their index, what it needs."""
        catalog, known = CatalogScreen(self.facts, self.clock.day), find_product(self.facts, product)
        return _cut(text_of(catalog.release_lines(known, version) if version else catalog.product_lines(known)))

    def _together(self, pinned: PinnedSet) -> Answer:
        """Return the answer with the leaves where the packages go together; else those that move bring their own."""
        answer = self._served(pinned.without_leaves, pinned)
        for _ in range(_FEWER):
            if answer.verdict.is_usable or answer.nearest or answer.beside or not (fewer := self._in_the_way(answer)):
                break
            answer = self._served(fewer, pinned)
        if pinned.request == pinned.without_leaves or not answer.verdict.is_usable:
            return answer
        whole = self._served(pinned.request, pinned)
        return whole if whole.stacks or whole.nearest else answer

    def _in_the_way(self, answer: Answer) -> Request | None:
        """Return a request for what the causes name alone, or without the one product that they name; None for no fewer."""
        request = answer.request
        asked = {
            name
            for name in (*(pin.product for pin in request.pins), *request.bare)
            if self.facts.products[name].role != "dimension"
        }
        named = asked.intersection(name for cause in answer.causes for name in cause.blocker[1:])
        left = named if len(named) > 1 else asked - named
        if not named or not left or left == asked:
            return None
        pins = tuple(pin for pin in request.pins if pin.product in left or pin.product not in asked)
        return request._replace(pins=pins, bare=tuple(name for name in request.bare if name in left))

    def _served(self, request: Request, pinned: PinnedSet) -> Answer:
        """Return the answer; what it proposes is from the indexes of the text wherever they have a way out."""
        answer = answer_of(self.facts, request, self.expired)
        if pinned.channels is None:
            return answer
        served = answer_of(self.facts, request._replace(channels=pinned.channels), self.expired)
        if answer.verdict.is_usable:
            return served if served.verdict.is_usable or served.nearest else answer
        return answer._replace(nearest=served.nearest or answer.nearest)


def _answer(view: AnswerView) -> str:
    text = answer_text(view)
    if view.is_positive:  # a "no" names its sources
        text += "".join(f"  source: {source}\n" for source in _cited(view.stacks[0]))
    return _cut(text + _brought(view))


def _brought(view: AnswerView) -> str:
    """Return what the first stack that is proposed brings along from an index that clients ask only where it is named."""
    stacks = [*view.stacks, *(way.stack for way in view.ways)][:1]
    held = [build for stack in stacks for build in stack.packages if build.product.automatic]
    brought = held or [build for stack in stacks for build in stack.evidence.brought_anywhere]
    names = [f"{b.distribution}=={b.version}" for b in brought if b.distribution and "default" not in b.channels]
    return f"  brings along {', '.join(names)}: with an explicit index, as in uv, name it too\n" if names else ""


def _cited(stack: StackView) -> list[str]:
    """Return the first sources of what makes a stack one."""
    numbers = Numbers(_SOURCES)
    for link in stack.evidence.links:
        if link.one in stack.requested and link.other in stack.requested:
            for claim in link.claims:
                numbers.marks(claim.sources[:1])
    for build in stack.packages:
        if build.requested:
            numbers.marks(build.sources[:1])
    return [short(source) for source in numbers.sources]


def _findings(findings: Iterable[Finding]) -> str:
    """Return findings with fix and first source; those of one line that follow each other stand below it."""
    lines = []
    for number, group in groupby(findings, lambda finding: finding.line):
        lines.append(f"line {number}")
        for finding in group:
            lines.append(f"  {finding.level}: {finding.message} [{finding.rule}]")
            lines += [f"  fix: {finding.fix}"] if finding.fix else []
            lines += [f"  source: {source}" for source in finding.sources[:1]]
    return "".join(f"{line}\n" for line in lines)


def _cut(text: str, most: int = MOST) -> str:
    """Return a text of at most so many pieces, in whole lines; the last one stays."""
    if _pieces(text) <= most:
        return text
    *lines, last = text.splitlines(keepends=True)
    left = most - _pieces(last) - _pieces(_LEFT_OUT)
    head = []
    for line in lines:
        left -= _pieces(line)
        if left < 0:
            break
        head.append(line)
    return "".join([*head, _LEFT_OUT, last])


def _pieces(text: str) -> int:
    return len(_PIECE.findall(text))
