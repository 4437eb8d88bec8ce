"""`make same`: record what the program prints and writes, and tell later where it prints or writes something else.

Everything is asked through the command line, so that any structure below may change. Sections:

- `resolve`, `explain`, `show`, `search`: the requests of `requests.txt`, as JSON and as text, with exit codes;
- `check`, `migrate`, `diagnose`: the texts of all cases, the same two ways;
- `docs`: the documents, and whether their generated regions are up to date;
- `database`: the rows of every table and view that `build` writes;
- `site`: the files that `web build` writes.

`record` writes `.same/SECTION.json` (an item's name -> digest) and one line a section to `.same/digest.txt`; `compare` makes
the same anew, names the sections and items that differ, and exits with 1 if any does. A day is fixed: the day of the data.
"""

import argparse
import contextlib
import hashlib
import io
import json
import os
import shlex
import sqlite3
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from multiprocessing import Pool
from pathlib import Path
from typing import Any
from zlib import crc32

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "cases"
KEPT = ROOT / ".same"
REQUESTS = Path(__file__).with_name("requests.txt")
NAMED = 12  # items of a section that are named when they differ


def run(words: list[str]) -> str:
    """Return the exit code of a command and all that it printed."""
    from compatkb.cli import main

    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as ended:
            code = ended.code
        except Exception as error:  # a traceback is what a digest must show, not what ends it
            code = f"{type(error).__name__}: {error}"
    return f"{code}\n{out.getvalue()}\n{err.getvalue()}"


def both(words: list[str], folder: str = "") -> str:
    """Return what a command prints as JSON and as text; the name of a folder that is another each time is left out."""
    printed = run([*words, "--format", "json"]) + run(words)
    return printed.replace(folder, "") if folder else printed


def request(words: list[str]) -> str:
    """Return the answer to a request."""
    return both(words)


def project(words: list[str]) -> str:
    """Return what `check` or `migrate` says of the files of a case."""
    command, path = words
    case = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="compatkb-same-") as folder:
        for name, text in case.get("files", {}).items():
            target = Path(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text.lstrip("\n"), encoding="utf-8")
        with contextlib.chdir(folder):
            device = ["--device", case["device"]] if command == "migrate" and "device" in case else []
            return both([command, ".", *device, *as_of(case)], folder)


def diagnosis(words: list[str]) -> str:
    """Return what `diagnose` says of the text of a case."""
    case = tomllib.loads(Path(words[1]).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="compatkb-same-") as folder:
        Path(folder, "text.txt").write_text(case["text"], encoding="utf-8")
        with contextlib.chdir(folder):
            return both(["diagnose", "text.txt", *as_of(case)], folder)


def as_of(case: dict[str, Any]) -> list[str]:
    """Return the option that asks about the day of a case, if it names one."""
    return ["--as-of", str(case["as-of"])] if "as-of" in case else []


MAKERS: dict[str, Callable[[list[str]], str]] = {
    **dict.fromkeys(("resolve", "explain", "show", "search"), request),
    **dict.fromkeys(("check", "migrate"), project),
    "diagnose": diagnosis,
}


def asked(every: int) -> Iterator[tuple[str, str, list[str]]]:
    """Yield section, name and words of each item that a command answers; of many only each so many."""
    for number, line in enumerate(REQUESTS.read_text(encoding="utf-8").splitlines()):
        words = shlex.split(line)
        if number % every == 0:
            yield words[0], line, words
    for section in ("check", "migrate", "diagnose"):
        for path in sorted((CASES / section).glob("*.toml")):
            if crc32(path.stem.encode()) % every == 0:  # by its name: the same ones when others go
                yield section, path.stem, [section, str(path)]


def made(item: tuple[str, str, list[str]]) -> tuple[str, str, str]:
    """Return section, name and digest of an item."""
    section, name, words = item
    return section, name, digest(MAKERS[section](words).encode("utf-8", "backslashreplace"))


def digest(content: bytes) -> str:
    """Return a short digest."""
    return hashlib.sha256(content).hexdigest()[:16]


def documents() -> dict[str, str]:
    """Return the digests of the documents, and of what `docs check` says of them."""
    with contextlib.chdir(ROOT):
        pages = [Path("README.md"), *sorted(Path("docs").rglob("*.md"))]
        return {"docs check": digest(run(["docs", "check"]).encode())} | {str(p): digest(p.read_bytes()) for p in pages}


