"""Readers of other people's files: what they state, and where."""

import random
import re
import textwrap

import pytest
from conftest import examples
from fuzz_readers import SAMPLES, examine, mutated
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Parsed

from compatkb.parsers.registry import kind_of, read
from compatkb.parsers.requirement import from_conda, from_poetry, is_name, parse
from compatkb.parsers.statement import (
    Action,
    ImageUse,
    Include,
    IndexUse,
    ParsedFile,
    PythonUse,
    Requirement,
    RequirementRole,
    SystemPackage,
    SystemUse,
)


def pins(reading: ParsedFile, group: str | None = None) -> dict[str, str]:
    """Return name and specifier of the requirements, those of one group alone where one is named."""
    found = [s for s in reading.statements if isinstance(s, Requirement)]
    return {s.name: s.specifier for s in found if group is None or s.group == group}


def of(reading: ParsedFile, kind: type) -> list:
    return [statement for statement in reading.statements if isinstance(statement, kind)]


def at(text: str, statement: object) -> str:
    """Return what stands in a text at the place of a statement."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    line, column = statement.place
    return lines[line - 1][column - 1 :]


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_read_without_a_problem(name: str) -> None:
    """Every format has a sample, which yields statements that stand where they say."""
    reading = examine(name, SAMPLES[name])
    assert reading.statements
    assert [problem.message for problem in reading.problems] in ([], ["invalid requirement: 'bad bad'"])
    for found in of(reading, Requirement):
        if not found.derived and "\n" not in found.text:
            written = at(SAMPLES[name], found)
            assert written.startswith(found.text) or found.text in written, found


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("change", ["crlf", "bom", "cr"])
def test_line_ends_and_marks_move_nothing(name: str, change: str) -> None:
    """CRLF, CR and a byte order mark leave lines, columns and statements as they are."""
    text = SAMPLES[name]
    other = {"crlf": text.replace("\n", "\r\n"), "cr": text.replace("\n", "\r"), "bom": "\ufeff" + text}[change]
    assert read(name, other).statements == read(name, text).statements


@pytest.mark.parametrize("name", SAMPLES)
def test_damaged_files_raise_nothing(name: str) -> None:
    """Damaged samples yield statements and problems within the file, never an exception."""
    chance = random.Random(name)
    for _ in range(30):
        examine(name, mutated(SAMPLES[name], chance))


@pytest.mark.long
@settings(max_examples=examples(150), deadline=5000, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(sorted(SAMPLES)), st.text(max_size=400))
def test_any_text_is_read(name: str, text: str) -> None:
    """No text of any kind raises."""
    examine(name, text)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("requirements.txt", "requirements"),
        ("requirements-dev.txt", "requirements"),
        ("requirements/xpu.txt", "requirements"),
        ("a/constraints.txt", "constraints"),
        ("docker/Dockerfile.xpu", "dockerfile"),
        ("x/Containerfile", "dockerfile"),
        ("xpu.Dockerfile", "dockerfile"),
        ("docker-compose.override.yml", "compose"),
        (".github/workflows/ci.yaml", "github"),
        (".github/actions/a/action.yml", "github"),
        (".gitlab-ci.yml", "gitlab"),
        ("env/environment-xpu.yml", "environment"),
        ("pylock.xpu.toml", "pylock"),
        ("notes.txt", None),
        ("setup.py", "setup.py"),
        ("train.py", "script"),
        ("sub/pixi.toml", "pixi"),
        (".devcontainer/gpu/devcontainer.json", "devcontainer"),
        (".devcontainer.json", "devcontainer"),
        ("GNUmakefile", "makefile"),
        ("rules/torch.mk", "makefile"),
        ("setup.bat", "batch"),
    ],
)
def test_kind_of_a_path(path: str, kind: str | None) -> None:
    """A file's name tells which reader it deserves."""
    assert kind_of(path) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("services:\n  a: {image: 'b:1'}\n", "compose"),
        ("apiVersion: v1\nkind: Pod\nservices: [{image: 'b:1'}]\n", "kubernetes"),
        ("on: push\njobs: {a: {steps: [{run: pip install b}]}}\n", "github"),
        ("name: x\nchannels: [c]\ndependencies: [pip]\n", "environment"),
        ("image: {repository: a/b, tag: '1'}\n", "yaml"),
    ],
)
def test_yaml_is_told_by_what_it_holds(text: str, kind: str) -> None:
    """A YAML file with any name is read as what its keys say."""
    assert read("some.yaml", text).kind == kind


