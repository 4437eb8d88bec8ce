"""Every rule of lint: silent on good data, loud at the right line on a planted fault."""

import json
import os
import re
import tomllib
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Run, last_read, parted
from good_data import FOLDER, Content
from good_data import good as plain_data
from good_data import read as read_cases
from good_data import written as plain_files

from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.authoring.canonical import canonical
from compatkb.authoring.lint import CHECKS, LOADS, LintReport, lint, lint_loaded
from compatkb.authoring.loader import LARGEST, load, parse, read
from compatkb.core.findings import Finding, Severity
from compatkb.errors import DataError

TODAY = date(2026, 11, 21)
SAID = ROOT / "tests" / "cases" / "lint" / "said.json"
Data = dict[str, Content]
TORCH, IPEX, OS, HARDWARE = (f"products/{name}.toml" for name in ("torch", "ipex", "os", "hardware"))
IMAGES, INDEX, CHANNELS, ROUTES = "images/ext.toml", "index/torch.toml", "channels.toml", "routes.toml"


FEATURE, TIMELINE, EVIDENCE = "features/compile.toml", "timeline.toml", "evidence/2026-11.jsonl"
SAYS: Content = {
    "about": "a",
    "reason": "r",
    "decided": date(2026, 11, 1),
    "positions": ["one", "two"],
    "decision": "one",
}
"""What a dispute says that is not between claims, without `of` and `sources`."""


def good() -> Data:
    """Return the content of every file, by path; each call a new one."""
    data = {**plain_data(), **read_cases("more")}
    data[IMAGES]["dispute"] = [{**SAYS, "id": "what-is-inside", "of": ["2.1.20-xpu"], "sources": ["table", "table"]}]
    data[CHANNELS]["dispute"] = [{**SAYS, "id": "what-it-carries", "of": ["extra"], "sources": ["readme", "readme"]}]
    data[EVIDENCE] = {"lines": [observation()]}
    return data


def observation(**fields: Any) -> Content:
    """Return a line of evidence: an import of a pair that belongs together."""
    plain = {
        "level": "import",
        "outcome": "ok",
        "packages": {"torch": "2.1.0+xpu", "ext-for-torch": "2.1.20+xpu"},
        "python": "3.11",
        "platform": "linux-x86_64",
        "device": "xpu",
        "index": "extra",
        "checked": "2026-11-01",
        "tool": "python",
    }
    return {**plain, **fields}


def written(data: Data) -> dict[str, bytes]:
    """Return the files as they stand on disk."""
    files = plain_files({path: content for path, content in data.items() if path != EVIDENCE})
    lines = "".join(f"{json.dumps(line)}\n" for line in data[EVIDENCE]["lines"])
    return {**files, EVIDENCE: lines.encode()}


def statement(data: Data, number: int = 0) -> Content:
    """Return a statement: on torch 2.1.0 and cpu, 2.1 and xpu, none before 2.1 on xpu, and two disputed ones."""
    found: Content = data[FEATURE]["statement"][number]
    return found


def event(data: Data, number: int = 0) -> Content:
    """Return an event: a release, an end of life, a plan."""
    found: Content = data[TIMELINE]["event"][number]
    return found


def release(data: Data, path: str, number: int = 0) -> Content:
    """Return a release of a file."""
    found: Content = data[path]["release"][number]
    return found


def build(data: Data, path: str, number: int = 0, position: int = 0) -> Content:
    """Return a build of a file."""
    found: Content = data[path]["release"][number]["build"][position]
    return found


def claim(data: Data, number: int = 0) -> Content:
    """Return a claim of ipex: torch for 2.1.10 and 2.1.20, hardware, numpy, Python, and two disputed ones."""
    found: Content = data[IPEX]["claim"][number]
    return found


