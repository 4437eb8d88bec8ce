"""Graphics through sysfs: PCI ids, kernel drivers and device files, without a tool or a library."""

import os
import re
from pathlib import Path

from compatkb.core.foreign import safe_open
from compatkb.doctor.machine import Graphics, Node

_DISPLAY = "0x03"  # the PCI base class of display controllers
_DEVICES = 4096


def read_graphics(sysfs: Path) -> tuple[Graphics, ...] | None:
    """Return the display devices below a sysfs, sorted by slot; None where there is no PCI bus to read."""
    bus = sysfs / "bus" / "pci" / "devices"
    try:
        slots = sorted(os.listdir(bus))[:_DEVICES]
    except OSError:
        return None
    graphics = []
    for slot in slots:
        if (_value(bus / slot / "class") or "").startswith(_DISPLAY):
            vendor, device = (_identity(bus / slot / name) for name in ("vendor", "device"))
            if vendor and device:
                graphics.append(Graphics(slot, vendor, device, _driver(bus / slot)))
    return tuple(graphics)


def read_nodes(folder: Path) -> tuple[Node, ...] | None:
    """Return the render nodes of a folder of device files, and whether this user may use them; None without the folder."""
    try:
        names = sorted(name for name in os.listdir(folder) if re.fullmatch(r"renderD\d+", name))
    except OSError:
        return None
    return tuple(Node(str(folder / name), os.access(folder / name, os.R_OK | os.W_OK)) for name in names)


def _value(path: Path) -> str | None:
    try:
        with safe_open(path) as file:
            return file.read(64).decode("ascii", errors="replace").strip()
    except OSError:
        return None


def _identity(path: Path) -> str | None:
    match = re.fullmatch(r"0x([0-9a-fA-F]{4})", _value(path) or "")
    return match[1].lower() if match else None


def _driver(device: Path) -> str | None:
    try:
        return (device / "driver").readlink().name or None
    except OSError:
        return None
