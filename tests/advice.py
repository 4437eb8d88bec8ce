"""What a labelled text expects of an answer, and what of it is missing."""

from collections.abc import Iterator, Mapping
from typing import Any

from compatkb.doctor.diagnose import Diagnosis
from compatkb.doctor.version_extraction import WISHED
from compatkb.engine.stacks import Stack

Case = Mapping[str, Any]


def proposed(made: Diagnosis) -> list[tuple[Stack, tuple[str, ...]]]:
    """Return the stacks of an answer, each with the pins that it gives up; a way out of what ended names its Python."""
    found = [(near.stack, near.relaxed) for near in made.nearest]
    return [*found, *([(made.instead.stack, ("python",))] if made.instead else [])]


def offered(made: Diagnosis) -> list[tuple[Stack, tuple[str, ...]]]:
    """Return the stacks of an answer, and those among which it leaves the choice of device or system to the reader."""
    return [*proposed(made), *((way.near.stack, way.near.relaxed) for way in made.either)]


def elsewhere(case: Case, made: Diagnosis) -> list[str]:
    """Return what of an answer is for another device or system than the text."""
    wanted = case["expect"].get("advice", {})
    wrong = []
    if wanted.get("stack") == "none":
        wrong += [f"a stack for {stack.device}, where none serves" for stack, _ in offered(made)]
    for stack, relaxed in proposed(made):
        if wanted.get("device") not in (None, stack.device):
            wrong.append(f"a stack for {stack.device}")
        if "os" in wanted and "os" not in relaxed and not any(family(name) == wanted["os"] for name in stack.os):
            wrong.append(f"a stack for {', '.join(stack.os)}")
    return wrong


def family(system: str) -> str:
    """Return the kind of an operating system: windows, macos, else linux."""
    return next((name for name in ("windows", "macos") if system.startswith(name)), "linux")


def missing(case: Case, made: Diagnosis) -> Iterator[str]:
    """Yield what the cause or the advice of an answer lacks."""
    expect = case["expect"]
    wanted = expect.get("advice", {})
    top = made.candidates[0] if made.candidates else None
    if (top is not None) is not bool(expect["top"]) or (top and top.id not in expect["top"]):
        yield f"cause {top.id if top else None}"
    if top and expect.get("machine") and made.about_versions:
        yield "a version problem"
    read = {read.product: read.version for read in made.versions}
    for product, version in expect.get("versions", {}).items():
        if read.get(product) != version:
            yield f"{product} {version} was not read, but {read.get(product)}"
    installed = {read.product for read in made.versions if read.how != WISHED}
    for product in expect.get("not-installed", ()):
        if product in installed:
            yield f"{product} {read[product]} is said to be installed"
    stacks = offered(made)
    if wanted.get("stack") == "some" and not stacks:
        yield "no stack"
    for stack, relaxed in stacks:
        if "python" in wanted and "python" not in relaxed and wanted["python"] not in stack.python:
            yield f"a stack for Python {stack.python[-1]}"
    first = {element.product: element.version for element in stacks[0][0].packages} if stacks else {}
    for product, version in wanted.get("has", {}).items():
        if not first.get(product, "").startswith(version):
            yield f"{product} {first.get(product)}"
    said = " ".join(said_of(made)).casefold()
    yield from (f"nothing of {word!r}" for word in wanted.get("says", ()) if word.casefold() not in said)


def said_of(made: Diagnosis) -> list[str]:
    """Return what an answer says about its first cause."""
    top = made.candidates[:1]
    return [*(line for found in top for line in (found.title, found.why, *found.do)), *made.collect]
