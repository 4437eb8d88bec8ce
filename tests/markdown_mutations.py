"""Plants faults into tables that are rendered from the data, and counts how many the reviewer sees.

Every document is rendered from what image tags are known to hold, as of a day on which nothing in it was out of support;
a mutation changes one thing in it. `python tests/markdown_mutations.py 300` prints what was seen and what was not: with all
rules, and by the rules that are on by themselves.
"""

import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from datetime import date
from typing import NamedTuple

from markdown_defects import UNPROVEN

from compatkb.check import check
from compatkb.check.config import Settings
from compatkb.check.document import CheckContext, TextDocument
from compatkb.check.lookups import Lookups, lookups
from compatkb.core.clock import Clock
from compatkb.core.findings import Severity
from compatkb.store.queries.images import ImageRecord
from compatkb.store.reader import Snapshot

DAY = date(2025, 9, 1)
GROUPS = {
    "XPU images": ("xpu", ("torch", "torchvision", "ipex", "gpu-driver", "python")),
    "XPU images with the bindings": ("xpu", ("torch", "ipex", "oneccl-bind-pt", "gpu-driver", "os")),
    "CPU images": ("cpu", ("torch", "torchvision", "torchaudio", "ipex", "python")),
    "CPU images for several nodes": ("cpu", ("torch", "ipex", "oneccl-bind-pt", "neural-compressor")),
}
HEADS = {"torch": "PyTorch", "ipex": "IPEX", "gpu-driver": "Driver", "oneccl-bind-pt": "oneCCL bindings", "os": "Base OS"}
HOMES = {
    "torch": "pytorch/pytorch",
    "ipex": "intel/intel-extension-for-pytorch",
    "oneccl-bind-pt": "intel/torch-ccl",
    "neural-compressor": "intel/neural-compressor",
}


OPTIONAL = ("definition-gone", "row-twice", "tag-twice", "cells", "version-never-released")
"""Kinds of faults that rules which are off by themselves are for: without them most or some are not seen."""


class Mutation(NamedTuple):
    """A document with one fault, and what was done."""

    kind: str
    text: str
    said: str


