"""The server under the site and under the recorded indexes: who asks may go away, and nothing of ours ends in a traceback."""

import socket
import struct
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from compatkb.core.http_server import Listener

BODY = b"x" * 4_000_000


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/wrong":
            raise ValueError("no such thing")
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_: object) -> None:
        pass


class _Counted(Listener):
    ended = 0

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        super().process_request_thread(request, client_address)
        self.ended += 1


@pytest.fixture
def server() -> Iterator[_Counted]:
    with _Counted(("127.0.0.1", 0), _Handler) as made:
        made.daemon_threads = False  # so that the end of the server is the end of all requests
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def test_those_who_hang_up_are_not_reported(server: _Counted, capsys: pytest.CaptureFixture[str]) -> None:
    """A connection that is reset while the answer is sent leaves no word, and the next one is answered."""
    for _ in range(3):
        with socket.create_connection(server.server_address[:2]) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close resets
            client.sendall(b"GET / HTTP/1.0\r\n\r\n")
            client.recv(1_000)
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/", timeout=30) as answer:
        assert answer.read() == BODY
    server.shutdown()
    server.server_close()
    assert server.ended == 4
    assert capsys.readouterr().err == ""


def test_what_fails_is_told_in_a_line(server: _Counted, capsys: pytest.CaptureFixture[str]) -> None:
    """A request that fails for a reason of ours is told in one line, without a traceback."""
    with pytest.raises((urllib.error.URLError, ConnectionError)):
        urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/wrong", timeout=30)
    server.shutdown()
    server.server_close()
    assert capsys.readouterr().err == "error: a request was not answered: ValueError: no such thing\n"
