"""The command that checks claims against installers and interpreters."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from compatkb.cli import options as o
from compatkb.cli.terminal import Progress, tell
from compatkb.core.clock import current_day
from compatkb.errors import UsageError
from compatkb.output.terminal import show

if TYPE_CHECKING:
    from compatkb.store.reader import Snapshot
    from compatkb.validate.plan import Claimed
    from compatkb.validate.session import ValidationOptions


DEPTHS = ("published", "resolve", "symbols", "import", "run")
"""How far a check goes."""


def validate(
    files: Annotated[list[str] | None, o.word("[FILE]...", "with --merge: what the shards wrote with --out")] = None,
    level: Annotated[
        o.Words,
        o.one_of("--level", "how far to go (default: resolve; repeatable)", DEPTHS, show_default=False),
    ] = None,
    tool: Annotated[o.Words, o.value("--tool", "NAME", "ask this tool alone: index, pip, uv or python (repeatable)")] = None,
    product: Annotated[o.Words, o.value("--product", "PRODUCT", "only stacks about this product (repeatable)")] = None,
    python: Annotated[o.Words, o.value("--python", "V", "only this Python minor (repeatable)")] = None,
    platform: Annotated[str, o.value("--platform", "OS-ARCH", "where it runs")] = "linux-x86_64",
    device: Annotated[str, o.value("--device", "NAME", "the device")] = "cpu",
    channel: Annotated[str, o.value("--channel", "ID", "the index to ask: a channel of the data")] = "default",
    changed_since: Annotated[
        str | None,
        o.value("--changed-since", "REF|DIR", "only stacks that differ from those of a commit or another data directory"),
    ] = None,
    denied: Annotated[bool, o.option("--denied", "check what the data deny, not what they claim")] = False,
    stack: Annotated[
        o.Words, o.value("--stack", "PINS", "these builds in place of what is claimed: 'PACKAGE==V PACKAGE==V' (repeatable)")
    ] = None,
    index: Annotated[o.Words, o.value("--index", "ID=URL", "ask this address in place of a channel (repeatable)")] = None,
    interpreter: Annotated[
        o.Words, o.value("--interpreter", "V=PATH", "a Python for a minor, beside those that are found (repeatable)")
    ] = None,
    use_pip_config: Annotated[
        bool, o.option("--use-pip-config", "let pip and uv read their configuration (default: isolated)")
    ] = False,
    jobs: Annotated[int, o.value("--jobs", "N", "cells at a time", min=1)] = 2,
    shard: Annotated[str, o.value("--shard", "I/N", "only the I-th of N parts of the cells")] = "1/1",
    limit: Annotated[int | None, o.value("--limit", "N", "at most N cells", min=1)] = None,
    minutes: Annotated[
        int | None, o.value("--minutes", "N", "begin no cell after so many, what is likeliest to have changed first", min=1)
    ] = None,
    max_age: Annotated[
        int | None, o.value("--max-age", "DAYS", "check again what was checked longer ago, such as 30d", parser=o.days)
    ] = None,
    stale: Annotated[
        int | None, o.value("--stale", "DAYS", "check again what the evidence saw longer ago, and nothing else", parser=o.days)
    ] = None,
    again: Annotated[bool, o.option("--again", "check again what was checked before")] = False,
    seconds: Annotated[int, o.value("--seconds", "N", "the most time for one cell", min=1)] = 900,
    megabytes: Annotated[int, o.value("--megabytes", "N", "the most disk for one cell", min=1)] = 12000,
    work: Annotated[
        str | None, o.value("--work", "DIR", "where environments and the journal of an unfinished run are kept")
    ] = None,
    out: Annotated[str | None, o.value("--out", "FILE", "write the observations to this file, not into the data")] = None,
    list_cells: Annotated[bool, o.option("--list", "list the cells and check none")] = False,
    merge: Annotated[bool, o.option("--merge", "add the observations of shards to the data: --merge FILE FILE ...")] = False,
    form: o.Format = "text",
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Check stacks, keep the evidence, and say what contradicts the data."""
    from compatkb.request.lookup import find_product
    from compatkb.request.parser import parse_day
    from compatkb.schema import Level
    from compatkb.store.cache import cache_directory, data_directory, locate
    from compatkb.store.reader import Snapshot
    from compatkb.validate.evidence import read_evidence
    from compatkb.validate.indexes import shown
    from compatkb.validate.plan import PlanScope
    from compatkb.validate.proofs import linked_products
    from compatkb.validate.runner import Threads
    from compatkb.validate.session import ValidationOptions, choose, report_payload, report_text, run_context
    from compatkb.validate.session import validate as ask

    directory = data_directory(data)
    if merge:
        return _merge(directory, files or [])
    if files:
        raise UsageError(f"unexpected argument {files[0]!r}")
    facts = Snapshot(locate(directory))
    _check_known("Python", python or (), facts.grid["python"])
    _check_known("channel", (channel,), [record.id for record in facts.channels])
    today = parse_day(as_of) if as_of else current_day()
    products = tuple(find_product(facts, name).id for name in product or ())
    indexes = _indexes(index or [])
    levels = tuple(map(Level, level or (DEPTHS if stale is not None else ("resolve",))))
    options = ValidationOptions(
        PlanScope(today, products, tuple(python or ()), platform, device, channel, denied),
        levels,
        tuple(tool or ()),
        None if (age := max_age if stale is None else stale) is None else timedelta(age),
        again,
        _shard(shard),
        limit,
        by_risk=minutes is not None,
        answered=shown(indexes.get(channel, "")),
        stale=stale is not None,
        linked=linked_products(directory) if Level.SYMBOLS in levels else (),
        stacks=tuple(stack or ()),
    )
    stacks = _touched(facts, options, directory, changed_since) if changed_since else None
    cells = choose(facts, options, read_evidence(directory), stacks)
    if list_cells:
        show("".join(f"{cell.claimed:<19} {cell.id}\n" for cell in cells))
        return 0
    cache = Path(cache_directory()) / "validate"
    context = run_context(
        facts,
        directory,
        Path(work) if work else cache / "work",
        cache,
        today,
        interpreter or (),
        indexes=indexes,
        use_pip_config=use_pip_config,
        seconds=seconds,
        megabytes=megabytes,
    )
    with Progress() as progress:
        report = ask(cells, context, Threads(jobs), Path(out) if out else None, progress, minutes=minutes)
    show(report_payload(report) if form == "json" else report_text(report))
    return report.exit_code


