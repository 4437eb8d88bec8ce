"""The client of package indexes: bounded in size, time, redirects and retries; every failure is one line."""

import hashlib
import json
import re
import shutil
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import urlsplit

import requests
from pypi_simple import (
    ACCEPT_ANY,
    PYPI_SIMPLE_ENDPOINT,
    DistributionPackage,
    ProjectPage,
    PyPISimple,
    UnexpectedRepoVersionWarning,
    UnsupportedRepoVersionError,
    parse_links_stream,
)
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError, ProtocolError, ReadTimeoutError
from urllib3.util import Retry

from compatkb.core.atomic_write import write_file
from compatkb.errors import NotListedError, UnavailableError
from compatkb.refresh.listing import (
    MOST_FILES,
    DistributionFile,
    IndexPage,
    RawFile,
    WheelMetadata,
    listing,
    read_metadata,
    shown,
    upload_time,
    whole_seconds,
)
from compatkb.refresh.remote_wheel import (
    MOST_METADATA,
    MOST_OF_A_WHEEL,
    TAIL,
    RangeFile,
    unpack_members,
    wheel_members,
    wheel_metadata,
)

MOST_OF_A_PAGE = 32 << 20
MOST_OF_AN_ARCHIVE = 256 << 20
MOST_REDIRECTS = 5
TRIES = 3
_CHUNK = 1 << 16
_LARGE_CHUNK = 16 << 20
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


@dataclass(frozen=True)
class Limits:
    """Seconds: for an answer to begin or go on, for a whole answer, and for the whole run."""

    silence: float = 30.0
    answer: float = 120.0
    run: float = 1800.0


