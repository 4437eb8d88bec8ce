"""The enums that data, engine and answers share; those of one kind of record are with it in `schema`."""

from datetime import date
from enum import IntEnum, StrEnum

FOREVER = date.max.toordinal()
"""The day, as an ordinal, on which something ends that has no end."""
UNBOUNDED = ">=0"
"""The specifier of a package in whatever version: people and installers say its name alone."""
ANY_VERSION = "any version"
"""The specifier of an edge that only asks for presence."""


class Role(StrEnum):
    """What a product is to a stack."""

    PACKAGE = "package"  # in a stack when it is asked for or needed
    COMPANION = "companion"  # shown where a matching build exists; never vetoes
    LEAF = "leaf"  # known only through the pins and bounds of others
    DIMENSION = "dimension"  # a property of the machine: python, os, arch, device, hardware, driver, glibc
    FEATURE = "feature"  # something that software can do; made from data/features/, never written in data/products/


class Kind(StrEnum):
    """What a claim says of its two sides."""

    NEEDS = "needs"  # present, and one of these
    CONSTRAINS = "constrains"  # if present, one of these
    VERIFIED = "verified"  # these work; others stay open
    BREAKS = "breaks"  # these do not


class Certainty(IntEnum):
    """How well something is known; the larger, the less."""

    CERTAIN = 0  # stated or observed
    INFERRED = 1
    UNKNOWN = 2


class Verdict(StrEnum):
    """What an answer says of what was asked."""

    WORKS = "works"
    WORKS_WITH_WARNINGS = "works-with-warnings"
    LIKELY = "likely"  # at least one step is only inferred
    UNKNOWN = "unknown"
    DOES_NOT_WORK = "does-not-work"

    @property
    def is_usable(self) -> bool:
        """Whether there is a stack to install, if only a likely one."""
        return self in (Verdict.WORKS, Verdict.WORKS_WITH_WARNINGS, Verdict.LIKELY)


class ShownBy(StrEnum):
    """What of a text shows the device that it is about, the most telling first; a weaker kind decides only between ties."""

    ERROR = "error"  # what failed is of the device: its run time, its allocator
    MACHINE = "machine"  # the GPU is named
    ORDER = "order"  # an index, an option or a variable asks for the device
    BUILD = "build"  # a package is built for it
    MENTION = "mention"
