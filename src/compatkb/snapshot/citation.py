"""Sources as people read them, with their addresses, and as the snapshot stores them."""

import json
import re

from compatkb.knowledge import Knowledge
from compatkb.models import Source


def cite_text(source: Source) -> str:
    """Return a source as people read it: repository, ref, path and place."""
    at = "" if source.at is None else (f":{source.at}" if isinstance(source.at, int) else f" “{source.at}”")
    if source.repo and source.path:
        return f"{source.repo} {source.ref} {source.path}{at}"
    if source.repo:
        return f"{source.repo} {source.thread}{at}"
    if source.url:
        return f"{source.url}{at}"
    return f"{source.channel} index: {source.file}{at} (seen {source.seen})"


def cite_url(source: Source) -> str | None:
    """Return the address of a source, None where it has none that is fixed."""
    if source.url:
        return source.url
    if source.repo and re.fullmatch(r"[\w.-]+/[\w.-]+", source.repo):
        if source.thread:
            return f"https://github.com/{source.repo}/{source.thread}"
        line = f"#L{source.at}" if isinstance(source.at, int) else ""
        return f"https://github.com/{source.repo}/blob/{(source.ref or '').replace('+', '%2B')}/{source.path}{line}"
    return None


def cite(knowledge: Knowledge, product: str, names: tuple[str, ...]) -> str:
    """Return sources of a product file as JSON pairs of text and address."""
    cited = [knowledge.sources[product, name] for name in names if (product, name) in knowledge.sources]
    return dumps([[cite_text(source), cite_url(source)] for source in cited])


def dumps(value: object) -> str:
    """Return compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
