"""How product files are written: families of records that share most of what they say, with a row for each record.

A row is a list: cells in a fixed order, then the sources, then a table with what this record alone says. What a row
leaves out its family says; `authoring.families` makes the records of `schema.product` of them.
"""

from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from compatkb.core.vocabulary import Kind
from compatkb.schema.base import Basis, Dispute, Id, ProductId, Record, SourceEntry, Text, When
from compatkb.schema.feed import Feed
from compatkb.schema.product import (
    AdvisoryEntry,
    BuildPart,
    InstallEntry,
    Listed,
    ProductHead,
    ReleaseEntry,
    VariantPart,
)

CELL_SOURCES = "sources"
Spec = str
"""A bare version, or a specifier; empty where any version will do."""


class FamilyRow(Record):
    """A record of a family: what stands in its cells, and what it says beside them."""

    cells: ClassVar[tuple[str, ...]]

    @model_validator(mode="before")
    @classmethod
    def _read(cls, row: object) -> object:
        if not isinstance(row, list | tuple):
            raise ValueError(f"a row is a list: [{', '.join(cls.cells)}]")
        return row_fields(cls, row)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler.resolve_ref_schema(handler(core))
        fields = schema.pop("properties")
        more = {name: field for name, field in fields.items() if name not in cls.cells}
        cells = [fields[name] for name in cls.cells]
        rest = {"type": "object", "additionalProperties": False, "properties": more}
        schema.pop("required", None)
        schema.pop("additionalProperties", None)
        return schema | {
            "type": "array",
            "minItems": len(cells) - 1,
            "maxItems": len(cells) + 1,
            "prefixItems": [*cells[:-1], {"anyOf": [cells[-1], rest]}, rest],
        }


def row_fields(model: type[FamilyRow], row: list[Any] | tuple[Any, ...]) -> dict[str, Any]:
    """Return the fields of a row as it is written. Raises ValueError for cells too few or too many, or said twice."""
    cells = list(row)
    more = cells.pop() if cells and isinstance(cells[-1], dict) else {}
    if not len(model.cells) - 1 <= len(cells) <= len(model.cells):
        raise ValueError(f"a row is [{', '.join(model.cells)}], and then a table where it says more")
    if twice := more.keys() & set(model.cells):
        raise ValueError(f"{', '.join(sorted(twice))}: stands in the row already")
    return {**dict(zip(model.cells, cells, strict=False)), **more}


def _one_or_more(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Targets = Annotated[
    tuple[ProductId, ...],
    BeforeValidator(_one_or_more, json_schema_input_type=ProductId | tuple[ProductId, ...]),
    Field(min_length=1),
]


class PairRow(FamilyRow):
    """Versions of two or more products: `of` of the product of the file, `to` of those that the family names."""

    cells = ("of", "to", CELL_SOURCES)

    of: Spec
    to: Spec | tuple[Spec | tuple[Spec, ...], ...]  # any of these; where the family names several products: one each
    id: Id | None = None  # where something names the claim; else it follows from product and versions
    when: When | None = None
    basis: Basis = Basis.STATED
    reason: Text | None = None
    note: Text | None = None
    sources: tuple[Id, ...] = ()


class PairFamily(Record):
    """Claims of one kind on the same products: what the rows have in common.

    `{of}` and `{to}` in `reason` and `note` stand for the versions of the row.
    """

    needs: Targets | None = None
    constrains: Targets | None = None
    verified: Targets | None = None
    breaks: Targets | None = None
    when: When | None = None
    basis: Basis = Basis.STATED
    reason: Text | None = None
    note: Text | None = None
    sources: tuple[Id, ...] = ()  # of the rows without sources of their own
    rows: tuple[PairRow, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _of_one_kind(self) -> Self:
        if sum(getattr(self, kind) is not None for kind in Kind) != 1:
            raise ValueError(f"name the products in one of {', '.join(Kind)}")
        return self


class BuildRow(BuildPart, FamilyRow):
    """A build; it belongs to the release of its version without the local label, unless `release` names another."""

    cells = ("version", CELL_SOURCES)

    version: Text
    release: Text | None = None


class BuildFamily(BuildPart):
    """Builds that are alike; the n-th row of `wheels` or `compiled-for` of a row completes that of the family.

    `{of}` in a note stands for the release of the row, here and of variants.
    """

    rows: tuple[BuildRow, ...] = Field(min_length=1)


class VariantRow(VariantPart, FamilyRow):
    """The labels with which a release was built for a device."""

    cells = ("version", "labels", CELL_SOURCES)

    version: Text


class VariantFamily(VariantPart):
    """Builds by their labels that are alike; the n-th row of `wheels` of a row completes that of the family."""

    rows: tuple[VariantRow, ...] = Field(min_length=1)


class WrittenProduct(Record):
    """A file of data/products/ as it is written. A release without a record of its own is that of its first build."""

    product: ProductHead
    feed: tuple[Feed, ...] = ()
    source: dict[Id, SourceEntry] = {}
    release: tuple[ReleaseEntry, ...] = ()
    builds: tuple[BuildFamily, ...] = ()
    listed: tuple[Listed, ...] = ()
    variants: tuple[VariantFamily, ...] = ()
    pairs: tuple[PairFamily, ...] = ()
    dispute: tuple[Dispute, ...] = ()
    install: tuple[InstallEntry, ...] = ()
    advisory: tuple[AdvisoryEntry, ...] = ()
