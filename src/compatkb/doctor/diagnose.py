"""Finds the cause of an error: candidate causes from a pasted text, and the nearest stack that works."""

import re
from typing import Any, NamedTuple

from packaging.utils import canonicalize_name

from compatkb.core.clock import Clock
from compatkb.core.vocabulary import Role, Verdict
from compatkb.doctor.error_text import ErrorText, PatternMatch, plain
from compatkb.doctor.machine_reading import UNKNOWN, MachineReader
from compatkb.doctor.questions import SuccessorStack
from compatkb.doctor.target import Sought, StackChoice, StackFinder, Target, installed
from compatkb.doctor.undefined_symbols import SymbolSearch, UndefinedSymbol
from compatkb.doctor.version_extraction import SLOTS, Read, VersionReader
from compatkb.engine.answer import Alternative, Answer
from compatkb.engine.known_issues import DEVICE, HARDWARE, SYSTEM, IssueMatch, KnownIssue, Surroundings, known_issues, match_at
from compatkb.store.reader import Snapshot

_DENIED, _FITS, _ALONE = 3, 4, 6  # what the engine's word on the versions adds to causes about versions, or takes from them
_KNOWN = 20  # what speaks for a known issue all of whose conditions the text names, before any generic cause
COLLECT = (
    "the whole traceback, from its first line on",
    "what `python -m torch.utils.collect_env` prints, and `pip list`",
    "what `compatkb doctor` says of the machine",
)
_WORD = re.compile(r"[a-z0-9_+][a-z0-9_.+]*[a-z0-9_+]|[a-z0-9]")
_MOST, _LONG = 120, 6
_SMALL = frozenset(["a", "an", "and", "at", "by", "for", "from", "in", "is", "it", "of", "on", "or", "the", "to", "with"])
_NUMBER = re.compile(r"\.[0-9]+$")
_SONAME = re.compile(r"lib[a-z0-9_+-]{2,40}\.so\.\d{1,3}|[a-z]{3,20}\d{1,2}\.dll")


class Candidate(NamedTuple):
    """A cause that the text speaks for; `hits` are the lines that do."""

    id: str
    kind: str
    title: str
    why: str
    do: tuple[str, ...]
    weight: int
    hits: tuple[PatternMatch, ...]
    sources: tuple[tuple[str, str | None], ...]
    issue: IssueMatch | None = None  # where it is a known issue of releases that the text names, or may name


class UnmetRequirement(NamedTuple):
    """A requirement that an installer could not meet, and what the data know of it: builds of that release, what is near."""

    requirement: str
    known: bool  # the very version is in the data
    builds: tuple[tuple[str, tuple[str, ...]], ...]  # version and channels, newest first
    near: tuple[str, ...]
    pins: tuple[Read, ...] = ()  # the release that was wanted, if the data know it


class Diagnosis(NamedTuple):
    """What is said about a text; candidates with the likeliest first."""

    candidates: tuple[Candidate, ...]
    versions: tuple[Read, ...]
    unread: tuple[str, ...]  # versions that the data do not know, as they stand in the text
    answer: Answer | None  # to the versions that the text names, where they are two packages or more
    wanted: tuple[UnmetRequirement, ...]
    nearest: tuple[Alternative, ...]  # for the device and the system that the text tells
    either: tuple[StackChoice, ...] = ()  # where it does not tell: one for each that may be meant
    instead: SuccessorStack | None = None  # what takes the place of products that have ended
    ended: tuple[str, ...] = ()  # products that the text names and that have ended
    target: Target = Target()  # what the answer is for
    symbols: tuple[UndefinedSymbol, ...] = ()  # that a library asked for in vain
    collect: tuple[str, ...] = ()  # where no cause is known: what tells more

    @property
    def about_versions(self) -> bool:
        """Whether the likeliest cause is one that other versions mend."""
        return bool(self.candidates) and self.candidates[0].kind not in ("machine", "code")


class _Evidence(NamedTuple):
    """What symptoms found in a text: by cause how much speaks for it, which lines and whose threads; versions; wishes."""

    weights: dict[str, int]
    hits: dict[str, list[PatternMatch]]
    cited: dict[str, dict[tuple[str, str | None], None]]
    learnt: list[Read]
    wanted: dict[str, None]


def diagnose(facts: Snapshot, text: str, clock: Clock) -> Diagnosis:
    """Return what a text that was printed by a failing program speaks for, as of a day (a date)."""
    return _Diagnosing(facts, text, clock).diagnosis()


