"""The kept figures of bench/bench.py and bench/scale.py as docs/performance.md and a picture of growth."""

from collections.abc import Iterable, Mapping, Sequence
from math import log10
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent.parent / "docs"
COLOURS = {"compatkb": "#0068b5", "python-sat": "#c05000", "resolvelib": "#2e7d32"}
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 760, 360, 70, 30, 60
TICK = 4.0
AIMS = (
    ("best stack, again", "best", 50.0, "ms"),
    ("1,000 stacks", "stacks", 200.0, "ms"),
    ("minimal causes, median", "causes", 400.0, "ms"),
    ("memory, with all of these questions", "MB", 100.0, "MB"),
)


def write(rows: Sequence[dict[str, Any]], felt: Mapping[str, dict[str, Any]]) -> None:
    """Write page and picture; `felt` are the kept figures of `make bench` by name."""
    (DOCS / "performance.svg").write_text(picture(rows), encoding="utf-8")
    (DOCS / "performance.md").write_text(page(rows, felt), encoding="utf-8")


def page(rows: Sequence[dict[str, Any]], felt: Mapping[str, dict[str, Any]]) -> str:
    """Return the page."""
    parts = [
        "# Speed and scale",
        "This page is written by `make bench-scale` from the figures in `bench/baseline.json` and `bench/scale.json`; do\n"
        "not edit it. `python bench/scale.py --render` writes it anew without measuring.",
        "## What users feel",
        "The run of `make bench` that is kept; later runs are compared with it by ratio. *Python* is a start of\n"
        "`python -c pass`, and a *loop* ten thousand entries into a dictionary, both on the same machine in the same run.\n"
        "Cold figures are the processor time of one command of an installed wheel, the least of fifteen rounds, since noise\n"
        "only ever adds. The warm ones are that of one call of `KnowledgeBase.resolve`, from the words of a question to its\n"
        "answer, in one process that is asked ten thousand different questions as people make them. Most of these have no\n"
        "answer, so causes and what is near are looked for.",
        _felt(felt),
        "## What is measured of scale",
        "A made-up knowledge base has so many products of so many releases each. Dense ones have up to three relations\n"
        "a product, sparse ones one. A relation gives each of 40 blocks of releases an interval of the other product.\n"
        "Easy: 2 % of the intervals are misplaced, and eight pairs a relation are broken. Adversarial: 10 % are misplaced,\n"
        "and two pairs for each release of each relation are broken, said one by one. One stack is planted. All times are\n"
        "milliseconds of processor time, on one core; each cell runs in a process of its own, within ten seconds a question.\n"
        "*Two products* is a question about two of the products, from opening the store on. *First* is the best stack of all\n"
        "products with all that is looked up once, *again* the best of three more, *1,000* the time of so many stacks,\n"
        "newest first. *Read* is how many releases all these questions look at, which are read out of the store sixteen at\n"
        "once; sets of them stand there by themselves, made when it is compiled. *MB* is the peak of a process that opens\n"
        "the store and asks all this.\n"
        "A dash is what did not end within the limit.",
    ]
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    for kind in kinds:
        here = [row for row in rows if row["kind"] == kind]
        parts.append(f"## {kind[0].upper()}{kind[1:]}")
        parts.append(_table(here))
    parts += ["## Growth", "![time of the best stack by size and solver](performance.svg)"]
    parts += ["## Against the aims", _aims(rows), "## Reading the figures", READING]
    return "\n\n".join(parts) + "\n"


READING = """From 20 x 200 on our first answer, with all that is read for it, comes before the SAT solver's, which from
50 x 1,000 on needs seconds for one best stack or does not end: preference is a search of its own to it. At 10 x 40
both others are sooner than our first answer, and where it ends resolvelib is so at 20 x 200 too; our later answers
take less than either's. The SAT solver mostly has its clauses loaded before our first answer is there. resolvelib
finds some solution, not the best one, and has no minimal causes; it does not end where it runs into a misplaced
interval early. Neither is taken in: at the size of the real data neither has the preference, graded support and
causes that an answer needs, and beyond it they lose.

What costs us at first is reading claims: thousands of broken pairs are that many. Releases are hardly read for it. A
question about two products reads what those two say. Memory grows with the claims: the adversarial kind of 100 x 2,000
needs more than the aim for the realistic kind. Questions that we cannot answer end with exit code 6 and "gave up after",
within a fixed number of steps or when the caller's clock says so. The figures were taken on a machine with other work on
it, and differ by a third from run to run: compare them with each other, not with those of another run."""


