"""What files install: products that have ended go, and what went with them takes the builds that PyTorch has itself."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, reduce
from operator import or_
from typing import Any

from compatkb.check.document import TextDocument
from compatkb.check.migration_rules import BUILD, IMAGE, INDEX, PIN
from compatkb.check.project.alternatives import routed, uses_uv
from compatkb.check.project.documented import is_exported
from compatkb.check.project.environments import LocatedStatement, ProductRequirement, Project, ProjectEnvironment
from compatkb.check.project.indexes import sources_of
from compatkb.check.project.install_plan import FAMILIES, InstallPlan, install_plans, known_image
from compatkb.check.project.queries import ProjectQueries, address, is_exact
from compatkb.check.rules import CheckRule
from compatkb.core.findings import WAITS, Edit, Finding
from compatkb.core.names import normal
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.migrate.guide import Guide
from compatkb.migrate.removing import COMMANDS, LINES, TABLES, Removals, index_edit, line_bounds, place_of, removal
from compatkb.migrate.target import MigrationTarget, MigrationTargets, held_in, image_findings
from compatkb.parsers.commands.model import PYTHON
from compatkb.parsers.statement import IndexUse, ParsedFile, Requirement, RequirementRole

_LOCKS = re.compile(r"lock|pylock")
_PINNED = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?P<extras>\[[^\]]*\])?\s*(?P<rest>.*)", re.DOTALL)


class PinFinding(NamedTuple):
    """What is said of one place: all environments that hold it have to agree on what mends it."""

    located: LocatedStatement
    rule: CheckRule
    message: str
    fix: str | None
    sources: tuple[str, ...]
    edits: tuple[Edit, ...]


class PlanMove(NamedTuple):
    """Where the packages of one plan go; `whole` where all of it can be written."""

    plan: InstallPlan
    device: str | None
    target: MigrationTarget | None
    waits: str
    whole: bool


class Pins:
    """The environments of a project, and what is said of what they install."""

    def __init__(self, project: Project, queries: ProjectQueries, guide: Guide, asked: str | None) -> None:
        """Take the device that was asked for, None where the files tell."""
        self.project, self.queries, self.guide = project, queries, guide
        self.asked = asked
        self.device: str | None = None
        self.used: Mapping[str, str] = {}
        self.targets = MigrationTargets(queries.context, guide, queries)
        self.by_place: dict[tuple[str, int, int, str], list[PinFinding]] = {}
        self.removals: dict[str, Removals] = {}
        self.bound: dict[str, str] = {}  # a place by file whose builds work with what has ended alone
        self.stuck: list[str] = []  # where a product has to be taken out by hand, so that the builds stay

    def findings(self, device: str | None, used: Mapping[str, str]) -> Iterator[Finding]:
        """Yield what is said of every environment, each place once.

        `device` is that of the project, None where it is open; `used` names where a product is still in use.
        """
        self.device, self.used = device, used
        plans = [(e, list(install_plans(e, self.queries))) for e in self.project.environments()]
        for environment, _ in plans:
            for required in self._ended_in(environment):
                self.removals.setdefault(required.document.path, Removals()).statements.add(required.located.statement)
        pythons = self._pythons(plan for _, several in plans for plan in several)
        for environment, several in plans:
            if environment.borrowed and not several:
                continue
            moves = [(plan, *self._target_of(environment, plan, pythons)) for plan in several if self._ended_in(plan)]
            for plan, _, target in moves:
                for required in plan.requirements if target else ():
                    if target and self._goes(required, target):
                        self.removals.setdefault(required.document.path, Removals()).statements.add(required.located.statement)
            for move in moves:
                self._plan(environment, *move)
            for located, remark in image_findings(environment, self.queries, self.guide, self.targets, self.device):
                self._add(located, IMAGE, *remark, ())
        yield from map(self._finding, self.by_place.values())

    def _finding(self, several: list[PinFinding]) -> Finding:
        first = several[0]
        same = all(one.edits == first.edits for one in several)
        messages = dict.fromkeys(one.message for one in several)
        start, end = first.located.span
        return first.located.document.finding(
            first.rule, start, end, next(iter(messages)) if same else " / ".join(list(messages)[:3]),
            fix=first.fix, sources=first.sources, edits=first.edits if same else (), subject=first.located.statement.text,
        )  # fmt: skip

    def _add(self, *parts: Any) -> None:
        finding = PinFinding(*parts)
        key = (finding.located.document.path, *finding.located.statement.place, finding.rule.id)
        if finding not in (known := self.by_place.setdefault(key, [])):
            known.append(finding)

    def installed(self) -> frozenset[str]:
        """Return the products that have ended and that files install."""
        return frozenset(required.product.id for e in self.project.environments() for required in self._ended_in(e))

    def _ended_in(self, holder: ProjectEnvironment | InstallPlan) -> list[ProductRequirement]:
        return [required for required in holder.requirements if required.product.id in self.guide.ended]

    def devices(self, *, as_listed: bool) -> frozenset[str]:
        """Return the devices for which products that have ended are installed, or held by images.

        A bare name, which installers take from their own index, names a device only `as_listed` there: what programs name is
        nearer to what people run.
        """
        devices: set[str] = set()
        for environment in self.project.environments():
            if self._ended_in(environment):
                for plan in install_plans(environment, self.queries):
                    devices |= self._devices_of(plan, as_listed=as_listed)
            for _, use in environment.images:
                if (image := known_image(self.queries, use)) and image.device and held_in(use, self.queries, self.guide):
                    devices.add(image.device)
        return frozenset(devices)

    def _devices_of(self, plan: InstallPlan, *, as_listed: bool = False) -> set[str]:
        devices: set[str] = set()
        for required in self._ended_in(plan):
            if required.requirement.tool == "conda":
                continue
            allowed = self.queries.allowed(required.product, [required.requirement.specifier])
            if allowed is None:
                continue
            asked = sources_of(plan, required.requirement.step, required.requirement, self.queries)
            elements = [e for e in self.queries.elements(allowed.product, allowed.mask) if e.channels]
            named = {address(use.url) for _, use in plan.environment.indexes if use.step == required.requirement.step}
            only = (asked.channels or {c for url, c in self.queries.channels.items() if url in named}) - {self.queries.own}
            label = re.split(r"[,;]", allowed.text.partition("+")[2])[0]
            if not elements:  # a build that is in no list, by its label or the indexes that are asked
                every = self.queries.facts.elements(allowed.product)
                elements = [e for e in every if label in e.devices] or [e for e in every if only & set(e.channels)]
            near = [e for e in elements if asked.channels & set(e.channels)] or elements
            nearer = [e for e in near if only & set(e.channels)] or near
            says = bool(label or only or as_listed)
            devices |= {device for e in nearer if says or self.queries.own not in e.channels for device in e.devices}
        return devices

    def _pythons(self, plans: Iterable[InstallPlan]) -> list[str]:
        """Return the Pythons that the project runs, or else declares, the oldest first."""
        plans = list(plans)
        running = reduce(or_, (plan.pythons.mask for plan in plans), 0)
        return self._versions(running) or self._declared(*(plan.environment for plan in plans))

    def _declared(self, *environments: ProjectEnvironment) -> list[str]:
        """Return the Pythons that files declare, the oldest first."""
        stated = (python.specifier for environment in environments for _, python in environment.pythons)
        return self._versions(reduce(or_, (self.queries.python(specifier).mask for specifier in stated), 0))

    def _versions(self, mask: int) -> list[str]:
        return [e.version for e in self.queries.elements("python", mask) if not e.version.endswith("t")]

    def _run(self, environment: ProjectEnvironment) -> str:
        """Return the Python that the commands of a file name first; empty where none is named with its version."""
        known = {e.version for e in self.queries.facts.elements("python")}
        named = (PYTHON.fullmatch(word.value) for words in environment.reading.calls for word in words[:3])
        return next((match[1] for match in named if match and match[1] in known), "")

    # one environment

    def _target_of(
        self, environment: ProjectEnvironment, plan: InstallPlan, pythons: list[str]
    ) -> tuple[str | None, MigrationTarget | None]:
        """Return the device of a plan, None where it is open, and the stack that it moves to."""
        devices = self._devices_of(plan)
        device = self.asked or (next(iter(devices)) if len(devices) == 1 else None if devices else self.device)
        wider = {*plan.systems, *(wide for name in plan.systems for wide in self.queries.facts.wider.get(name, ()))}
        system = next((s for s in FAMILIES.values() if s in wider), "")
        own = next(iter(self._versions(plan.pythons.mask)), self._run(environment))
        wanted = [own] if own else self._declared(environment)
        return device, self._target(device, wanted, pythons, system, self._beside(plan)) if device else None

    def _beside(self, plan: InstallPlan) -> tuple[str, ...]:
        """Return the companions that a plan names with a version: the stack has to have them."""
        companions = (w for w in plan.requirements if w.product.role == Role.COMPANION and w.requirement.specifier)
        return tuple(sorted({w.product.id for w in companions}))

    def _plan(
        self, environment: ProjectEnvironment, plan: InstallPlan, device: str | None, target: MigrationTarget | None
    ) -> None:
        ended = self._ended_in(plan)
        used = {w.product.id: self.used[w.product.id] for w in ended if w.product.id in self.used}
        locked = any(_LOCKS.search(w.document.path.rpartition("/")[2]) for w in ended)
        open_ = device is None or bool(used) or locked
        if target and not (target.fits and target.known and set(self._beside(plan)) <= set(target.versions)):
            open_ = True
        if not open_ and any(self._removed(required) is None for required in ended):
            open_ = True  # one that stays would meet a build that it does not go with
        if any(required.requirement.extras for required in ended):
            open_ = True  # what the extra brings would go with it
        steps = {use.step for _, use in environment.indexes if self._ends(use)}
        beside = next((one.name for one in self._others(environment) if one.step in steps), "")
        open_ |= bool(beside)  # what nothing is known of may be there for the index, or need what is discontinued
        waits = next((f"; {place} must be migrated first" for place in used.values()), "")
        waits = waits or (f"; {beside} beside it may need it" if beside else "")
        move = PlanMove(plan, device, target, waits, not open_)
        others = [r for r in plan.requirements if r.product.id not in self.guide.ended]
        for required in others:
            allowed = self.queries.allowed(required.product, [required.requirement.specifier])
            builds = self.queries.elements(allowed.product, allowed.mask) if allowed else []
            if builds and all(e.only_with & self.guide.ended.keys() for e in builds):
                place = f"{required.document.path}:{required.located.statement.place.line}"
                self.bound.setdefault(required.document.path, place)
        rest = [one for r in others if target and (one := self._moved(move, r, target)) is not None]
        exported = bool(rest) and any(is_exported(one.located.document.text) for one in rest)
        if move.whole and (exported or not all(one.edits for one in rest)):
            move = move._replace(whole=False)  # what stays pinned beside would not go with what is written
        if not move.whole and not used and not locked and (device is None or target is not None):
            self.stuck.append(f"{ended[0].located.document.path}:{ended[0].located.statement.place.line}")
        for required in ended:
            self._ended(move, required, used, exported=exported)
        if device is not None:
            self._indexes(move, ended)
        for one in rest:
            self._add(*(one if move.whole else one._replace(edits=())))

    def _others(self, environment: ProjectEnvironment) -> Iterator[Requirement]:
        """Yield what steps install beside what the data know."""
        own = (one for one in environment.reading.statements if isinstance(one, Requirement))
        return (one for one in own if one.step and self.project.product(one.name, one.tool) is None)

    def _target(
        self, device: str, own: list[str], project: list[str], system: str, beside: tuple[str, ...]
    ) -> MigrationTarget | None:
        """Return the stack for the oldest Python of the environment that has one, else for one of the project."""
        targets = [self.targets.of(device, python, system, beside) for python in own or project]
        fitting = [target for target in targets if target is not None and target.fits]
        if fitting:
            return fitting[0]
        return targets[0] if own else self.targets.of(device, "", system, beside)

    def _ended(self, move: PlanMove, required: ProductRequirement, used: Mapping[str, str], *, exported: bool) -> None:
        product, target = required.product, move.target
        known = self.guide.ended[product.id]
        other = self.queries.facts.products[known.product]
        message = f"{product.name} has ended, and {other.name} does without it"
        fix: str | None = "take it out"
        edit: Edit | None = None
        if required.requirement.role is RequirementRole.LOCKED or _LOCKS.search(required.document.path.rpartition("/")[2]):
            fix = "take it out of what is locked, and lock anew"
        elif product.id in used:
            message += f"; {used[product.id]} still uses it"
            fix = WAITS
        elif move.device is None:
            message += "; the target device is unknown"
            fix = "name the device: --device"
        else:
            if target is not None and not target.fits:
                message += (
                    f"; no {other.name} for {move.device} is known to work on Python {target.python}, which this project runs"
                )
                fix = f"move to Python {' or '.join(target.stack.python)}, then to {other.id} {target.versions[other.id]}"
            elif target is not None and exported:
                fix = f"install {other.id} {target.versions[other.id]} in a new environment, and export that"
            elif target is not None:
                message += move.waits
                fix = f"take it out; {other.id} {target.versions[other.id]} {target.where}"
            edit = self._removed(required) if move.whole else None
        sources = self.guide.ended_sources.get(product.id, ())
        self._add(required.located, PIN, message, fix, sources, (edit,) if edit else ())

    def _removed(self, required: ProductRequirement) -> Edit | None:
        document = required.document
        return removal(document, self._reading(document), required.located.statement, self.removals[document.path])

    def _reading(self, document: TextDocument) -> ParsedFile:
        return self.project.read[document.path][1]

    @cached_property
    def _alone(self) -> frozenset[str]:
        """What has ended, and the runtimes that nothing else needs."""
        facts = self.queries.facts
        alone = set(self.guide.ended)
        while True:
            others = {to for of in facts.products if of not in alone for to in facts.targets_of(of)} | alone
            needed = {to for of in alone for to in facts.targets_of(of) if facts.products[to].role == Role.LEAF}
            if needed <= others:
                return frozenset(alone)
            alone |= needed - others

    def _goes(self, required: ProductRequirement, target: MigrationTarget) -> bool:
        """Return whether a runtime is pinned for what has ended: the native stack has it in another version, or not at all."""
        product = required.product
        allowed = self.queries.allowed(product, [required.requirement.specifier])
        if product.role != Role.LEAF or required.requirement.tool == "conda" or not allowed or not is_exact(allowed.text):
            return False
        wanted = target.versions.get(product.id)
        return not self._admits(allowed.product, allowed.mask, wanted) if wanted else product.id in self._alone

    def _moved(self, move: PlanMove, required: ProductRequirement, target: MigrationTarget) -> PinFinding | None:
        """Return what is said of a package that goes with the ended ones and has to be the one of the native stack."""
        product, requirement = required.product, required.requirement
        wanted = target.versions.get(product.id)
        if self._goes(required, target):
            message = f"{product.name} is pinned for what has ended; the native build "
            message += f"installs {wanted}" if wanted else "does without it"
            edit = self._removed(required) if requirement.role is not RequirementRole.LOCKED else None
            return PinFinding(required.located, BUILD, message, "remove this pin", (), (edit,) if edit else ())
        main = {known.product for known in self.guide.ended.values()}
        if product.id not in main and product.role != Role.COMPANION:
            return None
        if requirement.tool == "conda":
            of_conda = any(one.requirement.tool == "conda" for one in self._ended_in(move.plan))
            if not (of_conda and requirement.specifier and wanted):
                return None
            message = f"conda's {product.name} {requirement.specifier.removeprefix('==')} goes with a discontinued package"
            return PinFinding(
                required.located, BUILD, message, f"take {product.id}=={wanted} by pip, from {target.url}", (), ()
            )
        allowed = self.queries.allowed(product, [requirement.specifier])
        builds = self.queries.elements(product.id, allowed.mask) if allowed and requirement.specifier else []
        if builds and all(target.stack.device not in e.devices for e in builds) and "+" in requirement.specifier:
            return None  # a build for another device
        if not requirement.specifier:
            if any(one.product == product and one.requirement.specifier for one in move.plan.requirements):
                return None  # what pins it says which build
            named = sources_of(move.plan, requirement.step, requirement, self.queries).channels - {self.queries.own}
            every = self.queries.facts.elements(product.id)
            served = {c for e in every if target.stack.device in e.devices for c in e.channels}
            if (named or move.plan.asks_unknown(self.queries)) and not named & served:
                return None  # from an index for another device
        if wanted is None:
            if not allowed or not requirement.specifier:
                return None
            beside = ", ".join(f"{p} {target.versions[p]}" for p in main)
            message = f"no {product.name} is known to go with {beside}"
            return PinFinding(required.located, BUILD, message, "take it out, or try the newest from the same index", (), ())
        declared = self._reading(required.document).kind in TABLES
        admitted = bool(allowed) and self._admits(product.id, allowed.mask if allowed else 0, wanted)
        if admitted and (declared or (is_exact(requirement.specifier) and "+" in requirement.specifier)):
            return None
        name = _PINNED.match(requirement.text)
        own = self.queries.facts.distribution(product.id, wanted) or product.id
        new = f"{own}=={wanted}"
        version = requirement.specifier.removeprefix("==") or "in any version"
        message = f"{product.name} {version} is only needed by a discontinued package{move.waits}"
        edits: tuple[Edit, ...] = ()
        where = place_of(required.document, required.located.statement)
        plain = not requirement.derived and not requirement.url and not requirement.hashed and not requirement.marker
        if move.whole and where and name and plain and requirement.role is not RequirementRole.LOCKED:
            written = name["name"] if normal(name["name"]) == normal(own) else own
            text = f"{written}{name['extras'] or ''}=={wanted}"
            edits = self._pinned(move.plan, required, target, Edit(where.start, where.end, text))
        fix = f"write {new}, from {target.url}; it {target.where}"
        return PinFinding(required.located, BUILD, message, fix, (), edits)

    def _admits(self, product: str, mask: int, version: str) -> bool:
        return any(e.version == version for e in self.queries.elements(product, mask))

    def _pinned(
        self, plan: InstallPlan, required: ProductRequirement, target: MigrationTarget, edit: Edit
    ) -> tuple[Edit, ...]:
        """Return an edit with what names the index, where nothing else does; none where it cannot be named here."""
        reading = self._reading(required.document)
        uses = [use for _, use in plan.environment.indexes]
        asked = {self.queries.channels.get(address(use.url)) for use in uses}
        if target.channel in asked or any(map(self._ends, uses)):
            return (edit,)
        if reading.kind in (*LINES, "environment"):
            moved = [w for w in plan.requirements if w.product.id in target.versions and w.document is required.document]
            places = [place for w in moved if (place := place_of(w.document, w.located.statement))]
            start, end = line_bounds(required.document, min((place.start for place in places), default=edit.start))
            newline = "\r\n" if required.document.text[start:end].endswith("\r\n") else "\n"  # one line for all of a file
            item = re.match(r"[ \t]*-[ \t]+", required.document.text[start:end]) if reading.kind not in LINES else None
            return (Edit(start, start, f"{item[0] if item else ''}--extra-index-url {target.url}{newline}"), edit)
        if reading.kind in COMMANDS and required.requirement.tool in ("pip", "uv"):
            steps = (w for w in plan.requirements if w.requirement.step == required.requirement.step)
            if next((w for w in steps if w.product.id in target.versions), required) is not required:
                return (edit,)
            after = required.document.text[edit.end : edit.end + 1]
            past = edit.end + (after in ("'", '"') and bool(after))
            return (edit, Edit(past, past, f" --extra-index-url {target.url}"))
        text = required.document.text
        if reading.kind == "pyproject" and uses_uv(text):
            beside = [w for w in plan.requirements if w.product.id in target.versions and w.document is required.document]
            builds = [e for w in beside for e in target.stack.packages if e.product == w.product.id]
            end = next(s.end for w in beside if (s := place_of(w.document, w.located.statement)))
            more = routed(self.queries.facts, text, builds, end, target.channel, target.url)
            return (edit, *more) if more else ()
        return ()

    # indexes

    def _ends(self, use: IndexUse) -> bool:
        """Return whether an index is there for products that have ended."""
        channels = {c for product in self.guide.ended for e in self.queries.facts.elements(product) for c in e.channels}
        return self.queries.channels.get(address(use.url)) in channels - {self.queries.own}

    def _indexes(self, move: PlanMove, ended: list[ProductRequirement]) -> None:
        uses, target = move.plan.environment.indexes, move.target
        there = {(use.step, self.queries.channels.get(address(use.url))) for _, use in uses}  # an option is of its command
        for located, use in uses:
            if not self._ends(use):
                continue
            instead = target.url if target and (use.step, target.channel) not in there else ""
            message = f"this index is there for products that have ended{move.waits}"
            fix = f"ask {instead}" if instead else "take it out"
            edit = index_edit(located.document, self._reading(located.document).kind, use, instead) if move.whole else ()
            sources = tuple(dict.fromkeys(s for w in ended for s in self.guide.ended_sources.get(w.product.id, ())))
            self._add(located, INDEX, message, fix, sources, edit)
            if instead:
                there.add((use.step, target.channel if target else None))
