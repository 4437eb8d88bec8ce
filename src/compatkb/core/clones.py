"""Reads clones of git repositories, bare or not: tags with their days, and files at refs. Nothing here writes to them."""

import re
import subprocess
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path

from compatkb.core.record import NamedTuple
from compatkb.errors import UnavailableError

_PATIENCE = 600.0  # seconds for git
_HOST = "https://github.com/"


class GitTag(NamedTuple):
    """A tag, the commit that it names, and the committer's day (UTC) of that commit."""

    name: str
    commit: str
    day: date


def git(directory: Path, *words: str, given: str = "") -> bytes | None:
    """Return what git prints in a directory, None where it fails; raises UnavailableError without git."""
    try:
        done = subprocess.run(
            ["git", "-C", directory, *words], input=given.encode(), capture_output=True, timeout=_PATIENCE, check=False
        )
    except FileNotFoundError:
        raise UnavailableError("git is not installed, and repositories are read with it") from None
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"git gave no answer within {_PATIENCE:.0f} s") from None
    return done.stdout if done.returncode == 0 else None


def clone_bare(repo: str, clone: Path) -> bool:
    """Fetch the repository `owner/name` into a new folder, files as they are asked for; return whether that worked."""
    clone.parent.mkdir(parents=True, exist_ok=True)
    words = ("clone", "--quiet", "--bare", "--filter=blob:none", _HOST + repo, clone.name)
    return git(clone.parent, *words) is not None


def objects(clone: Path, names: Iterable[str]) -> Iterator[bytes | None]:
    """Yield what objects hold, in the order of their names (`v1:README.md`); None for those that are not there."""
    wanted = [" ".join(name.split()) for name in names]
    output = git(clone, "cat-file", "--batch", given="".join(f"{name}\n" for name in wanted)) or b"" if wanted else b""
    at = 0
    for _ in wanted:
        end = output.find(b"\n", at)
        match = re.fullmatch(rb"[0-9a-f]+ [a-z]+ (\d+)", output[at:end] if end >= 0 else b"")
        at = end + 1
        if match is None:
            yield None
            continue
        size = int(match[1])
        yield output[at : at + size]
        at += size + 1


def texts(clone: Path, refs: Iterable[str], path: str) -> dict[str, str]:
    """Return the text of a file at each of some refs that has it."""
    known = list(dict.fromkeys(refs))
    contents = objects(clone, [f"{ref}:{path}" for ref in known])
    return {ref: content.decode(errors="replace") for ref, content in zip(known, contents, strict=True) if content is not None}


def commit_of(clone: Path, ref: str = "HEAD") -> str | None:
    """Return the commit that a ref names, None where the clone has none of that name."""
    found = git(clone, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    return found.decode().strip() if found else None


def tags(clone: Path) -> tuple[GitTag, ...]:
    """Return the tags that name a commit, by name."""
    form = "--format=%(refname:strip=2)%00%(objectname)%00%(*objectname)"  # an annotated tag names its commit only peeled
    lines = (git(clone, "for-each-ref", "refs/tags", form) or b"").decode(errors="replace").splitlines()
    named = [(name, peeled or direct) for name, direct, peeled in (line.split("\0") for line in lines)]
    found = []
    for (name, commit), content in zip(named, objects(clone, [commit for _, commit in named]), strict=True):
        if match := re.search(rb"^committer .* (\d+) [+-]\d{4}$", content or b"", re.MULTILINE):
            found.append(GitTag(name, commit, datetime.fromtimestamp(int(match[1]), UTC).date()))
    return tuple(found)
