"""compatkb: which versions of PyTorch and its companions work together on Intel hardware, and how we know."""

from compatkb.version import __version__

__all__ = [
    "Answer", "CheckReport", "CompatkbError", "DataError", "Diagnosis", "Finding", "GaveUpError", "KnowledgeBase",
    "NewerError", "Product", "ReleaseRecord", "Request", "Severity", "Stack", "UsageError", "Verdict",
    "__version__",
]  # fmt: skip

TYPE_CHECKING = False  # as in typing, which every start would have to import
if TYPE_CHECKING:
    from compatkb.api import KnowledgeBase
    from compatkb.api import ShownAnswer as Answer
    from compatkb.check import CheckReport
    from compatkb.core.findings import Finding, Severity
    from compatkb.core.vocabulary import Verdict
    from compatkb.doctor.diagnose import Diagnosis
    from compatkb.engine.stacks import Stack
    from compatkb.errors import CompatkbError, DataError, GaveUpError, NewerError, UsageError
    from compatkb.store.queries.products import ReleaseRecord
    from compatkb.store.records import Product, Request

_HOMES = {
    "KnowledgeBase": "api",
    "Answer": "api:ShownAnswer",
    "Stack": "engine.stacks",
    "Request": "store.records",
    "Product": "store.records",
    "ReleaseRecord": "store.queries.products",
    "CheckReport": "check",
    "Finding": "core.findings",
    "Severity": "core.findings",
    "Verdict": "core.vocabulary",
    "Diagnosis": "doctor.diagnose",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for: this file runs before every command."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home, _, own = _HOMES.get(name, "errors").partition(":")
    return getattr(import_module(f"compatkb.{home}"), own or name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
