"""JSON as programs get it: what each document begins with, and how it is written."""

import json
from collections.abc import Mapping
from datetime import date
from typing import Any

from compatkb.store.reader import Snapshot

SCHEMA = 1
"""The version of the contract, whose text is docs/json.md."""


def head(facts: Snapshot, day: date) -> dict[str, Any]:
    """Return what a document begins with: the contract's version, the day of the data, and the day that it is for."""
    return {"schema": SCHEMA, "data_date": facts.meta["data_date"], "as_of": day.isoformat()}


def document(facts: Snapshot, day: date, content: Mapping[str, Any]) -> str:
    """Return a document as text: its head, then what it is about."""
    return json_text({**head(facts, day), **content})


def json_text(content: object) -> str:
    """Return a value as indented JSON, in Unicode, with a line end."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
