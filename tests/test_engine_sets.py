"""What the engine works out by sets, and what it reads one by one, against the plain way of doing it."""

from itertools import product as combinations_of
from pathlib import Path

import pytest
from agreement import Case, request_of
from builders import TODAY, breaks, compiled, needs, product, universe, verified
from hypothesis import given
from test_universe import World, checked, questions, told

from compatkb.engine import between
from compatkb.engine.answer import resolve, routes_of
from compatkb.engine.between import ALLOWED, KNOWN, VOUCHED
from compatkb.engine.blockers import groups_of
from compatkb.engine.causes import causes_of
from compatkb.engine.ignored import Blocker
from compatkb.engine.judging import judged
from compatkb.engine.listing import every_stack
from compatkb.engine.narrow import narrowed
from compatkb.engine.problem import ABSENT, Problem
from compatkb.engine.search import Search
from compatkb.records import UNKNOWN, Pin
from compatkb.snapshot import packed, schema
from compatkb.snapshot.read import Snapshot
from compatkb.snapshot.traits import COLUMNS

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
    return [Problem(facts, request, device, route) for device, route in routes_of(facts, request)]


# -- sets of elements ---------------------------------------------------------------------------------------------


@checked(25)
@given(question=questions())
def test_answers_do_not_depend_on_how_many_elements_count_as_many(question: tuple[World, Case], folder: Path) -> None:
    """Sets bounded edge by edge and elements read one by one, as among thousands, give the answer of small tables."""
    world, case = question
    plain = compiled(world.knowledge(), folder)
    expected = told(resolve(plain, request_of(plain, case)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(between, "_SMALL", 0)
        patch.setattr(schema, "CHUNK", 1)
        other = compiled(world.knowledge(), folder)
        assert told(resolve(other, request_of(other, case))) == expected


@checked(25)
@given(question=questions())
def test_pairs_by_sets_are_pairs_one_by_one(question: tuple[World, Case], folder: Path) -> None:
    """What is known of two elements is the same, whether worked out for a set of them or from the edges between the two."""
    for problem in problems(question, folder):
        facts = problem.facts
        for p, q in combinations_of(facts.products, repeat=2):
            table = problem.view.between(p, q) if p != q else None
            if table is not None:
                cells, number, theirs = problem.cells, problem.frame.number, range(len(facts.elements(q)))
                for i in range(len(facts.elements(p))):
                    pairs = [judged(problem.speaking(p, i, q, j)) for j in theirs]
                    good = {
                        ALLOWED: [cells & ~pair.denied for pair in pairs],
                        VOUCHED: [cells & (pair.strong | pair.weak) for pair in pairs],
                        KNOWN: [cells & ~pair.denied & ~pair.vague for pair in pairs],
                    }
                    for what, left in good.items():
                        mask = table.mask(i, number, cells, what) & (1 << len(theirs)) - 1
                        assert mask == sum(1 << j for j in theirs if left[j])
                    assert [table.pair(i, j) for j in theirs] == pairs


def test_traits_are_those_of_the_elements(facts: Snapshot) -> None:
    """A set of elements in the snapshot holds just those that have the value, for every product and column."""
    for name in facts.products:
        for column in COLUMNS:
            said: dict[str, int] = {}
            for element in facts.elements(name):
                value = getattr(element, column)
                if value is not None:
                    text = " ".join(sorted(value)) if isinstance(value, frozenset) else str(value)
                    text = {"True": "1", "False": "0"}.get(text, text)
                    said[text] = said.get(text, 0) | 1 << element.idx
            kept: dict[str, int] = {}
            for value, mask in facts.having(name, column):
                text = " ".join(sorted(value.split())) if column in ("devices", "only_with") else value
                kept[text] = kept.get(text, 0) | mask
            assert kept == said, (name, column)


def test_few_of_many_releases_are_read(tmp_path: Path) -> None:
    """A question about products of hundreds of releases reads those that its answer shows, and finds the right ones."""
    said = [needs(f"ipex=={version}", f"torch=={version}") for version in MANY]
    facts = universe(tmp_path, [product("torch", releases=MANY), product("ipex", releases=MANY, claims=said)])
    case = Case("cpu", TODAY, {"torch": frozenset({200})}, ("ipex",))
    answer = resolve(facts, request_of(facts, case))
    assert {e.product: e.version for e in answer.stacks[0].packages} == {"torch": "201.0", "ipex": "201.0"}
    assert facts.elements("torch").held < 5
    assert facts.elements("ipex").held < 5


def test_elements_of_a_long_list_are_those_of_the_whole_one(tmp_path: Path) -> None:
    """One by one, from the end, or all at once: the same elements; beyond the end is an error."""
    facts = universe(tmp_path, [product("torch", releases=MANY)])
    single = facts.elements("torch")
    assert (single[7].version, single[-1].version, single.held) == ("8.0", "270.0", 2)
    with pytest.raises(IndexError):
        single[270]
    assert [e.version for e in single] == MANY
    assert single[7] == list(single)[7]
    assert single.held == len(single) == 270


# -- causes -------------------------------------------------------------------------------------------------------


@checked(25)
@given(question=questions())
def test_first_fact_that_explains_alone_is_the_cause(question: tuple[World, Case], folder: Path) -> None:
    """Where one fact alone excludes every stack, the first such one is the cause: found in groups as one by one."""
    for problem in problems(question, folder):
        if Search(problem).run() or not problem.cells:
            continue
        every = [blocker for group in groups_of(problem) for blocker in group]

        def admits(kept: Blocker | None, at: Problem = problem, every: list[Blocker] = every) -> bool:
            ignored = frozenset(blocker for blocker in every if blocker != kept)
            return bool(Search(Problem(at.facts, at.request, at.device, at.route, ignored), first_only=True).run())

        alone = next((blocker for blocker in every if not admits(blocker)), None)
        chosen = [cause.blocker for cause in causes_of(problem.facts, problem.request, problem.device, problem.route)]
        if alone and admits(None):
            assert chosen == [alone]
        elif admits(None):
            assert len(chosen) > 1


# -- what is known ------------------------------------------------------------------------------------------------


@checked(60)
@given(question=questions())
def test_stacks_that_are_known_are_found_alone(question: tuple[World, Case], folder: Path) -> None:
    """Sought alone they are those of the whole search; where there is none, the rest is found without asking who vouches."""
    for problem in problems(question, folder):
        whole = Search(problem).run()
        known = tuple(hit for hit in whole if hit.level < UNKNOWN)
        assert Search(problem, known_only=True).run() == known
        if not known:
            assert Search(problem, unranked=True).run() == whole
        best = Search(problem, known_only=True, best_only=True).run()[:1]
        assert [(hit.level, hit.warnings) for hit in best] == [(hit.level, hit.warnings) for hit in known[:1]]
        problem.start = narrowed(problem, problem.domains, known_only=True)
        assert (problem.start is None) <= (not known)
        assert Search(problem, known_only=True).run() == known


@checked(25)
@given(question=questions())
def test_first_question_is_answered_as_the_next(question: tuple[World, Case], folder: Path) -> None:
    """What was worked out for a question before changes no answer."""
    world, case = question
    facts = compiled(world.knowledge(), folder)
    request = request_of(facts, case)
    assert told(resolve(facts, request)) == told(resolve(facts, request))


# -- every stack --------------------------------------------------------------------------------------------------


@checked(25)
@given(question=questions())
def test_listing_has_every_combination_that_works(question: tuple[World, Case], folder: Path) -> None:
    """A combination is listed just where a question that pins all of it has that stack; the best ones are among them."""
    for problem in problems(question, folder):
        listed: dict[tuple[tuple[str, int], ...], int] = {}
        for hit in every_stack(problem, 10_000, known_only=False):
            listed[hit.chosen] = listed.get(hit.chosen, 0) | hit.cells
        for hit in Search(problem).run():
            assert not hit.cells & ~listed[hit.chosen]
        choices = [
            [n for n in range(problem.domains[p].bit_length()) if problem.domains[p] >> n & 1]
            + ([ABSENT] if p in problem.optional else [])
            for p in problem.variables
        ]
        for numbers in combinations_of(*choices):
            chosen = tuple((p, n) for p, n in zip(problem.variables, numbers, strict=True) if n != ABSENT)
            there = {p for p, _ in chosen}
            rest = tuple(pin for pin in problem.request.pins if pin.product not in problem.variables)
            pins = (*rest, *(Pin(p, "", 1 << n) for p, n in chosen))
            asked = problem.request._replace(pins=pins, bare=())
            fixed = Problem(problem.facts, asked, problem.device, problem.route)
            if there == set(problem.required):
                cells = 0
                for hit in Search(fixed).run():
                    cells |= hit.cells if hit.chosen == chosen else 0
                assert listed.get(chosen, 0) == cells


def test_listing_is_newest_first_and_ends_at_its_limit(tmp_path: Path) -> None:
    """Combinations come newest first, product by product, no more than asked for; what is broken is none of them."""
    versions = ["1.0", "2.0", "3.0"]
    claims = [verified("ipex", "torch>=1.0"), breaks("ipex==3.0", "torch==3.0")]
    facts = universe(tmp_path, [product("torch", releases=versions), product("ipex", releases=versions, claims=claims)])
    request = request_of(facts, Case("cpu", TODAY, bare=("torch", "ipex")))
    device, route = next(iter(routes_of(facts, request)))
    found = every_stack(Problem(facts, request, device, route), 4)
    assert [tuple(n for _, n in hit.chosen) for hit in found] == [(2, 1), (2, 0), (1, 2), (1, 1)]
    assert len(every_stack(Problem(facts, request, device, route), 99)) == 8


def test_sets_that_are_wide_are_read_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a product with more releases than a number in JSON has digits the edges are the same."""
    bundle = [product("torch", releases=MANY), product("ipex", releases=MANY, claims=[needs("ipex==7.0", "torch==9.0")])]
    plain = universe(tmp_path / "plain", bundle).edges("ipex", "torch")
    monkeypatch.setattr(packed, "_MOST_DIGITS", 1)
    assert universe(tmp_path / "wide", bundle).edges("ipex", "torch") == plain
    assert plain[0].to_mask == 1 << 8
