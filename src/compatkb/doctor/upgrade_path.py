"""The path from what is installed to a stack that works: the one with the fewest changes."""

from packaging.utils import canonicalize_name

from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.doctor.known_machine import KnownMachine
from compatkb.doctor.machine import Installed
from compatkb.engine.answer import Alternative, Answer
from compatkb.engine.stacks import Stack
from compatkb.store.records import Element

_RELEASES = (Role.PACKAGE, Role.COMPANION)


class UpgradeStep(NamedTuple):
    """A change on the way: versions before and after, None for what is not installed or not wanted."""

    distribution: str
    before: str | None
    after: str | None


class UpgradePath(KnownMachine):
    """Finds the stack to go to from what is installed."""

    def best(self, answer: Answer | None) -> Alternative | None:
        """Return the stack to go to: the one that is there where it works, else the one with the fewest changes.

        Devices and GPUs of the machine are kept, and the releases that are installed as long as there is a stack with them.
        """
        devices = self.devices
        unserved = self.is_unserved and not self.mixed  # builds of two kinds: the one for a GPU is the wish for one
        idle = answer is not None and self.is_idle
        if answer and answer.stacks and answer.verdict.is_usable and not unserved and not idle:
            return Alternative((), "same", answer.stacks[0])
        if answer and not unserved and not idle:
            near = [
                n for n in answer.nearest if n.stack.verdict.is_usable and n.stack.device in (devices or (n.stack.device,))
            ]
            if near:
                return min(near, key=lambda n: len(self.steps_to(n.stack)))
        if idle:
            devices = self.seen_devices
        if unserved or (not devices and self.machine.graphics is not None):
            devices = self.facts.unasked_devices(lambda device: not self.is_graphic(device))
        return self._best_for(devices)

    def _best_for(self, devices: tuple[str, ...]) -> Alternative | None:
        """Return the stack for devices that keeps the releases of what is installed, else of its main package, else the best.

        What has ended is added only where nothing else serves the GPU.
        """
        hardware = [("hardware", name) for name in self.hardware[:1] if devices and devices[0] in self.devices_of(name)]
        main = next(iter(route.provider for route in self.facts.routes))
        companions = tuple(item.product.id for item in self.held if item.product.role == Role.COMPANION)
        place = self.place
        releases, replaced = self._releases(), self.facts.successors.keys() - {item.product.id for item in self.held}
        last: Alternative | None = None
        for options in (place + hardware, [pin for pin in place if pin[0] != "python"] + hardware):
            for pins in (releases, [pin for pin in releases if pin[0] == main], []):
                for words in ((main, *companions), (main,)):
                    fixed = {name for name, _ in pins}
                    request = self.asked([*pins, *options], devices, tuple(w for w in words if w not in fixed))
                    usable = [stack for stack in self.stacks(request) if stack.verdict.is_usable]
                    last = last or next((Alternative((), "best", stack) for stack in usable), None)
                    best = next((stack for stack in usable if not replaced & {e.product for e in stack.packages}), None)
                    if best:
                        return Alternative((), "best", best)
        return last

    def _releases(self) -> list[tuple[str, str]]:
        """Return the releases of what is installed, whatever their builds; of what the data do not know, none."""
        releases: dict[str, str] = {}
        for item in self.held:
            release = (item.installed.version or "").partition("+")[0]
            role = item.product.role
            if release and item.known and role in _RELEASES and self.is_known(item.product.id, release):
                releases.setdefault(item.product.id, release)
        return list(releases.items())

    def steps_to(self, stack: Stack) -> tuple[UpgradeStep, ...]:
        """Return what has to change from what is installed to a stack; what requirements bring along changes by itself.

        What is installed beside the stack goes only where it excludes it.
        """
        before: dict[str, Installed] = {}
        for item in self.held:
            before.setdefault(item.product.id, item.installed)
        after = {e.product: e for e in stack.packages if e.distribution}
        steps: list[UpgradeStep] = []
        for product in self.facts.products:
            old, new = before.get(product), after.get(product)
            role = self.facts.products[product].role
            if (old is None and new is None) or (role == Role.LEAF and (old is None or new is None)):
                continue  # run-time packages come and go with those that require them
            if old and new is None and self._may_stay(product, old, stack):
                continue
            steps += self._steps(product, old, new)
        return tuple(steps)

    def _steps(self, product: str, old: Installed | None, new: Element | None) -> list[UpgradeStep]:
        steps = []
        name = (new.distribution if new else None) or self.facts.products[product].distribution or product
        version = (old.version or "?") if old else None
        renamed = old is not None and canonicalize_name(old.name) != canonicalize_name(name)
        if old and (renamed or new is None):  # installing another distribution does not take it away
            steps.append(UpgradeStep(old.name if renamed else name, version, None))
            version = None
        if new and version != new.version:
            steps.append(UpgradeStep(name, version, new.version))
        return steps

    def _may_stay(self, product: str, old: Installed, stack: Stack) -> bool:
        """Return whether something installed excludes no member of a stack; an unknown one that brings a device goes."""
        provides = product in self.providers or self.facts.products[product].role == Role.COMPANION
        if not old.version or not self.is_known(product, old.version):
            return not provides
        pins = [(e.product, e.version) for e in stack.packages if e.distribution]
        request = self.request([*pins, (product, old.version)], (stack.device,))
        return bool(self.stacks(request))

    def proven(self, stack: Stack) -> Stack | None:
        """Return the best stack of the kind of one that is only likely of which every step is stated or observed."""
        main = next((e for e in stack.packages if e.product in self.providers), None)
        if main is None:
            return None
        place, hardware = self.place, [("hardware", name) for name in self.hardware[:1]]
        for options in (place + hardware, [pin for pin in place if pin[0] != "python"] + hardware):
            request = self.asked(options, (stack.device,), (main.product,))
            stacks = self.stacks(request, certain_only=True)
            if matching := [other for other in stacks if other.route == stack.route]:
                return matching[0]
        return None
