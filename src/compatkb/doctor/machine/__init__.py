"""Reads what a machine has: interpreter, packages, system, graphics, drivers, libraries; changes nothing."""

from compatkb.core.record import NamedTuple


class Installed(NamedTuple):
    """A distribution as an interpreter's metadata tell it; None for a version that they lack."""

    name: str
    version: str | None
    place: str | None = None  # the folder that holds its metadata
    module: str | None = None  # the import package that belongs to it, where the data know one
    found: bool | None = None  # whether that import package is there; None where nobody looked
    written: str | None = None  # the version that the package writes of itself
    installer: str | None = None  # which put it there, as it says: pip, conda, uv


class Graphics(NamedTuple):
    """A display device on the PCI bus; ids in lower case, four digits."""

    slot: str
    vendor: str
    device: str
    driver: str | None = None  # of the kernel
    name: str | None = None  # as its driver calls it; all that some reports tell, vendor and device are empty then


class Node(NamedTuple):
    """A device file of the GPU."""

    path: str
    usable: bool


class Machine(NamedTuple):
    """Everything that was read; what nobody could tell is None or empty."""

    origin: str  # where it was read: an interpreter, or a report
    python: str | None = None  # 3.12, 3.13t
    system: str | None = None  # linux, windows, macos
    release: tuple[str, str] | None = None  # ID and VERSION_ID
    kernel: str | None = None
    arch: str | None = None
    glibc: str | None = None
    packages: tuple[Installed, ...] = ()
    graphics: tuple[Graphics, ...] | None = None  # None where nobody looked
    nodes: tuple[Node, ...] | None = None
    drivers: tuple[tuple[str, str], ...] | None = None  # packages of the system: name and version
    variables: tuple[tuple[str, str], ...] = ()
    libraries: tuple[str, ...] = ()  # paths of run-time libraries, those that programs find first in front
    prefix: str | None = None
    command: str = "python"  # how the interpreter is called
    remarks: tuple[str, ...] = ()
    patch: str | None = None  # of the Python: 3.12.4, 3.13.1t
    sees_gpu: bool | None = None  # what torch said of its GPU, where the report has that
    whole: bool = True  # every package of the driver was looked for, not only some
