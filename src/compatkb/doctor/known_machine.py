"""A machine in terms of the data: its packages, graphics, system and driver, what is wrong with each, and its pins."""

import re
from functools import cached_property
from typing import Any

from packaging.utils import canonicalize_name

from compatkb.core.clock import Clock
from compatkb.core.findings import Severity
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.doctor.machine import Graphics, Installed, Machine
from compatkb.doctor.questions import Questions
from compatkb.request.lookup import is_newer
from compatkb.store.reader import Snapshot
from compatkb.store.records import Product, Request

_NUMBER = re.compile(r"(?:\d+:)?(\d+(?:\.\d+)+)")
_SERIES = re.compile(r"[-+~]i?(\d{3,4})(?:~|\.|$)")


class InstalledDistribution(NamedTuple):
    """An installed distribution that the data know, and whether they know its version."""

    product: Product
    installed: Installed
    known: bool
    main: bool = False  # no run-time package that others bring along
    core: bool = False  # brings a device, or is a companion of what does


class Seen(NamedTuple):
    """A display device, and the hardware of the data that it is; None for what no table names."""

    graphics: Graphics
    name: str
    hardware: str | None
    note: str | None
    sources: tuple[tuple[str, str | None], ...]


class Remark(NamedTuple):
    """One thing that is right or wrong; `rule` is stable."""

    rule: str
    level: Severity
    message: str
    fix: str | None = None
    sources: tuple[tuple[str, str | None], ...] = ()


class DeviceCheck(NamedTuple):
    """What to run for an installation: the module to import, its device, and what is true where that can be used."""

    module: str
    device: str | None
    proof: str | None


