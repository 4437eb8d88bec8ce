"""The sentences of answers: verdicts, warnings, requests; causes and open points have modules of their own."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date

from compatkb.output.commands import compiled_of
from compatkb.output.things import StackView, Warned, listed, systems_listed

VERDICTS = {
    "works": "works",
    "works-with-warnings": "works, with warnings",
    "likely": "probably works",
    "unknown": "unknown",
    "does-not-work": "does not work",
}
"""Verdicts as people read them."""
SIGNS = {"works": "✓", "works-with-warnings": "✓", "likely": "~", "unknown": "?", "does-not-work": "✗"}
"""The sign before each verdict; the word always stands beside it."""
MEANINGS = {
    "works": "documented by the vendor or tested",
    "works-with-warnings": "documented by the vendor or tested",
    "likely": "nothing speaks against it, something is untested",
    "unknown": "the data cannot tell",
    "does-not-work": "a source or a rule excludes it",
}
"""What the verdicts mean."""
_SMALL = ("no", "the", "wheels", "whether")
"""Words that get a capital at the head of a sentence."""
_ENDS = ("eol", "security", "vulnerability")
"""What is said of a product where sets of versions are told beside each other."""


def signed(verdict: str) -> str:
    """Return a verdict with its sign: ✓ works."""
    return f"{SIGNS[verdict]} {VERDICTS[verdict]}"


def warning(warned: Warned) -> str:
    """Return a warning as one sentence."""
    name = f"{warned.product.label} {warned.version}"
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
        return f"{name} is documented with {warned.detail}, not with this release"
    return f"{name}: {warned.detail}"


def warnings_in_brief(warnings: Iterable[Warned], *, whole: bool = False) -> list[str]:
    """Return warnings in a sentence for each build, IPEX 2.8.0 ended 2026-03-31; `whole`: of products."""
    by_build: dict[str, list[str]] = {}
    others = []
    for warned in warnings:
        version = "" if whole and warned.kind in _ENDS else warned.version
        name = f"{warned.product.label} {version}".strip()
        if warned.kind in ("driver", "device"):
            others.append(f"{name}: {warned.detail.rstrip('.')}")
        elif warned.kind != "known-issue":
            by_build.setdefault(name, []).append(_brief(warned))
    return [
        *(f"{name}: {', '.join(_few(dict.fromkeys(parts), names=not whole))}" for name, parts in by_build.items()),
        *dict.fromkeys(others),
    ]


def _few(parts: Iterable[str], *, names: bool) -> list[str]:
    """Return what is said of one build: of its vulnerabilities the first, and how many more, or by `names` the one other."""
    told = list(parts)
    published = [part for part in told if part.startswith("CVE-")]
    if len(published) < 2:
        return told
    more = published[1] if names and len(published) == 2 else f"{len(published) - 1} more"
    return [*(part for part in told if part not in published), f"{published[0]} and {more}"]


def _brief(warned: Warned) -> str:
    if warned.kind == "eol":
        return f"end of life {date.fromordinal(warned.day or 1)}"
    if warned.kind == "security":
        return "known security issues"
    if warned.kind == "vulnerability":
        return re.sub(r"^([\w-]+).*?(?:; (fixed in \S+?))?\.?$", r"\1 (\2)", warned.detail).removesuffix(" ()")
    if warned.kind == "yanked":
        return "perhaps yanked from the default index" if warned.until is not None else "yanked from the default index"
    if warned.kind == "preview":
        return f"{warned.detail} build"
    if warned.kind == "unreviewed":
        return "new, not reviewed"
    if warned.kind == "unnamed":
        product, named = warned.detail.partition(" ")[::2]
        return f"documented with {product} {named}"
    feature, _, status = warned.detail.partition(" ")
    return f"{feature} is a {status}"


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


def support_rule(published: bool, says: str) -> str:
    """Return how long releases of a product are supported, in words that are no promise where nothing is published."""
    return says if published else f"No end of life is published. {says}"


def first_sentence(text: str) -> str:
    """Return the first sentence of a text; --why has the others."""
    return re.split(r"(?<=[.;])\s", text, maxsplit=1)[0].rstrip(".;")


def last_day(day: str, precision: str | None) -> str:
    """Return the last supported day as closely as its source names it: 2026-07 where that is the month."""
    if precision == "year":
        return day[:4]
    if precision == "quarter":
        return f"{day[:4]}-Q{(int(day[5:7]) + 2) // 3}"
    return day[:7] if precision == "month" else day


def not_installable(stack: StackView) -> str:
    """Return why there is no install command, or no file that installers read."""
    compiled = compiled_of(stack)
    if names := listed([build.label for build in compiled]):
        places = [build.made_at for build in compiled if build.made_at]
        how = "comes in an image alone" if {at.style for at in places} == {"image"} else "is compiled from source"
        if not any(at.commands and (build.inside or not at.os) for build in compiled if (at := build.made_at)):
            return f"{names} {how}; the steps for {systems_listed(system.name for system in stack.os)} are not known"
        return f"{names} {how}, and no file for installers can say so; `compatkb resolve` shows the steps"
    missing = [build.label for build in stack.packages if build.distribution and not build.channels and build.requested]
    return f"no install command: {listed(missing) or 'a package of this stack'} is on no known package index"


def footer(data_date: str, as_of: int, more: Sequence[str] = ()) -> str:
    """Return the day of the data, the day asked about where that is another one, and where more is."""
    day = date.fromordinal(as_of).isoformat()
    return " · ".join([f"data of {data_date}" if day >= data_date else f"as of {day}, data of {data_date}", *more])


def sentence(text: str) -> str:
    """Return a text as a sentence; names of packages keep their spelling at its head."""
    text = text[0].upper() + text[1:] if text.split(" ", 1)[0] in _SMALL else text
    return text if text.endswith((".", "!", "?")) else f"{text}."


PASSED_OVER = {
    "denied": "no build fits what was asked",
    "glibc": "the wheels need a newer glibc",
    "is_unknown": "not documented here",
    "is_flawed": "a known issue on this machine",
    "outdated": "part of it is discontinued, yanked or insecure",
    "is_of_other_kind": "only builds for another device",
    "presumed": "its packages are not confirmed",
    "device": "for another device",
    "route": "in another way",
    "age": "its series is older",
    "is_assumed": "hardware or runtime packages not confirmed",
    "level": "probably works, something is untested",
    "unsure": "its companions are untested",
    "warnings": "works, with more warnings",
}
"""Why a newer release does not lead, by the field of the order of preference that decides."""
