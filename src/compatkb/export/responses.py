"""The JSON files of the API as pydantic models, from which their JSON Schemas are made; the answer's own is docs/schema."""

from datetime import date
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, NonNegativeInt, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import TypedDictSchema
from typing_extensions import TypedDict

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


Day = date
"""Where a member is itself called `date`."""


class SourceJson(TypedDict):
    """Where a fact comes from."""

    text: str
    url: str | None


class PositionJson(TypedDict):
    """What one side of a dispute says."""

    text: str
    claim: str | None
    sources: list[SourceJson]


class DisputeJson(TypedDict):
    """A disagreement between sources, and what was decided."""

    id: str
    about: str
    positions: list[PositionJson]
    decision: str
    holds: str | None
    reason: str
    decided: date


class ClaimJson(TypedDict):
    """What one product's versions say of another's."""

    id: str
    kind: Literal["needs", "constrains", "verified", "breaks"]
    of: str
    to: list[str]
    when: str
    basis: Literal["stated", "observed", "inferred"]
    sources: list[SourceJson]
    reason: NotRequired[str]
    note: NotRequired[str]
    disputes: NotRequired[list[DisputeJson]]


class WheelsJson(TypedDict):
    """The Pythons for which there are wheels on a system."""

    os: str
    arch: str
    python: list[str]
    basis: Literal["seen", "inferred"]


class LinksJson(TypedDict):
    """The libraries that the wheels for a system link to."""

    os: str
    arch: str
    needs: list[str]
    unlinked: list[str]
    seen: date
    conflict: str | None


class BuildJson(TypedDict):
    """A build of a release."""

    version: str
    stage: str
    devices: list[str]
    channels: list[str]
    yanked: bool
    yank_reason: str | None
    wheels: list[WheelsJson]
    links: list[LinksJson]
    sources: list[SourceJson]


class ListedReleaseJson(TypedDict):
    """A release in a list."""

    version: str
    name: str | None
    aliases: list[str]
    released: str | None
    eol: date | None
    ended: bool
    yanked: bool
    builds: list[str]
    disputed: list[str]


class ReleaseJson(TypedDict):
    """A release with its builds, claims, disputes and sources."""

    version: str
    released: str | None
    released_basis: str | None
    eol: date | None
    note: str | None
    disputed: list[str]
    sources: list[SourceJson]
    builds: list[BuildJson]
    claims: list[ClaimJson]
    claimed_by: list[ClaimJson]
    disputes: list[DisputeJson]
    features: list[dict[str, Any]]


PartJson = TypedDict("PartJson", {"is": str, "basis": Literal["stated", "inferred"]})


class TagJson(TypedDict):
    """An image tag: when it was listed (first and last day), and what it is declared to hold."""

    tag: str
    device: str
    listed: list[tuple[date, date | None]]
    is_listed: bool
    contains: list[PartJson]
    run: str
    run_notes: list[str]
    note: str | None
    disputes: list[DisputeJson]
    sources: list[SourceJson]


class RepositoryJson(TypedDict):
    """A repository of images."""

    repository: str
    tags: list[TagJson]


class EndJson(TypedDict):
    """An end of life."""

    product: str
    version: str
    last_day: date
    precision: str | None
    ended: bool
    disputed: bool
    sources: list[SourceJson]


class EventJson(TypedDict):
    """An event of the timeline; it happened between two days."""

    id: str
    vendor: str
    kind: str
    title: str
    date: str
    first_day: Day
    last_day: Day
    precision: str
    basis: str | None
    state: str
    announced: Day | None
    product: str | None
    version: str | None
    note: str | None
    disputes: list[dict[str, Any]]
    sources: list[SourceJson]


class VendorJson(TypedDict):
    """Whose events the timeline has."""

    id: str
    name: str


class ProductRowJson(TypedDict):
    """A product in a list, with numbers of its releases and builds."""

    id: str
    name: str
    role: str
    releases: NonNegativeInt
    builds: NonNegativeInt
    distribution: str | None


class OtherSuccessorJson(TypedDict):
    """A further successor, on one device or on any."""

    device: str | None
    version: str
    sources: list[str]


class SuccessorJson(TypedDict):
    """What takes the place of a product that has ended."""

    product: str
    version: str
    device: NotRequired[str | None]
    also: NotRequired[list[OtherSuccessorJson]]
    sources: list[str]


class EndRuleJson(TypedDict):
    """How the end of life of a product is decided, and whether its makers publish one."""

    published: bool
    says: str
    sources: list[SourceJson]


