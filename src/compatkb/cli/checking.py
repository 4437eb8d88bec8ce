"""The commands for files of other projects: check, and migrate, which leads away from products that have ended."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal, get_args

from compatkb.check import CheckReport, files, reads, rules, rules_by_id
from compatkb.check import check as check_documents
from compatkb.check.config import NEVER, Settings, parse_settings
from compatkb.check.document import CheckContext, TextDocument, diff
from compatkb.check.fixing import Fixed, Judge, fixed
from compatkb.check.report_text import Shown, rules_lines
from compatkb.check.rules import CheckRule, explanation
from compatkb.check.suppressions import BaselineEntry, baseline_entry, baseline_text, parse_baseline
from compatkb.cli import options as o
from compatkb.cli.opening import open_facts
from compatkb.cli.terminal import tell
from compatkb.core.findings import Finding, Severity, worst
from compatkb.core.foreign import read_bounded
from compatkb.errors import UnavailableError, UsageError
from compatkb.output import registry
from compatkb.output.commands import shell_here
from compatkb.output.messages import first_sentence
from compatkb.output.terminal import show, show_text
from compatkb.parsers.registry import states_versions

_MOST_LEFT = 5
"""So many findings that no edit mends are named below a diff."""
_OF_ANY_TEXT = (".py", ".html", ".htm", ".bat", ".cmd")
"""Endings of files that may be in any encoding, of which few state versions: one that cannot be read is passed over."""
Why = Annotated[bool, o.option("--why", "also print the sources of each finding")]
Paths = Annotated[list[str] | None, o.word("[PATH]...", "files and folders (default: the working directory)")]
Level = Literal["info", "warning", "error", "never"]
Ignore = Annotated[o.Words, o.value("--ignore", "RULE", "leave out this rule (repeatable)")]
Rules = Annotated[bool, o.option("--rules", "list the rules with their levels and exit")]
Explain = Annotated[str | None, o.value("--explain", "RULE", "describe this rule with an example and exit")]
Config = Annotated[
    str | None, o.value("--config", "FILE", "read [tool.compatkb] of this file (default: the nearest pyproject.toml)")
]
Reports = Annotated[o.Words, o.value("--report", "FORM=FILE", "write this form of the output there, too (repeatable)")]


def check(
    paths: Paths = None,
    fix: o.Fix = False,
    show_diff: o.Diff = False,
    within: Annotated[
        int | None,
        o.value(
            "--eol-within",
            "DAYS",
            "also report versions that reach end of life within so many days, such as 90d",
            parser=o.days,
        ),
    ] = None,
    baseline: Annotated[str | None, o.value("--baseline", "FILE", "leave out the findings that this file has")] = None,
    write_baseline: Annotated[
        str | None, o.value("--write-baseline", "FILE", "write the findings there, so that only new ones count from then on")
    ] = None,
    diff_base: Annotated[
        str | None, o.value("--diff-base", "REF", "report only what is new since this commit or branch of git")
    ] = None,
    fail_on: Annotated[
        Level | None, o.one_of("--fail-on", "exit 1 at this level or above (default: error)", get_args(Level))
    ] = None,
    ignore: Ignore = None,
    list_rules: Rules = False,
    explain: Explain = None,
    config: Config = None,
    report_to: Reports = None,
    why: Why = False,
    verbose: Annotated[bool, o.option("--verbose", "say on stderr which files were not read")] = False,
    shell: o.Shell = None,
    form: Annotated[str, o.form("check")] = "text",
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Report findings in files; 1 where one is at or above --fail-on, or where --diff would change a file."""
    if list_rules:
        show(rules_lines(rules()))
        return 0
    if explain is not None:
        show_text(explanation(_rule(explain)))
        return 0
    settings = settings_of(config, fail_on, ignore or (), within)
    reports = [report_of(text) for text in report_to or ()]
    asked = CheckContext(*open_facts(data, as_of), settings.within, settings.scope)
    verify_scope(asked)
    passed: Counter[str] = Counter()
    file_paths = files.find(paths or ["."], reads, settings, passed)
    if verbose:
        remark_on_others(passed)
        settings = settings._replace(levels={files.UNREAD.id: files.UNREAD.level, **settings.levels})
    known = None if write_baseline else _baseline(baseline, settings)
    documents, unread = _read(file_paths, _OF_ANY_TEXT)
    if listed := files.lists_beside(documents, file_paths, reads):
        file_paths += listed
        documents += _read(listed, ())[0]
        passed -= Counter(path.suffix or path.name for path in listed)

    def judge(documents: Iterable[TextDocument]) -> CheckReport:
        stating = [document for document in documents if states_versions(document.path, document.text)]
        return check_documents(stating, asked, settings, known, unread)

    if diff_base is not None:
        known = (known or Counter()) + _at(diff_base, paths or ["."], asked, settings)
    report = judge(documents)
    if show_diff or fix:
        outcome = fixed(report, documents, judge)
        if show_diff:
            return print_diff(documents, outcome)
        report = outcome.report
        write_fixed(file_paths, documents, outcome)
    if write_baseline:
        from compatkb.core.atomic_write import write_file

        target = Path(write_baseline)
        write_file(target, baseline_text(_known(f, report, _folder(target)) for f in report.every).encode())
        tell(f"remark: {len(report.every)} findings written to {write_baseline}")
        return 0
    shown = Shown(report, asked, ("check", *(paths or ())), passed.total())
    return finish(shown, settings, form, reports, registry.Wanted(why, shell=shell or shell_here()))


