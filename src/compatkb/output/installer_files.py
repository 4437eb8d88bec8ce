"""An answer as a file: requirements, constraints, environment.yml, a uv project, a preset of Renovate; what each needs."""

from collections.abc import Iterable, Mapping
from typing import Any

from compatkb.core.names import is_free_threaded
from compatkb.core.record import NamedTuple
from compatkb.core.text_position import quoted
from compatkb.core.vocabulary import Role, Verdict
from compatkb.errors import NoRequirementsError, UntoldError, UsageError
from compatkb.output.commands import bounds_of, requirements
from compatkb.output.documents import json_text
from compatkb.output.labels import series_of
from compatkb.output.messages import not_installable
from compatkb.output.registry import Wanted
from compatkb.output.things import BuildView, StackView, listed
from compatkb.output.view import AnswerView
from compatkb.store.queries.products import ChannelRecord


class Placed(NamedTuple):
    """A package of a stack and the index to take it from."""

    build: BuildView
    channel: ChannelRecord

    @property
    def name(self) -> str:
        """Its name on the index."""
        return self.build.distribution or self.build.product.id


def stack_of(view: AnswerView, wanted: Wanted) -> StackView:
    """Return the stack that a file is for, on every Python on which the same is installed; raises as `stacks_of` does."""
    return stacks_of(view, wanted)[0]


def stacks_of(view: AnswerView, wanted: Wanted) -> tuple[StackView, ...]:
    """Return the stack that a file is for and its like, on every Python on which the same is installed, best first.

    Raises UsageError for a number that no stack has, NoRequirementsError where there is none.
    """
    if not view.stacks:
        causes = "".join(f"\n- {cause.message}" for cause in view.causes)
        refused = UntoldError if view.verdict == Verdict.UNKNOWN else NoRequirementsError
        raise refused(f"{view.asked}: no stack{causes}")
    if not 1 <= wanted.stack <= len(view.groups):
        raise UsageError(f"there is no stack {wanted.stack}: `compatkb resolve --all` counts {len(view.groups)}")
    return view.groups[wanted.stack - 1].wide()


def one_step(stack: StackView, form: str) -> None:
    """Raise NoRequirementsError where installers that read a whole file at once cannot install the stack."""
    if stack.waives:
        raise NoRequirementsError(
            f"one {form} cannot install this stack: its vendor installs it in steps and against {', '.join(stack.waives)}; "
            "`compatkb resolve` shows the steps, and --format dockerfile contains them"
        )


def packages_of(stack: StackView) -> list[Placed]:
    """Return the packages to name: those of the commands, then what they bring along from an index of its own.

    Installers that take each package from its own index look for no dependency there unless it is named too.
    Raises NoRequirementsError where a package is on no known index.
    """
    placed = [Placed(build, build.index) for build in stack.named if build.index]
    if not placed or len(placed) < len(stack.named):
        raise NoRequirementsError(not_installable(stack))
    others = [build for build in stack.packages if not build.named and build.distribution and build.channels]
    brought = [Placed(build, build.index) for build in [*others, *stack.evidence.brought] if build.index and build.index.url]
    return placed + [each for each in brought if "default" not in each.build.channels]


def minors(stack: StackView) -> list[str]:
    """Return the Pythons of a stack, oldest first; raises NoRequirementsError where all are free-threaded builds."""
    plain = [python.id for python in stack.python if not is_free_threaded(python.id)]
    if not plain:
        names = ", ".join(python.id for python in stack.python)
        raise NoRequirementsError(f"only free-threaded Pythons go with this stack ({names}): no file format can require that")
    return plain


def python_range(pythons: list[str]) -> str:
    """Return the specifier that admits these minors, given oldest first, and no other."""
    major, _, newest = pythons[-1].partition(".")
    first = int(pythons[0].partition(".")[2])
    left_out = [f"!={major}.{n}.*" for n in range(first, int(newest)) if f"{major}.{n}" not in pythons]
    return ",".join([f">={pythons[0]}", *left_out, f"<{major}.{int(newest) + 1}"])


