"""Builds the knowledge base from validated files: resolves references, turns claims into edges, places every build."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from packaging.utils import canonicalize_name

from compatkb.authoring.build_kinds import builds_of, keep_kinds_apart
from compatkb.authoring.disputes import find_problems, leave_open, lost_claims
from compatkb.authoring.feature_products import clashes, own_builds, product_files
from compatkb.authoring.hardware_support import mark_gaps, support_alike_hardware, support_any_hardware, support_other_systems
from compatkb.authoring.index_requirements import index_edges, required_always, shared_imports
from compatkb.authoring.knowledge_base import Knowledge, KnowledgeEdge, KnowledgeElement, SourcedClaim, python_term, split_term
from compatkb.authoring.loader import PACKAGES, DataProblem, Files
from compatkb.authoring.timeline import date_events
from compatkb.authoring.wheel_platforms import place
from compatkb.core.platforms import Grid
from compatkb.core.versions import Scheme, parse, specifier
from compatkb.core.vocabulary import ANY_VERSION
from compatkb.errors import DataError
from compatkb.schema import Claim, IndexFile, Kind, ProductFile, ProductHead, Release, Role


def build_knowledge(files: Files) -> Knowledge:
    """Resolve everything that the files refer to; raises DataError naming each dangling reference."""
    knowledge, problems = resolve(files)
    if knowledge is None or problems:
        raise DataError(tuple(map(str, problems)))
    return knowledge


def resolve(files: Files) -> tuple[Knowledge | None, tuple[DataProblem, ...]]:
    """Return what the files say as far as it resolves, and what does not; None where the platforms are not known."""
    problems = list(clashes(files.products, files.features))
    by_id = {file.product.id: file for file in (*product_files(files.features), *files.products)}
    ordered = sorted(by_id.values(), key=lambda file: (file.product.rank, file.product.id))
    index = {str(canonicalize_name(file.distribution)): _readable(file, problems) for file in files.index}
    grid = _grid(by_id, problems)
    if grid is None:
        return None, tuple(problems)
    channels = tuple(channel.id for channel in files.channels.channel)
    elements = {file.product.id: _elements(file, index, channels, problems) for file in ordered}
    _add_pinned_leaves(by_id, index, elements)
    sources = {(file.product.id, name): source for file in ordered for name, source in file.source.items()}
    knowledge = Knowledge(files, grid, {f.product.id: f.product for f in ordered}, elements, {}, [], {}, sources)
    for file in ordered:
        for claim in file.claim:
            if claim.id in knowledge.claims:
                problems.append(DataProblem(_path(file.product), ("claim", claim.id), "the id is used twice"))
            problems += [
                DataProblem(_path(file.product), ("claim", claim.id), f"source {name} is not defined")
                for name in claim.sources
                if name not in file.source
            ]
            cited = tuple(file.source[s] for s in claim.sources if s in file.source)
            if unreadable := _unreadable(knowledge, claim):
                problems.append(DataProblem(_path(file.product), ("claim", claim.id), unreadable))
            else:
                knowledge.claims[claim.id] = SourcedClaim(claim, file.product.id, cited)
    named = files.packages.clash_claim if files.packages else ()
    problems += [DataProblem(PACKAGES, None, f"{one.id} is no claim") for one in named if one.id not in knowledge.claims]
    problems += _unreadable_terms(knowledge)
    problems += tag_problems(files)
    _imply(knowledge, problems)
    place(knowledge)
    lost = lost_claims(files)
    disputed = list(find_problems(knowledge))
    problems += disputed
    if not disputed:
        leave_open(knowledge)
    for cited_claim in tuple(knowledge.claims.values()):
        if cited_claim.claim.id not in lost:
            edges = _edges(knowledge, cited_claim, problems)
            if knowledge.products[cited_claim.product].role is Role.FEATURE:
                edges = (own_builds(knowledge, files.features, edge, problems) for edge in edges)
            knowledge.edges += edges
    stated: dict[str, list[KnowledgeEdge]] = {}
    for edge in knowledge.edges:
        stated.setdefault(edge.of, []).append(edge)
    for file in ordered:
        distribution = file.product.distribution
        if distribution and (listed := index.get(str(canonicalize_name(distribution)))):
            knowledge.edges += index_edges(knowledge, file.product.id, listed, stated.get(file.product.id, ()))
    knowledge.edges += shared_imports(knowledge)
    keep_kinds_apart(knowledge, problems)
    support_any_hardware(knowledge)
    support_other_systems(knowledge)
    support_alike_hardware(knowledge)
    mark_gaps(knowledge)
    date_events(knowledge, problems)
    return knowledge, tuple(problems)


def _path(product: ProductHead) -> str:
    return f"{'features' if product.role is Role.FEATURE else 'products'}/{product.id}.toml"


def _readable(file: IndexFile, problems: list[DataProblem]) -> IndexFile:
    """Return an index file without the releases whose version or Python bound cannot be read."""
    releases = []
    for release in file.release:
        try:
            parse(Scheme.PEP440, release.version)
            specifier(release.requires_python)
        except ValueError as error:
            path = f"index/{canonicalize_name(file.distribution)}.toml"
            problems.append(DataProblem(path, ("release", release.version), str(error)))
        else:
            releases.append(release)
    return file.model_copy(update={"release": tuple(releases)})


def _unreadable(knowledge: Knowledge, claim: Claim) -> str | None:
    """Return why a term or a condition of a claim cannot be read, None where all can."""
    if claim.when and claim.when.hardware and "hardware" not in knowledge.products:
        return "there is no product hardware"
    pythons = map(python_term, claim.when.python if claim.when else ())
    return next(filter(None, (_unreadable_term(knowledge, term) for term in (claim.of, *claim.to, *pythons))), None)


def _unreadable_term(knowledge: Knowledge, term: str) -> str | None:
    product, spec = split_term(term)
    try:
        if product in knowledge.products:
            knowledge.matching(product, spec)
    except ValueError as error:
        return str(error)
    return None


def _unreadable_terms(knowledge: Knowledge) -> Iterator[DataProblem]:
    """Yield the terms outside claims that cannot be read."""
    for file in knowledge.files.products:
        path = f"products/{file.product.id}.toml"
        terms = [("complete", scope.of) for scope in file.product.complete]
        terms += [("install", install.of) for install in file.install]
        terms += [("advisory", term) for advisory in file.advisory for term in (advisory.of, *advisory.to)]
        for what, term in terms:
            if reason := _unreadable_term(knowledge, term):
                yield DataProblem(path, None, f"{what}: {term}: {reason}")
    for images in knowledge.files.images:
        path = f"images/{images.repository.id}.toml"
        for name, term in [(tag.name, held.is_) for tag in images.tag for held in tag.contains]:
            if reason := _unreadable_term(knowledge, term):
                yield DataProblem(path, ("tag", name), f"{term}: {reason}")


def tag_problems(files: Files) -> Iterator[DataProblem]:
    """Yield the image tags that say that they are the same as one that is not there, or in the end as themselves."""
    for file in files.images:
        tags = {tag.name: tag.same_as for tag in file.tag}
        for name, same in tags.items():
            seen = {name}
            while same is not None and same not in seen and same in tags:
                seen.add(same)
                same = tags[same]
            if same is not None:
                what = "leads back to itself" if same in seen else "is no tag of this file"
                yield DataProblem(f"images/{file.repository.id}.toml", ("tag", name), f"same-as {same} {what}")


def _grid(by_id: dict[str, ProductFile], problems: list[DataProblem]) -> Grid | None:
    platform = [file for file in by_id.values() if file.product.platform]
    values = {file.product.id: file for file in platform}
    missing = [name for name in ("os", "arch", "python") if name not in values]
    if missing:
        problems += (
            DataProblem(f"products/{name}.toml", None, f"the platform dimension {name} is missing") for name in missing
        )
        return None
    systems = {release.version: release.part_of for release in reversed(values["os"].release)}
    archs = tuple(release.version for release in reversed(values["arch"].release))
    try:
        pythons = sorted((release.version for release in values["python"].release), key=lambda text: parse(Scheme.MINOR, text))
    except ValueError as error:
        problems.append(DataProblem("products/python.toml", None, str(error)))
        return None
    return Grid(systems, archs, tuple(pythons))


def _elements(
    file: ProductFile, index: dict[str, IndexFile], channels: Sequence[str], problems: list[DataProblem]
) -> list[KnowledgeElement]:
    product = file.product
    listed = {}
    if product.distribution:
        index_file = index.get(str(canonicalize_name(product.distribution)))
        listed = {parse(Scheme.PEP440, r.version): r for r in index_file.release} if index_file else {}
    elements: list[KnowledgeElement] = []
    for release in file.release:
        builds = builds_of(product, release, channels)
        try:
            parse(product.scheme, release.version)
            for build in builds:
                parse(product.scheme, build.version)
        except ValueError as error:
            problems.append(DataProblem(_path(product), ("release", release.version), str(error)))
            continue
        entry = listed.get(parse(Scheme.PEP440, release.version)) if product.scheme is Scheme.PEP440 else None
        for build in builds:
            on_default = "default" in build.channels
            elements.append(KnowledgeElement(product.id, build.version, release, build, entry if on_default else None, entry))
        if not builds:
            elements.append(
                KnowledgeElement(
                    product.id, release.version, release, None, entry if product.role is Role.LEAF else None, entry
                )
            )
    if product.role is Role.LEAF:
        known = {parse(product.scheme, element.version) for element in elements}
        for version, entry in listed.items():
            if version not in known:
                release = Release(version=entry.version, sources=("index",))
                elements.append(KnowledgeElement(product.id, entry.version, release, None, entry, entry))
    return _oldest_first(product.scheme, elements)


def _oldest_first(scheme: Scheme, elements: list[KnowledgeElement]) -> list[KnowledgeElement]:
    """Sort by release; of one release, the product's own builds count as newer than others', plain ones as newest."""
    elements = elements[::-1]
    if scheme is Scheme.LISTED:
        return elements

    def age(element: KnowledgeElement) -> Any:
        build = element.build
        own, plain = build is None or build.maker is None, build is None or "default" in build.channels
        return (parse(scheme, element.release.version), own, plain, parse(scheme, element.version))

    return sorted(elements, key=age)


def _add_pinned_leaves(
    by_id: dict[str, ProductFile], index: dict[str, IndexFile], elements: dict[str, list[KnowledgeElement]]
) -> None:
    """Leaf products have the versions that claims pin exactly, beside those that they list."""
    named: dict[str, set[str]] = {}
    leaves = {name: file.product for name, file in by_id.items() if file.product.role is Role.LEAF}
    terms = {split_term(term) for file in by_id.values() for claim in file.claim for term in claim.to}
    names = {str(canonicalize_name(head.distribution)): name for name, head in leaves.items() if head.distribution}
    required = {text for file in index.values() for release in file.release for text in release.requires}
    for requirement in filter(None, map(required_always, required)):
        if product := names.get(requirement.name):
            terms.add((product, requirement.spec))
    for product, spec in terms:
        if product in leaves:
            for clause in spec.split(","):
                match = re.fullmatch(r"\s*==\s*([^*\s]+)", clause)
                if match and _reads(leaves[product].scheme, match[1]):
                    named.setdefault(product, set()).add(match[1])
    for product, versions in named.items():
        scheme = by_id[product].product.scheme
        known = {parse(scheme, element.version) for element in elements[product]}
        for version in sorted(versions):
            if parse(scheme, version) not in known:
                known.add(parse(scheme, version))
                elements[product].append(
                    KnowledgeElement(product, version, Release(version=version, sources=("pins",)), echo=True)
                )
        elements[product] = _oldest_first(scheme, elements[product][::-1])


def _reads(scheme: Scheme, version: str) -> bool:
    try:
        parse(scheme, version)
    except ValueError:
        return False
    return True


def _imply(knowledge: Knowledge, problems: list[DataProblem]) -> None:
    """Read what an OS release says of other dimensions (its glibc)."""
    for cited in knowledge.claims.values():
        product, spec = split_term(cited.claim.of)
        if product != "os" or cited.claim.kind is not Kind.NEEDS:
            continue
        for term in cited.claim.to:
            dimension, wanted = split_term(term)
            if dimension not in knowledge.products:
                problems.append(DataProblem("products/os.toml", ("claim", cited.claim.id), f"{dimension} is no product"))
                continue
            mask = knowledge.matching(dimension, wanted)
            values = knowledge.implied.setdefault(dimension, {})
            for element in knowledge.of_mask("os", knowledge.matching("os", spec)):
                values[element.version] = values.get(element.version, mask) & mask


def _edges(knowledge: Knowledge, cited: SourcedClaim, problems: list[DataProblem]) -> Iterator[KnowledgeEdge]:
    claim = cited.claim
    path, record = _path(knowledge.products[cited.product]), ("claim", claim.id)
    of, of_spec = split_term(claim.of)
    unknown = [p for p in (of, *(split_term(t)[0] for t in claim.to)) if p not in knowledge.products]
    if unknown:
        problems += [DataProblem(path, record, f"{product} is no product") for product in unknown]
        return
    try:
        of_mask = knowledge.matching(of, of_spec)
        targets: dict[str, tuple[int, list[str]]] = {}
        for term in claim.to:
            to, spec = split_term(term)
            mask, specs = targets.get(to, (0, []))
            targets[to] = (mask | knowledge.matching(to, spec), [*specs, spec])
    except ValueError as error:
        problems.append(DataProblem(path, record, str(error)))
        return
    if not of_mask:
        problems.append(DataProblem(path, record, f"{claim.of} names no known release"))
        return
    when = claim.when
    holds = knowledge.cells_of(when)
    widened = holds | knowledge.cells_of(when, around=True)  # what holds on one Linux holds on some Linux, and on no other one
    devices = frozenset(when.device if when else ())
    hardware = knowledge.hardware(when.hardware if when else ())
    for to, (to_mask, specs) in targets.items():
        supported = 0 if claim.kind is Kind.BREAKS or not all(specs) else widened
        forbidden = 0 if claim.kind is Kind.VERIFIED else holds
        spec = " or ".join(s or ANY_VERSION for s in specs)
        edge = KnowledgeEdge(
            claim.id, claim.kind, of, of_mask, to, to_mask, spec, forbidden, supported, claim.basis, devices, hardware
        )
        yield edge
        if forbidden and of != "os" and to in knowledge.implied:
            yield from _through_os(knowledge, edge)


def _through_os(knowledge: Knowledge, edge: KnowledgeEdge) -> Iterator[KnowledgeEdge]:
    """A rule about a dimension that an OS fixes (its glibc) is a rule about that OS."""
    allowed = ~edge.to_mask if edge.kind is Kind.BREAKS else edge.to_mask
    for number, element in enumerate(knowledge.elements["os"]):
        implied = knowledge.implied[edge.to].get(element.version, 0)
        if implied and not implied & allowed:
            yield KnowledgeEdge(
                edge.claim, Kind.BREAKS, edge.of, edge.of_mask, "os", 1 << number, f"=={element.version}",
                edge.forbidden_on, 0, edge.basis, edge.devices, edge.hardware,
            )  # fmt: skip
