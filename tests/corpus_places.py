"""The judgements of first runs by rule and place, as docs/reliability-check.md has them: `python tests/corpus_places.py`."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from compatkb.check import rules_by_id
from compatkb.parsers.file_types import kind_of

JUDGEMENTS = Path(__file__).parent / "corpus" / "judgements.jsonl"
_PLACES = {
    "requirements": "requirements", "constraints": "requirements", "uv.lock": "lock", "poetry.lock": "lock",
    "pdm.lock": "lock", "pylock": "lock", "Pipfile.lock": "lock", "conda-lock": "lock", "pixi.lock": "lock",
    "pyproject": "declared", "setup.py": "declared", "setup.cfg": "declared", "dockerfile": "Dockerfile",
    "environment": "conda environment", "shell": "script", "batch": "script", "makefile": "script", "github": "pipeline",
    "gitlab": "pipeline", "azure": "pipeline", "notebook": "notebook", "markdown": "Markdown",
}  # fmt: skip
_IN_MARKDOWN = {"install": "command", "bound": "command", "command": "command", "text": "prose", "link": "link"}
_MORE = (
    "build-plain", "image-tag-unlisted", "install-together", "install-unpublished", "link-branch", "link-tag-missing",
    "pin-drifts", "pin-index", "pin-platform", "pin-unpublished", "pins-together", "unreadable",
)  # fmt: skip
"""Rules that ask for more now than when most of this was judged; docs/check.md says for what."""
GONE = ("command-path", "step-order", "step-replaces", "versions-apart")
"""Rules that have been given up: what they said was wrong, or of no use."""
_COLUMNS = ("useful", "pedantic", "false")


def place(path: str, rule: str) -> str:
    """Return the kind of place of a finding: a kind of file, of a document what of it the rule reads."""
    found = _PLACES.get(kind_of(path) or "", "other") if not path.endswith((".rst", ".html", ".htm")) else "HTML, reST"
    return f"Markdown {_IN_MARKDOWN.get(rule.partition('-')[0], 'table')}" if found == "Markdown" else found


def _now(rule: str, *, is_on: bool) -> str:
    if rule in GONE:
        return "given up"
    return "off" if not is_on else "asks for more" if rule in _MORE else "on"


def table() -> Iterator[str]:
    """Yield the lines of the table, by rule and place; the last column says whether the rule is on there by itself now."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    on: dict[tuple[str, str], bool] = {}
    for line in JUDGEMENTS.read_text("utf-8").splitlines():
        one = json.loads(line)
        key = (one["rule"], place(one["file"], one["rule"]))
        counts.setdefault(key, Counter())[one["judgement"]] += 1
        if one["level"] == "error":
            counts[key]["error"] += 1
            counts[key]["true error"] += one["judgement"] != "false"
        on[key] = on.get(key, False) or (one["rule"] not in GONE and rules_by_id()[one["rule"]].is_on(one["file"]))
    yield "| rule | place | useful | pedantic | false | true at `error` | by itself |"
    yield "|---|---|---|---|---|---|---|"
    for key, count in sorted(counts.items()):
        errors = f"{count['true error']} of {count['error']}" if count["error"] else ""
        cells = [f"`{key[0]}`", key[1], *(count[name] for name in _COLUMNS), errors, _now(key[0], is_on=on[key])]
        yield f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    print("\n".join(table()))
