"""Reads releases from the tags of a repository, and from a manifest at each tag what it was built with."""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from compatkb.core.clones import GitTag, commit_of, tags, texts
from compatkb.core.names import numbers
from compatkb.schema import TagFeed
from compatkb.schema.collected import TagRow, TagsRead

Numbers = tuple[int, ...]


def versions_of(feed_tags: str, clone: Path) -> dict[str, GitTag]:
    """Return the tags of a clone that are releases, by version: the group of the pattern, or all of the name."""
    pattern = re.compile(feed_tags)
    found = ((pattern.fullmatch(tag.name), tag) for tag in tags(clone))
    return {match[pattern.groups and 1]: tag for match, tag in found if match}


def read_tags(
    feed: TagFeed, clone: Path, components: Mapping[str, tuple[TagFeed, Path | None]], named: Collection[str] = ()
) -> TagsRead | None:
    """Return the releases that are tags of a clone, newest first; None where there is none.

    `components` are the feeds, by product, of what its manifest names, with their clones: a revision that is a commit
    stands for the version whose tag names it. `named` are the versions that count where the feed wants named ones alone.
    """
    found = {
        version: tag
        for version, tag in versions_of(feed.tags, clone).items()
        if (version in named if feed.named else not feed.since or numbers(version) >= numbers(feed.since))
    }
    ordered = sorted(found.items(), key=lambda item: numbers(item[0]), reverse=True)
    if not ordered:
        return None
    manifests = texts(clone, (tag.name for _, tag in ordered), feed.manifest) if feed.manifest else {}
    read = [(part.key, _Component(*components[part.product])) for part in feed.built_with if part.product in components]
    rows = []
    for version, tag in ordered:
        revisions = dict(_revisions(manifests.get(tag.name, "")))
        cells: list[tuple[str, int] | tuple[()]] = []
        for key, component in read:
            revision, line = revisions.get(key, ("", 0))
            known = component.version(revision)
            cells.append((known, line) if known else ())
        more = [{"tag": tag.name}] if tag.name != version else []
        rows.append(TagRow.model_validate([version, tag.day, *([cells] if any(cells) else []), *more]))
    return TagsRead(
        repo=feed.repo,
        head=commit_of(clone) or "",
        path=feed.manifest,
        built_with=tuple(part.product for part in feed.built_with if part.product in components),
        rows=tuple(rows),
    )


class _Component:
    """A product that manifests name by revisions, which are tags or commits."""

    def __init__(self, feed: TagFeed, clone: Path | None) -> None:
        self._pattern = re.compile(feed.tags, re.IGNORECASE)
        known = versions_of(feed.tags, clone) if clone else {}
        self._versions = {tag.commit: version for version, tag in known.items()}

    def version(self, revision: str) -> str | None:
        """Return the version that a revision is, None where no tag says it."""
        if match := self._pattern.fullmatch(revision):
            return match[self._pattern.groups and 1]
        if not re.fullmatch(r"[0-9a-f]{7,40}", revision):
            return None
        return next((version for commit, version in self._versions.items() if commit.startswith(revision)), None)


def _revisions(manifest: str) -> Iterator[tuple[str, tuple[str, int]]]:
    """Yield the components of a manifest (YAML of two levels, in blocks) with their revision and its line."""
    component = ""
    for number, line in enumerate(manifest.splitlines(), 1):
        if match := re.fullmatch(r"  (\w[\w-]*):\s*", line):
            component = match[1]
        elif match := re.fullmatch(r"    revision: ['\"]?([^'\"\s]+)['\"]?\s*", line):
            yield component, (match[1], number)
