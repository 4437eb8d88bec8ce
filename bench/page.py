"""Measure the site in Chromium: first view and answer, medians of 20, and what is loaded, compressed.

Uses Playwright and Debian's chromium, and says so where one of them is missing.
"""

import gzip
import shutil
import statistics
import sys
import threading

from common import ROOT, Figure, Run

from compatkb.api import KnowledgeBase
from compatkb.snapshot.store import locate
from compatkb.web.serving import make_server
from compatkb.web.site import write_site

ROUNDS = 20
FIRST = ("index.html", "style.css", "app.js", "icon.svg", "data/form.js", "data/summary.js")
EXAMPLE = "data/answers/xpu-2.4.js"
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1"
ANSWER = """async (version) => {
  const select = document.querySelector("select[name=python]");
  const start = performance.now();
  const drawn = new Promise((done) => new MutationObserver((_, seen) => { seen.disconnect(); done(performance.now()); })
    .observe(document.getElementById("answer"), { childList: true }));
  select.value = version;
  select.dispatchEvent(new Event("change", { bubbles: true }));
  return await drawn - start;
}"""


def measure(run: Run) -> dict[str, Figure]:
    """Return milliseconds and kilobytes; empty where there is no browser."""
    browser = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        browser = None
    if not browser:
        print("remark: no chromium or no playwright, so the page is not measured", file=sys.stderr)
        return {}
    site = run.folder / "site"
    day = KnowledgeBase(ROOT / "data").data_date
    print("building the site", file=sys.stderr)
    write_site(locate(ROOT / "data"), day, site)
    with make_server(site, "localhost", 0) as server, sync_playwright() as driver:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        running = driver.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        views, answers = [], []
        for number in range(ROUNDS + 1):
            page = running.new_page()
            page.goto(f"http://localhost:{server.server_port}/")
            page.wait_for_function("() => document.documentElement.dataset.shown !== undefined")
            page.wait_for_function(f"() => ({PAINTED}) >= 0")
            taken = page.evaluate(PAINTED), page.evaluate(ANSWER, "3.11")
            if number:
                views.append(taken[0])
                answers.append(taken[1])
            page.close()
        running.close()
        server.shutdown()
    size = sum(len(gzip.compress((site / name).read_bytes(), 9)) for name in (*FIRST, EXAMPLE)) / 1000
    largest = max(len(gzip.compress(path.read_bytes(), 9)) for path in (site / "data" / "answers").glob("*.js")) / 1000
    return {
        "page: first view": Figure(statistics.median(views), "ms", 300.0),
        "page: an answer after a change": Figure(statistics.median(answers), "ms", 50.0),
        "page: first view, compressed": Figure(size, "KB", 150.0),
        "page: largest file of answers, compressed": Figure(largest, "KB"),
    }
