"""Parser of GitLab and Azure pipelines: jobs, their images and Pythons, and what their scripts install."""

from itertools import product

from compatkb.parsers.commands.model import CommandScope
from compatkb.parsers.pipelines import MOST_COMBINATIONS, Combination, Runner, label_of
from compatkb.parsers.positioned_yaml import YamlNode
from compatkb.parsers.shell import Variables
from compatkb.parsers.statement import ParsedFile

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


def read_azure(root: YamlNode, reading: ParsedFile) -> None:
    """Add what the jobs of an Azure pipeline run on and install."""
    runner = Runner(reading)
    containers = {}
    for row in root.rows("resources", "containers"):
        name, image = row.get("container"), row.get("image")
        if name and image:
            containers[name.text] = image
    variables: Variables = {}
    _variables(runner, root.get("variables"), variables)
    _azure_jobs(runner, root, variables, containers, root.get("pool"), "pipeline")
    for stage in root.rows("stages"):
        inner = dict(variables)
        _variables(runner, stage.get("variables"), inner)
        _azure_jobs(runner, stage, inner, containers, stage.get("pool") or root.get("pool"), "stage")


def _azure_jobs(
    runner: Runner, root: YamlNode, variables: Variables, containers: dict[str, YamlNode], pool: YamlNode | None, kind: str
) -> None:
    if root.get("steps") is not None:
        _azure_job(runner, kind, root, variables, containers, pool)
    for number, job in enumerate(root.rows("jobs")):
        if job.kind == "map":
            named = job.get("job") or job.get("deployment")
            name = named.text if named and named.text else str(number)
            _azure_job(runner, name, job, variables, containers, job.get("pool") or pool)


def _azure_job(
    runner: Runner, name: str, job: YamlNode, outer: Variables, containers: dict[str, YamlNode], pool: YamlNode | None
) -> None:
    rows = list(job.table("strategy", "matrix").items())[:MOST_COMBINATIONS] or [("", job)]
    for label, row in rows:
        if not runner.allows():
            return
        group = f"job:{name}({label})@{job.place.line}" if label else f"job:{name}@{job.place.line}"
        runner.group(group, f"the job {name}{f' ({label})' if label else ''}")
        variables = dict(outer)
        if label:
            runner.settings(row, variables, group)
        _variables(runner, job.get("variables"), variables)
        runner.system(pool.get("vmImage") if pool else None, variables, group)
        container = job.get("container")
        if container is not None:
            runner.image(containers.get(container.text, container), variables, group)
        _azure_steps(runner, job.rows("steps"), CommandScope(runner.reading, variables, group))


def _azure_steps(runner: Runner, steps: list[YamlNode], scope: CommandScope) -> None:
    group = scope.group
    for step in steps:
        if step.kind != "map":
            continue
        if step.get("condition") is not None:
            name = f"{group}/if-{step.place.line}"
            scope.group = runner.group(name, f"the step at line {step.place.line}", (group,), kind="branch")
        task = step.get("task")
        if task is not None and task.text.startswith("UsePythonVersion@"):
            runner.python(step.get("inputs", "versionSpec"), scope.variables, scope)
        for key in ("script", "bash", "pwsh", "powershell"):
            runner.script(step.get(key), scope)
        if task is not None:
            runner.script(step.get("inputs", "script") or step.get("inputs", "inlineScript"), scope)
        scope.group = group


def _variables(runner: Runner, node: YamlNode | None, variables: Variables) -> None:
    """Take variables over, a mapping or a list of name and value."""
    if node is None:
        return
    runner.settings(node, variables, "")
    for row in node.items:
        name, value = row.get("name"), row.get("value")
        if name and value:
            variables[name.text] = value.text
