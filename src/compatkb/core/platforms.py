"""The platform grid, one bit for each combination of Python, OS and architecture; wheel tags parsed into it.

Tags follow the platform compatibility specifications (PEP 425, PEP 600); marker environments follow PEP 508.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from packaging.markers import Marker

from compatkb.core.memo import memoized
from compatkb.core.record import NamedTuple
from compatkb.core.versions import admits_python

STABLE_ABI = "abi3"
"""The ABI tag of wheels that serve the Python of their tag and every later one, save the free-threaded ones."""
_CPYTHON = re.compile(r"\b(cp|py)3(\d*)(t?)(?=[.-]|$)")
_LEGACY = {"manylinux1": "2.5", "manylinux2010": "2.12", "manylinux2014": "2.17"}
SPELLINGS = {
    "linux": ("linux", "Linux", "posix"),
    "windows": ("win32", "Windows", "nt"),
    "macos": ("darwin", "Darwin", "posix"),
}
"""How the markers of PEP 508 spell an OS family: sys_platform, platform_system, os_name."""
_MACHINES = {("windows", "x86_64"): "AMD64", ("windows", "arm64"): "ARM64"}
_COMPARED = re.compile(r"\b(sys_platform|platform_system|os_name)\s*([=!]=)\s*['\"](\w+)['\"]")
_UV_PLATFORMS = {  # OS family and architecture
    ("linux", "x86_64"): "x86_64-manylinux_2_40",
    ("linux", "aarch64"): "aarch64-manylinux_2_40",
    ("windows", "x86_64"): "x86_64-pc-windows-msvc",
    ("windows", "arm64"): "aarch64-pc-windows-msvc",
    ("macos", "x86_64"): "x86_64-apple-darwin",
    ("macos", "arm64"): "aarch64-apple-darwin",
}


def spelling_of(family: str, arch: str | None = None) -> dict[str, str]:
    """Return how the markers of PEP 508 spell an OS family, and an architecture of it where one is given."""
    spelt = dict(zip(("sys_platform", "platform_system", "os_name"), SPELLINGS[family], strict=True))
    return {**spelt, "platform_machine": _MACHINES.get((family, arch), arch)} if arch else spelt


def misspelt(marker: str) -> tuple[str, str, str] | None:
    """Return a comparison of a marker with a name of a system that none has so, the family, and how it is written."""
    for found in _COMPARED.finditer(marker):
        spellings = {family: spelling_of(family)[found[1]] for family in SPELLINGS}
        for family, names in SPELLINGS.items():
            words = {family, *(name.lower() for name in names[:2])}
            if found[3] not in spellings.values() and found[3].lower() in words:
                return found[0], family, found[0].replace(found[3], spellings[family])
    return None


def marker_of(family: str, arch: str) -> str:
    """Return the marker (PEP 508) that is true on an OS family and architecture, and on no other."""
    return f"sys_platform == '{SPELLINGS[family][0]}' and platform_machine == '{_MACHINES.get((family, arch), arch)}'"


def uv_platform(family: str, arch: str) -> str | None:
    """Return uv's word for a platform, None where it has none."""
    return _UV_PLATFORMS.get((family, arch))


class TagTarget(NamedTuple):
    """What one platform tag admits; `glibc` is the oldest one, None where the tag names none."""

    os: str | None  # None: any
    arch: str | None
    glibc: str | None
    macos: int | None = None  # the oldest major version of macOS


@lru_cache(maxsize=4096)
def target(tag: str) -> TagTarget | None:
    """Return what a platform tag admits, None for tags outside the grid (musl, 32 bit)."""
    if tag == "any":
        return TagTarget(None, None, None)
    if match := re.fullmatch(r"(manylinux1|manylinux2010|manylinux2014)_(x86_64|aarch64)", tag):
        return TagTarget("linux", match[2], _LEGACY[match[1]])
    if match := re.fullmatch(r"manylinux_(\d+)_(\d+)_(x86_64|aarch64)", tag):
        return TagTarget("linux", match[3], f"{match[1]}.{match[2]}")
    if match := re.fullmatch(r"linux_(x86_64|aarch64)", tag):
        return TagTarget("linux", match[1], None)
    if tag in ("win_amd64", "win_arm64"):
        return TagTarget("windows", "x86_64" if tag == "win_amd64" else "arm64", None)
    if match := re.fullmatch(r"macosx_(\d+)_\d+_(x86_64|arm64)", tag):
        return TagTarget("macos", match[2], None, int(match[1]))
    return None


@lru_cache(maxsize=16384)
def _serves(tag: str, python: str) -> bool:
    """Return whether wheels of a Python tag, which ends with the ABI where that is the stable one, serve a Python."""
    stable, minor = tag.endswith(f"-{STABLE_ABI}"), int(python.rstrip("t").partition(".")[2])
    for kind, oldest, free_threaded in _CPYTHON.findall(tag):
        if kind == "py" or (stable and not python.endswith("t")):
            if minor >= int(oldest or 0):
                return True
        elif not stable and python == f"3.{oldest}{free_threaded}":
            return True
    return False


