"""What users type becomes a request: versions as pip prints them, patches of Python, and all wrong words at once."""

from datetime import date

import pytest
from conftest import parted
from packaging.version import Version

from compatkb.check.document import CheckContext
from compatkb.check.project.queries import ProjectQueries
from compatkb.core.clock import Clock
from compatkb.core.versions import matches
from compatkb.errors import UsageError, WordsError
from compatkb.request.lookup import find_matching
from compatkb.request.parser import make_request
from compatkb.request.words import read_words
from compatkb.store.reader import Snapshot
from compatkb.store.records import Pin
from compatkb.store.rows import read_mask


def _pin(facts: Snapshot, *words: str, **options: str) -> Pin:
    (pin,) = make_request(facts, list(options.items()), words).pins
    return pin


OTHER_KINDS = ("2.1.0+cu118", "2.1.0+cu121", "2.1.0+rocm5.5", "2.1.0+rocm5.6")
"""The builds of torch 2.1.0 for devices that no route serves, as the maker's index lists them."""


def _versions(facts: Snapshot, pin: Pin) -> list[str]:
    return [element.version for element in facts.elements(pin.product).of(pin.mask)]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        pytest.param("torch==2.0.1a0", ["2.0.1a0+cxx11.abi"], id="a-specifier-without-label-ignores-the-builds"),
        pytest.param("torch==2.0.1.A0", ["2.0.1a0+cxx11.abi"], id="another-spelling"),
        pytest.param("torch == 2.0.1a0", ["2.0.1a0+cxx11.abi"], id="blanks"),
        pytest.param("torch==v2.0.1a0", ["2.0.1a0+cxx11.abi"], id="v-prefix"),
        pytest.param("torch==0!2.0.1a0", ["2.0.1a0+cxx11.abi"], id="epoch-zero"),
        pytest.param("torch==2.1.0", ["2.1.0+hpu.1.13.0", "2.1.0+cpu", *OTHER_KINDS, "2.1.0"], id="no-pre-release-of-it"),
        pytest.param("torch==2.8.0+xpu", ["2.8.0+xpu"], id="a-build"),
        pytest.param("torch===2.8.0", ["2.8.0"], id="the-very-text"),
        pytest.param("torch===2.8.0+cpu", ["2.8.0+cpu"], id="the-very-text-of-a-build"),
        pytest.param("neural-compressor[pt]==3.3", ["3.3"], id="extras-change-no-version"),
        pytest.param("pytorch-triton-xpu==3.4.0", ["3.4.0"], id="the-name-of-that-release"),
    ],
)
def test_pins_follow_pep440(facts: Snapshot, word: str, expected: list[str]) -> None:
    """PRODUCT==V names what pip takes for it, however it is spelt."""
    assert _versions(facts, _pin(facts, word)) == expected


@pytest.mark.parametrize("spec", ["==2.1.*", "===2.8.0", "~=2.4.0", ">=2.0.1a0,<2.1", "==1!2.8.0", "!=2.1.0"])
def test_every_specifier_is_matched_the_same(facts: Snapshot, spec: str) -> None:
    """A request and a checked file admit the same builds: those that PEP 440 names."""
    torch = facts.products["torch"]
    named = sum(1 << element.idx for element in facts.elements("torch") if matches(spec, element.version))
    held = ProjectQueries(CheckContext(facts, Clock(date.max))).allowed(torch, [spec])
    assert held is not None
    assert find_matching(facts, torch, spec) == held.mask == named


@pytest.mark.parametrize("product", parted(("torch", "ipex", "mkl"), ("ipex", "mkl")))
def test_words_of_the_snapshot_are_pep440(facts: Snapshot, product: str) -> None:
    """What is looked up without a parser is what the parser finds."""
    query = "select word, mask from word where strict = 1 and product = ?"
    for word, mask in facts.select(query, product):
        named = (e.idx for e in facts.elements(product) if matches(f"=={word}", e.version))
        assert sum(1 << idx for idx in named) == read_mask(mask), word


def test_option_names_builds_by_their_public_version(facts: Snapshot) -> None:
    """--torch 2.0.1a0 is what pip prints of the build; --torch 2.1.0 is the release in any build."""
    assert _versions(facts, _pin(facts, torch="2.0.1a0")) == ["2.0.1a0+cxx11.abi"]
    assert "2.1.0a0+cxx11.abi" in _versions(facts, _pin(facts, torch="2.1.0"))


@pytest.mark.parametrize("version", ["2.8.0+cu999", "2.8+cu999", "v2.8.0+cu999"])
def test_label_that_no_build_has(facts: Snapshot, version: str) -> None:
    """A build with a label that the data lack is not listed; it stands beside those of its release."""
    pin = _pin(facts, f"torch=={version}")
    assert (pin.mask, bool(pin.beyond)) == (0, True)
    near = facts.elements("torch").of(pin.near)
    assert near
    assert {Version(element.version).public for element in near} == {"2.8.0"}


