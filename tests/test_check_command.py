"""`compatkb check` on files: output, exit codes, mending, baseline and configuration; and what documents it leaves alone."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, Run
from test_check_markdown import CLEAN

DAY = ("--as-of", "2024-08-26")
Runner = Callable[..., Run]
WRONG = CLEAN.replace("/v2.1.40%2Bxpu", "/v2.1.30%2Bxpu").replace("IPEX 2.3.0 is", "See [v2.2.0][ccl-v2.3.0]. IPEX 2.3.0 is")

PLAIN = """# A library

[![build](https://img.example/badge.svg)](https://ci.example/x) Needs Python 3.9 or newer, like [version 2.1][rel].

| option | default | since |
|---|---|---|
| `--port` | 8080 | 1.4 |
| `--path` | `/var/lib/x` | 2.0 |

- [ ] a task [1], a footnote[^1] and an array `a[0][1]`

```console
$ pip install ".[dev]" requests numpy==1.26.4
$ docker run --rm -p 8080:80 -v $PWD/conf:/etc/x/conf example/image:1.0
```

[rel]: https://github.com/example/library/tree/v2.1
[^1]: As the manual says.
"""
CHANGES = """# Changelog

## [2.1.0] - 2021-03-04

- Dropped support for Python 3.6; torch is no longer needed, where 1.9.0 was.
- See #12, and [the guide](docs/guide.md#set-up).

| before | after |
|--------|-------|
| `x.y`  | `x.z` |

## 2.0.0

1. First
2. Second

[2.1.0]: https://github.com/example/library/compare/v2.0.0...v2.1.0
"""
RECIPE = """<!-- a comment -->
> Bread: 500 g flour (type 550), 2.4 dl water.

Bake | 220 degrees | 40 minutes
:---|---:|:---:
Rest | 20 | 10

    an indented block | with | pipes
    ---|---

Setext
------

*A*, **b**, `c`, <https://example.org>, \\[no link\\], and 1.2.3.4 as an address.
"""


@pytest.fixture
def readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "README.md"
    path.write_text(WRONG, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("text", [PLAIN, CHANGES, RECIPE], ids=["library", "changelog", "recipe"])
def test_unrelated_documents_give_nothing(text: str, readme: Path, run: Runner) -> None:
    """Documents that are not about our products, or sound, give no finding of any level."""
    readme.write_text(text, encoding="utf-8")
    done = run("check", "README.md", "--fail-on", "info")
    assert (done.code, done.out.splitlines()[0]) == (0, "No findings in 1 file.")


def test_findings_are_shown_with_their_lines(readme: Path, run: Runner) -> None:
    """Text shows place, message and fix of each finding, then the count; the exit code follows --fail-on."""
    done = run("check", *DAY)
    assert done.code == 0
    line = next(n for n, text in enumerate(WRONG.splitlines(), 1) if text.startswith("[v2.1.40+xpu]:"))
    assert f"README.md:{line}:16: info: 'v2.1.40+xpu' leads to v2.1.30+xpu" in done.out
    assert "\nFound 2 info in 1 file.\n1 fixable:\n    compatkb check --fix\n" in done.out
    assert "    fix: link to v2.1.40+xpu\n" in done.out
    assert run("check", "--fail-on", "info", *DAY).code == 1
    assert run("check", "--fail-on", "never", *DAY).code == 0
    assert run("check", "--ignore", "link-version", *DAY).code == 0


def test_json_names_every_finding(readme: Path, run: Runner) -> None:
    """JSON is one object with the findings; line and column lead to what is meant."""
    payload = json.loads(run("check", "README.md", "--format", "json", *DAY).out)
    assert [finding["rule"] for finding in payload["findings"]] == ["link-version", "link-version"]
    first = payload["findings"][-1]
    line = WRONG.splitlines()[first["line"] - 1]
    assert line[first["column"] - 1 :].startswith("https://github.com/intel/intel-extension-for-pytorch/")
    assert payload["files"] == 1


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_fix_mends_what_is_certain(readme: Path, run: Runner, newline: str) -> None:
    """--diff shows and writes nothing; --fix writes just that, and a second run has nothing to do."""
    before = WRONG.replace("\n", newline).encode()
    readme.write_bytes(before)
    shown = run("check", "--diff", *DAY)
    assert shown.code == 1
    assert "+[v2.1.40+xpu]: https://github.com/intel/intel-extension-for-pytorch/releases/tag/v2.1.40%2Bxpu" in shown.out
    assert readme.read_bytes() == before
    done = run("check", "--fix", "--fail-on", "info", *DAY)
    after = readme.read_bytes()
    assert after == before.replace(b"/v2.1.30%2Bxpu", b"/v2.1.40%2Bxpu")
    assert "1 finding was fixed" in done.err
    assert done.code == 1  # the other link needs a person
    assert run("check", "--diff", *DAY).out == ""


def test_fix_uses_the_definition_that_leads_there(readme: Path, run: Runner) -> None:
    """A link whose label is that of another version gets the label of its own, where it is defined."""
    more = "[ccl-v2.2.0]: https://github.com/intel/torch-ccl/releases/tag/v2.2.0%2Bcpu\n"
    readme.write_text(WRONG + more, encoding="utf-8")
    run("check", "--fix", *DAY)
    assert "[v2.2.0][ccl-v2.2.0]" in readme.read_text(encoding="utf-8")


def test_fix_leaves_a_link_whose_text_is_doubted(readme: Path, run: Runner) -> None:
    """Where the data contradict the text of a cell, too, its link is not made to agree with it."""
    wrong = CLEAN.replace("[v2.3.0][ccl-v2.3.0] | 2024-05-14 |\n\nIPEX", "[v2.2.0][ccl-v2.3.0] | 2024-05-14 |\n\nIPEX")
    readme.write_text(f"{wrong}[ccl-v2.2.0]: https://github.com/intel/torch-ccl/releases/tag/v2.2.0%2Bcpu\n", encoding="utf-8")
    done = run("check", "--diff", *DAY)
    assert (done.code, done.out) == (0, "")


def test_a_tag_is_never_mended(readme: Path, run: Runner) -> None:
    """A tag that may exist under its odd name is a suggestion only."""
    readme.write_text(CLEAN.replace("`2.4.0-pip-base`", "`2.4.0-pip-bse`"), encoding="utf-8")
    assert "did you mean 2.4.0-pip-base?" in run("check", *DAY).out
    assert run("check", "--diff", *DAY).out == ""


def test_baseline_and_configuration(readme: Path, run: Runner) -> None:
    """A baseline leaves out what it has, also from the configuration; levels and exclusions count."""
    assert run("check", "--write-baseline", "known.json", *DAY).code == 0
    done = run("check", "--baseline", "known.json", *DAY)
    assert (done.code, done.out.splitlines()[0]) == (0, "No findings in 1 file (1 file not read: --verbose).")
    assert "2 findings are known to the baseline" in done.err
    config = readme.parent / "pyproject.toml"
    config.write_text('[tool.compatkb]\nbaseline = "known.json"\nfail-on = "info"\n', encoding="utf-8")
    assert run("check", *DAY).code == 0
    readme.write_text(f"{WRONG}\nInstall `torch==2.3.9` by `pip install torch==2.3.9`.\n", encoding="utf-8")
    assert run("check", *DAY).code == 1
    config.write_text('[tool.compatkb]\nexclude = ["*.md"]\n', encoding="utf-8")
    assert run("check", *DAY).out.startswith("No findings in 1 file (1 ")  # the configuration itself
    config.write_text("[tool.compatkb]\nnonsense = 1\n", encoding="utf-8")
    assert (run("check", *DAY).code, run("check", "--ignore", "nonsense").code) == (2, 2)


def test_ends_of_life_are_told_once(readme: Path, run: Runner) -> None:
    """An end of life is told at its first place with how many more there are; --eol-within looks ahead."""
    readme.write_text(CLEAN, encoding="utf-8")
    found = json.loads(run("check", "--format", "json", "--as-of", "2026-04-02").out)["findings"]
    ends = [finding for finding in found if finding["rule"] == "end-of-life"]
    ends = [finding for finding in ends if "since 2026-03-31" in finding["message"]]
    assert len(ends) == 1
    assert "is out of support since 2026-03-31; so are 4 more places" in ends[0]["message"]
    assert ends[0]["sources"]
    ahead = json.loads(run("check", "--format", "json", "--as-of", "2026-03-01", "--eol-within", "60d").out)["findings"]
    ends = [f["message"] for f in ahead if f["rule"] == "end-of-life" and "since" not in f["message"]]
    assert ["is in support up to 2026-03-31" in message for message in ends] == [True]
    assert run("check", "--fail-on", "info", "--as-of", "2025-12-01").out.startswith("No findings")


@pytest.mark.parametrize(
    ("words", "code"),
    [(("missing.md",), 2), (("--config", "missing.toml"), 2), (("--baseline", "missing.json"), 2), (("--rules",), 0)],
)
def test_exit_codes(readme: Path, run: Runner, words: tuple[str, ...], code: int) -> None:
    """What is not there is wrong usage, in one line; the rules are listed."""
    done = run("check", *words)
    assert done.code == code
    assert done.err.count("\n") <= 1


def test_own_documents_are_sound(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pages of this project, mostly rendered from the data, have no error, and only what the data say themselves."""
    monkeypatch.chdir(ROOT)
    done = run("check", "docs", "CONTRIBUTING.md", "data/README.md", "--format", "json")
    findings = json.loads(done.out)["findings"]
    recorded = {"end-of-life", "advisory", "image-tag-spelling", "link-prerelease"}
    assert [f"{f['path']}:{f['line']}: {f['message']}" for f in findings if f["rule"] not in recorded] == []


def test_links_into_nothing_are_passed_over(run: Runner, tmp_path: Path) -> None:
    """A link into a submodule that is not checked out, or to itself, is no file of the tree; named, it is an error."""
    (tmp_path / "requirements.txt").symlink_to(tmp_path / "gone" / "requirements.txt")
    (tmp_path / "loop.py").symlink_to(tmp_path / "loop.py")
    (tmp_path / "requirements-dev.txt").write_text("torch==2.8.0\n")
    assert run("check", str(tmp_path)).code == 0
    assert run("check", str(tmp_path / "requirements.txt")).code == 2


def test_only_what_a_change_brings_counts(tmp_path: Path, run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """--diff-base leaves out what the revision had, also under an old name; what is no commit is wrong usage."""

    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.example", *words], check=True, capture_output=True)

    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    (tmp_path / "requirements.txt").write_text("torch==2.7.1\nintel-extension-for-pytorch==2.8.0\n", encoding="utf-8")
    git("add", ".")
    git("commit", "--quiet", "--message", "a")
    assert run("check", "--fail-on", "info").code == 1
    assert run("check", "--fail-on", "info", "--diff-base", "HEAD").code == 0
    git("mv", "requirements.txt", "constraints-of-old.txt")
    (tmp_path / "requirements.txt").write_text("torch==2.4.9\n", encoding="utf-8")
    done = run("check", "--diff-base", "HEAD", "--format", "json")
    assert [(f["path"], f["rule"]) for f in json.loads(done.out)["findings"]] == [("requirements.txt", "pin-unpublished")]
    assert run("check", "--diff-base", "nothing").code == run("check", "--diff-base=--help").code == 2


def test_a_rewritten_line_brings_only_what_it_says_anew(tmp_path: Path, run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --diff-base a finding is old if its file had the same, at whatever line; a second one, or another, is new."""

    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.example", *words], check=True, capture_output=True)

    def brought() -> list[tuple[str, int, str]]:
        done = run("check", "--fail-on", "info", "--diff-base", "HEAD", "--format", "json")
        return [(f["path"], f["line"], f["rule"]) for f in json.loads(done.out)["findings"]]

    monkeypatch.chdir(tmp_path)
    pins, image = tmp_path / "requirements.txt", tmp_path / "Dockerfile"
    others = "".join(f"other-package-{number}\n" for number in range(20))
    pins.write_text(f"{others}intel-extension-for-pytorch==2.8.0\ntorch==2.8.0\npillow==11.0.0\n", encoding="utf-8")
    image.write_text("FROM python:3.12\nRUN pip install pillow==11.0.0 flask==2.0\n", encoding="utf-8")
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "a")
    assert run("check", "--fail-on", "info").code == 1
    marked = 'pillow==11.0.0; python_version < "3.20"\n'
    pins.write_text(f"{marked}{others}intel-extension-for-pytorch==2.8.0\ntorch==2.8.0 # kept\n", encoding="utf-8")
    image.write_text("FROM python:3.12\nRUN python -m pip install flask==2.1 pillow==11.0.0\n", encoding="utf-8")
    assert brought() == []
    git("mv", "requirements.txt", "requirements-cpu.txt")
    assert brought() == []
    git("mv", "requirements-cpu.txt", "requirements.txt")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "requirements.txt").write_text("intel-extension-for-pytorch==2.8.0\n", encoding="utf-8")
    found = brought()
    assert found
    assert {path for path, _, _ in found} == {"docs/requirements.txt"}
    assert "end-of-life" in {rule for _, _, rule in found}
    (tmp_path / "docs" / "requirements.txt").unlink()
    image.write_text(f"{image.read_text(encoding='utf-8')}FROM debian:12\nRUN pip install pillow==11.0.0\n", encoding="utf-8")
    assert [(path, rule) for path, _, rule in brought()] == [("Dockerfile", "pin-vulnerable")]
    git("checkout", "--quiet", "Dockerfile")
    pins.write_text("intel-extension-for-pytorch==2.8.0\ntorch==2.8.0\npillow==10.0.0\n", encoding="utf-8")
    assert ("requirements.txt", 3, "pin-vulnerable") in brought()


def test_a_folder_is_no_environment_by_its_name(tmp_path: Path, run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder `env` or `build` is read unless it holds what an environment or a build has made."""
    monkeypatch.chdir(tmp_path)
    for folder in ("env", "build", "venv"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "requirements.txt").write_text("torch==2.4.9\n", encoding="utf-8")
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    found = json.loads(run("check", "--format", "json").out)
    assert [finding["path"] for finding in found["findings"]] == ["build/requirements.txt", "env/requirements.txt"]
