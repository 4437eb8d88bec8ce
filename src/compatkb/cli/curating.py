"""The commands for those who keep the data: lint, fmt."""

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated, Literal

from compatkb.authoring.canonical import misshapen
from compatkb.authoring.loader import parse, read
from compatkb.cli import options as o
from compatkb.core.atomic_write import write_file
from compatkb.core.clock import current_day
from compatkb.core.findings import Finding, Severity, worst
from compatkb.errors import DataError, UsageError
from compatkb.request.parser import parse_day
from compatkb.store.cache import data_directory


def lint(
    form: Annotated[Literal["text", "json", "github"], o.option("--format", "form of the output")] = "text",
    as_of: o.AsOf = None,
    data: o.Data = None,
    rule: Annotated[o.Words, o.value("--rule", "NAME", "run this rule alone (repeatable)")] = None,
    list_rules: Annotated[bool, o.option("--rules", "list the rules and exit")] = False,
    fail_on: Annotated[Literal["error", "warning"], o.option("--fail-on", "exit 1 at this level or above")] = "error",
    sources: Annotated[str | None, o.value("--sources", "DIR", "read cited files instead, in clones DIR/owner/name")] = None,
    fetch: Annotated[bool, o.option("--fetch", "with --sources: clone what is missing there")] = False,
    since: Annotated[str | None, o.value("--since", "COMMIT", "with --sources: only sources that changed since")] = None,
) -> int:
    """Report findings; 1 where one is at or above --fail-on, 3 where the data do not load."""
    from compatkb.authoring.lint import CHECKS
    from compatkb.authoring.lint import lint as lint_data

    if list_rules:
        print("".join(f"{each.name:16} {each.level:8} {each.summary}\n" for each in CHECKS), end="")
        return 0
    directory = data_directory(data)
    if sources:
        findings = _cited_places(directory, Path(sources), fetch=fetch, since=since)
        print(_shown(findings, form, directory), end="")
        return int(worst(findings, Severity(fail_on)))
    if fetch or since:
        raise UsageError("--fetch and --since need --sources")
    report = lint_data(read(directory), parse_day(as_of) if as_of else current_day(), rule or ())
    findings = tuple(_runnable(finding, data) for finding in report.findings)
    print(_shown(findings, form, directory), end="")
    if report.exempted:
        named = "finding is" if report.exempted == 1 else "findings are"
        print(f"remark: {report.exempted} {named} left to exceptions.toml", file=sys.stderr)
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
        print(json.dumps({"checked": len(wanted), "written": not check, "files": list(changed)}, indent=2))
    else:
        verb = "would write" if check else "wrote"
        print("".join(f"{verb} {path}\n" for path in changed), end="")
        print(f"{len(wanted) - len(changed)} of {len(wanted)} files are in canonical form already")
    return int(check and bool(changed))


def _cited_places(directory: Path, clones: Path, *, fetch: bool, since: str | None) -> tuple[Finding, ...]:
    """Return what reading the cited files shows, and say on standard error how many were read."""
    from compatkb.authoring.lint.cited_places import lines_since, read_sources

    loaded = parse(read(directory))
    if loaded.problems:
        raise DataError(tuple(map(str, loaded.problems)))
    changed = lines_since(directory, since) if since else None
    reading = read_sources(loaded.documents, clones, fetch=fetch, changed=changed)
    print(f"remark: read {reading.read} cited files, found {len(reading.findings)} to look at", file=sys.stderr)
    for repo, number in reading.absent.items():
        print(f"remark: {repo} is not in {clones}: {number} not read", file=sys.stderr)
    return reading.findings


def _shown(findings: tuple[Finding, ...], form: str, directory: Path) -> str:
    from compatkb.output.findings import findings_annotations, findings_payload, findings_text
    from compatkb.output.json_document import json_text

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
