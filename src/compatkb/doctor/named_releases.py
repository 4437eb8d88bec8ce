"""Reads which releases a text calls good and which it blames, of whatever has any: packages, drivers, images."""

import re
from itertools import islice

from compatkb.core.names import numbers
from compatkb.core.record import NamedTuple

RELEASE = re.compile(
    r"(?<![\w.])(?:v?\d{1,6}(?:\.\d{1,8}){1,4}(?:[.-]?(?:a|b|rc|dev|post)\d{1,8}){0,2}"
    r"(?:\+[a-z0-9]{1,12}(?:\.[a-z0-9]{1,12}){0,2})?(?:-[a-z]\d{1,3}|-\d{1,6}(?:-[a-z]{3,10})?)?"
    r"|b\d{4,5}|20\d{6}|(?<=driver )\d{4}|lts\d?|rolling)(?!\w|[.-]\d)"
)
_WORDS = re.compile(r"(?:[a-z][a-z0-9_]{0,30}(?:[-.][a-z][a-z0-9_]{0,20}){0,4}[ :=@('*-]{1,4}){1,3}$")
_WORD = re.compile(r"[a-z][a-z0-9_.-]*[a-z0-9]")
_NEUTRAL = re.compile(r"(?:version|release|build|image|tag|wheel)s?|series|number|nightly|v|the")
_LINK = re.compile(  # a word that no product is called
    r"an?|at|by|for|from|in|is|it|of|on|or|than|to|vs|versus|with|and|was|since|after|before|under|using|like|as|only|but|via|ha[ds]"
    r"|be|works?|worked|fine|good|ok|fail(?:s|ed)|pass(?:es|ed)?|older|newer|previous|latest|new|old|against|slower|between|broken"
    r"|(?:up|down)(?:dat|grad|load)(?:ing|ed)|regression"
)
_WORKS = re.compile(
    r"(?:works?|worked|working|fine|pass(?:es|ed|ing)?|correct|succeeds|downgrad\w{1,4}|revert\w{0,4}|roll\w{0,4} back"
    r"|no (?:issues?|problems?|errors?|crash\w{0,2}|regressions?|failures?|hangs?|such \w{3,12})"
    r"|go(?:ing|es)? back|last good|known good|last working|upgrad\w{1,4}|updat\w{1,4}|fixed"
    r"|resolved|solved|gone)(?: \w{1,12}){0,3}(?: (?:with|on|in|under|using|at|to|by|from|for))?"
    r"[ :(*']{1,4}(?:the )?(?:older |newer |previous )?$"
)
_NOT_WORKING = re.compile(
    r"(?:n't|not|never|no longer|needs?|should|must|supposed|stop\w{0,4}|fail\w{0,3}|broken|regress\w{0,5})\b[^.;,\n]{0,30}$"
)
_FREE = re.compile(
    r"(?:n't|not|never|no longer|without) (?:\w{1,12} )?(?:happen|occur|reproduc|appear|seen|crash|hang|affect|present)\w{0,5}"
    r"(?: \w{1,12}){0,2} (?:with|on|in|under|using|by) (?:the )?$"
)
_BETTER = re.compile(  # "slower than 2.13", "a deviation in accuracy than in 2.1.0"
    r"(?:slow\w{0,9}|regress\w{0,9}|worse|drop\w{0,9}|degrad\w{0,9}|deviat\w{0,9}|differ\w{0,9})[^.;\n]{0,60}? "
    r"(?:than|compared (?:to|with)|vs\.?|versus|against|relative to)(?: (?:in|with|on|for))?(?: the)? $"
)
_LEFT = re.compile(r"(?:regress\w{0,9}|going|went|switch\w{0,9}|mov\w{0,9}|bump\w{0,9}|jump\w{0,9}) from $")
_CURED = re.compile(r"fix|solv|work|gone|helps?\b|disappear|cured")  # without it an update is no cure, and "from" one was good
_IN_VAIN = re.compile(
    r"same (?:results?|errors?|issues?|problems?)|did(?:n't| not) help|no (?:effect|luck|difference|change)|still"
)
_WORKED = re.compile(
    r"(?:\+\w{1,12})?[ '*):,-]{1,4}(?:\w{1,12} ){0,2}"
    r"(?:works?|worked|(?:(?:is|was|all|everything) ){1,2}(?:fine|ok|good|stable)"
    r"|passes|passed|good|ok|stable|does(?=[.,;\n]))(?!\w| around)"
)
_SPARED = re.compile(
    r"[ '*):,-]{1,4}(?:(?:is|was|are) (?:not|un)\s?affected|is free of|does(?:n't| not) (?:crash|hang|fail|show)"
    r"|no (?:such )?(?:errors?|crash|problems?|issues?|regressions?))"
)
_BLAMED = re.compile(
    r"(?:since|starting (?:with|from|in)|broke\w{0,2}(?: \w{1,12}){0,3} (?:in|since|with|by)|introduced (?:in|by|with)"
    r"|(?:after|since) (?:the |an? |i )?(?:updat|upgrad|mov|switch|bump)\w{1,4}(?: \w{1,12}){0,3} to"
    r"|regress\w{0,4}(?: \w{1,12}){0,2} (?:in|of|since)"
    r"|(?:no longer|stop\w{0,4}) work\w{0,3}(?: \w{1,12}){0,3} (?:with|on|in|since))"
    r"[ :(*']{1,3}(?:the )?(?:new\w{0,3} |latest |recent )?$"
)
_BREAKS = re.compile(
    r"(?:[ '*):,]{0,3}(?:->|=>)"
    r"|[ '*)]{1,3}(?:is causing|causes|causing|breaks|broke|is broken|has broken|introduced|regress\w*)\b)"
)
_SENTENCE = re.compile(r"[.;] |\n")
_MOST = 400  # numbers that are looked at


