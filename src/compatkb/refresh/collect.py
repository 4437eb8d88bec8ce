"""Runs the feeds of product files over clones: tags, ids of graphics, tables of the kernel; proposes data/collected/."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path

from compatkb.authoring.canonical import text_of
from compatkb.authoring.loader import Files
from compatkb.core.clones import GitTag, commit_of, texts
from compatkb.core.names import numbers
from compatkb.core.record import NamedTuple
from compatkb.errors import UnavailableError, UsageError
from compatkb.refresh.comparison import Note
from compatkb.refresh.git_tags import read_tags, versions_of
from compatkb.refresh.run import FileChange, RefreshOutcome
from compatkb.refresh.source_files import in_clone
from compatkb.schema import CollectedFile, DeviceFeed, Feed, FileFeed, KernelFeed, ProductFile, TagFeed
from compatkb.schema.collected import DeviceRow, DevicesRead, KernelRead, KernelRow
from compatkb.schema.feed import KernelTree

FOLDER = "collected"


def collect(
    files: Files,
    directory: Path,
    clones: Path,
    today: date,
    only: Iterable[str] = (),
    count: Callable[[str, int, int], None] = lambda *_: None,
) -> RefreshOutcome:
    """Return what the feeds of some products, of all unless named, give that files of data/collected/ lack.

    A clone is `clones`/owner/name, bare or not. What lacks one of its repositories stays as it is, and a note says so.
    Raises UsageError for a product without a feed.
    """
    feeds = {file.product.id: file for file in files.products if any(map(_repos, file.feed))}
    chosen = {_product(word, feeds) for word in only} or set(feeds)
    # What counts only where a manifest names it is read after the manifests.
    ordered = sorted(chosen, key=lambda name: (any(isinstance(f, TagFeed) and f.named for f in feeds[name].feed), name))
    known = {file.product: file for file in files.collected}
    collector = _Collector(clones, feeds.values(), known.values())
    changes, looked_at, notes = [], [], []
    for number, name in enumerate(ordered, 1):
        if absent := collector.absent(feeds[name].feed):
            message = f"{', '.join(absent)}: not in {clones}, so its feeds were not read"
            notes.append(Note("not-checked", name, (), message, name))
            continue
        file = collector.read(feeds[name], today)
        if name in known:  # what came from source archives of the index stays
            kept = tuple(read for read in known[name].files if not read.repo)
            file = file.model_copy(update={"files": (*file.files, *kept)})
        path, before = directory / FOLDER / f"{name}.toml", text_of(known[name]) if name in known else ""
        change = FileChange(path, before, text_of(file))
        if name in known and _facts(known[name]) == _facts(file):
            looked_at += [change] if change.after != before else []
        else:
            changes.append(change)
        count("feeds", number, len(ordered))
    return RefreshOutcome(tuple(changes), tuple(looked_at), tuple(notes))


def _product(word: str, feeds: dict[str, ProductFile]) -> str:
    for name, file in feeds.items():
        if word in (name, *file.product.aliases):
            return name
    raise UsageError(f"{word!r} has no feed in these data; there are: {', '.join(sorted(feeds))}")


def _facts(file: CollectedFile) -> object:
    """Return what a file says, whenever and at whatever commit it was read."""
    return file.model_dump(exclude={"seen": True, "tags": {"__all__": {"head"}}, "devices": {"__all__": {"head"}}})


class _Collector:
    """Reads feeds one after another; knows what manifests named so far."""

    def __init__(self, clones: Path, products: Iterable[ProductFile], collected: Iterable[CollectedFile]) -> None:
        self._clones = clones
        self._components = {
            file.product.id: (feed, clone if (clone := clones / feed.repo).is_dir() else None)
            for file in products
            for feed in file.feed
            if isinstance(feed, TagFeed)
        }
        self._named: dict[str, set[str]] = defaultdict(set)
        for file in collected:
            self._note(file)

    def absent(self, feeds: Iterable[Feed]) -> list[str]:
        """Return the repositories of feeds that are not among the clones."""
        repos = dict.fromkeys(repo for feed in feeds for repo in _repos(feed))
        return [repo for repo in repos if not (self._clones / repo).is_dir()]

    def read(self, product: ProductFile, today: date) -> CollectedFile:
        """Return what the feeds of a product give."""
        name = product.product.id
        file = CollectedFile(product=name, seen=today)
        for feed in product.feed:
            if isinstance(feed, FileFeed):
                if feed.repo and (read := in_clone(feed, self._clones / feed.repo, product.product.scheme)):
                    file = file.model_copy(update={"files": (*file.files, read)})
            elif isinstance(feed, TagFeed):
                tags = read_tags(feed, self._clones / feed.repo, self._components, self._named[name])
                file = file.model_copy(update={"tags": (*file.tags, *([tags] if tags else []))})
            elif isinstance(feed, DeviceFeed):
                devices = read_devices(feed, self._clones / feed.repo)
                file = file.model_copy(update={"devices": (*file.devices, *devices)})
            else:
                kernels = (read_kernel(feed, tree, self._clones / tree.repo) for tree in feed.trees)
                file = file.model_copy(update={"kernels": (*file.kernels, *filter(None, kernels))})
        self._note(file)
        return file

    def _note(self, file: CollectedFile) -> None:
        for tags in file.tags:
            for row in tags.rows:
                for component, cell in zip(tags.built_with, row.built, strict=False):
                    self._named[component].update(cell[:1])


def _repos(feed: Feed) -> list[str]:
    if isinstance(feed, KernelFeed):
        return [tree.repo for tree in feed.trees]
    return [feed.repo] if feed.repo else []


# `DEVICE( 0x56A0, DG2_CONFIG )` of old tags, `NAMEDDEVICE(0x56A0, Dg2HwConfig, "...")` of new ones.
_ENTRY = re.compile(
    r"(?:NAMED)?DEVICE\(\s*0x(?P<id>[0-9A-Fa-f]{4}),\s*(?P<config>\w+?)(?:HwConfig|_CONFIG)\w*\s*"
    r"(?:,\s*\w+\s*)?(?:,\s*\"(?P<name>[^\"]*)\")?\s*\)"
)


class _Entry(NamedTuple):
    family: str
    name: str
    path: str
    line: int


def read_devices(feed: DeviceFeed, clone: Path) -> tuple[DevicesRead, ...]:
    """Return the ids of each family of a feed, by id, families in the order of the feed.

    The first tag is the first by day; an id that older branches got later has the lowest version with it, too.
    """
    found = versions_of(feed.tags, clone)
    tables: dict[str, dict[str, _Entry]] = {}
    for path in reversed(feed.paths):
        for name, text in texts(clone, (tag.name for tag in found.values()), path).items():
            tables[name] = tables.get(name, {}) | _entries(text, path)
    dated = {version: tag for version, tag in found.items() if tag.name in tables}
    if not dated:
        return ()
    head = commit_of(clone) or ""
    newest = max(dated, key=numbers)
    families: dict[str, list[DeviceRow]] = {family: [] for family in feed.families}
    for device in sorted({device for table in tables.values() for device in table}):
        having = {version: tag for version, tag in dated.items() if device in tables[tag.name]}
        last = max(having, key=numbers)
        if (family := tables[having[last].name][device].family) in families:
            families[family].append(_row(device, having, dated, tables, last, feed.paths[0], newest))
    return tuple(
        DevicesRead(family=family, listed_by=feed.listed_by, repo=feed.repo, head=head, path=feed.paths[0], rows=tuple(rows))
        for family, rows in families.items()
        if rows
    )


def _row(
    device: str,
    having: dict[str, GitTag],
    dated: dict[str, GitTag],
    tables: dict[str, dict[str, _Entry]],
    last: str,
    usual: str,
    newest: str,
) -> DeviceRow:
    first = min(having, key=lambda version: (having[version].day, numbers(version)))
    lowest = min(having, key=numbers)
    opening = tables[having[first].name][device]
    name = tables[having[last].name][device].name
    lacking = sum(numbers(first) < numbers(v) < numbers(last) and v not in having for v in dated)
    more = {
        "path": opening.path if opening.path != usual else None,
        "name": name or None,
        "lowest": lowest if lowest != first else None,
        "last": last if last != newest else None,
        "lacking": lacking or None,
    }
    said = {key: value for key, value in more.items() if value is not None}
    return DeviceRow.model_validate([device, first, having[first].day, opening.line, *([said] if said else [])])


def _entries(text: str, path: str) -> dict[str, _Entry]:
    """Return the entries of one table by PCI id."""
    found: dict[str, _Entry] = {}
    for number, line in enumerate(text.splitlines(), 1):
        for match in _ENTRY.finditer(line):
            family = match["config"].split("_")[0].lower()
            found[match["id"].lower()] = _Entry(family, match["name"] or "", path, number)
    return found


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
