"""The preset of Renovate: valid by its schema, the family in one group, each package in the series that goes with it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run

Runner = Callable[..., Run]


STACKS = [("torch", "--device", "xpu"), ("torch==2.8.0", "--device", "cpu"), ("ipex==2.8.0",)]


@pytest.mark.long
def test_presets_keep_the_schema(run: Runner, tmp_path: Path) -> None:
    """The schema of Renovate's maker accepts the preset of every stack."""
    files = [tmp_path / f"{number}.json" for number in range(len(STACKS))]
    for words, file in zip(STACKS, files, strict=True):
        done = run("resolve", *words, "--format", "renovate")
        assert (done.code, done.err) == (0, "")
        file.write_text(done.out, encoding="utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.renovate", *map(str, files)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_renovate_allows_what_goes_together(run: Runner) -> None:
    """One group; each package within its series, from the index of its builds; what has ended is left alone."""
    rules = json.loads(run("resolve", "torch==2.8.0", "--device", "xpu", "--format", "renovate").out)["packageRules"]
    assert {"torch", "torchvision", "torchaudio"} <= set(rules[0]["matchPackageNames"])
    allowed = {rule["matchPackageNames"][0]: rule for rule in rules if "allowedVersions" in rule}
    assert allowed["torchvision"]["allowedVersions"] == "==0.23.*"
    assert allowed["torch"]["registryUrls"] == ["https://download.pytorch.org/whl/xpu/"]
    assert next(rule["matchPackageNames"] for rule in rules if rule.get("enabled") is False) == ["intel-extension-for-pytorch"]


def test_nothing_to_keep(run: Runner) -> None:
    """Where nothing goes together there is no file."""
    done = run("resolve", "torch==2.7.1", "ipex==2.8.0", "--format", "renovate")
    assert (done.code, done.out) == (1, "")
    assert "no stack" in done.err
