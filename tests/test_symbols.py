"""Symbols of native libraries: what is read of real ones, what their wheels prove, and what is said of it."""

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from builders import (
    Record,
    breaks,
    compiled,
    data_directory,
    files_of,
    listing,
    needs,
    product,
    release,
    request,
    verified,
    wheel_file,
)
from builders import index as index_file
from index_server import Index, Served, serving

from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.authoring.evidence import add_observations
from compatkb.authoring.lint import lint
from compatkb.authoring.loader import read
from compatkb.engine.answer import Answer, resolve
from compatkb.errors import UnavailableError
from compatkb.refresh.binaries import read_binary
from compatkb.schema import Level, Observation, Outcome
from compatkb.schema.evidence import ExportedSymbols, ProofFile
from compatkb.store.reader import Snapshot
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.evidence import read_lines, text_of
from compatkb.validate.linking import read_wheel, wheel_for
from compatkb.validate.plan import PlanScope
from compatkb.validate.proofs import LinkedProducts, belongs
from compatkb.validate.runner import Threads
from compatkb.validate.session import ValidationOptions, check, choose, validate

ROOT = Path(__file__).parents[1]
TODAY = date(2026, 1, 2)
GCC = shutil.which("gcc") or ""
PLATFORM = "linux-x86_64"
TORCH = ExportedSymbols(
    product="torch", since="1.0", libraries=("torch/lib/*",), sonames=("libtorch*",), namespaces=("at",), names=("torch_*",)
)
needs_gcc = pytest.mark.skipif(not GCC or sys.platform != "linux", reason="compiles small ELF libraries")

PROOFS = """
[[exports]]
product = "torch"
since = "1.0"
libraries = ["torch/lib/*"]
sonames = ["libtorch*"]
names = ["torch_*"]

[[links]]
product = "audio"
against = "torch"
optional = ["audio/extra*"]
sources = [{ repo = "a/audio", ref = "v1", path = "audio/__init__.py", at = 3, seen = 2026-01-02 }]
"""


def library(folder: Path, name: str, code: str, *words: str) -> bytes:
    """Return a library that gcc makes of C code."""
    folder.mkdir(parents=True, exist_ok=True)
    source, target = folder / f"{name}.c", folder / name
    source.write_text(code, encoding="utf-8")
    flags = ["-shared", "-fPIC", f"-Wl,-soname,{name}", "-Wl,-z,undefs", "-o", str(target), str(source)]
    subprocess.run([GCC, *flags, *words], check=True, capture_output=True)
    return target.read_bytes()


def exporting(*names: str) -> str:
    """Return C code that defines functions."""
    return "".join(f"int {name}(void) {{ return 1; }}\n" for name in names)


def asking(*names: str) -> str:
    """Return C code that calls functions which others define."""
    calls = " + ".join(f"{name}()" for name in names) or "0"
    return "".join(f"extern int {name}(void);\n" for name in names) + f"int own(void) {{ return {calls}; }}\n"


@needs_gcc
def test_a_library_tells_what_it_exports_and_needs(tmp_path: Path) -> None:
    """Weak references may stay undefined, and what is hidden or local is for nobody else."""
    code = (
        "#include <stdio.h>\nextern int torch_new(void);\nextern int torch_maybe(void) __attribute__((weak));\n"
        'static int local(void) { return 1; }\n__attribute__((visibility("hidden"))) int torch_hidden(void) { return 1; }\n'
        'int torch_own(void) { puts("x"); return torch_new() + (torch_maybe ? torch_maybe() : local() + torch_hidden()); }\n'
    )
    library(tmp_path, "libtorch_base.so", exporting("torch_new"))
    library(tmp_path, "libthing.so", code, f"-L{tmp_path}", "-l:libtorch_base.so")
    found = read_binary(tmp_path / "libthing.so")
    assert found is not None
    assert (found.soname, found.needed[0]) == ("libthing.so", "libtorch_base.so")
    assert "torch_own" in found.exported
    assert not {"torch_hidden", "local", "torch_new"} & found.exported
    assert "torch_new" in found.undefined
    assert not {"torch_maybe", "torch_own"} & found.undefined
    assert any(version.startswith("GLIBC_2.") for version in found.versions)


