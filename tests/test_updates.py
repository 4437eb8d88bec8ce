"""The data channel: an installed program takes newer data, signed, from a server of these tests, whole or not at all."""

import base64
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
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_public_key,
)
from listener import Listener

from compatkb.errors import DataError, UnavailableError, UsageError
from compatkb.store import cache
from compatkb.store.cache import locate
from compatkb.store.connection import FORMAT
from compatkb.store.downloaded_data import FILE, KEYS, PackStatement, pack, update

COMMAND = (sys.executable, "-m", "compatkb")
TODAY = "2031-02-03"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program as it is installed: the package with its compiled data, and no checkout around it."""
    folder = tmp_path_factory.mktemp("installed") / "site-packages"
    shutil.copytree(ROOT / "src" / "compatkb", folder / "compatkb", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "compatkb" / "_data").mkdir()
    shutil.copyfile(locate(ROOT / "data"), folder / "compatkb" / "_data" / "snapshot.sqlite")
    (folder / "compatkb" / "store" / "data_keys.pem").write_bytes(public(Ed25519PrivateKey.generate(), OURS))
    return folder


@pytest.fixture
def environment(program: Path, tmp_path: Path) -> dict[str, str]:
    """What the program is run with: folders of its own."""
    folders = {"COMPATKB_CACHE": str(tmp_path / "cache"), "COMPATKB_UPDATES": str(tmp_path / "updates")}
    return {**os.environ, **folders, "PYTHONPATH": str(program), "COMPATKB_TODAY": TODAY}


def store(day: str) -> bytes:
    """Return the store of the data with another day."""
    content = Path(locate(ROOT / "data")).read_bytes()
    db = sqlite3.connect(":memory:")
    db.deserialize(content)
    with db:
        db.execute("update meta set value = ? where key = 'data_date'", (day,))
    return db.serialize()


OURS, FOREIGN = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()


def public(*keys: Ed25519PrivateKey) -> bytes:
    """Return public keys as the program has them."""
    pems = (key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo) for key in keys)
    return b"".join(pems)


def signed(content: bytes, key: Ed25519PrivateKey = OURS, **other: object) -> bytes:
    """Return the statement about a store, with what is `other` in it than is true, and its signature."""
    day = TODAY
    with contextlib.suppress(sqlite3.Error, TypeError):
        db = sqlite3.connect(":memory:")
        db.deserialize(content)
        (day,) = db.execute("select value from meta where key = 'data_date'").fetchone()
    known: dict[str, Any] = {
        "format": FORMAT, "day": day, "made": f"{TODAY.replace('-', '')}T120000Z", "size": len(content),
        "digest": hashlib.sha256(content).hexdigest(),
    }  # fmt: skip
    text = str(PackStatement(**(known | other))).encode()
    return text + b"signature " + base64.b64encode(key.sign(text)) + b"\n"


class Shelf:
    """What the server has, and how it sends: `cut` bytes of each store are sent, in `pieces` with a rest between."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cut: int | None = None
        self.rest = 0.0
        self.url = ""

    def put(self, content: bytes, name: str = FILE) -> None:
        """Offer a store and its digest."""
        self.files |= {name: content, f"{name}.signed": signed(content)}


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
            sent = (content or b"")[: offered.cut if not self.path.endswith(".signed") else None]
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


def altered(content: bytes, *statements: str) -> bytes:
    """Return a store after some statements."""
    db = sqlite3.connect(":memory:")
    if content:
        db.deserialize(content)
    with db:
        for statement in statements:
            db.execute(statement)
    return db.serialize()


