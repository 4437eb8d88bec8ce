"""`check --fix` against uv: lists of pins that are broken, mended by the program, and given to the installer.

Pins are drawn as tests/ring_pins.py draws them, from what data/index records. Run as a program it prints how many of the lists
that are mended uv accepts, and each that it refuses, with its words:

    python tests/fixed_by_uv.py --count 60 --seed 20261128 --work .soak/ring
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from conftest import ROOT
from ring_pins import Uv, beyond, drawn, held_of, recorded

from compatkb.api import KnowledgeBase
from compatkb.check import check
from compatkb.check.document import CheckContext, TextDocument, mended
from compatkb.core.clock import Clock
from compatkb.store.reader import Snapshot

_PIN = re.compile(r"^([\w.-]+)==([\w.]+)$", re.MULTILINE)


def fixed(facts: Snapshot, clock: Clock, text: str, python: str) -> tuple[str, str]:
    """Return a list of requirements for a Python as `--fix` writes it, and what `--fix` makes of that."""
    texts = [text]
    for _ in range(2):
        document = TextDocument("requirements.txt", texts[-1])
        findings = check([document, TextDocument(".python-version", f"{python}\n")], CheckContext(facts, clock)).findings
        texts.append(mended(document, [one for one in findings if one.path == document.path])[0])
    return texts[1], texts[2]


def lists(base: KnowledgeBase, seed: int) -> Iterator[tuple[str, str, str, str]]:
    """Yield lists that `--fix` changes, without end: before, after, after twice, and the Python."""
    products = {product.distribution or product.id: product.id for product in base.facts.products.values()}
    releases = {name: held for name, listed in recorded().items() if (held := held_of(base.facts, products[name], listed))}
    clock = Clock(date.fromisoformat(base.facts.meta["data_date"]))
    while True:
        for question in drawn(releases, 200, seed, products):
            pins = question.cell(base.facts).packages
            text = "".join(f"{name}=={version}\n" for name, version in pins)
            once, twice = fixed(base.facts, clock, text, question.python)
            if once != text:
                yield text, once, twice, question.python
        seed += 1


def main() -> None:
    """Mend so many lists and print what uv says; exit 1 where it refuses one for what the data know, or two fixes differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=20261128)
    parser.add_argument("--work", type=Path, required=True, help="folder for what uv says")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    base = KnowledgeBase(ROOT / "data")
    uv, known = Uv(arguments.work.resolve(), base.data_date), recorded()
    counts = Counter[str]()
    for (before, once, twice, python), _ in zip(lists(base, arguments.seed), range(arguments.count), strict=False):
        ok, words = uv(_PIN.findall(once), python)
        if ok:
            kind = "accepted"
        elif "no usable wheels" in words:
            kind = "to be built from an archive"
        elif beyond(words, known):
            kind = "refused for what data/index lacks"
        else:
            kind = "refused"
        counts[kind] += 1
        counts["changed by a second fix"] += once != twice
        if kind == "refused" or once != twice:
            print(f"Python {python}: {before.split()} -> {once.split()} -> {twice.split()}; {words[:600]}")
    print(dict(counts))
    raise SystemExit(bool(counts["refused"] or counts["changed by a second fix"]))


if __name__ == "__main__":
    main()
