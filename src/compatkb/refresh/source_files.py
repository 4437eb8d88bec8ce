"""Reads what lines of files say of releases: in source archives of an index, or at the tags of a clone."""

import io
import re
import tarfile
import zlib
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from compatkb.core.clones import texts
from compatkb.core.versions import Scheme, admits, parse
from compatkb.errors import UnavailableError
from compatkb.refresh.git_tags import versions_of
from compatkb.refresh.listing import shown
from compatkb.schema import FileFeed
from compatkb.schema.collected import FileRow, FilesRead
from compatkb.schema.feed import FileRead

MOST_OF_A_FILE = 4 << 20
MOST_UNPACKED = 2 << 30
PACKED = ".tar.gz"
_Found = dict[str, tuple[str, int, tuple[str, ...]]]


def rules_of(feed: FileFeed) -> str:
    """Return the digest of what a feed looks for: files that were read for something else are read again."""
    looked_for = [[read.id, read.paths, read.line, read.releases] for read in feed.reads]
    return sha256(repr(looked_for).encode()).hexdigest()[:16]


def reads(feed: FileFeed, version: str) -> bool:
    """Return whether a feed is of a release."""
    return admits(Scheme.PEP440, feed.releases or "", version)


def joined(feed: FileFeed, rows: Iterable[FileRow], scheme: Scheme) -> FilesRead | None:
    """Return the rows of a feed, newest first; None where there is none."""
    ordered = sorted(rows, key=lambda row: parse(scheme, row.version), reverse=True)
    return FilesRead(repo=feed.repo, rules=rules_of(feed), rows=tuple(ordered)) if ordered else None


def row_of(feed: FileFeed, version: str, ref: str, files: Mapping[str, str], digest: str | None = None) -> FileRow:
    """Return what the files of a release say, by their path in it."""
    found = {read.id: place for read in feed.reads if (place := _place(read, version, files))}
    more = {"sha256": digest, "found": found}
    return FileRow.model_validate([version, ref, {name: value for name, value in more.items() if value}])


def _place(read: FileRead, version: str, files: Mapping[str, str]) -> tuple[str, int, tuple[str, ...]] | None:
    path = next((path for path in read.paths if path in files), None)
    if path is None or not admits(Scheme.PEP440, read.releases or "", version):
        return None
    for number, line in enumerate(files[path].splitlines(), 1):
        if match := re.search(read.line, line):
            return path, number, tuple((group or "").replace(" ", "") for group in match.groups())
    return None


def in_archive(feed: FileFeed, version: str, name: str, content: bytes) -> FileRow:
    """Return what a source archive says of its release; raises UnavailableError for one that is none."""
    wanted = {path for read in feed.reads for path in read.paths}
    files: dict[str, str] = {}
    unpacked = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r|gz") as archive:
            for member in archive:
                unpacked += member.size
                if unpacked > MOST_UNPACKED:
                    raise UnavailableError(f"{name}: unpacks to more than {MOST_UNPACKED} bytes")
                path = member.name.removeprefix("./").partition("/")[2]
                if (
                    path in wanted
                    and member.isfile()
                    and member.size <= MOST_OF_A_FILE
                    and (file := archive.extractfile(member))
                ):
                    files[path] = file.read().decode(errors="replace")
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError) as error:
        raise UnavailableError(f"{name}: cannot be read as a source archive: {shown(str(error))}") from None
    return row_of(feed, version, name, files, sha256(content).hexdigest())


def in_clone(feed: FileFeed, clone: Path, scheme: Scheme) -> FilesRead | None:
    """Return what files say at the tags of a clone."""
    found = {version: tag for version, tag in versions_of(feed.tags, clone).items() if _is_version(scheme, version)}
    found = {version: tag for version, tag in found.items() if reads(feed, version)}
    paths = dict.fromkeys(path for read in feed.reads for path in read.paths)
    by_path = {path: texts(clone, (tag.name for tag in found.values()), path) for path in paths}
    rows = (
        row_of(feed, version, tag.name, {path: at[tag.name] for path, at in by_path.items() if tag.name in at})
        for version, tag in found.items()
    )
    return joined(feed, (row for row in rows if row.found), scheme)


def _is_version(scheme: Scheme, text: str) -> bool:
    try:
        parse(scheme, text)
    except ValueError:
        return False
    return True
