"""What the tests of the site share: which part of the real data it shows, and a page that is watched."""

import json
import os
import shutil
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
DAY = date(2026, 11, 21)
WHOLE = bool(os.environ.get("COMPATKB_WHOLE_SITE"))
"""Whether to test the site of all series, which takes minutes to build; `make soak-web` does."""
SHEETS = () if WHOLE else (("xpu", "2.4"), ("xpu", "2.8"))
MORE = () if WHOLE else (("xpu", ""), *SHEETS, ("cpu", "2.4"))
"""With another device, and no series in particular, of which the answers take longest to work out."""
SERIES = () if WHOLE else ("2.8", "2.4")
"""One series that works, and one that has no stack on one device."""
BROWSER = os.environ.get("COMPATKB_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or ""


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
        """Open a page and wait until the answer is drawn, where there is one."""
        self.page.goto("about:blank")
        self.page.goto(url)
        if self.page.locator("#form").count():
            self.page.wait_for_function("() => document.documentElement.dataset.shown !== undefined")
        return self.page


def canonical(content: Any) -> str:
    """Return content as JSON that the page can make, too."""
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
