"""Compile the knowledge base into the SQLite snapshot (through sqlite-utils): masks as hexadecimal text, dates as ordinals."""

import json
import re
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import sqlite_utils

from compatkb.knowledge import Element, Knowledge, end_of_life, first_day, split_term
from compatkb.models import Claim, Kind, Release, Role, Source, Stage
from compatkb.snapshot.schema import FORMAT, INDEXES, TABLES
from compatkb.versions import Scheme, parse
from compatkb.words import word_key

Row = dict[str, Any]
FOREVER = date.max.toordinal()


def compile_snapshot(knowledge: Knowledge, target: Path, digest: str) -> None:
    """Write the snapshot of `knowledge` to the new file `target`; the same data give the same rows in the same order."""
    db = sqlite_utils.Database(target)
    try:
        with db.conn:
            db.execute("PRAGMA journal_mode = OFF")
            cells = _Interned()
            rows: dict[str, Iterator[Row]] = {
                "meta": _meta(knowledge, digest),
                "product": _products(knowledge),
                "name": _names(knowledge),
                "grid": _grid(knowledge),
                "release": _releases(knowledge),
                "element": _elements(knowledge, cells),
                "word": _words(knowledge),
                "edge": _edges(knowledge, cells),
                "claim": _claims(knowledge),
                "citation": _citations(knowledge),
                "dispute": _disputes(knowledge),
                "scope": _scopes(knowledge),
                "advisory": _advisories(knowledge),
                "install": _installs(knowledge),
                "waiver": _waivers(knowledge),
                "channel": _channels(knowledge),
                "route": _routes(knowledge),
                "image": _images(knowledge),
                "content": _contents(knowledge),
                "cells": cells.rows(),
            }
            for name, (columns, key) in TABLES.items():
                db.table(name).create(columns, pk=key)
                if name in rows:
                    db.table(name).insert_all(rows[name])
            for name, column in INDEXES:
                db.table(name).create_index(list(column))
    finally:
        db.close()


class _Interned:
    """Platform masks, each stored once."""

    def __init__(self) -> None:
        self._ids: dict[int, int] = {}

    def id(self, mask: int) -> int:
        return self._ids.setdefault(mask, len(self._ids))

    def rows(self) -> Iterator[Row]:
        for mask, number in self._ids.items():
            yield {"id": number, "mask": f"{mask:x}"}


def _meta(knowledge: Knowledge, digest: str) -> Iterator[Row]:
    seen = [file.seen for file in knowledge.files.index]
    seen += [source.seen for source in knowledge.sources.values()]
    yield {"key": "format", "value": FORMAT}
    yield {"key": "data_date", "value": max(seen).isoformat() if seen else date.min.isoformat()}
    yield {"key": "digest", "value": digest}


def _products(knowledge: Knowledge) -> Iterator[Row]:
    for file in sorted(knowledge.files.products, key=lambda f: (f.product.rank, f.product.id)):
        product = file.product
        yield {
            "id": product.id,
            "name": product.name,
            "role": str(product.role),
            "rank": product.rank,
            "distribution": product.distribution,
            "import_name": product.import_name,
            "scheme": str(product.scheme),
            "series": product.series,
            "automatic": int(product.automatic),
            "default_value": product.default,
            "platform": int(product.platform),
            "open": int(product.open),
            "homepage": product.homepage,
            "eol": product.eol.last_day.isoformat() if product.eol else None,
            "replaced_by": _dumps(product.replaced_by.model_dump(by_alias=True)) if product.replaced_by else None,
            "note": product.note,
        }


def _names(knowledge: Knowledge) -> Iterator[Row]:
    names: dict[str, str] = {}
    for product in knowledge.products.values():
        for name in (product.id, product.distribution, product.import_name, product.name, *product.aliases):
            if name:
                names.setdefault(word_key(name), product.id)
    for product in knowledge.products.values():  # an id always means its own product
        names[word_key(product.id)] = product.id
    yield from ({"name": name, "product": product} for name, product in sorted(names.items()))


