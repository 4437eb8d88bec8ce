"""`lint --sources --reread` finds every living document that says something else now, moves the day of the others."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run
from good_data import good, written

HEAD = '[product]\nid = "other"\nname = "Other"\nrole = "package"\nscheme = "pep440"\nrank = 90\neol-note = "None."\n\n'
PAGE = "# Title\n\n## Install {n}\n\nTake torch 2.1.{n}.\nThen look.\n\n## Known issues\n\nNone.\n"


def _git(clone: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", clone, *words], check=True, capture_output=True, text=True).stdout.strip()


def _commit(clone: Path) -> str:
    _git(clone, "add", "--all")
    _git(clone, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", "more")
    return _git(clone, "rev-parse", "HEAD")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository of fifty pages, each named by its number, the first of which a release is tagged at."""
    clone = tmp_path / "clones" / "maker" / "ext"
    clone.mkdir(parents=True)
    _git(clone, "init", "--quiet")
    for number in range(50):
        (clone / f"page{number}.md").write_text(PAGE.format(n=number))
    _commit(clone)
    _git(clone, "tag", "v1")
    return clone


@pytest.fixture
def reread(tmp_path: Path, clone: Path, run: Callable[..., Run]) -> Callable[..., Run]:
    """What the command says of data with these sources, by page number: a ref and a place each."""

    def ask(sources: dict[int, tuple[str, str]], *options: str) -> Run:
        lines = [
            f'page{number} = {{ repo = "maker/ext", ref = "{ref}", path = "page{number}.md", at = {at}, seen = 2026-06-01 }}'
            for number, (ref, at) in sources.items()
        ]
        cited = ", ".join(f'"page{number}"' for number in sources)
        text = HEAD + "[source]\n" + "\n".join(lines) + f'\n\n[[release]]\nversion = "2.1.10"\nsources = [{cited}]\n'
        for path, content in (written(good()) | {"products/other.toml": text.encode()}).items():
            (tmp_path / "data" / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "data" / path).write_bytes(content)
        given = ("--data", str(tmp_path / "data"), "--sources", str(clone.parents[1]), "--as-of", "2026-11-01")
        return run("lint", *given, "--reread", "90d", *options)

    return ask


def test_what_changed_moved_or_went_is_found_and_nothing_else(clone: Path, reread: Callable[..., Run], tmp_path: Path) -> None:
    """Ten changed places, five moved files and five that are gone are told with their lines; what stands gets today's day."""
    read = _git(clone, "rev-parse", "HEAD")
    for number in range(50):
        page = clone / f"page{number}.md"
        if number < 10:
            page.write_text(page.read_text().replace("torch 2.1.", "torch 2.2."))
        elif number < 15:
            page.rename(clone / "old.tmp")
            (clone / "docs" / str(number)).mkdir(parents=True)
            (clone / "old.tmp").rename(clone / "docs" / str(number) / page.name)
        elif number < 20:
            page.unlink()
        elif number < 30:  # what is cited stays, what is around it changes
            page.write_text("A new head\n\n" + page.read_text().replace("None.", f"Many: {number}"))
    _commit(clone)
    places = ('"Install"', "5", '"whole file"')
    sources = {n: (read, places[n % 2] if 19 < n < 30 else places[n % 3]) for n in range(40)}
    done = reread(sources, "--confirm")
    said = [line for line in done.out.splitlines() if "[reread]" in line]
    assert done.code == 0
    assert [sum(word in line for line in said) for word in ("changed: ", "moved: ", "gone: ")] == [10, 5, 5]
    assert all(f"page{n}.md" in " ".join(said) for n in range(20))
    assert "page1.md said “Take torch 2.1.1.”, and now “Take torch 2.2.1.”" in done.out
    assert "20 sources still say what was read of them" in done.err
    text = (tmp_path / "data" / "products" / "other.toml").read_text()
    days = {int(line.split(" ")[0][4:]): "seen = 2026-11-01" in line for line in text.splitlines() if line.startswith("page")}
    assert days == {n: n >= 20 for n in range(40)}


def test_braces_beside_a_source_are_left_alone(
    clone: Path, reread: Callable[..., Run], run: Callable[..., Run], tmp_path: Path
) -> None:
    """The day is moved in the source alone, whatever else stands in braces on its line."""
    read = _git(clone, "rev-parse", "HEAD")
    reread({1: (read, "5")})
    source = f'{{ repo = "maker/ext", ref = "{read}", path = "page1.md", at = 5, seen = 2026-06-01 }}'
    row = f'    ["2.1.10", [{source}], {{ note = "Made with {{torch}}, seen = 2026-01-01." }}],\n'
    path = tmp_path / "data" / "products" / "other.toml"
    path.write_text(f'{HEAD}[[builds]]\nchannels = ["default"]\ndevices = ["cpu"]\nrows = [\n{row}]\n')
    given = ("--data", str(tmp_path / "data"), "--sources", str(clone.parents[1]), "--as-of", "2026-11-01")
    assert run("lint", *given, "--reread", "90d", "--confirm").code == 0
    assert row.replace("seen = 2026-06-01", "seen = 2026-11-01") in path.read_text()


def test_a_commit_that_is_gone_is_an_error(reread: Callable[..., Run]) -> None:
    """Nobody can look up what a repository has lost."""
    done = reread({1: ("0123456789abcdef0123456789abcdef01234567", "5")})
    assert done.code == 1
    assert "has no page1.md at 0123456789abcdef" in done.out


def test_a_file_at_a_tag_does_not_change(clone: Path, reread: Callable[..., Run]) -> None:
    """What is cited at the tag of a release is not compared with what came after it."""
    (clone / "page1.md").write_text("Nothing is left of it.\n")
    _commit(clone)
    assert reread({1: ("v1", "5")}).out == "no findings\n"


def test_what_was_read_lately_waits(clone: Path, reread: Callable[..., Run]) -> None:
    """A source is read again when it is as old as was said, and a repository that is not there is told."""
    read = _git(clone, "rev-parse", "HEAD")
    (clone / "page1.md").unlink()
    _commit(clone)
    assert reread({1: (read, "5")}, "--reread", "1y").out == "no findings\n"
    assert "gone: page1.md" in reread({1: (read, "5")}).out
    clone.rename(clone.with_name("other"))
    assert "maker/ext is not in" in reread({1: (read, "5")}).err


def test_options_that_need_others(run: Callable[..., Run]) -> None:
    """--reread needs --sources, --confirm needs --reread, and neither goes with --since."""
    assert run("lint", "--reread", "90d").code == 2
    assert run("lint", "--confirm").code == 2
    assert run("lint", "--sources", ".", "--reread", "90d", "--since", "HEAD").code == 2
