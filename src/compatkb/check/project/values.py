"""The values that rules for projects exchange: sets of versions, Pythons, and reasons why versions conflict."""

from typing import NamedTuple

from compatkb.engine.answer import Alternative


class AllowedVersions(NamedTuple):
    """What is installed of a product: the elements that it may be, and how that reads."""

    product: str
    text: str  # the specifier
    mask: int
    exact: bool  # one version is named, so a yanked one is taken


class Pythons(NamedTuple):
    """Pythons that may run: minors, as elements, and the patch where one is named; false where any may."""

    mask: int = 0
    patch: str | None = None

    def __bool__(self) -> bool:
        return self.mask != 0


ANY_PYTHON = Pythons()


class Denial(NamedTuple):
    """Why versions do not go together: a sentence, how well it is known, its sources, whom it concerns, what is near."""

    reason: str
    basis: str
    sources: tuple[str, ...]
    products: frozenset[str]
    nearest: tuple[Alternative, ...]
    of_device: bool = False  # what is installed is for another device, and installs and imports all the same
    is_claimed: bool = True  # one says so of the other; else a platform is missing, and installers may build what has no wheel
    stops: bool = False  # metadata or imports refuse, beyond what is asked of a package only if it is there
    unbuilt: bool = False  # of one of them there is no wheel for the device; whoever has it may have built it
    demand: str = ""  # what to write as the metadata of one of them ask, where nothing near was sought
