"""The commands for those who keep the data: lint, fmt."""

import argparse
import json
import shlex
import sys
from datetime import UTC, date, datetime
from pathlib import Path

from compatkb.asking import parse_day
from compatkb.errors import DataError, UsageError
from compatkb.findings import Finding, Severity, worst
from compatkb.formatting import misshapen
from compatkb.loader import read
from compatkb.snapshot.store import CHECKOUT
from compatkb.writing import write_file


def lint(arguments: argparse.Namespace) -> int:
    """Report findings; 1 where one is at or above --fail-on, 3 where the data do not load."""
    from compatkb.lint import CHECKS
    from compatkb.lint import lint as lint_data

    if arguments.list_rules:
        print("".join(f"{rule.NAME:16} {rule.LEVEL:8} {rule.SUMMARY}\n" for rule in CHECKS), end="")
        return 0
    directory = data_directory(arguments.data)
    report = lint_data(read(directory), _day(arguments.as_of), arguments.rule or ())
    findings = tuple(_runnable(finding, arguments.data) for finding in report.findings)
    print(_shown(findings, arguments.format, directory), end="")
    if report.exempted:
        named = "finding is" if report.exempted == 1 else "findings are"
        print(f"remark: {report.exempted} {named} left to exceptions.toml", file=sys.stderr)
    if not report.loaded:
        return DataError.exit_code
    return int(worst(findings, Severity(arguments.fail_on)))


def fmt(arguments: argparse.Namespace) -> int:
    """Write data files in canonical form, or with --check say which are not and return 1."""
    directory = data_directory(arguments.data)
    contents = read(directory)
    wanted = _chosen(arguments.files, directory, contents)
    changed = misshapen(wanted)
    for path, content in changed.items():
        if not arguments.check:
            write_file(directory / path, content)
    if arguments.format == "json":
        print(json.dumps({"checked": len(wanted), "written": not arguments.check, "files": list(changed)}, indent=2))
    else:
        verb = "would write" if arguments.check else "wrote"
        print("".join(f"{verb} {path}\n" for path in changed), end="")
        print(f"{len(wanted) - len(changed)} of {len(wanted)} files are in canonical form already")
    return int(arguments.check and bool(changed))


def data_directory(named: str | None) -> Path:
    """Return the data directory that a command names, or the checkout's; raises DataError where there is none."""
    if named is not None:
        return Path(named)
    if (Path(CHECKOUT) / "products").is_dir():
        return Path(CHECKOUT)
    raise DataError(("this installation carries compiled data, not their files; give a data directory with --data DIR",))


def _day(text: str | None) -> date:
    return parse_day(text) if text else datetime.now(UTC).date()


def _shown(findings: tuple[Finding, ...], form: str, directory: Path) -> str:
    from compatkb.rendering.findings import findings_annotations, findings_payload, findings_text

    if form == "json":
        return json.dumps(findings_payload(findings), indent=2, ensure_ascii=False) + "\n"
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
            raise UsageError(f"{name} is no data file of {directory}")
        chosen[inside] = known[inside]
    return chosen if names else known
