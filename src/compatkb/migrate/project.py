"""Migrates a project as a whole: its programs, its commands and its requirements, judged together."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from compatkb.check import CheckReport, make_report, rules_by_id
from compatkb.check.config import Settings
from compatkb.check.document import CheckContext, TextDocument, mended
from compatkb.check.files import UNREADABLE
from compatkb.check.markdown.commands import read_code_blocks
from compatkb.check.markdown.text import read_page
from compatkb.check.migration_rules import BACKEND, COMMAND, IMPORT, PIN, RULES
from compatkb.check.project.environments import Project
from compatkb.check.project.queries import ProjectQueries
from compatkb.check.rules import is_passed_over
from compatkb.check.suppressions import BaselineEntry, suppressions_of
from compatkb.core.findings import Finding, Severity
from compatkb.core.record import NamedTuple
from compatkb.migrate.guide import Guide, fitting
from compatkb.migrate.pins import Pins
from compatkb.migrate.programs import Program, ProgramUses, SyntaxProblemError, Use
from compatkb.migrate.removing import TextSpan, span_of
from compatkb.parsers.registry import kind_of, read
from compatkb.parsers.requirement import parse
from compatkb.parsers.statement import ParsedFile, Word

_PROGRAMS = (".py", ".pyi", ".ipynb")
_IMPORT = re.compile(r"\s*(?:>>> )?(?:import|from)\s")
_TAKEN = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import\b([^\n]*)", re.MULTILINE)


def reads(path: str) -> bool:
    """Return whether files of this name are read: Python, notebooks, and all that states versions."""
    return path.endswith((".py", ".pyi")) or kind_of(path) is not None


def migrate(
    documents: Iterable[TextDocument],
    asked: CheckContext,
    settings: Settings | None = None,
    *,
    device: str | None = None,
    known: "Counter[BaselineEntry] | None" = None,
    unread: Iterable[Finding] = (),
) -> CheckReport:
    """Return what has to change in documents; `device` is the one that they are for, None where the files tell."""
    settings = settings or Settings()
    by_path = {document.path: document for document in documents}
    findings = list(unread)
    findings += _Project(by_path, asked, settings, device).findings()
    report = make_report(findings, by_path, settings, known, frozenset(rules_by_id()) - {rule.id for rule in RULES})
    return report._replace(findings=tuple(_whole(report)))


class _Project:
    def __init__(
        self, documents: Mapping[str, TextDocument], asked: CheckContext, settings: Settings, device: str | None
    ) -> None:
        self.documents, self.asked, self.settings, self.device = documents, asked, settings, device
        self.guide = Guide(asked.facts)

    def findings(self) -> list[Finding]:
        """Return what is said of the project."""
        findings: list[Finding] = []
        programs = [ProgramUses(program, self.guide) for program in self._programs(findings)]
        kinds = (None, "markdown", "setup.py")  # a setup.py is read as a program, wherever it has its requirements
        readings = [(d, read(d.path, d.text)) for d in self.documents.values() if kind_of(d.path) not in kinds]
        project = Project(self.asked.facts, readings)
        pins = Pins(project, ProjectQueries(self.asked), self.guide, self.device)
        device = self.device or self._device(programs, pins)
        used: dict[str, str] = {}
        for document, reading in readings:
            for item in command_findings(document, reading, self.guide, device):
                used.setdefault(item.product, f"{item.finding.path}:{item.finding.line}")
                findings.append(item.finding)
        coded = list(self._coded(programs, device, used))
        findings += pins.findings(device, used)
        documented, left = self._documented(device, used)
        if stays := sorted(pins.installed() & used.keys()):
            waits = f"{used[stays[0]]} needs {self.asked.facts.products[stays[0]].name}"
        else:
            stuck = pins.stuck or ([] if pins.installed() else left)  # where documents alone install it, people follow them
            waits = f"what {stuck[0]} installs stays" if stuck else ""
        findings += (_waiting(finding, waits) if waits else finding for finding in coded)
        return [*findings, *self._setups(project), *documented]

    def _documented(self, device: str | None, used: Mapping[str, str]) -> tuple[list[Finding], list[str]]:
        """Return what the code of documents installs, imports and runs, and where builds stay that need it."""
        products = (self.asked.facts.products[product] for product in self.guide.ended)
        names = {
            name for one in products if one.distribution for name in (one.distribution, one.distribution.replace("-", "_"))
        }
        documents = (
            one for one in self.documents.values() if kind_of(one.path) == "markdown" and not is_passed_over(one.path)
        )
        pages = [read_page(one) for one in documents if any(name in one.text for name in names)]
        readings = [(page.document, read_code_blocks(page)) for page in pages]
        pins = Pins(Project(self.asked.facts, readings), ProjectQueries(self.asked), self.guide, self.device)
        told = list(pins.findings(device, used))
        for page, (document, reading) in zip(pages, readings, strict=True):
            told += (item.finding._replace(edits=()) for item in command_findings(document, reading, self.guide, device))
            for offset, line in (line for block in page.codes for line in block.lines if _IMPORT.match(line[1])):
                if match := self.guide.module_pattern.search(line):
                    product = self.guide.modules[match[0]]
                    message = f"{match[0]} is of {self.asked.facts.products[product].name}, which has ended"
                    sources = self.guide.ended_sources.get(product, ())
                    start, end = offset + match.start(), offset + match.end()
                    told.append(document.finding(IMPORT, start, end, message, fix="take the import out", sources=sources))
        left = {one.path for one in told if not one.edits}  # a document is written whole or not at all
        told = [one._replace(edits=()) if one.path in left else one for one in told]
        return told, [place for path, place in pins.bound.items() if path in left]

    def _programs(self, findings: list[Finding]) -> Iterator[Program]:
        for document in self.documents.values():
            if not document.path.endswith(_PROGRAMS) or not self.guide.holds(document.text):
                continue
            try:
                yield Program(document)
            except SyntaxProblemError as error:
                if self.guide.module_pattern.search(document.text):
                    line = min(error.line, len(document.starts))
                    start = document.offset(line)
                    findings.append(document.finding(UNREADABLE, start, start + len(document.line(line)), str(error)))

    def _coded(self, programs: list[ProgramUses], device: str | None, used: dict[str, str]) -> Iterator[Finding]:
        """Yield what is said of programs, and add to `used` a place for each product that one of them still needs."""
        known = frozenset(element.version for element in self.asked.facts.elements("device"))
        uses: list[list[Use]] = []
        needed: dict[str, str] = {}
        for one in programs:
            named = one.devices(known)
            own = next(iter(named)) if len(named) == 1 else None if named else device
            uses.append(one.uses(self.device or own))
            imported = set(one.product_by_import.values())
            for use in uses[-1]:
                place = f"{use.finding.path}:{use.finding.line}"
                used.setdefault(use.product, place)
                if not use.root and use.product not in imported:
                    needed.setdefault(use.product, place)
        taken = self._taken()
        for one, several in zip(programs, uses, strict=True):
            yield from (use.finding for use in several)
            accepts = self._accepting(one.program.document)
            for finding, product in one.import_findings(several, needed, taken):
                if accepts(finding) or (not finding.edits and finding.level is not Severity.INFO):
                    used.setdefault(product, f"{finding.path}:{finding.line}")
                yield finding

    def _setups(self, project: Project) -> Iterator[Finding]:
        """Yield the requirements in lists of a setup.py that name products which have ended."""
        for document in self.documents.values():
            if document.path.rpartition("/")[2] != "setup.py":
                continue
            with suppress(SyntaxProblemError):
                program = Program(document)
                for node in program.nodes:
                    is_listed = isinstance(program.parents.get(node), ast.List | ast.Tuple)
                    text = node.value if is_listed and isinstance(node, ast.Constant) else None
                    asked = parse(text) if isinstance(text, str) else None
                    product = project.product(asked.name, "pip") if asked else None
                    if product and product.id in self.guide.ended and isinstance(node, ast.Constant):
                        message = f"{product.name} has ended and is requested here"
                        yield program.finding(PIN, node, message, "take it out", self.guide.ended_sources.get(product.id, ()))

    def _device(self, programs: list[ProgramUses], pins: Pins) -> str | None:
        """Return the one device that labels and indexes name, else programs, else what the default index has of bare names."""
        known = frozenset(element.version for element in self.asked.facts.elements("device"))
        named = pins.devices(as_listed=False) or frozenset().union(*(one.devices(known) for one in programs))
        named = named or self._written(known) or pins.devices(as_listed=True)
        return next(iter(named)) if len(named) == 1 else None

    def _written(self, known: frozenset[str]) -> frozenset[str]:
        """Return the devices that any program names, in quotes or as a part of torch, also one without what has ended."""
        device = re.compile(rf"""(?:\btorch\.|["'])({"|".join(map(re.escape, sorted(known)))})\b""")
        texts = (document.text for document in self.documents.values() if document.path.endswith(_PROGRAMS))
        return frozenset(match[1] for text in texts for match in device.finditer(text))

    def _accepting(self, document: TextDocument) -> Callable[[Finding], bool]:
        """Return what tells whether a finding is not to be mended: by a comment, or by the settings."""
        suppressions = [i for i in suppressions_of(document) if i.reason] if "compatkb:" in document.text else []

        def accepts(finding: Finding) -> bool:
            suppressed = any(finding.rule in i.rules and i.first <= finding.line <= i.last for i in suppressions)
            return suppressed or self.settings.ignored(document.path, finding.rule)

        return accepts

    def _taken(self) -> frozenset[str]:
        """Return the names that programs of the project import from anywhere but the products that have ended."""
        texts = (document.text for document in self.documents.values() if document.path.endswith((".py", ".pyi")))
        lines = (match for text in texts for match in _TAKEN.finditer(text))
        others = (match[2] for match in lines if match[1].partition(".")[0] not in self.guide.modules)
        return frozenset(name for names in others for name in re.findall(r"\w+", names))


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
            Program(after)
        except SyntaxProblemError:
            return False
    return kind_of(document.path) is None or len(_problems(after).problems) <= len(_problems(document).problems)


def _problems(document: TextDocument) -> ParsedFile:
    return read(document.path, document.text)


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