def more_claims(data: Data, **fields: Any) -> None:
    """Add a claim to the file of its product: ipex or torch."""
    path, source = (TORCH, "list") if fields["of"].startswith("torch") else (IPEX, "plan")
    data[path].setdefault("claim", []).append({"id": "more", "sources": [source], **fields})


def source(data: Data, path: str, name: str) -> Content:
    """Return a source of a file."""
    found: Content = data[path]["source"][name]
    return found


def exempt(data: Data, **fields: Any) -> None:
    """Add an exception."""
    plain = {"rule": "end-of-life", "subject": "torch", "reason": "known", "until": date(2027, 1, 1)}
    data.setdefault("exceptions.toml", {"exception": []})["exception"].append({**plain, **fields})


def rename(data: Data, old: str, new: str) -> None:
    """Give a file another name."""
    data[new] = data.pop(old)


def repeat_requirement(data: Data) -> None:
    """Leave one build of torch, and claim what its metadata require."""
    data[TORCH]["release"][0]["build"].pop()
    data[IMAGES]["tag"][0]["contains"].pop()
    data[IPEX]["install"].clear()
    for number in (0, 1):
        claim(data, number)["to"] = ["torch==2.1.0"]
    more_claims(data, kind="needs", of="torch==2.1.0", to=["numpy==1.26.4"])


