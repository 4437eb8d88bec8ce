"""Parser of one requirement (PEP 508), and of the notations of other tools, converted to PEP 440."""

import re
from functools import lru_cache
from typing import Any

from compatkb.core.names import normal
from compatkb.core.record import NamedTuple
from compatkb.core.text_position import Place
from compatkb.parsers.statement import Requirement, RequirementRole

_PLAIN = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)[ \t]*((?:[=!<>].*)?)")
_CLAUSE = re.compile(r"[ \t]*(==|!=|<=|>=|<|>)[ \t]*([0-9]+(?:\.[0-9]+)*(\+[a-z0-9]+(?:\.[a-z0-9]+)*)?)[ \t]*")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_NUMBERS = re.compile(r"v?(\d+(?:\.\d+)*)(.*)", re.DOTALL)
_WHEEL = re.compile(r"([A-Za-z0-9_.]+)-([0-9][^-/]*?)(?:-\d[^-]*)?-(?!\d)[^-/]+-[^-/]+-[^-/]+\.whl")
"""The name of a wheel."""
_GIT = re.compile(r"git\+(?:https|ssh)://[^\s#@]*/([\w.-]+?)(?:\.git)?/?(?:@[\w./-]+)?(?:#(?:.*&)?egg=([\w-]+).*|#.*)?")
"""An address of a git repository, with the name of the repository and the one that it gives its package."""
_ARBITRARY = re.compile(r"===(?=\d+(?:\.\d+)*(?:\+[\w.]+)?(?:,|$))")
"""Compares texts (PEP 440), of which a release in its usual form is one."""
_SINGLE = re.compile(r"(?<=[\w\]])[ \t]*=[ \t]*(?=\d+(?:\.\d+)*(?:\+\w+)?[ \t]*$)")
_LABELLED = re.compile(r"(?:[<>]=?|~=)[ \t]*[\w.]*\d(\+\w[\w.]*)")
_WILDCARD = re.compile(r"(?:[<>]=?|~=)[ \t]*[\d.]+\.\*")
_SEVERAL = re.compile(r"[A-Za-z][\w.-]*+(?:\[[^\]]*\])?[=<>~!]=[^\s;@]++[ \t]+[A-Za-z][\w.-]*+(?:[=<>~!]=|$)")
_TURNED = re.compile(r"(?<=[\w\],)])[ \t]*(=)([<>~!])(?=[ \t]*\d)")
_CLAUSES = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[^\]]*\])?[ \t]*(?:===?|[<>~!]=|[<>])[ \t]*([^\s;@()]+)")
_NEXT = re.compile(r",[=<>~!]*")
MOST_LETTERS = 2000


class RequirementParts(NamedTuple):
    """The parts of a requirement; `name` is normalised."""

    name: str
    specifier: str
    extras: tuple[str, ...]
    marker: str | None
    url: str | None


@lru_cache(maxsize=16384)
def parse(text: str) -> RequirementParts | None:
    """Return the parts of a requirement, None for text that is none."""
    if len(text) > MOST_LETTERS:
        return None
    if plain := _plain(text):
        return plain
    from packaging.requirements import InvalidRequirement
    from packaging.requirements import Requirement as Parsed

    try:
        requirement = Parsed(text)
    except (InvalidRequirement, RecursionError):
        return None
    marker = str(requirement.marker) if requirement.marker else None
    return RequirementParts(
        normal(requirement.name), str(requirement.specifier), tuple(sorted(requirement.extras)), marker, requirement.url
    )


def _plain(text: str) -> RequirementParts | None:
    """Return a name with numbers, as most requirements are: without the parser of all others, which is slow to import."""
    match = _PLAIN.fullmatch(text)
    if not match:
        return None
    clauses: dict[str, str] = {}  # by operator: of two of one kind the parser of all others tells whether they are one
    for written in match[2].split(",") if match[2] else ():
        clause = _CLAUSE.fullmatch(written)
        if not clause or (clause[3] and clause[1] != "==") or clause[1] in clauses:
            return None
        clauses[clause[1]] = clause[1] + clause[2]
    return RequirementParts(normal(match[1]), ",".join(sorted(clauses.values())), (), None, None)


def statement(text: str, place: Place, **more: Any) -> Requirement | None:
    """Return the requirement that stands at a place, None for text that is none."""
    parts = parse(text.strip())
    if parts is None:
        return None
    specifier = _ARBITRARY.sub("==", parts.specifier)
    return Requirement(
        place=place, text=text, name=parts.name, specifier=pinned(parts) if parts.url else specifier,
        extras=parts.extras, marker=parts.marker, url=parts.url, **more,
    )  # fmt: skip