def print_diff(documents: Iterable[TextDocument], outcome: Fixed) -> int:
    """Print what --fix would write, and on stderr what it would leave to people; 1 where there is anything to write."""
    changes = [(document, outcome.documents[document.path].text) for document in documents]
    changed = any(after != document.text for document, after in changes)
    show("".join(diff(document, after) for document, after in changes))
    if left := outcome.report.findings:
        places = "1 finding needs" if len(left) == 1 else f"{len(left)} findings need"
        tell(f"remark: {'after these edits' if changed else 'no edit is certain;'} {places} a person:")
        for finding in left[:_MOST_LEFT]:
            tell(f"  {finding.path}:{finding.line}: {first_sentence(finding.message)}")
        if len(left) > _MOST_LEFT:
            tell(f"  and {len(left) - _MOST_LEFT} more, which the command without --diff lists")
    return int(changed)


def write_fixed(paths: Iterable[Path], documents: Iterable[TextDocument], outcome: Fixed) -> None:
    """Write the files that changed, and say on stderr how many findings that fixes."""
    path_by_name = {files.shown(path): path for path in paths}
    for document in documents:
        text = outcome.documents[document.path].text
        if text != document.text:
            files.write(path_by_name[document.path], document, text)
    tell(f"remark: {outcome.fixes} {'finding was' if outcome.fixes == 1 else 'findings were'} fixed")


def _at(ref: str, paths: Sequence[str], asked: CheckContext, settings: Settings) -> "Counter[BaselineEntry]":
    """Return the findings of a revision as a baseline has them, with what they say."""
    from compatkb.check.revision import documents_at

    before = [one for one in documents_at(ref, paths, reads, settings) if states_versions(one.path, one.text)]
    report = check_documents(before, asked, settings)
    every = report.every
    return Counter(baseline_entry(each, report.line(each))._replace(message=each.message) for each in every)


def finish(shown: Shown, settings: Settings, form: str, reports: Sequence[tuple[str, Path]], wanted: registry.Wanted) -> int:
    """Write the reports, print one form, and return 1 where a finding is at or above --fail-on."""
    from compatkb.output.terminal import as_text

    for name, target in reports:
        from compatkb.core.atomic_write import write_file

        whole = registry.Wanted(why=True)
        write_file(target, as_text(registry.form(shown.words[0], name)(shown, whole)).encode())
    show(registry.form(shown.words[0], form)(shown, wanted))
    remark_on(shown.report)
    return int(settings.fail_on != NEVER and worst(shown.report.findings, Severity(settings.fail_on)))