@pytest.mark.long
def test_what_is_refused(environment: dict[str, str], shelf: Shelf, tmp_path: Path) -> None:
    """Signed by somebody in error, yet damaged, foreign, of another format, with more than tables, or without answers."""
    good = store("2031-01-02")
    torn = bytearray(good)
    torn[len(torn) // 2 : len(torn) // 2 + 60_000] = b"\x55" * 60_000
    for content, said in (
        (bytes(torn), "damaged"),
        (b"no database", "no store of compatkb"),
        (altered(good, "delete from cells"), "does not answer"),
        (altered(b"", "create table meta (key, value)"), "no store of compatkb"),
        (altered(good, "update meta set value = '999' where key = 'format'"), "no store of compatkb"),
        (altered(good, "create view endless as select 1"), "no store of compatkb"),
        (altered(good, "create trigger t after insert on meta begin select 1; end"), "no store of compatkb"),
        (altered(good, "alter table meta rename to m", "create view meta as select * from m"), "no store of compatkb"),
        (altered(good, "delete from grid"), "does not answer"),
        (altered(good, "update product set role = 'x'"), "does not answer"),
    ):
        shelf.put(content)
        done = run(environment, "data", "update", "--from", shelf.url)
        assert (done.returncode, done.stdout) == (3, ""), done.stderr
        assert said in done.stderr
        assert "Traceback" not in done.stderr
    shelf.put(good)
    shelf.cut = len(good) // 2
    assert run(environment, "data", "update", "--from", shelf.url).returncode == 5
    assert run(environment, "data", "update", "--from", f"{shelf.url}nothing").returncode == 5
    assert run(environment, "data", "update", "--from", "http://data.example/x").returncode == 2
    assert run(environment, "data", "update").returncode == 2
    assert list(Path(environment["COMPATKB_UPDATES"]).iterdir()) == []


GOOD = "2031-01-02"
FORGERIES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "signed by another key": (lambda good: signed(good, FOREIGN), "signed by no key that this program trusts"),
    "not signed": (lambda good: signed(good).rpartition(b"signature ")[0], "is not signed"),
    "changed after it was signed": (lambda good: signed(good).replace(b"2031-01-02", b"2031-01-03"), "signed by no key"),
    "another signature": (lambda good: signed(good)[:-89] + signed(good, made="20310102T120000Z")[-89:], "signed by no key"),
    "no statement": (lambda _: b"\xff" * 400, "is no statement"),
    "more after it": (lambda good: signed(good) + b"more\n", "is no statement"),
    "without end": (lambda _: b"x" * 5000, "is larger than"),
    "of a day to come": (lambda good: signed(good, day="2999-01-01"), "a day to come"),
    "made in time to come": (lambda good: signed(good, made="29990101T000000Z"), "a day to come"),
    "no day at all": (lambda good: signed(good, day="9999-99-99"), "names a day that is none"),
    "no time at all": (lambda good: signed(good, made="20310102T996061Z"), "names a day that is none"),
    "older": (lambda good: signed(good, day="2001-01-01"), "older than those in use"),
    "of another format": (lambda good: signed(good, format="999"), "has format 999"),
    "of another day than the store": (lambda good: signed(good, day="2031-01-03"), "no store of compatkb"),
    "of another store": (lambda good: signed(good[:-1] + b"!", day=GOOD), "is not the store that was signed"),
    "of a longer store": (lambda good: signed(good + b"!", day=GOOD), "is not the store that was signed"),
    "of a shorter store": (lambda good: signed(good, size=len(good) - 1), "is larger than"),
}


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of updates and a key that is trusted, for what runs in this process."""
    (tmp_path / "keys.pem").write_bytes(public(OURS))
    monkeypatch.setattr("compatkb.store.downloaded_data.KEYS", tmp_path / "keys.pem")
    monkeypatch.setenv("COMPATKB_UPDATES", str(tmp_path / "updates"))
    return tmp_path


def take(source: object) -> Any:
    """Update on the day of these tests, from a store that need not prove anything."""
    return update(str(source), date.fromisoformat(TODAY), lambda _: None)


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_statements_are_refused_with_their_reason(name: str, trusted: Path) -> None:
    """Nothing is kept of it; the statement is judged before the store is opened, which is not even there but where it must."""
    make, said = FORGERIES[name]
    good = store(GOOD)
    path = trusted / FILE
    path.with_name(f"{FILE}.signed").write_bytes(make(good))
    if said in ("no store of compatkb", "is not the store that was signed") or "shorter" in name:
        path.write_bytes(good)
    with pytest.raises(DataError, match=said):
        take(path)
    assert not (trusted / "updates").exists() or list((trusted / "updates").iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes are files on POSIX alone")
def test_what_is_no_file_is_not_waited_for(trusted: Path) -> None:
    """A pipe in the place of the store or of its statement ends the update at once."""
    for name in (FILE, f"{FILE}.signed"):
        (trusted / f"{FILE}.signed").write_bytes(signed(store(GOOD)))
        (trusted / name).unlink(missing_ok=True)
        os.mkfifo(trusted / name)
        with pytest.raises(UsageError, match="no regular file"):
            take(trusted / FILE)


def test_what_was_taken_before_is_not_played_again(trusted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one day the store that was made last stays, whichever comes last."""
    monkeypatch.setattr(cache, "CHECKOUT", str(trusted / "none"))
    monkeypatch.setattr(cache, "BUILT", locate(ROOT / "data"))
    first, second = store(GOOD), altered(store(GOOD), "create table more (x)", "drop table more")
    for name, content, made in (("first", first, "20310102T100000Z"), ("second", second, "20310102T110000Z")):
        (trusted / name).write_bytes(content)
        (trusted / f"{name}.signed").write_bytes(signed(content, made=made))
    assert take(trusted / "second").taken
    with pytest.raises(DataError, match="older than those in use"):
        take(trusted / "first")
    assert not take(trusted / "second").taken


