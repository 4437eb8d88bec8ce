"""Regions that answer requests: a whole answer, the install commands of its best stack, a matrix of answers."""

from collections.abc import Callable

from compatkb.core.vocabulary import Verdict
from compatkb.docgen.arguments import DEVICE, YES_NO, RegionArgument, RegionContext, RegionKind
from compatkb.errors import NoRequirementsError, UsageError
from compatkb.output import commands, messages, registry
from compatkb.output.images import run_command
from compatkb.output.text import answer_text
from compatkb.output.things import BuildView, StackView
from compatkb.output.view import StackGroup, by_system
from compatkb.output.writers import Block, Bullets, Code, Paragraph, Table
from compatkb.request.lookup import find_product
from compatkb.store.queries.solver import series_name
from compatkb.store.records import Product

_CONTAINER = "container"
_WITH = ("pip", "uv", "conda", _CONTAINER, "requirements")
_MARKS = {"works": "", "works-with-warnings": ", with warnings", "likely": ", probably"}
_WORDS = RegionArgument("words", "further products, PRODUCT or PRODUCT==V as pip reads them, in one quoted value")


def _answer(asked: RegionContext) -> list[Block]:
    answer = asked.answer()
    return [Code(answer_text(answer, registry.Wanted(asked.is_on("why"), asked.is_on("all"))), "text")]


def _install(asked: RegionContext) -> list[Block]:
    answer = asked.answer()
    if answer.verdict in (Verdict.DOES_NOT_WORK, Verdict.UNKNOWN):
        raise UsageError(f"nothing to install: {answer.asked}: {messages.VERDICTS[answer.verdict]}")
    blocks: list[Block] = []
    for section in answer.sections:
        blocks += [Paragraph(f"{section.title}:")] if section.title else []
        blocks += _section(asked, section.group)
    return blocks


def _section(asked: RegionContext, group: StackGroup) -> list[Block]:
    """Return the commands for the systems of a group, where it holds, and how well it is known."""
    stack = group.best
    if not commands.steps_of(stack):
        raise UsageError("nothing to install: a package of the stack is on no index that the data know")
    if asked.values["with"] == "requirements":
        if stack.waives:
            raise UsageError(f"one requirements file cannot install this stack: it goes against {', '.join(stack.waives)}")
        lines, language = [commands.requirements(stack)], "text"
    else:
        lines = _COMMANDS[asked.values["with"]](asked, stack)
        language = "powershell" if {system.id for system in stack.os} <= {"windows"} else "sh"
        if asked.is_on("proof") and (proof := commands.proof_command(stack)):
            lines.append(proof)
    return [Code("\n".join(lines), language), *_remarks(asked, group)]


def _file(asked: RegionContext) -> list[Block]:
    form, devices = asked.values["form"], asked.values[DEVICE.name]
    try:
        text = registry.form("resolve", form)(asked.answer(), registry.Wanted(each_device="," in devices))
    except NoRequirementsError as error:
        raise UsageError(str(error)) from None
    assert isinstance(text, str)
    return [Code(text, _LANGUAGES[form])]


def _conda(_: RegionContext, stack: StackView) -> list[str]:
    """Return an environment with a Python from conda, and the stack from its own indexes: the data know no conda channel."""
    lines = [f"conda create --name stack python={stack.newest_python}", "conda activate stack"]
    return [*lines, *commands.pip_commands(stack)]


def _container(asked: RegionContext, stack: StackView) -> list[str]:
    """Return the command that runs an image that declares the stack; raises UsageError where no listed one does."""
    references = [image["image"] for image in stack.evidence.images if image["listed"]]
    declaring = [image for image in asked.facts.images() if image.reference in references]
    if not declaring:
        raise UsageError(f"nothing to run: no image that was listed on {asked.day} declares this stack")
    held = asked.facts.contents()  # the plainest image, by its own name
    plainest = min(declaring, key=lambda image: (len(held.get(image.same, ())), image.same != image.id, image.name))
    return [run_command(plainest, plainest.name, asked.facts.runs_for(plainest))]


_COMMANDS: dict[str, Callable[[RegionContext, StackView], list[str]]] = {
    "pip": lambda _, stack: commands.pip_commands(stack),
    "uv": lambda _, stack: commands.uv_commands(stack),
    "conda": _conda,
    _CONTAINER: _container,
}


def _remarks(asked: RegionContext, group: StackGroup) -> list[Block]:
    """Return where a group holds and how well it is known: commands alone would look surer than they are."""
    stack = group.best
    notes = [f"different: {difference}" for difference in group.differences]
    notes += [f"warning ({warned.kind}): {messages.warning(warned)}" for warned in stack.warnings]
    notes += [f"open: {sentence}" for sentence in stack.evidence.unsettled]
    if asked.values["with"] == _CONTAINER:
        notes.append("what the image holds is what its build files declare; it was not pulled")
    holds = Paragraph(f"{messages.VERDICTS[stack.verdict].capitalize()}, as of {asked.day}: {group.place}.")
    return [holds, Bullets(tuple(notes))] if notes else [holds]


