"""Output of `check` for other programs, and the files that run it elsewhere."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ROOT, clock

from compatkb.check import CheckReport, rules_by_id
from compatkb.check.document import CheckContext, TextDocument
from compatkb.check.report_text import Shown, github_text, gitlab_text, sarif_text
from compatkb.core.findings import Edit, Finding, Severity
from compatkb.store.cache import cache_directory
from compatkb.store.reader import Snapshot

RULE = next(iter(rules_by_id()))


def finding(**more: Any) -> Finding:
    base: dict[str, Any] = {
        "rule": RULE, "level": Severity.ERROR, "path": "a b/é|.txt", "line": 2, "column": 3, "end_column": 5,
        "message": "a | <b> & `c`\n\x01 it's", "fix": "write \"d\"", "sources": ("https://example.org/x",),
    }  # fmt: skip
    return Finding(**{**base, **more})


@pytest.fixture
def report(facts: Snapshot) -> Shown:
    document = TextDocument("a b/é|.txt", "one\nxyzzy\nthree\n")
    found = (
        finding(),
        finding(message="again"),
        finding(level=Severity.INFO, line=0, column=None, end_column=None, fix=None),
        finding(level=Severity.WARNING, line=3, column=1, end_column=None, edits=(Edit(10, 15, "3"),)),
    )
    documents = {document.path: document, "clean.txt": TextDocument("clean.txt", "")}
    return Shown(CheckReport(found, documents), CheckContext(facts, clock()))


def test_sarif_has_what_the_standard_asks_for(report: Shown) -> None:
    """A log of one run: every result names a rule that is there, a level, a place from 1 on, and a fingerprint of its own."""
    log = json.loads(sarif_text(report))
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert run["columnKind"] == "unicodeCodePoints"
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        place = result["locations"][0]["physicalLocation"]
        assert re.fullmatch(r"[A-Za-z0-9%/._~-]+", place["artifactLocation"]["uri"])
        region = place["region"]
        assert region["startLine"] >= 1
        assert region.get("endColumn", 10**6) > region.get("startColumn", 1)
    prints = [result["partialFingerprints"]["compatkb/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints)


def test_sarif_carries_edits(report: Shown) -> None:
    """What --fix would write stands in `fixes`, with the text that goes and the text that comes."""
    results = json.loads(sarif_text(report))["runs"][0]["results"]
    (fix,) = next(result["fixes"] for result in results if "fixes" in result)
    (replacement,) = fix["artifactChanges"][0]["replacements"]
    assert replacement["deletedRegion"] == {"startLine": 3, "startColumn": 1, "endLine": 3, "endColumn": 6}
    assert replacement["insertedContent"] == {"text": "3"}


def test_gitlab_has_the_fields_of_code_quality(report: Shown) -> None:
    """Each entry has description, rule, severity, place, and a fingerprint of its own."""
    entries = json.loads(gitlab_text(report))
    assert [entry["severity"] for entry in entries] == ["major", "major", "info", "minor"]
    assert all(set(entry) == {"description", "check_name", "fingerprint", "severity", "location"} for entry in entries)
    assert all(entry["location"]["lines"]["begin"] >= 1 for entry in entries)
    assert len({entry["fingerprint"] for entry in entries}) == len(entries)


def test_fingerprints_outlive_edits_elsewhere(report: Shown) -> None:
    """A line put in above changes no fingerprint."""
    document = TextDocument("a b/é|.txt", "new\none\nxyzzy\nthree\n")
    moved = tuple(finding(line=3) if f.line == 2 and f.message != "again" else f for f in report.report.findings)[:1]
    later = report._replace(report=CheckReport(moved, {document.path: document}))
    assert json.loads(gitlab_text(later))[0]["fingerprint"] == json.loads(gitlab_text(report))[0]["fingerprint"]


def test_annotations_are_one_line_each(report: Shown) -> None:
    """Line breaks, colons and commas of a finding stay within its command."""
    lines = github_text(report).splitlines()
    assert len(lines) == len(report.report.findings)
    assert lines[0].startswith("::error file=a b/é|.txt,line=2,col=3,title=")
    assert [line.split(" ")[0] for line in lines] == ["::error", "::error", "::notice", "::warning"]


# -- files that run it elsewhere -----------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "requirements.txt").write_text("torch==2.5.0\nintel-extension-for-pytorch==2.4.0\n")
    return tmp_path


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    """Return what GitHub documents for a step of a composite action, and a Python that has the package."""
    inputs = dict.fromkeys(("COMPATKB_EOL_WITHIN", "COMPATKB_SARIF"), "")
    return {
        "PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "src"),
        "CI": "true", "GITHUB_ACTIONS": "true",
        "COMPATKB_CACHE": cache_directory(),
        "GITHUB_ACTION_PATH": str(ROOT), "GITHUB_WORKSPACE": str(tmp_path), "RUNNER_TEMP": str(tmp_path / "temp"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        **inputs, "COMPATKB_PATHS": ".", "COMPATKB_FAIL_ON": "error", "COMPATKB_PYTHON": sys.executable, **more,
    }  # fmt: skip


def run_action(project: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the one step of the action as GitHub does: its text in a file, under bash with its documented options."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    (step,) = action["runs"]["steps"]
    assert set(step["env"].values()) == {f"${{{{ inputs.{name} }}}}" for name in action["inputs"]}
    script = project.parent / "step.sh"
    script.write_text(step["run"])
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    told = environment(project, **more)
    return subprocess.run(command, cwd=project, env=told, capture_output=True, text=True, timeout=100, check=False)


def test_action_annotates_and_fails(project: Path) -> None:
    """The action prints annotations, writes SARIF, sets its outputs, and fails with the check."""
    done = run_action(project, COMPATKB_SARIF="out.sarif")
    assert done.returncode == 1, done.stderr
    assert "::error file=requirements.txt,line=2,col=1,title=pins-together::" in done.stdout
    assert (project / "output").read_text("utf-8") == "exit-code=1\nsarif<<COMPATKB_END\nout.sarif\nCOMPATKB_END\n"
    assert json.loads((project / "out.sarif").read_text("utf-8"))["runs"]


def test_action_passes_inputs_as_data(project: Path) -> None:
    """Nothing in an input is run: a path that looks like a command is a path that is not there."""
    done = run_action(project, COMPATKB_PATHS="$(touch ran)\n; touch ran", COMPATKB_FAIL_ON="never")
    assert done.returncode == 2
    assert not (project / "ran").exists()


def test_gitlab_job_writes_its_reports(project: Path) -> None:
    """The script of the template writes the reports that its artifacts name, and fails with the check."""
    template = yaml.safe_load((ROOT / "templates" / "check.yml").read_text("utf-8"))
    install, check = template["compatkb"]["script"]
    unset = {"PATH": "", "COMPATKB_PACKAGE": template["variables"]["COMPATKB_PACKAGE"]}
    refused = subprocess.run(["/bin/sh", "-e", "-c", install], env=unset, capture_output=True, check=False)
    assert refused.returncode != 0  # no name of an index stands there, which anybody may register
    assert b"COMPATKB_PACKAGE: is not set" in refused.stderr
    variables = {**environment(project), **template["variables"]}
    tools = project / "bin"
    tools.mkdir()
    (tools / "python").symlink_to(sys.executable)
    variables["PATH"] = f"{tools}:{variables['PATH']}"
    variables["PYTHONPATH"] = ":".join([str(ROOT / "src"), *sys.path])
    command = ["sh", "-e", "-c", check]
    done = subprocess.run(command, cwd=project, env=variables, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 1, done.stderr
    for path in template["compatkb"]["artifacts"]["reports"].values():
        assert (project / path).stat().st_size


def test_hook_names_what_is_there() -> None:
    """The hook runs a command that exists, on files that are read, and on the repository as a whole."""
    from compatkb.check import reads

    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert (hook["entry"], hook["pass_filenames"]) == ("compatkb check", False)
    for path in (
        "requirements.txt", "a/requirements-dev.in", "requirements/x.txt", "pyproject.toml", "uv.lock",
        "a/Dockerfile.xpu",
        "x.dockerfile", "compose.yaml", ".github/workflows/a.yml", "a.sh", "n.ipynb", "README.md", "pylock.x.toml",
        "setup.cfg", "setup.py", "Containerfile", "constraints.txt", "pixi.toml", "uv.toml", "a/Makefile", "a.mk", "a.bat",
        "a.cmd", ".devcontainer/devcontainer.json", "pyproject.gpu.toml", "poetry.lock",
    ):  # fmt: skip
        assert re.search(hook["files"], path), path
        assert reads(path), path
    assert not re.search(hook["files"], "src/a.py")


@pytest.mark.online
def test_hook_runs_under_pre_commit(project: Path) -> None:
    """Real pre-commit installs the hook from this repository, runs it, and reports what it finds."""
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    subprocess.run(["git", "add", "."], cwd=project, check=True)
    command = [sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), "compatkb-check", "--all-files"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "pins-together" in done.stdout