FAULTS, ALLOWED = (tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8")) for name in ("faults", "allowed"))
"""What is planted, with rule, line and words of what is found; and what looks like a fault and is none."""


def plant(data: Data, case: Content) -> None:
    """Change data as a case has it: files renamed, values at paths such as `products/torch.toml release 0 version`."""
    for old, new in case.get("rename", {}).items():
        rename(data, old, new)
    for path, value in case.get("set", {}).items():
        holder, key = place(data, path)
        holder[key] = value
    for path, value in case.get("add", {}).items():
        holder, key = place(data, path)
        holder[key].append(value)
    for path in case.get("remove", ()):
        holder, key = place(data, path)
        del holder[key]


def place(data: Data, path: str) -> tuple[Any, Any]:
    """Return the table or list that holds what a path leads to, and its key or number there."""
    holder: Any = data
    *before, last = path.split()
    for part in before:
        holder = holder[int(part) if isinstance(holder, list) else part]
    return holder, int(last) if isinstance(holder, list) else last


def found(data: Data, *rules: str) -> LintReport:
    """Return what lint says of data."""
    return lint(written(data), TODAY, rules)


def line(data: Data, finding: Finding) -> str:
    """Return the text of the line that a finding names."""
    return written(data)[finding.path].decode().splitlines()[finding.line - 1]


def test_good_data_are_clean() -> None:
    """No rule has anything to say of good data."""
    assert found(good()) == LintReport((), loaded=True)


@pytest.mark.parametrize("name", parted(FAULTS, [*FAULTS][::6]))
def test_fault_is_found(name: str) -> None:
    """A planted fault is found by its rule, at the line where it stands, with the record named.

    What findings say changes only on purpose; COMPATKB_UPDATE_GOLDEN=1 writes it down anew.
    """
    case = FAULTS[name]
    data = good()
    plant(data, case)
    report = found(data)
    hits = [f for f in report.findings if f.rule == case["rule"] and case["says"] in f.message]
    assert hits, report.findings
    assert case["line"] in line(data, hits[0])
    assert hits[0].subject
    level = next((check.level for check in CHECKS if case["rule"] == check.name), Severity.ERROR)
    assert {finding.level for finding in hits} == {level}
    told = [f"{f.path}:{f.line} {f.rule} {f.level} of {f.subject}: {f.message} | {f.fix}" for f in report.findings]
    recorded = json.loads(SAID.read_text(encoding="utf-8"))
    if os.environ.get("COMPATKB_UPDATE_GOLDEN"):
        changed = {one: recorded.get(one, []) for one in FAULTS} | {name: told}
        SAID.write_text(json.dumps(changed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    else:
        assert told == recorded[name]


def test_each_rule_has_a_fault() -> None:
    """Every rule is shown to find something; `form` has tests of its own below."""
    assert {case["rule"] for case in FAULTS.values()} | {"form"} == {check.name for check in CHECKS} | {LOADS}


@pytest.mark.parametrize("name", parted(ALLOWED, [*ALLOWED][::4]))
def test_what_is_allowed(name: str) -> None:
    """What looks like a fault and is none is left alone."""
    data = good()
    plant(data, ALLOWED[name])
    assert found(data).findings == ()


@pytest.mark.parametrize(
    ("spoil", "line_number", "fixable"),
    [
        pytest.param(lambda text: text.replace("\n\n", "\n\n\n", 1), 12, True, id="blank-line"),
        pytest.param(lambda text: text.replace("\n", "\r\n"), 1, True, id="line-ends"),
        pytest.param(lambda text: text.replace("rank = 1", "rank=1"), 6, True, id="spacing"),
        pytest.param(lambda text: text.rstrip("\n"), 0, True, id="no-end-of-line"),
        pytest.param(lambda text: text.replace("[source]", "[source] # here"), 13, False, id="comment"),
    ],
)
def test_form(spoil: Callable[[str], str], line_number: int, fixable: bool) -> None:
    """A file that is not canonical is found at the line where it departs; `fmt` is its fix unless a comment would be lost."""
    contents = written(good())
    contents[TORCH] = spoil(contents[TORCH].decode()).encode()
    (finding,) = lint(contents, TODAY).findings
    assert (finding.rule, finding.path) == ("form", TORCH)
    assert (finding.fix == f"compatkb fmt {TORCH}") is fixable
    if line_number:
        assert abs(finding.line - line_number) <= 1


def test_releases_stand_newest_first() -> None:
    """Releases in another order than the canonical one are a matter of form."""
    data = good()
    data[TORCH]["release"].reverse()
    assert [finding.rule for finding in found(data).findings] == ["form"]


def test_exception_accepts_a_finding() -> None:
    """A valid exception takes its finding away and is counted; a star stands for any text."""
    data = good()
    data[TORCH]["product"].pop("eol-note")
    exempt(data, subject="tor*")
    assert found(data) == LintReport((), loaded=True, exempted=1)


def test_ended_exception_brings_the_finding_back() -> None:
    """After its last day an exception is a finding itself, and accepts nothing."""
    data = good()
    data[TORCH]["product"].pop("eol-note")
    exempt(data, until=date(2026, 11, 20))
    assert [finding.rule for finding in found(data).findings] == ["exceptions", "end-of-life"]
    data["exceptions.toml"]["exception"][0]["until"] = TODAY
    assert found(data).findings == ()


def test_exception_of_a_rule_that_does_not_run_is_not_idle() -> None:
    """Running one rule alone does not call the exceptions of others idle."""
    data = good()
    exempt(data)
    assert found(data, "form", "exceptions").findings == ()


def test_data_that_do_not_load() -> None:
    """Unreadable files are findings too, one per problem with its line, and nothing else is checked."""
    contents = written(good())
    contents[TORCH] = contents[TORCH].replace(b'version = "2.0.0"\nsources', b"version = 2.0\nsources")
    contents[OS] = b'[product\nid = "os"\n'
    contents[IPEX] = b"\xff\xfe"
    report = lint(contents, TODAY)
    assert not report.loaded
    assert {finding.rule for finding in report.findings} == {LOADS}
    assert {finding.path for finding in report.findings} == {TORCH, OS, IPEX}
    spoilt = next(finding for finding in report.findings if finding.path == TORCH)
    assert contents[TORCH].decode().splitlines()[spoilt.line - 1] == "version = 2.0"


def test_event_that_cannot_be_dated() -> None:
    """What keeps the timeline or a feature from resolving is found at its record, and the other rules still run."""
    data = good()
    event(data)["on"] = date(2023, 12, 1)
    data[TORCH]["product"].pop("eol-note")
    report = found(data)
    assert [finding.rule for finding in report.findings] == ["end-of-life", LOADS]
    assert not report.loaded
    assert written(data)[TIMELINE].decode().splitlines()[report.findings[1].line - 1] == "[[event]]"


def test_evidence_names_its_file_and_line() -> None:
    """A finding about evidence has the file and line of that observation, in whichever file it stands."""
    contents = written(good())
    line = json.dumps(observation(outcome="failed-run", level="run")).encode()
    contents["evidence/2026-12.jsonl"] = contents[EVIDENCE] + line + b"\n"
    (finding,) = lint(contents, TODAY).findings
    assert (finding.rule, finding.path, finding.line) == ("evidence-contradicts", "evidence/2026-12.jsonl", 2)
    assert finding.sources == ("https://github.com/maker/ext/blob/v2.1.10/README.md#L12",)


def test_what_evidence_blames_is_no_news_where_names_lead_nowhere() -> None:
    """One wrong name in a product is one finding: nobody misses the claims that cannot be made for it."""
    contents = written(good())
    contents[EVIDENCE] = json.dumps(observation(outcome="failed-import", culprit="of-the-index")).encode() + b"\n"
    data = good()
    claim(data)["to"] = ["tourch==2.1"]
    wrong = contents | {path: text for path, text in written(data).items() if path.startswith("products/")}
    assert "culprit of-the-index" in " ".join(finding.message for finding in lint(contents, TODAY).findings)
    assert "culprit of-the-index" not in " ".join(finding.message for finding in lint(wrong, TODAY).findings)


def test_evidence_of_files_read_before_has_its_number() -> None:
    """Where no places of evidence are given, a finding has the number of the observation."""
    contents = written(good())
    line = json.dumps(observation(outcome="failed-run", level="run")).encode()
    contents[EVIDENCE] += line + b"\n"
    (finding,) = lint_loaded(parse(contents), TODAY).findings
    assert (finding.rule, finding.path, finding.line) == ("evidence-contradicts", "evidence", 2)


def test_a_problem_names_the_file_of_its_claim() -> None:
    """Claims of a product and statements of a feature stand in different folders."""
    data = good()
    claim(data)["to"] = ["tourch"]
    statement(data)["of"] = "tourch==2.1.0"
    with pytest.raises(DataError) as refused:
        build_knowledge(load(Path("data"), written(data)))
    assert sorted(str(refused.value).splitlines())[:2] == [
        "features/compile.toml: claim compile-cpu: tourch is no product",
        "products/ipex.toml: claim ipex-2.1.10-torch: tourch is no product",
    ]


def test_a_file_that_is_too_large_is_not_read() -> None:
    """A file of more than the bound is a problem that says which bound."""
    contents = written(good()) | {TORCH: b" " * (LARGEST + 1)}
    assert [p.message for p in parse(contents).problems if p.path == TORCH] == ["is larger than 16 MiB, which no data file is"]


def test_a_claim_that_says_more_than_the_index_is_not_redundant() -> None:
    """A claim repeats the index only where all that it says stands there."""
    data = good()
    repeat_requirement(data)
    assert [finding.rule for finding in found(data, "redundant-claim").findings] == ["redundant-claim"]
    data[TORCH]["claim"][-1].update(to=["numpy==1.26.4", "python<3.13"])
    assert found(data, "redundant-claim").findings == ()


def test_missing_channels_are_a_finding() -> None:
    """A directory without channels.toml does not load."""
    contents = written(good())
    del contents[CHANNELS]
    report = lint(contents, TODAY)
    assert not report.loaded
    assert [finding.path for finding in report.findings] == [CHANNELS]


@pytest.mark.long
def test_shipped_data_are_clean() -> None:
    """The shipped data have no finding of any level on the day of their last reading, and no file in another form."""
    contents = read(ROOT / "data")
    report = lint(contents, last_read())
    assert report.findings == ()
    assert report.loaded


# -- the commands -------------------------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The good data on disk."""
    for path, content in written(good()).items():
        (tmp_path / "data" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / path).write_bytes(content)
    return tmp_path / "data"


def spoil(data: Path, path: str, old: str, new: str) -> None:
    """Change the text of a file."""
    text = (data / path).read_text(encoding="utf-8")
    assert old in text
    (data / path).write_text(text.replace(old, new, 1), encoding="utf-8")


def test_lint_exit_codes(data: Path, run: Callable[..., Run]) -> None:
    """0 without findings, 1 with errors, warnings count from --fail-on on, 2 for an unknown rule, 3 for data that fail."""
    words = ("lint", "--data", str(data), "--as-of", "2026-11-21")
    assert run(*words) == Run(0, "no findings\n", "")
    spoil(data, TORCH, 'thread = "issues/7", seen = 2026-11-01', 'thread = "issues/7", seen = 2026-01-01')
    assert run(*words).code == 0
    assert run(*words, "--fail-on", "warning").code == 1
    spoil(data, TORCH, "rank = 1", "rank = 2")
    assert run(*words).code == 1
    assert run(*words, "--rule", "review").code == 0
    assert run(*words, "--rule", "nonsense").code == 2
    spoil(data, TORCH, "[product]", "[product")
    assert run(*words).code == 3


def test_lint_text(data: Path, run: Callable[..., Run]) -> None:
    """A finding is one line with place, level, message and rule, then its fix, with the directory that was named."""
    spoil(data, TORCH, "rank = 1", "rank=1")
    done = run("lint", "--data", str(data), "--as-of", "2026-11-21")
    where = next(line for line in done.out.splitlines() if line.startswith(TORCH))
    assert re.fullmatch(r"products/torch\.toml:6:1: error: not in canonical form from here on \[form\]", where)
    assert f"    fix: compatkb fmt {TORCH} --data {data}\n" in done.out
    assert done.out.endswith("\n1 error\n")


def test_lint_json(data: Path, run: Callable[..., Run]) -> None:
    """JSON names every field of a finding."""
    spoil(data, IPEX, '"<2"', '">=3"')
    done = run("lint", "--data", str(data), "--as-of", "2026-11-21", "--format", "json", "--rule", "known-version")
    (finding,) = json.loads(done.out)["findings"]
    assert finding["sources"] == ["https://github.com/maker/ext/blob/v2.1.10/README.md#L12"]
    assert finding["subject"] == "ipex claim ipex-2.1.10-numpy, row 1 of constrains numpy"
    assert set(finding) == {"rule", "level", "path", "line", "column", "message", "fix", "sources", "subject"}


def test_lint_annotations(data: Path, run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """Annotations name files from the current folder, with what would end a field escaped."""
    spoil(data, IPEX, '"<2"', '">=3"')
    monkeypatch.chdir(data.parent)
    done = run("lint", "--data", "data", "--as-of", "2026-11-21", "--format", "github", "--rule", "known-version")
    assert re.fullmatch(
        r"::error file=data/products/ipex\.toml,line=\d+,col=\d+,title=known-version::numpy>=3 names .*\n", done.out
    )


def test_lint_lists_its_rules(run: Callable[..., Run]) -> None:
    """--rules lists every rule with its level."""
    lines = run("lint", "--rules").out.splitlines()
    assert [line.split()[:2] for line in lines] == [[check.name, check.level] for check in CHECKS]


def test_fmt_writes_the_form(data: Path, run: Callable[..., Run]) -> None:
    """`fmt --check` names what would change and writes nothing; `fmt` writes it; then nothing is left to do."""
    before = {path: path.read_bytes() for path in data.rglob("*.toml")}
    spoil(data, TORCH, "rank = 1", "rank=1")
    spoilt = (data / TORCH).read_bytes()
    done = run("fmt", "--check", "--data", str(data))
    assert (done.code, done.out.splitlines()[0]) == (1, f"would write {TORCH}")
    assert (data / TORCH).read_bytes() == spoilt
    assert run("fmt", IPEX, "--data", str(data)).code == 0
    assert (data / TORCH).read_bytes() == spoilt
    assert run("fmt", str(data / TORCH), "--data", str(data)).out.splitlines()[0] == f"wrote {TORCH}"
    assert {path: path.read_bytes() for path in data.rglob("*.toml")} == before
    assert run("fmt", "--check", "--data", str(data)).code == 0


def test_fmt_sorts_releases(data: Path, run: Callable[..., Run]) -> None:
    """`fmt` puts the newest release first, by its version and not by its text."""
    path = data / IPEX
    text = path.read_text(encoding="utf-8")
    spoil(data, IPEX, 'version = "2.1.20"\n', 'version = "2.1.9"\n')
    assert run("fmt", "--data", str(data)).code == 0
    found = re.findall(r'^\[\[release\]\]\nversion = "(.*)"', path.read_text(encoding="utf-8"), re.MULTILINE)
    assert found == ["2.1.10", "2.1.9"]
    assert path.read_text(encoding="utf-8") != text


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        pytest.param("[source]", "# old ones\n[source]", "a comment would be lost", id="comment"),
        pytest.param("rank = 1", "rank = x", "products/torch.toml:6", id="no-toml"),
        pytest.param("rank = 1", "rnak = 1", "rnak", id="no-such-key"),
    ],
)
def test_fmt_loses_nothing(data: Path, run: Callable[..., Run], old: str, new: str, said: str) -> None:
    """Where a file cannot be read, or has a comment, `fmt` writes no file at all and exits 3."""
    spoil(data, IPEX, "rank = 2", "rank=2")
    spoil(data, TORCH, old, new)
    before = {path: path.read_bytes() for path in data.rglob("*.toml")}
    done = run("fmt", "--data", str(data))
    assert done.code == 3
    assert said in done.err
    assert {path: path.read_bytes() for path in data.rglob("*.toml")} == before


def test_fmt_refuses_other_files(data: Path, run: Callable[..., Run], tmp_path: Path) -> None:
    """A file that is no data file of the directory is wrong usage."""
    (tmp_path / "x.toml").write_text("a=1\n", encoding="utf-8")
    assert run("fmt", str(tmp_path / "x.toml"), "--data", str(data)).code == 2


@pytest.mark.long
def test_fmt_keeps_what_files_say() -> None:
    """The canonical text of every shipped file reads back as the same record, and is its own canonical text."""
    from compatkb.authoring.canonical import misshapen
    from compatkb.authoring.loader import parse

    contents = read(ROOT / "data")
    loaded = parse({path: b"".join([content, b"\n\n"]) for path, content in contents.items()})
    again = parse({document.path: canonical(document).encode() for document in loaded.documents})
    assert [document.record for document in again.documents] == [document.record for document in loaded.documents]
    assert misshapen(contents) == {}


def test_rules_are_documented() -> None:
    """docs/lint.md has a section per rule, in the order of the rules, with what, why, an example and how to mend it."""
    page = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
    sections = re.findall(r"^### `([a-z-]+)`\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    assert [name for name, _ in sections] == [check.name for check in CHECKS]
    for name, text in sections:
        assert all(f"**{word}.**" in text for word in ("What", "Why", "Example", "Mend")), name


@pytest.mark.parametrize("path", sorted(good()))
def test_missing_file_is_no_crash(path: str) -> None:
    """Whichever file is missing, lint says what is wrong, and ends."""
    files = written(good())
    del files[path]
    report = lint(files, TODAY)
    assert report.findings or path.startswith(("images/", "index/", "features/", "evidence/", "timeline"))
