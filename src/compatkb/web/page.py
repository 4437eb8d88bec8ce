"""Pages from their template; everything that is put in is escaped, unless it is `Markup` that was made here."""

from collections.abc import Iterable
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import NamedTuple

from compatkb import __version__
from compatkb.errors import UnavailableError
from compatkb.web.questions import Form

_PACKAGE = Path(__file__).resolve().parent.parent


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Content = str | Iterable["Content"] | None


def tag(name: str, /, *children: "Content", **attributes: str | bool | None) -> Markup:
    """Return an element; text children are escaped, underscores in attribute names stand for hyphens."""
    head = name
    for key, value in attributes.items():
        key = key.rstrip("_").replace("_", "-")
        if value is True:
            head += f" {key}"
        elif value not in (None, False):
            head += f' {key}="{escape(str(value))}"'
    inner = markup(children)
    return Markup(f"<{head}>" if name in ("img", "input", "br") else f"<{head}>{inner}</{name}>")


def markup(content: "Content") -> Markup:
    """Return content as HTML, its text escaped."""
    if content is None:
        return Markup("")
    if isinstance(content, Markup):
        return content
    if isinstance(content, str):
        return Markup(escape(content))
    return Markup("".join(markup(child) for child in content))


class Page(NamedTuple):
    """A page before it is put into the template."""

    path: str
    title: str
    content: Markup
    description: str = ""
    scripts: tuple[str, ...] = ()
    section: str = ""
    wide: bool = False


SECTIONS = (
    ("index.html", "Look up"),
    ("matrix.html", "Matrix"),
    ("products.html", "Products"),
    ("images.html", "Image tags"),
    ("calendar.html", "End of life"),
    ("timeline.html", "Timeline"),
    ("about.html", "About the data"),
)


def root_of(path: str) -> str:
    """Return the way from a page up to the site's folder."""
    return "../" * path.count("/")


def sources() -> Path:
    """Return the folder with the page's sources: inside the installed package, else in the checkout."""
    for folder in (_PACKAGE / "_web", _PACKAGE.parent.parent / "web"):
        if (folder / "page.html").is_file():
            return folder
    raise UnavailableError("this installation carries no sources of the site; install a wheel of compatkb")


def render(form: Form, page: Page) -> str:
    """Return a page as HTML."""
    root = root_of(page.path)
    links = [
        tag("a", label, href=root + path, aria_current="page" if path in (page.path, page.section) else None)
        for path, label in SECTIONS
    ]
    scripts = [tag("script", src=root + name, defer=True) for name in page.scripts]
    footer = [
        tag("a", "JSON API", href=f"{root}api/v1/index.json"),
        " · ",
        tag("a", "About the data", href=f"{root}about.html"),
    ]
    return fill(
        template("page.html"),
        root=root,
        title=page.title,
        description=page.description or page.title,
        scripts=Markup("\n".join(scripts)),
        navigation=markup(links),
        wide=Markup("") if page.wide else Markup(' class="prose"'),
        content=page.content,
        as_of=form.today.isoformat(),
        data_date=form.facts.meta["data_date"],
        version=__version__,
        footer=markup(footer),
    )


@lru_cache
def template(name: str) -> str:
    """Return a template."""
    return (sources() / name).read_text(encoding="utf-8")


def fill(text: str, **values: "Content") -> Markup:
    """Return a template with its places filled; what is filled in is not looked at again."""
    parts = text.split("{{")
    out = [parts[0]]
    for part in parts[1:]:
        name, _, rest = part.partition("}}")
        out += [markup(values[name]), rest]
    return Markup("".join(out))
