"""Turns features into products and statements about them into claims, so that the engine treats them like any other.

A feature has an element for each stage that it can be in. A statement that it is there vouches for its element beside the
builds named; one that it is not denies every element beside them; where nobody says anything, nothing is known.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from compatkb.authoring.knowledge_base import Knowledge, KnowledgeEdge, split_term
from compatkb.authoring.loader import DataProblem
from compatkb.core.versions import Scheme
from compatkb.schema import Claim, FeatureFile, Kind, ProductFile, ProductHead, Release, Role, Statement, Status

_RANK = 1_000_000  # after every product: what a stack can do is asked when the stack is there
_STAGES = (Status.SUPPORTED, Status.BETA, Status.PROTOTYPE)  # newest first, as files have it


def claim_id(file: FeatureFile, statement: str) -> str:
    """Return the id under which a statement is kept among all claims."""
    return f"{file.feature.id}-{statement}"


def product_files(features: Sequence[FeatureFile]) -> list[ProductFile]:
    """Return features as product files of the role `feature`."""
    return [_product_file(file) for file in features]


def clashes(files: Sequence[ProductFile], features: Sequence[FeatureFile]) -> Iterator[DataProblem]:
    """Yield what is wrong between features and products: a name used twice, a product that does not exist."""
    products = {file.product.id for file in files}
    misplaced = (file.product.id for file in files if file.product.role is Role.FEATURE)
    yield from (DataProblem(f"products/{name}.toml", None, "features are written in features/") for name in misplaced)
    for file in features:
        path, feature = f"features/{file.feature.id}.toml", file.feature
        if feature.id in products:
            yield DataProblem(path, None, f"{feature.id} is a product; a feature needs an id of its own")
        named = [feature.product, *(brought.product for brought in feature.needs)]
        yield from (DataProblem(path, None, f"{product} is no product") for product in named if product not in products)
        ids = Counter(statement.id for statement in file.statement)
        yield from (DataProblem(path, ("statement", name), "the id is used twice") for name, n in ids.items() if n > 1)


def _product_file(file: FeatureFile) -> ProductFile:
    feature = file.feature
    cited = next(iter(file.statement)).sources
    used = {statement.status for statement in file.statement} | {Status.SUPPORTED}
    claims = [_claim(file, statement) for statement in file.statement]
    claims += [
        Claim(
            id=claim_id(file, f"needs-{brought.product}"),
            kind=Kind.NEEDS,
            of=feature.id,
            to=(brought.product,),
            sources=brought.sources,
        )
        for brought in feature.needs
    ]
    disputes = [
        dispute.model_copy(
            update={
                "claims": tuple(claim_id(file, name) for name in dispute.claims),
                "decision": claim_id(file, dispute.decision) if dispute.decision in dispute.claims else dispute.decision,
            }
        )
        for dispute in file.dispute
    ]
    return ProductFile(
        product=ProductHead(
            id=feature.id, name=feature.name, role=Role.FEATURE, scheme=Scheme.LISTED, rank=_RANK, aliases=feature.aliases,
            note=feature.note,
        ),
        source=file.source,
        release=tuple(Release(version=str(stage), sources=cited) for stage in _STAGES if stage in used),
        claim=tuple(claims),
        dispute=tuple(disputes),
    )  # fmt: skip


def _claim(file: FeatureFile, statement: Statement) -> Claim:
    feature, denies = file.feature, statement.status.denies
    verb = "no longer has" if statement.status is Status.REMOVED else "does not support"
    return Claim(
        id=claim_id(file, statement.id),
        kind=Kind.BREAKS if denies else Kind.VERIFIED,
        of=feature.id if denies else f"{feature.id}=={statement.status}",
        to=(statement.of,),
        when=statement.when,
        basis=statement.basis,
        reason=statement.reason or (f"{statement.of} {verb} {feature.name}" if denies else None),
        note=statement.note,
        sources=statement.sources,
    )


def own_builds(
    knowledge: Knowledge, features: Sequence[FeatureFile], edge: KnowledgeEdge, problems: list[DataProblem]
) -> KnowledgeEdge:
    """Return an edge of a feature without the builds of other makers: what a maker says, it says of its own builds.

    A statement that names a build by its label, or that says so, covers those of vendors too. One that names no release is
    among the `problems` then.
    """
    if not edge.to_mask:
        message = f"{edge.to}{edge.spec} names no known release"
        problems.append(DataProblem(f"features/{edge.of}.toml", ("claim", edge.claim), message))
    statements = {claim_id(file, statement.id): statement for file in features for statement in file.statement}
    statement = statements.get(edge.claim)
    if statement is None or statement.vendor_builds or "+" in split_term(statement.of)[1]:
        return edge
    foreign = sum(1 << n for n, e in enumerate(knowledge.elements[edge.to]) if e.build and e.build.maker)
    return edge._replace(to_mask=edge.to_mask & ~foreign)
