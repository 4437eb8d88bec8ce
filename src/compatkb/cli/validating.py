"""The command that checks claims against installers and interpreters."""

import argparse
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

    from compatkb.snapshot.read import Snapshot
    from compatkb.validate.cell import Workshop
    from compatkb.validate.plan import Claimed
    from compatkb.validate.session import Options


def validate(arguments: argparse.Namespace) -> int:
    """Check stacks, keep the evidence, and say what contradicts the data."""
    from compatkb.rendering.evidence import report_payload, report_text
    from compatkb.snapshot.read import Snapshot
    from compatkb.snapshot.store import data_directory, locate
    from compatkb.validate.evidence import read_evidence
    from compatkb.validate.runner import Dask, Progress, Threads
    from compatkb.validate.session import choose, merge
    from compatkb.validate.session import validate as ask

    directory = data_directory(arguments.data)
    if arguments.merge:
        count, changed = merge(directory, [Path(name) for name in arguments.merge])
        print(f"{count} observations; changed: {', '.join(path.name for path in changed) or 'nothing'}")
        return 0
    facts = Snapshot(locate(directory))
    options = _options(facts, arguments)
    stacks = _touched(facts, options, directory, arguments.changed_since) if arguments.changed_since else None
    cells = choose(facts, options, read_evidence(directory), stacks)
    if arguments.list:
        print("".join(f"{cell.claimed:<19} {cell.id}\n" for cell in cells), end="")
        return 0
    workshop = _workshop(facts, arguments, directory, options.wanted.day)
    executor = Dask(arguments.scheduler) if arguments.executor == "dask" else Threads(arguments.jobs)
    out = Path(arguments.out) if arguments.out else None
    with Progress() as progress:
        report = ask(cells, workshop, executor, out, progress)
    print(report_payload(report) if arguments.format == "json" else report_text(report), end="")
    return report.exit_code


def _options(facts: "Snapshot", arguments: argparse.Namespace) -> "Options":
    from compatkb.asking import find_product, parse_day
    from compatkb.errors import UsageError
    from compatkb.models import Level
    from compatkb.validate.addresses import shown
    from compatkb.validate.plan import Wanted
    from compatkb.validate.session import Options

    unknown = [name for name in arguments.python or () if name not in facts.grid["python"]]
    if unknown:
        raise UsageError(f"unknown Python {unknown[0]!r}; known are {', '.join(facts.grid['python'])}")
    channels = [row["id"] for row in facts.rows("select id from channel order by position")]
    if arguments.channel not in channels:
        raise UsageError(f"unknown channel {arguments.channel!r}; known are {', '.join(channels)}")
    today = parse_day(arguments.as_of) if arguments.as_of else datetime.now(UTC).date()
    wanted = Wanted(
        today,
        tuple(find_product(facts, name).id for name in arguments.product or ()),
        tuple(arguments.python or ()),
        arguments.platform,
        arguments.device,
        arguments.channel,
        arguments.denied,
    )
    return Options(
        wanted,
        tuple(Level(name) for name in arguments.level or ("resolve",)),
        tuple(arguments.tool or ()),
        arguments.stubbed,
        None if arguments.max_age is None else timedelta(arguments.max_age),
        arguments.again,
        arguments.shard,
        arguments.limit,
        answered=shown(_indexes(arguments).get(arguments.channel, "")),
        stacks=tuple(arguments.stack or ()),
    )


def _indexes(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the addresses that answer in place of channels; raises UsageError."""
    from compatkb.errors import UsageError

    found = dict(text.partition("=")[::2] for text in arguments.index or ())
    for channel, url in found.items():
        if not channel or not url.startswith(("https://", "http://")):
            raise UsageError(f"{channel}={url} is not CHANNEL=URL, such as default=https://index.example/simple")
    return found


def _touched(facts: "Snapshot", options: "Options", directory: Path, since: str) -> "list[Claimed]":
    """Return the claimed stacks that differ from what they were, and say on stderr how many there are."""
    from compatkb.validate.changed import change, earlier

    with earlier(directory, since) as old:
        found = change(old, facts, options.wanted)
    what = "denied" if options.wanted.denied else "claimed"
    counts = f"{len(found.touched)} touched, {found.same} as before, {len(found.gone)} {what} no more"
    print(f"stacks {what}, since {since}: {counts}", file=sys.stderr)
    return found.touched


def _workshop(facts: "Snapshot", arguments: argparse.Namespace, directory: Path, today: "date") -> "Workshop":
    from compatkb.snapshot.store import cache_directory
    from compatkb.validate.session import workshop_of

    cache = Path(cache_directory()) / "validate"
    folder = Path(arguments.work) if arguments.work else cache / "work"
    return workshop_of(
        facts,
        directory,
        folder,
        cache,
        today,
        arguments.interpreter or (),
        record=Path(arguments.record) if arguments.record else None,
        live=arguments.live,
        indexes=_indexes(arguments),
        use_pip_config=arguments.use_pip_config,
        download=arguments.download,
        seconds=arguments.seconds,
        megabytes=arguments.megabytes,
    )
