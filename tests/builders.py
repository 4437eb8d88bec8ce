"""Tiny knowledge bases with defaults, so that a test names only what it is about.

    facts = universe(tmp_path, [
        product("torch", releases=["2.8.0", "2.7.0"]),
        product("ipex", releases=["2.8.0"], claims=[needs("ipex==2.8.0", "torch==2.8.0")]),
    ])

Every universe has Pythons, systems, architectures, devices, one package index and a route per device to `torch`. Records
are dictionaries as TOML reads them; what they leave out gets the plainest value, and one source stands for all.
"""

import base64
import hashlib
import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from families import written_text
from packaging.tags import parse_tag

from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.authoring.canonical import text_of
from compatkb.authoring.knowledge_base import Knowledge
from compatkb.authoring.loader import Files, load
from compatkb.core.clock import Clock
from compatkb.engine.stacks import Stack
from compatkb.output.presenter import present_stack
from compatkb.output.things import StackView
from compatkb.schema import ChannelFile, FeatureFile, ImageFile, IndexFile, ProductFile, RouteFile, TimelineFile
from compatkb.store.compiler.compile import compile_snapshot
from compatkb.store.reader import Snapshot
from compatkb.store.records import Pin, Request

Record = dict[str, Any]

TODAY = date(2026, 11, 21)
LONG_AGO = date(2020, 1, 1)
PYTHONS = ("3.11", "3.12")
SYSTEMS = ("linux", "windows")
SOURCE = "page"

_claim_numbers = count(1)


# -- records ------------------------------------------------------------------------------------------------------


def build(version: str, *, wheels: Iterable[Record] | None = None, **more: Any) -> Record:
    """Return a build: on the extra index, for both devices, with wheels for every platform that are all known."""
    rows = [wheel()] if wheels is None else list(wheels)
    plain: Record = {"channels": ["extra"], "devices": ["xpu", "cpu"], "wheels-complete": True, "sources": [SOURCE]}
    return {"version": version, **plain, "wheels": rows, **_kebab(more)}


def wheel(python: Sequence[str] = PYTHONS, os: Sequence[str] = SYSTEMS, **more: Any) -> Record:
    """Return a row of wheels: for every Python and system unless told."""
    note = {"note": "nobody looked"} if more.get("basis") == "inferred" else {}
    return {"os": list(os), "python": list(python), **note, "sources": [SOURCE], **_kebab(more)}


def release(version: str, *, builds: Iterable[Record | str] | None = None, on: date | None = LONG_AGO, **more: Any) -> Record:
    """Return a release with one plain build of its own version, out long ago."""
    made = [build(version)] if builds is None else [build(b) if isinstance(b, str) else b for b in builds]
    released = {"released": {"on": on, "sources": [SOURCE]}} if on else {}
    return {"version": version, **released, "sources": [SOURCE], "build": made, **_kebab(more)}


def bare_release(version: str, **more: Any) -> Record:
    """Return a release without builds, as dimensions and leaves have them."""
    return {"version": version, "sources": [SOURCE], **_kebab(more)}


def claim(kind: str, of: str, *to: str, basis: str = "stated", **more: Any) -> Record:
    """Return a claim with an id of its own."""
    record: Record = {"id": f"claim-{next(_claim_numbers)}", "kind": kind, "of": of, "to": list(to), "basis": basis}
    if basis == "inferred":
        record["note"] = "it follows"
    if kind == "breaks":
        record["reason"] = "It does not start."
    return {**record, "sources": [SOURCE], **_kebab(more)}


def needs(of: str, *to: str, **more: Any) -> Record:
    """Return a claim that `of` needs one of `to`."""
    return claim("needs", of, *to, **more)


def constrains(of: str, *to: str, **more: Any) -> Record:
    """Return a claim that `of` works with these alone, if they are there."""
    return claim("constrains", of, *to, **more)


def verified(of: str, *to: str, **more: Any) -> Record:
    """Return a claim that these were tested together."""
    return claim("verified", of, *to, **more)


def breaks(of: str, *to: str, **more: Any) -> Record:
    """Return a claim that these do not work together."""
    return claim("breaks", of, *to, **more)


def product(
    name: str,
    *,
    releases: Iterable[Record | str] = (),
    claims: Iterable[Record] = (),
    role: str = "package",
    scheme: str = "pep440",
    rank: int | None = None,
    complete: Iterable[Record] | None = None,
    **more: Any,
) -> Record:
    """Return a product file; plain version texts become releases, and the list of releases is whole for good.

    Without a `rank` products rank in the order in which a universe names them. Disputes, installs and advisories go by
    their keys.
    """
    plain = release if role in ("package", "companion") else bare_release
    rest = _kebab(more)
    tables = {key: list(rest.pop(key)) for key in ("dispute", "install", "advisory") if key in rest}
    if complete is None:
        ended = {"of": name, "until": TODAY, "ended": True, "sources": [SOURCE]}
        complete = [{"what": "release", **ended}] if role == "package" else []
    ranked = {} if rank is None else {"rank": rank}
    head = {"id": name, "name": name, "role": role, "scheme": scheme, **ranked, "complete": list(complete), **rest}
    return {
        "product": head,
        "source": {SOURCE: {"url": "https://example.org/", "seen": TODAY}},
        "release": [plain(r) if isinstance(r, str) else r for r in releases],
        "claim": list(claims),
        **tables,
    }


