"""The records of `data/` as frozen pydantic models: what a curator may write, and nothing else."""

from compatkb.models.base import Basis, Record, Source
from compatkb.models.dispute import BOTH, OPEN, Dispute, When
from compatkb.models.evidence import Level, Observation, Outcome
from compatkb.models.exception import ExceptionFile, Exemption
from compatkb.models.feature import Feature, FeatureFile, Statement, Status
from compatkb.models.image import Contained, ImageFile, Listing, Repository, Revision, Tag
from compatkb.models.index import Channel, ChannelFile, IndexFile, IndexRelease, IndexYank, Route, RouteFile
from compatkb.models.machine import MachineFile
from compatkb.models.migration import MigrationFile
from compatkb.models.product import (
    Advisory,
    Build,
    Claim,
    Complete,
    EndOfLife,
    Install,
    Kind,
    Moment,
    Product,
    ProductFile,
    Release,
    ReplacedBy,
    Role,
    Stage,
    Wheels,
    Yank,
)
from compatkb.models.symptom import SymptomFile
from compatkb.models.timeline import Event, EventKind, TimelineFile, Vendor, last_day

__all__ = [
    "BOTH",
    "OPEN",
    "Advisory",
    "Basis",
    "Build",
    "Channel",
    "ChannelFile",
    "Claim",
    "Complete",
    "Contained",
    "Dispute",
    "EndOfLife",
    "Event",
    "EventKind",
    "ExceptionFile",
    "Exemption",
    "Feature",
    "FeatureFile",
    "ImageFile",
    "IndexFile",
    "IndexRelease",
    "IndexYank",
    "Install",
    "Kind",
    "Level",
    "Listing",
    "MachineFile",
    "MigrationFile",
    "Moment",
    "Observation",
    "Outcome",
    "Product",
    "ProductFile",
    "Record",
    "Release",
    "ReplacedBy",
    "Repository",
    "Revision",
    "Role",
    "Route",
    "RouteFile",
    "Source",
    "Stage",
    "Statement",
    "Status",
    "SymptomFile",
    "Tag",
    "TimelineFile",
    "Vendor",
    "Wheels",
    "When",
    "Yank",
    "last_day",
]
