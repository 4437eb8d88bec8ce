"""The site as files: pages, one stylesheet, one script, data, and the API."""

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from compatkb.snapshot.read import Snapshot
from compatkb.web.answering import HEAD
from compatkb.web.lookup import form_data, lookup_page
from compatkb.web.page import Page, render, sources
from compatkb.web.questions import Form
from compatkb.web.working import Remembering, work_out
from compatkb.writing import write_tree

MARK = "data/form.js"
"""The file by which a folder is known to hold a site."""
ASSETS = ("style.css", "app.js", "icon.svg")


def write_site(path: str, today: date, out: Path, *, jobs: int = 2) -> int:
    """Write the site of a snapshot file into a folder, whole or not at all, and return the number of files.

    A folder that holds anything but a site is left alone. Raises UsageError and UnavailableError.
    """
    files = make_site(Remembering(path), today, work_out(path, today, jobs=jobs))
    write_tree(out, files, ours=MARK)
    return len(files)


def make_site(facts: Snapshot, today: date, sheets: Mapping[str, str]) -> dict[str, bytes]:
    """Return every file of the site by its path."""
    folder = sources()
    form = Form(facts, today)
    files = {name: (folder / name).read_bytes() for name in ASSETS}
    for name, text in sheets.items():
        files[f"data/answers/{name}.js"] = script(f"answers/{name}", _with_head(text))
    files["data/form.js"] = script("form", json.dumps(form_data(form, sheets), ensure_ascii=False, separators=(",", ":")))
    for page in pages(form):
        files[page.path] = render(form, page).encode()
    return files


def pages(form: Form) -> list[Page]:
    """Return every page."""
    return [lookup_page(form)]


def script(name: str, content: str) -> bytes:
    """Return a data file that the page's script loads."""
    return f"compatkb.put({json.dumps(name)},{content});\n".encode()


def _with_head(text: str) -> str:
    return f'{{"head":{json.dumps(HEAD)},{text[1:]}'


def content_of(text: str) -> Any:
    """Return what a sheet holds."""
    return json.loads(text)
