"""Frozen classes of named values, made in a twentieth of the time that `dataclasses` takes, which every command would pay."""

# the getter of namedtuple itself, which no stub declares: a property takes twice as long in the loops of the engine
from collections import _tuplegetter, namedtuple  # type: ignore[attr-defined]
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

T = TypeVar("T")
_HIDDEN: Any = object()


def hidden() -> Any:
    """Return what marks a field that neither `==` nor `repr` looks at."""
    return _HIDDEN


@dataclass_transform(frozen_default=True, field_specifiers=(hidden,))
def record(*, eq: bool = True) -> Callable[[type[T]], type[T]]:
    """Make a class one whose objects hold the annotated fields, are frozen, and, with `eq`, are equal where all of these are.

    Objects are made from values by place or name, those with a default at the end; raises TypeError as a function does. What
    a class defines itself stays. `cached_property` works. A default is shared by all objects.
    """
    return lambda kind: _made(kind, eq)


def _made(kind: type[T], eq: bool) -> type[T]:
    names = tuple(kind.__annotations__)
    every = frozenset(names)
    given = {name: vars(kind)[name] for name in names if name in vars(kind)}
    defaults = {name: value for name, value in given.items() if value is not _HIDDEN}
    seen = tuple(name for name in names if given.get(name) is not _HIDDEN)

    def make(self: Any, /, *values: object, **named: object) -> None:
        if len(values) == len(names) and not named:
            self.__dict__.update(zip(names, values, strict=True))
            return
        fields = {**defaults, **dict(zip(names, values, strict=False)), **named}
        if fields.keys() != every or len(values) > len(names) or not named.keys().isdisjoint(names[: len(values)]):
            raise TypeError(
                f"{kind.__name__}({', '.join(names)}) got {len(values)} values and {', '.join(named) or 'no names'}"
            )
        self.__dict__.update(fields)

    def values_of(self: Any) -> tuple[object, ...]:
        return tuple([self.__dict__[name] for name in seen])

    def refuse(_: object, name: str, *__: object) -> None:
        raise AttributeError(f"{kind.__name__}.{name} is frozen")

    methods: dict[str, Callable[..., Any]] = {
        "__init__": make,
        "__repr__": lambda self: f"{kind.__name__}({', '.join(f'{name}={self.__dict__[name]!r}' for name in seen)})",
        "__setattr__": refuse,
        "__delattr__": refuse,
    }
    if eq:
        methods["__eq__"] = lambda self, other: values_of(self) == values_of(other) if type(other) is kind else NotImplemented
        methods["__hash__"] = lambda self: hash(values_of(self))
    for name in set(given) - set(defaults):
        delattr(kind, name)
    for name, method in methods.items():
        if name not in vars(kind) or vars(kind)[name] is None:
            setattr(kind, name, method)
    return kind


def replaced(one: T, **changes: object) -> T:
    """Return a record with other values in some of its fields."""
    fields = {name: one.__dict__[name] for name in type(one).__annotations__}
    return type(one)(**(fields | changes))


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414  # exported: other modules import it from here
else:

    class _Named(tuple):
        """What all kinds of named tuples have in common."""

        __slots__ = ()
        _fields = ()
        _field_defaults = {}

        def __new__(cls, /, *values, **named):
            if named or len(values) != len(cls._fields):
                usual = namedtuple(cls.__name__, cls._fields, defaults=cls._field_defaults.values())
                cls.__new__ = staticmethod(usual.__new__)
                return usual.__new__(cls, *values, **named)
            return tuple.__new__(cls, values)

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, /, **changes):
            made = type(self)(*map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"{type(self).__name__} has no {', '.join(changes)}")
            return made

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"

        def __getnewargs__(self):
            return tuple(self)

    class _Maker(type):
        """Makes the class of a kind; it compiles no code before somebody gives a value by name or leaves out one."""

        def __new__(cls, name, bases, namespace):
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            kind = type.__new__(type, name, (_Named,), {"__slots__": (), **namespace})
            kind._fields = kind.__match_args__ = tuple(kind.__annotations__)
            kind._field_defaults = {field: namespace[field] for field in kind._fields if field in namespace}
            for place, field in enumerate(kind._fields):
                setattr(kind, field, _tuplegetter(place, ""))
            return kind

    class NamedTuple(metaclass=_Maker):
        """As that of `typing`, whose classes take seven times as long to make: one and a half bare starts of a command."""
