"""The pages that show many things at once: matrix, image tags, calendar, timeline, about the data."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from compatkb.records import Event
from compatkb.rendering import catalogue, statistics, tags, timeline
from compatkb.stats import statistics as counted
from compatkb.web.catalogue_pages import columns, link, release_path, sources_of, table
from compatkb.web.lookup import MEANINGS, SHORT, STALE_DAYS
from compatkb.web.page import Content, Markup, Page, markup, tag
from compatkb.web.questions import Form
from compatkb.web.working import sheet_name

_DENIED = "does-not-work"
_BRIEF = {"works": "works", "works-with-warnings": "warnings", "likely": "likely", "unknown": "unknown", _DENIED: "no"}


def overview_pages(form: Form, sheets: Mapping[str, Any]) -> Iterator[Page]:
    """Yield the pages; `sheets` are those of the answers, as they were read."""
    yield _matrix(form, sheets)
    yield _images(form)
    yield _calendar(form)
    yield _timeline(form)
    yield _about(form)


def badge(verdict: str, word: str = "") -> Markup:
    """Return a verdict as it is shown everywhere: a shape and a word."""
    return tag("span", word or SHORT[verdict], class_=f"verdict {verdict}")


def _matrix(form: Form, sheets: Mapping[str, Any]) -> Page:
    pythons = form.values("python")
    order = sorted(range(len(pythons)), key=lambda n: form.facts.grid["python"].index(pythons[n]))
    param = next(field.option for field in form.fields if field.id == "main").removeprefix("--")
    parts: list[Content] = [
        tag("h1", "Matrix"),
        tag(
            "p",
            f"Each series of {form.facts.products[form.main].name} with each Python: the best that is known on any system. ",
            "A cell leads to the answer.",
        ),
        tag(
            "ul",
            [
                tag("li", badge(verdict, _BRIEF[verdict]), f" {SHORT[verdict]}" if SHORT[verdict] != _BRIEF[verdict] else "")
                for verdict in SHORT
            ],
            class_="legend",
        ),
    ]
    for device in next(field for field in form.fields if field.id == "device").values:
        rows = []
        for main in form.values("main"):
            sheet = sheets.get(sheet_name(device.id, main))
            if not sheet:
                continue
            numbers = [sheet["rows"][row][0] for row in sheet["tables"][""]]
            cells = []
            for n in order:
                verdict = sheet["answers"][numbers[n + 1]][0]
                target = f"index.html#device={device.id}&{param}={main}&python={pythons[n]}"
                cells.append(tag("td", tag("a", _BRIEF[verdict], href=target, class_=f"verdict {verdict}")))
            rows.append(
                tag("tr", tag("th", tag("a", main, href=f"index.html#device={device.id}&{param}={main}"), scope="row"), cells)
            )
        head = [tag("th", "Series", scope="col"), *(tag("th", pythons[n], scope="col") for n in order)]
        parts += [
            tag("h2", f"{device.label} ({device.id})"),
            table(f"{device.label}: series by Python", head, rows, class_="matrix"),
        ]
    return Page(
        "matrix.html", "Matrix · compatkb", markup(parts), "Which series works with which Python, by device.", wide=True
    )


def _images(form: Form) -> Page:
    rows = []
    for row in form.facts.rows("select distinct repository from image order by repository"):
        content = json.loads(tags.repository_text(form.facts, row["repository"], form.today, as_json=True))
        for entry in content["tags"]:
            held: dict[str, str] = {}
            for part in entry["contains"]:
                product, _, version = part["is"].partition("==")
                held.setdefault(product, version + ("*" if part["basis"] == "inferred" else ""))
            shown = [held.pop(name, "") for name in (form.main, *form.packages, "python")]
            rest = ", ".join(f"{name} {version}" for name, version in held.items())
            first = entry["listed"][0][0] if entry["listed"] else ""
            cells = [tag("td", text) for text in (entry["device"], *shown, rest, first, "yes" if entry["is_listed"] else "no")]
            name = f"{content['repository']}:{entry['tag']}"
            rows.append(tag("tr", tag("th", tag("code", name), scope="row"), cells))
    names = [form.main, *form.packages]
    columns = ("Image", "Device", *names, "Python", "Also", "First listed", "Listed today")
    head = [tag("th", name, scope="col") for name in columns]
    finder = tag(
        "div",
        tag("div", tag("label", "Search", for_="find"), tag("input", type="search", id="find", autocomplete="off")),
        class_="finder",
        id="finder",
        hidden=True,
    )
    parts = [
        tag("h1", "Image tags"),
        tag(
            "p",
            f"{len(rows)} container tags, each with what it is declared to hold. To fetch one: docker pull, then the image. "
            "A star marks what is only inferred.",
        ),
        finder,
        tag("p", "", id="found", role="status", class_="soft"),
        table("Image tags and what they hold", head, rows, id="tags"),
    ]
    return Page(
        "images.html", "Image tags · compatkb", markup(parts), "Container tags and what they hold.", ("tables.js",), wide=True
    )


def _calendar(form: Form) -> Page:
    ends = json.loads(catalogue.eol_text(form.facts, None, form.today, 36500, as_json=True))["ends"]
    parts: list[Content] = [
        tag("h1", "End of life"),
        tag(
            "p",
            "The last supported day of whatever has a known one. ",
            tag("a", "Subscribe to the calendar", href="eol.ics"),
            " (iCalendar).",
        ),
    ]
    for title, ended in (("Still to come", False), ("Past", True)):
        mine = sorted((e for e in ends if e["ended"] is ended), key=lambda e: e["last_day"], reverse=ended)
        rows = [
            [
                markup([tag("time", e["last_day"], datetime=e["last_day"]), _precise(e)]),
                tag(
                    "a",
                    f"{form.facts.products[e['product']].name} {e['version']}",
                    href=release_path(e["product"], e["version"]),
                ),
                "disputed" if e["disputed"] else "",
                sources_of(e["sources"][:2]),
            ]
            for e in mine
        ]
        head = ("Last day", "What", "Disputed", "Sources")
        if rows:
            parts += [tag("h2", f"{title} ({len(rows)})"), table(f"Ends of life: {title.lower()}", *columns(head, rows))]
    return Page("calendar.html", "End of life · compatkb", markup(parts), "What ends when.")


def _precise(entry: Mapping[str, Any]) -> str:
    return "" if entry["precision"] in (None, "day") else f" (only the {entry['precision']} is named)"


def _timeline(form: Form) -> Page:
    events = form.facts.events
    rows = [_event(form, event) for event in reversed(events)]
    head = [tag("th", name, scope="col") for name in ("When", "Who", "What", "Sources")]
    parts = [
        tag("h1", "Timeline"),
        tag("p", "How support for these devices came about: releases, milestones and ends of life."),
        tag(
            "div",
            tag("img", src="timeline.svg", alt="The events of the table below, in lanes by vendor", loading="lazy"),
            class_="figure",
            tabindex="0",
            role="region",
            aria_label="Picture of the timeline",
        ),
        tag("h2", "All events, newest first"),
        table("Events", head, rows),
    ]
    return Page("timeline.html", "Timeline · compatkb", markup(parts), "Releases, milestones and ends of life.")


def _event(form: Form, event: Event) -> Markup:
    return tag(
        "tr",
        tag("th", timeline.date_text(event), scope="row"),
        tag("td", form.facts.vendors.get(event.vendor, event.vendor)),
        tag("td", tag("strong", event.kind), " ", event.title, tag("p", event.note, class_="soft") if event.note else None),
        tag("td", tag("ul", [tag("li", link({"text": text, "url": url})) for text, url in event.sources], class_="tags")),
    )


def _about(form: Form) -> Page:
    rows = [
        tag("tr", tag("th", name, scope="row"), tag("td", figures))
        for name, figures in statistics.figures(counted(form.facts, form.today))
    ]
    head = [tag("th", name, scope="col") for name in ("What", "Figures")]
    parts = [
        tag("h1", "About the data"),
        tag(
            "p",
            f"The answers are as of {form.today}, from data of {form.facts.meta['data_date']}. ",
            "compatkb worked all of them out ",
            "before they were published; these pages only look them up. ",
            f"Once they are {STALE_DAYS} days old, the front page says so.",
        ),
        tag("h2", "What the verdicts mean"),
        tag(
            "dl",
            [[tag("dt", badge(verdict)), tag("dd", meaning)] for verdict, meaning in MEANINGS.items()],
            class_="facts verdicts",
        ),
        tag("h2", "What the data hold"),
        table("Coverage and dates", head, rows),
        tag("h2", "For programs"),
        tag(
            "p",
            "The same facts and answers are files: ",
            tag("a", "api/v1/index.json", href="api/v1/index.json"),
            " lists them, ",
            tag("a", "openapi.yaml", href="api/v1/openapi.yaml"),
            " describes them. They stay where they are.",
        ),
    ]
    return Page("about.html", "About the data · compatkb", markup(parts), "Coverage, dates and what the verdicts mean.")
