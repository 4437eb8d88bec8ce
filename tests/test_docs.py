"""The documents: every command and option is named, every command line is right, and what is shown is what is printed."""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ROOT, Run, last_read, parse
from packaging.requirements import Requirement

from compatkb.cli.app import COMMANDS, CURATING, application, load
from compatkb.cli.reference import reference

PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted((ROOT / "docs").rglob("*.md"))
GUIDES = [ROOT / "data" / name for name in ("FIRST-FACT.md", "README.md")]
REFERENCE = "\n".join(
    path.read_text(encoding="utf-8") for path in PAGES if path.name not in ("CONTRIBUTING.md", "CHANGELOG.md")
)
PACKAGES = sorted(
    path.parent.relative_to(ROOT / "src" / "compatkb").as_posix().replace("/", ".")
    for path in (ROOT / "src" / "compatkb").rglob("*/__init__.py")
)
CUT = "[...]"
SHELL = {"|", ">", ">>", "&&", "||", ";"}
ELSEWHERE = re.compile(r"(?<![\w.~])/(?:work|tmp|root|home|mnt|Users)\b")


def blocks(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the language and the lines of each fenced block."""
    text = path.read_text(encoding="utf-8")
    for language, body in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield language, body.splitlines()


def words(line: str) -> list[str] | None:
    """Return the words after `compatkb` in a command line, None for lines of other programs."""
    command = re.fullmatch(r"(?:\$ )?compatkb((?: .*)?)", line)
    if not command:
        return None
    found = shlex.split(command[1], comments=True)
    ends = [number for number, word in enumerate(found) if word in SHELL]
    return found[: ends[0]] if ends else found


def lines() -> Iterator[tuple[str, list[str]]]:
    """Yield the page and the words of every command line in a fenced block."""
    for path in PAGES:
        for language, body in blocks(path):
            if language in ("sh", "console"):
                yield from ((path.name, found) for line in body if (found := words(line)) is not None)


def sessions() -> Iterator[tuple[list[str], list[str]]]:
    """Yield the words of each `$ compatkb` line of the README, with the output shown below it."""
    for _, body in blocks(ROOT / "README.md"):
        starts = [number for number, line in enumerate(body) if line.startswith("$ compatkb ")]
        for start, end in pairwise([*starts, len(body)]):
            yield words(body[start]) or [], body[start + 1 : end]


def commands() -> dict[str, Any]:
    """Return each command by its words, and the application under an empty name."""
    found: dict[str, Any] = {"": application()}
    for name in COMMANDS:
        command = found[name] = load(name)
        inner = {key: below for key, below in getattr(command, "commands", {}).items() if key not in CURATING}
        found.update({f"{name} {key}": below for key, below in inner.items()})
    return found


def options() -> set[str]:
    """Return every spelling of every option."""
    params = [param for command in commands().values() for param in command.params if param.param_type_name == "option"]
    return {name for param in params for name in param.opts}


@pytest.mark.parametrize("command", [name for name, each in commands().items() if name and not hasattr(each, "commands")])
def test_command_is_documented(command: str) -> None:
    """Every command is in the README or in docs/."""
    assert f"`compatkb {'data ' * (command in CURATING)}{command}`" in REFERENCE


@pytest.mark.parametrize("option", sorted(options()))
def test_option_is_documented(option: str) -> None:
    """Every spelling of every option is in the README or in docs/."""
    assert re.search(rf"[` ]{option}[` =]", REFERENCE)


def test_reference_is_what_the_program_says() -> None:
    """docs/commands.md is made from the application; `python -m compatkb.cli.reference > docs/commands.md` makes it anew."""
    assert (ROOT / "docs" / "commands.md").read_text(encoding="utf-8") == reference()


def test_documented_options_exist() -> None:
    """The table of options names no option that is gone."""
    table = re.findall(r"^\| (`-.*?) \|", (ROOT / "docs" / "commands.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {name for row in table for name in re.findall(r"`(--?[\w-]+)", row)} <= options() | {"--help", "-h"}
    assert table


@pytest.mark.parametrize(
    ("page", "command"), list(lines()), ids=lambda value: value if isinstance(value, str) else " ".join(value)
)
def test_command_line_is_right(page: str, command: list[str]) -> None:
    """Every `compatkb ...` line in a fenced block parses."""
    parse(command)


@pytest.mark.parametrize(
    ("command", "shown"), list(sessions()), ids=lambda value: " ".join(value) if value else "nothing shown"
)
def test_session_is_what_is_printed(command: list[str], shown: list[str], run: Callable[..., Run]) -> None:
    """The README's sessions run, and print the lines that it shows, in that order; only marked lines are left out."""
    dated = [] if "--as-of" in command or command[0] in ("resolve", "explain") else ["--as-of", "2026-11-21"]
    done = run(*command, *dated)
    assert done.code in (0, 1, 7), done.err
    printed = done.out.splitlines()
    place = 0
    cut = False
    for line in shown:
        if line == CUT:
            cut = True
        elif line.strip().startswith(("data of ", "as of ")):  # moves with every change of the data
            place += 1
        else:
            assert line in printed[place:], f"not printed, or not there: {line}"
            found = printed.index(line, place)
            assert cut or found == place, f"lines are missing above: {line}"
            place, cut = found + 1, False


def test_python_examples_hold() -> None:
    """The Python in the README runs, and its assertions hold."""
    examples = ["\n".join(body) for language, body in blocks(ROOT / "README.md") if language == "python"]
    assert examples
    for example in examples:
        exec(compile(example, "README.md", "exec"), {})


def test_every_page_is_in_the_index() -> None:
    """docs/README.md lists every page of its folder."""
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert {page for page in pages if f"({page})" not in index} == set()


def test_readme_begins_with_an_answer() -> None:
    """The README begins with a question and its answer."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert lines[5].startswith("$ compatkb resolve ")
    assert lines[6].startswith("✓ works")


def test_sessions_are_found() -> None:
    """The README shows an answer, and more commands."""
    found = list(sessions())
    assert len(found) >= 6
    assert any(shown for _, shown in found)


@pytest.mark.parametrize("path", [*PAGES, *GUIDES], ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    """Links inside the project lead to files that exist, and to headings that they have."""
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        name, _, heading = target.partition("#")
        page = (path.parent / name) if name else path
        assert page.exists(), target
        assert page.resolve().is_relative_to(ROOT), target
        if heading:
            titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}, target


@pytest.mark.parametrize("path", [*PAGES, *GUIDES], ids=lambda path: str(path.relative_to(ROOT)))
def test_page_names_no_path_of_a_machine(path: Path) -> None:
    """A page reads the same everywhere: it names no folder of the machine that it was written on."""
    text = path.read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if ELSEWHERE.search(line)] == []


def test_each_dependency_has_its_reason() -> None:
    """What `pip install compatkb` brings is listed with the job that each package does, and nothing else is."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.split("## What an installation brings")[1].split("\n## ")[0]
    listed = re.findall(r"^\| ([a-z0-9-]+) \| `.+` .*\| \w.+ \|$", table, re.MULTILINE)
    assert listed == [Requirement(each).name for each in project["dependencies"]]


@pytest.mark.parametrize("name", PACKAGES)
def test_package_is_in_the_architecture(name: str) -> None:
    """docs/architecture.md says what each package is for."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert f"| `{name}` |" in page


@pytest.mark.soak
def test_product_is_added_as_described(tmp_path: Path, run: Callable[..., Run]) -> None:
    """Following CONTRIBUTING.md to the letter adds a product, a device and a route, and the commands there answer."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Add a product\n")[2]
    data = tmp_path / "data"
    shutil.copytree(ROOT / "data", data)
    product, build, *ends = re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (tmp_path / re.findall(r"`(data/products/[\w.-]+)`", text)[0]).write_text(product, encoding="utf-8")
    torch = data / "products" / "torch.toml"
    builds, variants, rest = torch.read_text(encoding="utf-8").partition("[[variants]]\n")
    torch.write_text(f"{builds}{build}\n{variants}{rest}", encoding="utf-8")
    places = re.findall(r"at the end of `data/([\w/.]+)`", text)
    for place, block in zip(places, ends, strict=True):
        with (data / place).open("a", encoding="utf-8") as file:
            file.write(f"\n{block}")
    commands = [words(line) for line in text.splitlines() if line.startswith("compatkb ")]
    for command in commands:
        assert command
        day = ("--as-of", last_read().isoformat()) if command[0] == "lint" else ()  # exceptions end
        done = run(*(str(data) if word == "data" else word for word in command), *day)
        assert done.code == 0, done.err or done.out
    done = run("resolve", "--device", "acme", "--data", str(data))
    assert done.out.startswith("✓ works   torch 2.12.0+acme with acme-sdk 1.30.0 on ")
    assert "pip install torch==2.12.0+acme acme-torch==1.30.0" in done.out