class NamedRelease(NamedTuple):
    """A release as a text names it: what of, if it says so; whether it is called good, blamed, or neither."""

    name: str
    version: str
    at: int
    is_good: bool
    is_blamed: bool


def named_releases(text: str) -> tuple[NamedRelease, ...]:
    """Return the releases that a plain text names, in its order."""
    found = []
    for match in islice(RELEASE.finditer(text), _MOST):
        begin = text.rfind("\n", 0, match.start()) + 1
        before = text[max(begin, match.start() - 160) : match.start()]
        name, lead = _split(before)
        good = _is_good(text, lead, match.end())
        blamed = not good and bool(_BLAMED.search(lead) or _BREAKS.match(text, match.end()))
        found.append(NamedRelease(name, match[0].removeprefix("v"), match.start(), good, blamed))
    return tuple(found)


def other_good(releases: tuple[NamedRelease, ...]) -> tuple[NamedRelease, ...]:
    """Return the releases that a text calls good, of which it names another one that it does not: each with its name.

    One that stands without a name is of what has a number of the same shape.
    """
    good = {(each.name, each.version) for each in releases if each.is_good}
    told = {version for _, version in good}
    others = [each for each in releases if each.version not in told]
    chosen: dict[tuple[str, str], NamedRelease] = {}
    for each in (each for each in releases if each.is_good):
        same = (
            [o for o in others if o.name == each.name] if each.name else [o for o in others if _alike(o.version, each.version)]
        )
        if same:
            name = each.name or max(same, key=lambda o: bool(o.name)).name
            chosen.setdefault((name, each.version), each._replace(name=name))
    return tuple(chosen.values())


def _split(before: str) -> tuple[str, str]:
    """Return what the number behind a piece of text is of, and the text before that name."""
    if not (tail := _WORDS.search(before)):
        return "", before
    words = list(_WORD.finditer(tail[0]))
    name, start = "", len(tail[0])
    while words and (_NEUTRAL.fullmatch(words[-1][0]) or not (name or _LINK.fullmatch(words[-1][0]))):
        word = words.pop()
        name, start = name if _NEUTRAL.fullmatch(word[0]) else word[0], word.start()
    return name, before[: tail.start() + start]


def _is_good(text: str, lead: str, end: int) -> bool:
    clause = _SENTENCE.split(lead[-80:])[-1]
    works = _WORKS.search(clause)
    said = bool(works and not _NOT_WORKING.search(clause, 0, works.start()))
    if works and works[0].startswith(("downgrad", "revert", "roll", "go")):
        said = said and " from " not in works[0] and not _IN_VAIN.search(text, end, end + 80)
    if works and works[0].startswith(("upgrad", "updat")):
        is_cure = bool(_CURED.search(clause) or _CURED.search(_SENTENCE.split(text[end : end + 60])[0]))
        said = said and is_cure is not (" from " in works[0])
    compared = _FREE.search(clause) or _BETTER.search(lead) or _LEFT.search(clause)
    return said or bool(compared or _WORKED.match(text, end) or _SPARED.match(text, end))


def _alike(one: str, other: str) -> bool:
    """Return whether two numbers may be of one product: as many parts, and the first one the same; or both days, or builds."""
    if "." not in one + other:
        return one[:1] == other[:1] and one != other
    is_part = f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")
    return abs(one.count(".") - other.count(".")) <= 1 and numbers(one)[:1] == numbers(other)[:1] != () and not is_part
