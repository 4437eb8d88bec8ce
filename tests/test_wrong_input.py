"""Wrong input gets one clear line, the right exit code and a suggestion; never a traceback."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run, without_age
from good_data import good, written
from jsonschema import Draft202012Validator

from compatkb.cli.app import COMMANDS, load
from compatkb.export.responses import response_schema

Runner = Callable[..., Run]
WITHOUT_POSIX = """
import sys
sys.modules.update(fcntl=None, resource=None)  # as on Windows
from compatkb.cli import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize(("words", "code"), [(["validate", "--list"], 5), (["resolve", "torch==2.8.0", "--device", "cpu"], 0)])
def test_what_needs_posix_says_so_elsewhere(words: list[str], code: int) -> None:
    """On a system without the modules of POSIX, validation ends with one line, and answers need none of them."""
    done = subprocess.run([sys.executable, "-c", WITHOUT_POSIX, *words], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert (code == 0) != done.stderr.startswith("error: this needs Linux or macOS: Python has no fcntl on this system")
    assert len(without_age(done.stderr).splitlines()) == (code > 0)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["which", "pytorch", "for", "a750", "on", "windows"], "resolve torch a750 windows"),
        (["B580", "windows11"], "resolve B580 windows11"),
        (["pip", "install", "torch", "xpu"], "resolve torch xpu"),
        (["resolve", "comfyui", "batlemage", "win11"], "resolve comfyui battlemage win11"),
        (["resolve", "max", "1100", "ubunto", "24.04", "pyhton", "3.12"], "resolve 'max 1100' 'ubuntu 24.04' 'python 3.12'"),
        (["explain", "torch", "2.7", "intel", "extention", "for", "pytorch", "2.7.10"], "explain 'torch 2.7' 'ipex 2.7.10'"),
    ],
)
def test_what_can_be_read_in_one_way_is_answered(words: list[str], meant: str, run: Runner) -> None:
    """A missing command and a slip of one letter beside words that are understood need no second command: it is said."""
    done = run(*words)
    assert f"remark: read as compatkb {meant}\n" in done.err
    assert done.code == 0
    assert done.out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(
            ["resolve", "tourch==2.4.0"], "did you mean: compatkb resolve torch==2.4.0\n  or: ", id="unknown-product"
        ),
        pytest.param(["resolve", "--device", "gpux"], "known: ", id="unknown-device"),
        pytest.param(["resolve", "--torch", "2.4.7"], "2.4.1", id="version-nobody-has"),
        pytest.param(["resolve", "--torch", "banana"], "has no version 'banana'", id="no-version-at-all"),
        pytest.param(["resolve", "--os", "ubunto22.04"], "ubuntu22.04", id="misspelt-os"),
        pytest.param(["resolve", "--hardware", "arc a7700"], "unknown Intel GPU 'arc a7700'", id="misspelt-hardware"),
        pytest.param(["resolve", "--python", "3.4"], "3.6", id="python-too-old-for-the-data"),
        pytest.param(["resolve", "torch==2.4.0", "torch==2.5.0"], "pinned twice", id="contradictory-pins"),
        pytest.param(["resolve", "--torch", "2.4", "torch==2.5.0"], "pinned twice", id="option-against-pin"),
        pytest.param(["resolve", "torch=>2.4"], "not", id="bad-operator"),
        pytest.param(["resolve", "torch==not.a.version"], "PEP 440", id="not-pep440"),
        pytest.param(["resolve", "torch>=2.4,<<3"], "specifier", id="bad-specifier"),
        pytest.param(["resolve", "--torch", "2.4", "--as-of", "2026-13-01"], "YYYY-MM-DD", id="bad-date"),
        pytest.param(["resolve", "--torch", "2.4", "--as-of", "yesterday"], "YYYY-MM-DD", id="no-date"),
        pytest.param(["resolve", "--format", "yaml"], "expected text, json, requirements, constraints", id="unknown-format"),
        pytest.param(["resolve", "--device", "cuda"], "'cuda' is an NVIDIA GPU; compatkb covers", id="device-not-covered"),
        pytest.param(["resolve", "RTX", "4090"], "'RTX 4090' is an NVIDIA GPU; compatkb covers", id="gpu-of-another-vendor"),
        pytest.param(["resolve", "torch2.8"], "did you mean: compatkb resolve torch==2.8\n", id="version-without-a-gap"),
        pytest.param(["resolve", "rocm"], "'rocm' is an AMD GPU; compatkb covers", id="device-not-covered-as-a-word"),
        pytest.param(
            ["resolve", "B580", "ubunt"],
            "did you mean: compatkb resolve B580 ubuntu26.04\n  or: ubuntu25.10, ubuntu25.04, ubuntu24.10, ubuntu24.04",
            id="os-begun",
        ),
        pytest.param(["resolve", "ubntu24"], "ubuntu24.04", id="os-misspelt-and-begun"),
        pytest.param(
            ["resolve", "q9400", "ubuntu24.04"], "'q9400' is not in the data\n  GPUs, processors and", id="other-model"
        ),
        pytest.param(
            ["which", "pytorch", "for", "a750", "on", "plan9"],
            "did you mean: compatkb resolve torch a750\n",
            id="sentence-with-a-word-unknown",
        ),
        pytest.param(
            ["torch.xpu.is_available() returns False"],
            "did you mean: compatkb diagnose 'torch.xpu.is_available() returns False'\n",
            id="line-of-an-error",
        ),
        pytest.param(["--torch", "2.8", "resolve"], "stand after the command", id="option-before-command"),
        pytest.param(
            ["resolve", "--vllm", "0.10"], "did you mean: compatkb resolve vllm==0.10\n", id="product-near-an-option"
        ),
        pytest.param(["data", "update"], "pull its checkout", id="no-address-for-data"),
        pytest.param(["resolve", "2.8"], "did you mean: compatkb resolve torch==2.8\n", id="version-of-several-products"),
        pytest.param(["resolve", "Arc Pro B99"], "unknown Intel GPU 'Arc Pro B99'", id="no-such-gpu"),
        pytest.param(["resolve", "B58O"], "did you mean: compatkb resolve b580\n", id="misspelt-gpu"),
        pytest.param(["resolve", "--touch", "2.4"], "did you mean: compatkb resolve --torch 2.4\n", id="misspelt-option"),
        pytest.param(
            ["resolve", "--glibc", "2.41"], "did you mean: compatkb resolve glibc==2.41\n", id="product-without-option"
        ),
        pytest.param(["resolve", "--torch", ">=2.5 <2.7"], "set apart by commas", id="clauses-without-comma"),
        pytest.param(
            ["B580", "windows11", "--index"], "did you mean: compatkb resolve B580 windows11", id="no-command-but-options"
        ),
        pytest.param(
            ["resolve", "torch", "snapdragon", "windows11", "arm64"],
            "use: compatkb resolve torch windows11 arm64",
            id="one-word-outside-the-data",
        ),
        pytest.param(["nonsense", "B580"], "see `compatkb --help`", id="no-command-and-no-question"),
        pytest.param(["resolv"], "did you mean: compatkb resolve\n", id="unknown-command"),
        pytest.param(["show", "torch", "2.13.9"], "has no version '2.13.9'", id="show-unknown-version"),
        pytest.param(["eol", "--within", "soon"], "90d", id="bad-span"),
        pytest.param(["explain", "=="], "not PRODUCT", id="no-product"),
        pytest.param(["resolve", "torch==2.4.0; rm -rf /"], "", id="shell-text"),
        pytest.param(["resolve", "\x00torch"], "", id="nul"),
    ],
)
def test_wrong_words_are_one_line_and_exit_2(words: list[str], expected: str, run: Runner) -> None:
    """Wrong usage exits 2 and says in one line what is wrong, and in lines below it what would be right."""
    done = run(*words)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("error: ")
    assert done.err.count("error: ") == 1
    assert all(line.startswith("  ") for line in done.err.splitlines()[1:])
    assert expected in done.err


