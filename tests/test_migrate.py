"""`compatkb migrate`: cases with what is said and what --fix leaves, and what holds for any text."""

import ast
import itertools
import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run, clock, examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compatkb.check import CheckReport, check
from compatkb.check.document import CheckContext, TextDocument, mended
from compatkb.check.files import document_of
from compatkb.check.migration_rules import RULES
from compatkb.core.findings import Finding, Severity
from compatkb.migrate.project import migrate, reads
from compatkb.store.reader import Snapshot

CASES = sorted((Path(__file__).parent / "cases" / "migrate").glob("*.toml"))
Runner = Callable[..., Run]


def report(facts: Snapshot, files: dict[str, str], device: str | None = None) -> CheckReport:
    documents = [TextDocument(path, text) for path, text in files.items() if reads(path)]
    return migrate(documents, CheckContext(facts, clock()), device=device)


def fixed(facts: Snapshot, files: dict[str, str], device: str | None = None) -> dict[str, str]:
    """Return files as --fix leaves them; the last round has to find nothing more to write."""
    for _ in range(10):
        found = report(facts, files, device)
        if not any(finding.edits for finding in found.findings):
            return files
        files = dict(files)
        for path, document in found.documents.items():
            files[path] = mended(document, [f for f in found.findings if f.path == path])[0]
    raise AssertionError("--fix does not come to an end")


def shown(finding: Finding) -> str:
    return f"{finding.path}:{finding.line} {finding.rule}" + (" fix" if finding.edits else "")


@pytest.mark.verdict
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(facts: Snapshot, path: Path) -> None:
    """What is found is what the case expects, and --fix leaves its files as the case has them, all others as they were."""
    case = tomllib.loads(path.read_text(encoding="utf-8"))
    files = {name: text.lstrip("\n") for name, text in case["files"].items()}
    found = report(facts, files, case.get("device"))
    assert sorted(map(shown, found.findings)) == sorted(case["expect"])
    assert found.accepted == case.get("accepted", 0)
    after = {**files, **{name: text.lstrip("\n") for name, text in case.get("after", {}).items()}}
    assert fixed(facts, files, case.get("device")) == after


def test_cases_are_enough() -> None:
    """There are cases of every rule, and some in which nothing is to be said."""
    expected = [line for path in CASES for line in tomllib.loads(path.read_text(encoding="utf-8"))["expect"]]
    assert {rule.id for rule in RULES} <= {line.split()[1] for line in expected}
    assert sum(path.stem.startswith("clean-") for path in CASES) >= 6


@pytest.mark.parametrize("name", ["requirements-xpu", "dockerfile"])
def test_what_is_written_passes_check(facts: Snapshot, name: str) -> None:
    """What --fix leaves has no error for `check`, and what it pins is no longer IPEX."""
    case = tomllib.loads((Path(__file__).parent / "cases" / "migrate" / f"{name}.toml").read_text(encoding="utf-8"))
    files = fixed(facts, {path: text.lstrip("\n") for path, text in case["files"].items()})
    found = check([TextDocument(path, text) for path, text in files.items()], CheckContext(facts, clock()))
    assert [f.message for f in found.findings if f.level is Severity.ERROR] == []
    assert "intel-extension-for-pytorch=" in str(case["files"])
    assert "intel-extension-for-pytorch=" not in str(files)


@pytest.mark.verdict
def test_newest_that_works(facts: Snapshot) -> None:
    """The build that is written is the newest that is proven for the Python of the project."""
    line = "intel-extension-for-pytorch==2.8.10+xpu torch==2.8.0"
    for python, version in (("3.9", "2.8.0+xpu"), ("3.11", "2.14.0+xpu"), ("3.13", "2.14.0+xpu")):
        files = {
            "Dockerfile": f"FROM python:{python}\nRUN pip install {line} -i https://pytorch-extension.intel.com/release-whl/stable/xpu/us/\n"
        }
        assert f"torch=={version}" in fixed(facts, files)["Dockerfile"]


LINES = ("torch==2.8.0", "torchvision==0.23.0", "intel-extension-for-pytorch==2.8.10+xpu")


@pytest.mark.parametrize(
    "order", [*itertools.permutations(LINES)], ids=lambda order: ", ".join(word.partition("=")[0] for word in order)
)
@pytest.mark.parametrize("form", ["lines", "command"])
def test_order_of_pins_does_not_matter(facts: Snapshot, order: tuple[str, ...], form: str) -> None:
    """Whatever stands first, all pins move together, and the index of their builds is named once."""
    path, text = ("requirements.txt", "\n".join(order)) if form == "lines" else ("a.sh", f"pip install {' '.join(order)}")
    after = fixed(facts, {path: f"{text}\n"})[path]
    assert after.count("--extra-index-url https://download.pytorch.org/whl/xpu") == 1
    assert after.count("torch==2.14.0+xpu") == after.count("torchvision==0.29.0+xpu") == 1
    assert "intel-extension" not in after
    if form == "lines":
        assert after.startswith("--extra-index-url ")


