"""Compile the knowledge base into the SQLite snapshot (through sqlite-utils): masks as hexadecimal text, dates as ordinals."""

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import sqlite_utils

from compatkb.authoring.citation import cite, dumps
from compatkb.authoring.knowledge_base import Knowledge, end_of_life
from compatkb.core.names import word_key
from compatkb.schema import Release, Role
from compatkb.store.compiler import claims, disputes, elements, features, provenance, tags, timeline
from compatkb.store.compiler.platform_sets import Interned, Row
from compatkb.store.compiler.search_index import add_search_index
from compatkb.store.records import picked
from compatkb.store.schema import FORMAT, INDEXES, TABLES


def compile_snapshot(
    knowledge: Knowledge, target: Path, digest: str, count: Callable[[str, int, int], None] | None = None
) -> None:
    """Write the snapshot of `knowledge` to the new file `target`; the same data give the same rows in the same order."""
    db = sqlite_utils.Database(target)
    try:
        with db.conn:
            db.execute("PRAGMA journal_mode = OFF")
            db.execute("PRAGMA synchronous = OFF")  # a new file, which its maker puts in place when it is whole
            cells = Interned()
            rows: dict[str, Iterator[Row]] = {
                "meta": _meta(knowledge, digest),
                "product": _products(knowledge),
                "name": _names(knowledge),
                "grid": _grid(knowledge),
                "release": _releases(knowledge),
                "element": elements.elements(knowledge, cells),
                "word": elements.words(knowledge),
                "model": elements.models(knowledge),
                "edge": claims.edges(knowledge, cells),
                "claim": claims.claims(knowledge),
                "citation": claims.citations(knowledge),
                "dispute": disputes.disputes(knowledge),
                "concerned": disputes.concerned(knowledge, cells),
                "scope": claims.scopes(knowledge),
                "advisory": claims.advisories(knowledge, cells),
                "install": claims.installs(knowledge),
                "waiver": claims.waivers(knowledge),
                "channel": _channels(knowledge),
                "route": _routes(knowledge),
                "image": tags.images(knowledge),
                "listing": tags.listings(knowledge),
                "column": tags.columns(knowledge),
                "run": tags.runs(knowledge),
                "content": tags.contents(knowledge),
                "vendor": timeline.vendors(knowledge),
                "event": timeline.events(knowledge),
                "guide": provenance.guides(knowledge),
                "reading": provenance.readings(knowledge),
                "feature": features.features(knowledge),
                "statement": features.statements(knowledge),
                "document": provenance.documents(knowledge),
                "observation": provenance.observations(knowledge),
                "symbols": provenance.symbols(knowledge),
                "cells": cells.rows(),
            }
            for number, (name, (columns, key)) in enumerate(TABLES.items(), 1):
                if count:
                    count("tables of the snapshot", number, len(TABLES))
                db.table(name).create(columns, pk=key)
                if name in rows:
                    marks = ", ".join(f":{column}" for column in columns)
                    db.conn.executemany(f"insert into [{name}] values ({marks})", rows[name])
            for name, column in INDEXES:
                db.table(name).create_index(list(column))
    finally:
        db.close()
    add_search_index(target)


def _meta(knowledge: Knowledge, digest: str) -> Iterator[Row]:
    seen = [file.seen for file in knowledge.files.index]
    seen += [source.seen for source in knowledge.sources.values()]
    seen += [source.seen for source in (knowledge.files.timeline.source if knowledge.files.timeline else {}).values()]
    yield {"key": "format", "value": FORMAT}
    yield {"key": "data_date", "value": max(seen).isoformat() if seen else date.min.isoformat()}
    yield {"key": "digest", "value": digest}


def _products(knowledge: Knowledge) -> Iterator[Row]:
    for product in knowledge.products.values():
        yield {
            **picked(
                product,
                "id name label role rank distribution import_name scheme series automatic platform shown open homepage note",
            ),
            "default_value": product.default,
            "size": len(knowledge.elements[product.id]),
            "page_label": product.page.label if product.page else None,
            "page_url": product.page.url if product.page else None,
            "eol": product.eol.last_day.isoformat() if product.eol else None,
            "eol_rule": product.eol_rule.says if product.eol_rule else None,
            "eol_rule_published": bool(product.eol_rule and product.eol_rule.published),
            "eol_rule_sources": cite(knowledge, product.id, product.eol_rule.sources) if product.eol_rule else "[]",
            "replaced_by": dumps(product.replaced_by.model_dump(by_alias=True)) if product.replaced_by else None,
            "replaced_sources": cite(knowledge, product.id, product.replaced_by.sources) if product.replaced_by else "[]",
        }


def _names(knowledge: Knowledge) -> Iterator[Row]:
    names: dict[str, str] = {}
    products = [product for product in knowledge.products.values() if product.role is not Role.FEATURE]
    for product in products:
        builds = dict.fromkeys(e.build.distribution for e in knowledge.elements[product.id] if e.build)
        for name in (product.id, product.distribution, product.import_name, product.name, *product.aliases, *builds):
            if name:
                names.setdefault(word_key(name), product.id)
    for product in products:  # an id always means its own product
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
                **picked(release, "version name track page needs proof note"),
                "position": position,
                "aliases": dumps(release.aliases),
                "part_of": " ".join(release.part_of),
                "devices": " ".join(release.devices),
                "released": _moment(release) or _uploaded(knowledge, file.product.id, release),
                "basis": moment.basis if moment else None,
                "eol": eol.last_day.isoformat() if eol else None,
                "eol_precision": eol.precision if eol else None,
                "eol_sources": cite(knowledge, file.product.id, eol.sources) if eol else "[]",
                "sources": cite(knowledge, file.product.id, release.sources),
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


def _channels(knowledge: Knowledge) -> Iterator[Row]:
    for position, channel in enumerate(knowledge.files.channels.channel):
        yield {
            **picked(channel, "id name url style note"),
            "position": position,
            "mirrors": dumps(channel.mirrors),
            "commands": dumps(channel.commands),
            "hardware": " ".join(channel.hardware),
            "os": " ".join(channel.os),
        }


def _routes(knowledge: Knowledge) -> Iterator[Row]:
    for route in knowledge.files.routes.route:
        yield {
            **picked(route, "id name rank provider on_request note"),
            "devices": " ".join(route.device),
            "with_": " ".join(route.with_),
            "without": " ".join(route.without),
        }
