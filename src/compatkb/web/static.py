"""Every file of a site by its path, made when it is asked for; a static site is all of them, and the engine for the rest."""

import gc
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from html import escape, unescape
from itertools import pairwise
from os.path import commonprefix
from pathlib import Path

from compatkb.core.atomic_write import write_tree
from compatkb.core.clock import Clock
from compatkb.core.vocabulary import Role
from compatkb.export.calendar import calendar_text
from compatkb.store.reader import Snapshot
from compatkb.web import data_pages
from compatkb.web.asker import Asker
from compatkb.web.machine_files import MachineFiles
from compatkb.web.pages import ASSETS, Site, sources
from compatkb.web.pictures import picture
from compatkb.web.questions import PageQuestion

MARK = ".compatkb-site"
"""The file by which a folder is known to hold a site."""


def write_site(
    snapshot: str,
    clock: Clock,
    out: Path,
    count: Callable[[str, int, int], None] | None = None,
    *,
    engine: bool = True,
    url: str = "",
) -> int:
    """Write the site of a snapshot file into a folder, whole or not at all, and return the number of files.

    At an address that is known, `url`, pages name it as theirs, bring a picture along where they are shared, and are listed
    for search engines. A folder that holds anything but a site is left alone. Raises UsageError and UnavailableError.
    """
    gc.disable()  # nearly all stays until the site is written: to look for circles among it takes a tenth of the time
    try:
        files = _files(snapshot, clock, count, engine=engine, url=url)
    finally:
        gc.freeze()  # so that none is looked for afterwards either
        gc.enable()
    write_tree(out, files, ours=MARK)
    return len(files)


def _files(
    snapshot: str, clock: Clock, count: Callable[[str, int, int], None] | None, *, engine: bool, url: str
) -> dict[str, bytes]:
    """Return every file of a static site of a snapshot by its path, with the engine where it is wanted."""
    asker = Asker(Snapshot(snapshot), clock)
    if engine:
        from compatkb.web.engine_bundle import engine_files, engine_size, fetch_pyodide, make_bundle

        pyodide, bundle = fetch_pyodide(), make_bundle(Path(snapshot))
        site = Site(asker, live=False, engine_size=engine_size(bundle, pyodide), url=url)
        return make_site(site, count) | engine_files(site, bundle, pyodide)
    return make_site(Site(asker, live=False, url=url), count)


def make_site(site: Site, count: Callable[[str, int, int], None] | None = None) -> dict[str, bytes]:
    """Return every file of a static site by its path, counting them."""
    files, wanted = {}, site_files(site)
    for number, (path, make) in enumerate(wanted.items(), 1):
        files[path] = make().encode()
        if count:
            count("pages", number, len(wanted))
    if site.url:
        files |= {path: picture(name, site.asker.view(question)) for path, name, question in _pictured(site)}
        files["sitemap.xml"] = sitemap(site, wanted).encode()
    return {**files, MARK: f"{site.build}\n".encode(), ".nojekyll": b""}


def _pictured(site: Site) -> Iterator[tuple[str, str, PageQuestion]]:
    """Yield the pictures of links: the path, the name above it, and the question that is answered on it."""
    yield site.picture("index.html"), "PyTorch on Intel hardware", site.home
    for path, (name, _) in data_pages.gpus(site).items():
        if name in site.asker.form.models:
            yield site.picture(path), f"PyTorch on Intel {name}", data_pages.gpu_question(site, path)


def sitemap(site: Site, paths: Iterable[str]) -> str:
    """Return the pages in the form of sitemaps.org 0.9: those of no question that a person has to ask first."""
    pages = [site.at(path) for path in paths if path.endswith(".html") and path != "ask.html"]
    entries = "".join(f"<url><loc>{escape(page)}</loc></url>\n" for page in pages)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{_SITEMAPS}">\n{entries}</urlset>\n'


_SITEMAPS = "http://www.sitemaps.org/schemas/sitemap/0.9"
MEDIA = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "json": "application/json",
    "yaml": "application/yaml",
    "ics": "text/calendar; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
}


def media_type(path: str) -> str:
    """Return the media type of a file by its name."""
    return MEDIA.get(path.rpartition(".")[2], "application/octet-stream")


