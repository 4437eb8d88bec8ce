"""Frozen classes of named values: made by place and name, equal by what is seen of them, with a cache of their own."""

import pickle
from functools import cached_property

import pytest

from compatkb.core.record import NamedTuple, hidden, record, replaced


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


class Place(NamedTuple):
    """A place on a road."""

    road: str
    number: int
    side: str = "left"

    @property
    def text(self) -> str:
        """As on an envelope."""
        return f"{self.road} {self.number}"


def test_named_tuples_are_those_of_typing() -> None:
    """By place, by name and with defaults; equal to plain tuples; what is given twice, unknown or missing is refused."""
    for place in (Place("a", 1), Place("a", number=1), Place("a", 1, "left"), Place._make(("a", 1, "left"))):
        assert place == ("a", 1, "left")
        assert (place.road, place.text, place._asdict()) == ("a", "a 1", {"road": "a", "number": 1, "side": "left"})
        assert repr(place) == "Place(road='a', number=1, side='left')"
        assert pickle.loads(pickle.dumps(place)) == place
        assert type(place._replace(number=2)) is Place
    match place:
        case Place("a", number):
            assert number == 1
    for wrong in ({"road": "a"}, {"road": "a", "number": 1, "door": 2}):
        with pytest.raises(TypeError, match="argument"):
            Place(**wrong)  # type: ignore[arg-type]  # which must fail
    with pytest.raises(TypeError, match="argument"):
        Place("a", 1, "left", 4)  # type: ignore[call-arg]  # one value too many
    with pytest.raises(ValueError, match="door"):
        place._replace(door=2)  # type: ignore[call-arg]  # no field of it
    with pytest.raises(AttributeError):
        place.road = "b"  # type: ignore[misc]  # which no record lets
