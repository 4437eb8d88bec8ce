"""The tools of coding agents: both eras of the protocol, limits, wrong pins as bots and people wrote them."""

import asyncio
import os
import re
import sys
import tomllib
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from conftest import ROOT, Run
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from mcp.server.mcpserver import MCPServer

from compatkb.cli.opening import patience
from compatkb.mcp.tools import MOST, AgentTools
from compatkb.store.reader import Snapshot

COMMAND = (sys.executable, "-m", "compatkb", "mcp", "--data", str(ROOT / "data"))
PINS = tomllib.loads((ROOT / "tests/cases/agents/wrong_pins.toml").read_text(encoding="utf-8"))["pin"]
PIECE = re.compile(r"[A-Za-z]{1,5}|\d{1,3}|[^\sA-Za-z\d]|\n| {2,}")


@pytest.fixture
def server(facts: Snapshot) -> MCPServer:
    """A server over the data of this checkout."""
    return AgentTools(facts, patience).server()


def in_a_loop(asked: Coroutine[Any, Any, Any]) -> Any:
    """Return what a coroutine returns; the thread of the test may have a loop already, which a browser left."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, asked).result()


def call(server: MCPServer, tool: str, **arguments: object) -> tuple[str, bool]:
    """Return the text of a tool's result, and whether it failed."""

    async def asked() -> tuple[str, bool]:
        async with Client(server) as client:
            result = await client.call_tool(tool, arguments)
            return result.content[0].text, bool(result.is_error)

    return in_a_loop(asked())


@pytest.mark.long
def test_a_costly_question_has_the_answer_of_the_terminal(server: MCPServer, run: Callable[..., Run]) -> None:
    """What no patience of one of the two cuts short reads alike, with its alternatives: the search is done before its time."""
    words = ["torch>=2.1", "torchserve==0.5.2", "neural-compressor", "python==3.14"]
    told = run("resolve", *words, "--shell", "posix").out
    text, failed = call(server, "resolve", words=words)
    assert not failed
    assert [line for line in told.splitlines() if line] == [line for line in text.splitlines() if line]
    assert "  1  " in told
    assert "ended early" not in told


@pytest.mark.long
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_server_of_the_command_line(mode: str) -> None:
    """The command serves clients of both eras: those that open with `initialize`, and those whose requests say all."""

    async def talk() -> None:
        transport = stdio_client(StdioServerParameters(command=COMMAND[0], args=list(COMMAND[1:]), env=dict(os.environ)))
        async with Client(transport, mode=mode) as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == ["resolve", "explain", "check_text", "diagnose", "show"]
            told = await client.call_tool("explain", {"pins": ["torch==2.5.0", "ipex==2.4.0"]})
            assert "does not work" in told.content[0].text
            assert not told.is_error
            refused = await client.call_tool("resolve", {"words": ["tosch"]})
            assert refused.is_error
            assert "did you mean: torch" in refused.content[0].text

    in_a_loop(talk())


def test_answers_carry_what_an_agent_needs(server: MCPServer) -> None:
    """A yes has verdict, command, basis and source; a no has the reason, its source, and commands that do."""
    yes, _ = call(server, "resolve", words=["torch", "B580", "ubuntu24.04"])
    assert yes.startswith("✓ works")
    assert "--index-url https://download.pytorch.org/whl/xpu" in yes
    assert "source: " in yes
    no, _ = call(server, "explain", pins=["torch==2.7.1", "ipex==2.8.0"])
    assert no.startswith("✗ does not work")
    assert "[1] intel/intel-extension-for-pytorch" in no
    assert "python -m pip install" in no
    shown, _ = call(server, "show", product="torch", version="2.8.0")
    assert "released 2025-08-06" in shown
    cause, _ = call(server, "diagnose", text="ImportError: libze_loader.so.1: cannot open shared object file")
    assert "Level Zero loader" in cause


def test_check_names_what_fits(server: MCPServer) -> None:
    """What is wrong, and the whole set that goes together, for the device of the index that is named."""
    text, failed = call(server, "check_text", text="--extra-index-url https://download.pytorch.org/whl/xpu\ntorch==2.11.0\n")
    assert not failed
    assert "torch==2.11.0+xpu" in text
    text, _ = call(server, "check_text", text="torch==2.5.1\ntorchvision==2.5.1\n")
    assert "not in the data: torchvision==2.5.1" in text
    assert "torchvision==0.20.1" in text


