"""What commands observed agrees with what people wrote, or the reason why not is recorded."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations

from compatkb.authoring.disputes import open_claims
from compatkb.authoring.evidence import cells_of, elements_of, is_of_channel
from compatkb.authoring.knowledge_base import ClaimOrigin, Knowledge, KnowledgeEdge, KnowledgeElement
from compatkb.authoring.lint.subject import LintProblem, LintSubject, SeenObservation
from compatkb.schema import Basis, Kind, Level, Observation, Outcome

_LOADED = (Level.IMPORT, Level.RUN, Level.SYMBOLS)
_FAILED = (Outcome.FAILED_IMPORT, Outcome.FAILED_RUN, Outcome.MISSING_SYMBOL)
_NAMED = 3
"""How many claims a finding names."""


@dataclass(frozen=True)
class _Beside:
    """A claim between two builds that were loaded together, on the platform where they were."""

    edge: KnowledgeEdge
    one: KnowledgeElement
    other: KnowledgeElement
    to: int


def evidence(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield imports and runs against a claim, of each question the newest; a known culprit settles one.

    A failure may have any of the claims on what was loaded for its cause, so it is one finding that names them all.
    Claims that lost a dispute, or wait for its decision, contradict nothing; nor do those on certain hardware, since
    lines of evidence do not name it.
    """
    knowledge = subject.knowledge
    if knowledge is None or not subject.seen:
        return
    skipped = open_claims(subject.files)
    edges: dict[tuple[str, str], list[KnowledgeEdge]] = defaultdict(list)
    every: dict[tuple[str, str], list[KnowledgeEdge]] = defaultdict(list)  # what index files say, too
    for edge in knowledge.edges:
        every[edge.of, edge.to].append(edge)
        if knowledge.claims[edge.claim].origin is ClaimOrigin.PEOPLE and edge.claim not in skipped and not edge.hardware:
            edges[edge.of, edge.to].append(edge)
    for seen in _newest(subject.seen):
        observation = seen.observation
        if observation.level not in _LOADED or observation.culprit or not is_of_channel(knowledge, observation):
            continue
        if observation.outcome in _FAILED:
            if any(_denying(_met(knowledge, every, observation), cells_of(knowledge, observation))):
                continue  # they are known not to go together, so no claim says that they do
            claims, verb = _vouching(_met(knowledge, edges, observation), cells_of(knowledge, observation)), "failed"
        elif observation.outcome is Outcome.OK:
            claims, verb = _denying(_met(knowledge, edges, observation), cells_of(knowledge, observation)), "worked"
        else:
            continue
        if named := {met.edge.claim: met for met in claims}:
            yield _problem(knowledge, seen, verb, named)


def _newest(seen: Iterable[SeenObservation]) -> Iterator[SeenObservation]:
    """Yield the newest line of each question, in the order of files."""
    newest: dict[tuple[object, ...], SeenObservation] = {}
    for line in sorted(seen, key=lambda line: line.observation.checked):
        if line.observation.outcome is not Outcome.NOT_CHECKED:
            newest[line.observation.question] = line
    yield from sorted(newest.values(), key=lambda line: (line.path, line.line))


def _met(
    knowledge: Knowledge, edges: dict[tuple[str, str], list[KnowledgeEdge]], observation: Observation
) -> Iterator[_Beside]:
    """Yield the claims between any two of the builds that were loaded together, and between them and the Python.

    Symbols are those of libraries, whatever the Python.
    """
    python = [] if observation.level is Level.SYMBOLS else list(enumerate(knowledge.elements["python"]))
    loaded = [*elements_of(knowledge, observation), *((e, n) for n, e in python if e.version == observation.python)]
    pairs = ((one, other) for one, other in permutations(loaded, 2) if one[0].product != other[0].product)
    for (one, i), (other, j) in pairs:
        for edge in edges[one.product, other.product]:
            if edge.of_mask >> i & 1 and (not edge.devices or observation.device in edge.devices):
                yield _Beside(edge, one, other, 1 << j)


def _vouching(met: Iterable[_Beside], cells: int) -> Iterator[_Beside]:
    """Yield the stated claims by which two of these work together."""
    for claim in met:
        edge = claim.edge
        if edge.basis is Basis.STATED and edge.to_mask & claim.to and edge.supported_on & cells:
            yield claim


def _denying(met: Iterable[_Beside], cells: int) -> Iterator[_Beside]:
    """Yield the claims by which two of these do not work together."""
    for claim in met:
        edge = claim.edge
        if edge.forbidden_on & cells and bool(edge.to_mask & claim.to) == (edge.kind is Kind.BREAKS):
            yield claim


def _problem(knowledge: Knowledge, seen: SeenObservation, verb: str, named: dict[str, _Beside]) -> LintProblem:
    listed = list(named.items())
    met = [
        f"{name} ({m.one.product} {m.one.version} {m.edge.kind} {m.other.product}{m.edge.spec})" for name, m in listed[:_NAMED]
    ]
    more = f" and {len(listed) - _NAMED} more" if len(listed) > _NAMED else ""
    against = "and these claims say that it works" if verb == "failed" else "and these claims say that it does not"
    message = f"the {seen.observation.level} {verb}, {against}: {', '.join(met)}{more}; name the `culprit`, a claim or dispute"
    sources = tuple(source for name, _ in listed[:_NAMED] for source in knowledge.claims[name].sources)
    return LintProblem(seen, (), message, sources=sources)
