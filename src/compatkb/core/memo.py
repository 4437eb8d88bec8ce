"""A cache of a method's results that lives as long as its object."""

from collections.abc import Callable
from functools import cache
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

Owner = TypeVar("Owner")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class memoized(Generic[Owner, Arguments, Result]):  # noqa: N801  # a decorator, as `functools.cached_property` is one
    """Keep a method's results by its positional arguments, on the object itself: `functools.cache` would keep the object."""

    def __init__(self, method: Callable[Concatenate[Owner, Arguments], Result]) -> None:
        self._method, self._name, self.__doc__ = method, method.__name__, method.__doc__

    def __get__(self, owner: Owner, _: type | None = None) -> Callable[Arguments, Result]:
        """Return the method of an object with its results remembered; from then on it is the object's own attribute."""
        cached: Any = cache(self._method.__get__(owner))
        remembered: Callable[Arguments, Result] = cached
        owner.__dict__[self._name] = remembered
        return remembered
