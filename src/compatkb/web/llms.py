"""What a language model reads of a site first: llms.txt, as https://llmstxt.org describes it."""

from collections.abc import Iterator

from compatkb.errors import CompatkbError
from compatkb.output import commands
from compatkb.output.labels import label, value
from compatkb.output.messages import VERDICTS
from compatkb.output.shells import POSIX
from compatkb.store.queries.products import product_details, releases_of
from compatkb.store.reader import Snapshot
from compatkb.web import systems
from compatkb.web.machine_files import BASE, data_clock
from compatkb.web.pages import Site
from compatkb.web.questions import PageQuestion
from compatkb.web.written import file_name

_PAGES = {
    "matrix.html": "each series with each Python, by device",
    "products.html": "every product and release",
    "images.html": "container images and what they hold",
}


def llms_text(site: Site) -> str:
    """Return the file; commands are those of the day of the data."""
    day = data_clock(site.facts, site.asker.clock).day
    lines = [
        "# compatkb",
        "",
        "> Which versions of PyTorch and its companions work together on Intel GPUs and CPUs, with the source of each claim. "
        f"Data of {day}.",
        "",
        "Copy install commands as they stand: index URL and build label (`+xpu`, `+cpu`) belong together. Agents that can "
        "start a program ask it over the Model Context Protocol: `compatkb mcp`.",
        "",
        "## Today's best",
        "",
        *_best(site),
    ]
    if ended := list(_ended(site.facts, day.isoformat())):
        lines += ["", "## Not for new projects", "", *ended]
    for title, links in (("Answers as JSON", _answers(site)), ("Pages", _PAGES)):
        lines += ["", f"## {title}", "", *(f"- [{path}]({path}): {what}" for path, what in links.items())]
    return "\n".join(lines) + "\n"


def _answers(site: Site) -> dict[str, str]:
    """Return the files that answer most, one of each kind that has many."""
    device, series = systems.devices(site.facts)[0].id, systems.series(site.facts)[0]
    release = releases_of(site.facts, site.main)[0].version
    return {
        f"{BASE}index.json": "what there is",
        f"{BASE}stacks.json": "the best stacks of every device and series, with install commands",
        f"{BASE}answers/{device}/{series}.json": "the answer for one device and series: answers/DEVICE/SERIES.json",
        f"{BASE}releases/{site.main}/{file_name(release)}.json": "one release with builds, claims and sources: "
        "releases/PRODUCT/VERSION.json",
        f"{BASE}eol.json": "what is out of support, or will be",
        f"{BASE}openapi.yaml": "all of it, described",
    }


def _ended(facts: Snapshot, day: str) -> Iterator[str]:
    for product in facts.products.values():
        known = product_details(facts, product.id)
        if product.distribution and known.eol and known.eol < day:
            other = known.replaced_by
            instead = f"; instead {label(facts, other.product)} {other.specifier}" if other else ""
            yield f"- {product.name} ({product.distribution}): ended {known.eol}{instead}"


def _best(site: Site) -> Iterator[str]:
    for device in systems.devices(site.facts):
        try:
            answer = site.asker.answer(PageQuestion(devices=(device.id,)))
        except CompatkbError:
            continue
        for stack in answer.stacks[:1]:
            yield f"- {value(site.facts, 'device', device.id)}, {VERDICTS[stack.verdict]}:"
            yield from (f"  `{command}`" for command in commands.pip_commands(site.facts, stack, POSIX))
