"""Rows as statements: versions against each other, against other rows, and against what images are known to hold."""

from collections import Counter
from collections.abc import Iterator

from compatkb.check.document import Asked
from compatkb.check.lookups import BUILT, Known, known, spelt
from compatkb.check.markdown.denials import denial
from compatkb.check.markdown.rows import Facts, Value, read_rows
from compatkb.check.markdown.text import PAGES, Page
from compatkb.check.rules import Rule
from compatkb.core.findings import Finding, Severity

UNKNOWN = Rule("version-unknown", Severity.WARNING, "a version that does not exist, by a complete list of releases")
TOGETHER = Rule("versions-together", Severity.ERROR, "the versions of a row do not work together")
DIFFER = Rule("versions-differ", Severity.WARNING, "two rows give one release different versions of the same thing")
CONTENTS = Rule("image-contents", Severity.WARNING, "a row contradicts what its image is known to hold")


@PAGES.rule(UNKNOWN, TOGETHER, DIFFER, CONTENTS)
def check(page: Page, asked: Asked) -> Iterator[Finding]:
    """Yield where the rows of a page contradict each other, the data, or themselves."""
    data = known(asked.facts)
    rows = [row for row in read_rows(page, data) if row.values]
    for row in rows:
        yield from _unknown(page, data, row, asked)
        yield from _contents(page, data, row, asked)
        yield from _together(page, row, asked)
    yield from _differ(page, data, rows, asked)


def _unknown(page: Page, data: Known, row: Facts, asked: Asked) -> Iterator[Finding]:
    for value in row.values.values():
        if value.mask or (sources := data.covered(value.product, value.text, asked.clock.lists_until)) is None:
            continue
        message = f"{value.product.name} has no release {value.text} (the release list is complete)"
        yield at(page, UNKNOWN, value, message, sources)


def at(page: Page, rule: Rule, value: Value, message: str, sources: tuple[str, ...] = (), fix: str | None = None) -> Finding:
    """Return a finding about a version that a row gives."""
    start, end = value.cell.start, value.cell.end
    return page.document.finding(rule, start, end, message, fix=fix, sources=sources, subject=value.text)


# -- images --------------------------------------------------------------------------------------------------------------


def _contents(page: Page, data: Known, row: Facts, asked: Asked) -> Iterator[Finding]:
    image = data.speaker(((tag.name, tag.repository) for tag in row.tags), asked.day)
    if image is None:
        return
    for product, held in data.held(image).items():
        value = row.values.get(product)
        if value is None or not value.mask or not held.mask or value.mask & held.mask:
            continue
        from compatkb.output import disputes

        said = [d["decision"] for d in disputes.of_name(data.facts, f"{image.repository}:{image.name}")]
        how = "is inferred to hold" if held.basis == "inferred" else "is said to hold"
        message = f"{image.name} {how} {value.product.name} {_spec(held.spec)}, not {value.text}"
        if said:
            message += f"; sources disagree about this image, and the data decided: {' and '.join(said)}"
        yield at(page, CONTENTS, value, message, image.sources, f"write {_spec(held.spec)}")


def _spec(spec: str) -> str:
    return spec.removeprefix("==").removesuffix(".*")


# -- pairs ---------------------------------------------------------------------------------------------------------------


def _together(page: Page, row: Facts, asked: Asked) -> Iterator[Finding]:
    chosen = [v for v in row.values.values() if v.mask and (v.product.role in BUILT or v.product.scheme == "minor")]
    if len(chosen) < 2 or not (found := denial(page, asked, tuple((v.product.id, v.text) for v in chosen))):
        return
    last = next((v for v in reversed(chosen) if v.product.id in found.products), chosen[-1])
    versions = spelt(f"{v.product.name} {v.text}" for v in chosen if v.product.id in found.products)
    yield at(page, TOGETHER, last, f"{versions} do not work together: {found.said}", found.sources)


def _differ(page: Page, data: Known, rows: list[Facts], asked: Asked) -> Iterator[Finding]:
    """Yield rows that give a release another version of something than an earlier row gives it."""
    first: dict[tuple[str, int, str], tuple[Facts, Value]] = {}
    for row, main in _mains(rows):
        for product, value in row.values.items():
            if product == main.product.id or not value.mask or value.product.platform:
                continue
            before, other = first.setdefault((main.product.id, main.mask, product), (row, value))
            if other.mask & value.mask or (_confirmed(data, before, other, asked) and _confirmed(data, row, value, asked)):
                continue
            line = page.document.place(other.cell.start).line
            release = f"{main.product.name} {main.text}"
            message = f"for {release}, line {line} has {value.product.name} {other.text}, this row {value.text}"
            yield at(page, DIFFER, value, message)


def _confirmed(data: Known, row: Facts, value: Value, asked: Asked) -> bool:
    """Return whether the image of a row is known to hold what the row says."""
    image = data.speaker(((tag.name, tag.repository) for tag in row.tags), asked.day)
    held = data.held(image).get(value.product.id) if image else None
    return held is not None and bool(held.spec) and bool(held.mask & value.mask)


def _mains(rows: list[Facts]) -> Iterator[tuple[Facts, Value]]:
    """Yield rows with the release that each is about: that which its tag begins with, of the product that most tags do."""
    fitting = [(row, [value for value in row.values.values() if _names(row, value)]) for row in rows]
    counts = Counter(value.product.id for _, values in fitting for value in values)
    for row, values in fitting:
        if values:
            yield row, max(values, key=lambda value: counts[value.product.id])


def _names(row: Facts, value: Value) -> bool:
    numbers = value.text.removeprefix("v").partition("+")[0]
    named = any(tag.name == numbers or tag.name.startswith(f"{numbers}-") for tag in row.tags)
    return named and bool(value.mask) and value.product.role in BUILT
