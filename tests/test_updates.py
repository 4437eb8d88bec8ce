"""The data channel: an installed program takes newer data from a server of these tests, whole or not at all."""

import contextlib
import hashlib
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from listener import Listener

from compatkb.errors import DataError, UnavailableError, UsageError
from compatkb.store import cache
from compatkb.store.cache import locate
from compatkb.store.connection import FORMAT
from compatkb.store.downloaded_data import FILE, update

COMMAND = (sys.executable, "-m", "compatkb")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program as it is installed: the package with its compiled data, and no checkout around it."""
    folder = tmp_path_factory.mktemp("installed") / "site-packages"
    shutil.copytree(ROOT / "src" / "compatkb", folder / "compatkb", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "compatkb" / "_data").mkdir()
    shutil.copyfile(locate(ROOT / "data"), folder / "compatkb" / "_data" / "snapshot.sqlite")
    return folder


@pytest.fixture
def environment(program: Path, tmp_path: Path) -> dict[str, str]:
    """What the program is run with: folders of its own."""
    folders = {"COMPATKB_CACHE": str(tmp_path / "cache"), "COMPATKB_UPDATES": str(tmp_path / "updates")}
    return {**os.environ, **folders, "PYTHONPATH": str(program)}


def store(day: str) -> bytes:
    """Return the store of the data with another day."""
    content = Path(locate(ROOT / "data")).read_bytes()
    db = sqlite3.connect(":memory:")
    db.deserialize(content)
    with db:
        db.execute("update meta set value = ? where key = 'data_date'", (day,))
    return db.serialize()


def sums(content: bytes) -> bytes:
    """Return the digest of a store as `sha256sum` writes it."""
    return f"{hashlib.sha256(content).hexdigest()}  {FILE}\n".encode()


class Shelf:
    """What the server has, and how it sends: `cut` bytes of each store are sent, in `pieces` with a rest between."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cut: int | None = None
        self.rest = 0.0
        self.url = ""

    def put(self, content: bytes, name: str = FILE) -> None:
        """Offer a store and its digest."""
        self.files |= {name: content, f"{name}.sha256": sums(content)}


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    """A server on the loopback interface."""
    offered = Shelf()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = offered.files.get(self.path.lstrip("/"))
            self.send_response(200 if content is not None else 404)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            sent = (content or b"")[: offered.cut if not self.path.endswith(".sha256") else None]
            for start in range(0, len(sent), 1 << 20):
                self.wfile.write(sent[start : start + (1 << 20)])
                time.sleep(offered.rest)

        def log_message(self, *_: Any) -> None:
            pass

    with Listener(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        offered.url = f"http://127.0.0.1:{server.server_port}/"
        yield offered
        server.shutdown()


def run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """Run the program."""
    return subprocess.run([*COMMAND, *words], env=environment, capture_output=True, text=True, check=False)


def day_of(environment: dict[str, str], *words: str) -> str:
    """Return the day of the data that the program answers from."""
    done = run(environment, "list", "torch", "--format", "json", *words)
    assert done.returncode == 0, done.stderr
    found = re.search(r'"data_date": "(.*)"', done.stdout)
    assert found
    return found[1]


@pytest.mark.long
def test_old_program_takes_newer_data(environment: dict[str, str], shelf: Shelf) -> None:
    """It answers from them, says so in --version, returns to its own with --data builtin, and takes them once."""
    own = day_of(environment)
    shelf.put(store("2031-01-02"))
    done = run(environment, "data", "update", "--from", shelf.url)
    assert (done.returncode, done.stdout) == (0, "")
    assert "data of 2031-01-02" in done.stderr
    assert day_of(environment) == "2031-01-02"
    assert "data of 2031-01-02, taken by" in run(environment, "--version").stdout
    assert day_of(environment, "--data", "builtin") == own
    again = run(environment, "data", "update", "--from", f"{shelf.url}{FILE}")
    assert (again.returncode, "nothing newer" in again.stderr) == (0, True)


def test_what_is_refused(environment: dict[str, str], shelf: Shelf, tmp_path: Path) -> None:
    """Damaged, foreign, older and half-written stores, other formats, hosts without TLS: one line each, nothing taken."""
    good = store("2031-01-02")
    torn = bytearray(good)
    torn[len(torn) // 2 : len(torn) // 2 + 60_000] = b"\x55" * 60_000
    other = sqlite3.connect(":memory:")
    other.execute("create table meta (key, value)")
    format_of = sqlite3.connect(":memory:")
    format_of.deserialize(good)
    with format_of:
        format_of.execute("update meta set value = '999' where key = 'format'")
    for content, said in (
        (bytes(torn), "damaged"),
        (b"no database", "no compiled knowledge base"),
        (other.serialize(), "has format None"),
        (format_of.serialize(), "has format 999"),
        (store("2001-01-01"), "older than those in use"),
    ):
        shelf.put(content)
        done = run(environment, "data", "update", "--from", shelf.url)
        assert (done.returncode, done.stdout) == (3, ""), done.stderr
        assert said in done.stderr
        assert "Traceback" not in done.stderr
    shelf.files = {FILE: good, f"{FILE}.sha256": sums(good + b"!")}
    assert "not what its digest says" in run(environment, "data", "update", "--from", shelf.url).stderr
    shelf.put(good)
    shelf.cut = len(good) // 2
    assert run(environment, "data", "update", "--from", shelf.url).returncode == 5
    half = tmp_path / FILE
    half.write_bytes(good[: len(good) // 2])
    half.with_name(f"{FILE}.sha256").write_bytes(sums(good))
    assert run(environment, "data", "update", "--from", str(half)).returncode == 3
    assert run(environment, "data", "update", "--from", f"{shelf.url}nothing").returncode == 5
    assert run(environment, "data", "update", "--from", "http://data.example/x").returncode == 2
    assert run(environment, "data", "update").returncode == 2
    assert list(Path(environment["COMPATKB_UPDATES"]).glob("*.sqlite")) == []


def test_a_newer_program_is_not_held_back(environment: dict[str, str]) -> None:
    """Data that were taken once and are older than those of the program now are not used."""
    own = day_of(environment)
    folder = Path(environment["COMPATKB_UPDATES"])
    folder.mkdir()
    (folder / f"{FORMAT}-2001-01-01-{'0' * 16}.sqlite").write_bytes(store("2001-01-01"))
    assert day_of(environment) == own


@pytest.mark.long
def test_two_updates_side_by_side(environment: dict[str, str], shelf: Shelf) -> None:
    """Whichever ends last, the newer data are used."""
    shelf.put(store("2031-01-02"), "older.sqlite")
    shelf.put(store("2031-02-03"), "newer.sqlite")
    shelf.rest = 0.05
    for first, second in (("older", "newer"), ("newer", "older")):
        running = [
            subprocess.Popen(
                [*COMMAND, "data", "update", "--from", f"{shelf.url}{name}.sqlite"], env=environment, stderr=subprocess.DEVNULL
            )
            for name in (first, second)
        ]
        assert all(each.wait() in (0, 3) for each in running)
        assert day_of(environment) == "2031-02-03"


@pytest.mark.long
@pytest.mark.parametrize("tries", [4, pytest.param(40, marks=pytest.mark.soak)])
def test_killed_on_the_way(environment: dict[str, str], shelf: Shelf, tries: int) -> None:
    """Killed at any moment, the program answers from the data before or from the new ones, and the next update succeeds."""
    own = day_of(environment)
    shelf.put(store("2031-01-02"))
    shelf.rest = 0.03
    for number in range(tries):
        with subprocess.Popen([*COMMAND, "data", "update", "--from", shelf.url], env=environment) as running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(0.25 + 0.6 * number / tries)
            running.send_signal(signal.SIGKILL)
        assert day_of(environment) in (own, "2031-01-02")
    assert run(environment, "data", "update", "--from", shelf.url).returncode == 0
    assert day_of(environment) == "2031-01-02"


def test_packed_store_is_taken(environment: dict[str, str], tmp_path: Path) -> None:
    """What `data pack` writes has its digest beside it, and `data update` takes it, whatever the folders are called."""
    target = tmp_path / "50%#1" / FILE
    target.parent.mkdir()
    environment["COMPATKB_UPDATES"] = str(target.parent / "updates")
    assert run(environment, "data", "pack", "--out", str(target)).returncode == 0
    assert target.with_name(f"{FILE}.sha256").read_bytes() == sums(target.read_bytes())
    assert run(environment, "data", "update", "--from", str(target)).returncode == 0


def test_nothing_is_left_of_what_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that is older than the data in use is refused and leaves no file; a newer one is taken once."""
    monkeypatch.setenv("COMPATKB_UPDATES", str(tmp_path / "updates"))
    for day in ("2020-01-01", "2099-01-01"):
        (tmp_path / day).mkdir()
        content = store(day)
        (tmp_path / day / FILE).write_bytes(content)
        (tmp_path / day / f"{FILE}.sha256").write_bytes(sums(content))
    with pytest.raises(DataError, match="older than those in use"):
        update(str(tmp_path / "2020-01-01" / FILE))
    assert list((tmp_path / "updates").iterdir()) == []
    assert [update(str(tmp_path / "2099-01-01" / FILE)).taken for _ in range(2)] == [True, False]
    assert [path.name.partition("-2099-01-01-")[0] for path in (tmp_path / "updates").iterdir()] == [str(FORMAT)]


def test_what_is_cut_short_or_damaged_is_not_taken(tmp_path: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that ends early is refused for that, a store whose pages are wrong as damaged; a whole one is taken."""
    monkeypatch.setenv("COMPATKB_UPDATES", str(tmp_path / "updates"))
    shelf.put(store("2099-01-01"))
    shelf.cut = 1000
    with pytest.raises(UnavailableError):
        update(shelf.url)
    shelf.cut = None
    whole = store("2099-01-01")
    shelf.put(whole[: len(whole) // 2] + bytes(len(whole) - len(whole) // 2))
    with pytest.raises(DataError, match=r"is damaged, or no store|is malformed"):
        update(shelf.url)
    shelf.put(store("2099-01-01"))
    assert update(shelf.url).taken


def test_the_newest_update_counts_unless_the_program_is_newer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed program answers from the last day that it took, and from its own data where those are newer still."""
    monkeypatch.setenv("COMPATKB_UPDATES", str(tmp_path))
    monkeypatch.setattr(cache, "CHECKOUT", str(tmp_path / "none"))
    monkeypatch.setattr(cache, "BUILT", str(tmp_path / "built.sqlite"))
    taken = [tmp_path / f"{FORMAT}-{day}-0123456789abcdef.sqlite" for day in ("2030-01-01", "2031-01-01")]
    for path in taken:
        path.write_bytes(store(path.name.partition("-")[2][:10]))
    assert locate() == str(taken[1])
    for day, used in (("2030-06-01", str(taken[1])), ("2031-06-01", cache.BUILT)):
        (tmp_path / "built.sqlite").write_bytes(store(day))
        assert locate() == used


@pytest.mark.parametrize(("place", "error"), [("http://a.example/", UsageError), ("https://127.0.0.1:1/", UnavailableError)])
def test_data_from_elsewhere_come_over_https(place: str, error: type[Exception]) -> None:
    """What anybody on the way could change is not asked for; what is asked for may be out of reach."""
    with pytest.raises(error):
        update(place)
