"""Rules of the search and of what is near, each on the smallest world in which a slip in the code would show."""

from pathlib import Path

from builders import build, needs, product, release, universe, wheel
from test_promises import ask, versions


def only_on(version: str, *pythons: str) -> dict:
    """Return a release with wheels for some Pythons alone."""
    return release(version, builds=[build(version, wheels=[wheel(python=pythons)])])


def test_a_version_is_given_up_before_python(tmp_path: Path) -> None:
    """What a command can change is given up first, whatever the rank of the products."""
    helper = product(
        "helper",
        rank=600,
        releases=[only_on("2.0", "3.12"), only_on("1.0", "3.11")],
        claims=[needs("helper==2.0", "torch==2.0.0"), needs("helper==1.0", "torch==2.0.0")],
    )
    answer = ask(universe(tmp_path, [product("torch", releases=["2.0.0"]), helper]), "helper==1.0", python="3.12")
    assert [near.relaxed for near in answer.nearest] == [("helper",), ("python",)]
    assert versions(answer) == []