@pytest.mark.parametrize("word", ["python==3.14.1", "python===3.14.1", "python == v3.14.1"])
def test_patch_of_python_is_kept(facts: Snapshot, word: str) -> None:
    """A patch pins its minor, and stays known."""
    pin = _pin(facts, word)
    assert (_versions(facts, pin), pin.patch) == (["3.14"], "3.14.1")


@pytest.mark.parametrize(
    ("text", "versions", "patch"),
    [
        pytest.param("3.14.1", ["3.14"], "3.14.1", id="patch"),
        pytest.param("==3.14.1", ["3.14"], "3.14.1", id="patch-as-specifier"),
        pytest.param("3.13.1t", ["3.13t"], "3.13.1", id="free-threaded"),
        pytest.param("3.14", ["3.14"], None, id="minor"),
        pytest.param(">=3.10.4,<3.12", ["3.10", "3.11"], None, id="range"),
        pytest.param("~=3.12.1", ["3.12"], None, id="patches-of-a-minor"),
        pytest.param("==3.12.*", ["3.12"], None, id="wildcard"),
    ],
)
def test_python_option(facts: Snapshot, text: str, versions: list[str], patch: str | None) -> None:
    """--python takes minors, patches and ranges over both; a range stays minors."""
    pin = _pin(facts, python=text)
    assert (_versions(facts, pin), pin.patch) == (versions, patch)


def test_patch_within_a_range(facts: Snapshot) -> None:
    """Two pins on Python keep the patch that both admit; where there is none, that is said."""
    assert _pin(facts, "python>=3.11", "python==3.12.4").patch == "3.12.4"
    for other in ("python!=3.14.1", "python>=3.14.2", "python==3.14.2"):
        with pytest.raises(UsageError, match="pinned twice"):
            make_request(facts, (), ["python==3.14.1", other])


def test_the_same_pin_twice(facts: Snapshot) -> None:
    """A pin that is typed again changes nothing, whether or not its version is listed."""
    for word in ("torch==2.8.0", "torch==2.8.0+cu999", "numpy==99.0"):
        assert _pin(facts, word, word) == _pin(facts, word)


def test_every_wrong_word_is_named(facts: Snapshot) -> None:
    """One error names all that is wrong of a request, each as it was typed."""
    with pytest.raises(WordsError) as error:
        make_request(
            facts, [("os", "ubunto22.04")], ["tourch==2.4.0", "torch==2.8.0", "torch~=9.0"], ["gpux"], needs=["flight"]
        )
    assert len(error.value.problems) == 5
    for word in ("ubunto22.04", "tourch", "torch~=9.0", "gpux", "flight"):
        assert word in str(error.value)
    with pytest.raises(UsageError) as single:
        make_request(facts, (), ["tourch==2.4.0", "torch==2.8.0"])
    assert not isinstance(single.value, WordsError)


def _typed(facts: Snapshot, *words: str) -> dict[str, list[str]]:
    """Return what words as people type them name, by product."""
    options, rest = read_words(facts, words)
    pins = make_request(facts, options, rest).pins
    return {
        pin.product: list(dict.fromkeys(element.release for element in facts.elements(pin.product).of(pin.mask)))
        for pin in pins
    }


@pytest.mark.parametrize(
    ("words", "named"),
    [
        pytest.param("B580", {"hardware": ["arc-b"]}, id="gpu"),
        pytest.param("Intel(R) Arc(TM) A770 Graphics", {"hardware": ["arc-a"]}, id="gpu-as-a-driver-prints-it"),
        pytest.param("Core Ultra Series 3 (Panther Lake)", {"hardware": ["panther-lake"]}, id="name-and-code-name"),
        pytest.param("Ubuntu 24.04.1 LTS", {"os": ["ubuntu24.04"]}, id="point-release"),
        pytest.param("win32", {"os": ["windows"]}, id="sys.platform"),
        pytest.param("linux-x86_64", {"os": ["linux"], "arch": ["x86_64"]}, id="platform"),
        pytest.param("linux-aarch64", {"os": ["linux"], "arch": ["aarch64"]}, id="platform-of-another-architecture"),
        pytest.param("Linux-6.8.0-generic-aarch64-with-glibc2.39", {"os": ["linux"], "arch": ["aarch64"]}, id="long"),
        pytest.param("Windows-11-10.0.22631-SP0", {"os": ["windows11"]}, id="platform-of-windows"),
        pytest.param("py3.12", {"python": ["3.12"]}, id="python"),
        pytest.param("cp312", {"python": ["3.12"]}, id="python-tag"),
        pytest.param("Python 3.12.4", {"python": ["3.12"]}, id="python-as-it-prints-itself"),
        pytest.param("3.12.4", {"python": ["3.12"]}, id="version-that-only-python-has"),
    ],
)
def test_places_as_they_are_typed(facts: Snapshot, words: str, named: dict[str, list[str]]) -> None:
    """Hardware, systems and Pythons stand as words of their own, as people type them and as tools print them."""
    assert _typed(facts, words) == named


