"""Install commands for a stack, quoted for a shell: steps for pip and uv, the check that follows, and requirement lines."""

import re
import shlex
import sys
from collections.abc import Iterable

from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import UNBOUNDED
from compatkb.output.things import BuildView, StackView
from compatkb.store.queries.products import ChannelRecord

POSIX, POWERSHELL, CMD = SHELLS = ("posix", "powershell", "cmd")
"""The shells that commands are quoted for."""
_PLAIN = {POSIX: r"[\w@%+=:,./-]+", POWERSHELL: r"[\w%+=:./~-]+", CMD: r"[\w+=:./~@-]+"}
"""What needs no quotes; everything in it means the same in quotes and without."""


def quote(words: Iterable[str], shell: str = POSIX) -> str:
    """Return words as one command line for a shell; in cmd a percent sign and a variable's name stay a variable."""
    return " ".join(_quoted(word, shell) for word in words)


def _quoted(word: str, shell: str) -> str:
    if re.fullmatch(_PLAIN[shell], word, re.ASCII):
        return word
    if shell == POSIX:
        return shlex.quote(word)
    if shell == POWERSHELL:
        return "'" + word.replace("'", "''") + "'"
    return '"' + word.replace('"', '\\"') + '"'


def shell_here() -> str:
    """Return the shell that people on this kind of machine most likely use."""
    return POWERSHELL if sys.platform == "win32" else POSIX


_PIP = "python -m pip install"
_OPTIONS = {"index-url": "--index-url", "extra-index-url": "--extra-index-url"}
_STAND_ALONE = "index-url"


class Step(NamedTuple):
    """One install command: what it installs and from where."""

    pins: tuple[str, ...]
    flags: tuple[str, ...]  # an option and its address each, not quoted


def steps_of(stack: StackView) -> tuple[Step, ...]:
    """Return the install commands of a stack, in order; empty where a package is on no known index."""
    return _steps(stack, stack.named)


def _steps(stack: StackView, packages: tuple[BuildView, ...]) -> tuple[Step, ...]:
    placed = [(build, build.index) for build in packages if build.index]
    if not packages or len(placed) < len(packages):
        return ()
    groups = _groups(stack, placed)
    steps = [Step(tuple(build.requirement for build, _ in group), _flags([index for _, index in group])) for group in groups]
    return (*steps[:-1], steps[-1]._replace(pins=steps[-1].pins + bounds_of(stack)))


def _groups(stack: StackView, packages: list[tuple[BuildView, ChannelRecord]]) -> list[list[tuple[BuildView, ChannelRecord]]]:
    """Return the packages of each command: what a recipe says, else one command per index that replaces the default."""
    order = {build.product.id: (build, index) for build, index in packages}
    if stack.recipe and stack.recipe.product in order:
        steps = [[order.pop(product) for product in step if product in order] for step in stack.recipe.steps]
        steps[-1] += order.values()
        return [step for step in steps if step]
    replacing: dict[str, list[tuple[BuildView, ChannelRecord]]] = {}
    for build, index in packages:
        replacing.setdefault(index.id if index.style == _STAND_ALONE else "", []).append((build, index))
    adding = replacing.pop("", None)
    return [*replacing.values(), *([adding] if adding else [])]


def _flags(indexes: list[ChannelRecord]) -> tuple[str, ...]:
    flags = dict.fromkeys(f"{_OPTIONS.get(index.style, '--find-links')} {index.url}" for index in indexes if index.url)
    replaced = [flag for flag in flags if flag.startswith("--index-url")]
    if replaced and len(flags) > len(replaced):  # mixed: every index must stay reachable
        flags = dict.fromkeys(flag.replace("--index-url", "--extra-index-url") for flag in flags)
    return tuple(flags)


def bounds_of(stack: StackView) -> tuple[str, ...]:
    """Return the requirements on what no metadata bound: numpy<2."""
    return tuple(
        f"{product.distribution or product.id}{'' if spec == UNBOUNDED else spec}" for product, spec in stack.bounds if spec
    )


def pip_commands(stack: StackView, shell: str = POSIX) -> list[str]:
    """Return the pip commands, and those that compile what no index has or run the image that holds it."""
    return _lines(stack, _PIP, shell)


def uv_commands(stack: StackView, shell: str = POSIX) -> list[str]:
    """Return the uv commands, and those that compile what no index has or run the image that holds it."""
    return _lines(stack, "uv pip install", shell)


def compiled_of(stack: StackView) -> tuple[BuildView, ...]:
    """Return the members of a stack that are compiled, or come in an image; no file can name them."""
    return tuple(build for build in stack.packages if build.made_at)


def _lines(stack: StackView, installer: str, shell: str) -> list[str]:
    others = tuple(build for build in stack.named if not build.made_at)
    lines = [_line(installer, step, shell) for step in _steps(stack, others)]
    images: list[str] = []  # what else is installed is installed within
    if lines or not others:
        for build in compiled_of(stack):
            at, fields = build.made_at, _fields(stack, build)
            assert at
            commands = [c.format_map(fields).replace(_PIP, installer) for c in at.commands if fields["os"] or not at.os]
            if at.style == "image":
                images += commands
            else:
                lines += commands
    return images + lines


def _fields(stack: StackView, build: BuildView) -> dict[str, str]:
    """Return what commands name: the release, versions of the stack by product, and the first system that fits it."""
    members = {member.product.id: member.release for member in stack.packages}
    known = {product: values[-1] for product, values in stack.known.items() if values}
    return {**known, **members, "release": build.release, "os": build.inside}


def short_proof(stack: StackView) -> str | None:
    """Return a short command that prints what was installed and, for a GPU, whether a program can use it."""
    modules = [build.product.import_name for build in stack.named if build.requested and build.product.import_name]
    if not modules:
        return None
    proof = [stack.proof] if stack.proof and stack.proof.partition(".")[0] in modules else []
    shown = ", ".join([f"{modules[0]}.__version__", *proof])
    return f'python -c "import {", ".join(modules)}; print({shown})"'


def proof_command(stack: StackView) -> str | None:
    """Return a command that fails unless exactly this stack is installed and imports, in the order that matters."""
    if not stack.named:
        return None
    wanted = ", ".join(f"'{build.distribution}': '{build.version}'" for build in stack.named)
    modules = [build.product.import_name for build in stack.named if build.product.import_name]
    imports = f"import {', '.join(modules)}; " if modules else ""
    return (
        f'python -c "from importlib.metadata import version; want = {{{wanted}}}; '
        f"have = {{name: version(name) for name in want}}; assert have == want, have; {imports}print('ok')\""
    )


def requirements(stack: StackView) -> str:
    """Return the stack as a requirements file; index options stand first, as pip reads them."""
    steps = steps_of(stack)
    flags = (flag.replace("--index-url ", "--extra-index-url ", 1) for step in steps for flag in step.flags)
    lines = ["# one file for several steps: `compatkb resolve` shows them"] if len(steps) > 1 else []
    lines += [*dict.fromkeys(flags), *(build.requirement for build in stack.named), *bounds_of(stack)]
    return "\n".join(lines) + "\n"


def indexes_of(stack: StackView) -> list[str]:
    """Return the addresses of the indexes that the stack needs; `default` is the client's own."""
    return list(dict.fromkeys(build.index.url or build.index.id for build in stack.named if build.index))


def _line(command: str, step: Step, shell: str) -> str:
    options = [word for flag in step.flags for word in flag.split(" ", 1)]
    return f"{command} {quote((*step.pins, *options), shell)}"
