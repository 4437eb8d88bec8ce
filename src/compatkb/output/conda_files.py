"""An answer as conda's environment.yml or as a pixi.toml: Python from conda, the stack from its own indexes by pip or uv."""

from compatkb.core.platforms import conda_platform
from compatkb.core.quoting import quoted
from compatkb.engine.answer import Answer
from compatkb.engine.stacks import Stack
from compatkb.errors import NoRequirementsError
from compatkb.output.commands import distribution_of, requirements
from compatkb.output.registry import Wanted
from compatkb.output.stack_files import minors, one_step, packages_of, platforms_of, stack_of, title_of
from compatkb.store.reader import Snapshot

_PLAIN = Wanted()


def environment_text(facts: Snapshot, answer: Answer, wanted: Wanted = _PLAIN) -> str:
    """Return an environment.yml; raises NoRequirementsError where no such file installs a stack."""
    stack = stack_of(facts, answer, wanted)
    one_step(facts, stack, "environment.yml")
    packages_of(facts, stack)  # raises where there is nothing to name
    return f"# {title_of(facts, answer, stack)}\n{environment_of(facts, stack)}"


def environment_of(facts: Snapshot, stack: Stack) -> str:
    """Return an environment.yml for a stack that can be installed in one step, on its newest Python."""
    lines = (line for line in requirements(facts, stack).splitlines() if not line.startswith("#"))
    body = "".join(f"      - {_scalar(line)}\n" for line in lines)
    python = minors(stack)[-1]
    return f"name: compatkb\nchannels:\n  - conda-forge\ndependencies:\n  - python={python}\n  - pip\n  - pip:\n{body}"


def pixi_text(facts: Snapshot, answer: Answer, wanted: Wanted = _PLAIN) -> str:
    """Return a pixi.toml; raises NoRequirementsError where no such file installs a stack."""
    stack = stack_of(facts, answer, wanted)
    one_step(facts, stack, "pixi.toml")
    placed = packages_of(facts, stack)
    platforms = [name for platform in platforms_of(facts, stack) if (name := conda_platform(*platform))]
    if not platforms:
        raise NoRequirementsError(f"conda has no name for the platforms of this stack: {', '.join(stack.arch)}")
    lines = [f"# {title_of(facts, answer, stack)}", "[workspace]", 'name = "app"', 'channels = ["conda-forge"]']
    lines += [f"platforms = [{', '.join(quoted(platform) for platform in platforms)}]", "", "[dependencies]"]
    lines += [f"python = {quoted(f'{minors(stack)[-1]}.*')}", "", "[pypi-dependencies]"]
    for name, channel, element in ((each.name, each.channel, each.element) for each in placed):
        fields = [f"version = {quoted(f'=={element.version}')}"]
        fields += [f"extras = [{', '.join(quoted(extra) for extra in element.extras.split(','))}]"] if element.extras else []
        fields += [f"index = {quoted(channel.url)}"] if channel.url and channel.style != "find-links" else []
        lines.append(f"{name} = {{ {', '.join(fields)} }}")
    lines += [f"{distribution_of(facts, product)} = {quoted(spec)}" for product, spec in stack.bounds if spec]
    links = dict.fromkeys(each.channel.url or "" for each in placed if each.channel.style == "find-links")
    if links:
        lines += ["", "[pypi-options]", f"find-links = [{', '.join(f'{{ url = {quoted(url)} }}' for url in links)}]"]
    return "\n".join(lines) + "\n"


def _scalar(line: str) -> str:
    """Return a line as a YAML scalar."""
    return quoted(line) if any(sign in line for sign in "[]{}<>*&!|%@`,#") or ": " in line else line
