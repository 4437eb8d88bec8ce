"""The structure: imports point one way, facts stay out of the code, and the engine has neither clock nor network."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from conftest import ROOT

from compatkb.snapshot.store import _COMPILER

SOURCE = ROOT / "src" / "compatkb"
MODULES = sorted(SOURCE.rglob("*.py"))
LAYERS = (
    ("errors", "words", "spelling", "versions", "snapshot.schema", "findings", "places"),
    ("writing",),
    ("models.base",),
    ("models.dispute",),
    ("models.product", "models.index", "models.image", "models.evidence", "models.proofs"),
    ("models.timeline", "models.feature"),
    ("models.symptom", "models.machine", "models.migration"),
    ("models.product", "models.index", "models.image", "models.evidence", "models.exception"),
    ("models",),
    ("loader", "canonical", "platforms"),
    ("formatting",),
    ("knowledge",),
    ("placing", "gaps", "events", "featuring"),
    ("disputing",),
    ("assembling",),
    ("observations",),
    ("records",),
    ("snapshot.cells", "snapshot.citation", "snapshot.sequence"),
    ("snapshot.traits", "snapshot.packed"),
    ("snapshot.read", "snapshot.elements", "snapshot.claims", "snapshot.disputes", "snapshot.tags"),
    ("snapshot.features", "snapshot.provenance", "snapshot.readings", "snapshot.timeline", "snapshot.guides"),
    ("snapshot.compile",),
    ("snapshot.store",),
    ("stats",),
    ("export.columns", "export.schemas", "export.disagreements", "export.reading"),
    ("export.schema_told", "export.tables_told"),
    ("export.schema",),
    ("export.views", "export.tables"),
    ("export.documentation", "export.database", "export.bundle", "export.graph", "export.calendar", "export.diagram"),
    ("searching", "changes"),
    ("engine.budget", "engine.said", "engine.ignored", "engine.judging", "engine.alike"),
    ("engine.pool",),
    ("engine.between",),
    ("engine.kept",),
    ("engine.worlds",),
    ("engine.view",),
    ("engine.pairs",),
    ("engine.problem",),
    ("engine.narrow", "engine.leaves", "engine.steps", "engine.blockers"),
    ("engine.needed",),
    ("engine.search",),
    ("engine.companions", "engine.trials", "engine.listing"),
    ("engine.causes",),
    ("engine.stacks",),
    ("engine.shared",),
    ("engine.nearest",),
    ("engine.answer",),
    ("asking",),
    ("api",),
    ("pasted", "machine", "listening"),
    ("gleaning", "machine.graphics", "machine.system"),
    ("machine.interpreter", "machine.reports"),
    ("replacing",),
    ("diagnosing", "inspecting"),
    ("examining",),
    ("reading.source", "reading.statement", "reading.kinds"),
    ("reading.requirement", "reading.images", "reading.documents", "reading.nodes", "reading.shell"),
    ("reading.asked", "reading.requirements", "reading.pyproject", "reading.setup_cfg", "reading.locks"),
    ("reading.tools", "reading.conda"),
    ("reading.installers",),
    ("reading.dockerfile", "reading.pipelines", "reading.notebook"),
    ("reading.pipelines_elsewhere", "reading.services"),
    ("reading.trees",),
    ("reading.readers",),
    ("refresh", "refresh.listing", "refresh.notes", "refresh.write"),
    ("refresh.pages", "refresh.metadata", "refresh.ranges"),
    ("refresh.compare", "refresh.network", "refresh.todo"),
    ("refresh.run",),
    ("validate", "validate.cell"),
    ("validate.evidence", "validate.limits", "validate.messages", "validate.proofs", "validate.ranges"),
    ("validate.addresses", "validate.journal", "validate.record", "validate.targets"),
    ("validate.verdicts",),
    ("validate.upstream", "validate.serving"),
    ("validate.asking",),
    ("validate.probe", "validate.standing_in", "validate.environment"),
    ("validate.stubs",),
    ("validate.importing",),
    ("validate.running", "validate.gate"),
    ("validate.pip", "validate.published", "validate.uv"),
    ("validate.runner", "validate.levels", "validate.plan"),
    ("validate.named",),
    ("validate.session",),
    ("validate.session", "validate.changed"),
    ("rendering.commands", "rendering.sentences", "rendering.markdown"),
    ("rendering.blocks",),
    ("rendering.commands", "rendering.sentences", "rendering.markdown", "rendering.forms"),
    ("rendering.disputes",),
    ("rendering.images",),
    ("rendering.payload",),
    ("rendering.features", "rendering.stacks"),
    ("rendering.diagnosis",),
    ("rendering.text", "rendering.catalogue", "rendering.tags", "rendering.statistics", "rendering.evidence"),
    ("rendering.hits", "rendering.history", "rendering.timeline", "rendering.python_matrix"),
    ("rendering.timeline_svg", "rendering.examination"),
    ("docs", "docs.regions", "docs.asking"),
    ("docs.tables", "docs.answers", "docs.matrix"),
    ("rendering.timeline_svg",),
    ("docs", "docs.marked", "docs.asking", "docs.reading"),
    ("docs.regions", "docs.listed"),
    ("docs.tables", "docs.matrix", "docs.images", "docs.history", "docs.deviations"),
    ("docs.answers", "docs.migration"),
    ("docs.kinds",),
    ("docs.filling",),
    ("docs.files",),
    ("docs.report",),
    ("lint.subject",),
    tuple(f"lint.{path.stem}" for path in (SOURCE / "lint").glob("*.py") if path.stem not in ("__init__", "subject")),
    ("lint",),
    ("rendering.findings",),
    ("check.document", "check.settings"),
    ("check.common", "check.migration", "migrate", "migrate.guide", "migrate.syntax"),
    ("check.baseline", "check.edits", "check.files", "check.ignores", "check.markdown_grammar", "check.markdown_facts"),
    ("check.markdown_text",),
    ("check.markdown_links", "check.markdown_tables", "check.markdown_rows", "check.markdown_shell", "check.markdown_engine"),
    ("check.markdown_images", "check.markdown_stacks", "check.markdown_days"),
    ("check.markdown_machine", "check.markdown_installs", "check.markdown_runs", "check.markdown_prose"),
    ("check.markdown",),
    ("check.world", "check.judging"),
    ("check.installing",),
    ("check.repository_pins",),
    ("check.repository_pairs", "check.repository_project", "check.repository_machine"),
    ("check.repository",),
    ("check",),
    ("migrate.program", "migrate.uses", "migrate.removing", "migrate.target"),
    ("migrate.imports", "migrate.commands", "migrate.pins"),
    ("migrate.project",),
    ("rendering.checking", "rendering.reporting"),
    ("rendering.migrating",),
    ("cli.options", "cli.arguments"),
    ("cli.opening",),
    ("cli.commands", "cli.completion", "cli.refreshing", "cli.validating"),
    ("cli.documents", "cli.exporting", "cli.features", "cli.finding", "cli.tables", "cli.curating", "cli.helping"),
    ("web", "web.tables", "web.questions", "web.forms", "web.serving"),
    ("web.page", "web.answering", "web.alike"),
    ("web.sheets", "web.repeats"),
    ("web.working",),
    ("web.lookup", "web.contract"),
    ("web.catalogue_pages",),
    ("web.overview_pages", "web.api_files", "web.summary"),
    ("web.site",),
    ("cli.checking", "cli.web"),
    ("cli.migrating",),
    ("cli.upkeep", "cli.project"),
    ("cli.parser",),
    ("cli",),
    ("__main__",),
)


def name_of(path: Path) -> str:
    """Return a module's name within the package."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(path: Path) -> ast.Module:
    """Return a module's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> Iterator[str]:
    """Yield the modules of the package that a module imports, wherever in it."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("compatkb."):
            base = (node.module or "").removeprefix("compatkb.")
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                yield whole if (SOURCE / (whole.replace(".", "/") + ".py")).exists() else base


