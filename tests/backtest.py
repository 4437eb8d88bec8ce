"""`make backtest`: takes weeks out of the data and tells what refresh gives back of them, by kind of fact and product.

    python tests/backtest.py --since 2026-06-09 [--until 2026-09-01] [--index URL]

What came out after `--since` is taken away: releases of index files and of products with their builds, and claims that name
one of them. `refresh` then asks the index as ever (the default one of its client unless `--index` is given), and the data are
joined with what it would write. The key is what the data say of the weeks until `--until`. What came from repositories is left
as it is, unless `--clones DIR` names where they are to be read again.
"""

import argparse
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any, TypeVar

from packaging.utils import canonicalize_name

from compatkb.authoring.collected import with_collected, with_found
from compatkb.authoring.listed import with_listed
from compatkb.authoring.loader import Files, files_of, parse, read
from compatkb.refresh.collect import collect
from compatkb.refresh.index_client import Network
from compatkb.refresh.run import refresh, select
from compatkb.schema import CollectedFile, IndexFile, ProductFile, Role, TagsRead
from compatkb.schema.collected import FilesRead

R = TypeVar("R", TagsRead, FilesRead)
Fact = tuple[str, str, str]
"""Kind, product or distribution, and what it is about: of two facts that agree in these one is wrong unless they are equal."""

KINDS = (
    "index: day", "index: Python", "index: wheels", "index: requirements", "index: yank",
    "release", "default build", "other build", "claim that metadata give", "other claim",
)  # fmt: skip


def facts(files: Files, stated: frozenset[tuple[str, str]] = frozenset()) -> Iterator[tuple[Fact, object]]:
    """Yield what the data say, with the value of each fact; `stated` are the pairs of products in index requirements."""
    for file in files.index:
        for release in file.release:
            about = (file.distribution, release.version)
            yield ("index: day", *about), release.uploaded
            yield ("index: Python", *about), release.requires_python
            yield ("index: wheels", *about), {key: tuple(sorted(names)) for key, names in release.wheels.items()}
            yield ("index: requirements", *about), tuple(sorted(release.requires))
            if release.yanked:
                yield ("index: yank", *about), release.yanked.files
    for product in files.products:
        name = product.product.id
        if product.product.role is Role.LEAF:
            continue
        for release in product.release:
            yield ("release", name, release.version), True
            for build in release.build:
                default = build.channels == ("default",)
                kinds = {(kind.device, os, arch) for kind in build.compiled_for for os in kind.os for arch in kind.arch}
                kind = "default build" if default else "other build"
                yield (kind, name, f"{build.version} {build.maker or ''}"), (build.devices, build.stage, tuple(sorted(kinds)))
            for variant in release.variant:
                for label in variant.labels:
                    yield ("other build", name, f"{release.version}+{label}"), variant.device
        for claim in product.claim:
            to = re.split(r"[<>=!~ ]", claim.to[0], maxsplit=1)[0]
            kind = "claim that metadata give" if (name, to) in stated and "+" not in claim.of else "other claim"
            when = claim.when.model_dump_json(exclude_defaults=True) if claim.when else ""
            yield (kind, name, f"{claim.kind} {claim.of} {to} {when}"), claim.to


def cut(files: Files, since: date, *, repositories: bool) -> Files:
    """Return the data without what came out after a day; what was read from repositories is cut where `repositories` says so.

    `files` are what people and collectors wrote, before releases are born of it.
    """
    whole = joined(files)
    days = {
        (str(canonicalize_name(file.distribution)), release.version): release.uploaded.date()
        for file in files.index
        for release in file.release
    }
    gone: set[tuple[str, str]] = set()
    for product in whole.products:
        distribution = str(canonicalize_name(product.product.distribution or ""))
        gone |= {
            (product.product.id, version) for (name, version), day in days.items() if name == distribution and day > since
        }
        for release in product.release:
            moment = release.released or next((build.released for build in release.build if build.released), None)
            day = (moment.on or moment.by) if moment else days.get((distribution, release.version))
            if day and day > since:
                gone |= {(product.product.id, version) for version in (release.version, *(b.version for b in release.build))}
    index = tuple(
        file.model_copy(
            update={
                "release": tuple(r for r in file.release if r.uploaded.date() <= since),
                "seen": min(file.seen, since),
            }
        )
        for file in files.index
    )
    products = tuple(
        product.model_copy(
            update={
                "release": tuple(r for r in product.release if (product.product.id, r.version) not in gone),
                "claim": tuple(c for c in product.claim if not any(_named(term, gone) for term in (c.of, *c.to))),
            }
        )
        for product in files.products
    )
    collected = tuple(
        file.model_copy(
            update={
                "tags": tuple(_kept(tags, lambda row: row.on <= since) if repositories else tags for tags in file.tags),
                "files": tuple(
                    _kept(read, lambda row, name=file.product: (name, row.version) not in gone)
                    if repositories or not read.repo
                    else read
                    for read in file.files
                ),
            }
        )
        for file in files.collected
    )
    return replace(files, index=index, products=products, collected=collected)


