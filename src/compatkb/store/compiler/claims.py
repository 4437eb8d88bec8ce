"""Rows of the snapshot about claims: edges, citations, scopes, advisories, install recipes; disputes, features, events."""

from collections.abc import Iterator
from functools import reduce
from operator import or_

from compatkb.authoring.disputes import disputes_of, open_claims
from compatkb.authoring.feature_products import claim_id
from compatkb.authoring.knowledge_base import (
    ClaimOrigin,
    Knowledge,
    SourcedClaim,
    cite,
    cited,
    split_term,
)
from compatkb.authoring.timeline import date_events
from compatkb.core.vocabulary import FOREVER, Certainty
from compatkb.schema import (
    OPEN,
    Basis,
    Claim,
    Dispute,
    Effect,
    Feature,
    IssueEntry,
    IssueState,
    Kind,
    Role,
    SourceEntry,
    When,
)
from compatkb.store.queries.claims import (
    Citation,
    ClaimRecord,
    FeatureRecord,
    FeatureSuccessor,
    InstallRecord,
    StatementRecord,
)
from compatkb.store.queries.disputes import ConcernedRecord, DisputeRecord, PositionRecord
from compatkb.store.records import Advisory, CompleteScope, Defect, Edge, Event, Pair, VendorRecord, Waiver, part_of
from compatkb.store.rows import record_of


def features(knowledge: Knowledge) -> Iterator[FeatureRecord]:
    """Yield one record a feature."""
    for file in knowledge.files.features:
        feature = file.feature
        yield record_of(
            FeatureRecord,
            feature,
            needs=tuple(brought.product for brought in feature.needs),
            replaced_by=_successor(knowledge, feature),
            sources=cite(knowledge, feature.id, tuple(s for brought in feature.needs for s in brought.sources)),
        )


def _successor(knowledge: Knowledge, feature: Feature) -> FeatureSuccessor | None:
    instead = feature.replaced_by
    if instead is None:
        return None
    sources = cite(knowledge, feature.id, instead.sources)
    return FeatureSuccessor(instead.feature, str(instead.basis), instead.note, sources)


def statements(knowledge: Knowledge) -> Iterator[StatementRecord]:
    """Yield one record a statement, in the order of its file.

    Its elements are those of which it really speaks: what is said of a device is not said of builds for another one.
    """
    masks = {edge.claim: edge.to_mask for edge in knowledge.edges}
    for file in knowledge.files.features:
        for position, statement in enumerate(file.statement):
            name = claim_id(file, statement.id)
            product, spec = split_term(statement.of)
            when, claim = statement.when or When(), knowledge.claims[name].claim
            yield record_of(
                StatementRecord,
                when,
                claim,
                claim=name,
                feature=file.feature.id,
                position=position,
                product=product,
                spec=spec,
                mask=masks.get(name, 0) & _made_for(knowledge, product, when),
                status=str(statement.status),
                basis=str(statement.basis),
            )


def _made_for(knowledge: Knowledge, product: str, when: When) -> int:
    """Return the elements of a product that are for one of the devices of a condition."""
    if not when.device:
        return -1
    elements = knowledge.elements.get(product, [])
    fits = (n for n, e in enumerate(elements) if e.build is None or set(e.build.devices) & set(when.device))
    return sum(1 << n for n in fits)


def vendors(knowledge: Knowledge) -> Iterator[VendorRecord]:
    """Yield those whose events there are, in the order of the data."""
    file = knowledge.files.timeline
    yield from (VendorRecord(vendor.id, vendor.name) for vendor in (file.vendor if file else ()))


def events(knowledge: Knowledge) -> Iterator[Event]:
    """Yield the events, oldest first."""
    for dated in date_events(knowledge, []):
        event = dated.event
        yield record_of(
            Event,
            dated,
            event,
            vendor=event.who,
            first=dated.first.toordinal(),
            last=dated.last.toordinal(),
            announced=event.announced.toordinal() if event.announced else None,
            sources=cited(dated.sources),
        )


def edges(knowledge: Knowledge) -> Iterator[Edge]:
    """Yield what the engine reads."""
    undecided = open_claims(knowledge.files)
    for number, edge in enumerate(knowledge.edges):
        level = Certainty.INFERRED if edge.basis is Basis.INFERRED else Certainty.CERTAIN
        is_open, stated = edge.claim in undecided, edge.basis is Basis.STATED
        parts = {"part": part_of(edge.of_mask), "to_part": part_of(edge.to_mask)}
        yield record_of(Edge, edge, id=number, level=level, open=is_open, stated=stated, **parts)


