"""Which reader a file deserves, by its name and, where many share one, by what it holds; and the reading itself."""

import re
from collections.abc import Callable
from dataclasses import replace

from compatkb.places import Place
from compatkb.reading.nodes import Node, TreeError, yaml_documents
from compatkb.reading.source import MOST_CHARACTERS, MOST_SHELL, Source
from compatkb.reading.statement import Include, Reading, Requirement, Role, Statement

_NAMED: tuple[tuple[str, str], ...] = (
    ("pyproject", r"(?:.*/)?pyproject\.toml"),
    ("setup.cfg", r"(?:.*/)?setup\.cfg"),
    ("uv.lock", r"(?:.*/)?uv\.lock"),
    ("poetry.lock", r"(?:.*/)?poetry\.lock"),
    ("pdm.lock", r"(?:.*/)?pdm\.lock"),
    ("pylock", r"(?:.*/)?pylock(?:\.[^/.]+)?\.toml"),
    ("Pipfile", r"(?:.*/)?Pipfile"),
    ("Pipfile.lock", r"(?:.*/)?Pipfile\.lock"),
    ("conda-lock", r"(?:.*/)?(?:[^/]*\.)?conda-lock\.ya?ml"),
    ("constraints", r"(?:.*/)?[^/]*constraint[^/]*\.(?:txt|in)"),
    ("requirements", r"(?:.*/)?(?:[^/]*requirements?[^/]*|requirements/[^/]+)\.(?:txt|in)"),
    ("dockerfile", r"(?:.*/)?(?:(?:Docker|Container)file(?:[._-][^/]*)?|[^/]*\.(?:[Dd]ockerfile|[Cc]ontainerfile))"),
    ("compose", r"(?:.*/)?(?:docker-)?compose[^/]*\.ya?ml"),
    ("github", r"(?:.*/)?\.github/(?:workflows/[^/]*|actions/.*/action)\.ya?ml|(?:.*/)?action\.ya?ml"),
    ("gitlab", r"(?:.*/)?[^/]*\.gitlab-ci[^/]*\.ya?ml|(?:.*/)?\.gitlab/.*\.ya?ml"),
    ("azure", r"(?:.*/)?(?:\.azure-?pipelines?/.*|azure-pipelines?[^/]*)\.ya?ml"),
    ("environment", r"(?:.*/)?[^/]*environment[^/]*\.ya?ml"),
    ("shell", r".*\.(?:sh|bash|zsh)"),
    ("notebook", r".*\.ipynb"),
    ("markdown", r".*\.(?:md|markdown)"),
    ("yaml", r".*\.ya?ml"),
)
_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _NAMED)
_QUICK = re.compile(r"image|pip|dependencies|uses", re.IGNORECASE)


def kind_of(path: str) -> str | None:
    """Return the format of a file by its path, with `/` between folders; None for files that state no versions."""
    for kind, pattern in _PATTERNS:
        if pattern.fullmatch(path):
            return kind
    return None


def read(path: str, text: str, kind: str | None = None) -> Reading:
    """Return what a file says; places that cannot be read are problems of the reading, never errors."""
    found = kind or kind_of(path) or ("shell" if re.match(r"#!.*\b(?:ba|z|da)?sh\b", text) else "")
    reading = Reading(path, found)
    if len(text) > (MOST_SHELL if found in _BY_LINES else MOST_CHARACTERS):
        reading.problem(Place(1, 1), f"is too long to be read: {len(text):,} characters")
        return reading
    source = Source(path, text)
    if found in _YAML:
        _read_yaml(source, reading)
    elif reader := _readers().get(found):
        reader(source, reading)
    return reading


_BY_LINES = {"requirements", "constraints", "dockerfile", "shell", "setup.cfg", "pyproject"}
_YAML = {"compose", "github", "gitlab", "azure", "environment", "yaml", "manifest"}


def _readers() -> dict[str, Callable[[Source, Reading], None]]:
    from compatkb.reading import asked, conda, dockerfile, installers, locks, notebook, pyproject, requirements, setup_cfg

    def shell(source: Source, reading: Reading) -> None:
        installers.read_shell(source.whole(), asked.Scope(reading))

    def constraints(source: Source, reading: Reading) -> None:
        requirements.read_requirements(source, reading, role=Role.CONSTRAINT)

    return {
        "pyproject": pyproject.read_pyproject,
        "setup.cfg": setup_cfg.read_setup_cfg,
        "uv.lock": locks.read_uv_lock,
        "poetry.lock": locks.read_poetry_lock,
        "pdm.lock": locks.read_pdm_lock,
        "pylock": locks.read_pylock,
        "Pipfile": locks.read_pipfile,
        "Pipfile.lock": locks.read_pipfile_lock,
        "conda-lock": conda.read_conda_lock,
        "requirements": requirements.read_requirements,
        "constraints": constraints,
        "dockerfile": dockerfile.read_dockerfile,
        "shell": shell,
        "notebook": notebook.read_notebook,
    }


def _read_yaml(source: Source, reading: Reading) -> None:
    from compatkb.reading import services

    if reading.kind == "yaml" and not _QUICK.search(source.text):
        return
    try:
        roots = yaml_documents(source)
    except TreeError as error:
        if "{{" in source.text or "{%" in source.text:
            services.read_image_lines(source, reading)
        else:
            reading.problem(error.place, str(error))
        return
    if not roots:
        return
    if reading.kind == "yaml":
        reading.kind = _sniffed(roots[0])
    _read_trees(roots, reading)


def _read_trees(roots: list[Node], reading: Reading) -> None:
    from compatkb.reading import conda, pipelines, pipelines_elsewhere, services

    readers: dict[str, Callable[[Node, Reading], None]] = {
        "compose": services.read_compose,
        "github": pipelines.read_github,
        "gitlab": pipelines_elsewhere.read_gitlab,
        "azure": pipelines_elsewhere.read_azure,
        "environment": conda.read_environment,
    }
    if reader := readers.get(reading.kind):
        for root in roots if reading.kind == "gitlab" else roots[:1]:
            reader(root, reading)
    elif reading.kind == "manifest":
        services.read_manifests(roots, reading)


def _sniffed(root: Node) -> str:
    """Return the format of a YAML file that could be anything: by the keys that its top has."""
    keys = set(root.mapping())
    if {"services"} <= keys and not {"apiVersion", "kind"} & keys:
        return "compose"
    if {"jobs", "on"} <= keys or {"runs", "name"} <= keys:
        return "github"
    if keys & {"trigger", "pool", "stages"} and keys & {"steps", "jobs", "stages"}:
        return "azure"
    if {"dependencies"} <= keys and keys & {"channels", "name", "prefix"} and root.get("dependencies", "0") is None:
        listed = root.get("dependencies")
        return "environment" if listed and listed.kind == "list" and any(i.kind == "text" for i in listed.items) else "yaml"
    return "manifest"


def included(include: Include, reading: Reading, other: Reading) -> Reading:
    """Return what an included file says as part of the group, step and role of the file that includes it."""
    kept: list[Statement] = []
    for found in other.statements:
        found = replace(found, group=include.group, step=include.step)
        if isinstance(found, Requirement | Include) and include.role is Role.CONSTRAINT:
            found = replace(found, role=include.role)
        kept.append(found)
    return Reading(other.path, other.kind, kept, reading.groups, other.problems)
