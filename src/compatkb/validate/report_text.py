"""Writes the result of a validation run for people and programs."""

from collections import Counter

from compatkb.output.json_document import json_text
from compatkb.validate.cell import ValidationCell
from compatkb.validate.session import ValidationReport

_MOST = 40


def report_text(report: ValidationReport) -> str:
    """Return the counts by level and outcome, and every cell that ended otherwise than the data say."""
    counts = Counter((seen.level, seen.tool, seen.outcome) for _, seen in report.cells)
    lines = [f"{level} by {tool}: {count} {outcome}" for (level, tool, outcome), count in sorted(counts.items())]
    if not lines:
        lines.append("no cell to check: none was asked for, or all of them are fresh")
    if report.against:
        lines += ["", "Against the data:"]
        for cell, seen in report.against[:_MOST]:
            lines.append(f"- {_what(cell)}: {seen.outcome}, where the data say {cell.claimed}")
            lines += [f"    {line}" for line in seen.detail.splitlines()[:4]]
        if len(report.against) > _MOST:
            lines.append(f"- and {len(report.against) - _MOST} more; --format json lists all of them")
    if rotten := [(cell, seen) for cell, seen in report.cells if seen.resolved]:
        lines += ["", "Resolved once, no longer:"]
        for cell, seen in rotten[:_MOST]:
            gone = f"; vanished: {', '.join(seen.vanished)}" if seen.vanished else ""
            lines.append(f"- {_what(cell)}: last on {seen.resolved}{gone}")
        lines += [f"- and {len(rotten) - _MOST} more; --format json lists all of them"] if len(rotten) > _MOST else []
    reasons = Counter(seen.detail.splitlines()[0] for _, seen in report.cells if seen.outcome == "not-checked")
    if reasons:
        lines += ["", "Not checked:", *(f"- {count}: {reason}" for reason, count in reasons.most_common(10))]
    return "\n".join(lines) + "\n"


def _what(cell: ValidationCell) -> str:
    pins = ", ".join(f"{name} {version}" for name, version in cell.packages)
    return f"{pins} on Python {cell.python}, {cell.platform} ({cell.level} by {cell.tool})"


def report_payload(report: ValidationReport) -> str:
    """Return every cell with what it saw, as JSON."""
    cells = [
        {"claimed": cell.claimed, "contradicts": (cell, seen) in report.against, **seen.model_dump(mode="json")}
        for cell, seen in report.cells
    ]
    return json_text({"schema": 1, "cells": cells})
