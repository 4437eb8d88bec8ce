"""A few files out of a wheel on an index, by byte range: kilobytes of a file of hundreds of megabytes."""

import io
import zipfile
from collections.abc import Iterable
from http import HTTPStatus

import requests
from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version
from pypi_simple import (
    PYPI_SIMPLE_ENDPOINT,
    DistributionPackage,
    NoSuchProjectError,
    ProjectPage,
    PyPISimple,
    UnexpectedRepoVersionWarning,
    UnsupportedContentTypeError,
    UnsupportedRepoVersionError,
)

MOST_BYTES = 16 << 20  # that one wheel may cost
LARGEST = 1 << 20  # that one member may hold
REDIRECTS = 5
PATIENCE = 30.0  # seconds without an answer


class RangeError(Exception):
    """The index or the wheel is not what it should be; the message says how."""


class AbsentError(Exception):
    """There is no such wheel."""


class Remote(io.RawIOBase):
    """A file on a server, read where it is asked for; raises RangeError where the server does not give parts."""

    def __init__(self, session: requests.Session, url: str) -> None:
        super().__init__()
        self._session, self._url, self._at, self.fetched = session, url, 0, 0
        head = self._get("bytes=-1")
        total = head.headers.get("Content-Range", "").rpartition("/")[2]
        if not total.isdigit():
            raise RangeError("the server does not say how long the file is")
        self._size = int(total)

    def _get(self, wanted: str) -> requests.Response:
        headers = {"Range": wanted, "Accept-Encoding": "identity"}
        answer = self._session.get(self._url, headers=headers, timeout=PATIENCE)
        if answer.status_code != HTTPStatus.PARTIAL_CONTENT:
            raise RangeError(f"the server answers {answer.status_code} to a request for a part of a file")
        self.fetched += len(answer.content)
        if self.fetched > MOST_BYTES:
            raise RangeError(f"more than {MOST_BYTES >> 20} MB would have to be read")
        return answer

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position and return it."""
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence])
        return self._at

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        """Fill a buffer from the position on; returns how many bytes there were."""
        end = min(self._at + len(buffer), self._size)
        if end <= self._at:
            return 0
        body = self._get(f"bytes={self._at}-{end - 1}").content
        if len(body) != end - self._at:
            raise RangeError("the server gives another part than it was asked for")
        buffer[: len(body)] = body
        self._at = end
        return len(body)


def find_wheel(
    session: requests.Session, index: str | None, name: str, version: str, tags: Iterable[str], *, flat: bool = False
) -> DistributionPackage:
    """Return the wheel of a distribution that fits one of the tags best (first is best); raises AbsentError.

    An index that is `flat` is one page with the links of all its distributions.
    """
    client = PyPISimple(endpoint=index or PYPI_SIMPLE_ENDPOINT, session=session)
    try:
        if flat:
            answer = session.get(str(index), timeout=PATIENCE)
            answer.raise_for_status()
            page = ProjectPage.from_response(answer, name)
        else:
            page = client.get_project_page(name, timeout=PATIENCE)
    except NoSuchProjectError:
        raise AbsentError(f"the index has no project {name}") from None
    except (UnsupportedContentTypeError, UnsupportedRepoVersionError, UnexpectedRepoVersionWarning) as error:
        raise RangeError(f"the page of {name} cannot be read: {type(error).__name__}") from None
    order = {tag: number for number, tag in enumerate(tags)}
    fitting = []
    for package in page.packages:
        try:
            distribution, number, _, wheel_tags = parse_wheel_filename(package.filename)
        except InvalidWheelFilename:
            continue
        if distribution == canonicalize_name(name) and number == Version(version):
            ranks = [order[str(tag)] for tag in wheel_tags if str(tag) in order]
            fitting += [(min(ranks), package.filename, package)] if ranks else []
    if not fitting:
        raise AbsentError(f"no wheel of {name} {version} for this interpreter")
    return min(fitting, key=lambda f: f[:2])[2]


def read_members(session: requests.Session, url: str, wanted: Iterable[str]) -> dict[str, bytes]:
    """Return the members of a remote wheel that it has, by name; raises RangeError."""
    try:
        with zipfile.ZipFile(io.BufferedReader(Remote(session, url), 1 << 16)) as archive:
            there = {info.filename: info for info in archive.infolist()}
            found = {}
            for name in wanted:
                if (info := there.get(name)) is None:
                    continue
                if info.file_size > LARGEST:
                    raise RangeError(f"{name} would be {info.file_size} bytes")
                with archive.open(info) as member:
                    found[name] = member.read(LARGEST + 1)
                if len(found[name]) > LARGEST:
                    raise RangeError(f"{name} is larger than the archive says")
            return found
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, ValueError, RuntimeError) as error:
        raise RangeError(f"the wheel cannot be read: {error}") from None


def polite_session() -> requests.Session:
    """Return a session that follows few redirects and reads no answer of more than MOST_BYTES; raises RangeError then."""
    session = requests.Session()
    session.max_redirects = REDIRECTS
    session.hooks["response"].append(_bounded)
    return session


def _bounded(answer: requests.Response, **_: object) -> None:
    body = bytearray()
    for part in answer.iter_content(1 << 16):
        body += part
        if len(body) > MOST_BYTES:
            answer.close()
            raise RangeError(f"the server answers with more than {MOST_BYTES >> 20} MB")
    answer._content = bytes(body)


def tags_for(python: str, arch: str, system: str) -> list[str]:
    """Return the wheel tags that a CPython of that minor takes on a platform, best first."""
    from packaging.tags import compatible_tags, cpython_tags, platform_tags

    minor = tuple(int(part) for part in python.rstrip("t").split("."))
    platforms = [tag for tag in platform_tags() if system in tag and tag.endswith(arch)]
    tags: list[Tag] = [*cpython_tags(minor, platforms=platforms), *compatible_tags(minor, platforms=platforms)]
    return [str(tag) for tag in tags]