def feature(name: str, *statements: Record, product: str = "torch", needs: str | None = None, **more: Any) -> Record:
    """Return a feature file; `needs` is the product that brings it."""
    brought = {"needs": [{"product": needs, "sources": [SOURCE]}]} if needs else {}
    rest = _kebab(more)
    tables = {key: list(rest.pop(key)) for key in ("dispute",) if key in rest}
    return {
        "feature": {"id": name, "name": name, "product": product, **brought, **rest},
        "source": {SOURCE: {"url": "https://example.org/", "seen": TODAY}},
        "statement": list(statements),
        **tables,
    }


def statement(of: str, status: str = "supported", basis: str = "stated", **more: Any) -> Record:
    """Return a statement about a feature with an id of its own."""
    note = {"note": "it follows"} if basis == "inferred" else {}
    head = {"id": f"said-{next(_claim_numbers)}", "of": of, "status": status, "basis": basis, **note}
    return {**head, "sources": [SOURCE], **_kebab(more)}


def platform(
    pythons: Sequence[str] = PYTHONS, systems: Sequence[str | tuple[str, str]] = SYSTEMS, archs: Sequence[str] = ("x86_64",)
) -> list[Record]:
    """Return the dimension files that every knowledge base has; a pair of systems is one and what it is part of."""
    parts = [(s, ()) if isinstance(s, str) else (s[0], (s[1],)) for s in systems]
    listed: Record = {"role": "dimension", "scheme": "listed"}
    return [
        product("python", role="dimension", scheme="minor", rank=500, releases=pythons, platform=True),
        product("os", rank=510, releases=[bare_release(s, part_of=list(p)) for s, p in parts], platform=True, **listed),
        product("arch", rank=520, releases=archs, platform=True, default=archs[0], **listed),
        product("device", rank=530, releases=["xpu", "cpu"], **listed),
    ]


def index(distribution: str, releases: Iterable[Record], *, seen: date = TODAY) -> Record:
    """Return an index file."""
    return {"distribution": distribution, "seen": seen, "release": list(releases)}


def listing(version: str, *, on: date = LONG_AGO, yanked: date | None = None, **more: Any) -> Record:
    """Return what the index says of a version: a pure wheel, uploaded long ago."""
    withdrawn = {"yanked": {"files": "all", "reason": "broken", "seen": yanked}} if yanked else {}
    uploaded = datetime(on.year, on.month, on.day, tzinfo=UTC)
    return {"version": version, "uploaded": uploaded, "wheels": {"py3": ["any"]}, **withdrawn, **_kebab(more)}


def route(name: str = "native", provider: str = "torch", rank: int = 1, **more: Any) -> Record:
    """Return a route to both devices."""
    return {"id": name, "name": name, "rank": rank, "device": ["xpu", "cpu"], "provider": provider, **more}


# -- knowledge bases ----------------------------------------------------------------------------------------------


def files_of(
    products: Iterable[Record],
    *,
    routes: Iterable[Record] | None = None,
    indexes: Iterable[Record] = (),
    images: Iterable[Record] = (),
    features: Iterable[Record] = (),
    dimensions: Iterable[Record] | None = None,
    timeline: Record | None = None,
) -> Files:
    """Return the validated records of a made-up data directory, without touching the disk."""
    named = [*products, *(platform() if dimensions is None else dimensions)]
    made = [{**record, "product": {"rank": n, **record["product"]}} for n, record in enumerate(named, 1)]
    channels = [
        {"id": "default", "name": "PyPI", "style": "default"},
        {"id": "extra", "name": "extra", "url": "https://example.org/extra", "style": "index-url"},
    ]
    return Files(
        tuple(ProductFile.model_validate(record) for record in sorted(made, key=lambda r: r["product"]["id"])),
        tuple(ImageFile.model_validate(record) for record in images),
        tuple(IndexFile.model_validate(record) for record in indexes),
        ChannelFile.model_validate({"channel": channels}),
        RouteFile.model_validate({"route": list(routes or [route()])}),
        (),
        None if timeline is None else TimelineFile.model_validate(timeline),
        tuple(FeatureFile.model_validate(record) for record in sorted(features, key=lambda r: r["feature"]["id"])),
    )


