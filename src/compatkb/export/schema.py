"""What is published: tables, columns and views, with a sentence for each; SQLite, CSV and JSON all have this shape.

Days are ISO dates, truths 0 and 1, and what is not known is null. `docs/database.md` is written from this module.
"""

from typing import NamedTuple

FORMAT = 1
"""The number of this contract; within one number tables, columns and views are only added."""


class Column(NamedTuple):
    """A column; `refers` names the table whose key it holds."""

    name: str
    kind: str  # text, date, integer, boolean
    about: str
    null: bool = False
    refers: str | None = None


class Table(NamedTuple):
    """A table, its key, and the columns that full-text search reads."""

    name: str
    about: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    search: tuple[str, ...] = ()


class View(NamedTuple):
    """A query worth a name; the database and its documentation have it, CSV and JSON do not."""

    name: str
    about: str
    query: str


def _text(name: str, about: str, refers: str | None = None) -> Column:
    return Column(name, "text", about, refers=refers)


def _maybe(name: str, about: str, refers: str | None = None, kind: str = "text") -> Column:
    return Column(name, kind, about, null=True, refers=refers)


def _number(name: str, about: str, refers: str | None = None) -> Column:
    return Column(name, "integer", about, refers=refers)


def _truth(name: str, about: str) -> Column:
    return Column(name, "boolean", about)


def _day(name: str, about: str) -> Column:
    return Column(name, "date", about)


def _days(what: str) -> tuple[Column, ...]:
    return (
        _maybe(f"{what}_from", "the first day on which it may have happened", kind="date"),
        _maybe(f"{what}_by", "the day by which it had happened; equal to the first where the day is known", kind="date"),
    )


def _cites(owner: str, what: str) -> Table:
    kind = "integer" if owner in ("advisory", "completeness", "install") else "text"
    return Table(
        f"{owner}_source",
        f"The documents that {what} rests on.",
        (owner, "position"),
        (
            Column(owner, kind, f"the {owner}", refers=owner),
            _number("position", "0 for the first"),
            _number("source", "the document", "source"),
        ),
    )


_ELEMENT = (
    _text("product", "the product named", "product"),
    _text("release", "the release named", "release"),
    _maybe("build", "the build named; null where the release has none", "build"),
)