class Network:
    """A package index over HTTP; safe to use from several threads."""

    def __init__(self, index: str | None = None, limits: Limits | None = None, *, flat: bool = False) -> None:
        """Talk to an index; one that is `flat` is a single page with the links of all its distributions."""
        self._index, self._flat = index or PYPI_SIMPLE_ENDPOINT, flat
        self._secure = urlsplit(self._index).scheme == "https"
        self._limits = limits or Limits()
        self._end = time.monotonic() + self._limits.run
        self._local = threading.local()

    def page(self, distribution: str, *, strict: bool = True) -> IndexPage:
        """Return what the index lists of a distribution; raises UnavailableError; see `listing` for `strict`."""
        client: PyPISimple = PyPISimple(self._index, session=self._session())
        url = self._index if self._flat else client.get_project_url(distribution)
        with self._answer(distribution, "GET", url, {"Accept": ACCEPT_ANY}) as answer:
            if answer.status_code == 404:
                raise NotListedError(f"{distribution}: the index has no such distribution (404)")
            if answer.status_code != 200:
                raise UnavailableError(f"{distribution}: the index answered with status {answer.status_code}")
            body = self._body(distribution, answer, MOST_OF_A_PAGE)
            return read_page(distribution, body, answer.headers.get("content-type", ""), answer.url, strict=strict)

    def last_modified(self, file: DistributionFile) -> datetime | None:
        """Return when a file last changed, or None where the server does not say; raises UnavailableError."""
        name = file.entry.name
        with self._answer(name, "HEAD", file.entry.url, {}) as answer:
            header = answer.headers.get("last-modified") if answer.status_code == 200 else None
        try:
            moment = parsedate_to_datetime(header) if header else None
        except ValueError:
            return None
        return moment and (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)

    def reading(self, distribution: str, file: DistributionFile) -> WheelMetadata | None:
        """Return what a wheel's metadata say, or None where the index offers neither them nor parts of the wheel.

        Raises UnavailableError where the answer is wrong or none comes.
        """
        content = self.metadata(distribution, file)
        return None if content is None else read_metadata(distribution, file, content)

    def metadata(self, distribution: str, file: DistributionFile) -> bytes | None:
        """Return the METADATA of a wheel, or None where the index offers neither them nor parts of the wheel.

        Raises UnavailableError where the answer is wrong or none comes.
        """
        content = self._metadata_file(file) if file.entry.has_metadata else None
        if content is None:
            remote = self._remote(file)
            if remote is not None:
                content = wheel_metadata(file.entry.name, distribution, remote)
            elif file.entry.has_metadata is None:
                content = self._metadata_file(file)  # a page may leave out what the index has
        return content

    def archive(self, file: DistributionFile) -> bytes:
        """Return a source archive; raises UnavailableError, also where it is not what the page promises."""
        name, digest = file.entry.name, file.entry.sha256
        with self._answer(name, "GET", file.entry.url, {}) as answer:
            if answer.status_code != 200:
                raise UnavailableError(f"{name}: the index answered with status {answer.status_code}")
            content = self._body(name, answer, MOST_OF_AN_ARCHIVE)
        if digest and hashlib.sha256(content).hexdigest() != digest.lower():
            raise UnavailableError(f"{name}: is not what the page promises: its SHA-256 differs")
        return content

    def members(self, file: DistributionFile, wanted: Iterable[str]) -> dict[str, bytes]:
        """Return small members of a wheel that it has, by path; raises UnavailableError, also where no parts are sent."""
        return wheel_members(file.entry.name, self._parts(file), wanted)

    def unpacked(
        self, file: DistributionFile, wanted: Callable[[str], bool], folder: Path, most: int
    ) -> Iterator[tuple[str, Path, int]]:
        """Yield path, unpacked file and bytes fetched so far of each wanted member of a wheel, however large it is.

        Reads `most` bytes of the wheel at most; raises UnavailableError, also where the index sends no parts of files.
        """
        remote = self._parts(file, chunk=_LARGE_CHUNK, most=most)
        for path, unpacked in unpack_members(file.entry.name, remote, wanted, folder):
            yield path, unpacked, remote.fetched

    def _metadata_file(self, file: DistributionFile) -> bytes | None:
        parts = urlsplit(file.entry.url)
        url = parts._replace(path=f"{parts.path}.metadata", query="", fragment="").geturl()
        name = f"{file.entry.name}.metadata"
        with self._answer(name, "GET", url, {}) as answer:
            if answer.status_code in (403, 404, 410):
                return None
            if answer.status_code != 200:
                raise UnavailableError(f"{name}: the index answered with status {answer.status_code}")
            content = self._body(name, answer, MOST_METADATA)
        digest = file.entry.metadata_sha256
        if digest and hashlib.sha256(content).hexdigest() != digest.lower():
            raise UnavailableError(f"{name}: is not what the page promises: its SHA-256 differs")
        return content

    def _parts(self, file: DistributionFile, *, chunk: int = TAIL, most: int = MOST_OF_A_WHEEL) -> RangeFile:
        """Return a wheel that is read in parts; raises UnavailableError where the index sends none."""
        remote = self._remote(file, chunk=chunk, most=most)
        if remote is None:
            raise UnavailableError(f"{file.entry.name}: the index does not send part of a file")
        return remote

    def _remote(self, file: DistributionFile, *, chunk: int = TAIL, most: int = MOST_OF_A_WHEEL) -> RangeFile | None:
        name, url = file.entry.name, file.entry.url

        def fetch(start: int, end: int) -> bytes:
            part = self._part(name, url, f"bytes={start}-{end - 1}", end - start)
            if part is None or part[:2] != (start, size) or len(part[2]) != end - start:
                raise UnavailableError(f"{name}: the index sent another part of the file than was asked for")
            return part[2]

        last = self._part(name, url, f"bytes=-{TAIL}", TAIL)
        if last is None:  # some servers know ranges from the start only
            with self._answer(name, "HEAD", url, {}) as answer:
                length = answer.headers.get("content-length", "") if answer.status_code == 200 else ""
            if not re.fullmatch(r"[1-9]\d{0,12}", length):
                return None
            size = int(length)
            last = self._part(name, url, f"bytes={max(0, size - TAIL)}-{size - 1}", TAIL)
            if last is None:
                return None
        start, size, tail = last
        if start + len(tail) != size:
            raise UnavailableError(f"{name}: the index sent another part of the file than was asked for")
        return RangeFile(size, tail, fetch, chunk=chunk, most=most)

    def _part(self, name: str, url: str, wanted: str, most: int) -> tuple[int, int, bytes] | None:
        """Return start, size of the file and bytes of a part, or None where the server sends no parts."""
        with self._answer(name, "GET", url, {"Range": wanted, "Accept-Encoding": "identity"}) as answer:
            if answer.status_code in (200, 400, 405, 416, 501):
                return None
            if answer.status_code != 206:
                raise UnavailableError(f"{name}: the index answered with status {answer.status_code}")
            match = _RANGE.fullmatch(answer.headers.get("content-range", ""))
            if not match:
                raise UnavailableError(f"{name}: the index does not say which part of the file it sends")
            content = self._body(name, answer, most)
            start, end, size = (int(number) for number in match.groups())
            if len(content) != end + 1 - start:
                raise UnavailableError(f"{name}: a part of the file ended early")
            return start, size, content

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = requests.Session()
            session.max_redirects = MOST_REDIRECTS
            retry = Retry(
                total=TRIES - 1,
                redirect=False,
                backoff_factor=0.2,
                status_forcelist=(429, 500, 502, 503, 504),
                raise_on_status=False,
                respect_retry_after_header=False,  # a server does not decide how long we sleep
            )
            for scheme in ("https://", "http://"):
                session.mount(scheme, HTTPAdapter(max_retries=retry))
            self._local.session = session
        return session

    @contextmanager
    def _answer(self, what: str, method: str, url: str, headers: dict[str, str]) -> Iterator[requests.Response]:
        if time.monotonic() > self._end:
            raise UnavailableError(f"{what}: not read: the time for the whole run is over")
        if urlsplit(url).scheme not in (("https",) if self._secure else ("http", "https")):
            raise UnavailableError(f"{what}: its address is not one that can be read safely")
        try:
            with self._session().request(
                method, url, headers=headers, stream=True, timeout=self._limits.silence, allow_redirects=True
            ) as answer:
                if self._secure and urlsplit(answer.url).scheme != "https":
                    raise UnavailableError(f"{what}: the index redirects to a place without encryption")
                yield answer
        except requests.TooManyRedirects:
            raise UnavailableError(f"{what}: the index redirects more than {MOST_REDIRECTS} times") from None
        except (requests.Timeout, ReadTimeoutError):
            raise UnavailableError(f"{what}: no answer within {self._limits.silence:g} seconds") from None
        except requests.exceptions.SSLError:
            raise UnavailableError(f"{what}: no encrypted connection that can be trusted") from None
        except (requests.exceptions.ChunkedEncodingError, ProtocolError):
            raise UnavailableError(f"{what}: the answer ended early") from None
        except requests.ConnectionError as error:
            cause = getattr(error.args[0] if error.args else None, "reason", None)  # of the last of several tries
            if isinstance(cause, ReadTimeoutError):
                raise UnavailableError(f"{what}: no answer within {self._limits.silence:g} seconds") from None
            raise UnavailableError(f"{what}: no connection to the index") from None
        except (requests.RequestException, HTTPError, ValueError) as error:
            raise UnavailableError(f"{what}: no readable answer ({type(error).__name__})") from None

    def _body(self, what: str, answer: requests.Response, most: int) -> bytes:
        end = min(self._end, time.monotonic() + self._limits.answer)
        parts: list[bytes] = []
        size = 0
        while part := answer.raw.read1(
            _CHUNK, decode_content=True
        ):  # what has come, not a whole chunk: time is looked at often
            size += len(part)
            if size > most:
                raise UnavailableError(f"{what}: the answer is larger than {most} bytes")
            if time.monotonic() > end:
                raise UnavailableError(f"{what}: the answer takes longer than {self._limits.answer:g} seconds")
            parts.append(part)
        return b"".join(parts)


