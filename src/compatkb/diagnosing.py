"""What is behind an error: candidate causes from what a pasted text prints, and the nearest stack that works."""

import re
from typing import Any, NamedTuple

from packaging.utils import canonicalize_name

from compatkb.asking import find_versions, make_request
from compatkb.engine.answer import Answer, Near, resolve
from compatkb.errors import CompatkbError, UsageError
from compatkb.gleaning import SLOTS, WISHED, Read, guide, read_versions, shape
from compatkb.pasted import Hit, Pasted
from compatkb.records import Product
from compatkb.replacing import Instead, instead_of
from compatkb.snapshot.read import Snapshot

_WORKS = ("works", "works-with-warnings", "likely")
_DENIED, _FITS, _ALONE = 3, 4, 6  # what the engine's word on the versions adds to causes about versions, or takes from them
_VERSIONED = ("version", "runtime")


class Candidate(NamedTuple):
    """A cause that the text speaks for; `hits` are the lines that do."""

    id: str
    kind: str
    title: str
    why: str
    do: tuple[str, ...]
    weight: int
    hits: tuple[Hit, ...]
    sources: tuple[tuple[str, str | None], ...]


class Wanted(NamedTuple):
    """A requirement that an installer could not meet, and what the data know of it: builds of that release, what is near."""

    requirement: str
    known: bool  # the very version is in the data
    builds: tuple[tuple[str, tuple[str, ...]], ...]  # version and channels, newest first
    near: tuple[str, ...]
    pins: tuple[Read, ...] = ()  # the release and the device that were wanted, as far as the data know them


class Diagnosis(NamedTuple):
    """What is said about a text; candidates with the likeliest first."""

    candidates: tuple[Candidate, ...]
    versions: tuple[Read, ...]
    unread: tuple[str, ...]  # versions that the data do not know, as they stand in the text
    answer: Answer | None  # to the versions that the text names, where they are two packages or more
    wanted: tuple[Wanted, ...]
    nearest: tuple[Near, ...]
    instead: Instead | None = None  # what takes the place of products that have ended

    @property
    def about_versions(self) -> bool:
        """Whether the likeliest cause is one that other versions mend."""
        return bool(self.candidates) and self.candidates[0].kind not in ("machine", "code")


def diagnose(facts: Snapshot, text: str, day: Any) -> Diagnosis:
    """Return what a text that was printed by a failing program speaks for, as of a day (a date)."""
    pasted = Pasted(text)
    causes = {record["id"]: record for record in guide(facts, "cause")}
    weights: dict[str, int] = {}
    hits: dict[str, list[Hit]] = {}
    cited: dict[str, dict[tuple[str, str | None], None]] = {}
    told: list[Read] = []
    wanted: dict[str, None] = {}
    for symptom in guide(facts, "symptom"):
        found = [hit for pattern in symptom["patterns"] if (hit := pasted.find(pattern)) is not None]
        if not found:
            continue
        for hit in found:
            told += (Read(n, shape(facts, n, v), hit.line, SLOTS) for n, v in hit.slots if n in facts.products)
            wanted.update((value, None) for name, value in hit.slots if name == "requirement")
        for speaks in symptom["causes"]:
            name = speaks["cause"]
            weights[name] = weights.get(name, 0) + speaks["weight"]
            hits.setdefault(name, []).extend(found)
            cited.setdefault(name, {}).update(((s[0], s[1]), None) for s in symptom["sources"])
    versions = read_versions(facts, pasted, tuple(told))
    answer, unread = _judge(facts, versions, day)
    if answer and answer.verdict == "does-not-work":
        weights |= {name: _ALONE - _DENIED for name in causes if causes[name]["denied"] and name not in weights}
    for name in weights:
        if answer and causes[name]["kind"] == "version":
            weights[name] += _DENIED if answer.verdict == "does-not-work" else -_FITS if answer.verdict in _WORKS else 0
    order = list(causes)
    ranked = sorted(weights, key=lambda name: (-weights[name], order.index(name)))
    candidates = tuple(_candidate(causes[n], weights[n], hits.get(n, []), list(cited.get(n, {}))) for n in ranked)
    missed = tuple(filter(None, (_missed(facts, text) for text in wanted)))
    made = Diagnosis(candidates, versions, unread, answer, missed, ())
    if not made.about_versions:
        return made
    asked = {re.split(r"[=<>!~]", word)[0] for word in causes[made.candidates[0].id]["ask"]}
    place = [
        (r.product, r.version) for r in versions if facts.products[r.product].role == "dimension" and r.product != "device"
    ]
    devices = [read.version for read in versions if read.product == "device"]
    instead = instead_of(facts, asked | {read.product for read in versions}, place, devices, day)
    return made._replace(nearest=_nearest(facts, made, causes, day), instead=instead)


def _candidate(record: dict[str, Any], weight: int, hits: list[Hit], cited: list[tuple[str, str | None]]) -> Candidate:
    lines = tuple({hit.line: hit for hit in sorted(hits, key=lambda hit: hit.line)}.values())
    own = [(s[0], s[1]) for s in record["sources"]]
    sources = tuple(dict.fromkeys([*cited, *own]))
    return Candidate(record["id"], record["kind"], record["title"], record["why"], tuple(record["do"]), weight, lines, sources)


