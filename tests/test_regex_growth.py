"""Regular expressions of the readers: none takes steps that grow faster than its text."""

import sys

import pytest
from regex_growth import Expression, growing, grows


@pytest.mark.long
@pytest.mark.parametrize(
    ("pattern", "operation", "is_found"),
    [
        pytest.param(r"\s+$", "sub", True, id="quadratic"),
        pytest.param(r"(?:a\w*)+b", "fullmatch", True, id="exponential"),
        pytest.param(r"(?<!\s)\s++$", "sub", False, id="possessive"),
        pytest.param(r"a{0,60}b", "search", False, id="bounded"),
        pytest.param(r"\w+", "match", False, id="linear"),
    ],
)
def test_the_counter_sees_growth(pattern: str, operation: str, is_found: bool) -> None:
    """What grows faster than its text is found by counting steps; what is bounded, possessive or linear is not."""
    assert (grows(Expression("here", pattern, 0, operation)) is not None) == is_found


@pytest.mark.long
def test_no_expression_grows_faster_than_its_text() -> None:
    """Of all expressions that readers apply to texts of others none takes steps beyond the order of their length."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        assert growing() == []
    finally:
        sys.setrecursionlimit(before)
