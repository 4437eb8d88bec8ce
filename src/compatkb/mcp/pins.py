"""What a pasted text states, and its pins as questions to the engine: what goes together, for which device and Python."""

import re
from collections.abc import Iterator

from compatkb.check.document import CheckContext, TextDocument
from compatkb.check.markdown.commands import read_code_blocks, read_files, read_inline
from compatkb.check.markdown.text import CodeBlock, read_page
from compatkb.check.project.environments import Project, ProjectEnvironment
from compatkb.check.project.indexes import sources_of
from compatkb.check.project.install_plan import InstallPlan, declared, install_plans
from compatkb.check.project.queries import ProjectQueries, address
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.engine.alternatives import without
from compatkb.errors import UsageError
from compatkb.parsers.guessing import REQUIREMENT, new_side
from compatkb.parsers.registry import kind_of, read
from compatkb.parsers.statement import ParsedFile, Requirement
from compatkb.request.parser import make_request
from compatkb.store.records import Pin, Request

_EMBEDDED = re.compile(r"\b(?:uv pip|pip3?|conda|mamba) (?:install|create)[ \t][^\n\"'`()]+")
_LOOSE = ("", "diff", "patch", "suggestion", "txt", "text", "plaintext", "ini", "none")
"""Languages of code blocks that may hold requirements."""


def readings(document: TextDocument) -> Iterator[ParsedFile]:
    """Yield what a document states; of one that states no requirement the install commands that stand in it anywhere."""
    parsed_files = list(_readings(document))
    if not any(isinstance(statement, Requirement) for reading in parsed_files for statement in reading.statements):
        commands = [match[0].strip() for match in _EMBEDDED.finditer(document.text)]
        parsed_files = [read(f"{document.path}.sh", "\n".join(commands), "shell")]
    yield from parsed_files


def _readings(document: TextDocument) -> Iterator[ParsedFile]:
    """Yield what a document states: of Markdown its commands and the code blocks that are files or lines of them."""
    if kind_of(document.path) not in (None, "markdown"):
        yield read(document.path, document.text)
        return
    page = read_page(document)
    yield read_code_blocks(page)
    yield read_inline(page)
    yield from read_files(page)
    for block in page.codes:
        if lines := _requirements(block):
            yield read(document.path, lines, "requirements")


def _requirements(block: CodeBlock) -> str:
    """Return the requirements that a code block consists of; empty where it holds something else."""
    text = new_side("\n".join(text for _, text in block.lines))
    return text if block.language in _LOOSE and all(REQUIREMENT.match(line.strip()) for line in text.splitlines()) else ""


_MOST = 2
"""Environments of one text that are answered."""
_PACKAGES = (Role.PACKAGE, Role.COMPANION)
_NUMBERS = re.compile(r"(==(\d+\.\d+)(?:\.\d+)*)")


class PinnedSet(NamedTuple):
    """What one environment pins: the request, the same without leaves, and what is to be said of it."""

    request: Request
    without_leaves: Request
    remarks: tuple[str, ...]  # pins of which the data know no such version, or none for the device, and are asked otherwise
    channels: frozenset[str] | None  # the indexes that it asks, where they have all that is pinned


