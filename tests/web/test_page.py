"""The page as a page: addresses, keyboard, files, security, accessibility, builds that differ."""

import gzip
import json
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import few_files, folder_served
from hostile import hostile_directory
from site_of_tests import DAY, ROOT, random_question

from compatkb.core.atomic_write import write_tree
from compatkb.core.clock import Clock
from compatkb.store.cache import locate
from compatkb.store.reader import Snapshot
from compatkb.web.asker import Asker
from compatkb.web.pages import Site
from compatkb.web.static import MARK

KINDS = (
    "index.html",
    "xpu/2.4.html",
    "xpu/linux.html",
    "xpu/arc-b.html",
    "cpu/2.8.html",
    "ask.html",
    "matrix.html",
    "products.html",
    "products/torch.html",
    "products/ipex/2.8.10.html",
    "gpus.html",
    "gpus/arc-b580.html",
    "mine.html",
    "images.html",
    "eol.html",
    "timeline.html",
    "about.html",
    "api.html",
)
EVIL = "<img src=x onerror=alert(1)>"
FETCHED = """() => ["written", "sheet", "words"].every((name) =>
    performance.getEntriesByType("resource").some((entry) => entry.name.includes(`/assets/${name}-`) && entry.responseEnd))"""
TITLED = "(words) => (document.getElementById('says')?.textContent || '').includes(words)"


@pytest.mark.parametrize(
    ("scheme", "width", "kinds"),
    [
        pytest.param("light", 1400, KINDS[:2], id="light"),
        pytest.param("dark", 360, KINDS[2:4], marks=pytest.mark.long, id="dark-phone"),
        pytest.param("light", 360, KINDS, marks=pytest.mark.soak, id="light-phone-all"),
        pytest.param("dark", 1400, KINDS, marks=pytest.mark.soak, id="dark-all"),
        pytest.param("light", 1400, KINDS[2:], marks=pytest.mark.long, id="light-all"),
        pytest.param("dark", 360, KINDS, marks=pytest.mark.soak, id="dark-phone-all"),
    ],
)
def test_axe_finds_nothing(address: str, watched: Any, scheme: str, width: int, kinds: tuple[str, ...]) -> None:
    """axe-core reports no violation on any kind of page, and no page is wider than its window."""
    viewport = {"width": width, "height": 800}
    one = watched(color_scheme=scheme, viewport=viewport, reduced_motion="reduce", bypass_csp=True, user_agent="plain")
    for kind in kinds:
        page = one.show(address + kind)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, kind
        for details in page.locator("details").all()[:8]:
            details.evaluate("(node) => { node.open = true; }")
        results = Axe().run(page)
        assert results.violations_count == 0, f"{kind}: {results.generate_report()}"


@pytest.mark.parametrize(
    "query",
    [
        "?device=xpu&torch=2.8&python=3.14",
        pytest.param("?q=nonsense", marks=pytest.mark.long),
        pytest.param("?torch=2.8&os=windows&device=xpu", marks=pytest.mark.long),
    ],
)
def test_axe_finds_nothing_live(live: str, watched: Any, query: str) -> None:
    """The same of what the live server answers, a refusal too."""
    one = watched(reduced_motion="reduce", bypass_csp=True)
    assert Axe().run(one.show(live + query)).violations_count == 0
    one.complaints[:] = [text for text in one.complaints if "400" not in text]


def test_nothing_leaves_the_site(address: str, watched: Any) -> None:
    """Every request of every kind of page goes to the site's own folder, at a sub-path."""
    one = watched()
    for kind in KINDS:
        one.show(address + kind)
    assert len(one.requests) > len(KINDS)
    assert [url for url in one.requests if not url.startswith(address)] == []


def test_every_link_of_the_site_leads_somewhere(site: Path) -> None:
    """Links between the pages lead to files of the site, or to pages that this site of tests leaves out, at their names."""
    every = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    left_out = re.compile(
        r"(xpu|cpu)/[\w.-]+\.html|products/[\w-]+/[\w.-]+\.html|gpus/[\w-]+\.html|api/v1/(answers|shields)/(xpu|cpu)/[\w.-]+\.json"
    )
    for path in site.rglob("*.html"):
        here = path.relative_to(site).parent
        for link in re.findall(r'(?:href|src|action)="([^"#][^"]*)"', path.read_text(encoding="utf-8")):
            parts = urlsplit(link)
            if parts.scheme:
                assert parts.scheme in ("https", "http"), link
                continue
            target = (site / here / parts.path).resolve().relative_to(site.resolve()).as_posix()
            assert target in every or left_out.fullmatch(target), (path, link)


