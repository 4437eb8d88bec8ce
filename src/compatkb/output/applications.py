"""An application on a screen and as JSON."""

from compatkb.output.documents import Edition, short, source_payloads
from compatkb.output.screen import BLANK, Block, Line, command, fitted, labelled_rows, wrapped
from compatkb.output.things import listed
from compatkb.store.queries.provenance import Application

_SERVED = {"yes": "supported", "partly": "supported in part", "no": "not supported"}


def application_screen(application: Application, edition: Edition) -> list[Line]:
    """Return what an application does on Intel GPUs, what it requires, how it is installed and where that was read."""
    state = f", {application.state} {application.ended}" if application.ended else ""
    head = wrapped(f"{application.name}   application{state}", "", "  ", "heading")
    by = f" by {listed(application.by)}" if application.by else ""
    since = f", since {application.since}" if application.since else ""
    blocks = [Block(head), Block([BLANK])]
    if application.install:
        blocks.append(Block([command(application.install), BLANK]))
    sources = "" if application.install else "; ".join(short(source) for source in application.sources)
    blocks += labelled_rows(
        [
            ("evidence", f"Intel GPU: {_SERVED[application.xpu]}{by}{since}", 0),
            ("requires", ", ".join(application.requires), 0),
            ("known issues", application.note, 1),
            ("known issues" if application.note else "", sources, 2),
        ]
    )
    more = [f"compatkb resolve {application.id} HARDWARE"] if application.xpu != "no" else []
    return fitted([*blocks, Block(edition.footer(*more))])


def application_json(application: Application, edition: Edition) -> str:
    """Return an application for programs."""
    content = {**application._asdict(), "sources": source_payloads(application.sources)}
    return edition.document({"application": content})
