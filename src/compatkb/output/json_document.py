"""What each output begins or ends with: JSON as programs get it, with its head, and the last line of a text."""

import json
from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from compatkb.store.reader import Snapshot

SCHEMA: Final = 1
"""The version of the contract, whose text is docs/json.md."""


def head(facts: Snapshot, day: date | None) -> dict[str, Any]:
    """Return what a document begins with: the contract's version, the day of the data, and the day that it is for."""
    as_of = {"as_of": day.isoformat()} if day else {}
    return {"schema": SCHEMA, "data_date": facts.meta["data_date"], **as_of}


def document(facts: Snapshot, day: date | None, content: Mapping[str, Any]) -> str:
    """Return a document as text: its head, then what it is about; without a day where it is for none."""
    return json_text({**head(facts, day), **content})


def json_text(content: object) -> str:
    """Return a value as indented JSON, in Unicode, with a line end."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def foot(facts: Snapshot, day: date) -> str:
    """Return the line that a text ends with: the day that it is for, and the day of the data."""
    return f"(as of {day}, data of {facts.meta['data_date']})\n"
