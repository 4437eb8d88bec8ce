"""What the engine works out by sets and tables, and what it reads lazily, against the plain way of doing it."""

from collections.abc import Sequence
from itertools import product as combinations_of
from pathlib import Path

import pytest
from agreement import Case, request_of
from builders import TODAY, compiled, needs, product, universe
from hypothesis import given
from test_universe import World, checked, questions, told

from compatkb.core.vocabulary import Certainty
from compatkb.engine.answer import resolve
from compatkb.engine.conflicts import conflict_of
from compatkb.engine.constraints import Constraint
from compatkb.engine.context import context_of
from compatkb.engine.problem import Problem, problems_of
from compatkb.engine.relations import relation_of
from compatkb.engine.search import Aim, Search
from compatkb.request.parser import make_request

MANY = [f"{n}.0" for n in range(1, 271)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where snapshots are kept."""
    return tmp_path_factory.mktemp("snapshots")


def problems(question: tuple[World, Case], folder: Path) -> list[Problem]:
    """Return a question over every device and route that it leaves open."""
    world, case = question
    facts = compiled(world.knowledge(), folder)
    request = request_of(facts, case)
    return list(problems_of(facts, request))


def test_questions_that_differ_in_pins_alone_share_what_is_kept(tmp_path: Path) -> None:
    """Another device, day or set of facts has a context of its own."""
    facts = universe(tmp_path, [product("torch", releases=["1.0", "2.0"])])
    request = make_request(facts, [("torch", "1.0")])
    other = make_request(facts, [("torch", "2.0")])
    assert context_of(facts, request, "xpu") is context_of(facts, other, "xpu")
    assert context_of(facts, request, "xpu") is not context_of(facts, request, "cpu")
    assert context_of(facts, request._replace(as_of=1), "xpu") is not context_of(facts, request, "xpu")


@checked(25)
@given(question=questions())
def test_what_is_waived_only_adds_stacks(question: tuple[World, Case], folder: Path) -> None:
    """A problem never changes; with everything waived that can exclude stacks there is one, or there are no platforms."""
    for problem in problems(question, folder):
        every = [constraint for group in problem.groups() for constraint in group]
        before = Search(problem, Aim.FIRST).run()
        assert Search(problem.waiving(every), Aim.FIRST).run() or not problem.platforms
        assert bool(Search(problem, Aim.FIRST).run()) is bool(before)
        assert not problem.waived
        with pytest.raises(AttributeError):
            problem.waived = frozenset(every)  # type: ignore[misc]  # which must fail


# -- sets of elements ---------------------------------------------------------------------------------------------


@checked(25)
@given(question=questions())
def test_tables_say_what_edges_say(question: tuple[World, Case], folder: Path) -> None:
    """What is known of two elements is the same, whether a table of two products has it or the edges between the two do."""
    for problem in problems(question, folder):
        facts = problem.facts
        for p, q in combinations_of(facts.products, repeat=2):
            table = problem.table(p, q) if p != q else None
            if table is not None:
                for i, j in combinations_of(range(facts.sizes[p]), range(facts.sizes[q])):
                    assert problem.relation(p, i, q, j) == relation_of(problem.edges_between(p, i, q, j))


def test_elements_of_a_long_list_stand_at_their_numbers(tmp_path: Path) -> None:
    """From the beginning or from the end; beyond the end is an error."""
    elements = universe(tmp_path, [product("torch", releases=MANY)]).elements("torch")
    assert (elements[7].version, elements[-1].version) == ("8.0", "270.0")
    assert [element.version for element in elements] == MANY
    with pytest.raises(IndexError):
        elements[270]


def test_sets_are_as_wide_as_their_product(tmp_path: Path) -> None:
    """Of a product with more releases than any number of the database has bits the edges name the right ones."""
    claims = [needs("ipex==270.0", "torch==260.0")]
    facts = universe(tmp_path, [product("torch", releases=MANY), product("ipex", releases=MANY, claims=claims)])
    (edge,) = facts.edges("ipex", "torch")
    assert (edge.of_mask, edge.to_mask) == (1 << 269, 1 << 259)


# -- causes -------------------------------------------------------------------------------------------------------


@checked(25)
@given(question=questions())
def test_first_constraint_that_explains_alone_is_the_conflict(question: tuple[World, Case], folder: Path) -> None:
    """Where one constraint alone excludes every stack, the first such one is the conflict; found by halves as one by one."""
    for problem in problems(question, folder):
        constraints = [constraint for group in problem.groups() for constraint in group]

        def admits(*active: Constraint, at: Problem = problem, every: Sequence[Constraint] = constraints) -> bool:
            waived = [constraint for constraint in every if constraint not in active]
            return bool(Search(at.waiving(waived), Aim.FIRST).run())

        conflict = conflict_of(problem)
        if admits(*constraints):
            assert conflict is None
        elif not admits():
            assert conflict == ()
        else:
            alone = next((constraint for constraint in constraints if not admits(constraint)), None)
            assert conflict is not None
            assert conflict == (alone,) if alone else len(conflict) > 1


# -- what is known ------------------------------------------------------------------------------------------------


@checked(60)
@given(question=questions())
def test_stacks_that_are_known_are_found_alone(question: tuple[World, Case], folder: Path) -> None:
    """Sought alone they are no worse than any, the best of them is the best; where there is none, the rest is unknown."""
    for problem in problems(question, folder):
        known = Search(problem, Aim.EVERY, Certainty.INFERRED).run()
        assert all(hit.quality.level < Certainty.UNKNOWN and not hit.quality.is_unknown for hit in known)
        best = Search(problem, Aim.BEST, Certainty.INFERRED).run()[:1]
        assert [hit.quality for hit in best] == [hit.quality for hit in known[:1]]
        certain = Search(problem, Aim.BEST, Certainty.CERTAIN).run()[:1]
        assert bool(certain) <= bool(known)
        assert bool(known) <= bool(Search(problem, Aim.FIRST).run())


@checked(25)
@given(question=questions())
def test_first_question_is_answered_as_the_next(question: tuple[World, Case], folder: Path) -> None:
    """What was worked out for a question before changes no answer."""
    world, case = question
    facts = compiled(world.knowledge(), folder)
    request = request_of(facts, case)
    assert told(resolve(facts, request)) == told(resolve(facts, request))


def test_question_about_many_releases_is_answered(tmp_path: Path) -> None:
    """Among products of hundreds of releases the right ones are found."""
    said = [needs(f"ipex=={version}", f"torch=={version}") for version in MANY]
    facts = universe(tmp_path, [product("torch", releases=MANY), product("ipex", releases=MANY, claims=said)])
    case = Case("cpu", TODAY, {"torch": frozenset({200})}, ("ipex",))
    answer = resolve(facts, request_of(facts, case))
    assert {e.product: e.version for e in answer.stacks[0].packages} == {"torch": "201.0", "ipex": "201.0"}
