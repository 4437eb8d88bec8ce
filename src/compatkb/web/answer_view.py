"""An answer as the page shows it: one sentence, what to paste for each installer, what must be there, ways out of a no."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from compatkb.core.names import is_free_threaded
from compatkb.core.vocabulary import Certainty
from compatkb.engine.answer import Answer
from compatkb.engine.stacks import Stack
from compatkb.errors import CompatkbError, NoRequirementsError
from compatkb.headline_options import HEADLINES
from compatkb.output import commands, disputes, messages
from compatkb.output.answer_words import Way, beside_words, foremost, headline, needs, unbounded_need, ways_of
from compatkb.output.container_files import dockerfile_of
from compatkb.output.images import images_of
from compatkb.output.installer_files import environment_of
from compatkb.output.labels import label, listed, main_packages, platforms, stack_name, value
from compatkb.output.messages import not_installable, sentence, support
from compatkb.output.payload import doubts, stack_sources
from compatkb.output.shells import CMD, POSIX
from compatkb.output.text import grouped
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Request
from compatkb.web.asker import Asker
from compatkb.web.questions import PageQuestion, question_of
from compatkb.web.systems import is_windows

INSTALLERS = (
    ("pip", "pip"),
    ("uv", "uv"),
    ("conda", "conda"),
    ("docker", "Docker"),
    ("requirements", "requirements.txt"),
)
"""What a stack can be installed with: the id, and the name."""


class Recipe(NamedTuple):
    """What to paste: a command, or the contents of a file."""

    installer: str
    text: str
    file: str = ""
    reason: str = ""  # why there is no text


def recipes(facts: Snapshot, stack: Stack, systems: tuple[str, ...]) -> list[Recipe]:
    """Return for each installer what to paste, or why it cannot install the stack; empty where no index has a package."""
    windows = is_windows(facts, systems)
    shell = CMD if windows else POSIX  # double quotes are read by every shell of Windows, single ones only by some
    pip = commands.pip_commands(facts, stack, shell)
    if not pip:
        return []
    waived = commands.waived(facts, stack)
    apart = f"The maker installs this in two steps and against {', '.join(waived)}; one file cannot say so." if waived else ""
    if commands.compiled_of(facts, stack):
        apart = sentence(not_installable(facts, stack))
    lines = "" if apart else commands.requirements(facts, stack)
    recipe_by_installer = {
        "pip": Recipe("pip", "\n".join(pip)),
        "uv": Recipe("uv", "\n".join(commands.uv_commands(facts, stack, shell))),
        "conda": Recipe("conda", "", "environment.yml", apart)
        if apart
        else _file("conda", "environment.yml", environment_of, facts, stack),
        "docker": _file("docker", "Dockerfile", dockerfile_of, facts, stack),
        "requirements": Recipe("requirements", lines, "requirements.txt", apart),
    }
    if windows:
        recipe_by_installer["docker"] = Recipe("docker", "", "Dockerfile", "The container images are for Linux.")
    return [recipe_by_installer[installer] for installer, _ in INSTALLERS]


def newest_python(stack: Stack) -> str:
    """Return the newest Python of a stack that is no free-threaded build; empty where there is none."""
    return next((python for python in reversed(stack.python) if not is_free_threaded(python)), "")


def _file(installer: str, file: str, make: Callable[[Snapshot, Stack], str], facts: Snapshot, stack: Stack) -> Recipe:
    try:
        return Recipe(installer, make(facts, stack), file)
    except NoRequirementsError as error:
        return Recipe(installer, "", file, sentence(str(error)))


SIGNS = {"works": "●", "works-with-warnings": "▲", "likely": "◆", "unknown": "?", "does-not-work": "✕"}
"""Shapes that differ without colour."""
WORDS = {verdict: (SIGNS[verdict], f"{words.capitalize()}.") for verdict, words in messages.VERDICTS.items()}
"""The sign and the word of each verdict."""
MOST_OTHERS = 6
FORM = frozenset(product for _, _, product, _ in HEADLINES)
Source = tuple[str, str | None]


class Package(NamedTuple):
    """A package of a stack, with the release whose page tells more."""

    name: str
    version: str
    product: str = ""
    release: str = ""


class WayOut(NamedTuple):
    """A way out of a no: what changes, where it holds, what is installed, and the question that asks for it."""

    title: str
    verdict: str
    place: str
    pins: str
    question: PageQuestion


class Reason(NamedTuple):
    """A sentence with its sources."""

    text: str
    sources: tuple[Source, ...] = ()
    kind: str = ""


class Other(NamedTuple):
    """Another stack: why it is shown, what it is, and its command."""

    label: str
    text: str
    command: str
    verdict: str
    place: str = ""


class View(NamedTuple):
    """Everything that the page shows of an answer."""

    verdict: str
    sign: str
    word: str
    title: str
    causes: Sequence[Reason]
    sure: str = ""
    sources: Sequence[Source] = ()
    recipes: Sequence[Recipe] = ()
    uninstallable: str = ""
    proof: str = ""
    packages: Sequence[Package] = ()
    runtimes: Sequence[Package] = ()
    needs: Sequence[tuple[str, str]] = ()
    warnings: Sequence[Reason] = ()
    unsettled: Sequence[str] = ()
    disputes: Sequence[str] = ()
    images: Sequence[str] = ()
    ways: Sequence[WayOut] = ()
    beside: Sequence[Other] = ()
    others: Sequence[Other] = ()


def view_of(asker: Asker, question: PageQuestion, answer: Answer) -> View:
    """Return what the page shows of the answer to a question; what is about a stack is empty where there is none."""
    facts = asker.facts
    sign, word = WORDS[answer.verdict]
    denied = View(answer.verdict, sign, word, headline(facts, answer), _causes(facts, answer))
    if not answer.stacks or answer.verdict == "unknown":
        return denied._replace(ways=list(_ways_out(asker, question, answer)))
    return _with_stack(facts, answer, answer.stacks[0], denied)


def _with_stack(facts: Snapshot, answer: Answer, stack: Stack, view: View) -> View:
    request = answer.request
    packages, runtimes = _packages(facts, stack)
    instructions = recipes(facts, stack, stack.os)
    sure = messages.basis(support(facts, stack)) if stack.level == Certainty.CERTAIN else messages.MEANINGS[stack.verdict]
    groups = grouped(facts, answer.stacks)
    return view._replace(
        sure=f"{sure[0].upper()}{sure[1:]}.",
        sources=stack_sources(facts, stack),
        recipes=instructions,
        uninstallable="" if instructions else messages.not_installable(facts, stack),
        proof=commands.short_proof(facts, stack) or "",
        packages=packages,
        runtimes=runtimes,
        needs=_needs(facts, stack, request),
        warnings=[Reason(messages.warning(facts, w), messages.warning_sources(facts, w), w.kind) for w in stack.warnings],
        unsettled=messages.unsettled(facts, stack),
        disputes=[disputes.mark(row) for row in disputes.of_stack(facts, stack, request.as_of)],
        images=[image["image"] for image in images_of(facts, stack, request.as_of) if image["listed"]],
        beside=[_other(facts, *beside_words(facts, answer, b), [b.stack]) for b in answer.beside],
        others=[_other(facts, "", stack_name(facts, group[0], request), group) for group in groups[1:]][:MOST_OTHERS],
    )


def _causes(facts: Snapshot, answer: Answer) -> list[Reason]:
    request = answer.request
    causes = [
        Reason(messages.cause(facts, cause, request), messages.cause_sources(facts, cause, request))
        for cause in foremost(answer)
    ]
    open_ones = doubts(facts, answer)
    causes += [Reason(row["message"], tuple((s["text"], s["url"]) for s in row["sources"][:3])) for row in open_ones]
    if causes or answer.verdict not in ("unknown", "does-not-work"):
        return causes
    return [Reason(messages.excluded(request, facts))]


def _packages(facts: Snapshot, stack: Stack) -> tuple[list[Package], list[Package]]:
    """Return the packages that are named, and those that come with them."""
    groups: tuple[list[Package], list[Package]] = ([], [])
    for element in stack.packages:
        by_itself = facts.products[element.product].role == "leaf" and element.product not in stack.requested
        groups[by_itself].append(package_of(facts, element))
    return groups


def package_of(facts: Snapshot, element: Element) -> Package:
    """Return a member of a stack by its name."""
    return Package(label(facts, element.product), element.version, element.product, element.release)


def _needs(facts: Snapshot, stack: Stack, request: Request) -> list[tuple[str, str]]:
    hardware = [value(facts, "hardware", text).removeprefix("Intel ") for text in stack.known.get("hardware", ())]
    rows = [
        ("python", messages.ranges(stack.python, facts.grid["python"])),
        ("os", listed([value(facts, "os", system) for system in stack.os])),
        *needs(facts, stack, request),
        ("hardware", "; ".join(hardware)),
    ]
    names = [(facts.products[product].name, text) for product, text in rows if text]
    requirements = [(name.capitalize() if name.islower() else name, text) for name, text in names]
    if len(rows) == 3 and (text := unbounded_need(facts, stack)):
        requirements.append(("Driver", text))
    return requirements + [(label(facts, product), spec) for product, spec in stack.bounds if spec]


def _other(facts: Snapshot, why: str, text: str, group: list[Stack]) -> Other:
    instructions = recipes(facts, group[0], group[0].os)
    return Other(why, text, instructions[0].text if instructions else "", group[0].verdict, platforms(facts, group))


# -- ways out ---------------------------------------------------------------------------------------------------------


def _ways_out(asker: Asker, question: PageQuestion, answer: Answer) -> Iterator[WayOut]:
    """Yield the ways out of a no, each with the question whose page shows its command."""
    facts = asker.facts
    normal = question_of(answer.request, question)
    for way in ways_of(facts, answer):
        asked, stack = _asked(asker, normal, way)
        pins = " ".join(pin for step in commands.steps_of(facts, stack) for pin in step.pins)
        yield WayOut(way.title, stack.verdict, platforms(facts, [stack]), pins, asked)


def _asked(asker: Asker, question: PageQuestion, way: Way) -> tuple[PageQuestion, Stack]:
    """Return the widest question to which the stack of a way is the answer, and its stack there."""
    facts = asker.facts
    wanted = [e.version for e in main_packages(facts, way.stack)]
    asked = question
    for exactly in range(3):
        asked = _moved(facts, question, way, exactly)
        try:
            stacks = asker.answer(asked).stacks
        except CompatkbError:
            continue
        if stacks and [e.version for e in main_packages(facts, stacks[0])] == wanted:
            return asked, stacks[0]
    return asked, way.stack


def _moved(facts: Snapshot, question: PageQuestion, way: Way, exactly: int) -> PageQuestion:
    """Return the question with what moves fixed to its series, to its release, or with all else of the stack too."""
    for product in way.relaxed:
        if product in dict(question.options):
            question = question.fix(product, _moved_value(facts, product, way.stack, exactly))
        else:
            other = re.compile(rf"{re.escape(product)}(?![\w.-])")
            needed = tuple(need for need in question.needs if need != product)
            version = _moved_value(facts, product, way.stack, exactly) if exactly else ""
            words = (*(w for w in question.words if not other.match(w)), *([f"{product}=={version}"] if version else []))
            question = question._replace(words=words, needs=needed)
    if exactly > 1:
        moved = [*(e.product for e in main_packages(facts, way.stack)), "os", "python"]
        for product in (product for product in moved if product in FORM):
            question = question.fix(product, _moved_value(facts, product, way.stack, exactly) or question.version_of(product))
    return question._replace(devices=(way.stack.device,))


def _moved_value(facts: Snapshot, product: str, stack: Stack, exactly: int) -> str:
    """Return what to ask for in place of a pin; empty for anything."""
    element = next((e for e in stack.packages if e.product == product), None)
    if element is not None:
        depth = (facts.products[product].series or 1) if not exactly else None
        return ".".join(element.release.split(".")[:depth]) if exactly < 2 else element.version
    if product == "python":
        return newest_python(stack)
    values = stack.os if product == "os" else stack.known.get(product, ())
    return values[0] if values else ""
