"""The engine in the browser: Pyodide answers what no page was written for, as the command line does."""

import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from conftest import few_files, folder_served
from site_of_tests import ROOT, Parameters, random_question

from compatkb.core.atomic_write import write_tree
from compatkb.engine.answer import Answer, resolve
from compatkb.errors import CompatkbError
from compatkb.output.payload import answer_json
from compatkb.output.presenter import present
from compatkb.store.cache import locate
from compatkb.web.asker import Asker
from compatkb.web.engine_bundle import engine_files, engine_size, fetch_pyodide, make_bundle
from compatkb.web.pages import Site
from compatkb.web.questions import read_question
from compatkb.web.static import MARK

MANY = int(os.environ.get("COMPATKB_SOAK", "60"))
"""Questions that Pyodide is asked; `make soak-web` asks 2,000."""
READY = 240_000
ASK = """(query) => {
  window.engine ||= new Worker(new URL(document.body.dataset.engine, location.href), { type: 'module' });
  return new Promise((resolve) => {
    window.engine.onmessage = ({ data }) => { if (data.loaded === undefined) resolve(data); };
    window.engine.postMessage({ id: 1, query, json: true });
  });
}"""


@pytest.fixture(scope="module")
def whole(asker: Asker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a static site with its engine."""
    if not shutil.which("npm"):
        pytest.skip("no npm, which fetches Pyodide")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPATKB_CACHE", str(ROOT / ".pytest_cache" / "compatkb"))  # it is fetched once
        pyodide, bundle = fetch_pyodide(), make_bundle(Path(locate(ROOT / "data")))
    site = Site(asker, live=False, engine_size=engine_size(bundle, pyodide))
    folder = tmp_path_factory.mktemp("engine") / "site"
    write_tree(folder, few_files(site) | engine_files(site, bundle, pyodide), ours=MARK)
    with folder_served(folder) as url:
        yield url


@pytest.mark.long
def test_unwritten_questions_are_answered_here(whole: str, watched: Any) -> None:
    """First the page says in grey what is not there, with the command line and the size; then it shows the answer itself."""
    one = watched()
    page = one.show(f"{whole}ask.html?torch=2.5.1&device=xpu&python=3.14.1")
    page.wait_for_selector("#progress:not([hidden])")
    assert page.locator("#line").inner_text() == "compatkb resolve --torch 2.5.1 --device xpu --python 3.14.1"
    assert "MB" in page.locator("#engine").inner_text()
    assert page.locator("#says").count() == 0
    page.wait_for_selector("#says", timeout=READY)
    assert "Does not work. torch 2.5.1 on Intel GPU, Python 3.14.1" in page.locator("#says").inner_text()
    page.locator("#row-python + .seg").get_by_role("link", name="3.12", exact=True).click()
    page.wait_for_function("() => document.title.includes('Python 3.12')")
    assert "torch=2.5.1" in page.url
    page.fill("input[name=q]", "torch==2.8.0 granite")
    page.keyboard.press("Enter")
    page.wait_for_selector(".said")  # what is not understood is set aside, the rest is answered
    assert page.locator(".said").inner_text().startswith("“granite” was set aside")
    assert page.locator(".said").get_by_role("link", name="granite rapids", exact=True).count() == 1
    assert page.locator("#says").inner_text() == "✓ Works, with warnings. torch 2.8.0+xpu on Intel GPU, Python 3.12"
    assert [url for url in one.requests if not url.startswith(whole)] == []
    before = len(one.requests)
    page.go_back()
    page.wait_for_function("() => document.title.includes('Python 3.12')")
    assert not [url for url in one.requests[before:] if "pyodide" in url]  # it is loaded once


@pytest.mark.long
def test_a_text_is_judged_here(whole: str, watched: Any) -> None:
    """Without a server what somebody pastes is judged by the engine in the browser, and nothing is sent."""
    one = watched()
    page = one.show(f"{whole}mine.html")
    page.fill("#text", "torch==2.7.0\ntorchvision==0.23.0\n")
    page.get_by_role("button", name="Check", exact=True).click()
    page.wait_for_selector(".lines .error", timeout=READY)
    assert page.locator(".bar strong").first.inner_text() == "1 error, 1 info"
    assert page.locator(".lines .error .n").all_inner_texts() == ["2"]
    assert "torch==2.7.0\ntorchvision==0.22.0\n" in page.locator(".cmdless pre").all_text_contents()
    assert page.url == f"{whole}mine.html"
    assert [url for url in one.requests if not url.startswith(whole) or "torchvision" in url] == []


@pytest.mark.long
def test_answers_are_those_of_the_command_line(asker: Asker, whole: str, watched: Any) -> None:
    """To any question Pyodide gives to the letter the JSON of `resolve`, and refuses what it refuses."""
    page = watched().show(f"{whole}matrix.html")
    page.set_default_timeout(READY)
    draw = random.Random(9)
    slow = []
    for _ in range(MANY):
        asked = random_question(asker.facts, draw)
        given = page.evaluate(ASK, urlencode(asked))
        slow.append(given.get("taken", 0))
        answer = _answer(asker, asked)
        if isinstance(answer, CompatkbError):
            assert str(answer).split("\n")[-1] in given["error"], asked
            continue
        assert given.get("json") == answer_json(present(asker.facts, answer)), asked
        json.loads(given["json"])
    slow.sort()
    print(f"answers in Pyodide: median {slow[len(slow) // 2]:.0f} ms, longest {slow[-1]:.0f} ms")


def _answer(asker: Asker, asked: Parameters) -> Answer | CompatkbError:
    try:
        return resolve(asker.facts, read_question(asked).request(asker.facts, asker.clock))
    except CompatkbError as error:
        return error


@pytest.mark.long
def test_a_site_that_was_built_anew_says_so(whole: str, asker: Asker, tmp_path: Path, watched: Any) -> None:
    """A tab whose build is gone says so, and does not take the new build's data."""
    folder = tmp_path / "site"
    write_tree(folder, few_files(Site(asker, live=False, engine_size="1 MB", build="f00df00df00d")), ours=MARK)
    with folder_served(folder) as url:
        one = watched()
        page = one.show(f"{url}ask.html?torch=2.5.1&device=xpu")  # its engine's files are not there
        page.wait_for_function("() => document.getElementById('engine').textContent.includes('cannot answer here')")
        assert page.locator("#line").inner_text() == "compatkb resolve --torch 2.5.1 --device xpu"
        one.complaints[:] = [text for text in one.complaints if "404" not in text]
