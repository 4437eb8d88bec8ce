"""The commands that look through the knowledge base: show, list, features, search, eol, changes, timeline, matrix."""

import re
from datetime import date, timedelta
from functools import partial
from typing import Annotated

import typer

from compatkb.cli import options as o
from compatkb.cli.opening import open_facts
from compatkb.cli.terminal import tell
from compatkb.errors import UsageError
from compatkb.output import registry
from compatkb.output.documents import Edition
from compatkb.output.terminal import show
from compatkb.request.lookup import find_product
from compatkb.request.parser import parse_day
from compatkb.request.words import read_release

_KINDS = ("release", "milestone", "end-of-life")
_SPAN = 90
"""Days that `changes` looks back where no first day is named."""
_WHENEVER = 36_500
"""Days to look ahead for the end of one version."""


def show_record(
    product: Annotated[
        str,
        o.word("PRODUCT", "a product, an application, or an image repository such as OWNER/NAME"),
    ],
    version: Annotated[str | None, o.word("VERSION", "a version or series of it, or a tag")] = None,
    form: o.Format = "text",
    why: Annotated[bool, o.option("--why", "print every claim, source and dispute")] = False,
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Show what the data hold of a product, a version, an application, an image repository or a tag."""
    from compatkb.output.catalog_screen import CatalogScreen, application_json, application_screen
    from compatkb.output.features import asked_features

    facts, clock = open_facts(data, as_of)
    as_json, edition = form == "json", Edition(facts.meta["data_date"], clock.day)
    if "/" in product:
        from compatkb.output.images import image_lines, repository_content, repository_lines
        from compatkb.output.labels import Names

        name = ":".join(filter(None, (product, version)))
        content = repository_content(facts, name, clock.day)
        lines = image_lines if ":" in name else repository_lines
        show(edition.document(content) if as_json else lines(content, edition, Names(facts), why=why))
        return 0
    product = re.sub(r"\[[^]]*\]", "", product)  # with an extra it is the same product
    named = product.partition("==")[0]
    if facts.product(named) is None and (application := facts.find_application(named)):
        made = application_json if as_json else application_screen
        show(made(application, edition))
        return 0
    name, wanted = read_release(facts, product, version)
    known_product = find_product(facts, name)
    if known_product.role == "feature":
        show(registry.form("features", form)(asked_features(facts, [known_product.id], clock)))
        return 0
    catalog = CatalogScreen(facts, clock.day)
    if wanted:
        show(catalog.release_json(known_product, wanted) if as_json else catalog.release_lines(known_product, wanted, why=why))
    else:
        show(catalog.product_json(known_product) if as_json else catalog.product_lines(known_product, why=why))
    return 0


def list_products(
    product: o.OptionalProduct = None, form: o.Format = "text", as_of: o.AsOf = None, data: o.Data = None
) -> int:
    """List products, or the versions of one."""
    from compatkb.output.catalog_screen import CatalogScreen

    facts, clock = open_facts(data, as_of)
    mask = facts.word("device", product) if product and "device" in facts.products else 0  # gpu, cpu: what has one
    device = next((e.version for e in facts.elements("device").of(mask)), "") if mask else ""
    known_product = find_product(facts, "hardware" if device else product) if product else None
    if known_product and known_product.role == "feature":
        raise UsageError(f"{known_product.id} is a feature; see `compatkb features {known_product.id}`")
    show(registry.form("list", form)(CatalogScreen(facts, clock.day), known_product, device))
    return 0


def features(
    words: Annotated[
        list[str] | None,
        o.word("[WORD]...", "a feature, or a product, with a version and where it runs (default: all)"),
    ] = None,
    why: Annotated[bool, o.option("--why", "also print every statement with its sources")] = False,
    form: Annotated[str, o.form("features")] = "text",
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """List features, what is said of one, or what a release supports."""
    from compatkb.output.features import asked_features

    facts, clock = open_facts(data, as_of)
    made = registry.form("features", form)
    show((partial(made, why=why) if form == "text" else made)(asked_features(facts, words or (), clock)))
    return 0


def search(
    words: Annotated[list[str], o.word("WORD...", "every word must match, from its start: arc a770, avx2 aten")],
    limit: Annotated[int, o.value("--limit", "N", "show at most this many records", min=1)] = 20,
    form: o.Format = "text",
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Search for words; 1 where nothing has them all."""
    from compatkb.catalog.search import search as find

    facts, clock = open_facts(data, as_of)
    search_result = find(facts, words, clock.day)
    edition = Edition(facts.meta["data_date"], clock.day)
    show(registry.form("search", form)(search_result, edition, limit))
    return 0 if search_result.hits else 1


def eol(
    product: o.OptionalProduct = None,
    version: Annotated[str | None, o.word("VERSION", "a version or series of it")] = None,
    within: Annotated[str, o.value("--within", "DAYS", "look this far ahead, such as 90d or 1y")] = "90d",
    form: o.Format = "text",
    everything: Annotated[bool, o.option("--all", "also print everything that ended long ago")] = False,
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """List ends of life."""
    from compatkb.output.catalog_screen import CatalogScreen
    from compatkb.request.parser import parse_days

    facts, clock = open_facts(data, as_of)
    name, wanted = read_release(facts, product, version) if product else (None, None)
    known_product = find_product(facts, name) if name else None
    days = _WHENEVER if wanted else parse_days(within)
    made = registry.form("eol", form)
    made = partial(made, everything=everything) if form == "text" else made
    show(made(CatalogScreen(facts, clock.day), known_product, days, version=wanted))
    return 0


def changes(
    product: o.OptionalProduct = None,
    since: Annotated[
        str | None, o.value("--since", "DATE", f"the first day, YYYY-MM-DD (default: {_SPAN} days before the last)")
    ] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", "--until", metavar="DATE", help="the last day, YYYY-MM-DD (default: today)")
    ] = None,
    everything: Annotated[bool, o.option("--all", "also print decided disputes and test runs")] = False,
    form: Annotated[str, o.form("changes")] = "text",
    data: o.Data = None,
) -> int:
    """List what became true in a span of days."""
    from compatkb.catalog.changelog import find_changes
    from compatkb.output.labels import Names

    facts, clock = open_facts(data, as_of)
    last = min(clock.day, date.fromisoformat(facts.meta["data_date"]))
    first = last - timedelta(days=_SPAN) if since is None else parse_day(since)
    if since is None:
        tell(f"remark: since {first}, {_SPAN} days before {last}; from another day: --since DATE")
    of = find_product(facts, product).id if product else None
    changelog = find_changes(facts, first, clock.day, of)
    edition = Edition(facts.meta["data_date"], clock.day)
    made = registry.form("changes", form)
    show((partial(made, everything=everything) if form == "text" else made)(changelog, first, edition, Names(facts).term))
    return 0


def timeline(
    since: Annotated[str | None, o.value("--from", "DATE", "leave out what came before: YYYY-MM-DD, YYYY-MM or YYYY")] = None,
    until: Annotated[str | None, o.value("--to", "DATE", "leave out what came after, likewise")] = None,
    vendor: Annotated[o.Words, o.value("--vendor", "NAME", "only events of this vendor (repeatable)")] = None,
    kind: Annotated[o.Words, o.one_of("--kind", "only events of this kind (repeatable)", _KINDS)] = None,
    why: Annotated[bool, o.option("--why", "also print notes, disputes and sources")] = False,
    form: Annotated[str, o.form("timeline")] = "text",
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Print the events that were asked for; 1 where there is none."""
    from compatkb.output import timeline as made

    facts, clock = open_facts(data, as_of)
    first = made.parse_bound(since, end=False) if since else None
    last = made.parse_bound(until, end=True) if until else None
    selected = made.select(facts, clock.day, first, last, vendor or (), kind or ())
    shown = registry.form("timeline", form)
    show((partial(shown, why=why) if form == "text" else shown)(selected))
    if not selected.events:
        tell("remark: no event fits")
    return 0 if selected.events else 1


def matrix(
    product: o.Product,
    device: Annotated[str | None, o.value("--device", "NAME", "only the builds for this device")] = None,
    everything: Annotated[bool, o.option("--all", "every release, not the newest 10 alone")] = False,
    form: Annotated[str, o.form("matrix")] = "text",
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Print which releases of a product have wheels for which Pythons."""
    from compatkb.output.python_matrix import python_matrix

    facts, clock = open_facts(data, as_of)
    table = python_matrix(facts, find_product(facts, product), clock.day, device)
    shown = registry.form("matrix", form)
    show((partial(shown, everything=everything) if form == "text" else shown)(table))
    return 0
