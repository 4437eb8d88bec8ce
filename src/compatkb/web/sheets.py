"""Sheets: the answers to all questions that share a device and a main choice, in one file that is loaded when needed."""

import json
from typing import Any

from compatkb.web.answering import Packed


class Sheet:
    """Answers with their shared parts pooled; tables lead from a question to its answer.

    A table belongs to one choice of all fields but the places. It has a row for each Python, the first for none, and in
    it a number for each system: an answer, or -1 where the question is not answered here.
    """

    def __init__(self) -> None:
        names = ("answers", "bodies", "causes", "disputes", "images", "rows", "sources", "stacks", "warnings")
        self._pools: dict[str, dict[str, int]] = {name: {} for name in names}
        self.tables: dict[str, list[int]] = {}

    def add(self, answer: Packed) -> int:
        """Keep an answer and return its number; equal answers are one."""
        stacks = [self._keep("stacks", self._whole(*stack)) for stack in answer.stacks]
        causes = [self._keep("causes", text) for text in answer.causes]
        nearest = [
            [list(relaxed), where, self._keep("stacks", self._whole(*stack))] for relaxed, where, stack in answer.nearest
        ]
        return self._keep("answers", _text([answer.verdict, stacks, causes, nearest]))

    def set_table(self, key: str, rows: list[list[int]]) -> None:
        """Keep the table of a choice."""
        self.tables[key] = [self._keep("rows", _text(row)) for row in rows]

    def repeat(self, key: str, like: str) -> None:
        """Give a choice the table of another one, if that has one."""
        if like in self.tables:
            self.tables[key] = self.tables[like]

    def _whole(self, body: str, head: str) -> str:
        return f"[{self._keep('bodies', body)},{head[1:]}"

    def _keep(self, pool: str, text: str) -> int:
        return self._pools[pool].setdefault(text, len(self._pools[pool]))

    def text(self) -> str:
        """Return the sheet as JSON."""
        bodies = [self._body(json.loads(text)) for text in self._pools["bodies"]]
        causes = [self._cited(json.loads(text)) for text in self._pools["causes"]]
        parts = {"bodies": _text(bodies), "causes": _text(causes), "tables": _text(self.tables)}
        pooled = [name for name in self._pools if name not in parts]
        parts |= {name: f"[{','.join(self._pools[name])}]" for name in pooled}
        return "{" + ",".join(f'"{name}":{text}' for name, text in sorted(parts.items())) + "}"

    def _body(self, stack: dict[str, Any]) -> dict[str, Any]:
        stack["images"] = [self._keep("images", _text(image)) for image in self._disputed(stack["images"])]
        stack["warnings"] = [self._keep("warnings", _text(self._cited(warning))) for warning in stack["warnings"]]
        self._disputed([stack])
        return self._cited(stack)

    def _disputed(self, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        pool = self._pools["disputes"]
        for record in records:
            record["disputes"] = [pool.setdefault(_text(dispute), len(pool)) for dispute in record["disputes"]]
        return records

    def _cited(self, record: dict[str, Any]) -> dict[str, Any]:
        pool = self._pools["sources"]
        cited = [[source["text"], source["url"]] for source in record["sources"]]
        record["sources"] = [pool.setdefault(_text(source), len(pool)) for source in cited]
        if record.get("disputes") and isinstance(record["disputes"][0], dict):
            self._disputed([record])
        return record


def _text(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))
