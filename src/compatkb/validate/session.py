"""One validation run from options to evidence: chooses cells, runs them, records, judges and shows what they saw."""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from importlib import import_module
from pathlib import Path

from packaging.version import Version

from compatkb.core.atomic_write import write_file
from compatkb.core.vocabulary import Verdict
from compatkb.errors import UnavailableError, UsageError
from compatkb.output.documents import json_text
from compatkb.schema import Level, Observation, Outcome
from compatkb.store.reader import Snapshot
from compatkb.validate.cell import Check, RunContext, ValidationCell, cell_of
from compatkb.validate.evidence import Journal, add_evidence, is_fresh, read_lines, text_of
from compatkb.validate.indexes import client, listed
from compatkb.validate.plan import Claimed, ClaimPlan, PlanScope
from compatkb.validate.proofs import LinkedProducts
from compatkb.validate.runner import Threads, run
from compatkb.validate.targets import fits

TOOLS: dict[Level, tuple[str, ...]] = {
    Level.PUBLISHED: ("index",),
    Level.RESOLVE: ("pip", "uv"),
    Level.SYMBOLS: ("index",),
    Level.IMPORT: ("python",),
    Level.RUN: ("python",),
}
"""Who answers at each level; the first one unless asked otherwise."""

_CHECKS = {
    (Level.PUBLISHED, "index"): "session:check_published",
    (Level.RESOLVE, "pip"): "installers:check",
    (Level.RESOLVE, "uv"): "installers:check_uv",
    (Level.SYMBOLS, "index"): "linking:check",
    (Level.IMPORT, "python"): "importing:check",
    (Level.RUN, "python"): "importing:check_run",
}


def check(cell: ValidationCell, context: RunContext) -> Observation:
    """Answer a cell at its level with its tool; each check is imported when it is first used."""
    module, name = _CHECKS[cell.level, cell.tool].split(":")
    checker: Check = getattr(import_module(f"compatkb.validate.{module}"), name)
    return checker(cell, context)


def check_published(cell: ValidationCell, context: RunContext) -> Observation:
    """Look for a wheel of every package of a cell."""
    missing, withdrawn = [], []
    for name, version in cell.packages:
        try:
            wheels = [file for file in listed(cell, context, name) if file.version == Version(version)]
        except UnavailableError as error:
            return cell.observed(Outcome.NOT_CHECKED, context.today, str(error))
        yanks = [file.entry.yanked for file in wheels if fits(file.entry.name, cell.python, cell.platform)]
        if not yanks:
            missing.append(f"{name} {version}")
        elif None not in yanks:
            reason = next(filter(None, yanks), "")
            withdrawn.append(f"{name} {version} ({reason})" if reason else f"{name} {version}")
    if missing:
        return cell.observed(Outcome.NOT_FOUND, context.today, f"no wheel for this Python and platform: {', '.join(missing)}")
    if withdrawn:
        return cell.observed(Outcome.YANKED, context.today, f"yanked: {', '.join(withdrawn)}")
    return cell.observed(Outcome.OK, context.today)


@dataclass(frozen=True)
class ValidationOptions:
    """What a run is asked to do."""

    wanted: PlanScope
    levels: tuple[Level, ...] = (Level.RESOLVE,)
    tools: tuple[str, ...] = ()
    max_age: timedelta | None = None  # None: whatever was checked stays checked
    again: bool = False  # ask fresh ones too
    shard: tuple[int, int] = (1, 1)
    limit: int | None = None
    by_risk: bool = False  # what is likeliest to have changed first
    answered: str = ""  # the address that answers in place of the channel
    stale: bool = False  # ask again what evidence older than `max_age` answered, and nothing else
    linked: tuple[LinkedProducts, ...] = ()  # products whose symbols are read
    stacks: tuple[str, ...] = ()  # pins of stacks to ask about, in place of those that the data claim


@dataclass(frozen=True)
class ValidationReport:
    """What a run found: each cell with what it saw, in the order of their ids."""

    cells: tuple[tuple[ValidationCell, Observation], ...]

    @property
    def against(self) -> tuple[tuple[ValidationCell, Observation], ...]:
        """The cells that ended otherwise than the data say."""
        return tuple((cell, seen) for cell, seen in self.cells if contradicts(cell, seen))

    @property
    def exit_code(self) -> int:
        """0 where all is as the data say, 1 where something contradicts them, 5 where nothing could be checked."""
        if self.against:
            return 1
        unchecked = [seen for _, seen in self.cells if seen.outcome is Outcome.NOT_CHECKED]
        return UnavailableError.exit_code if unchecked and len(unchecked) == len(self.cells) else 0