def _matrix(asked: RegionContext) -> list[Block]:
    product = asked.product("product")
    assert product  # it is required
    others = [find_product(asked.facts, name) for name in asked.words("beside")]
    names = _series(asked, product)[: asked.number("limit")]
    alone = ("by itself",) if asked.is_on("alone") else ()
    rows = [
        (name, *(_alone(asked, product, name) for _ in alone), *(_cell(asked, product, name, other) for other in others))
        for name in names
    ]
    if not rows:
        return [Paragraph(f"The data know of no release here, as of {asked.day}.")]
    legend = (
        f"Each cell is a question of its own: the best that goes with the series, and the release of {product.name} that it "
        "goes with, by system where they differ. Where nothing is said it works; “probably” is untested in part; “none” means "
        "that nothing goes with it, “unknown” that the data cannot tell."
    )
    return [Table((product.name, *alone, *(other.name for other in others)), tuple(rows)), Paragraph(legend), asked.foot]


def _cell(asked: RegionContext, product: Product, series: str, other: Product) -> str:
    answer = asked.answer({product.id: series}, (other.id,))
    if answer.verdict in (Verdict.DOES_NOT_WORK, Verdict.UNKNOWN):
        return "none" if answer.verdict == Verdict.DOES_NOT_WORK else "unknown"
    places = []
    for group in (section.group for section in answer.sections):
        beside, build = group.best.build_of(other.id), group.best.build_of(product.id)
        told = f" with {build.release}{_MARKS[group.best.verdict]}" if build else ""
        places.append((group.systems, beside, told))
    return _by_system(places)


def _by_system(places: list[tuple[str, BuildView | None, str]]) -> str:
    """Return the build of each system and what is told of it: once, without labels, where only these differ."""
    texts = {systems: f"{build.version}{told}" if build else "unknown" for systems, build, told in places}
    alike = {f"{build.release}{told}" if build else "unknown" for _, build, told in places}
    if len(places) == 1 or len(alike) == 1:
        return next(iter(texts.values() if len(set(texts.values())) == 1 else alike))
    return "; ".join(f"{systems}: {text}" for systems, text in texts.items())


def _alone(asked: RegionContext, product: Product, series: str) -> str:
    """Return the best build of a series that reaches the device without another product that a route adds."""
    answer = asked.answer({product.id: series})
    plain = {route.id for route in asked.facts.routes if not route.with_}
    groups = [group for group in answer.groups if group.best.route in plain]
    if not groups:
        return "unknown" if answer.verdict == Verdict.UNKNOWN else "none"
    shown = by_system(answer.request, groups)
    return _by_system([(g.systems, g.best.build_of(product.id), _MARKS[g.best.verdict]) for g in shown])


def _series(asked: RegionContext, product: Product) -> list[str]:
    """Return the series that had come out by the day, newest first."""
    today = asked.day.toordinal()
    elements = asked.facts.elements(product.id)
    names: dict[str, None] = {}
    for mask in reversed(asked.facts.series(product.id)):
        out = [e for e in elements.of(mask) if e.since is None or e.since <= today]
        if out:
            names[series_name(out[0].release, product.series)] = None
    return list(names)


_LANGUAGES = {
    **dict.fromkeys(("requirements", "constraints"), "text"),
    "uv": "toml",
    **dict.fromkeys(("conda", "compose"), "yaml"),
    "dockerfile": "dockerfile",
}
"""The forms of a file that the data alone make, and what each is written in."""

ANSWERS = {
    "matrix": RegionKind(
        "for each series of a product, newest first, what goes best with it of other products",
        _matrix,
        RegionArgument("product", "the product of the rows", required=True),
        RegionArgument("beside", "the products of the columns, separated by commas", required=True),
        RegionArgument("device", "the device", required=True),
        RegionArgument("limit", "how many series are shown", "12"),
        RegionArgument("alone", "whether a column says what the series offers without any of them", "no", choices=YES_NO),
        pins=True,
    ),
    "file": RegionKind(
        "a file with which an installer takes the best stack, in a fenced block",
        _file,
        DEVICE,
        _WORDS,
        RegionArgument("form", "the form of the file", required=True, choices=tuple(_LANGUAGES)),
        pins=True,
    ),
    "install": RegionKind(
        "the commands that install the best stack, where it holds, and what there is to know about it",
        _install,
        DEVICE,
        _WORDS,
        RegionArgument("with", "pip, uv, conda (Python alone), container, or a requirements file", "pip", choices=_WITH),
        RegionArgument("proof", "whether a command that proves the installation is added", "no", choices=YES_NO),
        pins=True,
    ),
    "answer": RegionKind(
        "what the command resolve prints, in a fenced block",
        _answer,
        DEVICE,
        _WORDS,
        RegionArgument("why", "whether every link is traced to its source", "no", choices=YES_NO),
        RegionArgument("all", "whether every stack is shown", "no", choices=YES_NO),
        pins=True,
    ),
}
