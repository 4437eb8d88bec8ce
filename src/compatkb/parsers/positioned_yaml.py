"""Parses YAML and JSON into trees that keep the position of every value, also of text inside them.

The standard loaders give values without places, and expand what a hostile file repeats. These trees come from a parser's
events: nothing is expanded, an alias is the node itself, and nesting is bounded.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from compatkb.core.text_position import Place
from compatkb.parsers.source import Fragment, Segment, SourceFile, TreeError
from compatkb.parsers.statement import ParsedFile

_MOST_DEPTH = 100
_MOST_NODES = 1_500_000
_UNPRINTABLE = re.compile("[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.|\n[ \t]*))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": " ", "b": " ", "f": " ", "0": " ", "a": " ", "e": " ", "v": " ", "N": " ", "_": " "}


@dataclass(eq=False, slots=True)
class YamlNode:
    """A mapping, a list or a text; `start` and `end` are offsets in the source."""

    source: SourceFile
    start: int
    end: int
    kind: str  # map, list, text
    text: str = ""
    style: str = ""  # of a text: '|', '>', "'", '"' or nothing
    pairs: list[tuple["YamlNode", "YamlNode"]] = field(default_factory=list)
    items: list["YamlNode"] = field(default_factory=list)

    @property
    def place(self) -> Place:
        """Where the value starts, within its quotes."""
        return self.source.place(self.start + (self.style in ("'", '"') and self.kind == "text"))

    def get(self, *names: str) -> "YamlNode | None":
        """Return the value at a path of keys, None where there is none."""
        node: YamlNode | None = self
        for name in names:
            if node is None or node.kind != "map":
                return None
            node = _own(node, name) or next((value for base in _bases(node) if (value := _own(base, name))), None)
        return node

    def mapping(self) -> dict[str, "YamlNode"]:
        """Return the values by key, none for what is no mapping; merged ones too, the node's own first."""
        if self.kind != "map":
            return {}
        value_by_key: dict[str, YamlNode] = {}
        for node in (self, *_bases(self)):
            for key, value in node.pairs:
                value_by_key.setdefault(key.text, value)
        value_by_key.pop("<<", None)
        return value_by_key

    def rows(self, *names: str) -> list["YamlNode"]:
        """Return the items of the list at a path of keys, none where there is no list."""
        node = self.get(*names)
        return node.items if node else []

    def table(self, *names: str) -> dict[str, "YamlNode"]:
        """Return the mapping at a path of keys, an empty one where there is none."""
        node = self.get(*names)
        return node.mapping() if node else {}

    def elements(self) -> list["YamlNode"]:
        """Return the items of a list, and a text as a list of itself."""
        if self.kind == "list":
            return self.items
        return [self] if self.kind == "text" and self.text else []

    def texts(self) -> list["YamlNode"]:
        """Return the texts among the items, those of lists within lists too."""
        inner = (one for item in self.elements() for one in (item.items if item.kind == "list" else [item]))
        return [one for one in inner if one.kind == "text"]

    def fragment(self) -> Fragment:
        """Return a text as a fragment that knows where each character stands."""
        raw = self.source.text[self.start : self.end]
        if self.style in ("|", ">"):
            return Fragment(self.source, _block(raw, self.start, folded=self.style == ">"))
        if self.style == '"':
            return Fragment(self.source, _double(raw, self.start))
        if self.style == "'":
            return Fragment(self.source, _single(raw, self.start))
        return Fragment(self.source, _plain(raw, self.start))


def _own(node: YamlNode, name: str) -> YamlNode | None:
    return next((value for key, value in node.pairs if key.text == name), None)


def _bases(node: YamlNode) -> list[YamlNode]:
    merged = _own(node, "<<")
    if merged is None:
        return []
    return [base for base in (merged.items if merged.kind == "list" else [merged]) if base.kind == "map" and base is not node]


def _block(raw: str, start: int, *, folded: bool) -> Iterator[Segment]:
    header, _, body = raw.partition("\n")
    at = start + len(header) + 1
    lines = body.split("\n")
    indents = [len(line) - len(line.lstrip(" ")) for line in lines if line.strip()]
    indent = indents[0] if indents else 0
    for number, line in enumerate(lines):
        content = line[indent:]
        if content:
            yield Segment(content, at + min(indent, len(line)))
        following = lines[number + 1][indent:] if number + 1 < len(lines) else ""
        joins = folded and content.strip() and following.strip() and not following.startswith(" ")
        if number + 1 < len(lines):
            yield Segment(" " if joins else "\n", at + len(line))
        at += len(line) + 1


def _plain(raw: str, start: int) -> Iterator[Segment]:
    for number, match in enumerate(re.finditer(r"[^\n]+", raw)):
        line = match[0].strip()
        if line:
            if number:
                yield Segment(" ", start + match.start() - 1)
            yield Segment(line, start + match.start() + len(match[0]) - len(match[0].lstrip()))


def _single(raw: str, start: int) -> Iterator[Segment]:
    inner = raw[1:-1] if len(raw) > 1 else ""
    for match in re.finditer(r"''|\n\s*|[^'\n]+|'", inner):
        if match[0].startswith("\n"):
            yield Segment(" ", start + 1 + match.start())
        else:
            yield Segment("'" if match[0] == "''" else match[0], start + 1 + match.start())


