"""The commands for those whose machine fails: diagnose, doctor."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from compatkb.cli.commands import open_facts
from compatkb.errors import UsageError

if TYPE_CHECKING:
    from compatkb.machine import Machine
    from compatkb.snapshot.read import Snapshot


def diagnose(arguments: argparse.Namespace) -> int:
    """Say what may be behind an error that a program printed; 0 where a cause is named, else 1."""
    from compatkb.diagnosing import diagnose as look
    from compatkb.pasted import decode, shorten
    from compatkb.rendering.diagnosis import diagnosis_json, diagnosis_text

    content, left = shorten(read_input(arguments.file))
    if left:
        print(f"remark: {left} bytes in the middle of the text are left out", file=sys.stderr)
    text = decode(content)
    if not text.strip():
        raise UsageError("there is no text; paste what the program printed, or name a file")
    facts, day = open_facts(arguments)
    made = look(facts, text, day)
    show = diagnosis_json if arguments.format == "json" else diagnosis_text
    print(show(facts, made, day), end="")
    return 0 if made.candidates else 1


def read_input(name: str) -> bytes:
    """Return the content of a file, or of standard input for `-`; raises UsageError."""
    if name == "-":
        if sys.stdin.isatty():
            print("remark: paste the text, then end it with Ctrl-D (Ctrl-Z and Enter on Windows)", file=sys.stderr)
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{name}: cannot be read: {reason}") from None


def doctor(arguments: argparse.Namespace) -> int:
    """Say what of a machine works and what does not, and the way to the nearest working stack; 0 where all is well, else 1."""
    from compatkb.examining import examine
    from compatkb.rendering.examination import examination_json, examination_text

    if arguments.file and arguments.python:
        raise UsageError("name either a report or --python")
    if arguments.sysfs and arguments.file:
        raise UsageError("name either a report or --sysfs; a report tells the graphics itself")
    if arguments.sysfs and not Path(arguments.sysfs).is_dir():
        raise UsageError(f"{arguments.sysfs}: is no directory; name a copy of /sys")
    facts, day = open_facts(arguments)
    machine = _report(facts, arguments.file) if arguments.file else _this_machine(facts, arguments.python, arguments.sysfs)
    made = examine(facts, machine, day)
    show = examination_json if arguments.format == "json" else examination_text
    print(show(facts, made, day), end="")
    return 0 if made.healthy else 1


def _report(facts: "Snapshot", name: str) -> "Machine":
    from compatkb.machine.reports import read_report
    from compatkb.pasted import decode, shorten

    content, _ = shorten(read_input(name))
    return read_report(facts, decode(content), "standard input" if name == "-" else name)


def _this_machine(facts: "Snapshot", python: str | None, sysfs: str | None) -> "Machine":
    """Return this machine with one of its interpreters."""
    from compatkb.gleaning import guide
    from compatkb.inspecting import driver_packages, modules
    from compatkb.machine.graphics import read_graphics, read_nodes
    from compatkb.machine.interpreter import here, read_interpreter
    from compatkb.machine.system import read_libraries, read_packages, read_release, read_variables

    active = os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX")
    if not python and active and Path(active).resolve() != Path(sys.prefix).resolve():
        print(f"remark: the environment {active} is active; name its interpreter with --python", file=sys.stderr)
    machine = read_interpreter(python or here(), modules(facts))
    names = [record["library"] for record in guide(facts, "generation")]
    folders = [Path(part) for part in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if part]
    libraries = read_libraries([*folders, Path(machine.prefix or sys.prefix) / "lib"], names)
    here_only = sysfs is None and machine.system == "linux"
    return machine._replace(
        release=read_release(Path("/")),
        graphics=read_graphics(Path(sysfs or "/sys")),
        nodes=read_nodes(Path("/dev/dri")) if here_only else None,
        drivers=read_packages(Path("/"), driver_packages(facts)) if here_only else None,
        variables=read_variables(os.environ, [record["name"] for record in guide(facts, "variable")]),
        libraries=libraries,
    )