def test_requirements_lines() -> None:
    """Comments, continuations, markers, hashes and options are those of pip."""
    text = textwrap.dedent("""\
        # torch==1
        torch==2.5.0 \\
            --hash=sha256:aa \\
            --hash=sha256:bb  # why
        \tnumpy <2 ; python_version < "3.12"   # tab in front
        --extra-index-url=https://index.example/simple
        -r other.txt
        -c limits.txt
        name @ https://index.example/name-1.0-py3-none-any.whl
        """)
    reading = read("requirements.txt", text)
    assert pins(reading) == {"torch": "==2.5.0", "numpy": "<2", "name": "==1.0"}
    torch, numpy, _ = of(reading, Requirement)
    assert (torch.place, torch.hashed) == ((2, 1), True)
    assert (numpy.place, numpy.marker) == ((5, 2), 'python_version < "3.12"')
    assert [(i.path, i.role) for i in of(reading, Include)] == [
        ("other.txt", RequirementRole.INSTALL),
        ("limits.txt", RequirementRole.CONSTRAINT),
    ]
    assert of(reading, IndexUse)[0].url == "https://index.example/simple"


def test_what_is_no_requirement_is_a_problem() -> None:
    """A line that pip would refuse is named, and the others are still read."""
    reading = read("requirements.txt", "torch==2.5.0\nthis is none\n")
    assert pins(reading) == {"torch": "==2.5.0"}
    assert reading.problems[0].place == (2, 1)


def test_templates_are_no_problem() -> None:
    """Places that another tool fills in are passed over."""
    assert not read("requirements.txt", "{% if a %}\n{{ name }}==1\n{% endif %}\ntorch\n").problems
    text = '[project]\nname = "a"\nversion = "1"\ndependencies = ["b @ {root:uri}/b"]\n'
    assert not read("pyproject.toml", text).problems


@pytest.mark.parametrize(
    ("poetry", "pep440"),
    [
        ("^2.5", ">=2.5,<3"),
        ("^0.20.1", ">=0.20.1,<0.21"),
        ("~2.5.1", ">=2.5.1,<2.6"),
        ("~2", ">=2,<3"),
        ("2.5.*", "==2.5.*"),
        ("2.5.1", "==2.5.1"),
        (">=2.5,<2.7", ">=2.5,<2.7"),
        ("*", ""),
        ("^2 || ^3", None),
        ("^x", None),
        ("nonsense", None),
    ],
)
def test_poetry_versions(poetry: str, pep440: str | None) -> None:
    """Carets, tildes and bare versions of poetry mean what they mean there."""
    assert from_poetry(poetry) == pep440


@pytest.mark.parametrize(
    ("conda", "pep440"),
    [
        ("=2.5", "==2.5.*"),
        ("==2.5", "==2.5"),
        ("2.5.*", "==2.5.*"),
        ("=2.5=py310_0", "==2.5"),
        (">=2,<3", ">=2,<3"),
        ("1|2", None),
    ],
)
def test_conda_versions(conda: str, pep440: str | None) -> None:
    """One equals sign of conda is a prefix, two are a pin."""
    assert from_conda(conda) == pep440


def test_stages_build_on_each_other() -> None:
    """A stage that starts from another one holds what that one installed; one that does not, does not."""
    reading = read("Dockerfile", "FROM a:1 AS one\nRUN pip install x==1\nFROM one\nRUN pip install y==2\nFROM b:1\n")
    assert reading.members("stage:1") == ("stage:1", "stage:one")
    assert reading.members("stage:2") == ("stage:2",)


def test_arguments_have_their_defaults() -> None:
    """ARG fills FROM and RUN; one without a default leaves a version unknown, not unpinned."""
    text = (
        "ARG TAG=2.5\nARG NONE\nFROM img:${TAG}-xpu\nARG V=2.5.0\nARG W\n"
        "RUN pip install a==$V b==${W} c==${X:-3}\nFROM z:$NONE\n"
    )
    reading = read("Dockerfile", text)
    first, second = of(reading, ImageUse)
    assert (first.tag, first.place, second.unknown, second.tag) == ("2.5-xpu", (3, 6), True, None)
    assert pins(reading) == {"a": "==2.5.0", "b": "", "c": "==3"}
    assert [r.unknown for r in of(reading, Requirement)] == [False, True, False]


