"""compatkb against uv and pip: exact pins of two to five distributions of which data/index records what the index has.

Half of the questions are neighbours by their day of upload, half are drawn at random, by a seed. Run as a program it asks
many, keeps what the installers say, and prints where compatkb differs:

    python tests/ring_pins.py --count 1000 --seed 20261128 --work .soak/ring --pip-every 8
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import threading
import tomllib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from conftest import ROOT
from differential import CHANNEL, GOOD, LIKELY, UNDECIDED, UNKNOWN, WRONG, Question, difference
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from compatkb.api import KnowledgeBase
from compatkb.core.platforms import uv_platform
from compatkb.engine.answer import Answer, resolve
from compatkb.errors import CompatkbError
from compatkb.output.presenter import present
from compatkb.schema import Outcome
from compatkb.store.reader import Snapshot
from compatkb.validate.limits import find_uv
from compatkb.validate.session import interpreters
from compatkb.validate.targets import fits

PATCHES = {
    "3.8": "3.8.18", "3.9": "3.9.18", "3.10": "3.10.13", "3.11": "3.11.7", "3.12": "3.12.1", "3.13": "3.13.0",
    "3.14": "3.14.2",
}  # fmt: skip
"""The Pythons that are drawn, and the patch that uv resolves for: a bare minor means its first release to uv."""
PLATFORM = "linux-x86_64"
WEIGHTS = {
    **dict.fromkeys(("torch", "torchvision", "torchaudio", "transformers", "tokenizers", "huggingface-hub", "accelerate"), 6),
    **dict.fromkeys(
        ("triton", "vllm", "xformers", "torchao", "torchcodec", "optimum-intel", "intel-extension-for-pytorch"), 2
    ),
    **dict.fromkeys(("neural-compressor", "bitsandbytes", "onnxruntime", "openvino"), 2),
}
NEAREST = 5
PATIENCE = 300
"""Seconds within which pip answers, or is not asked about a question."""
BEYOND = "refused for what distributions require that data/index lacks"
TIED = "accepted and unknown, though requirements tie every pin to another"
COMPANIONS = "the pins resolve, and refused with the companions that nobody asked for"
STRANGE = "not understood"
FAULTS = (WRONG, LIKELY, UNDECIDED, COMPANIONS, STRANGE)


@dataclass(frozen=True)
class Listed:
    """A final release that the index has for Linux on x86-64."""

    distribution: str
    version: str
    uploaded: datetime
    pythons: tuple[str, ...]
    requires: tuple[str, ...]


def recorded() -> dict[str, list[Listed]]:
    """Return the releases of every distribution that data/index records, read without the program."""
    found: dict[str, list[Listed]] = {}
    for path in sorted((ROOT / "data" / "index").glob("*.toml")):
        listed = tomllib.loads(path.read_text(encoding="utf-8"))
        releases = [listed_release(listed["distribution"], release) for release in listed.get("release", ())]
        final = [one for one in releases if one.pythons and not Version(one.version).is_prerelease and "+" not in one.version]
        if final:
            found[listed["distribution"]] = final
    return found


def held_of(facts: Snapshot, product: str, listed: list[Listed]) -> list[Listed]:
    """Return those releases of a distribution that the data hold as releases of the product."""
    versions = {element.version for element in facts.elements(product)}
    return [one for one in listed if one.version in versions]


def listed_release(name: str, release: Mapping[str, Any]) -> Listed:
    """Return a release of a file of data/index, with the Pythons for which it has a wheel and does not refuse."""
    files = []
    for python, platforms in release.get("wheels", {}).items():
        interpreter, _, abi = python.removesuffix("t").partition("-")
        tag = f"{interpreter}-{abi or python}" if python.startswith("cp") else f"{python}-none"
        files += [f"{name.replace('-', '_')}-{release['version']}-{tag}-{platform}.whl" for platform in platforms]
    fitting = tuple(python for python in PATCHES if any(fits(file, python, PLATFORM) for file in files))
    return Listed(name, release["version"], release["uploaded"], fitting, tuple(release.get("requires", ())))


def drawn(releases: Mapping[str, list[Listed]], count: int, seed: int, products: Mapping[str, str]) -> list[Question]:
    """Return so many distinct questions: those of even number are neighbours by day, the others random."""
    chance = random.Random(seed)
    found: dict[Question, None] = {}
    while len(found) < count:
        names = _names(chance, list(releases))
        first = chance.choice(releases[names[0]])
        if len(found) % 2 == 0:
            members = [first, *(_neighbour(chance, releases[name], first) for name in names[1:])]
            python = chance.choice(first.pythons)
        else:
            members = [first, *(chance.choice(releases[name]) for name in names[1:])]
            python = chance.choice(list(PATCHES))
        found[Question(tuple(sorted((products[m.distribution], m.version) for m in members)), python)] = None
    return list(found)


def _names(chance: random.Random, names: list[str]) -> list[str]:
    wanted, chosen = chance.randint(2, 5), list[str]()
    while len(chosen) < wanted:
        name = chance.choices(names, [WEIGHTS.get(name, 1) for name in names])[0]
        if name not in chosen:
            chosen.append(name)
    return chosen


def _neighbour(chance: random.Random, releases: list[Listed], first: Listed) -> Listed:
    return chance.choice(sorted(releases, key=lambda one: abs(one.uploaded - first.uploaded))[:NEAREST])


class Installer(ABC):
    """Asks an installer about exact pins on the default index, and keeps what it says in a file."""

    refused: tuple[str, ...] = ()
    """What its words hold where it refuses pins: other failures are no answer about versions, and are asked again."""

    def __init__(self, work: Path, day: object) -> None:
        self.work, self.path, self.lock = work, work / f"{type(self).__name__.lower()}-{day}.jsonl", threading.Lock()
        lines = [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()] if self.path.exists() else []
        self.said = {(line["python"], tuple(sorted(line["pins"].items()))): (line["ok"], line["words"]) for line in lines}

    def __call__(self, pins: Iterable[tuple[str, str]], python: str) -> tuple[bool, str]:
        """Return whether pins resolve, and the installer's words where they do not."""
        key = (python, tuple(sorted(pins)))
        if key not in self.said:
            ended = self.run([f"{name}=={version}" for name, version in key[1]], python)
            if ended.returncode and not any(words in ended.stderr for words in self.refused):
                raise RuntimeError(ended.stderr)
            self.said[key] = not ended.returncode, " ".join(ended.stderr.split()) if ended.returncode else ""
            line = {"pins": dict(key[1]), "python": python, "ok": self.said[key][0], "words": self.said[key][1]}
            with self.lock, self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        return self.said[key]

    @abstractmethod
    def run(self, pins: list[str], python: str) -> subprocess.CompletedProcess[str]:
        """Let the installer resolve pins for a Python, wheels only."""


