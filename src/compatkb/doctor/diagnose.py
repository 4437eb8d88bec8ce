"""Finds the cause of an error: what a pasted text speaks for and does not refute, and what cures it there."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from packaging.utils import canonicalize_name

from compatkb.core.clock import Clock
from compatkb.core.names import numbers
from compatkb.core.record import NamedTuple
from compatkb.core.versions import Scheme, admits
from compatkb.core.vocabulary import UNBOUNDED, Role, Verdict
from compatkb.doctor.error_text import ErrorText, PatternMatch, plain
from compatkb.doctor.machine_reading import LINUX, OF_SYSTEM, UNKNOWN, WINDOWS, MachineReader
from compatkb.doctor.questions import SuccessorStack
from compatkb.doctor.target import PLACE, Sought, StackChoice, StackFinder, Target, installed
from compatkb.doctor.version_extraction import INSTALLED, LISTED, SLOTS, Read, VersionReader
from compatkb.engine.answer import Alternative, Answer
from compatkb.engine.known_issues import (
    DEVICE,
    GPUS,
    HARDWARE,
    SYSTEM,
    IssueCondition,
    IssueMatch,
    KnownIssue,
    Surroundings,
    known_issues,
)
from compatkb.store.reader import Snapshot
from compatkb.store.records import Sources

_LEAST, _PROOF = 4, 9  # what a cause has to weigh to be named at all, and to be named as the cause
_BLAMED_ONE = 6  # a release that the text blames
_DENIED, _FITS = 4, 4  # what the engine's word on the versions adds to causes about versions, or takes from them
_ISSUE, _UNSAID, _SILENT, _OPEN = 20, 5, 8, 4  # what a known issue weighs: met, with a condition open, without a sign, both
_WORD = re.compile(r"[a-z0-9_+][a-z0-9_.+]*[a-z0-9_+]|[a-z0-9]")
_MOST, _LONG = 120, 6
_SMALL = frozenset(["a", "an", "and", "at", "by", "for", "from", "in", "is", "it", "of", "on", "or", "the", "to", "with"])
_NUMBER = re.compile(r"\.[0-9]+$")
_SONAME = re.compile(r"lib[a-z0-9_+-]{2,40}\.so\.\d{1,3}|[a-z]{3,20}\d{1,2}\.dll")
_TITLE_WORD = re.compile(r"[a-z_][a-z0-9_.]{3,}")
_SHARE = 0.7  # of the words of a title, which a text has where it tells of that issue
_PARTS_MISSED = {
    "gpu": (HARDWARE,),
    "kernel": ("linux-kernel", "windows-driver"),
    "runtime": ("compute-runtime", "windows-driver"),
}
CONTAINER = "container"
_CONTAINER = re.compile(r"docker|podman|compose|container|kubectl")
_BLAMED = re.compile(r"(?:site|dist)-packages/([a-z][a-z0-9_]{2,40})/")
_COUNTS = {"two": 2, "dual": 2, "four": 4, "eight": 8}
_GPUS_TOLD = re.compile(  # "4x Intel Arc Pro B70", "dual B60"
    r"\b(?:([1-9]) ?x|(two|dual|four|eight)) (?:intel )?(?:\(r\) )?(?:arc\b|b[5-7]0\b|data center gpu)"
)
_SETTING = re.compile(r"\b[A-Z][A-Z0-9_]{5,}=[A-Za-z0-9_.:]*[A-Za-z0-9_]")  # of a variable of the environment
_STEP = re.compile(r"\{(\w+)\}")
_NODE = re.compile(r"crw-rw-{4}[+.]? \d \S{1,16} (\d{2,4}) 226, ?1\d\d")  # a render node whose group has no name there
_GRAVE = ("wrong-result", "crash", "hang")
_PACKAGES = (Role.PACKAGE, Role.COMPANION)
_AS_LISTED = (SLOTS, INSTALLED, LISTED)


class Candidate(NamedTuple):
    """A cause that the text speaks for; `hits` are the lines that do."""

    id: str
    kind: str
    title: str
    why: str
    do: tuple[str, ...]
    weight: int
    hits: tuple[PatternMatch, ...]
    sources: Sources
    proven: bool = False  # a version, a symbol or a message proves it; otherwise only a pattern matches
    confirm: str | None = None
    avoid: str | None = None
    cures: tuple[str, ...] = ()  # other versions of a part of the machine, as `compute-runtime>=26.22`
    issue: IssueMatch | None = None  # where it is a known issue of releases that the text names, or may name


class UnmetRequirement(NamedTuple):
    """A requirement that an installer could not meet, and what the data know of it: builds of that release, what is near."""

    requirement: str
    product: str
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
    missing: tuple[str, ...] = ()  # what would allow an answer, or a surer one: kinds of evidence that the text lacks
    beside: tuple[IssueMatch, ...] = ()  # known issues of what the text names, of which it shows no sign
    shown: PatternMatch | None = None  # where no cause is known: the line that tells of a failure

    @property
    def proven(self) -> bool:
        """Whether the text proves its first cause."""
        return bool(self.candidates) and self.candidates[0].proven


class _Evidence(NamedTuple):
    """What symptoms found in a text: by cause how much speaks for it, which lines and whose threads; versions; wishes."""

    weights: dict[str, int]
    hits: dict[str, list[PatternMatch]]
    cited: dict[str, dict[tuple[str, str | None], None]]
    learnt: list[Read]
    wanted: dict[str, None]
    best: dict[str, int]  # by cause the most that one symptom says


def diagnose(facts: Snapshot, text: str, clock: Clock) -> Diagnosis:
    """Return what a text that was printed by a failing program speaks for, as of a day (a date)."""
    return _Diagnosing(facts, text, clock).diagnosis()


class _Diagnosing(StackFinder):
    """Weighs what one text speaks for."""

    def __init__(self, facts: Snapshot, text: str, clock: Clock) -> None:
        super().__init__(facts, clock)
        self.pasted = ErrorText(text)
        self.text = self.pasted.text
        self.reader = VersionReader(facts, self.pasted)
        self.main = next(iter(facts.routes)).provider
        self.installing: dict[str, str] = {}
        self.elsewhere = False

    def diagnosis(self) -> Diagnosis:
        """Return what the text speaks for."""
        causes = {record["id"]: record for record in self.facts.guide_records("cause")}
        machine_reader = MachineReader(self.facts, self.pasted)
        named, system = machine_reader.device(), machine_reader.system()
        evidence = self._evidence(named.version if named else UNKNOWN)
        parts = machine_reader.hardware()
        packages = self.reader.versions((*evidence.learnt, *filter(None, (named, system or machine_reader.implied(parts)))))
        known = {read.product for read in packages}
        machine = tuple(read for read in parts if read.product not in known)
        versions = (*packages, *machine)
        target = self.target_of(versions, self.pasted.plain)
        answer, pins, unread = self._judge(versions, target)
        about, served = self._devices_of_causes(causes, named, machine_reader.devices()), self.facts.served_devices()
        said = about if named else about | {causes[name]["device"] for name, most in evidence.best.items() if most >= _PROOF}
        admitted = {name: record for name, record in causes.items() if self._is_admitted(record, said, versions)}
        matches, beside = self._issues(versions)
        places = (about if named else set(served)) | self._places(target)
        self.installing = self._installing(target.os or "")
        missed = tuple(filter(None, (self._missed(name) for name in evidence.wanted)))
        self.elsewhere = any(map(self._is_elsewhere, missed))
        generic = self._generic(admitted, evidence, answer, versions, places)
        candidates = tuple(sorted((*matches, *generic), key=lambda candidate: -candidate.weight))
        first = candidates[0].issue.issue if candidates and candidates[0].issue else None
        if first and not (candidates[0].do or first.cures):  # without a cure, what helps with issues of its kind
            kinds = (each for each in generic if each.kind != "machine" or first.effect != "missing")
            candidates = (candidates[0]._replace(do=next((kind.do for kind in kinds), ())), *candidates[1:])
        if candidates and candidates[0].kind in ("machine", "code", "library"):
            candidates = (candidates[0]._replace(do=(*self._leave_out(versions), *candidates[0].do)), *candidates[1:])
        top = self._record_of(candidates[0], causes) if candidates else {}
        if top.get("device") not in (None, *served):
            target = target._replace(foreign=top["device"])
        if candidates and candidates[0].kind == "index":
            gone = self._without(name for name in self.facts.successors if any(name == each.product for each in missed))
            candidates = (candidates[0]._replace(do=(*gone, *candidates[0].do)), *candidates[1:])
        missing = tuple(dict.fromkeys(self._missing(versions))) if not candidates or not candidates[0].proven else ()
        diagnosis = Diagnosis(
            candidates, versions, unread, answer, missed, (), target=target, missing=missing, beside=beside,
            shown=None if candidates else self.pasted.failure(),
        )  # fmt: skip
        return self._with_stacks(diagnosis, top, pins) if self._asks_for_stacks(diagnosis, top) else diagnosis

    def _asks_for_stacks(self, diagnosis: Diagnosis, top: dict[str, Any]) -> bool:
        """Return whether other versions of packages are part of what to do; only a text about one of ours gets any."""
        if not diagnosis.candidates:
            return False
        cures = diagnosis.candidates[0].cures
        if top.get("works_elsewhere") and not (self._names_main() and any(map(self._is_package, cures))):
            return False  # it is of something else than packages beside torch
        if top["kind"] not in ("version", "index", "runtime", "issue") and not self._is_in_ended(diagnosis.candidates[0]):
            return False
        named = {read.product for read in diagnosis.versions if self.facts.products[read.product].role in _PACKAGES}
        target = diagnosis.target
        ended = self.facts.successors.keys()
        if not target.device:
            return bool(named) and not target.foreign and top["kind"] != "index"
        named |= {name for name in map(_name_of, top.get("ask", ())) if name in ended}
        told = named or diagnosis.wanted or self.main in self.pasted.plain or top["kind"] == "index"
        return bool(told) and not self._is_newest(diagnosis, top)

    def _names_main(self) -> bool:
        return bool(re.search(rf"\b(?:py)?{self.main}\b", self.pasted.plain))

    def _is_package(self, cure: str) -> bool:
        return self.facts.products[_name_of(cure)].role in _PACKAGES

    def _installing(self, system: str) -> dict[str, str]:
        """Return what installs what on the distribution of the text, by what causes call it; where it tells none, on any."""
        records = self.facts.guide_records("system")
        name = system.rpartition("-")[2]
        told = [r for r in records if name != LINUX and name.startswith(r["form"].partition("{")[0])]
        told += [r for r in records if any(map(self.pasted.find_word, r["names"]))]
        steps = {**next((r["steps"] for r in records if r["id"] == LINUX), {}), **(told[0]["steps"] if told else {})}
        return {**steps, **({"gid": node[1]} if (node := _NODE.search(self.pasted.plain)) else {})}

    def _places(self, target: Target) -> set[str]:
        """Return the systems for which steps are said: that of the text, else every one, and a container."""
        systems = {self.facts.family(target.os)} if target.os else {LINUX, WINDOWS}
        return systems | ({CONTAINER} if _CONTAINER.search(self.pasted.plain) else set())

    def _is_in_ended(self, first: Candidate) -> bool:
        """Return whether a library of a product that has ended is what fails: its path is in the lines of the cause."""
        told = plain(" ".join(hit.text for hit in first.hits))
        products = (self.facts.products[name] for name in self.facts.successors)
        return any(product.import_name and f"/{product.import_name}/" in told for product in products)

    def _is_newest(self, diagnosis: Diagnosis, top: dict[str, Any]) -> bool:
        """Return whether a text has the newest release already where a newer one is the way out."""
        newest = next((e.release for e in reversed(self.facts.elements(self.main)) if e.stage == "stable"), "")
        have = [read.version for read in installed(diagnosis.versions) if read.product == self.main]
        return bool(top.get("newest") and not diagnosis.candidates[0].issue and have and newest) and not any(
            self._is_below(self.main, version.partition("+")[0], newest) for version in have
        )

    # -- what speaks for causes ---------------------------------------------------------------------------------------

    def _issues(self, versions: tuple[Read, ...]) -> tuple[tuple[Candidate, ...], tuple[IssueMatch, ...]]:
        """Return the known issues that a text shows and does not refute, and those of its versions of which it shows no sign.

        One whose conditions are all named comes before every other cause. A text names a release that an issue is about, or
        shows a sign that is of that issue alone; of an issue without signs it has the words of the title.
        """
        works = {(read.product, read.version) for read in self.reader.working}
        every = installed(versions)
        reads = tuple(r for r in every if (r.product, r.version) not in works) or every  # what works elsewhere is not there
        place = Surroundings({}, self._masks(versions), False)
        told = {r.product: tuple(o.version for o in reads if o.product == r.product) for r in reads}
        place = place._replace(versions=told | self._gpus_together())
        shown, silent = [], []
        for issue in known_issues(self.facts).all:
            hits = tuple(hit for sign in issue.signs if (hit := self.pasted.find(sign)) is not None)
            match = known_issues(self.facts).match_at(issue, place)
            if match is None or any(map(self._is_unnamed, match.unsaid)):
                continue
            named = any(
                c.spec not in ("", UNBOUNDED) and c.product != GPUS and c not in match.unsaid for c in issue.conditions
            )
            own = bool(hits) and any(_is_own(plain(s), self._common_patterns) for s in issue.signs if self.pasted.find(s))
            if hits and (named or own):
                open_ones = sum(condition.spec != UNBOUNDED for condition in match.unsaid)
                weight = _UNSAID + 3 * own - open_ones if match.unsaid else _ISSUE if named else _PROOF
                shown.append(self._issue(match, place, hits, weight, proven=named and own and not match.unsaid))
            elif named and not hits and self._tells_title(issue):
                shown.append(self._issue(match, place, (), _SILENT if not match.unsaid else _OPEN, proven=False))
            elif named and not match.unsaid and issue.ranks and issue.state != "not-reproduced" and issue.effect in _GRAVE:
                silent.append(match)
        return tuple(each for each in shown if each.weight >= _LEAST), tuple(silent)

    def _gpus_together(self) -> dict[str, tuple[str, ...]]:
        """Return how many GPUs a text has in use together, the most that it tells, as the version of a product."""
        told = (match[1] or match[2] for match in _GPUS_TOLD.finditer(self.pasted.plain))
        numbers = [int(_COUNTS.get(number, number)) for number in told]
        return {GPUS: (str(max(numbers)),)} if numbers else {}

    def _is_unnamed(self, condition: IssueCondition) -> bool:
        """Return whether a condition is of a package of which a text has not even the name: torch is meant without it."""
        product = self.facts.products.get(condition.product)
        if product is None or product.role not in _PACKAGES or product.id == self.main:
            return False
        names = (product.id, product.import_name, *self.facts.keys_by_product.get(product.id, ()))
        return not any(name and plain(name) in self.pasted.plain for name in names)

    def _issue(
        self, match: IssueMatch, place: Surroundings, hits: tuple[PatternMatch, ...], weight: int, *, proven: bool
    ) -> Candidate:
        clean, ended = known_issues(self.facts).clean_cures(match.issue, place), self.facts.successors.keys()
        issue = match.issue._replace(cures=tuple(cure for cure in clean if _name_of(cure.to or "") not in ended))
        steps = self._without(dict.fromkeys(name for c in match.issue.cures if (name := _name_of(c.to or "")) in ended))
        steps += tuple(cure.do for cure in issue.cures if cure.do)
        if match.issue.cures and not issue.cures and not steps:
            steps = ("The releases without it have another known issue; the thread names them.",)
        cures = tuple(cure.to for cure in issue.cures if cure.to and not self._is_package(cure.to))
        kind = "issue" if self._package_cure(issue) else "machine"
        return Candidate(
            issue.id, kind, issue.title, issue.note or issue.title, steps, weight, hits, issue.sources, proven,
            cures=cures, issue=match._replace(issue=issue),
        )  # fmt: skip

    def _without(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the steps that leave out products that have ended."""
        labels = (self.facts.products[name].label for name in names)
        return tuple(f"Leave {label} out, which has ended: torch serves the device without it." for label in labels)

    def _leave_out(self, versions: tuple[Read, ...]) -> tuple[str, ...]:
        """Return a step that leaves out what has ended, where it is installed beside a torch that serves the device alone."""
        reads = installed(versions)
        mains = [read.version.partition("+")[0] for read in reads if read.product == self.main]
        return self._without(
            name
            for name in dict.fromkeys(read.product for read in reads if read.product in self.facts.successors)
            if any(
                admits(Scheme.PEP440, successor.specifier, version)
                for successor in self.facts.successors[name]
                for version in mains
                if successor.product == self.main
            )
        )

    @cached_property
    def _common_patterns(self) -> tuple[str, ...]:
        """The patterns of symptoms, which are of no issue alone."""
        return tuple(plain(p) for symptom in self.facts.guide_records("symptom") for p in symptom["patterns"])

    def _tells_title(self, issue: KnownIssue) -> bool:
        """Return whether a text tells of an issue without a sign: it has most of the words of its title."""
        words = {word.rstrip(".") for word in _TITLE_WORD.findall(plain(issue.title))} - _SMALL
        found = [word for word in words if word in self.pasted.plain]
        return not issue.signs and len(words) >= 3 and len(found) >= _SHARE * len(words)

    def _masks(self, versions: tuple[Read, ...]) -> dict[str, int]:
        """Return the elements of the system, the hardware and the device that a text names, by product."""
        masks: dict[str, int] = {}
        for read in versions:
            if read.product in (SYSTEM, HARDWARE, DEVICE):
                masks[read.product] = masks.get(read.product, 0) | self.mask_of(read.product, read.version)
        return masks

    def _package_cure(self, issue: KnownIssue) -> str | None:
        """Return the first cure that other versions of a package are, as a word of a request."""
        cures = (cure.to for cure in issue.cures if cure.to)
        return next((to for to in cures if (p := self.facts.products.get(_name_of(to))) and p.role in _PACKAGES), None)

    def _record_of(self, first: Candidate, causes: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """Return the record of a cause: for an issue what asks for the releases that cure it."""
        if first.issue is None:
            return causes[first.id]
        cure = self._package_cure(first.issue.issue)
        return {"kind": first.kind, "ask": (cure,) if cure else (), "newest": True}

    def _is_admitted(self, record: dict[str, Any], about: set[str], versions: tuple[Read, ...]) -> bool:
        """Return whether a cause is of a device that the text may be about, and nothing in the text refutes it."""
        if record["device"] not in (None, *about) or any(map(self.pasted.find, record["refuted"])):
            return False
        if record["unless_free"] and self.pasted.asked_though_free is not None:
            return False
        if record["needs_build"] and self._is_of_other_build(record["needs_build"], versions):
            return False
        return not self._has_build(record["unless_build"], versions)

    def _has_build(self, device: str | None, versions: tuple[Read, ...]) -> bool:
        labels = [read.version.partition("+")[2] for read in installed(versions) if read.product == self.main]
        return bool(device) and device in labels

    def _is_of_other_build(self, device: str, versions: tuple[Read, ...]) -> bool:
        """Return whether a text lists a package as a build that is not for a device, of a release that has one for it."""
        for read in installed(versions):
            builds = [e for e in self.facts.elements(read.product) if e.release == read.version.partition("+")[0]]
            own = [e.devices for e in builds if e.version == read.version and e.devices]
            is_listed = read.how in _AS_LISTED and self.facts.products[read.product].role == Role.PACKAGE
            if is_listed and own and not any(device in each for each in own) and any(device in e.devices for e in builds):
                return True
        return False

    def _devices_of_causes(self, causes: dict[str, dict[str, Any]], named: Read | None, shown: set[str]) -> set[str]:
        """Return the devices whose causes may be named: that of the text; where it tells none, those of which it shows any.

        A few words that somebody typed may mean a cause of any device.
        """
        if named:
            return {named.version}
        about = {record["device"] for record in causes.values() if record["device"]}
        return about if is_phrase(self.text) else shown | about - set(self.facts.served_devices())

    def _evidence(self, device: str) -> _Evidence:
        """Return what symptoms say of a text; of a few words that no program printed, what symptoms they mean."""
        evidence = _Evidence({}, {}, {}, [], {}, {})
        symptoms = self.facts.guide_records("symptom")
        whole = self.pasted.plain.strip()
        for symptom in symptoms:
            asked = device if whole not in map(plain, symptom["patterns"]) else ""  # a sign alone has no surroundings
            if asked and symptom["devices"] and device not in symptom["devices"]:
                continue
            hits = [hit for pattern in symptom["patterns"] if (hit := self.pasted.find(pattern)) is not None]
            if not hits or any(map(self.pasted.find, symptom["unless"])):
                continue
            if symptom["two_of"] and not self.reader.are_two(symptom["two_of"]):
                continue
            if (least := symptom["though_free"]) and (self.pasted.asked_though_free or 0) < least:
                continue
            if asked and symptom["beside"] and not any(map(self.pasted.find, symptom["beside"])):
                continue
            self._add(evidence, symptom, hits, 0 if asked else _LEAST)
        if not evidence.weights and is_phrase(self.text):
            by_id = {record["id"]: record for record in self.facts.guide_records("cause")}
            for symptom in meant_by(self.text, symptoms, by_id):
                self._add(evidence, symptom, [PatternMatch(1, self.text.strip(), ())], _LEAST)
        return evidence

    def _add(self, evidence: _Evidence, symptom: dict[str, Any], hits: list[PatternMatch], least: int) -> None:
        for hit in hits:
            evidence.learnt.extend(
                Read(n, self.reader.shape(n, v), hit.line, SLOTS) for n, v in hit.slots if n in self.facts.products
            )
            evidence.wanted.update((value, None) for name, value in hit.slots if name == "requirement")
        for speaks in symptom["causes"]:
            name, weight = speaks["cause"], max(speaks["weight"], least)
            more = name in evidence.weights  # of several symptoms the most telling one counts, and that there are more
            evidence.best[name] = max(evidence.best.get(name, 0), weight)
            evidence.weights[name] = evidence.best[name] + more
            evidence.hits.setdefault(name, []).extend(hits)
            evidence.cited.setdefault(name, {}).update(((s[0], s[1]), None) for s in symptom["sources"])

    def _generic(
        self,
        causes: dict[str, dict[str, Any]],
        evidence: _Evidence,
        answer: Answer | None,
        versions: tuple[Read, ...],
        devices: set[str],
    ) -> tuple[Candidate, ...]:
        """Return the causes that symptoms and the engine's word on the versions speak for, those that weigh enough.

        Their steps are those for any device, and those for `devices`.
        """
        weights = {name: weight for name, weight in evidence.weights.items() if name in causes}
        denied, others = self._denied_kinds(answer), tuple(self._other_releases(versions))
        self.installing |= self.reader.told_apart(others)
        elsewhere = bool(others) or "good" in self.installing
        for name, record in causes.items():
            if record["denied"] and record["kind"] in denied:
                weights[name] = weights.get(name, 0) + _SILENT - _LEAST
            if record["works_elsewhere"] and elsewhere:
                weights[name] = _PROOF
            if record["blamed"] and "blamed" in self.installing:
                weights[name] = max(weights.get(name, 0), _BLAMED_ONE)
            if self._has_build(record["other_build"], versions) and self._is_of_other_build(record["other_build"], versions):
                weights[name] = weights.get(name, 0) + _SILENT
            if record["unless_elsewhere"] and self.elsewhere and name in weights:
                weights[name] -= _LEAST
        works = answer is not None and answer.verdict.is_usable
        for name, record in ((name, causes[name]) for name in weights):
            if record["kind"] in denied:
                weights[name] += _DENIED * (
                    1 + (record["denied"] and record["kind"] == "machine")
                )  # a kernel that denies explains it
            elif (
                works
                and record["kind"] == "version"
                and not (record["newest"] or record["works_elsewhere"])
                and not (record["unless_build"] and self._is_of_other_build(record["unless_build"], versions))
            ):
                weights[name] -= _FITS  # but a fault of one release is none of how versions fit
        made = []
        for name in sorted(weights, key=lambda name: -weights[name]):
            record = causes[name]
            proven = weights[name] >= _PROOF and (evidence.best.get(name, 0) >= _PROOF or record["kind"] in denied)
            if weights[name] >= _LEAST:
                hits, cited = evidence.hits.get(name, []), list(evidence.cited.get(name, {}))
                cures = others if record["works_elsewhere"] else tuple(self._updates(record, versions, hits, devices))
                candidate = _candidate(record, weights[name], hits, cited, devices)
                told = (*(self._generations() if record["generations"] else ()), *self._blamed(record), *candidate.do)
                steps = tuple(
                    _STEP.sub(lambda found: self.installing[found[1]], step) for step in told if self._is_filled(step)
                )
                do = self._to_be_done((*steps[:1], *self._program(record), *steps[1:]))
                if do or not record["do_for"]:  # one whose steps are all for other systems is of those
                    confirm = None if self._is_set(candidate.confirm or "") else candidate.confirm
                    made.append(candidate._replace(proven=proven, cures=cures, do=do, confirm=confirm))
        return tuple(made)

    def _is_filled(self, step: str) -> bool:
        """Return whether a text, or its system, has what stands between braces in a step."""
        return all(name in self.installing for name in _STEP.findall(step))

    def _to_be_done(self, steps: tuple[str, ...]) -> tuple[str, ...]:
        """Return steps with those last that set something in the environment that the text shows to be set."""
        return tuple(sorted(steps, key=self._is_set))

    def _is_set(self, step: str) -> bool:
        return any(plain(setting) in self.pasted.plain for setting in _SETTING.findall(step))

    def _program(self, record: dict[str, Any]) -> Iterator[str]:
        """Yield how the applications that a text names are brought up to date, where their code or their torch is at fault."""
        theirs = record["kind"] in ("code", "library") or record["unless_build"]
        for application in self.facts.guide_records("application") if theirs else ():
            names = (application["id"], application["name"], application["repo"])
            told = any(self.pasted.find_word(plain(name)) for name in names)
            if told and application["update"] and not any(application["name"] in step for step in record["do"]):
                yield application["update"]

    def _denied_kinds(self, answer: Answer | None) -> set[str]:
        """Return of what kind the causes are that the engine's answer names: versions, or the machine below them."""
        if answer is None or answer.verdict.is_usable:
            return set()
        parts = {p.id for p in self.facts.products.values() if p.role == Role.DIMENSION} - PLACE
        below = any(parts & set(cause.blocker[1:]) for cause in answer.causes)
        if below:
            return {"machine"}
        return {"version"} if answer.verdict == Verdict.DOES_NOT_WORK else set()

    def _updates(
        self, record: dict[str, Any], versions: tuple[Read, ...], hits: list[PatternMatch], places: set[str]
    ) -> Iterator[str]:
        """Yield the newest releases of what a text has an older one of, as words of a request.

        Parts of the machine are those of which it names a release, packages those that the lines of the cause are about.
        """
        told = " ".join(hit.text for hit in hits).lower()
        for product in (name for name in record["update"] if OF_SYSTEM.get(name) in (None, *places)):
            named = [read.version for read in versions if read.product == product]
            newest = next((e.version for e in reversed(self.facts.elements(product)) if e.installable), "")
            newest = newest or self.facts.elements(product)[-1].version
            if self.facts.products[product].role in _PACKAGES:
                is_old = product in told and not any(not self._is_below(product, version, newest) for version in named)
            else:
                is_old = bool(named) and all(self._is_below(product, version, newest) for version in named)
            if is_old:
                yield f"{product}>={newest}"

    def _is_below(self, product: str, version: str, other: str) -> bool:
        scheme = Scheme(self.facts.products[product].scheme)
        try:
            return admits(scheme, f"<{other}", version)
        except ValueError:
            return False

    def _other_releases(self, versions: tuple[Read, ...]) -> Iterator[str]:
        """Yield the releases that a text says to work, where it names another one of the same product as installed."""
        works = self.reader.working
        good = {(read.product, read.version) for read in works}
        have = {read.product: read.version for read in installed(versions) if (read.product, read.version) not in good}
        for read in works:
            own = have.get(read.product)
            if own is not None and own != read.version and not own.startswith(f"{read.version}."):
                yield f"{read.product}=={read.version}"

    def _generations(self) -> tuple[str, ...]:
        """Return steps that name the oneAPI release that brings the libraries that the text asks for."""
        known = {record["library"]: record["version"] for record in self.facts.guide_records("generation")}
        named = dict.fromkeys(name for name in _SONAME.findall(self.pasted.plain) if name in known)
        return tuple(
            f"{name} comes with oneAPI {known[name]}: activate a {known[name]} release (source its setvars.sh, on Windows "
            f"setvars.bat), or install the run-time packages of {known[name]} that the wheel requires."
            for name in list(named)[:2]
        )

    def _blamed(self, record: dict[str, Any]) -> Iterator[str]:
        """Yield the step that updates the package in which a traceback ends."""
        own = {product.import_name or product.distribution for product in self.facts.products.values()}
        names = [name for name in _BLAMED.findall(self.pasted.plain) if name not in own]
        if record["blames"] and names:
            yield f"Update {names[-1]}: python -m pip install --upgrade {names[-1].replace('_', '-')}."

    def _missing(self, versions: tuple[Read, ...]) -> Iterator[str]:
        """Yield the kinds of evidence that a text lacks, in the order in which they help."""
        named = {read.product for read in versions}
        if "traceback (most recent call last)" not in self.pasted.plain:
            yield "traceback"
        if not any(self.facts.products[product].role in _PACKAGES for product in named):
            yield "packages"
        of_windows = any(read.product == SYSTEM and self.facts.family(read.version) == WINDOWS for read in versions)
        for kind, products in _PARTS_MISSED.items():
            if not named.intersection(products):
                yield WINDOWS if of_windows and kind != "gpu" else kind

    # -- what cures ---------------------------------------------------------------------------------------------------

    def _with_stacks(self, diagnosis: Diagnosis, top: dict[str, Any], pins: tuple[Read, ...]) -> Diagnosis:
        """Return a diagnosis with the stacks for its target, or for what its target leaves open; `top` is its first cause."""
        target, first = diagnosis.target, diagnosis.candidates[0]
        named = {read.product for read in diagnosis.versions if self.facts.products[read.product].role != Role.DIMENSION}
        wanted = {pin.product for missed in diagnosis.wanted for pin in missed.pins}
        ended = self.facts.successors.keys()
        words = tuple(word for word in top.get("ask", ()) if _name_of(word) not in ended or _name_of(word) in named | wanted)
        named |= {name for name in map(_name_of, top.get("ask", ())) if name in ended}
        named |= {name for name in ended if self._is_in_ended(first)}
        words = words or (self.main,)
        packages = tuple(filter(self._is_package, first.cures))
        if packages:
            choices = self.choices(None, Sought(words=packages), target)
        elif top.get("newest"):
            choices = self.choices(None, Sought(words=words), target)
        else:
            choices = self.choices(diagnosis.answer, Sought(_wishes(pins, diagnosis.wanted), pins, words), target)
        sure = bool(target.device) and not any(choice.systems for choice in choices)
        if not sure and any(element.product in ended for each in choices for element in each.near.stack.packages):
            choices = self.choices(
                None, Sought(words=(self.main,)), target
            )  # what has ended is left out where torch serves alone
        return diagnosis._replace(
            nearest=tuple(choice.near for choice in choices) if sure else (),
            either=() if sure else choices,
            instead=self.successor_on(named, target),
            ended=tuple(name for name in self.facts.products if name in ended and name in named),
        )

    def _judge(self, versions: tuple[Read, ...], target: Target) -> tuple[Answer | None, tuple[Read, ...], tuple[str, ...]]:
        """Return the engine's answer to what a text names as installed, those packages, and unknown versions.

        It is asked with the parts of the machine first: a kernel or a run time that denies counts, one of which nothing is
        known does not.
        """
        pins, parts, unread = [], [], []
        for read in installed(versions):
            product = self.facts.products[read.product]
            if product.role == Role.DIMENSION:
                parts += [read] if read.product not in PLACE else []
            elif self.is_known(read.product, read.version):
                pins.append(read)
            else:
                unread.append(f"{read.product} {read.version}")
        below = [read for read in parts if sum(other.product == read.product for other in parts) == 1]
        for part in below if target.device and any(name == HARDWARE for name, _ in target.others) else ():
            others = tuple(pin for pin in pins if pin.product == self.main)
            with_part = self.ask((*others, part), target, () if others else (self.main,))
            if with_part and any(part.product in cause.blocker[1:] for cause in with_part.causes):
                return with_part, tuple(pins), tuple(unread)
        packages = [pin for pin in pins if self.facts.products[pin.product].role in _PACKAGES]
        answer = self.ask(tuple(pins), target) if len(packages) > 1 else None
        if answer and target.foreign and any(cause.blocker[0] == "offer" for cause in answer.causes):
            answer = None  # asked of the devices that are served, of which the text is not about one
        return answer, tuple(pins), tuple(unread)

    def _missed(self, text: str) -> UnmetRequirement | None:
        """Return what the data know of a requirement that no installer could meet; None for packages that they do not know."""
        match = re.fullmatch(r"([a-z0-9][a-z0-9._-]*?)(?:\[.*\])?(?:===?(.+))?", text.rstrip("."))
        product = self.facts.product(str(canonicalize_name(match[1]))) if match else None
        if match is None or product is None or product.distribution is None:
            return None
        version = (match[2] or "").rstrip(".-_")
        elements = self.facts.elements(product.id)
        if not version:  # any release: the newest of each index
            newest = {e.channels[0]: e for e in elements if e.installable and e.channels}
            builds = tuple((e.version, e.channels) for e in sorted(newest.values(), key=lambda e: -e.idx)[:_LEAST])
            return UnmetRequirement(text, product.id, False, builds, ())
        mask = self.mask_of(product.id, version)
        release = self.mask_of(product.id, re.split(r"\+|\.?(?:post|dev|a|b|rc)\d", version)[0])
        shown = [e for e in reversed(elements) if (mask | release) >> e.idx & 1 and e.installable]
        releases = list(dict.fromkeys(e.release for e in elements if e.installable))
        below = [r for r in releases if numbers(r)[:3] <= numbers(version)[:3]][-2:]
        above = [r for r in releases if numbers(r)[:3] > numbers(version)[:3]][:1]
        exact = any(e.version == version for e in elements)
        shown.sort(key=lambda e: e.version != version)  # the very build first, the rest as they were
        pins = tuple(Read(product.id, name, 0, SLOTS) for name in dict.fromkeys(e.release for e in shown))[:1]
        return UnmetRequirement(text, product.id, exact, tuple((e.version, e.channels) for e in shown), (*below, *above), pins)

    def _is_elsewhere(self, missed: UnmetRequirement) -> bool:
        """Return whether what no installer found is on another index than the default one, which the text does not name."""
        urls = {channel.id: channel.url for channel in self.facts.channels}
        places = {urls.get(channel) for _, channels in missed.builds for channel in channels}
        return bool(places) and None not in places and not any(plain(url) in self.pasted.plain for url in places if url)


def _name_of(word: str) -> str:
    """Return the product that a word of a request names."""
    return re.split(r"[=<>!~]", word, maxsplit=1)[0]


def _is_own(sign: str, common: tuple[str, ...]) -> bool:
    """Return whether a sign is of its issue alone: no symptom has it as a pattern, or as a part of one."""
    return not any(sign in pattern or pattern == sign for pattern in common)


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
    steps = {place: steps for place, steps in record["do_for"].items() if place in devices}
    systems = [step for place in (CONTAINER, LINUX, WINDOWS) for step in steps.pop(place, ())]
    do = (*systems, *record["do"], *(step for more in steps.values() for step in more))
    return Candidate(
        record["id"], record["kind"], record["title"], record["why"], do, weight, lines, sources,
        confirm=record["confirm"], avoid=record["avoid"],
    )  # fmt: skip