def _merge(directory: Path, files: list[str]) -> int:
    from compatkb.validate.session import merge

    if not files:
        raise UsageError("--merge needs the files that the shards wrote")
    count, changed = merge(directory, [Path(name) for name in files])
    show(f"{count} observations; changed: {', '.join(path.name for path in changed) or 'nothing'}\n")
    return 0


def _shard(text: str) -> tuple[int, int]:
    """Return part and number of parts, such as 1/4; raises UsageError."""
    number, _, of = text.partition("/")
    if not (number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of)):
        raise UsageError(f"invalid value {text!r} for --shard: expected I/N, such as 1/4")
    return int(number), int(of)


def _check_known(what: str, named: Iterable[str], known: Sequence[str]) -> None:
    """Raise UsageError for a Python or a channel that the data do not have."""
    if unknown := [name for name in named if name not in known]:
        raise UsageError(f"unknown {what} {unknown[0]!r}\n  known: {', '.join(known)}")


def _indexes(named: list[str]) -> dict[str, str]:
    """Return the addresses that answer in place of channels; raises UsageError."""
    urls = dict(text.partition("=")[::2] for text in named)
    for channel, url in urls.items():
        if not channel or not url.startswith(("https://", "http://")):
            raise UsageError(f"{channel}={url} is not CHANNEL=URL, such as default=https://index.example/simple")
    return urls


def _touched(facts: "Snapshot", options: "ValidationOptions", directory: Path, since: str) -> "list[Claimed]":
    """Return the claimed stacks that differ from what they were, and say on stderr how many there are."""
    from compatkb.validate.changed import change, earlier

    with earlier(directory, since) as old:
        claim_change = change(old, facts, options.wanted)
    what = "denied" if options.wanted.denied else "claimed"
    counts = f"{len(claim_change.touched)} changed, {claim_change.same} unchanged, {len(claim_change.gone)} no longer {what}"
    tell(f"stacks {what}, since {since}: {counts}")
    return claim_change.touched
