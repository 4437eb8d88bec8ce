"""What the form says of its own values before their sheets are there: verdict and first reason of each main choice."""

from collections.abc import Mapping
from typing import Any


def summary_data(sheets: Mapping[str, Any]) -> dict[str, Any]:
    """Return for each sheet its tables without further packages: rows of numbers into a pool of verdicts and reasons."""
    pool: dict[tuple[str, str], int] = {}
    rows: dict[tuple[int, ...], int] = {}
    tables: dict[str, dict[str, list[int]]] = {}
    for name, sheet in sorted(sheets.items()):
        told = [pool.setdefault((verdict, _reason(sheet, causes)), len(pool)) for verdict, _, causes, _ in sheet["answers"]]
        mine = tables[name] = {}
        for key, numbers in sheet["tables"].items():
            if not key or (key.startswith("route=") and "&" not in key):
                whole = [tuple(told[n] for n in sheet["rows"][number]) for number in numbers]
                mine[key] = [rows.setdefault(row, len(rows)) for row in whole]
    return {"pool": list(pool), "rows": list(rows), "tables": tables}


def _reason(sheet: Any, causes: list[int]) -> str:
    return str(sheet["causes"][causes[0]]["message"]) if causes else ""
