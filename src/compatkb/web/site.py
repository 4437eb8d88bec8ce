"""The site as files: pages, one stylesheet, one script, data, and the API."""

import json
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path

from compatkb.export.calendar import calendar_text
from compatkb.rendering.timeline_svg import svg
from compatkb.snapshot.read import Snapshot
from compatkb.web.answering import HEAD
from compatkb.web.api_files import api_files
from compatkb.web.catalogue_pages import catalogue_pages
from compatkb.web.lookup import form_data, lookup_page
from compatkb.web.overview_pages import overview_pages
from compatkb.web.page import render, sources
from compatkb.web.questions import Form
from compatkb.web.summary import summary_data
from compatkb.web.working import unsaid, work_out
from compatkb.writing import write_tree

MARK = "data/form.js"
"""The file by which a folder is known to hold a site."""
ASSETS = ("style.css", "app.js", "tables.js", "icon.svg")


def write_site(path: str, today: date, out: Path, *, jobs: int = 2, done: Callable[[int, int], None] = unsaid) -> int:
    """Write the site of a snapshot file into a folder, whole or not at all, and return the number of files.

    A folder that holds anything but a site is left alone; `done` is told how many sheets of answers are made, of how many.
    Raises UsageError and UnavailableError.
    """
    files = make_site(Form(Snapshot(path), today), work_out(path, today, jobs=jobs, done=done))
    write_tree(out, files, ours=MARK)
    return len(files)


def make_site(form: Form, sheets: Mapping[str, str]) -> dict[str, bytes]:
    """Return every file of the site by its path."""
    folder = sources()
    facts, today = form.facts, form.today
    files = {name: (folder / name).read_bytes() for name in ASSETS}
    for name, text in sheets.items():
        files[f"data/answers/{name}.js"] = script(f"answers/{name}", _with_head(text))
    read = {name: json.loads(text) for name, text in sheets.items()}
    files["data/summary.js"] = script("summary", dumped(summary_data(read)))
    files["data/form.js"] = script("form", dumped(form_data(form)))
    for page in (lookup_page(form), *overview_pages(form, read), *catalogue_pages(form)):
        files[page.path] = render(form, page).encode()
    files |= api_files(form)
    files["eol.ics"] = calendar_text(facts).encode()
    files["timeline.svg"] = svg(facts, facts.events, today, 960).encode()
    return files


def dumped(content: object) -> str:
    """Return content as short JSON."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def script(name: str, content: str) -> bytes:
    """Return a data file that the page's script loads."""
    return f"compatkb.put({json.dumps(name)},{content});\n".encode()


def _with_head(text: str) -> str:
    return f'{{"head":{json.dumps(HEAD)},{text[1:]}'