def is_of_use(python_tag: str, platform_tags: str) -> bool:
    """Return whether a wheel of these tags, the platform's joined by dots, is for what a grid can hold."""
    return bool(_CPYTHON.search(python_tag)) and any(map(target, platform_tags.split(".")))


class Grid:
    """The bits of all (os, arch, python) combinations; os-major, Python fastest."""

    def __init__(self, systems: dict[str, tuple[str, ...]], archs: tuple[str, ...], pythons: tuple[str, ...]) -> None:
        """Take each OS with the wider ones that it is part of, the architectures, the Pythons; oldest first."""
        self.systems = tuple(systems)
        self.archs = archs
        self.pythons = pythons
        self._members = {
            name: tuple(other for other, wider in systems.items() if other == name or name in wider) for name in systems
        }
        self._wider = systems
        self._bit_of_python = {name: 1 << n for n, name in enumerate(pythons)}
        self._shift_of_arch = {name: n * len(pythons) for n, name in enumerate(archs)}
        self._shift_of_system = {name: n * len(archs) * len(pythons) for n, name in enumerate(systems)}
        self.all = (1 << (len(self.systems) * len(archs) * len(pythons))) - 1

    def cells(
        self,
        systems: Iterable[str] | None = None,
        archs: Iterable[str] | None = None,
        pythons: Iterable[str] | None = None,
        *,
        members: bool = True,
    ) -> int:
        """Return the bits of a rectangle; None means every value, a family all of its `members` unless told otherwise."""
        os, arch, python = (None if names is None else tuple(names) for names in (systems, archs, pythons))
        return self._cells(os, arch, python, members)

    @memoized
    def _cells(
        self,
        systems: tuple[str, ...] | None,
        archs: tuple[str, ...] | None,
        pythons: tuple[str, ...] | None,
        members: bool,  # part of a key
    ) -> int:
        row = 0
        for python in self.pythons if pythons is None else pythons:
            row |= self._bit_of_python.get(python, 0)
        block = 0
        for arch in self.archs if archs is None else archs:
            if arch in self._shift_of_arch:
                block |= row << self._shift_of_arch[arch]
        if systems is None:
            names: Iterable[str] = self.systems
        else:
            names = {m for s in systems for m in (self._members.get(s, ()) if members else (s,)) if m in self._wider}
        mask = 0
        for name in names:
            mask |= block << self._shift_of_system[name]
        return mask

    def widened(self, systems: Iterable[str]) -> tuple[str, ...]:
        """Return the systems and the families around them: what holds on one Linux holds on some Linux."""
        names = dict.fromkeys(systems)
        for system in tuple(names):
            names.update(dict.fromkeys(self._wider.get(system, ())))
        return tuple(names)

    def families(self, system: str) -> tuple[str, ...]:
        """Return the families that markers and wheel tags know among a system and the ones around it."""
        return tuple(name for name in (system, *self._wider.get(system, ())) if name in SPELLINGS)

    def admitted(self, requires_python: str) -> tuple[str, ...]:
        """Return the Pythons of which at least one patch release satisfies a Requires-Python."""
        return tuple(python for python in self.pythons if admits_python(requires_python, python))

    @memoized
    def wheel_cells(self, python_tag: str, platform_tags: tuple[str, ...], requires_python: str) -> dict[str | None, int]:
        """Return the bits that wheels of one Python tag serve, by the oldest glibc that their platform tag admits."""
        pythons = tuple(python for python in self.admitted(requires_python) if _serves(python_tag, python))
        cells_by_glibc: dict[str | None, int] = {}
        for tag in (part for tags in platform_tags for part in tags.split(".")):
            where = target(tag)
            if where is None:
                continue
            cells = self.cells(
                None if where.os is None else (where.os,), None if where.arch is None else (where.arch,), pythons
            )
            if where.macos is not None:
                cells &= ~self.cells(self._older_macos(where.macos), members=False)
            cells_by_glibc[where.glibc] = cells_by_glibc.get(where.glibc, 0) | cells
        return cells_by_glibc

    @memoized
    def _older_macos(self, oldest: int) -> list[str]:
        """Return the members of the family that end with an older version than a platform tag asks for."""
        named = [(name, re.fullmatch(r"macos(\d+)(\.\d+)*", name)) for name in self.systems]
        return [name for name, match in named if match and int(match[1]) < oldest]

    @memoized
    def marker_cells(self, text: str, extra: str = "") -> int:
        """Return the bits on which a PEP 508 marker holds with an extra, or without any; all where there is no marker."""
        if not text:
            return self.all
        marker = Marker(text)
        mask = 0
        for family, (sys_platform, system, os_name) in SPELLINGS.items():
            if family not in self.systems:
                continue
            for arch in self.archs:
                for python in self.pythons:
                    minor = python.rstrip("t")
                    environment = {
                        "sys_platform": sys_platform,
                        "platform_system": system,
                        "os_name": os_name,
                        "platform_machine": _MACHINES.get((family, arch), arch),
                        "python_version": minor,
                        "python_full_version": f"{minor}.0",
                        "implementation_name": "cpython",
                        "platform_python_implementation": "CPython",
                        "extra": extra,
                    }
                    if marker.evaluate(environment):
                        mask |= self.cells((family,), (arch,), (python,))
        return mask