def _packages(facts: Snapshot, versions: tuple[Read, ...]) -> list[Read]:
    return [read for read in versions if facts.products[read.product].role in ("package", "companion")]


def _judge(facts: Snapshot, versions: tuple[Read, ...], day: Any) -> tuple[Answer | None, tuple[str, ...]]:
    """Return the engine's answer to the versions that a text names as installed, and those that the data do not know."""
    pins, unread = [], []
    for read in versions:
        if read.how == WISHED:
            continue
        try:
            if not _is_known(facts, facts.products[read.product], read.version):
                raise UsageError(read.version)
            pins.append(read)
        except CompatkbError:
            unread.append(f"{read.product} {read.version}")
    if len(_packages(facts, tuple(pins))) < 2:
        return None, tuple(unread)
    return _ask(facts, tuple(pins), day), tuple(unread)


def _is_known(facts: Snapshot, product: Product, version: str) -> bool:
    return product.role == "leaf" or product.id == "device" or bool(find_versions(facts, product, version))


def _ask(facts: Snapshot, pins: tuple[Read, ...], day: Any, words: tuple[str, ...] = ()) -> Answer | None:
    """Return the answer to pins and words; None where they cannot be asked together."""
    options = [(read.product, read.version) for read in pins if read.product != "device"]
    devices = [read.version for read in pins if read.product == "device"]
    try:
        return resolve(facts, make_request(facts, options, words, devices, day))
    except CompatkbError:
        return None


def _nearest(facts: Snapshot, made: Diagnosis, causes: dict[str, dict[str, Any]], day: Any) -> tuple[Near, ...]:
    """Return stacks that work, near to what the text names; without versions, the best for what the cause is about."""
    top = causes[made.candidates[0].id]
    if made.answer and made.answer.stacks and made.answer.verdict in _WORKS:
        return (Near((), "same", made.answer.stacks[0]),)
    if made.answer and made.answer.nearest:
        return _known_ones(made.answer.nearest)
    kept = tuple(r for r in made.versions if r.how != WISHED and f"{r.product} {r.version}" not in made.unread)
    if top["device"]:
        kept = (*(read for read in kept if read.product != "device"), Read("device", top["device"], 0, SLOTS))
    missed = tuple(pin for wanted in made.wanted for pin in wanted.pins)
    fixed = {read.product for read in missed}
    wished = (*(read for read in kept if read.product not in fixed), *missed)
    place = tuple(read for read in kept if facts.products[read.product].role == "dimension")
    for pins in (wished, kept, place, kept[-1:], ()):
        held = {read.product for read in pins}
        answer = _ask(facts, pins, day, tuple(word for word in top["ask"] if word not in held))
        if answer and answer.stacks and answer.verdict in _WORKS:
            return (Near((), "best", answer.stacks[0]),)
        if answer and (near := _known_ones(answer.nearest)):
            return near
    return ()


def _known_ones(nearest: tuple[Near, ...]) -> tuple[Near, ...]:
    return tuple(near for near in nearest if near.stack.verdict in _WORKS)[:3]


def _missed(facts: Snapshot, text: str) -> Wanted | None:
    """Return what the data know of a requirement that no installer could meet; None for packages that they do not know."""
    match = re.fullmatch(r"([a-z0-9][a-z0-9._-]*?)(?:\[.*\])?(?:===?(.+))?", text.rstrip("."))
    product = facts.product(str(canonicalize_name(match[1]))) if match else None
    if match is None or product is None or product.distribution is None:
        return None
    version = (match[2] or "").rstrip(".-_")
    elements = facts.elements(product.id)
    mask = _mask(facts, product, version) if version else 0
    release = _mask(facts, product, re.split(r"\+|\.?(?:post|dev|a|b|rc)\d", version)[0]) if version else 0
    shown = [e for e in reversed(elements) if (mask | release) >> e.idx & 1 and e.installable]
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:3])
    releases = list(dict.fromkeys(e.release for e in elements if e.installable))
    below = [r for r in releases if tuple(int(n) for n in re.findall(r"\d+", r)[:3]) <= numbers][-2:]
    above = [r for r in releases if tuple(int(n) for n in re.findall(r"\d+", r)[:3]) > numbers][:1]
    exact = any(e.version == version for e in elements)
    shown.sort(key=lambda e: e.version != version)  # the very build first, the rest as they were
    pins = tuple(Read(product.id, name, 0, SLOTS) for name in dict.fromkeys(e.release for e in shown))[:1]
    label = version.partition("+")[2]
    devices = {e.devices for e in elements if label and e.version.partition("+")[2] == label}
    if len(devices) == 1:
        pins += tuple(Read("device", device, 0, SLOTS) for device in devices.pop())[:1]
    return Wanted(text, exact, tuple((e.version, e.channels) for e in shown), (*below, *above) if version else (), pins)


def _mask(facts: Snapshot, product: Product, version: str) -> int:
    try:
        return find_versions(facts, product, version)
    except CompatkbError:
        return 0
