"""The records of `data/` as frozen pydantic models: what a curator may write, and nothing else."""

from compatkb.core.vocabulary import Kind, Role
from compatkb.schema.base import OPEN, Basis, Dispute, Record, SourceEntry, When
from compatkb.schema.collected import CollectedFile, DevicesRead, KernelRead, TagsRead
from compatkb.schema.evidence import Level, Observation, Outcome
from compatkb.schema.families import WrittenProduct
from compatkb.schema.feature import Feature, FeatureFile, Statement, Status
from compatkb.schema.feed import DeviceFeed, Feed, FileFeed, KernelFeed, TagFeed
from compatkb.schema.guides import ApplicationFile, MachineFile, MigrationFile, PackagesFile, SymptomFile
from compatkb.schema.image import ImageFile, ListingEntry, Repository, Tag
from compatkb.schema.index import (
    Channel,
    ChannelFile,
    IndexFile,
    IndexRelease,
    IndexYank,
    RouteEntry,
    RouteFile,
    SharedMetadata,
)
from compatkb.schema.issue import Effect, ExceptionFile, Exemption, IssueEntry, IssueFile, IssueState
from compatkb.schema.product import (
    AdvisoryEntry,
    Build,
    BuiltWith,
    Claim,
    CompiledFor,
    Complete,
    EndOfLife,
    InstallEntry,
    Listed,
    Moment,
    ProductFile,
    ProductHead,
    Release,
    ReplacedBy,
    Stage,
    Variant,
    Wheels,
    Yank,
)
from compatkb.schema.timeline import EventEntry, EventKind, TimelineFile, last_day
