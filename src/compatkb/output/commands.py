"""Install commands for a stack, quoted for a shell: steps for pip and uv, the check that follows, and requirement lines."""

from typing import NamedTuple

from compatkb.engine.stacks import Stack
from compatkb.output.shells import POSIX, quote
from compatkb.store.queries.claims import installs
from compatkb.store.queries.products import ChannelRecord, channels, release
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element

_PIP = "python -m pip install"


class Step(NamedTuple):
    """One install command: what it installs and from where."""

    pins: tuple[str, ...]
    flags: tuple[str, ...]  # an option and its address each, not quoted


def steps_of(facts: Snapshot, stack: Stack) -> tuple[Step, ...]:
    """Return the install commands of a stack, in order; empty where a package is on no known index."""
    packages = [e for e in stack.packages if is_named(facts, e, stack)]
    if not packages or not all(channel_for(facts, e, stack) for e in packages):
        return ()
    groups = _groups(facts, stack, packages)
    bounds = bounds_of(facts, stack)
    steps = []
    for number, group in enumerate(groups):
        pins = tuple(pin_of(e) for e in group)
        steps.append(Step(pins + (bounds if number == len(groups) - 1 else ()), _flags(facts, group, stack)))
    return tuple(steps)


def bounds_of(facts: Snapshot, stack: Stack) -> tuple[str, ...]:
    """Return the requirements on what no metadata bound: numpy<2."""
    return tuple(f"{distribution_of(facts, product)}{spec}" for product, spec in stack.bounds if spec)


def pip_commands(facts: Snapshot, stack: Stack, shell: str = POSIX) -> list[str]:
    """Return the pip commands, and those that compile what no index has or run the image that holds it."""
    return _lines(facts, stack, _PIP, shell)


def uv_commands(facts: Snapshot, stack: Stack, shell: str = POSIX) -> list[str]:
    """Return the uv commands, and those that compile what no index has or run the image that holds it."""
    return _lines(facts, stack, "uv pip install", shell)


def compiled_of(facts: Snapshot, stack: Stack) -> dict[Element, ChannelRecord]:
    """Return the members of a stack that are compiled, or come in an image, and from where; no file can name them."""
    return {e: c for e in stack.packages for c in channels(facts) if not c.is_index and c.id in e.channels}


def _lines(facts: Snapshot, stack: Stack, installer: str, shell: str) -> list[str]:
    compiled = compiled_of(facts, stack)
    others = stack._replace(packages=tuple(e for e in stack.packages if e not in compiled)) if compiled else stack
    lines = [_line(installer, step, shell) for step in steps_of(facts, others)]
    images: list[str] = []  # what else is installed is installed within
    if lines or not any(is_named(facts, e, others) for e in others.packages):
        for element, at in compiled.items():
            fields = _fields(facts, stack, element, at)
            commands = [c.format_map(fields).replace(_PIP, installer) for c in at.commands if fields["os"] or not at.os]
            if at.style == "image":
                images += commands
            else:
                lines += commands
    return images + lines


def _fields(facts: Snapshot, stack: Stack, element: Element, at: ChannelRecord) -> dict[str, str]:
    """Return what commands name: the release, versions of the stack by product, and the first system that fits it."""
    newest = facts.dimension_cells("python", 1 << facts.grid["python"].index(stack.python[-1]))
    places = {system: facts.dimension_cells("os", 1 << n) & newest for n, system in enumerate(facts.grid["os"])}
    inside = (
        s for s in at.os if (element.certain | element.inferred) & places[s] and set(stack.os) & {s, *facts.wider.get(s, ())}
    )
    members = {e.product: e.release for e in stack.packages}
    known = {product: values[-1] for product, values in stack.known.items() if values}
    return {**known, **members, "release": element.release, "os": next(inside, "")}


def short_proof(facts: Snapshot, stack: Stack) -> str | None:
    """Return a short command that prints what was installed and, for a GPU, whether a program can use it."""
    wanted = set(stack.requested)
    named = [e for e in stack.packages if e.product in wanted and is_named(facts, e, stack)]
    modules = [module for e in named if (module := facts.products[e.product].import_name)]
    if not modules:
        return None
    device = release(facts, "device", stack.device)
    proof = device.proof if device else None
    if proof and proof.partition(".")[0] not in modules:
        proof = None
    shown = ", ".join([f"{modules[0]}.__version__", *([proof] if proof else [])])
    return f'python -c "import {", ".join(modules)}; print({shown})"'


def proof_command(facts: Snapshot, stack: Stack) -> str | None:
    """Return a command that fails unless exactly this stack is installed and imports, in the order that matters."""
    packages = [e for e in stack.packages if is_named(facts, e, stack)]
    if not packages:
        return None
    wanted = ", ".join(f"'{e.distribution}': '{e.version}'" for e in packages)
    modules = [m for e in packages if (m := facts.products[e.product].import_name)]
    imports = f"import {', '.join(modules)}; " if modules else ""
    return (
        f'python -c "from importlib.metadata import version; want = {{{wanted}}}; '
        f"have = {{name: version(name) for name in want}}; assert have == want, have; {imports}print('ok')\""
    )


