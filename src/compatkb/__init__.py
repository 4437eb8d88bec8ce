"""compatkb: which versions of PyTorch and its companions work together on Intel hardware, and how we know."""

__version__ = "0.1.0"
__all__ = ["Answer", "CompatkbError", "DataError", "GaveUpError", "KnowledgeBase", "Request", "Stack", "UsageError"]

TYPE_CHECKING = False  # as in typing, which every start would have to import
if TYPE_CHECKING:
    from compatkb.api import KnowledgeBase
    from compatkb.engine.answer import Answer
    from compatkb.engine.stacks import Stack
    from compatkb.errors import CompatkbError, DataError, GaveUpError, UsageError
    from compatkb.store.records import Request

_HOMES = {"KnowledgeBase": "api", "Answer": "engine.answer", "Request": "store.records", "Stack": "engine.stacks"}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for: this file runs before every command."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"compatkb.{_HOMES.get(name, 'errors')}"), name)
