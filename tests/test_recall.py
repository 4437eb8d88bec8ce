"""Contradictions that were planted before anyone looked at what is found: most of them have to be found at their line."""

import tomllib
from pathlib import Path

from conftest import clock

from compatkb.check import check, rules
from compatkb.check.config import Settings
from compatkb.check.document import CheckContext, TextDocument
from compatkb.core.findings import Severity
from compatkb.store.reader import Snapshot

PLANTS = tomllib.loads((Path(__file__).parent / "cases" / "recall" / "planted.toml").read_text("utf-8"))["plant"]


def is_found(plant: dict, facts: Snapshot, settings: Settings) -> bool:
    """Return whether a rule that says what was planted speaks at its line; `rule` was written down once it was found."""
    documents = [TextDocument(path, text) for path, text in plant["files"].items()]
    report = check(documents, CheckContext(facts, clock(plant.get("as-of"))), settings)
    return (plant["at"], plant.get("rule")) in {
        (f"{finding.path}:{finding.line}", finding.rule) for finding in report.findings
    }


def test_planted_contradictions_are_found(facts: Snapshot) -> None:
    """Four of five with all rules on, and with those that are on by themselves; none that was found is lost."""
    by_id = {rule.id: rule for rule in rules()}
    optional = {name: Severity.INFO for name, rule in by_id.items() if rule.optional}
    every = [plant["shows"] for plant in PLANTS if not is_found(plant, facts, Settings(levels=optional))]
    default = [plant["shows"] for plant in PLANTS if not is_found(plant, facts, Settings())]
    assert len(PLANTS) >= 35
    assert every == [plant["shows"] for plant in PLANTS if "rule" not in plant]
    assert len(PLANTS) - len(every) >= 0.8 * len(PLANTS), every
    assert len(PLANTS) - len(default) >= 0.8 * len(PLANTS), default
    told = [plant for plant in PLANTS if "rule" in plant]
    on = [plant for plant in told if by_id[plant["rule"]].is_on(plant["at"].partition(":")[0])]
    assert [plant["shows"] for plant in on if plant["shows"] in default] == []
