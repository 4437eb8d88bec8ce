"""Parser of references to container images."""

import re

from compatkb.core.text_position import Place
from compatkb.parsers.statement import MAIN, ImageUse

_REFERENCE = re.compile(
    r"(?P<repository>(?:[A-Za-z0-9.-]+(?::\d+)?/)?[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*)*)"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?:@(?P<digest>[a-z0-9+._-]+:[0-9a-fA-F]{8,}))?"
)


def repository_name(text: str) -> str:
    """Return the name of an image repository without the host and folder that clients take for granted."""
    return re.sub(r"^(?:(?:index\.|registry-1\.)?docker\.io/)?(?:library/)?", "", text)


def image_use(
    text: str, place: Place, written: str, group: str = MAIN, *, unknown: bool = False, derived: bool = False, step: int = 0
) -> ImageUse | None:
    """Return the use of the image that a reference names, None for text that is none; an unknown one keeps what is known."""
    text = text.strip().strip("\"'")
    if len(text) > 500:
        return None
    if unknown:
        head, colon, _ = text.rpartition(":")
        text = head if colon and "/" not in text[len(head) :] else text.rstrip(":@-._/")
    match = _REFERENCE.fullmatch(text)
    if not match:
        return None
    tag, digest = (None, None) if unknown else (match["tag"], match["digest"])
    return ImageUse(place, written, repository_name(match["repository"]), group, step, derived, tag, digest, unknown)