@pytest.mark.long
def test_works_from_a_disk(site: Path, watched: Any) -> None:
    """Opened from a disk the written pages lead to each other, and an unwritten question gets its command line, in grey."""
    one = watched()
    page = one.show(f"{site.as_uri()}/index.html")
    assert "Works." in page.locator("h1").inner_text()
    page.locator("#row-os + .seg").get_by_role("link", name="Windows", exact=True).click()
    page.wait_for_function(TITLED, arg="Windows")
    page.locator("select[name=os]").select_option("ubuntu24.04")
    page.wait_for_url("**/ask.html?**")
    assert "not written here" in page.locator("h1").inner_text()
    page.wait_for_function("() => document.getElementById('line').textContent.includes('--os ubuntu24.04')")
    assert page.locator("#line").inner_text() == "compatkb resolve --device xpu --os ubuntu24.04"
    assert all(url.startswith("file:") for url in one.requests)


@pytest.mark.long
def test_works_without_a_network_after_the_first_visit(address: str, watched: Any) -> None:
    """One visit keeps the front page, the written answers, the sheet and the sections; buttons and links work from there."""
    one = watched()
    page = one.show(address)
    page.evaluate(
        "async (at) => { while (!await caches.match(at)) await new Promise((done) => setTimeout(done, 50)); }",
        f"{address}xpu/windows.html",
    )
    one.context.set_offline(True)
    page.reload()
    page.wait_for_function(TITLED, arg="torch 2.14")
    page.locator("#row-os + .seg").get_by_role("link", name="Windows", exact=True).click()
    page.wait_for_function(TITLED, arg="Windows")
    page.goto(f"{address}ask.html?device=xpu&torch=2.8&os=windows")  # put together from the sheet
    page.wait_for_function(TITLED, arg="torch 2.8.0+xpu on Intel GPU, Windows")
    for name in ("Map", "GPUs"):
        page.get_by_role("link", name=name, exact=True).click()
        assert page.locator("h1").first.inner_text() == name


@pytest.mark.long
def test_without_an_engine_nothing_is_made_up(address: str, watched: Any) -> None:
    """A site without its engine answers an unwritten question with the command line alone, quoted for a shell."""
    page = watched().show(f"{address}ask.html?device=xpu&torch=%3E%3D2.5%2C%3C2.7&q=numpy==1.26.4")
    page.wait_for_function("() => document.getElementById('line').textContent.includes('numpy')")
    assert page.locator("#line").inner_text() == "compatkb resolve --device xpu --torch '>=2.5,<2.7' numpy==1.26.4"
    assert page.locator("#says").count() == 0
    assert "command line answers it" in page.locator("#engine").inner_text()


@pytest.mark.parametrize("kind", [pytest.param("static", marks=pytest.mark.long), "live"])
def test_choices_change_the_answer_in_place(address: str, live: str, watched: Any, kind: str) -> None:
    """A choice changes answer, address and title without a new page; back, forward, reload and links show the same again."""
    root = address if kind == "static" else live
    start = f"{root}xpu/2.8.html" if kind == "static" else f"{root}?device=xpu&torch=2.8"
    one = watched()
    page = one.show(start)
    page.evaluate("() => { window.same = true; }")
    page.locator("#row-os + .seg").get_by_role("link", name="Windows", exact=True).click()
    page.wait_for_function(TITLED, arg="Windows")
    assert page.evaluate("() => window.same")
    assert page.evaluate("() => document.activeElement.textContent") == "Windows"
    told, link = page.locator("#answer").inner_text(), page.url
    for name in ("Map", "API"):  # the links of the first page still lead from its folder
        target = page.get_by_role("link", name=name, exact=True).evaluate("(node) => node.href")
        assert target.startswith(root)
        assert target.count("/") == root.count("/")
    page.go_back()
    page.wait_for_function("() => !document.getElementById('says').textContent.includes('Windows')")
    page.go_forward()
    page.wait_for_function(TITLED, arg="Windows")
    page.reload()
    page.wait_for_function(TITLED, arg="Windows")  # what has no page of its own is put together from the sheet
    assert page.locator("#answer").inner_text() == told
    other = watched().show(link)
    other.wait_for_function(TITLED, arg="Windows")
    assert other.locator("#answer").inner_text() == told