class Uv(Installer):
    """uv, which resolves for any Python."""

    refused = ("No solution found",)

    def run(self, pins: list[str], python: str) -> subprocess.CompletedProcess[str]:
        """Let it compile the pins for the newest glibc."""
        words = [find_uv() or "uv", "pip", "compile", "--quiet", "--no-config", "--no-header", "--color", "never"]
        words += ["--only-binary", ":all:", "--index-strategy", "unsafe-best-match", "--python", sys.executable]
        words += ["--python-version", PATCHES[python], "--python-platform", str(uv_platform(*PLATFORM.rsplit("-", 1))), "-"]
        environment = {**os.environ, "UV_CACHE_DIR": str(self.work / "uv-cache"), "UV_PYTHON_DOWNLOADS": "never"}
        text = "".join(f"{pin}\n" for pin in pins)
        return subprocess.run(words, input=text, capture_output=True, text=True, env=environment, check=False, timeout=300)


class Pip(Installer):
    """The newest pip for each interpreter at hand, which resolves for this machine."""

    refused = (
        "ResolutionImpossible",
        "No matching distribution found",
        "conflicting dependencies",
        "requires a different Python",
    )

    def run(self, pins: list[str], python: str) -> subprocess.CompletedProcess[str]:
        """Let it say what it would install."""
        tool = self.work / "tools" / f"pip-{python}" / "bin" / "python"
        if not tool.exists():
            subprocess.run([interpreters()[python], "-m", "venv", str(tool.parent.parent)], check=True)
            upgrade = [str(tool), "-m", "pip", "--isolated", "install", "--quiet", "--only-binary=:all:", "--upgrade", "pip"]
            subprocess.run(upgrade, check=True)
        words = [str(tool), "-m", "pip", "--isolated", "--no-input", "--no-color", "--disable-pip-version-check", "install"]
        words += [
            "--dry-run",
            "--ignore-installed",
            "--quiet",
            "--only-binary=:all:",
            "--no-cache-dir",
            "--use-feature=fast-deps",
        ]
        return subprocess.run([*words, *pins], capture_output=True, text=True, check=False, timeout=PATIENCE)