@needs_gcc
def test_a_library_without_sections(tmp_path: Path) -> None:
    """Sections are for linkers and debuggers: a library that lost them exports and needs what it did."""
    whole = library(tmp_path, "libthing.so", exporting("torch_own") + asking("torch_new"))
    before = read_binary(tmp_path / "libthing.so")
    offset, number = 0x28, 0x3C  # e_shoff and e_shnum of the ELF header
    bare = bytearray(whole)
    bare[offset : offset + 8], bare[number : number + 2] = bytes(8), bytes(2)
    (tmp_path / "libthing.so").write_bytes(bare)
    after = read_binary(tmp_path / "libthing.so")
    assert before
    assert after
    assert (after.soname, after.needed) == (before.soname, before.needed)
    assert {"torch_own", "own"} <= after.exported
    assert "torch_new" in after.undefined


@pytest.mark.long
@needs_gcc
def test_files_that_are_no_library(tmp_path: Path) -> None:
    """Other files are passed over; what begins like a library and is none, or is of macOS, is named."""
    (tmp_path / "a.so").write_bytes(b"!<arch>\nnot a library")
    assert read_binary(tmp_path / "a.so") is None
    (tmp_path / "b.so").write_bytes(library(tmp_path, "libb.so", exporting("f"))[:700])
    for name, content in (("b.so", None), ("c.dll", b"MZ" + b"\0" * 200), ("d.dylib", b"\xcf\xfa\xed\xfe" + b"\xff" * 20)):
        if content:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(UnavailableError, match=name):
            read_binary(tmp_path / name)


@pytest.mark.parametrize(
    ("symbol", "own"),
    [
        ("_ZN2at4_ops3cat4callE", True),
        ("_ZNK2at6Tensor3dimEv", True),
        ("_ZTVN2at8ContextE", True),
        ("_ZN9at_others3fooEv", False),
        ("_ZNSt6vectorIN2at6TensorEE4sizeEv", False),
        ("torch_from_blob", True),
        ("_Z14torch_functionv", True),
        ("memcpy", False),
        ("?dim@Tensor@at@@QEBA_JXZ", True),
        ("?dim@Tensor@other@@QEBA_JXZ", False),
    ],
)
def test_whose_a_symbol_is(symbol: str, own: bool) -> None:
    """A name counts by its outermost namespace, whichever compiler made it; a name of C by its beginning."""
    assert belongs(symbol, TORCH) is own


def test_what_is_linked_exports_something() -> None:
    """A product cannot be built against one of whose symbols the data say nothing."""
    with pytest.raises(ValueError, match="no `exports` says what that offers"):
        ProofFile.model_validate(tomllib.loads(PROOFS.replace('against = "torch"', 'against = "tourch"')))


@pytest.fixture
def index() -> Iterator[Index]:
    """An index on this machine."""
    with serving(Index()) as made:
        yield made


@pytest.fixture
def context(tmp_path: Path, index: Index) -> RunContext:
    """A context whose data know of two products, one of which links the other."""
    data = tmp_path / "data"
    (data / "products").mkdir(parents=True)
    for name in ("torch", "audio"):
        text = f'[product]\nid = "{name}"\nrank = {len(name)}\ndistribution = "{name}"\nimport-name = "{name}"\n'
        text += f'name = "{name}"\nrole = "package"\nscheme = "pep440"\n'
        (data / "products" / f"{name}.toml").write_text(text, encoding="utf-8")
    (data / "proofs.toml").write_text(PROOFS, encoding="utf-8")
    (data / "channels.toml").write_text((ROOT / "data" / "channels.toml").read_text(encoding="utf-8"), encoding="utf-8")
    return RunContext(TODAY, tmp_path / "work", tmp_path / "cache", data, indexes={"default": f"{index.url}/"})


def offer(index: Index, name: str, version: str, members: dict[str, bytes], tag: str = "manylinux_2_40_x86_64") -> None:
    """Put a wheel with libraries on the index."""
    file, content = wheel_file(name, version, dict(members), tag=f"cp311-cp311-{tag}")
    index.projects.setdefault(name, []).append(Served(file, content))