def test_keyboard_alone_suffices(live: str, watched: Any) -> None:
    """From the load of the page four keystrokes copy the command; every choice can be reached and seen."""
    one = watched(reduced_motion="reduce", permissions=["clipboard-read", "clipboard-write"])
    page = one.show(f"{live}?device=xpu&torch=2.8")
    for key in ("Tab", "Enter", "Tab", "Enter"):
        page.keyboard.press(key)
    page.wait_for_function("() => document.getElementById('status').textContent === 'Copied'")
    command = page.evaluate("() => navigator.clipboard.readText()")
    assert command.startswith("python -m pip install torch==2.8.0")
    assert "\n" not in command
    page.evaluate("() => { document.activeElement.blur(); window.scrollTo(0, 0); }")
    page.locator(".name").focus()
    seen = []
    for _ in range(45):
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            "() => { const n = document.activeElement, shown = n.type === 'radio' || n.id === 'q' ? n.parentElement : n;"
            " const s = getComputedStyle(shown);"
            " return [n.textContent.trim() || n.name, s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2]; }"
        )
        seen.append(name)
        if name and not name.startswith("Skip"):
            assert outline, f"no focus to be seen on {name}"
    rows = ["q", "Intel GPU", "Linux", "3.10", "2.8", "with"]  # one stop a row, arrows within
    assert [name for name in seen if name in (*rows, "CPU", "Windows", "3.12", "2.9")] == rows
    page.locator("#row-os + .seg").get_by_role("link", name="Linux", exact=True).focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.activeElement.textContent") == "Windows"


def test_first_screen_has_the_answer(live: str, watched: Any) -> None:
    """One sentence, one command and its Copy stand on the first screen of a laptop and of a phone; nothing moves on load."""
    for width, height in ((1366, 657), (360, 640)):
        one = watched(viewport={"width": width, "height": height})
        one.page.add_init_script(
            "window.shift = 0; new PerformanceObserver((all) => { for (const e of all.getEntries()) window.shift += e.value; }"
            ").observe({ type: 'layout-shift', buffered: true });"
        )
        page = one.show(live)
        page.wait_for_selector(".b.guess")
        page.wait_for_timeout(600)
        visible = [box for box in (button.bounding_box() for button in page.locator(".recipe .copy").all()) if box]
        assert len(visible) == 1
        assert visible[0]["y"] + visible[0]["height"] <= height
        assert page.locator("h1").count() == 1
        assert page.evaluate("() => window.shift") < 0.05


@pytest.mark.long
def test_the_system_is_guessed_and_marked(live: str, watched: Any) -> None:
    """On the front page alone the system is that of the browser, marked as a guess; a question that was asked stays."""
    windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"
    page = watched(user_agent=windows).show(live)
    page.wait_for_selector(".b.guess")
    assert page.locator(".b.guess").inner_text() == "Windows"
    assert page.url == live
    page = watched(user_agent=windows).show(f"{live}?device=xpu&torch=2.8")
    page.wait_for_timeout(300)
    assert page.locator(".b.guess").count() == 0
    phone = watched(user_agent="Mozilla/5.0 (Linux; Android 14)").show(live)
    phone.wait_for_timeout(300)
    assert phone.locator(".b.guess").count() == 0


