"""Faults planted into the code of compatkb, one at a time, and which of them the tests notice.

`make mutate` draws changes of single nodes of the syntax trees of `src/` by a fixed seed, runs the quickest of the tests
that execute the line over each, and writes down what came of it in tests/code_mutations.jsonl, from which it resumes;
docs/code-mutations.md is made from that. What survived is judged by a person in tests/code_mutations.toml. `--again` puts
more tests to what survived, save what is judged equivalent; `--count 0` writes the page alone; `--seed` draws a sample of
its own. Which tests execute a line (covering.py) is measured once for each package and kept in .mutate/PACKAGE, whose
removal has it measured anew; tests that are new since then are measured when they come. mutant_runs.py plants the faults.
"""

import argparse
import ast
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from covering import ROOT, parts
from mutant_runs import NOT_PLANTED, SURVIVED, Mutant, Run, Runner

_MANY = 50
"""Tests that compile data of their own; what so many do not notice is not looked for in the real data, which take long."""
WORK = (ROOT / ".mutate").resolve()
RESULTS = ROOT / "tests" / "code_mutations.jsonl"
JUDGED = ROOT / "tests" / "code_mutations.toml"
PAGE = ROOT / "docs" / "code-mutations.md"
SAME = "equivalent"
SEED = "20261123"


class Suite(NamedTuple):
    """How many mutations of a package to run, the files of tests for it, and whether it makes the compiled data."""

    planned: int
    tests: str
    compiles: bool = False


SUITES = {
    "engine": Suite(
        200,
        "oracle_order promises features min_age budget rules_of_search disputes engine_sets universe cases first asking"
        " python_matrix changes platforms screens",
    ),
    "authoring": Suite(
        140,
        "timeline promises lint kinds symbols cited_places channels data documents versions compiled disputes",
        compiles=True,
    ),
    "store": Suite(
        100,
        "oracle_order promises features queries disputes updates search database universe cli kinds first compiled",
        compiles=True,
    ),
    "check": Suite(100, "corpus check check_markdown check_command check_grammar check_cases markdown reporting"),
    "parsers": Suite(80, "check variants reading check_markdown check_cases commands places"),
}
_SWAPPED = [(ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot), (ast.Lt, ast.LtE), (ast.Gt, ast.GtE)]
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {**dict(_SWAPPED), **{new: old for old, new in _SWAPPED}}
_ARITHMETIC = [(ast.Add, ast.Sub), (ast.BitAnd, ast.BitOr)]
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {**dict(_ARITHMETIC), **{new: old for old, new in _ARITHMETIC}}
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
RETURNS = {"bool": ("True", "False"), "int": ("0", "-1"), "str": ("''",), "tuple": ("()",), "list": ("[]",), "dict": ("{}",)}


class Site(NamedTuple):
    """A place in a syntax tree, and what may stand there instead."""

    parent: ast.AST
    field: str
    number: int | None
    old: ast.AST
    new: ast.AST
    function: str


class Mutation(NamedTuple):
    """A change of one node; `name` stays the same while the lines around it change."""

    package: str
    module: str
    site: int
    line: int
    name: str
    function: str


class Result(NamedTuple):
    """What came of a mutation: the test that noticed it, `time limit`, or `survived`."""

    package: str
    name: str
    outcome: str
    seconds: float


def instead(node: ast.AST, returned: str) -> Iterator[ast.AST]:
    """Yield what may stand in the place of a node in a function that returns a type."""
    match node:
        case ast.Compare(left, [op], right) if type(op) in COMPARISONS:
            yield ast.Compare(left, [COMPARISONS[type(op)]()], right)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.BinOp(left, op, right) if type(op) in ARITHMETIC:
            yield ast.BinOp(left, ARITHMETIC[type(op)](), right)
        case ast.UnaryOp(ast.Not() | ast.Invert(), operand):
            yield operand
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() as value):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Call(ast.Name(called), args, keywords) if called in CALLS:
            yield ast.Call(ast.Name(CALLS[called]), args, keywords)
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Return(ast.expr() as value):
            kind = returned.partition("[")[0]
            others = ("None",) if returned.endswith("| None") else RETURNS.get(kind, ())
            yield from (ast.Return(ast.parse(o, mode="eval").body) for o in others if o != ast.unparse(value))
        case ast.If(test, body, []):
            yield ast.Pass()
            if isinstance(test, ast.Name | ast.Attribute | ast.Call):
                yield ast.If(ast.UnaryOp(ast.Not(), test), body, [])
        case ast.Expr(ast.Call() | ast.Yield()) | ast.AugAssign() | ast.Continue() | ast.Raise():
            yield ast.Pass()


