"""What a native library exports, needs and leaves undefined: ELF, PE and Mach-O of 64 bits.

ELF headers are read by pyelftools, PE by pefile, load commands of Mach-O by macholib: each is small and in pure Python.
LIEF reads all three, but only from whole files in memory: of a library of 422 MB it took 2.5 s and 504 MB for the 73,000
symbols that take 0.15 s and 24 MB here, and it adds 12 MB to an installation where these add 3. The entries of symbol
tables are unpacked in bulk, since pyelftools needs 2.8 s for the same one by one.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from compatkb.errors import UnavailableError

_ENTRY = struct.Struct("<IBBHQQ")  # Elf64_Sym: name, info, other, section, value, size
_NLIST = struct.Struct("<IBBHQ")  # nlist_64: name, type, section, description, value
_WEAK = 2
_HIDDEN = frozenset((1, 2))  # STV_INTERNAL, STV_HIDDEN
_STAB, _PRIVATE, _EXTERNAL, _KIND = 0xE0, 0x10, 0x01, 0x0E
_WEAK_REFERENCE = 0x40


@dataclass(frozen=True)
class Binary:
    """A library: its own name, the libraries that it names, symbols by name, and versions of symbols that it asks for."""

    soname: str
    needed: tuple[str, ...]
    exported: frozenset[str]
    undefined: frozenset[str]  # without those that may stay so (weak)
    versions: frozenset[str]  # such as GLIBC_2.28


def read_binary(path: Path) -> Binary | None:
    """Return what a library says, None for a file of another format; raises UnavailableError where it is damaged."""
    from elftools.common.exceptions import ELFError
    from pefile import PEFormatError

    with path.open("rb") as file:
        magic = file.read(4)
        reader = {b"\x7fELF": _elf, b"\xcf\xfa\xed\xfe": _mach_o}.get(magic, _pe if magic[:2] == b"MZ" else None)
        try:
            return reader(file) if reader else None
        except (ELFError, PEFormatError, struct.error, ValueError, IndexError, KeyError, AttributeError, OverflowError) as error:
            raise UnavailableError(f"{path.name}: cannot be read as a library: {error}") from None


def _elf(file: BinaryIO) -> Binary | None:
    from elftools.elf.dynamic import DynamicSection
    from elftools.elf.elffile import ELFFile
    from elftools.elf.gnuversions import GNUVerNeedSection

    image: Any = ELFFile(file)
    table = image.get_section_by_name(".dynsym")
    if image.elfclass != 64 or not image.little_endian or table is None:
        return None
    names = image.get_section(table["sh_link"]).data()
    exported, undefined = set(), set()
    for name, info, other, section, _, _ in _ENTRY.iter_unpack(table.data()):
        binding = info >> 4
        if not name or binding == 0 or other & 3 in _HIDDEN:
            continue
        if section:
            exported.add(_text(names, name))
        elif binding != _WEAK:
            undefined.add(_text(names, name))
    soname, needed, versions = "", [], set()
    for part in image.iter_sections():
        if isinstance(part, DynamicSection):
            for tag in part.iter_tags():
                if tag.entry.d_tag == "DT_NEEDED":
                    needed.append(tag.needed)
                elif tag.entry.d_tag == "DT_SONAME":
                    soname = tag.soname
        elif isinstance(part, GNUVerNeedSection):
            versions |= {version.name for _, entries in part.iter_versions() for version in entries}
    return Binary(soname, tuple(needed), frozenset(exported), frozenset(undefined), frozenset(versions))


def _pe(file: BinaryIO) -> Binary:
    import pefile

    image = pefile.PE(file.name, fast_load=True, max_symbol_exports=1 << 18)
    try:
        image.parse_data_directories([pefile.DIRECTORY_ENTRY[f"IMAGE_DIRECTORY_ENTRY_{part}"] for part in ("EXPORT", "IMPORT")])
        exports = getattr(image, "DIRECTORY_ENTRY_EXPORT", None)
        imports = getattr(image, "DIRECTORY_ENTRY_IMPORT", ())
        exported = {symbol.name.decode() for symbol in exports.symbols if symbol.name} if exports else set()
        undefined = {symbol.name.decode() for library in imports for symbol in library.imports if symbol.name}
        needed = tuple(library.dll.decode() for library in imports)
    finally:
        image.close()
    return Binary("", needed, frozenset(exported), frozenset(undefined), frozenset())


def _mach_o(file: BinaryIO) -> Binary:
    """Read a Mach-O library; its symbols are returned without the underscore that the system puts before each."""
    from macholib import mach_o
    from macholib.MachO import MachO

    header: Any = MachO(file.name).headers[0]
    needed, soname = [], ""
    for load, _, data in header.commands:
        if load.cmd in (mach_o.LC_LOAD_DYLIB, mach_o.LC_REEXPORT_DYLIB):
            needed.append(data.rstrip(b"\0").decode().rpartition("/")[2])
        elif load.cmd == mach_o.LC_ID_DYLIB:
            soname = data.rstrip(b"\0").decode().rpartition("/")[2]
    exported, undefined = set(), set()
    for name, kind, description in _nlists(file, header.getSymbolTableCommand()):
        if kind & _STAB or kind & _PRIVATE or not kind & _EXTERNAL:
            continue
        if kind & _KIND:
            exported.add(name)
        elif not description & _WEAK_REFERENCE:
            undefined.add(name)
    return Binary(soname, tuple(needed), frozenset(exported), frozenset(undefined), frozenset())


def _nlists(file: BinaryIO, table: Any) -> Iterator[tuple[str, int, int]]:
    if table is None:
        return
    file.seek(table.stroff)
    names = file.read(table.strsize)
    file.seek(table.symoff)
    for name, kind, _, description, _ in _NLIST.iter_unpack(file.read(table.nsyms * _NLIST.size)):
        yield _text(names, name).removeprefix("_"), kind, description


def _text(names: bytes, start: int) -> str:
    return names[start : names.index(b"\0", start)].decode(errors="replace")
