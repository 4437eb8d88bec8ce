"""An answer as the page shows it: what to paste for each installer and system, ways out with their questions."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from compatkb.core.record import NamedTuple
from compatkb.errors import CompatkbError, NoRequirementsError
from compatkb.headline_options import HEADLINES
from compatkb.output import messages
from compatkb.output.commands import CMD, POSIX, compiled_of, pip_commands, requirements, short_proof, steps_of, uv_commands
from compatkb.output.container_files import dockerfile_of
from compatkb.output.installer_files import environment_of
from compatkb.output.issue_text import GRAVE
from compatkb.output.messages import not_installable, sentence
from compatkb.output.things import StackView, platforms
from compatkb.output.view import MOST, AnswerView, Way, others_of
from compatkb.web.asker import Asker
from compatkb.web.questions import PageQuestion, question_of

INSTALLERS = (
    ("pip", "pip"),
    ("uv", "uv"),
    ("conda", "conda"),
    ("docker", "Docker"),
    ("requirements", "requirements.txt"),
)
"""What a stack can be installed with: the id, and the name."""
WORDS = {verdict: (messages.SIGNS[verdict], f"{words.capitalize()}.") for verdict, words in messages.VERDICTS.items()}
"""The sign and the word of each verdict."""
FORM = frozenset(product for _, _, product, _ in HEADLINES)
Source = tuple[str, str | None]


class Recipe(NamedTuple):
    """What to paste: a command, or the contents of a file."""

    installer: str
    text: str
    file: str = ""
    reason: str = ""  # why there is no text


class WayOut(NamedTuple):
    """A way out of a no: what changes, where it holds, what is installed, and the question that asks for it."""

    title: str
    verdict: str
    place: str
    command: str
    note: str  # why there is no command
    question: PageQuestion


def shown_of(asker: Asker, question: PageQuestion, view: AnswerView) -> dict[str, Any]:
    """Return what a page shows beside the view itself; what is about a stack is empty where there is none.

    A part is a section with what installs it.
    """
    sign, word = WORDS[view.verdict]
    known = view.best.evidence if view.best else None
    if not view.is_positive or known is None:
        reasons = (*(known.unsettled if known else ()), *view.reasons)
        ways = list(_ways_out(asker, question, view))
        return {
            "sign": sign,
            "word": word,
            "sure": "",
            "reasons": reasons,
            "ways": ways,
            "parts": (),
            "others": (),
            "told": (),
        }
    groups = [section.group for section in view.sections]
    sure = known.basis if view.stacks[0].is_certain else messages.MEANINGS[view.verdict]
    return {
        "sign": sign, "word": word, "sure": f"{capital(sure)}.", "reasons": view.reasons, "ways": (),
        "known": known,
        "parts": [(section, recipes(section.group.best)) for section in view.sections], "told": _told(view),
        "proofs": {
            proof: _expected(group.best) if len(groups) == 1 else "" for group in groups if (proof := short_proof(group.best))
        },
        "grave": [issue for issue in view.best.issues if issue.effect in GRAVE and issue.of_packages][:2] if view.best else [],
        "others": others_of(view.request, view.groups, groups, view.beside)[:MOST],
    }  # fmt: skip


def shell_of(stack: StackView) -> str:
    """Return the shell that commands are quoted for; every one of Windows reads double quotes, single ones only some."""
    return CMD if all(system.family == "windows" for system in stack.os) else POSIX


def recipes(stack: StackView) -> list[Recipe]:
    """Return for each installer what to paste, or why it cannot install the stack; empty where no index has a package."""
    shell = shell_of(stack)
    windows = shell == CMD
    pip = pip_commands(stack, shell)
    if not pip:
        return []
    pins = ", ".join(stack.waives)
    apart = f"The maker installs this in two steps and against {pins}; one file cannot say so." if pins else ""
    if compiled_of(stack):
        apart = sentence(not_installable(stack))
    docker = Recipe(
        "docker", "", "Dockerfile", "The container images are for Linux: on Windows, run them in WSL 2 (choose it above)."
    )
    recipe_by_installer = {
        "pip": Recipe("pip", "\n".join(pip)),
        "uv": Recipe("uv", "\n".join(uv_commands(stack, shell))),
        "conda": Recipe("conda", "", "environment.yml", apart)
        if apart
        else _file("conda", "environment.yml", environment_of, stack),
        "docker": docker if windows else _file("docker", "Dockerfile", dockerfile_of, stack),
        "requirements": Recipe("requirements", "" if apart else requirements(stack), "requirements.txt", apart),
    }
    return [recipe_by_installer[installer] for installer, _ in INSTALLERS]


def _file(installer: str, file: str, make: Callable[[StackView], str], stack: StackView) -> Recipe:
    try:
        return Recipe(installer, make(stack), file)
    except NoRequirementsError as error:
        return Recipe(installer, "", file, sentence(str(error)))


_TOLD = ("warning", "requires", "untested", "platforms", "why not newer")


def _told(view: AnswerView) -> list[tuple[str, list[str]]]:
    """Return the rows of an answer that a page shows as they are, each label once: what `--why` adds is on it."""
    rows: list[tuple[str, list[str]]] = []
    for row in view.rows:
        if row.label in _TOLD:
            rows.append((row.label, []))
        if (row.label in _TOLD or not row.label) and rows and row.install is None and not row.when_brief:
            rows[-1][1].extend(re.sub(r"(?:, )?(?:: )?--why", "", text).replace(" ()", "") for text in row.texts if text)
        elif row.label:
            continue
    return [(label, texts) for label, texts in rows if texts]


def capital(text: str) -> str:
    """Return a sentence with a capital, but for the name of a package."""
    return text if re.match(r"[a-z][\w-]* v?\d", text) else text[:1].upper() + text[1:]


def _expected(stack: StackView) -> str:
    """Return what the short proof prints where all is well."""
    build = next((build for build in stack.named if build.requested and build.product.import_name), None)
    return f"{build.version} True" if build and stack.proof else build.version if build else ""


# -- ways out ---------------------------------------------------------------------------------------------------------


def _ways_out(asker: Asker, question: PageQuestion, view: AnswerView) -> Iterator[WayOut]:
    """Yield the ways out of a no, each with the question whose page shows its command."""
    normal = question_of(view.request, question)
    for way in view.ways[:MOST]:
        asked, stack = _asked(asker, normal, way)
        lines = [*(["compatkb migrate ."] if way.migrates else []), *pip_commands(stack, shell_of(stack))]
        note = "" if lines else sentence(not_installable(stack))
        yield WayOut(way.title, stack.verdict, platforms([stack]), "\n".join(lines), note, asked)


def _asked(asker: Asker, question: PageQuestion, way: Way) -> tuple[PageQuestion, StackView]:
    """Return the widest question to which the stack of a way is the answer, and its stack there."""
    asked = question
    for exactly in range(3):
        asked = _moved(question, way, exactly)
        try:
            best = asker.view(asked).best
        except CompatkbError:
            continue
        if best and steps_of(best) == steps_of(way.stack) and set(way.stack.python) <= set(best.python):
            return asked, best
    return asked, way.stack


def _moved(question: PageQuestion, way: Way, exactly: int) -> PageQuestion:
    """Return the question with what moves fixed to its series, to its release, or with all else of the stack too."""
    for product in way.relaxed:
        if product in dict(question.options):
            question = question.fix(product, _moved_value(product, way.stack, exactly))
        else:
            other = re.compile(rf"{re.escape(product)}(?![\w.-])")
            needed = tuple(need for need in question.needs if need != product)
            version = _moved_value(product, way.stack, exactly) if exactly else ""
            words = (*(w for w in question.words if not other.match(w)), *([f"{product}=={version}"] if version else []))
            question = question._replace(words=words, needs=needed)
    if exactly > 1:
        moved = [*(build.product.id for build in way.stack.main), "os", "python"]
        for product in (product for product in moved if product in FORM):
            question = question.fix(product, _moved_value(product, way.stack, exactly) or question.version_of(product))
    return question._replace(devices=(way.stack.device.id,))


def _moved_value(product: str, stack: StackView, exactly: int) -> str:
    """Return what to ask for in place of a pin; empty for anything."""
    if build := stack.build_of(product):
        depth = (build.product.series or 1) if not exactly else None
        return ".".join(build.release.split(".")[:depth]) if exactly < 2 else build.version
    if product == "python":
        return stack.newest_python
    values = [system.id for system in stack.os] if product == "os" else stack.known.get(product, ())
    return values[0] if values else ""