def _grid(knowledge: Knowledge) -> Iterator[Row]:
    grid = knowledge.grid
    wider = {element.version: element.release.part_of for element in knowledge.elements["os"]}
    for dimension, values in (("os", grid.systems), ("arch", grid.archs), ("python", grid.pythons)):
        for number, value in enumerate(values):
            parts = wider.get(value, ()) if dimension == "os" else ()
            yield {"dimension": dimension, "idx": number, "value": value, "wider": " ".join(parts)}


def _releases(knowledge: Knowledge) -> Iterator[Row]:
    for file in knowledge.files.products:
        for position, release in enumerate(file.release):
            moment, eol = release.released, end_of_life(file.product, release)
            yield {
                "product": file.product.id,
                "version": release.version,
                "position": position,
                "name": release.name,
                "aliases": _dumps(release.aliases),
                "part_of": " ".join(release.part_of),
                "devices": " ".join(release.devices),
                "track": release.track,
                "released": _moment(release) or _uploaded(knowledge, file.product.id, release),
                "basis": (moment.basis if moment else None),
                "eol": eol.last_day.isoformat() if eol else None,
                "eol_precision": eol.precision if eol else None,
                "eol_sources": _cite(knowledge, file.product.id, eol.sources) if eol else "[]",
                "note": release.note,
                "sources": _cite(knowledge, file.product.id, release.sources),
            }


def _moment(release: Release) -> str | None:
    moment = release.released
    if moment is None:
        return None
    if moment.on:
        return moment.on.isoformat()
    return f"{moment.after or '...'}/{moment.by or '...'}"


def _uploaded(knowledge: Knowledge, product: str, release: Release) -> str | None:
    for element in knowledge.elements[product]:
        if element.release is release and element.listed:
            return element.listed.uploaded.date().isoformat()
    return None


def _elements(knowledge: Knowledge, cells: _Interned) -> Iterator[Row]:
    ended = _wheel_scopes(knowledge)
    seen = {file.distribution: file.seen for file in knowledge.files.index}
    for product, elements in knowledge.elements.items():
        head = knowledge.products[product]
        for number, element in enumerate(elements):
            build = element.build
            strong = weak = 0
            for _, certain, inferred in element.floors:
                strong |= certain
                weak |= inferred
            if head.role in (Role.LEAF, Role.DIMENSION):
                strong = knowledge.grid.all
            since, by = first_day(element)
            eol = end_of_life(head, element.release)
            complete = max(
                [ended.get((product, number), 0)]
                + ([FOREVER] if build and build.wheels_complete else [])
                + ([seen[head.distribution].toordinal()] if element.listed and head.distribution in seen else [])
            )
            yield {
                "product": product,
                "idx": number,
                "version": element.version,
                "release": element.release.version,
                "stage": str(build.stage if build else Stage.STABLE),
                "installable": int(_installable(head.role, element)),
                "devices": " ".join(build.devices if build else element.release.devices),
                "channels": " ".join(build.channels if build else ()),
                "only_with": " ".join(build.only_with if build else ()),
                "maker": build.maker if build else None,
                "distribution": (build.distribution if build else None) or head.distribution,
                "since": since.toordinal() if since else None,
                "by": by.toordinal() if by else None,
                **_yank(elements, element),
                "eol": eol.last_day.toordinal() if eol else None,
                "strong": cells.id(strong),
                "weak": cells.id(weak & ~strong),
                "floors": _dumps([[f, cells.id(a), cells.id(b)] for f, a, b in element.floors]),
                "complete": complete,
                "wheels_note": next((w.note for w in build.wheels if w.note), None) if build else None,
                "note": build.note if build else None,
                "sources": _element_sources(knowledge, product, element),
            }


def _element_sources(knowledge: Knowledge, product: str, element: Element) -> str:
    cited = [knowledge.sources[product, s] for s in element.release.sources if (product, s) in knowledge.sources]
    if element.build:
        names = [*element.build.sources, *(s for row in element.build.wheels for s in row.sources)]
        cited = [knowledge.sources[product, s] for s in dict.fromkeys(names) if (product, s) in knowledge.sources]
    if element.listed:
        files = [f for f in knowledge.files.index if any(r is element.listed for r in f.release)]
        name = element.listed.file or f"{files[0].distribution} {element.listed.version}"
        cited.insert(0, Source(channel="default", file=name, seen=files[0].seen))
    return _dumps([[cite_text(s), cite_url(s)] for s in cited])