class Remembering:
    """An index whose metadata of wheels are kept in a folder: a run that was ended asks the next time for the rest alone."""

    def __init__(self, client: Network, folder: Path) -> None:
        self._client, self._folder = client, folder
        self.page, self.last_modified, self.archive = client.page, client.last_modified, client.archive

    def reading(self, distribution: str, file: DistributionFile) -> WheelMetadata | None:
        """Return what a wheel's metadata say, as `Network.reading`."""
        kept = self._folder / hashlib.sha256(file.entry.url.encode()).hexdigest()
        if kept.exists():
            return read_metadata(distribution, file, kept.read_bytes())
        content = self._client.metadata(distribution, file)
        if content is None:
            return None
        reading = read_metadata(distribution, file, content)  # what is none is not kept
        self._folder.mkdir(parents=True, exist_ok=True)
        write_file(kept, content)
        return reading

    def forget(self) -> None:
        """Remove the folder: the run has ended well."""
        shutil.rmtree(self._folder, ignore_errors=True)


JSON = "application/vnd.pypi.simple.v1+json"
HTML = ("application/vnd.pypi.simple.v1+html", "text/html")
LONGEST_PARSE = 60.0  # seconds
_STEP = 1 << 14


def read_page(distribution: str, body: bytes, content_type: str, url: str, *, strict: bool = True) -> IndexPage:
    """Return what a project page lists; raises UnavailableError with one line on a page that is none, or is not whole."""
    header = Message()
    header["content-type"] = content_type or "text/html"
    kind = header.get_content_type()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnexpectedRepoVersionWarning)
            if kind == JSON:
                return _from_json(distribution, body, url, strict)
            if kind in HTML:
                return _from_html(distribution, body, url, header.get_content_charset(), strict)
    except UnsupportedRepoVersionError:
        raise UnavailableError(f"{distribution}: its page has a version of the format that is not known here") from None
    raise UnavailableError(f"{distribution}: the index answered with {shown(kind)}, which is no index page")


