"""What the data know of a machine's packages, graphics, system and driver, and what is wrong with each."""

import re
from typing import Any, NamedTuple

from packaging.utils import canonicalize_name

from compatkb.core.findings import Severity
from compatkb.core.vocabulary import Role
from compatkb.doctor.machine import Graphics, Installed, Machine
from compatkb.doctor.version_extraction import is_known, mask_of
from compatkb.request.lookup import find_versions
from compatkb.store.queries.products import hardware_devices
from compatkb.store.queries.provenance import guide_records
from compatkb.store.reader import Snapshot

_SERIES = re.compile(r"[-+~]i?(\d{3,4})(?:~|\.|$)")


class InstalledDistribution(NamedTuple):
    """An installed distribution that the data know, and whether they know its version."""

    product: str
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


def modules(facts: Snapshot) -> dict[str, str]:
    """Return the import names of the products of the data, by distribution in its canonical form."""
    import_names = {}
    for product in facts.products.values():
        if product.distribution and product.import_name and product.role in (Role.PACKAGE, Role.COMPANION):
            builds = (element.distribution for element in facts.elements(product.id) if element.distribution)
            names = (str(canonicalize_name(name)) for name in (product.distribution, *builds))
            import_names.update(dict.fromkeys(names, product.import_name))
    return import_names


def driver_packages(facts: Snapshot) -> tuple[str, ...]:
    """Return the names under which systems package the parts of a GPU driver."""
    return tuple(name for record in guide_records(facts, "component") for name in record["packages"])


def held_of(facts: Snapshot, machine: Machine) -> list[InstalledDistribution]:
    """Return the installed distributions that the data know, in the order of the products."""
    held = []
    providers = {route.provider for route in facts.routes}
    for installed in machine.packages:
        product = facts.product(str(canonicalize_name(installed.name)))
        if product is None or product.distribution is None or product.role not in (Role.PACKAGE, Role.COMPANION, Role.LEAF):
            continue
        version = installed.version
        known = bool(version) and is_known(facts, product.id, str(version))
        core = product.id in providers or product.role == Role.COMPANION
        held.append(InstalledDistribution(product.id, installed, known, product.role != Role.LEAF, core))
    return sorted(held, key=lambda item: (facts.ranks[item.product], item.installed.name))


def seen_as(facts: Snapshot, graphics: Graphics) -> Seen:
    """Return what a display device is."""
    if graphics.name and not graphics.device:
        meant = facts.elements("hardware").of(mask_of(facts, facts.products["hardware"], graphics.name))
        return Seen(graphics, graphics.name, meant[0].version if len(meant) == 1 else None, None, ())
    fallback: dict[str, Any] | None = None
    for record in guide_records(facts, "graphics"):
        if record["vendor"] != graphics.vendor:
            continue
        if graphics.device in record["ids"]:
            return _named(graphics, record)
        if not record["ids"]:
            fallback = fallback or record
    if fallback:
        return _named(graphics, fallback)
    return Seen(graphics, f"graphics of vendor {graphics.vendor}", None, None, ())


def _named(graphics: Graphics, record: dict[str, Any]) -> Seen:
    sources = tuple((source[0], source[1]) for source in record["sources"])
    return Seen(graphics, record["name"], record["hardware"], record["note"], sources)


def system_of(facts: Snapshot, machine: Machine) -> str | None:
    """Return the operating system as the data name it, as closely as they do."""
    known = facts.grid["os"]
    subsystem = "microsoft" in (machine.kernel or "").lower()
    names: list[str] = []
    if machine.release:
        name, version = machine.release
        major, _, minor = version.partition(".")
        for record in guide_records(facts, "system"):
            if record["id"] == name:
                names += [record["form"].format(version=text, major=major, minor=minor) for text in (version, major)]
    if subsystem:
        within = [other for other in known if any(other.endswith(f"-{name}") for name in names)]
        names = within or names or [other for other in known if other.startswith("wsl")]
    return next((name for name in (*names, machine.system or "") if name in known), None)


def driver_of(facts: Snapshot, machine: Machine) -> str | None:
    """Return the series of the GPU driver that the system's packages belong to, where their versions tell it."""
    wanted = set(driver_packages(facts))
    matches = (_SERIES.search(version) for name, version in machine.drivers or () if name in wanted)
    return next((match[1] for match in matches if match), None)


def package_remarks(held: tuple[InstalledDistribution, ...]) -> list[Remark]:
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
            message = f"{name} {version} is not in the data, so it was not checked"
            remarks.append(Remark("unknown-version", Severity.WARNING, message))
    names = [canonicalize_name(item.installed.name) for item in held]
    for name in sorted({name for name in names if names.count(name) > 1}):
        versions = [str(item.installed.version) for item in held if canonicalize_name(item.installed.name) == name]
        message = f"{name} is installed {len(versions)} times: {', '.join(versions)}; sys.path decides which is imported"
        remarks.append(Remark("installed-twice", Severity.ERROR, message, f"remove every {name}, then install one"))
    return remarks


