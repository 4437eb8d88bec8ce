"""Published tables of what commands saw."""

from compatkb.export.columns import day, maybe, number, table, text, truth
from compatkb.export.table_reader import Reader, Tables
from compatkb.store.queries.provenance import observations

TABLES = (
    table(
        "observation",
        "What commands saw, dated and repeatable.",
        ("id",),
        number("id", "its place in the evidence"),
        text("level", "published, resolve, symbols, gate, import or run"),
        text("outcome", "ok, how it failed, or not-checked"),
        text("python", "the Python that it was made with"),
        text("os", "the operating system"),
        text("arch", "the architecture"),
        text("device", "the device"),
        text("channel", "the index: a channel, or the address that answered in its place"),
        day("checked", "the day"),
        text("tool", "what decided: index, pip, uv or python"),
        truth("stubbed", "whether libraries of another device were replaced by empty ones"),
        text("detail", "what was printed"),
        maybe("culprit", "the claim that a failure proved, where somebody found it"),
        maybe("resolved", "the last day on which what is refused now was resolved", kind="date"),
        text("vanished", "pins that are gone since, those of single wheels with their tags, between spaces"),
        text("missing", "the most telling symbols and libraries that one build needs and the other lacks, between spaces"),
        text("needs", "libraries that a build does not bring, and versions such as GLIBC_2.28, between spaces"),
        text("unlinked", "products of which no library of a build needs a symbol, between spaces"),
        number("fetched", "bytes of the wheel that were read for its symbols"),
        search=("outcome", "detail", "culprit"),
    ),
    table(
        "observation_package",
        "The packages of an observation.",
        ("observation", "name"),
        number("observation", "the observation", "observation"),
        text("name", "the package"),
        text("version", "its version"),
    ),
)


def fill(reader: Reader, tables: Tables) -> None:
    """Fill the tables of observations."""
    for seen in observations(reader.facts):
        shown = seen._asdict()
        named = sorted(shown.pop("packages").items())
        listed = {name: " ".join(shown[name]) for name in ("missing", "needs", "unlinked")}
        tables["observation"].append({**shown, **listed, "stubbed": int(seen.stubbed)})
        tables["observation_package"] += [{"observation": seen.id, "name": n, "version": v} for n, v in named]