def beyond(words: str, known: Iterable[str]) -> list[str]:
    """Return the distributions on whose requirements or files a refusal of uv rests, of those that data/index lacks."""
    named = re.findall(r"([A-Za-z0-9][\w.-]*?)(?:\[[^\]]*\])?(?:[=<>!][^\s]*)? depends? on", words)
    named += re.findall(r"([A-Za-z0-9][\w.-]*?)(?:[=<>!][^\s]*)? has no (?:wheels|`)", words)
    named += re.findall(r"there (?:is|are) no versions? of ([A-Za-z0-9][\w.-]*?)(?:[=<>!{,]|\s|$)", words)
    named += re.findall(
        r"only (?:the following versions of )?([A-Za-z0-9][\w.-]*?)(?:[=<>!{,]\S*)? (?:is|are) available", words
    )
    names = {str(canonicalize_name(name)) for name in named}
    return sorted(names - set(known) - {"versions", "version", "of", "project"})


def tied(pins: Iterable[Listed], python: str) -> bool:
    """Return whether requirements that hold there connect all pins."""
    pins = list(pins)
    names = {one.distribution for one in pins}
    links = {(one.distribution, other) for one in pins for other in _required(one, python) if other in names}
    reached = {pins[0].distribution}
    for _ in pins:
        reached |= {b for a, b in links if a in reached} | {a for a, b in links if b in reached}
    return all(one.distribution in reached for one in pins)


def _required(one: Listed, python: str) -> Iterator[str]:
    environment = {
        "os_name": "posix", "sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64", "extra": "",
        "implementation_name": "cpython", "python_version": python, "python_full_version": PATCHES[python],
    }  # fmt: skip
    for text in one.requires:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if requirement.marker is None or requirement.marker.evaluate(environment):
            yield str(canonicalize_name(requirement.name))


def told_of(facts: Snapshot, answer: Answer) -> dict[str, Any]:
    """Return an answer in short: its verdict, the stack that it names or its causes."""
    told: dict[str, Any] = {"verdict": str(answer.verdict)}
    if answer.stacks:
        told["stack"] = {e.distribution or e.product: e.version for e in answer.stacks[0].packages}
    else:
        told["causes"] = [[cause.message, *(name for name, _ in cause.sources)] for cause in present(facts, answer).causes]
    return told


def judge(base: KnowledgeBase, question: Question, uv: Uv, releases: Mapping[str, list[Listed]]) -> dict[str, Any]:
    """Return what both say, and how they differ."""
    facts, cell = base.facts, question.cell(base.facts)
    told: dict[str, Any] = {"pins": dict(question.pins), "python": question.python}
    ok, words = uv(cell.packages, question.python)
    told |= {"uv": "ok" if ok else "refused", "words": words}
    try:
        answer = resolve(facts, question.request(facts), near=False)
        told |= told_of(facts, answer)
        if not ok:
            words_asked = [f"{name}=={version}" for name, version in question.pins]
            plain = resolve(facts, base.request({"python": question.python, "os": "linux"}, words_asked), near=False)
            told["plain"] = told_of(facts, plain)
    except CompatkbError as error:
        return told | {"difference": STRANGE, "error": f"{type(error).__name__}: {error}"}
    kind = difference(answer.verdict, Outcome.OK if ok else Outcome.CONFLICT)
    if kind in (LIKELY, UNDECIDED) and (unknown := beyond(words, releases)):
        kind, told["beyond"] = BEYOND, unknown
    if kind == UNKNOWN:
        named = dict(cell.packages)
        own = [one for name in named for one in releases[name] if one.version == named[name]]
        kind = TIED if tied(own, question.python) else UNKNOWN
    if not kind and answer.stacks and answer.verdict in (*GOOD, "likely"):
        carried = {
            e.distribution or e.product: e.version
            for e in answer.stacks[0].packages
            if not e.channels or CHANNEL in e.channels
        }
        whole = carried | dict(cell.packages)
        if len(whole) > len(cell.packages):
            fine, why = uv(whole.items(), question.python)
            if not fine:
                kind, told["whole"], told["words"] = COMPANIONS, whole, why
    told["difference"] = kind
    return told


