"""A Markdown text with its regions filled."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from markdown_it import MarkdownIt

from compatkb.docgen.kinds import content_of
from compatkb.docgen.regions import HYPERTEXT, MARKDOWN, RESTRUCTURED, MarkerProblem, Region, find_regions
from compatkb.errors import CompatkbError
from compatkb.output.document_model import Block, Table, plain, spans
from compatkb.output.json_document import document
from compatkb.output.markdown import Links, render
from compatkb.output.writers import comma_separated, hypertext, restructured
from compatkb.store.reader import Snapshot


class Filled(NamedTuple):
    """A region, what stood in it, and what it should hold."""

    region: Region
    before: str
    after: str

    @property
    def is_stale(self) -> bool:
        """Whether what stood there is not what it should hold, to the byte."""
        return self.before != self.after


_SWALLOWED = (
    "region {}: its markers become text of a block above once the regions are filled; put blank lines around that block"
)


def fill(
    facts: Snapshot, text: str, form: str = MARKDOWN, day: date | None = None
) -> tuple[str, list[Filled], list[MarkerProblem]]:
    """Return the text with every region filled, the regions, and all that is wrong; the rest of the text stays as it is.

    `day` is that of the regions that name none, unless given the date of the data. A link is defined once in a text.
    """
    regions, problems = find_regions(text, form)
    links = Links(_defined(text, regions) if form == MARKDOWN else {})
    parts: list[str] = []
    filled: list[Filled] = []
    place = 0
    for region in regions:
        before = text[region.start : region.end]
        try:
            after = _placed(FORMS[form](facts, content_of(facts, region.kind, region.arguments, day), links), region)
        except CompatkbError as error:
            problems.append(MarkerProblem(region.line, f"region {region.name}: {error}"))
            continue
        filled.append(Filled(region, before, after))
        parts += [text[place : region.start], after]
        place = region.end
    result = "".join([*parts, text[place:]])
    left = {region.name for region in find_regions(result, form)[0]}
    problems += [MarkerProblem(region.line, _SWALLOWED.format(region.name)) for region in regions if region.name not in left]
    return result, filled, sorted(problems)


def _defined(text: str, regions: list[Region]) -> Mapping[str, str]:
    """Return the link definitions that stand outside the regions: targets by label."""
    if "]:" not in text:
        return {}
    places = [0, *(place for region in regions for place in (region.start, region.end)), len(text)]
    by_hand = "".join(text[start:end] for start, end in zip(places[::2], places[1::2], strict=True))
    known: dict[str, dict[str, dict[str, str]]] = {}
    MarkdownIt("commonmark").disable("inline").parse(by_hand, known)
    return {label: reference["href"] for label, reference in known.get("references", {}).items()}


def _placed(content: str, region: Region) -> str:
    """Return the lines of a region as they stand in the file: blank ones around, indented and ended as its marker is."""
    lines = ["", *re.split(r"\r\n?|\n", content.strip("\r\n")), ""]
    return "".join((region.indent + line if line else "") + region.newline for line in lines)


def _table_json(facts: Snapshot, blocks: Sequence[Block], _: Links) -> str:
    """Return the tables for programs: heads, and rows of cells with text and links."""
    tables = [
        {
            "columns": list(block.head),
            "rows": [
                [{"text": plain(cell), "links": [s.url for s in spans(cell) if s.url]} for cell in row] for row in block.rows
            ],
        }
        for block in blocks
        if isinstance(block, Table)
    ]
    return document(facts, None, {"tables": tables})


FORMS: dict[str, Callable[[Snapshot, Sequence[Block], Links], str]] = {
    MARKDOWN: lambda _, blocks, links: render(blocks, links),
    RESTRUCTURED: lambda _, blocks, __: restructured(blocks),
    HYPERTEXT: lambda _, blocks, __: hypertext(blocks),
    "csv": lambda _, blocks, __: comma_separated(blocks),
    "json": _table_json,
}
"""What writes a table, by form: those of the files that hold regions, and two more that `docs table` prints."""