def site_files(site: Site) -> dict[str, Callable[[], str]]:
    """Return what makes each file of a site, by its path; answers of a live site have no files."""
    makers: dict[str, Callable[[], str]] = {
        site.asset(name): partial((sources() / name).read_text, encoding="utf-8") for name in ASSETS
    }
    if not site.live:
        makers[site.asset("sheet.json")] = partial(_sheet, site)  # first: maps and pages of GPUs show many of its answers
    pages = {
        "matrix.html": data_pages.matrix_page,
        "products.html": data_pages.products_page,
        "gpus.html": data_pages.gpus_page,
        "images.html": data_pages.images_page,
        "eol.html": data_pages.eol_page,
        "timeline.html": data_pages.timeline_page,
        "about.html": data_pages.about_page,
        "api.html": data_pages.api_page,
    }
    makers |= {path: partial(page, site) for path, page in pages.items()}
    for path, product, version in data_pages.paths(site):
        if version:
            makers[path] = partial(data_pages.release_page, site, product, version, path)
        else:
            makers[path] = partial(data_pages.product_page, site, product, path)
    makers["mine.html"] = site.mine_page
    makers[site.asset("words.json")] = partial(_words, site)
    makers |= {path: partial(data_pages.gpu_page, site, path) for path in data_pages.gpus(site)}
    machine = MachineFiles(site)
    makers["llms.txt"] = machine.llms_text
    makers["eol.ics"] = partial(calendar_text, site.facts)
    if not site.live:
        # the paths of the written answers by their questions, so that an address in other words finds them
        makers[site.asset("written.json")] = lambda: json.dumps({_key(asked): path for asked, path in site.written.items()})
        worker = sources() / "sw.js"  # it keeps the files of this build
        makers["sw.js"] = lambda: worker.read_text(encoding="utf-8").replace("@BUILD@", site.build)
        makers["ask.html"] = site.ask_page
        for question, path in site.written.items():
            makers[path] = partial(site.answer_page, question, path)
    return makers | machine.files()


def _words(site: Site) -> str:
    """Return what the field suggests and what a static site reads by itself: label, kind, parameter, value, further names."""
    form, facts = site.asker.form, site.facts
    rows: list[list[str]] = [
        [name, "GPU or processor", "hardware", family, name.removeprefix("Arc ").removeprefix("Data Center GPU ")]
        for name, family in form.models.items()
    ]
    for product, kind in (("hardware", "family"), ("os", "system"), ("device", "device")):
        rows += [
            [name.removeprefix("Intel "), kind, product, value.version, value.version, *_plain(value.aliases)]
            for value in facts.releases_of(product)
            for name in [value.name or value.version]
        ]
    rows += [[f"Python {v}", "Python", "python", v, f"py{v}", f"python{v}", v] for v in reversed(form.pythons)]
    main = facts.products[site.main]
    rows += [
        [f"{main.label} {name}", main.name, main.id, name, f"{main.name} {name}", f"{main.id}=={name}", f"{main.id}{name}"]
        for name in form.series
    ]
    packages = [product for product in facts.products.values() if product.role in (Role.PACKAGE, Role.COMPANION)]
    rows += [[p.label, p.name if p.name != p.label else "package", "", "", p.id, p.name] for p in packages]
    rows += [[record["name"], "application", "", "", record["id"]] for record in facts.guide_records("application")]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def _plain(aliases: Iterable[str]) -> list[str]:
    """Return the names that people type: not those that tools print, nor the same with the maker before it."""
    return [alias for alias in aliases if "(" not in alias and not alias.startswith("intel ")]


_MAIN = re.compile(r"<title>(.*?)</title>.*<main[^>]*>(.*)</main>", re.DOTALL)
_BREAK = re.compile(r"(?<=\n)|(?=<(?:a class=.b|input type=.hidden|li|tr|details|select)\b|&amp;(?:os|hardware)=)")
"""Where a part of the sheet begins: what is between two of these is the same on many pages."""


def _sheet(site: Site) -> str:
    """Return the main part of the pages of questions that have no page of their own, each part once.

    `lines` are the parts in their order: how much one has of the one before it, and the rest; `pages` names them by question.
    """
    pages = {}
    questions = [question for question in site.asker.form.sheet() if question not in site.written]
    for question in questions:
        site.asker.view(question)  # first, so that the buttons which lead to it need no search of their own
    for question in questions:
        if found := _MAIN.search(site.answer_page(question, "ask.html")):
            pages[_key(question)] = [unescape(found[1]), *_BREAK.split(re.sub(r"\s*\n\s*", "\n", found[2]))]
    lines = sorted({line for page in pages.values() for line in page})
    place = {line: number for number, line in enumerate(lines)}
    shared = map(commonprefix, pairwise(["", *lines]))
    rest = [(len(same.encode("utf-16-le")) // 2, line[len(same) :]) for same, line in zip(shared, lines, strict=True)]
    named = {key: [place[line] for line in page] for key, page in pages.items()}
    return json.dumps({"lines": rest, "pages": named}, ensure_ascii=False, separators=(",", ":"))


def _key(question: PageQuestion) -> str:
    return "&".join(sorted(f"{name}={text}" for name, text in question.parameters()))
