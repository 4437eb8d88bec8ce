"""Folds findings for display: what is one thing in several places is told once, after what is accepted has been taken out."""

from collections.abc import Iterable

from compatkb.check.rules import ENDED
from compatkb.core.findings import Finding, Severity
from compatkb.parsers.registry import kind_of

_MOST_PLACES = 5


def folded(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in the order of reports; of those of one rule about one thing the gravest, which names the others.

    The end of life of a pin stands with what else is at least as wrong with it, unless it stands alone somewhere.
    """
    groups: dict[object, list[Finding]] = {}
    for finding in sorted(dict.fromkeys(findings), key=lambda one: one.order):
        groups.setdefault((finding.rule, finding.about) if finding.about else finding, []).append(finding)
    firsts = [_first(several) for several in groups.values() if several[0].rule != ENDED.id]
    at_place = {(one.path, one.line, one.column): number for number, one in reversed(list(enumerate(firsts)))}

    def host(ended: Finding) -> int | None:
        number = at_place.get((ended.path, ended.line, ended.column))
        is_pin = kind_of(ended.path) not in (None, "markdown")
        return number if is_pin and number is not None and firsts[number].level.reaches(ended.level) else None

    for several in (several for several in groups.values() if several[0].rule == ENDED.id):
        if alone := [one for one in several if host(one) is None]:
            firsts.append(_first(several, alone))
        elif (number := host(several[0])) is not None:
            one, ended = firsts[number], several[0]
            sources = tuple(dict.fromkeys((*one.sources, *ended.sources)))
            firsts[number] = one._replace(message=f"{one.message}; {ended.message}", sources=sources)
    return tuple(sorted(firsts, key=lambda one: one.order))


def _first(several: list[Finding], among: Iterable[Finding] | None = None) -> Finding:
    """Return the gravest of several findings, with the places of the others."""
    first = max(among or several, key=lambda one: list(Severity).index(one.level))
    named = list(dict.fromkeys(_named(one, first) for one in several if one is not first))
    more = f" and {len(named) - _MOST_PLACES} more" if len(named) > _MOST_PLACES else ""
    return first._replace(message=f"{first.message}; also {', '.join(named[:_MOST_PLACES])}{more}") if named else first


def _named(one: Finding, first: Finding) -> str:
    place = f"line {one.line}" if one.path == first.path else f"{one.path}:{one.line}"
    return f"{one.brief} ({place})" if one.brief else place