def contradicts(cell: ValidationCell, seen: Observation) -> bool:
    """Return whether an observation speaks against the verdict on its cell.

    What a tool accepts does not speak against a denial unless it loads the builds together: pip cannot see most rules.
    """
    if seen.outcome is Outcome.NOT_CHECKED or cell.claimed == Verdict.UNKNOWN:
        return False
    if cell.claimed == Verdict.DOES_NOT_WORK:
        return seen.outcome is Outcome.OK and seen.level in (Level.IMPORT, Level.RUN)
    return seen.outcome not in (Outcome.OK, Outcome.YANKED, Outcome.LINKS)


def choose(
    facts: Snapshot, options: ValidationOptions, known: Iterable[Observation], stacks: Iterable[Claimed] | None = None
) -> list[ValidationCell]:
    """Return the cells of a run, those that are fresh left out; raises UsageError for a tool that no level knows.

    They are about `stacks` where those are given, else about those that the options name, else about all that are claimed;
    of stale evidence they are the cells that it answered.
    """
    unknown = [tool for tool in options.tools if not any(tool in tools for tools in TOOLS.values())]
    if unknown:
        raise UsageError(
            f"unknown tool {unknown[0]!r}; tools are {', '.join(sorted({t for ts in TOOLS.values() for t in ts}))}"
        )
    known = list(known)
    fresh = {o.question for o in known if is_fresh(o, options.wanted.day, options.max_age)} if not options.again else set()
    plan = ClaimPlan(facts, options.wanted)
    cells = _stale(plan, options, known) if options.stale else _planned(plan, options, known, stacks)
    chosen = [c for c in cells if c.question not in fresh and c.in_shard(*options.shard)]
    return (_by_risk(facts, chosen, known) if options.by_risk else chosen)[: options.limit]


def _by_risk(facts: Snapshot, cells: list[ValidationCell], known: Iterable[Observation]) -> list[ValidationCell]:
    """Return cells in the order of what may be wrong: yanked since it was asked, then the newest builds, then long unseen.

    Of cells that are alike those come first that were never asked. So a run that is cut off has asked what counts most.
    """
    elements = [e for product in facts.products for e in facts.elements(product)]
    days = {(e.distribution or e.product, e.version): e.since or e.by or 0 for e in elements}
    yanks = {(e.distribution or e.product, e.version): e.yank_by for e in elements if e.yank_by}
    asked = {cell_of(o).id: o.checked.toordinal() for o in known}

    def risk(cell: ValidationCell) -> tuple[bool, int, int, str]:
        last = asked.get(cell.id, 0)
        is_yanked = any(yanks.get(pin, 0) > last for pin in cell.packages) and last > 0
        return not is_yanked, -max((days.get(pin, 0) for pin in cell.packages), default=0), last, cell.id

    return sorted(cells, key=risk)


def _planned(
    plan: ClaimPlan, options: ValidationOptions, known: list[Observation], stacks: Iterable[Claimed] | None
) -> list[ValidationCell]:
    """Return the cells of each stack at each level by each tool; symbols are read of pairs that nobody claims, too.

    A build whose wheel was seen to need no symbol of the other is paired with none.
    """
    loading: list[Level] = [level for level in options.levels if level is not Level.SYMBOLS]
    given = plan.named(options.stacks) if stacks is None and options.stacks else stacks
    if given is not None:
        asked = [(stack, list(options.levels)) for stack in given]
    else:
        asked = [(stack, loading) for stack in (plan.claimed() if loading else ())]
        if Level.SYMBOLS in options.levels:
            groups = [plan.linked(link) for link in options.linked]
            unlinked = _unlinked(options.wanted, known)
            every = (stack for group in groups for stack in group)
            asked += [(s, [Level.SYMBOLS]) for s in every if len(s.packages) == 1 or unlinked.isdisjoint(s.packages)]
    return [
        replace(stack.cell(options.wanted, level, tool), answered=options.answered)
        for stack, levels in asked
        for level in levels
        for tool in TOOLS[level]
        if not options.tools or tool in options.tools
    ]


def _unlinked(wanted: PlanScope, known: list[Observation]) -> set[tuple[str, str]]:
    """Return the builds of the platform whose wheels, read alone, need no symbol of what they could be built against."""
    seen = (o for o in known if o.unlinked and (o.platform, o.index) == (wanted.platform, wanted.channel))
    return {pin for observation in seen for pin in observation.packages.items()}


def _stale(plan: ClaimPlan, options: ValidationOptions, known: list[Observation]) -> list[ValidationCell]:
    """Return the cells that evidence older than `max_age` answers and that can still be asked, with what the data say now."""
    asked = [o for o in known if o.level in options.levels and not o.stubbed]
    old = [o for o in asked if not is_fresh(o, options.wanted.day, options.max_age)]
    cells = [cell_of(o) for o in sorted(old, key=lambda o: (o.checked, cell_of(o).id))]
    cells = [cell for cell in cells if not options.tools or cell.tool in options.tools]
    return [replace(cell, claimed=_said_of(plan, cell)) for cell in cells]