def report_of(text: str) -> tuple[str, Path]:
    """Return form and file of a --report; raises UsageError."""
    form, equals, target = text.partition("=")
    known = registry.FORMS["check"]
    if form not in known or not equals or not target:
        raise UsageError(f"{text!r} is not FORM=FILE with one of the forms {', '.join(known)}, such as sarif=compatkb.sarif")
    return form, Path(target)


def _read(paths: list[Path], of_any_text: tuple[str, ...]) -> tuple[list[TextDocument], list[Finding]]:
    """Return what can be read, and what is to be said of the rest, but for files that may be in any encoding."""
    read = [files.read(path) for path in paths]
    unread = [item for item in read if isinstance(item, Finding) and not item.path.endswith(of_any_text)]
    return [item for item in read if isinstance(item, TextDocument)], unread


def remark_on_others(passed: Counter[str]) -> None:
    """Print on stderr how many files were not read, and of which kinds most of them are."""
    if passed:
        most = ", ".join(f"{count} {kind}" for kind, count in passed.most_common(8))
        more = f" and {len(passed) - 8} more kinds" if len(passed) > 8 else ""
        tell(f"remark: not read: {most}{more}; docs/check.md lists what is read")


def settings_of(config: str | None, fail_on: str | None, ignore: Sequence[str], within: int | None = None) -> Settings:
    """Return the settings of the nearest pyproject.toml above, or of --config, with what the command line says."""
    settings = _configured(config)
    if fail_on:
        settings = settings._replace(fail_on=fail_on)
    if within is not None:
        settings = settings._replace(within=within)
    for name in ignore:
        _rule(name)
    return settings._replace(ignore=(*settings.ignore, *ignore))


def verify_scope(asked: CheckContext) -> None:
    """Raise UsageError where the configuration names a device or a system that the data do not know."""
    devices = sorted(asked.facts.served_devices())
    if asked.scope.device and asked.scope.device not in devices:
        raise UsageError(f"tool.compatkb.device is {asked.scope.device!r}; expected one of {', '.join(devices)}")
    for name in asked.scope.systems:
        if not asked.facts.word("os", name):
            raise UsageError(f"tool.compatkb.systems names {name!r}, which the data do not know; `compatkb list os` has them")


def _rule(name: str) -> CheckRule:
    if name not in rules_by_id():
        raise UsageError(f"{name!r} is not a rule; `compatkb check --rules` lists them")
    return rules_by_id()[name]


def _configured(named: str | None) -> Settings:
    folders = [Path.cwd(), *Path.cwd().parents]
    for path in [Path(named)] if named else [folder / "pyproject.toml" for folder in folders]:
        if named or path.is_file():
            settings = parse_settings(_text(path), files.shown(path), str(path.parent.resolve()), rules_by_id)
            if settings is not None:
                return settings
        if (path.parent / ".git").exists():
            break
    if named:
        raise UsageError(f"{named}: has no table tool.compatkb")
    return Settings(str(Path.cwd()))


def _baseline(named: str | None, settings: Settings) -> Counter[BaselineEntry] | None:
    """Return the baseline with paths as findings name them; None where there is none."""
    if named:
        path = Path(named)
    elif settings.baseline:
        path = Path(settings.folder, settings.baseline)
    else:
        return None
    entries = parse_baseline(_text(path), files.shown(path))
    return Counter({k._replace(path=files.shown(_folder(path) / k.path)): count for k, count in entries.items()})


def _known(finding: Finding, report: CheckReport, folder: Path) -> BaselineEntry:
    """Return how a baseline in a folder keeps a finding: with its path from there, so that it can be read from anywhere."""
    relative = Path(os.path.relpath(finding.path, folder)).as_posix()
    return baseline_entry(finding._replace(path=relative), report.line(finding))


def _folder(path: Path) -> Path:
    return path.resolve().parent


