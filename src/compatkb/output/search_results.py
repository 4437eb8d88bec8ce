"""What a search found, as text or JSON."""

import shlex

from compatkb.catalog.search import SearchResult
from compatkb.output.documents import Edition


def search_text(search_result: SearchResult, edition: Edition, limit: int, *, as_json: bool) -> str:
    """Return the first `limit` hits with the command that shows more of each; or what to try instead."""
    if as_json:
        content = {
            "words": list(search_result.words),
            "count": len(search_result.hits),
            "hits": [hit._asdict() for hit in search_result.hits[:limit]],
            "matches": dict(search_result.matches),
            "near": list(search_result.near),
        }
        return edition.document(content)
    lines = []
    for hit in search_result.hits[:limit]:
        lines.append(f"{hit.kind:<12}{hit.title}")
        if hit.text and hit.text != hit.title:
            lines.append(f"{'':12}{hit.text}")
        lines.append(f"{'':12}$ {hit.command}")
    if len(search_result.hits) > limit:
        lines.append(f"and {len(search_result.hits) - limit} more: add a word, or --limit {len(search_result.hits)}")
    if not search_result.hits:
        lines += _nothing(search_result)
    return "\n".join([*lines, edition.foot])


def _nothing(search_result: SearchResult) -> list[str]:
    lines = [f"nothing in the data has {' and '.join(repr(word) for word in search_result.words)}"]
    some = [(word, count) for word, count in search_result.matches if count]
    if len(search_result.words) > 1 and some:
        lines += [f"  {count} have {word!r}: compatkb search {shlex.quote(word)}" for word, count in some]
    if search_result.near:
        lines.append(f"  did you mean {' or '.join(search_result.near)}?")
    if not some and not search_result.near:
        lines.append("  see `compatkb list` for the products")
    return lines
