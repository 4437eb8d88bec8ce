"""What the search looks up once for its steps: one product after the other, and who speaks with whom."""

from operator import itemgetter

from compatkb.engine.between import Between
from compatkb.engine.problem import GLIBC, Narrowed, Problem

_MOST_KEPT = 4_096


class Due:
    """A member for whom nobody chosen later can vouch: its number, and who can."""

    __slots__ = ("number", "of_machine", "others")

    def __init__(self, number: int, others: tuple[tuple[int, Between], ...], *, of_machine: bool) -> None:
        self.number, self.others, self.of_machine = number, others, of_machine


class Step:
    """What the choice of one product looks up: by number, the products that it speaks with."""

    __slots__ = ("ahead", "demanding", "due", "earlier", "later", "number", "optional", "product", "size", "vouchers")

    def __init__(self, problem: Problem, number: int, product: str, *, optional: bool) -> None:
        roles, facts = problem.facts.products, problem.facts
        self.number, self.product, self.optional = number, product, optional
        self.size = facts.sizes[product]  # how many elements it has
        leaves = any(roles[to].role == "leaf" for to in facts.spoken_of(product))
        self.demanding = leaves and not problem.leafless  # whether it requires something of leaves
        self.earlier: tuple[tuple[int, Between], ...] = ()
        self.later: tuple[tuple[int, Between, bool], ...] = ()  # and whether they are there in any case
        self.vouchers: tuple[tuple[int, Between], ...] | None = None  # who can vouch for it; None where nobody need
        self.due: tuple[Due, ...] = ()
        self.ahead: tuple[Due, ...] = ()  # of later ones, when all who can vouch for them have been chosen


def ordered(problem: Problem, variables: tuple[str, ...], left: Narrowed) -> tuple[str, ...]:
    """Return variables, few candidates first, each after one that it speaks with; last what may stay away."""
    roles, domains = problem.facts.products, left.domains

    def kind(product: str) -> tuple[bool, bool]:
        return roles[product].role == "feature", product not in left.certain

    def width(product: str) -> int:
        return domains[product].bit_count() if domains[product] >= 0 else 0

    waiting = sorted(variables, key=lambda product: (kind(product), width(product)))
    found: list[str] = []
    spoken: set[str] = set()
    while waiting:
        first = kind(waiting[0])
        found.append(next((p for p in waiting if p in spoken and kind(p) == first), waiting[0]))
        waiting.remove(found[-1])
        spoken.update(problem.partners[found[-1]])
    return tuple(found)


def steps_of(problem: Problem, variables: tuple[str, ...], optional: frozenset[str], *, known_only: bool) -> list[Step]:
    """Return the steps for variables in this order; the same for every question of a view that ignores nothing."""
    if problem.ignored.blockers:
        return _made(problem, variables, optional, known_only=known_only)
    kept = problem.view.steps
    key = (variables, optional, problem.route.provider, known_only)
    found = kept.get(key)
    if not isinstance(found, list):
        if len(kept) >= _MOST_KEPT:
            kept.clear()
        found = kept[key] = _made(problem, variables, optional, known_only=known_only)
    return found


def _made(problem: Problem, variables: tuple[str, ...], optional: frozenset[str], *, known_only: bool) -> list[Step]:
    roles, unvouched = problem.facts.products, (problem.route.provider, GLIBC)  # platform tags speak of glibc; see Problem
    numbers = {product: n for n, product in enumerate(variables)}
    speaking = [[(numbers[other], table) for other, table in problem.partners[product].items()] for product in variables]
    due = _due(problem, variables, speaking)
    steps = []
    for depth, product in enumerate(variables):
        spoken = sorted(speaking[depth], key=itemgetter(0))
        step = Step(problem, depth, product, optional=product in optional)
        step.earlier = tuple([pair for pair in spoken if pair[0] < depth])
        step.later = tuple([(n, table, variables[n] not in optional) for n, table in spoken if n > depth])
        step.due = tuple(due[depth])
        if known_only:
            later = (
                d for ahead in due[depth + 1 :] for d in ahead if d.number > depth and variables[d.number] not in optional
            )
            step.ahead = tuple([d for d in later if _last(d) == depth])
            if product not in unvouched and roles[product].role != "feature":
                step.vouchers = tuple([pair for pair in spoken if roles[variables[pair[0]]].role != "feature"])
        steps.append(step)
    return steps


def _last(due: Due) -> int:
    return max((n for n, _ in due.others), default=-1)


def _due(problem: Problem, variables: tuple[str, ...], speaking: list[list[tuple[int, Between]]]) -> list[list[Due]]:
    """Return by step the members that can be judged from there on."""
    roles = problem.facts.products
    due: list[list[Due]] = [[] for _ in variables]
    for n, product in enumerate(variables):
        if product not in (problem.route.provider, GLIBC):
            others = tuple([pair for pair in speaking[n] if roles[variables[pair[0]]].role != "feature"])
            last = max((number for number, _ in speaking[n]), default=n)
            due[max(n, last)].append(Due(n, others, of_machine=roles[product].role == "dimension"))
    return due
