"""`lint --sources` reads cited files in clones, and says what is not there."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run
from good_data import good, written

from compatkb.authoring.lint.cited_places import lines_since

SOURCE = 'readme = { repo = "maker/ext", ref = "v2.1.10", path = "README.md", at = '


@pytest.fixture
def clones(tmp_path: Path) -> Path:
    """A folder with one clone, whose one file names its version on line 2."""
    clone = tmp_path / "clones" / "maker" / "ext"
    clone.mkdir(parents=True)
    (clone / "README.md").write_text("# How to install\nInstall torch 2.1.0.\n" + "\n" * 40 + "The end\n")
    for words in (
        "init --quiet",
        "add README.md",
        "-c user.name=a -c user.email=a@example.org commit --quiet -m one",
        "tag v2.1.10",
    ):
        subprocess.run(["git", "-C", clone, *words.split()], check=True)
    return tmp_path / "clones"


@pytest.fixture
def lint_of(tmp_path: Path, clones: Path, run: Callable[..., Run]) -> Callable[..., Run]:
    """Lint of data whose one product cites as the test says."""

    def lint(source: str, *options: str) -> Run:
        text = (
            '[product]\nid = "other"\nname = "Other"\nrole = "package"\nscheme = "pep440"\nrank = 90\neol-note = "None."\n\n'
        )
        text += f'[source]\n{source}\n\n[[release]]\nversion = "2.1.10"\nsources = ["readme"]\n'
        for path, content in (written(good()) | {"products/other.toml": text.encode()}).items():
            (tmp_path / "data" / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "data" / path).write_bytes(content)
        return run("lint", "--data", str(tmp_path / "data"), "--sources", str(clones), *options)

    return lint


@pytest.mark.parametrize("at", ["2", '"How to install"', '"whole file"'])
def test_a_place_that_is_there_is_no_finding(lint_of: Callable[..., Run], at: str) -> None:
    """A line, a heading and a whole file that name the version, or stand at its tag, are fine."""
    done = lint_of(f"{SOURCE}{at}, seen = 2026-11-01 }}")
    assert (done.code, done.out) == (0, "no findings\n")
    assert "read 3 cited files" in done.err


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (f"{SOURCE}99, seen = 2026-11-01 }}", "line 99 is cited"),
        (f'{SOURCE}"Known issues", seen = 2026-11-01 }}', "has no words “Known issues”"),
        (f"{SOURCE.replace('README', 'GUIDE')}1, seen = 2026-11-01 }}", "v2.1.10 has no GUIDE.md"),
        (f"{SOURCE.replace('v2.1.10', 'v9')}1, seen = 2026-11-01 }}", "maker/ext has no v9"),
    ],
)
def test_what_is_not_there_is_an_error(lint_of: Callable[..., Run], source: str, said: str) -> None:
    """A line beyond the end, a heading, file or ref that is not there is an error with its line."""
    done = lint_of(source)
    assert done.code == 1
    assert said in done.out
    assert "products/other.toml:10: error" in done.out


def test_a_place_that_names_no_cited_version_is_a_warning(lint_of: Callable[..., Run], clones: Path) -> None:
    """Neither the lines around the place nor the ref name the version: someone should look."""
    subprocess.run(["git", "-C", clones / "maker" / "ext", "tag", "first"], check=True)
    source = f"{SOURCE.replace('v2.1.10', 'first')}43, seen = 2026-11-01 }}"
    done = lint_of(source)
    assert "names none of 2.1.10" in done.out
    assert lint_of(source, "--fail-on", "warning").code == 1


def test_a_repository_that_nobody_has_is_said(lint_of: Callable[..., Run]) -> None:
    """What was not read is no finding, and is not passed over in silence."""
    done = lint_of(f"{SOURCE.replace('maker/ext', 'maker/none')}1, seen = 2026-11-01 }}")
    assert "maker/none" in done.err
    assert done.code == 0


def test_options_that_need_clones(run: Callable[..., Run]) -> None:
    """--fetch and --since mean nothing without --sources."""
    assert run("lint", "--fetch").code == 2
    assert run("lint", "--since", "HEAD").code == 2


def test_of_many_versions_that_are_not_named_five_are_told(tmp_path: Path, clones: Path, run: Callable[..., Run]) -> None:
    """A message about a source of many releases stays short."""
    subprocess.run(["git", "-C", clones / "maker" / "ext", "tag", "first"], check=True)
    source = f"{SOURCE.replace('v2.1.10', 'first')}43, seen = 2026-11-01 }}"
    head = '[product]\nid = "other"\nname = "Other"\nrole = "package"\nscheme = "pep440"\nrank = 90\neol-note = "None."\n\n'
    releases = "".join(f'[[release]]\nversion = "9.{n}"\nsources = ["readme"]\n\n' for n in range(7, 0, -1))
    for path, content in (
        written(good()) | {"products/other.toml": f"{head}[source]\n{source}\n\n{releases}".encode()}
    ).items():
        (tmp_path / "data" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / path).write_bytes(content)
    done = run("lint", "--data", str(tmp_path / "data"), "--sources", str(clones))
    assert "names none of 9.1, 9.2, 9.3, 9.4, 9.5 at the cited place" in done.out


def test_lines_since_a_commit(clones: Path) -> None:
    """All lines count that the commit does not have, those that were moved and those of new parts."""
    clone = clones / "maker" / "ext"
    lines = (clone / "README.md").read_text().splitlines()
    (clone / "README.md").write_text("\n".join(["one", "two", *lines[:-1], "Another end"]) + "\n")
    assert lines_since(clone, "v2.1.10") == {("README.md", 1), ("README.md", 2), ("README.md", 45)}