def _public(version: str) -> str:
    return version.partition("+")[0]


def graphics_remarks(facts: Snapshot, machine: Machine, seen: tuple[Seen, ...]) -> list[Remark]:
    """Return what is to be said of the graphics, their drivers and device files."""
    remarks = []
    vendors = {record["vendor"] for record in guide_records(facts, "graphics") if record["hardware"]}
    intel = [item for item in seen if item.graphics.vendor in vendors or item.graphics.name is not None]
    for item in intel:
        shown = f"{item.name} ({item.graphics.vendor}:{item.graphics.device})" if item.graphics.device else item.name
        if item.hardware is None or not serves(facts, item.hardware):
            message = f"{shown} is not on the vendor's list of supported XPU hardware"
            remarks.append(Remark("unnamed-graphics", Severity.WARNING, message, item.note, item.sources[:1]))
        if item.graphics.driver is None and machine.nodes is not None:
            message = f"no kernel driver is bound to {shown}"
            remarks.append(Remark("no-kernel-driver", Severity.ERROR, message, "load or update the kernel driver"))
    named = [item for item in intel if item.hardware and serves(facts, item.hardware)]
    if machine.drivers is not None and machine.whole and named:
        there = {name for name, _ in machine.drivers}
        for record in guide_records(facts, "component"):
            if record["needed"] and not there & set(record["packages"]):
                sources = tuple((source[0], source[1]) for source in record["sources"])
                message = f"no system package provides the {record['name']}, without which programs find no GPU"
                fix = f"install {record['packages'][0]}; a driver that was built or copied would not show here"
                remarks.append(Remark("driver-part-missing", Severity.WARNING, message, fix, sources))
    if intel and machine.nodes is not None:
        if not machine.nodes:
            message = "no render node found; in a container, pass --device /dev/dri"
            remarks.append(Remark("no-render-node", Severity.ERROR, message))
        elif not any(node.usable for node in machine.nodes):
            message = f"this user may not open {', '.join(node.path for node in machine.nodes)}"
            fix = "add the user to the group of the device files (render or video), and log in again"
            remarks.append(Remark("render-node-refused", Severity.ERROR, message, fix))
    return remarks


def serves(facts: Snapshot, hardware: str) -> bool:
    """Return whether hardware is said to have a device that a route other than the processor's serves."""
    return bool(hardware_devices(facts).get(hardware))


def library_remarks(facts: Snapshot, machine: Machine) -> list[Remark]:
    """Return what variables and run-time libraries can spoil."""
    remarks = []
    for record in guide_records(facts, "variable"):
        value = dict(machine.variables).get(record["name"])
        if value and record["hides"]:
            sources = tuple((source[0], source[1]) for source in record["sources"])
            message = f"{record['name']}={value}: {record['means']}"
            remarks.append(Remark("devices-hidden", Severity.WARNING, message, f"unset {record['name']} to see all", sources))
    generations = {record["library"]: record for record in guide_records(facts, "generation")}
    there = {path.replace("\\", "/").rpartition("/")[2]: path for path in reversed(machine.libraries)}
    kinds: dict[str, list[str]] = {}
    for name in there:
        kinds.setdefault(re.sub(r"\.\d+$", "", name), []).append(name)
    for names in kinds.values():
        if len(names) > 1:
            shown = ", ".join(f"{there[n]} (oneAPI {generations[n]['version'] if n in generations else '?'})" for n in names)
            message = f"programs find run-time libraries of different generations: {shown}"
            fix = "start a shell without an activated oneAPI, or activate the release that the wheels require"
            remarks.append(Remark("mixed-runtimes", Severity.WARNING, message, fix))
    return remarks


def hardware_of(facts: Snapshot, seen: tuple[Seen, ...]) -> tuple[str, ...]:
    """Return the hardware among what was seen that the makers name for a device."""
    return tuple(dict.fromkeys(item.hardware for item in seen if item.hardware and serves(facts, item.hardware)))


def device_of(facts: Snapshot, held: tuple[InstalledDistribution, ...], seen: tuple[Seen, ...]) -> tuple[str, ...]:
    """Return the devices that what is installed serves; for nothing installed, those of the hardware that was seen."""
    providers = {route.provider for route in facts.routes}
    for item in held:
        if item.product in providers and item.known:
            mask = find_versions(facts, facts.products[item.product], str(item.installed.version))
            chosen = facts.elements(item.product).of(mask)
            exact = [e for e in chosen if e.version == item.installed.version] or chosen
            served = {device for e in exact for device in e.devices}
            return tuple(sorted(served)) if len(served) == 1 else ()
    for hardware in hardware_of(facts, seen):
        return hardware_devices(facts)[hardware][:1]
    return ()
