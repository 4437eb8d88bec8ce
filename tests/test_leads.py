"""What engineers type leads on: each rule about their words has rows, a command and what its answer says."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Run

FILE = Path(__file__).parent / "cases" / "leads.toml"
RULES: list[dict[str, Any]] = tomllib.loads(FILE.read_text(encoding="utf-8"))["rule"]


@pytest.mark.verdict
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["says"])
def test_each_rule_about_words_holds(rule: dict[str, Any], run: Callable[..., Run]) -> None:
    """Every row is a command, its exit code, and texts that its output has, or has not where they begin with `not:`."""
    for line, code, *texts in rule["rows"]:
        done = run(*line.split())
        said = re.sub(r"\s+", " ", done.out + done.err)
        assert done.code == code, (line, said)
        for text in texts:
            assert (text.removeprefix("not:") in said) != text.startswith("not:"), (line, text, said)