def asked(*packages: tuple[str, str]) -> ValidationCell:
    return ValidationCell(Level.SYMBOLS, "index", packages, "3.11", PLATFORM)


@needs_gcc
def test_missing_symbols_are_named(tmp_path: Path, index: Index, context: RunContext) -> None:
    """What neither wheel has is missing, the shortest name of C first; what the wheel brings itself is not."""
    old = library(tmp_path / "old", "libtorch_base.so", exporting("torch_old"))
    new = library(tmp_path / "new", "libtorch_base.so", exporting("torch_old", "torch_new", "torch_newest"))
    offer(index, "torch", "1.0", {"torch/lib/libtorch_base.so": old})
    offer(index, "torch", "2.0", {"torch/lib/libtorch_base.so": new})
    lib = library(tmp_path / "new", "_C.so", asking("torch_newest", "torch_new", "torch_helper", "elsewhere"))
    members = {"audio/_C.so": lib, "audio/libhelp.so": library(tmp_path, "libhelp.so", exporting("torch_helper"))}
    offer(index, "audio", "1.0", members)
    seen = check(asked(("audio", "1.0"), ("torch", "1.0")), context)
    assert (seen.outcome, seen.missing) == ("missing-symbol", ("torch_new", "torch_newest"))
    assert seen.detail == "audio/_C.so needs torch_new"
    assert check(asked(("audio", "1.0"), ("torch", "2.0")), context).outcome == "links"


@needs_gcc
def test_libraries_that_may_be_missing(tmp_path: Path, index: Index, context: RunContext) -> None:
    """A library without which the package imports denies nothing, but is named; one that is needed by name can be missing."""
    offer(index, "torch", "1.0", {"torch/lib/libtorch_base.so": library(tmp_path, "libtorch_base.so", exporting("torch_a"))})
    extra = library(tmp_path, "extra.so", asking("torch_b"))
    offer(index, "audio", "1.0", {"audio/_C.so": library(tmp_path, "_C.so", asking("torch_a")), "audio/extra.so": extra})
    library(tmp_path, "libtorch_gpu.so", exporting("other"))
    linked = library(tmp_path, "_D.so", asking("torch_a", "other"), f"-L{tmp_path}", "-l:libtorch_gpu.so")
    offer(index, "audio", "2.0", {"audio/_D.so": linked})
    seen = check(asked(("audio", "1.0"), ("torch", "1.0")), context)
    assert (seen.outcome, seen.missing) == ("links", ("torch_b",))
    seen = check(asked(("audio", "2.0"), ("torch", "1.0")), context)
    assert (seen.outcome, seen.missing) == ("missing-symbol", ("libtorch_gpu.so",))


@needs_gcc
def test_a_wheel_alone_tells_what_it_needs_of_the_machine(tmp_path: Path, index: Index, context: RunContext) -> None:
    """A tag that promises an older glibc than the libraries need is a conflict."""
    code = "char *secure_getenv(char *);\nint torch_x(void);\nint f(void) { return torch_x() + !secure_getenv(0); }\n"
    lib = library(tmp_path, "_C.so", code)
    offer(index, "audio", "1.0", {"audio/_C.so": lib})
    offer(index, "audio", "2.0", {"audio/_C.so": lib}, tag="manylinux2010_x86_64")
    fine, old = (check(asked(("audio", version)), context) for version in ("1.0", "2.0"))
    assert (fine.outcome, old.outcome) == ("links", "conflict")
    assert "libc.so.6" in fine.needs
    assert "GLIBC_2.17" in fine.needs
    assert old.detail.endswith("needs glibc 2.17, its tag promises 2.12")


