"""Known issues in words: what is wrong, where, what cures it."""

import re

from compatkb.engine.known_issues import GPUS, IssueCondition, IssueMatch, KnownIssue
from compatkb.output.labels import Names
from compatkb.output.things import listed

_EFFECTS = {
    "wrong-result": "wrong results",
    "crash": "crash",
    "hang": "hang",
    "install": "cannot be installed or imported",
    "missing": "missing",
    "slow": "slow",
}


def issue_condition(names: Names, condition: IssueCondition) -> str:
    """Return a condition in words, such as `torch >=2.13,<2.14`, `2 or more GPUs` or `on Windows`."""
    if condition.product == GPUS:
        return f"{condition.spec.removeprefix('>=')} or more GPUs"
    if condition.spec:
        name = names.label(condition.product)
        return name if condition.spec == ">=0" else f"{name} {condition.spec}"
    return f"on {listed([names.value(condition.product, name) for name in condition.values])}"


def issue_headline(names: Names, match: IssueMatch) -> tuple[str, str]:
    """Return the title of an issue, as possible where the text leaves conditions open, and what it is about."""
    issue = match.issue
    sign = "possible known issue" if match.unsaid else "known issue"
    where = ", ".join(issue_condition(names, condition) for condition in issue.conditions)
    about = f"It affects {where} ({_EFFECTS[issue.effect]}, {issue.state})."
    if match.unsaid:
        missing = listed([issue_condition(names, condition) for condition in match.unsaid])
        about += f" The text does not say whether this is {missing}."
    return f"{sign}: {issue.title}", about


def issue_cures(names: Names, issue: KnownIssue) -> tuple[str, ...]:
    """Return the versions that cure an issue, one line for all; the steps of its other cures are not among them."""
    versions = [f"{names.label(name)} {spec}" for name, spec in _targets(issue)]
    return (f"use {' or '.join(versions)}",) if versions else ()


def _targets(issue: KnownIssue) -> list[tuple[str, str]]:
    split = (re.match(r"([a-z0-9_.-]+?)\s*([=<>!~].*)", cure.to) for cure in issue.cures if cure.to)
    return [(match[1], match[2]) for match in split if match]
