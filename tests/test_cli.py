"""The command line as people and programs use it."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import platformdirs
import pytest
from builders import data_directory, product
from conftest import ROOT, Run, parse, without_age

from compatkb import KnowledgeBase, __version__
from compatkb.authoring.loader import read
from compatkb.store.cache import (
    cache_directory,
    compile_directory,
    data_files,
    locate,
    remove_damaged,
    updates_directory,
    user_folder,
)
from compatkb.store.reader import Snapshot

Runner = Callable[..., Run]
XPU = ("resolve", "--torch", "2.4", "--device", "xpu")


def test_headline_question(run: Runner) -> None:
    """Torch 2.4 on xpu: no stack, the gap and the prototype as causes, three neighbours and today's best with commands."""
    answer = json.loads(run(*XPU, "--format", "json").out)
    assert (answer["verdict"], answer["stacks"]) == ("does-not-work", [])
    said = " ".join(cause["message"] for cause in answer["causes"])
    for words in (
        "source only",
        "stops unless torch is 2.3",
        "IPEX 2.5.10+xpu needs torch 2.5",
    ):
        assert words in said
    assert all(cause["certain"] and cause["sources"] for cause in answer["causes"])
    near = [
        (n["relaxed"], n["where"], n["stack"]["packages"]["torch"], n["stack"]["packages"].get("ipex"))
        for n in answer["nearest"]
    ]
    assert (["torch"], "below", "2.3.1+cxx11.abi", "2.3.110+xpu") in near
    assert (["torch"], "above", "2.5.1+cxx11.abi", "2.5.10+xpu") in near
    assert (["torch"], "above", "2.6.0+xpu", None) in near
    assert near[-1][1] == "best"
    assert near[-1][3] is None
    assert all(n["stack"]["install"] and n["stack"]["proof"] for n in answer["nearest"])


def test_cpu_question(run: Runner) -> None:
    """Torch 2.4 on cpu: plain torch works with a warning, on Linux first; IPEX 2.4.0 too, yanked, by an exact pin."""
    answer = json.loads(run("resolve", "--torch", "2.4", "--device", "cpu", "--format", "json").out)
    plain = answer["stacks"][0]
    assert (plain["verdict"], plain["route"], plain["packages"]["torch"]) == ("works-with-warnings", "native", "2.4.1+cpu")
    ipex = next(stack for stack in answer["stacks"] if stack["packages"].get("ipex") == "2.4.0")
    assert ipex["verdict"] == "works-with-warnings"
    assert "security" in next(w["message"] for w in ipex["warnings"] if w["kind"] == "yanked")
    assert any("intel-extension-for-pytorch==2.4.0" in line for line in ipex["install"])
    assert "ipex" not in plain["packages"]


def test_same_answer_same_bytes() -> None:
    """The same data and date give the same bytes, in whatever order hashes fall."""
    outs = set()
    for seed in ("0", "1"):
        command = [sys.executable, "-m", "compatkb", *XPU, "--format", "json", "--why"]
        done = subprocess.run(command, capture_output=True, check=False, env={**os.environ, "PYTHONHASHSEED": seed})
        outs.add(done.stdout)
    assert len(outs) == 1