def database() -> dict[str, str]:
    """Return a digest of the rows of every table and view that `build` writes, in an order of their own."""
    with tempfile.TemporaryDirectory(prefix="compatkb-same-") as folder:
        path = Path(folder, "compatkb.sqlite")
        run(["build", "--out", str(path)])
        found = {}
        with contextlib.closing(sqlite3.connect(path)) as opened:
            names = [row[0] for row in opened.execute("select name from sqlite_master where type in ('table', 'view')")]
            for name in sorted(names):
                rows = opened.execute(f'select * from "{name}"')  # a name that the file itself has
                heads = [column[0] for column in rows.description]
                found[name] = digest(repr([heads, sorted(map(repr, rows))]).encode())
        return found


def site() -> dict[str, str]:
    """Return the digests of the files of the site."""
    with tempfile.TemporaryDirectory(prefix="compatkb-same-") as folder:
        target = Path(folder, "site")
        run(["web", "build", "--out", str(target)])
        return {str(p.relative_to(target)): digest(p.read_bytes()) for p in sorted(target.rglob("*")) if p.is_file()}


def whole(section: str) -> tuple[str, dict[str, str]]:
    """Return a section that is made at once."""
    return section, {"docs": documents, "database": database, "site": site}[section]()


def shared_snapshot() -> None:
    """Let the commands of this process open each snapshot once: they ask thousands of questions."""
    from functools import cache

    from compatkb.cli import opening

    opening.Snapshot = cache(opening.Snapshot)  # type: ignore[misc, assignment]  # in place of the class


def everything(sections: list[str], every: int, processes: int) -> dict[str, dict[str, str]]:
    """Return the digests of the items of the sections, by section and name; how far it is goes to stderr."""
    found: dict[str, dict[str, str]] = {}
    items = [item for item in asked(every) if item[0] in sections]
    with Pool(processes, shared_snapshot) as pool:
        rest = pool.map_async(whole, [name for name in ("docs", "database", "site") if name in sections], chunksize=1)
        for number, (section, name, value) in enumerate(pool.imap_unordered(made, items, chunksize=4), 1):
            found.setdefault(section, {})[name] = value
            if number % 100 == 0 or number == len(items):
                print(f"{number} of {len(items)}", file=sys.stderr)
        found.update(rest.get())
    return {section: dict(sorted(found[section].items())) for section in sorted(found)}


def lines(found: dict[str, dict[str, str]]) -> list[str]:
    """Return one line a section: its name, how many items it has, the digest of them all."""
    return [f"{name} {len(items)} {digest(json.dumps(items).encode())}" for name, items in found.items()]


def differences(old: dict[str, dict[str, str]], new: dict[str, dict[str, str]]) -> list[str]:
    """Return what differs, a line an item: gone, new, or another; sections that one side lacks are left out."""
    found = []
    for section in sorted(old.keys() & new.keys()):
        before, after = old[section], new[section]
        changed = [name for name in before.keys() & after.keys() if before[name] != after[name]]
        names = [f"  gone: {n}" for n in sorted(before.keys() - after.keys())]
        names += [f"  new: {n}" for n in sorted(after.keys() - before.keys())]
        names += [f"  differs: {n}" for n in sorted(changed)]
        if names:
            more = [f"  and {len(names) - NAMED} more"] if len(names) > NAMED else []
            found += [f"{section}: {len(names)} of {len(before)}", *names[:NAMED], *more]
    return found


def main() -> int:
    """Record or compare; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("--sections", nargs="+", default=[*MAKERS, "docs", "database", "site"], metavar="SECTION")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of requests and cases take each N-th")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--kept", type=Path, default=KEPT, metavar="DIR", help="where the record is (default: .same)")
    asked_for = parser.parse_args()
    from compatkb.core.clock import TODAY_VARIABLE
    from compatkb.store.cache import locate
    from compatkb.store.reader import Snapshot

    os.environ[TODAY_VARIABLE] = Snapshot(locate(ROOT / "data")).meta["data_date"]
    kept: Path = asked_for.kept
    recorded = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(kept.glob("*.json"))}
    if asked_for.action == "compare" and not recorded:
        print(f"error: nothing is recorded in {kept}; run `make same-update` on the tree to compare with", file=sys.stderr)
        return 2
    found = everything(asked_for.sections, asked_for.every, asked_for.processes)
    if asked_for.action == "record":
        kept.mkdir(exist_ok=True)
        for section, items in found.items():
            (kept / f"{section}.json").write_text(json.dumps(items, indent=0) + "\n", encoding="utf-8")
        (kept / "digest.txt").write_text("\n".join(lines(found)) + "\n", encoding="utf-8")
        print("\n".join(lines(found)))
        return 0
    if asked_for.every > 1:
        recorded = {s: {n: d for n, d in items.items() if n in found.get(s, ())} for s, items in recorded.items()}
    differing = differences(recorded, found)
    print("\n".join(differing or [f"the same: {sum(map(len, found.values()))} items"]))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