class _Diagnosing(StackFinder):
    """Weighs what one text speaks for."""

    def __init__(self, facts: Snapshot, text: str, clock: Clock) -> None:
        super().__init__(facts, clock)
        self.text, self.pasted = text, ErrorText(text)
        self.reader = VersionReader(facts, self.pasted)

    def diagnosis(self) -> Diagnosis:
        """Return what the text speaks for."""
        causes = {record["id"]: record for record in self.facts.guide_records("cause")}
        machine_reader = MachineReader(self.facts, self.pasted)
        named, system = machine_reader.device(), machine_reader.system()
        evidence = self._evidence(named.version if named else UNKNOWN)
        versions = self.reader.versions((*evidence.learnt, *filter(None, (named, system))))
        answer, pins, unread = self._judge(versions, self.target_of(versions))
        machine = machine_reader.hardware()
        issues = self._issues((*versions, *machine))
        about, served = self._devices_of_causes(causes, named), self.facts.served_devices()
        admitted = {name: record for name, record in causes.items() if record["device"] in (None, *about)}
        ranked = _ranked(admitted, evidence, answer, about if named else set(served))
        candidates = _in_order(issues, self._with_generations(ranked))
        missed = tuple(filter(None, (self._missed(name) for name in evidence.wanted)))
        top = self._record_of(candidates[0], causes) if candidates else {}
        target = self.target_of((*versions, *(read for read in machine if read.product == HARDWARE)))
        if top.get("device") not in (None, *served):
            target = target._replace(foreign=top["device"])
        symbols = SymbolSearch(self.facts).in_text(self.text, versions)
        collect = () if candidates else COLLECT
        seen = tuple(read for read in machine if read.product not in {known.product for known in versions})
        diagnosis = Diagnosis(
            candidates, (*versions, *seen), unread, answer, missed, (), target=target, symbols=symbols, collect=collect
        )
        if (candidates and (not diagnosis.about_versions or top["kind"] == "library")) or not (candidates or target.device):
            return diagnosis
        return self._with_stacks(diagnosis, top, pins)

    def _issues(self, versions: tuple[Read, ...]) -> tuple[Candidate, ...]:
        """Return the known issues that a text shows and does not refute, those of which it says the most first.

        The text names a release that the issue is about: a device alone says too little.
        """
        place = Surroundings({read.product: (read.version,) for read in installed(versions)}, self._masks(versions), False)
        found = []
        for issue in known_issues(self.facts):
            hits = tuple(hit for sign in issue.signs if (hit := self.pasted.find(sign)) is not None)
            match = match_at(self.facts, issue, place) if hits else None
            if match and any(condition.spec and condition not in match.unsaid for condition in issue.conditions):
                steps = tuple(cure.do for cure in issue.cures if cure.do)
                kind = "issue" if self._package_cure(issue) else "machine"
                weight = _KNOWN - 2 * len(match.unsaid)
                found.append(
                    Candidate(
                        issue.id, kind, issue.title, issue.note or issue.title, steps, weight, hits, issue.sources, match
                    )
                )
        return tuple(sorted(found, key=lambda candidate: -candidate.weight))

    def _masks(self, versions: tuple[Read, ...]) -> dict[str, int]:
        """Return the elements of the system, the hardware and the device that a text names, by product."""
        named = [read for read in versions if read.product in (SYSTEM, HARDWARE, DEVICE)]
        return {read.product: self.mask_of(read.product, read.version) for read in named}

    def _package_cure(self, issue: KnownIssue) -> str | None:
        """Return the first cure that other versions of a package are, as a word of a request."""
        packages = (Role.PACKAGE, Role.COMPANION)
        named = [(cure.to, re.split(r"[=<>!~]", cure.to)[0]) for cure in issue.cures if cure.to]
        return next(
            (to for to, name in named if name in self.facts.products and self.facts.products[name].role in packages), None
        )

    def _record_of(self, first: Candidate, causes: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """Return the record of a cause: for an issue what asks for the releases that cure it."""
        if first.issue is None:
            return causes[first.id]
        cure = self._package_cure(first.issue.issue)
        return {"kind": first.kind, "ask": (cure,) if cure else (), "newest": True}

    def _devices_of_causes(self, causes: dict[str, dict[str, Any]], named: Read | None) -> set[str]:
        """Return the devices whose causes may be named: that of the text; where it tells none, those that get no stack.

        A few words that somebody typed may mean a cause of any device.
        """
        if named:
            return {named.version}
        about = {record["device"] for record in causes.values() if record["device"]}
        return about if is_phrase(self.text) else about - set(self.facts.served_devices())

    def _with_stacks(self, diagnosis: Diagnosis, top: dict[str, Any], pins: tuple[Read, ...]) -> Diagnosis:
        """Return a diagnosis with the stacks for its target, or for what its target leaves open; `top` is its first cause."""
        target = diagnosis.target
        words = tuple(top.get("ask", ())) or tuple(dict.fromkeys(route.provider for route in self.facts.routes[:1]))
        if top.get("newest"):
            choices = self.choices(None, Sought(words=words), target)
        else:
            kept_pins = pins if diagnosis.candidates else ()
            choices = self.choices(diagnosis.answer, Sought(_wishes(pins, diagnosis.wanted), kept_pins, words), target)
        named = {read.product for read in diagnosis.versions if self.facts.products[read.product].role != Role.DIMENSION}
        named |= {re.split(r"[=<>!~]", word)[0] for word in words}
        sure = bool(target.device) and not any(choice.systems for choice in choices)
        return diagnosis._replace(
            nearest=tuple(choice.near for choice in choices) if sure else (),
            either=() if sure else choices,
            instead=self.successor_on(named, target),
            ended=tuple(name for name in self.facts.products if name in self.facts.successors and name in named),
        )

    def _evidence(self, device: str) -> _Evidence:
        """Return what symptoms say of a text; of a few words that no program printed, what symptoms they mean."""
        evidence = _Evidence({}, {}, {}, [], {})
        symptoms = self.facts.guide_records("symptom")
        for symptom in symptoms:
            if symptom["devices"] and device not in symptom["devices"]:
                continue
            hits = [hit for pattern in symptom["patterns"] if (hit := self.pasted.find(pattern)) is not None]
            beside, unless = (any(map(self.pasted.find, symptom[name])) for name in ("beside", "unless"))
            if not hits or unless or (symptom["beside"] and not beside):
                continue
            self._add(evidence, symptom, hits)
        if not evidence.weights and is_phrase(self.text):
            for symptom in meant_by(
                self.text, symptoms, {record["id"]: record for record in self.facts.guide_records("cause")}
            ):
                self._add(evidence, symptom, [PatternMatch(1, self.text.strip(), ())])
        return evidence

    def _add(self, evidence: _Evidence, symptom: dict[str, Any], hits: list[PatternMatch]) -> None:
        for hit in hits:
            evidence.learnt.extend(
                Read(n, self.reader.shape(n, v), hit.line, SLOTS) for n, v in hit.slots if n in self.facts.products
            )
            evidence.wanted.update((value, None) for name, value in hit.slots if name == "requirement")
        for speaks in symptom["causes"]:
            name = speaks["cause"]
            evidence.weights[name] = evidence.weights.get(name, 0) + speaks["weight"]
            evidence.hits.setdefault(name, []).extend(hits)
            evidence.cited.setdefault(name, {}).update(((s[0], s[1]), None) for s in symptom["sources"])

    def _with_generations(self, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        """Return candidates whose steps begin with the oneAPI release that brings the libraries that the text asks for."""
        telling = {record["id"] for record in self.facts.guide_records("cause") if record["generations"]}
        known = {record["library"]: record["version"] for record in self.facts.guide_records("generation")}
        named = dict.fromkeys(name for name in _SONAME.findall(self.pasted.plain) if name in known)
        steps = tuple(
            f"{name} comes with oneAPI {known[name]}: activate a {known[name]} release (source its setvars.sh, on Windows "
            f"setvars.bat), or install the run-time packages of {known[name]} that the wheel requires."
            for name in list(named)[:2]
        )
        return tuple(c._replace(do=(*steps, *c.do)) if c.id in telling and steps else c for c in candidates)

    def _judge(self, versions: tuple[Read, ...], target: Target) -> tuple[Answer | None, tuple[Read, ...], tuple[str, ...]]:
        """Return the engine's answer to the packages that a text names as installed, those packages, and unknown versions."""
        pins, unread = [], []
        for read in installed(versions):
            if self.facts.products[read.product].role == Role.DIMENSION:
                continue
            if self.is_known(read.product, read.version):
                pins.append(read)
            else:
                unread.append(f"{read.product} {read.version}")
        if len([pin for pin in pins if self.facts.products[pin.product].role in (Role.PACKAGE, Role.COMPANION)]) < 2:
            return None, tuple(pins), tuple(unread)
        return self.ask(tuple(pins), target), tuple(pins), tuple(unread)

    def _missed(self, text: str) -> UnmetRequirement | None:
        """Return what the data know of a requirement that no installer could meet; None for packages that they do not know."""
        match = re.fullmatch(r"([a-z0-9][a-z0-9._-]*?)(?:\[.*\])?(?:===?(.+))?", text.rstrip("."))
        product = self.facts.product(str(canonicalize_name(match[1]))) if match else None
        if match is None or product is None or product.distribution is None:
            return None
        version = (match[2] or "").rstrip(".-_")
        elements = self.facts.elements(product.id)
        mask = self.mask_of(product.id, version) if version else 0
        release = self.mask_of(product.id, re.split(r"\+|\.?(?:post|dev|a|b|rc)\d", version)[0]) if version else 0
        shown = [e for e in reversed(elements) if (mask | release) >> e.idx & 1 and e.installable]
        numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:3])
        releases = list(dict.fromkeys(e.release for e in elements if e.installable))
        below = [r for r in releases if tuple(int(n) for n in re.findall(r"\d+", r)[:3]) <= numbers][-2:]
        above = [r for r in releases if tuple(int(n) for n in re.findall(r"\d+", r)[:3]) > numbers][:1]
        exact = any(e.version == version for e in elements)
        shown.sort(key=lambda e: e.version != version)  # the very build first, the rest as they were
        pins = tuple(Read(product.id, name, 0, SLOTS) for name in dict.fromkeys(e.release for e in shown))[:1]
        return UnmetRequirement(
            text, exact, tuple((e.version, e.channels) for e in shown), (*below, *above) if version else (), pins
        )


