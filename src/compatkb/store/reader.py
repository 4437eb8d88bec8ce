"""A compiled knowledge base, read lazily with the standard library: only what a question touches."""

from compatkb.store.queries.claims import ClaimQueries
from compatkb.store.queries.disputes import DisputeQueries
from compatkb.store.queries.images import ImageQueries
from compatkb.store.queries.provenance import ProvenanceQueries
from compatkb.store.queries.search import SearchQueries


class Snapshot(ClaimQueries, DisputeQueries, ImageQueries, ProvenanceQueries, SearchQueries):
    """The facts of a compiled knowledge base; immutable, and safe to share between questions of one thread."""
