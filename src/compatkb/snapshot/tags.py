"""Rows of the snapshot about image tags and what they contain."""

from collections.abc import Iterator
from datetime import date, timedelta

from compatkb.knowledge import Knowledge, split_term
from compatkb.snapshot.cells import Row
from compatkb.snapshot.citation import cite_text, cite_url, dumps


def images(knowledge: Knowledge) -> Iterator[Row]:
    """Yield image tags with the days on which they were listed."""
    for number, (file, tag) in enumerate((f, t) for f in knowledge.files.images for t in f.tag):
        when = {revision.n: revision.at.date() for revision in file.revision}
        order = sorted(when)
        runs = []
        for listing in file.listing:
            if listing.lists == "tags" and tag.name in listing.tags:
                for first, last in listing.runs:
                    later = [n for n in order if n > last]
                    end = when[later[0]] - timedelta(days=1) if later else date.max
                    runs.append([when[first].toordinal(), max(end, when[last]).toordinal()])
        yield {
            "id": number,
            "repository": file.repository.name,
            "name": tag.name,
            "device": tag.device,
            "runs": dumps(sorted(runs)),
            "note": tag.note,
            "sources": dumps([[cite_text(file.source[s]), cite_url(file.source[s])] for s in tag.sources]),
        }


def contents(knowledge: Knowledge) -> Iterator[Row]:
    """Yield what image tags hold; a tag that is the same as another holds what that one does."""
    for number, (file, tag) in enumerate((f, t) for f in knowledge.files.images for t in f.tag):
        base = tag
        while not base.contains and base.same_as:
            base = next(t for t in file.tag if t.name == base.same_as)
        for contained in base.contains:
            product, spec = split_term(contained.is_)
            mask = knowledge.matching(product, spec) if product in knowledge.products else 0
            yield {
                "image": number,
                "product": product,
                "mask": f"{mask:x}",
                "spec": spec,
                "basis": str(contained.basis),
            }
