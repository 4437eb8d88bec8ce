"""Reads the files of a revision of a git repository, so that only what a change brings counts."""

import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from compatkb.check.config import Settings
from compatkb.check.document import TextDocument
from compatkb.check.files import MOST_BYTES, document_of, is_left_out, shown
from compatkb.errors import UnavailableError, UsageError

_LONGEST = 120  # seconds


def documents_at(ref: str, names: Iterable[str], reads: Callable[[str], bool], settings: Settings) -> list[TextDocument]:
    """Return the files of a revision that something reads, below the paths that are named, as findings name them today.

    A file that was renamed since has its new name. Raises UsageError where `ref` is no commit of a repository here.
    """
    root = Path(os.fsdecode(_git("rev-parse", "--show-toplevel").rstrip(b"\n")))
    commit = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}").decode("ascii").strip()
    if not commit:
        raise UsageError(f"--diff-base {ref}: is no commit of this repository")
    folders = [Path(os.path.realpath(name)) for name in names]
    renamed = _renamed(commit)
    wanted: dict[str, Path] = {}
    for entry in _git("ls-tree", "-r", "-z", "--full-tree", "--name-only", commit).split(b"\0"):
        name = os.fsdecode(entry)
        path = root / renamed.get(name, name)
        if name and any(path == folder or folder in path.parents for folder in folders):
            inner = Path(os.path.relpath(path))
            if reads(shown(path)) and not is_left_out(inner, settings):
                wanted[name] = path
    documents = (document_of(shown(path), content) for path, content in _contents(commit, wanted))
    return [document for document in documents if isinstance(document, TextDocument)]


def _renamed(commit: str) -> dict[str, str]:
    """Return the names that files have today, by those that they had."""
    fields = _git("diff", "--no-ext-diff", "--find-renames", "--diff-filter=R", "--name-status", "-z", commit).split(b"\0")
    names = [os.fsdecode(field) for field in fields[:-1]]
    return dict(zip(names[1::3], names[2::3], strict=True))


def _contents(commit: str, wanted: Mapping[str, Path]) -> Iterable[tuple[Path, bytes]]:
    asked = b"".join(f"{commit}:".encode() + os.fsencode(name) + b"\n" for name in wanted if "\n" not in name)
    answer = _git("cat-file", "--batch", given=asked)
    at = 0
    for path in (path for name, path in wanted.items() if "\n" not in name):
        end = answer.index(b"\n", at)
        head = answer[at:end].rsplit(b" ", 2)
        if head[-1] == b"missing":
            at = end + 1
            continue
        size = int(head[-1])
        if head[-2] == b"blob" and size <= MOST_BYTES:
            yield path, answer[end + 1 : end + 1 + size]
        at = end + 1 + size + 1


def _git(*words: str, given: bytes | None = None) -> bytes:
    """Return what git prints; empty where `--verify --quiet` finds nothing. Raises UsageError or UnavailableError."""
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *words]
    try:
        done = subprocess.run(command, input=given, capture_output=True, timeout=_LONGEST, check=False)
    except FileNotFoundError:
        raise UnavailableError("--diff-base needs git, which is not installed") from None
    except subprocess.TimeoutExpired:
        raise UnavailableError("--diff-base: git did not answer in two minutes") from None
    if done.returncode and "--quiet" not in words:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(f"--diff-base: {said[-1] if said else 'git failed'}")
    return done.stdout
