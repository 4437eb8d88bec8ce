"""A line as people type it is read as far as it can be: nothing is refused whole, and what is set aside is named."""

import pytest

from compatkb.web.asker import Asker
from compatkb.web.pages import Site
from compatkb.web.questions import read_asked

READ = {
    "B580": "hardware=B580",
    "b580 win 3.12 ipex 2.8": "ipex=2.8&python=3.12&os=win&hardware=b580",
    "torch2.8 B580 windows11": "torch=2.8&os=windows11&hardware=B580",
    "B580, Windows 11, Python 3.12": "python=3.12&os=Windows%2011&hardware=B580",
    "does torch 2.8 work on arc b580?": "torch=2.8&hardware=arc%20b580",
    "Arc A770 16GB ubuntu 22.04 LTS": "os=ubuntu%2022.04&hardware=Arc%20A770%2016GB",
    "pip install torch==2.8.0 --index-url https://download.pytorch.org/whl/xpu": "device=xpu&q=torch==2.8.0",
    "neural compressor cp312": "python=3.12&q=neural-compressor",
    "numpy<2 torch 2.4": "torch=2.4&q=%27numpy<2%27",
    "comfyui b580": "hardware=b580&q=comfyui",
    "ipex cpu 2.8": "device=cpu&ipex=2.8",
    "kernel 6.14 b580": "hardware=b580&q=%27linux-kernel%206.14%27",
    "vllm on intel arc b60": "hardware=intel%20arc%20b60&q=vllm",
    "torch==2.8.0 ipex==2.7.10": "q=torch==2.8.0%20ipex==2.7.10",
}
SET_ASIDE = {
    "B580 foo": ("hardware=B580", ["foo"]),
    "B580 ubunut 24.04": ("hardware=B580", ["ubunut 24.04"]),
    "RTX 4090 windows": ("os=windows", ["RTX 4090"]),
    "torch 2.8 2.9": ("torch=2.8", ["2.9"]),
    "?!": ("", []),
}


@pytest.mark.parametrize("typed", READ)
def test_lines_are_read_whole(asker: Asker, typed: str) -> None:
    """Names of several words, glued versions, install commands and sentences become options and words of one question."""
    asked = read_asked(asker.facts, [("q", typed)], asker.clock)
    assert (asked.question.query(), asked.aside) == (READ[typed], ())


@pytest.mark.parametrize("typed", SET_ASIDE)
def test_the_rest_is_answered(asker: Asker, typed: str) -> None:
    """A word that is not understood is set aside by name, and takes nothing else with it."""
    asked = read_asked(asker.facts, [("q", typed)], asker.clock)
    assert (asked.question.query(), [one.word for one in asked.aside]) == SET_ASIDE[typed]


def test_words_take_the_place_of_choices(asker: Asker) -> None:
    """What is typed of a product replaces what a button said of it; a model of hardware replaces the device."""
    given = [("device", "cpu"), ("os", "linux"), ("torch", "2.8"), ("q", "windows B580")]
    asked = read_asked(asker.facts, given, asker.clock)
    assert asked.question.query() == "torch=2.8&os=windows&hardware=B580"


def test_an_address_is_never_refused(asker: Asker) -> None:
    """A parameter that cannot be read is set aside, whatever it is; the page answers the others."""
    given = [("torch", "nonsense"), ("x", "1"), ("os", "windows"), ("as-of", "2026-99-01"), ("route", "none"), ("q", "'")]
    asked = read_asked(asker.facts, given, asker.clock)
    assert asked.question.query() == "os=windows"
    assert len(asked.aside) == 4


def test_errors_are_diagnosed(asker: Asker) -> None:
    """A line of an error gets its cause in place of an answer; words that are no error do not."""
    site = Site(asker, live=True)
    error = site.question_page([("q", "libsycl.so.8: cannot open shared object file")])
    assert "The oneAPI run time is missing" in error
    assert "The driver reset the GPU" in site.question_page([("q", "UR_RESULT_ERROR_DEVICE_LOST")])
    for words in ("B580 foo", "nightly torch xpu"):  # names alone are no failure
        assert 'id="cause"' not in site.question_page([("q", words)])


def test_ends_lead_to_the_release(asker: Asker) -> None:
    """Who asks when something ends is led to the page of it, and a chip has a product with its version."""
    page = Site(asker, live=True).question_page([("q", "end of life torch 2.8 transformers 4.50")])
    assert '<a href="products/torch/2.8.0.html">torch 2.8.0</a>' in page
    assert '<a href="eol.html">' in page
    assert 'aria-label="Remove transformers 4.50"' in page


def test_meant_words_are_links(asker: Asker) -> None:
    """What may have been meant is a link that keeps the rest of the question."""
    page = Site(asker, live=True).question_page([("q", "B580 ubunut 24.04")])
    assert 'href="./?os=ubuntu%2024.04&amp;hardware=B580"' in page


def test_hits_are_named_by_where_they_lead(asker: Asker) -> None:
    """A link to a release names it, a link to a product the product, whatever range of versions was found."""
    hits = Site(asker, live=True).hits("granite")
    assert ("products/ipex/1.12.100.html", "IPEX 1.12.100") in hits
    assert ("products/ipex.html", asker.facts.products["ipex"].label) in hits