def test_leaves_are_asked_where_packages_go_together(server: MCPServer) -> None:
    """A pin of Triton that torch does not take is answered; beside packages that do not fit, those are; alone nothing is."""
    text, _ = call(server, "check_text", text="torch==2.6.0\ntriton==3.0.0\n")
    assert "keep torch 2.6.0, move triton to 3.2.0" in text
    assert "torch==2.6.0 torchvision==0.21.0 torchaudio==2.6.0 triton==3.2.0" in text
    text, _ = call(server, "check_text", text="torch==2.6.0\ntorchvision==0.20.0\ntriton==3.0.0\n")
    assert "torch 2.6.0 with torchvision 0.20.0\n" in text
    assert "triton" not in text.partition("\ntogether:")[2]
    assert "together" not in call(server, "check_text", text="numpy==1.26.4\npackaging==24.2\n")[0]


def test_builds_of_other_devices_are_asked_by_version(server: MCPServer) -> None:
    """A build for CUDA that is not in the data stands for its version; one for a device of the data does not."""
    text, _ = call(server, "check_text", text="torch==2.2.1+cu118\nxformers==0.0.23+cu118\n")
    assert "keep xformers 0.0.23, move torch to 2.1.1" in text
    text, _ = call(server, "check_text", text="intel-extension-for-pytorch==2.5.0+xpu\n")
    assert "IPEX 2.5.0" not in text.partition("together:")[2]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        pytest.param("", "-torch==2.3.0\n+torch==2.4.0\n torchvision==0.18.0\n", "torchvision==0.19.0", id="diff"),
        pytest.param(
            "", "```diff\n-torch==2.3.0\n+torch==2.4.0\n torchvision==0.18.0\n```\n", "torchvision==0.19.0", id="block"
        ),
        pytest.param("", "We use torch 2.3.0 with torchvision 0.17.0 there.\n", "torchvision==0.18.0", id="sentence"),
        pytest.param(
            "README.md", "| torch | 2.3.0 |\n|---|---|\n| torchvision | 0.17.0 |\n", "torchvision==0.18.0", id="table"
        ),
        pytest.param(
            "", "[tool.poetry.dependencies]\ntorch = '2.4.0'\ntorchvision = '0.18.0'\n", "torchvision==0.19.0", id="poetry"
        ),
        pytest.param(
            "setup.py", "setup(install_requires=['torch==2.2.0', 'torchvision==0.15.2'])\n", "torchvision==0.17.0", id="setup"
        ),
        pytest.param(
            "Dockerfile",
            "FROM pytorch/pytorch:2.6.0-cuda12.4\nRUN pip install torchvision==0.20.1\n",
            "torch==2.5.1",
            id="image",
        ),
        pytest.param("", "torch==2.5.2\ntorchvision==0.20.2\n", "torch==2.5.1 torchvision==0.20.1", id="never-published"),
        pytest.param("", "torch==2.6.0.dev20241022+xpu\n", "torch==2.6.0+xpu", id="nightly"),
        pytest.param(
            "", "pip install --pre torch --index-url https://download.pytorch.org/whl/nightly/xpu", "/whl/xpu\n", id="bare"
        ),
        pytest.param(
            "a.md",
            "On an Arc (xpu):\n```\npip install torch==2.8.0+cu128\n```\n",
            "no build for xpu: torch==2.8.0+cu128",
            id="cuda",
        ),
        pytest.param(
            "a.bat", "set TORCH_COMMAND=pip install torch==2.7.1 torchvision==0.22.0\n", "torchvision==0.22.1", id="setting"
        ),
        pytest.param(
            "",
            "--extra-index-url https://pytorch-extension.intel.com/release-whl/stable/xpu/us/\ntorch==2.6.0+cxx11.abi\nintel-extension-for-pytorch==2.6.0\n",
            "torch==2.6.0+xpu",
            id="index",
        ),
        pytest.param("", "torch==2.8.0+xpu\ntriton==3.4.0\n", "brings along pytorch-triton-xpu==3.4.0", id="triton"),
        pytest.param("", "torch==2.4.0\ntorchvision==0.18.1\ntransformers==4.36.2\n", "torchvision==0.19.0", id="neighbour"),
        pytest.param(
            "Dockerfile", "FROM python:3.13\nRUN pip install torch==2.5.1 torchvision==0.20.1\n", "torch==2.6.0", id="python"
        ),
    ],
)
def test_pins_are_read_as_they_are_written(server: MCPServer, name: str, text: str, said: str) -> None:
    """Diffs, code blocks, tables, sentences, images and versions that never were are answered like plain pins."""
    told, failed = call(server, "check_text", text=text, **({"name": name} if name else {}))
    assert not failed
    assert said in told


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        "a" + " " * 90_000 + "é",
        "|" + " " * 90_000 + "| torch",
        "{\n" * 40_000,
        "[" * 90_000,
        "pip install " * 8_000,
        "+\n-\n" * 20_000,
    ],
)
@pytest.mark.parametrize("name", ["", "README.md", "setup.py"])
def test_hostile_texts_are_answered(server: MCPServer, name: str, text: str) -> None:
    """A text that is all blanks, brackets or repeats is answered like any other."""
    assert not call(server, "check_text", text=text, **({"name": name} if name else {}))[1]


