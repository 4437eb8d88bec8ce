"""Parses the arguments of each install tool: one function per kind of tool."""

import re
from collections.abc import Sequence

from compatkb.core.names import normal
from compatkb.parsers.commands.model import (
    CommandOptions,
    Invocation,
    add_index,
    add_python,
    add_requirement,
    add_runner,
    conda_requirement,
    environment_of,
    installed,
    names,
    sort_words,
)
from compatkb.parsers.requirement import from_poetry, is_name
from compatkb.parsers.statement import Requirement, SystemPackage, Word, image_use

_ENVIRONMENTS = ("--target", "-t", "--prefix", "--root", "--python", "-p")
CONTAINER_TOOLS = frozenset(("docker", "podman", "nerdctl", "singularity", "apptainer", "buildah"))
_VALUED = (
    "-v", "--volume", "-e", "--env", "-p", "--publish", "-w", "--workdir", "-u", "--user", "--name", "--device",
    "--network", "--net", "--ipc", "--shm-size", "--entrypoint", "--memory", "-m", "--cpus", "--gpus", "--group-add",
    "--cap-add", "--security-opt", "--mount", "--hostname", "-h", "--env-file", "--ulimit", "--pid", "--platform",
    "--add-host", "--runtime", "--restart", "--label", "-l", "--tmpfs", "--cpuset-cpus", "--cpuset-mems", "--userns",
    "--pull", "--dns", "--link", "--expose", "--log-driver", "--log-opt", "--cidfile", "--volumes-from", "-c", "--bind",
    "-B",
)  # fmt: skip


def _container_image(words: Sequence[Word]) -> Word | None:
    """Return the image that a command of docker or what is like it runs or pulls; None for other commands."""
    tool = words[0].value.rpartition("/")[2] if words else ""
    verb = words[1].value if len(words) > 1 else ""
    runs = ("run", "pull", "create", "from", "shell", *(("exec",) if tool in ("singularity", "apptainer") else ()))
    if tool not in CONTAINER_TOOLS or verb not in runs:
        return None
    at = 2
    while at < len(words) and (words[at].value.startswith("-") or not words[at].value):
        has_value = words[at].value in _VALUED and at + 1 < len(words)
        at += 2 if has_value else 1
    return words[at] if at < len(words) else None


def pip(run: Invocation, words: Sequence[Word], whole: Sequence[Word]) -> None:
    """Read a command of pip, or of `uv pip`."""
    options = sort_words(words, run.tool)
    if not options.rest:
        return
    verb, rest = options.rest[0].value, options.rest[1:]
    if verb == "uninstall":
        run.act(whole[0], verb, names(rest))
    elif verb == "config" and len(rest) > 2 and rest[0].value == "set":
        if (option := rest[1].value.removeprefix("global.")) in ("index-url", "extra-index-url", "find-links"):
            add_index(run._replace(step=0), option, rest[2])
    elif verb in ("install", "download", "wheel", "sync", "compile"):
        run = _elsewhere(run, verb, options)
        run.act(whole[0], verb, options.given)
        add_runner(run, whole)
        installed(run, options, rest, files=verb in ("sync", "compile"))


def _elsewhere(run: Invocation, verb: str, options: CommandOptions) -> Invocation:
    """Return a command as one of the environment that its options name; what is fetched alone goes into one of its own."""
    named = [word.value for name, word in options.valued if name in _ENVIRONMENTS and "/" in word.value]
    if verb in ("download", "wheel", "compile"):
        named = [f"{verb} {run.step}"]
    return run.inside(environment_of(named[-1])) if named else run


def uv(run: Invocation, words: Sequence[Word], whole: Sequence[Word]) -> None:
    """Read a command of uv."""
    options = sort_words(words)
    verb = options.rest[0].value if options.rest else ""
    rest = options.rest[1:]
    if verb in ("sync", "lock", "run"):
        run.act(whole[0], verb, options.given)
    elif verb == "add":
        run.act(whole[0], "install", options.given)
        installed(run, options, rest)
    if verb in ("venv", "python", "sync", "run"):
        for name, word in options.valued:
            if name in ("--python", "-p"):
                add_python(run, word)
        for word in rest if verb == "python" else ():
            add_python(run, word)


def conda(run: Invocation, words: Sequence[Word], whole: Sequence[Word]) -> None:
    """Read a command of conda or mamba."""
    options = sort_words(words)
    verb = options.rest[0].value if options.rest else ""
    named = next((word.value for name, word in options.valued if name in ("-n", "--name", "-p", "--prefix")), "")
    if verb not in ("install", "create"):
        return
    run = run.inside(named) if named else run
    run.act(whole[0], "install", options.given)
    for word in options.rest[1:]:
        if requirement := conda_requirement(word.value, word):
            run.scope.reading.add(requirement._replace(group=run.group, step=run.step))


def project(run: Invocation, words: Sequence[Word], whole: Sequence[Word]) -> None:
    """Read a command of poetry, pdm, pipenv or pipx."""
    options = sort_words(words)
    verb = options.rest[0].value if options.rest else ""
    if verb not in ("add", "install", "sync", "inject"):
        return
    given = options.given
    run.act(whole[0], "install", given)
    if run.tool == "pipx":
        return
    for word in options.rest[1:]:
        name, at, version = word.value.partition("@")
        if at and is_name(name) and not word.open and (specifier := from_poetry(version.strip())) is not None:
            run.state(Requirement, word, name=normal(name), specifier=specifier, tool=run.tool)
        else:
            add_requirement(run, word)


def system(run: Invocation, words: Sequence[Word], _: Sequence[Word]) -> None:
    """Read a command of a package manager of the operating system."""
    options = sort_words([word for word in words if word.value not in ("-t",)])
    verb = options.rest[0].value if options.rest else ""
    if verb not in ("install", "add", "in", "reinstall"):
        return
    for word in options.rest[1:]:
        name, version = [*word.value.split("=", 1), ""][:2]
        name = name.partition("/")[0]
        if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9+._-]*", name):
            known = None if word.open else version.lstrip("=") or None
            run.state(SystemPackage, word, name=name, version=known, tool=run.tool)


def container(run: Invocation, _: Sequence[Word], whole: Sequence[Word]) -> None:
    """Read a command of docker or what is like it: the image that it runs."""
    if word := _container_image(whole):
        text = word.value.removeprefix("docker://")
        if use := image_use(text, word.place, word.raw, run.group, unknown=word.open, derived=word.derived, step=run.step):
            run.scope.reading.add(use)


def ran(run: Invocation, words: Sequence[Word], whole: Sequence[Word]) -> None:
    """Note a Python that runs something: what it imports comes after what was installed before."""
    given = tuple(word.value for word in words[1:4])
    run.act(whole[0], "run", given)
    add_runner(run, words)
    if "venv" in given and (made := [word for word in sort_words(words[given.index("venv") + 2 :]).rest if not word.open]):
        add_runner(run.inside(environment_of(made[0].value)), words)


def virtualenv(run: Invocation, words: Sequence[Word], _: Sequence[Word]) -> None:
    """Read a command of virtualenv: the Python of the environment that it makes."""
    options = sort_words(words)
    for name, word in options.valued:
        if name in ("-p", "--python"):
            add_python(run, word)
            for made in options.rest[:1]:
                add_python(run.inside(environment_of(made.value)), word)