def render(facts: Snapshot, pick: random.Random) -> str:
    """Return a document with a table for each group, with some of the images that are listed on the day."""
    data = lookups(facts)
    lines = ["# Images", "", "Images of `intel/intel-extension-for-pytorch`.", ""]
    links: dict[str, str] = {}
    named: set[str] = set()
    for title, (device, products) in GROUPS.items():
        images = [i for i in _images(data) if i.device == device and all(_exact(data, i, p) for p in products)]
        images = [image for image in images if image.name not in named]
        chosen = sorted(pick.sample(images, min(6, len(images))), key=lambda image: image.id)
        named |= {image.name for image in chosen}
        lines += [f"## {title}", "", "| Tag(s) | " + " | ".join(HEADS.get(p, p) for p in products) + " |"]
        lines += ["|---" * (len(products) + 1) + "|"]
        for image in chosen:
            cells = [_cell(data, image, product, links) for product in products]
            lines.append(f"| `{image.name}` | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join([*lines, *(f"[{label}]: {target}" for label, target in links.items())]) + "\n"


def _images(data: Lookups) -> list[ImageRecord]:
    day = DAY.toordinal()
    found = [image for images in data.images.values() for image in images]
    listed = [i for i in found if re.match(r"\d", i.name) and any(a <= day <= b for a, b in i.runs)]
    bad = [advisory for advisory in data.facts.advisories if advisory.kind == "driver"]
    return [
        image
        for image in listed
        if "mulitnode" not in image.name  # odd in the data, too
        and not any(a.mask & held.mask for a in bad if (held := data.contents(image).get(a.product)))
    ]


def _exact(data: Lookups, image: ImageRecord, product: str) -> str | None:
    held = data.contents(image).get(product)
    if held is None or not held.spec.startswith("==") or not held.mask:
        return None
    names = data.names(product, held.mask)
    return names[0] if len(names) == 1 or product == "gpu-driver" else None


def _cell(data: Lookups, image: ImageRecord, product: str, links: dict[str, str]) -> str:
    spec = data.contents(image)[product].spec.removeprefix("==").removesuffix(".*")
    if product not in HOMES:
        return spec
    release = _exact(data, image, product)
    label = "+" + image.device if product in ("ipex", "oneccl-bind-pt") else ""
    name = f"{product} {release}{label}"
    links[name] = f"https://github.com/{HOMES[product]}/releases/tag/v{release}{label.replace('+', '%2B')}"
    return f"[v{release}{label}][{name}]"


# -- mutations ---------------------------------------------------------------------------------------------------------


def _rows(text: str) -> list[int]:
    return [n for n, line in enumerate(text.split("\n")) if line.startswith("| `")]


def _with(text: str, number: int, line: str) -> str:
    lines = text.split("\n")
    lines[number] = line
    return "\n".join(lines)


def tag_letter(text: str, pick: random.Random) -> Mutation:
    """Change, drop or double a letter of a tag, or swap two."""
    number = pick.choice(_rows(text))
    line = text.split("\n")[number]
    tag = re.findall(r"`([^`]+)`", line)[0]
    at = pick.choice([m.start() for m in re.finditer(r"[a-z](?=[a-z])", tag)])
    new = pick.choice(
        [tag[:at] + tag[at + 1 :], tag[:at] + tag[at] + tag[at:], tag[:at] + tag[at + 1] + tag[at] + tag[at + 2 :]]
    )
    new = new if new != tag else f"{tag}x"
    return Mutation("tag-letter", _with(text, number, line.replace(tag, new, 1)), f"{tag} -> {new}")


def tag_number(text: str, pick: random.Random) -> Mutation:
    """Change a number of a tag."""
    number = pick.choice(_rows(text))
    line = text.split("\n")[number]
    tag = re.findall(r"`([^`]+)`", line)[0]
    match = pick.choice(list(re.finditer(r"\d+", tag)))
    new = tag[: match.start()] + str(int(match[0]) + pick.choice([1, 3, 10])) + tag[match.end() :]
    return Mutation("tag-number", _with(text, number, line.replace(tag, new, 1)), f"{tag} -> {new}")


def cell_of_another_row(text: str, pick: random.Random) -> Mutation:
    """Put the version of another row, which differs, into a cell."""
    rows = _rows(text)
    for _ in range(200):
        one, other = pick.choice(rows), pick.choice(rows)
        mine, theirs = text.split("\n")[one].split(" | "), text.split("\n")[other].split(" | ")
        column = pick.randrange(1, len(mine))
        if abs(one - other) < 6 and len(mine) == len(theirs) and _numbers(mine[column]) != _numbers(theirs[column]):
            said = f"{mine[column]} -> {theirs[column]}"
            mine[column] = theirs[column]
            return Mutation("cell-of-another-row", _with(text, one, " | ".join(mine)), said)
    return tag_number(text, pick)


def _numbers(cell: str) -> list[str]:
    return re.findall(r"\d+", cell)


def link_target(text: str, pick: random.Random) -> Mutation:
    """Change a number in the target of a definition."""
    lines = [n for n, line in enumerate(text.split("\n")) if line.startswith("[")]
    number = pick.choice(lines)
    line = text.split("\n")[number]
    head, mark, tag = line.rpartition("/v")
    match = pick.choice(list(re.finditer(r"\d+(?=[.]|$|%)", tag)))
    new = tag[: match.start()] + str(int(match[0]) + pick.choice([1, 2])) + tag[match.end() :]
    return Mutation("link-target", _with(text, number, f"{head}{mark}{new}"), f"{tag} -> {new}")


def link_branch(text: str, pick: random.Random) -> Mutation:
    """Let a definition lead to a branch."""
    number = pick.choice([n for n, line in enumerate(text.split("\n")) if line.startswith("[")])
    line = text.split("\n")[number]
    new = re.sub(r"/releases/tag/.*", "/tree/main", line)
    return Mutation("link-branch", _with(text, number, new), line)


def link_early(text: str, pick: random.Random) -> Mutation:
    """Let a definition lead to a release candidate."""
    number = pick.choice([n for n, line in enumerate(text.split("\n")) if line.startswith("[")])
    line = text.split("\n")[number]
    return Mutation("link-early", _with(text, number, line + pick.choice(["-rc1", "-rc3", ".dev0"])), line)


def definition_gone(text: str, pick: random.Random) -> Mutation:
    """Remove a definition that is used."""
    lines = text.split("\n")
    number = pick.choice([n for n, line in enumerate(lines) if line.startswith("[")])
    return Mutation("definition-gone", "\n".join([*lines[:number], *lines[number + 1 :]]), lines[number])


def definition_twice(text: str, pick: random.Random) -> Mutation:
    """Define a label again, with another target."""
    lines = [line for line in text.split("\n") if line.startswith("[")]
    one, other = pick.sample(lines, 2)
    return Mutation("definition-twice", text + one.split("]: ")[0] + "]: " + other.split("]: ")[1] + "\n", one)


def row_twice(text: str, pick: random.Random) -> Mutation:
    """Put a row in twice."""
    lines = text.split("\n")
    number = pick.choice(_rows(text))
    return Mutation("row-twice", "\n".join([*lines[: number + 1], lines[number], *lines[number + 1 :]]), lines[number])


def tag_twice(text: str, pick: random.Random) -> Mutation:
    """Put the tag of a row, or `latest`, onto two rows."""
    one, other = pick.sample(_rows(text), 2)
    lines = text.split("\n")
    tag = pick.choice(["latest", re.findall(r"`([^`]+)`", lines[one])[0]])
    for number in (one, other):
        if f"`{tag}`" not in lines[number]:
            lines[number] = lines[number].replace("| `", f"| `{tag}`, `", 1)
    return Mutation("tag-twice", "\n".join(lines), tag)


def cell_more_or_less(text: str, pick: random.Random) -> Mutation:
    """Add or drop a cell of a row or of a head."""
    lines = text.split("\n")
    number = pick.choice([n for n, line in enumerate(lines) if line.startswith("| ")])
    cells = lines[number].strip("| ").split(" | ")
    cells = pick.choice([[*cells, "more"], cells[:-1]])
    return Mutation("cells", _with(text, number, "| " + " | ".join(cells) + " |"), lines[number])


def version_never_released(text: str, pick: random.Random) -> Mutation:
    """Give a cell a version that was never released."""
    number = pick.choice(_rows(text))
    line = text.split("\n")[number]
    match = pick.choice(list(re.finditer(r"\[v(\d+\.\d+)\.\d+[^\]]*\]\[[^\]]*\]", line)))
    new = line[: match.start()] + f"v{match[1]}.{pick.choice([7, 8, 77])}" + line[match.end() :]
    return Mutation("version-never-released", _with(text, number, new), f"{match[0]}")


MUTATIONS: tuple[Callable[[str, random.Random], Mutation], ...] = (
    tag_letter, tag_number, cell_of_another_row, cell_of_another_row, link_target, link_branch, link_early, definition_gone,
    definition_twice, row_twice, tag_twice, cell_more_or_less, version_never_released,
)  # fmt: skip


def review(facts: Snapshot, text: str, optional: tuple[str, ...] = UNPROVEN) -> set[tuple[str, str]]:
    """Return what the reviewer finds as of the day, by optional rules too: rules and messages."""
    settings = Settings(levels=dict.fromkeys(optional, Severity.INFO))
    findings = check([TextDocument("README.md", text)], CheckContext(facts, Clock(DAY, DAY)), settings).findings
    return {(finding.rule, finding.message) for finding in findings}


class Campaign(NamedTuple):
    """How many mutations of each kind there were, which were not seen, and clean documents with findings."""

    kinds: Counter[str]
    missed: list[Mutation]  # by all rules
    missed_by_default: list[Mutation]  # by the rules that are on by themselves
    loud: list[str]

    def told(self) -> list[str]:
        """Return a line for each kind and one for all: how many were seen, and how many of these by default."""
        left, plain = (Counter(one.kind for one in missed) for missed in (self.missed, self.missed_by_default))
        rows = [*((kind, total, left[kind], plain[kind]) for kind, total in sorted(self.kinds.items()))]
        rows.append(("all", self.kinds.total(), left.total(), plain.total()))
        return [f"{kind:24} {total - gone:4} of {total:4}, by default {total - more:4}" for kind, total, gone, more in rows]


def campaign(facts: Snapshot, count: int, seed: int = 7) -> Campaign:
    """Return what came of so many mutations."""
    pick = random.Random(seed)
    kinds: Counter[str] = Counter()
    missed, plain, loud = [], [], []
    text, clean = "", set()
    for number in range(count):
        if number % 20 == 0:
            text = render(facts, pick)
            clean = review(facts, text)
            loud += [f"{message} [{rule}]" for rule, message in clean]
        mutation = MUTATIONS[number % len(MUTATIONS)](text, pick)
        kinds[mutation.kind] += 1
        said = {rule for rule, _ in review(facts, mutation.text) - clean} if mutation.text != text else set()
        if not said:
            missed.append(mutation)
        # a sure rule keeps silent where an optional one speaks of the same place
        if not said - set(UNPROVEN) and not (said and review(facts, mutation.text, ()) - clean):
            plain.append(mutation)
    return Campaign(kinds, missed, plain, loud)


def main() -> None:
    """Run the campaign over the shipped data, and print what was seen."""
    from compatkb.store.cache import locate

    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    made = campaign(Snapshot(locate()), count)
    print("\n".join(made.told()))
    for mutation in made.missed:
        print(f"missed: {mutation.kind}: {mutation.said}")
    for line in made.loud:
        print(f"clean, but: {line}")
    sys.exit(bool(made.loud) or len(made.missed) * 20 > count)


if __name__ == "__main__":
    main()