@needs_gcc
def test_wheels_are_read_once_and_in_parts(tmp_path: Path, index: Index, context: RunContext) -> None:
    """The second question is answered from the cache; what an index lacks, damages or will not send in parts is told."""
    offer(index, "torch", "1.0", {"torch/lib/libtorch_base.so": library(tmp_path, "libtorch_base.so", exporting("torch_a"))})
    offer(index, "audio", "1.0", {"audio/_C.so": library(tmp_path, "_C.so", asking("torch_a"))})
    offer(index, "audio", "3.0", {"audio/_C.so": b"\x7fELF" + b"\0" * 80})
    offer(index, "audio", "4.0", {"audio/_C.so": library(tmp_path, "_C.so", asking("torch_a"))})
    cell = asked(("audio", "1.0"), ("torch", "1.0"))
    assert check(cell, context).outcome == "links"
    before = len(index.asked)
    assert check(cell, context).outcome == "links"
    assert len(index.asked) == before
    assert check(asked(("audio", "9.0"), ("torch", "1.0")), context).outcome == "not-found"
    damaged = check(asked(("audio", "3.0"), ("torch", "1.0")), context)
    assert (damaged.outcome, damaged.detail.partition(": cannot")[0]) == ("not-checked", "audio/_C.so")
    index.ranges = "none"
    assert "does not send part of a file" in check(asked(("audio", "4.0"), ("torch", "1.0")), context).detail


@needs_gcc
def test_a_wheel_is_read_again_for_other_symbols(tmp_path: Path, index: Index, context: RunContext) -> None:
    """What the data say of whose symbols are meant is part of the question that the cache answers."""
    offer(index, "audio", "1.0", {"audio/_C.so": library(tmp_path, "_C.so", asking("torch_a", "other_b"))})
    url = f"{index.url}/"
    file = wheel_for(context, url, False, "audio", "1.0", PLATFORM)
    for names, found in ((("torch_*",), ("torch_a",)), (("other_*",), ("other_b",)), (("torch_*",), ("torch_a",))):
        exports = TORCH.model_copy(update={"names": names})
        (read_library,) = read_wheel(url, file, exports, (), context.cache, context.folder).libraries
        assert read_library.undefined == found


@needs_gcc
def test_what_links_nothing_says_so_once(tmp_path: Path, index: Index, context: RunContext) -> None:
    """A wheel without a symbol of the other tells it alone, one for every platform too; pairs with it are not evidence."""
    file, content = wheel_file("audio", "1.0", {"audio/__init__.py": b""}, tag="py3-none-any")
    index.projects["audio"] = [Served(file, content)]
    offer(index, "audio", "2.0", {"audio/_C.so": library(tmp_path, "_C.so", asking("elsewhere"))})
    offer(index, "torch", "1.0", {"torch/lib/libtorch_base.so": library(tmp_path, "libtorch_base.so", exporting("torch_a"))})
    facts = facts_with(tmp_path)
    for version in ("1.0", "2.0"):
        alone, pair = asked(("audio", version)), asked(("audio", version), ("torch", "1.0"))
        report = validate([alone, pair], context, Threads(1), tmp_path / "out.jsonl", lambda *_: None)
        assert {(cell.packages, seen.outcome, seen.unlinked) for cell, seen in report.cells} == {
            (alone.packages, Outcome.LINKS, ("torch",)),
            (pair.packages, Outcome.NOT_CHECKED, ("torch",)),
        }
        (kept,) = read_lines(tmp_path / "out.jsonl")
        assert kept.packages == {"audio": version}
    wanted = PlanScope(TODAY, channel="extra")
    options = ValidationOptions(wanted, (Level.SYMBOLS,), linked=(LinkedProducts("torch", "1.0", ("audio",)),))
    told = replace(asked(("audio", "1.0")), index="extra").observed(Outcome.LINKS, TODAY, unlinked=("torch",))
    for known, paired in (([], 3), ([told], 0)):
        assert sum(len(cell.packages) == 2 for cell in choose(facts, options, known)) == paired