def _installable(role: Role, element: Element) -> bool:
    if element.build is None:
        return role in (Role.LEAF, Role.DIMENSION)
    return element.build.stage not in (Stage.SOURCE_ONLY, Stage.TAG_ONLY) and bool(element.build.channels)


def _yank(elements: list[Element], element: Element) -> Row:
    """A withdrawal concerns the release: its builds on other indexes are the same code."""
    listed = next((e.listed for e in elements if e.release is element.release and e.listed), None)
    known = element.release.yanked
    if not listed or not listed.yanked or listed.yanked.files != "all":
        return {"yank_after": None, "yank_by": None, "yank_reason": None}
    after = known.after if known and known.after else listed.uploaded.date()
    by = min(known.by, listed.yanked.seen) if known else listed.yanked.seen
    return {"yank_after": after.toordinal(), "yank_by": by.toordinal(), "yank_reason": listed.yanked.reason}


def _wheel_scopes(knowledge: Knowledge) -> dict[tuple[str, int], int]:
    found: dict[tuple[str, int], int] = {}
    for product in knowledge.products.values():
        for scope in product.complete:
            if scope.what != "wheel":
                continue
            of, mask = knowledge.mask(scope.of)
            until = FOREVER if scope.ended else scope.until.toordinal()
            for number, element in enumerate(knowledge.elements[of]):
                on_channel = scope.channel is None or (element.build and scope.channel in element.build.channels)
                if mask >> number & 1 and on_channel:
                    found[of, number] = max(until, found.get((of, number), 0))
    return found


def _words(knowledge: Knowledge) -> Iterator[Row]:
    """Every version word that a request can use without a specifier parser: series, releases, builds, aliases."""
    for product, elements in knowledge.elements.items():
        head = knowledge.products[product]
        loose: dict[str, int] = {}
        strict: dict[str, int] = {}
        for number, element in enumerate(elements):
            bit = 1 << number
            release = element.release
            names = {
                release.version,
                element.version,
                *release.aliases,
                *(element.build.aliases if element.build else ()),
            }
            if head.scheme is Scheme.LISTED:
                names |= set() if head.platform else set(release.part_of)
                names |= {release.name} if release.name else set()
                for name in names:
                    loose[word_key(name)] = loose.get(word_key(name), 0) | bit
                continue
            if head.scheme is Scheme.PEP440:
                known = parse(Scheme.PEP440, element.version)
                names |= {str(known), known.public}  # type: ignore[union-attr]  # PEP 440, so a Version
                for name in {str(known), known.public}:  # type: ignore[union-attr]
                    strict[name] = strict.get(name, 0) | bit
            for name in names:
                for word in {name.lower(), *(_series(name) if name in (release.version, *release.aliases) else ())}:
                    loose[word] = loose.get(word, 0) | bit
        for alias, series in head.series_aliases.items():
            if series in loose:
                loose.setdefault(alias, loose[series])
        for mode, table in ((0, loose), (1, strict)):
            for word, mask in sorted(table.items()):
                yield {"product": product, "word": word, "strict": mode, "mask": f"{mask:x}"}


def _series(release: str) -> list[str]:
    """Return the series words of a release: 2.4.1 is of series 2.4 and 2."""
    numbers = re.match(r"\d+(\.\d+)*", release)
    parts = numbers[0].split(".") if numbers else []
    return [".".join(parts[:n]) for n in range(1, len(parts))]


