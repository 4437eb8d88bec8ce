"""Runs one command within limits of time, disk and output, without a shell, leaving no process behind."""

import contextlib
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

KEPT = 64 * 1024  # bytes of output that are kept, half from its start and half from its end
RESERVE = 1024  # megabytes of the disk that always stay free
TRANSPORT = (
    *("PATH", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
)
"""What a command needs to run and to reach the network at all; nothing in it says which index answers."""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int  # negative: the signal that ended it
    output: str  # both streams as they came; the middle is left out where it is long
    stopped: str = ""  # why it was stopped from outside, in words

    @property
    def ok(self) -> bool:
        """True where it ended by itself, with success."""
        return self.code == 0 and not self.stopped

    @property
    def how(self) -> str:
        """The end in words."""
        if self.stopped:
            return self.stopped
        if self.code < 0:
            with contextlib.suppress(ValueError):
                return f"ended by {signal.Signals(-self.code).name}"
        return f"exit status {self.code}"


def isolated(folder: Path, **more: str) -> dict[str, str]:
    """Return an environment that carries nothing of the user's configuration; home and temporary files are in `folder`."""
    variables = {name: os.environ[name] for name in TRANSPORT if name in os.environ}
    (folder / "tmp").mkdir(parents=True, exist_ok=True)
    return {**variables, "HOME": str(folder), "TMPDIR": str(folder / "tmp"), "PYTHONIOENCODING": "utf-8", **more}


def run_limited(
    words: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    seconds: float,
    megabytes: int,
    taken: Callable[[], int] | None = None,
) -> Ended:
    """Run a command in `folder` and return how it ended; what it leaves behind is killed.

    It is stopped after `seconds`, once `taken` (the bytes in `folder` unless given) are more than `megabytes`, or when the
    disk is nearly full.
    """
    if shutil.disk_usage(folder).free < (RESERVE << 20):
        return Ended(1, "", "not started: the disk is nearly full")
    try:
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return Ended(127, f"{words[0]}: {error.strerror}", "")
    cpu = int(seconds * (os.cpu_count() or 1)) + 1  # should we be killed ourselves, it does not run for ever
    limits = ((resource.RLIMIT_FSIZE, megabytes << 20), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_CPU, cpu))
    for limit, value in limits:
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(process.pid, limit, (value, value))
    capture = _Kept()
    reader = threading.Thread(target=capture.read, args=(process,), daemon=True)
    reader.start()
    try:
        stopped = _watch(process, folder, seconds, megabytes, taken or partial(size_of, folder))
    finally:  # the leader is not reaped yet, so its number is still that of its group
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        reader.join(5)
    return Ended(code, capture.text(), stopped)


def _watch(process: "subprocess.Popen[bytes]", folder: Path, seconds: float, megabytes: int, taken: Callable[[], int]) -> str:
    """Wait for the end without reaping; return why the process must be stopped, or nothing."""
    start = time.monotonic()
    next_look, pause = start + 0.5, 0.01
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        now = time.monotonic()
        if now - start > seconds:
            return f"stopped after {seconds:.0f} s"
        if now > next_look:
            if taken() > megabytes << 20:
                return f"stopped at {megabytes} MB of disk"
            if shutil.disk_usage(folder).free < (RESERVE << 20):
                return "stopped because the disk is nearly full"
            done = time.monotonic()
            next_look = done + max(0.5, 20 * (done - now))
        time.sleep(pause)
        pause = min(0.1, pause * 1.5)
    return ""


def size_of(*folders: Path) -> int:
    """Return the bytes of all files below some folders, a file with several names counted once."""
    total, seen = 0, set()
    for parent, _, names in (entry for folder in folders for entry in os.walk(folder)):
        for name in names:
            with contextlib.suppress(OSError):
                status = os.lstat(os.path.join(parent, name))  # noqa: PTH118  # hundreds of thousands of files
                if status.st_nlink == 1 or (key := (status.st_dev, status.st_ino)) not in seen:
                    total += status.st_blocks * 512
                    if status.st_nlink > 1:
                        seen.add(key)
    return total


class _Kept:
    """The start and the end of an output."""

    def __init__(self) -> None:
        self._start, self._end, self._lost = b"", b"", 0

    def read(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(process.stdout.fileno(), 65536):
                room = KEPT // 2 - len(self._start)
                self._start += chunk[:room]
                self._end += chunk[room:] if room < len(chunk) else b""
                if len(self._end) > KEPT // 2:
                    self._lost += len(self._end) - KEPT // 2
                    self._end = self._end[-KEPT // 2 :]
        process.stdout.close()

    def text(self) -> str:
        """Return what was kept; bytes that are no UTF-8 and control characters are replaced."""
        middle = f"\n[{self._lost} bytes left out]\n".encode() if self._lost else b""
        text = (self._start + middle + self._end).decode(errors="replace").replace("\r", "\n")
        return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


@cache
def find_uv() -> str | None:
    """Return the uv beside this interpreter, or on the path."""
    beside = Path(sys.executable).parent / "uv"
    return str(beside) if beside.is_file() else shutil.which("uv")


@cache
def version_of(tool: str) -> str:
    """Return the version that uv or an interpreter gives of itself, `unknown` where it gives none."""
    with TemporaryDirectory() as name:
        return printed_version(run_limited([tool, "--version"], Path(name), isolated(Path(name)), 30, 100).output)


def printed_version(output: str) -> str:
    """Return the first version in what a tool printed, `unknown` where there is none."""
    match = re.search(r"(?<!\d)\d++(?:\.\w+)+", output)
    return match[0] if match else "unknown"
