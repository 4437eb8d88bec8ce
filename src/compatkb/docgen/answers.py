"""Regions that answer requests: a whole answer, the install commands of its best stack, a matrix of answers."""

from collections.abc import Callable

from compatkb.core.vocabulary import Verdict
from compatkb.docgen.arguments import DEVICE, YES_NO, RegionArgument, RegionContext, RegionKind
from compatkb.engine.stacks import Stack
from compatkb.errors import NoRequirementsError, UsageError
from compatkb.output import commands, messages, registry
from compatkb.output.document_model import Block, Bullets, Code, Paragraph, Table
from compatkb.output.images import images_of, run_command
from compatkb.output.text import VERDICTS, answer_text
from compatkb.request.lookup import find_product
from compatkb.store.queries.images import contents, images
from compatkb.store.reader import Snapshot, series_name
from compatkb.store.records import Product

_CONTAINER = "container"
_WITH = ("pip", "uv", "conda", _CONTAINER, "requirements")
_MARKS = {"works": "", "works-with-warnings": ", with warnings", "likely": ", likely"}
_WORDS = RegionArgument("words", "further products, PRODUCT or PRODUCT==V as pip reads them, in one quoted value")


def _answer(asked: RegionContext) -> list[Block]:
    answer = asked.answer()
    return [Code(answer_text(asked.facts, answer, why=asked.is_on("why"), everything=asked.is_on("all")), "text")]


def _install(asked: RegionContext) -> list[Block]:
    answer, facts = asked.answer(), asked.facts
    if answer.verdict in (Verdict.DOES_NOT_WORK, Verdict.UNKNOWN):
        raise UsageError(f"nothing to install: {messages.asked(asked.facts, answer.request)}: {VERDICTS[answer.verdict]}")
    stack = answer.stacks[0]
    if not commands.steps_of(facts, stack):
        raise UsageError("nothing to install: a package of the stack is on no index that the data know")
    if asked.values["with"] == "requirements":
        if pins := commands.waived(facts, stack):
            raise UsageError(f"one requirements file cannot install this stack: it goes against {', '.join(pins)}")
        lines, language = [commands.requirements(facts, stack)], "text"
    else:
        lines = _COMMANDS[asked.values["with"]](asked, stack)
        language = "powershell" if set(stack.os) <= {"windows"} else "sh"
        if asked.is_on("proof") and (proof := commands.proof_command(facts, stack)):
            lines.append(proof)
    return [Code("\n".join(lines), language), *_remarks(asked, facts, stack)]


def _file(asked: RegionContext) -> list[Block]:
    form, devices = asked.values["form"], asked.values[DEVICE.name]
    try:
        text = registry.form("resolve", form)(asked.facts, asked.answer(), registry.Wanted(each_device="," in devices))
    except NoRequirementsError as error:
        raise UsageError(str(error)) from None
    assert isinstance(text, str)
    return [Code(text, _LANGUAGES[form])]


def _conda(asked: RegionContext, stack: Stack) -> list[str]:
    """Return an environment with a Python from conda, and the stack from its own indexes: the data know no conda channel."""
    python = next(p for p in reversed(stack.python) if not p.endswith("t"))
    lines = [f"conda create --name stack python={python}", "conda activate stack"]
    return [*lines, *commands.pip_commands(asked.facts, stack)]


def _container(asked: RegionContext, stack: Stack) -> list[str]:
    """Return the command that runs an image that declares the stack; raises UsageError where no listed one does."""
    references = [image["image"] for image in images_of(asked.facts, stack, asked.day.toordinal()) if image["listed"]]
    declaring = [image for image in images(asked.facts) if image.reference in references]
    if not declaring:
        raise UsageError(f"nothing to run: no image that was listed on {asked.day} declares this stack")
    held = contents(asked.facts)  # the plainest image, by its own name
    plainest = min(declaring, key=lambda image: (len(held.get(image.same, ())), image.same != image.id, image.name))
    return [run_command(asked.facts, plainest, plainest.name)]


_COMMANDS: dict[str, Callable[[RegionContext, Stack], list[str]]] = {
    "pip": lambda asked, stack: commands.pip_commands(asked.facts, stack),
    "uv": lambda asked, stack: commands.uv_commands(asked.facts, stack),
    "conda": _conda,
    _CONTAINER: _container,
}


def _remarks(asked: RegionContext, facts: Snapshot, stack: Stack) -> list[Block]:
    """Return where the stack holds and how well it is known: commands alone would look surer than they are."""
    pythons = messages.ranges(stack.python, facts.grid["python"])
    where = f"Python {pythons}; {', '.join(stack.os)}; {', '.join(stack.arch)}"
    notes = [f"warning ({warned.kind}): {messages.warning(facts, warned)}" for warned in stack.warnings]
    notes += [f"open: {sentence}" for sentence in messages.unsettled(facts, stack)]
    if asked.values["with"] == _CONTAINER:
        notes.append("what the image holds is what its build files declare; it was not pulled")
    holds = Paragraph(f"{VERDICTS[stack.verdict].capitalize()}, as of {asked.day}: {where}.")
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
        "goes with. Where nothing is said it works; “likely” rests on an inference; “none” means that nothing goes with it, "
        f"“unknown” that the data cannot tell. As of {asked.day}, data of {asked.facts.meta['data_date']}."
    )
    return [Table((product.name, *alone, *(other.name for other in others)), tuple(rows)), Paragraph(legend)]


def _cell(asked: RegionContext, product: Product, series: str, other: Product) -> str:
    answer = asked.answer({product.id: series}, (other.id,))
    if answer.verdict in (Verdict.DOES_NOT_WORK, Verdict.UNKNOWN):
        return "none" if answer.verdict == Verdict.DOES_NOT_WORK else "unknown"
    stack = answer.stacks[0]
    elements = {element.product: element for element in stack.packages}
    return f"{elements[other.id].version} with {elements[product.id].release}{_MARKS[stack.verdict]}"


def _alone(asked: RegionContext, product: Product, series: str) -> str:
    """Return the best build of a series that reaches the device without another product that a route adds."""
    answer = asked.answer({product.id: series})
    plain = {route.id for route in asked.facts.routes if not route.with_}
    stack = next((stack for stack in answer.stacks if stack.route in plain), None)
    if stack is None:
        return "unknown" if answer.verdict == Verdict.UNKNOWN else "none"
    return f"{next(e.version for e in stack.packages if e.product == product.id)}{_MARKS[stack.verdict]}"


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
