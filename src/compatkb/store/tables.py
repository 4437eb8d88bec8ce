"""The tables of the snapshot: the kind of record that each holds, its key, and what it is looked up by."""

from typing import Any, NamedTuple

from compatkb.store.queries.claims import Citation, ClaimRecord, FeatureRecord, InstallRecord, StatementRecord
from compatkb.store.queries.disputes import ConcernedRecord, DisputeRecord
from compatkb.store.queries.images import ColumnRecord, ContentRecord, ImageRecord, ListingRecord, RunRecord
from compatkb.store.queries.products import ChannelRecord, ElementDetails, ProductDetails, ReleaseRecord
from compatkb.store.queries.provenance import DocumentRecord, GuideRecord, ObservationRecord, ReadingRecord
from compatkb.store.records import (
    Advisory,
    CellsRecord,
    CompleteScope,
    Defect,
    Edge,
    Element,
    Event,
    GridValue,
    MetaRecord,
    ModelPattern,
    Name,
    Product,
    Route,
    VendorRecord,
    VersionWord,
    Waiver,
)


class StoredTable(NamedTuple):
    """A table: its kind of record, the columns of its key (none: its rows are numbered), and those that it is looked up by."""

    kind: type[tuple[Any, ...]]
    key: str = ""
    indexes: tuple[str, ...] = ()


TABLES = {
    "meta": StoredTable(MetaRecord, "key"),
    "product": StoredTable(Product, "id"),
    "product_details": StoredTable(ProductDetails, "id"),
    "name": StoredTable(Name, "name"),
    "grid": StoredTable(GridValue, "dimension idx"),
    "release": StoredTable(ReleaseRecord, "product version"),
    "element": StoredTable(Element, "product idx"),
    "element_details": StoredTable(ElementDetails, "product idx"),
    "word": StoredTable(VersionWord, "product word strict"),
    "model": StoredTable(ModelPattern, "product pattern"),
    "edge": StoredTable(Edge, "id", ("of",)),
    "claim": StoredTable(ClaimRecord, "id"),
    "citation": StoredTable(Citation, "claim n", ("claim",)),
    "dispute": StoredTable(DisputeRecord, "id"),
    "concerned": StoredTable(ConcernedRecord, indexes=("name", "claim")),
    "scope": StoredTable(CompleteScope),
    "advisory": StoredTable(Advisory),
    "defect": StoredTable(Defect),
    "install": StoredTable(InstallRecord, "id"),
    "waiver": StoredTable(Waiver),
    "channel": StoredTable(ChannelRecord, "id"),
    "route": StoredTable(Route, "id"),
    "image": StoredTable(ImageRecord, "id"),
    "listing": StoredTable(ListingRecord),
    "column": StoredTable(ColumnRecord, "repository name"),
    "run": StoredTable(RunRecord),
    "feature": StoredTable(FeatureRecord, "id"),
    "statement": StoredTable(StatementRecord, "claim", ("product",)),
    "content": StoredTable(ContentRecord, indexes=("product",)),
    "guide": StoredTable(GuideRecord, "kind position"),
    "vendor": StoredTable(VendorRecord, "id"),
    "event": StoredTable(Event, "id"),
    "reading": StoredTable(ReadingRecord),
    "document": StoredTable(DocumentRecord),
    "observation": StoredTable(ObservationRecord, "id"),
    "cells": StoredTable(CellsRecord, "id"),
}
"""Every table by its name, in the order in which they are filled."""