def _from_json(distribution: str, body: bytes, url: str, strict: bool) -> IndexPage:
    try:
        page = ProjectPage.from_json_data(json.loads(body), url)
        entries = [_entry(package, package.upload_time and whole_seconds(package.upload_time)) for package in page.packages]
    except UnsupportedRepoVersionError:
        raise
    except (ValueError, RecursionError, OverflowError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UnavailableError(f"{distribution}: its page is no JSON index page: {shown(reason)}") from None
    return listing(distribution, entries, always_tells_yanks=True, strict=strict)


def _from_html(distribution: str, body: bytes, url: str, charset: str | None, strict: bool) -> IndexPage:
    if not body.rstrip().lower().endswith((b"</html>", b"</body>")):
        raise UnavailableError(f"{distribution}: its page ends in the middle, or is no index page")
    entries: list[RawFile] = []
    try:
        for link in parse_links_stream(_in_time(distribution, body), base_url=url, http_charset=charset or "utf-8"):
            when = link.get_str_attrib("data-upload-time")
            entries.append(_entry(DistributionPackage.from_link(link, distribution), upload_time(when) if when else None))
            if len(entries) > MOST_FILES:
                break
    except UnsupportedRepoVersionError:
        raise
    except (ValueError, LookupError, AssertionError, RecursionError, OverflowError) as error:
        raise UnavailableError(f"{distribution}: its page is no HTML index page: {shown(str(error))}") from None
    return listing(distribution, entries, always_tells_yanks=False, strict=strict)


def _in_time(distribution: str, body: bytes) -> Iterator[bytes]:
    """Yield a page in pieces: malformed pages make parsers slow, piece after piece."""
    end = time.monotonic() + LONGEST_PARSE
    for start in range(0, len(body), _STEP):
        if time.monotonic() > end:
            raise UnavailableError(f"{distribution}: its page is so malformed that it cannot be read in time")
        yield body[start : start + _STEP]


def _entry(package: DistributionPackage, uploaded: datetime | None) -> RawFile:
    return RawFile(
        package.filename,
        package.url,
        package.requires_python,
        (package.yanked_reason or "") if package.is_yanked else None,
        uploaded,
        package.has_metadata,
        (package.metadata_digests or {}).get("sha256"),
        package.digests.get("sha256"),
    )