def test_builds_for_several_pythons_are_paired(tmp_path: Path) -> None:
    """A wheel of the stable ABI names no Python, and is read beside the builds of those that it admits."""
    tags = {"torch": {"cp311": ["manylinux_2_28_x86_64"]}, "audio": {"cp39-abi3": ["manylinux_2_28_x86_64"]}}
    builds = [{"version": "1.0", "channels": ["default"], "devices": ["cpu"], "sources": ["page"]}]
    products = [product(name, distribution=name, releases=[release("1.0", builds=builds)]) for name in tags]
    indexes = [index_file(name, [listing("1.0", wheels=wheels)]) for name, wheels in tags.items()]
    facts = compiled(build_knowledge(files_of(products, indexes=indexes)), tmp_path)
    options = ValidationOptions(PlanScope(TODAY), (Level.SYMBOLS,), linked=(LinkedProducts("torch", "1.0", ("audio",)),))
    assert [c.packages for c in choose(facts, options, []) if len(c.packages) == 2] == [(("audio", "1.0"), ("torch", "1.0"))]


def observed(outcome: Outcome, base: str, *missing: str) -> Observation:
    """Return what was seen of audio 1.0 beside a release of torch."""
    return asked(("audio", "1.0"), ("torch", base)).observed(outcome, TODAY, missing=missing)


def facts_with(tmp_path: Path, *seen: Observation, claims: tuple[Record, ...] = ()) -> Snapshot:
    """Return the facts of two products with that evidence."""
    torch = product("torch", distribution="torch", releases=["3.0", "2.0", "1.0"])
    audio = product("audio", distribution="audio", releases=["1.0"], claims=list(claims))
    knowledge = build_knowledge(replace(files_of([torch, audio]), evidence=seen))
    add_observations(knowledge)
    return compiled(knowledge, tmp_path)


def answers(tmp_path: Path, *seen: Observation, claims: tuple[Record, ...] = ()) -> dict[str, Answer]:
    """Return the answers to audio 1.0 beside each release of torch on Linux, with that evidence."""
    facts = facts_with(tmp_path, *seen, claims=claims)
    pins = {version: {"torch": version, "audio": "1.0", "os": "linux"} for version in ("1.0", "2.0", "3.0")}
    return {version: resolve(facts, request(facts, wanted)) for version, wanted in pins.items()}


def test_missing_symbols_deny_and_links_alone_only_hint(tmp_path: Path) -> None:
    """A denial names the symbol and the releases without it; where nothing is missing the two are likely, not more."""
    seen = [observed(Outcome.MISSING_SYMBOL, base, "torch_x") for base in ("1.0", "2.0")] + [observed(Outcome.LINKS, "3.0")]
    found = answers(tmp_path, *seen)
    assert [answer.verdict for answer in found.values()] == ["does-not-work", "does-not-work", "likely"]
    (cause,) = {edge.claim for cause in found["1.0"].causes for edge in cause.edges}
    facts = facts_with(tmp_path, *seen)
    assert facts.claim(cause).reason == "audio 1.0 needs `torch_x`, which torch 1.0 to 2.0 do not export"


def test_each_denial_has_a_name_and_the_first_symbol(tmp_path: Path) -> None:
    """Of one release beside several others each symbol denies with a claim of its own, and names the first that is missing."""
    seen = [observed(Outcome.MISSING_SYMBOL, f"{n}.0", f"torch_{n}", "torch_z") for n in (1, 2, 3)]
    facts = facts_with(tmp_path, *seen)
    reasons = {facts.claim(edge.claim).reason for edge in facts.edges("audio", "torch")}
    assert reasons == {f"audio 1.0 needs `torch_{n}`, which torch {n}.0 does not export" for n in (1, 2, 3)}


def test_builds_of_one_release_for_several_pythons_may_lack_several_symbols(tmp_path: Path) -> None:
    """What each Python's build of a release lacks denies with a claim of its own."""
    seen = [
        observed(Outcome.MISSING_SYMBOL, "1.0", f"torch_{python}").model_copy(update={"python": python})
        for python in ("3.10", "3.11", "3.12")
    ]
    facts = facts_with(tmp_path, *seen)
    assert len({edge.claim for edge in facts.edges("audio", "torch")}) == 3


