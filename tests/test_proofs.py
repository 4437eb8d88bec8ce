"""Builds installed and tried: what each end means, and what a hostile index or wheel can do (nothing)."""

import fcntl
import os
import re
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from conftest import ROOT
from loopback import Index, serve

from compatkb.authoring.knowledge_base import Knowledge
from compatkb.schema import Level, Outcome
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.environment import here
from compatkb.validate.evidence import merged, read_evidence, text_of
from compatkb.validate.importing import check as check_import
from compatkb.validate.importing import check_run
from compatkb.validate.limits import KEPT, find_uv, isolated, run_limited, size_of
from compatkb.validate.messages import decisive, tidy
from compatkb.validate.proofs import pins_of, proofs, subjects

PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
REJECTS = "needs to work with PyTorch"
IPEX = "intel-extension-for-pytorch"


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    """An index with small wheels named like the real ones."""
    with serve() as made:
        yield made


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the real heads of some products, workloads of its own, and xpu that needs no hardware."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "products").mkdir()
    for name in ("torch", "ipex", "torchvision", "numpy", "os"):
        text = (ROOT / "data" / "products" / f"{name}.toml").read_text(encoding="utf-8")
        (folder / "products" / f"{name}.toml").write_text(text, encoding="utf-8")
    (folder / "channels.toml").write_bytes((ROOT / "data" / "channels.toml").read_bytes())
    text = (ROOT / "data" / "proofs.toml").read_text(encoding="utf-8")
    (folder / "proofs.toml").write_text(text.replace('path = "/dev/dri/renderD*"\n', ""), encoding="utf-8")
    (folder / "workloads").mkdir()
    script = (
        'import torch\ncheck("sum", torch.total(), 3.0, 1e-6)\nnote("features", len(features))\nskip("compile", "not here")\n'
    )
    (folder / "workloads" / "torch.py").write_text(script, encoding="utf-8")
    return folder


@pytest.fixture
def context(tmp_path: Path, data: Path, index: Index) -> RunContext:
    """A context whose default index and XPU index are the one on this machine."""
    url = f"{index.url}/simple/"
    indexes = {"default": url, "pytorch-xpu": url}
    interpreters = {PYTHON: os.path.realpath(sys.executable)}
    cache = tmp_path / "cache"
    return RunContext(
        date(2026, 1, 2), tmp_path / "cells", cache, data, indexes=indexes, interpreters=interpreters, seconds=60
    )


def cell(data: Path, level: Level = Level.IMPORT, index: str = "default", device: str = "cpu", **pins: str) -> ValidationCell:
    """Return a cell of this machine; underscores in names stand for hyphens."""
    packages = tuple(sorted((name.replace("_", "-"), version) for name, version in pins.items()))
    return ValidationCell(level, "python", packages, PYTHON, here(data), device, index)


def test_uv_is_there() -> None:
    """The tests below would prove little without uv."""
    assert find_uv()


def test_builds_with_local_labels_are_imported(index: Index, context: RunContext, data: Path) -> None:
    """The exact build is installed from the index of its channel, and says itself what it is."""
    index.add("torch", "8.0.0+xpu", "")
    index.add("torch", "8.0.0", "raise SystemError('another build')")
    index.add(IPEX, "8.0.10+xpu", "import torch")
    wanted = {"torch": "8.0.0+xpu", "intel_extension_for_pytorch": "8.0.10+xpu"}
    seen = check_import(cell(data, index="pytorch-xpu", device="xpu", **wanted), context)
    assert (seen.outcome, seen.index, seen.device) == ("ok", "pytorch-xpu", "xpu")
    assert seen.detail == "torch 8.0.0+xpu; intel_extension_for_pytorch 8.0.10+xpu"
    assert set(seen.tools) == {"glibc", "python", "uv"}
    assert len(seen.digest) == 64
    assert not list(context.folder.iterdir())