def test_places_in_continued_commands() -> None:
    """Line and column survive continuations, comments between them, quotes and here-documents."""
    text = (
        'FROM a:1\nRUN apt-get install -y x=1 && \\\n  # why\n  pip install "t==1" \\\n     u==2\n'
        "RUN <<EOF\npip install v==3\nEOF\n"
    )
    reading = read("Dockerfile", text)
    assert {r.name: tuple(r.place) for r in of(reading, Requirement)} == {"t": (4, 16), "u": (5, 6), "v": (7, 13)}
    assert [(p.name, p.version, tuple(p.place)) for p in of(reading, SystemPackage)] == [("x", "1", (2, 24))]


def test_branches_of_scripts_stay_apart() -> None:
    """What one branch installs is in no group with what the other one does."""
    text = (
        "if a; then\n  pip install t==1\nelse\n  pip install t==2\nfi\ncase $x in\n a) pip install u==1;;\n"
        " b) pip install u==2;;\nesac\n"
    )
    reading = read("a.sh", text)
    groups = [r.group for r in of(reading, Requirement)]
    assert len(set(groups)) == 4
    assert all(reading.members(group) == (group, "") for group in groups)


def test_what_follows_a_failure_stands_alone() -> None:
    """`a || b` installs one of them, so `b` is in no group with anything else."""
    reading = read("a.sh", "pip install t==1 || pip install t==2\n")
    first, second = of(reading, Requirement)
    assert first.group == ""
    assert reading.members(second.group) == (second.group,)


def test_environments_of_scripts_stay_apart() -> None:
    """Activating another environment begins another group; what conda creates by name is that environment."""
    reading = read(
        "a.sh",
        "pip install a\nconda create -n one python=3.10 t=2\nconda activate one\npip install b\n"
        "conda deactivate\npip install c\n",
    )
    groups = {r.name: r.group for r in of(reading, Requirement)}
    assert groups["a"] == groups["c"] == ""
    assert groups["b"] == groups["t"] == "#one"
    assert of(reading, PythonUse)[0].specifier == "==3.10.*"


def test_variables_changed_in_a_branch_are_unknown_after_it() -> None:
    """A variable that only one branch sets has no value that could be relied on."""
    reading = read("a.sh", "V=1\nif a; then V=2; fi\npip install t==$V\n")
    assert of(reading, Requirement)[0].unknown


def test_loops_leave_versions_unknown() -> None:
    """The variable of a loop has no one value."""
    assert of(read("a.sh", "for v in 1 2; do pip install t==$v; done\n"), Requirement)[0].unknown


def test_a_bound_without_quotes_is_lost() -> None:
    """`t>=1` without quotes is t with its output in a file; the reader keeps what was meant."""
    found = of(read("a.sh", "pip install t>=1 'u>=2'\n"), Requirement)
    assert [(r.name, r.specifier, r.lost) for r in found] == [("t", "", ">=1"), ("u", ">=2", None)]


def test_text_that_is_printed_installs_nothing() -> None:
    """Arguments of echo and the body of a here-document for cat are no commands."""
    assert not of(read("a.sh", 'echo "pip install t==1"\ncat <<E\npip install u==1\nE\n'), Requirement)


@pytest.mark.parametrize(
    "command",
    [
        "pip install t==1",
        "sudo -H pip3 install t==1",
        "python -m pip install t==1",
        "python3.11 -m pip install --upgrade --pre t==1",
        "/opt/venv/bin/pip install -q t==1",
        "uv pip install --system t==1",
        "conda run -n x pip install t==1",
        "PIP_NO_CACHE_DIR=1 pip install -U --index-url https://index.example/simple t==1",
        "! pip install t==1",
        "time pip install --target /x t==1",
        "poetry add t@1",
        "uv add t==1",
    ],
)
def test_ways_to_install(command: str) -> None:
    """Wrappers, modules, paths and options around an install command do not hide it."""
    assert pins(read("a.sh", command)) == {"t": "==1"}


def test_matrices_are_crossed() -> None:
    """Each combination of a matrix is a group with its own values; include adds to them, exclude takes away."""
    reading = read(".github/workflows/a.yml", SAMPLES[".github/workflows/test.yml"])
    jobs = [name for name, group in reading.groups.items() if group.kind == "job"]
    assert len(jobs) == 3
    assert {p.specifier for p in of(reading, PythonUse)} == {"==3.9.*", "==3.10.*"}
    assert all(p.place.line == 8 for p in of(reading, PythonUse))
    assert {s.name for s in of(reading, SystemUse)} == {"ubuntu-22.04", "windows-latest"}
    assert pins(reading, jobs[0])["torch"] == "==2.5"


