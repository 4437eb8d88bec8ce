"""Reads which driver of the Linux kernel takes which GPUs, from the tables of the drivers in copies of kernel releases.

A family is taken where the table of ids names its macro; by force_probe alone where the description that the table points
at sets `require_force_probe`. Its PCI ids are those of the macro in the header of the same copy.
"""

import re
from pathlib import Path

from compatkb.core.clones import commit_of, texts
from compatkb.errors import UnavailableError
from compatkb.schema import KernelFeed
from compatkb.schema.collected import KernelRead, KernelRow
from compatkb.schema.feed import KernelTree

_FORCED = re.compile(r"\.require_force_probe\s*=\s*(?:1|true)")
_LIKE_A_RELEASE = re.compile(r"\w*v\d+(\.\d+)+")


def read_kernel(feed: KernelFeed, tree: KernelTree, clone: Path) -> KernelRead | None:
    """Return the table of the driver of a tree, families in the order of the table; None where the clone has no such file.

    Raises UnavailableError for a table that cannot be read.
    """
    commit, path = commit_of(clone, tree.ref), feed.tables[tree.driver]
    source = texts(clone, [commit], path).get(commit) if commit else None
    if commit is None or source is None:
        return None
    included = [header for header in feed.headers if f"<{header.removeprefix('include/')}>" in source]
    headers = (texts(clone, [commit], header).get(commit) for header in (*included, *feed.headers))
    ids = _ids(next((text for text in headers if text is not None), ""))
    rows = []
    for macro, (is_forced, line) in _table(source, f"{tree.repo} {tree.ref} {path}").items():
        if family := feed.families.get(macro):
            listed = [ids[macro]] if ids.get(macro) else []
            rows.append(KernelRow.model_validate([family, "force-probe" if is_forced else "default", line, *listed]))
    ref = tree.ref if _LIKE_A_RELEASE.fullmatch(tree.ref) else commit
    return KernelRead(kernel=tree.kernel, driver=tree.driver, repo=tree.repo, ref=ref, path=path, rows=tuple(rows))


def _table(text: str, place: str) -> dict[str, tuple[bool, int]]:
    """Return for each macro that a table of ids names whether it is forced, and the line."""
    text = _uncommented(text)
    forced = _forced(text)
    found: dict[str, tuple[bool, int]] = {}
    for match in re.finditer(r"\b(?:INTEL|XE)_(\w+?)_IDS\(\s*(?:\w+\s*,\s*)?&(\w+)\)", text):
        if match[2] not in forced:
            raise UnavailableError(f"{place}: no description {match[2]} beside the table of ids")
        found[match[1]] = (forced[match[2]], text.count("\n", 0, match.start()) + 1)
    return found


def _uncommented(text: str) -> str:
    """Return C text with comments blanked, lines as they were."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.DOTALL)


def _forced(text: str) -> dict[str, bool]:
    """Return for each description whether it sets require_force_probe, by itself or by a macro that it names."""
    defined = re.finditer(r"#define (\w+)(?:\([^)]*\))?\s*((?:[^\n]*\\\n)+[^\n]*)", text)
    macros = {match[1]: match[2] for match in defined}

    def sets(body: str, seen: frozenset[str] = frozenset()) -> bool:
        if _FORCED.search(body):
            return True
        names = set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", body)) & macros.keys() - seen
        return any(sets(macros[name], seen | {name}) for name in names)

    described = re.finditer(
        r"struct (?:intel_device_info|xe_device_desc)\s+(\w+)(?:\s+__\w+)?\s*=\s*\{(.*?)\n\};", text, re.DOTALL
    )
    return {match[1]: sets(match[2]) for match in described}


def _ids(header: str) -> dict[str, list[str]]:
    """Return the PCI ids of each macro (`DG2` of INTEL_DG2_IDS), with those of macros that it names, sorted."""
    defined = re.finditer(r"#define (?:INTEL|XE)_(\w+?)_IDS\([^)]*\)((?:[^\n]*\\\n)*[^\n]*)", _uncommented(header))
    bodies = {match[1]: match[2] for match in defined}

    def of(macro: str, seen: frozenset[str] = frozenset()) -> set[str]:
        body = bodies.get(macro, "")
        found = {match.lower() for match in re.findall(r"\b0x([0-9A-Fa-f]{4})\b", body)}
        nested = set(re.findall(r"\b(?:INTEL|XE)_(\w+?)_IDS\(", body)) - seen
        return found.union(*(of(name, seen | {macro}) for name in nested))

    return {macro: sorted(of(macro)) for macro in bodies}