def _said_of(plan: ClaimPlan, cell: ValidationCell) -> str:
    where = replace(plan.wanted, platform=cell.platform, device=cell.device, channel=cell.index)
    return ClaimPlan(plan.facts, where).verdict_of(cell.packages, cell.python)


def validate(
    cells: list[ValidationCell],
    context: RunContext,
    executor: Threads,
    out: Path | None,
    progress: Callable[[str, int, int], None],
    *,
    minutes: float | None = None,
) -> ValidationReport:
    """Ask the cells and keep what they saw: in `out` where it is given, else in the data directory's evidence.

    A run that was ended goes on where it stopped when it is started again with the same folder. After `minutes` no cell is
    begun any more, and what was seen is kept.
    """
    client()  # said once, not of every cell
    with Journal(context.folder / "journal.jsonl") as journal:
        seen = run(cells, check, context, executor, journal, progress, minutes=minutes)
        records = [each for each in seen if not each.unlinked or len(each.packages) == 1]  # a wheel alone says it of all pairs
        if out:
            write_file(out, text_of(records).encode())
        else:
            add_evidence(context.data, records)
        journal.remove()
    by_question = {observation.question: observation for observation in seen}
    answered = sorted((cell for cell in cells if cell.question in by_question), key=lambda cell: cell.id)
    return ValidationReport(tuple((cell, by_question[cell.question]) for cell in answered))


def merge(directory: Path, parts: Iterable[Path]) -> tuple[int, list[Path]]:
    """Add the observations of shards to the evidence; returns how many there are, and the files that changed."""
    missing = [path for path in parts if not path.is_file()]
    if missing:
        raise UsageError(f"{missing[0]}: there is no such file")
    return add_evidence(directory, *(read_lines(path) for path in parts))


def interpreters() -> dict[str, str]:
    """Return the Python interpreters at hand by minor: those on the path, and those that pyenv keeps."""
    path_by_minor: dict[str, str] = {}
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for path in sorted((root / "versions").glob("3.*/bin/python3.*")):
        minor = path.name.removeprefix("python")
        if minor.replace(".", "").removesuffix("t").isdigit() and minor.count(".") == 1:
            path_by_minor[minor] = str(path)
    for number in range(6, 30):
        for ending in ("", "t"):
            minor = f"3.{number}{ending}"
            if minor not in path_by_minor and (path_ := shutil.which(f"python{minor}")):
                path_by_minor[minor] = path_
    return path_by_minor


def run_context(
    facts: Snapshot, directory: Path, folder: Path, cache: Path, today: date, named: Iterable[str] = (), **more: object
) -> RunContext:
    """Return what cells may use; `named` are further interpreters as MINOR=PATH; raises UsageError for others."""
    known = interpreters()
    for text in named:
        minor, _, path = text.partition("=")
        if not path or not os.access(path, os.X_OK):
            raise UsageError(f"{text!r} is not MINOR=PATH with a Python to run, such as 3.12=/usr/bin/python3.12")
        known[minor] = path
    indexes = {channel.id: (channel.style, channel.url or "") for channel in facts.channels}
    return RunContext(today, folder, cache, directory, channels=indexes, interpreters=known, **more)  # type: ignore[arg-type]  # by keyword


_MOST = 40


def report_text(report: ValidationReport) -> str:
    """Return the counts by level and outcome, and every cell that ended otherwise than the data say."""
    counts = Counter((seen.level, seen.tool, seen.outcome) for _, seen in report.cells)
    lines = [f"{level} by {tool}: {count} {outcome}" for (level, tool, outcome), count in sorted(counts.items())]
    if not lines:
        lines.append("no cell to check: none was asked for, or all of them are fresh")
    if report.against:
        lines += ["", "Against the data:"]
        for cell, seen in report.against[:_MOST]:
            lines.append(f"- {_what(cell)}: {seen.outcome}, where the data say {cell.claimed}")
            lines += [f"    {line}" for line in seen.detail.splitlines()[:4]]
        if len(report.against) > _MOST:
            lines.append(f"- and {len(report.against) - _MOST} more; --format json lists all of them")
    reasons = Counter(seen.detail.splitlines()[0] for _, seen in report.cells if seen.outcome == "not-checked")
    if reasons:
        lines += ["", "Not checked:", *(f"- {count}: {reason}" for reason, count in reasons.most_common(10))]
    return "\n".join(lines) + "\n"


def _what(cell: ValidationCell) -> str:
    pins = ", ".join(f"{name} {version}" for name, version in cell.packages)
    return f"{pins} on Python {cell.python}, {cell.platform} ({cell.level} by {cell.tool})"


def report_payload(report: ValidationReport) -> str:
    """Return every cell with what it saw, as JSON."""
    cells = [
        {"claimed": cell.claimed, "contradicts": (cell, seen) in report.against, **seen.model_dump(mode="json")}
        for cell, seen in report.cells
    ]
    return json_text({"schema": 1, "cells": cells})
