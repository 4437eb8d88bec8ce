"""Whether versions that a document puts together are denied; each question is asked once, and no page asks many."""

from compatkb.check.document import CheckContext
from compatkb.check.markdown.text import MarkdownPage
from compatkb.check.project.queries import ProjectQueries
from compatkb.check.project.values import AllowedVersions, Denial

MOST_QUESTIONS = 150
"""Combinations of versions that are judged in one document."""


def denial(page: MarkdownPage, context: CheckContext, *versions: tuple[str, str, int]) -> Denial | None:
    """Return why versions, each a product, its text and its elements, do not work together; None where they may."""
    if versions not in page.questions and len(page.questions) >= MOST_QUESTIONS:
        page.unjudged += 1
        return None
    page.questions.add(versions)
    page.queries = page.queries or ProjectQueries(context)
    allowed = [AllowedVersions(product, f"=={text.removeprefix('v')}", mask, exact=True) for product, text, mask in versions]
    refusal: Denial | None = page.queries.denial(allowed, near=False)
    return None if refusal and refusal.unbuilt else refusal
