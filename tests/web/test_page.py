"""The page as a page: addresses, keyboard, files, security, accessibility."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from hostile import hostile_directory
from site_of_tests import DAY, ROOT, SERIES, SHEETS

from compatkb.snapshot.read import Snapshot
from compatkb.snapshot.store import locate
from compatkb.web.questions import Form
from compatkb.web.site import make_site
from compatkb.web.working import work_out
from compatkb.writing import write_tree

KINDS = (
    "index.html#device=xpu&torch=2.4",
    "index.html#device=xpu&torch=2.8&python=3.11",
    "matrix.html",
    "products.html",
    "products/torch.html",
    "products/ipex/2.8.10.html",
    "images.html",
    "calendar.html",
    "timeline.html",
    "about.html",
)
SHOWN = "(words) => (document.documentElement.dataset.shown || '').includes(words)"


@pytest.mark.parametrize(
    ("scheme", "kinds"),
    [
        pytest.param("light", KINDS[:1], id="light-one"),
        pytest.param("dark", KINDS[1:2], id="dark-one"),
        pytest.param("light", KINDS[1:], marks=pytest.mark.long, id="light-rest"),
        pytest.param("dark", (*KINDS[:1], *KINDS[2:]), marks=pytest.mark.long, id="dark-rest"),
    ],
)
def test_axe_finds_nothing(address: str, watched: Any, scheme: str, kinds: tuple[str, ...]) -> None:
    """axe-core reports no violation on any kind of page."""
    one = watched(color_scheme=scheme, reduced_motion="reduce", bypass_csp=True)
    for kind in kinds:
        page = one.show(address + kind)
        for details in page.locator("details").all()[:6]:
            details.evaluate("(node) => { node.open = true; }")
        results = Axe().run(page)
        assert results.violations_count == 0, f"{kind}: {results.generate_report()}"


def test_nothing_leaves_the_site(address: str, watched: Any) -> None:
    """Every request of every kind of page goes to the site's own folder, at a sub-path."""
    one = watched()
    for kind in KINDS:
        one.show(address + kind)
    assert len(one.requests) > len(KINDS)
    assert [url for url in one.requests if not url.startswith(address) and url != "about:blank"] == []


def test_works_from_a_disk(site: Path, watched: Any) -> None:
    """The page answers from file://, and changes its answer."""
    one = watched()
    page = one.show(f"{site.as_uri()}/index.html")
    assert page.locator(".summary .verdict").inner_text() == "does not work"
    page.locator("select[name=main]").select_option("2.8")
    page.wait_for_function(SHOWN, arg="torch=2.8")
    assert page.locator(".summary .verdict").inner_text() == "works"
    assert all(url.startswith(("file:", "about:")) for url in one.requests)


def test_address_keeps_the_choice(address: str, watched: Any) -> None:
    """A link shows its choice again; back and forward go through the choices; strange words in a link are named."""
    page = watched().show(f"{address}#device=xpu&torch=2.8")
    page.locator("select[name=python]").select_option("3.12")
    page.wait_for_function(SHOWN, arg="python=3.12")
    page.locator("select[name=os]").select_option("windows")
    page.wait_for_function(SHOWN, arg="os=windows")
    link = page.url
    page.go_back()
    page.wait_for_function("() => document.querySelector('select[name=os]').value === ''")
    page.go_forward()
    page.wait_for_function("() => document.querySelector('select[name=os]').value === 'windows'")
    told = page.locator("#answer").inner_text()
    other = watched().show(link)
    assert other.locator("#answer").inner_text() == told
    assert watched().show(link.replace("#", "?")).locator("#answer").inner_text() == told
    strange = watched().show(f"{address}#device=xpu&torch=2.8&python=9.9&colour=red")
    assert "python 9.9, colour red" in strange.locator("#answer .remark").inner_text()


