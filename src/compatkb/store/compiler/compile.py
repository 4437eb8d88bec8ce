"""Compile the knowledge base into the SQLite snapshot: a table for each kind of record."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import date
from itertools import starmap
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from compatkb.authoring.index_requirements import outside_requirements
from compatkb.authoring.knowledge_base import Knowledge, cite, end_of_life
from compatkb.core.names import word_key
from compatkb.schema import Release, Role
from compatkb.store.compiler import claims, elements, provenance, tags
from compatkb.store.compiler.elements import Interned
from compatkb.store.compiler.search_index import add_search_index
from compatkb.store.connection import FORMAT
from compatkb.store.queries.products import ChannelRecord, ProductDetails, ReleaseRecord, SupportRule
from compatkb.store.records import GridValue, MetaRecord, Name, OutsideRequirement, Product, Route, Successor
from compatkb.store.rows import form_of, record_of
from compatkb.store.tables import TABLES, StoredTable


def compile_snapshot(
    knowledge: Knowledge, target: Path, digest: str, count: Callable[[str, int, int], None] | None = None
) -> None:
    """Write the snapshot of `knowledge` to the new file `target`; the same data give the same rows in the same order."""
    cells = Interned()
    rows: dict[str, Iterable[tuple[Any, ...]]] = {
        "meta": _meta(knowledge, digest),
        "product": _products(knowledge),
        "product_details": _product_details(knowledge),
        "name": _names(knowledge),
        "grid": _grid(knowledge),
        "release": _releases(knowledge),
        "element": elements.elements(knowledge, cells),
        "element_details": elements.details(knowledge),
        "word": elements.words(knowledge),
        "model": elements.models(knowledge),
        "edge": claims.edges(knowledge),
        "pair": claims.pairs(knowledge),
        "claim": claims.claims(knowledge),
        "citation": claims.citations(knowledge),
        "dispute": claims.disputes(knowledge),
        "concerned": claims.concerned(knowledge),
        "scope": claims.scopes(knowledge),
        "advisory": claims.advisories(knowledge),
        "defect": claims.defects(knowledge),
        "install": claims.installs(knowledge),
        "waiver": claims.waivers(knowledge),
        "outside": starmap(OutsideRequirement, outside_requirements(knowledge)),
        "channel": _channels(knowledge),
        "route": _routes(knowledge),
        "image": tags.images(knowledge),
        "listing": tags.listings(knowledge),
        "column": tags.columns(knowledge),
        "run": tags.runs(knowledge),
        "content": tags.contents(knowledge),
        "vendor": claims.vendors(knowledge),
        "event": claims.events(knowledge),
        "guide": provenance.guides(knowledge),
        "feature": claims.features(knowledge),
        "statement": claims.statements(knowledge),
        "document": provenance.documents(knowledge),
        "observation": provenance.observations(knowledge),
        "cells": cells.records(),
    }
    with closing(sqlite3.connect(target)) as db:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")  # a new file, which its maker puts in place when it is whole
        with db:
            for number, (name, table) in enumerate(TABLES.items(), 1):
                if count:
                    count("tables of the snapshot", number, len(TABLES))
                _fill(db, name, table, rows[name], cells)
    add_search_index(target, knowledge.edges)


def _fill(db: sqlite3.Connection, name: str, table: StoredTable, records: Iterable[tuple[Any, ...]], cells: Interned) -> None:
    """Make a table with its records and its indexes."""
    form = form_of(table.kind)
    values: list[Iterable[Any]] = [*zip(*records, strict=True)]
    for place, write in (*form.writers, *((place, cells.id) for place in form.interned)) if values else ():
        values[place] = map(write, values[place])
    table.fill(db, name, zip(*values, strict=True), packs=True)


def _meta(knowledge: Knowledge, digest: str) -> Iterator[MetaRecord]:
    yield MetaRecord("format", FORMAT)
    yield MetaRecord("data_date", _day_of_knowledge(knowledge).isoformat())
    yield MetaRecord("digest", digest)


def _day_of_knowledge(knowledge: Knowledge) -> date:
    """Return the last day on which a list of releases was read; where there is no list, anything at all.

    A thread, a table or the list of a runtime that was read later says nothing of releases that have come out since.
    """
    runtimes = {name for name, product in knowledge.distributions.items() if knowledge.products[product].role is Role.LEAF}
    lists = [
        file.seen for file in knowledge.files.index if file.release and canonicalize_name(file.distribution) not in runtimes
    ]
    lists += [scope.until for file in knowledge.files.products for scope in file.product.complete if not scope.ended]
    timeline = knowledge.files.timeline.source.values() if knowledge.files.timeline else ()
    return max(lists, default=max((source.seen for source in (*knowledge.sources.values(), *timeline)), default=date.min))


def _products(knowledge: Knowledge) -> Iterator[Product]:
    for product in knowledge.products.values():
        size = len(knowledge.elements[product.id])
        yield record_of(Product, product, size=size, label=product.label or product.id)


def _product_details(knowledge: Knowledge) -> Iterator[ProductDetails]:
    for product in knowledge.products.values():
        rule, successor = product.eol_rule, product.replaced_by
        yield record_of(
            ProductDetails,
            product,
            page_label=product.page.label if product.page else None,
            page_url=product.page.url if product.page else None,
            eol=product.eol.end.isoformat() if product.eol else None,
            eol_rule=SupportRule(rule.says, rule.published, cite(knowledge, product.id, rule.sources)) if rule else None,
            replaced_by=Successor(
                successor.product, successor.version, successor.device, cite(knowledge, product.id, successor.sources)
            )
            if successor
            else None,
            replaced_by_record=successor.model_dump(by_alias=True) if successor else None,
        )


def _names(knowledge: Knowledge) -> Iterator[Name]:
    names: dict[str, str] = {}
    products = [product for product in knowledge.products.values() if product.role is not Role.FEATURE]
    for product in products:
        builds = dict.fromkeys(e.build.distribution for e in knowledge.elements[product.id] if e.build)
        for name in (product.id, product.distribution, product.import_name, product.name, *product.aliases, *builds):
            if name:
                names.setdefault(word_key(name), product.id)
    for product in products:  # an id always means its own product
        names[word_key(product.id)] = product.id
    yield from (Name(name, product) for name, product in sorted(names.items()))


def _grid(knowledge: Knowledge) -> Iterator[GridValue]:
    grid = knowledge.grid
    wider = {element.version: element.release.part_of for element in knowledge.elements["os"]}
    archs = {element.version: element.release for element in knowledge.elements["arch"]}
    for dimension, values in (("os", grid.systems), ("arch", grid.archs), ("python", grid.pythons)):
        for number, value in enumerate(values):
            release = archs.get(value) if dimension == "arch" else None
            named = (release.systems, release.usual_on, release.same_as or "") if release else ((), (), "")
            yield GridValue(dimension, number, value, wider.get(value, ()) if dimension == "os" else (), *named)


def _releases(knowledge: Knowledge) -> Iterator[ReleaseRecord]:
    for file in knowledge.files.products:
        for position, release in enumerate(file.release):
            moment, eol = release.released, end_of_life(file.product, release)
            yield record_of(
                ReleaseRecord,
                release,
                product=file.product.id,
                position=position,
                released=_moment(release) or _uploaded(knowledge, file.product.id, release),
                basis=moment.basis if moment else None,
                eol=eol.end.isoformat() if eol else None,
                eol_precision=eol.precision if eol else None,
                eol_note=eol.note if eol else release.eol_note,
                eol_sources=cite(knowledge, file.product.id, eol.sources) if eol else (),
                sources=cite(knowledge, file.product.id, release.sources),
            )


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


def _channels(knowledge: Knowledge) -> Iterator[ChannelRecord]:
    for channel in knowledge.files.channels.channel:
        yield record_of(ChannelRecord, channel)


def _routes(knowledge: Knowledge) -> Iterator[Route]:
    for route in knowledge.files.routes.route:
        yield record_of(Route, route, devices=route.device)
