"""Asks the data and the engine about the versions of an environment: sets of builds, installers' choices, denials."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache, reduce
from itertools import count
from operator import or_
from typing import TYPE_CHECKING, Any, TypeVar

from compatkb.check.document import CheckContext, TextDocument
from compatkb.check.project.documented import (
    configures_an_index,
    files_without_an_index,
    names_an_index,
    pins_with_an_index,
    sets_a_variable,
    sets_an_index,
    words_beside,
)
from compatkb.core.names import numbers
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Certainty, Kind, Role, Verdict
from compatkb.engine.answer import Alternative, best_stacks, is_possible, resolve
from compatkb.engine.conflicts import Cause
from compatkb.engine.relations import demand, refused_by, requires
from compatkb.engine.stacks import Stack
from compatkb.errors import CompatkbError, GaveUpError
from compatkb.parsers.registry import kind_of, read
from compatkb.parsers.statement import ParsedFile
from compatkb.request.environment import Environment
from compatkb.request.lookup import find_matching
from compatkb.request.parser import make_request
from compatkb.store.reader import Snapshot
from compatkb.store.records import EVERY, Advisory, Edge, Element, Pin, Product, Request


class AllowedVersions(NamedTuple):
    """What is installed of a product: the elements that it may be, and how that reads."""

    product: str
    text: str  # the specifier
    mask: int
    exact: bool  # one version is named, so a yanked one is taken


class Pythons(NamedTuple):
    """Pythons that may run: minors, as elements, and the patch where one is named; false where any may."""

    mask: int = 0
    patch: str | None = None

    def __bool__(self) -> bool:
        return self.mask != 0


ANY_PYTHON = Pythons()


class Denial(NamedTuple):
    """Why versions do not go together: a sentence, how well it is known, its sources, whom it concerns, what is near."""

    reason: str
    basis: str
    sources: tuple[str, ...]
    products: frozenset[str]
    nearest: tuple[Alternative, ...]
    of_device: bool = False  # what is installed is for another device, and installs and imports all the same
    is_claimed: bool = True  # one says so of the other; else a platform is missing, and installers may build what has no wheel
    stops: bool = False  # metadata or imports refuse, beyond what is asked of a package only if it is there
    by_metadata: bool = False  # all that is said is in metadata, so that installers refuse every version of ranges, too
    at_import: bool = False  # an import refuses, whatever installers did
    unbuilt: bool = False  # of one of them there is no wheel for the device; whoever has it may have built it
    demand: str = ""  # what to write as the metadata of one of them ask, where nothing near was sought

    @property
    def told(self) -> str:
        """Return the reason, without the part that repeats what was asked, and how well it is known."""
        head, _, tail = self.reason.rpartition("; ")
        return f"{head if head and tail.endswith('asked for') else self.reason} ({self.basis})"


if TYPE_CHECKING:
    from packaging.version import Version

    from compatkb.check.lookups import Lookups

_MINOR = re.compile(r"==([1-9][0-9]*\.(?:0|[1-9][0-9]*))\.\*")
_PATCH = re.compile(r"==(\d+\.\d+\.\d+)")
_ASKED_PIP = re.compile(r"pip(?<!\wpip)[ \t]*(<=?|~=|==?)[ \t]*(\d+(?:\.\d+)*)")  # begins with what is quickly found
_ISOLATION = re.compile(r"no-build-isolation|NO_BUILD_ISOLATION|extra-build-dependencies")
_NAMED_PYTHON = re.compile(
    r"python(?:[ \t]*version)?[ \t_:-]*(?:[=<>~]{1,2}[ \t]*)?[\"'(\[]*v?[23]\.\d|py(?:thon)?3\d{1,2}\b|cp3\d{1,2}\b|"
    r"requires-python",
    re.IGNORECASE,
)
_OPTION = re.compile(r"(?<!\S)(?:--[\w-]+|-[fi])[=\s]+[\"']?(https?://[^\s\"'`]+)")
MOST_QUESTIONS = 10_000
"""After so many different ones nothing more is refused."""
MOST_STEPS = 20_000
"""After so many steps of the search, about a second, nothing is refused; no case needs a third of it."""
MOST_LOOKS = 64
"""After so many times 1,024 steps of the search nobody looks on for why versions do not go together."""


_Question = tuple[tuple[AllowedVersions, ...], Pythons, tuple[str, ...]]
T = TypeVar("T")


@lru_cache(maxsize=1)
def queries_of(context: CheckContext) -> "ProjectQueries":
    """Return the data as one check meets them: what one of its files asked is known to the others."""
    return ProjectQueries(context)


class ProjectQueries:
    """The data as questions about projects meet them; each question is asked once."""

    def __init__(self, context: CheckContext) -> None:
        self.context = context
        self.facts: Snapshot = context.facts
        self.day = context.day.toordinal()
        self.lists_until = context.clock.lists_until
        self._denials: tuple[dict[_Question, Denial | None], ...] = ({}, {})  # without and with what is near
        self._refused: dict[_Question, bool | None] = {}
        self._best: dict[_Question, Stack | None] = {}
        self._elements: dict[tuple[str, int], list[Element]] = {}
        self._metadata: dict[str, bool] = {}
        self._variables: dict[str, bool] = {}
        self.first_of: dict[str, tuple[str, int]] = {}  # where what is told as one was met first, by what it is about
        self._readings: dict[TextDocument, ParsedFile] = {}
        self._records: dict[str, list[dict[str, Any]]] = {}
        self.is_exhausted = False

    def reading(self, document: TextDocument) -> ParsedFile:
        """Return what a document says; it is read once."""
        if document not in self._readings:
            self._readings[document] = read(document.path, document.text)
        return self._readings[document]

    @property
    def lookups(self) -> "Lookups":
        """Return the data as documents meet them."""
        from compatkb.check.lookups import lookups  # for images alone

        return lookups(self.facts)

    @cached_property
    def channels(self) -> Mapping[str, str]:
        """The channels of the data by their addresses, as `address` writes them; the client's own index has none."""
        return {address(url): channel.id for channel in self.facts.channels for url in channel.addresses}

    @cached_property
    def labels_today(self) -> frozenset[str]:
        """The labels of the builds of what brings the devices, as far as its newest major version goes."""
        labels = set()
        for provider in {route.provider for route in self.facts.routes}:
            elements = self.facts.elements(provider)
            major = elements[-1].release.partition(".")[0] if elements else ""
            labels |= {e.version.partition("+")[2] for e in elements if e.release.partition(".")[0] == major}
        return frozenset(labels - {""})

    @cached_property
    def superseded(self) -> Mapping[str, str]:
        """The index that replaced each one that makers name no more, by id."""
        return {channel.id: channel.instead for channel in self.facts.channels if channel.instead}

    def numbers_in_place_of(self, url: str) -> tuple[str, ...]:
        """Return the labels near to that of an address which is named as an index of builds and is none; empty for others."""
        base, _, label = address(url).rpartition("/")
        kind = label.rstrip("0123456789.")
        siblings = {name.rpartition("/")[2] for name in self.channels if name.rpartition("/")[0] == base}
        if address(url) in self.channels or kind == label or not kind or label in siblings:
            return ()
        today = sorted(numbers(one) for one in self.labels_today if one.rstrip("0123456789.") == kind and one in siblings)
        if not today or not today[0] < numbers(label) < today[-1]:
            return ()
        alike = sorted((one for one in siblings if one.rstrip("0123456789.") == kind), key=numbers)
        above = [one for one in alike if numbers(one) > numbers(label)]
        return tuple(dict.fromkeys([*alike[: -len(above)][-2:], *above[:2], alike[-1]]))

    def is_dead(self, url: str) -> bool:
        """Return whether an address serves nothing: a page that makers have replaced, or an index that never was."""
        return self.channels.get(address(url)) in self.superseded or bool(self.numbers_in_place_of(url))

    @cached_property
    def addresses(self) -> Mapping[str, tuple[str, str]]:
        """The address and the style of each channel, by id."""
        return {channel.id: (channel.url or "", channel.style) for channel in self.facts.channels}

    @cached_property
    def documented(self) -> frozenset[tuple[str, str]]:
        """The releases that a command in a document installs from an index: whoever follows it has them before."""
        return pins_with_an_index(self.context.documents)

    @cached_property
    def installed_plainly(self) -> frozenset[str]:
        """The files that documents install, and never with an index."""
        return files_without_an_index(self.context.documents)

    @cached_property
    def names_python(self) -> bool:
        """Whether anything of the project names a Python that it is for."""
        return any(_NAMED_PYTHON.search(document.text) for document in self.context.documents)

    def asks_pip_before(self, version: str) -> bool:
        """Return whether anything of the project asks for a pip older than a version."""
        from compatkb.core.versions import Scheme, admits

        asked = (match.groups() for document in self.context.documents for match in _ASKED_PIP.finditer(document.text))
        return any(admits(Scheme.PEP440, f"{'<=' if sign == '<' else '<'}{version}", pip) for sign, pip in asked)

    @cached_property
    def built_in_place(self) -> frozenset[str]:
        """The words of all commands that build without isolation."""
        return words_beside(self.context.documents, _ISOLATION)

    @cached_property
    def sets_index(self) -> bool:
        """Whether the project gives installers an index by a variable, in a document or a manifest."""
        return sets_an_index(self.context.documents)

    @cached_property
    def configures_index(self) -> bool:
        """Whether a file of settings tells installers where packages are: then which indexes they ask is not known."""
        return configures_an_index(self.context.documents)

    def sets_variable(self, tool: str = "") -> bool:
        """Return whether any file of the project sets a variable that names an index, for whatever is run after it."""
        if tool not in self._variables:
            self._variables[tool] = any(sets_a_variable(document.text, tool) for document in self.context.documents)
        return self._variables[tool]

    @cached_property
    def names_index(self) -> bool:
        """Whether anything of the project names an index, however it is meant."""
        return any(names_an_index(self._without_dead(document.text)) for document in self.context.documents)

    def _without_dead(self, text: str) -> str:
        """Return a text without the options that name what serves nothing."""
        return _OPTION.sub(lambda match: "" if self.is_dead(match[1]) else match[0], text)

    @cached_property
    def locks_with_uv(self) -> bool:
        """Whether `uv lock` or `uv sync` resolves the project, which read no settings of `uv pip`."""
        texts = (document.text for document in self.context.documents if kind_of(document.path) != "uv.lock")
        has_lock = any(kind_of(document.path) == "uv.lock" for document in self.context.documents)
        return has_lock or any("uv sync" in text or "uv lock" in text for text in texts)

    def package_records(self, kind: str) -> list[dict[str, Any]]:
        """Return what the data say of packages that are no products, of one kind."""
        if kind not in self._records:
            self._records[kind] = self.facts.guide_records(kind)
        return self._records[kind]

    def has_clash(self, elements: Iterable[Element]) -> bool:
        """Return whether one of some builds is recorded as not to import beside another one."""
        from compatkb.core.versions import Scheme, admits

        by_name = {self.facts.products[e.product].distribution: e.release for e in elements}
        return any(
            record["name"] in by_name
            and record["other"] in by_name
            and admits(Scheme.PEP440, record["versions"], by_name[record["name"]])
            and admits(Scheme.PEP440, record["breaks"], by_name[record["other"]])
            for record in self.package_records("clash")
        )

    @cached_property
    def own(self) -> str:
        """The channel that clients ask when they are told of none."""
        return next(channel.id for channel in self.facts.channels if channel.style == "default")

    def is_plain(self, repository: str) -> bool:
        """Return whether images of a repository hold a system, a Python or a toolkit, and no settings of installers."""
        name = repository.removeprefix("docker.io/")
        is_known = any(name == record["repository"] for record in self.package_records("plain_image"))
        return "/" not in name or is_known or self.toolkit(repository) is not None

    def toolkit(self, repository: str) -> Product | None:
        """Return the toolkit that images of a repository hold, by its name, None where it is none of the data."""
        product = self.lookups.product(repository.rpartition("/")[2].replace("-", " ")) if "/" in repository else None
        return product if product is not None and product.role == Role.DIMENSION and not product.platform else None

    def serving(self, product: str, channels: frozenset[str]) -> frozenset[str]:
        """Return the channels that may have a product: the clients' own, those with it, and with what its metadata demand."""
        others = self.facts.products
        near = [o for o in others if o == product or any(edge.in_metadata for edge in self.facts.edges(product, o))]
        there = {channel for other in near for e in self.facts.elements(other) for channel in e.channels}
        return channels & {self.own, *there}

    def follows(self, product: str, channels: frozenset[str]) -> bool:
        """Return whether whatever these channels have of a product is a release that the clients' own index has, too."""
        own = {e.release for e in self.facts.elements(product) if self.own in e.channels}
        there = {e.release for e in self.facts.elements(product) if channels.intersection(e.channels)}
        return bool(there) and there <= own

    def requires_other_python(self, allowed: AllowedVersions, pythons: Pythons) -> bool:
        """Return whether all of these releases ask for a Python that is none of those, so that archives are refused, too."""
        asked = [e.requires_python for e in self.elements(allowed.product, allowed.mask)]
        return bool(pythons) and all(text and not self.python(text).mask & pythons.mask for text in asked)

    def has_nothing_for(self, allowed: AllowedVersions, python: Element) -> bool:
        """Return whether none of these releases can be installed on a Python, by what they ask for or by all their wheels."""
        one = Pythons(1 << python.idx)
        own = (
            e for e in self.facts.elements(allowed.product) if self.own in e.channels
        )  # what has no wheel is built elsewhere
        has_wheels = all(e.certain for e in own) and self.facts.products[allowed.product].role != Role.LEAF
        return self.requires_other_python(allowed, one) or (has_wheels and self.denial([allowed], one) is not None)

    def allowed(self, product: Product, specifiers: Iterable[str]) -> AllowedVersions | None:
        """Return what specifiers admit together, as PEP 440 has it; None where they are no specifiers."""
        texts = [text for text in dict.fromkeys(specifiers) if text]
        mask = (1 << len(self.facts.elements(product.id))) - 1
        exact = False
        for text in texts:
            admitted = _admitted(self.facts, product.id, text)
            if admitted is None:
                return None
            mask &= admitted
            exact |= is_exact(text)
        named = [text for text in texts if is_exact(text)] if exact and mask else texts
        return AllowedVersions(product.id, ",".join(named), mask, exact)

    def elements(self, product: str, mask: int) -> list[Element]:
        """Return the elements of a set, oldest first."""
        if (product, mask) not in self._elements:
            self._elements[product, mask] = self.facts.elements(product).of(mask)
        return self._elements[product, mask]

    def refused(
        self, constraints: Iterable[AllowedVersions], pythons: Pythons = ANY_PYTHON, systems: tuple[str, ...] = ()
    ) -> bool:
        """Return whether no stack holds all of these; why, and whether that is certain, is for `denial` to say."""
        alike = {one._replace(text=">=0" if one.text else "") for one in constraints}  # however it is written
        return self._once(self._refused, self._is_refused, (tuple(sorted(alike)), pythons, systems)) is True

    def denial(
        self,
        constraints: Iterable[AllowedVersions],
        pythons: Pythons = ANY_PYTHON,
        systems: tuple[str, ...] = (),
        *,
        near: bool = False,
    ) -> Denial | None:
        """Return why these do not go together, None where they may; ANY_PYTHON and an empty tuple leave Python and OS free.

        With `near` it also looks for what is near, which takes long.
        """
        question = (tuple(sorted(set(constraints))), pythons, systems)
        return self._once(self._denials[near], lambda *question: self._denial(*question, near=near), question)

    def best(self, constraints: Iterable[AllowedVersions], pythons: Pythons, systems: tuple[str, ...]) -> Stack | None:
        """Return the best stack that holds all of these, None where there is none that anything supports."""
        return self._once(self._best, self._best_of, (tuple(sorted(set(constraints))), pythons, systems))

    def _best_of(self, *question: Any) -> Stack | None:
        try:
            request = self.request(*question)
            stacks = best_stacks(self.facts, request) if request is not None else ()
        except GaveUpError:
            self.is_exhausted = True
            return None
        return stacks[0] if stacks and stacks[0].level != Certainty.UNKNOWN else None

    def _once(self, answers: dict[_Question, T | None], ask: Callable[..., T | None], question: _Question) -> T | None:
        """Return the answer to a question, None once there were too many."""
        if question not in answers:
            if len(answers) >= MOST_QUESTIONS:
                self.is_exhausted = True
                return None
            answers[question] = ask(*question)
        return answers[question]

    def _is_refused(self, *question: Any) -> bool:
        request = self.request(*question)
        try:
            return request is not None and not is_possible(self.facts, request, MOST_STEPS)
        except GaveUpError:
            self.is_exhausted = True
        except CompatkbError:
            pass
        return False

    def _denial(
        self, constraints: tuple[AllowedVersions, ...], pythons: Pythons, systems: tuple[str, ...], *, near: bool
    ) -> Denial | None:
        request = self.request(constraints, pythons, systems) if self.refused(constraints, pythons, systems) else None
        try:
            looks = count()
            answer = resolve(self.facts, request, lambda: next(looks) > MOST_LOOKS, near=near) if request is not None else None
        except GaveUpError:
            self.is_exhausted = True
            return None
        except CompatkbError:
            return None
        if answer is None or answer.verdict != Verdict.DOES_NOT_WORK or not answer.causes:
            return None
        from compatkb.output.causes import Causes

        words = Causes(self.facts, answer.request)
        free = () if systems else ("os", "arch")  # where a release was never built is no reason beside one of the pair
        asked = {one.product for one in constraints}
        main_cause = min(
            answer.causes,
            key=lambda one: (
                bool(pythons) and "python" not in one.blocker[1:],
                any(name in free for name in one.blocker[1:]),
                not (one.edges and asked.issuperset(one.blocker[1:])),  # a claim about them, before a build of no use alone
            ),
        )
        if not self.context.scope.device and self._is_of_one_device(main_cause, constraints, systems):
            return None
        sources = tuple(dict.fromkeys(url or text for text, url in words.sources(main_cause)))
        reason = words.sentence(main_cause)
        between = {name for name in main_cause.blocker[1:] if name not in asked and main_cause.edges}  # what both of them need
        decisive = answer.causes if between or not main_cause.edges else (main_cause,)  # other causes are of other routes
        products = frozenset(str(part) for one in decisive for part in one.blocker[1:])
        others = (
            one for one in answer.causes if one is not main_cause and one.edges and between.intersection(one.blocker[1:])
        )
        if between and len(asked) > 1 and (other := next(others, None)) and asked.intersection(other.blocker[1:]):
            reason += f"; {words.sentence(other)}"
        codes = {code for code, _ in main_cause.refused}
        unbuilt = bool(codes) and codes <= {"source-only", "from-source", "tag-only", "device"}
        unbuilt |= any(self._findable(allowed) != allowed.mask for allowed in constraints)
        of_device, is_claimed = codes == {"device"}, bool(main_cause.edges)
        firm = [e for e in main_cause.edges if not e.extra]  # what an extra demands binds nobody who goes without
        stops = any(e.in_metadata or self._is_of_metadata(e) for e in firm)
        near_by = tuple(n for n in answer.nearest if not any(_is_on_no_index(e) for e in n.stack.packages))
        at_import = any(not e.in_metadata and e.kind != Kind.CONSTRAINS and not self._is_pure(e) for e in firm)
        stops |= at_import
        basis = _basis(main_cause)
        edges = [e for one in answer.causes for e in one.edges]
        by_metadata = is_claimed and all(e.in_metadata or self._is_of_metadata(e) for e in edges)
        return Denial(reason, basis, sources, products, near_by, of_device, is_claimed, stops, by_metadata, at_import, unbuilt)

    def _is_of_one_device(self, cause: Cause, constraints: Iterable[AllowedVersions], systems: tuple[str, ...]) -> bool:
        """Return whether a cause is of a device alone, and something is there that was compiled for others on some system."""
        places = reduce(or_, (self.facts.dimension_cells("os", self.facts.word("os", name) or 0) for name in systems), 0)
        builds = (e for one in constraints for e in self.elements(one.product, one.mask))
        return (
            bool(cause.edges)
            and all(edge.devices for edge in cause.edges)
            and any(e.foreign_cells & (places or EVERY) for e in builds)
        )

    def _is_of_metadata(self, edge: Edge) -> bool:
        """Return whether a claim is what the metadata of a package exclude of a runtime, as it is recorded of ranges of it."""
        return edge.kind == Kind.BREAKS and edge.stated and self.facts.products[edge.to].role == Role.LEAF

    def _is_pure(self, edge: Edge) -> bool:
        """Return whether all builds that a claim is of have nothing that has to be loaded."""
        return all(self.is_pure(e.certain) for e in self.elements(edge.of, edge.of_mask))

    def is_pure(self, platforms: int) -> bool:
        """Return whether these are platforms of every system and machine, as a build has them that holds no machine code."""
        families = [1 << e.idx for e in self.facts.elements("os") if e.version in ("linux", "windows", "macos")]
        machines = [1 << e.idx for e in self.facts.elements("arch")]
        cells = [
            self.facts.dimension_cells("os", a) & self.facts.dimension_cells("arch", b) for a in families for b in machines
        ]
        return all(platforms & each for each in cells)

    def request(self, constraints: Iterable[AllowedVersions], pythons: Pythons, systems: tuple[str, ...]) -> Request | None:
        """Return a request for what these admit, None where none can be made."""
        pins, packages, python = [], [], None
        for allowed in constraints:
            if allowed.text:
                text, mask = f"{allowed.product}{allowed.text}", self._findable(allowed)
                pins.append(Pin(allowed.product, text, mask, strict=True, exact=allowed.exact))
            elif self.facts.products[allowed.product].role in (Role.PACKAGE, Role.COMPANION):
                packages.append(allowed.product)
        if pythons:
            text = f"python {self.python_names(pythons)}"
            python = Pin("python", text, pythons.mask, exact=False, patch=pythons.patch)
        try:
            words = [f"os=={name}" for name in systems]
            places = make_request(self.facts, (), words, clock=self.context.clock).pins
            own, known = self.context.scope.device, [*pins, *([python] if python else [])]
            environment = Environment(
                pins=tuple(pin for pin in pins if pin.exact),
                ranges=tuple(pin for pin in pins if not pin.exact),
                packages=tuple(packages),
                devices=self.facts.unasked_devices(lambda d: all(self._serves(pin, d) for pin in known), own),
                python=python,
                places=places,
            )
            return environment.request(self.facts, self.context.clock)
        except CompatkbError:
            return None

    def _findable(self, allowed: AllowedVersions) -> int:
        """Return the elements that installers may find: what has to be compiled only where nothing else is meant."""
        compiled = sum(1 << e.idx for e in self.elements(allowed.product, allowed.mask) if _is_on_no_index(e))
        return allowed.mask & ~compiled or allowed.mask

    def _serves(self, pin: Pin, device: str) -> bool:
        chosen = self.elements(pin.product, pin.mask)
        return not chosen or any(not e.devices or device in e.devices for e in chosen)

    def python(self, specifier: str) -> Pythons:
        """Return the Pythons that a specifier admits, none for what is no specifier."""
        patch = _PATCH.fullmatch(specifier)
        return Pythons(_pythons(self.facts, specifier), patch[1] if patch else None)

    @cached_property
    def newest_python(self) -> Pythons:
        """The newest Python that is out."""
        usual = [e for e in self.facts.elements("python") if not e.version.endswith("t") and (e.since or 0) <= self.day]
        return Pythons(1 << usual[-1].idx) if usual else ANY_PYTHON

    def python_names(self, pythons: Pythons) -> str:
        """Return Pythons as people name them."""
        return pythons.patch or " or ".join(e.version for e in self.elements("python", pythons.mask))

    def system(self, name: str) -> str | None:
        """Return the operating system that a runner or an image is named for, None where the data do not know it."""
        for text in (name, name.partition("-")[0]):
            if text and (mask := self.facts.word("os", text)):
                return self.elements("os", mask)[0].version if mask & (mask - 1) == 0 else text
        return None

    def taken(
        self, allowed: AllowedVersions, asked: frozenset[str], beside: Iterable[AllowedVersions], pythons: Pythons = ANY_PYTHON
    ) -> Element | None:
        """Return what an installer takes: the newest build for a Python, on the indexes asked, that others' metadata admit."""
        best: tuple[Version, Element] | None = None
        is_leaf = self.facts.products[allowed.product].role == Role.LEAF  # of which the default index alone was read
        for element in reversed(self.elements(allowed.product, allowed.mask)):
            if not element.installable or not asked & ({self.own} if is_leaf else set(element.channels)):
                continue
            if element.is_yanked(self.day) and not allowed.exact:
                continue
            if element.since is not None and element.since > self.day:
                continue
            version = _version(element.version)
            if version is None or (version.is_prerelease and not allowed.exact) or (best and version <= best[0]):
                continue
            others = [other for other in beside if other.product != allowed.product and other.mask]
            if (not pythons or not self.refused([exactly(element)], pythons)) and all(
                not self.demand(element, other) and self._demanded(element, other, asked) for other in others
            ):
                best = (version, element)
        return best[1] if best else None

    def demand(self, element: Element, other: AllowedVersions, cells: int = EVERY) -> Edge | None:
        """Return what a build declares on some platforms that leaves nothing of what the other one may be."""
        edges = self.facts.edges(element.product, other.product)
        return demand(edges, element.idx, other.mask, lambda spec: _admitted(self.facts, other.product, spec) or 0, cells)

    def _demanded(self, element: Element, other: AllowedVersions, channels: frozenset[str]) -> bool:
        """Return whether something that the other one may be declares nothing against a build."""
        pin = exactly(element)
        there = [e for e in self.elements(other.product, other.mask) if channels & set(e.channels)]
        return not there or any(not self.demand(one, pin) for one in there)

    def narrowed(self, allowed: AllowedVersions, channels: frozenset[str]) -> AllowedVersions:
        """Return what of a product these indexes have."""
        mask = sum(1 << e.idx for e in self.elements(allowed.product, allowed.mask) if channels & set(e.channels))
        return allowed._replace(mask=mask)

    def metadata_bound(self, element: Element, other: str) -> str | None:
        """Return what the metadata of a build demand of another product, None where they demand nothing, or with an extra."""
        edges = (e for e in self.facts.edges(element.product, other) if e.in_metadata and e.of_mask >> element.idx & 1)
        return next((e.spec for e in edges if e.kind == Kind.NEEDS and not e.extra), None)

    def requires(self, element: Element, other: str) -> bool:
        """Return whether the metadata of a build demand something of another product."""
        return requires(self.facts.edges(element.product, other), element.idx)

    def vulnerabilities(self, product: str) -> list[Advisory]:
        """Return the published vulnerabilities of a product on its own, the one that was fixed last first."""
        own = (a for a in self.facts.advisories_of(product) if a.kind == "vulnerability" and not a.to)
        return sorted(own, key=lambda advisory: (advisory.mask.bit_length(), advisory.since), reverse=True)

    def is_decided(self, product: str) -> bool:
        """Return whether what installers choose of a product is known whatever else is asked for: nothing newer ever comes."""
        return product in self.facts.successors

    def has_metadata(self, product: str) -> bool:
        """Return whether the data know what releases of a product demand by their metadata, of whatever product."""
        if product not in self._metadata:
            others = self.facts.products
            self._metadata[product] = any(e.in_metadata for other in others for e in self.facts.edges(product, other))
        return self._metadata[product]

    def excluded(self, element: Element, other: str) -> int:
        """Return the versions of another product that a build refuses, whoever says so."""
        return refused_by(self.facts.edges(element.product, other), element.idx) & (1 << len(self.facts.elements(other))) - 1


