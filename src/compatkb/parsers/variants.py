"""Wheel variants as defined in the draft PEP 825: the label in a wheel's name, and the tables that define labels."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from compatkb.core.names import normal
from compatkb.parsers.requirement import is_name, is_specifier

NULL = "null"
"""The label of the variant without properties, which goes anywhere."""
_FILE = re.compile(r"(?:.*/)?(?P<name>[^/]+?)-(?P<version>\d[^/-]*)-variants\.json")
_LABEL = re.compile(r"[0-9a-z_.]+")
_KEY = re.compile(r"[a-z0-9_]+")
_WHEEL = re.compile(r"[^-/]+-\d[^-/]*(?:-\d[^-/]*)?-[A-Za-z][^-/]*-[^-/]+-[^-/]+-(?P<label>[0-9a-z_.]+)\.whl")
_MOST = 2000


class WheelVariant(NamedTuple):
    """A variant of a release: its label, and what it was built for, as `namespace :: feature :: value`."""

    label: str
    properties: tuple[str, ...]


class VariantProblem(NamedTuple):
    """What of a table does not keep the draft, with the keys that lead to it."""

    keys: tuple[str, ...]
    message: str


def named_release(path: str) -> tuple[str, str] | None:
    """Return the package and the version that the name of a table has (NAME-VERSION-variants.json); None for other names."""
    match = _FILE.fullmatch(path)
    if match and is_name(match["name"]) and is_specifier(f"=={match['version']}"):
        return normal(match["name"]), match["version"]
    return None


def label_of(wheel: str) -> str | None:
    """Return the variant label in the file name of a wheel, None for a wheel that is no variant."""
    match = _WHEEL.fullmatch(wheel)
    return match["label"] if match else None


def variants_of(content: object) -> tuple[tuple[WheelVariant, ...], tuple[VariantProblem, ...]]:
    """Return the variants of a table in its order, and what of it does not keep the draft."""
    table = content if isinstance(content, Mapping) else {}
    rows = table.get("variants")
    if not isinstance(rows, Mapping) or not rows:
        return (), (VariantProblem((), "has no table `variants`"),)
    variants, problems = [], []
    for label, namespaces in list(rows.items())[:_MOST]:
        properties = list(_properties(namespaces))
        variants.append(WheelVariant(str(label), tuple(sorted(item for item in properties if item))))
        if not _LABEL.fullmatch(str(label)) or None in properties:
            problems.append(VariantProblem(("variants", str(label)), f"{str(label)[:80]!r} is no variant as PEP 825 has them"))
        elif (label == NULL) is bool(properties):
            message = "the null variant has no properties" if properties else f"only {NULL} has no properties, not {label!r}"
            problems.append(VariantProblem(("variants", str(label)), message))
    return tuple(variants), (*problems, *_unordered(table, variants))


def _properties(namespaces: object) -> Iterator[str | None]:
    """Yield the properties of a variant, None for what is none."""
    if not isinstance(namespaces, Mapping):
        yield None
        return
    for namespace, features in namespaces.items():
        for feature, values in features.items() if isinstance(features, Mapping) else ((None, ()),):
            if not isinstance(values, list) or not values or not all(_KEY.fullmatch(str(key)) for key in (namespace, feature)):
                yield None
                continue
            for value in values:
                is_valid = isinstance(value, str) and _LABEL.fullmatch(value)
                yield f"{namespace} :: {feature} :: {value}" if is_valid else None


def _unordered(table: Mapping[str, Any], variants: list[WheelVariant]) -> Iterator[VariantProblem]:
    priorities = table.get("default-priorities")
    order = priorities.get("namespace") if isinstance(priorities, Mapping) else None
    used = {item.partition(" ")[0] for variant in variants for item in variant.properties}
    if not isinstance(order, list) or (missing := sorted(used - {str(name) for name in order})):
        named = f": {', '.join(missing)}" if isinstance(order, list) else ""
        yield VariantProblem(("default-priorities",), f"`default-priorities` does not name every namespace{named}")
