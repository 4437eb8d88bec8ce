"""The sentences of answers: verdicts, warnings, requests; causes and open points have modules of their own."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date

from compatkb.core.vocabulary import Certainty
from compatkb.engine.advice import StackWarning
from compatkb.engine.stacks import Stack
from compatkb.output.causes import cause, cause_sources, excluded
from compatkb.output.citations import CitedSource, claim_sources, element_sources
from compatkb.output.commands import compiled_of
from compatkb.output.labels import asked, build, build_name, label, listed, ranges
from compatkb.output.open_points import unsettled
from compatkb.store.queries.claims import claim as claim_record
from compatkb.store.queries.products import release
from compatkb.store.reader import Snapshot

__all__ = [
    "SIGNS", "VERDICTS", "CitedSource", "asked", "build", "build_name", "cause", "cause_sources", "claim_sources",
    "element_sources", "excluded", "plain", "ranges", "signed", "support", "terms", "unsettled", "warning", "warning_sources",
    "warnings_in_brief",
]  # fmt: skip

VERDICTS = {
    "works": "works",
    "works-with-warnings": "works, with warnings",
    "likely": "likely",
    "unknown": "unknown",
    "does-not-work": "does not work",
}
"""Verdicts as people read them."""
SIGNS = {"works": "✓", "works-with-warnings": "✓", "likely": "~", "unknown": "?", "does-not-work": "✗"}
"""The sign before each verdict; the word always stands beside it."""
MEANINGS = {
    "works": "every part is stated by its maker or was observed",
    "works-with-warnings": "every part is stated by its maker or was observed",
    "likely": "part of it is only inferred",
    "unknown": "the data cannot tell",
    "does-not-work": "a source or a rule excludes it",
}
"""What the verdicts mean."""
_SMALL = ("no", "the", "wheels", "whether")
"""Words that get a capital at the head of a sentence."""


def signed(verdict: str) -> str:
    """Return a verdict with its sign: ✓ works."""
    return f"{SIGNS[verdict]} {VERDICTS[verdict]}"


def warning(facts: Snapshot, warned: StackWarning) -> str:
    """Return a warning as one sentence."""
    name = f"{label(facts, warned.product)} {warned.version}"
    if warned.kind == "yanked":
        reason = f" (reason given: {warned.detail.strip().rstrip('.')})" if warned.detail.strip() else " (no reason given)"
        day = date.fromordinal(warned.day) if warned.day else None
        if warned.until is not None:
            return (
                f"{name} was yanked from the default index between {date.fromordinal(warned.until)} and {day}{reason}; "
                "on the day asked about it may or may not have been"
            )
        return f"{name} is yanked from the default index, seen {day}{reason}; pip installs it only by an exact pin"
    if warned.kind == "eol":
        return f"{name} is no longer maintained: its end of life was {date.fromordinal(warned.day or 1)}"
    if warned.kind == "feature":
        feature, _, status = warned.detail.partition(" ")
        return f"{feature} is a {status} in {name}"
    if warned.kind == "preview":
        return f"{name} is a {warned.detail} build, not a stable release"
    if warned.kind == "unnamed":
        return f"the maker of {name} names {warned.detail}; it does not name the release in this stack"
    return f"{name}: {warned.detail}"


def warnings_in_brief(facts: Snapshot, warnings: Iterable[StackWarning]) -> list[str]:
    """Return warnings in a sentence for each build: IPEX 2.8.0 ended 2026-03-31, has known security issues."""
    by_build: dict[str, list[str]] = {}
    whole = []
    for warned in warnings:
        name = f"{label(facts, warned.product)} {warned.version}".strip()
        if warned.kind in ("driver", "device"):
            whole.append(f"{name}: {warned.detail.rstrip('.')}")
        elif warned.kind != "known-issue":
            by_build.setdefault(name, []).append(_brief(warned))
    return [*(f"{name} {', '.join(dict.fromkeys(parts))}" for name, parts in by_build.items()), *dict.fromkeys(whole)]


def _brief(warned: StackWarning) -> str:
    if warned.kind == "eol":
        return f"ended {date.fromordinal(warned.day or 1)}"
    if warned.kind == "security":
        return "has known security issues"
    if warned.kind == "yanked":
        return "may be yanked from the default index" if warned.until is not None else "is yanked from the default index"
    if warned.kind == "preview":
        return f"is a {warned.detail} build"
    if warned.kind == "unnamed":
        product, named = warned.detail.partition(" ")[::2]
        return f"is documented with {product} {named}"
    feature, _, status = warned.detail.partition(" ")
    return f"has {feature} as a {status}"


def warning_sources(facts: Snapshot, warned: StackWarning) -> tuple[CitedSource, ...]:
    """Return the sources of a warning."""
    if warned.sources:
        return warned.sources
    for element in facts.elements(warned.product):
        if element.version == warned.version:
            if warned.kind == "eol":
                known = release(facts, warned.product, element.release)
                return known.eol_sources if known else ()
            return element_sources(facts, element)[:1]
    return ()


def plain(term: str) -> str:
    """Return a term without its operator where it names one version: ipex==2.8.10+xpu is ipex 2.8.10+xpu."""
    product, equal, version = term.replace("===", "==").partition("==")
    return f"{product} {version}" if equal and "," not in version else term


def terms(to: Iterable[str], name: Callable[[str], str] = str) -> str:
    """Return what a claim names, each term by `name`: alternatives of one product with "or", several products with "and"."""
    by_product: dict[str, list[str]] = {}
    for term in to:
        by_product.setdefault(re.split(r"[<>=!~ ]", term, maxsplit=1)[0], []).append(term)
    return " and ".join(" or ".join(map(name, group)) for group in by_product.values())


def support(facts: Snapshot, stack: Stack) -> str:
    """Return the weakest basis of a stack: unknown, inferred, stated or observed."""
    if stack.level != Certainty.CERTAIN:
        return "unknown" if stack.level == Certainty.UNKNOWN else "inferred"
    for link in stack.links:
        rows = [claim_record(facts, name).basis for name in link.claims]
        if rows and "observed" not in rows:
            return "stated"
    return "observed" if all("default" in e.channels for e in stack.packages if e.channels) else "stated"


def support_rule(published: bool, says: str) -> str:
    """Return how long releases of a product are supported, in words that are no promise where nothing is published."""
    return says if published else f"No end of life is published. {says}"


def basis(support: str) -> str:
    """Return what a stack that works rests on, from the weakest basis of its steps."""
    return {"observed": "every part was observed", "stated": "every part is stated by its maker or was observed"}[support]


def not_installable(facts: Snapshot, stack: Stack) -> str:
    """Return why there is no install command, or no file that installers read."""
    held = compiled_of(facts, stack)
    if names := listed([build(facts, e) for e in held]):
        how = "comes in an image alone" if {at.style for at in held.values()} == {"image"} else "is compiled from source"
        more = "; `compatkb resolve` shows the steps" if any(at.commands for at in held.values()) else ""
        return f"{names} {how}, and no file for installers can say so{more}"
    missing = [build(facts, e) for e in stack.packages if e.distribution and not e.channels and e.product in stack.requested]
    return f"no install command: {listed(missing) or 'a package of this stack'} is on no known package index"


def footer(facts: Snapshot, as_of: int, more: Sequence[str] = ()) -> str:
    """Return the day of the data, the day asked about where that is another one, and where more is."""
    data, day = facts.meta["data_date"], date.fromordinal(as_of).isoformat()
    return " · ".join([f"data of {data}" if day >= data else f"as of {day}, data of {data}", *more])


def sentence(text: str) -> str:
    """Return a text as a sentence; names of packages keep their spelling at its head."""
    text = text[0].upper() + text[1:] if text.split(" ", 1)[0] in _SMALL else text
    return text if text.endswith((".", "!", "?")) else f"{text}."
