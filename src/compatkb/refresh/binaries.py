"""What a native library exports, needs and leaves undefined: 64-bit ELF and PE.

ELF headers are read by pyelftools, PE by pefile: each is small and in pure Python. LIEF reads both, but only from whole
files in memory: of a library of 422 MB it took 2.5 s and 504 MB for the 73,000 symbols that take 0.15 s and 24 MB here, and
it adds 12 MB to an installation where these add 3. The entries of symbol tables are unpacked in bulk, since pyelftools needs
2.8 s for the same one by one.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from compatkb.errors import UnavailableError

_ENTRY = struct.Struct("<IBBHQQ")  # Elf64_Sym: name, info, other, section, value, size
_WEAK = 2
_HIDDEN = frozenset((1, 2))  # STV_INTERNAL, STV_HIDDEN


@dataclass(frozen=True)
class Binary:
    """A library: its own name, the libraries that it names, symbols by name, and versions of symbols that it asks for."""

    soname: str
    needed: tuple[str, ...]
    exported: frozenset[str]
    undefined: frozenset[str]  # without those that may stay so (weak)
    versions: frozenset[str]  # such as GLIBC_2.28


def read_binary(path: Path, name: str = "") -> Binary | None:
    """Return what a library says, None for a file of another format.

    Raises UnavailableError where it is damaged, with `name` where it is known by another one than its file's.
    """
    from elftools.common.exceptions import ELFError
    from pefile import PEFormatError

    with path.open("rb") as file:
        magic = file.read(4)
        if magic == b"\xcf\xfa\xed\xfe":
            raise UnavailableError(f"{name or path.name}: libraries of macOS are not read")
        reader = _elf if magic == b"\x7fELF" else _pe if magic[:2] == b"MZ" else None
        try:
            return reader(file) if reader else None
        except (
            ELFError,
            PEFormatError,
            struct.error,
            ValueError,
            IndexError,
            KeyError,
            AttributeError,
            OverflowError,
        ) as error:
            raise UnavailableError(f"{name or path.name}: cannot be read as a library: {error}") from None


def _elf(file: BinaryIO) -> Binary | None:
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    image: Any = ELFFile(file)
    if image.elfclass != 64 or not image.little_endian:
        return None
    dynamic = next((segment for segment in image.iter_segments() if segment["p_type"] == "PT_DYNAMIC"), None)
    if dynamic is None:
        return None
    needed, soname = [], ""
    for tag in dynamic.iter_tags():
        if tag.entry.d_tag == "DT_NEEDED":
            needed.append(tag.needed)
        elif tag.entry.d_tag == "DT_SONAME":
            soname = tag.soname
    exported, undefined = set(), set()
    try:
        entries, versions = list(_by_sections(image)), _versions(image)
    except (ELFError, AttributeError):  # sections are for linkers and debuggers, and some tools damage or drop them
        entries, versions = list(_by_segment(dynamic)), frozenset()
    for name, info, other, section in entries:
        binding = info >> 4
        if not name or binding == 0 or other & 3 in _HIDDEN:
            continue
        if section:
            exported.add(name)
        elif binding != _WEAK:
            undefined.add(name)
    return Binary(soname, tuple(needed), frozenset(exported), frozenset(undefined), versions)


def _by_sections(image: Any) -> Iterator[tuple[str, int, int, int]]:
    """Yield name, info, other and section of the dynamic symbols."""
    from elftools.common.exceptions import ELFError

    table = image.get_section_by_name(".dynsym")
    if table is None:
        raise ELFError("no section of symbols")
    names = image.get_section(table["sh_link"]).data()
    for name, info, other, section, _, _ in _ENTRY.iter_unpack(table.data()):
        if name:
            yield _text(names, name), info, other, section


def _by_segment(dynamic: Any) -> Iterator[tuple[str, int, int, int]]:
    for symbol in dynamic.iter_symbols():
        binding = {"STB_LOCAL": 0, "STB_WEAK": _WEAK}.get(symbol["st_info"]["bind"], 1)
        hidden = 2 if symbol["st_other"]["visibility"] in ("STV_HIDDEN", "STV_INTERNAL") else 0
        yield symbol.name, binding << 4, hidden, int(symbol["st_shndx"] != "SHN_UNDEF")


def _versions(image: Any) -> frozenset[str]:
    from elftools.elf.gnuversions import GNUVerNeedSection

    needed = [section for section in image.iter_sections() if isinstance(section, GNUVerNeedSection)]
    return frozenset(version.name for section in needed for _, entries in section.iter_versions() for version in entries)


def _pe(file: BinaryIO) -> Binary:
    import pefile

    image = pefile.PE(file.name, fast_load=True, max_symbol_exports=1 << 18)
    try:
        image.parse_data_directories(
            [pefile.DIRECTORY_ENTRY[f"IMAGE_DIRECTORY_ENTRY_{part}"] for part in ("EXPORT", "IMPORT")]
        )
        exports = getattr(image, "DIRECTORY_ENTRY_EXPORT", None)
        imports = getattr(image, "DIRECTORY_ENTRY_IMPORT", ())
        exported = {symbol.name.decode() for symbol in exports.symbols if symbol.name} if exports else set()
        undefined = {symbol.name.decode() for library in imports for symbol in library.imports if symbol.name}
        needed = tuple(library.dll.decode() for library in imports)
    finally:
        image.close()
    return Binary("", needed, frozenset(exported), frozenset(undefined), frozenset())


def _text(names: bytes, start: int) -> str:
    return names[start : names.index(b"\0", start)].decode(errors="replace")
