"""Known issues in words: what is wrong, where, what cures it."""

import re
from collections.abc import Collection

from compatkb.core.vocabulary import UNBOUNDED
from compatkb.engine.known_issues import (
    GPUS,
    IssueCondition,
    IssueMatch,
    KnownIssue,
    Surroundings,
    known_issues,
)
from compatkb.engine.known_issues import GRAVE as GRAVE_EFFECTS
from compatkb.engine.stacks import Stack
from compatkb.output.labels import Names
from compatkb.output.things import StackIssue, listed
from compatkb.store.records import Request

EFFECTS = {
    "wrong-result": "wrong results",
    "crash": "crash",
    "hang": "hang",
    "install": "cannot be installed or imported",
    "missing": "missing",
    "slow": "slow",
}
GRAVE = frozenset(EFFECTS[name] for name in GRAVE_EFFECTS)
"""What an answer tells on its first screen."""


def spec_in_words(spec: str) -> str:
    """Return a specifier as people say it: `older than 26.22`, `2.13 or newer`, `2.13 to before 2.14`."""
    clauses = [re.fullmatch(r"([<>=!~]+)\s*(.+)", part.strip()) for part in spec.split(",")]
    said = {match[1]: match[2] for match in clauses if match}
    low = said.get(">=") or said.get(">")
    if set(said) == {"<"}:
        return f"older than {said['<']}"
    if set(said) == {"<="}:
        return f"up to {said['<=']}"
    if set(said) == {"=="}:
        return said["=="]
    if set(said) == {">="}:
        return f"{low} or newer"
    if set(said) == {">=", "<"}:
        return f"{low} to before {said['<']}"
    if set(said) == {">", "<="}:
        return f"newer than {low}, up to {said['<=']}"
    if set(said) == {">=", "<="}:
        return f"{low} to {said['<=']}"
    return spec


def issue_condition(names: Names, condition: IssueCondition) -> str:
    """Return a condition in words, such as `torch >=2.13,<2.14`, `2 or more GPUs` or `on Windows`."""
    if condition.product == GPUS:
        return f"{condition.spec.removeprefix('>=')} or more GPUs"
    if condition.spec:
        name = names.label(condition.product)
        return name if condition.spec == UNBOUNDED else f"{name} {spec_in_words(condition.spec)}"
    return f"on {listed([names.value(condition.product, name) for name in condition.values])}"


def stack_issues(names: Names, stack: Stack, request: Request) -> tuple[StackIssue, ...]:
    """Return the known issues that a stack has or may have on what a request fixes, the surest and gravest first.

    A cure is told where it brings no grave issue of its own.
    """
    members = {element.product: (element.version,) for element in stack.packages}
    return place_issues(names, known_issues(names.facts).place_of(request, stack.device, stack.os, stack.packages), members)


def place_issues(names: Names, place: Surroundings, members: Collection[str]) -> tuple[StackIssue, ...]:
    """Return the known issues that a place has or may have, the surest and gravest first; `members` are its packages."""
    matches = known_issues(names.facts).at(place)
    order = list(EFFECTS)
    matches.sort(key=lambda match: (bool(match.unsaid), order.index(match.issue.effect), len(match.unsaid)))
    return tuple(
        StackIssue(
            match.issue.id,
            match.issue.title,
            EFFECTS[match.issue.effect],
            match.issue.state,
            tuple(issue_condition(names, condition) for condition in match.unsaid),
            _cures_in_words(names, match.issue, place),
            match.issue.sources,
            any(condition.product in members for condition in match.issue.conditions),
        )
        for match in matches
    )


def _cures_in_words(names: Names, issue: KnownIssue, place: Surroundings) -> tuple[str, ...]:
    """Return in words the versions that cure an issue and bring no grave one."""
    clean = known_issues(names.facts).clean_cures(issue, place)
    cures = [target_in_words(names, cure.to) for cure in clean if cure.to]
    return (f"use {' or '.join(cures)}",) if cures else ()


def issue_line(issue: StackIssue) -> str:
    """Return an issue in one sentence: if the compute runtime is older than 26.22: what is wrong (the cure)."""
    when = f"if {listed(issue.when)}: " if issue.when else ""
    cure = f" ({issue.cures[0]})" if issue.cures else ""
    return f"{when}{issue.title}{cure}"


def issue_headline(names: Names, match: IssueMatch) -> tuple[str, str]:
    """Return the title of an issue, as possible where the text leaves conditions open, and what it is about."""
    issue = match.issue
    sign = "possible known issue" if match.unsaid else "known issue"
    where = ", ".join(issue_condition(names, condition) for condition in issue.conditions)
    about = f"It affects {where} ({EFFECTS[issue.effect]}, {issue.state})."
    if match.unsaid:
        missing = listed([issue_condition(names, condition) for condition in match.unsaid])
        about += f" The text does not say whether this is {missing}."
    return f"{sign}: {issue.title}", about


def target_in_words(names: Names, target: str) -> str:
    """Return what cures an issue in words: of compute-runtime>=26.22 `compute runtime 26.22 or newer`."""
    name = re.split(r"[=<>!~]", target, maxsplit=1)[0]
    spec = target.removeprefix(name).strip()
    return f"{names.label(name.strip())} {spec_in_words(spec)}" if spec else names.label(name.strip())
