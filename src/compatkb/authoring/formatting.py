"""`fmt`: which data files are not in canonical form, and what they should be."""

from collections.abc import Mapping

from compatkb.authoring.canonical import canonical
from compatkb.authoring.loader import LoadProblem, parse
from compatkb.core.toml_positions import Places
from compatkb.errors import DataError


def misshapen(contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the canonical content of the files, by path, that are not in that form; lines of evidence have none.

    Raises DataError for files that cannot be read, and for comments, which would be lost.
    """
    loaded = parse({path: content for path, content in contents.items() if path.endswith(".toml")})
    problems = list(loaded.problems)
    changed: dict[str, bytes] = {}
    for document in loaded.documents:
        wanted = canonical(document.record)
        if wanted == document.text:
            continue
        message = "a comment would be lost: make it a `note`, or delete it"
        problems += [LoadProblem(document.path, place.line, message) for place in Places(document.text).comments]
        changed[document.path] = wanted.encode()
    if problems:
        raise DataError(tuple(str(problem) for problem in problems))
    return changed
