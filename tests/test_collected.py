"""`refresh --clones` reads the feeds of products in made repositories, and the data take in what it wrote."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run
from good_data import good, written

from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.authoring.knowledge_base import Knowledge
from compatkb.authoring.loader import load
from compatkb.core.versions import Scheme, admits, admitted

HEAD = 'name = "{id}"\nrole = "dimension"\nscheme = "{scheme}"\nrank = {rank}\neol-note = "None."\n'
RUNTIME = """
[[feed]]
kind = "tags"
repo = "maker/runtime"
tags = "\\\\d\\\\d\\\\.\\\\d+"
since = "23"
lines = { "24" = "Of the long line." }
manifest = "manifest.yml"
built-with = [{ product = "compiler", key = "igc" }]
"""
LINES = """
[[feed]]
kind = "files"
repo = "maker/runtime"
tags = "(\\\\d\\\\d\\\\.\\\\d+)"
releases = ">=23.9"
reads = [
    { id = "v", paths = ["manifest.yml"], line = "revision: v(.+)", kind = "needs", names = ["compiler>={1}"], note = "{of}" },
]
"""
COMPILER = """
[[feed]]
kind = "tags"
repo = "maker/compiler"
tags = "v(\\\\d+\\\\.\\\\d+)"
named = true
"""
CARDS = """
[[feed]]
kind = "device-ids"
listed-by = "runtime"
repo = "maker/runtime"
tags = "\\\\d\\\\d\\\\.\\\\d+"
paths = ["devices.inl", "more.inl"]
families = ["bmg", "dg2"]

[source]
names = { repo = "maker/runtime", ref = "23.1", path = "devices.inl", at = 1, seen = 2026-11-01 }

[[release]]
version = "arc-b"
aliases = ["Arc(TM) B580"]
sources = ["names"]

[[release]]
version = "arc-a"
sources = ["names"]
"""
KERNEL = """
[[feed]]
kind = "kernel-tables"
tables = { xe = "xe_pci.c" }
headers = ["pciids.h"]
families = { DG2 = "dg2", BMG = "bmg" }
apart = ["guest"]
unless = "unless told"
trees = [
    { kernel = "6.12", driver = "xe", repo = "maker/kernel", ref = "v6.12" },
    { kernel = "6.11", driver = "xe", repo = "maker/kernel", ref = "v6.11" },
]

[[release]]
version = "6.12"
sources = ["tables"]

[[release]]
version = "6.11"
sources = ["tables"]

[source]
tables = { repo = "maker/kernel", ref = "v6.12", path = "xe_pci.c", at = 1, seen = 2026-11-01 }
"""
MACHINE = """
[source]
names = { repo = "maker/runtime", ref = "23.1", path = "devices.inl", at = 1, seen = 2026-11-01 }

[[graphics]]
id = "arc-b"
name = "Arc B"
vendor = "8086"
hardware = "arc-b"
ids = ["e202"]
sources = ["names"]
"""
XE_TABLE = """
#define FORCED .require_force_probe = true, \\
	.other = 1
