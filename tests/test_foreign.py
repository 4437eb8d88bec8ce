"""Foreign bytes: only regular files inside the tree are read, and what they hold can do no harm where it is printed."""

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run
from source_code import MODULES, nodes_of, place_of

from compatkb.check.config import Settings
from compatkb.check.files import find, read
from compatkb.cli.profile import machine_profile
from compatkb.core.findings import Finding
from compatkb.core.foreign import read_bounded, safe_open, shown
from compatkb.docgen.render import find_files

OUR_OWN = ("authoring", "core/foreign.py", "core/atomic_write.py", "export", "refresh", "schema", "store", "validate", "web")
"""What reads data, caches and outputs of our own."""
OWN = ("check/rules.py", "cli/app.py", "cli/plain.py", "doctor/machine/interpreter.py")
"""What reads our own documents, or is code for another interpreter, which has none of ours."""

posix = pytest.mark.skipif(sys.platform == "win32", reason="named pipes are files on POSIX alone")


@posix
@pytest.mark.parametrize("kind", ["pipe", "device", "link to a device"])
def test_what_is_no_regular_file_is_a_finding(kind: str, tmp_path: Path) -> None:
    """Nothing waits for a pipe or reads a device without end."""
    path = tmp_path / "requirements.txt"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    found = read(path)
    assert isinstance(found, Finding)
    assert "no regular file" in found.message
    with pytest.raises(OSError, match="no regular file"):
        safe_open(path)


def test_a_folder_is_not_opened(tmp_path: Path) -> None:
    """It says so, as the system does."""
    with pytest.raises(OSError, match=r"[Dd]irectory"):
        safe_open(tmp_path)


def test_no_more_is_read_than_may_be(tmp_path: Path) -> None:
    """One byte more is too much."""
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_bounded(path, 5) == b"12345"
    with pytest.raises(OSError, match="larger"):
        read_bounded(path, 4)


@posix
def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    """Those within the tree are; who names a link has it read."""
    secret, tree = tmp_path / "secret.txt", tmp_path / "tree"
    secret.write_text("ipex==SECRET\n")
    tree.mkdir()
    (tree / "requirements.txt").write_text("torch==2.8.0\n")
    (tree / "requirements-in.txt").symlink_to("requirements.txt")
    (tree / "requirements-out.txt").symlink_to(secret)
    (tree / "out.md").symlink_to(secret)
    assert {path.name for path in find([str(tree)], lambda _: True, Settings(""))} <= {
        "requirements.txt",
        "requirements-in.txt",
    }
    assert [path.name for path in find([str(tree / "requirements-out.txt")], lambda _: True, Settings(""))]
    assert find_files([str(tree)]) == []
    with pytest.raises(OSError, match="leads out"):
        safe_open(tree / "requirements-out.txt", tree)
    assert read_bounded(tree / "requirements-in.txt", 100, tree) == b"torch==2.8.0\n"


@posix
def test_folders_without_end_are_walked(run: Callable[..., Run], tmp_path: Path) -> None:
    """A thousand folders within each other, links that go in circles: what is near is checked, in time."""
    (tmp_path / "requirements.txt").write_text("torch==99.0\n")
    (tmp_path / "circle").symlink_to("..")
    (tmp_path / "itself").symlink_to("itself")
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        for _ in range(1200):
            Path("folder").mkdir()
            os.chdir("folder")
        Path("requirements.txt").write_text("torch==99.0\n")
    finally:
        os.chdir(here)
    told = run("check", str(tmp_path))
    assert told.out.count("requirements.txt:1") == 1
    assert run("docs", "check", str(tmp_path)).code in (0, 2)
    subprocess.run(["rm", "-r", str(tmp_path / "folder")], check=True)  # what Python's own cannot


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain über 東京 B580™", "plain über 東京 B580™"),
        ("\x1b[2J", r"\x1b[2J"),
        ("a\nb\tc", "a\\nb\tc"),
        ("\u202egpj.exe", r"\u202egpj.exe"),
        ("\u2066x\u2069", r"\u2066x\u2069"),
        ("\udcff", r"\udcff"),
        ("\x9b31m\x7f\x00", r"\x9b31m\x7f\x00"),
    ],
)
def test_what_does_not_print_is_escaped(text: str, expected: str) -> None:
    """Controls, marks of direction and broken characters are seen as what they are."""
    assert shown(text) == expected
    assert shown(text).encode()