def requirements(facts: Snapshot, stack: Stack) -> str:
    """Return the stack as a requirements file; index options stand first, as pip reads them."""
    packages = [e for e in stack.packages if is_named(facts, e, stack)]
    flags: dict[str, None] = {}
    for step in steps_of(facts, stack):
        flags.update((flag.replace("--index-url ", "--extra-index-url ", 1), None) for flag in step.flags)
    lines = ["# one file for several steps: `compatkb resolve` shows them"] if len(steps_of(facts, stack)) > 1 else []
    lines += flags
    lines += [pin_of(e) for e in packages]
    lines += bounds_of(facts, stack)
    return "\n".join(lines) + "\n"


def waived(facts: Snapshot, stack: Stack) -> list[str]:
    """Return the pins that the maker says to ignore for this stack: one file or command cannot install it."""
    pins: list[str] = []
    numbers = {e.product: e.idx for e in stack.packages}
    for install in installs(facts):
        if install.product in numbers and install.mask >> numbers[install.product] & 1:
            pins += install.waives
    return pins


def indexes_of(facts: Snapshot, stack: Stack) -> list[str]:
    """Return the addresses of the indexes that the stack needs; `default` is the client's own."""
    urls: dict[str, None] = {}
    for element in stack.packages:
        if is_named(facts, element, stack) and (channel := channel_for(facts, element, stack)):
            urls[channel.url or channel.id] = None
    return list(urls)


def is_named(facts: Snapshot, element: Element, stack: Stack) -> bool:
    """Commands name packages, companions and what was asked for; what requirements bring along comes by itself."""
    product = facts.products[element.product]
    asked = product.role == "leaf" and element.product in stack.requested
    return bool(element.distribution) and (asked or (product.role in ("package", "companion") and not product.automatic))


def pin_of(element: Element) -> str:
    """Return the requirement (PEP 508) that only this build meets."""
    extras = f"[{element.extras}]" if element.extras else ""
    return f"{element.distribution}{extras}=={element.version}"


def distribution_of(facts: Snapshot, product: str) -> str:
    """Return the name under which indexes have a product."""
    return facts.products[product].distribution or product


def channel_for(facts: Snapshot, element: Element, stack: Stack) -> ChannelRecord | None:
    """Return the index to take a build from: the one made for the stack's only hardware, else the first."""
    known = {channel.id: channel for channel in channels(facts) if channel.is_index}
    leaf = facts.products[element.product].role == "leaf"
    fitting = [known[c] for c in (element.channels or (("default",) if leaf else ())) if c in known]
    hardware = set(stack.known.get("hardware", ()))
    for row in fitting:
        if row.hardware and len(hardware) == 1 and hardware & set(row.hardware):
            return row
    plain = [row for row in fitting if not row.hardware] or fitting
    return plain[0] if plain else None


def _groups(facts: Snapshot, stack: Stack, packages: list[Element]) -> list[list[Element]]:
    """Return the packages of each command: what a recipe says, else one command per index that replaces the default."""
    order = {e.product: e for e in packages}
    for install in installs(facts):
        element = order.get(install.product)
        if element and install.mask >> element.idx & 1:
            steps = [[order.pop(p) for p in step if p in order] for step in install.steps]
            if order:
                steps[-1] += order.values()
            return [step for step in steps if step]
    replacing: dict[str, list[Element]] = {}
    adding: list[Element] = []
    for element in packages:
        channel = channel_for(facts, element, stack)
        assert channel
        if channel.style == "index-url":
            replacing.setdefault(channel.id, []).append(element)
        else:
            adding.append(element)
    return [*replacing.values(), *([adding] if adding else [])]


def _flags(facts: Snapshot, group: list[Element], stack: Stack) -> tuple[str, ...]:
    flags: dict[str, None] = {}
    for element in group:
        channel = channel_for(facts, element, stack)
        if channel and channel.url:
            option = {"index-url": "--index-url", "extra-index-url": "--extra-index-url"}.get(channel.style, "--find-links")
            flags[f"{option} {channel.url}"] = None
    replaced = [flag for flag in flags if flag.startswith("--index-url")]
    if replaced and len(flags) > len(replaced):  # mixed: every index must stay reachable
        flags = {flag.replace("--index-url", "--extra-index-url"): None for flag in flags}
    return tuple(flags)


def _line(command: str, step: Step, shell: str) -> str:
    options = [word for flag in step.flags for word in flag.split(" ", 1)]
    return f"{command} {quote((*step.pins, *options), shell)}"
