"""Finds what a project's documents say of its files: which are installed by a command that names an index."""

import posixpath
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from compatkb.check.document import TextDocument
from compatkb.core.names import normal
from compatkb.parsers.registry import kind_of
from compatkb.store.reader import Snapshot

_INSTALLED = re.compile(r"(?<!\S)(?:-r\s*|--requirements?[= ]\s*)[\"']?([^\s\"'`]+)")
_INDEX = re.compile(r"--(?:extra-|default-)?index(?:-url)?(?![-\w])|--find-links\b|--torch-backend\b|(?<!\S)-[fi]\s")
_VARIABLE = re.compile(r"\b(?:PIP_(?:EXTRA_)?INDEX_URL|UV_(?:DEFAULT_|EXTRA_)?INDEX(?:_URL)?)[\"']?\s*[=:]\s*[\"']?https?://")
_CONTINUED = re.compile(r"\\\r?\n")
_WORD = re.compile(r"[A-Za-z][\w.-]*")
_PIN = re.compile(r"(?<![\w.-])([\w.-]++)==([\w.]+)")
_SETTING = re.compile(
    r"^[ \t]*(?:\[\[index\]\]|(?:UV_|PIP_)?(?:(?:extra[-_]|default[-_])?index(?:[-_]url)?|find[-_]links)[ \t]*=)",
    re.MULTILINE | re.IGNORECASE,
)
_OTHERWISE = re.compile(r"--(?:overrides?|no-dep(?:endencie)?s)\b")
_EXPORTING = re.compile(r"\b(?:uv|pdm) export\b")
_OVERRIDES = re.compile(r"\boverride-dependencies\b|\bresolution\.overrides\b|\bno-build-isolation\b")
_COMMAND = re.compile(r"^[ \t]*#.*\b(?:install|compile|sync|export)\b.*", re.MULTILINE)
_OF_A_MACHINE = re.compile(r"^[ \t-]*+(?:\w[\w.-]*+[ \t]*@[ \t]*)?file:///(?!\$)", re.MULTILINE)
_FROM = re.compile(r"^FROM[ \t]+(.*)", re.MULTILINE | re.IGNORECASE)
_STARTED = re.compile(r"^[\"']?on[\"']?[ \t]*:", re.MULTILINE)
_EXPORTED = re.compile(r"[ \t]*(?:-[ \t]+)?[\w.-]+={1,2}[^\s#;]+[ \t]*")
_PREFIX = re.compile(r"^prefix:[ \t]*(?:/|\w:\\)", re.MULTILINE)
_LONG, _MOST = 60, 0.95
_LISTS = ("requirements", "constraints", "environment")
_FROZEN = re.compile(r"(?:^|[-_.])(?:frozen|freeze|lock)(?:[-_.]|$)", re.IGNORECASE)


def files_with_an_index(documents: Iterable[TextDocument]) -> frozenset[str]:
    """Return the names, without folders, of the files that a command in one of these documents installs from an index."""
    lines = _with_an_index(documents, "-r")
    return frozenset(posixpath.basename(name) for line in lines for name in _INSTALLED.findall(line))


def files_without_an_index(documents: Iterable[TextDocument]) -> frozenset[str]:
    """Return the paths of the files that documents install by commands of which none names an index."""
    documents = tuple(documents)
    paths = {document.path for document in documents}
    named = files_with_an_index(documents)
    found = set()
    for document in documents:
        if kind_of(document.path) == "markdown" and "-r" in document.text and not sets_a_variable(document.text):
            for line in _CONTINUED.sub(" ", document.text).splitlines():
                for name in _INSTALLED.findall(line) if "pip" in line and not _INDEX.search(line) else ():
                    path = posixpath.normpath(posixpath.join(posixpath.dirname(document.path), name))
                    if path in paths and posixpath.basename(path) not in named:
                        found.add(path)
    return frozenset(found)


def words_beside(documents: Iterable[TextDocument], pattern: re.Pattern[str]) -> frozenset[str]:
    """Return the words of the commands that a pattern is in, and an empty one where settings of a project have it."""
    words: set[str] = set()
    for document in documents:
        if pattern.search(document.text) is None:
            continue
        if kind_of(document.path) in ("pyproject", "installer"):
            words.add("")
        for line in _CONTINUED.sub(" ", document.text).splitlines():
            if pattern.search(line):
                words.update(_WORD.findall(line))
    return frozenset(words)


