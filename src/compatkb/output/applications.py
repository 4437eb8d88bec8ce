"""An application on a screen and as JSON."""

from compatkb.output.documents import Edition, short, source_payloads
from compatkb.output.screen import BLANK, Block, Line, command, fitted, labelled_block, wrapped
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
    blocks += labelled_block("evidence", f"Intel GPU: {_SERVED[application.xpu]}{by}{since}")
    blocks += labelled_block("requires", ", ".join(application.requires))
    blocks += labelled_block("known issues", application.note, 1)
    if not application.install:
        blocks += labelled_block("", "; ".join(short(source) for source in application.sources), 2)
    more = [f"compatkb resolve {application.id} HARDWARE"] if application.xpu != "no" else []
    return fitted([*blocks, Block(edition.footer(*more))])


def application_json(application: Application, edition: Edition) -> str:
    """Return an application for programs."""
    content = {**application._asdict(), "sources": source_payloads(application.sources)}
    return edition.document({"application": content})