def sites(tree: ast.AST, function: str = "", returned: str = "") -> Iterator[Site]:
    """Yield what can be changed in the bodies of functions, in the order of the text; no annotation and no decorator."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list", "args", "bases") and not isinstance(tree, ast.Call):
            continue
        listed = isinstance(value, list)
        for number, child in enumerate(value if listed else [value]):
            if not isinstance(child, ast.AST):
                continue
            name, type_ = function, returned
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                name = f"{function}.{child.name}".lstrip(".")
                type_ = ast.unparse(child.returns) if isinstance(child, ast.FunctionDef) and child.returns else ""
            if type_:
                for new in instead(child, type_):
                    yield Site(tree, field, number if listed else None, child, new, name)
            yield from sites(child, name, type_)


def short(node: ast.AST) -> str:
    """Return the code of a node on one line, as far as it says which it is."""
    text = " ".join(ast.unparse(ast.fix_missing_locations(node)).split())
    return text if len(text) <= 90 else f"{text[:87]}..."


def mutations_of(package: str, path: Path) -> list[Mutation]:
    """Return every mutation of a module."""
    module = path.relative_to(ROOT / "src" / "compatkb").as_posix()
    seen, found = Counter[str](), []
    for number, site in enumerate(sites(ast.parse(path.read_text(encoding="utf-8")))):
        name = f"{module} {site.function}: {short(site.old)} => {short(site.new)}"
        seen[name] += 1
        unique = name if seen[name] == 1 else f"{name} ({seen[name]})"
        found.append(Mutation(package, module, number, getattr(site.old, "lineno", 0), unique, site.function))
    return found


def mutated(path: Path, number: int) -> str:
    """Return the text of a module with the change at one site."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parent, field, place, _, new, _ = list(sites(tree))[number]
    if place is None:
        setattr(parent, field, new)
    else:
        getattr(parent, field)[place] = new
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def drawn(package: str, seed: str = SEED) -> list[Mutation]:
    """Return every mutation of a package, in an order of the seed that stays when others come and go."""
    paths = sorted((ROOT / "src" / "compatkb" / package).rglob("*.py"))
    found = [mutation for path in paths for mutation in mutations_of(package, path)]
    return sorted(found, key=lambda mutation: random.Random(f"{seed} {mutation.name}").random())


class Trial:
    """The tests of a package, and what each executes."""

    def __init__(self, package: str, folder: Path, *, again: bool) -> None:
        """The tests over a mutation may have taken so many seconds when they were measured, which takes them longer."""
        self.package, self.again = package, again
        self.patience = 5 if again else 3
        files = [f"tests/test_{name}.py" for name in SUITES[package].tests.split()]
        self.runner = Runner(folder, files)
        if self.runner.collected.difference(*(part.known for part in parts(WORK / package))):
            subprocess.run([sys.executable, ROOT / "tests" / "covering.py", package, WORK / package, *files], check=True)
        self.parts = parts(WORK / package)
        self.seconds = {name: seconds for part in self.parts for name, seconds in part.seconds.items()}
        self.sound: dict[str, bool] = {}

    def covering(self, inside: Path, line: int) -> tuple[list[str], bool]:
        """Return the tests that execute a line, the quickest first, or, again, those that execute most of its module."""
        found, at_start = zip(*(part.tests(inside, line) for part in self.parts), strict=True)
        tests = {test: lines for part in found for test, lines in part.items()}
        if self.again:
            return sorted(tests, key=lambda test: (-tests[test], self.seconds[test])), any(at_start)
        return sorted(tests, key=self.seconds.__getitem__), any(at_start)

    def run_of(self, tests: Iterable[str], anew: bool = False) -> Run:
        """Return what to run of tests: the first that patience allows, within what a busy machine takes."""
        seconds, chosen = 0.0, []
        for test in tests:
            wanted = test in self.runner.collected and self.sound.get(test, True)
            if wanted and seconds + self.seconds[test] <= self.patience:
                seconds += self.seconds[test]
                chosen.append(test)
        return Run(chosen, 30 + 4 * seconds + 90 * anew, anew)

    def is_sound(self, test: str) -> bool:
        """Whether a test passes, by itself, over the code as it is."""
        if test not in self.sound:
            said = self.runner.outcome(Run([test], 180))
            self.sound[test] = said == SURVIVED
            if said != SURVIVED:
                print(f"  {test} is left out: over the code as it is, {said}", file=sys.stderr)
        return self.sound[test]

    def outcome(self, mutation: Mutation) -> str:
        """Return the test that notices a mutation, `time limit`, or `survived`."""
        inside = Path("src", "compatkb", mutation.module)
        mutant = Mutant(inside, mutated(ROOT / inside, mutation.site), mutation.function)
        tests, at_start = self.covering(inside, mutation.line)
        print(f"  {len(tests)} tests execute it{', and the start' * at_start}", file=sys.stderr)
        said = self.runner.outcome(self.run_of(tests), mutant)
        if said == SURVIVED and at_start and self.again and SUITES[self.package].compiles and len(tests) < _MANY:
            fixtures = (part.sharing.get(f"tests::{name}", ()) for part in self.parts for name in ("facts", "run"))
            quickest = sorted({test for tests in fixtures for test in tests}, key=self.seconds.__getitem__)
            said = self.runner.outcome(self.run_of(quickest, anew=True), mutant)
        if "::" in said and not self.is_sound(said):
            return self.outcome(mutation)
        return said

    def run(self, mutation: Mutation) -> Result:
        """Return what came of a mutation."""
        begun = time.monotonic()
        outcome = self.outcome(mutation)
        return Result(mutation.package, mutation.name, outcome, round(time.monotonic() - begun, 1))