def _in_order(issues: tuple[Candidate, ...], causes: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Return candidates in order: issues whose conditions the text meets, generic causes, issues that it leaves open.

    An issue that does not rank depends on more than its conditions, so that a text cannot meet it for sure.
    """
    sure = tuple(
        candidate for candidate in issues if candidate.issue and candidate.issue.issue.ranks and not candidate.issue.unsaid
    )
    return (*sure, *causes, *(candidate for candidate in issues if candidate not in sure))


def is_phrase(text: str) -> bool:
    """Return whether a text is short enough to be words that somebody typed."""
    return len(text) <= _MOST and "\n" not in text.strip()


def meant_by(text: str, symptoms: list[dict[str, Any]], causes: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the symptoms of which one pattern, with its first cause, has every word of a phrase; none for too few words."""
    words = [_NUMBER.sub("", word) for word in _WORD.findall(plain(text)) if word not in _SMALL]
    if not words or (len(words) == 1 and len(words[0]) < _LONG):
        return []

    def is_meant(symptom: dict[str, Any]) -> bool:
        cause = causes[symptom["causes"][0]["cause"]]
        sayings = (plain(f"{pattern} {cause['id']} {cause['title']}") for pattern in symptom["patterns"])
        return any(all(word in saying for word in words) for saying in sayings)

    return [symptom for symptom in symptoms if is_meant(symptom)]


def _ranked(
    causes: dict[str, dict[str, Any]], evidence: _Evidence, answer: Answer | None, devices: set[str]
) -> tuple[Candidate, ...]:
    """Return the causes that the evidence and the engine's word on the versions speak for, the likeliest first.

    Their steps are those for any device, and those for `devices`.
    """
    weights = {name: weight for name, weight in evidence.weights.items() if name in causes}
    if answer and answer.verdict == Verdict.DOES_NOT_WORK:
        weights |= {name: _ALONE - _DENIED for name in causes if causes[name]["denied"] and name not in weights}
    for name in weights:
        if answer and causes[name]["kind"] == "version":
            weights[name] += _DENIED if answer.verdict == Verdict.DOES_NOT_WORK else -_FITS if answer.verdict.is_usable else 0
    order = list(causes)
    ranked = sorted(weights, key=lambda name: (-weights[name], order.index(name)))
    return tuple(
        _candidate(causes[n], weights[n], evidence.hits.get(n, []), list(evidence.cited.get(n, {})), devices) for n in ranked
    )


def _wishes(pins: tuple[Read, ...], missed: tuple[UnmetRequirement, ...]) -> tuple[Read, ...]:
    """Return what is installed, with the releases that were asked for in its place."""
    asked = tuple(pin for wanted in missed for pin in wanted.pins)
    fixed = {pin.product for pin in asked}
    return (*(pin for pin in pins if pin.product not in fixed), *asked)


def _candidate(
    record: dict[str, Any], weight: int, hits: list[PatternMatch], cited: list[tuple[str, str | None]], devices: set[str]
) -> Candidate:
    lines = tuple({hit.line: hit for hit in sorted(hits, key=lambda hit: hit.line)}.values())
    own = [(s[0], s[1]) for s in record["sources"]]
    sources = tuple(dict.fromkeys([*cited, *own]))
    do = (*record["do"], *(step for device in record["do_for"] if device in devices for step in record["do_for"][device]))
    return Candidate(record["id"], record["kind"], record["title"], record["why"], do, weight, lines, sources)