def pairs(knowledge: Knowledge) -> Iterator[Pair]:
    """Yield who says something of whom, in the order of the edges."""
    kinds: dict[tuple[str, str], set[str]] = {}
    for edge in knowledge.edges:
        if not edge.extra:
            kinds.setdefault((edge.of, edge.to), set()).add(str(edge.kind))
    yield from (Pair(of, to, frozenset(said)) for (of, to), said in kinds.items())


def claims(knowledge: Knowledge) -> Iterator[ClaimRecord]:
    """Yield what people read: one record a claim."""
    for made in knowledge.claims.values():
        claim = made.claim
        yield record_of(
            ClaimRecord,
            claim,
            product=made.product,
            of_term=claim.of,
            to_terms=claim.to,
            condition=_when(claim),
            basis=_basis(made),
            origin=str(made.origin),
        )


def _basis(made: SourcedClaim) -> str:
    """Return on what a claim rests; what an index or a command says was observed, unless it is concluded from that."""
    is_made = made.origin is not ClaimOrigin.PEOPLE and made.claim.basis is not Basis.INFERRED
    return str(Basis.OBSERVED if is_made else made.claim.basis)


def _when(claim: Claim) -> str:
    if claim.when is None:
        return ""
    parts = claim.when.model_dump(exclude_defaults=True, exclude={"not_os"})  # of that the reason tells
    return ", ".join(f"{name} {' or '.join(values)}" for name, values in parts.items())


def citations(knowledge: Knowledge) -> Iterator[Citation]:
    """Yield the sources of claims."""
    for made in knowledge.claims.values():
        for number, source in enumerate(made.sources):
            yield Citation(made.claim.id, number, *source.cited, source.seen.isoformat())


def scopes(knowledge: Knowledge) -> Iterator[CompleteScope]:
    """Yield the scopes in which the list of releases is whole."""
    for product in knowledge.products.values():
        for scope in product.complete:
            if scope.what != "release":
                continue
            of, spec = split_term(scope.of)
            yield CompleteScope(
                product=of,
                spec=spec,
                mask=knowledge.matching(of, spec),
                devices=scope.device,
                until=FOREVER if scope.ended else scope.until.toordinal(),
                channel=scope.channel,
                sources=cite(knowledge, product.id, scope.sources),
            )


def advisories(knowledge: Knowledge) -> Iterator[Advisory]:
    """Yield advisories, one for each product that they need beside them."""
    for file in knowledge.files.products:
        for advisory in file.advisory:
            product, mask = knowledge.mask(advisory.of)
            for term in advisory.to or ("",):
                to, to_mask = knowledge.mask(term) if term else ("", 0)
                yield Advisory(
                    product=product,
                    mask=mask,
                    kind=advisory.kind,
                    message=advisory.message,
                    since=advisory.since.toordinal(),
                    to=to,
                    to_mask=to_mask,
                    devices=advisory.when.device if advisory.when else (),
                    cells=knowledge.cells_of(advisory.when),
                    hardware=knowledge.hardware(advisory.when.hardware if advisory.when else ()),
                    sources=cite(knowledge, file.product.id, advisory.sources),
                )


_GRAVE = (Effect.WRONG_RESULT, Effect.CRASH, Effect.HANG, Effect.INSTALL)
"""The effects of issues for which other releases are better."""


def defects(knowledge: Knowledge) -> Iterator[Defect]:
    """Yield the grave issues of releases of one package on some machine; what they bring of runtimes is theirs."""
    for issue in (issue for file in knowledge.files.issues for issue in file.issue):
        ranges = {condition.product: condition.range or "" for condition in issue.where if condition.product}
        beside = [
            (product, spec, knowledge.matching(product, spec))
            for product, spec in ranges.items()
            if product in knowledge.products and knowledge.products[product].machine
        ]
        leaves = [each for each in ranges if each in knowledge.products and knowledge.products[each].role is Role.LEAF]
        packages = ranges.keys() - {product for product, _, _ in beside} - set(leaves)
        if not issue.ranks or issue.effect not in _GRAVE or len(packages) != 1:
            continue
        product = packages.pop()
        if product not in knowledge.products or knowledge.products[product].role not in (Role.PACKAGE, Role.COMPANION):
            continue
        cells = knowledge.grid.all
        for system in (condition.system for condition in issue.where if condition.system):
            cells &= knowledge.grid.cells((system,))
        devices = tuple(condition.device for condition in issue.where if condition.product == product and condition.device)
        mask = _affected(knowledge, issue, product, ranges[product])
        for leaf in leaves:  # what newer releases bring is known, so nothing is concluded of them
            brought = _bringing(knowledge, product, leaf, knowledge.matching(leaf, ranges[leaf]))
            mask &= knowledge.matching(product, ranges[product]) & brought
        yield Defect(product, mask, issue.id, devices, cells, knowledge.hardware(issue.hardware), beside, issue.gpus)