def write(directory: Path, files: Files) -> Path:
    """Write the records as a data directory in canonical form, and return it."""
    for folder in ("products", "index", "images", "features"):
        (directory / folder).mkdir(parents=True, exist_ok=True)
    for file in files.products:
        (directory / "products" / f"{file.product.id}.toml").write_text(_product_text(file), encoding="utf-8")
    for listed in files.index:
        (directory / "index" / f"{listed.distribution}.toml").write_text(text_of(listed), encoding="utf-8")
    for image in files.images:
        (directory / "images" / f"{image.repository.id}.toml").write_text(text_of(image), encoding="utf-8")
    for made in files.features:
        (directory / "features" / f"{made.feature.id}.toml").write_text(text_of(made), encoding="utf-8")
    (directory / "channels.toml").write_text(text_of(files.channels), encoding="utf-8")
    (directory / "routes.toml").write_text(text_of(files.routes), encoding="utf-8")
    if files.timeline:
        (directory / "timeline.toml").write_text(text_of(files.timeline), encoding="utf-8")
    return directory


def _product_text(file: ProductFile) -> str:
    content = file.model_dump(by_alias=True, exclude_unset=True)
    return written_text(content, ordered=True)


def data_directory(directory: Path, products: Iterable[Record], **more: Any) -> Path:
    """Write a made-up data directory and return it; takes what `files_of` takes."""
    return write(directory, files_of(products, **more))


def universe(directory: Path, products: Iterable[Record], **more: Any) -> Snapshot:
    """Write a made-up data directory, read it back and return it compiled; takes what `files_of` takes."""
    return compiled(build_knowledge(load(data_directory(directory / "data", products, **more))), directory)


def snapshot(knowledge: Knowledge, directory: Path) -> str:
    """Store the snapshot of a knowledge base in a new file under `directory`, and return its path."""
    target = Path(mkdtemp(dir=directory)) / "snapshot.sqlite"
    compile_snapshot(knowledge, target, "made-up")
    return str(target)


def compiled(knowledge: Knowledge, directory: Path) -> Snapshot:
    """Return the snapshot of a knowledge base, stored in a new file under `directory`."""
    return Snapshot(snapshot(knowledge, directory))


# -- requests -----------------------------------------------------------------------------------------------------


def request(
    facts: Snapshot,
    pins: Mapping[str, str | Iterable[int]] | None = None,
    bare: Iterable[str] = (),
    device: str = "cpu",
    clock: Clock | None = None,
) -> Request:
    """Return a request, on the day of the data unless told; a pin is a version, or the numbers of the elements it admits."""
    today, as_of = clock or Clock(TODAY)
    made = []
    for name, wanted in (pins or {}).items():
        if isinstance(wanted, str):
            numbers = [e.idx for e in facts.elements(name) if wanted in (e.version, e.release)]
        else:
            numbers = sorted(wanted)
        made.append(Pin(name, str(wanted), sum(1 << n for n in numbers)))
    days = ((as_of or TODAY).toordinal(), (as_of or today).toordinal(), Clock(today, as_of).lists_until)
    return Request(tuple(made), tuple(bare), (device,), *days)


def shown(facts: Snapshot, stack: Stack, asked: Request | None = None) -> StackView:
    """Return a stack as it is shown for a request, or for one that fixes nothing."""
    return present_stack(facts, stack, asked or Request((), (), (), TODAY.toordinal(), TODAY.toordinal(), 1))


def _kebab(record: Mapping[str, Any]) -> Record:
    return {key.rstrip("_").replace("_", "-"): value for key, value in record.items()}


# -- files that installers take --------------------------------------------------------------------------------


def wheel_file(
    name: str,
    version: str,
    files: dict[str, str | bytes],
    requires: tuple[str, ...] = (),
    metadata_version: str | None = None,
    tag: str = "py3-none-any",
    headers: Sequence[str] = (),
) -> tuple[str, bytes]:
    """Return name and content of a wheel that installers take; `metadata_version` is what it falsely claims to be."""
    base = f"{name.replace('-', '_')}-{version}"
    info = f"{base}.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {metadata_version or version}"]
    lines += [*(f"Requires-Dist: {text}" for text in requires), *headers]
    members: dict[str, str | bytes] = dict(files)
    members[f"{info}/METADATA"] = "\n".join(lines) + "\n"
    members[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\n"
    members[f"{info}/WHEEL"] += "".join(f"Tag: {one}\n" for one in sorted(str(one) for one in parse_tag(tag)))
    record = []
    for path, content in members.items():
        body = content.encode() if isinstance(content, str) else content
        digest = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
        record.append(f"{path},sha256={digest},{len(body)}")
    members[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,"]) + "\n"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in members.items():
            archive.writestr(path, content)
    return f"{base}-{tag}.whl", buffer.getvalue()
