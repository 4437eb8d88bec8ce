"""The commands for those who keep the data: lint, fmt, refresh."""

import json
import shlex
import textwrap
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from compatkb.authoring.canonical import misshapen
from compatkb.authoring.loader import parse, read
from compatkb.cli import options as o
from compatkb.cli.terminal import Progress, tell
from compatkb.core.atomic_write import write_file
from compatkb.core.clock import current_day
from compatkb.core.findings import Finding, Severity, worst
from compatkb.errors import DataError, UnavailableError, UsageError
from compatkb.output.terminal import show
from compatkb.request.parser import parse_day
from compatkb.store.cache import cache_directory, data_directory
from compatkb.store.records import picked

Findings = Literal["text", "json", "github"]
FailOn = Literal["error", "warning"]


def lint(
    form: Annotated[Findings, o.one_of("--format", "form of the output", get_args(Findings))] = "text",
    as_of: o.AsOf = None,
    data: o.Data = None,
    rule: Annotated[o.Words, o.value("--rule", "NAME", "run this rule alone (repeatable)")] = None,
    list_rules: Annotated[bool, o.option("--rules", "list the rules and exit")] = False,
    fail_on: Annotated[FailOn, o.one_of("--fail-on", "exit 1 at this level or above", get_args(FailOn))] = "error",
    sources: Annotated[str | None, o.value("--sources", "DIR", "read cited files instead, in clones DIR/owner/name")] = None,
    fetch: Annotated[bool, o.option("--fetch", "with --sources: clone what is missing there")] = False,
    since: Annotated[str | None, o.value("--since", "COMMIT", "with --sources: only sources that changed since")] = None,
    reread: Annotated[
        int | None,
        o.value(
            "--reread",
            "DAYS",
            "with --sources: compare documents that were last read so long ago with what they say now",
            parser=o.days,
        ),
    ] = None,
    confirm: Annotated[
        bool, o.option("--confirm", "with --reread: write today as `seen` of what still says the same")
    ] = False,
) -> int:
    """Report findings; 1 where one is at or above --fail-on, 3 where the data do not load."""
    from compatkb.authoring.lint import CHECKS
    from compatkb.authoring.lint import lint as lint_data

    if list_rules:
        show("".join(f"{each.name:16} {each.level:8} {each.summary}\n" for each in CHECKS))
        return 0
    directory = data_directory(data)
    if confirm and reread is None:
        raise UsageError("--confirm needs --reread")
    if sources and reread is not None:
        if since:
            raise UsageError("--reread goes by the day on which a source was seen: it takes no --since")
        day = parse_day(as_of) if as_of else current_day()
        findings = _reread(directory, Path(sources), day, reread, fetch=fetch, confirm=confirm)
        show(_shown(findings, form, directory))
        return int(worst(findings, Severity(fail_on)))
    if sources:
        findings = _cited_places(directory, Path(sources), fetch=fetch, since=since)
        show(_shown(findings, form, directory))
        return int(worst(findings, Severity(fail_on)))
    if fetch or since or reread is not None:
        raise UsageError("--fetch, --since and --reread need --sources")
    report = lint_data(read(directory), parse_day(as_of) if as_of else current_day(), rule or ())
    findings = tuple(_runnable(finding, data) for finding in report.findings)
    show(_shown(findings, form, directory))
    if report.exempted:
        named = "finding is" if report.exempted == 1 else "findings are"
        tell(f"remark: {report.exempted} {named} left to exceptions.toml")
    if not report.loaded:
        return DataError.exit_code
    return int(worst(findings, Severity(fail_on)))


def fmt(
    files: Annotated[list[str] | None, o.word("[FILE]...", "data files (default: all of the directory)")] = None,
    check: Annotated[bool, o.option("--check", "write nothing, and exit 1 where a file would change")] = False,
    form: o.Format = "text",
    data: o.Data = None,
) -> int:
    """Write data files in canonical form, or with --check say which are not and return 1."""
    directory = data_directory(data)
    contents = read(directory)
    wanted = _chosen(files or [], directory, contents)
    changed = misshapen(wanted)
    for path, content in changed.items():
        if not check:
            write_file(directory / path, content)
    if form == "json":
        show(json.dumps({"checked": len(wanted), "written": not check, "files": list(changed)}, indent=2) + "\n")
    else:
        verb = "would write" if check else "wrote"
        show("".join(f"{verb} {path}\n" for path in changed))
        show(f"{len(wanted) - len(changed)} of {len(wanted)} files are in canonical form already\n")
    return int(check and bool(changed))


