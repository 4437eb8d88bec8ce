"""Small projects of the shapes that are found in public, each with all findings that it must have, and no others."""

import json
import os
import random
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from conftest import clock, days_later, parted
from fuzz_readers import mutated
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from test_check_markdown import CLEAN, DAY, PLANTED

from compatkb.check import CHECKERS, REPOSITORY_CHECKERS, CheckReport, check, rules_by_id
from compatkb.check.config import Settings
from compatkb.check.document import CheckContext, TextDocument, mended
from compatkb.check.project.issues import VULNERABLE
from compatkb.check.project.queries import ProjectQueries
from compatkb.core.findings import Finding, Severity
from compatkb.store.reader import Snapshot

SAID = Path(__file__).parent / "cases" / "check" / "said.json"
CASES = sorted((Path(__file__).parent / "cases" / "check").glob("*.toml"))


def judged(case: dict, facts: Snapshot) -> CheckReport:
    """Return what is found in a case, with the rules on that it switches on."""
    documents = [TextDocument(path, text) for path, text in case["files"].items()]
    return check(documents, CheckContext(facts, clock(case.get("as-of"))), settings(case))


def settings(case: dict) -> Settings:
    """Return the levels that a case asks for.

    What is published of the pins of a case grows with the data, and is none of it unless it expects that.
    """
    expects = any(one.endswith(f" {VULNERABLE.id}") for one in case.get("expect", ()))
    levels = {rule: Severity(level) for rule, level in case.get("levels", {}).items()}
    return Settings(levels=levels, ignore=() if expects else (VULNERABLE.id,))


def found(case: dict, facts: Snapshot) -> list[str]:
    """Return the findings of a case as its `expect` writes them."""
    return list(map(place_and_rule, judged(case, facts).findings))


def place_and_rule(finding: Finding) -> str:
    """Return a finding as the `expect` of a case writes it."""
    return f"{finding.path}:{finding.line} {finding.rule}"


def unaged(told: Iterable[str], case: dict) -> list[str]:
    """Return findings in order; at a later day without the pins that lost their last supported Python since."""
    return sorted(one for one in told if not days_later() or not one.endswith(" pin-outlived") or one in case["expect"])


RECORDED = json.loads(SAID.read_text("utf-8"))
PROJECTS = {path.stem: tomllib.loads(path.read_text("utf-8")) for path in CASES}
PROJECTS |= {
    f"planted {number}: {rule}": {"files": {"README.md": CLEAN.replace(right, wrong, 1)}, "as-of": DAY}
    for number, (rule, right, wrong) in enumerate(PLANTED)
}