@pytest.mark.long
def test_a_taken_store_that_spoils_gives_way_to_the_built_in_one(environment: dict[str, str], trusted: Path) -> None:
    """One remark, and the answer of the program's own data."""
    own = day_of(environment)
    content = store(GOOD)
    folder = Path(environment["COMPATKB_UPDATES"])
    folder.mkdir()
    spoilt = folder / f"{FORMAT}-{GOOD}-20310102T100000Z-{hashlib.sha256(content).hexdigest()[:16]}.sqlite"
    spoilt.write_bytes(content[:9000])
    done = run(environment, "list", "torch")
    assert done.returncode == 0
    assert "was damaged, so it was removed" in done.stderr
    assert day_of(environment) == own
    assert not spoilt.exists()


def test_the_key_of_the_wheel_is_an_ed25519_key() -> None:
    """Without one every update would be refused."""
    keys = re.findall(rb"-----BEGIN.*?-----END PUBLIC KEY-----", KEYS.read_bytes(), re.DOTALL)
    assert keys
    assert all(isinstance(load_pem_public_key(key), Ed25519PublicKey) for key in keys)


@pytest.mark.long
def test_a_newer_program_is_not_held_back(environment: dict[str, str]) -> None:
    """Data that were taken once and are older than those of the program now are not used."""
    own = day_of(environment)
    folder = Path(environment["COMPATKB_UPDATES"])
    folder.mkdir()
    (folder / f"{FORMAT}-2001-01-01-20010101T000000Z-{'0' * 16}.sqlite").write_bytes(store("2001-01-01"))
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


@pytest.mark.parametrize("by", ["compatkb", pytest.param("openssl", marks=pytest.mark.long)])
def test_packed_store_is_taken(by: str, environment: dict[str, str], tmp_path: Path) -> None:
    """What `data pack` writes is taken once it is signed, by itself or by OpenSSL, whatever the folders are called."""
    target, key = tmp_path / "50%#1" / FILE, tmp_path / "key.pem"
    target.parent.mkdir()
    key.write_bytes(OURS.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    environment["COMPATKB_UPDATES"] = str(target.parent / "updates")
    how = ("--key", str(key)) if by == "compatkb" else ()
    assert run(environment, "data", "pack", "--out", str(target), *how).returncode == 0
    if by == "openssl":
        if not shutil.which("openssl"):
            pytest.skip("no openssl here")
        statement = target.with_name(f"{FILE}.signed")
        assert run(environment, "data", "update", "--from", str(target)).returncode == 3
        sign = ["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", str(key), "-in", str(statement)]
        signature = subprocess.run(sign, check=True, capture_output=True).stdout
        statement.write_bytes(statement.read_bytes() + b"signature " + base64.b64encode(signature) + b"\n")
    assert run(environment, "data", "update", "--from", str(target)).returncode == 0


@pytest.mark.parametrize("content", [b"no key", ec.generate_private_key(ec.SECP256R1()).private_bytes(
    Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())], ids=["no key", "another kind"])  # fmt: skip
def test_a_file_that_is_no_ed25519_key_signs_nothing(content: bytes, tmp_path: Path) -> None:
    """Nothing is written."""
    (tmp_path / "key.pem").write_bytes(content)
    with pytest.raises(UsageError, match=r"key\.pem: is no"):
        pack(str(ROOT / "data"), tmp_path / FILE, datetime.now(UTC), tmp_path / "key.pem")
    assert not (tmp_path / FILE).exists()


def test_what_is_cut_short_is_not_taken(trusted: Path, shelf: Shelf) -> None:
    """An answer that ends early is refused for that; a whole one is taken."""
    shelf.put(store("2031-01-01"))
    shelf.cut = 1000
    with pytest.raises(UnavailableError):
        take(shelf.url)
    shelf.cut = None
    assert take(shelf.url).taken


def test_the_newest_update_counts_unless_the_program_is_newer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed program answers from the last day that it took, and from its own data where those are newer still."""
    monkeypatch.setenv("COMPATKB_UPDATES", str(tmp_path))
    monkeypatch.setattr(cache, "CHECKOUT", str(tmp_path / "none"))
    monkeypatch.setattr(cache, "BUILT", str(tmp_path / "built.sqlite"))
    taken = [tmp_path / f"{FORMAT}-{day}-20310101T000000Z-0123456789abcdef.sqlite" for day in ("2030-01-01", "2031-01-01")]
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
        take(place)
