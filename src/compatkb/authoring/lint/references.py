"""Every name in a record refers to something that exists, without circles, and every product can be reached."""

from collections.abc import Iterator
from functools import cache
from inspect import get_annotations
from typing import Any, get_args

import networkx as nx
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from compatkb.authoring.knowledge_base import split_term
from compatkb.authoring.lint.subject import LintProblem, LintSubject, SeenObservation, terms, walk
from compatkb.core.text_position import Where
from compatkb.core.versions import admits
from compatkb.schema import (
    FeatureFile,
    ImageFile,
    InstallEntry,
    IssueFile,
    Kind,
    ProductFile,
    Record,
    SymptomFile,
    TimelineFile,
    When,
)
from compatkb.schema.base import Refers

_Names = dict[str, set[str]]
"""What names may mean, by kind: products, features, channels, and the values of each product."""


def references(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield names that lead nowhere."""
    known = _known(subject)
    for document in subject.documents:
        for where, record in walk(document.record):
            for key, message in _wrong(record, known, subject):
                yield LintProblem(document, (*where, *key), message)
        if isinstance(document.record, ProductFile | ImageFile | FeatureFile | TimelineFile):
            for where, term, _ in terms(document.record):
                product, _ = split_term(term)
                if product not in known["product"]:
                    yield LintProblem(document, where, f"{product} is no product")
        if isinstance(document.record, SymptomFile):
            for product in sorted(document.record.products - set(subject.by_id)):
                yield LintProblem(document, (), f"{product} is no product, yet patterns or requests name it")
        for where, message in _inside(document.record):
            yield LintProblem(document, where, message)
    culprits = _culprits(subject)
    for seen in subject.seen:
        for message in _observed(seen, known, culprits):
            yield LintProblem(seen, (), message)
    distributions = {str(canonicalize_name(f.product.distribution)) for _, f in subject.products if f.product.distribution}
    for document, file in subject.index:
        if file.release and str(canonicalize_name(file.distribution)) not in distributions:
            yield LintProblem(document, ("distribution",), f"no product has the distribution {file.distribution}")


def _known(subject: LintSubject) -> _Names:
    names = {
        name: {text for release in file.release for text in (release.version, *release.part_of)}
        for name, file in subject.by_id.items()
    }
    names["product"] = set(subject.by_id)
    names["feature"] = {file.feature.id for _, file in subject.features}
    names["channel"] = {channel.id for channel in subject.files.channels.channel}
    return names


def _unknown(known: _Names, kind: str, name: str) -> str | None:
    """Return that there is no such thing, None where there is."""
    if name in known.get(kind, ()):
        return None
    return f"{name} is no {kind}" if kind in ("product", "feature", "channel") else f"{name} is no known {kind}"


@cache
def _kinds(model: type[Record]) -> dict[str, str]:
    """Return the fields of a record that name something, with the kind of it."""
    annotations = {name: a for base in reversed(model.__mro__) for name, a in get_annotations(base).items()}
    return {name: kind for name, annotation in annotations.items() for kind in _marked(annotation)}


def _marked(annotation: Any) -> Iterator[str]:
    for part in get_args(annotation):
        if isinstance(part, Refers):
            yield part.kind
        else:
            yield from _marked(part)


def _wrong(record: Record, known: _Names, subject: LintSubject) -> Iterator[tuple[Where, str]]:
    for name, kind in _kinds(type(record)).items():
        key = type(record).model_fields[name].alias or name
        for where, text in _texts(getattr(record, name), (key,)):
            if problem := _unknown(known, kind, text):
                yield where, problem
    if isinstance(record, When):
        for number, text in enumerate(record.python):
            spec = text if text[0] in "<>=!" else f"=={text}"
            try:
                scheme = subject.by_id["python"].product.scheme
                hit = any(admits(scheme, spec, name) for name in known["python"])
            except (KeyError, ValueError):
                hit = False
            if not hit:
                yield ("python", number), f"{text} names no known Python"
    if isinstance(record, InstallEntry):
        for number, text in enumerate(record.waives):
            build, _, requirement = text.partition(": ")
            try:
                Requirement(requirement)
                good = split_term(build)[0] in subject.by_id
            except (InvalidRequirement, AssertionError):
                good = False
            if not good:
                yield ("waives", number), f"{text!r} is not like `product==version: requirement`"


def _texts(value: object, where: Where) -> Iterator[tuple[Where, str]]:
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from _texts(item, (*where, number))


def _culprits(subject: LintSubject) -> set[str] | None:
    """Return what a line of evidence may blame: claims, those that an index file makes too, and disputes.

    None where names of files lead nowhere: then the claims of index files are not known, and what blames them is no news.
    """
    if subject.knowledge is None:
        return None
    disputes = {dispute.id for document in subject.documents for dispute in getattr(document.record, "dispute", ())}
    return disputes.union(subject.claims, subject.knowledge.claims)


def _observed(seen: SeenObservation, known: _Names, culprits: set[str] | None) -> Iterator[str]:
    """Yield what a line of evidence names that is not there; packages may be others than the data know."""
    observation = seen.observation
    for kind, name in (
        ("channel", observation.index),
        ("os", observation.os),
        ("arch", observation.arch),
        ("python", observation.python),
        ("device", observation.device),
    ):
        if problem := _unknown(known, kind, name):
            yield problem
    if culprits is not None and observation.culprit and observation.culprit not in culprits:
        yield f"culprit {observation.culprit} is no claim and no dispute"


def _inside(file: Record) -> Iterator[tuple[Where, str]]:
    """Yield what points to other records of the same file, and leads nowhere."""
    if isinstance(file, ProductFile):
        yield from _product(file)
    elif isinstance(file, ImageFile):
        yield from _tags(file)
    elif isinstance(file, SymptomFile):
        for kind, records in (("cause", file.cause), ("symptom", file.symptom)):
            ids = [record.id for record in records]
            yield from (((kind, n, "id"), f"{name} is there twice") for n, name in enumerate(ids) if name in ids[:n])


def _product(file: ProductFile) -> Iterator[tuple[Where, str]]:
    versions = {release.version for release in file.release}
    for number, release in enumerate(file.release):
        for position, name in enumerate(release.part_of):
            if name == release.version:
                yield ("release", number, "part-of", position), f"{name} is part of itself"
        if release.chips_of and (release.chips_of not in versions or release.chips_of == release.version):
            yield ("release", number, "chips-of"), f"{release.chips_of} is no other version of {file.product.id}"
    if file.product.default and file.product.default not in versions:
        yield ("product", "default"), f"{file.product.default} is no version of {file.product.id}"
    for alias, series in file.product.series_aliases.items():
        if not any(version == series or version.startswith(f"{series}.") for version in versions):
            yield ("product", "series-aliases", alias), f"{series} is no series of {file.product.id}"


def _tags(file: ImageFile) -> Iterator[tuple[Where, str]]:
    """Yield what points to tags and revisions of the same image file."""
    names = {tag.name for tag in file.tag}
    revisions = {revision.n for revision in file.revision}
    columns = {column.id for column in file.column}
    for number, dispute in enumerate(file.dispute):
        for position, name in enumerate(dispute.columns):
            if name not in columns:
                yield ("dispute", number, "columns", position), f"{name} is no column of this file"
    for number, listing in enumerate(file.listing):
        for position, name in enumerate(listing.tags):
            if name not in names and listing.table not in file.repository.other_tables:
                yield ("listing", number, "tags", position), f"{name} is no tag of this repository"
        for position, (first, last) in enumerate(listing.runs):
            if first > last or not {first, last} <= revisions:
                yield ("listing", number, "runs", position), f"{first} to {last} are no revisions of the document"


def loops(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield one finding per loop, at the record that comes first in it."""
    replaced: nx.DiGraph[str] = nx.DiGraph()
    needs: nx.DiGraph[str] = nx.DiGraph()
    for _, file in subject.products:
        if file.product.replaced_by:
            replaced.add_edge(file.product.id, file.product.replaced_by.product)
        for claim in file.claim:
            if claim.kind is Kind.NEEDS:
                needs.add_edges_from((split_term(claim.of)[0], split_term(term)[0]) for term in claim.to)
    heads = {file.product.id: document for document, file in subject.products}
    for graph, key, verb in ((replaced, "replaced-by", "is replaced by"), (needs, "id", "needs")):
        for loop in _loops(graph):
            if loop[0] in heads:
                message = f" {verb} ".join((*loop, loop[0]))
                yield LintProblem(heads[loop[0]], ("product", key), message)
    for document, file in subject.products:
        wider: nx.DiGraph[str] = nx.DiGraph((release.version, name) for release in file.release for name in release.part_of)
        numbers = {release.version: n for n, release in enumerate(file.release)}
        for loop in _loops(wider):
            yield LintProblem(document, ("release", numbers[loop[0]], "part-of"), " is part of ".join((*loop, loop[0])))


def _loops(graph: "nx.DiGraph[str]") -> list[list[str]]:
    """Return the loops of a graph, each from its first name on, sorted; one per knot, so that there are few."""
    loops = []
    for knot in nx.strongly_connected_components(graph):
        start = min(knot)
        if len(knot) > 1 or graph.has_edge(start, start):
            loops.append([name for name, _ in nx.find_cycle(graph.subgraph(knot), start)])
    return sorted(loops)


def reachable(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield products that no route, image, platform or known issue leads to by claims or requirements, however far away."""
    if subject.knowledge is None:
        return
    start = "the questions"
    graph: nx.Graph[str] = nx.Graph()
    graph.add_node(start)
    for route in subject.files.routes.route:
        graph.add_edges_from((start, name) for name in (route.provider, *route.with_, *route.without))
    for _, file in subject.products:
        graph.add_node(file.product.id)
        if file.product.platform or file.product.default:
            graph.add_edge(start, file.product.id)
    for document in subject.documents:
        if isinstance(document.record, ProductFile | ImageFile | FeatureFile):
            own = document.record.product.id if isinstance(document.record, ProductFile) else start
            graph.add_edges_from((own, split_term(term)[0]) for _, term, _ in terms(document.record))
    graph.add_edges_from((edge.of, edge.to) for edge in subject.knowledge.edges)
    used = {device for _, file in subject.products for r in file.release for build in r.build for device in build.devices}
    for name, file in subject.by_id.items():
        if used & {release.version for release in file.release}:
            graph.add_edge(start, name)
    for _, issues in subject.of(IssueFile):
        named = [[each.product for each in issue.where if each.product] for issue in issues.issue]
        graph.add_edges_from((start, product) for products in named for product in products)
    reached = nx.node_connected_component(graph, start)
    for document, file in subject.products:
        if file.product.id not in reached:
            message = f"{file.product.id} is unreachable: no route, image, known issue, claim or requirement refers to it"
            yield LintProblem(document, ("product", "id"), message)
