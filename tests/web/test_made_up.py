"""Data of others: what a maker that nobody knows adds to the data is served like the rest, without a line of code."""

import json
from pathlib import Path

import httpx
import pytest
from builders import build, data_directory, platform, product, release, route
from site_of_tests import DAY, serving

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
    torch = product("torch", releases=[release("2.8.0", build=builds)], distribution="torch", series=2)
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
