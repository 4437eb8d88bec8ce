"""What a hostile index can do to a validation: nothing but cost it an answer, whoever asks and however."""

import io
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import TODAY, wheel_file
from conftest import ROOT, parted
from loopback import Index, serve
from validation import HERE, with_own_pip

from compatkb.schema import Level, Observation, Outcome
from compatkb.validate import installers as pip
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.environment import here
from compatkb.validate.importing import check as check_import
from compatkb.validate.installers import check_uv
from compatkb.validate.session import check_published
from compatkb.validate.targets import this_platform

WAYS = {
    "published": ("index", {}),
    "pip": ("pip", {}),
    "uv": ("uv", {}),
    "import": ("python", {}),
}
"""Everything that asks an index, by name: the tool, and how the context is set."""
QUICK = ("published", "pip", "uv", "import")
"""Every tool."""
RESOLVING = parted(("pip", "uv"), QUICK, pytest.mark.soak)
READING_WHEELS = parted(("pip", "uv", "import"), ("uv", "import"), pytest.mark.soak)


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    """An index with nothing good on it."""
    with serve() as made:
        yield made


@pytest.fixture
def context(tmp_path: Path, index: Index) -> RunContext:
    """A context that asks it."""
    made = RunContext(
        TODAY, tmp_path / "work", tmp_path / "cache", ROOT / "data", indexes={"default": f"{index.url}/simple/"},
        seconds=60,
    )  # fmt: skip
    return with_own_pip(made)


def ask(context: RunContext, way: str, pin: str, **more: Any) -> Observation:
    """Ask about one pin in one of the ways."""
    tool, settings = WAYS[way]
    level = {"index": Level.PUBLISHED, "python": Level.IMPORT}.get(tool, Level.RESOLVE)
    name, _, version = pin.partition("==")
    platform = here(context.data) if tool == "python" else this_platform()
    cell = ValidationCell(level, tool, ((name, version),), HERE, platform)
    check = {"index": check_published, "pip": pip.check, "uv": check_uv, "python": check_import}[tool]
    seen = check(cell, replace(context, **settings, **more))
    assert not [path for path in context.folder.rglob("cell-*") if context.folder.exists()], "something was left behind"
    return seen


@pytest.mark.long
@pytest.mark.parametrize("way", parted(WAYS, QUICK, pytest.mark.soak))
@pytest.mark.parametrize(("path", "words"), [("loop", "redirects more than"), ("endless", "is larger than")])
def test_index_that_never_comes_to_the_point(context: RunContext, index: Index, way: str, path: str, words: str) -> None:
    """An endless redirect and a page without end give the reason, within the time of a cell."""
    seen = ask(context, way, "torch==1.0", indexes={"default": f"{index.url}/{path}/"})
    assert seen.outcome is Outcome.NOT_CHECKED
    assert words in seen.detail or "stopped after" in seen.detail, seen.detail


@pytest.mark.long
def test_index_that_keeps_silent(context: RunContext, index: Index) -> None:
    """Silence is the reason, after the time of a cell; all ways wait side by side, each in a folder of its own."""

    def wait(way: str) -> Observation:
        made = replace(context, folder=context.folder / way, indexes={"default": f"{index.url}/hang/"}, seconds=3)
        return ask(made, way, "torch==1.0")

    with ThreadPoolExecutor(len(WAYS)) as pool:
        found = list(pool.map(wait, WAYS))
    for seen in found:
        assert seen.outcome is Outcome.NOT_CHECKED
        assert "no answer" in seen.detail or "stopped after" in seen.detail, seen.detail


@pytest.mark.long
def test_file_that_is_not_the_one_that_was_promised(context: RunContext, index: Index) -> None:
    """A wheel with another digest than its page gives is not taken."""
    index.wrong_hash.add(index.add("torch", "1.1", ""))
    seen = ask(context, "import", "torch==1.1")
    assert seen.outcome is Outcome.NOT_CHECKED
    assert "hash" in seen.detail.lower(), seen.detail


@pytest.mark.long
def test_file_that_is_no_archive(context: RunContext, index: Index) -> None:
    """What is called a wheel and is none says nothing of the build."""
    index.files["torch-1.7-py3-none-any.whl"] = b"this is no archive"
    seen = ask(context, "import", "torch==1.7")
    assert seen.outcome in {Outcome.NOT_CHECKED, Outcome.CONFLICT, Outcome.NOT_FOUND}
    assert seen.detail


@pytest.mark.long
@pytest.mark.parametrize("way", READING_WHEELS)
def test_wheel_that_lies_about_its_version(context: RunContext, index: Index, way: str) -> None:
    """A wheel whose metadata name another version never counts as the one that was asked for."""
    index.add("torch", "1.2", "", metadata_version="9.9")
    seen = ask(context, way, "torch==1.2")
    assert seen.outcome in {Outcome.NOT_CHECKED, Outcome.NOT_FOUND, Outcome.CONFLICT}
    assert seen.detail


@pytest.mark.long
@pytest.mark.parametrize("way", READING_WHEELS)
def test_archive_that_leaves_its_folder(context: RunContext, index: Index, way: str, tmp_path: Path) -> None:
    """Whatever a wheel is called inside, nothing is written outside the folder of the cell."""
    for number, escaped in enumerate(("../" * 12 + str(tmp_path / "out").lstrip("/"), str(tmp_path / "out"))):
        file, content = wheel_file("torch", f"1.3.{number}", {"torch/__init__.py": "", escaped: "out"})
        index.files[file] = content
        assert ask(context, way, f"torch==1.3.{number}").outcome in set(Outcome)
        assert not (tmp_path / "out").exists()


@pytest.mark.long
@pytest.mark.parametrize("way", parted(WAYS, QUICK, pytest.mark.soak))
def test_source_distribution_is_nothing(context: RunContext, index: Index, way: str, tmp_path: Path) -> None:
    """What is there as source alone is not found, and its code never runs."""
    trap = tmp_path / "built"
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        setup = f"open({str(trap)!r}, 'w').close()\nfrom setuptools import setup\nsetup(name='torch', version='1.4')\n"
        for name, text in {"setup.py": setup, "PKG-INFO": "Metadata-Version: 1.0\nName: torch\nVersion: 1.4\n"}.items():
            member = tarfile.TarInfo(f"torch-1.4/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    index.files["torch-1.4.tar.gz"] = buffer.getvalue()
    assert ask(context, way, "torch==1.4").outcome is Outcome.NOT_FOUND
    assert not trap.exists()


@pytest.mark.long
def test_wheel_that_fills_the_disk(context: RunContext, index: Index) -> None:
    """A wheel that is larger than a cell may be, or becomes so when it is unpacked, ends the cell."""
    index.add("torch", "1.5", "", files={"torch/big.bin": bytes(200 << 20)})
    seen = ask(context, "import", "torch==1.5", megabytes=20)
    assert seen.outcome is Outcome.NOT_CHECKED, seen.detail
    del index.files["torch-1.5-py3-none-any.whl"]


@pytest.mark.long
@pytest.mark.parametrize("way", RESOLVING)
def test_metadata_without_end(context: RunContext, index: Index, way: str) -> None:
    """Many requirements that exist nowhere give an answer, and a short one."""
    index.add("torch", "1.6", "", requires=tuple(f"nothing-{n}==1" for n in range(150)))
    seen = ask(context, way, "torch==1.6")
    assert seen.outcome in {Outcome.NOT_FOUND, Outcome.CONFLICT, Outcome.NOT_CHECKED}
    assert len(seen.detail) < 2000
