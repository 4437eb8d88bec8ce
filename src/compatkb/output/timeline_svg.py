"""The timeline as an SVG picture: a lane per vendor, a band per year, no script and nothing from elsewhere.

Every line of text is broken to the width of its lane by an estimate that errs on the wide side, so that nothing overlaps
whatever font the reader has.
"""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple
from xml.sax.saxutils import escape

from compatkb.output.timeline import PAST, TITLE, date_text, lanes, marks, state
from compatkb.store.reader import Snapshot
from compatkb.store.records import Event

WIDTH = 960
MARGIN, GUTTER, INSET = 16, 56, 26
SMALL, BODY, HEAD, TITLE_SIZE = 12, 14, 16, 18
LEADING = 1.35
AFTER_EVENT, AFTER_BAND = 12, 10
LIGHT = {"back": "#ffffff", "ink": "#1b1f24", "soft": "#57606a", "rule": "#d0d7de", "band": "#f6f8fa"}
DARK = {"back": "#0d1117", "ink": "#e6edf3", "soft": "#9aa4af", "rule": "#3d444d", "band": "#151b23"}
LANE_COLOURS = (("#b3261e", "#ff8a80"), ("#7a4bb3", "#c9a6ff"), ("#0b5cad", "#6cb6ff"), ("#1a7f37", "#56d364"))
"""Of each lane in light and dark; only beside the lane's name, so that nothing rests on colour."""


class _Line(NamedTuple):
    """A line of text; `y` is its baseline."""

    x: float
    y: float
    size: int
    style: str
    content: str


class _Mark(NamedTuple):
    """The sign of an event: its shape says the kind, and an empty one that it has not surely come."""

    x: float
    y: float
    lane: int
    kind: str
    empty: bool


class _Picture:
    """What is drawn, from top to bottom; `y` is where the next thing goes."""

    def __init__(self) -> None:
        self.y: float = MARGIN
        self.lines: list[_Line] = []
        self.marks: list[_Mark] = []
        self.bands: list[tuple[float, float, float]] = []  # top, height, left
        self.tracks: list[tuple[float, float, float, int]] = []  # x, top, bottom, lane

    def write(self, x: float, room: float, content: str, size: int, style: str) -> None:
        """Write text from the next line on, broken to `room`."""
        for part in broken(content, size, room):
            self.y += size * LEADING
            self.lines.append(_Line(x, self.y - size * (LEADING - 1), size, style, part))


def width_of(content: str, size: int) -> float:
    """Return about how wide text is in a wide sans-serif font, in pixels."""
    return sum(_em(character) for character in content) * size


def _em(character: str) -> float:
    if character in "ijl'|.,:;! ":
        return 0.36
    if character in "ftrI()[]/-":
        return 0.46
    if character in "mwMW@%":
        return 1.0
    if character.isascii():
        return 0.76 if character.isupper() else 0.66
    return 1.05


def broken(content: str, size: int, room: float) -> list[str]:
    """Return text as lines that fit into `room`; a word that does not fit alone is cut."""
    lines: list[str] = []
    line = ""
    for word in content.split():
        rest = word
        while width_of(rest, size) > room:
            cut = next(n for n in range(len(rest), 0, -1) if n == 1 or width_of(rest[:n], size) <= room)
            lines += [part for part in (line, rest[:cut]) if part]
            line, rest = "", rest[cut:]
        if line and width_of(f"{line} {rest}", size) > room:
            lines.append(line)
            line = rest
        else:
            line = f"{line} {rest}".strip()
    return [*lines, line] if line else lines


def svg(facts: Snapshot, events: Sequence[Event], day: date) -> str:
    """Return the picture, WIDTH pixels wide and as high as it must be."""
    picture = _Picture()
    room = WIDTH - 2 * MARGIN
    picture.write(MARGIN, room, TITLE, TITLE_SIZE, "strong")
    picture.write(MARGIN, room, f"As of {day}; data of {facts.meta['data_date']}.", SMALL, "soft")
    _legend(picture, room)
    events_by_vendor = lanes(facts, events)
    if not events_by_vendor:
        picture.write(MARGIN, room, "No event that the data know of.", BODY, "ink")
    else:
        _side_by_side(picture, facts, events_by_vendor, day)
    return _drawn(picture, _description(facts, events_by_vendor))


def _colour(facts: Snapshot, vendor: str) -> int:
    """Return the number of a vendor's colour, the same whichever lanes are shown."""
    return list(facts.vendors).index(vendor) % len(LANE_COLOURS)


def _legend(picture: _Picture, room: float) -> None:
    picture.y += 6
    for kind, words in (
        ("release", "release"),
        ("milestone", "milestone"),
        ("end-of-life", "end of life"),
        ("planned", "empty: planned, or not known to have come"),
    ):
        top = picture.y
        picture.write(MARGIN + INSET, room - INSET, words, SMALL, "soft")
        shape = "milestone" if kind == "planned" else kind
        picture.marks.append(_Mark(MARGIN + 8, top + SMALL * LEADING / 2 + 1, -1, shape, kind == "planned"))
    picture.y += AFTER_BAND


def _years(events: Sequence[Event]) -> list[int]:
    return sorted({date.fromordinal(event.first).year for event in events})