@pytest.mark.long
def test_fact_is_added_as_described(tmp_path: Path, run: Callable[..., Run]) -> None:
    """Following data/FIRST-FACT.md to the letter, at most 80 lines, adds a release with a claim and a dispute."""
    text = (ROOT / "data" / "FIRST-FACT.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80
    data = tmp_path / "data"
    shutil.copytree(ROOT / "data", data, ignore=shutil.ignore_patterns("evidence"))  # which takes longest to read
    sources, first, *ends = re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    path = tmp_path / re.findall(r"`(data/[\w/.-]+)`", text)[0]
    before = path.read_text(encoding="utf-8")
    after = before.replace("[source]\n", f"[source]\n{sources}", 1).replace("[[release]]\n", f"{first}\n[[release]]\n", 1)
    path.write_text("\n".join([after, *ends]), encoding="utf-8")
    commands = [words(line) for line in text.splitlines() if line.startswith("compatkb ")]
    printed = [run(*(str(data) if word == "data" else word for word in command or ())) for command in commands]
    assert [done.code for done in printed[:2]] == [0, 0]
    assert printed[2].code == 0, printed[2].err or printed[2].out
    assert "released: 2026-11-02 (disputed)" in printed[0].out
    assert all(f"says: {side}" in printed[0].out for side in re.findall(r'positions = \["(.*?)", "(.*?)"\]', text)[0])
    assert "os==ubuntu24.04" in printed[0].out
    assert "\n9001.7   2026-11-02 (disputed)" in printed[1].out


class SiteLoader(yaml.SafeLoader):
    """Reads the settings of the site, which take the address of the repository from the environment."""


SiteLoader.add_constructor("!ENV", lambda loader, node: loader.construct_sequence(node)[-1])


def test_the_site_has_every_page_once() -> None:
    """mkdocs.yml lists each page in one of four kinds, and there are no more than 24."""
    nav = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), SiteLoader)["nav"]
    listed = [page for part in nav for pages in (part.values() if isinstance(part, dict) else [[part]]) for page in pages]
    assert sorted(listed) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))
    assert len(listed) <= 24
    assert [kind for part in nav if isinstance(part, dict) for kind in part] == [
        "Tutorials",
        "How to",
        "Reference",
        "Explanation",
    ]