def test_results_on_stdout_remarks_on_stderr(facts: Snapshot, run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past 180 days the age of the data is remarked on stderr; every JSON answer carries its date."""
    known = date.fromisoformat(facts.meta["data_date"])
    monkeypatch.setenv("COMPATKB_TODAY", (known + timedelta(days=365)).isoformat())
    done = run("resolve", "torch==2.4.0", "--device", "cpu", "--format", "json")
    assert "days old" in done.err
    assert json.loads(done.out)["data_date"] == known.isoformat()
    monkeypatch.setenv("COMPATKB_TODAY", (known + timedelta(days=10)).isoformat())
    assert run("resolve", "torch==2.4.0", "--device", "cpu").err == ""


def test_no_stack_is_no_file(run: Runner) -> None:
    """Where there is no stack a file says why, on stderr, and nothing on stdout."""
    denied = run("explain", "torch==2.7.1", "ipex==2.8.0", "--format", "uv")
    assert (denied.code, denied.out) == (1, "")
    assert denied.err.startswith("error: torch 2.7.1 with IPEX 2.8.0 on CPU: no stack\n- ")


def test_end_of_one_version(run: Runner) -> None:
    """The end of a version is told however far off it is, and that there is no such version."""
    assert "2029-10  Python 3.13" in run("eol", "python", "3.13").out
    assert run("eol", "python", "3.9").out.split()[:4] == ["past", "2025-10-31", "Python", "3.9"]
    assert "has no version '2.99'" in run("eol", "python", "2.99").err
    for words in (("ubuntu", "22.04"), ("ubuntu22.04",), ("os", "ubuntu22.04")):
        assert "2027-06-01  Ubuntu 22.04" in run("eol", *words).out


def test_what_nobody_publishes_is_no_promise(run: Runner) -> None:
    """Where no end is published it is said so, with what was read; not beside a version whose end is known."""
    for command in ("eol", "show"):
        assert "No end of life is published." in run(command, "transformers").out
    assert "no day is known" not in run("eol", "os", "debian12").out
    rules = {rule["product"]: rule for rule in json.loads(run("eol", "--format", "json").out)["rules"]}
    assert (rules["transformers"]["published"], rules["accelerate"]["published"]) == (False, True)
    assert all(rule["sources"] for rule in rules.values())


def test_version_names_program_and_data(facts: Snapshot, run: Runner) -> None:
    """--version carries the date of the data, on stdout."""
    for words in (("--version",), ("-V",), ("version",)):
        done = run(*words)
        assert (done.code, done.out) == (0, f"compatkb {__version__} (data of {facts.meta['data_date']})\n")


def test_help_is_a_command_too(run: Runner) -> None:
    """`help`, `help COMMAND` and no words at all print what `--help` prints."""
    assert run().out == run("help").out == run("--help").out
    assert run("help", "resolve").out == run("resolve", "--help").out
    assert run().code == 0


def test_the_newest_is_any_version(run: Runner) -> None:
    """In place of a version, `latest` asks for the newest one that has an answer."""
    assert run("resolve", "--torch", "latest", "xpu").out == run("resolve", "torch", "xpu").out


@pytest.mark.parametrize(
    "words", [("list",), ("list", "torch"), ("show", "ipex"), ("show", "ipex", "2.8.10"), ("eol",)], ids=" ".join
)
def test_every_command_has_json(words: tuple[str, ...], run: Runner) -> None:
    """Every command prints JSON with the schema number and the dates."""
    content = json.loads(run(*words, "--format", "json").out)
    assert {"schema", "data_date", "as_of"} <= set(content)
    assert run(*words).code == 0


def test_show_says_what_is_disputed_and_decided(run: Runner) -> None:
    """Disagreements between sources are shown with their decision."""
    assert "decided" in run("show", "ipex", "--why").out
    assert "disputed:" in run("show", "ipex", "2.3.110", "--why").out


def test_why_traces_edges_to_sources(run: Runner) -> None:
    """--why names for each edge the claim, its basis and its sources."""
    out = run("resolve", "--ipex", "2.3.110", "--device", "xpu", "--why").out
    assert "ipex==2.3.110+xpu needs torch==2.3.1+cxx11.abi (stated) [" in out
    assert "https://github.com/intel/intel-extension-for-pytorch/blob/v2.3.110%2Bxpu/" in out


def test_requirements_can_be_read_by_pip(run: Runner) -> None:
    """The requirements file holds exact pins and the index that they need."""
    done = run("resolve", "--torch", "2.8", "--device", "xpu", "--os", "linux", "--format", "requirements")
    lines = done.out.splitlines()
    assert "torch==2.8.0+xpu" in lines
    assert "--extra-index-url https://download.pytorch.org/whl/xpu" in lines


def test_requirements_refuse_what_one_file_cannot_install(run: Runner) -> None:
    """A stack that its maker installs against a metadata pin is not put into one file."""
    done = run("resolve", "--ipex", "2.6.10", "--device", "xpu", "--os", "linux", "--format", "requirements")
    assert (done.code, done.out) == (1, "")
    assert "steps" in done.err


def test_waived_pin_takes_two_commands(run: Runner) -> None:
    """IPEX 2.6.10 cannot be installed in one command with its torch."""
    answer = json.loads(run("resolve", "--ipex", "2.6.10", "--device", "xpu", "--os", "linux", "--format", "json").out)
    first, second = answer["stacks"][0]["install"]
    assert "torch==2.6.0+xpu" in first
    assert "intel-extension-for-pytorch==2.6.10+xpu" in second


def test_pinned_bound_product_is_in_the_command(run: Runner) -> None:
    """What the user pinned is installed at that version."""
    answer = json.loads(run("resolve", "--torch", "2.2.2", "numpy==1.26.4", "--device", "cpu", "--format", "json").out)
    assert any("numpy==1.26.4" in line for line in answer["stacks"][0]["install"])


def test_a_reader_that_leaves_is_no_error() -> None:
    """`compatkb ... | head -1` ends quietly."""
    command = f"{sys.executable} -m compatkb list transformers | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert without_age(done.stderr) == ""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Small data with a cache of their own."""
    monkeypatch.setenv("COMPATKB_CACHE", str(tmp_path / "cache"))
    return data_directory(tmp_path / "data", [product("torch", releases=["2.8.0", "2.7.0"])])


def test_an_edit_of_the_data_is_seen_at_once(data: Path, run: Runner) -> None:
    """A changed file is compiled anew, data that nobody touched are not."""
    words = ("list", "torch", "--data", str(data))
    before = run(*words).out
    (snapshot,) = (data.parent / "cache").glob("*.sqlite")
    stamp = snapshot.stat().st_mtime_ns
    path = data / "products" / "torch.toml"
    assert run(*words).out == before
    assert snapshot.stat().st_mtime_ns == stamp
    assert list((data.parent / "cache").glob("*.sqlite")) == [snapshot]
    text = path.read_text(encoding="utf-8")
    assert "2.9.0" not in before
    path.write_text(text.replace("2.8.0", "2.9.0"), encoding="utf-8")
    assert "2.9.0" in run(*words).out


def test_what_was_parsed_before_is_parsed_anew_where_it_is_not_right(data: Path, run: Runner) -> None:
    """What a compilation keeps for the next one is never trusted: damaged, it is parsed again; whole, the rows are equal."""
    words = ("list", "torch", "--data", str(data))
    before = run(*words).out
    compile_directory(data, data.parent / "anew.sqlite")
    rows = _rows(data.parent / "anew.sqlite")
    (parsed,) = (data.parent / "cache").glob("*.parsed")
    whole = parsed.read_text("utf-8")
    for damaged in (whole, "", whole[: len(whole) // 2], whole.replace("2.8.0", ""), whole.replace("{", "[")):
        parsed.write_text(damaged, "utf-8")
        os.utime(data / "products" / "torch.toml")
        assert run(*words).out == before
        assert parsed.read_text("utf-8") == whole
        assert _rows(Path(locate(data))) == rows


def _rows(snapshot: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(snapshot)) as db:
        return list(db.iterdump())


def test_files_that_count_are_those_that_are_read() -> None:
    """What is looked at for changes is what the compiler reads: no edit goes unseen."""
    data = ROOT / "data"
    assert sorted(read(data)) == sorted(Path(path).relative_to(data).as_posix() for path in data_files(str(data)))


def test_hardware_is_listed_by_what_it_is_used_as(run: Runner) -> None:
    """`list gpu` names graphics, `list cpu` processors, and neither what the other names."""
    listed = {
        word: {row["version"] for row in json.loads(run("list", word, "--format", "json").out)["releases"]}
        for word in ("gpus", "cpu")
    }
    assert {"arc-b", "max"} <= listed["gpus"]
    assert "xeon-6" in listed["cpu"]
    assert listed["gpus"].isdisjoint(listed["cpu"])


def test_few_snapshots_are_kept(tmp_path: Path, run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each content has a snapshot of its own, one that comes back finds its own again, and old ones go."""
    monkeypatch.setenv("COMPATKB_CACHE", str(tmp_path / "cache"))
    data_directory(tmp_path / "data", [product("torch", releases=["2.0.0"])])
    path = tmp_path / "data" / "products" / "torch.toml"
    text = path.read_text(encoding="utf-8")
    for number in (1, 2, 3, 4, 5, 6, 7, 5, 6):
        path.write_text(text.replace("2.0.0", f"{number}.0.0"), encoding="utf-8")
        assert f"{number}.0.0" in run("list", "torch", "--data", str(tmp_path / "data")).out
    assert len(list((tmp_path / "cache").glob("*.sqlite"))) == 4


def test_a_cache_that_cannot_be_written_costs_time_not_the_answer(
    data: Path, run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a usable cache folder the data are compiled for this run alone."""
    (data.parent / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("COMPATKB_CACHE", str(data.parent / "file" / "cache"))
    assert run("list", "torch", "--data", str(data)).code == 0


def test_what_stands_in_for_a_cache_may_be_gone_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be kept the compiled data are removed at the end, which fails not if somebody else was quicker."""
    at_exit: list[Callable[[], object]] = []
    monkeypatch.setattr("atexit.register", lambda *call, **how: at_exit.append(lambda: call[0](*call[1:], **how)))
    (tmp_path / "file").touch()
    monkeypatch.setenv("COMPATKB_CACHE", str(tmp_path / "file" / "cache"))
    snapshot = Path(locate(data_directory(tmp_path / "data", [product("torch", releases=["2.0.0"])])))
    for _ in range(2):
        assert [leave() for leave in at_exit] == [None]
        assert not snapshot.exists()


def test_what_is_compiled_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Power that fails leaves the whole file or none under the name that later runs read."""
    done: list[str] = []
    kept, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: done.append("kept") or kept(file))
    monkeypatch.setattr(os, "replace", lambda old, new: done.append(Path(new).suffix) or replace(old, new))
    monkeypatch.setenv("COMPATKB_CACHE", str(tmp_path / "cache"))
    locate(data_directory(tmp_path / "data", [product("torch", releases=["2.0.0"])]))
    assert "kept" in done[: done.index(".sqlite")]


def test_a_new_product_needs_no_code(data: Path, run: Runner) -> None:
    """A product that exists only as a file is listed, pinned and resolved."""
    (data / "products" / "gadget.toml").write_text(
        """[product]
id = "gadget"
name = "Gadget"
role = "package"
scheme = "pep440"
rank = 90
distribution = "gadget"
complete = [{ what = "release", of = "gadget", until = 2026-11-21, ended = true, sources = ["page"] }]

[source]
page = { url = "https://example.org/gadget", seen = 2026-11-21 }

[[release]]
version = "1.0"
released = { on = 2026-01-01, sources = ["page"] }
sources = ["page"]

[[builds]]
channels = ["default"]
devices = ["cpu"]
wheels = [{ os = ["linux"], python = ["3.12"] }]
wheels-complete = true
rows = [
    ["1.0", ["page"]],
]

[[pairs]]
needs = "torch"
rows = [
    ["1.0", "2.8.0", ["page"]],
]
""",
        encoding="utf-8",
    )
    answer = json.loads(run("resolve", "gadget", "--data", str(data), "--format", "json").out)
    assert answer["verdict"] == "works"
    assert answer["stacks"][0]["packages"]["gadget"] == "1.0"
    assert answer["stacks"][0]["packages"]["torch"] == "2.8.0"
    assert run("resolve", "gadget", "torch==2.7.0", "--data", str(data)).code == 1


def test_python_interface_gives_the_same_answer(facts: Snapshot, run: Runner) -> None:
    """`from compatkb import KnowledgeBase` is the same engine."""
    base = KnowledgeBase(ROOT / "data")
    answer = base.resolve({"torch": "2.4"}, device="cpu")
    shown = json.loads(run("resolve", "--torch", "2.4", "--device", "cpu", "--format", "json").out)
    assert [{e.product: e.version for e in s.packages} for s in answer.stacks] == [s["packages"] for s in shown["stacks"]]
    assert base.data_date.isoformat() == facts.meta["data_date"]


@pytest.mark.parametrize(
    ("before", "option", "after"),
    [
        (("explain", "torch==2.8.0"), ("--device", "cpu"), ("python==3.11",)),
        (("resolve", "torch==2.8.0"), ("--device", "cpu"), ("ipex", "python==3.11")),
        (("show", "torch"), ("--format", "json"), ("2.8.0",)),
        (("search", "arc"), ("--format", "json"), ("a770",)),
        (("check", "a.txt"), ("--fail-on", "error"), ("b.txt",)),
        (("docs", "check", "a.md"), ("--format", "json"), ("b.md",)),
        (("docs", "render", "a.md"), ("--as-of", "2026-11-21"), ("b.md",)),
        (("fmt", "a.toml"), ("--check",), ("b.toml",)),
    ],
)
def test_words_may_stand_between_options(before: tuple[str, ...], option: tuple[str, ...], after: tuple[str, ...]) -> None:
    """A word after an option is read as one before it, in every command that takes several."""
    mixed, plain = parse([*before, *option, *after]), parse([*before, *after, *option])
    assert mixed == plain


@pytest.mark.parametrize(
    "words",
    [("list", "torch", "--format", "json", "ipex"), ("explain", "torch", "--devise", "cpu", "ipex"), ("doctor", "a", "b")],
)
def test_a_word_too_many_is_still_wrong(run: Callable[..., Run], words: tuple[str, ...]) -> None:
    """What no command takes is refused and named, wherever it stands."""
    done = run(*words)
    assert done.code == 2
    assert done.err.startswith(("error: unexpected argument ", "error: unknown option "))
    assert done.err.count("error:") == 1


@pytest.mark.parametrize(("command", "word"), [("search", "WORD..."), ("show", "PRODUCT"), ("matrix", "PRODUCT")])
def test_a_missing_word_is_named(run: Callable[..., Run], command: str, word: str) -> None:
    """A command that needs a word says which and where it is described; so does the JSON that it is asked for."""
    done = run(command)
    assert (done.code, done.err) == (2, f"error: missing argument {word}\n  see `compatkb {command} --help`\n")
    told = json.loads(run(command, "--format", "json").out)["error"]
    assert (told["exit_code"], told["problems"][0]["message"]) == (2, f"missing argument {word}")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("--os", "ubuntu23.1"),
            "error: unknown operating system 'ubuntu23.1'\n  did you mean: compatkb resolve --torch 2.8 --os ubuntu",
        ),
        (("--arch", "amd65"), "error: unknown architecture 'amd65'\n  "),
        (
            ("--hardware", "arcc"),
            "error: unknown Intel GPU 'arcc'\n  did you mean: compatkb resolve --torch 2.8 --hardware arc",
        ),
        (("--hardware", "zzzzzz"), "error: unknown hardware 'zzzzzz'\n"),
    ],
)
def test_an_unknown_name_is_told_by_what_it_is(run: Callable[..., Run], words: tuple[str, str], told: str) -> None:
    """A system, an architecture or a kind of hardware that nobody knows is named as such, with what comes near it."""
    assert run("resolve", "--torch", "2.8", *words).err.startswith(told)


def test_show_folds_the_wheels_of_a_system_into_one(run: Runner) -> None:
    """Pythons of wheels that were seen and of those that are inferred stand together, whatever the architecture."""
    text = " ".join(run("show", "transformers", "4.56.0").out.split())
    assert "Linux 3.9–3.15" in text


def test_show_names_what_a_build_links_on_the_commonest_machine(run: Runner) -> None:
    """Of several platforms the first screen shows one, by name: Linux on x86-64 where it was read; --why shows all."""
    first = " ".join(run("show", "torchvision", "0.23.0").out.split())
    assert "libraries at run time (Linux, x86-64): libc10.so, " in first
    assert first.count("libraries at run time") == 1
    for words in (("torchvision", "0.23.0"), ("torch", "2.8.0")):
        told = run("show", *words, "--why").out
        assert all(f"    {platform} links: " in told for platform in ("linux x86_64", "windows x86_64", "macos arm64"))


@pytest.mark.parametrize("harm", ["empty", "cut", "foreign", "flipped", "unsealed"])
def test_a_damaged_cache_heals(harm: str, data: Path, run: Runner) -> None:
    """Whatever became of a compiled store, the next run notices, and answers as before."""
    words = ("list", "torch", "--data", str(data))
    before = run(*words).out
    (snapshot,) = (data.parent / "cache").glob("*.sqlite")
    whole = snapshot.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 4
    foreign = b"SQLite format 3\0 of somebody else"
    content = {"empty": b"", "cut": whole[:5000], "foreign": foreign, "flipped": bytes(flipped), "unsealed": whole}[harm]
    snapshot.write_bytes(content)
    if harm == "unsealed":
        snapshot.with_name(f"{snapshot.name}.sum").unlink()
    assert run(*words).out == before
    assert snapshot.read_bytes() == whole


def test_a_store_that_spoils_unseen_is_removed_when_it_fails(data: Path, run: Runner) -> None:
    """Size and time as before, other bytes: one line says what was done, and the next run answers."""
    words = ("list", "torch", "--data", str(data))
    before = run(*words).out
    (snapshot,) = (data.parent / "cache").glob("*.sqlite")
    times = snapshot.stat()
    content = snapshot.read_bytes()
    snapshot.write_bytes(content[:100] + b"\xff" * (len(content) - 100))
    os.utime(snapshot, ns=(times.st_atime_ns, times.st_mtime_ns))
    told = run(*words)
    assert (told.code, told.out) == (0, before)
    assert "was damaged, so it was removed" in told.err
    times = snapshot.stat()
    with contextlib.closing(sqlite3.connect(snapshot)) as store, store:
        store.execute("drop table release")
    os.utime(snapshot, ns=(times.st_atime_ns, times.st_mtime_ns))
    told = run(*words)
    assert (told.code, told.out) == (3, "")
    assert "was damaged, so it was removed" in told.err
    assert "Traceback" not in told.err
    assert run(*words).out == before


def test_what_killed_runs_left_goes_with_the_next_compilation(data: Path, run: Runner) -> None:
    """Their folders are removed, those of other data are not."""
    words = ("list", "torch", "--data", str(data))
    run(*words)
    cache = data.parent / "cache"
    (snapshot,) = cache.glob("*.sqlite")
    key = "-".join(snapshot.name.split("-")[:2])
    left, other = cache / f"{key}.new-abc", cache / "00000000-0.new-abc"
    for folder in (left, other):
        folder.mkdir()
        (folder / "new").write_bytes(b"half")
    snapshot.unlink()
    run(*words)
    assert (left.exists(), other.exists()) == (False, True)


def test_cache_of_what_is_gone_or_unused_goes_with_the_next_compilation(data: Path, run: Runner, tmp_path: Path) -> None:
    """All of a data directory that is gone, and what nobody read for weeks; what is used stays, and what others keep."""
    cache, gone, used = data.parent / "cache", tmp_path / "gone", tmp_path / "used"
    names: dict[Path, set[str]] = {}
    for folder in (gone, used):
        data_directory(folder, [product("torch", releases=["2.8.0"])])
        before = {path.name for path in cache.glob("*")}
        run("list", "torch", "--data", str(folder))
        names[folder] = {path.name for path in cache.glob("*")} - before
    shutil.rmtree(gone)
    weeks = time.time() - 40 * 86_400
    for name in ("00000000-1.lock", "00000000-1-2.sqlite", "new-abc", "00000000-1.new-abc", "engine.tgz"):
        (cache / name).mkdir(parents=True) if "new-" in name else (cache / name).touch()
        os.utime(cache / name, (weeks, weeks))
    run("list", "torch", "--data", str(data))
    left = {path.name for path in cache.glob("*")}
    assert len(names[gone]) == len(names[used]) >= 4
    assert names[used] <= left
    assert not names[gone] & left
    assert {name for name in left if "abc" in name or name.startswith("00000000") or name == "engine.tgz"} == {"engine.tgz"}


@pytest.mark.long
def test_first_runs_at_once_compile_once(tmp_path: Path) -> None:
    """Twenty processes with an empty cache: one compiles, all answer the same."""
    folder = data_directory(tmp_path / "data", [product("torch", releases=["2.8.0"])])
    count = tmp_path / "count"
    code = (
        "import sys, compatkb.store.cache as cache\n"
        "kept = cache._compile\n"
        f"cache._compile = lambda *words: (open({str(count)!r}, 'a').write('x'), kept(*words))\n"
        "from compatkb.cli import main\n"
        "main(sys.argv[1:])"
    )
    command = [sys.executable, "-c", code, "list", "torch", "--data", str(folder)]
    environment = {**os.environ, "COMPATKB_CACHE": str(tmp_path / "cache")}
    running = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for _ in range(20)]
    outs = {process.communicate()[0] for process in running}
    assert len(outs) == 1
    assert b"2.8.0" in outs.pop()
    assert count.read_text() == "x"


