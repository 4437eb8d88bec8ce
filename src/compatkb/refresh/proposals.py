"""What a person has to decide after a refresh, with skeletons of records; pure."""

import re
from collections.abc import Iterable
from datetime import date

from packaging.version import Version

from compatkb.authoring.canonical import entry, row
from compatkb.authoring.listed import born_as, family_of, in_scope, unreviewed
from compatkb.core.versions import Scheme
from compatkb.refresh.comparison import Note
from compatkb.schema import IndexFile, IndexRelease, ProductFile, Role

_CHANNEL = "default"


def unnamed(file: ProductFile, index: IndexFile, before: frozenset[str] | None, today: date) -> tuple[Note, ...]:
    """Return the releases on the index that a product file lacks.

    Each release inside a scope that the product calls complete, with the skeleton of its record. Elsewhere the product
    lists what it wants, so only releases that are new in this run (not among `before`) are named, together; in a first
    run (None) none are. Products whose versions are read from the index need no records.
    """
    product = file.product
    if product.role is Role.LEAF or product.scheme is not Scheme.PEP440:
        return ()
    named = named_versions(file) - unreviewed(file)
    lacking = [release for release in index.release if Version(release.version) not in named]
    due = [release for release in lacking if in_scope(file, release.version)]
    notes = [
        Note(
            "unnamed",
            index.distribution,
            (release.version,),
            "is on the index, and no record names it",
            product.id,
            _release_skeleton(file, index.distribution, release, today),
        )
        for release in due
    ]
    rest = [
        release.version for release in lacking if release not in due and before is not None and release.version not in before
    ]
    if rest:
        notes.append(
            Note("unnamed", index.distribution, tuple(rest), "new on the index; the product lists a choice only", product.id)
        )
    return tuple(notes)


def named_versions(file: ProductFile) -> frozenset[Version]:
    """Return the versions that a product file names as releases or as builds on the default index."""
    texts = [release.version for release in file.release]
    texts += [build.version for release in file.release for build in release.build if _CHANNEL in build.channels]
    return frozenset(Version(text) for text in texts) if file.product.scheme is Scheme.PEP440 else frozenset()


def yanked(note: Note, file: ProductFile, products: Iterable[ProductFile], before: date | None, today: date) -> Note | None:
    """Return what a new yank means for the records: None where none of them names the version.

    The skeleton bounds the day of the yank: after the last run that did not see it, and by today.
    """
    version = note.versions[0]
    product = file.product.id
    claims = [
        f"{other.product.id}: {claim.id}"
        for other in products
        for claim in other.claim
        if any(_pins(term, product, version) for term in (*claim.to, claim.of))
    ]
    if Version(version) not in named_versions(file) and not claims:
        return None
    reason = f" for the reason {note.message!r}" if note.message else " without a reason"
    touched = f"; claims that name it: {', '.join(claims)}" if claims else ""
    source = {"channel": _CHANNEL, "file": f"{note.distribution} {version}", "at": "yanked", "seen": today}
    value: dict[str, object] = {"after": before} if before else {}
    value |= {"by": today, **({"reason": note.message} if note.message else {}), "sources": [source]}
    lines = [f"# into its [[release]] {version}", entry("yanked", value)]
    return Note(
        "yanked", note.distribution, note.versions, f"is yanked now{reason}{touched}", product, "\n".join(lines) + "\n"
    )


def _pins(term: str, product: str, version: str) -> bool:
    match = re.fullmatch(r"([a-z0-9][a-z0-9_-]*)\s*==\s*([^*,\s]+)", term)
    return match is not None and match[1] == product and match[2] == version


def _release_skeleton(file: ProductFile, distribution: str, release: IndexRelease, today: date) -> str:
    """Return the record of a release: for what the one before it was for, which a person confirms by writing it down."""
    if family_of(file, release):
        return entry("reviewed", release.version) + "  # in [[listed]], once somebody has looked at it\n"
    source = {"channel": _CHANNEL, "file": release.file or f"{distribution} {release.version}", "seen": today}
    build = born_as(file, release.version)
    kinds = [{"device": kind.device, "os": [*kind.os], "arch": [*kind.arch], "basis": "inferred",
              "note": "As the release before it."} for kind in (build.compiled_for if build else ())]  # fmt: skip
    lines = [
        "[[builds]]  # or the row alone, in the family that it belongs to",
        entry("channels", [_CHANNEL]),
        entry("devices", [*build.devices] if build else []),
        *([entry("compiled-for", kinds)] if kinds else []),
        "rows = [",
        row([release.version, [source]]),
        "]",
    ]
    return "\n".join(lines) + "\n"
