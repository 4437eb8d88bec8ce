"""GitHub workflows and actions, GitLab pipelines: jobs with every combination of their matrix, and what they install."""

import re
from collections.abc import Mapping
from itertools import product

from compatkb.core.text_position import Place
from compatkb.parsers.commands.dispatch import read_shell
from compatkb.parsers.commands.model import CommandScope, add_settings, python_specifier
from compatkb.parsers.positioned_yaml import YamlNode
from compatkb.parsers.requirement import is_specifier
from compatkb.parsers.shell import Variables, words_of
from compatkb.parsers.statement import MAIN, Group, ParsedFile, PythonUse, SystemUse, Word, image_use

MOST_COMBINATIONS = 64
_MOST_STEPS = 20_000
_COMPARISON = re.compile(r"(?P<name>matrix\.[\w.-]+)\s*(?P<sign>[=!]=)\s*'(?P<text>[^']*)'")

_PYTHON = re.compile(r"python(?:[-_]?versions?)?", re.IGNORECASE)
_CUT = re.compile(r"3\.[1-9]0")

Combination = dict[str, YamlNode]
"""The values of a matrix by name; names of values within values are joined by dots."""


class Runner:
    """Reads the steps of jobs, and stops after many."""

    def __init__(self, reading: ParsedFile) -> None:
        self.reading = reading
        self._steps = 0

    def allows(self) -> bool:
        """Count a step; return whether it is still read."""
        self._steps += 1
        return self._steps <= _MOST_STEPS

    def word(self, node: YamlNode | None, variables: Variables) -> Word | None:
        """Return a text with its variables filled in, None for what is no text."""
        if node is None or node.kind != "text" or not node.text.strip():
            return None
        if "$" not in node.text and "`" not in node.text:
            return Word(node.text.strip(), node.text.strip(), node.place)
        words = words_of(node.fragment(), variables)
        if not words:
            return None
        value = " ".join(word.value for word in words)
        return Word(value, node.text.strip(), node.place, any(word.open for word in words), derived=True)

    def image(self, node: YamlNode | None, variables: Variables, group: str) -> None:
        """Add the image that a text names, or the one under `image` or `name` of a mapping."""
        if node is not None and node.kind == "map":
            node = node.get("image") or node.get("name")
        word = self.word(node, variables)
        if word and (use := image_use(word.value, word.place, word.raw, group, unknown=word.open, derived=word.derived)):
            self.reading.add(use)

    def system(self, node: YamlNode | None, variables: Variables, group: str) -> None:
        """Add the operating systems of a job, one or a list of labels."""
        for item in node.elements() if node else []:
            word = self.word(item, variables)
            if word and not word.open:
                self.reading.add(SystemUse(word.place, word.raw, word.value, group, derived=word.derived))

    def python(self, node: YamlNode | None, variables: Variables, scope: CommandScope) -> None:
        """Add the Pythons that a step sets up: one, one a line, or a list."""
        for item in node.elements() if node else []:
            word = self.word(item, variables)
            for text in word.value.split() if word and not word.open else ():
                if (specifier := _python(text)) and word:
                    use = PythonUse(word.place, word.raw, specifier, scope.group, scope.step, word.derived, runs=True)
                    self.reading.add(use)

    def settings(self, node: YamlNode | None, variables: Variables, group: str, prefix: str = "") -> None:
        """Take the variables of a mapping over, and add the indexes among them."""
        for name, value in (node.mapping() if node else {}).items():
            if value.kind == "map":
                value = value.get("value") or value
            word = self.word(value, variables)
            if value.kind != "text" or len(variables) > 2000:
                continue
            known = None if word is None or word.open else word.value
            variables[name] = known
            if prefix:
                variables[prefix + name] = known
            if word:
                add_settings(CommandScope(self.reading), name, word, group)

    def script(self, node: YamlNode | None, scope: CommandScope) -> None:
        """Read a text, or every text of a list, as shell."""
        for item in node.texts() if node else []:
            if self.allows():
                read_shell(item.fragment(), scope)

    def group(self, name: str, label: str, based_on: tuple[str, ...] = (MAIN,), kind: str = "job") -> str:
        """Make a group and return its name; unless told otherwise it has what is set for the whole file."""
        self.reading.groups[name] = Group(name, kind, label, based_on)
        return name


def _python(text: str) -> str | None:
    text = text.strip("'\",").removesuffix("-dev").removesuffix("t")
    if text.count(".") and all(part.isdigit() for part in text.split(".")):
        return python_specifier(text)
    if text.endswith((".x", ".*")) and is_specifier(f"=={text[:-1]}*"):
        return f"=={text[:-1]}*"
    return text if text[:1] in "<>=~!" and is_specifier(text) else None


