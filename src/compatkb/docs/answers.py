"""Regions that answer a request: the whole answer, or the commands that install its best stack."""

from compatkb.docs.asking import DEVICE, YES_NO, Argument, Kind, Question
from compatkb.engine.stacks import Stack
from compatkb.errors import UsageError
from compatkb.rendering import commands, sentences
from compatkb.rendering.markdown import cell, fence
from compatkb.rendering.payload import unsettled
from compatkb.rendering.text import VERDICTS, answer_text
from compatkb.snapshot.read import Snapshot

_WORDS = Argument("words", "further products, PRODUCT or PRODUCT==V as pip reads them, in one quoted value")


def _answer(asked: Question) -> str:
    answer = asked.answer()
    return fence(answer_text(asked.facts, answer, why=asked.is_on("why"), everything=asked.is_on("all")), "text")


def _install(asked: Question) -> str:
    answer, facts = asked.answer(), asked.facts
    if answer.verdict in ("does-not-work", "unknown"):
        raise UsageError(f"nothing to install: {sentences.asked(answer.request)}: {VERDICTS[answer.verdict]}")
    stack = answer.stacks[0]
    if not commands.steps_of(facts, stack):
        raise UsageError("nothing to install: a package of the stack is on no index that the data know")
    if asked.values["with"] == "requirements":
        if pins := commands.waived(facts, stack):
            raise UsageError(f"one requirements file cannot install this stack: it goes against {', '.join(pins)}")
        lines, language = [commands.requirements(facts, stack)], "text"
    else:
        write = commands.uv_commands if asked.values["with"] == "uv" else commands.pip_commands
        lines, language = write(facts, stack), "sh"
        if asked.is_on("proof") and (proof := commands.proof_command(facts, stack)):
            lines.append(proof)
    return fence("\n".join(lines), language) + "\n" + _remarks(asked, facts, stack)


def _remarks(asked: Question, facts: Snapshot, stack: Stack) -> str:
    """Return where the stack holds and how well it is known: commands alone would look surer than they are."""
    pythons = sentences.ranges(stack.python, facts.grid["python"])
    where = f"Python {pythons}; {', '.join(stack.os)}; {', '.join(stack.arch)}"
    lines = [f"{VERDICTS[stack.verdict].capitalize()}, as of {asked.day}: {where}."]
    notes = [f"- warning ({warned.kind}): {sentences.warning(warned)}" for warned in stack.warnings]
    notes += [f"- open: {sentence}" for sentence in unsettled(facts, stack)]
    lines += ["", *(f"- {cell(note[2:])}" for note in notes)] if notes else []
    return "\n".join([cell(lines[0]), *lines[1:]]) + "\n"


ANSWERS = {
    "install": Kind(
        "the commands that install the best stack, where it holds, and what there is to know about it",
        _install,
        (
            DEVICE,
            _WORDS,
            Argument("with", "the installer: pip, uv, or a requirements file", "pip", choices=("pip", "uv", "requirements")),
            Argument("proof", "whether a command that proves the installation is added", "no", choices=YES_NO),
        ),
        pins=True,
    ),
    "answer": Kind(
        "what the command resolve prints, in a fenced block",
        _answer,
        (
            DEVICE,
            _WORDS,
            Argument("why", "whether every link is traced to its source", "no", choices=YES_NO),
            Argument("all", "whether every stack is shown", "no", choices=YES_NO),
        ),
        pins=True,
    ),
}
