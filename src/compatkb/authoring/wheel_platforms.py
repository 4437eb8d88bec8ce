"""Assigns every build the platforms of its wheels: observed ones, inferred ones, and the oldest glibc."""

from collections import defaultdict
from collections.abc import Callable

from compatkb.authoring.knowledge_base import GLIBC, NEUTRAL, Knowledge, KnowledgeFloor, split_term
from compatkb.core.platforms import STABLE_ABI
from compatkb.core.versions import Scheme, parse
from compatkb.schema import Basis, Claim, IndexRelease, Kind


def place(knowledge: Knowledge) -> None:
    """Give every build the platforms of its wheels."""
    grid = knowledge.grid
    too_old: dict[str, int] = {}

    def below(floor: str | None) -> int:
        """Return the platforms whose OS is known to have an older glibc than `floor`, or any where no floor is known."""
        if floor == NEUTRAL:
            return 0
        key = floor or ""
        if key not in too_old:
            newer = sum(
                1 << n for n, e in enumerate(knowledge.elements.get(GLIBC, [])) if floor and _at_least(e.version, floor)
            )
            systems = [name for name, mask in knowledge.implied.get(GLIBC, {}).items() if not mask & newer]
            too_old[key] = grid.cells(systems, members=False)
        return too_old[key]

    distributions = grid.cells(tuple(knowledge.implied.get(GLIBC, ())), members=False)
    naming = _claims_naming_systems(knowledge)
    for product, elements in knowledge.elements.items():
        wheels = [platforms for e in elements if e.listed for platforms in e.listed.wheels.values()]
        is_compiled = bool(wheels) and ("any",) not in wheels  # so that installers would have to compile what has no wheel
        is_whole = knowledge.lists_all_releases(product)
        for number, element in enumerate(elements):
            if element.build is None:  # known through requirements alone: seen, or not there
                if element.echo and is_whole:
                    element.floors.append(KnowledgeFloor(NEUTRAL, False, 0, 0))
                elif element.listed and (element.listed.wheels or is_compiled):
                    element.floors.append(KnowledgeFloor(NEUTRAL, False, _wheel_cells(knowledge, element.listed, below), 0))
                continue
            named = _named_systems(knowledge, product, number, naming[product])
            for row in element.build.wheels:
                cells = grid.cells(row.os, row.arch, row.python)
                cells |= grid.cells(grid.widened(row.os), row.arch, row.python, members=False)
                by_name = 0 if row.glibc else grid.cells(row.os, row.arch, row.python, members=False)
                cells &= ~below(row.glibc) | by_name  # without a floor it says nothing of distributions but those it names
                seen = 0 if row.basis is Basis.INFERRED else cells
                if row.glibc_inferred:  # whether a distribution is new enough is inferred, unless the makers name it
                    seen &= ~distributions | named
                element.floors.append(KnowledgeFloor(row.glibc, row.glibc_inferred, seen, cells & ~seen))
            if element.listed:
                for tag, platforms in element.listed.wheels.items():
                    cells_by_floor = grid.wheel_cells(tag, platforms, element.listed.requires_python)
                    neutral, exact = platforms == ("any",), tag.startswith("cp") and not tag.endswith(STABLE_ABI)
                    for floor, cells in cells_by_floor.items():
                        glibc = NEUTRAL if neutral else floor
                        known = cells & ~below(glibc)
                        seen, guessed = (known, 0) if exact else (0, known)
                        element.floors.append(KnowledgeFloor(glibc, False, seen, guessed, any_python=not exact))
    _tried(knowledge)


def _wheel_cells(knowledge: Knowledge, listed: IndexRelease, below: Callable[[str | None], int]) -> int:
    """Return the platforms of the wheels of a release that an index lists."""
    cells = 0
    for tag, platforms in listed.wheels.items():
        for floor, some in knowledge.grid.wheel_cells(tag, platforms, listed.requires_python).items():
            cells |= some & ~below(NEUTRAL if platforms == ("any",) else floor)
    return cells


def _claims_naming_systems(knowledge: Knowledge) -> dict[str, list[tuple[str, Claim]]]:
    """Return the stated claims that name systems as a condition, by product, each after the specifier of its releases."""
    naming: dict[str, list[tuple[str, Claim]]] = defaultdict(list)
    for claim in (cited.claim for cited in knowledge.claims.values()):
        if claim.when and claim.when.os and claim.basis is not Basis.INFERRED and claim.kind is not Kind.BREAKS:
            product, spec = split_term(claim.of)
            naming[product].append((spec, claim))
    return naming


def _named_systems(knowledge: Knowledge, product: str, number: int, naming: list[tuple[str, Claim]]) -> int:
    """Return the platforms of the systems that those of the claims name that speak of an element."""
    held = [claim.when for spec, claim in naming if knowledge.matching(product, spec) >> number & 1]
    return knowledge.grid.cells({name for when in held if when for name in when.os}, members=False)


def _tried(knowledge: Knowledge) -> None:
    """Count a wheel for every Python as known only where its makers tried it: it could not fail because of Python."""
    for cited in knowledge.claims.values():
        claim = cited.claim
        of, spec = split_term(claim.of)
        pythons = [term for term in claim.to if split_term(term)[0] == "python"]
        if claim.kind is not Kind.VERIFIED or claim.basis is Basis.INFERRED or not pythons or of not in knowledge.products:
            continue
        tried = 0
        for term in pythons:
            tried |= knowledge.mask(term)[1]
        names = [element.version for element in knowledge.of_mask("python", tried)]
        systems = claim.when.os if claim.when else ()
        cells = knowledge.grid.cells(systems or None, None, names)
        for element in knowledge.of_mask(of, knowledge.matching(of, spec)):
            element.floors = [
                floor._replace(seen=floor.seen | (floor.guessed & cells)) if floor.any_python else floor
                for floor in element.floors
            ]


def _at_least(version: str, floor: str) -> bool:
    known, wanted = parse(Scheme.DOTTED, version), parse(Scheme.DOTTED, floor)
    assert isinstance(known, tuple)
    assert isinstance(wanted, tuple)
    return known >= wanted
