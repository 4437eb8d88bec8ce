"""What a search found, as text or JSON."""

import shlex
from datetime import date

from compatkb.catalog.search import SearchResult
from compatkb.output.json_document import document
from compatkb.store.reader import Snapshot


def search_text(facts: Snapshot, found: SearchResult, day: date, limit: int, *, as_json: bool) -> str:
    """Return the first `limit` hits with the command that shows more of each; or what to try instead."""
    if as_json:
        content = {
            "words": list(found.words),
            "count": len(found.hits),
            "hits": [hit._asdict() for hit in found.hits[:limit]],
            "matches": dict(found.matches),
            "near": list(found.near),
        }
        return document(facts, day, content)
    lines = []
    for hit in found.hits[:limit]:
        lines.append(f"{hit.kind:<10}{hit.title}")
        if hit.text and hit.text != hit.title:
            lines.append(f"{'':10}{hit.text}")
        lines.append(f"{'':10}$ {hit.command}")
    if len(found.hits) > limit:
        lines.append(f"and {len(found.hits) - limit} more: add a word, or --limit {len(found.hits)}")
    if not found.hits:
        lines += _nothing(found)
    return "\n".join(lines) + f"\n(as of {day}, data of {facts.meta['data_date']})\n"


def _nothing(found: SearchResult) -> list[str]:
    lines = [f"nothing in the data has {' and '.join(repr(word) for word in found.words)}"]
    some = [(word, count) for word, count in found.matches if count]
    if len(found.words) > 1 and some:
        lines += [f"  {count} have {word!r}: compatkb search {shlex.quote(word)}" for word, count in some]
    if found.near:
        lines.append(f"  did you mean {' or '.join(found.near)}?")
    if not some and not found.near:
        lines.append("  see `compatkb list` for the products")
    return lines