def _double(raw: str, start: int) -> Iterator[Segment]:
    inner = raw[1:-1] if len(raw) > 1 else ""
    for match in re.finditer(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\n[ \t]*|.)|\n\s*|[^\\\n]+|\\", inner):
        text = match[0]
        if text.startswith("\\") and len(text) > 1:
            yield Segment(_unescaped(text), start + 1 + match.start())
        elif text.startswith("\n"):
            yield Segment(" ", start + 1 + match.start())
        else:
            yield Segment(text, start + 1 + match.start())


def _unescaped(text: str) -> str:
    match = _ESCAPE.fullmatch(text)
    if not match:
        return text[-1]
    code = match[1] or match[2] or match[3]
    if code:
        number = int(code, 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    return "" if match[4].startswith("\n") else _ESCAPED.get(match[4], match[4])


class _Builder:
    """Puts nodes together from what starts, stands and ends."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.roots: list[YamlNode] = []
        self.anchors: dict[str, YamlNode] = {}
        self._open: list[tuple[YamlNode, list[YamlNode]]] = []
        self._count = 0

    def add(self, node: YamlNode, anchor: str | None = None) -> None:
        self._count += 1
        if self._count > _MOST_NODES:
            raise TreeError(node.place, "too many values")
        if anchor:
            self.anchors[anchor] = node
        if not self._open:
            self.roots.append(node)
        else:
            self._open[-1][1].append(node)

    def enter(self, node: YamlNode, anchor: str | None = None) -> None:
        if len(self._open) >= _MOST_DEPTH:
            raise TreeError(node.place, "nested too deeply")
        self.add(node, anchor)
        self._open.append((node, []))

    def leave(self, end: int) -> None:
        node, children = self._open.pop()
        node.end = end
        if node.kind == "list":
            node.items = children
        else:
            node.pairs = list(zip(children[::2], children[1::2], strict=False))


def yaml_documents(source: SourceFile) -> list[YamlNode]:
    """Return the documents of a YAML text; raises TreeError where it is none."""
    import yaml

    builder = _Builder(source)
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = _UNPRINTABLE.sub(" ", source.text)
    try:
        for event in yaml.parse(text, Loader=loader):
            _take(builder, event, yaml)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = source.place(min(mark.index, len(source.text))) if mark else Place(1, 1)
        raise TreeError(place, f"is no YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise TreeError(
            Place(1, 1), f"is no YAML: {str(error).splitlines()[0] if str(error) else 'nested too deeply'}"
        ) from None
    return builder.roots


def _take(builder: _Builder, event: Any, yaml: Any) -> None:
    if isinstance(event, yaml.ScalarEvent):
        start, end = event.start_mark.index, event.end_mark.index
        builder.add(YamlNode(builder.source, start, end, "text", event.value, event.style or ""), event.anchor)
    elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
        kind = "map" if isinstance(event, yaml.MappingStartEvent) else "list"
        builder.enter(YamlNode(builder.source, event.start_mark.index, event.end_mark.index, kind), event.anchor)
    elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
        builder.leave(event.end_mark.index)
    elif isinstance(event, yaml.AliasEvent):
        known = builder.anchors.get(event.anchor)
        if known is None:
            raise TreeError(builder.source.place(event.start_mark.index), f"nothing is called {event.anchor}")
        builder.add(known)
    elif isinstance(event, yaml.DocumentStartEvent):
        builder.anchors = {}


_TOKEN = re.compile(r'\s*+(?:(?P<text>"(?:[^"\\]++|\\.)*+")|(?P<mark>[\[\]{},:])|(?P<bare>[^\s\[\]{},:"]++))', re.DOTALL)


_REMARK = re.compile(r'"(?:[^"\\]++|\\.)*+"?|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?', re.DOTALL)


def _uncommented(text: str) -> str:
    """Return a text with the comments that JSON5 has as spaces, so that all else stands where it did."""

    def blank(match: re.Match[str]) -> str:
        return match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])

    return _REMARK.sub(blank, text)


def json_tree(source: SourceFile, *, comments: bool = False) -> YamlNode | None:
    """Return the tree of a JSON text, None for an empty one; raises TreeError where it is none.

    Commas may be too many; `comments` are passed over where they are allowed, as in JSON5.
    """
    import json

    builder = _Builder(source)
    at, text = 0, _uncommented(source.text) if comments else source.text
    end = len(text.rstrip())
    depth = 0
    while at < end:
        match = _TOKEN.match(text, at)
        if not match:
            raise TreeError(source.place(at), "is no JSON")
        at = match.end()
        start = match.start(match.lastgroup or 0)
        if match["text"] is not None:
            try:
                value = json.loads(match["text"], strict=False)
            except ValueError:
                raise TreeError(source.place(start), "is no JSON") from None
            builder.add(YamlNode(source, start, at, "text", value, '"'))
        elif match["bare"] is not None:
            builder.add(YamlNode(source, start, at, "text", match["bare"]))
        elif match["mark"] in "[{":
            depth += 1
            builder.enter(YamlNode(source, start, at, "list" if match["mark"] == "[" else "map"))
        elif match["mark"] in "]}":
            depth -= 1
            if depth < 0:
                raise TreeError(source.place(start), "is no JSON")
            builder.leave(at)
    if depth:
        raise TreeError(source.place(end), "is no JSON: it ends too early")
    return builder.roots[0] if builder.roots else None


def read_json(source: SourceFile, reading: ParsedFile, *, comments: bool = False) -> YamlNode | None:
    """Return a JSON file as a tree, None for one that is no JSON, which is noted as a problem."""
    try:
        return json_tree(source, comments=comments)
    except TreeError as error:
        reading.problem(error.place, str(error))
    return None
