"""The server for coding agents: both eras of the protocol, limits, damaged lines, wrong pins as bots and people wrote them."""

import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from conftest import ROOT, Run

from compatkb.cli.opening import patience
from compatkb.mcp.protocol import HANDSHAKE, MOST_BYTES, STATELESS, ProtocolServer
from compatkb.mcp.tools import INSTRUCTIONS, MOST, tools
from compatkb.store.reader import Snapshot

COMMAND = (sys.executable, "-m", "compatkb", "mcp", "--data", str(ROOT / "data"))
PINS = tomllib.loads((ROOT / "tests/cases/agents/wrong_pins.toml").read_text(encoding="utf-8"))["pin"]
META = {"io.modelcontextprotocol/protocolVersion": STATELESS[0], "io.modelcontextprotocol/clientCapabilities": {}}
PIECE = re.compile(r"[A-Za-z]{1,5}|\d{1,3}|[^\sA-Za-z\d]|\n| {2,}")


@pytest.fixture
def server(facts: Snapshot) -> ProtocolServer:
    """A server over the data of this checkout."""
    return ProtocolServer(tools(facts, patience), INSTRUCTIONS)


def ask(server: ProtocolServer, method: str, params: object = None, **more: Any) -> Any:
    """Return what a server answers to a request."""
    message = {"jsonrpc": "2.0", "id": 7, "method": method, **({} if params is None else {"params": params}), **more}
    answer = server.answer(json.dumps(message).encode())
    assert answer is not None
    return json.loads(answer)


def call(server: ProtocolServer, tool: str, **arguments: object) -> tuple[str, bool]:
    """Return the text of a tool's result, and whether it failed."""
    result = ask(server, "tools/call", {"name": tool, "arguments": arguments, "_meta": META})["result"]
    return result["content"][0]["text"], result["isError"]


def test_a_costly_question_has_the_answer_of_the_terminal(server: ProtocolServer, run: Callable[..., Run]) -> None:
    """What no patience of one of the two cuts short reads alike, with its alternatives: the search is done before its time."""
    words = ["torch>=2.1", "torchserve==0.5.2", "neural-compressor", "python==3.14"]
    told = run("resolve", *words, "--shell", "posix").out
    text, failed = call(server, "resolve", words=words)
    assert not failed
    assert [line for line in told.splitlines() if line] == [line for line in text.splitlines() if line]
    assert "  1  " in told
    assert "ended early" not in told


@pytest.mark.long
@pytest.mark.parametrize(("mode", "revision"), [("legacy", HANDSHAKE[0]), ("auto", STATELESS[0])])
def test_official_client(mode: str, revision: str) -> None:
    """The official client talks to it over stdio in both newest revisions: five tools, an answer, a refusal that is told."""
    from mcp import StdioServerParameters  # which take as long to import as all other modules of the tests
    from mcp.client import Client
    from mcp.client.stdio import stdio_client

    async def talk() -> None:
        transport = stdio_client(StdioServerParameters(command=COMMAND[0], args=list(COMMAND[1:]), env=dict(os.environ)))
        async with Client(transport, mode=mode) as client:
            assert client.protocol_version == revision
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == ["resolve", "explain", "check_text", "diagnose", "show"]
            told = await client.call_tool("explain", {"pins": ["torch==2.5.0", "ipex==2.4.0"]})
            assert "does not work" in told.content[0].text
            assert not told.is_error
            refused = await client.call_tool("resolve", {"words": ["tosch"]})
            assert refused.is_error
            assert "did you mean: torch" in refused.content[0].text

    with ThreadPoolExecutor(1) as thread:  # that of the test may have a loop already, which a browser left
        thread.submit(asyncio.run, talk()).result()


def test_answers_carry_what_an_agent_needs(server: ProtocolServer) -> None:
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


def test_check_names_what_fits(server: ProtocolServer) -> None:
    """What is wrong, and the whole set that goes together, for the device of the index that is named."""
    text, failed = call(server, "check_text", text="--extra-index-url https://download.pytorch.org/whl/xpu\ntorch==2.11.0\n")
    assert not failed
    assert "torch==2.11.0+xpu" in text
    text, _ = call(server, "check_text", text="torch==2.5.1\ntorchvision==2.5.1\n")
    assert "not in the data: torchvision==2.5.1" in text
    assert "torchvision==0.20.1" in text


def test_leaves_are_asked_where_packages_go_together(server: ProtocolServer) -> None:
    """A pin of Triton that torch does not take is answered; beside packages that do not fit, those are; alone nothing is."""
    text, _ = call(server, "check_text", text="torch==2.6.0\ntriton==3.0.0\n")
    assert "keep torch 2.6.0, move triton to 3.2.0" in text
    assert "torch==2.6.0 torchvision==0.21.0 torchaudio==2.6.0 triton==3.2.0" in text
    text, _ = call(server, "check_text", text="torch==2.6.0\ntorchvision==0.20.0\ntriton==3.0.0\n")
    assert "torch 2.6.0 with torchvision 0.20.0\n" in text
    assert "triton" not in text.partition("\ntogether:")[2]
    assert "together" not in call(server, "check_text", text="numpy==1.26.4\npackaging==24.2\n")[0]


def test_builds_of_other_devices_are_asked_by_version(server: ProtocolServer) -> None:
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
def test_pins_are_read_as_they_are_written(server: ProtocolServer, name: str, text: str, said: str) -> None:
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
def test_hostile_texts_are_answered(server: ProtocolServer, name: str, text: str) -> None:
    """A text that is all blanks, brackets or repeats is answered like any other."""
    assert not call(server, "check_text", text=text, **({"name": name} if name else {}))[1]


