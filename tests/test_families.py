"""Families of product files: what rows say becomes records, and two branches can add rows."""

import random
import subprocess
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from good_data import good, written

from compatkb.authoring.canonical import canonical
from compatkb.authoring.loader import DataDocument, LoadProblem, parse_document
from compatkb.schema import ProductFile

HEAD = """
[product]
id = "vision"
name = "Vision"
role = "package"
scheme = "pep440"
rank = 1

[source]
list = { url = "https://example.org/list", at = "Versions", seen = 2026-11-01 }
pins = { url = "https://example.org/pins", at = "Versions", seen = 2026-11-01 }
"""
HERE = '{ url = "https://example.org/here", at = "Pins", seen = 2026-11-01 }'


def read(text: str) -> tuple[DataDocument | None, list[LoadProblem]]:
    """Return a product file made of a head and families, and what is wrong with it."""
    problems: list[LoadProblem] = []
    return parse_document("products/vision.toml", f"{HEAD}\n{text}".encode(), problems), problems


def records(text: str) -> ProductFile:
    """Return the records of a product file."""
    document, problems = read(text)
    assert document, problems
    assert isinstance(document.record, ProductFile)
    return document.record


def family(rows: str, **fields: str) -> str:
    """Return a family of pairs; `fields` are TOML."""
    said = "".join(f"{key} = {value}\n" for key, value in fields.items())
    return f"[[pairs]]\n{said}rows = [\n{rows}]\n"


def test_a_row_is_a_claim() -> None:
    """A bare version is exact, a specifier is kept, a list is any of these; slots of the note are releases."""
    rows = '    ["0.2+hpu.1", "2.1+hpu.1", ["list"]],\n    ["0.1", [">=2.0", "1.13"], ["pins"], { note = "Older." }],\n'
    new, old = records(family(rows, needs='"torch"', note='"Vision {of} asks for {to}."')).claim
    assert (new.of, new.to, new.note) == ("vision==0.2+hpu.1", ("torch==2.1+hpu.1",), "Vision 0.2 asks for 2.1.")
    assert (old.of, old.to, old.note) == ("vision==0.1", ("torch>=2.0", "torch==1.13"), "Older.")
    assert (new.id, old.id) == ("vision-0.2-hpu.1-torch", "vision-0.1-torch")


def test_notes_of_builds_name_the_release_of_the_row() -> None:
    """What is said of every build of a family and its wheels may name the release; a row is all that a new one needs."""
    wheels = '[{ os = ["linux"], python = ["3.12"], basis = "inferred", note = "As the wheels of {of}." }]'
    rows = "".join(f'    ["{version}+cpu", ["list"]],\n' for version in ("0.2", "0.1"))
    text = f'[[builds]]\ndevices = ["cpu"]\nwheels = {wheels}\nnote = "Of {{of}}."\nrows = [\n{rows}]\n'
    builds = [build for release in records(text).release for build in release.build]
    assert [(build.note, build.wheels[0].note) for build in builds] == [
        ("Of 0.2.", "As the wheels of 0.2."),
        ("Of 0.1.", "As the wheels of 0.1."),
    ]


def test_a_row_of_several_products() -> None:
    """A family of several products has a cell for each, and one that is missing is told."""
    (claim,) = records(family('    ["0.1", ["2.0", ["1.26", "1.25"]], ["list"]],\n', verified='["torch", "numpy"]')).claim
    assert claim.to == ("torch==2.0", "numpy==1.26", "numpy==1.25")
    (problem,) = read(family('    ["0.1", "2.0", ["list"]],\n', verified='["torch", "numpy"]'))[1]
    assert (
        "row 1 of verified torch, numpy: to: the family names 2 products" in problem.message or "2 products" in problem.message
    )


def test_ids_tell_claims_apart() -> None:
    """Kind, condition and version tell claims on the same pair apart, and an id that a row gives stays."""
    text = family('    ["0.1", "2.0", ["list"]],\n    ["0.1", "2.1", ["pins"]],\n', verified='"torch"')
    text += family('    ["0.1", "2.0", ["list"]],\n', needs='"torch"', when='{ device = ["xpu"] }')
    text += family('    ["0.1", "<2.0", ["list"], { id = "gate" }],\n', breaks='"torch"', reason='"It stops."')
    names = [claim.id for claim in records(text).claim]
    assert names == ["vision-0.1-torch-verified-2.0", "vision-0.1-torch-verified-2.1", "vision-0.1-torch-xpu", "gate"]


