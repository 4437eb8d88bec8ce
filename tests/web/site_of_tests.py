"""What the tests of the site share: questions at random, a server in a process of its own, a page that is watched."""

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from compatkb.headline_options import HEADLINES
from compatkb.store.reader import Snapshot
from compatkb.web.systems import FormValues

ROOT = Path(__file__).resolve().parent.parent.parent
DAY = date(2026, 11, 22)
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")
"""The first is the same browser without windows: it takes half the processor time."""
BROWSER = os.environ.get("COMPATKB_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), "")
PATH = "/deep/path"
Parameters = list[tuple[str, str]]


@contextmanager
def serving(*words: str) -> Iterator[str]:
    """Run `compatkb web serve` with these words, and give its address; Ctrl-C ends it and its workers without a traceback."""
    command = [sys.executable, "-m", "compatkb", "web", "serve", "--port", "0", *words]
    environment = {**os.environ, "COMPATKB_TODAY": DAY.isoformat()}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True) as process:
        assert process.stderr
        try:
            yield process.stderr.readline().split()[0]
        finally:  # leaving the block waits for the server, for ever where nobody ends it
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        process.wait(timeout=30)
        assert "Traceback" not in process.stderr.read()


def random_question(facts: Snapshot, draw: random.Random) -> Parameters:
    """Return the parameters of a question that may be about anything: any product, patches, several pins."""
    found: Parameters = []
    form = FormValues(facts)
    if draw.random() < 0.85:
        found.append(("device", draw.choice([value.id for value in form.devices])))
    main = form.main
    for _, _, product, _ in HEADLINES:
        likely = {main: 0.75, "python": 0.55, "os": 0.4, "hardware": 0.2}.get(product, 0.05)
        if product in facts.products and draw.random() < likely:
            found.append((product, _version(facts, product, draw)))
    if draw.random() < 0.15:
        others = [p.id for p in facts.products.values() if p.role in ("package", "companion", "leaf") and p.size]
        product = draw.choice(others)
        version = draw.choice(facts.elements(product)).version
        found.append(("q", draw.choice([product, f"{product}=={version}", f"{product}>={version.split('+')[0]}"])))
    names = {product: option.removeprefix("--") for option, _, product, _ in HEADLINES}
    return [(names.get(name, name), text) for name, text in found]


def _version(facts: Snapshot, product: str, draw: random.Random) -> str:
    element = draw.choice(facts.elements(product))
    if product == "python":
        return draw.choice([element.version, element.version, f"{element.version.rstrip('t')}.{draw.randrange(9)}"])
    depth = facts.products[product].series
    series = ".".join(element.release.split(".")[:depth]) if depth else element.release
    return draw.choice([series, series, element.release, element.version])


def words_of(parameters: Parameters) -> list[str]:
    """Return parameters as the words of the command line."""
    found = []
    for name, text in parameters:
        found += [text] if name == "q" else [f"--{name}", text]
    return found


class Watched:
    """A page that keeps what it complains of, and what it asks for."""

    def __init__(self, browser: Any, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def show(self, url: str) -> Any:
        """Open a page and wait until its script has run."""
        self.page.goto(url)
        self.page.wait_for_function("() => document.documentElement.dataset.ready !== undefined")
        return self.page
