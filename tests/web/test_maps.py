"""The sheet, the maps and the pages of GPUs say what the engine says."""

import json
import re
from html import unescape
from itertools import accumulate

import pytest

from compatkb.core.vocabulary import Verdict
from compatkb.web import data_pages, static
from compatkb.web.asker import Asker
from compatkb.web.pages import Site
from compatkb.web.questions import PageQuestion


@pytest.fixture(scope="module")
def static_site(asker: Asker) -> Site:
    """A static site over the real data."""
    return Site(asker, live=False)


def test_every_searched_model_has_a_page(static_site: Site) -> None:
    """Each model that is sold under a name has a page of that name, with the commands of the engine."""
    pages = data_pages.gpus(static_site)
    assert {
        "gpus/arc-b580.html",
        "gpus/arc-a770.html",
        "gpus/data-center-gpu-max-1550.html",
        "gpus/core-ultra-7-258v.html",
    } <= {*pages}
    for path in ("gpus/arc-b580.html", "gpus/data-center-gpu-max-1550.html"):
        page = unescape(re.sub("<[^>]+>", "", data_pages.gpu_page(static_site, path)))
        view = static_site.asker.view(PageQuestion((("hardware", pages[path][0]),), (), ("xpu",)))
        assert view.headline in page
        for section in view.sections:
            assert section.group.best.main_name.split("+")[0] in page


def test_cells_say_what_the_answer_says(static_site: Site) -> None:
    """A cell has the verdict and the release of the answer that it leads to; only what serves has a release."""
    rows = data_pages.by_series(static_site, [("arc-b", "windows"), ("max", "linux")])
    assert len(rows) == data_pages.MAPPED
    for _, cells in rows:
        for cell in cells:
            view = static_site.asker.view(cell.question)
            assert cell.verdict == view.verdict
            assert bool(cell.release) == (view.is_positive and view.verdict != Verdict.DOES_NOT_WORK)


def test_a_map_has_what_stands_beside(static_site: Site) -> None:
    """A map by Python has old Pythons too, and the release of another route that goes with each series."""
    page = data_pages.matrix_page(static_site)
    head, _, rest = page.partition('aria-label="PyTorch on Intel GPU, by Python"')[2].partition("</thead>")
    assert re.findall(r'<th scope="col">([^<]*)', head)[-2:] == ["3.9", "with IPEX"]
    row = re.search(r'<th scope="row">2\.8</th>(.*?)</tr>', rest)
    assert row
    assert re.findall(r'class="cell ([\w-]+)"[^>]*>([^<]*)', row[1])[-1] == ("works-with-warnings", "✓ 2.8.10")


def test_pages_of_releases_and_images_speak_words(static_site: Site) -> None:
    """A release says how long it is supported or what replaces it, without operators; what an image holds, without marks."""
    running = data_pages.release_page(static_site, "torch", "2.8.0", "products/torch/2.8.0.html")
    assert "<dt>Support</dt><dd>PyTorch publishes no end of life." in running
    ended = data_pages.release_page(static_site, "ipex", "2.8.0", "products/ipex/2.8.0.html")
    assert "PyTorch 2.6 or newer on Intel GPU" in ended
    assert "<dt>Support</dt><dd>No fixes after 2026-03-31.</dd>" in ended
    images = data_pages.images_page(static_site)
    assert "~torch" not in images
    assert "(concluded from its build files)" in images
    for long, short in (("Intel processors of Wildcat Lake", "Wildcat Lake"), ("Intel Arc B-Series graphics", "Arc B"),
                        ("Intel Core Ultra (Series 2) with Arc graphics, Lunar Lake", "Lunar Lake")):  # fmt: skip
        assert data_pages.short_name(long) == short


def test_the_sheet_has_whole_pages(static_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines of a question, put together, are the main part of the page that the engine makes for it."""
    question = PageQuestion((("torch", "2.8"), ("python", "3.12"), ("os", "windows")), (), ("xpu",))
    assert question in list(static_site.asker.form.sheet())
    monkeypatch.setattr(type(static_site.asker.form), "sheet", lambda _: iter([question, static_site.home]))
    sheet = json.loads(static._sheet(static_site))
    assert list(sheet["pages"]) == ["device=xpu&os=windows&python=3.12&torch=2.8"]  # the front page has a file
    lines = list(accumulate(sheet["lines"], lambda line, part: line[: part[0]] + part[1], initial=""))[1:]
    title, *main = (lines[n] for n in next(iter(sheet["pages"].values())))
    page = static_site.answer_page(question, "ask.html")
    assert title in unescape(page)
    plain = re.sub(r"\s+", "", page)
    assert re.sub(r"\s+", "", "".join(main)) in plain
