"""A cache of a method's results that lives as long as its object."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Owner = TypeVar("Owner")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def memoized(
    method: Callable[Concatenate[Owner, Arguments], Result],
) -> Callable[Concatenate[Owner, Arguments], Result]:
    """Keep a method's results by its positional arguments, on the object itself: `functools.cache` would keep the object."""
    name = f"_{method.__name__}_results"

    @wraps(method)
    def remembered(self: Any, *arguments: Any) -> Any:
        try:
            return self.__dict__[name][arguments]
        except KeyError:
            result = method(self, *arguments)  # type: ignore[call-arg]  # ParamSpec cannot name the rest of the arguments
        self.__dict__.setdefault(name, {})[arguments] = result
        return result

    return remembered  # type: ignore[return-value]  # `wraps` keeps the signature