def test_readme_fits() -> None:
    """The README is short and has a picture."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert re.search(r"!\[.+\]\(docs/images/.+\.png\)", text)


def test_a_package_page_has_absolute_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """The README of a package leads nowhere beside itself, and its metadata to the repository that built it."""
    monkeypatch.setenv("COMPATKB_REPOSITORY", "https://example.org/compatkb")
    metadata = _hooked()
    targets = re.findall(r"\]\(([^)\s]+)\)", metadata["readme"]["text"])
    assert targets
    assert all(target.startswith("https://") for target in targets)
    assert metadata["urls"]["Data"] == "https://example.org/compatkb/releases/download/data"


def test_a_build_guesses_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that does not know its repository names none: `data update` would ask somebody else's."""
    for name in ("COMPATKB_REPOSITORY", "GITHUB_SERVER_URL", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(name, raising=False)
    assert "urls" not in _hooked()


def _hooked() -> dict[str, Any]:
    hooks: Any = runpy.run_path(str(ROOT / "hatch_build.py"))
    metadata: dict[str, Any] = {}
    hooks["RepositoryHook"](str(ROOT), {}).update(metadata)
    return metadata


@pytest.mark.long
def test_the_site_builds(tmp_path: Path) -> None:
    """The site's generator takes every page, link and anchor."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    assert (tmp_path / "first-xpu.html").is_file()
