"""Rows of the snapshot about claims: edges, citations, scopes, advisories and install recipes."""

from collections.abc import Iterator

from compatkb.authoring.citation import cite, cite_text, cite_url, document_of, dumps
from compatkb.authoring.disputes import open_claims
from compatkb.authoring.knowledge_base import ClaimOrigin, Knowledge, SourcedClaim, split_term
from compatkb.core.vocabulary import FOREVER
from compatkb.schema import Basis, Claim, Kind, When
from compatkb.store.compiler.platform_sets import Interned, Row
from compatkb.store.records import picked


def edges(knowledge: Knowledge, cells: Interned) -> Iterator[Row]:
    """Yield what the engine reads: one row an edge."""
    undecided = open_claims(knowledge.files)
    for number, edge in enumerate(knowledge.edges):
        yield {
            "id": number,
            **picked(edge, "claim kind spec basis in_metadata extra"),
            "of_product": edge.of,
            "of_mask": f"{edge.of_mask:x}",
            "to_product": edge.to,
            "to_mask": f"{edge.to_mask:x}",
            "forbidden_on": cells.id(edge.forbidden_on),
            "supported_on": cells.id(edge.supported_on),
            "devices": " ".join(sorted(edge.devices)),
            "hardware": f"{edge.hardware:x}",
            "open": int(edge.claim in undecided),
            "unlisted": f"{edge.unlisted:x}",
        }


def claims(knowledge: Knowledge) -> Iterator[Row]:
    """Yield what people read: one row a claim."""
    for cited in knowledge.claims.values():
        claim = cited.claim
        yield {
            **picked(claim, "id kind reason note"),
            "product": cited.product,
            "of_term": claim.of,
            "to_terms": " | ".join(claim.to),
            "when_": _when(claim),
            "basis": _basis(cited),
            "origin": str(cited.origin),
        }


def _basis(cited: SourcedClaim) -> str:
    """Return on what a claim rests; what an index or a command says was observed, unless it is concluded from that."""
    is_made = cited.origin is not ClaimOrigin.PEOPLE and cited.claim.basis is not Basis.INFERRED
    return str(Basis.OBSERVED if is_made else cited.claim.basis)


def _when(claim: Claim) -> str:
    if claim.when is None:
        return ""
    parts = claim.when.model_dump(exclude_defaults=True)
    return ", ".join(f"{name} {' or '.join(values)}" for name, values in parts.items())


def citations(knowledge: Knowledge) -> Iterator[Row]:
    """Yield the sources of claims."""
    for cited in knowledge.claims.values():
        for number, source in enumerate(cited.sources):
            document, publisher = document_of(source)
            yield {
                "claim": cited.claim.id,
                "n": number,
                "text": cite_text(source),
                "url": cite_url(source),
                "seen": source.seen.isoformat(),
                "document": document,
                "publisher": publisher,
            }


def scopes(knowledge: Knowledge) -> Iterator[Row]:
    """Yield the scopes in which the list of releases is whole."""
    number = 0
    for product in knowledge.products.values():
        for scope in product.complete:
            if scope.what != "release":
                continue
            of, spec = split_term(scope.of)
            yield {
                "id": number,
                "product": of,
                "spec": spec,
                "mask": f"{knowledge.matching(of, spec):x}",
                "channel": scope.channel,
                "devices": " ".join(scope.device),
                "until": FOREVER if scope.ended else scope.until.toordinal(),
                "sources": cite(knowledge, product.id, scope.sources),
            }
            number += 1


def advisories(knowledge: Knowledge, cells: Interned) -> Iterator[Row]:
    """Yield advisories, one row for each product that they need beside them."""
    number = 0
    for file in knowledge.files.products:
        for advisory in file.advisory:
            product, mask = knowledge.mask(advisory.of)
            for term in advisory.to or ("",):
                to, to_mask = knowledge.mask(term) if term else ("", 0)
                yield {
                    "id": number,
                    "product": product,
                    "mask": f"{mask:x}",
                    "kind": advisory.kind,
                    "message": advisory.message,
                    "since": advisory.since.toordinal(),
                    "to_product": to,
                    "to_mask": f"{to_mask:x}",
                    "devices": " ".join(advisory.when.device) if advisory.when else "",
                    "cells": cells.id(_where(knowledge, advisory.when)),
                    "hardware": f"{_hardware(knowledge, advisory.when):x}",
                    "sources": cite(knowledge, file.product.id, advisory.sources),
                }
                number += 1


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


def installs(knowledge: Knowledge) -> Iterator[Row]:
    """Yield install recipes."""
    for number, (file, install) in enumerate((f, i) for f in knowledge.files.products for i in f.install):
        product, mask = knowledge.mask(install.of)
        yield {
            "id": number,
            "product": product,
            "mask": f"{mask:x}",
            "steps": dumps(install.steps),
            "waives": dumps(install.waives),
            "note": install.note,
            "sources": cite(knowledge, file.product.id, install.sources),
        }


def waivers(knowledge: Knowledge) -> Iterator[Row]:
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
                    yield {"product": product, "mask": f"{mask:x}", "edge": number, "of_mask": f"{edge.of_mask & of_mask:x}"}
