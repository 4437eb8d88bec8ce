"""The tables of the snapshot: the kind of record that each holds, its key, and what it is looked up by."""

from typing import Any, NamedTuple

from compatkb.store.queries.claims import Citation, ClaimRecord, FeatureRecord, InstallRecord, StatementRecord
from compatkb.store.queries.disputes import ConcernedRecord, DisputeRecord
from compatkb.store.queries.images import ColumnRecord, ContentRecord, ImageRecord, ListingRecord, RunRecord
from compatkb.store.queries.products import ChannelRecord, ElementDetails, ProductDetails, ReleaseRecord
from compatkb.store.queries.provenance import DocumentRecord, GuideRecord, ObservationRecord, ReadingRecord, SymbolRecord
from compatkb.store.records import (
    Advisory,
    Cells,
    CompleteScope,
    Edge,
    Element,
    Event,
    GridValue,
    Meta,
    ModelPattern,
    Name,
    Product,
    Route,
    Vendor,
    VersionWord,
    Waiver,
)


class Table(NamedTuple):
    """A table: its kind of record, the columns of its key (none: its rows are numbered), and those that it is looked up by."""

    kind: type[tuple[Any, ...]]
    key: str = ""
    indexes: tuple[str, ...] = ()


TABLES = {
    "meta": Table(Meta, "key"),
    "product": Table(Product, "id"),
    "product_details": Table(ProductDetails, "id"),
    "name": Table(Name, "name"),
    "grid": Table(GridValue, "dimension idx"),
    "release": Table(ReleaseRecord, "product version"),
    "element": Table(Element, "product idx"),
    "element_details": Table(ElementDetails, "product idx"),
    "word": Table(VersionWord, "product word strict"),
    "model": Table(ModelPattern, "product pattern"),
    "edge": Table(Edge, "id", ("of",)),
    "claim": Table(ClaimRecord, "id"),
    "citation": Table(Citation, "claim n", ("claim",)),
    "dispute": Table(DisputeRecord, "id"),
    "concerned": Table(ConcernedRecord, indexes=("name", "claim")),
    "scope": Table(CompleteScope),
    "advisory": Table(Advisory),
    "install": Table(InstallRecord, "id"),
    "waiver": Table(Waiver),
    "channel": Table(ChannelRecord, "id"),
    "route": Table(Route, "id"),
    "image": Table(ImageRecord, "id"),
    "listing": Table(ListingRecord),
    "column": Table(ColumnRecord, "repository name"),
    "run": Table(RunRecord),
    "feature": Table(FeatureRecord, "id"),
    "statement": Table(StatementRecord, "claim", ("product",)),
    "content": Table(ContentRecord, indexes=("product",)),
    "guide": Table(GuideRecord, "kind position"),
    "vendor": Table(Vendor, "id"),
    "event": Table(Event, "id"),
    "reading": Table(ReadingRecord),
    "document": Table(DocumentRecord),
    "observation": Table(ObservationRecord, "id"),
    "symbols": Table(SymbolRecord, "product platform"),
    "cells": Table(Cells, "id"),
}
"""Every table by its name, in the order in which they are filled."""