def test_steps_under_a_condition_are_branches() -> None:
    """A step with `if` is a group of its own, based on its job."""
    reading = read(
        ".github/workflows/a.yml",
        "jobs:\n  a:\n    steps:\n    - run: pip install t\n    - if: x\n      run: pip install u\n",
    )
    t, u = of(reading, Requirement)
    assert reading.members(u.group) == (u.group, t.group, "")


def test_an_alias_bomb_stays_small() -> None:
    """Aliases of aliases are not expanded."""
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 80)]
    assert read("k.yaml", "\n".join(["services: {a: {image: 'b:1'}}", *lines])).problems == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.yaml", "services: {a: {image: 'b:1'}}\nx: " + "[" * 100_000),
        ("a.ipynb", "[" * 100_000),
        ("pyproject.toml", "a = " + "[" * 100_000),
    ],
)
def test_deep_nesting_is_a_problem(path: str, text: str) -> None:
    """Nesting beyond reason is named, and costs neither time nor the process."""
    assert read(path, text).problems


def test_notebooks_keep_places_through_escapes() -> None:
    """A requirement in a cell stands where the file has it, behind its escaped quote."""
    text = '{"cells": [{"cell_type": "code", "source": ["x = 1\\n", "!pip install \\"t==1\\" \\\\\\n", "  u==2\\n"]}]}'
    reading = read("a.ipynb", text)
    assert pins(reading) == {"t": "==1", "u": "==2"}
    assert [at(text, r)[:4] for r in of(reading, Requirement)] == ["t==1", "u==2"]


def test_order_of_steps() -> None:
    """Steps are numbered in the order in which they run; one command is one step."""
    reading = read("a.sh", "pip install a b\npip uninstall -y c\npip install d\n")
    assert [(r.name, r.step) for r in of(reading, Requirement)] == [("a", 1), ("b", 1), ("d", 3)]
    assert [(a.verb, a.words, a.step) for a in of(reading, Action) if a.verb == "uninstall"] == [("uninstall", ("c",), 2)]


def test_forks_of_a_lock_stay_apart() -> None:
    """A package that is locked twice is in two groups, each with all that is locked once."""
    text = (
        '[[package]]\nname = "a"\nversion = "1"\n[[package]]\nname = "t"\nversion = "1"\n[[package]]\n'
        'name = "t"\nversion = "2"\n'
    )
    reading = read("uv.lock", text)
    groups = [r.group for r in of(reading, Requirement) if r.name == "t"]
    assert len(set(groups)) == 2
    assert all(reading.members(group) == (group, "") for group in groups)


def test_of_files_that_are_too_long_nothing_is_read() -> None:
    """Of a file beyond the limit its length is kept, for check to tell, and nothing is read, though it holds a pin."""
    text = "pip install torch==2.8.0\n" * 30_000
    reading = read("a.sh", text)
    assert (reading.unread, reading.statements, reading.problems) == (len(text), [], [])
    assert read("a.sh", text[:50]).statements
    assert not read("a.sh", text[:50]).unread


CLAUSES = st.lists(
    st.tuples(
        st.sampled_from(("==", ">=", "<", "!=", "~=", "===", ">", "=")),
        st.from_regex(r"[ ]?[0-9.]{1,5}(\+[a-z0-9.]{0,4})?[ ]?\Z"),
    ),
    max_size=3,
).map(lambda pairs: ",".join(operator + version for operator, version in pairs))


@pytest.mark.long
@given(st.from_regex(r"[A-Za-z0-9._-]{1,6}[ \t]?\Z"), CLAUSES, st.sampled_from(("", ",", " ", "[x]", ";", "\n", ".*", "٣")))
@example("0", "==0,==00", "")
@example("0", ">=1,>=1.0,<2", "")
@settings(max_examples=examples(400))
def test_plain_requirements_are_read_as_by_the_parser(name: str, clauses: str, end: str) -> None:
    """What is read without the parser of PEP 508 is what that parser reads, and what that refuses is refused."""
    text = name + clauses + end
    try:
        wanted = Parsed(text)
    except InvalidRequirement:
        assert parse(text) is None
        return
    found = parse(text)
    assert found is not None
    assert (found.name, found.specifier) == (re.sub(r"[-_.]+", "-", wanted.name).lower(), str(wanted.specifier))


