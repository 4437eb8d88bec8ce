"""Documents that are no Markdown: what stands in them is found where it stands, and nothing in them stops the reader."""

import pytest
from conftest import clock

from compatkb.check import check, rules
from compatkb.check.config import Settings
from compatkb.check.document import CheckContext, TextDocument
from compatkb.core.findings import Severity
from compatkb.store.reader import Snapshot

HOSTILE = (
    "<![x", "<![[x]>", "<!", "<!x[", "</", "<table><tr></tr><td>",
    "<table>" * 300, "<a href=x>" * 300, "&#", "&#99999999;", "<td colspan=9999>",
    "<pre>", "<script>", "</table>", "<tr><td>1.0<tr>",
)  # fmt: skip
TABLE = "<table><tr><th>PyTorch</th><th>IPEX</th></tr><tr><td>2.3.0</td><td>2.4.0</td></tr></table>"
ALL_RULES = Settings(levels={rule.id: Severity.INFO for rule in rules()})
READ = {"a.html": 12, "a.md": 15}
"""Of how many pieces the table behind is read all the same; none in a file that is no page of HTML."""


@pytest.mark.parametrize("path", ["a.html", "a.rst", "a.md", "a.ipynb"])
def test_hostile_pages_are_read(path: str, facts: Snapshot) -> None:
    """Tags that are broken, nested or never closed yield findings or none, never an exception, and places in the file."""
    asked, found = CheckContext(facts, clock(None)), 0
    for piece in HOSTILE:
        document = TextDocument(path, f"<p>x</p>{piece}\n\n{TABLE}\n")
        for finding in check([document], asked, ALL_RULES).findings:
            assert 0 <= finding.line <= len(document.starts)
            assert finding.column is None or finding.column <= len(document.line(finding.line)) + 1
            found += finding.rule == "versions-together"
    assert found >= READ.get(path, 0)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_places_are_those_of_the_file(end: str, facts: Snapshot) -> None:
    """A cell of an HTML page has its line and column, whatever its lines end with; entities are letters."""
    text = end.join(
        ["<table>", "<tr><th>Py&#84;orch</th><th>IPEX</th></tr>", "<tr><td>2.3.0</td> <td>v2.4.0</td></tr>", "</table>"]
    )
    found = check([TextDocument("a.html", text)], CheckContext(facts, clock(None))).findings
    assert [(f.rule, f.line, f.column) for f in found] == [("versions-together", 3, 24)]
