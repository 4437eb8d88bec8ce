"""Compares a project's build files with its documents: build arguments, services and labels with tables and tags."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from compatkb.check.document import CheckContext, TextDocument
from compatkb.check.lookups import BUILT, Lookups, lookups, urls, written
from compatkb.check.markdown.rows import read_rows
from compatkb.check.markdown.text import MarkdownPage, read_page
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.core.record import NamedTuple
from compatkb.parsers.dockerfile import instructions
from compatkb.parsers.registry import kind_of, read
from compatkb.parsers.shell import Shell
from compatkb.parsers.source import SourceFile, TreeError
from compatkb.parsers.statement import ParsedFile, Requirement, Word, repository_name
from compatkb.store.records import Product

if TYPE_CHECKING:
    from compatkb.parsers.pipelines import Runner
    from compatkb.parsers.positioned_yaml import YamlNode

DIFFERS = CheckRule("argument-differs", Severity.INFO, "a build argument gives another version than the tag or the table")
UNUSED = CheckRule("argument-unused", Severity.WARNING, "a build argument names a version, and nothing uses it")
SERVICE = CheckRule("service-unknown", Severity.INFO, "a table of services names one that the compose file does not have")
LABEL = CheckRule("label-differs", Severity.WARNING, "the label of an image names another version than the image installs")
RULES = (DIFFERS, UNUSED, SERVICE, LABEL)

_SERVICES = re.compile(r"\bservices?\b", re.IGNORECASE)
_NAME = re.compile(r"[a-z0-9][\w.-]*", re.IGNORECASE)
_OWN_FILE = re.compile(r"\.sh\b|(?<![\w/])\./|\bmake\b|setup\.py|pip3? install [^\n]*(?<=\s)-?e?\s?\.(?:\s|$)|\.py\b")
_ARGUMENT = re.compile(r"^[ \t]*ARG[ \t]+([A-Za-z_]\w*)", re.MULTILINE | re.IGNORECASE)


class BuildArgument(NamedTuple):
    """An argument that a compose file gives to a build, with the product that its name means, if any."""

    name: str
    word: Word
    product: Product | None


class Service(NamedTuple):
    """A service of a compose file: its image, and what it is built from."""

    name: str
    image: str
    dockerfile: str | None
    arguments: tuple[BuildArgument, ...]


def check(documents: tuple[TextDocument, ...], context: CheckContext) -> Iterator[Finding]:
    """Yield where build files and documents of one folder contradict each other."""
    data = lookups(context.facts)
    by_path = {document.path: document for document in documents}
    pages: dict[str, list[MarkdownPage]] = {}
    folders: dict[str, set[str]] = {}
    for document in documents:
        kind = kind_of(document.path)
        if kind == "dockerfile":
            yield from _dockerfile(document, data)
        elif kind == "compose":
            services = list(_services(document, data))
            folder = posixpath.dirname(document.path)
            folders.setdefault(folder, set()).update(service.name for service in services)
            for service in services:
                yield from _arguments(document, service, by_path, _pages(by_path, folder, pages), data)
    for folder, names in folders.items():
        for page in _pages(by_path, folder, pages):
            yield from _tabled(page, names)


def _pages(
    documents: Mapping[str, TextDocument], folder: str, pages_by_folder: dict[str, list[MarkdownPage]]
) -> list[MarkdownPage]:
    if folder not in pages_by_folder:
        beside = (document for path, document in documents.items() if posixpath.dirname(path) == folder)
        tabled = (one for one in beside if one.path.lower().endswith(".md") and "|" in one.text)
        pages_by_folder[folder] = list(map(read_page, tabled))
    return pages_by_folder[folder]


def _services(document: TextDocument, data: Lookups) -> Iterator[Service]:
    from compatkb.parsers.pipelines import Runner  # few projects have such a file, and all rules are named for any finding
    from compatkb.parsers.positioned_yaml import yaml_documents

    try:
        roots = yaml_documents(SourceFile(document.path, document.text))
    except TreeError:
        return  # told by its reader
    runner = Runner(ParsedFile(document.path, "compose"))
    for name, service in (roots[0].table("services") if roots else {}).items():
        build = service.get("build")
        image = runner.word(service.get("image"), {})
        context, dockerfile = _build_file(build)
        target = posixpath.normpath(posixpath.join(posixpath.dirname(document.path), context, dockerfile)) if build else None
        arguments = tuple(_of_build(build.get("args"), runner, data)) if build and build.kind == "map" else ()
        yield Service(name, image.value if image and not image.open else "", target, arguments)


def _build_file(build: "YamlNode | None") -> tuple[str, str]:
    if build is None or build.kind != "map":
        return (build.text if build else ""), "Dockerfile"
    context, dockerfile = build.get("context"), build.get("dockerfile")
    return (context.text if context else "."), (dockerfile.text if dockerfile else "Dockerfile")


def _of_build(node: "YamlNode | None", runner: "Runner", data: Lookups) -> Iterator[BuildArgument]:
    for name, value in (node.mapping() if node else {}).items():
        if word := runner.word(value, {}):
            yield BuildArgument(name, word, _meant(name, data))
    for item in node.items if node else ():
        word = runner.word(item, {})
        if word and "=" in word.value:
            name, _, text = word.value.partition("=")
            yield BuildArgument(name, word._replace(value=text), _meant(name, data))


def _meant(name: str, data: Lookups) -> Product | None:
    """Return the product whose version an argument or a label is, by its name: `PYTORCH_VERSION`, `torch.version`."""
    words = re.split(r"[._-]+", name.lower())
    if words[-1] not in ("version", "ver", "release", "tag") and len(words) > 1:
        return None
    product = data.product(" ".join(words))
    return product if product and product.role in BUILT else None


def _arguments(
    document: TextDocument, service: Service, documents: Mapping[str, TextDocument], pages: list[MarkdownPage],
    data: Lookups,
) -> Iterator[Finding]:  # fmt: skip
    dockerfile = documents.get(service.dockerfile or "")
    taken = set(_ARGUMENT.findall(dockerfile.text)) if dockerfile else set()
    for argument in service.arguments:
        if argument.product is None or argument.word.open or written(argument.word.value) is None:
            continue
        span = document.span(argument.word)
        if dockerfile and argument.name not in taken:
            message = f"{dockerfile.path} takes no argument {argument.name}, so this version has no effect"
            fix = f"declare ARG {argument.name}, or remove it"
            yield document.finding(UNUSED, *span, message, fix=fix, subject=argument.name)
            continue
        yield from _against_tag(document, service, argument, span, data)
        yield from _against_tables(document, service, argument, pages, data)


def _against_tag(
    document: TextDocument, service: Service, argument: BuildArgument, span: tuple[int, int], data: Lookups
) -> Iterator[Finding]:
    repository, _, tag = service.image.rpartition(":")
    image = data.image(tag, repository_name(repository)) if repository_name(repository) in data.repositories else None
    held = data.contents(image).get(argument.product.id) if image and argument.product else None
    if image is None or held is None or argument.product is None:
        return
    mask = data.mask(argument.product, argument.word.value)
    if mask and held.mask and not mask & held.mask:
        name = f"{argument.product.name} {held.spec.removeprefix('==')}"
        message = f"{argument.name} is {argument.word.value}, and {image.name} is known with {name}"
        yield document.finding(DIFFERS, *span, message, sources=urls(image.sources), subject=argument.name)


def _against_tables(
    document: TextDocument, service: Service, argument: BuildArgument, pages: list[MarkdownPage], data: Lookups
) -> Iterator[Finding]:
    tag = service.image.rpartition(":")[2]
    mask = data.mask(argument.product, argument.word.value) if argument.product else 0
    if not tag or not re.search(r"\d", tag):
        return
    for page in pages:
        for row in read_rows(page, data):
            is_named = any(named.name == tag for named in row.named)
            value = row.values.get(argument.product.id) if argument.product and is_named else None
            if value and mask and value.mask and not value.mask & mask:
                where = f"{document.path}:{argument.word.place.line}"
                message = f"{where} builds {tag} with {argument.name} {argument.word.value}, this row has {value.text}"
                yield page.document.finding(DIFFERS, value.cell.start, value.cell.end, message, subject=value.text)


def _tabled(page: MarkdownPage, services: set[str]) -> Iterator[Finding]:
    """Yield services of a table that the compose files beside it do not have, where they have most of them."""
    for table in page.tables:
        if not table.head or not _SERVICES.search(table.head[0].text):
            continue
        cells = [row.cells[0] for row in table.rows if row.cells and _NAME.fullmatch(row.cells[0].text.strip())]
        lacking = [cell for cell in cells if not any(_words(cell.text) <= _words(service) for service in services)]
        for cell in lacking if 2 * len(lacking) <= len(cells) and len(lacking) < len(cells) else ():
            if cell.text.islower():  # others are names for readers, of what the services are
                message = f"the compose file beside this document has no service {cell.text.strip()}"
                yield page.document.finding(SERVICE, cell.start, cell.end, message, subject=cell.text.strip())


def _words(name: str) -> set[str]:
    """Return the words of the name of a service, of which tables leave out that of the project, or `service`."""
    return set(re.split(r"[-_.]", name.strip().lower())) - {"service"}


# -- Dockerfiles -----------------------------------------------------------------------------------------------------------


def _dockerfile(document: TextDocument, data: Lookups) -> Iterator[Finding]:
    """Yield arguments for versions that nothing uses, and labels that name another version than is installed."""
    source = SourceFile(document.path, document.text)
    if source.text != document.text and "\r" not in document.text:
        return
    runs_own = _OWN_FILE.search(document.text) is not None
    stage = -1
    installed: list[dict[str, Requirement]] = []
    for name, rest in instructions(source):
        if name == "FROM":
            stage += 1
        elif name == "ARG" and not runs_own:
            yield from _unused(document, source, Shell(rest, {}), data)
        elif name == "LABEL" and stage >= 0:
            installed = installed or _installed(document, data)
            yield from _labels(document, Shell(rest, {}), installed[stage] if stage < len(installed) else {}, data)


def _unused(document: TextDocument, source: SourceFile, shell: Shell, data: Lookups) -> Iterator[Finding]:
    for command in shell.commands():
        for name, word in command.settings.items():
            if word.open or written(word.value) is None or _meant(name, data) is None:
                continue
            if not re.search(rf"\$\{{?{name}\b", source.text):
                message = f"nothing uses {name}, so {word.value} is not what is installed by it"
                yield document.finding(UNUSED, *document.span(word), message, fix="use it, or remove it", subject=name)


def _installed(document: TextDocument, data: Lookups) -> list[dict[str, Requirement]]:
    """Return what each stage installs, by product."""
    reading = read(document.path, document.text, "dockerfile")
    stages = []
    for group in reading.groups.values():
        if group.kind == "stage" and group.name.startswith("stage:"):
            requirements = [s for s in reading.statements if isinstance(s, Requirement) and s.group == group.name]
            named = [(product, one) for one in requirements if (product := data.facts.product(one.name))]
            stages.append({product.id: one for product, one in named if one.specifier.startswith("==")})
    return stages


def _labels(document: TextDocument, shell: Shell, installed: Mapping[str, Requirement], data: Lookups) -> Iterator[Finding]:
    for command in shell.commands():
        for word in (*command.settings.values(), *command.words):
            name, equals, value = word.value.partition("=")
            product = _meant(name, data) if equals and not word.open and written(value) else None
            one = installed.get(product.id) if product else None
            if product is None or one is None:
                continue
            labelled, pinned = data.mask(product, value), data.mask(product, one.specifier.removeprefix("=="))
            if labelled and pinned and not labelled & pinned:
                message = f"the label says {product.name} {value}, and line {one.place.line} installs {one.specifier[2:]}"
                fix = f"write {one.specifier[2:]}"
                yield document.finding(LABEL, *document.span(word), message, fix=fix, subject=name)
