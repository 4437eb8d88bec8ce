"""A Markdown text with its regions filled."""

import re
from typing import NamedTuple

from compatkb.docs.kinds import content_of
from compatkb.docs.regions import Problem, Region, find_regions
from compatkb.errors import CompatkbError
from compatkb.snapshot.read import Snapshot


class Filled(NamedTuple):
    """A region, what stood in it, and what it should hold."""

    region: Region
    before: str
    after: str

    @property
    def is_stale(self) -> bool:
        """Whether what stood there is not what it should hold, to the byte."""
        return self.before != self.after


def fill(facts: Snapshot, text: str) -> tuple[str, list[Filled], list[Problem]]:
    """Return the text with every region filled, the regions, and all that is wrong; the rest of the text stays as it is."""
    regions, problems = find_regions(text)
    parts: list[str] = []
    filled: list[Filled] = []
    place = 0
    for region in regions:
        before = text[region.start : region.end]
        try:
            after = _placed(content_of(facts, region), region)
        except CompatkbError as error:
            problems.append(Problem(region.line, f"region {region.name}: {error}"))
            continue
        filled.append(Filled(region, before, after))
        parts += [text[place : region.start], after]
        place = region.end
    return "".join([*parts, text[place:]]), filled, sorted(problems)


def _placed(content: str, region: Region) -> str:
    """Return the lines of a region as they stand in the file: blank ones around, indented and ended as its marker is."""
    lines = ["", *re.split(r"\r\n?|\n", content.strip("\r\n")), ""]
    return "".join((region.indent + line if line else "") + region.newline for line in lines)
