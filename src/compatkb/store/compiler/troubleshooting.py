"""Rows of the snapshot for those whose machine fails, or who leave a product: causes, symptoms, graphics, what replaces."""

from collections.abc import Iterator

from compatkb.authoring.citation import cite_text, cite_url, dumps
from compatkb.authoring.knowledge_base import Knowledge
from compatkb.schema import Record, SourceEntry
from compatkb.store.compiler.platform_sets import Row


def guides(knowledge: Knowledge) -> Iterator[Row]:
    """Yield the records of symptoms.toml, machine.toml and migration.toml as JSON, in order, with their sources."""
    for file in (knowledge.files.symptoms, knowledge.files.machine, knowledge.files.migration):
        if file is None:
            continue
        for kind in type(file).model_fields:
            if kind == "source":
                continue
            records: tuple[Record, ...] = getattr(file, kind)
            for position, record in enumerate(records):
                yield {
                    "kind": kind,
                    "position": position,
                    "id": getattr(record, "id", None),
                    "body": _body(record, file.source),
                }


def _body(record: Record, known: dict[str, SourceEntry]) -> str:
    content = record.model_dump(mode="json")
    cited = [known[name] for name in content["sources"] if name in known]
    return dumps({**content, "sources": [[cite_text(source), cite_url(source)] for source in cited]})
