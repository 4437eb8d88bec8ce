"""Data of others: what a maker that nobody knows adds to the data is served like the rest, without a line of code."""

import io
import json
import re
from pathlib import Path

import httpx
import pytest
from builders import build, data_directory, platform, product, release, route
from PIL import Image
from site_of_tests import DAY, serving

from compatkb.cli import main
from compatkb.core.clock import Clock
from compatkb.store.cache import locate
from compatkb.store.reader import Snapshot
from compatkb.web.asker import Asker
from compatkb.web.pages import Site
from compatkb.web.static import make_site


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with a device, a card and builds of torch of a made-up maker."""
    builds = [build("2.8.0+zpu", devices=["zpu"], channels=["extra"]), build("2.8.0+cpu", devices=["cpu"])]
    torch = product("torch", releases=[release("2.8.0", on=None, build=builds)], distribution="torch", series=2)
    listed = {"role": "dimension", "scheme": "listed"}
    device = product("device", releases=[{**_named("zpu", "Zeta ZPU")}, _named("cpu", "CPU")], **listed)
    card = product("hardware", releases=[{**_named("zeta-9", "Zeta 9 <card>"), "devices": ["zpu"]}], **listed)
    dimensions = [*(part for part in platform() if part["product"]["id"] != "device"), device, card]
    routes = [route(device=["zpu", "cpu"])]
    return data_directory(tmp_path_factory.mktemp("made-up") / "data", [torch], dimensions=dimensions, routes=routes)


def _named(version: str, name: str) -> dict[str, object]:
    return {"version": version, "name": name, "sources": ["page"]}


def test_the_server_answers_for_a_new_maker(data: Path) -> None:
    """The device is a button, its card a choice, and the answer the command line's."""
    with serving("--data", str(data)) as url, httpx.Client(base_url=url, timeout=60) as client:  # the first question compiles
        page = client.get("", params={"device": "zpu", "torch": "2.8"}).text
        answer = client.get("api/v1/resolve", params={"device": "zpu", "torch": "2.8"}).json()
        card = client.get("", params={"hardware": "Zeta 9 <card>"}).text
    assert "torch 2.8.0+zpu on Zeta ZPU" in page
    assert "Zeta 9 &lt;card&gt;" in page
    assert "<card>" not in page + card
    assert answer["stacks"][0]["packages"]["torch"] == "2.8.0+zpu"
    assert "Zeta 9 &lt;card&gt;" in card


def test_the_static_site_has_pages_for_a_new_maker(data: Path) -> None:
    """Its device has pages of its own, in the pages and in the API."""
    files = make_site(Site(Asker(Snapshot(locate(data)), Clock(DAY)), live=False))
    assert "torch 2.8.0+zpu on Zeta ZPU" in files["zpu/2.8.html"].decode()
    assert "Zeta 9 &lt;card&gt;" in files["zpu/zeta-9.html"].decode()
    assert "Zeta ZPU" in files["matrix.html"].decode()
    assert json.loads(files["api/v1/answers/zpu/2.8.json"])["request"]["devices"] == ["zpu"]


def test_pages_at_a_known_address_name_it_and_bring_a_picture(data: Path) -> None:
    """Each page names its address and a picture that is there; search engines get a list of the pages; others name none."""
    site = Site(Asker(Snapshot(locate(data)), Clock(DAY)), live=False, url="https://example.org/a b")
    files = make_site(site)
    listed = re.findall(r"<loc>(.*?)</loc>", files["sitemap.xml"].decode())
    assert "https://example.org/a b/" in listed
    assert not any("ask.html" in page for page in listed)
    assert len(listed) == sum(path.endswith(".html") and path != "ask.html" for path in files)
    gpu = next(path for path in files if path.startswith("gpus/"))
    for path in ("zpu/2.8.html", gpu):
        page = files[path].decode()
        assert f'<link rel="canonical" href="https://example.org/a b/{path}">' in page
        pictured = re.search(r'property="og:image" content="https://example\.org/a b/(.*?)"', page)
        assert pictured
        with Image.open(io.BytesIO(files[pictured[1]])) as image:
            assert (image.format, image.size) == ("PNG", (1200, 630))
    assert "canonical" not in files["ask.html"].decode()
    without = make_site(Site(Asker(Snapshot(locate(data)), Clock(DAY)), live=False))
    assert not [path for path in without if path.endswith((".png", ".xml"))]
    assert b"canonical" not in without["index.html"]


@pytest.mark.parametrize("url", ["example.org/compatkb", "ftp://example.org/", "https:///x", "https://example.org/?a=b"])
def test_what_is_no_address_of_a_site_is_refused(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An address without a scheme of the web or a host, or with a query, is named; nothing is written."""
    with pytest.raises(SystemExit) as ended:
        main(["web", "build", "--url", url, "--out", str(tmp_path / "site")])
    assert ended.value.code == 2
    assert url in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
