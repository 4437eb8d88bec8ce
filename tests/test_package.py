"""The package as people install it: a wheel that carries its data, and a start that imports nothing heavy."""

import ast
import json
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from conftest import ROOT, without_age
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from source_code import MODULES, nodes_of

HEAVY = ("pydantic", "networkx", "requests", "rich", "numpy", "pandas", "packaging")


def install(folder: Path, *building: str, requirements: bool) -> Path:
    """Build the wheel, install it in a fresh environment, and return that environment's folder of commands."""
    pip = [sys.executable, "-m", "pip"]
    build = [*pip, "wheel", "--quiet", "--no-deps", *building, "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, cwd=folder)
    (wheel,) = folder.glob("compatkb-*.whl")
    venv.create(folder / "env")
    commands = folder / "env" / "bin"
    more = [] if requirements else ["--no-deps"]
    subprocess.run(
        [*pip, "--python", commands / "python", "install", "--quiet", "--no-compile", *more, wheel], check=True, cwd=folder
    )
    return commands


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, which finds what that requires where these tests find it."""
    commands = install(tmp_path_factory.mktemp("wheel"), "--no-build-isolation", requirements=False)
    (packages,) = commands.parent.glob("lib/python*/site-packages")
    (packages / "required.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return commands


def test_what_is_imported_is_required() -> None:
    """Every module of others that the program imports is of what the wheel or an extra of it requires, or brings along."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    optional = (text for extra in ("validate", "refresh", "web", "mcp") for text in extras[extra])
    required = {Requirement(text).name for text in (*project["dependencies"], *optional)}
    imported = set()
    for node in (node for path in MODULES for node in nodes_of(path)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            imported.add(node.module.partition(".")[0])
    others = imported - sys.stdlib_module_names - {"compatkb"}
    owners = {module: {*map(canonicalize_name, names)} for module, names in metadata.packages_distributions().items()}
    here = required & set().union(*owners.values())
    needs = [text for name in here for text in metadata.requires(name) or () if "extra ==" not in text]
    known = {*map(canonicalize_name, (*required, *(Requirement(text).name for text in needs)))}
    assert {name for name in others if known.isdisjoint(owners.get(name, {name}))} == set()


@pytest.mark.soak
def test_wheel_requires_what_it_needs(tmp_path: Path) -> None:
    """Built from its declared requirements and installed with its own, the wheel answers, and nothing else is there."""
    commands = install(tmp_path, requirements=True)
    for words in (["resolve", "--torch", "2.8", "--device", "xpu"], ["export", "--format", "json"], ["lint", "--help"]):
        done = subprocess.run([commands / "compatkb", *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_wheel_answers_from_another_directory(installed: Path, tmp_path: Path) -> None:
    """An installed compatkb carries its data and needs neither the checkout nor a cache."""
    words = ["resolve", "--torch", "2.4", "--device", "xpu", "--format", "json"]
    environment = {"COMPATKB_CACHE": str(tmp_path / "cache"), "PATH": "/usr/bin:/bin"}
    command = [installed / "compatkb", *words]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["verdict"] == "does-not-work"
    assert not (tmp_path / "cache").exists()


@pytest.mark.long
def test_action_template_and_hook_run_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """What CI runs of an installed wheel, without the checkout, finds what is wrong and writes its reports."""
    (tmp_path / "requirements.txt").write_text("torch==2.5.0\nintel-extension-for-pytorch==2.4.0\n")
    template = yaml.safe_load((ROOT / "templates" / "check.yml").read_text("utf-8"))
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    shared = {"PATH": f"{installed}:/usr/bin:/bin", "COMPATKB_CACHE": str(tmp_path / "cache"), **template["variables"]}
    action = {"COMPATKB_PYTHON": str(installed / "python"), "COMPATKB_PATHS": ".", "COMPATKB_SARIF": "out.sarif"}
    runs = (
        (["bash", "-e", str(ROOT / "action" / "check.sh")], "::error file=requirements.txt,line=2"),
        (["sh", "-e", "-c", template["compatkb"]["script"][1]], "pins-together"),
        (hook["entry"].split(), "pins-together"),
    )
    for command, said in runs:
        environment = {**shared, **action}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stderr
        assert said in done.stdout
    for report in ("out.sarif", *template["compatkb"]["artifacts"]["reports"].values()):
        assert json.loads((tmp_path / report).read_text("utf-8"))


@pytest.mark.long
def test_wheel_carries_the_sources_of_the_site(installed: Path, tmp_path: Path) -> None:
    """An installed compatkb can write the site: templates, style and script are in the wheel."""
    code = (
        "from compatkb.web.pages import ASSETS, sources\n"
        "assert all((sources() / name).is_file() for name in (*ASSETS, 'templates/base.html', 'templates/answer.html'))\n"
        "print('site-packages' in str(sources()))"
    )
    done = subprocess.run([installed / "python", "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"]


@pytest.mark.soak
def test_wheel_exports_and_searches(installed: Path, tmp_path: Path) -> None:
    """Search, changes, exports and the database need no checkout either; the schemas of the data are no part of the wheel."""
    for words in (["search", "arc"], ["changes", "--since", "2026-09-01"], ["export", "--format", "ical"], ["build"]):
        done = subprocess.run([installed / "compatkb", *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["compatkb.sqlite"]
    code = "import importlib.metadata as m; print([str(f) for f in m.files('compatkb') if 'schema.json' in str(f)])"
    done = subprocess.run([installed / "python", "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"  # those of answers are made of their types


@pytest.mark.long
def test_wheel_carries_types_and_licence(installed: Path) -> None:
    """The wheel has the marker of typed packages and the licence."""
    code = (
        "import importlib.metadata as m, compatkb, pathlib;"
        "print((pathlib.Path(compatkb.__file__).parent / 'py.typed').exists(),"
        " any('LICENSE' in str(f) for f in m.files('compatkb')))"
    )
    done = subprocess.run([installed / "python", "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


def test_resolve_imports_nothing_heavy() -> None:
    """After `resolve` none of the packages that build and export is loaded: start-up is what users feel."""
    code = (
        "import sys\n"
        "from compatkb.cli import main\n"
        "try: main(['resolve', '--torch', '2.4', '--device', 'xpu', '--format', sys.argv[1]])\n"
        "except SystemExit: pass\n"
        "print([name for name in sys.argv[2:] if name in sys.modules], file=sys.stderr)"
    )
    for form in ("text", "json"):
        done = subprocess.run([sys.executable, "-c", code, form, *HEAVY], capture_output=True, text=True, check=True)
        assert without_age(done.stderr).strip() == "[]"


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
RIGHTS = re.compile(r"^ +(?:contents|pull-requests|attestations|id-token|packages|pages): write$", re.MULTILINE)
OUR_CODE = re.compile(r"\b(?:make|pip|python|compatkb (?!data update)|uv)\b")


def jobs(path: Path) -> dict[str, str]:
    """Return the text of each job of a workflow, what is said above all of them as the job ``."""
    head, _, rest = path.read_text(encoding="utf-8").partition("\njobs:\n")
    parts = re.split(r"^  ([\w-]+):.*\n", rest, flags=re.MULTILINE)
    return {"": head, **dict(zip(parts[1::2], parts[2::2], strict=True))}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_trust_no_name_and_keep_rights_from_code(path: Path) -> None:
    """Actions are named by commit; a job that may write runs nothing of this repository nor anything that it installs."""
    text = path.read_text(encoding="utf-8")
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use) for use in re.findall(r"uses: (.*)", text))
    assert "pip install ." not in text
    for name, job in jobs(path).items():
        if not RIGHTS.search(job):
            continue
        assert name, "rights that every job has"
        commands = re.findall(r"^ +(?:- )?run: *(?:[|>]-?\n((?:        .*\n)+)|(.*))", job, re.MULTILINE)
        assert not [text for text in ("".join(pair) for pair in commands) if OUR_CODE.search(re.sub(r'"[^"]*"', "", text))]


def test_the_lock_holds_what_is_asked_for() -> None:
    """Every requirement of the program and of its tests is in the lock, within its bounds and with a hash."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lock = (ROOT / ".github" / "requirements.txt").read_text(encoding="utf-8")
    found = re.findall(r"^([\w.-]+)==(\S+)(.*\n(?: .*\n)*)", lock, re.MULTILINE)
    locked = {name: (version, more) for name, version, more in found}
    texts = [*project["dependencies"], *(text for group in project["optional-dependencies"].values() for text in group)]
    for each in map(Requirement, texts):
        if each.name != "compatkb":
            version, more = locked[each.name]
            assert each.specifier.contains(version), each
            assert "--hash=sha256:" in more
