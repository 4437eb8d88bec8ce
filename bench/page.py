"""Measure the static site: how long it takes to write, and in Chromium its first view, a change, and the engine.

Uses Playwright and Debian's chromium, and says so where one of them is missing.
"""

import gzip
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from common import ROOT, Figure, Run, environment

from compatkb.core.clock import Clock
from compatkb.errors import UnavailableError
from compatkb.store.cache import locate

ROUNDS = 10
WATCH = (
    "window.shift = 0; new PerformanceObserver((all) => { for (const e of all.getEntries()) window.shift += e.value; }"
    ").observe({ type: 'layout-shift', buffered: true });"
)
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1"
CHANGE = """async () => {
  const link = [...document.querySelectorAll("#row-os + .seg a")].find((a) => a.textContent === "Windows");
  const start = performance.now();
  const drawn = new Promise((done) => new MutationObserver((_, seen) => { seen.disconnect(); done(performance.now()); })
    .observe(document.getElementById("main"), { childList: true }));
  link.click();
  return await drawn - start;
}"""


def measure(run: Run) -> dict[str, Figure]:
    """Return milliseconds, kilobytes and seconds; what needs a browser is left out where there is none."""
    from compatkb.api import KnowledgeBase
    from compatkb.web.static import write_site

    site = run.folder / "site"
    clock = Clock(KnowledgeBase(ROOT / "data").data_date)
    begun = time.process_time()
    try:
        write_site(locate(ROOT / "data"), clock, site)
    except UnavailableError as error:
        print(f"remark: without the engine: {error}", file=sys.stderr)
        write_site(locate(ROOT / "data"), clock, site, engine=False)
    found = {"page: building the site, processor time": Figure(time.process_time() - begun, "s", 30.0)}
    sizes = [path.stat().st_size for path in site.rglob("*") if path.is_file() and path.parts[-3] != "engine"]
    bundle = sum(path.stat().st_size for path in site.glob("assets/bundle-*.zip"))
    found["page: the site without the engine"] = Figure((sum(sizes) - bundle) / 1_000_000, "MB", 28.0)
    found["page: files of the site"] = Figure(len(sizes), "files", 900)
    found["page: building the site, end after Ctrl-C"] = Figure(_end_of_build(run.folder / "never"), "ms", 2000)
    text = (site / "index.html").read_text(encoding="utf-8")
    files = ["index.html", "xpu/linux.html", *re.findall(r'(?:<script src|<link rel="\w+" href)="([^"]+)"', text)]
    size = sum(len(gzip.compress((site / name).read_bytes(), 9)) for name in files) / 1000
    found["page: first view, compressed"] = Figure(size, "KB", 60.0)
    found["page: requests of the first view"] = Figure(len(files), "requests", 6)
    return found | _in_browser(site)


def _end_of_build(folder: Path) -> float:
    """Return the milliseconds that a build takes to end when it is interrupted halfway."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it, and children would too
    command = [sys.executable, "-m", "compatkb", "web", "build", "--no-engine", "--out", os.fspath(folder)]
    with subprocess.Popen(
        command, stderr=subprocess.DEVNULL, env={**environment(), "PYTHONPATH": os.fspath(ROOT / "src")}
    ) as process:
        time.sleep(4)
        begun = time.perf_counter()
        process.send_signal(signal.SIGINT)
        process.wait()
        return (time.perf_counter() - begun) * 1000


def _in_browser(site: Path) -> dict[str, Figure]:
    chromium = os.environ.get("COMPATKB_CHROMIUM") or shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if not chromium:
        print("remark: no chromium or no playwright, so nothing is measured in a browser", file=sys.stderr)
        return {}
    with _served(site) as url, sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        views, changes, shifts = [], [], []
        for number in range(ROUNDS + 1):
            page = running.new_page()
            page.add_init_script(WATCH)
            page.goto(url)
            page.wait_for_function(f"() => ({PAINTED}) >= 0")
            page.wait_for_timeout(400)
            taken = page.evaluate(PAINTED), page.evaluate("window.shift"), page.evaluate(CHANGE)
            if number:
                views.append(taken[0])
                shifts.append(taken[1])
                changes.append(taken[2])
            page.close()
        found = {
            "page: first contentful paint": Figure(statistics.median(views), "ms", 300.0),
            "page: layout shift": Figure(max(shifts), "", 0.05),
            "page: a written answer after a change": Figure(statistics.median(changes), "ms", 50.0),
        }
        if list((site / "engine").glob("*")):
            found |= _engine(running, url, "", None)
            found |= _engine(running, url, ", 20 Mbit/s and CPU/4", 20_000_000 / 8)
        running.close()
    return found


def _engine(browser: Any, url: str, where: str, speed: float | None) -> dict[str, Figure]:
    """Return how long the engine takes to its first answer, and to answers after it."""
    context = browser.new_context()
    page = context.new_page()
    if speed:
        session = context.new_cdp_session(page)
        conditions = {"offline": False, "latency": 20, "downloadThroughput": speed, "uploadThroughput": speed}
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", conditions)
        session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    begun = time.perf_counter()
    page.goto(f"{url}ask.html?device=xpu&torch=2.5.1&python=3.10.4")
    page.wait_for_selector("#says", timeout=300_000)
    ready = time.perf_counter() - begun
    answers = []
    for python in ("3.11", "3.12", "3.11", "3.12", "3.11"):
        begun = time.perf_counter()
        page.locator("#row-python + .seg").get_by_role("link", name=python, exact=True).click()
        page.wait_for_function(f"() => document.title.includes('Python {python}')", timeout=60_000)
        answers.append(time.perf_counter() - begun)
    context.close()
    return {
        f"engine in the browser: first answer{where}": Figure(ready, "s"),
        f"engine in the browser: answer after a change{where}": Figure(statistics.median(answers) * 1000, "ms"),
    }


@contextmanager
def _served(site: Path) -> Iterator[str]:
    import socket

    import uvicorn

    from compatkb.web.server import folder_app

    with socket.create_server(("localhost", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(folder_app(site), log_level="warning", access_log=False, ws="none"))
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        yield f"http://localhost:{listener.getsockname()[1]}/"
        server.should_exit = True
        thread.join()