@pytest.mark.parametrize(
    ("pin", "code", "ends"),
    [
        ("intel-extension-for-pytorch", 'model.to("xpu")', "+xpu"),
        ("intel-extension-for-pytorch", 'model.to("cpu")', "torch\n"),
        ("intel-extension-for-pytorch==2.7.0+cpu", 'model.to("xpu")', "torch\n"),
    ],
)
def test_what_programs_name_beats_a_bare_name(facts: Snapshot, pin: str, code: str, ends: str) -> None:
    """A name that installers take from their own index, for CPUs, does not outvote code for Intel GPUs; a label does."""
    after = fixed(facts, {"requirements.txt": f"torch\n{pin}\n", "a.py": f"import torch\n{code}\n"})
    line = next(line for line in after["requirements.txt"].splitlines(keepends=True) if line.startswith("torch"))
    assert line.rstrip().endswith(ends) if ends == "+xpu" else line == ends


def test_no_native_build_for_the_python(facts: Snapshot) -> None:
    """Where no native build is for the Python of the project, nothing is written, and the Python to move to is named."""
    files = {
        "Dockerfile": "FROM python:3.8\nRUN pip install torch==2.1.0a0 intel-extension-for-pytorch==2.1.10+xpu "
        "--extra-index-url https://pytorch-extension.intel.com/release-whl/stable/xpu/us/\n"
    }
    found = report(facts, files).findings
    assert not any(finding.edits for finding in found)
    assert any("Python" in finding.message and finding.fix and finding.fix.startswith("move to Python") for finding in found)


# -- any text ----------------------------------------------------------------------------------------------------------

HEADS = [
    "import torch",
    "import torch as th, os",
    "import intel_extension_for_pytorch as ipex",
    "import intel_extension_for_pytorch",
    "import oneccl_bindings_for_pytorch  # noqa",  # as people write it: imported for what it does, never named
    "import os, intel_extension_for_pytorch as ipex, sys",
    "from intel_extension_for_pytorch import xpu, optimize as opt",
    "from torch.xpu.amp import autocast",
    "try:\n    import intel_extension_for_pytorch as ipex\nexcept ImportError:\n    ipex = None",
    "try:\n    import torch_ccl; import oneccl_bindings_for_pytorch\nexcept:\n    pass",
    "if True: import intel_extension_for_pytorch as ipex; import torch_ccl",
    "import torch.distributed as dist; backend = 'ccl'",
]
BODIES = [
    "with torch.xpu.amp.autocast(): pass",
    "with torch.xpu.amp.autocast((True), dtype=(torch.half)), torch.no_grad():\n    x = f'{torch.xpu.amp.autocast(True)}é'",
    "é = ipex.xpu.synchronize(ipex.xpu.amp.autocast(ipex.xpu.is_available(), *a))",
    "torch.xpu.amp.autocast(torch.xpu.is_autocast_xpu_enabled(), torch.xpu.get_autocast_xpu_dtype())",
    "@torch.xpu.amp.autocast(enabled=False,)\ndef f(ipex=None): return ipex",
    "m = ipex.optimize(m)",
    "dist.init_process_group(backend, 'ccl'); dist.init_process_group(r'ccl' if x else \"cpu:gloo,xpu:ccl\")",
    "def g():\n\timport intel_extension_for_pytorch as ipex\n\tipex.xpu.empty_cache()",
    "def h():\n    import intel_extension_for_pytorch",
    "xpu.synchronize(); opt(m); autocast(\n  # on\n  True)",
    "device = 'xpu:0'",
    "class A:\n    import torch_ccl\n    x = 1",
]
PROGRAMS = st.lists(st.sampled_from(HEADS), min_size=1, max_size=4).flatmap(
    lambda heads: st.lists(st.sampled_from(BODIES), max_size=5).map(lambda bodies: [*heads, *bodies])
)


