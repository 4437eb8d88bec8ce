"""Data files are in canonical form and are named after what they hold."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from packaging.utils import canonicalize_name

from compatkb.authoring.canonical import canonical
from compatkb.authoring.lint.subject import LintProblem, LintSubject
from compatkb.core.text_position import Place
from compatkb.core.toml_positions import Where
from compatkb.schema import FeatureFile, ImageFile, IndexFile, ProductFile


def form(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield a problem per file that is not as `fmt` would write it, at the first line that differs."""
    for document in subject.documents:
        wanted = canonical(document)
        if document.text == wanted:
            continue
        if comments := subject.places(document).comments:
            message = "a comment, which the form has no place for: make it a `note`, or delete it"
            yield LintProblem(document, (), message, place=comments[0])
            continue
        pairs = enumerate(zip(document.text.split("\n"), wanted.split("\n"), strict=False), 1)
        line = next((n for n, (is_, should) in pairs if is_ != should), document.text.count("\n") + 1)
        fix = f"compatkb fmt {document.path}"
        yield LintProblem(document, (), "not in canonical form from here on", fix, place=Place(line, 1))


def file_name(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield a problem per file whose name is not the id of its product, repository or distribution."""
    for document in subject.documents:
        record = document.record
        key: Where
        if isinstance(record, ProductFile):
            name, key = record.product.id, ("product", "id")
        elif isinstance(record, FeatureFile):
            name, key = record.feature.id, ("feature", "id")
        elif isinstance(record, ImageFile):
            name, key = record.repository.id, ("repository", "id")
        elif isinstance(record, IndexFile):
            name, key = str(canonicalize_name(record.distribution)), ("distribution",)
        else:
            continue
        path = PurePosixPath(document.path)
        if path.stem != name:
            fix = f"git mv {path} {path.with_stem(name)}"
            yield LintProblem(document, key, f"holds {name}, so its name should be {name}.toml", fix)