def test_impossible_choices_say_why(live: str, watched: Any) -> None:
    """A choice that leads nowhere is struck out, says so to a screen reader, and shows the reason on focus."""
    page = watched().show(f"{live}?device=xpu&torch=2.8")
    button = page.locator("#row-python + .seg a.no").first
    assert "line-through" in button.evaluate("(node) => getComputedStyle(node).textDecorationLine")
    assert button.locator(".sr").inner_text() == "not possible:"
    assert not button.locator(".why").is_visible()
    button.evaluate("(node) => node.focus({ focusVisible: true })")
    assert re.search(r"[Pp]ython", button.locator(".why").inner_text())
    button.click()
    page.wait_for_function(TITLED, arg="Does not work")
    ways = page.locator(".way")
    assert 1 <= ways.count() <= 3
    way = ways.first.locator("pre").inner_text().split()
    ways.first.locator(".go").click()
    page.wait_for_function("() => /Works|Likely/.test(document.getElementById('says').textContent)")
    command = page.locator(".recipe .cmd pre").first.inner_text()
    assert all(pin in command for pin in way)  # the way leads to what it showed


@pytest.mark.long
def test_a_cell_shows_its_command_under_the_map(live: str, watched: Any) -> None:
    """By keyboard a cell of a map puts verdict and command under it, one at a time, and leads to the whole answer."""
    page = watched().show(f"{live}matrix.html")
    for place, said in ((3, "torch 2.8.0+xpu on Intel GPU, Python 3.12"), (7, "torch 2.8.0+xpu with IPEX 2.8.10+xpu")):
        page.locator("tr", has=page.locator("th", has_text="2.8")).first.locator("a.cell").nth(place).press("Enter")
        page.wait_for_function("(said) => document.querySelector('#under h1')?.textContent.includes(said)", arg=said)
        assert page.locator("#under pre:visible").first.inner_text().startswith("python -m pip install torch==2.8.0")
        assert page.locator("#under").count() == page.locator(".cell[aria-current]").count() == 1
    page.get_by_role("link", name="The whole answer").click()
    page.wait_for_function(TITLED, arg="with IPEX 2.8.10+xpu")


@pytest.mark.long
def test_other_words_find_the_written_page(address: str, watched: Any) -> None:
    """An address that asks what a page was written for leads to that page; so do the links of older sites."""
    page = watched().show(f"{address}ask.html?torch=2.8&device=xpu&os=")
    page.wait_for_function(TITLED, arg="torch 2.8.0+xpu on Intel GPU")
    assert page.url == f"{address}xpu/2.8.html"
    page = watched().show(f"{address}index.html#device=xpu&torch=2.4")
    page.wait_for_function(TITLED, arg="torch 2.4 on Intel GPU")


@pytest.mark.long
def test_old_data_say_so(live: str, watched: Any) -> None:
    """Half a year after their day the data are called old."""
    one = watched()
    one.page.clock.install(time="2027-06-01T12:00:00Z")
    assert one.show(live).locator("#stale").is_visible()
    assert not watched().show(f"{live}matrix.html").locator("#stale").is_visible()


@pytest.mark.long
def test_the_installer_is_remembered(address: str, watched: Any) -> None:
    """What was chosen to install with stays chosen, on the next page and on the next visit."""
    one = watched()
    page = one.show(f"{address}xpu/linux.html")
    page.locator("label", has_text=re.compile("^uv$")).click()
    assert page.locator(".recipe:visible pre").inner_text().startswith("uv pip install")
    page = one.show(f"{address}xpu/arc-b.html")  # whose systems have a command each
    commands = page.locator(".recipe:visible pre").all_inner_texts()
    assert {command.split(" torch")[0] for command in commands} == {"uv pip install"}


@pytest.mark.long
def test_commands_are_quoted_for_the_system(asker: Asker, live: str, watched: Any) -> None:
    """On Windows no word is in single quotes, which its shells take for a part of it; elsewhere a POSIX shell reads it."""
    import shlex

    windows = watched().show(f"{live}?device=xpu&ipex=2.5&os=linux")
    text = windows.locator(".recipe[data-with=pip] pre").inner_text()
    assert "'setuptools<82'" in text
    assert "setuptools<82" in shlex.split(text)
    page = watched().show(f"{live}?device=xpu&ipex=2.7&os=windows")
    for pre in page.locator(".recipe pre").all():
        assert "'" not in (pre.text_content() or "") or "RUN" in (pre.text_content() or "")