class KnownMachine(Questions):
    """What the data know of a machine: its packages, what was seen of its graphics, and the devices that these serve."""

    def __init__(self, facts: Snapshot, machine: Machine, clock: Clock) -> None:
        super().__init__(facts, clock)
        self.machine = machine
        self.held = tuple(self._held())
        self.seen = tuple(map(self.seen_as, machine.graphics or ()))
        self.system, self.driver = self._system(), self._driver()
        named = (item.hardware for item in self.seen if item.hardware)
        self.hardware = tuple(dict.fromkeys(name for name in named if self.devices_of(name)))  # that a device is known of
        self.devices = self._devices()

    def _held(self) -> list[InstalledDistribution]:
        """Return the installed distributions that the data know, in the order of the products."""
        held, providers = [], self.providers
        for installed in self.machine.packages:
            product = self.facts.product(str(canonicalize_name(installed.name)))
            if (
                product is None
                or product.distribution is None
                or product.role not in (Role.PACKAGE, Role.COMPANION, Role.LEAF)
            ):
                continue
            version = installed.version
            known = bool(version) and self.is_known(product.id, str(version))
            core = product.id in providers or product.role == Role.COMPANION
            held.append(InstalledDistribution(product, installed, known, product.role != Role.LEAF, core))
        return sorted(held, key=lambda item: (self.facts.ranks[item.product.id], item.installed.name))

    def seen_as(self, graphics: Graphics) -> Seen:
        """Return what a display device is."""
        if graphics.name and not graphics.device:
            meant = self.facts.elements("hardware").of(self.mask_of("hardware", graphics.name))
            return Seen(graphics, graphics.name, meant[0].version if len(meant) == 1 else None, None, ())
        fallback: dict[str, Any] | None = None
        for record in self.facts.guide_records("graphics"):
            if record["vendor"] != graphics.vendor:
                continue
            if graphics.device in record["ids"]:
                return _named(graphics, record)
            if not record["ids"]:
                fallback = fallback or record
        if fallback:
            return _named(graphics, fallback)
        return Seen(graphics, f"graphics of vendor {graphics.vendor}", None, None, ())

    def _system(self) -> str | None:
        """Return the operating system as the data name it, as closely as they do."""
        known = self.facts.grid["os"]
        subsystem = "microsoft" in (self.machine.kernel or "").lower()
        names: list[str] = []
        if self.machine.release:
            name, version = self.machine.release
            major, _, minor = version.partition(".")
            for record in self.facts.guide_records("system"):
                if record["id"] == name:
                    names += [record["form"].format(version=text, major=major, minor=minor) for text in (version, major)]
        if subsystem:
            within = [other for other in known if any(other.endswith(f"-{name}") for name in names)]
            names = within or names or [other for other in known if other.startswith("wsl")]
        return next((name for name in (*names, self.machine.system or "") if name in known), None)

    def _driver(self) -> str | None:
        """Return the series of the GPU driver that the system's packages belong to, where their versions tell it."""
        wanted = set(self.driver_packages())
        matches = (_SERIES.search(version) for name, version in self.machine.drivers or () if name in wanted)
        return next((match[1] for match in matches if match), None)

    @cached_property
    def parts(self) -> dict[str, str]:
        """The parts of the machine whose version was read, by product: the kernel, and packages of the driver."""
        subsystem = "microsoft" in (self.machine.kernel or "").lower()
        found = [("linux-kernel", self.machine.kernel or "")] if self.machine.system == "linux" and not subsystem else []
        parts: dict[str, str] = {}
        for name, text in [*found, *(self.machine.drivers or ())]:
            product, number = self.facts.product(name), _NUMBER.match(text)
            if product and number and product.role == Role.DIMENSION and product.id != "gpu-driver":
                parts.setdefault(product.id, number[1])
        return parts

    @property
    def seen_devices(self) -> tuple[str, ...]:
        """The usual device of the first hardware that was seen."""
        return self.devices_of(self.hardware[0])[:1] if self.hardware else ()

    def _devices(self) -> tuple[str, ...]:
        """Return the devices that what is installed is for; for nothing installed, those of the hardware that was seen.

        A build for GPUs alone is the wish for one, whatever stands beside it; else what brings the device decides.
        """
        served = [(item, self._served(item)) for item in self.held if item.known and item.core]
        wished = (devices for _, devices in served if len(devices) == 1 and self.is_graphic(devices[0]))
        brought = (devices for item, devices in served if item.product.id in self.providers)
        devices = next(wished, None) or next(brought, self.seen_devices)
        return devices if len(devices) == 1 else ()

    def _served(self, item: InstalledDistribution) -> tuple[str, ...]:
        """Return the devices of the very build that is installed."""
        version = str(item.installed.version)
        chosen = self.facts.elements(item.product.id).of(self.mask_of(item.product.id, version))
        exact = [e for e in chosen if e.version == version] or chosen
        return tuple(sorted({device for e in exact for device in e.devices}))

    @property
    def mixed(self) -> tuple[InstalledDistribution, ...]:
        """The builds that are not for the GPU that another build is for, such as torch 2.8.0 beside IPEX 2.8.10+xpu."""
        if not self.devices or not self.is_graphic(self.devices[0]):
            return ()
        served = ((item, self._served(item)) for item in self.held if item.known and item.core)
        return tuple(item for item, devices in served if devices and self.devices[0] not in devices)

    @property
    def check(self) -> "DeviceCheck | None":
        """What tells whether the installation runs; None where nothing that brings a device is installed."""
        brings = [item.product for item in self.held if item.product.id in self.providers and item.product.import_name]
        if not brings:
            return None
        device, module = next(iter(self.devices), None), str(brings[0].import_name)
        proof = next((r.proof for r in self.facts.releases_of("device") if r.version == device and r.proof), None)
        return DeviceCheck(module, device, proof if proof and proof.partition(".")[0] == module else None)

    @property
    def asked_for(self) -> list[tuple[str, str]]:
        """What a request for this machine fixes, as options: its place, and the GPU or, where there is none, the CPU."""
        if self.hardware:
            return [*self.place, ("hardware", self.hardware[0])]
        without = self.facts.unasked_devices(lambda device: not self.is_graphic(device))[:1]
        return [*self.place, *(("device", device) for device in without if self.machine.graphics is not None)]

    @property
    def place(self) -> list[tuple[str, str]]:
        """Python, system, architecture and glibc as options, as far as the data know them."""
        machine = self.machine
        python = next((text for text in (machine.patch, machine.python) if text and self.is_known("python", text)), None)
        glibc = None if self.system else machine.glibc
        pairs = (("python", python), ("os", self.system), ("arch", machine.arch), ("glibc", glibc))
        return [(name, value) for name, value in pairs if value and name in self.facts.products and self.is_known(name, value)]

    def pins(self, *, leaves: bool) -> list[tuple[str, str]]:
        """Return what is installed as options, unknown builds by their release; with `leaves` also run-time packages."""
        pins: dict[str, str] = {}
        for item in self.held:
            version = item.installed.version
            if version and not item.known:  # the release may be known where this build of it is not
                version = version.partition("+")[0]
            is_wanted = leaves or item.product.role != Role.LEAF
            if version and is_wanted and self.is_known(item.product.id, version):
                pins.setdefault(item.product.id, version)
        return list(pins.items())

    def asked(
        self, options: list[tuple[str, str]], devices: tuple[str, ...] | None = None, words: tuple[str, ...] = ()
    ) -> Request | None:
        """Return a request for its own devices or others; None for what cannot be asked."""
        return self.request(options, self.devices if devices is None else devices, words)

    def reaches(self, hardware: str) -> bool:
        """Return whether hardware is said to have the device that what is installed serves."""
        return bool(self.devices) and self.devices[0] in self.devices_of(hardware)

    @property
    def is_unserved(self) -> bool:
        """Whether what is installed is built for graphics, and somebody looked, and none that fit are there."""
        hidden = "microsoft" in (self.machine.kernel or "").lower()  # WSL shows no graphics on its bus
        if self.machine.graphics is None or hidden or not self.devices or not self.is_graphic(self.devices[0]):
            return False
        return not any(map(self.reaches, self.hardware))

    @property
    def is_idle(self) -> bool:
        """Whether there are GPUs that the makers name, and what is installed is built for something else."""
        return bool(self.hardware and self.devices) and not any(map(self.reaches, self.hardware))

    def graphics_remarks(self) -> list[Remark]:
        """Return what is to be said of the graphics, their drivers and device files."""
        remarks = []
        vendors = {record["vendor"] for record in self.facts.guide_records("graphics") if record["hardware"]}
        intel = [item for item in self.seen if item.graphics.vendor in vendors or item.graphics.name is not None]
        for item in intel:
            shown = f"{item.name} ({item.graphics.vendor}:{item.graphics.device})" if item.graphics.device else item.name
            if item.hardware is None or not self.devices_of(item.hardware):
                message = f"{shown} is not on the vendor's list of supported XPU hardware"
                remarks.append(Remark("unnamed-graphics", Severity.WARNING, message, item.note, item.sources[:1]))
            if item.graphics.driver is None and self.machine.nodes is not None:
                message = f"no kernel driver is bound to {shown}"
                remarks.append(Remark("no-kernel-driver", Severity.ERROR, message, "load or update the kernel driver"))
        named = [item for item in intel if item.hardware and self.devices_of(item.hardware)]
        if self.machine.drivers is not None and self.machine.system == "linux" and self.machine.whole and named:
            there = {name for name, _ in self.machine.drivers}
            for record in self.facts.guide_records("component"):
                if record["needed"] and not there & set(record["packages"]):
                    sources = tuple((source[0], source[1]) for source in record["sources"])
                    message = f"no system package provides the {record['name']}, without which programs find no GPU"
                    fix = f"install {record['packages'][0]}; a driver that was built or copied would not show here"
                    remarks.append(Remark("driver-part-missing", Severity.WARNING, message, fix, sources))
        if intel and self.machine.nodes is not None:
            if not self.machine.nodes:
                message = "no render node found; in a container, pass --device /dev/dri"
                remarks.append(Remark("no-render-node", Severity.ERROR, message))
            elif not any(node.usable for node in self.machine.nodes):
                message = f"this user may not open {', '.join(node.path for node in self.machine.nodes)}"
                fix = "add the user to the group of the device files (render or video), and log in again"
                remarks.append(Remark("render-node-refused", Severity.ERROR, message, fix))
        return remarks

    def library_remarks(self) -> list[Remark]:
        """Return what variables and run-time libraries can spoil."""
        remarks = []
        for record in self.facts.guide_records("variable"):
            value = dict(self.machine.variables).get(record["name"])
            if value and record["hides"]:
                sources = tuple((source[0], source[1]) for source in record["sources"])
                message = f"{record['name']}={value}: {record['means']}"
                remarks.append(
                    Remark("devices-hidden", Severity.WARNING, message, f"unset {record['name']} to see all", sources)
                )
        generations = {record["library"]: record for record in self.facts.guide_records("generation")}
        there = {path.replace("\\", "/").rpartition("/")[2]: path for path in reversed(self.machine.libraries)}
        kinds: dict[str, list[str]] = {}
        for name in there:
            kinds.setdefault(re.sub(r"\.\d+$", "", name), []).append(name)
        for names in kinds.values():
            if len(names) > 1:
                shown = ", ".join(
                    f"{there[n]} (oneAPI {generations[n]['version'] if n in generations else '?'})" for n in names
                )
                message = f"programs find run-time libraries of different generations: {shown}"
                fix = "start a shell without an activated oneAPI, or activate the release that the wheels require"
                remarks.append(Remark("mixed-runtimes", Severity.WARNING, message, fix))
        return remarks