class PinReader:
    """Reads the sets of pins of documents as questions."""

    def __init__(self, context: CheckContext) -> None:
        self.context, self.facts, self.queries = context, context.facts, ProjectQueries(context)

    def sets(self, document: TextDocument) -> Iterator[PinnedSet]:
        """Yield the different sets of pins of a document, the first few; those that cannot be asked are left out."""
        seen: list[dict[str, str]] = []
        for words, environment, plan in self._installed(document):
            if len(seen) == _MOST:
                return
            device = self._device(words, environment, document.text)
            if words not in seen and (pinned_set := self._set_of(words, device, plan)):
                seen.append(words)
                yield pinned_set

    def _installed(
        self, document: TextDocument
    ) -> Iterator[tuple[dict[str, str], ProjectEnvironment | None, InstallPlan | None]]:
        """Yield the specifiers of what is installed together, with the environment and its plan; else what sentences name."""
        has_words = False
        for reading in readings(document):
            for environment in Project(self.facts, [(document, reading)]).environments():
                for plan in install_plans(environment, self.queries):
                    if words := self._words(environment, plan):
                        has_words = True
                        yield words, environment, plan
        if not has_words and document.path.endswith(".md") and len(words := self._told(document.text)) > 1:
            yield words, None, None

    def _words(self, environment: ProjectEnvironment, plan: InstallPlan) -> dict[str, str]:
        """Return the specifiers of packages, their companions and leaves that those name; the first of several, by product.

        Nothing where no version is named and no index tells the device.
        """
        specs: dict[str, str] = {}
        for required in plan.requirements:
            if required.product.role in (*_PACKAGES, Role.LEAF) and not required.requirement.unknown:
                specifier = required.requirement.specifier
                specs[required.product.id] = specs.get(required.product.id) or specifier
        for product, specifier in self._of_images(environment, plan):
            specs.setdefault(product, specifier)
        packages = {product for product in specs if self.facts.products[product].role != Role.LEAF}
        mentions = {other for product in packages for other in self.facts.targets_of(product)}
        words = {product: specs[product] for product in specs if product in packages | mentions}
        return words if any(words.values()) or (words and self._of_indexes(environment)) else {}

    def _of_images(self, environment: ProjectEnvironment, plan: InstallPlan) -> Iterator[tuple[str, str]]:
        """Yield what images bring: what the data have of them, or the version in the tag of one with a package's name."""
        for one in plan.final.values():
            if one.tool == "image":
                yield one.allowed.product, one.allowed.text
        for _, image in environment.images:
            product = self.facts.product(image.repository.rpartition("/")[2])
            number = re.match(r"\d+(?:\.\d+)+", image.tag or "")
            if product and number and product.role == Role.PACKAGE:
                yield product.id, f"=={number[0]}"

    def _told(self, text: str) -> dict[str, str]:
        """Return the versions of packages that tables and sentences name."""
        from compatkb.doctor.error_text import ErrorText
        from compatkb.doctor.version_extraction import VersionReader

        versions = VersionReader(self.facts, ErrorText(text.replace("|", " "))).versions()
        return {read.product: f"=={read.version}" for read in versions if self.facts.products[read.product].role in _PACKAGES}

    def _set_of(self, words: dict[str, str], device: str | None, plan: InstallPlan | None) -> PinnedSet | None:
        """Return the question about what is installed together, None where it cannot be asked."""
        known = {product: self._nearest_known(product, specifier) for product, specifier in words.items()}
        remarks = [f"not in the data: {product}{text}" for product, text in words.items() if known[product] != text]
        if device:
            others = {p: s for p, s in known.items() if s and not self._serves(p, s, device)}
            instead = {product: self._for_device(product, specifier, device) for product, specifier in others.items()}
            instead = {product: specifier for product, specifier in instead.items() if specifier}
            known |= instead
            remarks += [f"no build for {device}: {product}{others[product]}" for product in instead]
        try:
            request = self._request([f"{product}{specifier}" for product, specifier in known.items()])
            places = self._request([f"os=={system}" for system in _systems(plan)])
        except UsageError:
            return None
        pins = (*request.pins, *places.pins, *self._python(plan))
        ranked = sorted((self._with_wheels(pin) for pin in pins), key=lambda pin: self.facts.ranks[pin.product])
        request = request._replace(pins=tuple(ranked), devices=(device,) if device in request.devices else request.devices)
        leaves = {product for product in words if self.facts.products[product].role == Role.LEAF}
        channels = self._channels(known, plan, device) if plan else frozenset({self.queries.own})
        return PinnedSet(request, without(self.facts, request, leaves), tuple(remarks), channels)

    def _request(self, words: list[str]) -> Request:
        return make_request(self.facts, (), words, clock=self.context.clock)

    def _with_wheels(self, pin: Pin) -> Pin:
        """Return a pin that names the builds with wheels, where all of these are for devices that are not ours."""
        wheels = [element for element in self.facts.elements(pin.product).of(pin.mask) if element.installable]
        if pin.extra or not wheels or not all(element.foreign for element in wheels):
            return pin
        return pin._replace(mask=sum(1 << element.idx for element in wheels))

    def _nearest_known(self, product: str, specifier: str) -> str:
        """Return a specifier that the data can answer: itself, else that of the same version, release or series, else none.

        A build for a device of ours that never was stands for its series, since its version alone is another build.
        """
        devices = {e.version for e in self.facts.elements("device")}
        public, _, label = specifier.partition("+")
        number = _NUMBERS.match(public)
        release, series = (number[1], f"=={number[2]}.*") if number else ("", "")
        tried = (specifier, series) if label in devices else (specifier, public, release, series)
        return next((each for each in tried if each and self._is_known(product, each)), "")

    def _for_device(self, product: str, specifier: str, device: str) -> str:
        """Return a specifier of the same version or series with a build for a device, else the version; empty for ranges."""
        public, plus, _ = specifier.partition("+")
        number = _NUMBERS.fullmatch(public)
        tried = (public, f"=={number[2]}.*") if number else ()
        return next((each for each in tried if self._serves(product, each, device)), public if plus else "")

    def _is_known(self, product: str, specifier: str) -> bool:
        try:
            request = self._request([f"{product}{specifier}"])
        except UsageError:
            return False
        return all(pin.mask and not (pin.extra and re.search(r"[a-z]", pin.extra)) for pin in request.pins)

    def _python(self, plan: InstallPlan | None) -> Iterator[Pin]:
        """Yield the Pythons that an environment runs or declares, as a pin."""
        pythons = plan and (plan.pythons or declared(plan.environment, self.queries))
        if pythons:
            names = [e.version for e in self.queries.elements("python", pythons.mask)]
            text = pythons.patch or (names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}")
            yield Pin("python", f"python {text}", pythons.mask, exact=False, patch=pythons.patch)

    def _channels(self, known: dict[str, str], plan: InstallPlan, device: str | None) -> frozenset[str] | None:
        """Return the indexes that installers ask, or their own alone where those are not for our devices.

        None where neither has all that is pinned, for the device where one is named.
        """
        indexes: set[str] = set()
        for required in plan.requirements:
            asked = sources_of(plan, required.requirement.step, required.requirement, self.queries)
            indexes |= asked.channels if asked.known and asked.channels else {*asked.channels, self.queries.own}
        packages = [p for p in known if self.facts.products[p].role in _PACKAGES]
        for channels in (frozenset(indexes), frozenset({self.queries.own})):
            if channels and all(self._is_served(p, known[p], channels, device) for p in packages):
                return channels
        return None

    def _serves(self, product: str, specifier: str, device: str) -> bool:
        allowed = self.queries.allowed(self.facts.products[product], [specifier])
        return bool(allowed and any(device in e.devices for e in self.queries.elements(product, allowed.mask)))

    def _is_served(self, product: str, specifier: str, channels: frozenset[str], device: str | None) -> bool:
        allowed = self.queries.allowed(self.facts.products[product], [specifier])
        builds = self.queries.elements(product, allowed.mask) if allowed else []
        wheels = [e for e in builds if e.installable and (device is None or device in e.devices)]
        ours = [e for e in wheels if not e.foreign] if "+" not in specifier else wheels
        return any(channels & set(element.channels) for element in ours or wheels)

    def _device(self, words: dict[str, str], environment: ProjectEnvironment | None, text: str) -> str | None:
        """Return the one device that labels of pins name, else indexes, else words of the text; None for several."""
        devices = {e.version for e in self.facts.elements("device")}
        labels = {specifier.partition("+")[2] for specifier in words.values()} & devices
        if labels or (environment and environment.indexes and (index_device := self._of_indexes(environment))):
            return labels.pop() if len(labels) == 1 else None if labels else index_device
        named = {device for device in devices if re.search(rf"\b{device}\b", text, re.IGNORECASE)}
        return named.pop() if len(named) == 1 else None

    def _of_indexes(self, environment: ProjectEnvironment) -> str | None:
        """Return the device for which all builds on the indexes named are, or that their addresses name; else None."""
        devices = {e.version for e in self.facts.elements("device")}
        addresses = [address(use.url) for _, use in environment.indexes]
        named = {part for each in addresses for part in each.split("/")} & devices
        channels = {self.queries.channels.get(each) for each in addresses} - {None}
        asked = [required.product.id for required in environment.requirements]
        builds = [e for product in asked for e in self.facts.elements(product) if not e.foreign]
        candidates = named or {device for e in builds if channels & set(e.channels) for device in e.devices}
        return candidates.pop() if len(candidates) == 1 else None


def _systems(plan: InstallPlan | None) -> tuple[str, ...]:
    """Return the one system on which an environment runs; that of an image is a Linux."""
    if plan is None or len(plan.systems) > 1:
        return ()
    return plan.systems or (("linux",) if plan.environment.reading.kind == "dockerfile" else ())