def results() -> list[Result]:
    """Return every result as it was written down; the last one of a mutation counts."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    return [Result(**json.loads(line)) for line in lines]


def judgements() -> dict[str, str]:
    """Return what a person said of survivors."""
    return tomllib.loads(JUDGED.read_text(encoding="utf-8")) if JUDGED.exists() else {}


def page() -> str:
    """Return docs/code-mutations.md: what was planted in each package and noticed, and every survivor with its judgement."""
    judged = judgements()
    there = {mutation.name for package in SUITES for mutation in drawn(package)}
    first = {result.name: result.outcome for result in reversed(results())}
    found = [result for result in {one.name: one for one in results()}.values() if result.name in there]
    lines = [
        "# Do the tests see faults of the code?",
        "",
        "`make mutate` changes one thing in the functions of `src/`, drawn from a fixed seed, and runs the quick tests that",
        "execute the line over it: a comparison, `and` for `or`, `&` for `|`, a sign, one more or less, a condition or a",
        "statement left out, a constant returned. A run past its time limit counts as noticed. What survives is judged by",
        "hand: *equivalent* changes no answer, else it is *open*. How it works stands in `tests/code_mutations.py`.",
        "",
        "| package | planted | survived at first | noticed now | equivalent | open | noticed of those not equivalent |",
        "|---|---|---|---|---|---|---|",
    ]
    for package in SUITES:
        of = [result for result in found if result.package == package]
        alive = [result for result in of if result.outcome == SURVIVED]
        same = sum(judged.get(result.name, "").startswith(SAME) for result in alive)
        seen = len(of) - len(alive)
        share = f"{100 * seen / (len(of) - same):.0f} %" if len(of) > same else "-"
        before = sum(first[result.name] == SURVIVED for result in of)
        lines.append(f"| `{package}` | {len(of)} | {before} | {seen} | {same} | {len(alive) - same} | {share} |")
    lines += ["", "## Survivors", ""]
    for result in sorted(found, key=lambda one: one.name):
        if result.outcome == SURVIVED:
            lines.append(f"- `{result.name.replace('`', '')}`: {judged.get(result.name, 'open: not judged yet')}")
    return "\n".join(lines).rstrip() + "\n"


def run(packages: list[str], count: int | None, seed: str, again: bool) -> None:
    """Run over what has no result yet, or over what survived, and write down each result as it comes."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # the tests write many small databases
    for package in packages:
        known, judged = {result.name: result for result in results()}, judgements()
        alive = {name for name in known if known[name].outcome == SURVIVED and not judged.get(name, "").startswith(SAME)}
        jobs = drawn(package, seed)[: SUITES[package].planned if count is None else count]
        jobs = [job for job in jobs if (job.name in alive if again else job.name not in known)]
        if not jobs:
            continue
        with tempfile.TemporaryDirectory(prefix="code-mutations-", dir=memory) as folder:
            trial = Trial(package, Path(folder) / "checkout", again=again)
            for job in jobs:
                print(f"line {job.line} of {job.name}", file=sys.stderr, flush=True)
                result = trial.run(job)
                if result.outcome.startswith(NOT_PLANTED):
                    print(f"  {result.outcome}", file=sys.stderr)
                    continue
                with RESULTS.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(result._asdict(), ensure_ascii=False) + "\n")
                print(f"  {result.outcome} ({result.seconds} s)", file=sys.stderr, flush=True)
            trial.runner.close()


def main() -> None:
    """Run, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", default=list(SUITES), help="which packages, in this order (all)")
    parser.add_argument("--count", type=int, help="how many mutations of each package to have run in the end")
    parser.add_argument("--seed", default=SEED, help="which order to draw in: another one draws a sample that nobody has seen")
    parser.add_argument("--again", action="store_true", help="run over what survived once more, with the slower tests too")
    run(**vars(parser.parse_args()))
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
