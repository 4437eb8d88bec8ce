"""What pip, uv and poetry do with several indexes, each rule put before the tool, and what check says of the same files.

Indexes of this machine stand in for the default one and for that of Intel GPUs. A tool that is not installed is not asked.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import clock
from format_proofs import Tools, uv
from loopback import serve

from compatkb.check import check
from compatkb.check.document import CheckContext, TextDocument
from compatkb.store.reader import Snapshot

XPU = "https://download.pytorch.org/whl/xpu"
OLD = "https://download.pytorch.org/whl/cu113"
PROJECT = '[project]\nname = "example"\nversion = "1"\nrequires-python = ">=3.11"\ndependencies = [{}]\n'
INDEX = f'[[tool.uv.index]]\nname = "xpu"\nurl = "{XPU}"\n'
EXPLICIT = INDEX + "explicit = true\n"
SOURCES = '[tool.uv.sources]\ntorch = { index = "xpu" }\n'
TRITON = 'pytorch-triton-xpu = { index = "xpu" }\n'
PINNED = '"torch==2.8.0+xpu"'
POETRY = f'[[tool.poetry.source]]\nname = "xpu"\nurl = "{XPU}"\npriority = "{{}}"\n'
PIP, COMPILE, LOCK = ("pip", "install"), ("uv", "pip", "compile"), ("uv", "lock")


class Rule(NamedTuple):
    """What a file asks for, what a tool takes of torch (None where it refuses), and whether check has an error there."""

    text: str
    tool: tuple[str, ...]
    taken: str | None
    is_told: bool | None = False  # None where the outcome is the user's choice
    variables: tuple[str, ...] = ()  # which name the index


RULES = {
    "pip: an extra index has no priority": Rule(f"--extra-index-url {XPU}\ntorch>=2.8\n", PIP, "2.9.0", None),
    "pip: a pin without a label takes the build with one": Rule(f"--extra-index-url {XPU}\ntorch==2.8.0\n", PIP, "2.8.0+xpu"),
    "pip: the default index has no build with a label": Rule("torch==2.8.0+xpu\n", PIP, None, is_told=True),
    "pip: an index in place of the default one": Rule(
        f"--index-url {XPU}\ntorch==2.8.0+xpu\nflask\n", PIP, None, is_told=True
    ),
    "uv: the first index that has a package decides": Rule(f"--extra-index-url {XPU}\ntorch==2.9.0\n", COMPILE, None, None),
    "uv: it decides though it has no such release": Rule(
        PROJECT.format('"torch==2.8.0"') + f'[[tool.uv.index]]\nurl = "{OLD}"\n', LOCK, None, is_told=True
    ),
    "pip: an index beside hides nothing": Rule(f"--extra-index-url {OLD}\ntorch==2.8.0\n", PIP, "2.8.0"),
    "uv: it reads no variables of pip": Rule(
        "torch==2.8.0+xpu\n", COMPILE, None, is_told=True, variables=("PIP_EXTRA_INDEX_URL",)
    ),
    "pip: it reads no variables of uv": Rule("torch==2.8.0+xpu\n", PIP, None, is_told=True, variables=("UV_INDEX",)),
    "uv: it reads its own": Rule("torch==2.8.0+xpu\n", COMPILE, "2.8.0+xpu", None, variables=("UV_INDEX",)),
    "uv: the best match of all is asked for": Rule(
        f"--extra-index-url {XPU}\ntorch==2.9.0\n", (*COMPILE, "--index-strategy", "unsafe-best-match"), "2.9.0"
    ),
    "uv: the default index comes last": Rule(PROJECT.format('"torch>=2.8"') + INDEX, LOCK, "2.8.0+xpu"),
    "uv: an explicit index serves no name by itself": Rule(
        PROJECT.format(PINNED) + INDEX + "explicit = true\n", LOCK, None, is_told=True
    ),
    "uv: what comes along has to be routed, too": Rule(
        PROJECT.format(PINNED) + INDEX + "explicit = true\n" + SOURCES, LOCK, None, is_told=True
    ),
    "uv: what comes along is routed where it is named": Rule(
        PROJECT.format(PINNED + ', "pytorch-triton-xpu"') + INDEX + "explicit = true\n" + SOURCES + TRITON, LOCK, "2.8.0+xpu"
    ),
    "uv: a range brings along what has to be routed, too": Rule(
        PROJECT.format('"torch>=2.8"') + EXPLICIT + SOURCES, LOCK, None, None
    ),
    "uv: where a source does not count the default index does": Rule(
        PROJECT.format(PINNED + ', "pytorch-triton-xpu"')
        + EXPLICIT
        + SOURCES.replace("}", ", marker = \"sys_platform == 'linux'\" }")
        + TRITON,
        LOCK,
        None,
        is_told=True,
    ),
    "uv: a requirement has the marker of its source": Rule(
        PROJECT.format(PINNED.replace('xpu"', "xpu; sys_platform == 'linux'\"") + ', "pytorch-triton-xpu"')
        + EXPLICIT
        + SOURCES.replace("}", ", marker = \"sys_platform == 'linux'\" }")
        + TRITON,
        LOCK,
        "2.8.0+xpu",
    ),
    "uv: settings of uv pip are none of the project": Rule(
        PROJECT.format(PINNED) + f'[tool.uv.pip]\nextra-index-url = ["{XPU}"]\n', LOCK, None, is_told=True
    ),
    "uv: they are those of uv pip": Rule(
        PROJECT.format(PINNED) + f'[tool.uv.pip]\nextra-index-url = ["{XPU}"]\n', COMPILE, "2.8.0+xpu", None
    ),
    "uv: a source names an index of the file": Rule(PROJECT.format(PINNED) + SOURCES, LOCK, None, is_told=True),
    "uv: a backend of torch is an option of uv pip": Rule(
        PROJECT.format(PINNED) + INDEX, (*LOCK, "--torch-backend", "xpu"), None, None
    ),
    "poetry: an explicit source serves no name by itself": Rule(
        PROJECT.format('"torch (==2.8.0+xpu)"') + POETRY.format("explicit"), ("poetry", "lock"), None, is_told=True
    ),
    "poetry: a supplemental source has what others lack": Rule(
        PROJECT.format('"torch (==2.8.0+xpu)"') + POETRY.format("supplemental"), ("poetry", "lock"), "2.8.0+xpu"
    ),
}


@pytest.fixture(scope="module")
def urls() -> Iterator[dict[str, str]]:
    """A default index, and one of builds for Intel GPUs, with what each has alone and what both have."""
    with serve() as default, serve() as xpu, serve() as old:
        for version in ("2.8.0", "2.9.0"):
            default.add("torch", version, "")
        default.add("flask", "3.1.0", "")
        xpu.add("torch", "2.8.0+xpu", "", requires=("pytorch-triton-xpu==3.4.0",))
        xpu.add("pytorch-triton-xpu", "3.4.0", "")
        old.add("torch", "1.12.1+cu113", "")
        yield {"default": f"{default.url}/simple", XPU: f"{xpu.url}/simple", OLD: f"{old.url}/simple"}


@pytest.mark.long
@pytest.mark.parametrize("name", RULES)
def test_rule_of_indexes(name: str, urls: dict[str, str], facts: Snapshot, tmp_path: Path) -> None:
    """The tool takes the build that the rule says, or refuses; where it refuses, check says so at `error`, and else not."""
    rule = RULES[name]
    program, *words = rule.tool
    if program == "poetry" and not shutil.which(program):
        # no package of ours needs poetry, and its own dependencies would bind those of the tests
        pytest.skip("poetry is not installed: not checked")
    file = "pyproject.toml" if "[project]" in rule.text else "requirements.txt"
    text = rule.text.replace(XPU, urls[XPU]).replace(OLD, urls[OLD])
    if program == "poetry":
        text += f'[[tool.poetry.source]]\nname = "default"\nurl = "{urls["default"]}"\npriority = "primary"\n'
    (tmp_path / file).write_text(text, encoding="utf-8")
    tools = Tools(tmp_path, urls["default"])
    tools.environment |= dict.fromkeys(rule.variables, urls[XPU])
    if program == "pip":
        pip = (sys.executable, "-m", "pip", *words, "--dry-run", "--ignore-installed", "--quiet", "--report", "-", "-r", file)
        said = tools.run(*pip, fails=rule.taken is None)
        taken = {e["metadata"]["name"]: e["metadata"]["version"] for e in json.loads(said)["install"]} if rule.taken else {}
        assert taken.get("torch") == rule.taken
    else:
        command = (uv(), *words, *([file] if words[0] == "pip" else [])) if program == "uv" else (program, *words)
        said = tools.run(*command, fails=rule.taken is None)
        lock = tmp_path / f"{program}.lock"
        held = lock.read_text(encoding="utf-8") if lock.exists() else said
        assert rule.taken is None or f"=={rule.taken}\n" in held or f'version = "{rule.taken}"' in held
    documents = [TextDocument(file, rule.text), *([TextDocument("uv.lock", "version = 1\n")] if rule.tool == LOCK else [])]
    report = check(documents, CheckContext(facts, clock()))
    errors = [finding for finding in report.findings if finding.level == "error"]
    assert rule.is_told is None or bool(errors) == rule.is_told, errors
