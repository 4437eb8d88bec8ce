"""Wheel variants by the draft PEP 825: names of wheels, tables beside them and in lock files, and what `show` says of them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run

from compatkb.parsers.registry import read
from compatkb.parsers.requirement import of_file
from compatkb.parsers.variants import label_of, named_release, variants_of

Runner = Callable[..., Run]
PLATFORM = "cp312-cp312-manylinux_2_28_x86_64"
TABLE = {
    "$schema": "https://variants.example/v0.1.1.json",
    "default-priorities": {"namespace": ["nvidia", "x86_64"]},
    "variants": {
        "null": {},
        "cu128": {"nvidia": {"cuda_version_lower_bound": ["12.8"]}},
        "x86_64_v3": {"x86_64": {"level": ["v3"]}},
    },
}


@pytest.mark.parametrize(
    ("file", "label"),
    [
        (f"torch-2.9.0-{PLATFORM}.whl", None),
        (f"torch-2.9.0-{PLATFORM}-cu128.whl", "cu128"),
        (f"torch-2.9.0-{PLATFORM}-null.whl", "null"),
        (f"torch-2.9.0-1-{PLATFORM}.whl", None),
        (f"torch-2.9.0-1-{PLATFORM}-x86_64_v3.whl", "x86_64_v3"),
        (f"torch-2.9.0+xpu-{PLATFORM}.whl", None),
        (f"torch-2.9.0-{PLATFORM}-Not.whl", None),
    ],
)
def test_names_of_wheels(file: str, label: str | None) -> None:
    """A label stands behind the platform; package and version are read with and without, a build number beside them."""
    assert label_of(file) == label
    if "Not" not in file:
        assert of_file(f"https://index.example/{file.replace('+', '%2B')}#sha256=0") == (
            "torch",
            "==2.9.0+xpu" if "+xpu" in file else "==2.9.0",
        )


def test_table_is_read() -> None:
    """Labels keep their order, properties are triples; the name of the file tells the release."""
    variants, problems = variants_of(TABLE)
    assert problems == ()
    assert [variant.label for variant in variants] == ["null", "cu128", "x86_64_v3"]
    assert variants[1].properties == ("nvidia :: cuda_version_lower_bound :: 12.8",)
    assert named_release("dist/neural_compressor-3.5-variants.json") == ("neural-compressor", "3.5")
    assert named_release("variants.json") is None


@pytest.mark.parametrize(
    ("variants", "said"),
    [
        (None, "has no table"),
        ([], "has no table"),
        ({"Bad": {}}, "is no variant"),
        ({"a": {}}, "only null has no properties"),
        ({"null": {"x86_64": {"level": ["v3"]}}}, "has no properties"),
        ({"a": {"x86_64": ["v3"]}}, "is no variant"),
        ({"a": {"x86_64": {"level": "v3"}}}, "is no variant"),
        ({"a": {"x86_64": {"level": ["V 3"]}}}, "is no variant"),
        ({"a": {"other": {"level": ["v3"]}}}, "does not name every namespace: other"),
    ],
)
def test_what_does_not_keep_the_draft(variants: object, said: str) -> None:
    """Each is told; nothing fails."""
    _, problems = variants_of({**TABLE, "variants": variants})
    assert any(said in problem.message for problem in problems)


def test_check_reads_tables_and_wheels(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variant wheel pins its release as any wheel does; a damaged table is told with its place, a sound one is silent."""
    monkeypatch.chdir(tmp_path)
    Path("requirements.txt").write_text(f"https://index.example/torch-2.9.0-{PLATFORM}-cu128.whl\ntorchvision==0.23.0\n")
    found = json.loads(run("check", "requirements.txt", "--format", "json").out)["findings"]
    assert [finding["rule"] for finding in found] == ["pins-together"]
    Path("torch-2.9.0-variants.json").write_text(json.dumps(TABLE))
    assert run("check", "torch-2.9.0-variants.json").code == 0
    Path("torch-2.9.0-variants.json").write_text('{"variants": {"No": {}}')
    assert "torch-2.9.0-variants.json:1:" in run("check", ".").out


def test_lock_files(tmp_path: Path) -> None:
    """A pylock.toml keeps the table of its variant wheels; a label that it does not explain is told, and the pin counts."""
    text = f"""lock-version = "1.0"
[[packages]]
name = "torch"
version = "2.9.0"
wheels = [{{ name = "torch-2.9.0-{PLATFORM}-cu128.whl" }}, {{ name = "torch-2.9.0-{PLATFORM}-xpu.whl" }}]
[packages.variants-json.default-priorities]
namespace = ["nvidia"]
[packages.variants-json.variants.cu128.nvidia]
cuda_version_lower_bound = ["12.8"]
"""
    reading = read("pylock.toml", text)
    assert [problem.message for problem in reading.problems] == ["variants-json: does not tell what the variants xpu are for"]
    assert [statement.specifier for statement in reading.statements] == ["==2.9.0"]


def test_show_tells_what_variants_are_for(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each label with its properties, and the build of ours that it is like; what is no table is told in a line."""
    monkeypatch.chdir(tmp_path)
    file = Path("torch-2.9.0-variants.json")
    file.write_text(json.dumps(TABLE))
    shown = run("show", str(file)).out
    assert "cu128      for nvidia :: cuda_version_lower_bound :: 12.8\n             like 2.9.0+cu128" in shown
    assert "null       for any machine" in shown
    rows = json.loads(run("show", str(file), "--format", "json").out)["variants"]
    assert rows[1]["like"] == ["2.9.0+cu128"]
    for content in ("", "[" * 100_000, "{}", '{"variants": 3}'):
        file.write_text(content)
        done = run("show", str(file))
        assert (done.code, done.out) == (2, "")
    assert run("show", "torch-9-variants.json").code == 5