def _cited_places(directory: Path, clones: Path, *, fetch: bool, since: str | None) -> tuple[Finding, ...]:
    """Return what reading the cited files shows, and say on standard error how many were read."""
    from compatkb.authoring.lint.cited_places import lines_since, read_sources

    loaded = _loaded(directory)
    changed = lines_since(directory, since) if since else None
    reading = read_sources(loaded.documents, clones, fetch=fetch, changed=changed)
    tell(f"remark: read {reading.read} cited files, found {len(reading.findings)} to look at")
    for repo, number in reading.absent.items():
        tell(f"remark: {repo} is not in {clones}: {number} not read")
    return reading.findings


def _reread(directory: Path, clones: Path, day: date, age: int, *, fetch: bool, confirm: bool) -> tuple[Finding, ...]:
    """Return what documents say otherwise now, tell how many still stand, and with `confirm` write when these were seen."""
    from compatkb.authoring.rereading import confirmed, reread

    loaded = _loaded(directory)
    reading = reread(loaded.documents, clones, day - timedelta(days=age), fetch=fetch)
    tell(f"remark: {len(reading.standing)} sources still say what was read of them, {len(reading.findings)} to look at")
    for repo, number in reading.absent.items():
        tell(f"remark: {repo} is not in {clones}: {number} not checked")
    if confirm:
        for document in loaded.documents:
            if (text := confirmed(document, reading.standing, day)) != document.text:
                write_file(directory / document.path, text.encode())
                tell(f"remark: wrote {document.path}")
    return reading.findings


def _loaded(directory: Path) -> "Loaded":
    """Return the data, each file for itself; raises DataError where one does not load."""
    loaded = parse(read(directory))
    if loaded.problems:
        raise DataError(tuple(map(str, loaded.problems)))
    return loaded


def _shown(findings: tuple[Finding, ...], form: str, directory: Path) -> str:
    from compatkb.output.documents import json_text
    from compatkb.output.findings import findings_annotations, findings_payload, findings_text

    if form == "json":
        return json_text(findings_payload(findings))
    if form == "github":
        here = Path.cwd()
        whole = directory.resolve()
        return findings_annotations(findings, str(whole.relative_to(here) if whole.is_relative_to(here) else directory))
    return findings_text(findings)


def _runnable(finding: Finding, named: str | None) -> Finding:
    """Return a finding whose fix names the data directory that the command named."""
    if named is None or not (finding.fix or "").startswith("compatkb "):
        return finding
    return finding._replace(fix=f"{finding.fix} --data {shlex.quote(named)}")


def _chosen(names: list[str], directory: Path, contents: dict[str, bytes]) -> dict[str, bytes]:
    """Return the TOML files that are named, by their path in the data directory or on disk; all of them for no name."""
    known = {path: content for path, content in contents.items() if path.endswith(".toml")}
    chosen: dict[str, bytes] = {}
    for name in names:
        whole = Path(name).resolve()
        root = directory.resolve()
        inside = whole.relative_to(root).as_posix() if whole.is_relative_to(root) else Path(name).as_posix()
        if inside not in known:
            raise UsageError(f"{name} is not a data file of {directory}")
        chosen[inside] = known[inside]
    return chosen if names else known


if TYPE_CHECKING:
    from collections.abc import Iterable

    from compatkb.authoring.loader import Loaded
    from compatkb.refresh.comparison import Note
    from compatkb.refresh.run import RefreshOutcome

STALE = 4
SHOWN = 12