def _bringing(knowledge: Knowledge, product: str, leaf: str, versions: int) -> int:
    """Return the elements of a product that require a runtime in no other than some of its versions."""
    needs = (e for e in knowledge.edges if (e.of, e.to, e.kind) == (product, leaf, Kind.NEEDS))
    return reduce(or_, (e.of_mask for e in needs if e.to_mask and not e.to_mask & ~versions), 0)


def _affected(knowledge: Knowledge, issue: IssueEntry, product: str, spec: str) -> int:
    """Return the elements that have an issue; where nobody has mended it, newer ones too, but for those said to be a cure."""
    mask = knowledge.matching(product, spec)
    if mask and issue.state in (IssueState.OPEN, IssueState.WONT_FIX):
        mask |= (1 << len(knowledge.elements[product])) - (1 << mask.bit_length())
        for term in (cure.to for cure in issue.cures if cure.to):
            named, cured = knowledge.mask(term)
            mask &= ~cured if named == product else mask
    return mask


def installs(knowledge: Knowledge) -> Iterator[InstallRecord]:
    """Yield install recipes."""
    for number, (file, install) in enumerate((f, i) for f in knowledge.files.products for i in f.install):
        product, mask = knowledge.mask(install.of)
        sources = cite(knowledge, file.product.id, install.sources)
        yield InstallRecord(number, product, mask, install.steps, install.waives, install.note, sources)


def waivers(knowledge: Knowledge) -> Iterator[Waiver]:
    """An install recipe may waive pins: each waived pin is an edge that does not hold beside the recipe's product."""
    for install in (i for f in knowledge.files.products for i in f.install):
        product, mask = knowledge.mask(install.of)
        for text in install.waives:
            of_term, _, to_term = (part.strip() for part in text.partition(":"))
            of, of_mask = knowledge.mask(of_term)
            to, to_mask = knowledge.mask(to_term)
            for number, edge in enumerate(knowledge.edges):
                same = edge.of == of and edge.to == to and edge.to_mask == to_mask and edge.kind is Kind.NEEDS
                if same and edge.of_mask & of_mask:
                    yield Waiver(product, mask, number, edge.of_mask & of_mask)


def disputes(knowledge: Knowledge) -> Iterator[DisputeRecord]:
    """Yield disagreements and their decisions."""
    for kind, name, dispute, sources in disputes_of(knowledge.files):
        positions = tuple(_positions(knowledge, dispute, sources))
        held = next((side.text for side in positions if side.claim == dispute.decision), dispute.decision)
        yield record_of(
            DisputeRecord,
            dispute,
            dispute.when or When(),
            kind=kind,
            owner=name,
            days=tuple(day.isoformat() for day in dispute.days),
            positions=positions,
            holds=None if dispute.decision == OPEN else held,
            decided=dispute.decided.isoformat(),
        )


def _positions(knowledge: Knowledge, dispute: Dispute, sources: dict[str, SourceEntry]) -> Iterator[PositionRecord]:
    """Yield what each side says: in words, or by its claim."""
    if dispute.positions:
        for text, source in zip(dispute.positions, dispute.sources, strict=True):
            yield PositionRecord(text, None, cited([sources[source]]))
        return
    for name in dispute.claims:
        claim, said_by = knowledge.claims[name].claim, knowledge.claims[name].sources
        basis = "" if claim.basis == "stated" else f" [{claim.basis}]"
        yield PositionRecord(f"{claim.of} {claim.kind} {' or '.join(claim.to)}{basis}", name, cited(said_by))


def concerned(knowledge: Knowledge) -> Iterator[ConcernedRecord]:
    """Yield whom each dispute concerns: claims, elements of a product on some platforms, image tags, channels, events."""
    for kind, name, dispute, _ in disputes_of(knowledge.files):
        for claim in dispute.claims:
            for term in (knowledge.claims[claim].claim.of, *knowledge.claims[claim].claim.to):
                product, mask = knowledge.mask(term)
                yield ConcernedRecord(dispute.id, claim, product, mask, (), (), 0)
        when = dispute.when or When()
        place = (when.device, when.hardware, knowledge.cells_of(dispute.when))
        for thing in dispute.of:
            product, mask = f"{name}:{thing}" if name else thing, 0
            if kind in ("product", "feature"):
                product, mask = knowledge.mask(thing)
            yield ConcernedRecord(dispute.id, None, product, mask, *place)
