"""A platform as installers name it: the tags that a wheel for it may carry."""

import platform
import re
import sys
from functools import cache

from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from compatkb.core.platforms import target

_NEWEST_GLIBC = 60  # beyond any that exists: which one a system has is a matter of claims about that system
_LEGACY = ("manylinux2014", "manylinux2010", "manylinux1")
_MACOS = range(26, 10, -1)
NEWEST_MACOS = f"{_MACOS[0]}.0"
"""The macOS for which uv resolves: left to itself it takes an old one, for which new wheels are none."""


def this_platform() -> str:
    """Return the platform of this machine: the family of its system and its architecture."""
    family = {"linux": "linux", "darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform)
    machine = platform.machine().lower()
    return f"{family}-{'x86_64' if machine == 'amd64' else machine}"


@cache
def installer_platforms(name: str) -> tuple[str, ...]:
    """Return every platform tag that installers accept on a platform, best first: naming only one of them is too narrow."""
    family, _, arch = name.rpartition("-")
    if family == "windows":
        return ("win_amd64" if arch == "x86_64" else f"win_{arch}",)
    if family == "macos":
        return tuple(f"macosx_{major}_0_{kind}" for major in _MACOS for kind in (arch, "universal2"))
    modern = tuple(f"manylinux_2_{minor}_{arch}" for minor in range(_NEWEST_GLIBC, 4, -1))
    return (*modern, *(f"{word}_{arch}" for word in _LEGACY), f"linux_{arch}")


@cache
def tags(python: str, name: str) -> frozenset[Tag]:
    """Return the tags of wheels that fit a Python minor (3.13t: free-threaded) on a platform (PEP 425)."""
    match = re.fullmatch(r"(\d+)\.(\d+)(t?)", python)
    assert match  # a value of the data
    version = (int(match[1]), int(match[2]))
    interpreter = f"cp{match[1]}{match[2]}"
    old = "m" if version < (3, 8) else ""
    platforms = list(installer_platforms(name))
    supported = set(cpython_tags(version, [f"{interpreter}{match[3] or old}"], platforms))
    if match[3]:
        supported = {tag for tag in supported if tag.abi != "abi3"}
    return frozenset(supported | set(compatible_tags(version, interpreter, platforms)))


def fits(file: str, python: str, name: str) -> bool:
    """Return whether a wheel can be installed on a Python and platform, by its name."""
    try:
        _, _, _, own = parse_wheel_filename(file)
    except InvalidWheelFilename:
        return False
    if own & tags(python, name):
        return True
    family, _, arch = name.rpartition("-")
    # macOS tags name the oldest minor too (macosx_10_13); any of them is older than the newest system
    return family == "macos" and any(
        (tag_target := target(tag.platform)) is not None
        and (tag_target.os, tag_target.arch) == (family, arch)
        and any((tag.interpreter, tag.abi) == (known.interpreter, known.abi) for known in tags(python, name))
        for tag in own
    )