TABLES = (
    Table(
        "meta",
        "What this is: the number of its format, and the dates and digest of the data.",
        ("key",),
        (_text("key", "format, data_date, digest or program"), _text("value", "its value")),
    ),
    Table(
        "source",
        "Cited documents, each once.",
        ("id",),
        (
            _number("id", "a number without meaning"),
            _text("text", "the document as people read it: repository, ref, path, line or heading"),
            _maybe("url", "its address; null for a file on a package index"),
            _maybe("seen", "the last day on which it was read", kind="date"),
        ),
    ),
    Table(
        "product",
        "Products: packages, runtimes, drivers, and the properties of a machine.",
        ("id",),
        (
            _text("id", "its id"),
            _text("name", "its name"),
            _text("role", "package, companion, leaf (known through the pins of others) or dimension (of a machine)"),
            _text("scheme", "how its versions read: pep440, dotted, minor or listed"),
            _number("place", "its place in stacks and commands, small first"),
            _maybe("distribution", "its name on package indexes"),
            _maybe("import_name", "the module that it installs"),
            _maybe("homepage", "its address"),
            _text("names", "keys of the names by which it is found, between spaces"),
            _maybe("eol", "its last supported day", kind="date"),
            _maybe("replaced_by", "what to use instead", "product"),
            _maybe("replaced_by_version", "in which versions"),
            _maybe("replaced_by_device", "on which device"),
            _maybe("note", "a remark"),
        ),
        ("id", "name", "distribution", "import_name", "names", "note"),
    ),
    Table(
        "release",
        "Releases of products; of a property of a machine, its values (a Python, a system, a GPU family).",
        ("id",),
        (
            _text("id", "product==version"),
            _text("product", "its product", "product"),
            _text("version", "its version"),
            _text("series", "the series that it belongs to"),
            _number("position", "0 for the newest of its product"),
            _maybe("name", "its name, where it has one beside the version"),
            _text("names", "further names by which people know it, between commas"),
            _text("part_of", "the wider values that it belongs to, between spaces"),
            *_days("released"),
            _maybe("released_basis", "what the date is: tag-commit, first-upload, announcement ..."),
            _maybe("eol", "its last supported day", kind="date"),
            _maybe("eol_precision", "day, month, quarter or year"),
            _truth("yanked", "whether every build of it is withdrawn"),
            *_days("yanked"),
            _maybe("yank_reason", "the reason that was given"),
            _maybe("track", "of a driver: lts, production or rolling"),
            _text("devices", "of hardware: the devices that it offers, between spaces"),
            _maybe("note", "a remark"),
        ),
        ("id", "name", "names", "note"),
    ),
    _cites("release", "a release"),
    Table(
        "channel",
        "Package indexes.",
        ("id",),
        (
            _text("id", "its id; default is the client's own"),
            _number("position", "its place in the data"),
            _text("name", "its name"),
            _maybe("url", "its address"),
            _text("style", "how clients are told of it: default, index-url, extra-index-url or find-links"),
            _text("hardware", "the hardware that it is for, between spaces; empty for any"),
            _maybe("note", "a remark"),
        ),
    ),
    Table(
        "channel_mirror",
        "Mirrors of package indexes.",
        ("channel", "name"),
        (_text("channel", "the index", "channel"), _text("name", "where the mirror is"), _text("url", "its address")),
    ),
    Table(
        "build",
        "Builds: the installable forms of releases.",
        ("id",),
        (
            _text("id", "product==version"),
            _text("product", "its product", "product"),
            _text("release", "the release that it was built from", "release"),
            _text("version", "its version, with its local label"),
            _number("position", "0 for the newest of its product"),
            _text("stage", "stable, preview, prototype, source-only or tag-only"),
            _truth("installable", "whether an index carries it in a form that installers take"),
            _maybe("distribution", "its name on package indexes"),
            _maybe("maker", "who built it, where that is not the product's own maker"),
            _text("extras", "the extras without which its requirements are not installed"),
            _text("only_with", "products without which it has no use, between spaces"),
            *_days("released"),
            _truth("yanked", "whether it is withdrawn"),
            _maybe("wheels_note", "a remark on its wheels"),
            _maybe("note", "a remark"),
        ),
        ("id", "note", "wheels_note"),
    ),
    Table(
        "build_device",
        "The devices that a build is for.",
        ("build", "device"),
        (_text("build", "the build", "build"), _text("device", "the device")),
    ),
    Table(
        "build_channel",
        "The indexes that carry a build.",
        ("build", "channel"),
        (_text("build", "the build", "build"), _text("channel", "the index", "channel")),
    ),
    _cites("build", "a build"),
    Table(
        "wheel",
        "The platforms for which a build has wheels, by family of operating systems.",
        ("build", "os", "arch", "python"),
        (
            _text("build", "the build", "build"),
            _text("os", "the family of operating systems"),
            _text("arch", "the architecture"),
            _text("python", "the Python minor; a t marks the free-threaded one"),
            _text("basis", "seen, or inferred"),
        ),
    ),
    Table(
        "claim",
        "Claims: what versions of one product say of versions of another.",
        ("id",),
        (
            _text("id", "its id; claims read from an index or from evidence have ids that are made"),
            _text("product", "the product that says it", "product"),
            _text("kind", "needs, constrains, verified or breaks"),
            _text("of_term", "who says it: product and specifier"),
            _text("to_terms", "of whom; several terms stand between bars"),
            _text("condition", "when it holds; empty for always"),
            _text("basis", "stated, observed or inferred"),
            _text("standing", "holds; open in a dispute; or overruled by the decision of one"),
            _maybe("reason", "why it breaks"),
            _maybe("note", "a remark; for an inference its reason"),
        ),
        ("id", "of_term", "to_terms", "reason", "note"),
    ),
    _cites("claim", "a claim"),
    Table(
        "claim_side",
        "The known versions that the two sides of a claim name; a claim that was overruled names none.",
        (),
        (
            _text("claim", "the claim", "claim"),
            _text("side", "of, or to"),
            _ELEMENT[0],
            _maybe("release", "the release named; null where any version will do", "release"),
            _ELEMENT[2],
        ),
    ),
    Table(
        "dispute",
        "Sources that disagree, and what was decided.",
        ("id",),
        (
            _text("id", "its id"),
            _text("product", "the product whose data record it", "product"),
            _text("about", "what they disagree about"),
            _text("decision", "the claim or value that holds, or open"),
            _text("reason", "why"),
            _day("decided", "the day of the decision"),
        ),
        ("id", "about", "decision", "reason"),
    ),
    Table(
        "dispute_claim",
        "The claims that a dispute is about.",
        ("dispute", "claim"),
        (_text("dispute", "the dispute", "dispute"), _text("claim", "the claim", "claim")),
    ),
    Table(
        "dispute_position",
        "What each side of a dispute says, where it is no claim.",
        ("dispute", "position"),
        (_text("dispute", "the dispute", "dispute"), _number("position", "0 for the first"), _text("text", "what it says")),
    ),
    _cites("dispute", "a dispute"),
    Table(
        "advisory",
        "What users of some versions must be told.",
        ("id",),
        (
            _number("id", "a number without meaning"),
            _text("product", "the product that it concerns", "product"),
            _text("kind", "security, driver or known-issue"),
            _text("message", "the sentence that users read"),
            _day("since", "the day since which it is known"),
            _maybe("beside", "it concerns them only beside this product", "product"),
            _text("devices", "the devices of which it speaks, between spaces; empty for any"),
        ),
        ("message",),
    ),
    Table(
        "advisory_version",
        "The versions that an advisory concerns.",
        (),
        (_number("advisory", "the advisory", "advisory"), *_ELEMENT),
    ),
    _cites("advisory", "an advisory"),
    Table(
        "completeness",
        "Scopes inside which our list of releases is whole, so that an absence means no.",
        ("id",),
        (
            _number("id", "a number without meaning"),
            _text("product", "the product", "product"),
            _text("term", "the versions covered, as product and specifier"),
            _maybe("channel", "only on this index", "channel"),
            _text("devices", "only for these devices, between spaces; empty for any"),
            _maybe("until", "the day up to which it is whole; null where it is closed for good", kind="date"),
        ),
    ),
    _cites("completeness", "a scope"),
    Table(
        "install",
        "Installations that one plain command cannot do.",
        ("id",),
        (
            _number("id", "a number without meaning"),
            _text("product", "the product", "product"),
            _text("steps", "products in the order of installation; bars stand between steps"),
            _text("waives", "pins in metadata that its maker says to ignore, between bars"),
            _maybe("note", "a remark"),
        ),
    ),
    Table(
        "install_version",
        "The versions that an installation is for.",
        (),
        (_number("install", "the installation", "install"), *_ELEMENT),
    ),
    _cites("install", "an installation"),
    Table(
        "route",
        "Ways to reach a device.",
        ("id",),
        (
            _text("id", "its id"),
            _text("name", "its name"),
            _number("rank", "small for the preferred one"),
            _text("devices", "the devices, between spaces"),
            _maybe("provider", "the product that brings the device", "product"),
            _text("with_products", "products that belong to it, between spaces"),
            _text("without_products", "products that it leaves out, between spaces"),
            _maybe("note", "a remark"),
        ),
    ),
    Table(
        "image_tag",
        "Container image tags.",
        ("id",),
        (
            _text("id", "repository:tag"),
            _text("repository", "the repository, as docker pull takes it"),
            _text("name", "the tag"),
            _text("device", "the device that it is for"),
            _maybe("first_listed", "the day on which its maker's document first listed it", kind="date"),
            _maybe("last_listed", "the last day on which it did; null while it does", kind="date"),
            _maybe("note", "a remark"),
        ),
        ("id", "note"),
    ),
    Table(
        "image_listing",
        "The spans of days in which the maker's document listed a tag.",
        ("image_tag", "position"),
        (
            _text("image_tag", "the tag", "image_tag"),
            _number("position", "0 for the first"),
            _day("listed_from", "the first day"),
            _maybe("listed_to", "the last day; null while it is listed", kind="date"),
        ),
    ),
    Table(
        "image_content",
        "What image tags contain.",
        (),
        (
            _text("image_tag", "the tag", "image_tag"),
            _text("term", "what it contains, as product and specifier"),
            _text("basis", "stated, observed or inferred"),
            _maybe("product", "the product; null where the data do not know it", "product"),
            _maybe("release", "a release that the term names; null where the data know none", "release"),
            _maybe("build", "a build that it names", "build"),
        ),
    ),
    _cites("image_tag", "an image tag"),
    Table(
        "observation",
        "What commands saw, dated and repeatable.",
        ("id",),
        (
            _number("id", "its place in the evidence"),
            _text("level", "published, resolve, gate, import or run"),
            _text("outcome", "ok, how it failed, or not-checked"),
            _text("python", "the Python that it was made with"),
            _text("os", "the operating system"),
            _text("arch", "the architecture"),
            _text("device", "the device"),
            _text("channel", "the index"),
            _day("checked", "the day"),
            _text("tool", "what decided: index, pip, uv or python"),
            _truth("stubbed", "whether libraries of another device were replaced by empty ones"),
            _text("detail", "what was printed"),
            _maybe("culprit", "the rule that names who is to blame"),
        ),
        ("outcome", "detail", "culprit"),
    ),
    Table(
        "observation_package",
        "The packages of an observation.",
        ("observation", "name"),
        (
            _number("observation", "the observation", "observation"),
            _text("name", "the package"),
            _text("version", "its version"),
        ),
    ),
)
"""Every table; a table refers only to tables above it, or to itself."""
