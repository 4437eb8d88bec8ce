"""The page says what the command line says."""

import hashlib
import random
from typing import Any

import pytest
from site_of_tests import MORE, SHEETS, canonical

from compatkb.engine.answer import resolve
from compatkb.rendering.payload import answer_payload
from compatkb.web.questions import Form
from compatkb.web.tables import share

ASK = """async (states) => {
  const record = (value) => Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
  const one = (value) => value && typeof value === "object" ? record(value) : value;
  const sorted = (value) => Array.isArray(value) ? value.map(sorted) : one(value);
  const said = ({ verdict, stacks, causes, nearest }) => ({
    verdict, causes, stacks: stacks.map(own),
    nearest: nearest.map((near) => ({ ...near, stack: own(near.stack) })) });
  const own = ({ base, requirements, conda, container, ...stack }) => stack;
  const hex = async (text) => [...new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)))]
    .map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const answers = [];
  for (const state of states) {
    const found = await compatkb.answer(state);
    answers.push([found.verdict, found.state, found.aside, await hex(JSON.stringify(sorted(said(found))))]);
  }
  return answers;
}"""


FEW = 300


def states(form: Form, sheets: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    """Return every single choice beside device and series, and more than two thousand others drawn at random.

    Of the whole site: every series with every Python too, and every single choice without a series.
    """
    draw = random.Random(20)
    found: dict[str, dict[str, str]] = {}

    def keep(state: dict[str, str]) -> None:
        found.setdefault(canonical(state), state)

    fields = [field for field in form.fields if field.id not in ("device", "main")]
    every = [(device, main) for device in form.values("device") for main in ("", *form.values("main"))]
    whole, sheets = not sheets, sheets or every
    for device, main in sheets:
        fixed = {"device": device, **({"main": main} if main else {})}
        keep(fixed)
        for field in fields if not whole or not main else (field for field in fields if field.id == "python"):
            for value in field.values:
                keep({**fixed, field.id: value.id})
    drawn = len(found) + (2600 if whole else 1400)
    while len(found) < max(drawn, 2200):
        device, main = draw.choice(sheets)
        chosen = {name: draw.choice(form.values(name)) for name in ("python", "os") if draw.random() < 0.75}
        further = draw.choice(("", "", "route", "hardware", "hardware", *form.packages))
        if further:
            chosen[further] = draw.choice(form.values(further))
            if draw.random() < 0.15:
                chosen["route"] = draw.choice(form.values("route"))
            elif further == "hardware" and draw.random() < 0.3:
                chosen[form.packages[0]] = draw.choice(("2.8.10", "2.4.0", "2.8.0"))
        keep({"device": device, **({"main": main} if main else {}), **chosen})
    return list(found.values())


def payload(form: Form, state: dict[str, str]) -> dict[str, Any]:
    """Return what `resolve --format json` says to a choice, without what repeats the question."""
    answer = answer_payload(form.facts, resolve(form.facts, form.request(state)))
    return {name: answer[name] for name in ("verdict", "stacks", "causes", "nearest")}


def test_page_equals_command_line(form: Form, address: str, watched: Any) -> None:
    """Verdict, support, versions, commands, warnings, causes, what is near and sources are the same to the letter.

    Where the page sets choices aside, the rest has no stack already, and with them the command line finds none either.
    """
    asked = random.Random(4).sample(states(form, SHEETS), FEW)
    assert {"works", "likely", "unknown", "does-not-work"} <= compare(
        form, asked, watched().show(address).evaluate(ASK, asked)
    )


@pytest.mark.long
def test_page_equals_command_line_in_thousands(form: Form, more: str, watched: Any) -> None:
    """The same of more than two thousand questions, those without a series among them."""
    asked = states(form, MORE)
    assert len(asked) > 2000
    verdicts = compare(form, asked, watched().show(more).evaluate(ASK, asked))
    assert verdicts == {"works", "works-with-warnings", "likely", "unknown", "does-not-work"}


def compare(form: Form, asked: list[dict[str, str]], answers: list[Any]) -> set[str]:
    """Compare what the page answers to choices with the command line, and return the verdicts."""
    wrong, aside, unanswered, verdicts = [], 0, 0, set()
    with share(form.facts):
        for state, (verdict, effective, left, digest) in zip(asked, answers, strict=True):
            if verdict is None:
                assert is_left_out(form, state), state
                unanswered += 1
                continue
            verdicts.add(verdict)
            said = payload(form, effective)
            if hashlib.sha256(canonical(said).encode()).hexdigest() != digest:
                wrong.append((state, effective))
            if left:
                aside += 1
                assert set(effective) | set(left) == set(state)
                assert resolve(form.facts, form.request(state)).verdict in ("does-not-work", "unknown"), state
    assert not wrong, f"{len(wrong)} of {len(asked)}, such as {wrong[:3]}"
    assert aside > len(asked) / 25
    assert unanswered < len(asked) / 10
    return verdicts


def is_left_out(form: Form, state: dict[str, str]) -> bool:
    """Return whether the page may leave a choice out: a system beside the last package, or two of the further choices."""
    return (form.packages[-1] in state and "os" in state) or len({"route", "hardware", *form.packages} & set(state)) > 1


def test_sharing_searches_changes_nothing(form: Form) -> None:
    """The expectation above is what the engine says by itself."""
    asked = [state for state in states(form, SHEETS) if not ("route" in state and form.packages[0] in state)]
    for state in random.Random(3).sample(asked, 40):
        alone = payload(form, state)
        with share(form.facts):
            assert payload(form, state) == alone


def test_controls_lead_to_the_answer(form: Form, address: str, watched: Any) -> None:
    """What people do with the real form shows the verdict, the versions and the commands of the command line."""
    choices = (
        {"device": "xpu", "main": "2.8", "python": "3.11", "os": "ubuntu22.04"},
        {"device": "xpu", "main": "2.8", "hardware": "arc-b", "os": "windows11"},
        {"device": "xpu", "main": "2.4", "route": "ipex"},
    )
    use(form, address, watched, choices)


@pytest.mark.long
def test_controls_of_another_device_lead_to_the_answer(form: Form, more: str, watched: Any) -> None:
    """The same for the processor."""
    choices = (
        {"device": "cpu", "main": "2.4", "python": "3.12"},
        {"device": "cpu", "main": "2.4", "ipex": "2.4.0", "python": "3.10"},
        {"device": "cpu", "main": "2.4", "python": "3.13"},
    )
    use(form, more, watched, choices)


def use(form: Form, address: str, watched: Any, choices: tuple[dict[str, str], ...]) -> None:
    """Make choices with the form, and compare what it shows with the command line."""
    page = watched().show(address)
    for state in choices:
        page.goto(f"{address}#device={state['device']}&torch={state['main']}")
        page.locator(f"input[name=device][value={state['device']}]").check()
        for field, value in state.items():
            if field != "device":
                page.locator(f"select[name={field}]").select_option(value)
        names = {field.id: field.option.removeprefix("--") for field in form.fields}
        said = payload(form, state)
        page.wait_for_function(
            "(words) => words.every((word) => (document.documentElement.dataset.shown || '').includes(word))",
            arg=[f"{names[field]}={value}" for field, value in state.items()],
        )
        assert page.locator(".summary .verdict").get_attribute("class") == f"verdict {said['verdict']} big"
        shown = said["stacks"][:3] if said["verdict"] not in ("does-not-work", "unknown") else said["stacks"][:1]
        stacks = [*shown, *(near["stack"] for near in said["nearest"])]
        articles = page.locator("article.stack")
        assert articles.count() == len(stacks)
        for number, stack in enumerate(stacks):
            text = articles.nth(number).text_content()
            assert all(line in text for line in stack["install"])
            assert all(version in text for version in stack["packages"].values())
        for cause in said["causes"]:
            assert cause["message"] in page.locator("#answer .causes").text_content()
