"""What an answer may cost: no question hangs, and giving up is said as such."""

from pathlib import Path

import pytest
from builders import needs, product, request, universe

from compatkb.api import KnowledgeBase
from compatkb.engine.answer import best_stacks, is_possible, resolve
from compatkb.engine.budget import Budget
from compatkb.errors import GaveUpError
from compatkb.output.presenter import present

VERSIONS = [f"{n}.0" for n in range(1, 41)]


def test_clock_of_the_caller_ends_an_answer(tmp_path: Path) -> None:
    """Where the caller's clock says that the time is over, the answer ends, and the same question later is answered."""
    said = [needs(f"ipex=={version}", f"torch=={version}") for version in VERSIONS]
    facts = universe(tmp_path, [product("torch", releases=VERSIONS), product("ipex", releases=VERSIONS, claims=said)])
    question = request(facts, bare=["ipex"])
    looks = []
    budget = Budget(expired=lambda: bool(looks.append(1)) or True)
    with pytest.raises(GaveUpError, match=r"^gave up after"):
        budget.spend(5_000)
    assert looks
    assert resolve(facts, question, lambda: False).verdict == "works"


def test_steps_are_counted() -> None:
    """Without a clock the number of steps ends an answer, and the message says how many there were."""
    budget = Budget(steps=3_000)
    budget.spend(3_000)
    with pytest.raises(GaveUpError, match=r"^gave up after 4,025 steps"):
        budget.spend(1_025)
    assert GaveUpError.exit_code == 6


def test_every_question_has_a_budget_of_its_own(tmp_path: Path) -> None:
    """What earlier questions spent is not taken from a later one; a budget that is spent ends the question that has it."""
    facts = universe(tmp_path, [product("torch", releases=VERSIONS)])
    question = request(facts, bare=["torch"])
    budget = Budget(steps=0)
    with pytest.raises(GaveUpError):
        budget.spend(2_000)
    assert is_possible(facts, question)
    assert resolve(facts, question).verdict == "works"


def test_what_is_near_is_looked_for_on_wish(tmp_path: Path) -> None:
    """Who asks for the verdict alone does not pay for what is near, and the verdict is the same."""
    said = [needs(f"ipex=={version}", f"torch=={version}") for version in VERSIONS]
    facts = universe(tmp_path, [product("torch", releases=VERSIONS), product("ipex", releases=VERSIONS, claims=said)])
    question = request(facts, {"torch": "1.0", "ipex": "2.0"})
    answer = resolve(facts, question, near=False)
    assert (answer.verdict, answer.nearest, answer.gave_up) == ("does-not-work", (), False)
    assert resolve(facts, question).nearest
    assert "ended early" in present(facts, answer._replace(gave_up=True)).foot[-1]  # the reader is told
    assert present(facts, answer).foot == []


def test_an_answer_spends_the_budget_that_it_is_given(tmp_path: Path) -> None:
    """The steps of a search count against the budget of whoever asks, so that several searches can share one."""
    facts = universe(tmp_path, [product("torch", releases=VERSIONS)])
    budget = Budget(steps=0)
    budget.spend(1_024)
    with pytest.raises(GaveUpError):
        best_stacks(facts, request(facts, bare=["torch"]), budget)


def test_why_pins_with_many_needs_do_not_go_together_is_found_soon() -> None:
    """What two builds need, in hundreds of versions, is not tried version by version when their conflict is looked for."""
    base, looks = KnowledgeBase(), list[None]()
    question = base.request(words=["vllm===0.26.0", "xformers===0.0.30"])
    answer = resolve(base.facts, question, lambda: bool(looks.append(None)), near=False)
    assert answer.verdict == "does-not-work"
    assert not looks, "the clock is looked at after some thousand steps"


def test_a_candidate_that_is_tried_is_a_step(tmp_path: Path) -> None:
    """The newest release that goes is found in one step, however many are older."""
    facts = universe(tmp_path, [product("torch", releases=VERSIONS[::-1])])
    budget = Budget()
    best_stacks(facts, request(facts, bare=["torch"]), budget)
    assert budget.spent == 1
