"""Scripts that declare what they need in a comment, as PEP 723 has it."""

from compatkb.parsers.documents import read_toml
from compatkb.parsers.pyproject import read_script_table
from compatkb.parsers.source import SourceFile
from compatkb.parsers.statement import ParsedFile

_OPENS, _CLOSES = "# /// script", "# ///"


def read_script_metadata(source: SourceFile, reading: ParsedFile) -> None:
    """Add what the block of metadata of a script asks for; scripts without one state nothing."""
    lines = source.text.split("\n")
    first = next((n for n, line in enumerate(lines) if line.rstrip() == _OPENS), None)
    if first is None:
        return
    last = first + 1
    closing = None
    while last < len(lines) and (lines[last] == "#" or lines[last].startswith("# ")):
        closing = last if lines[last].rstrip() == _CLOSES else closing
        last += 1
    if closing is None:
        reading.problem(source.place(source.starts[first]), f"opens a block of metadata that no {_CLOSES!r} closes")
        return
    # the comment marks become spaces, so that the block is TOML whose places are those of the script
    inner = [f"  {line[2:]}" for line in lines[first + 1 : closing]]
    document = read_toml(SourceFile(source.path, "\n".join([""] * (first + 1) + inner)), reading)
    if document is not None:
        read_script_table(document, reading)
