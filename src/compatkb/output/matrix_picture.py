"""The table of wheels by Python as a picture: an SVG that follows light and dark, and an HTML table."""

from collections.abc import Iterator
from datetime import date
from html import escape

from compatkb.output.python_matrix import INFERRED, NO, UNKNOWN, YES, Cell, PythonMatrix, row_name
from compatkb.output.timeline_svg import DARK, LIGHT, MARGIN, width_of
from compatkb.store.reader import Snapshot

_SIGNS = {YES: "✓", INFERRED: "~", UNKNOWN: "?", NO: "✗"}
_COLOURS = {
    YES: ("#d8f3dc", "#12361f"),
    INFERRED: ("#fff1c9", "#3d3112"),
    UNKNOWN: ("#e6e1f5", "#2b2540"),
    NO: ("#f6d7d5", "#43201e"),
}
"""Behind each word in light and dark; the word stands there too, so that nothing rests on colour."""
_SIZE, _ROW, _ROOM = 13, 24, 18


def _caption(facts: Snapshot, table: PythonMatrix, day: date) -> str:
    return f"Wheels of {table.product} by Python, on any system. As of {day}, data of {facts.meta['data_date']}."


def _words(cell: Cell) -> str:
    return f"{_SIGNS[cell.level]} {cell.words}"


def html(facts: Snapshot, table: PythonMatrix, day: date) -> str:
    """Return the table as HTML that stands alone in a page or a notebook."""
    rules = "".join(
        f".compatkb .{level}{{background:light-dark({light},{dark})}}" for level, (light, dark) in _COLOURS.items()
    )
    ink = f"color:light-dark({LIGHT['ink']},{DARK['ink']})"
    lines = [
        f"<style>.compatkb td{{text-align:left;white-space:nowrap;{ink}}}{rules}</style>",
        f'<table class="compatkb"><caption>{escape(_caption(facts, table, day))}</caption>',
        "<thead><tr>"
        + "".join(f'<th scope="col">{escape(name)}</th>' for name in ("release", *table.pythons))
        + "</tr></thead>",
        "<tbody>",
    ]
    for row in table.rows:
        cells = "".join(f'<td class="{cell.level}">{escape(_words(cell))}</td>' for cell in row.cells)
        lines.append(f'<tr><th scope="row">{escape(row_name(row))}</th>{cells}</tr>')
    return "\n".join([*lines, "</tbody></table>"]) + "\n"


def svg(facts: Snapshot, table: PythonMatrix, day: date) -> str:
    """Return the table as an SVG picture without script and without reference to elsewhere."""
    caption = _caption(facts, table, day)
    grid = [["release", *table.pythons], *([row_name(row), *map(_words, row.cells)] for row in table.rows)]
    widths = [max(width_of(row[number], _SIZE) for row in grid) + _ROOM for number in range(len(grid[0]))]
    width = round(max(sum(widths), width_of(caption, _SIZE)) + 2 * MARGIN)
    height = MARGIN * 2 + _ROW * (len(grid) + 1)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        'aria-labelledby="matrix-title">',
        f'<title id="matrix-title">{escape(caption)}</title>',
        f"<style>{_style()}</style>",
        f'<rect class="back" width="{width}" height="{height}"/>',
        _text(MARGIN, MARGIN + _ROW * 0.7, "soft", caption),
    ]
    for number, words in enumerate(grid):
        levels = [cell.level for cell in table.rows[number - 1].cells] if number else []
        out += _row(MARGIN + _ROW * (number + 1), words, widths, levels)
    return "\n".join([*out, "</svg>"]) + "\n"


def _row(top: float, words: list[str], widths: list[float], levels: list[str]) -> Iterator[str]:
    left: float = MARGIN
    for number, (word, width) in enumerate(zip(words, widths, strict=True)):
        if number and levels:
            place = f'x="{left:.1f}" y="{top}" width="{width - 2:.1f}" height="{_ROW - 2}" rx="3"'
            yield f'<rect class="{levels[number - 1]}" {place}/>'
        yield _text(left + 6, top + _ROW * 0.68, "ink" if number and levels else "strong", word)
        left += width


def _text(x: float, y: float, style: str, content: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" font-size="{_SIZE}">{escape(content)}</text>'


def _style() -> str:
    def rules(colours: dict[str, str], tone: int) -> str:
        cells = "".join(f".{level}{{fill:{pair[tone]}}}" for level, pair in _COLOURS.items())
        ink = f".ink,.strong{{fill:{colours['ink']}}}.soft{{fill:{colours['soft']}}}"
        return f".back{{fill:{colours['back']}}}{ink}{cells}"

    font = "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}.strong{font-weight:600}"
    return f"{font}{rules(LIGHT, 0)}@media (prefers-color-scheme:dark){{{rules(DARK, 1)}}}"
