"""What files install: products that have ended go, and what went with them takes the builds that PyTorch has itself."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from compatkb.check.document import Document
from compatkb.check.migration_rules import BUILD, IMAGE, INDEX, PIN
from compatkb.check.project.environments import Environment, Said, Wish, World
from compatkb.check.project.install_plan import FAMILIES, Setting, known_image, settings_of, sources_of
from compatkb.check.project.queries import Judge, address, is_exact
from compatkb.check.rules import Rule
from compatkb.core.findings import Edit, Finding
from compatkb.core.vocabulary import Role
from compatkb.migrate.guide import Guide
from compatkb.migrate.removing import COMMANDS, LINES, TABLES, Gone, line_bounds, place_of, removal
from compatkb.migrate.target import Target, Targets
from compatkb.parsers.commands.model import PYTHON
from compatkb.parsers.requirement import normal
from compatkb.parsers.statement import ImageUse, IndexUse, Reading, RequirementRole

_LOCKS = re.compile(r"lock|pylock")
_FLAG = re.compile(r"(-f|--find-links|--extra-index-url|-i|--index-url|--index|--default-index)([ \t]+|=)?\Z")
_PINNED = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?P<extras>\[[^\]]*\])?\s*(?P<rest>.*)", re.DOTALL)


class Told(NamedTuple):
    """What is said of one place: all environments that hold it have to agree on what mends it."""

    said: Said
    rule: Rule
    message: str
    fix: str | None
    sources: tuple[str, ...]
    edits: tuple[Edit, ...]


class Pins:
    """The environments of a project, and what is said of what they install."""

    def __init__(
        self, world: World, judge: Judge, guide: Guide, asked: str | None, device: str | None, used: Mapping[str, str]
    ) -> None:
        """Take the device that was asked for, and that of the project, None where it is open.

        `used` names where a product is still in use.
        """
        self.world, self.judge, self.guide = world, judge, guide
        self.asked, self.device, self.used = asked, device, used
        self.targets = Targets(judge.asked, guide, judge)
        self.told: dict[tuple[str, int, int, str], list[Told]] = {}
        self.gone: dict[str, Gone] = {}
        self.stuck: list[str] = []  # where a product has to be taken out by hand, so that the builds stay

    def findings(self) -> Iterator[Finding]:
        """Yield what is said of every environment, each place once."""
        settings = [(e, list(settings_of(e, self.judge))) for e in self.world.environments()]
        for environment, _ in settings:
            for wish in environment.wishes:
                if wish.product.id in self.guide.ended:
                    self.gone.setdefault(wish.said.document.path, Gone()).statements.add(wish.said.statement)
        pythons = self._pythons(found for _, several in settings for found in several)
        for environment, several in settings:
            if environment.borrowed and not several:
                continue
            for setting in several:
                self._setting(environment, setting, pythons)
            self._images(environment)
        for told in self.told.values():
            yield self._finding(told)

    def _finding(self, several: list[Told]) -> Finding:
        first = several[0]
        same = all(one.edits == first.edits for one in several)
        messages = dict.fromkeys(one.message for one in several)
        start, end = first.said.span
        return first.said.document.finding(
            first.rule, start, end, next(iter(messages)) if same else " / ".join(list(messages)[:3]),
            fix=first.fix, sources=first.sources, edits=first.edits if same else (), subject=first.said.statement.text,
        )  # fmt: skip

    def _tell(self, told: Told) -> None:
        key = (told.said.document.path, *told.said.statement.place, told.rule.id)
        if told not in (known := self.told.setdefault(key, [])):
            known.append(told)

    def installed(self) -> frozenset[str]:
        """Return the products that have ended and that files install."""
        return frozenset(
            wish.product.id for e in self.world.environments() for wish in e.wishes if wish.product.id in self.guide.ended
        )

    def devices(self) -> frozenset[str]:
        """Return the devices for which products that have ended are installed, or held by images."""
        found: set[str] = set()
        for environment in self.world.environments():
            if any(wish.product.id in self.guide.ended for wish in environment.wishes):
                for setting in settings_of(environment, self.judge):
                    found |= self._devices_of(setting)
            for _, use in environment.images:
                if (image := known_image(self.judge, use)) and image.device and self._held(use):
                    found.add(image.device)
        return frozenset(found)

    def _devices_of(self, setting: Setting) -> set[str]:
        found: set[str] = set()
        for wish in setting.wishes:
            if wish.product.id not in self.guide.ended or wish.requirement.tool == "conda":
                continue
            hold = self.judge.held(wish.product, [wish.requirement.specifier])
            if hold is None:
                continue
            asked = sources_of(setting, wish.requirement.step, wish.requirement, self.judge)
            elements = [e for e in self.judge.elements(hold.product, hold.mask) if e.channels]
            only = asked.channels - {self.judge.own}
            label = re.split(r"[,;]", hold.text.partition("+")[2])[0]
            if not elements:  # a build that is in no list, by its label or the indexes that are asked
                every = self.judge.facts.elements(hold.product)
                elements = [e for e in every if label in e.devices] or [e for e in every if only & set(e.channels)]
            near = [e for e in elements if asked.channels & set(e.channels)] or elements
            nearer = [e for e in near if only & set(e.channels)] or near
            found |= {device for e in nearer for device in e.devices}
        return found

    def _pythons(self, settings: Iterable[Setting]) -> list[str]:
        """Return the Pythons that the project runs, or else declares, the oldest first."""
        mask = declared = 0
        for setting in settings:
            mask |= setting.pythons
            for _, python in setting.environment.pythons:
                declared |= self.judge.python(python.specifier)
        return self._versions(mask or declared)

    def _declared(self, environment: Environment) -> list[str]:
        """Return the Pythons that a file declares, the oldest first."""
        mask = 0
        for _, python in environment.pythons:
            mask |= self.judge.python(python.specifier)
        return self._versions(mask)

    def _versions(self, mask: int) -> list[str]:
        return [e.version for e in self.judge.elements("python", mask) if not e.version.endswith("t")]

    def _run(self, environment: Environment) -> str:
        """Return the Python that the commands of a file name first; empty where none is named with its version."""
        known = {e.version for e in self.judge.facts.elements("python")}
        named = (PYTHON.fullmatch(word.value) for words in environment.reading.calls for word in words[:3])
        return next((found[1] for found in named if found and found[1] in known), "")

    def _oldest(self, mask: int) -> str:
        return next(iter(self._versions(mask)), "")

    # one environment

    def _setting(self, environment: Environment, setting: Setting, pythons: list[str]) -> None:
        ended = [wish for wish in setting.wishes if wish.product.id in self.guide.ended]
        if not ended:
            return
        devices = self._devices_of(setting)
        device = self.asked or (next(iter(devices)) if len(devices) == 1 else None if devices else self.device)
        used = {w.product.id: self.used[w.product.id] for w in ended if w.product.id in self.used}
        locked = any(_LOCKS.search(w.said.document.path.rpartition("/")[2]) for w in ended)
        open_ = device is None or bool(used) or locked
        system = next((s for s in FAMILIES.values() if s in setting.systems or self._wider(setting, s)), "")
        own = self._oldest(setting.pythons) or self._run(environment)
        beside = sorted({w.product.id for w in setting.wishes if w.product.role == Role.COMPANION and w.requirement.specifier})
        wanted = [own] if own else self._declared(environment)
        target = self._target(device, wanted, pythons, system, tuple(beside)) if device else None
        if target and not (target.fits and target.known and set(beside) <= set(target.versions)):
            open_ = True
        if target and not open_ and any(self._removed(wish) is None for wish in ended):
            open_ = True  # one that stays would meet a build that it does not go with
        waits = next((f"; {place} must be migrated first" for place in used.values()), "")
        if open_ and not used and not locked and (device is None or target is not None):
            self.stuck.append(f"{ended[0].said.document.path}:{ended[0].said.statement.place.line}")
        for wish in ended:
            self._ended(wish, used, device, target, whole=not open_)
        if device is None:
            return
        self._indexes(environment, ended, target, waits, whole=not open_)
        if target is not None:
            for wish in setting.wishes:
                if wish.product.id not in self.guide.ended:
                    self._build(environment, setting, wish, target, waits, whole=not open_)

    def _target(self, device: str, own: list[str], project: list[str], system: str, beside: tuple[str, ...]) -> Target | None:
        """Return the stack for the oldest Python of the environment that has one, else for one of the project."""
        found = [self.targets.of(device, python, system, beside) for python in own or project]
        fitting = [target for target in found if target is not None and target.fits]
        if fitting:
            return fitting[0]
        return found[0] if own else self.targets.of(device, "", system, beside)

    def _wider(self, setting: Setting, system: str) -> bool:
        return any(system in self.judge.facts.wider.get(name, ()) for name in setting.systems)

    def _ended(self, wish: Wish, used: Mapping[str, str], device: str | None, target: Target | None, *, whole: bool) -> None:
        product = wish.product
        known = self.guide.ended[product.id]
        other = self.judge.facts.products[known.product]
        message = f"{product.name} has ended, and {other.name} does without it"
        fix: str | None = "take it out"
        edit: Edit | None = None
        if wish.requirement.role is RequirementRole.LOCKED or _LOCKS.search(wish.said.document.path.rpartition("/")[2]):
            fix = "take it out of what is locked, and lock anew"
        elif product.id in used:
            message += f"; {used[product.id]} still uses it"
            fix = "take out what uses it first"
        elif device is None:
            message += "; the target device is unknown"
            fix = "name the device: --device"
        else:
            if target is not None and not target.fits:
                message += f"; no {other.name} for {device} is known to work on the Python of this project"
                fix = f"move to Python {' or '.join(target.stack.python)}, then to {other.id} {target.versions[other.id]}"
            elif target is not None:
                fix = f"take it out; {other.id} {target.versions[other.id]} {target.where}"
            edit = self._removed(wish) if whole else None
        sources = self.guide.ended_sources.get(product.id, ())
        self._tell(Told(wish.said, PIN, message, fix, sources, (edit,) if edit else ()))

    def _removed(self, wish: Wish) -> Edit | None:
        document = wish.said.document
        return removal(document, self._reading(document), wish.said.statement, self.gone[document.path])

    def _reading(self, document: Document) -> Reading:
        return self.world.read[document.path][1]

    def _build(
        self, environment: Environment, setting: Setting, wish: Wish, target: Target, waits: str, *, whole: bool
    ) -> None:
        """Tell of a package that goes with the ended ones and has to be the one of the native stack."""
        product, requirement = wish.product, wish.requirement
        if product.role not in (Role.PACKAGE, Role.COMPANION, Role.LEAF) or requirement.tool == "conda":
            return
        wanted = target.versions.get(product.id)
        hold = self.judge.held(product, [requirement.specifier])
        main = {known.product for known in self.guide.ended.values()}
        if product.role == Role.LEAF:
            if wanted and hold and is_exact(hold.text) and not self._admits(hold.product, hold.mask, wanted):
                message = f"{product.name} is pinned for what has ended; the native build installs {wanted}"
                self._tell(Told(wish.said, BUILD, message, "remove this pin", (), ()))
            return
        if product.id not in main and product.role != Role.COMPANION:
            return
        builds = self.judge.elements(product.id, hold.mask) if hold and requirement.specifier else []
        if builds and all(target.stack.device not in e.devices for e in builds) and "+" in requirement.specifier:
            return  # a build for another device
        if wanted is None:
            if hold and requirement.specifier:
                message = f"no {product.name} is known to go with {self._named(target)}"
                self._tell(Told(wish.said, BUILD, message, "take it out, or try the newest from the same index", (), ()))
            return
        declared = self._reading(wish.said.document).kind in TABLES
        admitted = bool(hold) and self._admits(product.id, hold.mask if hold else 0, wanted)
        if (
            admitted
            and (declared or is_exact(requirement.specifier))
            and "+" in requirement.specifier + ("+" if declared else "")
        ):
            return
        name = _PINNED.match(requirement.text)
        own = self.judge.facts.distribution(product.id, wanted) or product.id
        new = f"{own}=={wanted}"
        version = requirement.specifier.removeprefix("==") or "in any version"
        message = f"{product.name} {version} is only needed by a discontinued package{waits}"
        edits: tuple[Edit, ...] = ()
        where = place_of(wish.said.document, wish.said.statement)
        plain = not requirement.derived and not requirement.url and not requirement.hashed and not requirement.marker
        if whole and where and name and plain and requirement.role is not RequirementRole.LOCKED:
            written = name["name"] if normal(name["name"]) == normal(own) else own
            text = f"{written}{name['extras'] or ''}=={wanted}"
            edits = self._pinned(environment, setting, wish, target, Edit(where.start, where.end, text))
        fix = f"write {new}, from {target.url}; it {target.where}"
        self._tell(Told(wish.said, BUILD, message, fix, (), edits))

    def _named(self, target: Target) -> str:
        return ", ".join(f"{p} {target.versions[p]}" for p in {known.product for known in self.guide.ended.values()})

    def _admits(self, product: str, mask: int, version: str) -> bool:
        return any(e.version == version for e in self.judge.elements(product, mask))

    def _pinned(self, environment: Environment, setting: Setting, wish: Wish, target: Target, edit: Edit) -> tuple[Edit, ...]:
        """Return an edit with what names the index, where nothing else does; none where it cannot be named here."""
        reading = self._reading(wish.said.document)
        asked = {self.judge.channels.get(address(use.url)) for _, use in environment.indexes}
        if target.channel in asked or any(self._ends(use) for _, use in environment.indexes):
            return (edit,)
        if reading.kind in LINES:
            start, end = line_bounds(wish.said.document, edit.start)
            newline = "\r\n" if wish.said.document.text[start:end].endswith("\r\n") else "\n"
            return (Edit(start, start, f"--extra-index-url {target.url}{newline}"), edit)
        if reading.kind in COMMANDS and wish.requirement.tool in ("pip", "uv"):
            steps = [
                w for w in setting.wishes if w.requirement.step == wish.requirement.step and w.product.id in target.versions
            ]
            if steps and steps[0] is not wish:
                return (edit,)
            after = wish.said.document.text[edit.end : edit.end + 1]
            past = edit.end + (after in ("'", '"') and bool(after))
            return (edit, Edit(past, past, f" --extra-index-url {target.url}"))
        return ()

    # indexes

    def _ends(self, use: IndexUse) -> bool:
        """Return whether an index is there for products that have ended."""
        channel = self.judge.channels.get(address(use.url))
        return channel in self._ended_channels if channel else False

    @property
    def _ended_channels(self) -> frozenset[str]:
        found = {c for product in self.guide.ended for e in self.judge.facts.elements(product) for c in e.channels}
        return frozenset(found - {self.judge.own})

    def _indexes(self, environment: Environment, ended: list[Wish], target: Target | None, waits: str, *, whole: bool) -> None:
        there = {self.judge.channels.get(address(use.url)) for _, use in environment.indexes}
        for said, use in environment.indexes:
            if not self._ends(use):
                continue
            instead = target.url if target and target.channel not in there else ""
            message = f"this index is there for products that have ended{waits}"
            fix = f"ask {instead}" if instead else "take it out"
            edit = self._index_edit(said, use, instead) if whole else ()
            sources = tuple(dict.fromkeys(s for w in ended for s in self.guide.ended_sources.get(w.product.id, ())))
            self._tell(Told(said, INDEX, message, fix, sources, edit))
            if instead:
                there.add(target.channel if target else None)

    def _index_edit(self, said: Said, use: IndexUse, instead: str) -> tuple[Edit, ...]:
        document = said.document
        start = document.offset(*use.place)
        line_start, line_end = line_bounds(document, start)
        at = document.text.find(use.url, start, max(line_end, start + len(use.text) + len(use.url)))
        if at < 0:
            return ()
        past = at + len(use.url)
        flag = _FLAG.search(document.text[line_start:at].rstrip("\"'"))
        kind = self._reading(document).kind
        if instead:
            renamed: tuple[Edit, ...] = ()
            if flag and flag[1] in ("-f", "--find-links"):
                begin = line_start + flag.start(1)
                renamed = (Edit(begin, begin + len(flag[1]), "--extra-index-url"),)
            elif use.style == "find-links":
                return ()
            return (*renamed, Edit(at, past, instead))
        if kind in LINES:
            return (Edit(line_start, line_end, ""),)
        if kind in COMMANDS and flag:
            begin = line_start + flag.start(1)
            quote = document.text[at - 1] if document.text[at - 1] in "\"'" else ""
            end = past + len(quote)
            head = document.text[line_start:begin]
            tail = document.text[end:line_end]
            if not head.strip() and re.fullmatch(r"[ \t]*\\\s*", tail):
                return (Edit(line_start, line_end, ""),)
            if not head.strip() and not tail.strip():
                return ()
            gap = len(head) - len(head.rstrip(" \t"))
            return (Edit(begin - gap, end, ""),) if gap else ()
        return ()

    # images

    def _held(self, use: ImageUse) -> dict[str, str]:
        """Return the ended products in an image, with the versions that it holds."""
        image = known_image(self.judge, use)
        held = self.judge.known.held(image) if image else {}
        return {product: h.spec.removeprefix("==") for product, h in held.items() if product in self.guide.ended and h.mask}

    def _images(self, environment: Environment) -> None:
        for said, use in environment.images:
            held = self._held(use)
            names = {p: self.judge.facts.products[p].name for p in self.guide.ended}
            if held:
                what = " and ".join(f"{names[p]} {version}".strip() for p, version in held.items())
                message = f"this image holds {what}"
            elif self._repository_ends(use):
                message = f"images of {use.repository} are there for products that have ended"
            else:
                continue
            device = getattr(known_image(self.judge, use), "device", None) or self.device
            target = self.targets.of(device, "", "") if device else None
            fix = "no image is documented that takes its place: start from one of a system or of Python"
            if target:
                main = {known.product for known in self.guide.ended.values()}
                words = " ".join(f"{p}=={v}" for p, v in target.versions.items() if p in main)
                fix += f", and install {words} from {target.url}"
            sources = tuple(dict.fromkeys(s for p in held or self.guide.ended for s in self.guide.ended_sources.get(p, ())))
            self._tell(Told(said, IMAGE, message, fix, sources[:3], ()))

    def _repository_ends(self, use: ImageUse) -> bool:
        known = self.judge.known
        if use.repository not in known.repositories:
            return False
        images = [i for several in known.images.values() for i in several if i.repository == use.repository]
        held = [known.held(image) for image in images]
        told = [products for products in held if products]
        return bool(told) and all(set(products) & set(self.guide.ended) for products in told)