def test_symbols_say_nothing_where_the_base_excludes_a_release(tmp_path: Path) -> None:
    """What torch says of audio counts as what audio says of torch."""
    torch = product("torch", distribution="torch", releases=["2.0"], claims=[breaks("torch==2.0", "audio==1.0")])
    audio = product("audio", distribution="audio", releases=["1.0"])
    seen = (observed(Outcome.MISSING_SYMBOL, "2.0", "torch_x"),)
    knowledge = build_knowledge(replace(files_of([torch, audio]), evidence=seen))
    add_observations(knowledge)
    assert [(edge.of, edge.to) for edge in knowledge.edges] == [("torch", "audio")]


def test_what_is_said_already_is_not_said_again(tmp_path: Path) -> None:
    """Beside a requirement of another release no symbol is named; links add nothing to what somebody states."""
    needs_three = needs("audio==1.0", "torch==3.0")
    seen = [observed(Outcome.MISSING_SYMBOL, "1.0", "torch_x"), observed(Outcome.LINKS, "3.0")]
    found = answers(tmp_path, *seen, claims=(needs_three,))
    assert (found["1.0"].verdict, found["3.0"].verdict) == ("does-not-work", "works")
    facts = facts_with(tmp_path, *seen, claims=(needs_three,))
    assert not [edge for edge in facts.edges("audio", "torch") if edge.claim != needs_three["id"]]


def test_links_without_some_libraries_hint_at_nothing(tmp_path: Path) -> None:
    """A package that imports without a library that cannot be loaded is not the package that was built."""
    found = answers(tmp_path, observed(Outcome.LINKS, "3.0", "torch_x"))
    assert found["3.0"].verdict == "unknown"


def test_a_claim_beside_missing_symbols_is_for_a_person(tmp_path: Path) -> None:
    """Symbols deny what a maker says works, and lint asks who is wrong until a culprit is named."""
    claimed = verified("audio==1.0", "torch==2.0")
    seen = observed(Outcome.MISSING_SYMBOL, "2.0", "torch_x")
    assert answers(tmp_path, seen, claims=(claimed,))["2.0"].verdict == "does-not-work"
    torch = product("torch", distribution="torch", releases=["2.0"])
    directory = data_directory(
        tmp_path / "data", [torch, product("audio", distribution="audio", releases=["1.0"], claims=[claimed])]
    )
    for line, found in ((seen, 1), (seen.model_copy(update={"culprit": claimed["id"]}), 0)):
        (directory / "evidence").mkdir(exist_ok=True)
        (directory / "evidence" / "symbols.jsonl").write_text(text_of([line]), encoding="utf-8")
        report = lint(read(directory), TODAY, ("evidence-contradicts",))
        assert len(report.findings) == found


def test_pairs_of_one_outcome_share_a_line(tmp_path: Path) -> None:
    """Pairs that differ in one version stand on one line, come back one by one, and are answered for one by one."""
    seen = [observed(Outcome.MISSING_SYMBOL, version, "torch_x") for version in ("1.0", "2.0")]
    text = text_of([*seen, observed(Outcome.LINKS, "3.0")])
    assert [line.count("1.0 2.0") for line in text.splitlines()] == [1, 0]
    (tmp_path / "symbols.jsonl").write_text(text, encoding="utf-8")
    assert read_lines(tmp_path / "symbols.jsonl") == [*seen, observed(Outcome.LINKS, "3.0")]
    one_by_one = answers(tmp_path, *seen)
    together = answers(tmp_path, Observation.model_validate_json(text.splitlines()[0]))
    assert [found.verdict for found in together.values()] == [found.verdict for found in one_by_one.values()]


def test_stale_evidence_is_asked_again(tmp_path: Path) -> None:
    """Only what was seen longer ago is asked, whatever the plan says now, beside what the data say of it now."""
    facts = facts_with(tmp_path)
    old, new = observed(Outcome.LINKS, "1.0"), observed(Outcome.LINKS, "2.0").model_copy(update={"checked": date(2026, 3, 1)})
    wanted = PlanScope(date(2026, 3, 2))
    options = ValidationOptions(wanted, (Level.SYMBOLS,), max_age=timedelta(30), stale=True)
    (cell,) = choose(facts, options, [old, new])
    assert (cell.packages, cell.claimed) == (tuple(sorted(old.packages.items())), "unknown")
    assert not choose(facts, replace(options, levels=(Level.RESOLVE,)), [old, new])
