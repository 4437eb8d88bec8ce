"""The schema of the snapshot file: its format number, tables and indexes.

Sets of elements are hexadecimal text, one bit each; sets of platforms are numbers of `cells`, where each stands once as
big-endian bytes. Dates that are computed with are proleptic ordinals; dates that are only shown are ISO text. Lists are
JSON or words between spaces.
"""

from typing import Any

FORMAT = "17"
"""Changes whenever a reader of an older snapshot would misread a newer one."""


def _columns(texts: str, integers: str = "") -> dict[str, Any]:
    return {**dict.fromkeys(texts.split(), str), **dict.fromkeys(integers.split(), int)}


TABLES: dict[str, tuple[dict[str, Any], Any]] = {
    "meta": (_columns("key value"), "key"),
    "product": (
        _columns(
            "id name label role distribution import_name scheme default_value homepage page_label page_url eol eol_rule "
            "eol_rule_sources replaced_by replaced_sources note",
            "rank series automatic platform shown open eol_rule_published size",
        ),
        "id",
    ),
    "name": (_columns("name product"), "name"),
    "grid": (_columns("dimension value wider", "idx"), ("dimension", "idx")),
    "release": (
        _columns(
            "product version name aliases part_of devices track released basis eol eol_precision eol_sources page needs "
            "proof note sources",
            "position",
        ),
        ("product", "version"),
    ),
    "element": (
        _columns(
            "product version release stage devices channels only_with maker distribution extras yank_reason floors "
            "kind kinds requires_python wheels_note note sources",
            "idx installable since by yank_after yank_by eol certain inferred complete foreign foreign_cells published",
        ),
        ("product", "idx"),
    ),
    "word": (_columns("product word mask", "strict"), ("product", "word", "strict")),
    "model": (_columns("product pattern mask"), ("product", "pattern")),
    "edge": (
        _columns(
            "claim kind of_product of_mask to_product to_mask spec basis devices hardware unlisted extra",
            "id forbidden_on supported_on open in_metadata",
        ),
        "id",
    ),
    "claim": (_columns("id product kind of_term to_terms when_ basis reason note origin"), "id"),
    "citation": (_columns("claim text url seen document publisher", "n"), ("claim", "n")),
    "dispute": (_columns("id kind owner about day days columns positions decision holds reason decided"), "id"),
    "concerned": (_columns("dispute claim name mask devices hardware", "cells"), None),
    "scope": (_columns("product spec mask channel devices sources", "id until"), "id"),
    "advisory": (_columns("product mask kind message to_product to_mask devices hardware sources", "id since cells"), "id"),
    "install": (_columns("product mask steps waives note sources", "id"), "id"),
    "waiver": (_columns("product mask of_mask", "edge"), None),
    "channel": (_columns("id name url style mirrors hardware note commands os", "position"), "id"),
    "route": (_columns("id name devices provider with_ without note", "rank on_request"), "id"),
    "image": (_columns("repository name device flavour option built runs note sources", "id same"), "id"),
    "listing": (_columns("repository lists table_id tags runs shown cells links", "id position"), "id"),
    "column": (_columns("repository name title product shows", "position"), ("repository", "name")),
    "run": (_columns("repository device flavour args command port note sources", "id"), "id"),
    "feature": (_columns("id name product needs replaced_by aliases note sources"), "id"),
    "statement": (
        _columns("claim feature product spec mask status device os arch python hardware basis", "position"),
        "claim",
    ),
    "content": (_columns("product mask spec basis", "image"), None),
    "guide": (_columns("kind id body", "position"), ("kind", "position")),
    "vendor": (_columns("id name", "position"), "id"),
    "event": (
        _columns(
            "id vendor kind title product version precision basis note disputes sources", "position first last announced"
        ),
        "id",
    ),
    "reading": (_columns("kind level outcome day example", "n"), None),
    "document": (_columns("text url seen"), None),
    "observation": (
        _columns(
            "level outcome packages python os arch device channel checked tool detail culprit resolved vanished missing needs "
            "unlinked",
            "id stubbed fetched",
        ),
        "id",
    ),
    "symbols": ({"product": str, "platform": str, "content": bytes}, ("product", "platform")),
    "cells": ({"id": int, "mask": bytes}, "id"),
}
"""Columns and key of every table, in the order in which they are filled."""

INDEXES = (
    ("edge", ("of_product",)),
    ("content", ("product",)),
    ("citation", ("claim",)),
    ("concerned", ("name",)),
    ("concerned", ("claim",)),
    ("statement", ("product",)),
)
"""Columns that are looked up by."""

SEARCH = """
create table searchable (
  id integer primary key, kind text, product text, version text, title text, names text, remarks text, keys text, command text,
  place integer, since integer
);
create virtual table search using fts5(
  names, remarks, keys, content='', tokenize="unicode61 remove_diacritics 0 tokenchars '.'"
);
create virtual table search_word using fts5vocab(search, col);
"""
"""Records to search in; the index over their words; and the vocabulary. Names, remarks and keys are lists as JSON."""