@pytest.mark.long
def test_exit_in_the_middle_of_an_import(index: Index, context: RunContext, data: Path) -> None:
    """A release that prints to stdout and leaves through SystemExit fails with its sentence."""
    index.add("torch", "8.1.0", "")
    sentence = f"ERROR! It {REJECTS} 8.0.*, but PyTorch 8.1.0 is found."
    index.add(IPEX, "8.0.0", f"print({sentence!r})\nexit(127)")
    seen = check_import(cell(data, torch="8.1.0", intel_extension_for_pytorch="8.0.0"), context)
    assert seen.outcome is Outcome.FAILED_IMPORT
    assert seen.detail == f"intel_extension_for_pytorch: SystemExit 127: {sentence}"


@pytest.mark.long
@pytest.mark.parametrize(
    ("init", "words"),
    [
        ("import pkg_resources", "ModuleNotFoundError: No module named 'pkg_resources'"),
        ("import os; os._exit(3)", "exit status 3"),
        ("import os; os.kill(os.getpid(), 11)", "ended by SIGSEGV"),
        ("open(__import__('sys').argv[1], 'w').write('[]\\n7\\n{\"done\"'); raise KeyError(1)", "KeyError"),
    ],
)
def test_ways_to_fail(index: Index, context: RunContext, data: Path, init: str, words: str) -> None:
    """Whatever ends an import is told; what the module writes to our files changes nothing."""
    number = f"9.{abs(hash(init)) % 10000}"
    index.add("torch", number, init)
    seen = check_import(cell(data, torch=number), context)
    assert seen.outcome is Outcome.FAILED_IMPORT
    assert words in seen.detail
    assert str(context.folder) not in seen.model_dump_json()


@pytest.mark.long
def test_hanging_import_is_killed_with_its_children(index: Index, context: RunContext, data: Path, tmp_path: Path) -> None:
    """After its time a cell ends without an answer, and nothing of it runs on."""
    left = tmp_path / "pid"
    child = "import subprocess, sys, time\nchild = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    index.add("torch", "8.2.0", f"{child}open({str(left)!r}, 'w').write(str(child.pid)); time.sleep(600)")
    seen = check_import(cell(data, torch="8.2.0"), RunContext(**{**vars(context), "seconds": 5.0}))
    assert (seen.outcome, "stopped after" in seen.detail) == ("not-checked", True)
    status = Path(f"/proc/{left.read_text()}/stat")
    assert not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"
    assert not list(context.folder.iterdir())


@pytest.mark.long
def test_disk_is_limited(index: Index, context: RunContext, data: Path) -> None:
    """What fills the disk is stopped, in one file or in many, and removed."""
    many = "import os, time\nfor n in range(2000):\n open(f'{n}.bin', 'wb').write(os.urandom(1 << 20))\n time.sleep(0.002)\n"
    index.add("torch", "8.3.0", f"{many}time.sleep(30)")
    index.add("torch", "8.3.1", "open('one.bin', 'wb').write(b'1' * (200 << 20))")
    small = RunContext(**{**vars(context), "megabytes": 100})
    first, second = (check_import(cell(data, torch=version), small) for version in ("8.3.0", "8.3.1"))
    assert (first.outcome, "stopped at 100 MB of disk" in first.detail) == ("not-checked", True)
    assert second.outcome in {"not-checked", "failed-import"}
    assert "ok" not in second.detail
    assert not list(context.folder.iterdir())


def test_a_file_with_two_names_takes_its_place_once(tmp_path: Path) -> None:
    """An environment that shares its files with the cache is not counted twice."""
    for name in ("cache", "cell"):
        (tmp_path / name).mkdir()
    (tmp_path / "cache" / "wheel").write_bytes(os.urandom(1 << 20))
    (tmp_path / "cell" / "wheel").hardlink_to(tmp_path / "cache" / "wheel")
    (tmp_path / "cell" / "own").write_bytes(os.urandom(1 << 20))
    assert 2 << 20 <= size_of(tmp_path / "cell", tmp_path / "cache") < 3 << 20


