"""Faults planted into the real data are seen: a sample of what `make mutations` plants."""

import pytest
from mutations import KINDS, ROOT, before, plant

QUICK = "note_deleted"
"""One that no longer loads: what loads takes seconds to lint, and is left to `make test-soak`."""
SAMPLE = (
    "source_deleted",
    "place_deleted",
    "releases_swapped",
    "version_garbled",
    "tag_misspelt_once",
    "upload_years_off",
    "alias_doubled",
    "claim_denied",
    "release_dropped",
    "note_deleted",
    "event_undated",
    "concern_misspelt",
)


@pytest.mark.long
@pytest.mark.parametrize("kind", [kind if kind == QUICK else pytest.param(kind, marks=pytest.mark.soak) for kind in SAMPLE])
def test_planted_fault_is_seen(kind: str) -> None:
    """The first fault of a kind, planted into the real data, is seen by the loader or by a rule of lint."""
    result = plant(next(make for make in KINDS if make.__name__ == kind), 0)
    assert result.rules, result.said


@pytest.mark.long
def test_nothing_is_seen_where_nothing_is_planted() -> None:
    """In the data as they are lint finds nothing but exceptions of evidence, which is not read here."""
    assert {rule for rule, _, _ in before()} <= {"exceptions"}


def test_page_names_every_kind() -> None:
    """docs/lint-mutations.md is of these kinds of faults, and at least 95 % of what was planted was seen."""
    page = (ROOT / "docs" / "lint-mutations.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:4] for line in page.splitlines() if line.startswith(("| A", "| T", "| H"))]
    assert [row[0].strip() for row in rows] == [(kind.__doc__ or "").strip().rstrip(".") for kind in KINDS]
    planted, seen = (sum(int(row[column]) for row in rows) for column in (1, 2))
    assert planted >= 200
    assert seen >= 0.95 * planted
