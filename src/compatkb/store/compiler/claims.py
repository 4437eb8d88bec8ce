"""Rows of the snapshot about claims: edges, citations, scopes, advisories, defects and install recipes."""

from collections.abc import Iterator

from compatkb.authoring.citation import cite, cite_text, cite_url, document_of
from compatkb.authoring.disputes import open_claims
from compatkb.authoring.knowledge_base import ClaimOrigin, Knowledge, SourcedClaim, split_term
from compatkb.core.vocabulary import FOREVER, Certainty
from compatkb.schema import Basis, Claim, Effect, IssueEntry, IssueState, Kind, Role, When
from compatkb.store.queries.claims import Citation, ClaimRecord, InstallRecord
from compatkb.store.records import Advisory, CompleteScope, Defect, Edge, Waiver
from compatkb.store.rows import record_of


def edges(knowledge: Knowledge) -> Iterator[Edge]:
    """Yield what the engine reads."""
    undecided = open_claims(knowledge.files)
    for number, edge in enumerate(knowledge.edges):
        yield Edge(
            id=number,
            claim=edge.claim,
            kind=edge.kind,
            of=edge.of,
            of_mask=edge.of_mask,
            to=edge.to,
            to_mask=edge.to_mask,
            spec=edge.spec,
            forbidden_on=edge.forbidden_on,
            supported_on=edge.supported_on,
            level=Certainty.INFERRED if edge.basis is Basis.INFERRED else Certainty.CERTAIN,
            devices=edge.devices,
            hardware=edge.hardware,
            open=edge.claim in undecided,
            in_metadata=edge.in_metadata,
            unlisted=edge.unlisted,
            stated=edge.basis is Basis.STATED,
            extra=edge.extra,
        )


def claims(knowledge: Knowledge) -> Iterator[ClaimRecord]:
    """Yield what people read: one record a claim."""
    for cited in knowledge.claims.values():
        claim = cited.claim
        yield record_of(
            ClaimRecord,
            claim,
            product=cited.product,
            of_term=claim.of,
            to_terms=claim.to,
            condition=_when(claim),
            basis=_basis(cited),
            origin=str(cited.origin),
        )


def _basis(cited: SourcedClaim) -> str:
    """Return on what a claim rests; what an index or a command says was observed, unless it is concluded from that."""
    is_made = cited.origin is not ClaimOrigin.PEOPLE and cited.claim.basis is not Basis.INFERRED
    return str(Basis.OBSERVED if is_made else cited.claim.basis)


def _when(claim: Claim) -> str:
    if claim.when is None:
        return ""
    parts = claim.when.model_dump(exclude_defaults=True)
    return ", ".join(f"{name} {' or '.join(values)}" for name, values in parts.items())


def citations(knowledge: Knowledge) -> Iterator[Citation]:
    """Yield the sources of claims."""
    for cited in knowledge.claims.values():
        for number, source in enumerate(cited.sources):
            document, publisher = document_of(source)
            seen = source.seen.isoformat()
            yield Citation(cited.claim.id, number, cite_text(source), cite_url(source), seen, document, publisher)


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
                    cells=_where(knowledge, advisory.when),
                    hardware=_hardware(knowledge, advisory.when),
                    sources=cite(knowledge, file.product.id, advisory.sources),
                )


_GRAVE = (Effect.WRONG_RESULT, Effect.CRASH, Effect.HANG, Effect.INSTALL)
"""The effects of issues for which other releases are better."""


def defects(knowledge: Knowledge) -> Iterator[Defect]:
    """Yield the grave issues of releases of one package that no other version, and no second GPU, has to come to."""
    for issue in (issue for file in knowledge.files.issues for issue in file.issue):
        products = [condition for condition in issue.where if condition.product]
        if not issue.ranks or issue.effect not in _GRAVE or issue.gpus > 1 or len(products) != 1:
            continue
        product, device = products[0].product or "", products[0].device
        if product not in knowledge.products or knowledge.products[product].role not in (Role.PACKAGE, Role.COMPANION):
            continue
        cells = knowledge.grid.all
        for system in (condition.system for condition in issue.where if condition.system):
            cells &= knowledge.grid.cells((system,))
        hardware = 0
        for name in issue.hardware:
            hardware |= knowledge.matching("hardware", f"=={name}")
        devices = (device,) if device else ()
        yield Defect(
            product, _affected(knowledge, issue, product, products[0].range or ""), issue.id, devices, cells, hardware
        )


def _affected(knowledge: Knowledge, issue: IssueEntry, product: str, spec: str) -> int:
    """Return the elements that have an issue; where nobody has mended it, newer ones too, but for those said to be a cure."""
    mask = knowledge.matching(product, spec)
    if mask and issue.state in (IssueState.OPEN, IssueState.WONT_FIX):
        mask |= (1 << len(knowledge.elements[product])) - (1 << mask.bit_length())
        for term in (cure.to for cure in issue.cures if cure.to):
            named, cured = knowledge.mask(term)
            mask &= ~cured if named == product else mask
    return mask


def _where(knowledge: Knowledge, when: When | None) -> int:
    """Return the platforms of which an advisory speaks."""
    if when is None:
        return knowledge.grid.all
    return knowledge.grid.cells(when.os or None, when.arch or None, when.python or None)


def _hardware(knowledge: Knowledge, when: When | None) -> int:
    mask = 0
    for name in when.hardware if when else ():
        mask |= knowledge.matching("hardware", f"=={name}")
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