@pytest.mark.parametrize("index", ["", "--index-url https://download.pytorch.org/whl/cu118\n"])
def test_plain_pins_stay_plain(server: ProtocolServer, index: str) -> None:
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
        ("resolve", {}, "resolve needs words"),
        ("resolve", {"words": "torch"}, "a list of strings"),
        ("resolve", {"words": [1]}, "must be a string"),
        ("resolve", {"words": ["torch"] * 41}, "longer than 40"),
        ("check_text", {"text": "x" * 100_001}, "longer than 100,000"),
        ("check_text", {"text": "x", "name": "picture.png"}, "is no name of a file that is checked"),
        ("show", {"product": "torch", "run": "ls"}, "has no argument 'run'"),
        ("show", {"product": "../../etc/passwd"}, "is not in the data"),
        ("explain", {"pins": []}, "name what should work together"),
    ],
)
def test_wrong_arguments_are_told_to_the_model(server: ProtocolServer, tool: str, arguments: Any, said: str) -> None:
    """What does not keep the schema is an error result that names what is right, not an error of the protocol."""
    text, failed = call(server, tool, **arguments)
    assert failed
    assert said in text


def test_errors_of_the_protocol(server: ProtocolServer) -> None:
    """Codes are those of JSON-RPC and of the specification; revisions that are unknown get the list of those that are not."""
    assert ask(server, "tools/list")["error"]["code"] == -32602  # neither era was opened
    unknown = ask(server, "tools/list", {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "1900-01-01"}})
    assert unknown["error"]["code"] == -32022
    assert STATELESS[0] in unknown["error"]["data"]["supported"]
    assert ask(server, "no/such", {"_meta": META})["error"]["code"] == -32601
    assert ask(server, "tools/call", {"_meta": META, "name": "rm"})["error"]["code"] == -32602
    assert ask(server, "tools/list", [1])["error"]["code"] == -32602
    assert ask(server, "tools/list", id=None)["error"]["code"] == -32600
    assert "id" not in ask(server, "tools/list", id=True)
    assert json.loads(server.answer(b"[]") or b"")["error"]["code"] == -32600
    assert json.loads(server.answer(b"[" * 100_000) or b"")["error"]["code"] == -32700
    assert server.answer(b'{"jsonrpc":"2.0","method":"notifications/initialized"}') is None
    assert server.answer(b'{"jsonrpc":"2.0","id":1,"result":{}}') is None
    newest = ask(server, "initialize", {"protocolVersion": "2099-01-01"})["result"]
    assert newest["protocolVersion"] == HANDSHAKE[0]
    assert ask(server, "initialize", {"protocolVersion": HANDSHAKE[-1]})["result"]["protocolVersion"] == HANDSHAKE[-1]


def damaged(count: int) -> bytes:
    """Return lines that were requests, cut, mixed and overwritten, with one that is far too long."""
    chance = random.Random(22)
    call = {"name": "resolve", "arguments": {"words": ["torch", "xpu"]}, "_meta": META}
    sound = [
        json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": params}).encode()
        for n, (method, params) in enumerate(
            [("tools/list", {"_meta": META}), ("tools/call", call), ("initialize", {"protocolVersion": 1}), ("ping", None)]
        )
    ]
    lines = [b"x" * (3 * MOST_BYTES)]
    while len(lines) < count:
        line = bytearray(chance.choice(sound))
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(line))
            match chance.randrange(4):
                case 0:
                    line[place] = chance.randrange(256)
                case 1:
                    del line[place:]
                case 2:
                    line[place:place] = chance.choice([b"null", b"{", b"]", b'"', b"1e999", b"\\ud800", b"\xff", b"\0"])
                case _:
                    line[place:place] = chance.choice(sound)[: chance.randrange(60)]
            line = line or bytearray(b"{")
        lines.append(bytes(line).replace(b"\n", b" "))
    return b"\n".join(lines) + b"\n"


@pytest.mark.long
def test_damaged_lines() -> None:
    """10,000 damaged lines: each answer is a line of JSON-RPC, stderr stays empty, and the next request is served."""
    good = json.dumps({"jsonrpc": "2.0", "id": "last", "method": "tools/list", "params": {"_meta": META}}).encode()
    done = subprocess.run(COMMAND, input=damaged(10_000) + good + b"\n", capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(answer["jsonrpc"] == "2.0" and ("result" in answer) != ("error" in answer) for answer in answers)
    assert answers[-1]["id"] == "last"
    assert len(answers[-1]["result"]["tools"]) == 5


def found(server: ProtocolServer, pin: dict[str, Any]) -> bool:
    """Return whether the first answer about a wrong pin has what mends it, and is short."""
    given = {"name": pin["name"]} if "name" in pin else {}
    text, failed = call(server, "check_text", text="\n".join(pin["lines"]) + "\n", **given)
    assert not failed
    assert len(PIECE.findall(text)) <= MOST
    return any(re.search(rf"(?<![\w-]){re.escape(right)}(?![\d.]*\d)", text) for right in pin["right"])


@pytest.mark.long
def test_some_wrong_pins(server: ProtocolServer) -> None:
    """A tenth of the wrong pins: the right one is in the first answer."""
    assert sum(found(server, pin) for pin in PINS[::10]) >= len(PINS[::10]) - 1


@pytest.mark.soak
def test_wrong_pins(server: ProtocolServer) -> None:
    """Of wrong pins as bots, reviews and READMEs wrote them the right one is in the first answer in 95 of 100."""
    names = [pin.get("url") or pin["from"] for pin in PINS]
    assert len(set(names)) >= 200
    missed = [name for name, pin in zip(names, PINS, strict=True) if not found(server, pin)]
    assert len(missed) <= len(PINS) * 0.05, missed
