"""The commands of the guides: every one can be read, names versions that the data have, and resolves where that was tried."""

import json
import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest
from conftest import ROOT
from packaging.requirements import Requirement

from compatkb.store.reader import Snapshot

GUIDES = [ROOT / "docs" / f"{name}.md" for name in ("install", "migration", "images")]
OPTIONS = ("--index-url", "--extra-index-url")
WITHOUT_WORDS = ("--rm", "-it", "--ipc=host", "--net=host")


class Command(NamedTuple):
    """A command of a guide."""

    page: str
    words: tuple[str, ...]


def blocks() -> Iterator[tuple[str, str, str]]:
    """Yield page, language and text of each fenced block."""
    for path in GUIDES:
        for language, body in re.findall(r"^```(\w+)\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            yield path.stem, language, body


def commands(*start: str) -> list[Command]:
    """Return the commands that start so, without those words."""
    found = []
    for page, language, body in blocks():
        if language in ("sh", "powershell"):
            for line in body.replace("\\\n", " ").splitlines():
                words = tuple(shlex.split(line, posix=language == "sh" or "'" in line))
                if words[: len(start)] == start:
                    found.append(Command(page, words[len(start) :]))
    return found


INSTALLS = sorted({*commands("python", "-m", "pip", "install"), *commands("uv", "pip", "install")})


def requirements(command: Command) -> list[Requirement]:
    """Return the requirements of a command, its options left out."""
    words = list(command.words)
    found = []
    while words:
        word = words.pop(0)
        if word.startswith("-"):
            assert word in OPTIONS
            assert words.pop(0).startswith("https://")
        else:
            found.append(Requirement(word))
    return found


@cache
def resolved() -> list[dict[str, Any]]:
    """Return the resolutions that succeeded."""
    lines = (ROOT / "data" / "evidence" / "resolve.jsonl").read_text(encoding="utf-8").splitlines()
    return [line for line in map(json.loads, lines) if line["outcome"] == "ok"]


def test_guides_have_commands_for_every_manager_and_system() -> None:
    """The installation guide has pip, uv, conda and container commands, for Linux and for Windows."""
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    for words in ("with=pip", "with=uv", "with=conda", "with=container", "with=requirements", "os=windows", "os=linux"):
        assert words in page
    assert len(INSTALLS) > 12
    assert commands("docker", "run")
    assert commands("conda", "create")


@pytest.mark.parametrize("command", INSTALLS, ids=lambda command: f"{command.page}: {' '.join(command.words)[:60]}")
def test_every_requirement_parses_and_every_pin_is_in_the_data(command: Command, facts: Snapshot) -> None:
    """Each word is an option with an address, or a requirement (PEP 508); each exact pin is a build that the data have."""
    found = requirements(command)
    assert found
    for requirement in found:
        product = facts.product(requirement.name)
        assert product, requirement
        for specifier in requirement.specifier:
            if specifier.operator == "==":
                mask = facts.word(product.id, specifier.version)
                assert mask, f"{requirement}: the data have no such build"
                installable = [e for e in facts.elements(product.id) if mask >> e.idx & 1 and e.installable]
                assert installable, f"{requirement}: cannot be installed"
            else:
                assert specifier.operator in ("<", "<=", ">", ">=", "!=")


def test_what_the_default_index_has_really_resolved() -> None:
    """A command that asks the default index alone has resolved with real pip or uv: the evidence is in the data."""
    asked = [command for command in INSTALLS if not set(command.words) & set(OPTIONS)]
    assert len(asked) >= 3
    for command in asked:
        pins = {r.name: next(s.version for s in r.specifier if s.operator == "==") for r in requirements(command)}
        seen = [line for line in resolved() if pins.items() <= line["packages"].items() and line["index"] == "default"]
        assert seen, f"{command.page}: {' '.join(command.words)}: no resolution of {pins} succeeded"


def test_requirements_files_parse() -> None:
    """A requirements file is options, comments and requirements."""
    bodies = [body for page, language, body in blocks() if page == "install" and language == "text"]
    assert bodies
    for body in bodies:
        lines = body.splitlines()
        assert all(re.match(r"(--extra-index-url|--index-url) https://", line) or Requirement(line) for line in lines)
        assert any("==" in line for line in lines)


def test_proofs_are_programs() -> None:
    """The command that proves an installation is a Python program that compiles and names what is installed above it."""
    proofs = commands("python", "-c")
    assert proofs
    pinned = {(r.name, spec.version) for command in INSTALLS for r in requirements(command) for spec in r.specifier}
    for proof in proofs:
        compile(proof.words[0], "proof", "exec")
        wanted = set(re.findall(r"'([\w.-]+)': '([^']+)'", proof.words[0]))
        assert wanted
        assert wanted <= pinned


def test_docker_commands_name_listed_images(facts: Snapshot) -> None:
    """Each image of a `docker run` is one that the data have, and each option is one that takes what follows it."""
    for command in commands("docker", "run"):
        words = list(command.words)
        image = words.pop()
        repository, _, tag = image.partition(":")
        assert tag in {each.name for each in facts.images_of(repository)}, image
        while words:
            word = words.pop(0)
            if word not in WITHOUT_WORDS:
                assert word in ("--device", "-v", "-p")
                assert not words.pop(0).startswith("-")


def test_replacements_are_in_the_migration_guide(facts: Snapshot) -> None:
    """Whatever the data call replaced stands in the guide, with its sources."""
    page = (ROOT / "docs" / "migration.md").read_text(encoding="utf-8")
    names = [facts.products[product].name for product in facts.replacements()]
    names += [feature.name for feature in facts.feature_records() if feature.replaced_by]
    assert len(names) >= 5
    for name in names:
        row = next(line for line in page.splitlines() if line.startswith(f"| {name} |"))
        assert "](<https://" in row