def _named(graphics: Graphics, record: dict[str, Any]) -> Seen:
    sources = tuple((source[0], source[1]) for source in record["sources"])
    return Seen(graphics, record["name"], record["hardware"], record["note"], sources)


def mixed_remark(held: tuple[InstalledDistribution, ...], mixed: tuple[InstalledDistribution, ...], device: str) -> Remark:
    """Return that builds for a GPU stand beside others of the same release that are not for it."""
    strange = [f"{item.installed.name} {item.installed.version}" for item in mixed]
    named = (
        f"{', '.join(strange[:-1])} and {strange[-1]} are not {device} builds"
        if strange[1:]
        else f"{strange[0]} is no {device} build"
    )
    right = next((item for item in held if item not in mixed and str(item.installed.version).endswith(f"+{device}")), None)
    beside = f", {right.installed.name} {right.installed.version} is" if right else ""
    return Remark("mixed-builds", Severity.ERROR, f"{named}{beside}")


def package_remarks(facts: Snapshot, held: tuple[InstalledDistribution, ...]) -> list[Remark]:
    """Return what is wrong with installed packages, whatever their versions."""
    remarks = []
    for item in held:
        name, version, *_ = item.installed
        written = item.installed.written
        again = f"reinstall {name}: `pip install --force-reinstall --no-deps {name}=={version}`" if version else None
        if version is None and item.installed.place is None:
            message = f"{name} can be imported, but has no metadata; it was built, copied or half removed"
            remarks.append(Remark("no-metadata", Severity.ERROR, message, f"remove it, and install {name} again"))
        elif version is None:
            remarks.append(Remark("broken-metadata", Severity.ERROR, f"{name} has metadata without a version", again))
        elif item.installed.found is False:
            message = f"{name} {version} has metadata, but its package {item.installed.module} is not there"
            remarks.append(Remark("missing-package", Severity.ERROR, message, again))
        elif written and written != version and _public(written) != _public(version):
            message = f"{name} has the metadata of {version}, yet the package says of itself that it is {written}"
            remarks.append(Remark("two-versions", Severity.ERROR, message, f"remove it twice, and install {name} again"))
        elif not item.known:
            is_above = is_newer(facts, item.product, str(version))
            where = f"newer than these data ({facts.meta['data_date']})" if is_above else "not in the data"
            message = f"{name} {version} is {where}, so it was not checked"
            remarks.append(Remark("unknown-version", Severity.WARNING, message))
    names = [canonicalize_name(item.installed.name) for item in held]
    for name in sorted({name for name in names if names.count(name) > 1}):
        versions = [str(item.installed.version) for item in held if canonicalize_name(item.installed.name) == name]
        message = f"{name} is installed {len(versions)} times: {', '.join(versions)}; sys.path decides which is imported"
        remarks.append(Remark("installed-twice", Severity.ERROR, message, f"remove every {name}, then install one"))
    return remarks


def _public(version: str) -> str:
    return version.partition("+")[0]
