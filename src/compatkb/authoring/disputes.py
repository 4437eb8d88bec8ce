"""Applies disputes to the knowledge base: which claims lost, what stays open, what each one concerns."""

from collections.abc import Iterator

from compatkb.authoring.feature_products import product_files
from compatkb.authoring.knowledge_base import Knowledge, split_term
from compatkb.authoring.loader import DataProblem, Files
from compatkb.schema import OPEN, Dispute, ProductFile, SourceEntry


def claiming(files: Files) -> tuple[ProductFile, ...]:
    """Return the files that make claims: those of products, and those of features as the products that they become."""
    return (*files.products, *product_files(files.features))


def lost_claims(files: Files) -> set[str]:
    """Return the ids of claims that do not hold, since another side of their dispute does."""
    decided = [d for file in claiming(files) for d in file.dispute if d.decision in d.claims]
    return {claim for dispute in decided for claim in dispute.claims if claim != dispute.decision}


def open_claims(files: Files) -> set[str]:
    """Return the ids of claims of which nobody has decided whether they hold."""
    return {claim for file in claiming(files) for d in file.dispute if d.decision == OPEN for claim in d.claims}


def disputes_of(files: Files) -> Iterator[tuple[str, str, Dispute, dict[str, SourceEntry]]]:
    """Yield every dispute with kind and name of its file (no name where there is one of a kind), and that file's sources."""
    for product in files.products:
        yield from (("product", product.product.id, dispute, product.source) for dispute in product.dispute)
    for feature in product_files(files.features):
        yield from (("feature", feature.product.id, dispute, feature.source) for dispute in feature.dispute)
    for image in files.images:
        yield from (("image", image.repository.name, dispute, image.source) for dispute in image.dispute)
    yield from (("channel", "", dispute, files.channels.source) for dispute in files.channels.dispute)
    if files.timeline:
        yield from (("timeline", "", dispute, files.timeline.source) for dispute in files.timeline.dispute)


def leave_open(knowledge: Knowledge) -> None:
    """Count wheels as neither seen nor missing on the platforms for which an open dispute leaves them open."""
    for file in knowledge.files.products:
        for dispute in file.dispute:
            when = dispute.when
            if (
                dispute.decision != OPEN
                or dispute.claims
                or not when
                or when.hardware
                or not (when.os or when.arch or when.python)
            ):
                continue
            cells = knowledge.cells_of(when)
            for term in dispute.of:
                product, mask = knowledge.mask(term)
                for element in knowledge.of_mask(product, mask):
                    element.floors = [f._replace(seen=f.seen & ~cells, guessed=f.guessed & ~cells) for f in element.floors]
                    element.build = element.build and element.build.model_copy(update={"wheels_complete": False})


def find_problems(knowledge: Knowledge) -> Iterator[DataProblem]:
    """Yield what is wrong with disputes: ids used twice, claims, terms, tags, channels and sources that are not there."""
    files = knowledge.files
    seen: set[str] = set()
    images = {file.repository.name: file for file in files.images}
    channels = {channel.id for channel in files.channels.channel}
    events = {event.id for event in files.timeline.event} if files.timeline else set()
    for kind, name, dispute, sources in disputes_of(files):
        wrong = ["the id is used twice"] if dispute.id in seen else []
        seen.add(dispute.id)
        wrong += [f"source {source} is not defined" for source in dispute.sources if source not in sources]
        for claim in dispute.claims:
            if claim not in knowledge.claims or knowledge.claims[claim].product != name:
                wrong.append(f"claim {claim} is not in this file")
        for thing in dispute.of:
            if kind in ("product", "feature"):
                wrong += _term_problems(knowledge, thing)
            elif kind == "image" and all(thing != tag.name for tag in images[name].tag):
                wrong.append(f"{thing} is no tag of this file")
            elif kind == "channel" and thing not in channels:
                wrong.append(f"{thing} is no channel")
            elif kind == "timeline" and thing not in events:
                wrong.append(f"{thing} is no event of this file")
        stem = images[name].repository.id if kind == "image" else name
        path = f"{kind}s/{stem}.toml" if name else {"channel": "channels.toml", "timeline": "timeline.toml"}[kind]
        yield from (DataProblem(path, ("dispute", dispute.id), message) for message in wrong)


def _term_problems(knowledge: Knowledge, term: str) -> Iterator[str]:
    try:
        product, spec = split_term(term)
        if product not in knowledge.products:
            yield f"{product} is no product"
        elif not knowledge.matching(product, spec):
            yield f"{term} names no known release"
    except (ValueError, AssertionError):
        yield f"{term!r} is not a product id with an optional specifier"
