"""Records of data/machine.toml: how to detect graphics, drivers, systems and libraries; base images."""

from typing import Annotated

from pydantic import Field

from compatkb.schema.base import HardwareId, Id, ProductId, Record, SourceEntry, Sources, Text
from compatkb.schema.timeline import Line

PciId = Annotated[str, Field(pattern=r"^[0-9a-f]{4}$")]


class GraphicsEntry(Record):
    """GPUs that are told by their PCI device ids."""

    id: Id
    name: Line
    vendor: PciId
    hardware: HardwareId | None = None  # the value of hardware that they are; none where no table of the makers names them
    ids: tuple[PciId, ...] = ()  # none: every display device of the vendor that no other record names
    note: Line | None = None
    sources: Sources


class Component(Record):
    """A part of a GPU's user-space driver, by the names of its packages on systems."""

    id: Id
    name: Line
    packages: tuple[Text, ...] = Field(min_length=1)
    needed: bool = False  # without it no program finds the GPU
    sources: Sources


class BaseImage(Record):
    """A container image to install into: its system, its Pythons, and the commands that add Python and a GPU's driver."""

    id: Id
    os: Id  # a value of os; the family, where the image fits wherever any system of it does
    image: Text  # {python} is the minor
    python: tuple[Text, ...] = Field(min_length=1)  # minors, newest first
    setup: tuple[Text, ...] = ()  # commands of root that install Python, where the image has none
    driver: tuple[Text, ...] = ()  # commands of root that install the GPU's user-space driver; none where no source says which
    note: Line | None = None
    sources: Sources


class Variable(Record):
    """A variable of the environment that decides which libraries or devices programs get."""

    name: Text
    means: Line
    hides: bool = False  # can keep devices from programs
    sources: Sources


class Generation(Record):
    """The oneAPI releases that bring a generation of a library."""

    library: Text  # as its file is named on Linux, without directories
    product: ProductId
    version: Text  # a series
    basis: Text = "stated"
    note: Line | None = None
    sources: Sources


class System(Record):
    """A distribution as /etc/os-release names it."""

    id: Text
    form: Text  # the name in the data; {version} is VERSION_ID, {major} and {minor} its parts
    sources: Sources


class MachineFile(Record):
    """data/machine.toml."""

    source: dict[Id, SourceEntry] = {}
    graphics: tuple[GraphicsEntry, ...] = ()
    component: tuple[Component, ...] = ()
    variable: tuple[Variable, ...] = ()
    generation: tuple[Generation, ...] = ()
    system: tuple[System, ...] = ()
    base_image: tuple[BaseImage, ...] = ()
