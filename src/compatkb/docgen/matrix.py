"""The matrix region: for each series of a product, what goes with it of some others."""

import re

from compatkb.core.vocabulary import Verdict
from compatkb.docgen.arguments import YES_NO, RegionArgument, RegionContext, RegionKind
from compatkb.output.document_model import Block, Paragraph, Table
from compatkb.request.lookup import find_product
from compatkb.store.records import Element, Product

_MARKS = {"works": "", "works-with-warnings": ", with warnings", "likely": ", likely"}


def _matrix(asked: RegionContext) -> list[Block]:
    product = asked.product("product")
    assert product  # it is required
    others = [find_product(asked.facts, name) for name in asked.words("beside")]
    names = _series(asked, product)[: asked.number("limit")]
    alone = ("by itself",) if asked.is_on("alone") else ()
    rows = [
        (name, *(_alone(asked, product, name) for _ in alone), *(_cell(asked, product, name, other) for other in others))
        for name in names
    ]
    if not rows:
        return [Paragraph(f"The data know of no release here, as of {asked.day}.")]
    legend = (
        f"Each cell is a question of its own: the best that goes with the series, and the release of {product.name} that it "
        "goes with. Where nothing is said it works; “likely” rests on an inference; “none” means that nothing goes with it, "
        f"“unknown” that the data cannot tell. As of {asked.day}, data of {asked.facts.meta['data_date']}."
    )
    return [Table((product.name, *alone, *(other.name for other in others)), tuple(rows)), Paragraph(legend)]


def _cell(asked: RegionContext, product: Product, series: str, other: Product) -> str:
    answer = asked.answer({product.id: series}, (other.id,))
    if answer.verdict in (Verdict.DOES_NOT_WORK, Verdict.UNKNOWN):
        return "none" if answer.verdict == Verdict.DOES_NOT_WORK else "unknown"
    stack = answer.stacks[0]
    elements = {element.product: element for element in stack.packages}
    return f"{elements[other.id].version} with {elements[product.id].release}{_MARKS[stack.verdict]}"


def _alone(asked: RegionContext, product: Product, series: str) -> str:
    """Return the best build of a series that reaches the device without another product that a route adds."""
    answer = asked.answer({product.id: series})
    plain = {route.id for route in asked.facts.routes if not route.with_}
    stack = next((stack for stack in answer.stacks if stack.route in plain), None)
    if stack is None:
        return "unknown" if answer.verdict == Verdict.UNKNOWN else "none"
    return f"{next(e.version for e in stack.packages if e.product == product.id)}{_MARKS[stack.verdict]}"


def _series(asked: RegionContext, product: Product) -> list[str]:
    """Return the series that had come out by the day, newest first."""
    today = asked.day.toordinal()
    elements = asked.facts.elements(product.id)
    names: dict[str, None] = {}
    for mask in reversed(asked.facts.series(product.id)):
        out = [e for e in elements.of(mask) if e.since is None or e.since <= today]
        if out:
            names[_name(out[0], product)] = None
    return list(names)


def _name(element: Element, product: Product) -> str:
    numbers = re.match(r"\d+(\.\d+)*", element.release)
    return ".".join(numbers[0].split(".")[: product.series]) if numbers else element.release


MATRIX = {
    "matrix": RegionKind(
        "for each series of a product, newest first, what goes best with it of other products",
        _matrix,
        (
            RegionArgument("product", "the product of the rows", required=True),
            RegionArgument("beside", "the products of the columns, separated by commas", required=True),
            RegionArgument("device", "the device", required=True),
            RegionArgument("limit", "how many series are shown", "12"),
            RegionArgument("alone", "whether a column says what the series offers without any of them", "no", choices=YES_NO),
        ),
        pins=True,
    ),
}
