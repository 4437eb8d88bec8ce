"""Pairs without some symbol, and pairs without a missing one, drawn by seed, installed and loaded on this machine.

Run as a program (`make proof-symbols`) it adds a line a pair to tests/symbol_proofs.jsonl; what is there is not done again.
Each release of torch is installed once, with what it imports and CUDA libraries that are stubs. A pair is imported first,
as a user would, with the FFmpeg of this machine; modules that the package does not find then are stand-ins. Then every
library that lacks something by prediction (of a pair that lacks nothing: every library that needs torch) is loaded with all
its symbols at once, in a process of its own that has imported torch, since many packages catch what the loader says, or load
a library when it is first used; versions of FFmpeg and SoX that are not there are stubs then.
"""

import argparse
import contextlib
import ctypes
import json
import math
import os
import random
import re
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from conftest import ROOT
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag, compatible_tags, cpython_tags, platform_tags
from packaging.utils import parse_wheel_filename
from packaging.version import Version

from compatkb.core.clock import current_day
from compatkb.refresh.index_client import Limits, Network
from compatkb.schema import Level, Outcome
from compatkb.store.cache import locate
from compatkb.store.reader import Snapshot
from compatkb.validate import import_stub
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.environment import RefusedError, VirtualEnvironment, environment
from compatkb.validate.fake_libraries import add_stubs
from compatkb.validate.limits import find_uv
from compatkb.validate.linking import kept_releases, missing
from compatkb.validate.proofs import exports_of, subjects, table_path
from compatkb.validate.session import run_context
from compatkb.validate.wheel_symbols import Library, read_wheel, wheel_for

DATA, RECORD = ROOT / "data", ROOT / "tests" / "symbol_proofs.jsonl"
PLATFORM = "linux-x86_64"
DRAWN = {"missing-symbol": (20261123, 30), "links": (20261124, 20)}  # outcome: seed and how many
BESIDE = ("setuptools==69.5.1", "requests==2.32.3", "packaging==24.2")  # what old releases import and do not require
STUBBED = ("libav*.so.*", "libsw*.so.*", "libpostproc.so.*", "libsox.so*")  # of FFmpeg and SoX, beside those of CUDA
MOST_STAND_INS = 12
UNDEFINED = re.compile(r"undefined symbol: ([\w@.]+)|(lib(?:torch|c10)\S*\.so[.\d]*): cannot open")
NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
IMPORT = """
import importlib.util, sys
stub, folder, module, *names = sys.argv[1:]
spec = importlib.util.spec_from_file_location("import_stub", stub)
stubs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(stubs)
sys.path.insert(0, folder)
import torch
for name in names:
    sys.meta_path.append(stubs.Finder(folder, name, name, "99.0"))
__import__(module)
print("IMPORTED")
"""
LOAD = """
import ctypes, json, os, sys
import torch
# a library that uses it without naming it finds it in the extension module that brings that library in
python = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_python.so")
ctypes.CDLL(python, mode=os.RTLD_GLOBAL)
for path in sys.argv[1:]:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            ctypes.CDLL(path, mode=os.RTLD_NOW)
            said = "loaded"
        except OSError as error:
            said = str(error)
        print(json.dumps({"path": path, "said": said}), flush=True)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        print(json.dumps({"path": path, "said": "ended with status %d" % status}))
"""


class Pair(NamedTuple):
    """A line of evidence: a release of a package beside one of torch."""

    outcome: str
    package: str
    release: str
    torch: str


