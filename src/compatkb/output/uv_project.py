"""An answer as the pyproject.toml of a uv project: exact builds, each from its own index, for the platforms of the stack."""

from collections.abc import Iterable, Mapping

from compatkb.core.quoting import quoted
from compatkb.engine.answer import Answer
from compatkb.engine.stacks import Stack
from compatkb.errors import NoRequirementsError
from compatkb.output.commands import bounds_of, pin_of
from compatkb.output.registry import Wanted
from compatkb.output.stack_files import Placed, markers_of, minors, one_step, packages_of, python_range, stack_of, title_of
from compatkb.store.reader import Snapshot

_PLAIN = Wanted()


def uv_text(facts: Snapshot, answer: Answer, wanted: Wanted = _PLAIN) -> str:
    """Return a pyproject.toml with which `uv sync` installs a stack: with an extra for each device where that is wanted.

    Raises NoRequirementsError where no such file installs one.
    """
    first = stack_of(facts, answer, wanted)
    stacks = by_device(facts, answer, first) if wanted.each_device else {first.device: first}
    for stack in stacks.values():
        one_step(facts, stack, "uv project")
    extras = len(stacks) > 1
    placed = {device: packages_of(facts, stack) for device, stack in stacks.items()}
    needed = {d: [*(pin_of(each.element) for each in placed[d]), *bounds_of(facts, s)] for d, s in stacks.items()}
    pythons = [p for p in minors(first) if all(p in stack.python for stack in stacks.values())]
    lines = [f"# {title_of(facts, answer, *stacks.values())}", "[project]", 'name = "app"', 'version = "0"']
    lines += [f"requires-python = {quoted(python_range(pythons))}"]
    lines += [] if extras else _array("dependencies", needed[first.device])
    if extras:
        lines += ["dependencies = []", "", "[project.optional-dependencies]"]
        lines += [line for device, pins in needed.items() for line in _array(device, pins)]
    common = [m for m in markers_of(facts, first) if all(m in markers_of(facts, stack) for stack in stacks.values())]
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


def by_device(facts: Snapshot, answer: Answer, first: Stack) -> dict[str, Stack]:
    """Return the stack for each device of the request that goes with the first one: a platform and a Python in common."""
    stack_by_device = {first.device: first}
    for stack in answer.stacks:
        shared = set(markers_of(facts, stack)) & set(markers_of(facts, first)) and set(minors(first)) & set(stack.python)
        if shared and stack.device not in stack_by_device:
            stack_by_device[stack.device] = stack
    if missing := [device for device in answer.request.devices if device not in stack_by_device]:
        raise NoRequirementsError(f"no stack for {', '.join(missing)} goes with that for {first.device} in one project")
    return stack_by_device


def _array(name: str, items: Iterable[str], *, quote: bool = True) -> list[str]:
    return [f"{name} = [", *(f"    {quoted(item) if quote else item}," for item in items), "]"]