@pytest.mark.parametrize(
    ("path", "text", "places"),
    [
        ("Dockerfile", "FROM a:1\nRUN pip install t==12\\\n u==2\n", {"t==12": (2, 17), "u==2": (3, 2)}),
        ("pyproject.toml", '[project]\ndependencies = ["t==1"]\n', {"t==1": (2, 18)}),
        ("pyproject.toml", '[tool.poetry.dependencies]\nt = "1"\nu = {version = "2"}\n', {"1": (2, 6), "2": (3, 17)}),
        (
            ".gitlab-ci.yml",
            "a:\n  script:\n  - |\n   pip install t==1\n    pip install u==2\n  - >\n   pip install v==3\n   w==4\n",
            {"t==1": (4, 16), "u==2": (5, 17), "v==3": (7, 16), "w==4": (8, 4)},
        ),
        (".gitlab-ci.yml", "a:\n  script: [pip install t==1\n   u==2]\n", {"t==1": (2, 24), "u==2": (3, 4)}),
        ("Makefile", "a:\n\tpip install t==1\n\tpip install u==2\n", {"t==1": (2, 14), "u==2": (3, 14)}),
        ("a.bat", "pip install t==1 ^\n u==2\npip install v==3\n", {"t==1": (1, 13), "u==2": (2, 2), "v==3": (3, 13)}),
        ("a.sh", "export V=1 W=2\npip install t==$V u==$W\n", {"t==$V": (2, 13), "u==$W": (2, 19)}),
        ("a.sh", "for < x; do pip install t==1; done\n", {"t==1": (1, 25)}),
        ("a.sh", "pip install https://a.example/t-1-py3-none-any.whl\n", {"https://a.example/t-1-py3-none-any.whl": (1, 13)}),
    ],
)
def test_each_requirement_is_told_with_its_place(path: str, text: str, places: dict[str, tuple[int, int]]) -> None:
    """Every requirement of a file is read once, and stands where it says."""
    reading = read(path, text)
    assert {r.text: tuple(r.place) for r in of(reading, Requirement)} == places
    assert not reading.problems
    assert all(re.fullmatch("[t-w]==[1-4]2?", r.name + r.specifier) for r in of(reading, Requirement))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".devcontainer.json", '{"features": {"a.example/features/python:1": {"version": "3.11"}}}'),
        ("a.sh", "python3.11 train.py"),
        ("a.sh", "uv pip install --python 3.11 a"),
    ],
)
def test_a_python_that_runs_is_told(path: str, text: str) -> None:
    """A feature, a command or an option that chooses the interpreter states its version."""
    assert [(p.specifier, p.runs) for p in of(read(path, text), PythonUse)] == [("==3.11.*", True)]


def test_setup_states_which_pythons_it_takes() -> None:
    """`python_requires` of a setup script is a range, and chooses no interpreter."""
    found = of(read("setup.py", "from setuptools import setup\nsetup(python_requires='>=3.9')\n"), PythonUse)
    assert [(p.specifier, p.runs) for p in found] == [(">=3.9", False)]


@pytest.mark.parametrize("command", ["pip install -ra.txt", "pip install -r a.txt", "uv pip sync a.txt"])
def test_files_that_commands_read_are_told(command: str) -> None:
    """An option in one word or two, and what `sync` is given, name a file of requirements."""
    assert [i.path for i in of(read("a.sh", command), Include)] == ["a.txt"]


def test_an_image_copied_from_is_derived() -> None:
    """What `COPY --from` names is an image, which the file does not build on; the last line needs no end."""
    found = of(read("Dockerfile", "FROM a:1\nCOPY --from=b:2 /x /x\nFROM c:33"), ImageUse)
    assert [(image.repository, image.derived) for image in found] == [("a", False), ("b", True), ("c", False)]


@pytest.mark.parametrize("line", ['CMD ["vllm", "serve"]', "ENTRYPOINT vllm serve"])
def test_what_an_image_starts_is_a_call(line: str) -> None:
    """CMD and ENTRYPOINT are commands that run, in either form."""
    assert [word.value for word in read("Dockerfile", f"FROM a:1\n{line}\n").calls[0]] == ["vllm", "serve"]


def test_poetry_takes_a_package_from_a_named_source() -> None:
    """`source` holds a requirement to that index."""
    found = of(read("pyproject.toml", '[tool.poetry.dependencies]\nt = {version = "1", source = "x"}\nu = "1"\n'), Requirement)
    assert [(r.name, r.only_index) for r in found] == [("t", "x"), ("u", None)]