def platforms_of(stack: StackView) -> list[tuple[str, str]]:
    """Return family of system and architecture of every platform of a stack, each once."""
    return list(dict.fromkeys((system.family, arch.id) for system in stack.os if system.family for arch in stack.arch))


def markers_of(stack: StackView) -> list[str]:
    """Return a marker (PEP 508) for each platform of a stack."""
    from compatkb.core.platforms import marker_of  # with packaging, which no other answer needs

    return [marker_of(*platform) for platform in platforms_of(stack)]


def title_of(view: AnswerView, *stacks: StackView) -> str:
    """Return the line that a file begins with: what it installs, how well that is known, and how old the data are."""
    names: dict[str, None] = {}
    for stack in stacks:
        sure = "" if stack.verdict == Verdict.WORKS else f" ({stack.verdict})"
        names[f"{stack.name} on {stack.device}{sure}"] = None
    return f"{' or '.join(names)}; by compatkb, from data of {view.data_date}"


_RENOVATE = "https://docs.renovatebot.com/renovate-schema.json"
_NAMED = (Role.PACKAGE, Role.COMPANION)


def _placed(view: AnswerView, wanted: Wanted, form: str) -> tuple[StackView, list[Placed]]:
    """Return the stack of a file and its packages; raises NoRequirementsError where no such file installs one."""
    stack = stack_of(view, wanted)
    one_step(stack, form)
    return stack, packages_of(stack)


def environment_text(view: AnswerView, wanted: Wanted) -> str:
    """Return an environment.yml; raises NoRequirementsError where no such file installs a stack."""
    stack, _ = _placed(view, wanted, "environment.yml")
    return f"# {title_of(view, stack)}\n{environment_of(stack)}"


def environment_of(stack: StackView) -> str:
    """Return an environment.yml for a stack that can be installed in one step, on its newest Python."""
    lines = (line for line in requirements(stack).splitlines() if not line.startswith("#"))
    body = "".join(f"      - {_scalar(line)}\n" for line in lines)
    python = minors(stack)[-1]
    return f"name: compatkb\nchannels:\n  - conda-forge\ndependencies:\n  - python={python}\n  - pip\n  - pip:\n{body}"


def _scalar(line: str) -> str:
    """Return a line as a YAML scalar."""
    return quoted(line) if any(sign in line for sign in "[]{}<>*&!|%@`,#") or ": " in line else line


def requirements_text(view: AnswerView, wanted: Wanted) -> str:
    """Return a stack as a requirements file; raises NoRequirementsError where no such file installs one."""
    return requirements(_placed(view, wanted, "requirements file")[0])


def constraints_text(view: AnswerView, wanted: Wanted) -> str:
    """Return a stack as a constraints file; the indexes stand in comments, since such a file installs nothing itself.

    Raises NoRequirementsError where no such file holds one.
    """
    stack, placed = _placed(view, wanted, "constraints file")
    lines = [f"# {title_of(view, stack)}"]
    lines += dict.fromkeys(f"# index: {each.channel.url}" for each in placed if each.channel.url)
    lines += [f"{each.name}=={each.build.version}" for each in placed]  # a constraint may have no extras
    return "\n".join([*lines, *bounds_of(stack)]) + "\n"


def uv_text(view: AnswerView, wanted: Wanted) -> str:
    """Return a pyproject.toml with which `uv sync` installs a stack: with an extra for each device where that is wanted.

    Raises NoRequirementsError where no such file installs one.
    """
    first = stack_of(view, wanted)
    stacks = by_device(view, first) if wanted.each_device else {first.device.id: first}
    for stack in stacks.values():
        one_step(stack, "uv project")
    extras = len(stacks) > 1
    placed = {device: packages_of(stack) for device, stack in stacks.items()}
    needed = {d: [*(each.build.requirement for each in placed[d]), *bounds_of(s)] for d, s in stacks.items()}
    pythons = [p for p in minors(first) if all(p in minors(stack) for stack in stacks.values())]
    lines = [f"# {title_of(view, *stacks.values())}", "[project]", 'name = "app"', 'version = "0"']
    lines += [f"requires-python = {quoted(python_range(pythons))}"]
    lines += [] if extras else _array("dependencies", needed[first.device.id])
    if extras:
        lines += ["dependencies = []", "", "[project.optional-dependencies]"]
        lines += [line for device, pins in needed.items() for line in _array(device, pins)]
    common = [m for m in markers_of(first) if all(m in markers_of(stack) for stack in stacks.values())]
    lines += ["", "[tool.uv]", *_array("environments", common)]
    if extras:
        lines.append(f"conflicts = [[{', '.join(f'{{ extra = {quoted(device)} }}' for device in stacks)}]]")
    return "\n".join([*lines, *routing(placed)]) + "\n"


