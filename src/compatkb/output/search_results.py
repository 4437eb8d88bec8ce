"""What a search found, as text or JSON."""

import shlex
from collections.abc import Sequence

from compatkb.catalog.search import SearchHit, SearchResult
from compatkb.output.documents import Edition
from compatkb.output.screen import Line, columns
from compatkb.output.things import shortened

_HEADS = {
    "advisory": "security", "value": "platform", "symptom": "error", "graphics": "GPU", "claim": "requirement",
    "statement": "feature", "issue": "known issue",
}  # fmt: skip
"""What kinds of records are called, where that is not their name."""
_MOST = {"issue": 5}
"""Of what there is most in every search, so many are shown."""
_TYPED = ("product", "application", "feature", "release", "value", "advisory")
"""Kinds whose command names what they are."""


def search_json(search_result: SearchResult, edition: Edition, limit: int) -> str:
    """Return the first `limit` hits as JSON."""
    content = {
        "words": list(search_result.words),
        "count": len(search_result.hits),
        "hits": [hit._asdict() for hit in search_result.hits[:limit]],
        "matches": dict(search_result.matches),
        "near": list(search_result.near),
    }
    return edition.document(content)


def search_lines(search_result: SearchResult, edition: Edition, limit: int) -> list[Line]:
    """Return the first `limit` hits by kind, the best first, and a command that shows more; or what to try instead."""
    hits = search_result.hits
    if not hits:
        return [*map(Line, _nothing(search_result)), *edition.footer()]
    shown: dict[str, list[SearchHit]] = {}
    for hit in hits[:limit]:
        shown.setdefault(hit.kind, []).append(hit)
    lines = []
    for kind, group in shown.items():
        lines += [
            Line(_HEADS.get(kind, kind), "heading"),
            *columns(_signs(group) if kind == "symptom" else dict.fromkeys(map(_row, group[: _MOST.get(kind)]))),
        ]
    more = [f"--limit {len(hits)}: {len(hits) - limit} more"] if len(hits) > limit else []
    count = f"{len(hits)} result{'' if len(hits) == 1 else 's'}"
    return [*lines, *edition.footer(count, _command(hits[0]), *more)]


def _command(hit: SearchHit) -> str:
    return f"compatkb show {hit.title}" if hit.kind == "image" else hit.command


def _row(hit: SearchHit) -> tuple[str, str]:
    """Return what a hit is, as a command names it, and the text that was found."""
    if hit.kind == "issue":  # its title and thread say what it is, whichever sign was found
        title, _, thread = hit.title.rpartition(" (")
        return title, thread.removesuffix(")")
    if hit.kind not in _TYPED:
        return hit.title, hit.text
    name = " ".join(shlex.split(hit.command)[2:])
    about = hit.title.partition(" (")[2].removesuffix(")") or hit.title.partition(": ")[2]
    if hit.kind == "application" and hit.text not in hit.title:
        return name, f"{about}: {hit.text}" if about else hit.text
    return name, hit.text if hit.text not in ("", hit.title) else about


def _signs(hits: Sequence[SearchHit]) -> list[tuple[str, str]]:
    """Return the causes of errors, each once, and what tells each of them."""
    signs: dict[str, list[str]] = {}
    for hit in hits:
        sign, _, cause = hit.title.rpartition(": ")
        signs.setdefault(cause, []).append(sign)
    return [(cause, shortened(told)) for cause, told in signs.items()]


def _nothing(search_result: SearchResult) -> list[str]:
    lines = [f"nothing in the data has {' and '.join(repr(word) for word in search_result.words)}"]
    some = [(word, count) for word, count in search_result.matches if count]
    if len(search_result.words) > 1 and some:
        lines += [f"  {count} match {word!r}: compatkb search {shlex.quote(word)}" for word, count in some]
    if search_result.near:
        first, *others = search_result.near
        lines.append(f"  did you mean: compatkb search {shlex.quote(first)}")
        lines += [f"  or: {', '.join(others)}"] if others else []
    if not some and not search_result.near:
        lines.append("  see `compatkb list` for the products")
    return lines
