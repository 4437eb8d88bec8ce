"""The structure: imports point one way, facts stay out of the code, and the engine has neither clock nor network."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import grimp
import networkx
import pytest
from conftest import ROOT
from source_code import MODULES, SOURCE, name_of, nodes_of

from compatkb.store.cache import compiler_files
from compatkb.web.engine_bundle import LEFT_OUT


def test_contracts_hold() -> None:
    """Imports keep the contracts of `[tool.importlinter]` in pyproject.toml."""
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_packages_import_one_way() -> None:
    """No package or loose module imports one that imports it, by whatever way."""
    graph = grimp.build_graph("compatkb", cache_dir=None)
    rooms = {module: ".".join(module.split(".")[:2]) for module in graph.modules}
    imports = networkx.DiGraph()
    for module, room in rooms.items():
        others = {rooms[other] for other in graph.find_modules_directly_imported_by(module)}
        imports.add_edges_from((room, other) for other in others - {room})
    assert networkx.is_directed_acyclic_graph(imports), networkx.find_cycle(imports)


IMPORT_EACH = """
import importlib, os, sys
others = "pydantic networkx markdown_it packaging.requirements requests pypi_simple sqlite3".split()
for name in [*others, "concurrent.futures", "http.server", "urllib.request", "difflib", "hashlib"]:
    importlib.import_module(name)  # what others wrote is loaded once; a copy of this process then tries each module of ours
bad = []
for name in sys.argv[1:]:
    if name == "--":
        import compatkb.schema  # just tried by itself
        continue
    child = os.fork()
    if not child:
        try:
            importlib.import_module(name)
        except BaseException as error:
            print(f"{name}: {error!r}", file=sys.stderr)
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        bad.append(name)
sys.exit(", ".join(bad) or 0)
"""


@pytest.mark.parametrize("step", [pytest.param(24, marks=pytest.mark.long), pytest.param(1, marks=pytest.mark.soak)])
def test_modules_import_alone(step: int) -> None:
    """Each module imports by itself, with warnings as errors, so there is no hidden order; a part of them in every run.

    The models, which take longest, are loaded once for all that comes after them, none of which they import.
    """
    authoring = ("core", "errors", "schema")
    names = sorted(
        (name_of(path) for path in MODULES if path.name != "__main__.py"), key=lambda n: n.split(".")[0] not in authoring
    )
    names = [name for number, name in enumerate(names) if number % step == 0 or name == "schema"]
    after = sum(name.split(".")[0] in authoring for name in names)
    words = [f"compatkb.{name}".rstrip(".") for name in names]
    command = [sys.executable, "-W", "error", "-c", IMPORT_EACH, *words[:after], "--", *words[after:]]
    subprocess.run(command, check=True)


def test_browser_has_what_it_imports() -> None:
    """What answers in the browser imports nothing of what its bundle leaves out."""
    code = "import sys, compatkb.web.browser; print(*(name.split('.')[1] for name in sys.modules if 'compatkb.' in name))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert LEFT_OUT & set(done.stdout.split()) == set()


@cache
def constants(path: Path) -> tuple[ast.Constant, ...]:
    """Return the string constants of a module that are no docstrings."""
    nodes = nodes_of(path)
    documented = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    strings = (node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return tuple(node for node in strings if id(node) not in documented)


FACT = re.compile(r"(?<![\w.])(\d{4}-\d{2}-\d{2}|\d+\.\d+(\.\d+)+|\d+\.\d+\+\w+)(?![\w.])")
STANDARDS = {
    "version",
    "core.platforms",
    "check.report_text",
    "mcp.protocol",
}  # our own, glibc of PEP 600, SARIF's number, revisions of MCP
HELP = {
    "headline_options",
    "cli.opening",
    "cli.options",
    "cli.reference",
    "cli.answering",
    "mcp.tools",
    "web.api_schema",
    "request.lookup",
    "request.parser",
    "request.words",
    "core.platforms",
    "core.versions",
    "schema.base",
    "schema.product",
}
"""Where examples of what people type stand in help, errors and comments."""


def test_no_facts_in_code() -> None:
    """No version, date or product stands in code: facts are data."""
    texts = ((path, node) for path in MODULES if name_of(path) not in HELP | STANDARDS for node in constants(path))
    assert [f"{path}:{node.lineno}: {node.value!r}" for path, node in texts if FACT.search(node.value)] == []


PRODUCTS = {
    "torch",
    "ipex",
    "torchvision",
    "torchaudio",
    "oneccl-bind-pt",
    "neural-compressor",
    "numpy",
    "setuptools",
    "triton-xpu",
}


def test_no_product_in_code() -> None:
    """The headline options are the only product names in the code."""
    texts = ((path, node) for path in MODULES if name_of(path) != "headline_options" for node in constants(path))
    assert [f"{path}:{node.lineno}: {node.value!r}" for path, node in texts if node.value in PRODUCTS] == []


IMPURE = re.compile(r"\b(today|now|time)\(|\bopen\(|import (os|io|time|socket|subprocess|requests|sqlite3)\b")


def test_engine_is_pure() -> None:
    """The engine reads no clock, no file and no network."""
    modules = sorted((SOURCE / "engine").glob("*.py"))
    assert [path.name for path in modules if IMPURE.search(path.read_text(encoding="utf-8"))] == []


def test_class_names_are_unique() -> None:
    """One name means one thing: no class name stands in two modules."""
    named: dict[str, list[str]] = {}
    for path in MODULES:
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                named.setdefault(node.name, []).append(name_of(path))
    assert {name: modules for name, modules in named.items() if len(modules) > 1} == {}


def test_what_compiles_is_watched() -> None:
    """An edit of any module that takes part in compiling makes a new snapshot."""
    code = (
        "import sys\n"
        "import compatkb.authoring.build_knowledge, compatkb.authoring.loader, compatkb.authoring.evidence\n"
        "import compatkb.store.compiler.compile\n"
        "print('\\n'.join(module.__file__ for name, module in sys.modules.items() if name.startswith('compatkb')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    used = {str(Path(file).relative_to(SOURCE)) for file in done.stdout.splitlines()}
    watched = {str(Path(file).relative_to(SOURCE)) for file in compiler_files()}
    assert used - watched == {"__init__.py", "errors.py", "version.py"}


def test_one_clock() -> None:
    """What today is stands in one place, so that COMPATKB_TODAY sets the day for every command."""
    asking = re.compile(r"\b(?:datetime\.now|date\.today|datetime\.today|datetime\.utcnow)\(")
    assert [name_of(path) for path in MODULES if asking.search(path.read_text("utf-8"))] == ["core.clock"]
