"""Published tables of container images: tags, when they were listed, what they contain."""

from compatkb.core.vocabulary import FOREVER
from compatkb.export.columns import cites, day, maybe, number, table, text
from compatkb.export.table_reader import Reader, Tables, day_of
from compatkb.store.queries.images import contents, images
from compatkb.store.records import picked

TABLES = (
    table(
        "image_tag",
        "Container image tags.",
        ("id",),
        text("id", "repository:tag"),
        text("repository", "the repository, as docker pull takes it"),
        text("name", "the tag"),
        text("device", "the device that it is for"),
        maybe("first_listed", "the day on which its maker's document first listed it", kind="date"),
        maybe("last_listed", "the last day on which it did; null while it does", kind="date"),
        maybe("note", "a remark"),
        search=("id", "note"),
    ),
    table(
        "image_listing",
        "The spans of days in which the maker's document listed a tag.",
        ("image_tag", "position"),
        text("image_tag", "the tag", "image_tag"),
        number("position", "0 for the first"),
        day("listed_from", "the first day"),
        maybe("listed_to", "the last day; null while it is listed", kind="date"),
    ),
    table(
        "image_content",
        "What image tags contain.",
        (),
        text("image_tag", "the tag", "image_tag"),
        text("term", "what it contains, as product and specifier"),
        text("basis", "stated, observed or inferred"),
        maybe("product", "the product; null where the data do not know it", "product"),
        maybe("release", "a release that the term names; null where the data know none", "release"),
        maybe("build", "a build that it names", "build"),
    ),
    cites("image_tag", "an image tag"),
)


def fill(reader: Reader, tables: Tables) -> None:
    """Fill the tables of image tags."""
    held = contents(reader.facts)
    for image in sorted(images(reader.facts), key=lambda image: (image.repository, image.name)):
        key = image.reference
        first = min((start for start, _ in image.runs), default=None)
        tables["image_tag"].append(
            {
                "id": key,
                **picked(image, "repository name device note"),
                "first_listed": day_of(first),
                "last_listed": _end(max((end for _, end in image.runs), default=FOREVER)),
            }
        )
        for position, (start, end) in enumerate(image.runs):
            shown = {"image_tag": key, "position": position, "listed_from": day_of(start)}
            tables["image_listing"].append({**shown, "listed_to": _end(end)})
        tables["image_tag_source"] += reader.cite("image_tag", key, image.sources)
        for part in held.get(image.id, ()):
            shown = {"image_tag": key, "term": part.product + part.spec, "basis": part.basis}
            nothing = {"product": reader.known(part.product), "release": None, "build": None}
            named = list(reader.named(part.product, part.mask)) or [nothing]
            tables["image_content"] += [{**shown, **version} for version in named]


def _end(ordinal: int) -> str | None:
    return None if ordinal == FOREVER else day_of(ordinal)
