"""Before the search: candidates and platforms that cannot be part of any stack are dropped at once."""

from collections import deque

from compatkb.engine.between import ALLOWED, KNOWN, VOUCHED
from compatkb.engine.problem import GLIBC, Narrowed, Problem

_FEW = 4
"""So many candidates are looked at one by one."""


def narrowed(problem: Problem, domains: dict[str, int], *, known_only: bool, roughly: bool = False) -> Narrowed | None:
    """Return what is left; None where a required product has no candidate or no platform is left.

    A domain below 0 holds what nobody published; such a product narrows no other one. `roughly` does without the platforms
    of many candidates: to look all of them up takes longer than a search that ends with the first of them.
    """
    if not all(domains[product] for product in problem.required):
        return None
    start = problem.start if known_only and not problem.ignored.blockers else None
    if start:
        domains = {product: domain & start.domains[product] for product, domain in domains.items()}
    else:
        domains = dict(domains) if problem.ignored.blockers else _placed(problem, domains, known_only, roughly)
    if not all(domains[product] for product in problem.required):
        return None
    certain = problem.certain(domains)
    if not all(domains[product] for product in certain):
        return None
    news = [p for p in certain if not start or p not in start.certain or domains[p] != start.domains[p]]
    changed: list[str] | None = sorted(news, key=problem.variables.index)
    while changed:
        changed = _revised(problem, domains, certain, changed, KNOWN if known_only else ALLOWED)
        if not changed and changed is not None and known_only:
            changed = _unvouched(problem, domains, certain)
    if changed is None:
        return None
    strong = weak = unknown = problem.cells
    for product in certain:
        if domains[product] > 0 and not (roughly and domains[product].bit_count() > _FEW):
            firm, known, every = problem.reach(product, domains[product])
            strong, weak, unknown = strong & firm, weak & known, unknown & every
    if known_only and problem.are_listed(domains):
        for product in certain:
            firm, known = _vouched(problem, domains, product)
            strong, weak = strong & firm, weak & known
    unknown = 0 if known_only else unknown & ~weak
    weak &= ~strong
    return Narrowed(domains, certain, strong, weak, unknown) if strong | weak | unknown else None


def _vouched(problem: Problem, domains: dict[str, int], product: str) -> tuple[int, int]:
    """Return where others can vouch for some candidate of a product firmly; and where at all."""
    roles = problem.facts.products
    if product in (problem.route.provider, GLIBC) or roles[product].role == "feature":
        return -1, -1
    strong = weak = 0
    for other, table in problem.partners[product].items():
        if domains[other] and roles[other].role != "feature":
            firm, known = table.vouching(domains[product])
            strong, weak = strong | firm, weak | known
    return strong, weak


def _placed(problem: Problem, domains: dict[str, int], known_only: bool, roughly: bool) -> dict[str, int]:
    """Drop what has no platform that the request leaves open; of versions that are not listed nothing is known."""
    kept = {}
    for product, domain in domains.items():
        kept[product] = domain
        if domain > 0:
            beyond = -1 << problem.facts.sizes[product]
            if domain.bit_count() > _FEW:
                kept[product] &= -1 if roughly else problem.placed(product)[known_only] | beyond
            else:
                kept[product] &= problem.placed_of(product, domain)[known_only] | beyond
    return kept


def _revised(
    problem: Problem, domains: dict[str, int], certain: frozenset[str], changed: list[str], what: int
) -> list[str] | None:
    """Drop what no candidate of a product that is there admits, until nothing changes; None where nothing is left."""
    number, cells = problem.frame.number, problem.cells
    queue = deque(changed)
    while queue:
        product = queue.popleft()
        left = domains[product]
        if not problem.lists(product, left):
            continue
        for other, table in problem.partners[product].items():
            domain = domains[other]
            if domain > 0:
                kept = domain & table.image(left, number, cells, what)
                if kept != domain:
                    domains[other] = kept
                    if other in certain:
                        if not kept:
                            return None
                        if other not in queue:
                            queue.append(other)
    return []


def _unvouched(problem: Problem, domains: dict[str, int], certain: frozenset[str]) -> list[str] | None:
    """Drop what no candidate of another product vouches for; return whose candidates became fewer, None where none is left."""
    facts, number, cells = problem.facts, problem.frame.number, problem.cells
    roles = facts.products
    if not problem.are_listed(domains):
        return []
    changed, provider = [], problem.route.provider
    for product in certain:
        if roles[product].role == "dimension" and product != GLIBC and provider in problem.partners[product]:
            # what the provider says of the machine is what counts, wherever it says something
            vouched = problem.partners[product][provider].image(domains[product], number, cells, VOUCHED)
            kept = domains[provider] & (vouched | ~problem.view.speakers(provider, product))
            if not kept:
                return None
            if kept != domains[provider]:
                domains[provider] = kept
                changed.append(provider)
    for product, domain in domains.items():
        if product in (provider, GLIBC) or not domain:
            continue
        vouched = 0
        for other in problem.partners[product]:
            theirs = domains[other]
            if theirs and roles[other].role != "feature":
                table = problem.partners[other][product]
                vouched |= table.image(theirs, number, cells, VOUCHED)
                if not domain & ~vouched:
                    break
        if domain & ~vouched:
            domains[product] = domain & vouched
            if product in certain:
                if not domain & vouched:
                    return None
                changed.append(product)
    return changed
