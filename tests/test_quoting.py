"""Quoted text: what is written reads back."""

import json
import tomllib

from hypothesis import example, given
from hypothesis import strategies as st

from compatkb.core.quoting import quoted


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example('"\\\n\t\x00\x7f\u2028é')
def test_quoted_text_reads_back(text: str) -> None:
    """A quoted text is the same text for a parser of TOML and for one of JSON."""
    assert tomllib.loads(f"a = {quoted(text)}") == {"a": text}
    assert json.loads(quoted(text)) == text
