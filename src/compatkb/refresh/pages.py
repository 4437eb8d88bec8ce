"""Parses index pages, HTML or JSON, into listings through pypi-simple."""

import json
import time
import warnings
from collections.abc import Iterator
from datetime import datetime
from email.message import Message

from pypi_simple import (
    DistributionPackage,
    ProjectPage,
    UnexpectedRepoVersionWarning,
    UnsupportedRepoVersionError,
    parse_links_stream,
)

from compatkb.errors import UnavailableError
from compatkb.refresh.listing import MOST_FILES, IndexPage, RawFile, listing, shown, upload_time, whole_seconds

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