def refresh(
    write: Annotated[
        bool, o.option("--write", "write the files of data/index/ or data/collected/; otherwise only print")
    ] = False,
    check: Annotated[bool, o.option("--check", "exit with code 4 where a file would change")] = False,
    only: Annotated[o.Words, o.value("--only", "PRODUCT", "only this product (repeatable)")] = None,
    requirements: Annotated[
        bool, o.option("--requirements", "read Requires-Dist where a file has none so far, and again where it has some")
    ] = False,
    since: Annotated[
        str | None,
        o.value(
            "--since", "DATE", "leave out releases before this day (default: the oldest upload recorded of each distribution)"
        ),
    ] = None,
    index: Annotated[str | None, o.value("--index", "URL", "ask this index in place of the default one")] = None,
    clones: Annotated[
        str | None,
        o.value("--clones", "DIR", "read the feeds of products instead, in clones DIR/owner/name, for data/collected/"),
    ] = None,
    jobs: Annotated[int, o.value("--jobs", "N", "requests at a time", min=1)] = 4,
    form: o.Format = "text",
    data: o.Data = None,
) -> int:
    """Propose what the index has that data/index/ lacks; 0, or 4 with --check where a file would change."""
    if write and check:
        raise UsageError("--write and --check cannot be used together")
    if clones:
        if index or since or requirements:
            raise UsageError("--clones reads repositories: it takes no --index, --since or --requirements")
        return _collect(Path(clones), data_directory(data).resolve(), only or (), form, write=write, check=check)
    try:
        from compatkb.refresh.index_client import Network, Remembering
    except ImportError as error:
        message = f"refresh needs the package {error.name}: python -m pip install 'compatkb[refresh]'"
        raise UnavailableError(message) from None
    from compatkb.authoring.loader import load
    from compatkb.refresh.run import refresh as run
    from compatkb.refresh.run import select

    if index and not index.startswith(("https://", "http://")):
        raise UsageError(f"{index!r} is not the address of a package index: it begins with https:// or http://")
    directory = data_directory(data).resolve()
    files = load(directory)
    subjects = select(files, only or (), requirements=requirements)
    first = datetime.combine(parse_day(since), time(), UTC) if since else None
    today = current_day()
    with Progress() as count:
        client = Remembering(Network(index), Path(cache_directory()) / "refresh")
        outcome = run(files, directory, subjects, client, today, since=first, jobs=jobs, say=_say, count=count)
    code = _told(outcome, directory, form, write=write, check=check)
    client.forget()
    return code


def _collect(clones: Path, directory: Path, only: "Iterable[str]", form: str, *, write: bool, check: bool) -> int:
    """Propose what the feeds of products have that data/collected/ lacks."""
    from compatkb.authoring.loader import load
    from compatkb.refresh.collect import collect

    if not clones.is_dir():
        raise UsageError(f"{clones}: no such folder of clones")
    with Progress() as count:
        outcome = collect(load(directory), directory, clones, current_day(), only, count)
    return _told(outcome, directory, form, write=write, check=check)


def _told(outcome: "RefreshOutcome", directory: Path, form: str, *, write: bool, check: bool) -> int:
    """Print what would change, or write it, and return the exit code."""
    from compatkb.refresh.run import write as write_changes

    show(_json(outcome, directory, current_day()) if form == "json" else _proposed(outcome, directory))
    if write:
        write_changes((*outcome.changes, *outcome.looked_at))
    done = "written" if write else "would change"
    _say(f"{len(outcome.changes)} files {done}; {len(outcome.notes)} things to decide")
    return STALE if check and outcome.changes else 0


def _say(line: str) -> None:
    tell(line)


def _proposed(outcome: "RefreshOutcome", directory: Path) -> str:
    """Return the diffs, then what is to decide as TOML with the reasons in comments."""
    diffs = "".join(change.diff(directory) for change in outcome.changes)
    if not outcome.notes:
        return diffs
    return diffs + "\n".join(("# To decide" if not diffs else "\n# To decide", *map(_decision, outcome.notes))) + "\n"


def _decision(note: "Note") -> str:
    more = [f"{len(note.versions) - SHOWN} more"] if len(note.versions) > SHOWN else []
    subject = " ".join((note.distribution, ", ".join([*note.versions[:SHOWN], *more]))).rstrip()
    lines = textwrap.wrap(
        f"{subject}: {note.message}", 118, initial_indent="# ", subsequent_indent="#   ", break_on_hyphens=False
    )
    return "\n".join(["", *lines, *note.toml.splitlines()])


def _json(outcome: "RefreshOutcome", directory: Path, today: date) -> str:
    changes = [
        {"file": str(change.path.relative_to(directory)), "new": not change.before, "diff": change.diff(directory)}
        for change in outcome.changes
    ]
    todo = [picked(note, "kind distribution product versions message toml") for note in outcome.notes]
    return json.dumps({"schema": 1, "seen": today.isoformat(), "changes": changes, "todo": todo}, indent=2) + "\n"