def _text(path: Path) -> str:
    try:
        return read_bounded(path, files.MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{files.shown(path)}: is not UTF-8 text") from None
    except FileNotFoundError:
        raise UsageError(f"{files.shown(path)}: no such file") from None
    except OSError as error:
        raise UnavailableError(f"{files.shown(path)}: cannot be read: {error.strerror}") from None


def remark_on(report: CheckReport) -> None:
    """Print on stderr what does not count."""
    remarks = [(report.accepted, "accepted by comments"), (report.recorded, "known to the baseline or to the revision")]
    for count, how in remarks:
        if count:
            tell(f"remark: {count} {'finding is' if count == 1 else 'findings are'} {how}")
    if report.outdated:
        tell(f"remark: {report.outdated} of the baseline no longer occur; write it again")


def migrate(
    paths: Paths = None,
    device: Annotated[
        str | None,
        o.value("--device", "NAME", "the device that the project is for (default: what its files say)"),
    ] = None,
    fix: o.Fix = False,
    show_diff: o.Diff = False,
    fail_on: Annotated[Level, o.one_of("--fail-on", "exit 1 at this level or above", get_args(Level))] = "warning",
    ignore: Ignore = None,
    list_rules: Rules = False,
    config: Config = None,
    report_to: Reports = None,
    why: Why = False,
    shell: o.Shell = None,
    form: Annotated[str, o.form("migrate")] = "text",
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Report what has to change in files; 1 where a finding is at or above --fail-on, or where --diff would change a file."""
    from compatkb.check.migration_rules import RULES
    from compatkb.migrate.project import migrate as migrate_documents
    from compatkb.migrate.project import reads as may_change

    if list_rules:
        show(rules_lines(RULES))
        return 0
    settings = settings_of(config, fail_on, ignore or ())
    reports = [report_of(text) for text in report_to or ()]
    asked = CheckContext(*open_facts(data, as_of))
    _known_device(asked, device)
    file_paths = files.find(paths or ["."], may_change, settings)
    documents, unread = _read(file_paths, (".py", ".pyi"))

    def judge(documents: Iterable[TextDocument]) -> CheckReport:
        return migrate_documents(documents, asked, settings, device=device, unread=unread)

    report = judge(documents)
    if show_diff or fix:
        outcome = _sound(fixed(report, documents, judge), documents, asked, settings, judge)
        if show_diff:
            return print_diff(documents, outcome)
        report = outcome.report
        write_fixed(file_paths, documents, outcome)
    named = ("--device", device) if device else ()
    shown = Shown(report, asked, ("migrate", *named, *(paths or ())))
    return finish(shown, settings, form, reports, registry.Wanted(why, shell=shell or shell_here()))


def _known_device(asked: CheckContext, device: str | None) -> None:
    names = [element.version for element in asked.facts.elements("device")]
    if device is not None and device not in names:
        raise UsageError(f"unknown device {device!r}; known: {', '.join(names)}")


def _sound(
    outcome: Fixed,
    documents: Sequence[TextDocument],
    asked: CheckContext,
    settings: Settings,
    judge: Judge,
) -> Fixed:
    """Return an outcome without the files that `check` would report something new of, which stay as they are."""

    def wrong(several: Iterable[TextDocument]) -> Counter[tuple[str, str]]:
        stating = [one for one in several if reads(one.path) and states_versions(one.path, one.text)]
        return Counter((one.path, one.rule) for one in check_documents(stating, asked, settings).every)

    before, after = wrong(documents), wrong(outcome.documents.values())
    worse = {path: rule for (path, rule), count in after.items() if count > before[path, rule]}
    if not worse:
        return outcome
    for path, rule in worse.items():
        tell(f"remark: {path} stays as it is: with the edits, check would report {rule}")
    kept = {one.path: one if one.path in worse else outcome.documents[one.path] for one in documents}
    report = judge(kept.values())
    findings = tuple(one._replace(edits=()) if one.path in worse else one for one in report.findings)
    return Fixed(kept, report._replace(findings=findings), outcome.fixes)
