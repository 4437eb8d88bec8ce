"""The engine as files of a static site: Pyodide from its npm package, and a bundle of program, pages and snapshot."""

import base64
import hashlib
import importlib.util
import io
import json
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from compatkb.core.clock import Clock
from compatkb.core.record import NamedTuple
from compatkb.errors import UnavailableError
from compatkb.store.cache import cache_directory
from compatkb.web.browser import SETTINGS, SNAPSHOT
from compatkb.web.pages import Site, sources

WANTED = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
"""What a browser loads of Pyodide."""
LEFT_OUT = frozenset(("authoring", "cli", "docgen", "export", "mcp", "refresh", "schema", "validate"))
"""The parts of the program that give no answers."""
LIBRARIES = ("jinja2", "markdown_it", "markupsafe", "mdurl", "packaging", "yaml")
_DOWNLOAD_SECONDS = 300
_EPOCH = (1980, 1, 1, 0, 0, 0)


class Pyodide(NamedTuple):
    """Pyodide as it was fetched: the name of its folder, its files, and the size of its package."""

    name: str
    files: dict[str, bytes]
    packed: int


def fetch_pyodide() -> Pyodide:
    """Return Pyodide in the version that the site's sources name, from the cache or by npm; raises UnavailableError."""
    wanted = json.loads((sources() / "engine.json").read_text(encoding="utf-8"))
    name = f"{wanted['package']}-{wanted['version']}"
    cache_file = Path(cache_directory()) / f"{name}.tgz"
    content = cache_file.read_bytes() if cache_file.is_file() else b""
    if not _is_whole(content, wanted["integrity"]):
        content = _pack(f"{wanted['package']}@{wanted['version']}")
        if not _is_whole(content, wanted["integrity"]):
            raise UnavailableError(f"{name}: the package is not the one that engine.json names; nothing was written")
        try:
            cache_file.parent.mkdir(parents=True, exist_ok=True)
            cache_file.write_bytes(content)
        except OSError:
            pass  # the next build fetches it again
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        files = {}
        for wanted_file in WANTED:
            member = archive.extractfile(f"package/{wanted_file}")
            if member is None:
                raise UnavailableError(f"{name}: the package has no {wanted_file}")
            files[wanted_file] = member.read()
    return Pyodide(name, files, len(content))


def _is_whole(content: bytes, integrity: str) -> bool:
    return f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}" == integrity


def _pack(package: str) -> bytes:
    npm = shutil.which("npm")
    if not npm:
        raise UnavailableError(f"npm is needed to fetch {package}; --no-engine builds a site without it")
    with tempfile.TemporaryDirectory(prefix="compatkb-") as folder:
        command = [npm, "pack", package, "--silent", "--ignore-scripts", "--pack-destination", folder]
        try:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=_DOWNLOAD_SECONDS)
            return next(Path(folder).glob("*.tgz")).read_bytes()
        except (subprocess.SubprocessError, OSError, StopIteration):
            hint = "--no-engine builds a site without it"
            raise UnavailableError(f"npm cannot fetch {package}; {hint}") from None


def engine_files(site: Site, bundle: bytes, pyodide: Pyodide) -> dict[str, bytes]:
    """Return the files of the engine by their paths: Pyodide, the bundle with what is set, and the worker that joins them."""
    buffer = io.BytesIO(bundle)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, SETTINGS, _settings(site))
    bundle = buffer.getvalue()
    files = {f"engine/{pyodide.name}/{name}": content for name, content in pyodide.files.items()}
    size = len(bundle) + sum(len(content) for content in pyodide.files.values())
    script = (sources() / "engine.js").read_text(encoding="utf-8")
    places = {"PYODIDE": f"../engine/{pyodide.name}", "BUNDLE": Path(site.asset("bundle.zip")).name, "BYTES": str(size)}
    for place, text in places.items():
        script = script.replace(f"@{place}@", text)
    return {**files, site.asset("bundle.zip"): bundle, site.asset("engine.js"): script.encode()}


def engine_size(bundle: bytes, pyodide: Pyodide) -> str:
    """Return about how much a browser loads, compressed, for people."""
    return f"{(len(bundle) + pyodide.packed) / 1_000_000:.1f} MB"


def _settings(site: Site) -> bytes:
    clock: Clock = site.asker.clock
    known = {
        "build": site.build,
        "today": clock.today.isoformat(),
        "as_of": clock.as_of.isoformat() if clock.as_of else None,
        "engine_size": site.engine_size,
        "issues": site.issues,
    }
    return json.dumps(known).encode()


def make_bundle(snapshot: Path) -> bytes:
    """Return the archive of program, libraries, templates and data; the same content makes the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, path in sorted(_program()):
            _add(archive, name, path.read_bytes())
        for path in sorted((sources() / "templates").glob("*.html")):
            _add(archive, f"compatkb/_web/templates/{path.name}", path.read_bytes())
        _add(archive, SNAPSHOT, snapshot.read_bytes())
    return buffer.getvalue()


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)


def _program() -> Iterator[tuple[str, Path]]:
    """Yield the modules that give answers, and the libraries that they need, by their place in the bundle."""
    package = Path(__file__).resolve().parent.parent
    folders = [("compatkb", package)]
    for name in LIBRARIES:
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.submodule_search_locations:
            raise UnavailableError(f"{name} is not installed as a package")
        folders.append((name, Path(spec.submodule_search_locations[0])))
    for name, folder in folders:
        for path in folder.rglob("*.py"):
            inside = path.relative_to(folder)
            if name != "compatkb" or (not LEFT_OUT & set(inside.parts[:1]) and "compiler" not in inside.parts):
                yield f"{name}/{inside.as_posix()}", path
