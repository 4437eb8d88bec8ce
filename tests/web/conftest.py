"""A site of the real data in a real browser: some series, and all that they can be asked with."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from site_of_tests import BROWSER, DAY, MORE, ROOT, SERIES, SHEETS, WHOLE, Watched

from compatkb.snapshot.read import Snapshot
from compatkb.snapshot.store import locate
from compatkb.web.questions import Form
from compatkb.web.serving import make_server
from compatkb.web.site import make_site
from compatkb.web.working import work_out
from compatkb.writing import write_tree


@pytest.fixture(scope="session")
def form() -> Form:
    """The form that the site offers."""
    return Form(Snapshot(locate(ROOT / "data")), DAY, SERIES)


@pytest.fixture(scope="session")
def sheets() -> dict[str, str]:
    """The answers that the site holds."""
    jobs = 2 if WHOLE else 1  # one process shares the searches of few
    return work_out(locate(ROOT / "data"), DAY, series=SERIES, names=SHEETS, jobs=jobs)


@pytest.fixture(scope="session")
def site(form: Form, sheets: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site."""
    folder = tmp_path_factory.mktemp("web") / "site"
    write_tree(folder, make_site(form, sheets), ours="data/form.js")
    return folder


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Serve a site below a sub-path of a server on this machine, and give its address."""
    with make_server(site, "localhost", 0, at="/deep/path") as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield f"http://localhost:{server.server_port}/deep/path/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """The address of the site."""
    with served(site) as url:
        yield url


@pytest.fixture(scope="session")
def more(form: Form, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a site with more answers."""
    folder = tmp_path_factory.mktemp("more") / "site"
    sheets = work_out(locate(ROOT / "data"), DAY, series=SERIES, names=MORE)
    write_tree(folder, make_site(form, sheets), ours="data/form.js")
    with served(folder) as url:
        yield url


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium."""
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
