"""Only what was uploaded long enough ago: the answers of --min-age are those of installers that wait."""

import random
import subprocess
import sys
import tomllib
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest
from conftest import ROOT, Run
from index_server import Index, served, serving

from compatkb.core.clock import Clock
from compatkb.engine.answer import Answer, resolve
from compatkb.request.parser import make_request
from compatkb.schema import IndexFile
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element
from compatkb.validate.targets import fits, installer_platforms

PROVIDER = "torch"  # always pinned: every stack has one, and what it is decides what the others could be
PYTHON, PLATFORM = "3.12", "linux-x86_64"
DISTRIBUTIONS = ("torch", "torchvision", "torchaudio", "neural-compressor", "intel-extension-for-pytorch", "transformers")
USABLE = ("works", "works-with-warnings", "likely")


def before(facts: Snapshot, pins: list[Element], day: date | None) -> Answer:
    """Return the answer for builds of the default index where only uploads before a day count."""
    words = [f"{e.product}=={e.version}" for e in pins]
    options = [("python", PYTHON), ("os", "linux"), ("arch", "x86_64"), ("device", "cpu")]
    request = make_request(facts, options, words, clock=Clock(date.fromisoformat(facts.meta["data_date"])))
    chosen = {e.product: 1 << e.idx for e in pins}
    exact = tuple(pin._replace(mask=chosen.get(pin.product, pin.mask)) for pin in request.pins)
    until = None if day is None else day.toordinal() - 1
    return resolve(facts, request._replace(pins=exact, uploaded_until=until), near=False)


def index_files() -> dict[str, IndexFile]:
    """Return what the data recorded of the default index."""
    paths = (ROOT / "data" / "index" / f"{name}.toml" for name in DISTRIBUTIONS)
    return {path.stem: IndexFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))) for path in paths}


def questions(facts: Snapshot, files: dict[str, IndexFile], count: int) -> list[tuple[list[Element], date]]:
    """Return builds that go together, each question with a day near the upload of one of them."""
    chance = random.Random(22)
    days = {(name, r.version): r.uploaded.date() for name, file in files.items() for r in file.release}
    here = {
        (name, file.name.split("-")[1])
        for name, index in files.items()
        for file in served(index)
        if fits(file.name, PYTHON, PLATFORM)
    }
    builds = [
        e
        for p in facts.products.values()
        for e in facts.elements(p.id)
        if "default" in e.channels and (e.distribution, e.version) in here and e.yank_by is None
    ]
    found: list[tuple[list[Element], date]] = []
    while len(found) < count:
        chosen = chance.sample(builds, chance.choice((0, 1, 1)))
        pins = {e.product: e for e in [*chosen, chance.choice([e for e in builds if e.product == PROVIDER])]}
        near = chance.choice(list(pins.values()))
        day = days[near.distribution or "", near.version] + timedelta(days=chance.choice((-30, -1, 0, 1, 2, 14, 60)))
        if before(facts, list(pins.values()), None).verdict in USABLE:
            found.append((list(pins.values()), day))
    return found


def pip_accepts(url: str, pins: list[Element], day: date, folder: Path) -> bool:
    """Return whether pip finds the builds where only uploads before a day count; raises AssertionError for other failures."""
    words = [
        "install",
        "--isolated",
        "--disable-pip-version-check",
        "--no-cache-dir",
        "--dry-run",
        "--no-deps",
        "--ignore-installed",
    ]
    words += ["--only-binary=:all:", "--python-version", PYTHON, "--target", str(folder), "--index-url", url, "--quiet"]
    words += [word for tag in installer_platforms(PLATFORM) for word in ("--platform", tag)]
    words += ["--uploaded-prior-to", f"{day}T00:00:00Z", *(f"{e.distribution}=={e.version}" for e in pins)]
    done = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "No matching distribution found" in done.stderr, done.stderr
    return done.returncode == 0


@pytest.mark.soak
def test_answers_are_those_of_pip(facts: Snapshot, tmp_path: Path) -> None:
    """On 50 questions pip --uploaded-prior-to, over the index that the data recorded, and we agree on what is old enough."""
    files = index_files()
    listed = Index({name: served(file) for name, file in files.items()}, as_json=True, offers_metadata=True)
    asked = questions(facts, files, 50)
    seen = []
    with serving(listed) as index:
        for pins, day in asked:
            ours = before(facts, pins, day).verdict in USABLE
            theirs = pip_accepts(index.url, pins, day, tmp_path)
            assert ours == theirs, f"{[(e.product, e.version) for e in pins]} before {day}: pip {theirs}, we {ours}"
            seen.append(ours)
    assert 10 <= sum(seen) <= 40


def test_the_day_counts(facts: Snapshot, run: Callable[..., Run]) -> None:
    """What was uploaded on the day that is so many days ago is left out, what was the day before is taken."""
    element = next(e for e in facts.elements("torch") if e.version == "2.12.0")
    assert element.since
    day = date.fromordinal(element.since)
    words = ("resolve", "torch==2.12.0", "--device", "cpu", "--os", "linux", "--min-age", "14d", "--as-of")
    younger = run(*words, (day + timedelta(days=14)).isoformat())
    assert younger.code == 1
    assert f"too new: uploaded on {day} or later" in " ".join(younger.out.split())
    assert run(*words, (day + timedelta(days=15)).isoformat()).code == 0


def test_screen_and_json_say_so(facts: Snapshot, run: Callable[..., Run]) -> None:
    """An answer that leaves out recent uploads says from which day on."""
    words = ("resolve", "torch", "--device", "cpu", "--min-age", "14d", "--as-of", "2026-11-21")
    assert "uploads before 2026-11-07" in run(*words).out
    assert '"uploaded_before": "2026-11-07"' in run(*words, "--format", "json").out


def test_wrong_age_is_refused(run: Callable[..., Run]) -> None:
    """An age is a number of days from 1 on."""
    for text in ("soon", "0d", "-3d", "14h"):
        done = run("resolve", "torch", "--min-age", text)
        assert (done.code, done.out) == (2, "")
