"""The commands for those whose machine fails: diagnose, doctor."""

import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from compatkb.cli import options as o
from compatkb.cli.opening import open_facts
from compatkb.cli.terminal import tell
from compatkb.core.foreign import redacted, safe_open
from compatkb.errors import UNKNOWN, UsageError
from compatkb.output.commands import shell_here
from compatkb.output.terminal import show

_REPORT = 16_000_000  # bytes; `pip inspect` prints the descriptions of all packages

if TYPE_CHECKING:
    from compatkb.doctor.machine import Machine
    from compatkb.output.screen import Line
    from compatkb.store.reader import Snapshot


def diagnose(
    words: Annotated[
        list[str] | None, o.word("[FILE | WORDS]", "the printed text in a file, or words of it; - reads standard input")
    ] = None,
    redact: o.Redact = False,
    shell: o.Shell = None,
    form: o.Format = "text",
    unknown: o.Unknown = "fail",
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Say what may be behind an error that a program printed; 0 where a cause is named, else 7."""
    from compatkb.doctor.diagnose import diagnose as look
    from compatkb.doctor.error_text import decode
    from compatkb.output.diagnosis import diagnosis_json, diagnosis_lines, present_diagnosis

    content, left = _text_of(words or ["-"])
    if left:
        tell(f"remark: {left} bytes in the middle of the text are left out")
    text = decode(content)
    if not text.strip():
        raise UsageError("there is no text; paste what the program printed, or name a file")
    facts, clock = open_facts(data, as_of)
    diagnosis = look(facts, text, clock)
    view = present_diagnosis(facts, diagnosis, clock.day)
    output = diagnosis_json(view) if form == "json" else diagnosis_lines(view, shell or shell_here())
    show(_for_others(output) if redact else output)
    return 0 if diagnosis.candidates or unknown == "ok" else UNKNOWN


def _text_of(words: list[str]) -> tuple[bytes, int]:
    """Return what a file, standard input or the words say, and the bytes left out; a word that looks like a path is one."""
    name = words[0]
    if len(words) == 1 and (name == "-" or Path(name).exists() or not name or not (" " in name or _is_word(name))):
        return read_input(name)
    return " ".join(words).encode(), 0


def _is_word(name: str) -> bool:
    """Return whether a name is rather a word of an error than a file: no folder, and no ending of a file of text."""
    return "/" not in name and "\\" not in name and not name.endswith((".log", ".txt", ".out", ".err", ".md"))


def read_input(name: str, most: int | None = None) -> tuple[bytes, int]:
    """Return the ends of a file, or of standard input for `-`, and how many bytes were left out; raises UsageError."""
    from compatkb.doctor.error_text import LIMIT, read_ends

    if name == "-":
        if sys.stdin.isatty():
            tell("remark: paste the text, then end it with Ctrl-D (Ctrl-Z and Enter on Windows)")
        return read_ends(sys.stdin.buffer, most or LIMIT)
    try:
        with safe_open(Path(name)) as stream:
            return read_ends(stream, most or LIMIT)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{name}: cannot be read: {reason}") from None


def doctor(
    file: Annotated[
        str | None,
        o.word("REPORT", "examine the JSON of `pip inspect` or the output of a collect_env script; - reads standard input"),
    ] = None,
    python: Annotated[
        str | None,
        o.value(
            "--python",
            "PATH",
            "the interpreter to look at (default: that of the active environment, else of .venv, else the one that runs this)",
        ),
    ] = None,
    sysfs: Annotated[str | None, o.value("--sysfs", "ROOT", "read the graphics from this copy of /sys")] = None,
    redact: o.Redact = False,
    shell: o.Shell = None,
    form: o.Format = "text",
    unknown: o.Unknown = "fail",
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Say what of a machine works and what does not, and the way to the nearest working stack.

    The exit code is 0 where all is well, 7 where that cannot be told, else 1.
    """
    from compatkb.doctor.error_text import decode
    from compatkb.doctor.machine.reports import read_report
    from compatkb.doctor.verdict import examine
    from compatkb.output.doctor_report import examination_json, examination_lines, present_examination

    if file and python:
        raise UsageError("give a report or --python, not both")
    if sysfs and file:
        raise UsageError("give a report or --sysfs, not both; a report already names the graphics")
    if sysfs and not Path(sysfs).is_dir():
        raise UsageError(f"{sysfs}: is not a directory; give a copy of /sys")
    facts, clock = open_facts(data, as_of)
    if file:
        content, _ = read_input(file, _REPORT)
        machine = read_report(facts, decode(content), "standard input" if file == "-" else file)
    else:
        machine = this_machine(facts, python, sysfs)
    examination = examine(facts, machine, clock)
    view = present_examination(facts, examination, clock.day)
    output = examination_json(view) if form == "json" else examination_lines(view, shell or shell_here())
    show(_for_others(output) if redact else output)
    if examination.undecided:
        return 0 if unknown == "ok" else UNKNOWN
    return int(not examination.healthy)


def verify(
    python: Annotated[
        str | None, o.value("--python", "PATH", "the interpreter to run (default: as doctor chooses it)")
    ] = None,
    redact: o.Redact = False,
    shell: o.Shell = None,
    form: o.Format = "text",
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Import torch in the active environment and ask whether its device can be used; 0 where it can, else 1."""
    from compatkb.doctor.diagnose import diagnose as look
    from compatkb.doctor.known_machine import KnownMachine
    from compatkb.doctor.machine.interpreter import active, run_check
    from compatkb.output.diagnosis import diagnosis_lines, present_diagnosis
    from compatkb.output.doctor_report import verification_json, verification_lines
    from compatkb.output.documents import Edition
    from compatkb.output.labels import Names

    facts, clock = open_facts(data, as_of)
    interpreter = python or active(os.environ, Path.cwd())
    check = KnownMachine(facts, this_machine(facts, interpreter), clock).check
    if check is None:
        raise UsageError(f"{interpreter}: no torch is installed there; see `compatkb resolve --here`")
    done = run_check(interpreter, check.module, check.proof)
    if form == "json":
        output: str | Sequence[Line] = verification_json(Edition(facts.meta["data_date"], clock.day), interpreter, check, done)
    else:
        device = Names(facts).value("device", check.device) if check.device else "this machine"
        output = verification_lines(interpreter, check.module, device, done)
    show(_for_others(output) if redact else output)
    if done.version is None and form == "text":
        diagnosis = look(facts, done.text, clock)
        lines = diagnosis_lines(present_diagnosis(facts, diagnosis, clock.day), shell or shell_here())
        show(_for_others(lines) if redact else lines)
    return 0 if done.usable else 1


def _for_others(output: "str | Sequence[Line]") -> "str | Sequence[Line]":
    """Return an output as it may be shown to anybody: without this user's and this machine's names."""
    user = os.environ.get("USER") or os.environ.get("USERNAME") or ""
    names = {str(Path.home()): "~", socket.gethostname(): "HOST", **({user: "USER"} if user != "root" else {})}
    if isinstance(output, str):
        return redacted(output, names)
    return [line._replace(text=redacted(line.text, names)) for line in output]


def this_machine(facts: "Snapshot", python: str | None = None, sysfs: str | None = None) -> "Machine":
    """Return this machine with one of its interpreters."""
    from compatkb.doctor.machine.interpreter import active, read_interpreter
    from compatkb.doctor.machine.system import (
        read_graphics,
        read_libraries,
        read_nodes,
        read_packages,
        read_release,
        read_variables,
    )
    from compatkb.doctor.questions import KnownData

    machine = read_interpreter(python or active(os.environ, Path.cwd()), KnownData(facts).modules())
    names = [record["library"] for record in facts.guide_records("generation")]
    folders = [Path(part) for part in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if part]
    libraries = read_libraries([*folders, Path(machine.prefix or sys.prefix) / "lib"], names)
    here_only = sysfs is None and machine.system == "linux"
    return machine._replace(
        release=read_release(Path("/")),
        graphics=read_graphics(Path(sysfs or "/sys")),
        nodes=read_nodes(Path("/dev/dri")) if here_only else None,
        drivers=read_packages(Path("/"), KnownData(facts).driver_packages()) if here_only else None,
        variables=read_variables(os.environ, [record["name"] for record in facts.guide_records("variable")]),
        libraries=libraries,
    )