class ProductEndRuleJson(EndRuleJson):
    """The same in a list of products."""

    product: str


class SeriesStackJson(TypedDict):
    """The best stack of a device, of any series or of one."""

    series: str | None
    device: str
    stack: dict[str, Any]


class ApiDocument(TypedDict):
    """A file of the API: what each one begins with."""

    schema: Literal[1]
    data_date: date
    as_of: date


class IndexDocument(ApiDocument):
    """What there is."""

    program: str
    paths: list[str]
    openapi: str


class ProductsDocument(ApiDocument):
    """Every product."""

    products: list[ProductRowJson]


class ProductDocument(ApiDocument):
    """A product with its releases, newest first."""

    id: str
    name: str
    role: str
    distribution: str | None
    eol: date | None
    eol_rule: EndRuleJson | None
    replaced_by: SuccessorJson | None
    note: str | None
    releases: list[ListedReleaseJson]
    disputes: list[DisputeJson]


class ReleaseDocument(ApiDocument):
    """One version, or the releases of a series."""

    product: str
    releases: list[ReleaseJson]


class StacksDocument(ApiDocument):
    """The best stacks of every device and series."""

    stacks: list[SeriesStackJson]


class ImagesDocument(ApiDocument):
    """Every image tag."""

    repositories: list[RepositoryJson]


class EndsDocument(ApiDocument):
    """Ends of life, latest first."""

    within_days: NonNegativeInt
    ends: list[EndJson]
    rules: list[ProductEndRuleJson]


class LatestDocument(ApiDocument):
    """The newest release of a product, and of each of its series."""

    product: str
    latest: ListedReleaseJson | None
    series: dict[str, ListedReleaseJson]


class TimelineDocument(ApiDocument):
    """The timeline, oldest event first."""

    vendors: list[VendorJson]
    events: list[EventJson]


class ShieldDocument(TypedDict):
    """A badge as shields.io reads it (https://shields.io/badges/endpoint-badge)."""

    schemaVersion: Literal[1]
    label: str
    message: str
    color: str
    isError: NotRequired[bool]


class CycleJson(TypedDict):
    """A series in the shape of endoflife.date."""

    releaseCycle: str
    releaseDate: NotRequired[date]
    eol: NotRequired[date | bool]
    latest: NotRequired[str]
    latestReleaseDate: NotRequired[date]
    discontinued: NotRequired[bool]


class EndoflifeDocument(TypedDict):
    """A product in the shape of endoflife.date."""

    title: str
    category: Literal["framework", "library", "os", "lang", "device"]
    permalink: Annotated[str, Field(pattern="^/")]
    releases: list[CycleJson]


class UpdateJson(TypedDict):
    """A release in the shape of Renovate."""

    version: str
    releaseTimestamp: NotRequired[str]
    isDeprecated: NotRequired[bool]
    sourceUrl: NotRequired[str]


class RenovateDocument(TypedDict):
    """The releases of a product for a custom datasource of Renovate."""

    releases: list[UpdateJson]


_DOCUMENTS: dict[str, Any] = {
    "index": IndexDocument,
    "products": ProductsDocument,
    "product": ProductDocument,
    "release": ReleaseDocument,
    "stacks": StacksDocument,
    "images": ImagesDocument,
    "eol": EndsDocument,
    "latest": LatestDocument,
    "timeline": TimelineDocument,
    "shield": ShieldDocument,
    "endoflife": EndoflifeDocument,
    "renovate": RenovateDocument,
}
"""The kinds of files, without the answers, whose schema is docs/schema/resolve.schema.json."""


class _Closed(GenerateJsonSchema):
    """Objects have the members that are listed and no other; members have no titles beside their names."""

    def typed_dict_schema(self, schema: TypedDictSchema) -> JsonSchemaValue:
        return {**super().typed_dict_schema(schema), "additionalProperties": False}

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  # as pydantic calls it
        return False


def response_schema(name: str, summary: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of one kind of file of the API; `summary` says what it is."""
    body = TypeAdapter(_DOCUMENTS[name]).json_schema(schema_generator=_Closed)
    if name == "stacks":  # pydantic makes no reference to another file
        body["$defs"]["SeriesStackJson"]["properties"]["stack"] = {"$ref": "answer.schema.json#/$defs/stack"}
    return {**body, "$schema": _DIALECT, "$id": f"{name}.schema.json", "title": name, "description": summary}