def test_every_wrong_word_has_its_line(run: Runner) -> None:
    """Several wrong words are told at once, a line each."""
    done = run("resolve", "tourch==2.4.0", "--os", "ubunto22.04", "--device", "gpux")
    assert done.code == 2
    lines = done.err.strip().splitlines()
    assert [line for line in lines if not line.startswith(("error: ", "  "))] == []
    for word in ("tourch", "ubunto22.04", "gpux"):
        assert sum(word in line for line in lines) == 1


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A small data directory without a fault, which a test may break."""
    for name, content in written(good()).items():
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "data"


def test_small_data_are_answered_from(data: Path, run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a test breaks it, the directory is read without a word."""
    monkeypatch.setenv("COMPATKB_CACHE", str(data.parent / "cache"))
    done = run("resolve", "--torch", "2.1", "--device", "xpu", "--data", str(data))
    assert done.code in (0, 1)
    assert without_age(done.err) == ""


TORCH, IPEX, IMAGES = "products/torch.toml", "products/ipex.toml", "images/ext.toml"


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        pytest.param(TORCH, 'version = "2.1.0"', "version = 2.1", "write it in quotes", id="unquoted"),
        pytest.param(TORCH, 'role = "package"', 'role = "pakage"', "product.role", id="bad-value"),
        pytest.param(TORCH, 'version = "2.1.0"', 'versoin = "2.1.0"', "versoin", id="misspelt-key"),
        pytest.param(TORCH, "[product]", "[product", "torch.toml", id="broken-toml"),
        pytest.param(TORCH, 'version = "2.1.0"', 'version = "2.1.x"', "not a PEP 440", id="bad-version"),
        pytest.param(IPEX, 'needs = "torch"', 'needs = "tourch"', "tourch is no product", id="no-such-product"),
        pytest.param("routes.toml", 'id = "native"', "id = 5", "routes.toml:2", id="line-is-named"),
        pytest.param(IMAGES, 'same-as = "', 'same-as = "no-', "is no tag of this file", id="same-as-no-tag"),
        pytest.param(
            IMAGES, 'same-as = "2.1.20-xpu-pip-base"', 'same-as = "2.1.20-xpu"', "leads back to itself", id="same-as-itself"
        ),
        pytest.param(
            IPEX,
            '["plan"], { id = "ipex-2.1.10-torch" }',
            '["nosuch"], { id = "ipex-2.1.10-torch" }',
            "claim ipex-2.1.10-torch: source nosuch is not defined",
            id="no-such-source",
        ),
        pytest.param(
            IPEX,
            '["2.1.10", "<2", ["plan"], ',
            '["2.1.10", "<2", ["plan"], "more", ',
            "row 1 of constrains numpy: a row is [of, to, sources]",
            id="row-too-long",
        ),
        pytest.param(IPEX, '["2.1.10", "<2"', '[2.1, "<2"', "constrains numpy: of: write it in quotes", id="bare-version"),
    ],
)
def test_broken_data_name_file_and_field(
    file: str, old: str, new: str, expected: str, data: Path, run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken data file exits 3 and names file, line and field."""
    monkeypatch.setenv("COMPATKB_CACHE", str(data.parent / "cache"))
    path = data / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    done = run("resolve", "--torch", "2.4", "--device", "xpu", "--data", str(data))
    assert done.code == 3
    assert done.out == ""
    assert all(line.startswith("error: ") for line in done.err.strip().splitlines())
    assert expected in done.err
    assert Path(file).name in done.err


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_missing_data_exit_3(name: str, tmp_path: Path, run: Runner) -> None:
    """A directory that is missing, or is no data directory, is said to be so."""
    (tmp_path / "empty").mkdir()
    done = run("resolve", "--torch", "2.4", "--data", str(tmp_path / name))
    assert done.code == 3
    assert str(tmp_path / name) in done.err


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a = " + b"[" * 5000, b"\x00"], ids=["no-utf8", "deep", "nul"])
def test_hostile_files_are_refused(content: bytes, data: Path, run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is no TOML at all yields an error that names it, and nothing is cached."""
    monkeypatch.setenv("COMPATKB_CACHE", str(data.parent / "cache"))
    (data / "products" / "zzz.toml").write_bytes(content)
    done = run("resolve", "--torch", "2.4", "--data", str(data))
    assert done.code == 3
    assert "zzz.toml" in done.err
    assert not list((data.parent / "cache").glob("*.sqlite"))


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (["resolve", "tourch==2.4.0"], 2, "usage"),
        (["resolve", "--torch", ">=2.5 <2.7"], 2, "usage"),
        (["show", "torch", "2.13.9"], 2, "usage"),
        (["show", "torch", "9999.0"], 7, "unknown"),
        (["check", "no-such-folder"], 2, "usage"),
        (["migrate", "a" * 300], 5, "unavailable"),
        (["eol", "torch", "--data", "no-such-folder"], 3, "data"),
    ],
)
def test_refused_input_is_json_where_json_is_asked_for(words: list[str], code: int, kind: str, run: Runner) -> None:
    """With `--format json` a refusal is an object on standard output, of the same exit code; people read standard error."""
    for form in (["--format", "json"], ["--format=json"]):
        done = run(*words, *form)
        error = json.loads(done.out)["error"]
        assert (done.code, error["exit_code"], error["kind"]) == (code, code, kind)
        assert done.err.startswith("error: ")
        assert error["problems"][0]["message"] in done.err
        refusal = response_schema("error", "a refusal")
        assert list(Draft202012Validator(refusal).iter_errors(json.loads(done.out))) == []
    assert run(*words).out == ""