def test_builds_belong_to_releases() -> None:
    """A build makes its release where no record does; wheels of a row complete those of the family and cite as the build."""
    text = f"""
[[builds]]
channels = ["cpu"]
devices = ["cpu"]
wheels = [{{ os = ["linux"], glibc = "2.28" }}]
rows = [
    ["0.2+cpu", [{HERE}], {{ wheels = [{{ python = ["3.12"] }}] }}],
    ["0.1a0+git", ["list"], {{ release = "0.1", wheels = [{{ python = ["3.11"], sources = ["pins"] }}] }}],
]

[[variants]]
device = "cuda"
rows = [
    ["0.2", ["cu126"], ["list"]],
]
"""
    new, old = records(text).release
    assert (new.version, old.version) == ("0.2", "0.1")
    (build,) = new.build
    assert build.wheels[0].python == ("3.12",)
    assert build.wheels[0].glibc == "2.28"
    assert build.wheels[0].sources == build.sources == new.sources
    assert new.variant[0].labels == ("cu126",)
    assert old.build[0].wheels[0].sources == ("pins",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (family('    ["0.1", "2.0"],\n', needs='"torch"'), "row 1 of needs torch: sources"),
        (family('    ["0.1"],\n', needs='"torch"'), "a row is [of, to, sources]"),
        (family('    ["0.1", "2.0", ["list"], { of = "0.2" }],\n', needs='"torch"'), "of: stands in the row already"),
        (family('    ["0.1", "2.0", ["list"]],\n', needs='"torch"', breaks='"torch"'), "name the products in one of"),
        (family('    ["0.1", "2.0", ["list"]],\n', breaks='"torch"'), "row 1 of breaks torch: `breaks` needs a `reason`"),
        (family('    ["0.1", "2.0", ["list"]],\n', needs='"torch"', basis='"inferred"'), "an inference needs a `note`"),
        (family('    ["0.1", [">=1", "2"], ["list"]],\n', needs='"torch"', note='"As {to}."'), "the row names several"),
        (family("    [],\n", needs='"torch"'), "a row is"),
        (family('    ["0.1", "2.0", [{ url = "https://example.org/x" }]],\n', needs='"torch"'), "seen"),
        ('[[builds]]\ndevices = ["cpu"]\nwheels = [{ os = ["linux"] }]\nrows = [\n'
         '    ["0.1", ["list"], { wheels = [{}, {}] }],\n]\n', "the row has 2, and its family 1"),
    ],
)  # fmt: skip
def test_rows_that_cannot_be(text: str, said: str) -> None:
    """What is wrong with a row is told with its line."""
    document, problems = read(text)
    assert document is None
    assert any(said in problem.message for problem in problems), problems
    assert all(problem.line and problem.line > 12 for problem in problems)


def test_the_form_is_kept() -> None:
    """The canonical text has a row a line, newest first, with its sources where they are cited, and is its own form."""
    document, _ = read(family(f'    ["0.1", "2.0", ["list", {HERE}]],\n    ["0.2", "2.1", ["pins"]],\n', needs='["torch"]'))
    assert document
    text = canonical(document)
    assert text.endswith(
        f'[[pairs]]\nneeds = "torch"\nrows = [\n    ["0.2", "2.1", ["pins"]],\n    ["0.1", "2.0", ["list", {HERE}]],\n]\n'
    )
    again = parse_document("products/vision.toml", text.encode(), [])
    assert again
    assert canonical(again) == text
    assert again.record.model_dump(exclude={"claim", "source"}) == document.record.model_dump(exclude={"claim", "source"})


def git_in(folder: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return git with somebody's name in a folder."""
    plain = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]

    def git(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", *plain, *words], cwd=folder, capture_output=True, text=True, check=False)

    return git


def merged(folder: Path, one: str, other: str) -> Any:
    """Return what git makes of two branches that each add a row to a family of five."""
    git = git_in(folder)

    def add(row: str) -> None:
        text = path.read_text(encoding="utf-8").replace("rows = [\n", f"rows = [\n{row}", 1)
        document = parse_document("products/vision.toml", text.encode(), [])
        assert document
        path.write_text(canonical(document), encoding="utf-8")
        git("commit", "-qam", "a row")

    rows = "".join(f'    ["0.{n}0", "2.{n}", ["list", "pins"]],\n' for n in range(5, 0, -1))
    document, _ = read(family(rows, needs='"torch"'))
    assert document
    path = folder / "vision.toml"
    path.write_text(canonical(document), encoding="utf-8")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "five rows")
    git("switch", "-qc", "other")
    add(other)
    git("switch", "-q", "main")
    add(one)
    return git("merge", "-q", "other").returncode, path.read_text(encoding="utf-8")


def test_two_branches_each_add_a_row(tmp_path: Path) -> None:
    """Rows of different releases merge without a conflict; at the very same place git shows the two lines."""
    code, text = merged(tmp_path, '    ["0.31", "2.3", ["list"]],\n', '    ["0.41", "2.4", ["list"]],\n')
    assert code == 0
    assert [line.split('"')[1] for line in text.splitlines() if line.startswith("    [")] == [
        "0.50", "0.41", "0.40", "0.31", "0.30", "0.20", "0.10",
    ]  # fmt: skip
    second = tmp_path / "second"
    second.mkdir()
    code, text = merged(second, '    ["0.61", "2.6", ["list"]],\n', '    ["0.62", "2.6", ["list"]],\n')
    assert code == 1
    assert "<<<<<<<" in text


def test_twenty_branches_each_add_a_fact_to_one_product(tmp_path: Path) -> None:
    """Twenty facts of torch, each added by a branch of its own to the file without them, merge to the file with all."""
    git = git_in(tmp_path)
    whole = (ROOT / "data" / "products" / "torch.toml").read_text(encoding="utf-8").splitlines(keepends=True)
    facts = [number for number, line in enumerate(whole) if line.startswith('    ["')]
    chosen = sorted(random.Random(20).sample(facts, 20))

    def without(left_out: Collection[int]) -> str:
        return "".join(line for number, line in enumerate(whole) if number not in left_out)

    path = tmp_path / "torch.toml"
    path.write_text(without(chosen), encoding="utf-8")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "base")
    for fact in chosen:
        git("switch", "-qc", f"fact-{fact}", "main")
        path.write_text(without([other for other in chosen if other != fact]), encoding="utf-8")
        git("commit", "-qam", f"fact {fact}")
    git("switch", "-q", "main")
    assert [fact for fact in chosen if git("merge", "-q", "-m", "merged", f"fact-{fact}").returncode] == []
    assert path.read_text(encoding="utf-8") == "".join(whole)


def test_good_data_are_written_in_families() -> None:
    """The files with which lint is tested have claims and builds as rows."""
    text = written(good())["products/ipex.toml"].decode()
    assert "[[pairs]]" in text
    assert "[[claim]]" not in text
