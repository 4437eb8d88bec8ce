"""No two claims contradict each other, and no observation a claim, unless a dispute records it with decision and reason."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations

from compatkb.authoring.disputes import open_claims
from compatkb.authoring.evidence import cells_of, elements_of, is_of_channel
from compatkb.authoring.knowledge_base import ClaimOrigin, Knowledge, KnowledgeEdge, KnowledgeElement
from compatkb.authoring.lint.subject import LintProblem, LintSubject, SeenObservation
from compatkb.authoring.refusals import ASKED, Refusal, refusals
from compatkb.schema import Basis, Kind, Level, Observation, Outcome, Role

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
    """Yield imports, runs and refusals against a claim, of each question the newest; a known culprit settles one.

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
    newest = list(_newest(subject.seen))
    lines = {id(seen.observation): seen for seen in newest}
    asked = [
        (seen.observation, tuple(elements_of(knowledge, seen.observation)))
        for seen in newest
        if seen.observation.level in ASKED and is_of_channel(knowledge, seen.observation)
    ]
    for refusal in refusals(knowledge, asked):
        yield _refused(knowledge, lines[id(refusal.observation)], refusal)
    for seen in newest:
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


def _refused(knowledge: Knowledge, seen: SeenObservation, refusal: Refusal) -> LintProblem:
    """Return that an installer or an index refuses what claims say, and what answers deny until somebody decides."""
    observation, named = refusal.observation, refusal.claims[:_NAMED]
    more = f" and {len(refusal.claims) - _NAMED} more" if len(refusal.claims) > _NAMED else ""
    blamed = ", ".join(f"{one.product} with {other.product}" for (one, _), (other, _) in refusal.pairs)
    message = (
        f"{observation.tool} refused it ({observation.outcome}), and these claims say that it works: "
        f"{', '.join(named)}{more}; denied there until that is decided: {blamed or 'none of its pairs alone'}; "
        "name the `culprit`, or ask again"
    )
    return LintProblem(seen, (), message, sources=tuple(s for name in named for s in knowledge.claims[name].sources))


_DEMANDS = (Kind.NEEDS, Kind.CONSTRAINS)


def contradictions(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield pairs of claims under which something has no partner, or under which a tested pair is denied.

    Claims that lost a dispute are not among the edges; those of an open one are expected to disagree.
    """
    knowledge = subject.knowledge
    if knowledge is None:
        return
    groups: dict[tuple[str, str], list[KnowledgeEdge]] = defaultdict(list)
    for edge in knowledge.edges:
        groups[edge.of, edge.to].append(edge)
        if edge.kind is Kind.BREAKS and edge.of != edge.to:
            groups[edge.to, edge.of].append(_turned(edge))
    reported: set[tuple[str, str]] = set()
    for group in groups.values():
        for number, left in enumerate(group):
            for right in group[:number]:
                pair = (min(left.claim, right.claim), max(left.claim, right.claim))
                if (
                    pair in reported
                    or not (left.of_mask & right.of_mask or _of_feature(knowledge, left))
                    or any(claims >= set(pair) for claims in subject.disputed)
                ):
                    continue
                if not _meet(knowledge, left, right):
                    continue
                message = _wrong(knowledge, left, right) or _wrong(knowledge, right, left)
                named = [edge.claim for edge in (left, right) if edge.claim in subject.claims]
                if message and named:
                    reported.add(pair)
                    sources = (*knowledge.claims[pair[0]].sources, *knowledge.claims[pair[1]].sources)
                    message += "; if both sources stand, add a [[dispute]]"
                    yield LintProblem(*subject.claims[named[0]], message, sources=sources)


def _turned(edge: KnowledgeEdge) -> KnowledgeEdge:
    return edge._replace(of=edge.to, of_mask=edge.to_mask, to=edge.of, to_mask=edge.of_mask, unlisted=0)


def _meet(knowledge: Knowledge, left: KnowledgeEdge, right: KnowledgeEdge) -> bool:
    """Return whether a device and a hardware exist on which both hold, of something that is made for that device."""
    if left.hardware and right.hardware and not left.hardware & right.hardware:
        return False
    if not left.devices and not right.devices:
        return True
    asked = left.devices & right.devices if left.devices and right.devices else left.devices | right.devices
    return bool(asked) and (_of_feature(knowledge, left) or _made(knowledge, left.of, left.of_mask & right.of_mask, asked))


def _made(knowledge: Knowledge, product: str, mask: int, devices: frozenset[str]) -> bool:
    """Return whether any of these is made for any of the devices; what has no builds is for all."""
    builds = [element.build for element in knowledge.of_mask(product, mask)]
    return any(build is None or devices & set(build.devices) for build in builds)


def _wrong(knowledge: Knowledge, edge: KnowledgeEdge, denial: KnowledgeEdge) -> str | None:
    """Return what is wrong between a claim and one that denies it, None where both can hold."""
    if edge.kind is denial.kind is Kind.VERIFIED and _of_feature(knowledge, edge) and edge.of_mask != denial.of_mask:
        if edge.supported_on & denial.supported_on and _shared(knowledge, edge, denial):
            return f"{edge.of}: {edge.claim} and {denial.claim} give it different stages with the same {edge.to}"
        return None
    both = f"{edge.of}: {edge.claim} {edge.kind} {edge.to}{edge.spec}, and {denial.claim}"
    if denial.kind in _DEMANDS:
        apart = not (edge.to_mask & denial.to_mask or edge.unlisted & denial.unlisted)
        if edge.kind in _DEMANDS and edge.forbidden_on & denial.forbidden_on and apart:
            return f"{both} {denial.kind} {denial.spec}: no {edge.to} satisfies both"
        if (
            edge.kind is Kind.VERIFIED
            and edge.supported_on & denial.forbidden_on
            and _outside(edge, denial.to_mask, denial.unlisted)
        ):
            return f"{both} {denial.kind} {denial.spec}: what was tested is excluded"
    if denial.kind is Kind.BREAKS and edge.kind is not Kind.BREAKS and edge.supported_on & denial.forbidden_on:
        if _of_feature(knowledge, edge):
            return f"{both} denies it of some of these" if _shared(knowledge, edge, denial) else None
        if edge.to_mask and not edge.to_mask & ~denial.to_mask and not edge.unlisted & denial.unlisted:
            return f"{both} breaks with all of these"
        if edge.kind is Kind.VERIFIED and "==" in edge.spec and edge.to_mask & denial.to_mask:
            return f"{both} breaks with some of these"
    return None


def _of_feature(knowledge: Knowledge, edge: KnowledgeEdge) -> bool:
    """Return whether this is a statement on a feature, of which there is an element for each stage."""
    return knowledge.products[edge.of].role is Role.FEATURE


def _shared(knowledge: Knowledge, edge: KnowledgeEdge, denial: KnowledgeEdge) -> bool:
    """Return whether two statements speak of one build: each names no more versions than its source does."""
    asked = edge.devices & denial.devices if edge.devices and denial.devices else edge.devices | denial.devices
    shared = edge.to_mask & denial.to_mask
    return _made(knowledge, edge.to, shared, asked) if asked else bool(shared)


def _outside(edge: KnowledgeEdge, admitted: int, gaps: int) -> bool:
    """Return whether a claim names versions that are not admitted: any for exact ones, all of them for a range."""
    if "==" in edge.spec:
        return bool(edge.to_mask & ~admitted)
    return bool(edge.to_mask or edge.unlisted) and not (edge.to_mask & admitted or edge.unlisted & gaps)
