"""Rows about provenance: documents, observations and guides."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from packaging.utils import canonicalize_name

from compatkb.authoring.collected import kernel_supports
from compatkb.authoring.index_requirements import is_unreadable, required_always
from compatkb.authoring.knowledge_base import Knowledge, cited, split_term
from compatkb.schema import SharedMetadata, SourceEntry
from compatkb.store.queries.provenance import DocumentRecord, GuideRecord, ObservationRecord
from compatkb.store.rows import dumps

_OUTLINE = ("id", "effect", "ranks", "state", "where", "hardware", "gpus")
"""What of an issue decides where it is."""


def documents(knowledge: Knowledge) -> Iterator[DocumentRecord]:
    """Yield every cited document once, with the last day on which someone read it; sorted."""
    files = knowledge.files
    sources = [*knowledge.sources.values(), *(s for claim in knowledge.claims.values() for s in claim.sources)]
    sources += [s for file in files.images for s in file.source.values()]
    sources += files.timeline.source.values() if files.timeline else ()
    sources += [knowledge.index_source(release) for file in files.index for release in file.release]
    seen: dict[tuple[str, str], str] = {}
    for source in {id(source): source for source in sources}.values():  # most stand there many times
        text, url = source.cited
        key = (text, url or "")
        seen[key] = max(seen.get(key, ""), source.seen.isoformat())
    for (text, url), day in sorted(seen.items()):
        yield DocumentRecord(text, url or None, day)


def observations(knowledge: Knowledge) -> Iterator[ObservationRecord]:
    """Yield what commands observed, in the order of the evidence files."""
    for number, seen in enumerate(knowledge.files.evidence):
        yield ObservationRecord(
            id=number,
            level=seen.level.value,
            outcome=seen.outcome.value,
            packages=seen.packages,
            python=seen.python,
            os=seen.os,
            arch=seen.arch,
            device=seen.device,
            channel=seen.answered or seen.index,
            checked=seen.checked.isoformat(),
            tool=seen.tool,
            stubbed=seen.stubbed,
            detail=seen.detail,
            culprit=seen.culprit,
            missing=seen.missing,
            needs=seen.needs,
            unlinked=seen.unlinked,
            fetched=seen.fetched,
        )


def guides(knowledge: Knowledge) -> Iterator[GuideRecord]:
    """Yield the records of guides, packages and issues as JSON, in their order, with their sources."""
    files = knowledge.files
    for file in (files.symptoms, files.machine, files.migration, files.applications, files.packages):
        if file is None:
            continue
        for kind, records in file.model_dump(mode="json", exclude={"source", "clash_claim"}).items():
            for position, record in enumerate(records):
                body = {**record, "sources": cited(file.source[name] for name in record["sources"] if name in file.source)}
                yield GuideRecord(kind, position, record.get("id"), dumps(body))
    yield from _clashes(knowledge)
    yield from _collected(knowledge)
    yield from _metadata(knowledge)
    issues = [issue for file in files.issues for issue in file.issue]
    contents = [content for file in files.issues for content in file.model_dump(mode="json")["issue"]]
    for position, (issue, content) in enumerate(zip(issues, contents, strict=True)):
        for condition in content["where"]:  # as elements too: who asks about known versions reads no range
            condition["mask"] = knowledge.matching(condition["product"], condition["range"]) if condition["product"] else 0
        for cure in content["cures"]:
            cure["product"], cure["mask"] = knowledge.mask(cure["to"]) if cure["to"] else (None, 0)
        content["sources"] = [[_link_text(link), link] for link in issue.sources]
        yield GuideRecord("issue", position, issue.id, dumps(content))
    outlines = [{name: content[name] for name in _OUTLINE} for content in contents]  # most questions meet few of the issues
    yield GuideRecord("issue-outlines", 0, None, dumps(outlines))


def _metadata(knowledge: Knowledge) -> Iterator[GuideRecord]:
    """Yield what the releases of each distribution require by their metadata; of a product what is no product alone."""
    for file in knowledge.files.index:
        name = str(canonicalize_name(file.distribution))
        held = knowledge.distributions if name in knowledge.distributions else {}
        shared: Iterable[SharedMetadata] = file.metadata
        if file.release:
            shared = (SharedMetadata(versions=(r.version,), requires=r.requires if r.file else None) for r in file.release)
        alike: dict[tuple[Any, str, str], dict[str, tuple[str, ...]]] = {}
        for one in shared:
            rows = None if one.requires is None else [r for r in map(required_always, one.requires) if r and r.spec]
            bounds = None if rows is None else tuple((r.name, r.spec, r.marker) for r in rows if r.name not in held)
            unread = next((text for text in one.requires or () if is_unreadable(text)), "")
            group = alike.setdefault((bounds, unread, one.requires_python), {"versions": (), "yanked": ()})
            group |= {"versions": (*group["versions"], *one.versions), "yanked": (*group["yanked"], *one.yanked)}
        groups = [[*versions.values(), python, bounds, unread] for (bounds, unread, python), versions in alike.items()]
        body = {"name": name, "seen": file.seen.isoformat(), "groups": groups}
        yield GuideRecord(f"metadata of {name}", 0, None, dumps(body))


def _clashes(knowledge: Knowledge) -> Iterator[GuideRecord]:
    """Yield the claims of products that are clashes, as the records of packages that are no products."""
    packages = knowledge.files.packages
    for position, entry in enumerate(packages.clash_claim if packages else (), len(packages.clash) if packages else 0):
        cited_claim = knowledge.claims[entry.id]
        claim = cited_claim.claim
        (of, versions), (other, breaks) = split_term(claim.of), split_term(claim.to[0])
        names = [knowledge.products[product].distribution for product in (of, other)]
        body = {
            "name": names[0],
            "versions": versions,
            "other": names[1],
            "breaks": breaks,
            "reason": (claim.reason or "").rstrip("."),
        }
        yield GuideRecord("clash", position, None, dumps({**body, "sources": cited(cited_claim.sources)}))


def _collected(knowledge: Knowledge) -> Iterator[GuideRecord]:
    """Yield the ids of graphics that a driver lists, and which drivers of the kernel take which hardware in which release."""
    files = knowledge.files
    hardware = {device: entry.hardware for entry in (files.machine.graphics if files.machine else ()) for device in entry.ids}
    listed = [(read, row, file.seen) for file in files.collected for read in file.devices for row in read.rows]
    for position, (read, row, seen) in enumerate(listed):
        source = SourceEntry(repo=read.repo, ref=row.first, path=row.path or read.path, at=row.at, seen=seen)
        content = {
            "id": row.id,
            "family": read.family,
            "name": row.name,
            "hardware": hardware.get(row.id),
            "listed_by": read.listed_by,
            "first": row.first,
            "on": row.on.isoformat(),
            "lowest": row.lowest or row.first,
            "last": row.last,
            "sources": cited([source]),
        }
        yield GuideRecord("listed-device", position, row.id, dumps(content))
    for position, support in enumerate(kernel_supports(files.machine, files.collected)):
        places = {how: place for _, how, place in reversed(support.tables)}
        taken: dict[str, object] = {
            "kernel": support.kernel,
            "driver": support.driver,
            "hardware": support.hardware,
            "tables": [[release, how] for release, how, _ in support.tables],
            "sources": cited(places.values()),
        }
        yield GuideRecord("kernel-support", position, None, dumps(taken))


def _link_text(link: str) -> str:
    """Return how a link is named: by repository and thread, else by its address without the scheme."""
    thread = re.fullmatch(r"https://github\.com/([^/]+/[^/]+)/(?:issues|pull)/(\d+)", link)
    return f"{thread[1]}#{thread[2]}" if thread else link.removeprefix("https://")
