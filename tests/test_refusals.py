"""A refusal counts: what an installer refused and the data claim is a finding, and is denied until somebody decides."""

from datetime import timedelta
from random import Random

import pytest

from compatkb.authoring.evidence import elements_of
from compatkb.authoring.knowledge_base import Knowledge
from compatkb.authoring.refusals import Placed, Refusal, refusal_edges, refusals
from compatkb.schema import Basis, Kind, Level, Observation, Outcome

Asked = tuple[Observation, tuple[Placed, ...]]


@pytest.fixture(scope="module")
def asked(knowledge: Knowledge) -> list[Asked]:
    """The newest resolutions of the real data that were answered, with the builds that they name."""
    newest: dict[tuple[object, ...], Observation] = {}
    for seen in sorted(knowledge.files.evidence, key=lambda seen: seen.checked):
        if seen.level is Level.RESOLVE and seen.outcome is not Outcome.NOT_CHECKED and not seen.answered:
            newest[seen.question] = seen
    return [(seen, tuple(elements_of(knowledge, seen))) for seen in newest.values()]


def planted(asked: list[Asked], questions: list[Observation], **change: object) -> list[Asked]:
    """Return the resolutions with another answer to some questions."""
    chosen = {id(question) for question in questions}
    return [(seen.model_copy(update=change) if id(seen) in chosen else seen, builds) for seen, builds in asked]


def of(found: list[Refusal], question: Observation) -> list[Refusal]:
    """Return the refusals of one question."""
    return [refusal for refusal in found if refusal.observation.question == question.question]


def test_nothing_recorded_contradicts(knowledge: Knowledge, asked: list[Asked]) -> None:
    """What is recorded as refused is denied by the data, or speaks of the wheels of something else."""
    assert list(refusals(knowledge, asked)) == []


def test_planted_contradictions_are_found(knowledge: Knowledge, asked: list[Asked]) -> None:
    """Of 20 accepted stacks that are turned into conflicts each is found; and blamed where no other stack holds its pairs."""
    accepted = [seen for seen, builds in asked if seen.outcome is Outcome.OK and len(builds) > 1]
    questions = Random(35).sample(accepted, 20)
    later = max(seen.checked for seen in accepted) + timedelta(days=1)
    found = list(refusals(knowledge, planted(asked, questions, outcome=Outcome.CONFLICT, checked=later, detail="refused")))
    assert len(found) == 20
    assert all(refusal.claims and refusal.pairs for refusal in found)


def test_denial_is_of_the_cell_alone(knowledge: Knowledge, asked: list[Asked]) -> None:
    """The edge breaks the two builds on the Python, platform and device that were asked about, with tool and day as reason."""
    question = next(seen for seen, builds in asked if seen.outcome is Outcome.OK and len(builds) == 2)
    found = of(list(refusals(knowledge, planted(asked, [question], outcome=Outcome.CONFLICT, detail=None))), question)
    before = set(knowledge.claims)
    try:
        edges = list(refusal_edges(knowledge, found))
        named = [knowledge.claims[edge.claim].claim for edge in edges]
    finally:
        for name in set(knowledge.claims) - before:
            del knowledge.claims[name]
    for edge, claim in zip(edges, named, strict=True):
        assert (edge.kind, edge.basis, edge.devices) == (Kind.BREAKS, Basis.OBSERVED, frozenset([question.device]))
        assert edge.forbidden_on == knowledge.grid.cells((question.os,), (question.arch,), (question.python,))
        assert f"for Python {question.python} (asked {question.checked})" in (claim.reason or "")


def test_a_known_culprit_settles_it(knowledge: Knowledge, asked: list[Asked]) -> None:
    """A refusal whose culprit is named is none, nor is one of a package beside the pins that has no wheels."""
    question = next(seen for seen, builds in asked if seen.outcome is Outcome.OK and len(builds) > 1)
    for change in (
        {"culprit": "some-claim"},
        {"detail": "Because all versions of something have no wheels with a matching Python implementation tag"},
    ):
        found = refusals(knowledge, planted(asked, [question], outcome=Outcome.CONFLICT, **change))
        assert of(list(found), question) == []
