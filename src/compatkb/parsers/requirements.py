"""Parser of requirements and constraints files, line by line as pip reads them."""

import re
from collections.abc import Iterator

from compatkb.core.text_position import Place
from compatkb.parsers.commands.model import FILES, INDEXES, python_specifier, spelled
from compatkb.parsers.requirement import is_name, of_file, of_repository, refusal, statement
from compatkb.parsers.source import Fragment, Segment, SourceFile
from compatkb.parsers.statement import Include, IndexUse, ParsedFile, PythonUse, Requirement, RequirementRole

_COMMENT = re.compile(r"(?:^|\s)#.*", re.DOTALL)
_OPTION = re.compile(r"(--?[A-Za-z][A-Za-z-]*)(?:\s*=\s*|\s+|(?<=^-[A-Za-z]))?(.*)", re.DOTALL)
_BOTH = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[^\]]*\])?[ \t]*[=<>~!]=?[^@;#]*@[ \t]*\w+:")
_TRAILING = re.compile(r"\s--?[A-Za-z].*", re.DOTALL)
_INDEX_BEHIND = re.compile(rf"\s({'|'.join(sorted(INDEXES, key=len, reverse=True))})[\s=]+([^\s\"']+)")
_VARIABLE = re.compile(r"\$\{[A-Z0-9_]+\}")
STEP = 1


def read_requirements(source: SourceFile, reading: ParsedFile) -> None:
    """Add what a file of requirements or of constraints says; all of it is one step."""
    role = RequirementRole.CONSTRAINT if reading.kind == "constraints" else RequirementRole.INSTALL
    for line in _logical_lines(source):
        text = line.text.rstrip()
        indent = len(text) - len(text.lstrip())
        text = text.strip()
        if text:
            _line(line, text, indent, reading, role)


def read_python_version(source: SourceFile, reading: ParsedFile) -> None:
    """Add the first Python that a `.python-version` names, which is the one that runs in its folder."""
    if match := re.search(r"^[ \t]*(?:cpython-|python)?(\d+\.\d+(?:\.\d+)?)t?[ \t]*(?:#.*)?$", source.text, re.MULTILINE):
        place = source.place(match.start(1))
        reading.add(PythonUse(place=place, text=match[1], specifier=python_specifier(match[1]), runs=True))


def _logical_lines(source: SourceFile) -> Iterator[Fragment]:
    """Yield lines with what continues them; a comment ends at its line, and a line of comment continues nothing."""
    pieces: list[Segment] = []
    for number, start in enumerate(source.starts, 1):
        text = source.line(number)
        end = start + len(text)
        comment = _COMMENT.search(text)
        if text.endswith("\\") and not (comment and comment.start() == 0) and end < len(source.text):
            pieces.append(Segment(text[:-1], start))
            continue
        if comment:
            text = text[: comment.start()]
        yield Fragment(source, [*pieces, Segment(text, start)])
        pieces = []
    if pieces:
        yield Fragment(source, pieces)


def _line(line: Fragment, text: str, indent: int, reading: ParsedFile, role: RequirementRole) -> None:
    place = line.place(indent)
    if text.startswith("-"):
        match = _OPTION.fullmatch(text)
        if match:
            _option(match[1], match[2].strip().strip("'\""), place, text, reading, role)
        return
    if behind := _INDEX_BEHIND.search(text):
        name, url = behind.groups()
        reading.problem(place, f"pip passes over {name} behind a requirement, and uv refuses it; give it its own line")
        style = "extra-index-url" if INDEXES[name] == "index-url" else INDEXES[name]  # as it is meant: for this package
        reading.add(IndexUse(place=place, text=text, url=url, style=style, step=STEP))
    hashed = "--hash" in text
    bare = _TRAILING.split(text, maxsplit=1)[0].strip()
    derived = _VARIABLE.search(bare) is not None
    requirement = statement(bare, place, role=role, hashed=hashed, step=STEP, derived=derived)
    if requirement is None and _BOTH.match(bare):
        reading.problem(place, f"names a version and an address, which pip refuses: {bare[:80]!r}", is_refused=True)
        return
    if requirement is None and (named := of_file(bare)):
        requirement = Requirement(
            place=place, text=bare, name=named[0], specifier=named[1], url=bare, role=role, step=STEP, derived=derived
        )
    if requirement is None and (name := of_repository(bare)):
        requirement = Requirement(place=place, text=bare, name=name, url=bare, role=role, step=STEP, derived=derived)
    if requirement is not None:
        reading.add(requirement)
    elif derived and is_name(name := re.split(r"[<>=!~\[;\s]", bare, maxsplit=1)[0]):
        reading.add(Requirement(place=place, text=bare, name=name.lower(), role=role, step=STEP, derived=True, unknown=True))
    elif (
        not _BOTH.match(bare)
        and "{{" not in bare
        and "{%" not in bare
        and not re.match(r"[./~$]|[A-Za-z][A-Za-z+.-]*:|.*[/\\]", bare)
    ):
        reading.invalid(place, bare, refusal(bare))


def _option(name: str, value: str, place: Place, text: str, reading: ParsedFile, role: RequirementRole) -> None:
    name = spelled(name)
    if name in FILES and value:
        given = FILES[name] if role is RequirementRole.INSTALL else role
        reading.add(Include(place=place, text=text, path=value, role=given, step=STEP))
    elif name in INDEXES and value:
        reading.add(IndexUse(place=place, text=text, url=value, style=INDEXES[name], step=STEP))