def test_a_file_of_requirements_in_setup_cfg_is_none() -> None:
    """`file:` and empty values are neither requirements nor problems."""
    reading = read("setup.cfg", "[options]\ninstall_requires = file: a.txt\n")
    assert (reading.statements, reading.problems) == ([], [])


def test_what_a_function_of_the_shell_installs_may_never_run() -> None:
    """The body of a function is a branch; the commands of one arm of `case` are in one group."""
    reading = read("a.sh", "f() {\npip install t\n}\npip install u\ncase $x in\n a) pip install v; pip install w;;\nesac\n")
    t, u, v, w = [r.group for r in of(reading, Requirement)]
    assert u == ""
    assert reading.members(t) == (t, u)
    assert v == w != t


def test_a_quoted_word_of_bash_is_no_variable() -> None:
    """`$'...'` is a text as it stands, so nothing is derived."""
    assert [(r.specifier, r.derived) for r in of(read("a.sh", "pip install $'t==1' u==$V"), Requirement)] == [
        ("==1", False),
        ("", True),
    ]


def test_a_name_has_fewer_than_200_letters() -> None:
    """What is longer is no name of a package."""
    assert [is_name("a" * length) for length in (199, 200)] == [True, False]


@pytest.mark.long
def test_the_words_of_a_script_count_up_to_a_bound() -> None:
    """Of a script the first 200,000 words are read, and not one more."""
    text = "a " * 199_997 + "\npip install {}\n"
    assert pins(read("a.sh", text.format("t==1 u==1"))) == {"t": "==1"}


def test_branches_nested_beyond_reason_are_not_told_apart() -> None:
    """Branches in branches are told apart sixty deep: a script costs no more than its length."""
    text = "if a; then\n" * 70 + "pip install t\n" + "fi\n" * 60 + "pip install u\n"
    t, u = (requirement.group for requirement in of(read("a.sh", text), Requirement))
    assert (t.count("/then"), u) == (60, "")


def test_the_variables_of_a_workflow_count_up_to_a_bound() -> None:
    """The first 1,001 variables of a workflow are read."""
    for before, counts in ((1_000, True), (1_001, False)):
        text = "env:\n" + "".join(f"  V{n}: x\n" for n in range(before)) + "  PIP_INDEX_URL: https://a.example/\n"
        assert bool(of(read(".github/workflows/a.yml", text + "jobs: {}\n"), IndexUse)) == counts


def test_what_an_extra_brings_beyond_the_rest_is_its_own() -> None:
    """What a lock has for an extra alone is in the group of that extra; what is there anyway is in none."""
    package = '[[package]]\nname = "{}"\nversion = "1"\noptional = {}\n'
    text = package.format("t", "false") + package.format("u", "true") + '[extras]\nmore = ["u", "t"]\n'
    groups = {r.name: r.group for r in of(read("poetry.lock", text), Requirement)}
    assert groups == {"t": "", "u": "extra:more"}


def test_places_behind_escapes_of_yaml() -> None:
    """An escape stands where its first letter does, and what follows it behind its last one."""
    text = 'on: push\njobs: {a: {steps: [{run: "pip install \\x74==1 u==2"}]}}\n'
    reading = read(".github/workflows/a.yml", text)
    assert [(r.name, at(text, r)[:4]) for r in of(reading, Requirement)] == [("t", "\\x74"), ("u", "u==2")]


def test_rules_of_a_makefile_go_by_their_targets() -> None:
    """What a rule needs is no part of its name."""
    reading = read("Makefile", "all: other\n\tpip install t\n")
    assert [group.label for group in reading.groups.values() if group.kind == "environment"] == ["the rule all"]


@pytest.mark.parametrize("line", ["set", "export", "X=1"])
def test_a_line_that_only_shows_or_sets_variables_installs_nothing(line: str) -> None:
    """A command for variables without any, as `set` alone, is read as others are."""
    assert pins(read("a.sh", f"{line}\npip install t==1\n")) == {"t": "==1"}


def test_the_first_document_tells_what_yaml_is() -> None:
    """A file whose first document is a manifest of Kubernetes has containers alone, whatever follows."""
    manifest = "kind: Pod\napiVersion: v1\nspec: {containers: [{image: 'b:1'}]}\n"
    reading = read("k.yaml", f"{manifest}---\nservices: {{a: {{image: 'c:1'}}}}\n")
    assert [image.text for image in of(reading, ImageUse)] == ["b:1"]