def test_what_nobody_foresaw_is_one_line(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last resort: what failed and where, how to report it, no traceback but on demand, and an exit code of its own."""

    def fail(*_: object) -> None:
        raise IndexError("no\nsuch \x1b[31m place")

    monkeypatch.setenv("COMPATKB_CACHE", str(tmp_path))  # a store that another test damages would be to blame
    monkeypatch.setattr("compatkb.cli.opening.open_data", fail)
    told = run("list")
    assert (told.code, told.out) == (5, "")
    first, *more = told.err.splitlines()
    assert "IndexError in tests.test_cli:" in first.replace("in test_cli:", "in tests.test_cli:")
    assert first.endswith(": no")
    assert "report this line" in more[0]
    assert "Traceback" not in told.err
    monkeypatch.setenv("COMPATKB_TRACEBACK", "1")
    assert "Traceback" in run("list").err


def test_only_what_is_there_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that another process has removed meanwhile is not blamed; one that differs from its checksum is."""
    monkeypatch.setenv("COMPATKB_CACHE", str(tmp_path))
    (tmp_path / "gone.sqlite.sum").write_text("1 1 1", encoding="ascii")
    assert remove_damaged() == []
    (tmp_path / "cut.sqlite").write_bytes(b"")
    (tmp_path / "cut.sqlite.sum").write_text("1 1 1", encoding="ascii")
    assert remove_damaged() == [str(tmp_path / "cut.sqlite")]


LONG = "9" * 4301


@pytest.mark.parametrize(
    "words",
    [
        ("resolve", f"torch=={LONG}"),
        ("explain", f"torch=={LONG}"),
        ("show", "torch", LONG),
        ("show", f"torch=={LONG}"),
        ("resolve", "--python", f"3.{LONG}"),
        ("resolve", f"torch>={LONG}"),
        ("resolve", "\udcff"),
        ("resolve", "torch==\udcff"),
        ("search", "\udcff"),
        ("eol", "--within", "9999y"),
        ("resolve", "torch", "--min-age", "999y"),
    ],
    ids=lambda words: f"{words[0]} {len(words[-1])}",
)
def test_words_without_bounds_are_wrong_usage(words: tuple[str, ...], run: Runner) -> None:
    """Exit code 2 and a sentence, whatever Python or SQLite thinks of them."""
    told = run(*words)
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("error: ")
    assert "Exceeds the limit" not in told.err


@pytest.mark.parametrize(
    "words", [("--as-of", "0001-01-01", "--min-age", "40d"), ("--as-of", "9999-12-31", "--min-age", "40d")]
)
def test_days_at_the_ends_of_the_calendar_are_answered(words: tuple[str, ...], run: Runner) -> None:
    """There is no day before the first nor after the last."""
    assert run("resolve", "torch==2.8.0", *words).code in (0, 1, 7)
    assert run("eol", "--as-of", words[1], "--within", "100y").code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is platformdirs itself")
@pytest.mark.parametrize("value", ["", " ", "/somewhere", None])
def test_folders_are_those_of_the_system(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Linux they are found without platformdirs, and are the same."""
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, value)
    for name in ("COMPATKB_CACHE", "COMPATKB_UPDATES"):
        monkeypatch.delenv(name, raising=False)
    assert cache_directory() == platformdirs.user_cache_dir("compatkb", appauthor=False)
    assert user_folder("user_config_dir") == platformdirs.user_config_dir("compatkb", appauthor=False)
    assert updates_directory() == platformdirs.user_data_dir("compatkb", appauthor=False)