def _felt(figures: Mapping[str, dict[str, Any]]) -> str:
    lines = [("what", "measured", "aim: at most", "met"), ("---", "---:", "---:", "---")]
    for name, figure in figures.items():
        if not name.startswith("scale: "):
            aim = figure["aim"]
            met = "" if aim is None else "yes" if figure["value"] <= aim else "no"
            lines.append((name, f"{figure['value']:,.2f} {figure['unit']}", "" if aim is None else f"{aim:g}", met))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _table(rows: Sequence[dict[str, Any]]) -> str:
    head = (
        "size", "rectangles", "two products", "first", "again", "1,000", "causes", "slowest causes", "read", "MB", "store MB",
        "resolvelib", "SAT: load", "SAT: best",
    )  # fmt: skip
    lines = [head, tuple("---:" for _ in head)]
    for products, releases in dict.fromkeys((row["products"], row["releases"]) for row in rows):
        cells = {row["solver"]: row for row in rows if (row["products"], row["releases"]) == (products, releases)}
        ours, theirs, sat = (cells.get(name, {}) for name in ("compatkb", "resolvelib", "python-sat"))
        keys = (
            "rectangles", "two products", "first", "best", "stacks", "causes", "causes, slowest", "releases read", "MB",
            "store MB",
        )  # fmt: skip
        values = [_number(ours.get(key)) for key in keys]
        more = [_limited(theirs.get("best")), _number(sat.get("load")), _limited(sat.get("best"))]
        lines.append((f"{products} x {releases:,}", *values, *more))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return "<0.1" if value == 0 else f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"


def _limited(value: float | None) -> str:
    """Return a figure that was taken under a limit of processor time, whose clock ticks every few milliseconds."""
    return f"<{TICK:g}" if value is not None and value < TICK else _number(value)


def _aims(rows: Iterable[dict[str, Any]]) -> str:
    found = [r for r in rows if r["solver"] == "compatkb" and r["kind"] == "easy, dense"]
    largest = max(found, key=lambda row: row["products"])
    lines = [("easy and dense, 100 x 2,000", "aim", "measured", "met"), ("---", "---:", "---:", "---")]
    for name, key, aim, unit in AIMS:
        value = largest.get(key)
        met = "yes" if value is not None and value <= aim else "no"
        lines.append((name, f"{aim:g} {unit}", f"{_number(value)} {unit}", met))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def picture(rows: Sequence[dict[str, Any]]) -> str:
    """Return the time of the best stack over the number of releases, both on logarithmic scales, as SVG."""
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    width = WIDTH / len(kinds)
    shapes = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">'
    ]
    shapes.append(f'<title>Time of the best stack by size</title><rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>')
    for n, kind in enumerate(kinds):
        left = n * width + (LEFT if n == 0 else 30)
        shapes += _panel([row for row in rows if row["kind"] == kind], kind, left, (n + 1) * width - 12, labelled=n == 0)
    x = float(LEFT)
    for name, colour in COLOURS.items():
        shapes.append(f'<rect x="{x}" y="{HEIGHT - 18}" width="10" height="10" fill="{colour}"/>')
        shapes.append(f'<text x="{x + 14}" y="{HEIGHT - 9}">{name}</text>')
        x += 110
    return "\n".join([*shapes, "</svg>"]) + "\n"


def _panel(rows: Sequence[dict[str, Any]], kind: str, left: float, right: float, *, labelled: bool) -> list[str]:
    sizes = sorted({row["products"] * row["releases"] for row in rows})
    low, high = log10(sizes[0]), log10(sizes[-1] if len(sizes) > 1 else sizes[0] * 10)

    def x(size: int) -> float:
        return left + (right - left) * (log10(size) - low) / (high - low)

    def y(milliseconds: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (4.5 - log10(max(milliseconds, 0.03))) / 6.0

    shapes = [f'<text x="{left}" y="{TOP - 12}" font-weight="bold">{kind}</text>']
    for power in range(-1, 5):
        height = y(10.0**power)
        shapes.append(f'<line x1="{left}" x2="{right}" y1="{height:.1f}" y2="{height:.1f}" stroke="#ddd"/>')
        if labelled:
            shapes.append(f'<text x="{left - 6}" y="{height + 4:.1f}" text-anchor="end">{10.0**power:g} ms</text>')
    foot = HEIGHT - BOTTOM + 16
    shapes += [f'<text x="{x(size):.1f}" y="{foot}" text-anchor="middle">{size:,}</text>' for size in sizes]
    for name, colour in COLOURS.items():
        own = [row for row in rows if row["solver"] == name and row.get("best") is not None]
        least = 0.0 if name == "compatkb" else TICK
        points = sorted((row["products"] * row["releases"], max(row["best"], least)) for row in own)
        line = " ".join(f"{x(size):.1f},{y(value):.1f}" for size, value in points)
        shapes.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        shapes += [f'<circle cx="{x(size):.1f}" cy="{y(value):.1f}" r="3" fill="{colour}"/>' for size, value in points]
    return shapes