def _edges(knowledge: Knowledge, cells: _Interned) -> Iterator[Row]:
    undecided = {claim for f in knowledge.files.products for d in f.dispute if d.decision == "open" for claim in d.claims}
    for number, edge in enumerate(knowledge.edges):
        yield {
            "id": number,
            "claim": edge.claim,
            "kind": str(edge.kind),
            "of_product": edge.of,
            "of_mask": f"{edge.of_mask:x}",
            "to_product": edge.to,
            "to_mask": f"{edge.to_mask:x}",
            "spec": edge.spec,
            "denies": cells.id(edge.denies),
            "vouches": cells.id(edge.vouches),
            "basis": str(edge.basis),
            "devices": " ".join(sorted(edge.devices)),
            "hardware": f"{edge.hardware:x}",
            "open": int(edge.claim in undecided),
            "listed": int(edge.listed),
        }


def _claims(knowledge: Knowledge) -> Iterator[Row]:
    for cited in knowledge.claims.values():
        claim = cited.claim
        yield {
            "id": claim.id,
            "product": cited.product,
            "kind": str(claim.kind),
            "of_term": claim.of,
            "to_terms": " | ".join(claim.to),
            "when_": _when(claim),
            "basis": "observed" if claim.sources == ("index",) else str(claim.basis),
            "reason": claim.reason,
            "note": claim.note,
        }


def _when(claim: Claim) -> str:
    if claim.when is None:
        return ""
    parts = claim.when.model_dump(exclude_defaults=True)
    return ", ".join(f"{name} {' or '.join(values)}" for name, values in parts.items())


def _citations(knowledge: Knowledge) -> Iterator[Row]:
    for cited in knowledge.claims.values():
        for number, source in enumerate(cited.sources):
            yield {
                "claim": cited.claim.id,
                "n": number,
                "text": cite_text(source),
                "url": cite_url(source),
                "seen": source.seen.isoformat(),
            }


def _disputes(knowledge: Knowledge) -> Iterator[Row]:
    for file in knowledge.files.products:
        for dispute in file.dispute:
            yield {
                "id": dispute.id,
                "product": file.product.id,
                "about": dispute.about,
                "claims": _dumps(dispute.claims),
                "positions": _dumps(dispute.positions),
                "decision": dispute.decision,
                "reason": dispute.reason,
                "decided": dispute.decided.isoformat(),
                "sources": _cite(knowledge, file.product.id, dispute.sources),
            }


def _scopes(knowledge: Knowledge) -> Iterator[Row]:
    number = 0
    for product in knowledge.products.values():
        for scope in product.complete:
            if scope.what != "release":
                continue
            of, spec = split_term(scope.of)
            yield {
                "id": number,
                "product": of,
                "what": scope.what,
                "spec": spec,
                "mask": f"{knowledge.matching(of, spec):x}",
                "channel": scope.channel,
                "devices": " ".join(scope.device),
                "until": FOREVER if scope.ended else scope.until.toordinal(),
                "sources": _cite(knowledge, product.id, scope.sources),
            }
            number += 1


def _advisories(knowledge: Knowledge) -> Iterator[Row]:
    number = 0
    for file in knowledge.files.products:
        for advisory in file.advisory:
            product, mask = knowledge.mask(advisory.of)
            for term in advisory.to or ("",):
                to, to_mask = knowledge.mask(term) if term else ("", 0)
                yield {
                    "id": number,
                    "product": product,
                    "mask": f"{mask:x}",
                    "kind": advisory.kind,
                    "message": advisory.message,
                    "since": advisory.since.toordinal(),
                    "to_product": to,
                    "to_mask": f"{to_mask:x}",
                    "devices": " ".join(advisory.when.device) if advisory.when else "",
                    "sources": _cite(knowledge, file.product.id, advisory.sources),
                }
                number += 1


def _installs(knowledge: Knowledge) -> Iterator[Row]:
    for number, (file, install) in enumerate((f, i) for f in knowledge.files.products for i in f.install):
        product, mask = knowledge.mask(install.of)
        yield {
            "id": number,
            "product": product,
            "mask": f"{mask:x}",
            "steps": _dumps(install.steps),
            "waives": _dumps(install.waives),
            "note": install.note,
            "sources": _cite(knowledge, file.product.id, install.sources),
        }


