"""A screen of the terminal as parts of a page: headings, commands, labelled rows and plain lines, in their order."""

from collections.abc import Iterable

from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Verdict
from compatkb.output.screen import Line

_COLUMN = 17
_TONES = frozenset(Verdict)


class Part(NamedTuple):
    """A part of a screen: `head`, `command`, `row`, `dim` or `line`; of a heading the tone, of a row the label."""

    kind: str
    texts: tuple[str, ...]
    label: str = ""
    tone: str = ""

    @property
    def text(self) -> str:
        """Its texts as lines."""
        return "\n".join(self.texts)


def parts_of(lines: Iterable[Line]) -> list[Part]:
    """Return the parts of a screen; a row without a label belongs to the one before it, neighbouring commands are one."""
    parts: list[Part] = []
    for line in lines:
        text = line.text.strip()
        if not text:
            continue
        if line.style == "label":
            label, said = line.text[:_COLUMN].strip(), line.text[_COLUMN:].strip()
            part = Part("row", (said,), label)
        elif line.style in ("command", "dim"):
            part, label = Part(line.style, (text,)), ""
        else:
            part, label = Part("head" if line.style in _TONES else "line", (text,), "", line.style), ""
        last = parts[-1] if parts else None
        if last and last.kind == part.kind and not label and part.kind in ("row", "command", "dim"):
            parts[-1] = last._replace(texts=(*last.texts, *part.texts))
        else:
            parts.append(part)
    return parts