LEVEL = {name: number for number, names in enumerate(LAYERS) for name in names}


def test_every_module_has_a_layer() -> None:
    """A new module says where it belongs."""
    packages = {"", "engine", "snapshot", "rendering", "export", "reading"}
    assert {name_of(path) for path in MODULES} - packages == set(LEVEL)


def test_imports_point_down() -> None:
    """A module imports only from layers above it in the list."""
    pairs = [(name_of(path), other) for path in MODULES if name_of(path) for other in imports(path)]
    assert [f"{name} imports {other}" for name, other in pairs if LEVEL[other] >= LEVEL[name]] == []


def test_modules_are_small() -> None:
    """A module can be read in one go; where it is longer, look for the second concept."""
    lines = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: count for name, count in lines.items() if count > 420} == {}


IMPORT_EACH = """
import importlib, os, sys
others = "pydantic networkx sqlite_utils markdown_it packaging.requirements requests pypi_simple sqlite3".split()
for name in [*others, "concurrent.futures", "http.server", "urllib.request", "difflib", "hashlib"]:
    importlib.import_module(name)  # what others wrote is loaded once; a copy of this process then tries each module of ours
bad = []
for name in sys.argv[1:]:
    if name == "--":
        import compatkb.models  # just tried by itself
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


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.long)])
def test_modules_import_alone(step: int) -> None:
    """Each module imports by itself, with warnings as errors, so there is no hidden order; an eighth of them in every run.

    The models, which take longest, are loaded once for all that comes after them, none of which they import.
    """
    names = sorted((name_of(path) for path in MODULES if path.name != "__main__.py"), key=lambda name: LEVEL.get(name, 0))
    names = [name for number, name in enumerate(names) if number % step == 0 or name == "models"]
    after = next(number for number, name in enumerate(names) if LEVEL.get(name, 0) > LEVEL["models"])
    words = [f"compatkb.{name}".rstrip(".") for name in names]
    command = [sys.executable, "-W", "error", "-c", IMPORT_EACH, *words[:after], "--", *words[after:]]
    subprocess.run(command, check=True)


def constants(path: Path) -> Iterator[ast.Constant]:
    """Yield the string constants of a module that are no docstrings."""
    tree = tree_of(path)
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
STANDARDS = {"platforms", "rendering.reporting"}  # PEP 600 fixes the glibc of the old manylinux names; SARIF its number
HELP = {"cli.options", "cli.parser", "web.contract", "asking", "platforms", "versions", "models.base", "models.product", ""}
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
    texts = ((path, node) for path in MODULES if name_of(path) != "cli.options" for node in constants(path))
    assert [f"{path}:{node.lineno}: {node.value!r}" for path, node in texts if node.value in PRODUCTS] == []


IMPURE = re.compile(r"\b(today|now|time)\(|\bopen\(|import (os|io|time|socket|subprocess|requests|sqlite3)\b")


def test_engine_is_pure() -> None:
    """The engine reads no clock, no file and no network."""
    modules = sorted((SOURCE / "engine").glob("*.py"))
    assert [path.name for path in modules if IMPURE.search(path.read_text(encoding="utf-8"))] == []


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


def test_only_the_command_imports_refresh() -> None:
    """Answers never depend on the network: what talks to an index is imported by the commands that ask one alone."""
    inside = {"cli.refreshing", "validate.upstream"}
    outside = [path for path in MODULES if not name_of(path).startswith("refresh") and name_of(path) not in inside]
    asking = [(name_of(path), name) for path in outside for name in imports(path) if name.startswith("refresh")]
    assert asking == []