def routing(placed: Mapping[str, Iterable[Placed]]) -> list[str]:
    """Return the tables that take each package from its own index and nothing else from there; extras by their packages."""
    sources: dict[str, list[str]] = {}
    indexes: dict[str, list[str]] = {}
    for extra, packages in placed.items():
        for name, channel in ((each.name, each.channel) for each in packages if each.channel.url):
            only = f", extra = {quoted(extra)}" if len(placed) > 1 else ""
            sources.setdefault(name, []).append(f"{{ index = {quoted(channel.id)}{only} }}")
            flat = ['format = "flat"'] if channel.style == "find-links" else []
            rows = [f"name = {quoted(channel.id)}", f"url = {quoted(channel.url or '')}", *flat, "explicit = true"]
            indexes[channel.id] = ["", "[[tool.uv.index]]", *rows]
    lines = ["", "[tool.uv.sources]"] if sources else []
    for name, rows in sources.items():
        lines += [f"{name} = {rows[0]}"] if len(placed) == 1 else _array(name, rows, quote=False)
    return lines + [line for rows in indexes.values() for line in rows]


def by_device(view: AnswerView, first: StackView) -> dict[str, StackView]:
    """Return the stack for each device of the request that goes with the first one: a platform and a Python in common."""
    stack_by_device = {first.device.id: first}
    for stack in view.stacks:
        shared = set(markers_of(stack)) & set(markers_of(first)) and set(minors(first)) & {
            python.id for python in stack.python
        }
        if shared and stack.device.id not in stack_by_device:
            stack_by_device[stack.device.id] = stack
    if missing := [device for device in view.request.devices if device not in stack_by_device]:
        raise NoRequirementsError(f"no stack for {', '.join(missing)} goes with that for {first.device.id} in one project")
    return stack_by_device


def _array(name: str, items: Iterable[str], *, quote: bool = True) -> list[str]:
    return [f"{name} = [", *(f"    {quoted(item) if quote else item}," for item in items), "]"]


def renovate_text(view: AnswerView, wanted: Wanted) -> str:
    """Return a preset of Renovate, by its schema; raises NoRequirementsError where there is no stack to keep."""
    stack = stack_of(view, wanted)
    packages = _packages(stack)
    rules: list[dict[str, Any]] = [
        {
            "description": f"Keep {listed([name for name, _ in packages])} together.",
            "matchDatasources": ["pypi"],
            "matchPackageNames": [name for name, _ in packages],
            "groupName": _group(stack),
            "separateMajorMinor": False,
        }
    ]
    for name, element in packages:
        rule: dict[str, Any] = {"matchDatasources": ["pypi"], "matchPackageNames": [name]}
        rule["allowedVersions"] = f"=={_series(element)}.*"
        urls = [c.url for c in element.served if c.url and c.style == "index-url"]
        rules.append({**rule, **({"registryUrls": [f"{urls[0]}/"]} if urls else {})})
    for name, why in stack.evidence.gone:
        rules.append({"description": why, "matchDatasources": ["pypi"], "matchPackageNames": [name], "enabled": False})
    content = {"$schema": _RENOVATE, "description": [_about(view)], "packageRules": rules}
    return json_text(content)


def _packages(stack: StackView) -> list[tuple[str, BuildView]]:
    return [(b.distribution, b) for b in stack.packages if b.distribution and b.product.role in _NAMED]


def _group(stack: StackView) -> str:
    return f"{stack.provider}-{stack.device.id}"


def _about(view: AnswerView) -> str:
    return f"What goes with {view.asked}, by compatkb: data of {view.data_date}."


def _series(build: BuildView) -> str:
    return series_of(build.product, build.release)