def combinations(matrix: YamlNode | None) -> list[Combination]:
    """Return the combinations of a matrix as GitHub makes them, at most MOST_COMBINATIONS; one empty one for none."""
    if matrix is None or matrix.kind != "map":
        return [{}]
    values = {name: node for name, node in matrix.mapping().items() if name not in ("include", "exclude")}
    lists = {name: node.items[:MOST_COMBINATIONS] for name, node in values.items() if node.kind == "list" and node.items}
    entries: list[Combination] = []
    if lists:
        for chosen in product(*lists.values()):
            combination = dict(zip(lists, chosen, strict=True))
            if not any(_agrees(row.mapping(), combination) for row in matrix.rows("exclude")):
                entries.append(combination)
            if len(entries) >= MOST_COMBINATIONS:
                break
    included = [row for row in matrix.rows("include") if row.kind == "map"][:MOST_COMBINATIONS]
    original = [dict(combination) for combination in entries]
    for row in included:
        values = row.mapping()
        fits = [n for n, base in enumerate(original) if all(values[k].text == base[k].text for k in values if k in base)]
        for n in fits:
            entries[n] |= values
        if not fits:
            entries.append(values)
    return [_flat(combination) for combination in entries[:MOST_COMBINATIONS]] or [{}]


def _agrees(values: Mapping[str, YamlNode], combination: Combination) -> bool:
    return bool(values) and all(name in combination and combination[name].text == value.text for name, value in values.items())


def _flat(combination: Mapping[str, YamlNode]) -> Combination:
    nodes: Combination = {}
    for name, node in combination.items():
        if node.kind == "map":
            nodes |= {f"{name}.{inner}": value for inner, value in node.mapping().items() if value.kind == "text"}
        else:
            nodes[name] = node
    return nodes


def label_of(combination: Combination) -> str:
    """Return a combination as people read it."""
    return ", ".join(f"{name}={node.text}" for name, node in combination.items() if node.kind == "text")[:200]


def read_github(root: YamlNode, reading: ParsedFile) -> None:
    """Add what the jobs of a workflow, or the steps of an action, run on and install."""
    runner = Runner(reading)
    variables: Variables = {}
    _cut_numbers(root, reading)
    runner.settings(root.get("env"), variables, "", "env.")
    for name, job in root.table("jobs").items():
        if job.kind == "map":
            _job(runner, name, job, variables)
    runs = root.get("runs")
    if runs is not None:
        for name, told_of in (root.get("inputs") or runs).mapping().items():
            default = told_of.get("default")
            variables[f"inputs.{name}"] = default.text if default else None
        group = runner.group("job:action", "the action")
        _steps(runner, runs.rows("steps"), CommandScope(reading, variables, group))


def _cut_numbers(root: YamlNode, reading: ParsedFile) -> None:
    """Note versions of Python that YAML reads as numbers, and so without their last zero: 3.10 is 3.1."""
    left, seen = [root], set[int]()
    while left:
        node = left.pop()
        if id(node) in seen:  # an alias is the node itself, and may lie within itself
            continue
        seen.add(id(node))
        for key, value in node.pairs:
            for item in value.elements() if _PYTHON.fullmatch(key.text) else ():
                if item.kind == "text" and not item.style and _CUT.fullmatch(item.text):
                    message = f'{item.text} without quotes is read as the number {item.text[:-1]}; write "{item.text}"'
                    reading.problem(item.place, message, is_refused=True)
        left += reversed([*(value for _, value in node.pairs), *node.items])


def _job(runner: Runner, name: str, job: YamlNode, outer: Variables) -> None:
    for combination in combinations(job.get("strategy", "matrix")):
        if not runner.allows():
            return
        label = label_of(combination)
        group = runner.group(
            f"job:{name}({label})" if label else f"job:{name}", f"the job {name}{f' ({label})' if label else ''}"
        )
        variables = dict(outer)
        for key, node in combination.items():
            variables[f"matrix.{key}"] = node.text if node.kind == "text" else None
        runner.settings(job.get("env"), variables, group, "env.")
        runner.system(job.get("runs-on"), variables, group)
        runner.image(job.get("container"), variables, group)
        for service, node in job.table("services").items():
            runner.image(node, variables, runner.group(f"service:{name}.{service}", f"the service {service}", kind="service"))
        scope = CommandScope(runner.reading, variables, group)
        origins = {f"matrix.{name}": node.place for name, node in combination.items() if node.kind == "text"}
        _steps(runner, job.rows("steps"), scope, origins)