@pytest.mark.verdict
@pytest.mark.parametrize("name", parted(PROJECTS, [*PROJECTS][::5]))
def test_case(name: str, facts: Snapshot) -> None:
    """A project has the findings that its case names, each at its line, and no others, and says what is recorded.

    With every rule on, what findings say changes only on purpose; COMPATKB_UPDATE_GOLDEN=1 writes it down anew.
    """
    case = PROJECTS[name]
    optional = {rule.id: Severity.INFO for rule in rules_by_id().values() if rule.optional}
    documents = [TextDocument(path, text) for path, text in case["files"].items()]
    every = settings(case)._replace(levels=optional | settings(case).levels)
    findings = check(documents, CheckContext(facts, clock(case.get("as-of"))), every).findings
    if "expect" in case:
        asked = [finding for finding in findings if finding.rule not in optional or finding.rule in case.get("levels", {})]
        assert unaged(map(place_and_rule, asked), case) == sorted(case["expect"]), case["shows"]
        if "gravest" in case:
            assert max((finding.level for finding in asked), key=list(Severity).index) == case["gravest"]
    told = list(map(said, findings))
    if days_later():  # how old a release is changes with the day
        return
    if os.environ.get("COMPATKB_UPDATE_GOLDEN"):
        recorded = json.loads(SAID.read_text("utf-8"))  # with what the tests before this one wrote
        changed = {one: lines for one, lines in (recorded | {name: told}).items() if lines and one in PROJECTS}
        SAID.write_text(json.dumps(changed, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
    else:
        assert told == RECORDED.get(name, [])


def said(finding: Finding) -> str:
    """Return all that a finding says, on a line."""
    place = f"{finding.path}:{finding.line}:{finding.column}-{finding.end_column}"
    edits = "".join(f" | {edit}" for edit in finding.edits)
    sourced = "sourced" if finding.sources else "without a source"  # which ones is a matter of the data
    return f"{place} {finding.rule}: {finding.message} | {finding.fix} | {sourced}{edits}"


def test_there_are_enough_cases() -> None:
    """At least 60 cases, at least a third of them clean, and every rule of projects in some case."""
    from compatkb.check.project.checker import RULES

    cases = [tomllib.loads(path.read_text("utf-8")) for path in CASES]
    assert len(cases) >= 60
    assert sum(not case["expect"] for case in cases) * 3 >= len(cases)
    told = {line.split(" ")[1] for case in cases for line in case["expect"]}
    assert {rule.id for rule in RULES if not rule.optional} <= told


SAME = (
    {"install-unpublished", "pin-unpublished"},
    {"pin-index", "build-plain"},
    {"install-together", "pins-together", "versions-together", "pins-contradict"},
    {"image-tag-unlisted", "image-tag-spelling"},
)
"""Rules that say one thing of different places; of one statement only one of them may speak."""
INSTALL = (
    "pip install torch==2.4.9\npip install torch==2.5.0 intel-extension-for-pytorch==2.4.0\npip install torch==2.8.0+xpu\n"
)
EVERYWHERE = {
    "README.md": f"Run `pip install torch==2.4.9`.\n\n| PyTorch | how |\n|---|---|\n| 2.4.9 | `pip install torch==2.4.9` |\n\n"
    f"```sh\n{INSTALL}pip install intel-extension-for-pytorch\n```\n\n"
    "```sh\ndocker run intel/intel-extension-for-pytorch:2.4.0-pip-bse\n```\n",
    "install.sh": INSTALL,
    "Dockerfile": "FROM intel/intel-extension-for-pytorch:2.4.0-pip-bse\n"
    + "".join(f"RUN {line}\n" for line in INSTALL.splitlines()),
    "requirements.txt": "torch==2.5.0\nintel-extension-for-pytorch==2.4.0\ntorchvision==0.20.9\ntorchaudio\n",
    "n.ipynb": '{"cells": [{"cell_type": "markdown", "source": ["```sh\\n", "pip install torch==2.4.9\\n", "```"]}, '
    '{"cell_type": "code", "source": ["!pip install torch==2.4.9"]}]}',
}


PART = pytest.mark.parametrize("step", [20, pytest.param(5, marks=pytest.mark.long), pytest.param(1, marks=pytest.mark.soak)])
"""A part of what is alike in every run, more in long ones."""


@PART
def test_nothing_is_said_twice(facts: Snapshot, step: int) -> None:
    """No statement has two findings that say the same, and of a file that is read as a document none is about pins."""
    projects = [EVERYWHERE, *(tomllib.loads(path.read_text("utf-8"))["files"] for path in CASES[::step])]
    for files in projects:
        findings = check([TextDocument(path, text) for path, text in files.items()], CheckContext(facts, clock())).findings
        for same in SAME:
            places = [(f.path, f.line, f.column) for f in findings if f.rule in same]
            assert len(places) == len(set(places)), [f for f in findings if places.count((f.path, f.line, f.column)) > 1]
    told = {
        (f.path, f.rule)
        for f in check([TextDocument(*item) for item in EVERYWHERE.items()], CheckContext(facts, clock())).findings
    }
    assert {("README.md", "install-unpublished"), ("install.sh", "pin-unpublished"), ("n.ipynb", "pin-unpublished")} <= told


@pytest.mark.parametrize("path", EVERYWHERE)
def test_a_file_has_one_reader(path: str) -> None:
    """What reviews documents and what reads projects share no file but notebooks, so their rules never meet."""
    assert sum(checker.reads(path) for checker in (*CHECKERS, REPOSITORY_CHECKERS[0])) == (2 if path.endswith(".ipynb") else 1)


@PART
def test_line_ends_change_no_finding(facts: Snapshot, step: int) -> None:
    """CRLF leaves findings at their lines."""
    for path in CASES[::step]:
        case = tomllib.loads(path.read_text("utf-8"))
        case["files"] = {name: text.replace("\n", "\r\n") for name, text in case["files"].items()}
        assert unaged(found(case, facts), case) == sorted(case["expect"]), path.stem


MENDED = ("bound-lost-both", "drift-ipex", "drift-torchaudio", "index-pyproject-uv", "shell-bound-lost")
"""Cases of which --fix mends something."""


@PART
def test_mending_leaves_less(facts: Snapshot, step: int) -> None:
    """After --fix, what was mended is gone, nothing new has come, and a second --fix changes nothing."""
    mended_ones = 0
    for path in (*CASES[::step], *(path for path in CASES if path.stem in MENDED)):
        case = tomllib.loads(path.read_text("utf-8"))
        documents = [TextDocument(name, text) for name, text in case["files"].items()]
        report = judged(case, facts)
        changed = {}
        for document in documents:
            changed[document.path], done = mended(document, [f for f in report.findings if f.path == document.path])
            mended_ones += len(done)
        again = judged({**case, "files": changed}, facts).findings
        for path_, text in changed.items():
            assert mended(TextDocument(path_, text), [f for f in again if f.path == path_])[0] == text, path.stem
        before = [f"{f.path}:{f.line} {f.rule}" for f in report.findings if not f.edits]
        after = unaged((f"{f.path}:{f.line} {f.rule}" for f in again), {"expect": before})
        assert {line for line in after if "end-of-life" not in line and "yanked" not in line} <= set(before), path.stem
    assert mended_ones >= len(MENDED)


def test_hostile_files_are_checked(facts: Snapshot) -> None:
    """Damaged projects yield findings whose places exist, never an exception."""
    chance = random.Random(7)
    for _ in range(60):
        files = dict(tomllib.loads(chance.choice(CASES).read_text("utf-8"))["files"])
        documents = [TextDocument(name, mutated(text, chance)) for name, text in files.items()]
        for finding in check(documents, CheckContext(facts, clock())).findings:
            document = next(d for d in documents if d.path == finding.path)
            assert 0 <= finding.line <= len(document.starts)
            assert finding.column is None or finding.column <= len(document.line(finding.line)) + 1


@pytest.mark.long
def test_many_environments_end(facts: Snapshot) -> None:
    """A workflow with thousands of jobs is judged in part, and says so."""
    jobs = "".join(
        f"  j{n}:\n    runs-on: ubuntu-22.04\n    steps:\n      - run: pip install torch=={n % 40}.0\n" for n in range(3000)
    )
    workflow = TextDocument(".github/workflows/a.yml", f"on: push\njobs:\n{jobs}")
    report = check([workflow], CheckContext(facts, clock()), Settings(levels={"pin-newer": Severity.WARNING}))
    assert ({finding.rule for finding in report.findings}, report.in_part) == ({"pin-newer"}, 1)
    settings = Settings(levels={"unread": Severity.INFO})
    findings = check(report.documents.values(), CheckContext(facts, clock()), settings).findings
    assert ["2600 are left out" in finding.message for finding in findings if finding.rule == "unread"] == [True]


@pytest.mark.soak
def test_many_includes_end(facts: Snapshot) -> None:
    """A Dockerfile that copies and installs one file thousands of times is read to its end."""
    text = "FROM python:3.11\n" + "COPY requirements.txt a\nRUN pip install -r requirements.txt\n" * 5000
    documents = [TextDocument("Dockerfile", text), TextDocument("requirements.txt", "torch==2.4.9\n")]
    assert check(documents, CheckContext(facts, clock())).findings


@PART
def test_pins_admit_what_pep_440_admits(facts: Snapshot, step: int) -> None:
    """Pins and Python minors, which are judged without the parser of specifiers, admit what that admits."""
    queries = ProjectQueries(CheckContext(facts, clock()))
    packages = [p for p in facts.products.values() if p.role in ("package", "companion") and p.scheme == "pep440"]
    assert packages
    for product in packages[::step]:
        elements = facts.elements(product.id)
        versions = [(element.idx, Version(element.version)) for element in elements]
        plain = {e.release for e in elements if re.fullmatch(r"[0-9.]+", e.release)}
        texts = {e.version for e in elements} | {f"{release}{end}" for release in plain for end in ("", ".0", "+cpu")}
        for text in sorted(texts):
            wanted = SpecifierSet(f"=={text}")
            held = queries.allowed(product, [f"=={text}"])
            assert held is not None
            assert held.mask == sum(
                1 << number for number, version in versions if wanted.contains(version, prereleases=True)
            ), text
    pythons = [e for e in facts.elements("python") if not e.version.endswith("t")]
    for python in pythons:
        wanted = SpecifierSet(f"=={python.version}.*")
        assert queries.python(f"=={python.version}.*").mask == sum(
            1 << e.idx for e in pythons if wanted.contains(f"{e.version}.1")
        )


def test_an_end_is_told_as_loudly_as_it_is_meant(facts: Snapshot) -> None:
    """That a pin has ended is said with what else is wrong with it, and apart where that is turned down to less than it."""
    document = TextDocument("requirements.txt", "torch==2.7.1\nintel-extension-for-pytorch==2.8.0\n")

    def told(**levels: Severity) -> list[tuple[str, Severity]]:
        settings = Settings(levels={name.replace("_", "-"): level for name, level in levels.items()})
        return [(f.rule, f.level) for f in check([document], CheckContext(facts, clock()), settings).findings if f.line == 2]

    assert told() == [("pins-together", Severity.ERROR)]
    apart = [("end-of-life", Severity.WARNING), ("pins-together", Severity.INFO)]
    assert sorted(told(pins_together=Severity.INFO)) == apart
