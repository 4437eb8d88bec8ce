"""The live server: the command line's answers over HTTP, for programs that behave and for those that do not."""

import asyncio
import contextlib
import gzip
import json
import os
import random
import re
import signal
import socket
import string
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
import uvicorn
from site_of_tests import DAY, ROOT, Parameters, random_question, serving, words_of

from compatkb.cli import main
from compatkb.web.asker import Asker
from compatkb.web.server import Connection, listen

QUICK, MANY = 30, int(os.environ.get("COMPATKB_SOAK", "200"))
"""Questions of a quick run, and of a long one; `make soak-web` asks 2,000."""
FUZZED, FUZZED_LONG = 400, 10_000


@pytest.fixture(scope="session")
def client(live: str) -> Any:
    """A client of the server."""
    with httpx.Client(base_url=live, timeout=20) as made:
        yield made


def printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Return the exit code and the output of the command line."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    told = capsys.readouterr()
    return int(ended.value.code or 0), told.out, told.err


@pytest.mark.parametrize("count", [QUICK, pytest.param(MANY, marks=pytest.mark.soak)])
def test_answers_are_those_of_the_command_line(
    asker: Asker, client: Any, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """To any question the server says to the letter what `resolve --format json` prints, and refuses what it refuses."""
    monkeypatch.setenv("COMPATKB_TODAY", DAY.isoformat())
    draw = random.Random(18)
    seen: dict[str, int] = {}
    for _ in range(count):
        asked = random_question(asker.facts, draw)
        if not asked:  # then the command line answers for the machine that it runs on, which a server does not know
            continue
        reply = client.get("api/v1/resolve", params=asked)
        code, out, err = run("resolve", *words_of(asked), "--format", "json")
        if reply.status_code == 503 or (reply.status_code == 200 and reply.json()["gave_up"]):
            # it gives up sooner than the command line, and says so
            seen["gave up"] = seen.get("gave up", 0) + 1
        elif code == 2:
            assert reply.status_code == 400, asked
            assert reply.json()["detail"] in err.removeprefix("error: ").replace("\nerror: ", "\n")
        else:
            assert reply.text == out, asked
            verdict = reply.json()["verdict"]
            seen[verdict] = seen.get(verdict, 0) + 1
    print(seen)
    assert {"works", "does-not-work"} <= set(seen), seen
    assert seen.get("gave up", 0) <= max(count / 20, 2)  # on a busy machine


CALLS: list[tuple[str, Parameters, list[str]]] = [
    ("explain", [("q", "torch==2.7.1 ipex==2.8.0")], ["explain", "torch==2.7.1", "ipex==2.8.0"]),
    ("explain", [("q", "torch==2.8.0"), ("device", "xpu")], ["explain", "torch==2.8.0", "--device", "xpu"]),
    ("show", [("product", "torch")], ["show", "torch"]),
    ("show", [("product", "ipex"), ("version", "2.8.10")], ["show", "ipex", "2.8.10"]),
    ("show", [("product", "intel/intel-extension-for-pytorch")], ["show", "intel/intel-extension-for-pytorch"]),
    ("eol", [], ["eol"]),
    ("eol", [("within", "2y"), ("product", "python")], ["eol", "python", "--within", "2y"]),
    ("search", [("q", "arc b580"), ("limit", "3")], ["search", "arc", "b580", "--limit", "3"]),
    ("resolve", [("torch", "2.8"), ("as-of", "2026-01-05")], ["resolve", "--torch", "2.8", "--as-of", "2026-01-05"]),
    ("resolve", [("torch", "2.8"), ("why", "1")], ["resolve", "--torch", "2.8", "--why"]),
]  # fmt: skip


@pytest.mark.parametrize(("call", "asked", "words"), CALLS, ids=lambda value: value if isinstance(value, str) else "")
def test_every_call_says_what_its_command_prints(
    client: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    call: str,
    asked: Parameters,
    words: list[str],
) -> None:
    """Each call is the command of its name."""
    monkeypatch.setenv("COMPATKB_TODAY", DAY.isoformat())
    _, out, _ = printed([*words, "--format", "json"], capsys)
    reply = client.get(f"api/v1/{call}", params=asked)
    assert (reply.status_code, reply.text) == (200, out)


def test_problems_are_documents(client: Any) -> None:
    """What is wrong is told as RFC 9457 has it: each wrong parameter is named, none is dropped."""
    wrong = client.get("api/v1/resolve", params={"torhc": "2.8", "torch": "2.8", "python": "three"})
    assert wrong.status_code == 400
    assert wrong.headers["content-type"] == "application/problem+json"
    assert wrong.json()["status"] == 400
    assert "torhc" in wrong.json()["detail"]
    two = client.get("api/v1/resolve", params={"os": "plan9", "python": "three"}).json()
    assert len(two["problems"]) == 2
    for path, status in (
        ("api/v1/nothing", 404),
        ("../etc/passwd", 404),
        ("a" * 500, 414),
        ("api/v1/resolve?q=" + "a" * 5000, 414),
    ):
        assert client.get(path).status_code == status, path
    assert client.get("api/v1/resolve", params={"q": "torch==2.8.0 'open"}).status_code == 400


def test_only_get(client: Any) -> None:
    """No other method is answered."""
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        reply = client.request(method, "api/v1/resolve?torch=2.8")
        assert (reply.status_code, reply.headers["allow"]) == (405, "GET, HEAD")
    assert client.head("api/v1/resolve?torch=2.8&device=xpu").status_code == 200


def test_headers(client: Any) -> None:
    """Anyone may read; what has not changed is not sent again; what is long is compressed; nothing tells what runs here."""
    first = client.get("api/v1/resolve?torch=2.8&device=xpu")
    assert first.headers["access-control-allow-origin"] == "*"
    assert first.headers["content-encoding"] == "gzip"
    assert "server" not in first.headers
    again = client.get("api/v1/resolve?torch=2.8&device=xpu", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    with client.stream("GET", "", headers={"accept-encoding": "gzip"}) as page:
        raw = b"".join(page.iter_raw())
    assert b"<h1" in gzip.decompress(raw)
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_every_page_and_file_is_there(client: Any) -> None:
    """The server shows the pages of the catalogue and the files of the API too, each of a site that is live."""
    for path in (
        "",
        "products.html",
        "products/torch.html",
        "images.html",
        "api/v1/products.json",
        "api/v1/latest/torch.json",
        "eol.ics",
    ):
        assert client.get(path).status_code == 200, path
    assert "ask.html" not in client.get("").text
    assert client.get("api/v1/shield?torch=2.4&device=xpu").json()["color"] == "red"


def test_questions_in_words(client: Any) -> None:
    """The page takes what people type; what it does not understand it sets aside, with what the data have of it."""
    page = client.get("", params={"q": "torch==2.8.0", "device": "xpu"})
    assert "torch 2.8.0+xpu on Intel GPU" in page.text
    wrong = client.get("", params={"q": "granite"})
    assert "Granite Rapids" in wrong.text
    both = client.get("", params={"q": "B580 sdxl win 3.12"}).text
    assert "B580, Windows, Python 3.12" in both
    assert "“sdxl” is not a package" in both


@pytest.mark.long
@pytest.mark.parametrize("count", [FUZZED, pytest.param(FUZZED_LONG, marks=pytest.mark.soak)])
def test_hostile_requests(live: str, count: int) -> None:
    """Whatever is sent, the answer is a page or a problem: no traceback, no path of the machine, no failure."""
    draw = random.Random(count)
    names = ["torch", "device", "python", "os", "hardware", "q", "needs", "route", "as-of", "why", "driver", "x", "torch "]
    pieces = [
        *("2.8", "xpu", "3.12", ">=2", "==", "<img src=x onerror=alert(1)>", "../../etc/passwd", "\0", "'", '"', "%", "${x}"),
        *("a" * 300, "٣.١٢", "2026-02-30", "0001-01-01", "9" * 40, "1!2.8", "*", "torch==2.8.*", "2.8.0+xpu", "\ud7ff", "-1"),
        *(" ", "\n", "{{7*7}}"),
    ]
    paths = [
        "",
        "api/v1/resolve",
        "api/v1/explain",
        "api/v1/show",
        "api/v1/eol",
        "api/v1/search",
        "api/v1/shield",
        "products/x.html",
    ]
    with httpx.Client(base_url=live, timeout=10) as client:
        for _ in range(count):
            asked = [(draw.choice(names), _text(draw, pieces)) for _ in range(draw.randrange(5))]
            path = draw.choice(paths) if draw.random() < 0.9 else _text(draw, pieces).replace("#", "").replace("?", "")[:80]
            url = f"{live}{path.lstrip('/')}?{urlencode(asked, errors='replace')}" if path in paths else live
            reply = client.get(url)
            assert reply.status_code in (200, 400, 404, 414, 503), (path, asked)
            assert "Traceback" not in reply.text, (path, asked)
            assert str(ROOT) not in reply.text, (path, asked)
            assert "<img src=x" not in reply.text or reply.headers["content-type"].endswith("json"), (path, asked)
            if reply.headers["content-type"].endswith("json"):
                json.loads(reply.text)


def _text(draw: random.Random, pieces: list[str]) -> str:
    if draw.random() < 0.2:
        return "".join(draw.choice(string.printable) for _ in range(draw.randrange(60)))
    return "".join(draw.choice(pieces) for _ in range(draw.randrange(1, 4)))


def test_raw_bytes(live: str) -> None:
    """What is no HTTP at all ends the connection, not the server."""
    import socket

    host, port = live.split("/")[2].split(":")
    for sent in (
        b"\0\1\2\r\n\r\n",
        b"GET " + b"/" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"GET /?%ff%fe=%80 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"",
    ):
        with socket.create_connection((host, int(port)), timeout=5) as link:
            link.sendall(sent)
            link.shutdown(socket.SHUT_WR)
            reply = link.recv(100_000)
            assert not sent or reply.startswith(b"HTTP/1.1 4"), (sent[:20], reply[:60])
    assert httpx.get(f"{live}api/v1/eol", timeout=60).status_code == 200


@pytest.mark.parametrize(
    "seconds",
    [
        0.0,
        pytest.param(0.2, marks=pytest.mark.long),
        *(pytest.param(late, marks=pytest.mark.soak) for late in (0.02, 0.1, 0.4)),
    ],
)
def test_ends_at_once(seconds: float) -> None:
    """Ctrl-C ends the server, also before its first answer; `make bench` measures how soon."""
    with serving():
        time.sleep(seconds)


def worked(process: subprocess.Popen[str]) -> float:
    """Return how many seconds of processor time a process took, which a busy machine does not change."""
    fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.long
@pytest.mark.parametrize("seconds", [1.0, pytest.param(3.0, marks=pytest.mark.long)])
def test_a_build_ends_at_once(tmp_path: Path, seconds: float) -> None:
    """Ctrl-C ends a build without a word, and leaves nothing behind; `make bench` measures how soon."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it, and children would too
    command = [sys.executable, "-m", "compatkb", "web", "build", "--no-engine", "--out", os.fspath(tmp_path / "site")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and worked(process) < seconds:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    said = [line for line in told.splitlines() if not line.startswith("pages: ")]  # how far a slow machine had come
    assert (process.returncode, said, list(tmp_path.iterdir())) == (130, [], [])


@pytest.mark.long
def test_a_folder_can_be_shown(site: Any) -> None:
    """`--dir` shows a site that was written."""
    with serving("--dir", os.fspath(site)) as url:
        assert "Map" in httpx.get(url, timeout=60).text
        assert httpx.get(f"{url}nothing.html", timeout=60).status_code == 404


MUCH = 1000


def _asked(link: socket.socket) -> bool:
    """Return whether a request on a connection is answered."""
    link.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    reply = b""
    while not reply.endswith(b"ok") and (part := link.recv(1000)):
        reply += part
    return reply.endswith(b"ok")


def _dripped(link: socket.socket) -> int:
    """Return how many bytes of a head that does not end a connection takes, sent slowly, before it is closed."""
    for number in range(MUCH):
        try:
            link.sendall(b"GET / HTTP/1.1\r\nHost: x"[number : number + 1] or b"x")
        except OSError:
            return number
        time.sleep(0.05)
    return MUCH


def test_a_head_that_drips_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that sends nothing, or a head byte by byte, is closed; one that is kept between two requests is not."""
    monkeypatch.setattr("compatkb.web.server.SECONDS_HEAD", 0.5)

    async def hello(_: Any, __: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    with listen("127.0.0.1", 0) as listener:
        server = uvicorn.Server(uvicorn.Config(hello, http=Connection, log_level="warning", lifespan="off", ws="none"))
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        at = listener.getsockname()
        with contextlib.ExitStack() as open_ones:
            mute, slow, kept = (open_ones.enter_context(socket.create_connection(at, timeout=30)) for _ in range(3))
            assert [_asked(link) for link in (slow, kept)] == [True, True]
            assert _dripped(slow) < MUCH
            assert mute.recv(1000) == b""
            assert _asked(kept)
        server.should_exit = True
        thread.join()


@pytest.mark.soak
def test_too_many_at_once_are_told_to_come_again(live: str) -> None:
    """Of 500 that ask something new at once each gets an answer, or 503 and when to come again; then all is as before."""

    async def ask_all() -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=500)
        async with httpx.AsyncClient(base_url=live, timeout=120, limits=limits) as many:
            asked = [{"torch": "2.8", "device": "cpu", "q": f"numpy=={number // 20}.{number % 20}.7"} for number in range(500)]
            return await asyncio.gather(*(many.get("api/v1/resolve", params=one) for one in asked))

    replies = asyncio.run(ask_all())
    assert {reply.status_code for reply in replies} <= {200, 400, 503}
    busy = [reply for reply in replies if reply.status_code == 503]
    assert busy
    assert all(reply.headers["retry-after"] for reply in busy)
    assert httpx.get(f"{live}api/v1/resolve", params={"torch": "2.8", "device": "xpu"}, timeout=60).status_code == 200


def test_no_answer_waits_for_the_one_before_to_be_acknowledged() -> None:
    """What is accepted sends at once, or the head of an answer would hold back its body on a connection that is kept."""
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_headers_say_what_to_keep(client: Any) -> None:
    """Files of a build may be kept for ever, the rest is asked for again; other names lead on; people get a page."""
    page = client.get("").text
    asset = re.search(r"assets/style-[0-9a-f]{12}\.css", page)
    assert asset
    assert "immutable" in client.get(asset[0]).headers["cache-control"]
    assert client.get("").headers["cache-control"] == "no-cache"
    moved = client.get("api/v1/latest/intel-extension-for-pytorch.json")
    assert (moved.status_code, moved.headers["location"]) == (308, "ipex.json")
    missing = client.get("nothere.html", headers={"accept": "text/html,*/*"})
    assert (missing.status_code, missing.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert 'id="q"' in missing.text
    assert client.get("nothere.html").headers["content-type"] == "application/problem+json"
    brief = client.get("api/v1/resolve", params={"torch": "2.8", "device": "xpu", "fields": "verdict"}).json()
    assert brief == {"verdict": "works-with-warnings"}
