"""What installers and interpreters print of versions: those that were put in, taken out, or are there already."""

import re
from typing import NamedTuple

_ECHO_REACH = 40  # so many lines after a question about a version may hold the answer
_ASKED = re.compile(r"([a-z_][a-z0-9_]{1,60})\.__version__")
_BARE = re.compile(r"^[ '(>]*v?([0-9]+\.[0-9]+[0-9a-z.+_-]{0,40})[' )]*$")
_NAME, _VERSION = r"([a-z0-9][a-z0-9_.-]{0,80})", r"([0-9][0-9a-z.+_-]{0,40})"
_WHOLE_NAME = r"([a-z0-9][a-z0-9_.-]{0,80}+)"
_PUT_IN = re.compile(r"successfully installed ([^\n]{1,20000})")
_TAKEN_OUT = re.compile(rf"(?:uninstalling |successfully uninstalled |installation: ){_NAME}[- ]{_VERSION}")
_SATISFIED = re.compile(rf"requirement already satisfied: {_WHOLE_NAME}[^\n]{{0,400}}?\({_VERSION}\) ?$", re.MULTILINE)
_UV = re.compile(rf"^ ?([-+~]) {_NAME}=={_VERSION} ?$", re.MULTILINE)
_OTHER_PYTHON = re.compile(r"^[^\n]*(?:requires-python|require a different python)[^\n]*$", re.MULTILINE)


class VersionMention(NamedTuple):
    """A name with its version, and where the text has it."""

    name: str
    version: str
    at: int


def without_other_pythons(text: str) -> str:
    """Return plain text without the lines that list which Pythons a release requires: those are nobody's versions."""
    return _OTHER_PYTHON.sub(lambda match: " " * len(match[0]), text)


def put_in(text: str) -> list[VersionMention]:
    """Return what an installer says it installed."""
    packages = [VersionMention(m[2], m[3], m.start()) for m in _UV.finditer(text) if m[1] != "-"]
    for match in _PUT_IN.finditer(text):
        for word in match[1].split():
            name, sign, version = word.rpartition("-")
            if sign and version[:1].isdigit():
                packages.append(VersionMention(name, version, match.start()))
    return packages


def taken_out(text: str) -> list[VersionMention]:
    """Return what an installer says it removed."""
    packages = [VersionMention(m[1].rstrip("-."), m[2].rstrip(".-_"), m.start()) for m in _TAKEN_OUT.finditer(text)]
    return [*packages, *(VersionMention(m[2], m[3], m.start()) for m in _UV.finditer(text) if m[1] == "-")]


def satisfied(text: str) -> list[VersionMention]:
    """Return what an installer found to be there already."""
    return [VersionMention(m[1], m[2], m.start()) for m in _SATISFIED.finditer(text)]


def echoed(text: str) -> list[VersionMention]:
    """Return the versions that an interpreter printed when it was asked for `name.__version__`, by the names asked for."""
    packages: list[VersionMention] = []
    waiting: list[str] = []
    left = at = 0
    for line in text.split("\n"):
        asked = _ASKED.findall(line) if "__version__" in line else []
        if asked:
            waiting, left = asked, _ECHO_REACH
        elif waiting and left and (bare := _BARE.match(line)):
            packages.append(VersionMention(waiting.pop(0), bare[1], at))
        left = max(0, left - 1)
        at += len(line) + 1
    return packages
