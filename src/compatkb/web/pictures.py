"""The pictures that a link to a page brings along where it is shared: a verdict and its command, 1200 by 630 pixels."""

import io
import textwrap
from collections.abc import Iterator
from functools import cache
from typing import Any

from compatkb.errors import UnavailableError
from compatkb.output.view import AnswerView
from compatkb.web.answer_view import WORDS, recipes

SIZE = 1200, 630
"""Width and height that the Open Graph protocol's readers show whole."""
_MARGIN, _BAR, _COLUMNS = 72, 24, 66
_INK, _GREY, _PAPER, _SHADE = "#1a1f24", "#57606a", "#ffffff", "#f0f3f6"
_GREEN, _AMBER, _RED = "#1a7f37", "#9a6700", "#b42318"
_COLOURS = {"works": _GREEN, "works-with-warnings": _GREEN, "likely": _AMBER, "does-not-work": _RED}
_CROSS = (((0, 0), (1, 1)), ((1, 0), (0, 1)))
_TICK = (((0, 0.55), (0.38, 0.95)), ((0.38, 0.95), (1, 0.08)))
_MARKS = {"works": _TICK, "works-with-warnings": _TICK, "does-not-work": _CROSS}


def picture(name: str, view: AnswerView) -> bytes:
    """Return the answer to a page's question as a PNG; raises UnavailableError without Pillow."""
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        raise UnavailableError("pictures of links need pillow: python -m pip install 'compatkb[web]'") from None
    image = Image.new("RGB", SIZE, _PAPER)
    draw = ImageDraw.Draw(image)
    colour = _COLOURS.get(view.verdict, _GREY)
    draw.rectangle((0, 0, _BAR, SIZE[1]), colour)
    draw.text((_MARGIN, 52), "compatkb", _GREY, _font(34))
    draw.text((_MARGIN, 104), name, _INK, _font(68 if len(name) < 30 else 48))
    left, top = _MARGIN, 216
    for (x, y), (to_x, to_y) in _MARKS.get(view.verdict, ()):
        draw.line((left + 40 * x, top + 40 * y, left + 40 * to_x, top + 40 * to_y), colour, 9)
    draw.text((left + (60 if view.verdict in _MARKS else 0), top - 8), WORDS[view.verdict][1].rstrip("."), colour, _font(46))
    y = 290
    for line in textwrap.wrap(view.headline, 54)[:2]:
        draw.text((_MARGIN, y), line, _INK, _font(36))
        y += 46
    lines = list(_command(view))[:5]
    if lines:
        draw.rounded_rectangle((_MARGIN - 20, y + 24, SIZE[0] - _MARGIN, y + 52 + 34 * len(lines)), 12, _SHADE)
        for number, line in enumerate(lines):
            draw.text((_MARGIN, y + 36 + 34 * number), line, _INK, _font(27))
    kept = io.BytesIO()
    image.quantize(palette=_palette(), dither=Image.Dither.NONE).save(kept, "PNG")
    return kept.getvalue()


def _command(view: AnswerView) -> Iterator[str]:
    """Yield the lines of the first command, broken between arguments alone."""
    for section in view.sections[:1]:
        for recipe in recipes(section.group.best)[:1]:
            for line in recipe.text.splitlines():
                yield from textwrap.wrap(line, _COLUMNS, break_long_words=False, break_on_hyphens=False)


@cache
def _palette() -> Any:
    """Return the colours of a picture, and those at the edges of letters: to find them in each anew takes longer."""
    from PIL import Image, ImageColor

    colours: list[int] = []
    for ground, ink in (*((_PAPER, ink) for ink in (_INK, _GREY, _GREEN, _AMBER, _RED)), (_SHADE, _INK)):
        ends = list(zip(ImageColor.getrgb(ground), ImageColor.getrgb(ink), strict=True))
        colours += [low + (high - low) * step // 8 for step in range(9) for low, high in ends]
    image = Image.new("P", (1, 1))
    image.putpalette(colours)
    return image


@cache
def _font(size: int) -> Any:
    """Return the letters that Pillow brings along."""
    from PIL import ImageFont

    return ImageFont.load_default(size)