def _side_by_side(picture: _Picture, facts: Snapshot, events_by_vendor: dict[str, list[Event]], day: date) -> None:
    lane_width = (WIDTH - 2 * MARGIN - GUTTER) / len(events_by_vendor)
    lefts = [MARGIN + GUTTER + number * lane_width for number in range(len(events_by_vendor))]
    colours = [_colour(facts, vendor) for vendor in events_by_vendor]
    top = picture.y
    bottoms = []
    for number, vendor in enumerate(events_by_vendor):
        picture.y = top
        picture.write(
            lefts[number] + INSET, lane_width - INSET - 8, facts.vendors[vendor], HEAD, f"strong lane{colours[number]}"
        )
        bottoms.append(picture.y)
    picture.y = max(bottoms) + 8
    start = picture.y
    for year in _years([event for lane in events_by_vendor.values() for event in lane]):
        top = picture.y
        picture.lines.append(_Line(MARGIN + 6, top + AFTER_BAND + HEAD * LEADING - 4, HEAD, "strong", str(year)))
        ends = [top + AFTER_BAND + HEAD * LEADING + 4]
        for number, lane in enumerate(events_by_vendor.values()):
            picture.y = top + AFTER_BAND
            for event in lane:
                if date.fromordinal(event.first).year == year:
                    _event(picture, event, colours[number], lefts[number], lane_width, day)
            ends.append(picture.y)
        picture.y = max(ends)
        picture.bands.append((top, picture.y - top, MARGIN))
        picture.y += 6
    for number in range(len(events_by_vendor)):
        picture.tracks.append((lefts[number] + 10, start, picture.y - 6, colours[number]))


def _event(picture: _Picture, event: Event, lane: int, left: float, lane_width: float, day: date) -> None:
    room = lane_width - INSET - 8
    empty = state(event, day) != PAST
    picture.marks.append(_Mark(left + 10, picture.y + SMALL * LEADING / 2 + 1, lane, event.kind, empty))
    kind = "end of life" if event.kind == "end-of-life" else event.kind
    picture.write(left + INSET, room, ", ".join((date_text(event), kind, *marks(event, day))), SMALL, "soft")
    picture.write(left + INSET, room, event.title, BODY, "ink")
    picture.y += AFTER_EVENT


def _description(facts: Snapshot, events_by_vendor: dict[str, list[Event]]) -> str:
    if not events_by_vendor:
        return "There is no event."
    parts = [f"{facts.vendors[vendor]}: {len(lane)}" for vendor, lane in events_by_vendor.items()]
    every = [event for lane in events_by_vendor.values() for event in lane]
    first, last = min(every, key=lambda e: e.first), max(every, key=lambda e: e.last)
    return (
        f"Events by lane and year, oldest first, from {date_text(first)} to {date_text(last)}; {', '.join(parts)}. "
        "Each has its date, kind and title as text."
    )


def _style() -> str:
    def rules(colours: dict[str, str], tone: int) -> str:
        lane = "".join(
            f".lane{n}{{fill:{pair[tone]}}}.track{n},.sign{n}{{stroke:{pair[tone]}}}.sign{n}{{fill:{pair[tone]}}}"
            for n, pair in enumerate(LANE_COLOURS)
        )
        return (
            f".back{{fill:{colours['back']}}}.band{{fill:{colours['band']};stroke:{colours['rule']}}}"
            f".ink,.strong{{fill:{colours['ink']}}}.soft{{fill:{colours['soft']}}}"
            f".plain{{fill:{colours['soft']};stroke:{colours['soft']}}}{lane}.empty{{fill:{colours['back']}}}"
        )

    return (
        "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}"
        ".strong{font-weight:600}" + rules(LIGHT, 0) + f"@media (prefers-color-scheme:dark){{{rules(DARK, 1)}}}"
    )


def _drawn(picture: _Picture, description: str) -> str:
    width, height = WIDTH, round(picture.y + MARGIN)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'role="img" aria-labelledby="timeline-title timeline-desc">',
        f'<title id="timeline-title">{escape(TITLE)}</title>',
        f'<desc id="timeline-desc">{escape(description)}</desc>',
        f"<style>{_style()}</style>",
        f'<rect class="back" width="{width}" height="{height}"/>',
    ]
    for top, tall, left in picture.bands:
        out.append(
            f'<rect class="band" x="{left}" y="{_number(top)}" width="{width - 2 * MARGIN}" height="{_number(tall)}" rx="4"/>'
        )
    for x, top, bottom, lane in picture.tracks:
        out.append(
            f'<path class="track{lane}" d="M{_number(x)} {_number(top)}V{_number(bottom)}" stroke-width="2" opacity=".5"/>'
        )
    out += [_sign(mark) for mark in picture.marks]
    for line in picture.lines:
        out.append(
            f'<text class="{line.style}" x="{_number(line.x)}" y="{_number(line.y)}" font-size="{line.size}">'
            f"{escape(line.content)}</text>"
        )
    return "\n".join([*out, "</svg>"]) + "\n"


def _sign(mark: _Mark) -> str:
    style = ("plain" if mark.lane < 0 else f"sign{mark.lane}") + (" empty" if mark.empty else "")
    x, y = _number(mark.x), _number(mark.y)
    if mark.kind == "release":
        return f'<circle class="{style}" cx="{x}" cy="{y}" r="5" stroke-width="2"/>'
    if mark.kind == "end-of-life":
        return f'<path class="{style}" d="M{x} {y}m-5-5h10v10h-10z" stroke-width="2"/>'
    return f'<path class="{style}" d="M{x} {y}m0-6l6 6-6 6-6-6z" stroke-width="2"/>'


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