@posix
def test_reports_hold_nothing_that_a_terminal_obeys(run: Callable[..., Run], tmp_path: Path) -> None:
    """Neither a name, nor a line of a file or of a pasted text; in every form of a report."""
    folder = tmp_path / "a\x1b[31m\u202eb"
    folder.mkdir()
    (folder / "requirements.txt").write_text("torch==2.8.0 \x1b]52;c;aGk=\x07\nipex==\u202e9.9.9\nipex==2.8.0\ntorch==99.0\n")
    (os_named := tmp_path / os.fsdecode(b"b\xff")).mkdir()
    (os_named / "requirements.txt").write_text("torch==2.8.0\nintel-extension-for-pytorch==2.7.0\n")
    for form in ("text", "json", "sarif", "github", "gitlab"):
        told = run("check", str(tmp_path), "--format", form)
        assert not {"\x1b", "\x07", "\u202e"} & set(told.out + told.err)
        assert (told.out + told.err).encode()
    paste = tmp_path / "paste.log"
    paste.write_text("ImportError: \x1b]52;c;aGk=\x07 No module named 'intel_extension_for_pytorch' \u202e\x1b[2J\n")
    told = run("diagnose", str(paste))
    assert not {"\x1b", "\x07", "\u202e"} & set(told.out + told.err)


def _opens(node: ast.Call) -> bool:
    called, ways = ast.unparse(node.func), ("read_text", "read_bytes", "fdopen", "rglob", "iterdir")
    return called in ("open", "os.walk") or (isinstance(node.func, ast.Attribute) and node.func.attr in ways)


def _prints(node: ast.Call) -> bool:
    """Return whether a call is `print`, or writes to a stream of the process."""
    called = ast.unparse(node.func)
    return called == "print" or called.startswith(("sys.stdout.write", "sys.stderr.write", "sys.stdout.b", "sys.stderr.b"))


def _calls(does: Callable[[ast.Call], bool], *left_out: str) -> list[str]:
    """Return where the program has a call that does something, but for modules whose path begins in one of these ways."""
    return [
        f"{name}:{node.lineno}"
        for path in MODULES
        if not (name := place_of(path)).startswith(left_out)
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and does(node)
    ]


def test_foreign_files_have_one_way_in() -> None:
    """Nobody who reads files of others opens them, or walks through folders, but by core/foreign.py."""
    assert _calls(_opens, *OUR_OWN, *OWN) == []


def test_text_has_one_way_out() -> None:
    """Commands print by `show` and `tell`, which escape what a terminal obeys."""
    ways = ("cli/terminal.py", "output/terminal.py", "cli/reference.py")
    others = ("mcp/protocol.py", "validate/", "web/server.py", "doctor/machine/")  # own protocol, processes of their own
    assert _calls(_prints, *ways, *others) == []


@posix
@pytest.mark.parametrize(
    "content", ["tool = 5  # compatkb", "[tool]\ncompatkb = 5", "[tool.compatkb]", "[project]\nname = 'x'"]
)
def test_projects_without_a_machine_are_none(content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of another kind, a pipe in the place of the file, more bytes than anybody writes."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPATKB_CONFIG", str(tmp_path / "none"))
    path = tmp_path / "pyproject.toml"
    path.write_text(content)
    assert machine_profile() is None
    path.write_text("# compatkb\n" + "#" * 1_000_000)
    assert machine_profile() is None
    path.unlink()
    os.mkfifo(path)
    assert machine_profile() is None