@settings(max_examples=examples(80), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PROGRAMS, st.sampled_from(["\n", "\r\n"]), st.sampled_from([None, "xpu", "cpu"]))
def test_fix_keeps_programs_whole(facts: Snapshot, parts: list[str], newline: str, device: str | None) -> None:
    """Whatever a program is made of, it can be parsed after --fix, the last round has nothing to write, line ends stay."""
    text = newline.join("\n".join(parts).split("\n")) + newline
    ast.parse(text)
    found = report(facts, {"a.py": text}, device)
    after = fixed(facts, {"a.py": text}, device)["a.py"]
    ast.parse(after)
    assert after.count("\r\n") == after.count("\n") if newline == "\r\n" else "\r" not in after
    if not found.findings:
        assert after == text


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PROGRAMS)
def test_fix_keeps_notebooks_whole(facts: Snapshot, parts: list[str]) -> None:
    """Cells stay JSON and Python, and say the same as a file of their text does where nothing spans lines."""
    cells = [{"cell_type": "code", "source": part.splitlines(keepends=True)} for part in parts]
    text = json.dumps({"cells": [{"cell_type": "markdown", "source": ["# \u00e9"]}, *cells]}, indent=1)
    after = json.loads(fixed(facts, {"a.ipynb": text})["a.ipynb"])
    for cell in after["cells"][1:]:
        ast.parse("".join(cell["source"]))


FILES = (
    "a.py",
    "a.ipynb",
    "requirements.txt",
    "Dockerfile",
    "ci.sh",
    "pyproject.toml",
    "environment.yml",
    ".github/workflows/a.yml",
)
SCRAPS = st.sampled_from(
    [
        *HEADS, *BODIES, "intel-extension-for-pytorch==2.8.10+xpu", "pip install torch==2.8.0 oneccl_bind_pt==2.8.0+xpu \\",
        "&& ", "RUN ", "FROM python:3.11", "ipexrun x.py", "-f https://developer.intel.com/ipex-whl-stable-xpu",
        "  - ", '"', "'", "[", "{",
        "dependencies = [", "\\", "\n", "\0", "\ufeff", "\r", "\t", " ", "#", "{{ x }}", "```", "print 'py2'", "(" * 300, "𝔵",
    ]
)  # fmt: skip


@settings(max_examples=examples(120), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(FILES), st.lists(SCRAPS, max_size=12))
def test_hostile_texts_are_ordinary(facts: Snapshot, path: str, scraps: list[str]) -> None:
    """No text raises anything, places are within the file, and what --fix writes has nothing more to write."""
    text = "\n".join(scraps)
    found = report(facts, {path: text})
    for finding in found.findings:
        assert 0 <= finding.line <= len(found.documents[path].starts)
    fixed(facts, {path: text})


@pytest.mark.parametrize(
    "text",
    [
        "import intel_extension_for_pytorch\nprint 'two'\n",
        "import intel_extension_for_pytorch\n\0\n",
        "import intel_extension_for_pytorch\n" + "(" * 5000,
        "import intel_extension_for_pytorch\nx = " + "-" * 100_000 + "1\n",
        "import intel_extension_for_pytorch\n" + "x = 1\n" * 400_000,
    ],
)
def test_unreadable_programs_are_a_remark(facts: Snapshot, text: str) -> None:
    """A program that names IPEX and cannot be read is told of as such, whatever keeps it from being read."""
    (finding,) = report(facts, {"a.py": text}).findings
    assert finding.rule == "unreadable"
    assert finding.level is Severity.WARNING


def test_marks_and_line_ends_stay(facts: Snapshot) -> None:
    """A byte order mark and CRLF are as before, and columns are those of characters."""
    document = document_of("a.py", "\ufeffx = 'é'\r\nimport intel_extension_for_pytorch  # é\r\ny = 1\r\n".encode())
    assert isinstance(document, TextDocument)
    found = migrate([document], CheckContext(facts, clock()))
    assert [(f.line, f.column) for f in found.findings] == [(2, 1)]
    assert mended(document, found.findings)[0] == "x = 'é'\r\ny = 1\r\n"


# -- the command -------------------------------------------------------------------------------------------------------

TRAIN = "import torch\nimport intel_extension_for_pytorch as ipex\nwith torch.xpu.amp.autocast():\n    pass\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_nothing_changes_without_fix(run: Runner, project: Path) -> None:
    """The text shows lines before and after, the exit code is 1, and the file is as before."""
    done = run("migrate")
    assert done.code == 1
    assert "\nFound 2 warnings in 1 file.\n1 fixable:\n    compatkb migrate --fix\n" in done.out
    assert "    - import intel_extension_for_pytorch as ipex\n" in run("migrate", "--why").out
    assert (project / "train.py").read_text(encoding="utf-8") == TRAIN


def test_fix_writes_and_reports_what_is_left(run: Runner, project: Path) -> None:
    """--fix takes out the import that nothing uses, says so, and exits with 1 as long as a call is left to people."""
    done = run("migrate", "--fix", "train.py")
    assert (done.code, "1 finding was fixed" in done.err) == (1, True)
    assert "[migrate-call]" in done.out
    left = (project / "train.py").read_text(encoding="utf-8")
    assert left == "import torch\nwith torch.xpu.amp.autocast():\n    pass\n"
    assert run("migrate", "--diff").code == 0