def pins_with_an_index(documents: Iterable[TextDocument]) -> frozenset[tuple[str, str]]:
    """Return the packages and releases, without labels, that a command in one of these documents installs from an index."""
    lines = _with_an_index(documents, "==")
    return frozenset((normal(name), release) for line in lines for name, release in _PIN.findall(line))


def _with_an_index(documents: Iterable[TextDocument], mark: str) -> Iterator[str]:
    """Yield the lines of documents with a mark that name an index."""
    for document in documents:
        if kind_of(document.path) in (None, "markdown") and mark in document.text:
            yield from (o for o in _CONTINUED.sub(" ", document.text).splitlines() if mark in o and _INDEX.search(o))


def sets_an_index(documents: Iterable[TextDocument]) -> bool:
    """Return whether a project gives installers an index whatever they install: by their settings, or by a variable.

    A variable counts in a document, a manifest or a file of variables.
    """
    kinds = (None, "markdown", "pyproject", "installer")
    return configures_an_index(documents) or any(
        "INDEX" in one.text and kind_of(one.path) in kinds and _VARIABLE.search(one.text) for one in documents
    )


def configures_an_index(documents: Iterable[TextDocument]) -> bool:
    """Return whether a file of settings, such as pip.conf or uv.toml, tells installers where packages are."""
    return any(kind_of(one.path) == "installer" and _SETTING.search(one.text) for one in documents)


def sets_a_variable(text: str, tool: str = "") -> bool:
    """Return whether a text gives installers, or pip or uv alone, an index by a variable."""
    names = (match[0] for match in _VARIABLE.finditer(text)) if "INDEX" in text else ()
    return any(tool not in ("pip", "uv") or name.startswith(tool.upper()) for name in names)


def names_an_index(text: str) -> bool:
    """Return whether a text has an option or a variable that names an index, or an index of the makers of PyTorch."""
    return bool(_INDEX.search(text) or _VARIABLE.search(text) or "/whl/" in text)


def is_resolved_otherwise(text: str, manifests: Iterable[str]) -> bool:
    """Return whether a comment of a file has the command that makes or installs it, by no metadata or by others.

    What is exported has the overrides of the manifest that it was exported from.
    """
    lines = _COMMAND.findall(text)
    is_exported = any(_EXPORTING.search(line) for line in lines)
    return any(_OTHERWISE.search(line) for line in lines) or (is_exported and any(map(_OVERRIDES.search, manifests)))


def names_its_index(text: str) -> bool:
    """Return whether a comment of a file has the command that makes or installs it, with an index or a backend of torch."""
    return any(_INDEX.search(line) for line in _COMMAND.findall(text))


@lru_cache(maxsize=4096)
def is_of_a_machine(text: str) -> bool:
    """Return whether a list has what lies in a folder of the machine that it was made on, so no other one can install it."""
    return _OF_A_MACHINE.search(text) is not None


@lru_cache(maxsize=64)
def is_of_other_architecture(text: str, facts: Snapshot) -> bool:
    """Return whether a Dockerfile begins with an image that names another architecture than the usual."""
    words = {word for line in _FROM.findall(text) for word in re.findall(r"\w+", line)}
    return any((facts.word("arch", word) or 0) & ~facts.usual["arch"] for word in words)


def is_exported(text: str) -> bool:
    """Return whether a list is what a machine had: long, each one exact, or with the folder that `conda env export` writes."""
    if _PREFIX.search(text):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) >= _LONG and sum(_EXPORTED.fullmatch(line) is not None for line in lines) >= _MOST * len(lines)


def is_never_started(document: TextDocument) -> bool:
    """Return whether a file is a workflow that says on no event that it starts."""
    is_workflow = kind_of(document.path) == "github" and "workflows/" in document.path
    return is_workflow and _STARTED.search(document.text) is None


def is_frozen(path: str) -> bool:
    """Return whether a file is named for what was once installed: frozen-requirements.txt, requirements.lock.txt."""
    return _FROZEN.search(posixpath.basename(path)) is not None and kind_of(path) in _LISTS