def address(url: str) -> str:
    """Return an index address in the one form in which addresses are compared."""
    url = url.strip().lower().partition("#")[0].partition("?")[0]
    for scheme in ("https://", "http://"):
        url = url.removeprefix(scheme)
    return url.rpartition("@")[2].rstrip("/").removesuffix("/simple").rstrip("/")


def exactly(element: Element) -> AllowedVersions:
    """Return one build as what is installed of its product."""
    return AllowedVersions(element.product, f"=={element.version}", 1 << element.idx, exact=True)


def is_exact(text: str) -> bool:
    """Return whether a specifier names one version."""
    return any(c.strip().startswith("==") and not c.strip().endswith("*") for c in text.split(","))


def _basis(cause: Cause) -> str:
    if cause.edges:
        return (
            "inferred" if all(edge.level == Certainty.INFERRED and not edge.in_metadata for edge in cause.edges) else "stated"
        )
    return "observed" if cause.certain else "inferred"


@lru_cache(maxsize=8192)
def _admitted(facts: Snapshot, product: str, text: str) -> int | None:
    try:
        return find_matching(facts, facts.products[product], text)
    except CompatkbError:
        return None


@lru_cache(maxsize=8192)
def _version(text: str) -> "Version | None":
    from packaging.version import InvalidVersion, Version

    try:
        return Version(text)
    except InvalidVersion:
        return None


@lru_cache(maxsize=1024)
def _pythons(facts: Snapshot, specifier: str) -> int:
    if minor := _MINOR.fullmatch(specifier):
        return sum(1 << element.idx for element in facts.elements("python") if element.version == minor[1])
    from compatkb.core.versions import admits_python

    usual = [element for element in facts.elements("python") if not element.version.endswith("t")]
    try:
        return sum(1 << element.idx for element in usual if admits_python(specifier, element.version))
    except ValueError:
        return 0


def _is_on_no_index(element: Element) -> bool:
    """Return whether a build is compiled from a repository: a source archive of an index is found by installers."""
    return element.stage == "from-source" and "default" not in element.channels