def _waivers(knowledge: Knowledge) -> Iterator[Row]:
    """An install recipe may waive pins: each waived pin is an edge that does not hold beside the recipe's product."""
    for install in (i for f in knowledge.files.products for i in f.install):
        product, mask = knowledge.mask(install.of)
        for text in install.waives:
            of_term, _, to_term = (part.strip() for part in text.partition(":"))
            of, of_mask = knowledge.mask(of_term)
            to, _ = split_term(to_term)
            for number, edge in enumerate(knowledge.edges):
                if edge.of == of and edge.to == to and edge.of_mask & of_mask and edge.kind is Kind.NEEDS:
                    yield {"product": product, "mask": f"{mask:x}", "edge": number}


def _channels(knowledge: Knowledge) -> Iterator[Row]:
    for position, channel in enumerate(knowledge.files.channels.channel):
        yield {
            "id": channel.id,
            "position": position,
            "name": channel.name,
            "url": channel.url,
            "style": channel.style,
            "mirrors": _dumps(channel.mirrors),
            "hardware": " ".join(channel.hardware),
            "note": channel.note,
        }


def _routes(knowledge: Knowledge) -> Iterator[Row]:
    for route in knowledge.files.routes.route:
        yield {
            "id": route.id,
            "name": route.name,
            "rank": route.rank,
            "devices": " ".join(route.device),
            "provider": route.provider,
            "with_": " ".join(route.with_),
            "without": " ".join(route.without),
            "note": route.note,
        }


def _images(knowledge: Knowledge) -> Iterator[Row]:
    for number, (file, tag) in enumerate((f, t) for f in knowledge.files.images for t in f.tag):
        when = {revision.n: revision.at.date() for revision in file.revision}
        order = sorted(when)
        runs = []
        for listing in file.listing:
            if tag.name in listing.tags:
                for first, last in listing.runs:
                    later = [n for n in order if n > last]
                    end = when[later[0]] - timedelta(days=1) if later else date.max
                    runs.append([when[first].toordinal(), max(end, when[last]).toordinal()])
        yield {
            "id": number,
            "repository": file.repository.name,
            "name": tag.name,
            "device": tag.device,
            "runs": _dumps(sorted(runs)),
            "note": tag.note,
            "sources": _dumps([[cite_text(file.source[s]), cite_url(file.source[s])] for s in tag.sources]),
        }


def _contents(knowledge: Knowledge) -> Iterator[Row]:
    for number, (file, tag) in enumerate((f, t) for f in knowledge.files.images for t in f.tag):
        base = tag
        while not base.contains and base.same_as:
            base = next(t for t in file.tag if t.name == base.same_as)
        for contained in base.contains:
            product, spec = split_term(contained.is_)
            mask = knowledge.matching(product, spec) if product in knowledge.products else 0
            yield {
                "image": number,
                "product": product,
                "mask": f"{mask:x}",
                "spec": spec,
                "basis": str(contained.basis),
            }


def _cite(knowledge: Knowledge, product: str, names: tuple[str, ...]) -> str:
    cited = [knowledge.sources[product, name] for name in names if (product, name) in knowledge.sources]
    return _dumps([[cite_text(source), cite_url(source)] for source in cited])


def cite_text(source: Source) -> str:
    """Return a source as people read it: repository, ref, path and place."""
    at = "" if source.at is None else (f":{source.at}" if isinstance(source.at, int) else f" “{source.at}”")
    if source.repo and source.path:
        return f"{source.repo} {source.ref} {source.path}{at}"
    if source.repo:
        return f"{source.repo} {source.thread}{at}"
    if source.url:
        return f"{source.url}{at}"
    return f"{source.channel} index: {source.file}{at} (seen {source.seen})"


def cite_url(source: Source) -> str | None:
    """Return the address of a source, None where it has none that is fixed."""
    if source.url:
        return source.url
    if source.repo and re.fullmatch(r"[\w.-]+/[\w.-]+", source.repo):
        if source.thread:
            return f"https://github.com/{source.repo}/{source.thread}"
        line = f"#L{source.at}" if isinstance(source.at, int) else ""
        return f"https://github.com/{source.repo}/blob/{(source.ref or '').replace('+', '%2B')}/{source.path}{line}"
    return None


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
