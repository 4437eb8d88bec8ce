"""Check mine: what the page says of a pasted text is what the commands say of the same file."""

import json
import re
from typing import Any

import pytest

from compatkb.check import check
from compatkb.check.document import CheckContext, TextDocument
from compatkb.errors import UsageError
from compatkb.web.asker import Asker
from compatkb.web.mine import ERROR, MOST_CHARACTERS, judge_text
from compatkb.web.pages import Site

MIXED = "torch==2.8.0\ntorchvision==0.23.0\nintel-extension-for-pytorch==2.8.10+xpu\nnumpy==1.26.4\n"
TRACE = "Traceback (most recent call last):\n  import torch\nOSError: libsycl.so.8: cannot open shared object file\n"


def test_findings_stand_under_their_lines(asker: Asker) -> None:
    """The findings are those of `check`, each at its line; the mended file is judged again before it is shown."""
    mine = judge_text(asker.facts, asker.clock, MIXED)
    report = check([TextDocument("requirements.txt", MIXED)], CheckContext(asker.facts, asker.clock))
    assert mine.name == "requirements.txt"
    assert [(line.number, one.message) for line in mine.lines for one in line.findings] == [
        (one.line, one.message) for one in report.findings
    ]
    assert mine.ways
    for way in mine.ways:
        assert way.text != MIXED
        left = check([TextDocument(mine.name, way.text)], CheckContext(asker.facts, asker.clock)).findings
        assert bool(left) == (way.left != "no findings left")
        assert "".join(f"{text}\n" for sign, text in way.rows if sign != "-") == way.text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (MIXED, "requirements.txt"),
        ("FROM ubuntu:24.04\nRUN pip install torch==2.8.0\n", "Dockerfile"),
        ('[project]\nname = "x"\ndependencies = ["torch==2.8.0"]\n', "pyproject.toml"),
        ("# App\n\nSome text about it.\n", "README.md"),
        (TRACE, ERROR),
    ],
)
def test_the_kind_is_told_from_the_text(asker: Asker, text: str, name: str) -> None:
    """Every kind that the page names is known by what stands in it."""
    assert judge_text(asker.facts, asker.clock, text).name == name


def test_an_error_is_diagnosed(asker: Asker) -> None:
    """The line that shows the cause is marked, and the screen is that of `diagnose`."""
    mine = judge_text(asker.facts, asker.clock, TRACE)
    assert [line.number for line in mine.lines if line.level] == [3]
    assert any("oneAPI run time" in part.text for part in mine.screen)


def test_what_cannot_be_judged_is_said(asker: Asker) -> None:
    """A file that nothing reads, an unknown device and a text of any length are refused with a sentence, not a failure."""
    for name, device, text in (("x.exe", "", "a"), ("", "gpux", "torch==2.8.0"), ("", "", "a" * (MOST_CHARACTERS + 1))):
        with pytest.raises(UsageError):
            judge_text(asker.facts, asker.clock, text, name, device)
    page = Site(asker, live=True).mine_page([("text", "<script>alert(1)</script>\n"), ("name", "x.exe")])
    assert "<script>alert" not in page
    assert "is no name of a file that is checked" in page


@pytest.fixture(scope="module")
def client(live: str) -> Any:
    """A client of the live server."""
    import httpx

    with httpx.Client(base_url=live, timeout=60) as one:
        yield one


def test_texts_are_posted(client: Any) -> None:
    """The API takes a text as JSON or as a form, says what is missing, and reads nothing of it with GET."""
    found = client.post("api/v1/check", json={"text": MIXED, "name": "requirements.txt"}).json()
    assert {finding["line"] for finding in found["findings"]} == {1, 3}
    cause = client.post("api/v1/diagnose", data={"text": TRACE}).json()
    assert cause["causes"][0]["id"] == "oneapi-generation"
    for sent in (
        {"json": {}},
        {"json": {"text": "x", "y": "z"}},
        {"content": b"{", "headers": {"content-type": "application/json"}},
    ):
        wrong = client.post("api/v1/check", **sent)
        assert (wrong.status_code, wrong.headers["content-type"]) == (400, "application/problem+json")
    assert client.get("api/v1/check").status_code == 405
    assert client.post("api/v1/resolve", json={}).status_code == 405
    assert client.post("api/v1/check", json={"text": "a" * 800_000}).status_code == 413
    assert json.loads(client.get("api/v1/index.json").text)


def test_the_page_judges_in_place(live: str, watched: Any) -> None:
    """A pasted text, and one that is dropped, get their findings on the same page; the mended file can be copied."""
    page = watched(permissions=["clipboard-read", "clipboard-write"]).show(f"{live}mine.html")
    page.fill("#text", MIXED)
    page.get_by_role("button", name="Check", exact=True).click()
    page.wait_for_selector(".lines .found")
    assert page.locator(".bar strong").first.inner_text() == "2 warnings, 1 info"
    assert page.locator(".lines .warning .n").all_inner_texts() == ["1", "3"]
    assert page.locator(".lines .error").count() == 0
    page.locator(".copy").first.click()
    page.wait_for_function("() => document.getElementById('status').textContent === 'Copied'")
    copied = page.evaluate("() => navigator.clipboard.readText()").splitlines()
    assert copied[0] == "--extra-index-url https://download.pytorch.org/whl/xpu"
    assert [re.split("==", line)[0] for line in copied[1:]] == ["torch", "torchvision", "numpy"]
    assert all(line.endswith("+xpu") for line in copied[1:3])
    page.set_input_files(
        "#file",
        files=[
            {
                "name": "Dockerfile",
                "mimeType": "text/plain",
                "buffer": b"FROM ubuntu:24.04\nRUN pip install torch==2.7.0 torchvision==0.23.0\n",
            }
        ],
    )
    page.wait_for_function("() => document.querySelector('.bar h2').textContent === 'Dockerfile'")
    assert page.locator("#text").input_value().startswith("FROM")
    assert page.locator(".bar strong").first.inner_text() == "1 error, 1 info"
    assert page.locator(".lines .error .n").all_inner_texts() == ["2"]
    assert page.locator(".lines .error > .sign").inner_text() == "✗"


def test_what_is_mended_together_is_written_out(asker: Asker) -> None:
    """Where no single edit is certain, the pins that are mended together make the mended file; names of any spelling."""
    index = "--extra-index-url https://download.pytorch.org/whl/xpu\ntorch==2.7.0+xpu\n"
    project = '[project]\nname = "x"\ndependencies = ["torch==2.1.0", '
    for text, mended in (
        (f"{index}torchvision==0.21.0+xpu\n", f"{index}torchvision==0.22.0+xpu\n"),
        (f'{project}"NumPy>=2"]\n', f'{project}"numpy==1.26.4"]\n'),
    ):
        mine = judge_text(asker.facts, asker.clock, text)
        assert (mine.ways[0].title, mine.ways[0].text) == ("smallest change", mended)
