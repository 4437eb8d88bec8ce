"""Files for installers: what each says, what is refused, and that the installers themselves take them."""

import json
import re
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import format_proofs as proofs
import loopback
import pytest
import yaml
from conftest import ROOT, Run

from compatkb.errors import NoRequirementsError
from compatkb.output.installer_files import python_range
from compatkb.output.registry import FILES
from compatkb.store.reader import Snapshot

Runner = Callable[..., Run]
XPU = ("resolve", "--torch", "2.8", "--device", "xpu", "--os", "linux")
NAMES = {
    "requirements": "requirements.txt",
    "constraints": "constraints.txt",
    "uv": "pyproject.toml",
    "conda": "environment.yml",
    "dockerfile": "Dockerfile",
    "compose": "compose.yaml",
}
ENDED = ("end-of-life", "pin-yanked", "pin-vulnerable")
"""What the answer itself warns of."""


def test_every_form_has_its_example(run: Runner) -> None:
    """docs/formats.md tells each form and shows what the program writes today."""
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([a-z]+)` \|", text, re.MULTILINE)) == set(FILES) == {*NAMES, "pylock"}
    assert {*re.findall(r"form=([a-z]+)", text)} == set(NAMES)
    assert run("docs", "check", str(ROOT / "docs" / "formats.md")).code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("torch==2.8.0", "--device", "xpu", "--os", "linux"),
        ("torch", "--device", "cpu", "--os", "debian13"),
        pytest.param(("ipex", "--device", "xpu"), marks=pytest.mark.long),
        ("torch==2.8.0", "--device", "xpu", "--device", "cpu", "--os", "linux"),
        ("torch==2.6.0", "--device", "xpu", "--os", "windows"),
        pytest.param(("neural-compressor", "--device", "cpu", "--os", "linux"), marks=pytest.mark.long),
    ],
    ids=" ".join,
)
def test_check_is_silent(words: tuple[str, ...], run: Runner, tmp_path: Path) -> None:
    """`check` finds nothing in a file that we wrote, beyond what the answer itself warns of."""
    written = 0
    for form, name in NAMES.items():
        done = run("resolve", *words, "--format", form)
        if done.code == 0:
            (tmp_path / form).mkdir()
            (tmp_path / form / name).write_text(done.out, encoding="utf-8")
            written += 1
    assert written >= 4
    report = json.loads(run("check", str(tmp_path), "--fail-on", "never", "--format", "json").out)
    assert [f for f in report["findings"] if f["rule"] not in ENDED] == []


def test_uv_routes_every_package(run: Runner) -> None:
    """Whatever does not come from the default index names an explicit one, and each is defined once."""
    project = tomllib.loads(run(*XPU, "--format", "uv").out)
    names = {re.split("[=<]", pin)[0] for pin in project["project"]["dependencies"]}
    uv = project["tool"]["uv"]
    assert names == set(uv["sources"]) == {"torch", "torchvision", "torchaudio", "pytorch-triton-xpu"}
    assert [(i["name"], i["explicit"]) for i in uv["index"]] == [("pytorch-xpu", True)]


def test_what_metadata_bring_is_routed_too(run: Runner) -> None:
    """Triton for XPU is routed where its wheels were seen for no such Python: torch asks for it all the same."""
    project = tomllib.loads(run("resolve", "torch==2.14.0", "--device", "xpu", "--python", "3.14", "--format", "uv").out)
    assert "triton-xpu==3.8.0" in project["project"]["dependencies"]
    assert project["tool"]["uv"]["sources"]["triton-xpu"] == {"index": "pytorch-xpu"}


def test_devices_become_extras(run: Runner) -> None:
    """Several devices are extras that exclude each other; one device is no extra."""
    both = tomllib.loads(run(*XPU, "--device", "cpu", "--format", "uv").out)
    assert set(both["project"]["optional-dependencies"]) == {"xpu", "cpu"}
    assert [{entry["extra"] for entry in group} for group in both["tool"]["uv"]["conflicts"]] == [{"xpu", "cpu"}]
    assert {row["extra"]: row["index"] for row in both["tool"]["uv"]["sources"]["torch"]} == {
        "xpu": "pytorch-xpu",
        "cpu": "pytorch-cpu",
    }
    assert "conflicts" not in run(*XPU, "--format", "uv").out


@pytest.mark.parametrize(
    ("pythons", "expected"),
    [(["3.9"], ">=3.9,<3.10"), (["3.10", "3.11"], ">=3.10,<3.12"), (["3.10", "3.12"], ">=3.10,!=3.11.*,<3.13")],
)
def test_range_of_pythons(pythons: list[str], expected: str) -> None:
    """A range admits the Pythons of a stack and no other."""
    assert python_range(pythons) == expected


@pytest.mark.parametrize("form", sorted(FILES))
def test_steps_against_a_pin(form: str, run: Runner) -> None:
    """What its maker installs in steps and against a pin is refused with these pins; a Dockerfile takes the steps."""
    done = run("resolve", "--ipex", "2.6.10", "--device", "xpu", "--format", form)
    if form in ("dockerfile", "compose"):
        assert done.code == 0
    else:
        assert (done.code, done.out) == (1, "")
        assert "against torch==2.6.0+xpu: intel-cmplr-lib-rt==2025.0.2" in done.err


def test_dockerfile_keeps_the_steps(run: Runner) -> None:
    """Two steps are two commands, torch first."""
    text = run("resolve", "--ipex", "2.6.10", "--device", "xpu", "--format", "dockerfile").out
    steps = re.findall(r"pip install (\S+)==", text)
    assert steps == ["torch", "intel-extension-for-pytorch"]


@pytest.mark.parametrize("device", ["xpu", "cpu"])
def test_dockerfile_rules(device: str, run: Runner) -> None:
    """A fixed base, one layer, no package lists or caches left, a check as its last step, and no root at the end."""
    text = run("resolve", "torch==2.8.0", "--device", device, "--os", "linux", "--format", "dockerfile").out
    lines = [line for line in re.sub(r"\\\n\s*", "", text).splitlines() if not line.startswith("#")]
    words = [line.partition(" ")[0] for line in lines]
    assert words == ["FROM", "ENV", "RUN", "USER", "WORKDIR"]
    assert re.fullmatch(r"FROM \S+/\S+:[^\s:]+", lines[0])
    assert not lines[0].endswith(":latest")
    assert "PIP_NO_CACHE_DIR=1" in lines[1]
    steps = lines[2].removeprefix("RUN ").split(" && ")
    assert steps[-1].startswith("python -c ")
    assert "assert have == want" in steps[-1]
    assert ("apt-get update" in steps) == ("rm -rf /var/lib/apt/lists/*" in steps)
    assert all("--no-install-recommends" in step for step in steps if step.startswith("apt-get install"))
    assert lines[3] != "USER root"
    assert ("libze-intel-gpu1" in text) == (device == "xpu")


def test_containers_hand_the_gpu_in(run: Runner) -> None:
    """For a GPU its devices and their group are handed in, else nothing; shared memory is enough for loaders of data."""
    compose: dict[str, Any] = yaml.safe_load(run(*XPU, "--format", "compose").out)
    assert set(compose["services"]["app"]) == {"build", "command", "devices", "group_add", "shm_size"}
    plain = ("resolve", "torch", "--device", "cpu", "--os", "linux")
    assert set(yaml.safe_load(run(*plain, "--format", "compose").out)["services"]["app"]) == {"build", "command", "shm_size"}


def test_no_image_no_dockerfile(run: Runner) -> None:
    """Where no image of the data has system, Python and driver, the answer says which have."""
    done = run("resolve", "torch", "--device", "xpu", "--python", "3.13", "--format", "dockerfile")
    assert (done.code, done.out) == (1, "")
    assert "no base image with a driver for Intel GPU for Linux, Python 3.13; the data have Ubuntu 24.04" in done.err
    assert "no base image" in run("resolve", "torch", "--device", "xpu", "--os", "windows", "--format", "compose").err


def test_stack_is_chosen_by_number(run: Runner) -> None:
    """--stack N writes the stack that --all counts so; no other number, and no form that is no file."""
    assert "torch==2.8.0+xpu" in run("resolve", "torch", "--device", "xpu", "--stack", "4", "--format", "requirements").out
    assert "there is no stack 99" in run("resolve", "torch", "--device", "xpu", "--stack", "99", "--format", "uv").err
    assert run("resolve", "torch", "--device", "xpu", "--stack", "2").code == 2


def test_file_says_how_sure_it_is(run: Runner) -> None:
    """The first line of a file tells a verdict that is not plain `works`; what nothing vouches for ends with 7."""
    sure = run("resolve", "torch==2.14.0", "--device", "xpu", "--format", "uv")
    assert sure.out.startswith("# torch 2.14.0+xpu on Intel GPU; by compatkb")
    assert "(works-with-warnings); by" in run("resolve", "ipex==2.8.10", "--device", "xpu", "--format", "uv").out
    unknown = run("resolve", "inc==3.8", "torch==2.12.0", "--device", "cpu", "--os", "linux", "--format", "uv")
    assert unknown.code == 7
    assert "(unknown); by" in unknown.out


def test_lock_needs_an_index(run: Runner) -> None:
    """The data have no addresses and no hashes: without an index that has, a lock file is refused with what is missing."""
    done = run(*XPU, "--format", "pylock")
    assert (done.code, done.out) == (1, "")
    assert "neither addresses nor hashes of the files of torch 2.8.0+xpu (pytorch-xpu)" in done.err
    assert run(*XPU, "--format", "uv", "--index", "default").code == 2
    for wrong in ("pytorch-cpu=http://127.0.0.1:1/", "pytorch-xpu"):
        assert run(*XPU, "--format", "pylock", "--index", wrong).code == 2


@pytest.mark.long
def test_lock_has_every_hash(facts: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an index gives no hashes the files are read: a lock file has one for each."""
    plain = loopback.Index.page
    monkeypatch.setattr(loopback.Index, "page", lambda index, name="": re.sub(r"#sha256=\w+", "", plain(index, name)))
    one = proofs.asked(facts, "torch==2.8.0 --device xpu --os linux --python 3.11")
    assert proofs.prove_pylock(facts, one).startswith("valid")


def test_lock_that_does_not_resolve(facts: Snapshot) -> None:
    """What an index lacks is said in uv's words, and nothing is written."""
    one = proofs.asked(facts, "torch==2.8.0 --device xpu --os linux --python 3.11")
    with loopback.serve() as empty, pytest.raises(NoRequirementsError, match="no lock file: uv: "):
        one.file("pylock", f"{empty.url}/simple", f"pytorch-xpu={empty.url}/simple")


def test_conda_reads_them(facts: Snapshot) -> None:
    """Conda's own parser reads environment.yml."""
    assert proofs.prove_conda(facts, proofs.asked(facts, "torch==2.8.0 --device xpu --os linux")) == "parsed"


@pytest.mark.long
def test_uv_and_pip_install_them(facts: Snapshot) -> None:
    """Uv locks and syncs each extra, twice the same; pip and uv install the lock file alike."""
    one = proofs.asked(facts, "torch==2.8.0 --device xpu --device cpu --os linux --python 3.11")
    assert proofs.prove_uv(facts, one) == "locked, each extra synced, both together refused"
    assert proofs.prove_pylock(facts, one) == "valid, pip and uv install the same"


PROJECT = """\
[project]
name = "a"
version = "1"
requires-python = ">=3.11,<3.12"
dependencies = ["{0}"]

[tool.uv]
package = false
environments = ["sys_platform == 'linux' and platform_machine == 'x86_64'"]
"""


@pytest.mark.parametrize(
    ("command", "pins", "words"),
    [
        pytest.param("check", ("torch==2.10.0+xpu", "torchvision==0.25.0+xpu"), "torch==2.10.0", id="check"),
        pytest.param(
            "migrate",
            ("torch==2.8.0", "torchvision==0.23.0", "intel-extension-for-pytorch==2.8.10+xpu"),
            "torch",
            id="migrate",
        ),
    ],
)
def test_fixes_write_the_form_of_uv(
    command: str, pins: tuple[str, ...], words: str, facts: Snapshot, run: Runner, tmp_path: Path
) -> None:
    """In a project of uv --fix names index and sources, Triton for XPU too; nothing is left to find, and uv locks it."""
    file = tmp_path / "pyproject.toml"
    file.write_text(PROJECT.format('", "'.join(pins)), encoding="utf-8")
    assert run(command, str(tmp_path), "--fix", "--fail-on", "info").code == 0
    assert run("check", str(tmp_path), "--fail-on", "info").code == 0
    text = file.read_text(encoding="utf-8")
    one = proofs.asked(facts, f"{words} --device xpu --os linux --python 3.11")
    stack = proofs.stack_of(one.answer, one.wanted)
    with proofs.channels(facts, [stack]) as urls:
        file.write_text(proofs.routed(text, facts, [stack], urls), encoding="utf-8")
        proofs.Tools(tmp_path, urls["default"]).run(proofs.uv(), "lock")
    locked = {p["name"]: p["version"] for p in tomllib.loads((tmp_path / "uv.lock").read_text(encoding="utf-8"))["package"]}
    assert "+xpu" in locked["torch"]
    assert "+xpu" in locked["torchvision"]


def test_fixes_join_what_is_there(run: Runner, tmp_path: Path) -> None:
    """An index that the project has keeps its name, and a table of sources is added to; one that says otherwise stays."""
    known = '[[tool.uv.index]]\nname = "xpu"\nurl = "https://download.pytorch.org/whl/xpu"\nexplicit = true\n'
    file = tmp_path / "pyproject.toml"
    file.write_text(PROJECT.format("torch==2.8.0+xpu") + f'\n[tool.uv.sources]\nother = {{ path = "." }}\n\n{known}')
    run("check", str(tmp_path), "--fix")
    uv = tomllib.loads(file.read_text(encoding="utf-8"))["tool"]["uv"]
    assert uv["sources"]["torch"] == uv["sources"]["pytorch-triton-xpu"] == {"index": "xpu"}
    assert [index["name"] for index in uv["index"]] == ["xpu"]
    elsewhere = (
        '\n[tool.uv.sources]\ntorch = { index = "own" }\n\n[[tool.uv.index]]\nname = "own"\nurl = "https://own.example/"\n'
    )
    text = PROJECT.format("torch==2.8.0+xpu") + elsewhere
    file.write_text(text, encoding="utf-8")
    run("check", str(tmp_path), "--fix")
    assert file.read_text(encoding="utf-8") == text


@pytest.mark.soak
@pytest.mark.parametrize("words", proofs.REQUESTS)
def test_installers_take_them(words: str, facts: Snapshot) -> None:
    """Real uv and pip lock and install what the files say, for requests of several kinds."""
    one = proofs.asked(facts, words)
    for prove in proofs.PROOFS.values():
        with suppress(NoRequirementsError):  # steps against a pin
            prove(facts, one)