def test_json_is_that_of_check_with_before_and_after(run: Runner, project: Path) -> None:
    """Each finding has the fields of `check`, and the lines before and after."""
    assert project
    payload = json.loads(run("migrate", "--format", "json").out)
    assert {"schema", "data_date", "as_of", "files", "findings"} == set(payload)
    call = next(f for f in payload["findings"] if f["rule"] == "migrate-call")
    assert {"rule", "level", "path", "line", "column", "message", "fix", "fixable", "sources", "help"} <= set(call)
    assert call["before"] == "with torch.xpu.amp.autocast():"
    assert (call["fixable"], call["fix"]) == (False, 'write torch.autocast("xpu", dtype=torch.bfloat16, ...)')
    unused = next(f for f in payload["findings"] if f["rule"] == "migrate-import")
    assert (unused["fixable"], unused["before"]) == (True, "import intel_extension_for_pytorch as ipex")
    assert call["help"] == "compatkb check --explain migrate-call"


def test_every_form_is_written(run: Runner, project: Path) -> None:
    """SARIF carries the edits, and the other forms of `check` are there too; --fail-on decides the exit code."""
    done = run("migrate", "--format", "sarif", "--fail-on", "error", "--report", "json=out.json", "--report", "text=out.txt")
    assert done.code == 0
    results = json.loads(done.out)["runs"][0]["results"]
    assert [result["ruleId"] for result in results if "fixes" in result] == ["migrate-import"]
    assert "migrate-call" in (project / "out.json").read_text(encoding="utf-8")
    assert "migrate-import" in (project / "out.txt").read_text(encoding="utf-8")
    for form in ("github", "gitlab"):
        assert "migrate-call" in run("migrate", "--format", form).out


@pytest.mark.parametrize("words", [["--device", "tpu"], ["nowhere.py"], ["--ignore", "nothing"], ["--report", "sarif"]])
def test_wrong_usage_is_one_line(run: Runner, project: Path, words: list[str]) -> None:
    """Wrong words end with exit code 2 and one line."""
    assert project
    done = run("migrate", *words)
    assert (done.code, done.err.count("\n")) == (2, 1)


def test_check_knows_comments_of_migrate(run: Runner, project: Path) -> None:
    """A comment that accepts a finding of `migrate` is none that accepts nothing to `check`."""
    (project / "requirements.txt").write_text("requests  # compatkb: ignore[migrate-pin] later\n", encoding="utf-8")
    assert run("check", "requirements.txt").code == 0


def test_rules_are_listed(run: Runner) -> None:
    """--rules lists the rules with their levels, below the names of the columns."""
    head, *lines = (line for line in run("migrate", "--rules").out.splitlines() if not line.startswith(" "))
    assert head.split() == ["rule", "level", "reports"]
    assert [line.split()[:2] for line in lines] == [[rule.id, rule.level.value] for rule in RULES]


def test_check_does_not_load_it() -> None:
    """`check` starts without what `migrate` needs."""
    code = "import sys, compatkb.cli.checking; print([name for name in sys.modules if name.startswith('compatkb.migrate')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


INTEL = "https://pytorch-extension.intel.com/release-whl/stable/xpu/us/"
STEPS = f"""FROM some/image:1
RUN pip install torchvision==0.16.0.post2 --extra-index-url {INTEL}
RUN pip install torch==2.1.0.post2 intel-extension-for-pytorch==2.1.30+xpu \\
    oneccl_bind_pt==2.1.300+xpu \\
    --extra-index-url {INTEL} accelerate
"""


def test_each_command_keeps_an_index_of_its_own(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An option counts for its command alone; --diff shows the very text that --fix writes."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "Dockerfile"
    file.write_text(STEPS, encoding="utf-8")
    shown = run("migrate", "--diff").out
    run("migrate", "--fix")
    after = file.read_text(encoding="utf-8")
    added = {line[1:] for line in shown.splitlines() if line.startswith("+") and not line.startswith("+++")}
    assert added <= set(after.splitlines())
    commands = after.replace("\\\n", " ").splitlines()[1:]
    assert all("download.pytorch.org/whl/xpu" in command for command in commands if "+xpu" in command)
    assert "oneccl" not in after
    assert run("migrate", "--diff").out == ""


def test_a_step_with_what_is_not_known_stays(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nothing is known of may need what is discontinued, or its index: nothing is written."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "Dockerfile"
    file.write_text(STEPS.replace("torchvision==0.16.0.post2", "--pre ipex-llm[xpu]"), encoding="utf-8")
    before = file.read_text(encoding="utf-8")
    run("migrate", "--fix")
    assert file.read_text(encoding="utf-8") == before
