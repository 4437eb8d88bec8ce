"""Until when releases are supported: `show` has a row for each, as exact as its source, and contradicts itself nowhere."""

import re
from collections.abc import Callable
from datetime import date, timedelta

import pytest
from conftest import Run, parted

from compatkb.api import KnowledgeBase
from compatkb.output.catalog_screen import CatalogScreen
from compatkb.output.messages import last_day
from compatkb.output.screen import text_of
from compatkb.schema.product import EndOfLife
from compatkb.store.reader import Snapshot

DAY = date(2026, 11, 28)
PRODUCTS = [product.id for product in KnowledgeBase().facts.products.values() if product.role != "feature"]


@pytest.mark.parametrize("product", parted(PRODUCTS, ("ipex", "umf")))
def test_every_release_has_a_support_row(product: str, facts: Snapshot) -> None:
    """The row, or the head, names the end, the rule, or that the vendor publishes none."""
    for version in dict.fromkeys(element.release for element in facts.elements(product)):
        text = text_of(CatalogScreen(facts, DAY).release_lines(facts.products[product], version))
        assert re.search(r"^  support +\S|(end of life|discontinued|supported\s+until) \d", text, re.M), (product, version)


def test_months_stay_months(run: Callable[..., Run], facts: Snapshot) -> None:
    """Where a source names the month, the month is printed; it has ended when the month is over."""
    assert "end of life 2026-10" in run("show", "python", "3.10").out
    assert "2026-10-" not in run("show", "python", "3.10").out
    assert "  2026-10  Python 3.10" in run("eol", "python", "3.10").out
    for day, ended in (("2026-10-15", False), ("2026-10-31", False), ("2026-11-01", True)):
        assert ("end of life 2026-10" in run("show", "python", "3.10", "--as-of", day).out) is ended
    for record in facts.releases():
        if record.eol and record.eol_precision in ("month", "quarter", "year"):
            after = date.fromisoformat(record.eol) + timedelta(days=1)
            assert after.day == 1, (record.product, record.version)


def test_the_last_day_of_a_span(facts: Snapshot) -> None:
    """The end of a month, a quarter and a year is its last day; they print as they are named."""
    for precision, end, text in (
        ("day", date(2026, 5, 9), "2026-05-09"),
        ("month", date(2026, 5, 31), "2026-05"),
        ("quarter", date(2026, 6, 30), "2026-Q2"),
        ("year", date(2026, 12, 31), "2026"),
    ):
        life = EndOfLife.model_construct(last_day=date(2026, 5, 9), precision=precision)
        assert life.end == end
        assert last_day(end.isoformat(), precision) == text
    assert all(e.eol is None or e.eol > 700_000 for e in facts.elements("linux-kernel"))


def test_kernels_end(facts: Snapshot) -> None:
    """Of each kernel series the end is known, but for those of which the source names none."""
    without = [element.release for element in facts.elements("linux-kernel") if element.eol is None]
    assert sorted(without) == ["7.1", "7.2"]


def test_tags_without_wheels_are_not_the_newest(facts: Snapshot) -> None:
    """What nobody can install does not lead the list of a product; it is named below."""
    text = text_of(CatalogScreen(facts, DAY).product_lines(facts.products["ipex"]))
    newest = next(line for line in text.splitlines() if line.startswith("  released"))
    assert "2.8.10" in newest
    assert "without wheels: 2.10.10, 2.9.10" in text


@pytest.mark.parametrize(("product", "version"), [("transformers", "5.23.0"), ("torch", "2.9"), ("torch", "2.13")])
def test_builds_and_exclusions_agree(product: str, version: str, facts: Snapshot) -> None:
    """No Python is both among those of a build and among those that the release does not work with; nor is a system."""
    text = " ".join(text_of(CatalogScreen(facts, DAY).release_lines(facts.products[product], version)).split())
    excluded = re.search(r"not with (.*?)(?: disputed| features| data of|$)", text)
    builds = text.partition(" works with ")[0].partition(" not with ")[0]
    named = set(re.findall(r"Python (\d\.\d+t?)", excluded[1])) if excluded else set()
    assert not named & set(re.findall(r"\d\.\d+t", builds))
    if excluded and "macOS;" in f"{excluded[1]};":
        assert "macOS" not in builds or "(" in excluded[1]


def test_security_is_shown_where_it_is_known(run: Callable[..., Run], facts: Snapshot) -> None:
    """`show` of a product and of a release, `search` and `--why` have what is known of its security, with sources."""
    assert re.search(r"^  security +The vendor says", run("show", "ipex", "2.8.0").out, re.MULTILINE)
    assert "yanked, 17 releases: for security" in run("show", "ipex", "--why").out
    shown = run("show", "torch", "2.5.1")
    assert "CVE-2025-32434" in shown.out
    assert "CVE-2025-32434" not in run("show", "torch", "2.6.0").out
    assert "CVE-2026-24747" not in run("show", "torch", "2.10.0").out
    assert "security/advisories/GHSA-53q9-r3pm-6pq6" in run("show", "torch", "2.5.1", "--why").out
    found = run("search", "CVE", "--limit", "200").out
    for product in ("torch 2.5.1", "vllm", "transformers", "ipex", "oneccl-devel 2021.5.0"):
        assert product in found
    why = run("explain", "torch==2.5.1", "cpu", "linux", "--why").out
    assert "CVE-2025-32434" in why
    told = " ".join(run("explain", "torch==2.5.1", "cpu", "linux").out.split())
    assert "torch 2.5.1+cpu: CVE-2026-24747 (fixed in 2.10.0) and CVE-2025-32434 (fixed in 2.6.0)" in told
    before = run("show", "torch", "2.5.1", "--as-of", "2025-04-17").out
    assert set(re.findall(r"CVE-[\d-]+", before)) == {"CVE-2025-3000"}  # published in March


def test_a_published_advisory_is_a_warning(base: KnowledgeBase, facts: Snapshot) -> None:
    """A release that it concerns works with warnings, the mended one without; nothing is denied for it."""
    assert base.explain("torch==2.5.1", "cpu", "linux", "py3.11").verdict == "works-with-warnings"
    assert base.explain("torch==2.6.0", "cpu", "linux", "py3.11").verdict == "works-with-warnings"
    assert base.explain("torch==2.10.0", "cpu", "linux", "py3.11").verdict == "works"
    assert base.explain("ipex==2.8.0", "torch==2.8.0", "cpu", "linux").verdict == "works-with-warnings"
    for notice in facts.advisories:
        if notice.kind == "vulnerability":
            assert re.match(r"CVE-\d{4}-\d+", notice.message)
            assert notice.sources
