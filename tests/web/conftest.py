"""A live server and a static site of the real data, and a real browser."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from site_of_tests import BROWSER, DAY, PATH, ROOT, Watched, serving

from compatkb.core.atomic_write import write_tree
from compatkb.core.clock import Clock
from compatkb.store.cache import locate
from compatkb.store.reader import Snapshot
from compatkb.web.asker import Asker
from compatkb.web.pages import Site
from compatkb.web.server import folder_app
from compatkb.web.static import MARK, site_files

SHOWN = {"2.8", "2.4", "any", "linux", "windows", "arc-b", "xeon", "py3.12"}
"""The parts of the names of the questions that the site has pages of."""
SHEET = {"xpu", "2.8", "linux", "windows"}
"""The values of the questions that the sheet of the site has."""


@pytest.fixture(scope="session")
def asker() -> Asker:
    """The engine as the site asks it."""
    return Asker(Snapshot(locate(ROOT / "data")), Clock(DAY))


@pytest.fixture(scope="session")
def site(asker: Asker, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a static site with the pages of few questions and of few products; the others have no files."""
    folder = tmp_path_factory.mktemp("web") / "site"
    write_tree(folder, few_files(Site(asker, live=False)), ours=MARK)
    return folder


def few_files(site: Site) -> dict[str, bytes]:
    """Return the files of a site, of answers and releases only some; the sheet, of a thousand answers, has few, too."""
    few = [question for question in site.asker.form.sheet() if SHEET.issuperset(text for _, text in question.parameters())]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(site.asker.form), "sheet", lambda _: iter(few))
        return {path: make().encode() for path, make in site_files(site).items() if _is_shown(path)} | {MARK: b""}


def _is_shown(path: str) -> bool:
    parts = path.removeprefix("api/v1/").split("/")
    if parts[0] == "gpus":
        return parts[-1] in ("arc-b580.html", "data-center-gpu-max-1550.html")
    if parts[0] in ("xpu", "cpu") or (parts[0] in ("answers", "shields") and len(parts) == 3):
        return SHOWN.issuperset(parts[-1].rpartition(".")[0].split("_"))
    if parts[0] in ("products", "releases") and len(parts) == 3:
        return parts[1] in ("torch", "ipex") and parts[2].startswith("2.8")
    return True


@contextmanager
def folder_served(folder: Path) -> Iterator[str]:
    """Serve a folder below a sub-path on this machine, and give its address."""
    with socket.create_server(("localhost", 0)) as listener:
        config = uvicorn.Config(folder_app(folder, at=PATH), log_level="warning", access_log=False, ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        yield f"http://localhost:{listener.getsockname()[1]}{PATH}/"
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """The address of the static site."""
    with folder_served(site) as url:
        yield url


@pytest.fixture(scope="session")
def live() -> Iterator[str]:
    """The address of a live server."""
    with serving() as url:
        yield url


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium."""
    if not BROWSER:
        pytest.fail("no chromium: apt-get install chromium, or name one in COMPATKB_CHROMIUM")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as driver:
        running = driver.chromium.launch(
            executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        yield running
        running.close()


@pytest.fixture
def watched(browser: Any) -> Iterator[Any]:
    """Return a function that makes watched pages; none may complain."""
    made: list[Watched] = []

    def make(**options: Any) -> Watched:
        made.append(Watched(browser, **options))
        return made[-1]

    yield make
    for one in made:
        assert one.complaints == []
        one.context.close()