def _steps(runner: Runner, steps: list[YamlNode], scope: CommandScope, origins: Mapping[str, Place] | None = None) -> None:
    group = scope.group
    for step in steps:
        if step.kind != "map" or not runner.allows():
            continue
        condition = step.get("if")
        if condition is not None and _is_skipped(condition.text, scope.variables):
            continue
        if condition is not None:
            name = f"{group}/if-{step.place.line}"
            scope.group = runner.group(name, f"the step at line {step.place.line}", (group,), kind="branch")
        runner.settings(step.get("env"), scope.variables, scope.group, "env.")
        uses, run = step.get("uses"), step.get("run")
        if uses is not None and "/setup-python@" in f"/{uses.text}":
            version = step.get("with", "python-version")
            _set_up(runner, version, scope, origins or {})
        elif uses is not None and uses.text.startswith("docker://"):
            word = Word(uses.text.removeprefix("docker://"), uses.text, uses.place)
            if image := image_use(word.value, word.place, word.raw, scope.group):
                runner.reading.add(image)
        elif run is not None and run.kind == "text":
            read_shell(run.fragment(), scope)
        scope.group = group


def _is_skipped(condition: str, variables: Variables) -> bool:
    """Return whether a condition compares a value of the matrix with another text than it is; what else it says is unknown."""
    text = condition.strip().removeprefix("${{").removesuffix("}}")
    if "||" in text or "(" in text:
        return False
    comparisons = (_COMPARISON.fullmatch(term.strip()) for term in text.split("&&"))
    known = [match for match in comparisons if match and variables.get(match["name"]) is not None]
    return any((variables[match["name"]] == match["text"]) != (match["sign"] == "==") for match in known)


def _set_up(runner: Runner, version: YamlNode | None, scope: CommandScope, origins: Mapping[str, Place]) -> None:
    """Add the Python of a set-up step; one from the matrix stands where the matrix names it."""
    before = len(runner.reading.statements)
    runner.python(version, scope.variables, scope)
    name = version.text.strip().removeprefix("${{").removesuffix("}}").strip() if version else ""
    if name in origins:
        for number in range(before, len(runner.reading.statements)):
            statement = runner.reading.statements[number]
            value = scope.variables.get(name) or ""
            runner.reading.statements[number] = statement._replace(place=origins[name], text=value, derived=False)


_RESERVED = {"default", "include", "stages", "variables", "workflow", "image", "services", "cache", "before_script"}
_RESERVED |= {"after_script", "spec", "pages"}


def read_gitlab(root: YamlNode, reading: ParsedFile) -> None:
    """Add what the jobs of a GitLab pipeline run in and install."""
    runner = Runner(reading)
    variables: Variables = {}
    runner.settings(root.get("variables"), variables, "")
    jobs = root.mapping()
    default = jobs.get("default")
    for name, job in jobs.items():
        if job.kind != "map" or name in _RESERVED or not runner.allows():
            continue
        chain = _chain(job, jobs)
        for combination in _parallel(_first(chain, "parallel")):
            label = label_of(combination)
            group = runner.group(f"job:{name}({label})" if label else f"job:{name}", f"the job {name}")
            inner: Variables = dict(variables)
            for one in reversed(chain):
                runner.settings(one.get("variables"), inner, group)
            inner |= {key: node.text for key, node in combination.items()}
            image = _first(chain, "image") or (default.get("image") if default else None) or root.get("image")
            runner.image(image, inner, group)
            scope = CommandScope(reading, inner, group)
            before = _first(chain, "before_script") or (default.get("before_script") if default else None)
            runner.script(before or root.get("before_script"), scope)
            runner.script(_first(chain, "script"), scope)


def _chain(job: YamlNode, jobs: dict[str, YamlNode]) -> list[YamlNode]:
    """Return a job and those that it extends, itself first; a ring of them is walked once."""
    chain = [job]
    for _ in range(10):
        named = chain[-1].get("extends")
        parent = next((jobs[item.text] for item in reversed(named.elements()) if item.text in jobs), None) if named else None
        if parent is None or parent in chain:
            break
        chain.append(parent)
    return chain


def _first(chain: list[YamlNode], name: str) -> YamlNode | None:
    return next((node for one in chain if (node := one.get(name)) is not None), None)


def _parallel(node: YamlNode | None) -> list[Combination]:
    """Return the combinations of a matrix as GitLab makes them: each row by itself, its lists crossed."""
    combinations: list[Combination] = []
    for row in node.rows("matrix") if node else ():
        lists = {name: value.texts()[:MOST_COMBINATIONS] for name, value in row.mapping().items() if value.texts()}
        for chosen in product(*lists.values()):
            combinations.append(dict(zip(lists, chosen, strict=True)))
            if len(combinations) >= MOST_COMBINATIONS:
                return combinations
    return combinations or [{}]
