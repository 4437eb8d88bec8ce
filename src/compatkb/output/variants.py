"""What the variants of a release are for, and which of our builds each is like."""

import json
from pathlib import Path

from compatkb.errors import UnavailableError, UsageError
from compatkb.output.json_document import document
from compatkb.output.labels import listed
from compatkb.output.screen import BLANK, Line, labelled, wrapped
from compatkb.parsers.variants import NULL, VariantProblem, WheelVariant, named_release, variants_of
from compatkb.store.queries.products import channels
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element

_MOST = 1_000_000


def variants_screen(facts: Snapshot, name: str) -> list[Line]:
    """Return the variants in a file NAME-VERSION-variants.json; raises UsageError and UnavailableError."""
    release, variants, problems = _read(name)
    builds = _builds(facts, *release)
    count = f"{len(variants)} variant{'' if len(variants) == 1 else 's'}"
    lines = [*wrapped(f"{release[0]} {release[1]}   {count} by the draft PEP 825", "", "  ", "heading"), BLANK]
    for variant in variants:
        lines += labelled(variant.label, _purpose(variant))
        lines += labelled("", f"like {text}") if (text := _like(facts, variant, builds)) else []
    for problem in problems:
        lines += labelled("problem", problem.message)
    where = sorted({build.kind for build in builds if build.kind})
    lines += [BLANK, *wrapped(f"The data know {release[0]} {release[1]} for {listed(where)}.", "  ")] if where else []
    return lines


def variants_json(facts: Snapshot, name: str) -> str:
    """Return the same as JSON; raises as `variants_screen` does."""
    release, variants, problems = _read(name)
    builds = _builds(facts, *release)
    rows = [
        {"label": v.label, "properties": list(v.properties), "like": [e.version for e in _alike(v, builds)]} for v in variants
    ]
    content = {"package": release[0], "version": release[1], "variants": rows}
    return document(facts, None, {**content, "problems": [problem.message for problem in problems]})


def _read(name: str) -> tuple[tuple[str, str], tuple[WheelVariant, ...], tuple[VariantProblem, ...]]:
    release = named_release(name.replace("\\", "/"))
    if release is None:
        raise UsageError(f"{name}: is not called NAME-VERSION-variants.json")
    variants, problems = variants_of(_content(Path(name)))
    if not variants:
        raise UsageError(f"{name}: {problems[0].message}")
    return release, variants, problems


def _builds(facts: Snapshot, name: str, version: str) -> list[Element]:
    product = facts.product(name)
    return [e for e in facts.elements(product.id) if e.release == version] if product else []


def _content(path: Path) -> object:
    try:
        if path.stat().st_size > _MOST:
            raise UsageError(f"{path}: is larger than {_MOST:,} bytes")
        return json.loads(path.read_bytes())
    except OSError as error:
        raise UnavailableError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path}: is not JSON") from None


def _purpose(variant: WheelVariant) -> str:
    if variant.properties:
        return f"for {'; '.join(variant.properties)}"
    return "for any machine" if variant.label == NULL else "does not say what it is for"


def _alike(variant: WheelVariant, builds: list[Element]) -> list[Element]:
    """Return the builds of ours whose kind a label or a property names."""
    words = {variant.label, *(item.rpartition(" ")[2] for item in variant.properties)}
    return [e for e in builds if e.kind and e.kind in words]


def _like(facts: Snapshot, variant: WheelVariant, builds: list[Element]) -> str:
    names = {channel.id: channel.name for channel in channels(facts)}
    matching = _alike(variant, builds)
    return listed([f"{e.version} ({names.get(e.channels[0], e.channels[0])})" if e.channels else e.version for e in matching])
