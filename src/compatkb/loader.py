"""`data/` to models: the only reader of data files; reports every problem with file, line and field."""

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from compatkb.errors import DataError
from compatkb.models import (
    ChannelFile,
    FeatureFile,
    ImageFile,
    IndexFile,
    Observation,
    ProductFile,
    Record,
    RouteFile,
    TimelineFile,
)

R = TypeVar("R", bound=Record)


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


def load(directory: Path) -> Files:
    """Read and validate a data directory; raises DataError with all problems of all files."""
    if not directory.is_dir():
        raise DataError((f"{directory}: no such data directory; give one with --data DIR",))
    if not (directory / "products").is_dir():
        raise DataError((f"{directory}: has no folder products/, so it is no compatkb data directory",))
    problems: list[str] = []

    def read_all(folder: str, model: type[R]) -> tuple[R, ...]:
        found = (_read(path, model, problems) for path in sorted((directory / folder).glob("*.toml")))
        return tuple(record for record in found if record is not None)

    products = read_all("products", ProductFile)
    images = read_all("images", ImageFile)
    features = read_all("features", FeatureFile)
    index = read_all("index", IndexFile)
    channels = _read(directory / "channels.toml", ChannelFile, problems)
    routes = _read(directory / "routes.toml", RouteFile, problems)
    dated = directory / "timeline.toml"
    timeline = _read(dated, TimelineFile, problems) if dated.exists() else None
    evidence = tuple(line for path in sorted((directory / "evidence").glob("*.jsonl")) for line in _read_lines(path, problems))
    if problems or channels is None or routes is None:
        raise DataError(tuple(problems))
    return Files(products, images, index, channels, routes, evidence, timeline, features)


def _read(path: Path, model: type[R], problems: list[str]) -> R | None:
    try:
        text = path.read_text(encoding="utf-8")
        content = tomllib.loads(text)
    except OSError as error:
        problems.append(f"{path}: cannot be read: {error.strerror}")
    except UnicodeDecodeError as error:
        problems.append(f"{path}: is not UTF-8 at byte {error.start}")
    except tomllib.TOMLDecodeError as error:
        problems.append(f"{path}: {error}")
    except RecursionError:
        problems.append(f"{path}: is nested too deeply")
    else:
        try:
            return model.model_validate(content)
        except ValidationError as error:
            for item in error.errors(include_url=False):
                where = tuple(item["loc"])
                field = ".".join(str(part) for part in where)
                message = item["msg"].removeprefix("Value error, ")
                problems.append(f"{path}:{line_of(text, where)}: {field}: {message}")
    return None


def _read_lines(path: Path, problems: list[str]) -> list[Observation]:
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        try:
            found.append(Observation.model_validate(json.loads(line)))
        except (ValueError, RecursionError) as error:
            problems.append(f"{path}:{number}: {str(error).splitlines()[0]}")
    return found


def line_of(text: str, where: tuple[int | str, ...]) -> int:
    """Return the 1-based line on which the TOML value at `where` starts, or of the nearest thing around it."""
    lines = text.splitlines()
    start, end = 0, len(lines)
    path: list[str] = []
    for part in where:
        if isinstance(part, int):
            header = re.compile(r"\s*\[\[\s*" + re.escape(".".join(path)) + r"\s*\]\]")
            heads = [n for n in range(start, end) if header.match(lines[n])]
            if part < len(heads):
                start = heads[part]
                end = heads[part + 1] if part + 1 < len(heads) else end
            continue
        path.append(str(part))
        table = re.compile(r"\s*\[\s*" + re.escape(".".join(path)) + r"\s*\]")
        key = re.compile(r"\s*\"?" + re.escape(str(part)) + r"\"?\s*=")
        for n in range(start, end):
            if table.match(lines[n]) or key.match(lines[n]):
                start = n
                break
    return start + 1
