"""Loads `data/` into models; the only reader of data files. Reports every problem with file, line and field."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from compatkb.authoring.collected import with_collected, with_found
from compatkb.authoring.families import Expanded, Origin, expand, family_name, lift_sources
from compatkb.authoring.listed import with_channels, with_listed
from compatkb.core.record import NamedTuple
from compatkb.core.text_position import Places, Where
from compatkb.errors import DataError
from compatkb.schema import (
    ApplicationFile,
    ChannelFile,
    CollectedFile,
    ExceptionFile,
    FeatureFile,
    ImageFile,
    IndexFile,
    IssueFile,
    MachineFile,
    MigrationFile,
    Observation,
    PackagesFile,
    ProductFile,
    Record,
    RouteFile,
    SymptomFile,
    TimelineFile,
    WrittenProduct,
)

try:
    import tomli
except ModuleNotFoundError:  # it is compiled, and reads three times as fast; an environment may be older than its use
    import tomllib as tomli

CHANNELS, ROUTES, TIMELINE, EXCEPTIONS = "channels.toml", "routes.toml", "timeline.toml", "exceptions.toml"
SYMPTOMS, MACHINE, MIGRATION, APPLICATIONS = "symptoms.toml", "machine.toml", "migration.toml", "applications.toml"
PACKAGES = "packages.toml"
FOLDERS: dict[str, type[Record]] = {
    "products": ProductFile,
    "images": ImageFile,
    "features": FeatureFile,
    "index": IndexFile,
    "issues": IssueFile,
    "collected": CollectedFile,
}
SINGLE: dict[str, type[Record]] = {
    CHANNELS: ChannelFile,
    ROUTES: RouteFile,
    TIMELINE: TimelineFile,
    EXCEPTIONS: ExceptionFile,
    SYMPTOMS: SymptomFile,
    MACHINE: MachineFile,
    MIGRATION: MigrationFile,
    APPLICATIONS: ApplicationFile,
    PACKAGES: PackagesFile,
}
NEEDED = (CHANNELS, ROUTES)
LARGEST = 16 << 20  # bytes of one file; a parsed one takes twenty times as much
DEEPEST = 1000  # names of one dotted key: the parser's memory goes with the square
_KEYS = re.compile(rb"[=\"'#]")


@dataclass(frozen=True)
class Files:
    """Everything that a data directory holds, validated file by file; each group sorted by file name."""

    products: tuple[ProductFile, ...]
    images: tuple[ImageFile, ...]
    index: tuple[IndexFile, ...]
    channels: ChannelFile
    routes: RouteFile
    evidence: tuple[Observation, ...]
    timeline: TimelineFile | None = None
    features: tuple[FeatureFile, ...] = ()
    symptoms: SymptomFile | None = None
    machine: MachineFile | None = None
    migration: MigrationFile | None = None
    applications: ApplicationFile | None = None
    packages: PackagesFile | None = None
    issues: tuple[IssueFile, ...] = ()
    collected: tuple[CollectedFile, ...] = ()


@dataclass(frozen=True)
class DataDocument:
    """A data file: its path from the data directory with `/`, its text, and the record that it holds.

    `written` is the form in which it stands there, which differs for products (of values that were kept it is the record,
    since nobody writes these back); `origins` and `inline` say where records
    of families and sources that are defined where they are cited stand in it.
    """

    path: str
    text: str
    record: Record
    written: Record
    origins: Mapping[Where, Origin] = field(default_factory=dict, repr=False)
    inline: Mapping[str, tuple[Where, ...]] = field(default_factory=dict, repr=False)

    def candidates(self, where: Where) -> tuple[Where, ...]:
        """Return the places in the text where a value of `record` can stand, the likeliest first."""
        return _candidates(where, self.origins, self.inline)

    def family(self, where: Where) -> str:
        """Return which row of which family the record at `where` is, empty where it is no row."""
        for end in range(len(where), 0, -1):
            if origin := self.origins.get(where[:end]):
                return f"row {int(origin.where[-1]) + 1} of {origin.family}" if origin.cells else ""
        return ""


class LoadProblem(NamedTuple):
    """Why a file cannot be loaded; `line` is None where the file as a whole is meant."""

    path: str
    line: int | None
    message: str

    def __str__(self) -> str:
        """The problem as one line."""
        return f"{self.path}: {self.message}" if self.line is None else f"{self.path}:{self.line}: {self.message}"


class KeptValues:
    """The values of TOML files, families expanded, as JSON, by the digest of their text: to read TOML takes long.

    The text of one compilation, `str` of this, is given to the next; what that one does not ask for is forgotten.
    """

    def __init__(self, text: str = "") -> None:
        self._known = dict(line.partition(" ")[::2] for line in text.splitlines())
        self._used: dict[str, str] = {}

    def __str__(self) -> str:
        """One line a file: the digest and the values."""
        return "\n".join(f"{digest} {values}" for digest, values in self._used.items())

    def record(self, model: type[Record], content: bytes) -> Record | None:
        """Return the record of a file that was read before, None where its values are not known or no longer right."""
        digest = sha256(content).hexdigest()
        if (values := self._known.get(digest)) is None:
            return None
        try:
            record = model.model_validate_json(values)
        except ValidationError:  # an older program kept something else
            return None
        self._used[digest] = values
        return record

    def keep(self, content: bytes, values: dict[str, Any]) -> None:
        """Keep the values of a file whose record is right."""
        self._used[sha256(content).hexdigest()] = to_json(values).decode()


class Loaded(NamedTuple):
    """The files that could be read, and what is wrong with the others."""

    documents: tuple[DataDocument, ...]
    evidence: tuple[Observation, ...]
    problems: tuple[LoadProblem, ...]


def load(directory: Path, contents: Mapping[str, bytes] | None = None, kept: KeptValues | None = None) -> Files:
    """Return the records of a data directory, or of `contents` that were read of it; raises DataError with all problems."""
    loaded = parse(read(directory) if contents is None else contents, kept)
    if loaded.problems:
        raise DataError(tuple(str(p._replace(path=str(directory / p.path))) for p in loaded.problems))
    return files_of(loaded.documents, loaded.evidence)


def read(directory: Path) -> dict[str, bytes]:
    """Return the data files of a directory by their path in it, sorted; raises DataError where it is no data directory."""
    if not directory.is_dir():
        raise DataError((f"{directory}: no such data directory; give one with --data DIR",))
    if not (directory / "products").is_dir():
        raise DataError((f"{directory}: has no folder products/, so it is no compatkb data directory",))
    paths = [path for folder in FOLDERS for path in sorted((directory / folder).glob("*.toml"))]
    paths += [directory / name for name in SINGLE if name in NEEDED or (directory / name).exists()]
    paths += sorted((directory / "evidence").glob("*.jsonl"))
    try:
        if strange := [path for path in paths if not path.is_file() and path.exists()]:
            raise DataError(tuple(f"{path}: is no file" for path in strange))  # reading a pipe or a device would not end
        return {path.relative_to(directory).as_posix(): path.read_bytes() for path in paths}
    except OSError as error:
        raise DataError((f"{error.filename}: cannot be read: {error.strerror}",)) from None


def parse(contents: Mapping[str, bytes], kept: KeptValues | None = None) -> Loaded:
    """Return what data files hold, by path, and every problem of those that are wrong; uses and fills `kept`."""
    problems: list[LoadProblem] = []
    documents: list[DataDocument] = []
    evidence: list[Observation] = []
    for path, content in contents.items():
        if path.endswith(".jsonl"):
            evidence += _read_lines(path, content, problems)
        elif (document := parse_document(path, content, problems, kept)) is not None:
            documents.append(document)
    return Loaded(tuple(documents), tuple(evidence), tuple(problems))


def files_of(documents: tuple[DataDocument, ...], evidence: tuple[Observation, ...] = ()) -> Files:
    """Return the records of documents by kind, with what was collected or is listed in product files and the machine.

    `channels.toml` and `routes.toml` must be among them.
    """
    records = [document.record for document in documents]
    groups: dict[str, Any] = {name: tuple(r for r in records if isinstance(r, model)) for name, model in FOLDERS.items()}
    for name, model in SINGLE.items():
        if name != EXCEPTIONS:  # which only lint reads
            groups[name.removesuffix(".toml")] = next((r for r in records if isinstance(r, model)), None)
    groups["products"], groups["machine"] = with_collected(groups["products"], groups["machine"], groups["collected"])
    groups["channels"] = with_channels(groups["channels"], groups["products"], groups["index"])
    groups["products"] = with_found(with_listed(groups["products"], groups["index"]), groups["collected"])
    return Files(**groups, evidence=evidence)


def model_of(path: str) -> type[Record]:
    """Return the model of the data file at a path in the data directory; raises KeyError for other files."""
    return SINGLE[path] if path in SINGLE else FOLDERS[path.partition("/")[0]]


def _candidates(where: Where, origins: Mapping[Where, Origin], inline: Mapping[str, tuple[Where, ...]]) -> tuple[Where, ...]:
    if where[:1] == ("source",) and len(where) > 1 and where[1] in inline:
        return tuple((*place, *where[2:]) for place in inline[str(where[1])])
    for end in range(len(where), 0, -1):
        if origin := origins.get(where[:end]):
            return tuple(origin.candidates(where[end:]))
    return (where,)


def parse_document(
    path: str, content: bytes, problems: list[LoadProblem], kept: KeptValues | None = None
) -> DataDocument | None:
    """Return a TOML file of the data, None where it is wrong; what is wrong goes to `problems`."""
    if kept and (record := kept.record(model_of(path), content)):
        return DataDocument(path, content.decode(), record, record)
    if len(content) > LARGEST:
        problems.append(LoadProblem(path, None, f"is larger than {LARGEST >> 20} MiB, which no data file is"))
        return None
    if any(part.count(b".") > DEEPEST for line in content.split(b"\n") if len(line) > DEEPEST for part in _KEYS.split(line)):
        problems.append(LoadProblem(path, None, "is nested too deeply"))
        return None
    try:
        text = content.decode()
        values = tomli.loads(text)
    except UnicodeDecodeError as error:
        problems.append(LoadProblem(path, None, f"is not UTF-8 at byte {error.start}"))
    except tomli.TOMLDecodeError as error:
        message, _, at = str(error).partition(" (at line ")
        line = re.match(r"\d+", at)
        problems.append(LoadProblem(path, int(line[0]) if line else None, message if line else str(error)))
    except RecursionError:
        problems.append(LoadProblem(path, None, "is nested too deeply"))
    except ValueError as error:  # a number of thousands of digits
        problems.append(LoadProblem(path, None, str(error)))
    else:
        return _document(path, text, values, problems, kept)
    return None


def _document(
    path: str, text: str, values: dict[str, Any], problems: list[LoadProblem], kept: KeptValues | None
) -> DataDocument | None:
    model = model_of(path)
    inline: dict[str, tuple[Where, ...]] = {}
    lifted = values
    if "source" in model.model_fields:
        lifted, inline = lift_sources(values)
    expanded = Expanded(lifted, {}, [])
    wrong: list[tuple[Where, str]] = []
    try:
        record = written = (WrittenProduct if model is ProductFile else model).model_validate(lifted)
        if model is ProductFile:
            expanded = expand(lifted)
            wrong += expanded.problems
            record = model.model_validate(expanded.content)
    except ValidationError as error:
        wrong += _faults(error)
    if not wrong:
        if kept:
            kept.keep(text.encode(), expanded.content)
        return DataDocument(path, text, record, written, expanded.origins, inline)
    places = Places(text)
    for where, message in wrong:
        line = places.first(_candidates(where, expanded.origins, inline)).line
        named = _named(where, expanded.origins, lifted)
        problems.append(LoadProblem(path, line, ": ".join(filter(None, (named, message)))))
    return None


def _named(where: Where, origins: Mapping[Where, Origin], values: Mapping[str, Any]) -> str:
    """Return the name of what is wrong: the keys that lead to it, of a row its number and its family."""
    row, rest = "", where
    for end in range(len(where), 0, -1):
        if (origin := origins.get(where[:end])) and origin.cells:
            row, rest = f"row {int(origin.where[-1]) + 1} of {origin.family}", where[end:]
            break
    if not row and len(where) > 3 and where[2] == "rows":
        family = values[str(where[0])][where[1]]
        row, rest = f"row {int(where[3]) + 1} of {family_name(str(where[0]), family)}", where[4:]
    return ": ".join(filter(None, (row, ".".join(str(part) for part in rest))))


def _faults(error: ValidationError) -> Iterator[tuple[Where, str]]:
    """Yield the place of each value that a model refuses, and why."""
    for item in error.errors(include_url=False):
        message = item["msg"].removeprefix("Value error, ")
        if item["type"] == "string_type" and isinstance(item["input"], (int, float)):
            message = "write it in quotes: TOML reads a bare 3.10 as 3.1"
        yield tuple(item["loc"]), message


def _read_lines(path: str, content: bytes, problems: list[LoadProblem]) -> list[Observation]:
    observations = []
    for number, line in enumerate(content.decode(errors="replace").splitlines(), 1):
        try:
            observations.append(Observation.model_validate_json(line))
        except ValidationError as error:
            for where, message in _faults(error):
                problems.append(LoadProblem(path, number, ": ".join(filter(None, (".".join(map(str, where)), message)))))
    return observations


class DataProblem(NamedTuple):
    """Something that does not resolve: its file, its record there by kind and name (None: the file as a whole), and why."""

    path: str
    record: tuple[str, str] | None
    message: str

    @property
    def text(self) -> str:
        """The problem with the record that has it."""
        return f"{' '.join(self.record)}: {self.message}" if self.record else self.message

    def __str__(self) -> str:
        """The problem as one line."""
        return f"{self.path}: {self.text}"