def test_every_command_refuses_in_json(run: Runner) -> None:
    """Each command that takes `--format json` tells so of an option that it does not have."""
    named = [name for name in COMMANDS if any("--format" in param.opts for param in load(name).params)]
    assert len(named) >= 17
    for name in named:
        done = run(name, "--no-such-option", "--format", "json")
        error = json.loads(done.out)["error"]
        assert (done.code, error["exit_code"], error["kind"], len(error["problems"])) == (2, 2, "usage", 1), name


def test_unknown_may_be_well(run: Runner) -> None:
    """What the data cannot tell ends with 7, and with 0 where `--unknown ok` says so; a refusal stays one."""
    for words in (["explain", "torch==9999.0", "xpu"], ["resolve", "xpu", "--python", "3.99"]):
        assert run(*words).code == 7
        assert run(*words, "--unknown", "ok").code == 0
    assert run("explain", "torch==2.4", "ipex==2.3.110", "xpu", "--unknown", "ok").code == 1
    assert run("explain", "tourch", "--unknown", "ok").code == 2


@pytest.mark.parametrize("words", [("explain", "--os"), ("search", "json", "--as-of"), ("matrix", "ipex", "--format")])
def test_an_option_without_its_value_is_named(words: tuple[str, ...], run: Callable[..., Run]) -> None:
    """The last word is an option that takes a value."""
    told = run(*words)
    assert told.code == 2
    assert told.err.startswith(f"error: option '{words[-1]}' requires an argument\n")
