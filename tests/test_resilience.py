"""What befalls a program on other people's machines, done to compatkb on purpose."""

import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from builders import build, data_directory, needs, product, release
from conftest import parted

from compatkb.output.terminal import printable

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 300  # that nothing hangs; what work may cost is bounded by RLIMIT_CPU where it is promised

KILLER = """
import os, signal, sys
left = int(sys.argv.pop(1))
def watch(event, arguments):
    global left
    writes = event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "shutil.rmtree", "shutil.copymode") or (
        event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR))
    if writes:
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
from compatkb.cli import main
sys.addaudithook(watch)
sys.dont_write_bytecode = True
main(sys.argv[1:])
"""


@dataclass(frozen=True)
class Done:
    """How a process ended; `code` is negative for a signal."""

    code: int
    out: bytes
    err: bytes


def compatkb(
    folder: Path,
    *words: str,
    env: Mapping[str, str] | None = None,
    before: Callable[[], None] | None = None,
    kill: int = -1,
    start: tuple[str, ...] = ("-m", "compatkb"),
) -> Done:
    """Run compatkb with the data and the cache of `folder`; with `kill`, kill it before its write number `kill`."""
    if kill >= 0:
        start = ("-c", KILLER, str(kill))
    done = subprocess.run(
        [
            sys.executable,
            *start,
            *words,
            *(() if "--data" in words or "schema" in words else ("--data", str(folder / "data"))),
        ],
        cwd=folder,
        env={**os.environ, "COMPATKB_CACHE": str(folder / "cache"), **(env or {})},
        preexec_fn=before,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def orderly(done: Done, *codes: int) -> Done:
    """Return it where it ended with one of these codes and said so in lines of its own, never with a traceback."""
    assert b"Traceback" not in done.err, done.err[-2000:].decode(errors="replace")
    assert done.code in codes, f"exit {done.code}, not {codes}: {done.err[-500:].decode(errors='replace')}"
    return done


def home(folder: Path, *, formatted: bool = True) -> Path:
    """Return a folder with small data that validate, and a document with a region; unless `formatted`, fmt has work there."""
    torch = [release(f"2.{n}.0", builds=[build(f"2.{n}.0")]) for n in range(5)]
    vision = [release(f"0.{n}.0", builds=[build(f"0.{n}.0")]) for n in range(15, 20)]
    claims = [needs(f"torchvision=={v}.0", f"torch=={t}.0") for v, t in zip(("0.15", "0.16"), ("2.0", "2.1"), strict=True)]
    data_directory(folder / "data", [product("torch", releases=torch), product("torchvision", releases=vision, claims=claims)])
    (folder / "page.md").write_text("<!-- compatkb:begin eol product=torch -->\n<!-- compatkb:end eol -->\n", encoding="utf-8")
    if not formatted:
        path = folder / "data" / "products" / "torch.toml"
        path.write_text("\n\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    return folder


ASK = ("resolve", "--torch", "2.1")


def tree(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder, by their paths."""
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file() and not p.is_symlink()
    }


# -- killed ---------------------------------------------------------------------------------------------------------

WRITES: dict[str, tuple[str, ...]] = {
    "fmt": ("fmt",),
    "docs render": ("docs", "render", "page.md"),
    "build": ("build", "--out", "kb.sqlite"),
    "export json": ("export", "--format", "json", "--out", "kb.json"),
    "schema": ("schema", "--out", "schemas"),
    "the cache": ASK,
}


NEVER = 10_000
"""Before more writes than there are: the command ends by itself."""


@pytest.mark.long
@pytest.mark.parametrize("moments", [(1, NEVER), pytest.param((0, 1, 2, 4, 7, NEVER), marks=pytest.mark.soak)], ids=len)
@pytest.mark.parametrize("name", ["fmt", pytest.param("schema", marks=pytest.mark.soak), "the cache"])
def test_kill_in_a_write_leaves_old_or_new(name: str, moments: tuple[int, ...], tmp_path: Path) -> None:
    """Killed (-9) just before a write, a command leaves each file as it was or as it shall be, and going on ends well."""
    words, kills = WRITES[name], 0
    whole = home(tmp_path / "whole", formatted=name != "fmt")
    cut = Path(shutil.copytree(whole, tmp_path / "cut"))
    before = results(whole)
    expected = orderly(compatkb(whole, *words), 0).out
    after = results(whole)
    for moment in moments:
        done = compatkb(cut, *words, kill=moment)
        if done.code != -signal.SIGKILL:
            orderly(done, 0)
            break
        kills += 1
        for path, content in results(cut).items():
            assert content in (before.get(path), after.get(path)), f"{name}, killed before write {moment}: {path} is neither"
        if name == "the cache":
            kept = cut.with_name(f"again {moment}")
            shutil.copytree(cut, kept)
            assert orderly(compatkb(kept, *words), 0).out == expected
    assert results(cut) == after, name
    assert orderly(compatkb(cut, *ASK), 0).out == orderly(compatkb(whole, *ASK), 0).out
    assert kills


def results(folder: Path) -> dict[str, bytes]:
    """Return the files that people look at: not the cache, not what a killed process left in its own folder."""
    found = tree(folder)
    return {
        name: content for name, content in found.items() if not name.startswith("cache/") and "/.compatkb-" not in f"/{name}"
    }


# -- no room, no permission -----------------------------------------------------------------------------------------


@pytest.mark.soak
def test_no_room(tmp_path: Path) -> None:
    """Files may grow to a few KiB alone (RLIMIT_FSIZE): an error that names the file, and the old file stays."""
    folder = tmp_path / "home"
    home(folder)
    before = results(folder)
    tried = 0
    for name, words in WRITES.items():
        if name in {"fmt", "docs render"}:
            continue  # what they write here is smaller than the limit

        def limit() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))

        shutil.rmtree(folder / "cache", ignore_errors=True)
        if name != "the cache":
            orderly(compatkb(folder, *ASK), 0)
        orderly(compatkb(folder, *words, before=limit), 5)
        assert results(folder) == before, name
        tried += 1


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mount"), reason="only root can mount a small file system")
def test_full_disk(tmp_path: Path) -> None:
    """A full file system (64 KiB of tmpfs) costs the result, and nothing that was there."""
    folder = tmp_path / "home"
    home(folder)
    small = folder / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(small)], check=True)
    try:
        (small / "fill").write_bytes(b"x" * 57_000)
        for words in (
            ("build", "--out", str(small / "kb.sqlite")),
            ("export", "--format", "json", "--out", str(small / "kb.json")),
        ):
            orderly(compatkb(folder, *words), 5)
            assert [path.name for path in small.iterdir()] == ["fill"]
        orderly(compatkb(folder, *ASK, env={"COMPATKB_CACHE": str(small / "cache")}), 0, 5)
        assert not list(small.rglob("*.sqlite"))
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.long
def test_read_only(tmp_path: Path) -> None:
    """A folder that cannot be written (or a file in the place of the cache): answers come all the same, writes are refused."""
    folder = tmp_path / "home"
    home(folder)
    answer = orderly(compatkb(folder, *ASK), 0).out
    (folder / "file").write_text("no folder", encoding="utf-8")
    for cache in ("/proc/nowhere", str(folder / "file"), str(folder / "file" / "below"), "/dev/null"):
        assert orderly(compatkb(folder, *ASK, env={"COMPATKB_CACHE": cache}), 0).out == answer
    for target in ("/proc/kb.json", str(folder / "file" / "kb.json"), str(folder / "missing" / "kb.json")):
        orderly(compatkb(folder, "export", "--format", "json", "--out", target), 2, 5)
    assert (folder / "file").read_text(encoding="utf-8") == "no folder"


# -- side by side ---------------------------------------------------------------------------------------------------


FIND = ("resolve", "torchvision==0.16.0")


@pytest.mark.long
def test_side_by_side(tmp_path: Path) -> None:
    """Processes with one empty cache, while the data change under them: each answer is one of the old or new data."""
    folder, at_once = tmp_path / "home", 2
    home(folder)
    old = orderly(compatkb(folder, *FIND), 0).out
    path = folder / "data" / "products" / "torchvision.toml"
    text = path.read_text(encoding="utf-8")
    changed = text.replace('["0.16.0", "2.1.0"', '["0.16.0", "2.2.0"')
    assert changed != text
    path.write_text(changed, encoding="utf-8")
    new = orderly(compatkb(folder, *FIND), 0).out
    assert old != new
    path.write_text(text, encoding="utf-8")
    shutil.rmtree(folder / "cache")

    def ask(number: int) -> bytes:
        if number % 7 == 3:
            other = changed if number % 2 else text
            beside = path.with_name(f"{number}.new")
            beside.write_text(other, encoding="utf-8")
            beside.replace(path)
        return orderly(compatkb(folder, *(("build", "--out", "kb.sqlite") if number % 5 == 4 else FIND)), 0).out

    with ThreadPoolExecutor(at_once) as pool:
        outs = list(pool.map(ask, range(at_once * 4)))
    answers = [out for number, out in enumerate(outs) if number % 5 != 4]
    assert set(answers) <= {old, new}
    path.write_text(text, encoding="utf-8")
    assert orderly(compatkb(folder, *FIND), 0).out == old
    with sqlite3.connect(folder / "kb.sqlite") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


# -- odd surroundings -----------------------------------------------------------------------------------------------


@pytest.mark.long
def test_odd_surroundings(tmp_path: Path) -> None:
    """Other locales, encodings, time zones, clocks, a missing home, closed pipes: the same answer, or one plain line."""
    folder = tmp_path / "home"
    home(folder)
    ask = (*ASK, "--as-of", "2026-11-21")
    expected = orderly(compatkb(folder, *ask), 0).out
    settings: list[dict[str, str]] = [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"PYTHONIOENCODING": "utf-16"},
        {"LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8"},
        {"LC_ALL": "no_SUCH.locale"},
        {"TZ": "Pacific/Kiritimati"},
        {"TZ": "../../etc/passwd"},
        {"PYTHONHASHSEED": "1"},
        {"PYTHONHASHSEED": "4294967295"},
        {"COLUMNS": "1", "LINES": "0"},
        {"COLUMNS": "x"},
        {"HOME": "/nonexistent", "XDG_CACHE_HOME": ""},
        {"TERM": "", "NO_COLOR": "1"},
        {"PYTHONOPTIMIZE": "2"},
    ]
    for setting in settings:
        encoding = setting.get("PYTHONIOENCODING", "utf-8")
        out = orderly(compatkb(folder, *ask, env=setting), 0).out
        plain = "ascii" if setting.get("LC_ALL") == "C" else encoding
        assert out.decode(plain) == printable(expected.decode(), plain), setting
    early = compatkb(folder, *ASK, "--as-of", "0001-01-01")
    late = compatkb(folder, *ASK, "--as-of", "9999-12-31")
    orderly(early, 0, 1, 2)
    orderly(late, 0, 1, 2)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "compatkb", *ask, "--data", "data"],
            cwd=folder, env={**os.environ, "COMPATKB_CACHE": str(folder / "cache")}, stdout=full, stderr=subprocess.PIPE,
            timeout=SECONDS, check=False,
        )  # fmt: skip
    orderly(Done(done.returncode, b"", done.stderr), 5)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "compatkb", *ask, "--data", "data"],
        cwd=folder, env={**os.environ, "COMPATKB_CACHE": str(folder / "cache")}, stdout=writer, stderr=subprocess.PIPE,
        timeout=SECONDS, check=False,
    )  # fmt: skip
    os.close(writer)
    assert b"Traceback" not in done.stderr


FAR_OFF = """
import datetime, sys
real = datetime.datetime
class Clock(real):
    @classmethod
    def now(cls, tz=None):
        return real(YEAR, 1, 2, tzinfo=tz)
datetime.datetime = Clock
from compatkb.cli import main
main(sys.argv[1:])
"""


@pytest.mark.long
def test_far_off_clock(tmp_path: Path) -> None:
    """A clock decades behind or ahead, and files dated so: the answer for a day stays, old data are remarked on."""
    folder = tmp_path / "home"
    home(folder)
    ask = (*ASK, "--as-of", "2026-11-21")
    expected = orderly(compatkb(folder, *ask), 0).out
    years = (1970, 1999, 2038, 2107, 9999)
    for year in years:
        begin = FAR_OFF.replace("YEAR", str(year))
        done = orderly(compatkb(folder, *ask, start=("-c", begin), env={"COMPATKB_TODAY": ""}), 0)
        assert done.out == expected, year
        assert (b"days old" in done.err) == (year > 2026), year
        orderly(compatkb(folder, *ASK, start=("-c", begin), env={"COMPATKB_TODAY": ""}), 0, 1)
    for seconds in (0, 2**31, 2**33):
        for path in folder.rglob("*"):
            os.utime(path, (seconds, seconds))
        assert orderly(compatkb(folder, *ask), 0).out == expected, seconds


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_small_machine(tmp_path: Path, *, whole: bool) -> None:
    """With one core and 512 MB of address space data compile and answer: small ones, and the real ones."""
    folder = tmp_path / "home"

    def limit() -> None:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))

    data = ROOT / "data" if whole else home(folder) / "data"
    yes, no = (("torch==2.8.0",), ("torch==2.4.0", "--device", "xpu"))
    if not whole:
        yes, no = (("torch==2.1.0",), ("torch==2.1.0", "torchvision==0.15.0"))
    folder.mkdir(exist_ok=True)
    assert b"works" in orderly(compatkb(folder, "resolve", *yes, "--data", str(data), before=limit), 0).out
    orderly(compatkb(folder, "resolve", *no, "--data", str(data), before=limit), 1)


# -- hostile data ---------------------------------------------------------------------------------------------------


def _append(text: str | bytes) -> Callable[[Path], None]:
    def spoil(data: Path) -> None:
        with open(data / "products" / "torch.toml", "ab") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    return spoil


def _extra(text: str | bytes, name: str = "zzz.toml") -> Callable[[Path], None]:
    def spoil(data: Path) -> None:
        (data / "products" / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    return spoil


def _cycle(data: Path) -> None:
    _append('\n[[claim]]\nid = "back"\nkind = "needs"\nof = "torch"\nto = ["torchvision"]\nsources = ["page"]\n')(data)


def _aliases(data: Path) -> None:
    path = data / "products" / "torch.toml"
    names = ", ".join(f'"a{n}"' for n in range(100_000))
    path.write_text(
        path.read_text(encoding="utf-8").replace("[product]", f"[product]\naliases = [{names}]", 1), encoding="utf-8"
    )


def _loop(data: Path) -> None:
    (data / "products" / "loop.toml").symlink_to("loop.toml")
    (data / "products" / "deeper").symlink_to("..")


def _pipe(data: Path) -> None:
    os.mkfifo(data / "products" / "pipe.toml")


def _folder(data: Path) -> None:
    (data / "products" / "folder.toml").mkdir()


def _device(data: Path) -> None:
    (data / "products" / "zero.toml").symlink_to("/dev/zero")


def _unreadable_name(data: Path) -> None:
    (data / "products" / os.fsdecode(b"\xff\xfe.toml")).write_bytes(b"[product")


def _path_trick(data: Path) -> None:
    path = data / "products" / "torch.toml"
    path.write_text(path.read_text(encoding="utf-8").replace('id = "torch"', 'id = "../../torch"', 1), encoding="utf-8")


HOSTILE: dict[str, Callable[[Path], None]] = {
    "a-cycle-of-needs": _cycle,
    "100000-aliases": _aliases,
    "nul-bytes": _append(b"\x00\x00"),
    "nul-in-a-string": _append('\n[[release]]\nversion = "9.9\\u0000"\nsources = ["page"]\n'),
    "path-trick": _path_trick,
    "link-to-itself": _loop,
    "a-pipe": _pipe,
    "a-folder": _folder,
    "an-endless-device": _device,
    "name-of-no-encoding": _unreadable_name,
    "deep-array": _extra("a = " + "[" * 100_000),
    "deep-tables": _extra("[" + ".".join("a" * 1 for _ in range(50_000)) + "]"),
    "deep-inline": _extra("a = " + "{a=" * 20_000),
    "many-tables": _extra("".join(f"[a.b{n}]\n" for n in range(50_000))),
    "long-string": _extra('note = "' + "x" * 30_000_000 + '"'),
    "big-number": _extra("a = " + "9" * 100_000),
    "late-date": _append(
        '\n[[release]]\nversion = "9.9"\nreleased = { on = 9999-12-31, sources = ["page"] }\nsources = ["page"]\n'
    ),
    "no-utf8": _extra(b"\xff\xfe"),
    "empty": _extra(""),
    "long-version": _append('\n[[release]]\nversion = "' + "1." * 100_000 + '1"\nsources = ["page"]\n'),
    "huge-epoch": _append('\n[[release]]\nversion = "' + "9" * 5_000 + '!1"\nsources = ["page"]\n'),
    "wide-specifier": _append(
        '\n[[claim]]\nid = "w"\nkind = "needs"\nof = "torch"\nto = ["torchvision'
        + ",".join(f"!=1.{n}" for n in range(20_000))
        + '"]\nsources = ["page"]\n'
    ),
}
REFUSED = {
    "nul-bytes", "nul-in-a-string", "path-trick", "link-to-itself", "a-pipe", "a-folder", "an-endless-device", "deep-array",
    "deep-tables", "deep-inline", "many-tables", "long-string", "big-number", "no-utf8", "empty", "huge-epoch",
    "name-of-no-encoding",
}  # fmt: skip

QUICK = ("a-cycle-of-needs", "an-endless-device")
"""Of the ways to break the reader one each: what records say, which files."""


@pytest.mark.long
@pytest.mark.parametrize("name", parted(HOSTILE, QUICK, pytest.mark.soak))
def test_hostile_data(name: str, tmp_path: Path) -> None:
    """Data made to break the reader: exit 3 with a line that names the file, within 500 MB and ten seconds of work."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (500 << 20, 500 << 20))
        resource.setrlimit(resource.RLIMIT_CPU, (10, 10))

    place = home(tmp_path / "home", formatted=False)
    HOSTILE[name](place / "data")
    done = orderly(compatkb(place, *ASK, before=limit), 0, 1, 2, 3)
    lines = done.err.decode().splitlines()
    assert len(lines) <= 101, f"{name}: {len(lines)} lines"
    assert all(len(line) < 10_000 for line in lines), name
    if done.code == 3:
        assert not list((place / "cache").rglob("*.sqlite")), name
        assert lines, name
        assert re.match(r"error: .*\b(products|data)\b", lines[0]), f"{name}: {lines[0][:200]}"
    if name in REFUSED:
        assert done.code == 3, f"{name}: exit {done.code}"
    before = tree(place / "data")
    orderly(compatkb(place, "lint", before=limit), 0, 1, 3)
    if orderly(compatkb(place, "fmt", before=limit), 0, 1, 3, 5).code:
        assert tree(place / "data") == before, f"{name}: fmt wrote some files and gave up on others"