def main() -> None:
    """Ask the questions, and print how the two differ; exit 1 where there are faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20261128)
    parser.add_argument("--work", type=Path, required=True, help="folder for what uv and pip say")
    parser.add_argument("--pip-every", type=int, default=0, metavar="N", help="ask pip each N-th question, too")
    parser.add_argument("--installers-only", action="store_true", help="do not ask compatkb")
    parser.add_argument("--jobs", type=int, default=4, help="so many questions to uv at a time")
    parser.add_argument("--out", type=Path, help="a line a question")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    base = KnowledgeBase(ROOT / "data")
    products = {product.distribution or product.id: product.id for product in base.facts.products.values()}
    releases = {name: held for name, listed in recorded().items() if (held := held_of(base.facts, products[name], listed))}
    uv = Uv(work, base.data_date)
    asked = drawn(releases, arguments.count, arguments.seed, products)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for number, _ in enumerate(pool.map(lambda one: uv(one.cell(base.facts).packages, one.python), asked), 1):
            print(f"\ruv {number} of {arguments.count}", end="", file=sys.stderr, flush=True)
    if arguments.pip_every:
        ask_pip(base, asked[:: arguments.pip_every], uv, Pip(work, base.data_date), arguments.jobs)
    if arguments.installers_only:
        return
    found = []
    for number, question in enumerate(asked, 1):
        found.append(judge(base, question, uv, releases))
        if arguments.out:
            with arguments.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found[-1], ensure_ascii=False) + "\n")
        print(f"\r{number} of {arguments.count}", end="", file=sys.stderr, flush=True)
    for kind, count in Counter(line["difference"] or "agree" for line in found).most_common():
        print(f"{count:5}  {kind}")
    lacking = Counter(name for line in found if line["difference"] == BEYOND for name in line["beyond"])
    if lacking:
        print("      for want of " + ", ".join(f"{name} ({count})" for name, count in lacking.most_common()))
    for line in found:
        if line["difference"] in FAULTS:
            print(json.dumps(line, ensure_ascii=False))
    sys.exit(any(line["difference"] in FAULTS for line in found))


def ask_pip(base: KnowledgeBase, asked: Iterable[Question], uv: Uv, pip: Pip, jobs: int) -> None:
    """Ask pip, too, where there is an interpreter, and print where it differs from uv."""
    said: Counter[str] = Counter()

    def both(question: Question) -> None:
        pins = question.cell(base.facts).packages
        ok, words = uv(pins, question.python)
        try:
            fine, why = pip(pins, question.python)
        except subprocess.TimeoutExpired:
            said[f"pip said nothing in {PATIENCE} s"] += 1
            return
        said[f"pip {'ok' if fine else 'refuses'}, uv {'ok' if ok else 'refuses'}"] += 1
        if ok != fine:
            print(json.dumps({"pins": dict(pins), "python": question.python, "pip": why or "ok", "uv": words or "ok"}))

    with ThreadPoolExecutor(jobs) as pool:
        for number, _ in enumerate(pool.map(both, (one for one in asked if one.python in interpreters())), 1):
            print(f"\rpip {number}", end="", file=sys.stderr, flush=True)
    for kind, count in said.most_common():
        print(f"{count:5}  {kind}")


if __name__ == "__main__":
    main()