def test_works_without_script(address: str, live: str, watched: Any) -> None:
    """Without script there are the answer, its choices as links, the installers, the tables, the reasons."""
    page = watched(java_script_enabled=False).page
    page.goto(f"{address}xpu/2.4.html")
    assert "Does not work. torch 2.4 on Intel GPU" in page.locator("h1").inner_text()
    assert "built from source" in page.locator(".cause").first.inner_text()
    page.goto(f"{address}xpu/2.8.html")
    assert page.locator(".recipe:visible pre").inner_text().startswith("python -m pip install torch==2.8.0+xpu ")
    page.locator("label", has_text=re.compile("^uv$")).click()
    assert page.locator(".recipe:visible pre").inner_text().startswith("uv pip install")
    page.goto(f"{live}?device=xpu&torch=2.8")
    page.locator("#row-python + .seg").get_by_role("link", name="3.12", exact=True).click()
    assert "Python 3.12" in page.locator("h1").inner_text()
    page.goto(f"{address}ask.html?torch=2.5.1")
    assert "not written here" in page.locator("h1").inner_text()
    page.goto(f"{address}matrix.html")
    assert page.locator("table.matrix tbody tr").count() > 20
    page.goto(f"{address}images.html")
    assert page.locator(".images tbody tr").count() > 100


@pytest.mark.long
def test_release_pages_begin_with_what_is_needed(address: str, watched: Any) -> None:
    """State, what replaces it, the command and what goes with it stand first, linked both ways; remarks stand below."""
    page = watched().show(f"{address}products/ipex/2.8.10.html")
    text = page.locator("main").inner_text()
    order = ["No longer maintained since 2026-03-31", "Replaced by", "python -m pip install", "Goes with", "Proof:"]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    page.get_by_role("link", name="PyTorch 2.8.0+xpu").first.click()
    page.wait_for_url("**/products/torch/2.8.0.html")
    assert page.locator("#required-by + ul a").count() + page.locator("a.anchor").count() > 3


@pytest.mark.long
def test_tags_can_be_filtered_and_copied(address: str, watched: Any) -> None:
    """Words narrow the table, a button copies a tag, what a tag holds is linked, and the table fits a phone."""
    one = watched(viewport={"width": 360, "height": 740}, permissions=["clipboard-read", "clipboard-write"])
    page = one.show(f"{address}images.html")
    page.locator("#find").fill("xpu 2.8.10")
    assert re.fullmatch(r"\d of \d{3} tags", page.locator("#found").inner_text())
    page.locator(".images tr:visible .copy").first.click()
    page.wait_for_function("() => document.getElementById('status').textContent === 'Copied'")
    assert "2.8.10" in page.evaluate("() => navigator.clipboard.readText()")
    assert page.locator(".images tr:visible a[href$='ipex/2.8.10.html']").count()


def test_policy_is_strict(site: Path) -> None:
    """Every page forbids what it does not bring along, and has no script or style of its own inside."""
    for path in sorted(site.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        assert "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'" in text
        assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:|\ssrc=\"https?:", text), path
        assert '<html lang="en">' in text


def test_data_carry_their_build(asker: Asker, site: Path) -> None:
    """What a page loads has the digest of its build in its name; another build has another one."""
    build = Site(asker, live=False).build
    loaded = set(
        re.findall(
            r'(?:src|stylesheet" href|data-engine|data-written|data-sheet|data-words)="([^"]+)"',
            (site / "index.html").read_text(encoding="utf-8"),
        )
    )
    assert loaded
    assert all(build in name for name in loaded)
    assert Site(Asker(asker.facts, Clock(DAY.replace(year=2027))), live=False).build != build


def test_an_old_tab_shows_no_mixture(site: Path, tmp_path: Path, watched: Any) -> None:
    """A tab that stayed open while the site was built anew loads the new page whole, with the new build's own files."""
    folder = tmp_path / "site"
    shutil.copytree(site, folder)
    old = next((folder / "assets").glob("app-*.js")).name.removeprefix("app-").removesuffix(".js")
    with folder_served(folder) as url:
        page = watched().show(f"{url}xpu/linux.html")
        page.wait_for_function(FETCHED)  # what a page asks for in idle time: a tab that is open has it
        page.evaluate("() => { window.old = true; }")
        for path in [*folder.rglob("*.html")]:
            path.write_text(path.read_text(encoding="utf-8").replace(old, "f00df00df00d"), encoding="utf-8")
        for path in [*(folder / "assets").iterdir()]:
            path.rename(path.with_name(path.name.replace(old, "f00df00df00d")))
        page.locator("#row-os + .seg").get_by_role("link", name="Windows", exact=True).click()
        page.wait_for_function(TITLED, arg="Windows")
        assert page.evaluate("() => window.old") is None
        assert page.evaluate("() => document.querySelector('meta[name=build]').content") == "f00df00df00d"


