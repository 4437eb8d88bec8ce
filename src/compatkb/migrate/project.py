"""Migrates a project as a whole: its programs, its commands and its requirements, judged together."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from compatkb.check import CheckReport, baseline, make_report, rules_by_id
from compatkb.check.config import Settings
from compatkb.check.document import CheckContext, TextDocument
from compatkb.check.files import UNREADABLE
from compatkb.check.fixes import mended
from compatkb.check.migration_rules import PIN, RULES
from compatkb.check.project.environments import Project
from compatkb.check.project.queries import ProjectQueries
from compatkb.check.suppressions import suppressions_of
from compatkb.core.findings import Finding
from compatkb.migrate import commands
from compatkb.migrate.guide import Guide
from compatkb.migrate.imports import ImportFindings, judge, relevant_of
from compatkb.migrate.pins import Pins
from compatkb.migrate.program import Program, program_of
from compatkb.migrate.syntax import PythonSource, SyntaxProblemError
from compatkb.migrate.uses import Use, devices_of, uses_of
from compatkb.parsers.file_types import kind_of
from compatkb.parsers.registry import read
from compatkb.parsers.requirement import parse
from compatkb.parsers.statement import ParsedFile

_TAKEN = r"^[ \t]*from[ \t]+[\w.]+[ \t]+import\b[^\n]*\b(?:{})\b"


def reads(path: str) -> bool:
    """Return whether files of this name are read: Python, notebooks, and all that states versions, documents aside."""
    return path.endswith((".py", ".pyi")) or kind_of(path) not in (None, "markdown")


def migrate(
    documents: Iterable[TextDocument],
    asked: CheckContext,
    settings: Settings | None = None,
    *,
    device: str | None = None,
    known: "Counter[baseline.BaselineEntry] | None" = None,
    unread: Iterable[Finding] = (),
) -> CheckReport:
    """Return what has to change in documents; `device` is the one that they are for, None where the files tell."""
    settings = settings or Settings()
    by_path = {document.path: document for document in documents}
    findings = list(unread)
    findings += _Project(by_path, asked, settings, device).findings()
    report = make_report(findings, by_path, settings, known, frozenset(rules_by_id()) - {rule.id for rule in RULES})
    return report._replace(findings=tuple(_whole(report)))


class _Text(NamedTuple):
    """A Python text and what it uses."""

    program: Program
    devices: frozenset[str]


class _Coded(NamedTuple):
    """Findings about programs, and by product a place that still needs it."""

    findings: list[Finding]
    used: dict[str, str]


class _Project:
    def __init__(
        self, documents: Mapping[str, TextDocument], asked: CheckContext, settings: Settings, device: str | None
    ) -> None:
        self.documents, self.asked, self.settings = documents, asked, settings
        self.guide = Guide(asked.facts)
        self.judge = ProjectQueries(asked)
        self.device = device

    def findings(self) -> list[Finding]:
        """Return what is said of the project."""
        findings: list[Finding] = []
        texts = self._texts(findings)
        kinds = (None, "markdown", "setup.py")  # a setup.py is read as a program, wherever it has its requirements
        readings = [(d, read(d.path, d.text)) for d in self.documents.values() if kind_of(d.path) not in kinds]
        project = Project(self.asked.facts, readings)
        pins = Pins(project, self.judge, self.guide, self.device, None, {})
        device = self.device or self._device(texts, pins.devices())
        ran = [
            item for document, reading in readings for item in commands.command_findings(document, reading, self.guide, device)
        ]
        used: dict[str, str] = {}
        for item in ran:
            used.setdefault(item.product, f"{item.finding.path}:{item.finding.line}")
        code = self._code(texts, device)
        if waits := sorted(pins.installed() & {*used, *code.used}):
            first = {**used, **code.used}[waits[0]]
            code = self._code(texts, device, f"{first} needs {self.asked.facts.products[waits[0]].name}")
        pins = Pins(project, self.judge, self.guide, self.device, device, {**used, **code.used})
        installed = list(pins.findings())
        if pins.stuck and not waits:
            code = self._code(texts, device, f"what {pins.stuck[0]} installs stays")
            pins = Pins(project, self.judge, self.guide, self.device, device, {**used, **code.used})
            installed = list(pins.findings())
        return [*findings, *(item.finding for item in ran), *code.findings, *installed, *self._setups(project)]

    # programs

    def _texts(self, findings: list[Finding]) -> list[_Text]:
        known = frozenset(element.version for element in self.asked.facts.elements("device"))
        texts = []
        for document in self.documents.values():
            if not document.path.endswith((".py", ".pyi", ".ipynb")) or not self.guide.holds(document.text):
                continue
            try:
                program = program_of(document)
            except SyntaxProblemError as error:
                if self.guide.module_pattern.search(document.text):
                    line = min(error.line, len(document.starts))
                    start = document.offset(line)
                    findings.append(document.finding(UNREADABLE, start, start + len(document.line(line)), str(error)))
                continue
            texts.append(_Text(program, devices_of(program.code, known)))
        return texts

    def _setups(self, project: Project) -> Iterator[Finding]:
        """Yield the requirements in lists of a setup.py that name products which have ended."""
        for document in self.documents.values():
            if document.path.rpartition("/")[2] != "setup.py":
                continue
            try:
                code = PythonSource(document.text)
            except SyntaxProblemError:
                continue
            for node in code.nodes:
                listed = isinstance(code.parents.get(node), ast.List | ast.Tuple)
                if not listed or not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                    continue
                asked = parse(node.value)
                product = project.product(asked.name, "pip") if asked else None
                if product is not None and product.id in self.guide.ended:
                    message = f"{product.name} has ended and is requested here"
                    sources = self.guide.ended_sources.get(product.id, ())
                    start, end = code.span(node)
                    yield document.finding(PIN, start, end, message, fix="take it out", sources=sources, subject=node.value)

    def _device(self, texts: list[_Text], installed: frozenset[str]) -> str | None:
        if len(installed) == 1:
            return next(iter(installed))
        named = frozenset().union(*(text.devices for text in texts))
        return next(iter(named)) if len(named) == 1 and not installed else None

    def _code(self, texts: list[_Text], device: str | None, waits: str = "") -> _Coded:
        """Return what is said of programs.

        `waits` says what keeps the project on the builds that it has: nothing that needs others is written then.
        """
        all_uses = {
            text.program.document.path: list(uses_of(text.program.code, self.guide, self._device_of(text, device)))
            for text in texts
        }
        findings: list[Finding] = []
        needed: dict[str, str] = {}
        for text in texts:
            program, path = text.program, text.program.document.path
            imported = {one.product for one in relevant_of(program.code, self.guide)}
            for use in all_uses[path]:
                finding = _finding(program, use)
                findings.append(finding)
                if not use.asked and not use.root and use.product not in imported:
                    needed.setdefault(use.product, f"{path}:{finding.line}")
        used: dict[str, str] = dict(needed)
        exported = self._exported(texts)
        for text in texts:
            path = text.program.document.path
            judged: ImportFindings = judge(text.program, self.guide, all_uses[path], needed, exported.get(path, frozenset()))
            findings += [_waiting(finding, waits) if waits else finding for finding in judged.findings]
            accepts = self._accepting(text.program.document)
            for product, lines in judged.left.items():
                used.setdefault(product, f"{path}:{lines[0]}")
            for finding in judged.findings:
                if accepts(finding) and (accepted := self._product(finding)):
                    used.setdefault(accepted, f"{path}:{finding.line}")
        return _Coded(findings, used)

    def _product(self, finding: Finding) -> str | None:
        name = finding.subject.partition(",")[0]
        return next((self.guide.modules[module] for module in self.guide.modules if name.startswith(module)), None)

    def _device_of(self, text: _Text, device: str | None) -> str | None:
        """Return the device that a text is for: the one that was asked for, or the one that it names alone."""
        if self.device or not text.devices:
            return self.device or device
        return next(iter(text.devices)) if len(text.devices) == 1 else None

    def _accepting(self, document: TextDocument) -> Callable[[Finding], bool]:
        """Return what tells whether a finding is not to be mended: by a comment, or by the settings."""
        suppressions = [i for i in suppressions_of(document) if i.reason] if "compatkb:" in document.text else []

        def accepts(finding: Finding) -> bool:
            suppressed = any(finding.rule in i.rules and i.first <= finding.line <= i.last for i in suppressions)
            return suppressed or self.settings.ignored(document.path, finding.rule)

        return accepts

    def _exported(self, texts: list[_Text]) -> dict[str, frozenset[str]]:
        """Return by file the names of its imports that other files take from it."""
        bound = {
            text.program.document.path: {one.imported.bound for one in relevant_of(text.program.code, self.guide)}
            for text in texts
        }
        names = sorted({name for several in bound.values() for name in several if "." not in name})
        if not names:
            return {}
        pattern = re.compile(_TAKEN.format("|".join(re.escape(name) for name in names)), re.MULTILINE)
        taken: set[str] = set()
        for document in self.documents.values():
            if document.path.endswith((".py", ".pyi")):
                for match in pattern.finditer(document.text):
                    line = match[0].strip()
                    module = line.split()[1]
                    if module.partition(".")[0] not in self.guide.modules and not any(
                        f"{module}.{name}" in self.guide.names for name in names
                    ):
                        taken |= {name for name in names if re.search(rf"\b{re.escape(name)}\b", line)}
        return {path: frozenset(names & taken) for path, names in bound.items()}


def _finding(program: Program, use: Use) -> Finding:
    return program.document.finding(
        use.rule, program.start(use.start), program.end(use.end), use.message, fix=use.fix, sources=use.sources[:4],
        subject=program.code.text[use.start : use.end][:120],
    )  # fmt: skip


def _waiting(finding: Finding, waits: str) -> Finding:
    """Return a finding without the edits that need builds which the project does not take yet."""
    if not finding.edits:
        return finding
    return finding._replace(edits=(), message=f"{finding.message}; it has to wait, since {waits}")


def _whole(report: CheckReport) -> Iterable[Finding]:
    """Yield findings, without the edits of a file that would be worse off with them."""
    by_path: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_path.setdefault(finding.path, []).append(finding)
    for path, findings in by_path.items():
        document = report.documents.get(path)
        sound = document is None or not any(f.edits for f in findings) or _sound(document, findings)
        yield from findings if sound else (f._replace(edits=()) for f in findings)


def _sound(document: TextDocument, findings: list[Finding]) -> bool:
    """Return whether a file can still be read with all its edits in place."""
    text, _ = mended(document, findings)
    after = TextDocument(document.path, text, document.encoding, document.head)
    if document.path.endswith((".py", ".pyi", ".ipynb")):
        try:
            program_of(after)
        except SyntaxProblemError:
            return False
    return kind_of(document.path) is None or len(_problems(after).problems) <= len(_problems(document).problems)


def _problems(document: TextDocument) -> ParsedFile:
    return read(document.path, document.text)
