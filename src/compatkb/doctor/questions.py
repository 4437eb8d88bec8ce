"""What the doctor asks of the data and of the engine, whether a machine or a text is looked at."""

from collections.abc import Iterable, Sequence

from packaging.utils import canonicalize_name

from compatkb.core.clock import Clock
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.engine.answer import Answer, best_stacks, resolve
from compatkb.engine.stacks import Stack
from compatkb.errors import CompatkbError, GaveUpError
from compatkb.request.environment import read_environment
from compatkb.request.lookup import find_versions
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Request


class KnownData:
    """What the data know of versions and hardware."""

    def __init__(self, facts: Snapshot) -> None:
        self.facts = facts

    def mask_of(self, product: str, version: str) -> int:
        """Return the elements of a product that a version names, 0 for what names none."""
        try:
            return find_versions(self.facts, self.facts.products[product], version)
        except CompatkbError:
            return 0

    def is_known(self, product: str, version: str) -> bool:
        """Return whether the data know a version of a product; of run-time packages, which only bounds name, any."""
        return self.facts.products[product].role == Role.LEAF or bool(self.mask_of(product, version))

    @property
    def providers(self) -> set[str]:
        """The products that bring a device."""
        return {route.provider for route in self.facts.routes}

    def devices_of(self, hardware: str) -> tuple[str, ...]:
        """Return the devices that hardware is said to have and that a route serves, the usual one first."""
        return self.facts.hardware_devices().get(hardware, ())

    def is_graphic(self, device: str) -> bool:
        """Return whether a device is that of a GPU."""
        return self.facts.needs_graphics(device)

    def named_builds(self, stack: Stack) -> tuple[Element, ...]:
        """Return what a stack installs by name: run-time packages come with it, and differ between systems."""
        products = self.facts.products
        return tuple(e for e in stack.packages if products[e.product].role != Role.LEAF and not products[e.product].automatic)

    def modules(self) -> dict[str, str]:
        """Return the import names of the products of the data, by distribution in its canonical form."""
        import_names = {}
        for product in self.facts.products.values():
            if product.distribution and product.import_name and product.role in (Role.PACKAGE, Role.COMPANION):
                builds = (element.distribution for element in self.facts.elements(product.id) if element.distribution)
                names = (str(canonicalize_name(name)) for name in (product.distribution, *builds))
                import_names.update(dict.fromkeys(names, product.import_name))
        return import_names

    def driver_packages(self) -> tuple[str, ...]:
        """Return the names under which systems package the parts of a GPU driver."""
        return tuple(name for record in self.facts.guide_records("component") for name in record["packages"])


class SuccessorStack(NamedTuple):
    """The products that have ended, and a stack that does without them."""

    ended: tuple[str, ...]
    stack: Stack


class Questions(KnownData):
    """The same, and what the engine answers as of a day."""

    def __init__(self, facts: Snapshot, clock: Clock) -> None:
        super().__init__(facts)
        self.clock = clock

    def request(self, options: Iterable[tuple[str, str]], devices: Sequence[str], words: Sequence[str] = ()) -> Request | None:
        """Return the request of an environment: versions by product, further names; None for what cannot be asked."""
        try:
            return read_environment(self.facts, options, devices, self.clock, words).request(self.facts, self.clock)
        except CompatkbError:
            return None

    def answer(self, request: Request | None) -> Answer | None:
        """Return the answer to a request; None where there is none."""
        return resolve(self.facts, request) if request else None

    def stacks(self, request: Request | None, *, certain_only: bool = False) -> tuple[Stack, ...]:
        """Return the best stacks that answer a request; none where there is no request."""
        return tuple(best_stacks(self.facts, request, certain_only=certain_only)) if request else ()

    def successor(
        self,
        products: Iterable[str],
        options: Sequence[tuple[str, str]],
        devices: Sequence[str],
        *,
        certain_only: bool = False,
    ) -> SuccessorStack | None:
        """Return the best stack in place of ended products, where the data name what replaces them on these devices.

        With `certain_only` the best one of which every step is stated or observed. `options` are version words of what stays,
        such as the system; the first of them are given up last.
        """
        facts, among = self.facts, set(products)
        ended = tuple(product for product in facts.products if product in facts.successors and product in among)
        successors = [successor for name in ended for successor in facts.successors[name]]
        fitting = [each for each in successors if each.device is None or not devices or each.device in devices]
        if not fitting:
            return None
        words = tuple(dict.fromkeys(successor.product + successor.specifier for successor in fitting))
        kept = [option for option in options if option[0] not in ended]
        asked = [device for device in dict.fromkeys(each.device for each in fitting) if device] or list(devices)
        for number in range(len(kept), -1, -1):
            try:
                stacks = self.stacks(self.request(kept[:number], asked, words), certain_only=certain_only)
            except GaveUpError:
                continue
            for stack in stacks:
                if stack.verdict.is_usable and not {e.product for e in stack.packages} & set(ended):
                    return SuccessorStack(ended, stack)
        return None
