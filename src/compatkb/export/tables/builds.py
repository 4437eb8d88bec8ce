"""Published tables of package indexes, and of the builds and wheels that they carry."""

from collections.abc import Iterator

from compatkb.export.columns import cites, days, maybe, number, table, text, truth
from compatkb.export.table_reader import Reader, Row, Tables, day_of, element_id, is_build
from compatkb.store.queries.products import ElementDetails, channels, element_details
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, picked

TABLES = (
    table(
        "channel",
        "Package indexes.",
        ("id",),
        text("id", "its id; default is the client's own"),
        number("position", "its place in the data"),
        text("name", "its name"),
        maybe("url", "its address"),
        text(
            "style",
            "how clients are told of it: default, index-url, extra-index-url or find-links; source is a repository",
        ),
        text("hardware", "the hardware that it is for, between spaces; empty for any"),
        maybe("note", "a remark"),
    ),
    table(
        "channel_mirror",
        "Mirrors of package indexes.",
        ("channel", "name"),
        text("channel", "the index", "channel"),
        text("name", "where the mirror is"),
        text("url", "its address"),
    ),
    table(
        "build",
        "Builds: the installable forms of releases.",
        ("id",),
        text("id", "product==version"),
        text("product", "its product", "product"),
        text("release", "the release that it was built from", "release"),
        text("version", "its version, with its local label"),
        number("position", "0 for the newest of its product"),
        text("stage", "stable, preview, prototype, from-source, source-only or tag-only"),
        truth("installable", "whether an index carries it in a form that installers take"),
        maybe("distribution", "its name on package indexes"),
        maybe("maker", "who built it, where that is not the product's own maker"),
        text("extras", "the extras without which its requirements are not installed"),
        text("only_with", "products without which it has no use, between spaces"),
        *days("released"),
        truth("yanked", "whether it is withdrawn"),
        maybe("wheels_note", "a remark on its wheels"),
        maybe("note", "a remark"),
        search=("id", "note", "wheels_note"),
    ),
    table(
        "build_device",
        "The devices that a build is for.",
        ("build", "device"),
        text("build", "the build", "build"),
        text("device", "the device"),
    ),
    table(
        "build_channel",
        "The indexes that carry a build.",
        ("build", "channel"),
        text("build", "the build", "build"),
        text("channel", "the index", "channel"),
    ),
    cites("build", "a build"),
    table(
        "wheel",
        "The platforms for which a build has wheels, by family of operating systems.",
        ("build", "os", "arch", "python"),
        text("build", "the build", "build"),
        text("os", "the family of operating systems"),
        text("arch", "the architecture"),
        text("python", "the Python minor; a t marks the free-threaded one"),
        text("basis", "seen, or inferred"),
    ),
)


def fill(reader: Reader, tables: Tables) -> None:
    """Fill the tables of package indexes and builds."""
    for position, channel in enumerate(channels(reader.facts)):
        head = {"id": channel.id, "position": position, "name": channel.name, "url": channel.url, "style": channel.style}
        tables["channel"].append({**head, "hardware": " ".join(channel.hardware), "note": channel.note})
        mirrors = sorted(channel.mirrors.items())
        tables["channel_mirror"] += [{"channel": channel.id, "name": name, "url": url} for name, url in mirrors]
    for product in reader.products:
        details = element_details(reader.facts, product)
        builds = [e for e in reversed(reader.facts.elements(product)) if is_build(reader.facts, e)]
        for position, element in enumerate(builds):
            _fill_build(reader, tables, element, position, details[element.idx])


def _fill_build(reader: Reader, tables: Tables, element: Element, position: int, details: ElementDetails) -> None:
    key = element_id(element)
    tables["build"].append(
        {
            "id": key,
            **picked(element, "product version stage distribution maker extras"),
            "release": f"{element.product}=={element.release}",
            "position": position,
            "installable": int(element.installable),
            "only_with": " ".join(sorted(element.only_with)),
            "released_from": day_of(element.since),
            "released_by": day_of(element.by),
            "yanked": int(element.yank_by is not None),
            "wheels_note": details.wheels_note,
            "note": details.note,
        }
    )
    tables["build_device"] += [{"build": key, "device": device} for device in sorted(element.devices)]
    known = {row["id"] for row in tables["channel"]}
    carried = [channel for channel in dict.fromkeys(element.channels) if channel in known]
    tables["build_channel"] += [{"build": key, "channel": channel} for channel in carried]
    tables["build_source"] += reader.cite("build", key, details.sources)
    if element.installable:
        tables["wheel"] += _wheels(reader.facts, key, element)


def _wheels(facts: Snapshot, key: str, element: Element) -> Iterator[Row]:
    grid = facts.grid
    pythons, archs = len(grid["python"]), len(grid["arch"])
    for s, system in enumerate(grid["os"]):
        if system not in facts.families:
            continue
        for a, arch in enumerate(grid["arch"]):
            for p, python in enumerate(grid["python"]):
                bit = (s * archs + a) * pythons + p
                if (element.certain | element.inferred) >> bit & 1:
                    basis = "seen" if element.certain >> bit & 1 else "inferred"
                    yield {"build": key, "os": system, "arch": arch, "python": python, "basis": basis}
