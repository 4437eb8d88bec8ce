"""Empty stand-ins for the libraries of a device that a run does not use, so that what links to them can be loaded.

Each has the name, the version nodes and the functions that the installed libraries ask for; every function returns an
error. They prove nothing of the device: evidence made with them is marked.
"""

import fnmatch
import re
import shutil
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from compatkb.schema import Outcome
from compatkb.validate.environment import RefusedError, VirtualEnvironment
from compatkb.validate.proofs import belongs, proofs

REFUSED = 100  # what every function returns; the first device library to use it reads "no device"
NEEDED = re.compile(r"\(NEEDED\).*\[(.+)\]")
SYMBOL = re.compile(r"^ *\d+: +\S+ +\d+ +(\w+) +(\w+) +\w+ +(\S+) +([^\s@]+)(?:@@?(\S+))?", re.M)
VERSIONED = re.compile(r"File: (\S+)")
NODE = re.compile(r"Name: (\S+)")
SYSTEM = ("libc.so.6", "libm.so.6", "libstdc++.so.6", "libgomp.so.1", "libgcc_s.so.1", "libdl.so.2", "libpthread.so.0")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def add_stubs(venv: VirtualEnvironment, more: Sequence[str] = ()) -> list[str]:
    """Compile what is missing and put it on the loader's path; returns the names of the libraries.

    `more` are patterns of names beside those of the data that may be stubbed.
    """
    for tool in ("gcc", "nm", "readelf"):
        if shutil.which(tool) is None:
            raise RefusedError(Outcome.NOT_CHECKED, f"stubbed libraries need {tool}")
    patterns = (*proofs(venv.context.data).stubs.libraries, *more)
    there = sorted(path for path in venv.packages.rglob("*.so*") if path.is_file() and not path.is_symlink())
    provided = {path.name for path in there}
    asking: dict[Path, set[str]] = {}
    for path, text in _read(venv, ["-d"], there):
        wanted = {n for n in NEEDED.findall(text) if n not in provided and any(fnmatch.fnmatch(n, p) for p in patterns)}
        if wanted:
            asking[path] = wanted
    missing = sorted(set().union(*asking.values())) if asking else []
    if missing:
        _compile(venv, missing, _functions(venv, sorted(asking), set(missing), provided))
    return missing


def _functions(
    venv: VirtualEnvironment, paths: list[Path], missing: set[str], provided: set[str]
) -> dict[str, dict[str, set[str]]]:
    """Return for each library its version nodes with their functions; those without a version are under ""."""
    wanted: dict[str, dict[str, set[str]]] = {name: defaultdict(set) for name in missing}
    loose: set[str] = set()
    owner: dict[str, str] = {}
    for _, text in _read(venv, ["-V"], paths):
        file = ""
        for line in text.splitlines():
            if match := VERSIONED.search(line):
                file = match[1]
            if (node := NODE.search(line)) and file in missing:
                wanted[file][node[1]]
                owner[node[1]] = file
    for _, text in _read(venv, ["--dyn-syms"], paths):
        for kind, binding, where, name, version in SYMBOL.findall(text):
            if where != "UND":
                continue
            if version and version in owner:
                wanted[owner[version]][version].add(name)
            elif not version and binding == "GLOBAL" and kind != "TLS" and IDENTIFIER.fullmatch(name):
                loose.add(name)
    known = proofs(venv.context.data).exports  # what a real library of theirs lacks must stay missing
    own = {
        name
        for name in loose - _defined(venv, paths, provided)
        if not name.startswith(("Py", "_")) and not any(belongs(name, exports) for exports in known)
    }
    for name in missing:
        wanted[name][""] |= own
    return wanted


def _defined(venv: VirtualEnvironment, paths: list[Path], provided: set[str]) -> set[str]:
    """Return the functions of the libraries beside those that ask, and of the system's own."""
    beside = {path for folder in {p.parent for p in paths} for path in folder.glob("*.so*") if path.name in provided}
    system = [venv.run(["gcc", f"-print-file-name={name}"]).output.strip() for name in SYSTEM]
    functions: set[str] = set()
    for path in sorted(beside | {Path(name) for name in system if Path(name).is_absolute()}):
        text = venv.run_quietly(["nm", "-D", "--defined-only", "-j", str(path)])
        functions |= {line.partition("@")[0] for line in text.splitlines()}
    return functions


def _compile(venv: VirtualEnvironment, missing: list[str], wanted: dict[str, dict[str, set[str]]]) -> None:
    folder = venv.folder / "stubs"
    folder.mkdir()
    for name in missing:
        source, script, nodes = folder / "stub.c", folder / "stub.map", wanted[name]
        functions = sorted(set().union(*nodes.values())) if nodes else []
        source.write_text(
            "".join(f"int {function}(void) {{ return {REFUSED}; }}\n" for function in functions), encoding="utf-8"
        )
        named = {node: sorted(of) for node, of in nodes.items() if node}
        script.write_text(
            "".join(f"{node} {{ {'global: ' + '; '.join(of) + ';' if of else ''} }};\n" for node, of in sorted(named.items())),
            encoding="utf-8",
        )
        words = ["gcc", "-shared", "-fPIC", "-fno-builtin", "-w", f"-Wl,-soname,{name}", "-o", str(folder / name), str(source)]
        ended = venv.run([*words, *([f"-Wl,--version-script={script}"] if named else [])])
        if not ended.ok:
            raise RefusedError(Outcome.NOT_CHECKED, f"{name} could not be stubbed: {venv.tidy(ended.output)[-400:]}")
    venv.variables["LD_LIBRARY_PATH"] = str(folder)


def _read(venv: VirtualEnvironment, words: list[str], paths: list[Path]) -> list[tuple[Path, str]]:
    """Return what readelf says of each file."""
    return [(path, venv.run_quietly(["readelf", "-W", *words, str(path)])) for path in paths]
