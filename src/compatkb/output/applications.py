"""An application on a screen and as JSON."""

from datetime import date

from compatkb.output.documents import Edition, short, source_payloads
from compatkb.output.messages import footer
from compatkb.output.screen import BLANK, Block, Line, command, fitted, labelled, labelled_block, wrapped
from compatkb.output.things import listed
from compatkb.store.queries.provenance import Application

_SERVED = {"yes": "supported", "partly": "supported in part", "no": "not supported"}


def application_screen(application: Application, edition: Edition, day: date) -> list[Line]:
    """Return what an application does on Intel GPUs, what it requires, how it is installed and where that was read."""
    state = f", {application.state} {application.ended}" if application.ended else ""
    head = wrapped(f"{application.name}   application{state}", "", "  ", "heading")
    by = f" by {listed(application.by)}" if application.by else ""
    since = f", since {application.since}" if application.since else ""
    blocks = [Block(head), Block([BLANK])]
    blocks += labelled_block("Intel GPU", f"{_SERVED[application.xpu]}{by}{since}")
    blocks += labelled_block("requires", ", ".join(application.requires))
    if application.install:
        blocks.append(Block([*labelled("install", "as its own files have it:"), command(application.install, 13)]))
    blocks += labelled_block("note", application.note, 1)
    blocks += labelled_block("read in", "; ".join(short(source) for source in application.sources), 2)
    more = [f"compatkb resolve {application.id} HARDWARE"] if application.xpu != "no" else []
    foot = wrapped(footer(edition.data_date, day.toordinal(), more), "  ", style="dim")
    return fitted([*blocks, Block([BLANK, *foot])])


def application_json(application: Application, edition: Edition) -> str:
    """Return an application for programs."""
    content = {**application._asdict(), "sources": source_payloads(application.sources)}
    return edition.document({"application": content})