def refusal(text: str) -> str:
    """Return why installers refuse a text that is no requirement (PEP 508, PEP 440), empty where that is unknown."""
    asked, _, marker = (part.strip() for part in text.partition(";"))
    if _SINGLE.search(text):
        return f"a pin has two equals signs: {_SINGLE.sub('==', text)[:80]}"
    if turned := _TURNED.search(asked):
        written = _TURNED.sub(r"\2\1", text)
        return f"there is no operator {turned[1]}{turned[2]}; write {written[:80]}"
    if label := _LABELLED.search(asked):
        return f"a label such as {label[1][:20]} is allowed only after == and !="
    if _WILDCARD.search(asked):
        return ".* is allowed only after == and !="
    if _SEVERAL.match(asked):
        return "a line holds one requirement only"
    if marker and parse(asked):
        return f"behind the semicolon stands a marker, which {marker[:60]!r} is not"
    clauses = _CLAUSES.fullmatch(asked)
    wrong = next((v for v in _NEXT.split(clauses[1]) if not is_specifier(f"=={v}")), "") if clauses else ""
    return wrong and f"{wrong[:40]!r} is no version"


def locked(place: Place, text: str, name: str, specifier: str, **more: Any) -> Requirement:
    """Return a package of a lock, which is one step; whoever locked it had the file."""
    shared: dict[str, Any] = {"role": RequirementRole.LOCKED, "hashed": True, "step": 1}
    return Requirement(place, text, normal(name), specifier=specifier, **{**shared, **more})


def pinned(parts: RequirementParts) -> str:
    """Return the version that the file of a direct reference has in its name, as a pin; empty where it has none."""
    named = of_file(parts.url or "")
    return named[1] if named else ""


def of_file(text: str) -> tuple[str, str] | None:
    """Return the name of the package and the pin that the file name of a wheel states, None for other words."""
    path = text.partition("#")[0]
    if not path.endswith(".whl"):
        return None
    match = _WHEEL.fullmatch(unquoted(re.split(r"[/\\]", path)[-1][:300]))
    if match and is_specifier(f"=={match[2]}"):
        return normal(match[1]), f"=={match[2]}"
    return None


def of_repository(text: str) -> str | None:
    """Return the name of the package that an address of a git repository brings, as it says or by the repository."""
    match = _GIT.fullmatch(text)
    return normal(match[2] or match[1]) if match else None


def unquoted(text: str) -> str:
    """Return an address with its %2B read."""
    return re.sub("%2b", "+", text, flags=re.IGNORECASE)


@lru_cache(maxsize=16384)
def is_specifier(text: str) -> bool:
    """Return whether text is a PEP 440 specifier set; the empty one is."""
    if len(text) > MOST_LETTERS:
        return False
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return False
    return True


def is_name(text: str) -> bool:
    """Return whether text is a name as packages have them."""
    return len(text) < 200 and _NAME.fullmatch(text) is not None


def from_poetry(text: str) -> str | None:
    """Return the PEP 440 form of a caret, tilde, wildcard or plain version; None for what has none."""
    if len(text) > MOST_LETTERS:
        return None
    clauses = []
    for clause in re.split(r"[\s,]+(?![^<>=!~^]*$)|,\s*", text.strip()):
        specifier = _poetry_clause(clause.strip())
        if specifier is None:
            return None
        if specifier:
            clauses.append(specifier)
    joined = ",".join(clauses)
    return joined if is_specifier(joined) else None


def _poetry_clause(clause: str) -> str | None:
    if clause in ("", "*"):
        return ""
    if "||" in clause or "|" in clause:
        return None
    match = re.match(r"\s*(\^|~(?!=)|===|==|~=|!=|>=|<=|<|>|=)?\s*(.*)", clause)
    assert match
    operator, version = match[1] or "==", match[2].strip()
    if operator == "=":
        operator = "=="
    if operator not in ("^", "~"):
        return f"{operator}{version}"
    numbers = _NUMBERS.fullmatch(version)
    if not numbers or len(numbers[1]) > 60:
        return None
    parts = [int(part) for part in numbers[1].split(".")]
    at = 0
    if operator == "~":
        at = min(1, len(parts) - 1)
    else:
        while at < len(parts) - 1 and parts[at] == 0:
            at += 1
    upper = [*parts[:at], parts[at] + 1]
    return f">={version},<{'.'.join(str(n) for n in upper)}"


def from_conda(text: str) -> str | None:
    """Return the PEP 440 form of a conda version: `=2.5` is 2.5 and all after it, `=2.5=py310_0` and `==2.5` are pins."""
    text = text.strip()
    if text in ("", "*"):
        return ""
    parts = text.split()
    text = parts[0] if len(parts) > 1 and re.match(r"[<>=!~]*\d", parts[0]) else "".join(parts)
    if "|" in text:
        return None
    clauses = []
    for clause in text.split(","):
        match = re.fullmatch(r"(==|~=|!=|>=|<=|<|>|=)?([^=\s]+)(=[^=\s]+)?", clause)
        if not match:
            return None
        operator, version = match[1] or "==", match[2]
        if operator == "=":
            wild = version.endswith("*") or match[3]
            clauses.append(f"=={version}" if match[3] else f"=={version if wild else version + '.*'}")
        else:
            clauses.append(f"{operator}{version}")
    joined = re.sub(r"(?<=[0-9])\*", ".*", ",".join(clauses))
    return joined if is_specifier(joined) else None
