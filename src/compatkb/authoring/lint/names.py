"""Ids, aliases and tags are unique where they are looked up."""

import re
from collections import Counter
from collections.abc import Hashable, Iterator

from compatkb.authoring.feature_products import claim_id
from compatkb.authoring.knowledge_base import split_term
from compatkb.authoring.lint.subject import LintProblem, LintSubject, version_word
from compatkb.authoring.loader import DataDocument
from compatkb.core.names import meant, word_key
from compatkb.core.text_position import Where
from compatkb.core.versions import Scheme
from compatkb.schema import FeatureFile, ProductFile

_Named = tuple[DataDocument, Where, Hashable, str, str]  # document, place, what it is looked up by, its owner, as written


def names(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield names that stand for a second thing, where they stand for it."""
    groups = [_products(subject), _features(subject), _ranks(subject), _records(subject), _tags(subject)]
    groups += [_versions(document, file) for document, file in subject.products]
    for group in groups:
        owners: dict[Hashable, tuple[str, str]] = {}
        for document, where, key, owner, text in group:
            first, path = owners.setdefault(key, (owner, document.path))
            if first != owner or (where[-1] == "id" and path != document.path):
                yield LintProblem(document, where, f"{text} already stands for {first}")


def _products(subject: LintSubject) -> Iterator[_Named]:
    """Yield what products are looked up by; a shared import name is a fact of the world, not a slip."""
    for document, file in subject.products:
        yield document, ("product", "id"), word_key(file.product.id), file.product.id, file.product.id
    for document, file in subject.products:
        head = file.product
        for key, name in (("distribution", head.distribution), ("name", head.name)):
            if name:
                yield document, ("product", key), word_key(name), head.id, name
        for number, name in enumerate(head.aliases):
            yield document, ("product", "aliases", number), word_key(name), head.id, name


def _features(subject: LintSubject) -> Iterator[_Named]:
    """Yield what features are looked up by, apart from products, whose ids alone a feature must not take."""
    for document, file in subject.products:
        yield document, ("product", "id"), file.product.id, f"product {file.product.id}", file.product.id
    for document, feature in subject.features:
        head = feature.feature
        yield document, ("feature", "id"), head.id, f"feature {head.id}", head.id
    for document, feature in subject.features:
        head = feature.feature
        for where, name in ((("feature", "id"), head.id), (("feature", "name"), head.name)):
            yield document, where, ("feature", word_key(name)), head.id, name
    for document, feature in subject.features:
        for number, name in enumerate(feature.feature.aliases):
            yield document, ("feature", "aliases", number), ("feature", word_key(name)), feature.feature.id, name


def _ranks(subject: LintSubject) -> Iterator[_Named]:
    for document, file in subject.products:
        yield document, ("product", "rank"), file.product.rank, file.product.id, f"rank {file.product.rank}"


def _records(subject: LintSubject) -> Iterator[_Named]:
    for document in subject.documents:
        record = document.record
        if isinstance(record, ProductFile):
            for number, claim in enumerate(record.claim):
                owner = f"claim {claim.id} of {record.product.id}" + (f" ({number + 1})" if number else "")
                yield document, ("claim", number, "id"), ("claim", claim.id), owner, claim.id
        if isinstance(record, FeatureFile):
            for number, statement in enumerate(record.statement):
                name = claim_id(record, statement.id)
                owner = f"statement {statement.id} of {record.feature.id} ({number + 1})"
                yield document, ("statement", number, "id"), ("claim", name), owner, statement.id
        for kind in ("vendor", "event", "dispute", "channel", "route"):
            for number, named in enumerate(getattr(record, kind, ())):
                owner = f"{kind} {number + 1}" + (f" of {document.path}" if kind == "dispute" else "")
                yield document, (kind, number, "id"), (kind, named.id), owner, named.id


def _tags(subject: LintSubject) -> Iterator[_Named]:
    for document, file in subject.images:
        for number, tag in enumerate(file.tag):
            key = (file.repository.id, tag.name)
            yield document, ("tag", number, "name"), key, f"tag {number + 1} of {file.repository.id}", tag.name


def _versions(document: DataDocument, file: ProductFile) -> Iterator[_Named]:
    """Yield the words for versions; of a listed product a name may be shared, a version may not."""
    listed = file.product.scheme is Scheme.LISTED
    for number, release in enumerate(file.release):
        yield (
            document,
            ("release", number, "version"),
            version_word(release.version, listed=listed),
            release.version,
            release.version,
        )
    for number, release in enumerate(file.release):
        for position, alias in enumerate(release.aliases):
            yield (
                document,
                ("release", number, "aliases", position),
                version_word(alias, listed=listed),
                release.version,
                alias,
            )
        for position, build in enumerate(release.build):
            for place, alias in enumerate(build.aliases):
                where = ("release", number, "build", position, "aliases", place)
                yield document, where, ("build", version_word(alias, listed=listed)), build.version, alias


_TAG_WORD = re.compile(r"[a-z]{2,}")
_VERSION = re.compile(r"(?<![\w.])\d+(?:\.\d+)+(?![\w.])")


def tag_spelling(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield parts of tags that are rare and close to a common part."""
    tags = {tag.name for _, file in subject.images for tag in file.tag}
    counts = Counter(word for name in tags for word in _TAG_WORD.findall(name))
    fields = {text for _, file in subject.images for tag in file.tag for text in (tag.device, tag.option, tag.flavour)}
    slips = {word: right for word in counts if word not in fields and (right := meant(word, counts))}
    for document, file in subject.images:
        for number, tag in enumerate(file.tag):
            for word in _TAG_WORD.findall(tag.name):
                if word in slips:
                    message = f"{word!r} in {tag.name} is nearly {slips[word]!r}, which {counts[slips[word]]} tags have"
                    yield LintProblem(document, ("tag", number, "name"), message)


def tag_contents(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield tags whose name and record disagree."""
    devices = {release.version for release in subject.by_id["device"].release} if "device" in subject.by_id else set()
    for document, file in subject.images:
        options = {tag.option for tag in file.tag if tag.option}
        for number, tag in enumerate(file.tag):
            held = " ".join(split_term(each.is_)[1] for each in file.same_tag(tag).contains)
            for version in _VERSION.findall(tag.name):
                if held and not re.search(rf"(?<![\d.]){re.escape(version)}(?!\.?\d)", held):
                    message = f"{tag.name} carries {version}, and holds no such version: {held}"
                    yield LintProblem(document, ("tag", number, "name"), message)
            words = set(tag.name.split("-"))
            for key, value, known in (("device", tag.device, devices), ("option", tag.option, options)):
                if value and words & known and value not in words:
                    message = f"{tag.name} carries {', '.join(sorted(words & known))}, and its {key} is {value}"
                    yield LintProblem(document, ("tag", number, key), message)
