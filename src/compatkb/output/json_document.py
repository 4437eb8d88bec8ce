"""What each output begins or ends with: JSON as programs get it, with its head, and the last line of a text."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final, NamedTuple

SCHEMA: Final = 1
"""The version of the contract, whose text is docs/json.md."""


class Edition(NamedTuple):
    """Which data an output is of, and the day that it is for, where it is for one."""

    data_date: str
    day: date | None = None

    @property
    def head(self) -> dict[str, Any]:
        """What a document begins with: the contract's version, the day of the data, and the day that it is for."""
        as_of = {"as_of": self.day.isoformat()} if self.day else {}
        return {"schema": SCHEMA, "data_date": self.data_date, **as_of}

    @property
    def foot(self) -> str:
        """The line that a text ends with: the day that it is for, and the day of the data."""
        return f"(as of {self.day}, data of {self.data_date})\n"

    def document(self, content: Mapping[str, Any]) -> str:
        """Return a document as text: its head, then what it is about."""
        return json_text({**self.head, **content})


def json_text(content: object) -> str:
    """Return a value as indented JSON, in Unicode, with a line end."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


_KINDS = {2: "usage", 3: "data", 4: "stale", 5: "unavailable", 6: "gave-up", 7: "unknown"}


def refusal(problems: Sequence[str], exit_code: int) -> str:
    """Return what is printed where there is no result; the lines of a problem after the first are its hints."""
    split = ([line.strip() for line in problem.splitlines()] for problem in problems)
    shown = [{"message": first, "hints": hints} for first, *hints in split]
    error = {"exit_code": exit_code, "kind": _KINDS.get(exit_code, "other"), "problems": shown}
    return json_text({"schema": SCHEMA, "error": error})