@pytest.mark.long
def test_hostile_words_show_as_text(tmp_path: Path, watched: Any) -> None:
    """Where every word of the data is markup, it is text on every page, and in the address."""
    snapshot = locate(hostile_directory(tmp_path))
    site = tmp_path / "site"
    from compatkb.web.static import make_site

    write_tree(site, make_site(Site(Asker(Snapshot(snapshot), Clock(DAY)), live=False)), ours=MARK)
    one = watched()
    one.page.on("dialog", lambda dialog: one.complaints.append(dialog.message))
    showing = []
    for path in sorted(site.rglob("*.html")):
        page = one.show(f"{path.as_uri()}{f'?torch={EVIL}' if path.name == 'ask.html' else ''}")
        page.evaluate("() => document.querySelectorAll('details').forEach((node) => { node.open = true; })")
        assert page.locator("img[src=x]").count() == 0, path
        if EVIL in page.locator("main").inner_text():
            showing.append(path.relative_to(site).as_posix())
    assert {"ask.html", "timeline.html", "products/torch.html"} <= set(showing), showing


@pytest.mark.long
def test_hostile_data_show_as_text(tmp_path: Path, watched: Any) -> None:
    """Markup among the real data is text, in the answers and on other pages."""
    data = tmp_path / "data"
    shutil.copytree(ROOT / "data", data, ignore=shutil.ignore_patterns("evidence"))  # which takes longest to read
    for file, old in (("ipex", "LLM runs on several ranks may end"), ("torch", "Prototype: built from source")):
        path = data / "products" / f"{file}.toml"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, EVIL + old), encoding="utf-8")
    path = data / "images" / "intel-extension-for-pytorch.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"2.3.110-xpu"', json.dumps(f"2.3.110-xpu{EVIL}")), encoding="utf-8")
    made = Site(Asker(Snapshot(locate(data)), Clock(DAY)), live=False)
    write_tree(tmp_path / "site", few_files(made), ours=MARK)
    one = watched()
    one.page.on("dialog", lambda dialog: one.complaints.append(dialog.message))
    uri = (tmp_path / "site").as_uri()
    for name in ("xpu/2.4.html", "images.html"):
        page = one.show(f"{uri}/{name}")
        assert EVIL in page.locator("main").inner_text()
        assert page.locator("main img").count() == 0


def test_hostile_address_shows_as_text(live: str, watched: Any) -> None:
    """Markup in an address is text on the page that refuses it."""
    one = watched()
    one.page.on("dialog", lambda dialog: one.complaints.append(dialog.message))
    page = one.show(f"{live}?torch={EVIL}&colour={EVIL}")
    assert "unknown parameter" in page.locator("main").inner_text().lower()
    assert page.locator("main img").count() == 0
    one.complaints[:] = [text for text in one.complaints if "400" not in text]


def test_first_view_is_small(site: Path) -> None:
    """What the first view loads is at most 60 KB compressed, in at most 6 requests."""
    text = (site / "index.html").read_text(encoding="utf-8")
    files = {"index.html", *re.findall(r'(?:<script src|<link rel="\w+" href)="([^"]+)"', text)}
    assert len(files) + 1 <= 6  # the page of the guessed system
    assert sum(len(gzip.compress((site / name).read_bytes(), 9)) for name in files) <= 50_000


def test_questions_at_random_are_read(asker: Asker) -> None:
    """The questions that the tests draw are of every kind."""
    import random

    draw = random.Random(1)
    drawn = [random_question(asker.facts, draw) for _ in range(300)]
    assert {"torch", "python", "os", "hardware", "q", "driver", "ipex"} <= {name for asked in drawn for name, _ in asked}
