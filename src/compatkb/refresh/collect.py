"""Runs the feeds of product files over clones of repositories and proposes files of data/collected/."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from pathlib import Path

from compatkb.authoring.canonical import text_of
from compatkb.authoring.loader import Files
from compatkb.errors import UsageError
from compatkb.refresh.comparison import Note
from compatkb.refresh.device_ids import read_devices
from compatkb.refresh.git_tags import read_tags
from compatkb.refresh.kernel_tables import read_kernel
from compatkb.refresh.run import FileChange, RefreshOutcome
from compatkb.schema import CollectedFile, DeviceFeed, Feed, KernelFeed, ProductFile, TagFeed

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
    feeds = {file.product.id: file for file in files.products if file.feed}
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
        file = collector.read(name, feeds[name].feed, today)
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

    def read(self, name: str, feeds: Iterable[Feed], today: date) -> CollectedFile:
        """Return what the feeds of a product give."""
        file = CollectedFile(product=name, seen=today)
        for feed in feeds:
            if isinstance(feed, TagFeed):
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


def _repos(feed: Feed) -> Iterator[str]:
    if isinstance(feed, KernelFeed):
        yield from (tree.repo for tree in feed.trees)
    else:
        yield feed.repo
