"""Measure the live server: how soon it listens and answers, and how long answers take at 200 requests a second."""

import asyncio
import os
import random
import signal
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from urllib.parse import urlencode

from common import ROOT, Figure, Run, environment

from compatkb.store.cache import locate
from compatkb.store.reader import Snapshot

sys.path.insert(0, os.fspath(ROOT / "tests" / "web"))

RATE, SECONDS, CONNECTIONS = 200, 15, 24
COMMON, OFTEN = 250, 0.9
"""So many questions are asked often; so large a part of the requests asks one of them, the others are asked once."""


def measure(run: Run) -> dict[str, Figure]:
    """Return times in milliseconds and requests a second."""
    from site_of_tests import random_question

    del run
    facts, draw = Snapshot(locate(ROOT / "data")), random.Random(5)
    common = [urlencode(random_question(facts, draw)) for _ in range(COMMON)]
    total = RATE * SECONDS
    mixed = [draw.choice(common) if draw.random() < OFTEN else urlencode(random_question(facts, draw)) for _ in range(total)]
    fresh = [urlencode(random_question(facts, draw)) for _ in range(500)]
    begun = time.perf_counter()
    command = [sys.executable, "-m", "compatkb", "web", "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**environment(), **_path()}) as server:
        assert server.stderr
        url = server.stderr.readline().split()[0]
        listening = time.perf_counter() - begun
        _get(url + "api/v1/resolve?torch=2.8&device=xpu")
        answered = time.perf_counter() - begun
        for query in (*common, *common):  # as a server is that has run for a while
            _get(f"{url}api/v1/resolve?{query}")
        port = int(url.split(":")[2].strip("/"))
        times = sorted(asyncio.run(_paced(port, mixed, RATE)))
        flat = time.perf_counter()
        asyncio.run(_paced(port, common * 8, 0))
        rate = len(common) * 8 / (time.perf_counter() - flat)
        alone = time.perf_counter()
        distinct = sorted(asyncio.run(_paced(port, fresh, 0, connections=2)))
        distinct_rate = len(fresh) / (time.perf_counter() - alone)
        changes = []
        for python in ("3.10", "3.11", "3.12", "3.13") * 5:
            start = time.perf_counter()
            _get(f"{url}?device=xpu&torch={draw.choice(['2.6', '2.7', '2.8', '2.9'])}&python={python}&os=linux")
            changes.append((time.perf_counter() - start) * 1000)
        ended = time.perf_counter()
        server.send_signal(signal.SIGINT)
        server.wait()
        ended = time.perf_counter() - ended
    return {
        "live: listening": Figure(listening * 1000, "ms", 1000),
        "live: first answer": Figure(answered * 1000, "ms"),
        f"live: answer at {RATE} requests/s, median": Figure(statistics.median(times), "ms"),
        f"live: answer at {RATE} requests/s, p99": Figure(times[len(times) * 99 // 100], "ms", 50),
        "live: common questions": Figure(rate, "requests/s"),
        "live: questions never asked before": Figure(distinct_rate, "requests/s"),
        "live: questions never asked before, p99": Figure(distinct[len(distinct) * 99 // 100], "ms"),
        "live: page of a change": Figure(statistics.median(changes), "ms", 50),
        "live: end after Ctrl-C": Figure(ended * 1000, "ms", 2000),
    }


def _path() -> dict[str, str]:
    return {"PYTHONPATH": os.fspath(ROOT / "src")}


def _get(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url) as reply:
            found: bytes = reply.read()
            return found
    except urllib.error.HTTPError as error:  # a question that is refused
        return error.read()


async def _paced(port: int, queries: list[str], rate: float, connections: int = CONNECTIONS) -> list[float]:
    """Ask at a rate, as fast as it goes for 0, and return the milliseconds from when each was due to its last byte."""
    begun = time.perf_counter()
    left = iter(enumerate(queries))
    times: list[float] = []

    async def worker() -> None:
        reader, writer = await asyncio.open_connection("localhost", port)
        for number, query in left:
            due = begun + number / rate if rate else time.perf_counter()
            if (early := due - time.perf_counter()) > 0:
                await asyncio.sleep(early)
            writer.write(f"GET /api/v1/resolve?{query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            size = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
            await reader.readexactly(int(size.split(b":")[1]))
            times.append((time.perf_counter() - due) * 1000)
        writer.close()

    await asyncio.gather(*(worker() for _ in range(connections)))
    return times