def test_keyboard_alone_suffices(address: str, watched: Any) -> None:
    """Tab reaches every control in order, focus can be seen, keys choose, tabs of commands follow the arrows."""
    page = watched(reduced_motion="reduce").show(address)
    seen = []
    for _ in range(30):
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            "() => { const n = document.activeElement, shown = n.name === 'device' ? n.nextElementSibling : n;"
            " const s = getComputedStyle(shown);"
            " return [n.name || n.textContent, s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2]; }"
        )
        seen.append(name)
        assert outline, f"no focus to be seen on {name}"
        if name == "main":
            break
    assert seen[:2] == ["Skip to the content", "compatkb"]
    assert [name for name in seen if name in ("device", "hardware", "os", "python", "main")] == [
        "device", "hardware", "os", "python", "main",
    ]  # fmt: skip
    page.keyboard.press("ArrowUp")
    page.wait_for_function(SHOWN, arg="torch=2.8")
    assert page.locator("#status").inner_text().startswith("torch 2.8 on xpu: works")
    tab = page.locator("[role=tab]").first
    tab.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.activeElement.textContent") == "uv"
    assert "uv pip install" in page.locator("[role=tabpanel]:visible").first.inner_text()


def test_phone_tells_the_verdict_at_the_bottom(address: str, watched: Any) -> None:
    """On a narrow screen a bar names the verdict while the answer is out of sight and leads to it; a wide one has none."""
    page = watched(viewport={"width": 360, "height": 740}, reduced_motion="reduce", bypass_csp=True).show(address)
    bar = page.locator("#jump")
    bar.wait_for()
    assert "does not work" in bar.inner_text()
    page.locator("select[name=main]").select_option("2.8")
    page.wait_for_function(SHOWN, arg="torch=2.8")
    assert re.search(r"works\s+torch 2\.8 on xpu", bar.inner_text())
    assert Axe().run(page).violations_count == 0
    bar.focus()
    page.keyboard.press("Enter")
    bar.wait_for(state="hidden")
    assert page.evaluate("() => document.activeElement.id") == "answer"
    assert watched().show(address).locator("#jump").is_hidden()


def test_works_without_script(address: str, watched: Any) -> None:
    """Without script there is an answer as text, the tables, and ways to all pages."""
    page = watched(java_script_enabled=False).page
    page.goto(address)
    assert "torch 2.4 on xpu: does not work" in page.locator("pre.plain").inner_text()
    assert not page.locator("#form").is_visible()
    page.goto(f"{address}matrix.html")
    assert page.locator("table.matrix tbody tr").count() == len(SHEETS)
    page.goto(f"{address}images.html")
    assert page.locator("#tags tbody tr").count() > 100
    page.goto(f"{address}products/torch.html")
    page.get_by_role("link", name="2.8.0", exact=True).click()
    assert "PyTorch 2.8.0" in page.locator("h1").inner_text()


def test_excluded_values_are_shown_with_the_reason(address: str, watched: Any) -> None:
    """A value that the other choices exclude stays in its list, marked, and the reason stands below the form."""
    page = watched().show(f"{address}#device=xpu&torch=2.8")
    option = page.locator("select[name=python] option[value='3.7']")
    assert option.inner_text().startswith("\u2715")
    page.locator("#excluded > summary").click()
    assert re.search(r"Python 3\.7\b[^\n]*: \w+ .{20}", page.locator("#excluded").inner_text())
    assert not page.locator("select[name=python] option[value='3.11']").inner_text().startswith("\u2715")


def test_image_sets_what_it_holds(address: str, watched: Any) -> None:
    """Choosing an image tag chooses what it holds, and the answer names the tag."""
    page = watched().show(f"{address}#device=xpu&torch=2.8")
    name = "intel/intel-extension-for-pytorch:2.8.10-xpu"
    page.locator("select[name=image]").select_option(name)
    page.wait_for_function(SHOWN, arg="image=")
    assert page.locator("select[name=ipex]").input_value() == "2.8.10"
    assert name in page.locator("article.stack").first.text_content()


def test_tags_can_be_searched_and_sorted(address: str, watched: Any) -> None:
    """Words narrow the table, a column's button sorts it, and both are told to assistive technology."""
    page = watched().show(f"{address}images.html")
    page.locator("#find").fill("xpu 2.8.10")
    assert re.fullmatch(r"\d of 112 tags", page.locator("#found").inner_text())
    page.get_by_role("button", name="Image").click()
    assert page.locator("#tags th[aria-sort=ascending]").count() == 1


