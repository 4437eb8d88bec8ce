"""`--redact`: what goes to a tracker names no person and no machine, and holds no secret."""

import io
import json
import sys
from collections.abc import Callable

import pytest
from conftest import Run
from hypothesis import given
from hypothesis import strategies as st

from compatkb.core.foreign import redacted

NAMES = {"/home/ada": "~", "ada": "USER", "lovelace-pc": "HOST", "bo": "X"}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("File /home/ada/project/x.py", "ada"),
        ("/home/grace/venv/bin/python", "grace"),
        (r"C:\Users\Grace\venv\python.exe", "Grace"),
        ("on lovelace-pc: failed", "lovelace"),
        ("https://ada:pa55word@example.org/simple", "pa55word"),
        ("HF_TOKEN=hf_abcdefghijklmnopqrstuv", "hf_abc"),
        ("use hf_abcdefghijklmnopqrstuv", "hf_abc"),
        ("api_key: s3cr3tvalue", "s3cr3t"),
        ("mail ada@example.org", "example"),
    ],
)
def test_what_is_left_out(text: str, left: str) -> None:
    """Names, home folders, addresses with passwords and tokens are left out."""
    assert left not in redacted(text, NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "torch 2.14.0+xpu with torchvision 0.29.0+xpu",
        "python -m pip install torch==2.14.0+xpu --index-url https://download.pytorch.org/whl/xpu",
        "adaptive boost of canada",
        "RuntimeError: tokenizers>=0.14,<0.15 is required",
        "kernel 6.8.0-45-generic, 8086:e20b",
    ],
)
def test_what_stays(text: str) -> None:
    """Versions, commands, links and parts of words stay."""
    assert redacted(text, NAMES) == text


@given(st.text(max_size=300))
def test_it_is_done_at_once(text: str) -> None:
    """What was redacted is not changed by doing it again."""
    once = redacted(text, NAMES)
    assert redacted(once, NAMES) == once


def test_in_commands(run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """Diagnose leaves the names out of text and JSON alike."""
    text = "File /home/grace/x.py\nImportError: libsycl.so.7: cannot open shared object file: No such file or directory\n"
    for form in ("text", "json"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))
        done = run("diagnose", "-", "--redact", "--format", form)
        assert "grace" not in done.out
        assert "libsycl" in done.out
        assert form == "text" or json.loads(done.out)