@pytest.mark.parametrize("index", ["", "--index-url https://download.pytorch.org/whl/cu118\n"])
def test_plain_pins_stay_plain(server: MCPServer, index: str) -> None:
    """What is proposed is from the indexes that the text asks, so no label is added, and none taken away."""
    told, _ = call(server, "check_text", text=f"{index}torch==2.0.1\ntorchvision==0.16.0\n")
    assert "torch==2.0.1 torchvision==0.15.2" in told
    assert "+cpu" not in told
    told, _ = call(
        server, "check_text", text="--index-url https://download.pytorch.org/whl/cpu\ntorch==2.0.1\ntorchvision==0.16.0\n"
    )
    assert "torch==2.0.1+cpu torchvision==0.15.2+cpu" in told


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("resolve", {}, "words"),
        ("resolve", {"words": "torch"}, "valid list"),
        ("resolve", {"words": [1]}, "valid string"),
        ("resolve", {"words": ["torch"] * 41}, "at most 40 items"),
        ("check_text", {"text": "x" * 100_001}, "at most 100000 characters"),
        ("check_text", {"text": "x", "name": "picture.png"}, "is no name of a file that is checked"),
        ("show", {"product": "../../etc/passwd"}, "is not in the data"),
        ("explain", {"pins": []}, "name what should work together"),
    ],
)
def test_wrong_arguments_are_told_to_the_model(server: MCPServer, tool: str, arguments: Any, said: str) -> None:
    """What does not keep the schema is an error result that names what is right, not an error of the protocol."""
    text, failed = call(server, tool, **arguments)
    assert failed
    assert said in text


def found(server: MCPServer, pin: dict[str, Any]) -> bool:
    """Return whether the first answer about a wrong pin has what mends it, and is short."""
    given = {"name": pin["name"]} if "name" in pin else {}
    text, failed = call(server, "check_text", text="\n".join(pin["lines"]) + "\n", **given)
    assert not failed
    assert len(PIECE.findall(text)) <= MOST
    return any(re.search(rf"(?<![\w-]){re.escape(right)}(?![\d.]*\d)", text) for right in pin["right"])


@pytest.mark.long
def test_some_wrong_pins(server: MCPServer) -> None:
    """A tenth of the wrong pins: the right one is in the first answer."""
    assert sum(found(server, pin) for pin in PINS[::10]) >= len(PINS[::10]) - 1


@pytest.mark.soak
def test_wrong_pins(server: MCPServer) -> None:
    """Of wrong pins as bots, reviews and READMEs wrote them the right one is in the first answer in 95 of 100."""
    names = [pin.get("url") or pin["from"] for pin in PINS]
    assert len(set(names)) >= 200
    missed = [name for name, pin in zip(names, PINS, strict=True) if not found(server, pin)]
    assert len(missed) <= len(PINS) * 0.05, missed