def pairs(outcome: str) -> list[Pair]:
    """Return the pairs of this machine's architecture with an outcome, sorted; of `links` those that lack nothing at all."""
    found = set()
    with (DATA / "evidence" / "symbols.jsonl").open(encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            others = [name for name in line["packages"] if name != "torch"]
            told = line["outcome"] == outcome and (outcome != "links" or not line.get("missing"))
            if told and len(line["packages"]) == 2 and line["platform"] == PLATFORM:
                found.add(Pair(outcome, others[0], line["packages"][others[0]], line["packages"]["torch"]))
    return sorted(found)


def drawn() -> list[Pair]:
    """Return the pairs that are tried, each as likely as any other of its outcome."""
    return [pair for outcome, (seed, count) in DRAWN.items() for pair in random.Random(seed).sample(pairs(outcome), count)]


@cache
def _pythons(name: str) -> dict[Version, set[str]]:
    """Return for each release the minors of CPython for which it has a wheel that this machine takes."""
    platforms = list(platform_tags())
    taken: dict[str, set[Tag]] = {
        f"3.{n}": {
            *cpython_tags((3, n), platforms=platforms),
            *compatible_tags((3, n), interpreter=f"cp3{n}", platforms=platforms),
        }
        for n in range(8, 20)
    }
    found: dict[Version, set[str]] = defaultdict(set)
    for file in Network(None, Limits(run=math.inf)).page(name, strict=False).files:
        if file.is_wheel:
            tags, asked = parse_wheel_filename(file.entry.name)[3], SpecifierSet(file.entry.requires_python or "")
            found[file.version] |= {minor for minor in taken if tags & taken[minor] and asked.contains(f"{minor}.9")}
    return found


def groups(chosen: list[Pair], here: Iterable[str]) -> Iterator[tuple[str, str, list[Pair]]]:
    """Yield a release of torch, a Python and the pairs that are tried there: as few installations of torch as possible."""
    left: dict[str, list[Pair]] = defaultdict(list)
    for pair in chosen:
        left[pair.torch].append(pair)
    for torch, pending in sorted(
        left.items(), key=lambda item: ("missing-symbol" not in {p.outcome for p in item[1]}, item[0])
    ):
        while pending:
            fits = {
                minor: [pair for pair in pending if minor in _pythons(pair.package)[Version(pair.release)]]
                for minor in _pythons("torch")[Version(torch)] & set(here)
            }
            best = max(fits, key=lambda minor: (len(fits[minor]), Version(minor)))
            if not fits[best]:
                raise SystemExit(f"no Python of this machine for {pending}")
            yield torch, best, fits[best]
            pending = [pair for pair in pending if pair not in fits[best]]


def _numpy(python: str) -> str:
    """Return the last NumPy before 2, for which old releases were compiled, where this Python has it."""
    minor = int(python.partition(".")[2])
    return "numpy==1.24.4" if minor < 9 else "numpy==1.26.4" if minor < 13 else "numpy==2.2.6"


def try_group(torch: str, python: str, chosen: list[Pair], context: RunContext) -> Iterator[dict[str, Any]]:
    """Install torch and all packages that are tried beside it, and yield what each pair did."""
    pins = [f"torch=={torch}", _numpy(python), "pillow==10.4.0", *BESIDE]
    packages = tuple(sorted((pin.partition("==")[0], pin.partition("==")[2]) for pin in pins))
    cell = ValidationCell(Level.IMPORT, "python", packages, python, PLATFORM, stubbed=True)
    with environment(cell, context) as made:
        for number, pair in enumerate(chosen):
            _install(made, pair, _folder(made, number))
        stubs = add_stubs(made, STUBBED)
        _set_aside(made)
        for number, pair in enumerate(chosen):
            yield {**pair._asdict(), "python": python, "stubs": stubs, **_try(made, pair, _folder(made, number))}


def _set_aside(made: VirtualEnvironment) -> None:
    """Take FFmpeg and SoX off the loader's path: code that runs at import calls them, and stubs return no pointers.

    Those that this machine has are removed.
    """
    aside = made.folder / "aside"
    aside.mkdir()
    for path in sorted((made.folder / "stubs").glob("*")):
        if any(fnmatchcase(path.name, pattern) for pattern in STUBBED):
            path.rename(aside / path.name)
            with contextlib.suppress(OSError):
                ctypes.CDLL(path.name)
                (aside / path.name).unlink()


def _folder(made: VirtualEnvironment, number: int) -> Path:
    return made.packages / f"pair{number}"


def _install(made: VirtualEnvironment, pair: Pair, folder: Path) -> None:
    words = ["--python", str(made.python), "--only-binary", ":all:", "--no-deps", "--no-cache", "--target", str(folder)]
    ended = made.run([find_uv() or "uv", "pip", "install", *words, f"{pair.package}=={pair.release}"])
    if not ended.ok:
        raise RefusedError(Outcome.NOT_CHECKED, f"{pair.package} {pair.release}: {ended.how}: {ended.output[-500:]}")


def _try(made: VirtualEnvironment, pair: Pair, folder: Path) -> dict[str, Any]:
    exports = exports_of(DATA, "torch")
    assert exports
    file = wheel_for(None, False, pair.package, pair.release, PLATFORM)
    wheel = read_wheel(None, file, exports, (), made.context.cache, made.context.folder)
    lacking = missing(wheel, kept_releases(table_path(DATA, "torch", PLATFORM))[pair.torch], exports)
    wanted = {_stem(library.path) for library in (library for library, _ in lacking)} or set(_linking(wheel.libraries))
    imported, stood_in, said = _import(made, pair, folder)
    paths = sorted(path for path in folder.rglob("*.so*") if _stem(str(path.relative_to(folder))) in wanted)
    loaded = _load(made, paths, folder)
    said |= _symbols("\n".join(loaded.values()))
    predicted = {symbol for _, symbol in lacking}
    return {
        "import": imported,
        "stand-ins": stood_in,
        "libraries": loaded,
        "symbols": sorted(said),
        "not-predicted": sorted(said - predicted),
        "predicted": len(predicted),
    }


def _linking(libraries: Iterable[Library]) -> Iterator[str]:
    return (_stem(library.path) for library in libraries if library.undefined)


def _stem(path: str) -> str:
    """Return the path of a library without the tag of the Python that its wheel is for."""
    return re.sub(r"\.(?:cpython|cp)[^./]*", "", path)


def _import(made: VirtualEnvironment, pair: Pair, folder: Path) -> tuple[str, list[str], set[str]]:
    """Return how the import ended, what stood in for missing modules at last, and the symbols that were named."""
    module, names, said = str(subjects(DATA)[pair.package].module), list[str](), set[str]()
    while True:
        words = ["-c", IMPORT, str(Path(import_stub.__file__)), str(folder), module, *names]
        ended = made.run([str(made.python), *words])
        text = made.tidy(ended.output)
        said |= _symbols(text)
        lacking = NO_MODULE.findall(text)
        name = lacking[-1].partition(".")[0] if lacking and not ended.ok else ""
        if not name or name in (*names, module, "torch") or len(names) == MOST_STAND_INS:
            break
        names.append(name)
    if ended.ok:
        return "ok", names, said
    lines = [line for line in text.splitlines() if line.strip()]
    return f"{ended.how}: {(lines or [''])[-1][:300]}", names, said


def _load(made: VirtualEnvironment, paths: list[Path], folder: Path) -> dict[str, str]:
    """Return for each library "loaded" or what the loader said; those beside it and torch's are on the loader's path."""
    beside = sorted({str(each.parent) for each in folder.rglob("*.so*")})
    search = [
        made.variables.get("LD_LIBRARY_PATH", ""),
        str(made.folder / "aside"),
        str(made.packages / "torch" / "lib"),
        *beside,
    ]
    loader = f"LD_LIBRARY_PATH={os.pathsep.join(filter(None, search))}"
    ended = made.run(["env", loader, str(made.python), "-c", LOAD, *map(str, paths)])
    told = [json.loads(line) for line in ended.output.splitlines() if line.startswith('{"path":')]
    found = {str(Path(each["path"]).relative_to(folder)): made.tidy(each["said"])[-400:] for each in told}
    return found or {"torch": f"{ended.how}: {made.tidy(ended.output)[-300:]}"}


def _symbols(text: str) -> set[str]:
    return {symbol or library for symbol, library in UNDEFINED.findall(text)}


def recorded() -> list[dict[str, Any]]:
    """Return the lines of the record."""
    return [json.loads(line) for line in RECORD.read_text(encoding="utf-8").splitlines()] if RECORD.is_file() else []


def summary(lines: Iterable[dict[str, Any]]) -> str:
    """Return how many pairs of each kind ended how."""
    count: dict[tuple[str, str], int] = defaultdict(int)
    for line in lines:
        library = all(text == "loaded" for text in line["libraries"].values())
        loaded = f"{'no' if line['symbols'] else 'each' if library else 'not each'} library loaded"
        told = "a symbol not predicted" if line["not-predicted"] else "a predicted symbol" if line["symbols"] else "no symbol"
        count[line["outcome"], f"import {'ok' if line['import'] == 'ok' else 'failed'}, {told} named, {loaded}"] += 1
    return "\n".join(f"{outcome}: {number} {how}" for (outcome, how), number in sorted(count.items()))


def main() -> int:
    """Try the drawn pairs that the record does not have; returns 1 where one loads or names a symbol not predicted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=ROOT / ".symbols", help="a folder with 6 GB free")
    parser.add_argument("--list", action="store_true", help="print what is tried, and try nothing")
    options = parser.parse_args()
    work = options.work.resolve()
    context = run_context(
        Snapshot(locate(DATA)), DATA, work / "work", work / "cache", current_day(), seconds=3600.0, megabytes=20_000
    )
    done = {(line["package"], line["release"], line["torch"], line["outcome"]) for line in recorded()}
    left = [pair for pair in drawn() if (pair.package, pair.release, pair.torch, pair.outcome) not in done]
    for torch, python, chosen in groups(left, context.interpreters):
        print(f"torch {torch}, Python {python}: {', '.join(f'{p.package} {p.release}' for p in chosen)}", file=sys.stderr)
        if options.list:
            continue
        try:
            for line in try_group(torch, python, chosen, context):
                with RECORD.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
                print(f"  {line['package']} {line['release']}: import {line['import']}; {line['libraries']}", file=sys.stderr)
        except RefusedError as refusal:
            print(f"  not tried: {refusal.detail}", file=sys.stderr)
        shutil.rmtree(work / "cache" / "uv", ignore_errors=True)
    print(summary(recorded()))
    return int(any(line["not-predicted"] or (line["outcome"] != "links" and not line["symbols"]) for line in recorded()))


if __name__ == "__main__":
    sys.exit(main())