def test_words_that_were_typed_apart(facts: Snapshot) -> None:
    """A name may be several words of the command line; a version may follow its product."""
    assert _typed(facts, "arc", "b580", "windows", "11", "torch", "2.8.0", "python", "3.12") == {
        "torch": ["2.8.0"],
        "python": ["3.12"],
        "os": ["windows11"],
        "hardware": ["arc-b"],
    }


@pytest.mark.parametrize("words", [("torch 2.8", "arc b580", "ubuntu 24.04"), ("torch 2.8 b580 ubuntu24.04",)])
def test_words_that_a_shell_passed_on_as_one(facts: Snapshot, words: tuple[str, ...]) -> None:
    """Quotes around several words change nothing."""
    assert _typed(facts, *words) == _typed(facts, "torch", "2.8", "b580", "ubuntu24.04")


def test_name_of_a_distribution_is_every_release_of_it(facts: Snapshot) -> None:
    """Ubuntu without a number is any Ubuntu, and nothing else."""
    systems = _typed(facts, "ubuntu")["os"]
    assert {"ubuntu22.04", "ubuntu24.04"} < set(systems)
    assert all(system.startswith("ubuntu") for system in systems)


def test_latest_behind_a_product_is_any_version(facts: Snapshot) -> None:
    """Who asks for the latest asks for the newest that works, which comes first anyhow; alone it is no product."""
    options, rest = read_words(facts, ["torch", "latest", "xpu"])
    assert (options, rest) == ([("device", "xpu")], ["torch"])
    assert read_words(facts, ["latest"]) == ([], ["latest"])


@pytest.mark.parametrize(("word", "name"), [("cuda", "NVIDIA GPU"), ("npu", "Intel NPU"), ("rocm", "AMD GPU")])
def test_device_without_answers_is_all_that_is_said(facts: Snapshot, word: str, name: str) -> None:
    """A version behind a device that nothing here serves is no second mistake."""
    options, rest = read_words(facts, [word, "12.4", "torch"])
    with pytest.raises(UsageError, match=f"^'{word}' is an {name}; compatkb covers Intel GPUs and CPUs\n") as error:
        make_request(facts, options, rest)
    assert "12.4" not in str(error.value)


def test_single_sign_of_conda_is_mended(facts: Snapshot) -> None:
    """`torch=2.8` is no requirement, and what was meant is said."""
    with pytest.raises(UsageError, match=r"did you mean: torch==2\.8"):
        make_request(facts, (), ["torch=2.8"])


def test_device_is_a_word(facts: Snapshot) -> None:
    """A device stands as a word of its own, by any of its names."""
    for word in ("xpu", "gpu", "device==xpu"):
        options, rest = read_words(facts, ["torch", word])
        assert make_request(facts, options, rest).devices == ("xpu",)


@pytest.mark.parametrize("word", ["Arc Pro B99", "Core Ultra Series 9 (Panther Pond)", "ubuntu21.04", "2.8", "plan9", "b5800"])
def test_what_is_not_unmistakable_is_refused(facts: Snapshot, word: str) -> None:
    """A name is not read as a family that its words happen to hold, nor a version as one of several products."""
    options, rest = read_words(facts, [word])
    assert (options, rest) == ([], [word])
    with pytest.raises(UsageError, match=r"^(unknown|'2.8' has no product name|'plan9' is not in the data)"):
        make_request(facts, options, rest)


def test_every_name_of_a_family_takes_in_its_members(facts: Snapshot) -> None:
    """An alias of a wide value means what the value itself means."""
    for family, aliases in (
        ("core-ultra-2", ("Core Ultra Series 2", "core ultra 200")),
        ("xeon", ("Intel Xeon",)),
        ("xeon-6", ("Xeon 6",)),
        ("core-ultra", ("intel core ultra",)),
    ):
        whole = facts.word("hardware", family)
        assert whole is not None
        assert whole.bit_count() > 1
        assert [facts.word("hardware", alias) for alias in aliases] == [whole] * len(aliases)


def test_words_of_a_sentence_refuse_nothing(facts: Snapshot) -> None:
    """`my B580 laptop please` asks what `B580` asks; words that all say nothing are no question, and a package is one."""
    asked = make_request(facts, words=["B580"])
    assert make_request(facts, words=["my", "B580", "laptop", "please"]) == asked
    for words in (["laptop"], ["B580", "tensorflowz"]):
        with pytest.raises(UsageError, match=f"'{words[-1]}' is not"):
            make_request(facts, words=words)