def test_policy_is_strict(site: Path) -> None:
    """Every page forbids what it does not bring along, and has no script or style of its own inside."""
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 800
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'" in text
        assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:|\ssrc=\"https?:", text), path
        assert '<html lang="en">' in text


@pytest.mark.long
def test_hostile_words_show_as_text(tmp_path: Path, watched: Any) -> None:
    """Where every word of the data is markup, it is text on every page, in the answers and in the address."""
    snapshot = locate(hostile_directory(tmp_path))
    form = Form(Snapshot(snapshot), DAY, ("2.8",))
    sheets = work_out(snapshot, DAY, series=("2.8",), jobs=1)
    site = tmp_path / "site"
    write_tree(site, make_site(form, sheets), ours="data/form.js")
    evil = "<img src=x onerror=alert(1)>"
    one = watched()
    one.page.on("dialog", lambda dialog: one.complaints.append(dialog.message))
    showing = []
    for path in sorted(site.rglob("*.html")):
        question = f"#device=cpu&torch=2.8&python={evil}" if path.name == "index.html" else ""
        page = one.show(path.as_uri() + question)
        page.evaluate("() => document.querySelectorAll('details').forEach((node) => { node.open = true; })")
        assert page.locator("img[src=x]").count() == 0, path
        if evil in page.locator("main").inner_text():
            showing.append(path.relative_to(site).as_posix())
    assert {"index.html", "timeline.html", "products/torch.html", "products/ipex/2.8.0.html"} <= set(showing)


@pytest.mark.long
def test_hostile_data_show_as_text(tmp_path: Path, watched: Any) -> None:
    """Markup among the real data is text, in the answers, on other pages and in the address."""
    data = tmp_path / "data"
    shutil.copytree(ROOT / "data", data, ignore=shutil.ignore_patterns("evidence"))  # which takes longest to read
    evil = "<img src=x onerror=alert(1)>"
    for file, old in (("ipex", "LLM runs on several ranks may end"), ("torch", "Prototype: built from source")):
        path = data / "products" / f"{file}.toml"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, evil + old), encoding="utf-8")
    path = data / "images" / "intel-extension-for-pytorch.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"2.3.110-xpu"', json.dumps(f"2.3.110-xpu{evil}")), encoding="utf-8")
    snapshot = locate(data)
    form = Form(Snapshot(snapshot), DAY, SERIES)
    write_tree(
        tmp_path / "site", make_site(form, work_out(snapshot, DAY, series=SERIES, names=[("xpu", "2.4")])), ours="data/form.js"
    )
    one = watched()
    one.page.on("dialog", lambda dialog: one.complaints.append(dialog.message))
    uri = (tmp_path / "site").as_uri()
    page = one.show(f"{uri}/index.html#device=xpu&torch=2.4&python={evil}")
    for details in page.locator("details").all():
        details.evaluate("(node) => { node.open = true; }")
    assert page.locator("#answer").inner_text().count(evil) >= 3
    assert page.locator("#answer img").count() == 0
    for name in ("images.html", "products/ipex/2.3.110.html"):
        assert evil in one.show(f"{uri}/{name}").locator("main").inner_text()
        assert page.locator("main img").count() == 0


def test_old_answers_say_so(address: str, watched: Any) -> None:
    """Half a year after their day the answers are called old."""
    one = watched()
    one.page.clock.install(time="2027-06-01T12:00:00Z")
    page = one.show(address)
    assert "days old" in page.locator("#stale").inner_text()


@pytest.mark.parametrize("width", [360, *(pytest.param(width, marks=pytest.mark.long) for width in (800, 1400))])
def test_nothing_sticks_out(address: str, watched: Any, width: int) -> None:
    """No page is wider than its window; wide tables scroll by themselves."""
    one = watched(viewport={"width": width, "height": 800})
    for kind in KINDS:
        page = one.show(address + kind)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, kind


def test_first_view_is_small(site: Path) -> None:
    """What the first view loads is at most 150 KB compressed."""
    import gzip

    files = ("index.html", "style.css", "app.js", "icon.svg", "data/form.js", "data/summary.js", "data/answers/xpu-2.4.js")
    assert sum(len(gzip.compress((site / name).read_bytes(), 9)) for name in files) <= 150_000
