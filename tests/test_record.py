"""Frozen classes of named values: made by place and name, equal by what is seen of them, with a cache of their own."""

from functools import cached_property

import pytest

from compatkb.core.record import hidden, record, replaced


@record()
class Point:
    """A point with a colour that does not count."""

    x: int
    y: int
    colour: str = hidden()
    name: str = "?"

    @cached_property
    def doubled(self) -> int:
        """Twice its distance from the side."""
        return self.x * 2


@record(eq=False)
class Own:
    """What is equal to itself alone."""

    x: int

    def __repr__(self) -> str:
        return "own"


def test_values_by_place_and_name() -> None:
    """Fields are what was given, else their defaults."""
    point = Point(1, y=2, colour="red")
    assert (point.x, point.y, point.colour, point.name, point.doubled) == (1, 2, "red", "?", 2)
    assert repr(point) == "Point(x=1, y=2, name='?')"
    assert repr(Own(1)) == "own"


@pytest.mark.parametrize(
    ("values", "named"),
    [((1,), {}), ((1, 2, "red", "a", 5), {}), ((1, 2, "red"), {"x": 1}), ((1, 2), {"color": "red"}), ((), {"x": 1, "y": 2})],
)
def test_wrong_fields_are_refused(values: tuple[int, ...], named: dict[str, object]) -> None:
    """Too few, too many, twice, unknown, and one without default that only marks how it is seen."""
    with pytest.raises(TypeError, match="Point"):
        Point(*values, **named)  # type: ignore[arg-type]  # which must fail


def test_equal_where_what_is_seen_is() -> None:
    """Hidden fields do not count, other classes are never equal, and some are equal to themselves alone."""
    red, blue = Point(1, 2, "red"), Point(1, 2, "blue")
    assert red == blue
    assert hash(red) == hash(blue)
    assert red != Point(1, 3, "red")
    assert red != (1, 2, "?")
    assert Own(1) != Own(1)
    assert len({Own(1), Own(1)}) == 2


def test_frozen() -> None:
    """Nothing is set or deleted; another one is made instead."""
    point = Point(1, 2, "red")
    with pytest.raises(AttributeError, match="frozen"):
        point.x = 5  # type: ignore[misc]  # which must fail
    with pytest.raises(AttributeError, match="frozen"):
        del point.x
    assert replaced(point, y=7) == Point(1, 7, "blue")
    assert (replaced(point, y=7).colour, point.y) == ("red", 2)