@pytest.mark.long
def test_what_a_killed_run_left_is_removed(index: Index, context: RunContext, data: Path) -> None:
    """The folder of a cell whose process is gone is removed by the next cell; that of a living one stays."""
    for name in ("cell-dead", "cell-alive"):
        (context.folder / name).mkdir(parents=True)
        (context.folder / name / "lock").touch()
    index.add("torch", "8.3.5", "")
    with (context.folder / "cell-alive" / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert check_import(cell(data, torch="8.3.5"), context).outcome is Outcome.OK
        assert [path.name for path in context.folder.iterdir()] == ["cell-alive"]


def test_output_is_limited(tmp_path: Path) -> None:
    """Of a flood the start and the end are kept."""
    code = "import sys\nprint('first')\nfor n in range(300000): sys.stdout.write('x' * 100)\nprint('last')"
    ended = run_limited([sys.executable, "-c", code], tmp_path, isolated(tmp_path), 60, 1000)
    assert ended.ok
    assert len(ended.output) < 2 * KEPT
    assert ended.output.startswith("first")
    assert ended.output.rstrip().endswith("last")


@pytest.mark.long
def test_what_is_not_there(index: Index, context: RunContext, data: Path) -> None:
    """A version or a project that the index lacks is not found; an index that does not answer says nothing."""
    index.add("torch", "8.4.0", "")
    assert check_import(cell(data, torch="8.4.99"), context).outcome is Outcome.NOT_FOUND
    assert check_import(cell(data, torchvision="8.4.0"), context).outcome is Outcome.NOT_FOUND
    silent = RunContext(**{**vars(context), "indexes": {"default": "http://127.0.0.1:9/simple/"}})
    assert check_import(cell(data, torch="8.4.0"), silent).outcome is Outcome.NOT_CHECKED
    circle = RunContext(**{**vars(context), "indexes": {"default": f"{index.url}/loop/"}})
    assert check_import(cell(data, torch="8.4.0"), circle).outcome in {Outcome.NOT_CHECKED, Outcome.NOT_FOUND}


def test_machine_that_cannot_try(context: RunContext, data: Path) -> None:
    """Another system, device or interpreter is not checked, with the reason."""
    given = cell(data, torch="8.4.0")
    for other, words in (
        (ValidationCell(given.level, "python", given.packages, PYTHON, "windows-x86_64"), "this machine is"),
        (ValidationCell(given.level, "python", given.packages, PYTHON, given.platform, "hpu"), "no device hpu"),
        (ValidationCell(given.level, "python", given.packages, "2.0", given.platform), "no interpreter 2.0"),
    ):
        seen = check_import(other, context)
        assert (seen.outcome, words in seen.detail) == ("not-checked", True)


@pytest.mark.long
def test_pins_are_put_together_whatever_their_metadata_say(index: Index, context: RunContext, data: Path) -> None:
    """Import is about the code: a companion that asks for another torch is installed beside this one; pip refuses."""
    index.add("torch", "8.7.0", "")
    index.add(
        "torchvision", "8.7.0", "raise RuntimeError('operator torchvision::nms does not exist')", requires=("torch==8.6.9",)
    )
    pair = cell(data, torch="8.7.0", torchvision="8.7.0")
    seen = check_import(pair, context)
    assert seen.outcome is Outcome.FAILED_IMPORT
    assert seen.detail == "torchvision: RuntimeError: operator torchvision::nms does not exist"


@pytest.mark.long
def test_pip_takes_its_place_where_uv_is_missing(
    index: Index, context: RunContext, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without uv pip installs, and what metadata exclude is a conflict."""
    monkeypatch.setattr("compatkb.validate.environment.find_uv", lambda: None)
    index.add("torch", "8.13.0", "")
    index.add("torchvision", "8.13.0", "", requires=("torch==8.6.9",))
    pair = cell(data, torch="8.13.0", torchvision="8.13.0")
    seen = [check_import(c, context) for c in (cell(data, torch="8.13.0"), pair, cell(data, torch="8.13.9"))]
    assert [s.outcome for s in seen] == ["ok", "conflict", "not-found"]
    assert set(seen[0].tools) == {"glibc", "pip", "python"}


def test_user_configuration_does_not_reach_the_installer(
    index: Index, context: RunContext, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Variables of pip, uv and Python are left behind."""
    for name in ("UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "PIP_INDEX_URL", "PIP_FIND_LINKS", "PYTHONPATH", "PYTHONSTARTUP"):
        monkeypatch.setenv(name, "/nowhere")
    index.add("torch", "8.8.0", "import os; assert not [n for n in os.environ if n.startswith(('PIP_I', 'PIP_F', 'PYTHONP'))]")
    assert check_import(cell(data, torch="8.8.0"), context).outcome is Outcome.OK


@pytest.mark.long
def test_numbers_are_compared(index: Index, context: RunContext, data: Path) -> None:
    """A run is ok where the workload's numbers agree, and fails where they do not or where it breaks off."""
    index.add("torch", "8.9.0", "def total(): return 3.0000001")
    index.add("torch", "8.9.1", "def total(): return 3.1")
    index.add("torch", "8.9.2", "def total(): raise RuntimeError('Numpy is not available')")
    index.add("torch", "8.9.3", "import nothing_such")
    seen = [check_run(cell(data, Level.RUN, torch=f"8.9.{n}"), context) for n in range(4)]
    assert [s.outcome for s in seen] == ["ok", "failed-run", "failed-run", "failed-import"]
    assert seen[0].detail.startswith("torch: sum, features ")
    assert seen[0].detail.endswith("not tried: compile (not here)")
    assert "sum is off by 0.1, allowed 1e-06" in seen[1].detail
    assert "Numpy is not available" in seen[2].detail


def test_messages_carry_no_path_of_this_machine() -> None:
    """What is kept of an output is the sentence that decides, without colours, paths or addresses in memory."""
    text = (
        '\x1b[31mERROR! wrong\x1b[0m\nTraceback (most recent call last):\n  File "/home/me/x.py", line 1\n'
        "OSError: /home/me/env/lib/python3.11/site-packages/torchaudio/lib/libtorchaudio.so: "
        "undefined symbol: _ZN3 at 0x7f00aa11\n"
    )
    said = decisive(tidy(text))
    where = "site-packages/torchaudio/lib/libtorchaudio.so"
    assert said == f"ERROR! wrong | OSError: {where}: undefined symbol: _ZN3 at 0x..."


def test_shipped_proofs_speak_of_products() -> None:
    """Workloads belong to products, and what links the libraries of others can be imported."""
    known = {subject.product: subject for subject in subjects(ROOT / "data").values()}
    scripts = {path.stem for path in (ROOT / "data" / "workloads").glob("*.py")}
    assert scripts <= set(known)
    assert all(known[links.product].module for links in proofs(ROOT / "data").links)
    assert pins_of(ROOT / "data", (("neural-compressor", "3.6"),)) == ["neural-compressor[pt]==3.6"]  # a row of a family


@pytest.mark.long
def test_shipped_evidence_is_canonical_and_names_culprits_that_exist(knowledge: Knowledge) -> None:
    """Lines are sorted as `validate` writes them, carry no path of a machine, and blame claims that there are."""
    found = read_evidence(ROOT / "data")
    for path in (ROOT / "data" / "evidence").glob("*.jsonl"):
        assert path.read_text(encoding="utf-8") == text_of(o for o in merged(found) if o.level == path.stem)
    assert not [o.detail for o in found if re.search(r"/(home|root|tmp|Users|work)/", o.detail)]
    assert {o.culprit for o in found if o.culprit} <= set(knowledge.claims)
