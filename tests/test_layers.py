"""The structure: imports point one way, facts stay out of the code, and the engine has neither clock nor network."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

from compatkb.snapshot.store import _COMPILER

SOURCE = ROOT / "src" / "compatkb"
MODULES = sorted(SOURCE.rglob("*.py"))
LAYERS = (
    ("errors", "words", "versions", "snapshot.schema"),
    ("models.base",),
    ("models.product", "models.index", "models.image", "models.evidence", "models.proofs"),
    ("models",),
    ("loader", "canonical", "platforms"),
    ("knowledge",),
    ("placing", "gaps"),
    ("assembling",),
    ("observations",),
    ("records",),
    ("snapshot.cells", "snapshot.citation"),
    ("snapshot.read", "snapshot.elements", "snapshot.claims", "snapshot.tags"),
    ("snapshot.compile",),
    ("snapshot.store",),
    ("engine.view",),
    ("engine.problem",),
    ("engine.search",),
    ("engine.stacks", "engine.causes"),
    ("engine.answer",),
    ("asking",),
    ("api",),
    ("validate", "validate.cell"),
    ("validate.evidence", "validate.limits", "validate.messages", "validate.proofs", "validate.ranges"),
    ("validate.probe", "validate.standing_in", "validate.environment"),
    ("validate.stubs",),
    ("validate.importing",),
    ("validate.running", "validate.gate"),
    ("validate.journal",),
    ("validate.runner", "validate.levels", "validate.plan"),
    ("validate.session",),
    ("rendering.evidence",),
    ("rendering.commands", "rendering.images", "rendering.sentences"),
    ("rendering.payload",),
    ("rendering.text", "rendering.catalogue"),
    ("cli.options",),
    ("cli.commands", "cli.completion", "cli.parser", "cli.validating"),
    ("cli",),
    ("__main__",),
)


def name_of(path: Path) -> str:
    """Return a module's name within the package."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[str]:
    """Yield the modules of the package that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("compatkb."):
            base = (node.module or "").removeprefix("compatkb.")
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                yield whole if (SOURCE / (whole.replace(".", "/") + ".py")).exists() else base


LEVEL = {name: number for number, names in enumerate(LAYERS) for name in names}
LAZY = {("cli.parser", "cli.commands"), ("cli.parser", "cli.validating"), ("cli.parser", "cli.completion")}


def test_every_module_has_a_layer() -> None:
    """A new module says where it belongs."""
    packages = {"", "engine", "snapshot", "rendering"}
    assert {name_of(path) for path in MODULES} - packages == set(LEVEL)


@pytest.mark.parametrize("path", [p for p in MODULES if name_of(p)], ids=name_of)
def test_imports_point_down(path: Path) -> None:
    """A module imports only from layers above it in the list; the commands of one layer may name each other lazily."""
    name = name_of(path)
    for other in imports(path):
        assert LEVEL[other] < LEVEL[name] or (name, other) in LAZY, f"{name} imports {other}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_module_is_small(path: Path) -> None:
    """A module can be read in one go."""
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= 420, f"{lines} lines: look for the second concept"


def test_modules_import_alone() -> None:
    """Each module imports by itself, with warnings as errors, so there is no hidden order."""
    names = [f"compatkb.{name_of(path)}".rstrip(".") for path in MODULES if path.name != "__main__.py"]
    code = "import subprocess, sys\n"
    code += (
        "bad = [n for n in sys.argv[1:] if subprocess.run([sys.executable, '-W', 'error', '-c', f'import {n}']).returncode]\n"
    )
    code += "sys.exit(', '.join(bad) or 0)"
    subprocess.run([sys.executable, "-c", code, *names], check=True)


def constants(path: Path) -> Iterator[ast.Constant]:
    """Yield the string constants of a module that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body and isinstance(node.body[0], ast.Expr)
    }
    texts = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented | texts:
            yield node


FACT = re.compile(r"(?<![\w.])(\d{4}-\d{2}-\d{2}|\d+\.\d+(\.\d+)+|\d+\.\d+\+\w+)(?![\w.])")
STANDARDS = {"platforms"}  # PEP 600 fixes the glibc of the old manylinux names
HELP = {"cli.options", "cli.parser", "asking", "platforms", "versions", "models.base", "models.product", ""}
"""Where examples of what people type stand in help, errors and comments."""


@pytest.mark.parametrize("path", [p for p in MODULES if name_of(p) not in HELP], ids=name_of)
def test_no_facts_in_code(path: Path) -> None:
    """No version, date or product stands in code: facts are data."""
    for node in constants(path):
        assert not FACT.search(node.value), f"{path}:{node.lineno}: {node.value!r}"


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


@pytest.mark.parametrize("path", [p for p in MODULES if name_of(p) != "cli.options"], ids=name_of)
def test_no_product_in_code(path: Path) -> None:
    """The headline options are the only product names in the code."""
    for node in constants(path):
        assert node.value not in PRODUCTS, f"{path}:{node.lineno}: {node.value!r}"


@pytest.mark.parametrize("path", sorted((SOURCE / "engine").glob("*.py")), ids=name_of)
def test_engine_is_pure(path: Path) -> None:
    """The engine reads no clock, no file and no network."""
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\b(today|now|time)\(|\bopen\(|import (os|io|time|socket|subprocess|requests|sqlite3)\b", text)


def test_what_compiles_is_watched() -> None:
    """An edit of any module that takes part in compiling makes a new snapshot."""
    code = (
        "import sys\n"
        "import compatkb.assembling, compatkb.loader, compatkb.observations, compatkb.snapshot.compile\n"
        "print('\\n'.join(name for name in sys.modules if name.startswith('compatkb.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    used = {name.removeprefix("compatkb.") for name in done.stdout.split()}
    watched = {name.removesuffix(".py") for name in _COMPILER}
    assert {name for name in used if name.split(".")[0] not in watched} <= {"errors"}
