"""A file is named by what it holds, so that a record is found without a search."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from packaging.utils import canonicalize_name

from compatkb.authoring.lint.subject import LintSubject
from compatkb.core.findings import Finding, Severity
from compatkb.core.toml_positions import Where
from compatkb.schema import FeatureFile, ImageFile, IndexFile, ProductFile

NAME, LEVEL = "file-name", Severity.ERROR
SUMMARY = "a file is not named by its id"


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield a finding per file whose name is not the id of its product, repository or distribution."""
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
            yield subject.finding(NAME, LEVEL, document, key, f"holds {name}, so its name should be {name}.toml", fix=fix)
