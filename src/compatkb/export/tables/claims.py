"""Published tables of claims: their words, their sources, and the versions that they name."""

from compatkb.core.vocabulary import ANY_VERSION
from compatkb.export.columns import ELEMENT, cites, maybe, table, text
from compatkb.export.table_reader import Reader, Row, Tables
from compatkb.store.queries.claims import every_edge, product_claims, sources_by_claim

TABLES = (
    table(
        "claim",
        "Claims: what versions of one product say of versions of another.",
        ("id",),
        text("id", "its id; claims read from an index or from evidence have ids that are made"),
        text("product", "the product that says it", "product"),
        text("kind", "needs, constrains, verified or breaks"),
        text("of_term", "who says it: product and specifier"),
        text("to_terms", "of whom; several terms stand between bars"),
        text("condition", "when it holds; empty for always"),
        text("basis", "stated, observed or inferred"),
        text("standing", "holds; open in a dispute; or overruled by the decision of one"),
        text("origin", "people, who read its source; index, for what an index says; or evidence"),
        maybe("reason", "why it breaks"),
        maybe("note", "a remark; for an inference its reason"),
        search=("id", "of_term", "to_terms", "reason", "note"),
    ),
    cites("claim", "a claim"),
    table(
        "claim_side",
        "The known versions that the two sides of a claim name; a claim that was overruled names none.",
        (),
        text("claim", "the claim", "claim"),
        text("side", "of, or to"),
        ELEMENT[0],
        maybe("release", "the release named; null where any version will do", "release"),
        ELEMENT[2],
    ),
)


def fill(reader: Reader, tables: Tables) -> None:
    """Fill the tables of claims, without what is said of features."""
    cited, terms = sources_by_claim(reader.facts), dict[str, tuple[str, ...]]()
    for claim in product_claims(reader.facts):
        terms[claim.id] = claim.to_terms
        tables["claim"].append(
            {**claim._asdict(), "to_terms": " | ".join(claim.to_terms), "standing": reader.standing.get(claim.id, "holds")}
        )
        tables["claim_source"] += reader.cite("claim", claim.id, cited.get(claim.id, ()))
    tables["claim_side"] = _sides(reader, terms)


def _sides(reader: Reader, terms: dict[str, tuple[str, ...]]) -> list[Row]:
    masks: dict[tuple[str, str, str], int] = {}
    present: set[tuple[str, str, str]] = set()
    for edge in sorted(every_edge(reader.facts), key=lambda edge: (edge.claim, edge.id)):
        if edge.claim not in terms:
            continue
        masks.setdefault((edge.claim, "of", edge.of), 0)
        masks[edge.claim, "of", edge.of] |= edge.of_mask
        if edge.to in {_product_of(term) for term in terms[edge.claim]}:  # what follows for a system is no side of the claim
            key = (edge.claim, "to", edge.to)
            masks[key] = masks.get(key, 0) | edge.to_mask
            if edge.spec == ANY_VERSION:
                present.add(key)
    rows = []
    for (claim, side, product), mask in masks.items():
        known = (1 << len(reader.facts.elements(product))) - 1
        anything = {"product": product, "release": None, "build": None}
        versions = [anything] if (claim, side, product) in present else reader.named(product, mask & known)
        rows += [{"claim": claim, "side": side, **version} for version in versions]
    return rows


def _product_of(term: str) -> str:
    """Return the product id of a term."""
    end = next((n for n, letter in enumerate(term) if letter in "=<>!~ "), len(term))
    return term[:end]