def _kept(read: R, keeps: Callable[[Any], bool]) -> R:
    return read.model_copy(update={"rows": tuple(row for row in read.rows if keeps(row))})


def joined(files: Files) -> Files:
    """Return the data with what was collected and what is listed."""
    products, machine = with_collected(files.products, files.machine, files.collected)
    return replace(files, products=with_found(with_listed(products, files.index), files.collected), machine=machine)


def _named(term: str, gone: set[tuple[str, str]]) -> bool:
    match = re.match(r"([a-z0-9][a-z0-9_-]*)\s*(.*)", term)
    return match is not None and any((match[1], text) in gone for text in re.findall(r"[=<>~!]=+\s*([^,\s]+)", match[2]))


def main() -> int:
    """Print the table; what is wrong or missing goes to stderr."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--since", type=date.fromisoformat, required=True)
    parser.add_argument("--until", type=date.fromisoformat, help="12 weeks later unless given")
    parser.add_argument("--index", help="another index than the default one")
    parser.add_argument(
        "--clones", type=Path, help="read feeds of repositories there, too, and take what they gave away first"
    )
    parser.add_argument("--data", type=Path, default=Path("data"))
    options = parser.parse_args()
    until = options.until or options.since + timedelta(weeks=12)
    documents = parse(read(options.data)).documents
    whole = files_of(documents)
    # What people and collectors wrote, before releases are born of it: the cut data have to bear these again.
    whole = replace(whole, products=tuple(d.record for d in documents if isinstance(d.record, ProductFile)))
    tags = options.clones is not None
    shorter, later = (cut(whole, day, repositories=tags) for day in (options.since, until))
    known = joined(shorter)
    changes = list(
        refresh(
            known,
            options.data,
            select(known, (), requirements=False),
            Network(options.index),
            until,
            jobs=8,
            say=lambda line: print(line, file=sys.stderr),
        ).changes
    )
    if tags:
        changes += collect(known, options.data, options.clones, until).changes
    index = {file.distribution: file for file in shorter.index}
    collected = {file.product: file for file in shorter.collected}
    for change in changes:
        content = tomllib.loads(change.after)
        if "product" in content:
            found = CollectedFile.model_validate(content)
            collected[found.product] = found
        else:
            file = IndexFile.model_validate(content)
            index[file.distribution] = file
    proposed = replace(shorter, index=tuple(index.values()), collected=tuple(collected.values()))
    after = joined(cut(proposed, until, repositories=tags))
    stated = frozenset(_pairs(joined(later)))
    before, key, given = (dict(facts(files, stated)) for files in (joined(shorter), joined(later), after))
    lost = {fact: value for fact, value in key.items() if fact not in before}
    got = {fact: value for fact, value in given.items() if fact not in before}
    _print(lost, got, options.since, until)
    return 0


def _pairs(files: Files) -> Iterator[tuple[str, str]]:
    """Yield which product names which other one in the metadata that index files record."""
    owner = {str(canonicalize_name(f.product.distribution)): f.product.id for f in files.products if f.product.distribution}
    for file in files.index:
        name = owner.get(str(canonicalize_name(file.distribution)))
        for text in {text for release in file.release for text in release.requires}:
            to = owner.get(str(canonicalize_name(re.split(r"[\s\[<>=!~;(]", text, maxsplit=1)[0])))
            if name and to:
                yield name, to


def _print(lost: dict[Fact, object], got: dict[Fact, object], since: date, until: date) -> None:
    tables: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for fact, value in lost.items():
        state = "missing" if fact not in got else "right" if got[fact] == value else "wrong"
        tables["kind"][fact[0], state] += 1
        tables["product"][fact[1], state] += 1
        if state == "missing":
            print(f"missing: {' '.join(fact)}: {value!r}", file=sys.stderr)
        if state == "wrong":
            print(f"wrong: {' '.join(fact)}: {got[fact]!r}, the data have {value!r}", file=sys.stderr)
    extra = sum(fact not in lost for fact in got)
    right = sum(tables["kind"][kind, "right"] for kind in KINDS)
    share = f"{right} ({right / max(1, len(lost)):.0%}) proposed right"
    print(f"{since} to {until}: {len(lost)} facts, {share}; {extra} more proposed\n")
    for name, order in (("kind", KINDS), ("product", tuple(sorted({fact[1] for fact in lost})))):
        print(f"| {name} | right | wrong | missing |\n|---|---:|---:|---:|")
        for each in order:
            counts = [tables[name][each, state] for state in ("right", "wrong", "missing")]
            if sum(counts):
                print(f"| {each} | {' | '.join(map(str, counts))} |")
        print()


if __name__ == "__main__":
    sys.exit(main())