static const struct xe_device_desc dg2_desc = {
	FORCED,
};
static const struct xe_device_desc bmg_desc __maybe_unused = {
	PLATFORM(BATTLEMAGE),
};
static const struct pci_device_id pciidlist[] = {
	/* INTEL_OLD_IDS(INTEL_PCI_DEVICE, &old_desc), */
	INTEL_DG2_IDS(INTEL_VGA_DEVICE, &dg2_desc),
	INTEL_BMG_IDS(INTEL_VGA_DEVICE, &bmg_desc),
};
"""
IDS = """
#define INTEL_BMG_G21_IDS(MACRO__, ...) \\
	MACRO__(0xE20B, ## __VA_ARGS__)
#define INTEL_BMG_IDS(MACRO__, ...) \\
	INTEL_BMG_G21_IDS(MACRO__, ## __VA_ARGS__), \\
	MACRO__(0xE202, ## __VA_ARGS__)
"""


class Repository:
    """A repository in which each commit gets a tag, a day after the one before."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.folder, self.day = folder, 0
        self.git("init", "--quiet")

    def git(self, *words: str) -> str:
        """Run git there and return what it prints."""
        day = f"2026-01-{self.day:02}T12:00:00Z"
        environment = {"GIT_COMMITTER_DATE": day, "GIT_AUTHOR_DATE": day, "PATH": "/usr/bin:/bin", "HOME": str(self.folder)}
        names = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        done = subprocess.run(
            ["git", *names, *words], cwd=self.folder, check=True, env=environment, capture_output=True, text=True
        )
        return done.stdout.strip()

    def release(self, tag: str, **texts: str) -> str:
        """Write files (`__` stands for a dot), commit and tag them; return the commit."""
        self.day += 1
        for name, text in texts.items():
            (self.folder / name.replace("__", ".")).write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", tag)
        self.git("tag", "-a", "-m", tag, tag)
        return self.git("rev-parse", "HEAD")


def manifest(revision: str) -> str:
    """Return a manifest that names a revision on line 3."""
    return f"components:\n  igc:\n    revision: {revision}\n"


@pytest.fixture
def clones(tmp_path: Path) -> Path:
    """A folder with the repositories of a runtime, its compiler, and a kernel."""
    folder = tmp_path / "clones"
    compiler = Repository(folder / "maker" / "compiler")
    compiler.release("v1.1")
    second = compiler.release("v1.2")
    compiler.release("v1.3")
    runtime = Repository(folder / "maker" / "runtime")
    table = 'DEVICE( 0x56A0, DG2_CONFIG )\nNAMEDDEVICE(0xE20B, BmgHwConfig, "Arc(TM) B580")\n'
    runtime.release("22.9", manifest__yml=manifest("v1.0"), devices__inl="")
    runtime.release("23.1", manifest__yml=manifest("v1.1"), devices__inl="", more__inl="DEVICE( 0x56A0, DG2_CONFIG )\n")
    runtime.release("23.10", manifest__yml=manifest(second[:12]), devices__inl=table)
    runtime.release("23.9", manifest__yml=manifest("v1.1"), devices__inl=table)
    runtime.release("24.1", manifest__yml=manifest("v1.2"), devices__inl=table + "DEVICE( 0xE202, BMG_CONFIG )\n")
    runtime.release("latest")
    kernel = Repository(folder / "maker" / "kernel")
    kernel.release("v6.11", xe_pci__c="static const struct pci_device_id pciidlist[] = {\n};\n")
    kernel.release("v6.12", xe_pci__c=XE_TABLE, pciids__h=IDS)
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with products that have feeds."""
    folder = tmp_path / "data"
    texts = {
        f"products/{name}.toml": f'[product]\nid = "{name}"\n' + HEAD.format(id=name, scheme=scheme, rank=rank) + feed
        for name, scheme, rank, feed in (
            ("runtime", "dotted", 91, RUNTIME),
            ("compiler", "dotted", 92, COMPILER),
            ("cards", "listed", 93, CARDS),
            ("kernel", "dotted", 94, KERNEL),
        )
    }
    for path, content in (written(good()) | {p: t.encode() for p, t in (texts | {"machine.toml": MACHINE}).items()}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


@pytest.fixture
def refresh(data: Path, clones: Path, run: Callable[..., Run]) -> Callable[..., Run]:
    """`refresh` over the clones."""
    return lambda *words: run("refresh", "--clones", str(clones), "--data", str(data), *words)


@pytest.fixture
def knowledge(data: Path, refresh: Callable[..., Run]) -> Knowledge:
    """What the data hold after everything was read."""
    assert refresh("--write").code == 0
    return build_knowledge(load(data))


def text(data: Path, name: str) -> str:
    """Return a collected file."""
    return (data / "collected" / f"{name}.toml").read_text()


def test_tags_are_releases_with_their_days_and_what_they_were_built_with(data: Path, refresh: Callable[..., Run]) -> None:
    """A row a tag, newest first; a commit stands for the version of its tag; what is no version or too old is left out."""
    refresh("--write")
    rows = text(data, "runtime").partition("rows = [\n")[2].splitlines()
    assert rows == [
        '    ["24.1", 2026-01-05, [["1.2", 3]]],',
        '    ["23.10", 2026-01-03, [["1.2", 3]]],',
        '    ["23.9", 2026-01-04, [["1.1", 3]]],',
        '    ["23.1", 2026-01-02, [["1.1", 3]]],',
        "]",
    ]


def test_versions_that_no_manifest_names_do_not_count(data: Path, refresh: Callable[..., Run]) -> None:
    """Of a component those are releases that a release was built with."""
    refresh("--write")
    assert '["1.2", 2026-01-02, { tag = "v1.2" }]' in text(data, "compiler")
    assert "1.3" not in text(data, "compiler")


def test_an_id_has_the_first_tag_by_day_and_the_lowest_version(data: Path, refresh: Callable[..., Run]) -> None:
    """An older branch that got it later has it too; an id keeps the place where it was listed first."""
    refresh("--write")
    found = text(data, "cards")
    assert '["e20b", "23.10", 2026-01-03, 2, { name = "Arc(TM) B580", lowest = "23.9" }]' in found
    assert '["e202", "24.1", 2026-01-05, 3]' in found
    assert '["56a0", "23.1", 2026-01-02, 1, { path = "more.inl" }]' in found


def test_a_family_is_taken_by_default_or_forced(data: Path, refresh: Callable[..., Run]) -> None:
    """What a comment names does not count; a macro can force; ids are those of nested macros too."""
    refresh("--write")
    first, before = text(data, "kernel").split("[[kernels]]")[1:]
    assert "rows" not in before
    rows = first.partition("rows = [\n")[2].rstrip().splitlines()
    assert rows == ['    ["dg2", "force-probe", 12],', '    ["bmg", "default", 13, ["e202", "e20b"]],', "]"]


def test_what_was_collected_is_read_as_releases_and_claims(knowledge: Knowledge) -> None:
    """Releases have the days of their tags; neighbours that were built with one version are one claim."""
    releases = {e.version: e.release.released for e in knowledge.elements["runtime"]}
    assert list(releases) == ["23.1", "23.9", "23.10", "24.1"]
    assert [e.version for e in knowledge.elements["runtime"] if e.release.note] == ["24.1"]
    assert str(releases["23.9"] and releases["23.9"].on) == "2026-01-04"
    built = {
        (claim.of, *claim.to) for claim in (c.claim for c in knowledge.claims.values()) if claim.id.startswith("runtime-")
    }
    assert built == {("runtime>=23.1,<=23.9", "compiler==1.1"), ("runtime>=23.10,<=24.1", "compiler==1.2")}


def test_lines_of_files_are_claims_at_their_tags(data: Path, refresh: Callable[..., Run]) -> None:
    """A row a tag that has what the pattern looks for, with path and line; what a group found stands in the claim."""
    product = data / "products" / "runtime.toml"
    product.write_text(product.read_text() + LINES)
    assert refresh("--write", "--only", "runtime", "--only", "compiler").code == 0
    assert '["23.9", "23.9", { found = { v = ["manifest.yml", 3, ["1.1"]] } }]' in text(data, "runtime")
    knowledge = build_knowledge(load(data))
    found = [
        claim for claim in knowledge.claims.values() if claim.claim.kind == "needs" and claim.claim.of.startswith("runtime")
    ]
    assert [(claim.claim.of, claim.claim.to, claim.claim.note, claim.sources[0].ref) for claim in found] == [
        ("runtime==24.1", ("compiler>=1.2",), "24.1", "24.1"),
        ("runtime==23.9", ("compiler>=1.1",), "23.9", "23.9"),
    ]


def test_a_card_needs_the_first_release_that_lists_it(knowledge: Knowledge) -> None:
    """Ids that have the name of their hardware are its ids; the lowest release with one of them is needed."""
    assert knowledge.files.machine
    assert knowledge.files.machine.graphics[0].ids == ("e202", "e20b")
    claim = knowledge.claims["arc-b-listed-runtime"].claim
    assert (claim.kind, claim.of, claim.to) == ("needs", "cards==arc-b", ("runtime>=23.9",))
    assert knowledge.claims["arc-b-listed-runtime"].sources[0].ref == "23.10"
    assert "arc-a-listed-runtime" not in knowledge.claims


def test_a_card_needs_the_first_kernel_that_takes_it(knowledge: Knowledge) -> None:
    """The one after the last table that does not have it; systems whose numbers tell nothing are left out, and why is said."""
    claim = knowledge.claims["arc-b-default-kernel"].claim
    assert (claim.kind, claim.of, claim.to, claim.basis) == ("needs", "cards==arc-b", ("kernel>=6.12",), "stated")
    assert [source.ref for source in knowledge.claims["arc-b-default-kernel"].sources] == ["v6.12", "v6.11"]
    assert claim.when
    assert claim.when.not_os == ("guest",)
    assert (claim.reason or "").endswith(
        "needs kernel 6.12 or newer: no driver of the kernel lists it before 6.12, unless told"
    )


def test_a_second_run_changes_nothing(data: Path, refresh: Callable[..., Run]) -> None:
    """What was read and has not changed is no change; plain `refresh` writes nothing."""
    assert refresh("--check").code == 4
    assert not (data / "collected").exists()
    refresh("--write")
    assert refresh("--check").code == 0


def test_a_new_tag_is_one_line(clones: Path, data: Path, refresh: Callable[..., Run]) -> None:
    """The difference of a new release is its row."""
    refresh("--write")
    runtime = Repository.__new__(Repository)
    runtime.folder, runtime.day = clones / "maker" / "runtime", 20
    runtime.release("24.2", manifest__yml=manifest("v1.2"))
    done = refresh("--only", "runtime")
    added = [line for line in done.out.splitlines() if line.startswith("+") and "head =" not in line]
    assert added == ["+++ b/data/collected/runtime.toml", '+    ["24.2", 2026-01-21, [["1.2", 3]]],']


def test_what_is_not_there_is_told_and_left(clones: Path, data: Path, refresh: Callable[..., Run]) -> None:
    """A product whose repository is not among the clones keeps its file, and a note says so."""
    refresh("--write")
    before = text(data, "kernel")
    (clones / "maker" / "kernel").rename(clones / "gone")
    done = refresh("--write")
    assert "maker/kernel: not in" in done.out
    assert text(data, "kernel") == before


@pytest.mark.parametrize("words", [("--only", "nothing"), ("--index", "https://index.example"), ("--since", "2026-01-01")])
def test_what_makes_no_sense_is_refused(refresh: Callable[..., Run], words: tuple[str, ...]) -> None:
    """A product without a feed, and options of the package index, are errors of use."""
    assert refresh(*words).code == 2


def test_a_missing_folder_is_refused(data: Path, run: Callable[..., Run]) -> None:
    """No clones at all are an error of use."""
    assert run("refresh", "--clones", str(data / "none"), "--data", str(data)).code == 2


@pytest.mark.parametrize(
    "spec", ["", "==1.2", "==1.*", "!=1.2", "!=1.*", ">=1.2", ">1.2", "<1.2", "<=1.2", ">=1.0,<2", "==1", ">1.2.0.1", "==9.*"]
)
def test_sets_of_dotted_versions_are_those_of_single_ones(spec: str) -> None:
    """A search in the ordered versions finds what the rule for one of them says."""
    releases = ["1", "1.0", "1.2", "1.2", "1.2.0", "1.2.1", "1.10", "2", "2.0.1"]
    one_by_one = sum(1 << n for n, release in enumerate(releases) if admits(Scheme.DOTTED, spec, release))
    assert admitted(Scheme.DOTTED, spec, releases) == one_by_one
